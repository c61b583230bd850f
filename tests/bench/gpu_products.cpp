#include "tests/bench/gpu_products.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "kernels/catalog/catalog.h"
#include "tests/bench/bench_file.h"
#include "tests/bench/product_table.h"
#include "tests/bench/random_shapes.h"

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

struct Task {
  Sizes sizes;
  ProductKind kind;
};
std::vector<Task> tasks_of(const GpuOptions& options) {
  std::vector<Task> out;
  if (options.random_shapes > 0) {
    for (const ProductKind& kind : options.kinds) {
      for (const Sizes& s : random_shapes(options.random_shapes, options.seed, kind)) {
        out.push_back({s, kind});
      }
    }
    return out;
  }
  for (const Sizes& s : options.shapes) {
    for (const ProductKind& kind : options.kinds) out.push_back({s, kind});
  }
  return out;
}

// Many shapes: less of each, 1 s of the GPU's time.
Pace pace_of(const GpuOptions& options) {
  Pace out;
  if (options.random_shapes > 0) out = {3, 0.1, 0.03, 0.003};
  if (options.rounds > 0) out.rounds = options.rounds;
  return out;
}

void keep(const Comparison& all, std::vector<ShapeResult>& results) {
  for (const Contender& c : all.contenders) {
    if (c.is_baseline()) continue;
    const std::string rule = c.rule.substr(0, c.rule.find(' '));  // of "best of 17"
    results.push_back(
        {fmt::format("{}{}, {}", c.kernel, rule.empty() ? "" : " (" + rule + ")", all.kind.name()),
         c.form, all.kind, all.sizes, c.median(), all.ratio(c), c.rightness.right()});
  }
}

}  // namespace

int bench_products(gpu::GpuDevice& device, const GpuOptions& options) {
  const std::vector<const CatalogEntry*> entries = products_for(device, options.kernels);
  if (entries.empty()) return 0;
  int wrong = 0;
  const Pace pace = pace_of(options);
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
  std::vector<ShapeResult> results;
  for (const Task& task : tasks_of(options)) {
    const Outcome<Comparison> done =
        comparer.compare(task.sizes, task.kind, entries, options.tiles);
    if (!done) {
      fmt::print("{}\n", done.error().sentence);
      ++wrong;
      break;
    }
    if (done->contenders.empty()) continue;
    wrong += wrong_in(*done);
    fmt::print("{}", text(*done));
    std::fflush(stdout);
    keep(*done, results);
    for (auto& row : to_json(*done)) rows.push_back(std::move(row));
  }
  nlohmann::ordered_json found{{"rows", rows}};
  if (options.random_shapes > 0) {
    fmt::print("{} random shapes, seed {}\n{}", options.random_shapes, options.seed,
               summary(results));
    found["seed"] = options.seed;
    found["summary"] = to_json(results);
  }
  return wrong + write_bench_file(options, &device, version, found);
}

}  // namespace tilescope::bench
