// Which boxes of tensors are in a block's shared memory: what TMA has brought there, or taken from
// there, last. A tensor map says how a tile is (rows, type, swizzle) and the copy which part of
// the tensor it is, so shared memory can be shown as the tiles that a kernel sees in it, whoever
// compiled that kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sim/async/boxes.h"
#include "core/sim/async/operation.h"

namespace tilescope::sim {

struct SharedTile {
  Box box;                   // box.shared: its first byte
  std::uint64_t number = 0;  // of the operation, in its block
  std::uint32_t thread = 0;  // that issued it, of the block of this rank in the cluster
  std::uint32_t issuer = 0;
  std::uint32_t pc = 0;
  bool stored = false;                      // taken from there; else brought
  std::optional<std::uint32_t> mbarrier{};  // that says it is there: offset in shared memory
  std::uint32_t begin() const { return box.shared; }
  std::uint32_t end() const { return box.shared + box.shared_bytes(); }
  // Where in global memory the element came from that is at a byte of shared memory; 0: it is not
  // of this tile, or TMA filled it in.
  std::uint64_t origin(std::uint32_t byte) const;
};

// Those of one block. A tile takes the place of those that it overlaps.
class SharedTiles {
 public:
  static constexpr std::size_t most = 256;  // beyond, the oldest are forgotten
  void put(const SharedTile& tile);
  const std::vector<SharedTile>& all() const { return all_; }

 private:
  std::vector<SharedTile> all_;  // the oldest first
};

// The tile of a copy of a box in flight; nothing: it is another operation.
std::optional<SharedTile> tile_of(const AsyncOperation& operation);

}  // namespace tilescope::sim
