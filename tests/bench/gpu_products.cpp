#include "tests/bench/gpu_products.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/catalog/catalog.h"
#include "tests/bench/product_table.h"

namespace tilescope::bench {
namespace {

// Kernels that multiply matrices and run on the chip here, whose names begin as is asked for.
std::vector<const CatalogEntry*> products_for(const gpu::GpuDevice& device,
                                              const std::string& prefix) {
  std::vector<const CatalogEntry*> out;
  for (const CatalogEntry& entry : catalog()) {
    const bool multiplies =
        entry.name == "dense_gemm" ||
        (entry.tensors.size() == 3 && entry.tensors[2].name == "D" && !entry.variants.empty());
    if (multiplies && entry.name.rfind(prefix, 0) == 0 &&
        !gpu::unfit(entry.target, device.chip())) {
      out.push_back(&entry);
    }
  }
  return out;
}

}  // namespace

int bench_products(gpu::GpuDevice& device, const GpuOptions& options) {
  const std::vector<const CatalogEntry*> entries = products_for(device, options.kernels);
  if (entries.empty()) return 0;
  int wrong = 0;
  Pace pace;
  if (options.rounds > 0) pace.rounds = options.rounds;
  Comparer comparer(device, pace, !options.carried,
                    [&](const std::string& who, const std::string& what) {
                      fmt::print("{}{}{}\n", who, who.empty() ? "" : ": ", what);
                      wrong += !who.empty() && who != "cublasLt";
                    });
  const std::string version = comparer.baseline_version();
  fmt::print("{}, driver for CUDA {}{}; {} rounds, each {} s of launches after {} s to settle\n",
             device.chip().text(), device.driver().version_text(),
             version.empty() ? "" : fmt::format(", cublasLt {}", version), pace.rounds,
             pace.measured, pace.settle);
  fmt::print(
      "8-bit types: cublasLt with FAST_ACCUM = 1, whose sums stay in the tensor core, as "
      "dense_gemm's do\n");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Sizes& sizes : options.shapes) {
    for (const ProductKind& kind : options.kinds) {
      const Outcome<Comparison> done = comparer.compare(sizes, kind, entries, options.tiles);
      if (!done) {
        fmt::print("{}\n", done.error().sentence);
        return wrong + 1;
      }
      if (done->contenders.empty()) continue;
      wrong += wrong_in(*done);
      fmt::print("{}", text(*done));
      std::fflush(stdout);
      for (auto& row : to_json(*done)) rows.push_back(std::move(row));
    }
  }
  if (options.json.empty()) return wrong;
  const nlohmann::ordered_json all{
      {"card", device.chip().name},
      {"driver", device.driver().version_text()},
      {"cublasLt", version.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(version)},
      {"commit", options.commit},
      {"f8_fast_accumulation", true},
      {"rows", rows}};
  std::ofstream file(options.json);
  file << all.dump(1) << "\n";
  if (file.flush()) return wrong;
  fmt::print("{} cannot be written.\n", options.json);
  return wrong + 1;
}

}  // namespace tilescope::bench
