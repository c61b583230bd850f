// A wgmma.mma_async as an operation in flight: what it reads and writes, and when.
#pragma once

#include <optional>
#include <vector>

#include "core/sim/async/operation.h"
#include "core/sim/matrix/shared_matrix.h"
#include "core/sim/wgmma/form.h"
#include "core/sim/wgmma/warpgroup.h"

namespace tilescope::sim {

// What the four warps asked for, as the words of the AsyncOperation.
struct GroupWords {
  std::uint32_t group = 0;            // the warpgroup, in its block
  std::uint64_t product = 0;          // its number in the warpgroup
  std::array<std::uint32_t, 4> pc{};  // of each warp
  std::uint64_t a = 0, b = 0;         // descriptors
  bool accumulate = false;
  // Rows of A, and of B, that a copy in flight is still to write.
  std::array<std::uint64_t, 5> unwritten{};
  bool is_unwritten(std::uint32_t row) const { return unwritten[row / 64] >> row % 64 & 1; }
  void set_unwritten(std::uint32_t row) { unwritten[row / 64] |= std::uint64_t{1} << row % 64; }

  void pack(AsyncOperation& operation) const;
  static GroupWords of(const AsyncOperation& operation);
};

extern const Work group_work;
inline bool is_group_product(const AsyncOperation& o) {
  return o.work == &group_work;
}

// Where A (unless it is in registers) and B are.
struct GroupOperands {
  SharedMatrix a, b;
};
std::optional<DescriptorError> decode(const GroupForm& form, const GroupWords& words,
                                      GroupOperands& out);

// Does a warp of the block wait for this product?
bool is_awaited(const Block& block, const AsyncOperation& o);

}  // namespace tilescope::sim
