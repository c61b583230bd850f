// The laws of what goes around the algebra: recasts, swizzles that pass through layouts, what two
// layouts share, orders and tiles. As in laws_test.cpp a law is checked against the definition of a
// layout as a function, on thousands of generated layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/layout/text.h"
#include "tests/layout/generate.h"

namespace tilescope {
namespace {

using testing::Layouts;

constexpr int rounds = 3000;

std::int64_t count(const Layout& layout) {
  return *size(layout);
}

// A layout of power-of-two extents and compact strides, so that it moves bits.
Layout powers_of_two(Layouts& layouts, int leaves) {
  Tuple shape, order;
  for (int i = 0; i < leaves; ++i) shape.push(Tuple(std::int64_t{1} << layouts.number(0, 3)));
  for (int i = 0; i < leaves; ++i) order.push(Tuple(i));
  for (int i = leaves - 1; i > 0; --i) {
    std::swap(order.leaf[i], order.leaf[layouts.number(0, i)]);
  }
  return *make_ordered_layout(shape, order);
}

Swizzle any_swizzle(Layouts& layouts) {
  const std::int64_t bits = layouts.number(1, 3), far = layouts.number(bits, 4);
  return *make_swizzle(bits, layouts.number(0, 3), layouts.number(0, 1) ? far : -far);
}

// Every wide element holds n whole narrow ones: what L reaches, divided by n.
TEST(Recast, UpcastReachesTheElementsThatHoldTheOldOnes) {
  Layouts layouts(31);
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    const Layout a = powers_of_two(layouts, static_cast<int>(layouts.number(1, 4)));
    const std::int64_t n = std::int64_t{1} << layouts.number(0, 3);
    const Result<Layout> wide = upcast(a, n);
    if (!wide) continue;
    ++accepted;
    std::set<std::int64_t> expected, reached;
    for (std::int64_t i = 0; i < count(a); ++i) expected.insert(a(i) / n);
    for (std::int64_t i = 0; i < count(*wide); ++i) reached.insert((*wide)(i));
    ASSERT_EQ(reached, expected) << text(a) << " by " << n << " is " << text(*wide);
  }
  EXPECT_GT(accepted, 2000);
}

TEST(Recast, DowncastThenUpcastIsTheIdentity) {
  Layouts layouts(32);
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    Layout a = layouts.compact(static_cast<int>(layouts.number(1, 4)));
    a.swizzle = layouts.number(0, 1) ? any_swizzle(layouts) : Swizzle{};
    const std::int64_t n = std::int64_t{1} << layouts.number(0, 3);
    const Result<Layout> narrow = downcast(a, n);
    if (!narrow) {
      ASSERT_EQ(narrow.refusal.rule, Refusal::Rule::not_adjacent) << text(a);
      continue;
    }
    ++accepted;
    ASSERT_EQ(*upcast(*narrow, n), a) << text(a) << " by " << n;
    std::set<std::int64_t> expected, reached;  // each element is its n parts
    for (std::int64_t i = 0; i < count(a); ++i) {
      for (std::int64_t part = 0; part < n; ++part) expected.insert(a(i) * n + part);
    }
    for (std::int64_t i = 0; i < count(*narrow); ++i) reached.insert((*narrow)(i));
    if (a.modes.leaves == 1) {
      ASSERT_EQ(reached, expected) << text(a);
    }
  }
  EXPECT_GT(accepted, 1500);
}

TEST(Recast, ASwizzleOfWideElementsMovesTheSameMemory) {
  Layouts layouts(33);
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t n = std::int64_t{1} << layouts.number(1, 3);
    const Layout memory = *composition(any_swizzle(layouts), Layout(256, 1));
    const Result<Layout> wide = upcast(memory, n);
    if (!wide) {
      ASSERT_EQ(wide.refusal.rule, Refusal::Rule::swizzle_below);
      continue;
    }
    ++accepted;
    for (std::int64_t i = 0; i < 256; ++i) {
      ASSERT_EQ((*wide)(i / n), memory(i) / n) << text(memory) << " by " << n << " at " << i;
    }
  }
  EXPECT_GT(accepted, 1500);
}

// A o (Sw o B) is that function where it has a value, and has one wherever A moves bits.
TEST(Swizzled, CompositionCarriesASwizzleToTheFront) {
  Layouts layouts(34);
  int accepted = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const Layout a = powers_of_two(layouts, static_cast<int>(layouts.number(1, 4)));
    const Layout b =
        *composition(any_swizzle(layouts), Layout(std::int64_t{1} << layouts.number(2, 8), 1));
    const Result<Layout> r = composition(a, b);
    if (!r) {
      ++refused;
      ASSERT_FALSE(sentence(r.refusal).empty());
      continue;
    }
    ++accepted;
    ASSERT_EQ(count(*r), count(b));
    for (std::int64_t i = 0; i < count(b); ++i) {
      ASSERT_EQ((*r)(i), a(b(i))) << text(a) << " o " << text(b) << " = " << text(*r);
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 100);
}

TEST(Swizzled, InversesInvert) {
  Layouts layouts(35);
  int right_ones = 0, left_ones = 0;
  for (int round = 0; round < rounds; ++round) {
    const Layout plain = powers_of_two(layouts, static_cast<int>(layouts.number(1, 4)));
    const Layout a = *composition(any_swizzle(layouts), plain);
    if (const Result<Layout> right = right_inverse(a)) {
      ++right_ones;
      for (std::int64_t i = 0; i < count(*right); ++i) ASSERT_EQ(a((*right)(i)), i) << text(a);
    }
    if (const Result<Layout> left = left_inverse(a)) {
      ++left_ones;
      for (std::int64_t i = 0; i < count(a); ++i) ASSERT_EQ((*left)(a(i)), i) << text(a);
    }
  }
  EXPECT_GT(right_ones, 800);
  EXPECT_GT(left_ones, 800);
}

TEST(Swizzled, TwoSwizzlesAreOneOnlyWhereTheyAgreeEverywhere) {
  Layouts layouts(36);
  int merged = 0;
  for (int round = 0; round < rounds; ++round) {
    const Swizzle a = any_swizzle(layouts), b = any_swizzle(layouts);
    const Result<Swizzle> both = composition(a, b);
    if (!both) continue;
    ++merged;
    for (std::int64_t x = 0; x < 1 << 13; x += 7) {
      ASSERT_EQ((*both)(x), a(b(x))) << text(a) << " o " << text(b);
    }
  }
  EXPECT_GT(merged, 50);
}

TEST(Swizzled, ProductsAndTilesKeepTheSwizzleInFront) {
  const Layout atom =
      *composition(*make_swizzle(3, 3, 3), *make_layout_right(make_tuple_of(8, 64)));
  const Layout tiled = *tile_to_shape(atom, make_tuple_of(128, 64));
  EXPECT_EQ(text(tiled), "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))");
  for (std::int64_t i = 0; i < 128; ++i) {  // every copy is the atom, 512 further on
    for (std::int64_t j = 0; j < 64; ++j) {
      ASSERT_EQ(*crd2idx(make_tuple_of(i, j), tiled),
                *crd2idx(make_tuple_of(i % 8, j), atom) + i / 8 * 512);
    }
  }
}

TEST(Shared, MaxCommonLayoutIsTheSameElementsInBoth) {
  Layouts layouts(37);
  int longer = 0, answered = 0;
  for (int round = 0; round < rounds; ++round) {
    const Tuple shape = layouts.shape(static_cast<int>(layouts.number(1, 3)));
    const auto ordered = [&] {
      Tuple order = shape;
      for (int i = 0; i < order.leaves; ++i) order.leaf[i] = i;
      for (int i = order.leaves - 1; i > 0; --i) {
        std::swap(order.leaf[i], order.leaf[layouts.number(0, i)]);
      }
      return *make_ordered_layout(shape, order);
    };
    const Layout a = ordered(), b = ordered();
    const Result<Layout> common = max_common_layout(a, b);
    if (!common) continue;
    ++answered;
    ASSERT_EQ(*max_common_vector(a, b), count(*common));
    longer += count(*common) > 1;
    for (std::int64_t i = 0; i < count(*common); ++i) {
      ASSERT_EQ(a((*common)(i)), i) << text(a) << " and " << text(b);
      ASSERT_EQ(b((*common)(i)), i) << text(a) << " and " << text(b);
    }
  }
  EXPECT_GT(answered, 2000);
  EXPECT_GT(longer, 1000);
}

TEST(Shared, NullspaceIsWhatDoesNotMove) {
  Layouts layouts(38);
  for (int round = 0; round < rounds; ++round) {
    Layout a = layouts.compact(static_cast<int>(layouts.number(1, 5)));
    for (int i = 0; i < a.modes.leaves; ++i) {
      if (layouts.number(0, 2) == 0) a.modes.leaf[i].stride = 0;
    }
    const Layout none = *nullspace(a);
    std::set<std::int64_t> coordinates;
    for (std::int64_t i = 0; i < count(none); ++i) {
      ASSERT_EQ(a(none(i)), a(0)) << text(a) << " has " << text(none);
      coordinates.insert(none(i));
    }
    std::int64_t still = 0;  // modes that move are injective here, so these are all
    for (std::int64_t i = 0; i < count(a); ++i) still += a(i) == a(0);
    ASSERT_EQ(static_cast<std::int64_t>(coordinates.size()), still) << text(a);
  }
}

TEST(Orders, MakeLayoutLikeIsCompactInTheSameOrder) {
  Layouts layouts(39);
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 4)));
    const Result<Layout> like = make_layout_like(a);
    if (!like) {
      ASSERT_EQ(like.refusal.rule, Refusal::Rule::order_not_distinct) << text(a);
      continue;
    }
    ++accepted;
    std::set<std::int64_t> reached;
    std::int64_t moving = 1;
    for (std::int64_t i = 0; i < count(a); ++i) reached.insert((*like)(i));
    for (int i = 0; i < a.modes.leaves; ++i) {
      const Mode& m = a.modes.leaf[i];
      if (!m.stride.is(0)) moving *= m.shape.value;
      for (int k = 0; k < i; ++k) {
        const Mode& other = a.modes.leaf[k];
        if (m.shape.is(1) || other.shape.is(1)) continue;
        ASSERT_EQ(m.stride.value < other.stride.value,
                  like->modes.leaf[i].stride.value < like->modes.leaf[k].stride.value)
            << text(a) << " has " << text(*like);
      }
    }
    ASSERT_EQ(static_cast<std::int64_t>(reached.size()), moving) << text(a);
    ASSERT_EQ(*reached.rbegin(), moving - 1) << text(a);
  }
  EXPECT_GT(accepted, 2000);
}

TEST(Orders, TileToShapeRepeatsTheBlockOverTheTarget) {
  Layouts layouts(40);
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t m = layouts.number(1, 4), n = layouts.number(1, 4);
    const std::int64_t rows = m * layouts.number(1, 4), columns = n * layouts.number(1, 4);
    const bool rows_first = layouts.number(0, 1) == 0;
    const Layout block = *make_layout_right(make_tuple_of(m, n));
    const Layout tiled = *tile_to_shape(block, make_tuple_of(rows, columns),
                                        rows_first ? make_tuple_of(1, 2) : make_tuple_of(2, 1));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t I = i / m, J = j / n;
        const std::int64_t copy = rows_first ? I + J * (rows / m) : J + I * (columns / n);
        ASSERT_EQ(*crd2idx(make_tuple_of(i, j), tiled), copy * m * n + i % m * n + j % n);
      }
    }
  }
}

TEST(Modes, TakingGroupingAndAddingKeepTheFunction) {
  Layouts layouts(41);
  for (int round = 0; round < rounds; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(2, 5)));
    if (a.rank() < 2) continue;
    const std::int64_t begin = layouts.number(0, a.rank() - 1);
    const std::int64_t end = layouts.number(begin + 1, a.rank());
    const Result<Layout> grouped = group(a, begin, end);
    if (!grouped) continue;  // one level deeper than a layout can be
    for (std::int64_t i = 0; i < count(a); ++i) ASSERT_EQ((*grouped)(i), a(i)) << text(a);
    ASSERT_EQ(*get(*grouped, begin), *take(a, begin, end));
    ASSERT_EQ(*take(*append(a, Layout(3, 7)), 0, a.rank()), a);
    ASSERT_EQ(*take(*prepend(a, Layout(3, 7)), 1, a.rank() + 1), a);
    ASSERT_EQ(append(a, Layout(1, 0), a.rank() + 2)->rank(), a.rank() + 2);
    ASSERT_EQ(*get(*replace(a, begin, Layout(3, 7)), begin), Layout(3, 7));
    ASSERT_EQ(*unflatten(*flatten(a), a.shape()), a);
    const Tuple chosen = make_tuple_of(end - 1, begin);
    ASSERT_EQ(*get(*select(a, chosen), 0), *get(a, end - 1));
    ASSERT_EQ(*get(*select(a, chosen), 1), *get(a, begin));
  }
}

}  // namespace
}  // namespace tilescope
