// Which accesses of a block's shared memory nothing orders: a race detector with vector clocks, as
// FastTrack (Flanagan and Freund, PLDI 2009), for warps instead of threads.
//
// Time is the number of watched accesses of the block. Of two warps, W has seen R up to the last
// release of R (an arrival at a barrier, a synchronising access) that W has acquired since. An
// access of R at time t is ordered before one of W exactly if W has seen R up to t. Lanes of one
// warp are taken to be in order, and two accesses that both synchronise are no race.
//
// Kept for each 4 bytes: the last write; and which warps have read since, with the time of the
// first of these reads. A read that is reported is at least that late, so a report is always of two
// accesses that really are unordered; where warps synchronise with some others only, a later read
// of one that an earlier one is ordered for may be missed.
//
// A word may also wait for a cp.async that nobody has waited for: touching it is reported as well.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tilescope::sim {

class Region;

class Races {
 public:
  static constexpr std::uint32_t most_warps = 32;
  using Clock = std::array<std::uint32_t, most_warps>;
  enum class Kind : std::uint8_t { read, write, atomic, copy };

  struct Access {
    Kind kind = Kind::read;
    bool synchronises = false;
    std::uint32_t warp = 0, pc = 0;
    std::uint32_t mask = 0;                  // lanes
    const std::uint64_t* offsets = nullptr;  // of each lane
    std::uint32_t bytes = 0;                 // of a lane
    bool run = false;                        // all 32 lanes, side by side
    const std::byte* values = nullptr;       // of a store: each lane's `bytes`; null: not known
  };
  // What an access is unordered with.
  struct Conflict {
    std::uint32_t lane = 0;  // of the access
    std::uint64_t offset = 0;
    Kind other = Kind::write;
    std::uint32_t warp = 0, pc = 0;  // of the other
    bool pending = false;            // a cp.async that is not waited for
    bool fenced_too_late = false;    // by fence.proxy.async
  };

  void start(std::uint32_t warps, std::uint64_t bytes);
  bool on() const { return !written_.empty(); }
  // Bytes that it takes.
  std::uint64_t held() const { return written_.size() * (5 * sizeof written_[0] + 1); }
  std::uint32_t now() const { return now_; }
  // A moment of its own, later than all that was released before.
  std::uint32_t tick();

  // Notes the access. True: it is unordered with an earlier one.
  bool access(const Access& access, Conflict& out);

  static void join(Clock& to, const Clock& from) {
    for (std::uint32_t r = 0; r < most_warps; ++r) to[r] = from[r] > to[r] ? from[r] : to[r];
  }
  // Warp `warp` releases into a clock what it has done and seen; or acquires what a clock holds.
  void release(std::uint32_t warp, Clock& clock) const;
  void acquire(std::uint32_t warp, const Clock& clock);
  // What a warp has seen, to be put back after it has acquired more for a while.
  std::pair<Clock, std::uint32_t> seen(std::uint32_t warp) const {
    return {seen_[warp], floor_[warp]};
  }
  void put_back(std::uint32_t warp, const std::pair<Clock, std::uint32_t>& seen) {
    seen_[warp] = seen.first;
    floor_[warp] = seen.second;
  }
  // The same by way of a synchronising access (atomic, volatile, acquire, release) of an address.
  void meet_at(std::uint64_t address, std::uint32_t warp);

  // A cp.async of a lane to [offset, offset + bytes) has begun, or was waited for.
  void begin_copy(std::uint32_t warp, std::uint32_t pc, std::uint64_t offset, std::uint32_t bytes);
  void end_copy(std::uint32_t warp, std::uint64_t offset, std::uint32_t bytes);

  // What is done here by others than the block's own warps is done by agents, each of which is one
  // more warp: one for the block's asynchronous operations, one for its products of wgmma, and one
  // for each other block of the cluster that touches this one's memory. An agent of a block has
  // seen what has been released to the cluster. Where there are 32 warps already, agents share the
  // last one that there was room for; and where there was none, it is the warp itself.
  std::uint32_t operations(std::uint32_t warp) { return agent(own_operations, warp); }
  // Of wgmma's products, which a warp can wait for without having waited for any copy.
  std::uint32_t products(std::uint32_t warp) { return agent(own_products, warp); }
  std::uint32_t agent_of_rank(std::uint32_t rank, std::uint32_t warp);
  bool is_agent(std::uint32_t warp) const { return warp >= own_warps_; }
  // The block whose agent that is; nothing: no agent, or that of the operations.
  std::optional<std::uint32_t> rank_of(std::uint32_t warp) const;
  // A warp, or the agent of another block, releases to all of the cluster what it has done.
  void publish(std::uint32_t warp) { release(warp, published_); }
  void publish_rank(std::uint32_t rank);
  // What was released to the cluster.
  void release_published(Clock& clock) const { join(clock, published_); }
  // A warp acquires what the agents have done, and what was released to the cluster.
  void acquire_cluster(std::uint32_t warp);
  // An operation has read or written [begin, end) by now, for those who have seen `warp` up to now.
  void settle(std::uint32_t warp, std::uint32_t pc, std::uint32_t begin, std::uint32_t end,
              bool writes);
  // Into a clock: all that the agents have done, but for products, which end for who waits for
  // them.
  void release_agents(std::uint32_t warp, Clock& clock);
  // Into a clock: all that anybody has done.
  void release_all(Clock& clock) const { std::fill_n(clock.begin(), warps_, now_); }
  // All agents have seen what a clock holds.
  void show_agents(const Clock& clock);
  // Is an access of [begin, end) by `warp` unordered with an earlier one? Notes nothing.
  bool unordered(std::uint32_t warp, std::uint32_t begin, std::uint32_t end, bool writes,
                 Conflict& out) const;
  bool has_seen(std::uint32_t warp, std::uint32_t other, std::uint32_t time) const {
    return warp == other || seen_[warp][other] >= time;
  }

  // Fences (9.7.13.4). A relaxed arrival releases what its warp had done up to the last fence; what
  // a relaxed wait could acquire, the next fence acquires.
  void fence(std::uint32_t warp);
  void release_fenced(std::uint32_t warp, Clock& clock) const;
  void acquire_at_fence(std::uint32_t warp, const Clock& clock);

  // fence.proxy.async: what these lanes wrote is known to the async proxy from now on, and what the
  // warp has seen of others by now is known to it for those who have seen this fence: it may stand
  // anywhere on the way from the write to the operation (PTX ISA 8.9.5), but not behind the release
  // that the operation's thread has acquired. And the first byte of [begin, end) of which it does
  // not know, for `warp`; `shared` knows which lanes wrote.
  void fence_proxy(std::uint32_t warp, std::uint32_t mask);
  // The same of lanes of another block of the cluster, which may have written here.
  void fence_proxy_of_rank(std::uint32_t rank, std::uint32_t warp, std::uint32_t mask);
  bool unfenced(std::uint32_t warp, std::uint32_t begin, std::uint32_t end, const Region& shared,
                Conflict& out) const;

 private:
  using Times = std::vector<std::uint32_t>;
  enum Flag : std::uint8_t { strong_write = 1, strong_reads = 2, pending_copy = 4, by_async = 8 };

  // Who touched a word: instruction (23 bits), warp (5), which of the 4 bytes (4).
  static std::uint32_t who(const Access& a, std::uint32_t bytes) {
    return a.pc << 9 | a.warp << 4 | bytes;
  }
  static std::uint32_t pc_of(std::uint32_t who) { return who >> 9; }
  static std::uint32_t warp_of(std::uint32_t who) { return who >> 4 & 31; }
  static std::uint32_t bytes_of(std::uint32_t who) { return who & 15; }

  void settle_words(std::uint64_t first, std::uint64_t end, std::uint32_t by, bool writes);
  bool are_seen(const Clock& seen, std::uint64_t first, std::uint64_t end) const;
  bool one_word(std::uint64_t word, const Access& a, std::uint32_t bytes, Conflict& out);
  bool read_word(std::uint64_t word, const Access& a, std::uint32_t bytes, Conflict& out);
  bool write_word(std::uint64_t word, const Access& a, std::uint32_t bytes, Conflict& out);
  bool read_run(std::uint64_t first, std::uint64_t count, const Access& a);
  bool write_run(std::uint64_t first, std::uint64_t count, const Access& a);
  bool read_whole(std::uint64_t word, std::uint32_t floor, std::uint32_t me, std::uint32_t warp);
  bool write_whole(std::uint64_t word, std::uint32_t floor, std::uint32_t me, std::uint32_t warp);
  static std::uint32_t together(const Access& a, std::uint32_t first, std::uint64_t& step);
  bool lane(std::uint32_t lane, const Access& a, Conflict& out);
  bool is_unfenced(std::uint64_t word, std::uint32_t warp, const Region& shared) const;
  bool is_unfenced_of_rank(std::uint64_t word, std::uint32_t rank, const Region& shared) const;

  std::uint32_t now_ = 0;
  // Of each word; times are 0 for never.
  Times written_, writer_;          // last write: when, who()
  Times since_, readers_, reader_;  // reads since: first, a bit a warp, who() of the last
  std::vector<std::uint8_t> flags_;
  bool copies_ = false;                   // there was a cp.async
  std::array<Clock, most_warps> seen_{};  // seen_[w][r]
  Clock floor_{};                         // of each warp: up to where it has seen all others
  std::uint32_t warps_ = 0;
  std::map<std::uint64_t, Clock> met_;  // of synchronising accesses
  static constexpr std::uint32_t own_operations = most_warps, several = most_warps + 1,
                                 own_products = most_warps + 2;
  std::uint32_t agent(std::uint32_t whose, std::uint32_t warp);
  std::uint32_t own_warps_ = 0;                         // the block's; agents come after them
  std::array<std::uint32_t, most_warps> whose_{};       // of each agent: a rank, or one of these
  Clock published_{};                                   // to the cluster
  std::array<Clock, most_warps> fenced_{}, offered_{};  // of each warp, for its fences
  // When each lane of a warp last had a fence.proxy.async, and the earliest of these.
  std::array<std::array<std::uint32_t, 32>, most_warps> proxy_{};
  Clock all_proxy_{};
  // The last ones of each warp, from the latest on: when, and which lanes. Behind a release a fence
  // is too late for those who acquire it, and the one before may not have been.
  struct OwnFence {
    std::uint32_t at = 0, mask = 0;
  };
  static constexpr std::uint32_t kept_own_fences = 16;
  std::vector<std::array<OwnFence, kept_own_fences>> own_fences_;  // empty before the first
  bool has_fenced(std::uint32_t writer, std::uint32_t mask, std::uint32_t time,
                  std::uint32_t warp) const;
  // The last fences of each warp: when, and what it had seen then.
  struct ProxyFence {
    std::uint32_t at = 0;
    Clock seen{};
  };
  static constexpr std::uint32_t kept_fences = 4;
  std::vector<std::array<ProxyFence, kept_fences>> proxy_fences_;  // empty before the first
  bool was_fenced(std::uint32_t warp, std::uint32_t writer, std::uint32_t time) const;
  std::map<std::uint32_t, std::array<std::uint32_t, 32>> rank_proxy_;  // by rank * 32 + warp
};

}  // namespace tilescope::sim
