#include "kernels/catalog/catalog.h"

#include <fmt/format.h>

#include "core/layout/text.h"

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
  std::vector<std::string_view> known;
  for (const CatalogEntry& entry : catalog()) {
    if (entry.name == name) return &entry;
    if (!names.empty()) names += ", ";
    names += entry.name;
    known.push_back(entry.name);
  }
  const std::string_view near = nearest(name, known);
  return Error{
      ErrorKind::unknown,
      fmt::format(
          "There is no kernel '{}' in the catalog; {}here are: {}. A PTX file of your own is "
          "run with --launch F.toml.",
          name, near.empty() ? "t" : fmt::format("did you mean {}? T", near), names),
      ""};
}

}  // namespace tilescope
