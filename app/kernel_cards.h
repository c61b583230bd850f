// What the window's page of a kernel says before it runs: of a kernel of the catalog what that
// knows, of PTX from elsewhere what its launch file says.
#pragma once

#include <cstddef>
#include <string_view>

#include "app/runs.h"
#include "viz/machine/run_result.h"

namespace tilescope {

// What the catalog knows of the kernel at these sizes; the inputs' contents are not made.
KernelCard catalog_card(const CatalogEntry& entry, const Fit& fitted, const KernelOptions& options);
// A kernel from a PTX file, as its launch file says.
KernelCard file_card(const PreparedRun& run);
// What its PTX says: TMEM, shared memory, mbarriers, for which chip.
void add_of_ptx(KernelCard& card, std::string_view ptx);
// The contents of what the kernel reads, for a look at them before the run.
void add_inputs(KernelCard& card, const PreparedRun& run);
bool is_output(const PreparedRun& run, std::size_t buffer);

}  // namespace tilescope
