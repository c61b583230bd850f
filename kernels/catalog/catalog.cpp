#include "kernels/catalog/catalog.h"

#include <fmt/format.h>

namespace tilescope {

const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> entries = [] {
    std::vector<CatalogEntry> all = {elementwise_add_entry(), matmul_naive_entry(),
                                     matmul_tiled_entry()};
    for (CatalogEntry& entry : wgmma_entries()) all.push_back(std::move(entry));
    all.push_back(dense_gemm_entry());
    for (CatalogEntry& entry : hgemm_entries()) all.push_back(std::move(entry));
    return all;
  }();
  return entries;
}

Outcome<const CatalogEntry*> find_kernel(std::string_view name) {
  std::string names;
  for (const CatalogEntry& entry : catalog()) {
    if (entry.name == name) return &entry;
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return Error{
      ErrorKind::unknown,
      fmt::format("There is no kernel '{}' in the catalog; there are: {}. A PTX file of your "
                  "own is run with --launch F.toml.",
                  name, names),
      ""};
}

}  // namespace tilescope
