// The kernels of the catalog on a GPU: microseconds by the GPU's own clock.
//
//   elementwise_add   reads A and B, writes C: 3 m n elements, each once; matrices of 256 MiB and
//                     more, so that none stays in the chip's cache
//   products          beside cublasLt (gpu_products.h)
//   --ladder          what each rung buys, measured and predicted (ladder.h)
//
// A result is compared with the reference before anything is measured. `gpu_bench --help` says what
// can be asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "assets/embedded.h"
#include "kernels/catalog/catalog.h"
#include "kernels/gpu/device.h"
#include "tests/bench/gpu_products.h"
#include "tests/bench/ladder.h"

namespace tilescope {
namespace {

constexpr int launches = 50;

std::string embedded(const std::string& name) {
  const auto bytes = asset(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Outcome<Job> job_of(const CatalogEntry& entry, DType type, std::int64_t m, std::int64_t n) {
  Request request;
  request.dtype = type;
  request.sizes = {{"m", m}, {"n", n}};
  return make_job(entry, request, embedded(entry.ptx));
}

// Whether the chip's result is the reference's, on ragged sizes.
bool right(Device& device, const CatalogEntry& entry, DType type) {
  const Outcome<Job> job = job_of(entry, type, 1000, 517);
  if (!job) return false;
  const auto run = device.start(*job);
  if (!run) return false;
  RunState state = RunState::running;
  while (state == RunState::running) state = (*run)->advance(0);
  const auto want = entry.reference(*job, {}, {});
  return state == RunState::done && want && (*run)->buffers()[2].bytes == want->front().bytes;
}

int measure(gpu::GpuDevice& device, const CatalogEntry& entry) {
  int wrong = 0;
  for (const Variant& variant : entry.variants) {
    // One launch at a time: the form whose launches overlap takes as long.
    if (!variant.image.empty()) continue;
    const DType type = variant.dtypes[0];
    const bool fits = right(device, entry, type);
    wrong += !fits;
    const std::int64_t m = 8192, n = 32768 / static_cast<std::int64_t>(bytes_of(type));
    const Outcome<Job> job = job_of(entry, type, m, n);
    if (!job) continue;
    Outcome<std::vector<double>> seconds = device.time(*job, launches);
    if (!seconds) {
      fmt::print("{} {}: {}\n", entry.name, name_of(type), seconds.error().sentence);
      ++wrong;
      continue;
    }
    std::sort(seconds->begin(), seconds->end());
    const double median = (*seconds)[launches / 2];
    const double bytes = 3.0 * static_cast<double>(m * n) * static_cast<double>(bytes_of(type));
    fmt::print("{:16} {:5} {:6} x {:<6} {:8.1f} us {:8.1f} GB/s   {}\n", entry.name, name_of(type),
               m, n, median * 1e6, bytes / median * 1e-9, fits ? "right" : "WRONG");
  }
  return wrong;
}

int bench_all(const bench::GpuOptions& options) {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  const auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device && options.ladder) {
    fmt::print("{}\nNothing is measured: only predictions follow.\n", device.error().sentence);
    return bench::bench_ladder(nullptr, options) ? 1 : 0;
  }
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().sentence);
    return exit_code(device.error().kind);
  }
  if (options.ladder) return bench::bench_ladder(device->get(), options) ? 1 : 0;
  fmt::print("{}, driver for CUDA {}; median of {} launches\n", (*device)->chip().text(),
             (*device)->driver().version_text(), launches);
  int wrong = 0;
  for (const CatalogEntry& entry : catalog()) {
    if (entry.name == "elementwise_add" && entry.name.rfind(options.kernels, 0) == 0) {
      wrong += measure(**device, entry);
    }
  }
  wrong += bench::bench_products(**device, options);
  return wrong ? 1 : 0;
}

}  // namespace
}  // namespace tilescope

int main(int count, char** words) {
  using namespace tilescope;
  const auto options = bench::gpu_options({words + 1, words + count});
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().sentence);
    return exit_code(options.error().kind);
  }
  if (options->help) {
    fmt::print("{}", bench::help_text());
    return 0;
  }
  return bench_all(*options);
}
