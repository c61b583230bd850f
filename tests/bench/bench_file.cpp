#include "tests/bench/bench_file.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace tilescope::bench {

int write_bench_file(const GpuOptions& options, const gpu::GpuDevice* device,
                     const std::string& baseline_version, const nlohmann::ordered_json& found) {
  if (options.json.empty()) return 0;
  nlohmann::ordered_json all;
  all["card"] = device ? nlohmann::ordered_json(device->chip().name) : nullptr;
  all["driver"] = device ? nlohmann::ordered_json(device->driver().version_text()) : nullptr;
  if (!baseline_version.empty()) {
    all["cublasLt"] = baseline_version;
    all["f8_fast_accumulation"] = true;
  }
  all["commit"] = options.commit;
  all.update(found);
  std::ofstream file(options.json);
  file << all.dump(1) << "\n";
  if (file.flush()) return 0;
  fmt::print("{} cannot be written.\n", options.json);
  return 1;
}

}  // namespace tilescope::bench
