// From a kernel and its run to the views of them: its matrices, their difference from the
// reference, and the provenance of an element.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "viz/matrix/diff_view.h"
#include "viz/matrix/matrices_view.h"
#include "viz/session/backend.h"

namespace tilescope {

// The inputs of a kernel that has not run, and all matrices of one that has. Null where none is
// known.
std::shared_ptr<const MatricesView> matrices_of(const KernelCard& kernel);
std::shared_ptr<const MatricesView> matrices_of(const RunResult& result);
// The values of a file.
std::shared_ptr<const MatricesView> matrices_of(const std::string& path,
                                                std::shared_ptr<const Buffer> values);

// All of them.
FinishedRun finished(std::shared_ptr<const RunResult> result);

// What is known of one element of the output: got, want, errors, who wrote it (block, warp, lane,
// source line), and the inputs it was made from.
Lines provenance(const RunResult& result, Element element);

// It ran to its end, agrees with what it was compared with, and no hazard was told. Of one that was
// compared with nothing that is not known.
bool is_right(const RunResult& result);
// It faulted, differs from what it was compared with, or hazards were told.
bool is_bad(const RunResult& result);

// What went by without stopping the run.
struct HazardsTold {
  std::size_t count = 0;
  std::size_t first = 0;  // its number among the reports
};
std::optional<HazardsTold> hazards_of(const RunResult& result);
// "2 hazards"
std::string text(const HazardsTold& told);

// "0 of 1 CTA ended"
std::string ended_words(const RunProgress& progress);

// Hazards first, by the first of them; then how it ended:
// "elementwise_add: all 131,072 elements agree with the reference; simulated in 12.3 ms."
std::string outcome_of(const RunResult& result, bool with_time);

}  // namespace tilescope
