#include "tests/bench/matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "core/numeric/small_float.h"

namespace tilescope::bench {
namespace {

using gpu::Result;

FloatFormat format_of(const std::string& type) {
  return type == "f16"    ? format_f16
         : type == "bf16" ? format_bf16
         : type == "tf32" ? format_tf32
         : type == "e4m3" ? format_e4m3
         : type == "e5m2" ? format_e5m2
                          : format_f32;
}

// cublasLt takes it for granted.
std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace

std::size_t sets_of(const ProductKind& kind, const Sizes& sizes) {
  constexpr double most = 4096;
  return static_cast<std::size_t>(
      std::clamp(std::ceil(2 * l2_bytes / kind.bytes(sizes)) + 1, 2.0, most));
}

std::vector<std::byte> uniform_numbers(const std::string& type, std::size_t count,
                                       std::uint64_t seed) {
  const FloatFormat format = format_of(type);
  const std::size_t width = bytes_of(*stored_as(type));
  const int low = static_cast<int>(8 * width) - format.bits();  // zeros of tf32
  std::mt19937_64 draw(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::uint32_t> numbers(65536);
  for (std::uint32_t& n : numbers) n = encode(format, uniform(draw)) << low;
  std::vector<std::byte> out(count * width);
  std::uint64_t four = 0;
  for (std::size_t i = 0; i < count; ++i, four >>= 16) {
    if (i % 4 == 0) four = draw();
    std::memcpy(&out[i * width], &numbers[four & 0xffff], width);  // little-endian
  }
  return out;
}

Matrices::Matrices(gpu::GpuDevice& device, const ProductKind& kind, const Sizes& sizes)
    : driver_(&device.driver()), kind_(kind), sizes_(sizes), sets_(sets_of(kind, sizes)) {}

Outcome<Matrices> Matrices::make(gpu::GpuDevice& device, const ProductKind& kind, const Sizes& s) {
  Matrices out(device, kind, s);
  if (auto error = out.allocate(device, out.a_, kind.a, s.m * s.k, 1, true)) return *error;
  if (auto error = out.allocate(device, out.b_, kind.b, s.n * s.k, 2, true)) return *error;
  if (auto error = out.allocate(device, out.c_, kind.c, s.m * s.n, 3, kind.beta != 0)) {
    return *error;
  }
  return out;
}

std::optional<Error> Matrices::allocate(gpu::GpuDevice& device, Arena& arena,
                                        const std::string& type, std::int64_t elements,
                                        std::uint64_t seed, bool fills) {
  const std::size_t width = bytes_of(*stored_as(type));
  arena.bytes = static_cast<std::size_t>(elements) * width;
  arena.stride = aligned(arena.bytes);
  const std::size_t all = arena.stride * sets_;
  Outcome<gpu::Memory> memory = device.allocate(all);
  if (!memory) return memory.error();
  arena.memory = std::move(*memory);
  Result result = Result::success;
  if (fills) {
    const std::vector<std::byte> numbers = uniform_numbers(type, all / width, seed);
    result = driver_->cuMemcpyHtoD(arena.memory.get(), numbers.data(), all);
    arena.first.assign(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(arena.bytes));
  } else {
    result = driver_->cuMemsetD8(arena.memory.get(), gpu::undefined_fill, all);
  }
  if (result == Result::success) return std::nullopt;
  return Error{
      ErrorKind::fault,
      fmt::format("The matrices do not get into the GPU's memory: {}.", driver_->name_of(result)),
      ""};
}

Result Matrices::reset() const {
  return c_.first.empty() ? driver_->cuMemsetD8(c_.memory.get(), gpu::undefined_fill, c_.bytes)
                          : driver_->cuMemcpyHtoD(c_.memory.get(), c_.first.data(), c_.bytes);
}

Result Matrices::read(std::vector<std::byte>& c) const {
  c.resize(c_.bytes);
  return driver_->cuMemcpyDtoH(c.data(), c_.memory.get(), c_.bytes);
}

HostProduct Matrices::host() const {
  return {kind_, sizes_, a_.first, b_.first, c_.first};
}

}  // namespace tilescope::bench
