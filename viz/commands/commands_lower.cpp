// The lowering of the open layout: what of it is followed, and which levels are shown.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/commands/command_table.h"
#include "viz/session/lower_session.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

Answer follow(Session& session, const lowering::Lowering& l, LowerSpot spot) {
  session.state.study.lowered = spot;
  session.state.view = ViewName::lower;
  const lowering::Level& level = l.levels[static_cast<std::size_t>(spot.level)];
  return fmt::format("Following {} of {}.", lowering::text(l, level, spot.statement), level.title);
}

Answer run_lower(Session& session, Backend&, std::string_view arguments) {
  LayoutStudy& study = session.state.study;
  if (!session.state.layout) return usage_error("No layout is open: `open layout (?,?):(?,1)`.");
  if (arguments == "nothing") {
    study.lowered.reset();
    session.state.view = ViewName::lower;
    return std::string("Following nothing.");
  }
  const Outcome<lowering::Lowering> l = lowering_of(session);
  if (!l) return l.error();
  const auto [word, rest] = first_word(arguments);
  if (word == "from") {
    for (std::size_t i = 0; i < l->levels.size(); ++i) {
      if (l->levels[i].title != rest) continue;
      study.lower_from = static_cast<int>(i);
      session.state.view = ViewName::lower;
      return fmt::format("Showing the levels from {} on.", rest);
    }
    return usage_error(
        "`lower from` takes as written, slices expanded, arithmetic, LLVM or folded LLVM.");
  }
  const auto level = number_in(word), statement = number_in(rest);
  if (level && statement) {
    const auto levels = static_cast<std::int64_t>(l->levels.size());
    if (*level < 0 || *level >= levels) {
      return usage_error(
          fmt::format("There is no level {}: there are 0 to {}.", *level, levels - 1));
    }
    const auto count =
        static_cast<std::int64_t>(l->levels[static_cast<std::size_t>(*level)].statements.size());
    if (*statement < 0 || *statement >= count) {
      return usage_error(fmt::format("There is no statement {} in level {}: there are 0 to {}.",
                                     *statement, *level, count - 1));
    }
    return follow(session, *l, {static_cast<int>(*level), static_cast<int>(*statement)});
  }
  const std::string name = fmt::format("{}{}", word.substr(0, 1) == "%" ? "" : "%", word);
  const std::vector<lowering::Statement>& program = l->levels[0].statements;
  for (std::size_t s = 0; s < program.size() && rest.empty() && !word.empty(); ++s) {
    const std::vector<std::string>& names = program[s].names;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return follow(session, *l, {0, static_cast<int>(s)});
    }
  }
  return usage_error(
      "`lower` takes the name of a value of the program, a level and the number of a statement in "
      "it, nothing, or from LEVEL: `lower slice`.");
}

constexpr std::array kLowerCommands = {
    WindowCommand{"lower", "NAME | LEVEL N | nothing | from LEVEL",
                  "follows a value of the open layout's lowering through all levels",
                  "lower from LLVM", "", run_lower, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> lower_commands() {
  return kLowerCommands;
}

}  // namespace tilescope
