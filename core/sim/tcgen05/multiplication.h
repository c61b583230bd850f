// A tcgen05.mma as an operation in flight: what its words mean, what it touches, what happens at
// its moments.
#pragma once

#include <optional>
#include <vector>

#include "core/sim/async/operation.h"
#include "core/sim/tcgen05/product.h"
#include "core/sim/tcgen05/unit.h"

namespace tilescope::sim {

struct Multiplication {
  Product product;
  bool a_in_tensor_memory = false;
  TensorAddress a_cells;  // where A is in TMEM
  SharedMatrix a, b;

  std::vector<CellRange> d_range() const;
  std::vector<CellRange> a_range() const;  // empty where A is in shared memory
};

// What the instruction asked for, as the words of its AsyncOperation.
struct MultiplicationWords {
  std::uint32_t d = 0, instruction = 0;
  std::uint64_t a = 0, b = 0;  // descriptors; a may be an address of TMEM
  MmaKind kind = MmaKind::none;
  bool ws = false, a_in_tensor_memory = false, accumulate = false;
  std::uint8_t scale = 0;
  std::uint64_t disabled[2] = {};

  void pack(AsyncOperation& operation) const;
  static MultiplicationWords of(const AsyncOperation& operation);
};
std::optional<DescriptorError> decode(const MultiplicationWords& words, Multiplication& out);

extern const Work multiplication_work, commit_work;

}  // namespace tilescope::sim
