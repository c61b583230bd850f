// What handlers ask of the machine, and what they do rarely: compiled once.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

enum class Access : std::uint8_t { load, store, atomic };

// Whether there are so many bytes that a lane may use; memory of other CTAs is not looked at.
bool is_memory(const Core& x, ptx::Space space, std::uint64_t address, std::uint32_t bytes);
// Reports that `lane` must not access `address`: out of bounds, misaligned, read-only.
Flow refuse_access(Core& x, const Code& c, Access access, int lane, std::uint64_t address,
                   std::uint32_t bytes);

// Where in the block's shared memory `bytes` bytes at an address of shared or generic space are.
// False after a fault: they do not, or not at a multiple of `align`.
bool shared_offset(Core& x, const Code& c, ptx::Space space, Access access, int lane,
                   std::uint64_t address, std::uint32_t bytes, std::uint32_t align,
                   std::uint32_t& offset);
// The same in the shared memory of any block of the cluster.
bool cluster_offset(Core& x, const Code& c, ptx::Space space, Access access, int lane,
                    std::uint64_t address, std::uint32_t bytes, std::uint32_t align, Block*& block,
                    std::uint32_t& offset);
// Where in the block's shared memory the mbarrier at the address of an instruction is.
bool locate_mbarrier(Core& x, const Code& c, int lane, std::uint32_t& offset);
// The shared memory of another block of the cluster that an address (from the beginning of the
// window of shared memory) is in, where the current instruction reaches so far. Null where not.
Region* peer_region(Core& x, int lane, std::uint64_t address);

// After a load from a region with undefined bytes: marks the registers that got some.
void mark_loaded(Core& x, const Code& c, Mask m, const Region& region,
                 const std::uint64_t* offsets);

// Which bytes of the registers about to be stored are undefined, lane after lane as they will be
// in memory; null if none is. `room` holds 32 lanes of 32 bytes.
const std::uint8_t* undefined_for_store(Core& x, const Code& c, Mask m, std::uint8_t* room);

// Notes an access of shared memory, of memory that operations in flight use, or one that
// synchronises: is it ordered with those of others? `by_lane`: each lane does its own part, at a
// time of its own.
void watch_access(Core& x, const Code& c, Shadow::Kind kind, Region& region, Mask m,
                  const std::uint64_t* offsets, std::uint32_t bytes, bool run = false,
                  const std::byte* values = nullptr, bool by_lane = false);

// The same of a weak read of the block's own shared memory, where there is nothing to tell of it.
// False: watch_access() has to look.
bool note_quiet_read(Core& x, const Shadow::EvenRead& read);

// The warp is about to store in lanes `m`: what that makes of its loads
// (core/sim/checks/late_reads.h).
void count_late_reads(Core& x, Mask m);

std::uint64_t dynamic_special(Core& x, ptx::Special special);

// Bytes at a generic address, as `lane` sees it. False where they are in no memory.
bool read_generic(Core& x, int lane, std::uint64_t address, std::size_t bytes, std::byte* out);

// The region that holds an address of the grid (not shared, not local), or null.
Region* find_region(Core& x, std::uint64_t address);

}  // namespace tilescope::sim
