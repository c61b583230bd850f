// Which warps of a launch something was seen of: a bit each, so that a grid of thousands of CTAs
// costs four bytes a CTA.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilescope {

class WarpSet {
 public:
  // `block` counts x + y * grid.x + z * grid.x * grid.y. A CTA has up to 32 warps.
  void add(std::uint64_t block, std::uint32_t warp) {
    if (block >= of_block_.size()) of_block_.resize(static_cast<std::size_t>(block) + 1);
    of_block_[static_cast<std::size_t>(block)] |= std::uint32_t{1} << (warp % 32);
  }
  void add(const WarpSet& other) {
    of_block_.resize(std::max(of_block_.size(), other.of_block_.size()));
    for (std::size_t i = 0; i < other.of_block_.size(); ++i) of_block_[i] |= other.of_block_[i];
  }

  bool empty() const { return of_block_.empty(); }
  std::uint64_t blocks() const {
    std::uint64_t out = 0;
    for (const std::uint32_t warps : of_block_) out += warps != 0;
    return out;
  }
  std::uint64_t warps() const {
    std::uint64_t out = 0;
    for (const std::uint32_t warps : of_block_) {
      out += static_cast<std::uint64_t>(std::popcount(warps));
    }
    return out;
  }

 private:
  std::vector<std::uint32_t> of_block_;
};

}  // namespace tilescope
