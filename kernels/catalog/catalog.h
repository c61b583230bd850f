// The kernels that can be run by name. core/run/catalog_entry.h says what an entry is; each kernel
// (or family of kernels) has one file here that makes its entries.
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/run/catalog_entry.h"

namespace tilescope {

// All entries, in the order in which a learner meets them.
const std::vector<CatalogEntry>& catalog();

// The entry of this name; unknown otherwise, with the names that exist.
Outcome<const CatalogEntry*> find_kernel(std::string_view name);

CatalogEntry elementwise_add_entry();
CatalogEntry matmul_naive_entry();
CatalogEntry matmul_tiled_entry();
std::vector<CatalogEntry> hgemm_entries();  // the ladder on Blackwell, step by step
std::vector<CatalogEntry> wgmma_entries();  // the ladder on Hopper
CatalogEntry dense_gemm_entry();            // Hopper's product for any of its types

}  // namespace tilescope
