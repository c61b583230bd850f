// Wavefronts word by word, sectors byte by byte, and the ranking of swizzles: the totals that
// analysis_test knows, taken apart.
#include "core/layout/access.h"

#include <gtest/gtest.h>

#include <set>

#include "core/language/language.h"

namespace tilescope {
namespace {

Layout layout_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  return std::get<Layout>(std::get<Value>(result));
}

struct Case {
  const char* lanes;
  WarpAccess access;
};
const Case cases[] = {
    {"32:1", {4, 4}},
    {"32:32", {4, 4}},
    {"32:2", {4, 4}},
    {"32:0", {4, 4}},
    {"(32,4):(4,128)", {16, 4}},
    {"(8,4,2):(64,8,512)", {16, 2}},
    {"32:33", {4, 4}},
    {"(32,2):(3,96)", {2, 2}},
    {"16:4", {8, 2}},
    {"Sw<3,3,3> o 0 o (32,8):(64,8)", {16, 2}},
};

TEST(Wavefronts, EveryWordIsGivenOnceToEveryLaneThatAsks) {
  for (const Case& each : cases) {
    const Layout lanes = layout_of(each.lanes);
    const auto requests = requests_of(lanes, each.access);
    ASSERT_TRUE(requests) << each.lanes;
    const auto phases = wavefronts_of(*requests);
    const auto conflicts = bank_conflicts(lanes, each.access);
    ASSERT_TRUE(conflicts) << each.lanes;
    std::int64_t wavefronts = 0;
    std::set<std::pair<std::int64_t, std::int64_t>> asked, given;  // lane of all, word
    for (const ServedPhase& phase : phases) {
      wavefronts += phase.wavefronts;
      std::set<std::pair<int, int>> places;
      for (const ServedWord& word : phase.words) {
        EXPECT_EQ(word.bank, word.word % banks);
        EXPECT_LT(word.wavefront, phase.wavefronts);
        EXPECT_TRUE(places.insert({word.wavefront, word.bank}).second)
            << "a bank gives one word a wavefront";
        for (int lane = 0; lane < lanes_of_warp; ++lane) {
          if ((word.lanes >> lane & 1) != 0)
            given.insert({phase.instruction * 32 + lane, word.word});
        }
      }
    }
    const std::int64_t count = *size(*get(lanes, 0)), all = *size(lanes);
    for (std::int64_t i = 0; i < all; ++i) {
      const std::int64_t address = lanes(i) * each.access.element;
      for (std::int64_t b = 0; b < each.access.width; b += bank_bytes) {
        asked.insert({i / count * 32 + i % count, (address + b) / bank_bytes});
      }
    }
    EXPECT_EQ(given, asked) << each.lanes;
    EXPECT_EQ(wavefronts, conflicts->wavefronts) << each.lanes;
    EXPECT_EQ(static_cast<std::int64_t>(phases.size()), conflicts->ideal);
  }
}

TEST(Sectors, EveryByteThatIsAskedForIsInASectorOnce) {
  for (const Case& each : cases) {
    const Layout lanes = layout_of(each.lanes);
    const auto requests = requests_of(lanes, each.access);
    ASSERT_TRUE(requests) << each.lanes;
    const auto found = sectors_of(*requests);
    std::int64_t sectors = 0;
    const std::int64_t count = *size(*get(lanes, 0));
    for (std::size_t k = 0; k < found.size(); ++k) {
      std::set<std::int64_t> asked, there;
      for (std::int64_t lane = 0; lane < count; ++lane) {
        const std::int64_t address =
            lanes(lane + count * static_cast<std::int64_t>(k)) * each.access.element;
        for (std::int64_t b = 0; b < each.access.width; ++b) asked.insert(address + b);
      }
      for (const TouchedSector& sector : found[k].sectors) {
        for (int b = 0; b < sector_bytes; ++b) {
          if ((sector.bytes >> b & 1) != 0) there.insert(sector.sector * sector_bytes + b);
        }
      }
      EXPECT_EQ(there, asked) << each.lanes;
      EXPECT_EQ(found[k].bytes, static_cast<std::int64_t>(asked.size()));
      sectors += static_cast<std::int64_t>(found[k].sectors.size());
    }
    EXPECT_EQ(sectors, coalescing(lanes, each.access)->sectors);
  }
}

TEST(Swizzles, AreRankedByWhatTheyCost) {
  const Layout memory = layout_of("(64,64):(64,1)");
  const std::vector<Layout> patterns = {layout_of("(32,8):(64,8)"), layout_of("(32,16):(1,512)")};
  const WarpAccess access{16, 2};
  const auto ranked = rank_swizzles(memory, {patterns[1]}, access);
  ASSERT_TRUE(ranked);
  EXPECT_EQ(ranked->all.front().swizzle, (*find_swizzle(memory, {patterns[1]}, access)).swizzle);
  EXPECT_EQ(ranked->all.front().excess, 0);
  bool none = false;
  for (std::size_t i = 0; i < ranked->all.size(); ++i) {
    const RankedSwizzle& each = ranked->all[i];
    if (i > 0) {
      EXPECT_GE(each.excess, ranked->all[i - 1].excess);
    }
    none = none || each.swizzle.identity();
    Layout behind = *composition(memory, patterns[1]);
    behind.swizzle = each.swizzle;
    EXPECT_EQ(bank_conflicts(behind, access)->wavefronts, each.wavefronts[0]);
    EXPECT_EQ(each.excess, each.wavefronts[0] - ranked->ideal[0]);
  }
  EXPECT_TRUE(none) << "no swizzle is one of them";
}

}  // namespace
}  // namespace tilescope
