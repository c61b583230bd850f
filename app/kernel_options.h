// The options of a kernel by their names, {"m", "300"}, read in one place for the command line, the
// window and share strings.
#pragma once

#include <string>
#include <string_view>

#include "app/runs.h"
#include "core/error.h"
#include "viz/machine/run_result.h"

namespace tilescope {

// What a kernel of the catalog takes as its own: sizes, its options, inputs, seed, type, grid, PTX,
// source; what chooses an order is left out. Which values an option has is seen where the problem
// is fitted. Refused: an option that it has not, with those that it has; a number that is none.
Outcome<RunOptions> run_options(const CatalogEntry& entry, const KernelOptions& options);
// As an option: "A" is --a.
std::string option_of(const TensorSpec& tensor);

// Whether it says how any kernel is run, and not what: device, schedule, lazy, numerics.
bool chooses_order(std::string_view option);
KernelOptions without_order(const KernelOptions& options);

}  // namespace tilescope
