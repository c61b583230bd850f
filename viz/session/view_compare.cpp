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
  const ViewState& state = session.state;
  if (state.comparison) return {};
  if (!state.baseline) {
    return Emptiness{
        "No baseline. Run a kernel, pin it with `baseline`, and run another: both are shown here.",
        state.result ? "baseline" : "run", state.result ? "Pin this run" : "Run"};
  }
  return Emptiness{fmt::format("{} is the baseline. The next run is shown beside it.",
                               state.baseline->kernel.name),
                   "run", "Run"};
}

void draw_comparison_view(Session& session, Picture& out, const Drawing& how) {
  const ViewState& state = session.state;
  out.scroll =
      draw_comparison(out.scene, *state.comparison, {0, 0, how.size.width, how.size.height},
                      session.scrolls[state.view], state.baseline_timeline && state.timeline,
                      out.beside, out.scroll_beside);
}

bool has_baseline(const Session& session) {
  return session.state.baseline != nullptr;
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
