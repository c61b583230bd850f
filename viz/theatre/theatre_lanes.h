// What the lanes of a CTA's warps access at one time: sectors of global memory on their way, banks
// of shared memory, each other's registers. Of kernels that move data by threads, and not by copies
// that complete on an mbarrier; from the record's accesses (core/record/warp_access.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/record/record.h"

namespace tilescope {

// The accesses of the blocks of a cluster, and which parts of each buffer they have touched when.
class LaneAccesses {
 public:
  static constexpr std::size_t buckets = 256;  // of a buffer

  LaneAccesses() = default;
  LaneAccesses(const sim::Record& record, const std::vector<std::uint64_t>& blocks);

  bool empty() const { return all_.empty(); }
  bool any(sim::WarpAccess::Of of) const { return any_[static_cast<std::size_t>(of)]; }
  // By the time of their begin: of the record's accesses.
  const std::vector<std::uint32_t>& all() const { return all_; }
  // Those of this block that are under way, and the last that have begun before.
  std::vector<std::uint32_t> under_way(const sim::Record& record, std::uint64_t block,
                                       double at) const;
  // The last of a kind of place that began at or before a time, where that is no longer ago than
  // `ago`, of this warp or of any (none).
  std::optional<std::uint32_t> last(const sim::Record& record, std::uint64_t block,
                                    sim::WarpAccess::Of of, double at, double ago,
                                    std::optional<std::uint32_t> warp = {}) const;

  // A buffer that is accessed, in parts of equal size: when each was touched first; never_ends:
  // never.
  struct Touched {
    std::uint32_t buffer = 0;
    bool reads = false, writes = false;
    std::uint64_t bytes = 0;  // of the buffer
    std::vector<sim::Cycle> first;
  };
  const std::vector<Touched>& touched() const { return touched_; }

 private:
  std::vector<std::uint32_t> all_;
  std::array<bool, static_cast<std::size_t>(sim::WarpAccess::Of::count_)> any_{};
  sim::Cycle longest_ = 0;
  std::vector<Touched> touched_;
};

// A sector of 32 bytes on its way, and the warps that ask for it.
struct SectorOnItsWay {
  std::uint32_t buffer = 0;
  std::uint64_t sector = 0;  // of the buffer, counted from 0
  bool writes = false;
  std::vector<std::uint32_t> warps;
  // From where it comes: of the accesses that ask for it, the farthest that one of them goes.
  enum class From : std::uint8_t { l1, l2, memory };
  From from = From::l1;
};
// ", from memory"; of what is written nothing.
std::string_view from_words(const SectorOnItsWay& sector);

// A word of a bank, in the wavefront that brings it, and the lanes that ask for it.
struct BankWord {
  std::uint32_t wavefront = 0, bank = 0;
  std::vector<std::uint32_t> lanes;
};

struct LanesNow {
  std::vector<SectorOnItsWay> sectors;  // by buffer, then by number
  std::uint32_t loads = 0, stores = 0;  // accesses of global memory under way
  std::uint64_t from_memory = 0;        // bytes of them that L2 did not have
  // Accesses of shared memory: that of the warp looked at, or else the last one, then those of
  // other warps that are under way.
  struct Shared {
    std::uint32_t access = 0;
    bool now = false;  // under way; else the last one
    std::vector<BankWord> words;
  };
  std::vector<Shared> all_shared;
  std::optional<std::uint32_t> shuffle;
  std::string sentence;
};

// Of the block, at a time; of accesses that several warps make, that of `warp` first.
LanesNow lanes_at(const sim::Record& record, const LaneAccesses& accesses, std::uint64_t block,
                  std::uint32_t warp, double at);
// "warp 3: ld.shared.v4.f32 at matmul.cu:40": who does what, by the record's lines.
std::string access_text(const sim::Record& record, std::uint32_t access);

}  // namespace tilescope
