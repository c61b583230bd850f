// What L2 had of a buffer, cell by cell, after lines of it were fetched by hand.
#include "core/sim/time/cached.h"

#include <gtest/gtest.h>

namespace tilescope::sim {
namespace {

constexpr std::uint64_t base = 1 << 20;

void fetch(Level2& level2, std::uint64_t byte, double there) {
  double* arrives = nullptr;
  level2.fetch((base + byte) / line_bytes, 15, arrives);
  if (there > 0) *arrives = there;
}

// 128 x 128 elements of 4 bytes: 64 cells across of 2 columns would be narrower than a sector, so
// they have 8, and 16 in a row; two rows each.
TEST(Cached, CellsHaveTheTimeOfTheirLastLine) {
  Level2 level2(1 << 20);
  level2.add(0, 256, false);  // what lies before
  level2.add(base, 65536, false);
  fetch(level2, 0, 500);        // row 0, columns 0 to 31
  fetch(level2, 512, 700);      // row 1, the same columns
  fetch(level2, 2 * 512, 900);  // row 2
  const RecordedBuffer buffer{"A", DType::f32, {128, 128}};
  const CachedBuffer cached = cached_of(level2, 1, base, 65536, 3, buffer);
  EXPECT_EQ(cached.buffer, 3u);
  EXPECT_EQ(cached.rows, 64u);
  EXPECT_EQ(cached.columns, 16u);
  ASSERT_EQ(cached.since.size(), 1024u);
  for (std::size_t c = 0; c < 16; ++c) {
    EXPECT_EQ(cached.since[c], c < 4 ? 700u : never_ends) << c;       // rows 0 and 1
    EXPECT_EQ(cached.since[16 + c], c < 4 ? 900u : never_ends) << c;  // row 2
  }
}

TEST(Cached, WhatWasThereBeforeTheRunHasNoTime) {
  Level2 level2(1 << 20);
  level2.add(base, 1024, true);
  const CachedBuffer cached = cached_of(level2, 0, base, 1024, 0, {"x", DType::f16, {512}});
  ASSERT_EQ(cached.since.size(), 32u);  // of one row: sectors
  for (const Cycle since : cached.since) EXPECT_EQ(since, 0u);
  EXPECT_FALSE(level2.overflowed());
}

TEST(Cached, WhatNobodyReadsHasNoCells) {
  Level2 level2(1 << 20);
  level2.add(base, 1024, false);
  fetch(level2, 0, 0);  // written: it comes from nowhere
  EXPECT_TRUE(cached_of(level2, 0, base, 1024, 0, {"y", DType::f32, {16, 16}}).since.empty());
}

TEST(Cached, MoreThanItHoldsIsTold) {
  Level2 level2(4 * line_bytes);
  level2.add(base, 8 * line_bytes, false);
  for (std::uint64_t line = 0; line < 4; ++line) fetch(level2, line * line_bytes, 10);
  EXPECT_FALSE(level2.overflowed());
  for (std::uint64_t line = 4; line < 8; ++line) fetch(level2, line * line_bytes, 10);
  EXPECT_TRUE(level2.overflowed());
}

}  // namespace
}  // namespace tilescope::sim
