// Scale factors of blocks in memory and in TMEM: CUTLASS's layouts, written out as the bytes and
// lanes that its header's shapes and strides give, and tcgen05.cp between the two.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/layout/tile_algebra.h"
#include "core/tensor/catalog.h"
#include "core/tensor/scale_factors.h"
#include "core/tensor/tmem.h"

namespace tilescope {
namespace {

using I = std::int64_t;

// Sm1xxBlockScaledBasicChunk: ((32,4),(VS,4)):((16,4),(0,1)), chunks along K first.
TEST(ScaleFactors, LieInMemoryAsCutlassLaysThem) {
  for (const I vector : {16, 32}) {
    const I rows = 256, k = 16 * vector;
    const Result<Layout> layout = scale_factors(rows, k, vector);
    ASSERT_TRUE(layout.ok());
    std::set<I> bytes;
    for (I r = 0; r < rows; ++r) {
      for (I e = 0; e < k; ++e) {
        const I f = e / vector;
        const I want =
            (r / 128 * (k / vector / 4) + f / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + f % 4;
        ASSERT_EQ((*layout)(r + rows * e), want) << r << ' ' << e;
        bytes.insert(want);
      }
    }
    EXPECT_EQ(bytes.size(), static_cast<std::size_t>(rows * k / vector));
  }
  EXPECT_FALSE(scale_factors(100, 128, 32).ok());
}

TEST(ScaleFactors, LieInTmemInAllQuartersOfTheLanes) {
  const TileLayout layout = *tmem_scale_factors(256, 2);
  for (I r = 0; r < 256; ++r) {
    for (I c = 0; c < 2; ++c) {
      const auto places = *owners(layout, make_tuple_of(r, c));
      ASSERT_EQ(places.size(), 4u);
      for (I q = 0; q < 4; ++q) {
        EXPECT_EQ(places[q].on(axis_lane).value, 32 * q + r % 32);
        EXPECT_EQ(places[q].on(axis_column).value, r / 32 + 8 * c);
      }
    }
  }
}

// tmem_sf_frg with ScaleFactorDuplicated2by2.
TEST(ScaleFactors, OfTwoCtasWith128RowsLieInHalvesOfTheLanes) {
  const TileLayout layout = *tmem_scale_factors(128, 1, true);
  for (I n = 0; n < 128; ++n) {
    const auto places = *owners(layout, make_tuple_of(n, 0));
    ASSERT_EQ(places.size(), 2u);
    for (I q = 0; q < 2; ++q) {
      EXPECT_EQ(places[q].on(axis_lane).value, n / 64 * 64 + 32 * q + n % 32);
      EXPECT_EQ(places[q].on(axis_column).value, n % 64 / 32);
    }
  }
}

// The bytes of a chunk in memory come to the cells of TMEM by CuTe's atom of tcgen05.cp.
TEST(ScaleFactors, ComeFromMemoryByACopyInstruction) {
  const Layout memory = *scale_factors(128, 128, 32);
  const TileLayout tmem = *tmem_scale_factors(128);
  const CopyAtom atom = std::get<CopyAtom>(*atom_named("SM100_UTCCP_4x32dp128bit_1cta"));
  // Lane and column (of bytes) of each byte that is copied: line * 16 + byte of the line.
  std::map<I, std::set<std::pair<I, I>>> cells;
  const I lane_bits = 1 << 21, bits = *size(atom.dst_bits);
  for (I bit = 0; bit < bits; bit += 1) {
    const I from = atom.src_bits(bit), to = atom.tmem_bits(atom.dst_bits(bit));
    const I line = from % 32, in_line = from / 32;
    if (in_line % 8 == 0)
      cells[line * 16 + in_line / 8].insert({to / lane_bits, to % lane_bits / 8});
  }
  for (I r = 0; r < 128; ++r) {
    for (I f = 0; f < 4; ++f) {
      std::set<std::pair<I, I>> want;
      const auto places = owners(tmem, make_tuple_of(r, 0));
      for (const Place& p : *places) {
        want.insert({p.on(axis_lane).value, 4 * p.on(axis_column).value + f});
      }
      EXPECT_EQ(cells[memory(r + 128 * 32 * f)], want) << r << ' ' << f;
    }
  }
}

}  // namespace
}  // namespace tilescope
