// The baseline: a run that others are compared with.
#include "viz/scene/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/scene/comparison_view.h"

namespace tilescope {
namespace {

Answer run_baseline(Session& session, Workshop&, std::string_view arguments) {
  Choices& choices = session.choices;
  if (arguments == "off") {
    if (!choices.baseline) return usage_error("No run is pinned as the baseline.");
    choices.baseline.reset();
    choices.comparison.reset();
    choices.baseline_timeline.reset();
    choices.baseline_rows = {};
    choices.beside_baseline = false;
    return std::string("There is no baseline any more.");
  }
  if (!arguments.empty()) return usage_error("`baseline` takes off, or nothing.");
  if (!choices.result || !choices.result->record) {
    return usage_error(
        "There is no run to pin: `run` the open kernel first, then `baseline`, and every run after "
        "it is compared with this one.");
  }
  choices.baseline = choices.result;
  choices.comparison.reset();
  choices.baseline_timeline = choices.timeline;
  choices.baseline_rows = {};
  return fmt::format(
      "{} is the baseline. Open or change a kernel and run it: `select compare` shows both.",
      choices.baseline->kernel.name);
}

constexpr std::array kTable = {
    WindowCommand{"baseline", "[off]", "pins this run: others are compared with it", "baseline", "",
                  run_baseline, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> compare_commands() {
  return kTable;
}

void compare_with_baseline(Choices& choices) {
  const auto& now = choices.result;
  const bool both = choices.baseline && now && now != choices.baseline && now->record;
  if (!both) {
    choices.comparison.reset();
  } else if (!choices.comparison || &choices.comparison->now() != now.get() ||
             &choices.comparison->baseline() != choices.baseline.get()) {
    choices.comparison = std::make_shared<const ComparisonView>(choices.baseline, now);
  }
}

}  // namespace tilescope
