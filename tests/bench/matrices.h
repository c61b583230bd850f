// A product's matrices in a GPU's memory, in so many sets that L2 holds none of them when its turn
// comes again. All kernels of a comparison work on the same ones.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/gpu/device.h"
#include "kernels/gpu/resources.h"
#include "tests/bench/product_bound.h"
#include "tests/bench/product_kind.h"

namespace tilescope::bench {

constexpr double l2_bytes = 60e6;  // of an H200, more than any of its kind

// So many that together they are twice as large as L2; two at least.
std::size_t sets_of(const ProductKind& kind, const Sizes& sizes);

// `count` numbers of a type ("tf32" too: f32 whose low bits are zero), uniform in [-1, 1]: drawn
// from 65,536 such numbers.
std::vector<std::byte> uniform_numbers(const std::string& type, std::size_t count,
                                       std::uint64_t seed);

class Matrices {
 public:
  static Outcome<Matrices> make(gpu::GpuDevice& device, const ProductKind& kind,
                                const Sizes& sizes);
  std::size_t sets() const { return sets_; }
  gpu::CUdeviceptr a(std::size_t set) const { return a_.memory.get() + set * a_.stride; }
  gpu::CUdeviceptr b(std::size_t set) const { return b_.memory.get() + set * b_.stride; }
  gpu::CUdeviceptr c(std::size_t set) const { return c_.memory.get() + set * c_.stride; }

  // The first set's C as it was, or filled with what is no result.
  gpu::Result reset() const;
  gpu::Result read(std::vector<std::byte>& c) const;  // of the first set
  HostProduct host() const;                           // likewise

 private:
  struct Arena {
    gpu::Memory memory;
    std::size_t bytes = 0, stride = 0;  // of a matrix; from one to the next
    std::vector<std::byte> first;       // the first set's on this machine
  };
  Matrices(gpu::GpuDevice& device, const ProductKind& kind, const Sizes& sizes);
  std::optional<Error> allocate(gpu::GpuDevice& device, Arena& arena, const std::string& type,
                                std::int64_t elements, std::uint64_t seed, bool fills);

  const gpu::Driver* driver_;
  ProductKind kind_;
  Sizes sizes_;
  std::size_t sets_;
  Arena a_, b_, c_;
};

}  // namespace tilescope::bench
