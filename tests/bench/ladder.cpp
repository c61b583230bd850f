#include "tests/bench/ladder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/catalog/catalog.h"
#include "tests/bench/bench_file.h"
#include "tests/bench/prediction.h"
#include "tests/bench/product_table.h"

namespace tilescope::bench {
namespace {

std::string cell(const std::optional<double>& value, const char* unit, double factor, int digits) {
  return value ? fmt::format("{:.{}f}{}", *value * factor, digits, unit) : "-";
}

std::optional<double> over(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional(*a / *b) : std::nullopt;
}

std::vector<const CatalogEntry*> rungs_named(const std::string& prefix) {
  std::vector<const CatalogEntry*> out;
  for (const CatalogEntry& entry : catalog()) {
    const bool rung = entry.name.rfind("wgmma_v", 0) == 0 || entry.name == "dense_gemm";
    if (rung && entry.name.rfind(prefix, 0) == 0) out.push_back(&entry);
  }
  return out;
}

// Fills in what the GPU here takes.
int measure(gpu::GpuDevice& device, const GpuOptions& options,
            const std::vector<const CatalogEntry*>& entries, std::vector<Ladder>& ladders) {
  int wrong = 0;
  Pace pace;
  if (options.rounds > 0) pace.rounds = options.rounds;
  Comparer comparer(device, pace, false, [&](const std::string& who, const std::string& what) {
    fmt::print("{}{}{}\n", who, who.empty() ? "" : ": ", what);
  });
  for (Ladder& ladder : ladders) {
    const Outcome<Comparison> done = comparer.compare(ladder.sizes, {}, entries, {TileRule{}});
    if (!done) {
      fmt::print("{}\n", done.error().sentence);
      return wrong + 1;
    }
    wrong += wrong_in(*done);
    fmt::print("{}", text(*done));
    std::fflush(stdout);
    for (const Contender& c : done->contenders) {
      if (!c.rightness.right()) continue;
      for (Rung& rung : ladder.rungs) {
        if (rung.kernel == c.kernel) rung.measured = c.median();
      }
      if (c.is_baseline()) ladder.rungs.push_back({c.kernel, c.median(), {}});
    }
  }
  return wrong;
}

int predict(const DeviceDescription& chip, const std::vector<const CatalogEntry*>& entries,
            std::vector<Ladder>& ladders) {
  std::vector<PredictionAsked> asked;
  std::vector<Rung*> rungs;
  for (Ladder& ladder : ladders) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      asked.push_back({entries[i], ladder.sizes});
      rungs.push_back(&ladder.rungs[i]);
    }
  }
  const std::vector<Outcome<double>> times = predictions(asked, chip);
  int wrong = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i]) {
      rungs[i]->predicted = *times[i];
    } else {
      fmt::print("{} is not predicted: {}\n", rungs[i]->kernel, times[i].error().sentence);
      wrong += times[i].error().kind == ErrorKind::fault;
    }
  }
  return wrong;
}

}  // namespace

std::string text(const Ladder& ladder) {
  const Sizes& s = ladder.sizes;
  std::string out = fmt::format("{:26} {:>9} {:>7} {:>10} {:>7} {:>21}\n",
                                fmt::format("f16 {} x {} x {}", s.m, s.n, s.k), "measured", "gain",
                                "predicted", "gain", "predicted / measured");
  const Rung nothing, *before = &nothing;
  for (const Rung& rung : ladder.rungs) {
    const auto gain = [&](std::optional<double> Rung::*time) {
      const auto value = over(before->*time, rung.*time);
      return value ? fmt::format("{:.2f}x", *value) : "";
    };
    const bool steps = rung.kernel.rfind("cublas", 0) != 0;
    out += fmt::format("  {:24} {:>9} {:>7} {:>10} {:>7} {:>21}\n", rung.kernel,
                       cell(rung.measured, "", 1e6, 1), steps ? gain(&Rung::measured) : "",
                       cell(rung.predicted, "", 1e6, 1), steps ? gain(&Rung::predicted) : "",
                       cell(over(rung.predicted, rung.measured), "", 1, 2));
    before = &rung;
  }
  return out;
}

nlohmann::ordered_json to_json(const Ladder& ladder) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Rung& rung : ladder.rungs) {
    nlohmann::ordered_json row{{"kernel", rung.kernel},
                               {"m", ladder.sizes.m},
                               {"n", ladder.sizes.n},
                               {"k", ladder.sizes.k}};
    if (rung.measured) row["measured"] = *rung.measured;
    if (rung.predicted) row["predicted"] = *rung.predicted;
    out.push_back(std::move(row));
  }
  return out;
}

int bench_ladder(gpu::GpuDevice* device, const GpuOptions& options) {
  const Outcome<DeviceDescription> chip = description_of(!options.device.empty() ? options.device
                                                         : device ? device->chip().name
                                                                  : "h100");
  if (!chip) {
    fmt::print("{}\n", chip.error().sentence);
    return 1;
  }
  const std::vector<const CatalogEntry*> entries = rungs_named(options.kernels);
  std::vector<Ladder> ladders;
  for (const Sizes& sizes : options.shapes) {
    ladders.push_back({sizes, {}});
    for (const CatalogEntry* entry : entries) ladders.back().rungs.push_back({entry->name, {}, {}});
  }
  int wrong = 0;
  if (device && !entries.empty() && !gpu::unfit(entries[0]->target, device->chip())) {
    fmt::print("{}, driver for CUDA {}\n", device->chip().text(), device->driver().version_text());
    wrong += measure(*device, options, entries, ladders);
  } else if (device) {
    fmt::print("{} runs no kernel for sm_90a: only predictions follow.\n", device->chip().text());
  }
  fmt::print("Predicted: {}, each launch behind others with other matrices\n", chip->name);
  std::fflush(stdout);
  wrong += predict(*chip, entries, ladders);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Ladder& ladder : ladders) {
    fmt::print("{}", text(ladder));
    for (auto& row : to_json(ladder)) rows.push_back(std::move(row));
  }
  return wrong + write_bench_file(options, device, "", {{"ladder", rows}});
}

}  // namespace tilescope::bench
