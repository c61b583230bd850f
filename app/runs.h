// A run of a catalog kernel, from what a user asked for to a job with its expected result. The
// command line and the window both start here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/run/catalog_entry.h"

namespace tilescope {

struct RunOptions {
  std::map<std::string, std::int64_t, std::less<>> sizes;  // "m" -> 300
  std::map<std::string, std::string, std::less<>> files;   // "A" -> "A.npy"
  std::string dtype;                                       // empty: from the files or the catalog
  std::uint64_t seed = 0;                                  // of inputs without a file
};

struct PreparedRun {
  const CatalogEntry* entry = nullptr;
  Sizes sizes;
  Variant variant;
  Job job;
  std::size_t output = 0;  // the job's buffer that is compared
};

// Reads the files and the kernel's PTX, and checks that everything fits together.
Outcome<PreparedRun> prepare_run(std::string_view kernel, const RunOptions& options);

// What the output should be; independent of the kernel and of the device.
Outcome<Buffer> expected_output(const PreparedRun& run);

// The CPU simulator.
std::unique_ptr<Device> make_simulator();

}  // namespace tilescope
