// What a guard decides: the instructions that execute or not by the way it goes.
//
// Of a branch these are the instructions on either side, up to the one where all ways meet again
// (its immediate post-dominator: the nearest instruction that every way from the branch to the end
// of the function passes). Of another guarded instruction it is that instruction alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::ptx {

struct Choice {
  static constexpr std::uint32_t none = ~0u;
  std::uint32_t meets = none;          // instruction where the ways meet; none: they do not
  bool repeats = false;                // the branch decides whether it is come to again
  std::vector<std::uint32_t> written;  // registers that either side writes, each once
  std::uint32_t stores = none;         // the first plain st
  // The first instruction that does more than write registers or memory of its own: a barrier, an
  // atomic, a copy, an arrival, a call, an exit, anything that a warp does together.
  std::uint32_t acts = none;
};

// Of the guarded instruction `pc`.
Choice choice_of(const Program& program, std::uint32_t pc);

}  // namespace tilescope::ptx
