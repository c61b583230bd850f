// The baseline: a run that others are compared with; and two kernels compared in one command.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/machine/comparison_view.h"
#include "viz/scene/command_text.h"
#include "viz/session/open.h"

namespace tilescope {
namespace {

Answer run_baseline(Session& session, Backend&, std::string_view arguments) {
  ViewState& state = session.state;
  if (arguments == "off") {
    if (!state.baseline) return usage_error("No run is pinned as the baseline.");
    state.baseline.reset();
    state.comparison.reset();
    state.baseline_timeline.reset();
    state.baseline_rows = {};
    state.beside_baseline = false;
    return std::string("There is no baseline any more.");
  }
  if (!arguments.empty()) return usage_error("`baseline` takes off, or nothing.");
  if (!state.result || !state.result->record) {
    return usage_error(
        "There is no run to pin: `run` the open kernel first, then `baseline`, and every run after "
        "it is compared with this one.");
  }
  state.baseline = state.result;
  state.comparison.reset();
  state.baseline_timeline = state.timeline;
  state.baseline_rows = {};
  return fmt::format(
      "{} is the baseline. Open or change a kernel and run it: `select compare` shows both.",
      state.baseline->kernel.name);
}

// What the open kernel was asked for and the other one may be asked too: sizes, seed.
std::string with_same_sizes(const ViewState& state, const KernelCard& other,
                            const std::vector<std::string>& words) {
  std::string out;
  const auto take = [&](const std::string& name, const std::string& value) {
    if (std::find(words.begin(), words.end(), "--" + name) == words.end()) {
      out += fmt::format(" --{} {}", name, value);
    }
  };
  for (const KernelCard::Size& size : other.sizes) {
    for (const KernelCard::Size& own : state.kernel->sizes) {
      if (own.name == size.name) take(own.name, fmt::format("{}", own.value));
    }
  }
  const auto seed = state.options.find("seed");
  if (seed != state.options.end()) take("seed", seed->second);
  return out;
}

std::vector<Suggestion> suggest_compare(const Session& session, const Backend& backend) {
  std::vector<Suggestion> out;
  if (!session.state.result) return out;
  for (const KernelName& kernel : backend.kernels()) {
    if (kernel.name != session.state.result->kernel.name) out.push_back({kernel.name, kernel.help});
  }
  return out;
}

Answer run_compare(Session& session, Backend& backend, std::string_view arguments) {
  const std::vector<std::string> words = split_words(arguments);
  if (words.empty()) {
    return usage_error(
        "`compare` takes the kernel that this run is compared with, and its options: `compare "
        "hgemm_v8`.");
  }
  if (session.running)
    return usage_error("A run is in progress: wait for its end, or `cancel` it.");
  if (!session.state.result || !session.state.result->record) {
    return usage_error("There is no run yet to compare another with: `run` this kernel first.");
  }
  const Outcome<KernelCard> other = backend.kernel(words[0], {});
  if (!other) return other.error();
  std::string line(arguments);
  line += with_same_sizes(session.state, *other, words);
  const Answer pinned = run_baseline(session, backend, "");
  if (!pinned) return pinned;
  const Answer opened = open_kernel(session, backend, line);
  if (!opened) return opened;
  if (session.script.lines.empty()) session.script.joins = true;  // one step of undo
  session.script.lines.push_front("select compare");
  session.script.lines.push_front("run");
  return fmt::format("{} is compared with {}.", words[0], session.state.baseline->kernel.name);
}

constexpr std::array kCompareCommands = {
    WindowCommand{"compare", "KERNEL [--m M ...]",
                  "pins this run, runs another kernel of the same sizes, and shows both",
                  "compare hgemm_v8", "", run_compare, suggest_compare, true},
    WindowCommand{"baseline", "[off]", "pins this run: others are compared with it", "baseline", "",
                  run_baseline, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> compare_commands() {
  return kCompareCommands;
}

void compare_with_baseline(ViewState& state) {
  const auto& now = state.result;
  const bool both = state.baseline && now && now != state.baseline && now->record;
  if (!both) {
    state.comparison.reset();
  } else if (!state.comparison || &state.comparison->now() != now.get() ||
             &state.comparison->baseline() != state.baseline.get()) {
    state.comparison = std::make_shared<const ComparisonView>(state.baseline, now);
  }
}

}  // namespace tilescope
