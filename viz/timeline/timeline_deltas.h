// The figures of a run, each with how much more or less it is than the baseline's:
// "1,234 cycles, 310 fewer than hgemm_v7".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/scene/describe.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

struct Figure {
  std::string name;  // "waits for an mbarrier"
  double value = 0;  // whole
  std::string unit;  // "cycles"; empty: it is told by the name
};
// "310 fewer than hgemm_v7", "12 more", "as many"; without a name, the baseline is known.
std::string delta_text(const Figure& now, double before, const std::string& than = "");
// "1,234 cycles, 310 fewer than hgemm_v7"; what the baseline does not have is 0 there.
std::string text(const Figure& now, const std::vector<Figure>* before,
                 const std::string& than = "");

// Until all blocks had exited. What was in flight then is drawn, and ends a little later.
double run_end(const TimelineView& view);

// Of the whole run: how long it took, how long its tensor core was busy, what moved, and what all
// of its warps waited for.
std::vector<Figure> figures_of(const TimelineView& view);
// Of a stretch of it: what all warps did in it, and each kind of unit.
std::vector<Figure> figures_of(const TimelineView& view, CycleRange range);
// Of one row: that it ran or worked, and waited.
std::vector<Figure> figures_of(const TimelineView& view, TimelinePlace place, CycleRange range);

// A baseline, and what it is called.
struct ComparedWith {
  const TimelineView* view = nullptr;
  TimelineChoice choice;  // which of its rows are shown
  std::string name;
};
// The figures of the run, with what they are more or less than the baseline's, if there is one.
Lines figure_lines(const TimelineView& view, const ComparedWith* baseline);
// What is added up, beside the same stretch of the baseline; then each row that both show.
Lines totals_beside(const TimelineView& view, const TimelineChoice& choice,
                    const ComparedWith& baseline);

}  // namespace tilescope
