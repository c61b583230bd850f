// What the lanes of a warp access by one instruction: sectors of global memory, banks of shared
// memory, registers of each other (shfl). A row of a record's table for each; of the first clusters
// of a run, or of that which the record was asked for, and no more than most_accesses of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/record/event.h"

namespace tilescope::sim {

struct WarpAccess {
  enum class Kind : std::uint8_t { load, store, atomic, copy, shuffle, count_ };  // copy: cp.async
  enum class Of : std::uint8_t { global, shared, lanes, count_ };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  TrackId track = 0;         // the warp's
  Cycle begin = 0, end = 0;  // issued; what was asked for is there, or has been taken
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;  // lanes
  Kind kind = Kind::load;
  Of of = Of::global;
  std::uint8_t bytes = 0;       // of each lane
  std::uint32_t buffer = none;  // of global memory: of the record's buffers; none: of no buffer
  // Where lane l begins is first + step * l, or first + Record::lane_offsets[offsets + l]: bytes of
  // the buffer, or of the CTA's shared memory; of a shuffle, the lane that it reads.
  std::uint64_t first = 0;
  std::int32_t step = 0;
  std::uint32_t offsets = none;
  // Of shared memory: wavefronts, and how many would do if no bank were in the way. Of global
  // memory: sectors of 32 bytes, and as many as the bytes would fill.
  std::uint32_t passes = 0, ideal = 0;
  std::uint32_t from_l2 = 0, from_memory = 0;  // bytes that L1 did not have; of these, L2 neither

  std::uint64_t at(std::uint32_t lane, const std::vector<std::uint32_t>& lane_offsets) const {
    return offsets == none ? first + static_cast<std::uint64_t>(std::int64_t{step} * lane)
                           : first + lane_offsets[offsets + lane];
  }
  bool operator==(const WarpAccess&) const = default;
};
constexpr std::size_t most_accesses = std::size_t{1} << 16;
std::string_view name_of(WarpAccess::Kind kind);

// Fills first, step and offsets; lanes that are not in the mask count as the rule has them.
void set_lanes(WarpAccess& access, const std::uint64_t* at, std::vector<std::uint32_t>& offsets);

}  // namespace tilescope::sim
