// Where an undefined value came from (Origin), where that was no memory.
#pragma once

#include <optional>

#include "core/sim/machine/state.h"

namespace tilescope::sim {

// Origin::region of one that was in a register which nobody had written: Origin::offset is the
// register's number, and the instruction the one that read it. In the upper half of the offset is
// what the warp had come to last by then of what orders, waits or issues
// (core/sim/checks/around.h).
constexpr std::uint32_t of_register = ~0u;
constexpr std::uint64_t come_from(std::uint32_t pc) {
  return (std::uint64_t{pc} + 1) << 32;
}
inline std::optional<std::uint32_t> came_from(const Origin& o) {
  const std::uint64_t pc = o.offset >> 32;
  return pc ? std::optional(static_cast<std::uint32_t>(pc - 1)) : std::nullopt;
}
inline bool is_of_memory(const Origin& o) {
  return o.known && o.region != of_register;
}

}  // namespace tilescope::sim
