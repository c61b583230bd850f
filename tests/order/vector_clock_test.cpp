// A vector clock beside a plain map from agents to epochs: rows and groups that copies share are
// each one's own once it writes.
#include "core/sim/order/vector_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <utility>
#include <vector>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

std::atomic<std::uint64_t> bytes_taken = 0;  // by operator new, below

struct Plain {
  std::map<std::pair<u32, u32>, u32> seen;
  void see(u32 block, u32 slot, u32 epoch) {
    u32& now = seen[{block, slot}];
    now = std::max(now, epoch);
  }
  void join(const Plain& other) {
    for (const auto& [agent, epoch] : other.seen) see(agent.first, agent.second, epoch);
  }
  void join(const Plain& other, u32 block) {
    for (const auto& [agent, epoch] : other.seen) {
      if (agent.first == block) see(block, agent.second, epoch);
    }
  }
  u32 of(u32 block, u32 slot) const {
    const auto at = seen.find({block, slot});
    return at == seen.end() ? 0 : at->second;
  }
  bool knows(u32 block) const {
    return std::any_of(seen.begin(), seen.end(),
                       [&](const auto& each) { return each.first.first == block; });
  }
};

class Clocks : public testing::TestWithParam<u32> {};

TEST_P(Clocks, AreWhatAMapIs) {
  const u32 blocks = GetParam(), slots = 5, many = 8;
  std::mt19937 random(blocks);
  const auto any = [&](u32 count) { return static_cast<u32>(random() % count); };
  std::vector<VectorClock> clocks(many);
  std::vector<Plain> plain(many);
  u32 longest = 0;
  for (int step = 0; step < 8000; ++step) {
    const u32 a = any(many), b = any(many), block = any(blocks), slot = any(slots);
    switch (any(10)) {
      case 0:
      case 1:
        clocks[a].join(clocks[b]);
        plain[a].join(Plain(plain[b]));
        break;
      case 2:
        clocks[a] = clocks[b];
        plain[a] = plain[b];
        break;
      case 3:
        clocks[a].join(clocks[b], block);
        plain[a].join(Plain(plain[b]), block);
        break;
      case 4:
        if (any(60)) break;
        clocks[a].clear();
        plain[a].seen.clear();
        break;
      default: {
        const u32 epoch = 1 + any(50);
        clocks[a].see({block, slot}, epoch);
        plain[a].see(block, slot, epoch);
      }
    }
    longest = std::max(longest, static_cast<u32>(plain[a].seen.size()));
    for (u32 c = 0; c < many; ++c) {
      const u32 of = any(blocks), at = any(slots + 1);
      ASSERT_EQ(clocks[c].of({of, at}), plain[c].of(of, at)) << step;
      ASSERT_EQ(clocks[c].knows(of), plain[c].knows(of)) << step;
      ASSERT_EQ(clocks[c].empty(), plain[c].seen.empty()) << step;
    }
    if (step % 500) continue;
    for (u32 c = 0; c < many; ++c) {
      for (const auto& [agent, epoch] : plain[c].seen) {
        ASSERT_EQ(clocks[c].of({agent.first, agent.second}), epoch) << step;
      }
    }
  }
  EXPECT_GT(longest, blocks);  // most of the agents were there at some time
}
INSTANTIATE_TEST_SUITE_P(Blocks, Clocks, testing::Values(2, 5, 63, 70, 300));

// n CTAs that use one atomic: the clock of each has a row for each CTA before it, and what is taken
// from the heap for all of them grows by little more than the CTAs do.
TEST(Clock, OfAllWhoUseOneAtomicIsShared) {
  const auto taken = [](u32 blocks) {
    VectorClock place;
    std::vector<VectorClock> warps(blocks);
    const std::uint64_t before = bytes_taken;
    for (u32 b = 0; b < blocks; ++b) {
      warps[b].see({b, 0}, 1);
      warps[b].join(place);
      place.join(warps[b]);
    }
    const std::uint64_t out = bytes_taken - before;
    for (u32 b = 0; b < blocks; ++b) {
      EXPECT_EQ(warps[b].of({b / 2, 0}), 1u);
      EXPECT_EQ(warps[b].of({b, 0}), 1u);
      EXPECT_EQ(warps[b].of({b + 1, 0}), 0u);
    }
    return out;
  };
  const std::uint64_t some = taken(512), many = taken(4096);
  EXPECT_GT(some, 512 * 16u);
  EXPECT_LT(many, 8 * some * 3);          // by 64 where each has rows of its own
  EXPECT_LT(many, 4096 * 4096 / 4 * 16);  // which are twice that alone
}

}  // namespace
}  // namespace tilescope::sim

void* operator new(std::size_t bytes) {
  tilescope::sim::bytes_taken += bytes;
  if (void* const out = std::malloc(bytes)) return out;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}
