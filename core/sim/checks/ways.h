// Where lanes of a warp can still come to, from where they are: the control flow of their function,
// without the branches that what they hold for good (core/sim/checks/derive.h) closes to them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sim/checks/derive.h"

namespace tilescope::sim {

class Ways {
 public:
  Ways(Derivation& derivation, Block& block, Warp& warp, Mask lanes);

  static constexpr std::uint32_t exited = ~std::uint32_t{0};
  // From `from`, the instruction that they execute next, is `to` ahead? It is where it is `from`.
  bool ahead(std::uint32_t from, std::uint32_t to);
  // At `from` now, or exited: they have been at `to`, as no way leads there past it. False: it may
  // be that they have not.
  bool surely_been(std::uint32_t from, std::uint32_t to) const;
  // From the start of the function.
  bool possible(std::uint32_t to);

  // The branch that took them past `to`: at `from` now, or exited, and no way leads from there to
  // `to`. Nothing: more than one could have. `been`: they have been at it, so that it may be a
  // branch behind it; else it is one before it. `closed`: by a predicate that they hold for good,
  // so that they never come to `to`.
  struct Branch {
    std::uint32_t pc = 0;
    bool closed = false;
  };
  std::optional<Branch> past(std::uint32_t from, std::uint32_t to, bool been);

 private:
  using Marks = std::vector<char>;  // of blocks
  std::uint32_t block_of(std::uint32_t pc) const;
  void close();
  Marks forwards(std::uint32_t block, bool with_itself) const;
  Marks backwards(std::uint32_t block, bool open_only) const;
  Marks around(std::uint32_t block) const;

  Derivation& derivation_;
  const ptx::Program& program_;
  Block& block_;
  Warp& warp_;
  Mask lanes_;
  std::vector<std::vector<std::uint32_t>> open_;  // of each block: those that it leads to
  Marks from_start_;
};

}  // namespace tilescope::sim
