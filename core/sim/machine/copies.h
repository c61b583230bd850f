// Copies by cp.async that a warp has begun, and has not waited for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/sim/order/vector_clock.h"

namespace tilescope::sim {

struct Copy {
  std::uint32_t mask = 0;  // lanes that have not waited for theirs
  std::uint32_t bytes = 0;
  std::uint32_t pc = 0;
  std::uint32_t operation = 0;                       // among those of core/sim/order/shadow.h
  std::uint64_t order = 0;                           // of issue in the warp
  std::array<std::uint64_t, 32> source{}, target{};  // address; offset in shared memory
  std::array<std::uint32_t, 32> read{};              // bytes of the source; the rest are zeros
  std::array<std::uint32_t, 32> group{};             // each lane numbers its own
};

// Who has seen this agent up to this epoch has seen copies that are complete.
struct CopyEnd {
  Agent agent;
  std::uint32_t epoch = 0;
};

struct Copies {
  std::vector<Copy> open;
  std::vector<CopyEnd> told;  // by mbarriers, since the warp last waited
  std::uint64_t issued = 0;
  std::array<std::uint32_t, 32> committed{};  // groups
};

}  // namespace tilescope::sim
