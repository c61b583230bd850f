// The kernels of the catalog on a GPU: microseconds by the GPU's own clock.
//
//   gpu_bench [--rounds N] [--kernels PREFIX] [--shapes MxNxK,...] [--json F] [--commit TEXT]
//
//   elementwise_add   reads A and B, writes C: 3 m n elements, each once
//   products          beside cublasLt (gpu_products.h)
//
// Matrices of 256 MiB and more, so that none stays in the chip's cache. A result is compared with
// the reference before anything is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "assets/embedded.h"
#include "kernels/catalog/catalog.h"
#include "kernels/gpu/device.h"
#include "tests/bench/gpu_products.h"

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

int bench(const ProductsAsked& products) {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  const auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().sentence);
    return exit_code(device.error().kind);
  }
  fmt::print("{}, driver for CUDA {}; median of {} launches\n", (*device)->chip().text(),
             (*device)->driver().version_text(), launches);
  int wrong = 0;
  for (const CatalogEntry& entry : catalog()) {
    if (entry.name == "elementwise_add" && products.kernels.empty()) {
      wrong += measure(**device, entry);
    }
  }
  wrong += bench_products(**device, products);
  return wrong ? 1 : 0;
}

}  // namespace
}  // namespace tilescope

int main(int count, char** words) {
  tilescope::ProductsAsked asked;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const std::string value = i + 1 < count ? words[i + 1] : "";
    if (word == "--rounds") {
      asked.rounds = std::max(1, std::atoi(value.c_str()));
    } else if (word == "--kernels") {
      asked.kernels = value;
    } else if (word == "--shapes") {
      asked.shapes = value;
    } else if (word == "--json") {
      asked.json = value;
    } else if (word == "--commit") {
      asked.commit = value;
    } else {
      fmt::print(stderr,
                 "{} is not known; there are --rounds, --kernels, --shapes, --json, --commit.\n",
                 word);
      return 2;
    }
    ++i;
  }
  return tilescope::bench(asked);
}
