// How a warp's access meets shared memory and global memory.
//
// An access pattern is a layout from lanes to offsets in elements of `element` bytes, where each
// lane moves `width` bytes from there on. Mode 0 is the lane (at most 32); further modes are
// further instructions, and their numbers are added up.
//
// Shared memory: the rule of banks, phases and wavefronts is core/layout/banks.h's. One wavefront a
// phase is ideal.
//
// Global memory: a request touches 32-byte sectors of 128-byte lines; the ideal is the fewest
// sectors that hold as many distinct bytes. Source: CUDA C++ Best Practices Guide, "Coalesced
// Access to Global Memory".
#pragma once

#include <cstdint>
#include <vector>

#include "core/layout/algebra.h"
#include "core/layout/banks.h"

namespace tilescope {

inline constexpr int sector_bytes = 32;
inline constexpr int line_bytes = 128;

struct WarpAccess {
  std::int64_t width = 4;    // bytes a lane moves: 1, 2, 4, 8 or 16
  std::int64_t element = 4;  // bytes of what the layout counts
};

// Byte addresses of every lane of every instruction. An access pattern makes them, or whoever knows
// them otherwise: addresses are multiples of the width, and a lane that takes no part has none.
inline constexpr std::int64_t no_address = -1;
struct WarpRequests {
  std::int64_t width = 4;             // bytes a lane moves
  std::int64_t lanes = 0;             // at most 32
  std::vector<std::int64_t> address;  // instruction after instruction

  std::int64_t instructions() const {
    return lanes > 0 ? static_cast<std::int64_t>(address.size()) / lanes : 0;
  }
  std::int64_t of(std::int64_t instruction, std::int64_t lane) const {
    return address[static_cast<std::size_t>(instruction * lanes + lane)];
  }
};
Result<WarpRequests> requests_of(const Layout& lanes, WarpAccess access);

struct BankConflicts {
  std::int64_t instructions = 0;
  std::int64_t wavefronts = 0;
  std::int64_t ideal = 0;  // one for each phase in which any lane asks
  std::int64_t excess() const { return wavefronts - ideal; }
  // The worst phase: which instruction and phase, the busiest bank, its distinct words.
  std::int64_t worst_instruction = 0;
  int worst_phase = 0, worst_bank = 0;
  std::int64_t worst_words = 0;
};
Result<BankConflicts> bank_conflicts(const Layout& lanes, WarpAccess access);
BankConflicts bank_conflicts(const WarpRequests& all);

// The same word by word: in which wavefront of its phase a bank gives a word, and to which lanes.
// The k-th distinct word of a bank, in the order of the lanes that ask, comes in wavefront k; in
// which order a chip serves them no source says, only how many wavefronts there are.
struct ServedWord {
  std::int64_t word = 0;  // address / 4
  int bank = 0, wavefront = 0;
  std::uint32_t lanes = 0;  // a bit for each that asks for it
};
struct ServedPhase {
  std::int64_t instruction = 0;
  int phase = 0;
  std::int64_t wavefronts = 0;
  std::vector<ServedWord> words;
};
std::vector<ServedPhase> wavefronts_of(const WarpRequests& all);

struct Coalescing {
  std::int64_t instructions = 0;
  std::int64_t sectors = 0, ideal = 0;
  std::int64_t lines = 0;
  std::int64_t bytes = 0;  // distinct bytes that were asked for
  std::int64_t excess() const { return sectors - ideal; }
};
Result<Coalescing> coalescing(const Layout& lanes, WarpAccess access);
Coalescing coalescing(const WarpRequests& all);

// The sectors that one instruction touches, ascending.
struct TouchedSector {
  std::int64_t sector = 0;  // address / 32
  std::uint32_t lanes = 0;  // a bit for each that touches it
  std::uint32_t bytes = 0;  // a bit for each of its 32 bytes that is asked for
};
struct TouchedSectors {
  std::vector<TouchedSector> sectors;
  std::int64_t bytes = 0, ideal = 0, lines = 0;
};
std::vector<TouchedSectors> sectors_of(const WarpRequests& all);

// The swizzle that leaves the fewest excess wavefronts over all patterns, tried out one by one;
// among equals the one with the fewest bits, then the lowest. Patterns map lanes to coordinates of
// `memory`, a plain layout; the swizzle permutes its offsets among themselves and keeps what one
// access moves together. A pattern of more than 2^12 lanes in all is refused.
struct FoundSwizzle {
  Swizzle swizzle;
  std::int64_t before = 0, after = 0;  // excess wavefronts
  std::int64_t ideal = 0;
  std::int64_t tried = 0;
};
// All of them that were tried, the fewest excess wavefronts first, among equals as above; the first
// is no swizzle where none is better.
struct RankedSwizzle {
  Swizzle swizzle;
  std::vector<std::int64_t> wavefronts;  // of each pattern
  std::int64_t excess = 0;               // of all
};
struct RankedSwizzles {
  std::vector<RankedSwizzle> all;
  std::vector<std::int64_t> ideal;  // of each pattern
};
Result<RankedSwizzles> rank_swizzles(const Layout& memory, const std::vector<Layout>& patterns,
                                     WarpAccess access);
Result<FoundSwizzle> find_swizzle(const Layout& memory, const std::vector<Layout>& patterns,
                                  WarpAccess access);

}  // namespace tilescope
