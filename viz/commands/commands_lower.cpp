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

// What was followed or shown of the PTX goes with it.
void leave_code(LayoutStudy& study) {
  if (!study.code) return;
  const int levels = static_cast<int>(study.code->lowering.levels.size()) - 1;
  study.code = nullptr;
  if (study.lowered && study.lowered->level >= levels) study.lowered.reset();
  study.lower_from = std::min(study.lower_from, levels - 1);
}

Answer put_code(Session& session, Backend& backend, std::string_view of) {
  LayoutStudy& study = session.state.study;
  if (of == "nothing") {
    leave_code(study);
    session.state.view = ViewName::lower;
    return std::string("The lowering ends at LLVM.");
  }
  if (of.empty()) {
    return usage_error("`lower ptx` takes a kernel's name, a PTX file or nothing.");
  }
  Outcome<lowering::Lowering> l = lowering_to_llvm(session);
  if (!l) return l.error();
  const Outcome<lowering::Code> code = backend.code_below(std::string(of), *l);
  if (!code) return code.error();
  const Outcome<lowering::Lowered> lowered = lowering::lower_to(*l, *code);
  if (!lowered) return lowered.error();
  leave_code(study);
  study.code = std::make_shared<const LoweredCode>(LoweredCode{std::string(of), std::move(*l)});
  session.state.view = ViewName::lower;
  return lowered->found.empty() ? fmt::format("The PTX of {} is below.", of) : lowered->found[0];
}

Answer run_lower(Session& session, Backend& backend, std::string_view arguments) {
  LayoutStudy& study = session.state.study;
  if (!session.state.layout) return usage_error("No layout is open: `open layout (?,?):(?,1)`.");
  if (arguments == "nothing") {
    study.lowered.reset();
    session.state.view = ViewName::lower;
    return std::string("Following nothing.");
  }
  const auto [word, rest] = first_word(arguments);
  if (word == "ptx") return put_code(session, backend, rest);
  const Outcome<lowering::Lowering> l = lowering_of(session);
  if (!l) return l.error();
  if (word == "from") {
    for (std::size_t i = 0; i < l->levels.size(); ++i) {
      if (l->levels[i].title != rest) continue;
      study.lower_from = static_cast<int>(i);
      session.state.view = ViewName::lower;
      return fmt::format("Showing the levels from {} on.", rest);
    }
    return usage_error(
        "`lower from` takes as written, slices expanded, arithmetic, LLVM, folded LLVM, or PTX "
        "where `lower ptx KERNEL` put some below.");
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
      "it, nothing, from LEVEL, or ptx KERNEL: `lower slice`.");
}

constexpr std::array kLowerCommands = {
    WindowCommand{
        "lower", "NAME | LEVEL N | nothing | from LEVEL | ptx KERNEL|F.ptx|nothing",
        "follows a value of the open layout's lowering through all levels; puts PTX below",
        "lower from LLVM", "", run_lower, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> lower_commands() {
  return kLowerCommands;
}

}  // namespace tilescope
