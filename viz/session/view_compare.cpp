// The run beside its baseline.
#include <fmt/format.h>

#include <algorithm>

#include "viz/machine/comparison_view.h"
#include "viz/session/session.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

// Why there is nothing to compare.
std::optional<Emptiness> no_comparison(const Session& session) {
  const Choices& choices = session.choices;
  if (choices.comparison) return {};
  if (!choices.baseline) {
    return Emptiness{
        "No baseline. Run a kernel, pin it with `baseline`, and run another: both are shown here.",
        choices.result ? "baseline" : "run", choices.result ? "Pin this run" : "Run"};
  }
  return Emptiness{fmt::format("{} is the baseline. The next run is shown beside it.",
                               choices.baseline->kernel.name),
                   "run", "Run"};
}

void draw_comparison_view(Session& session, Picture& out, const Drawing& how) {
  const Choices& choices = session.choices;
  out.scroll =
      draw_comparison(out.scene, *choices.comparison, {0, 0, how.size.width, how.size.height},
                      session.scrolls[choices.view], choices.baseline_timeline && choices.timeline,
                      out.beside, out.scroll_beside);
}

bool has_baseline(const Session& session) {
  return session.choices.baseline != nullptr;
}

}  // namespace

const View compare_view = {
    .id = ViewName::compare,
    .name = "compare",
    .tab = "Compare",
    .said = "the comparison",
    .list = true,
    .offered = has_baseline,
    .empty = no_comparison,
    .draw = draw_comparison_view,
};

}  // namespace tilescope
