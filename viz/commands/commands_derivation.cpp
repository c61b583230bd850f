// The derivation of the open layout, step by step.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/commands/commands.h"
#include "viz/layout/layout_derivation.h"
#include "viz/scene/command_text.h"
#include "viz/session/open.h"

namespace tilescope {
namespace {

Answer show_step(Session& session, std::size_t step) {
  LayoutStudy study = session.state.study;
  study.step = step;
  study.beside.clear();
  if (auto error = show_study(session, study)) return *error;
  if (step == 0) return std::string("The result.");
  const DerivationStep& shown = (*study.derivation)[step];
  return fmt::format("Step {} of {}: {}", step, study.steps(), shown.sentence);
}

// A second layout beside the open one, or none.
Answer run_beside(Session& session, Backend&, std::string_view arguments) {
  if (!session.state.layout) return usage_error("There is no layout: open one first.");
  LayoutStudy study = session.state.study;
  study.step = 0;
  study.beside = arguments == "nothing" ? std::string() : std::string(unquoted(arguments));
  if (arguments.empty()) return usage_error("`beside` takes an expression, or nothing.");
  if (auto error = show_study(session, study)) return *error;
  return study.beside.empty() ? std::string("The second layout is closed.")
                              : fmt::format("Beside it: {}.", study.beside);
}

// The result stands behind the last step, and playing ends there.
Answer run_derive(Session& session, Backend&, std::string_view arguments) {
  const LayoutStudy& study = session.state.study;
  if (!session.state.layout) return usage_error("There is no layout: open one first.");
  const std::size_t steps = study.steps(), now = study.step == 0 ? steps + 1 : study.step;
  if (steps == 0) {
    return usage_error(
        "This layout is written out, so nothing was derived; try `open layout "
        "composition((6,2):(8,2), (4,3):(3,1))`.");
  }
  const auto show = [&](std::size_t at) { return show_step(session, at > steps ? 0 : at); };
  if (arguments == "stop") {
    session.playing = false;
    return std::string("The derivation stops.");
  }
  if (arguments == "play") {
    session.playing = true;
    session.played = 0;
    return show(now > steps ? 1 : now);
  }
  if (arguments == "next") {
    if (now > steps) return usage_error("This is the result; `derive 1` begins anew.");
    return show(now + 1);
  }
  session.playing = false;
  if (arguments == "back") {
    if (now <= 1) return usage_error("This is the first step.");
    return show(now - 1);
  }
  if (arguments == "result") return show(0);
  const auto number = number_in(arguments);
  if (!number) return usage_error("`derive` takes next, back, play, stop, result or a number.");
  if (*number < 1 || *number > static_cast<std::int64_t>(steps)) {
    return usage_error(fmt::format("There is no step {}: there are 1 to {}.", *number, steps));
  }
  return show(static_cast<std::size_t>(*number));
}

constexpr std::array kDerivationCommands = {
    WindowCommand{"beside", "EXPR | nothing", "shows a second layout beside the open one",
                  "beside (9,32):(1,9)", "", run_beside, nullptr, true},
    WindowCommand{"derive", "next | back | N | play | stop | result",
                  "shows a step of how the open layout came about", "derive 1", "[ back, ] next",
                  run_derive, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> derivation_commands() {
  return kDerivationCommands;
}

bool play_on(Session& session, Backend& backend, double seconds) {
  constexpr double pause = 1.2;  // long enough to read a step's sentence
  if (!session.playing) return false;
  session.played += seconds;
  if (session.played < pause) return false;
  session.played = 0;
  const LayoutStudy& study = session.state.study;
  if (study.step == 0 || !execute(session, backend, "derive next").ok()) session.playing = false;
  if (study.step == 0) session.playing = false;
  return true;
}

}  // namespace tilescope
