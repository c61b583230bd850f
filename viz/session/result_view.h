// From a kernel and its run to the views of them: its matrices, their difference from the
// reference, and the provenance of an element.
#pragma once

#include <memory>

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

// "elementwise_add: all 131,072 elements agree with the reference; simulated in 12.3 ms."
std::string outcome_of(const RunResult& result, bool with_time);

}  // namespace tilescope
