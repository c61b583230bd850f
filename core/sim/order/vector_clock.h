// How much of what others do has been seen: a vector clock (Mattern 1989), for the agents of a
// grid.
//
// An agent is whoever does things in an order of its own: a warp, whose lanes are taken to be in
// order, or what asynchronous operations complete on. Its deeds are counted in epochs, from 1 on.
#pragma once

#include <cstdint>
#include <vector>

namespace tilescope::sim {

struct Agent {
  std::uint32_t block = 0;  // its number in the grid
  std::uint32_t slot = 0;   // in the block: warps first

  friend bool operator==(const Agent& a, const Agent& b) {
    return a.block == b.block && a.slot == b.slot;
  }
};

class VectorClock {
 public:
  // Up to which epoch an agent has been seen; 0: not at all.
  std::uint32_t of(Agent a) const {
    for (const Row& r : rows_) {
      if (r.block == a.block) return a.slot < r.seen.size() ? r.seen[a.slot] : 0;
    }
    return 0;
  }
  // Has anybody of this block been seen?
  bool knows(std::uint32_t block) const {
    for (const Row& r : rows_) {
      if (r.block == block) return true;
    }
    return false;
  }
  void see(Agent a, std::uint32_t epoch);
  void join(const VectorClock& other);
  void clear() { rows_.clear(); }
  bool empty() const { return rows_.empty(); }
  std::uint64_t held() const;  // bytes

 private:
  // What of one block has been seen, by slot. Most clocks have one row: that of their own block.
  struct Row {
    std::uint32_t block = 0;
    std::vector<std::uint32_t> seen;
  };
  Row& row(std::uint32_t block);

  std::vector<Row> rows_;  // by block
};

}  // namespace tilescope::sim
