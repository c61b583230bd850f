// The laws of the algebra, on thousands of generated layouts. A law is checked against the
// definition of a layout as a function (coordinates to offsets), never against another operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/layout/text.h"
#include "tests/layout/generate.h"

namespace tilescope {
namespace {

using testing::Layouts;

constexpr int rounds = 3000;

std::int64_t count(const Layout& layout) {
  return *size(layout);
}

// The function by its definition: digits of the index times strides.
std::int64_t at(const Layout& layout, std::int64_t index) {
  std::int64_t offset = 0;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    const bool last = i + 1 == layout.modes.leaves;
    offset += (last ? index : index % m.shape.value) * m.stride.value;
    index /= m.shape.value;
  }
  return offset;
}

TEST(Laws, CoalesceAndFlattenKeepTheFunction) {
  Layouts layouts(1);
  for (int round = 0; round < rounds; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 6)));
    const Result<Layout> merged = coalesce(a), flat = flatten(a);
    ASSERT_TRUE(merged && flat) << text(a);
    ASSERT_LE(merged->modes.depth(), 1);
    for (std::int64_t i = 0; i < count(a); ++i) {
      ASSERT_EQ(at(*merged, i), at(a, i)) << text(a) << " at " << i;
      ASSERT_EQ(at(*flat, i), at(a, i)) << text(a) << " at " << i;
    }
    for (int i = 0; i + 1 < merged->modes.leaves; ++i) {  // nothing is left to merge
      const Mode& m = merged->modes.leaf[i];
      ASSERT_NE(m.shape.value * m.stride.value, merged->modes.leaf[i + 1].stride.value);
      ASSERT_NE(m.shape.value, 1);
    }
  }
}

TEST(Laws, FilterKeepsTheOffsetsThatAreReached) {
  Layouts layouts(2);
  for (int round = 0; round < rounds; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 5)));
    const Layout b = *filter(a);
    std::set<std::int64_t> of_a, of_b;
    for (std::int64_t i = 0; i < count(a); ++i) of_a.insert(at(a, i));
    for (std::int64_t i = 0; i < count(b); ++i) of_b.insert(at(b, i));
    ASSERT_EQ(of_a, of_b) << text(a);
  }
}

// R(c) == A(B(c)) for every c, and where it is refused no layout of B's shape could do it leaf by
// leaf: some leaf of B alone, or their sum, breaks.
TEST(Laws, CompositionIsTheCompositionOfFunctions) {
  Layouts layouts(3);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4 * rounds; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 4)));
    const Layout b = layouts.compact(static_cast<int>(layouts.number(1, 4)));
    const Result<Layout> r = composition(a, b);
    if (!r) {
      ++refused;
      ASSERT_FALSE(sentence(r.refusal).empty());
      continue;
    }
    ++accepted;
    ASSERT_EQ(count(*r), count(b));
    for (std::int64_t i = 0; i < count(b); ++i) {
      ASSERT_EQ(at(*r, i), at(a, at(b, i))) << text(a) << " o " << text(b) << " at " << i;
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Laws, CompositionIsRefusedOnlyWhereTheLawFails) {
  // For a flat B the only candidate is the layout whose stride at each leaf is A at that leaf's
  // first step. If that candidate kept the law, a refusal was wrong.
  Layouts layouts(4);
  int refused = 0;
  for (int round = 0; round < 4 * rounds; ++round) {
    const Layout a = *coalesce(layouts.any(static_cast<int>(layouts.number(1, 3))));
    const Layout b = *coalesce(layouts.compact(static_cast<int>(layouts.number(1, 3))));
    if (composition(a, b)) continue;
    ++refused;
    bool law_kept = true;
    for (std::int64_t i = 0; i < count(b) && law_kept; ++i) {
      std::int64_t sum = 0, rest = i;
      for (int k = 0; k < b.modes.leaves; ++k) {
        const Mode& m = b.modes.leaf[k];
        sum += rest % m.shape.value * at(a, m.stride.value);
        rest /= m.shape.value;
      }
      law_kept = sum == at(a, at(b, i));
    }
    ASSERT_FALSE(law_kept) << text(a) << " o " << text(b);
  }
  EXPECT_GT(refused, 500);
}

TEST(Laws, ComplementIsDisjointOrderedAndComplete) {
  Layouts layouts(5);
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    const Layout whole = layouts.compact(static_cast<int>(layouts.number(2, 5)));
    const Layout a = *get(whole, static_cast<int>(layouts.number(0, whole.rank() - 1)));
    const std::int64_t target = layouts.number(1, 200);
    const Result<Layout> rest = complement(a, Tuple(target));
    if (!rest) continue;
    ++accepted;
    std::set<std::int64_t> reached, of_a;
    for (std::int64_t i = 0; i < count(a); ++i) of_a.insert(at(a, i));
    for (std::int64_t offset : of_a) {
      for (std::int64_t k = 0; k < count(*rest); ++k) {
        ASSERT_TRUE(reached.insert(offset + at(*rest, k)).second)
            << text(a) << " and " << text(*rest) << " meet";
      }
    }
    for (std::int64_t i = 0; i < target; ++i) {
      ASSERT_TRUE(reached.count(i)) << text(a) << " complement in " << target << " misses " << i;
    }
    for (int i = 0; i + 1 < rest->modes.leaves; ++i) {
      ASSERT_LT(rest->modes.leaf[i].stride.value, rest->modes.leaf[i + 1].stride.value);
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Laws, InversesInvert) {
  Layouts layouts(6);
  int left_ones = 0;
  for (int round = 0; round < rounds; ++round) {
    const Layout whole = layouts.compact(static_cast<int>(layouts.number(1, 5)));
    const Result<Layout> right = right_inverse(whole);
    ASSERT_TRUE(right);
    ASSERT_EQ(count(*right), count(whole)) << text(whole);
    for (std::int64_t i = 0; i < count(*right); ++i) ASSERT_EQ(at(whole, at(*right, i)), i);

    const Layout part = *get(whole, static_cast<int>(layouts.number(0, whole.rank() - 1)));
    const Result<Layout> left = left_inverse(part);
    if (!left) continue;
    ++left_ones;
    for (std::int64_t i = 0; i < count(part); ++i) {
      ASSERT_EQ(at(*left, at(part, i)), i) << text(part) << " has " << text(*left);
    }
  }
  EXPECT_GT(left_ones, 2000);
}

// The divided layout visits the same offsets, and each tile holds A at the tiler's places.
TEST(Laws, DividesReassemble) {
  Layouts layouts(7);
  int accepted = 0;
  for (int round = 0; round < 2 * rounds; ++round) {
    const Layout a = layouts.compact(static_cast<int>(layouts.number(1, 4)));
    const std::int64_t extent = layouts.number(1, 8);
    if (count(a) % extent != 0) continue;
    const Layout tiler(extent, layouts.number(1, 4));
    if (count(a) % (extent * tiler.modes.leaf[0].stride.value) != 0) continue;
    const Result<Layout> divided = logical_divide(a, tiler);
    if (!divided) continue;
    ++accepted;
    ASSERT_EQ(divided->rank(), 2);
    std::vector<std::int64_t> before, after;
    for (std::int64_t i = 0; i < count(a); ++i) before.push_back(at(a, i));
    for (std::int64_t i = 0; i < count(*divided); ++i) after.push_back(at(*divided, i));
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    ASSERT_EQ(before, after) << text(a) << " by " << text(tiler);
    for (std::int64_t i = 0; i < extent; ++i) {  // the first tile
      ASSERT_EQ(at(*divided, i), at(a, at(tiler, i))) << text(a) << " by " << text(tiler);
    }
  }
  EXPECT_GT(accepted, 500);
}

TEST(Laws, ZippedDivideGathersWhatLogicalDivideMadeByMode) {
  Layouts layouts(8);
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t m = layouts.number(1, 4), n = layouts.number(1, 4);
    const std::int64_t rows = m * layouts.number(1, 5), columns = n * layouts.number(1, 5);
    const Layout a = *make_layout(make_tuple_of(rows, columns), make_tuple_of(columns, 1));
    const Result<Layout> zipped = zipped_divide(a, Tiler(make_tuple_of(m, n)));
    ASSERT_TRUE(zipped);
    ++accepted;
    // Tile (I, J), place (i, j): row I*m+i, column J*n+j.
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t ti = 0; ti < rows / m; ++ti)
          for (std::int64_t tj = 0; tj < columns / n; ++tj) {
            const Result<std::int64_t> offset =
                crd2idx(make_tuple_of(make_tuple_of(i, j), make_tuple_of(ti, tj)), *zipped);
            ASSERT_TRUE(offset);
            ASSERT_EQ(*offset, (ti * m + i) * columns + tj * n + j);
          }
  }
  EXPECT_EQ(accepted, rounds);
}

TEST(Laws, ProductsAreDisjointCopiesOfTheBlock) {
  Layouts layouts(9);
  for (int round = 0; round < rounds; ++round) {
    const Layout block = layouts.compact(static_cast<int>(layouts.number(1, 2)));
    const Layout copies = layouts.compact(static_cast<int>(layouts.number(1, 2)));
    const Result<Layout> made = logical_product(block, copies);
    ASSERT_TRUE(made) << text(block) << " by " << text(copies);
    std::set<std::int64_t> offsets;
    for (std::int64_t i = 0; i < count(*made); ++i) offsets.insert(at(*made, i));
    ASSERT_EQ(static_cast<std::int64_t>(offsets.size()), count(block) * count(copies));
    for (std::int64_t i = 0; i < count(block); ++i) ASSERT_EQ(at(*made, i), at(block, i));
  }
}

TEST(Laws, ThreadValueLayoutsOwnEveryElementOnce) {
  Layouts layouts(10);
  for (int round = 0; round < 500; ++round) {
    const auto extent = [&] { return Int(std::int64_t{1} << layouts.number(0, 3)); };
    const Tuple t = make_tuple_of(extent(), extent()), v = make_tuple_of(extent(), extent());
    const Result<ThreadValue> tv = make_layout_tv(*make_layout_right(t), *make_layout_right(v));
    ASSERT_TRUE(tv);
    const std::int64_t elements = *product(tv->tiler);
    std::set<std::int64_t> owned;
    for (std::int64_t i = 0; i < count(tv->layout); ++i) owned.insert(at(tv->layout, i));
    ASSERT_EQ(static_cast<std::int64_t>(owned.size()), elements);
    ASSERT_EQ(*owned.rbegin(), elements - 1);
    // By hand: thread (a,b) and value (i,j) stand at row a*V0+i, column b*V1+j.
    const std::int64_t rows = tv->tiler.leaf[0].value;
    for (std::int64_t thread = 0; thread < *product(t); ++thread)
      for (std::int64_t value = 0; value < *product(v); ++value) {
        const std::int64_t b = thread % t.leaf[1].value, a = thread / t.leaf[1].value;
        const std::int64_t j = value % v.leaf[1].value, i = value / v.leaf[1].value;
        const std::int64_t row = a * v.leaf[0].value + i, column = b * v.leaf[1].value + j;
        ASSERT_EQ(*crd2idx(make_tuple_of(thread, value), tv->layout), row + column * rows);
      }
  }
}

TEST(Laws, CoordinatesAndOffsetsGoBothWays) {
  Layouts layouts(11);
  for (int round = 0; round < rounds; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 6)));
    const std::int64_t index = layouts.number(0, count(a) - 1);
    const Result<Tuple> coordinate = idx2crd(index, a.shape());
    ASSERT_TRUE(coordinate);
    ASSERT_TRUE(coordinate->congruent(a.modes));
    ASSERT_EQ(*crd2index(*coordinate, a.shape()), index);
    ASSERT_EQ(*crd2idx(*coordinate, a), at(a, index));
    ASSERT_EQ(*crd2idx(Tuple(index), a), at(a, index));
  }
}

TEST(Laws, ASliceIsTheLayoutWithSomeCoordinatesFixed) {
  Layouts layouts(12);
  for (int round = 0; round < rounds; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(2, 5)));
    if (a.rank() < 2) continue;
    Tuple coordinate;
    for (int i = 0; i < a.rank(); ++i) {
      const std::int64_t extent = count(*get(a, i));
      coordinate.push(i == 1 ? Tuple(Int::all()) : Tuple(layouts.number(0, extent - 1)));
    }
    const Result<Slice> part = slice(coordinate, a);
    ASSERT_TRUE(part);
    for (std::int64_t k = 0; k < count(part->layout); ++k) {
      Tuple full;
      for (int i = 0; i < a.rank(); ++i) full.push(i == 1 ? Tuple(k) : coordinate.mode(i));
      ASSERT_EQ(at(part->layout, k) + part->offset.offset().value, *crd2idx(full, a)) << text(a);
    }
  }
}

TEST(Laws, ASwizzleIsItsOwnInverseAndPermutes) {
  for (int bits = 0; bits <= 4; ++bits)
    for (int base = 0; base <= 4; ++base)
      for (int shift = -5; shift <= 5; ++shift) {
        const Result<Swizzle> swizzle = make_swizzle(bits, base, shift);
        ASSERT_EQ(swizzle.ok(), std::abs(shift) >= bits);
        if (!swizzle) continue;
        std::set<std::int64_t> images;
        for (std::int64_t i = 0; i < 1 << 14; ++i) {
          ASSERT_EQ((*swizzle)((*swizzle)(i)), i);
          images.insert((*swizzle)(i));
        }
        ASSERT_EQ(images.size(), std::size_t{1} << 14);
        ASSERT_EQ(*images.rbegin(), (1 << 14) - 1);
      }
  // By hand: Sw<3,3,3> moves bits 6..8 onto 3..5. 64 = bit 6 -> 64 + 8.
  EXPECT_EQ((*make_swizzle(3, 3, 3))(64), 72);
  EXPECT_EQ((*make_swizzle(3, 3, 3))(448 + 56), 448);
  EXPECT_EQ((*make_swizzle(2, 0, -3))(1), 9);
}

}  // namespace
}  // namespace tilescope
