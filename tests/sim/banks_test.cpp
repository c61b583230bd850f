// Wavefronts of shared memory and sectors of global memory, against counting them one by one.
#include "core/sim/time/banks.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/layout/access.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST(Wavefronts, AreThoseOfTheProgrammingGuide) {
  const auto with_stride = [](u64 stride, u32 bytes) {
    u64 at[32];
    for (u64 l = 0; l < 32; ++l) at[l] = l * stride;
    return wavefronts(at, ~0u, bytes);
  };
  EXPECT_EQ(with_stride(4, 4), 1u);
  EXPECT_EQ(with_stride(8, 4), 2u);
  EXPECT_EQ(with_stride(12, 4), 1u);  // an odd number of words
  EXPECT_EQ(with_stride(128, 4), 32u);
  EXPECT_EQ(with_stride(0, 4), 1u);  // one word for all
  EXPECT_EQ(with_stride(1, 1), 1u);
  EXPECT_EQ(with_stride(8, 8), 2u);
  EXPECT_EQ(with_stride(16, 16), 4u);
  EXPECT_EQ(with_stride(128, 16), 32u);  // a row of 64 halves, without a swizzle
  EXPECT_EQ(with_stride(32, 32), 8u);
}

TEST(Wavefronts, CountTheBusiestBank) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const u32 bytes = 1u << random() % 5;
    const u32 mask = static_cast<u32>(random()) | (round % 2 ? ~0u : 0u);
    u64 at[32];
    const u32 room = 64u << random() % 7;  // near each other, or not
    for (u64& a : at) a = 4096 + random() % room / bytes * bytes;
    const u32 together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    u32 want = 0;
    for (u32 first = 0; first < 32; first += together) {
      std::map<u64, std::set<u64>> words;  // of each bank
      for (u32 l = first; l < first + together; ++l) {
        if (!(mask >> l & 1)) continue;
        for (u64 w = at[l] / 4; w <= (at[l] + bytes - 1) / 4; ++w) words[w % 32].insert(w);
      }
      std::size_t most = 0;
      for (const auto& bank : words) most = std::max(most, bank.second.size());
      want += static_cast<u32>(most);
    }
    EXPECT_EQ(wavefronts(at, mask, bytes), want) << bytes << " bytes, lanes " << mask;
  }
}

// The clock counts by addresses, pictures and lessons by layouts: they must agree.
TEST(Wavefronts, AreThoseThatPicturesShow) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const u32 bytes = 4u << random() % 3;
    const std::int64_t words = bytes / 4;  // strides are multiples of the access
    Layout lanes(32, static_cast<std::int64_t>(random() % 70) * words);
    if (random() % 2) lanes.swizzle = Swizzle{3, static_cast<std::int8_t>(words / 2), 3};
    u64 at[32];
    for (int l = 0; l < 32; ++l) at[l] = static_cast<u64>(lanes(l)) * 4;
    const auto shown = bank_conflicts(lanes, {static_cast<std::int64_t>(bytes), 4});
    ASSERT_TRUE(shown);
    EXPECT_EQ(wavefronts(at, ~0u, bytes), static_cast<u32>(shown->wavefronts)) << bytes;
  }
}

TEST(Sectors, AreCountedOnce) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 3000; ++round) {
    const u32 bytes = 1u << random() % 6;
    // All lanes side by side, all at one place, or some anywhere.
    const u32 kind = random() % 4;
    const u32 mask = kind < 2 ? ~0u : static_cast<u32>(random()) | 1u;
    u64 at[32];
    for (u64& a : at) a = random() % (u64{1} << (6 + random() % 10)) / bytes * bytes;
    for (u32 l = 1; kind < 2 && l < 32; ++l) at[l] = at[0] + kind * l * bytes;
    std::set<u64> want, lines, bytes_written;
    for (u32 l = 0; l < 32; ++l) {
      if (!(mask >> l & 1)) continue;
      for (u64 b = 0; b < bytes; ++b) {
        want.insert((at[l] + b) / 32);
        bytes_written.insert(at[l] + b);
        lines.insert((at[l] + b) / 128);
      }
    }
    Sectors out;
    find_sectors(at, mask, bytes, out);
    EXPECT_EQ(std::vector<u64>(out.number.begin(), out.number.begin() + out.count),
              std::vector<u64>(want.begin(), want.end()));
    EXPECT_EQ(out.lines(), lines.size());
    const std::bitset<128> partly = partly_written(at, mask, bytes, out);
    for (u32 s = 0; s < out.count; ++s) {
      const auto from = bytes_written.lower_bound(out.number[s] * 32);
      const auto to = bytes_written.lower_bound(out.number[s] * 32 + 32);
      EXPECT_EQ(partly[s], std::distance(from, to) != 32) << out.number[s];
    }
  }
}

}  // namespace
}  // namespace tilescope::sim
