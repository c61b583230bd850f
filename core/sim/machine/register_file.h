// The registers of a block's warps, one warp's after the other.
//
// Sums of wgmma.mma_async may be calculated later, by an executor, where they lie (core/sim/wgmma/
// product.cpp). Law: whoever looks at a register of such a product, or changes it, has waited for
// them before: instructions in touch_group_registers() and by settle() in what moves whole files,
// all others by settled(), and by copying the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/sim/machine/pending.h"

namespace tilescope::sim {

class RegisterFile {
 public:
  RegisterFile() = default;
  RegisterFile(const RegisterFile& other) : pending_(other.pending_), lines_(other.lines_) {}
  RegisterFile(RegisterFile&& other) noexcept = default;
  RegisterFile& operator=(RegisterFile other) noexcept {
    pending_.swap(other.pending_);
    lines_.swap(other.lines_);
    return *this;
  }
  ~RegisterFile() { settle(); }

  void resize(std::size_t bytes) {
    settle();
    lines_.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
  }
  std::size_t size() const { return lines_.size() * sizeof(Line); }
  // For those who keep the law.
  std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(lines_.data()); }
  const std::byte* settled() const {
    settle();
    return data();
  }

  // Has registers of a warpgroup changed by `work`, after earlier work on that warpgroup's.
  void calculate(Executor* executor, std::uint32_t group, Executor::Task work) {
    if (group >= pending_.size()) pending_.resize(group + 1);
    pending_[group].calculate(executor, std::move(work));
  }
  void settle(std::uint32_t group) const {
    if (group < pending_.size()) pending_[group].settle();
  }
  void settle() const {
    for (const Pending& p : pending_) p.settle();
  }

 private:
  struct alignas(64) Line {  // so that vectors lie in one line of the processor's caches
    std::byte bytes[64];
  };
  std::vector<Pending>
      pending_;  // of each warpgroup; first: waited for before registers are copied
  std::vector<Line> lines_;
};

}  // namespace tilescope::sim
