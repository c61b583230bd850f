// Tensor memory: fragments and accumulators against the formulas of the PTX ISA.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/layout/text.h"
#include "core/layout/tile_layout.h"
#include "core/tensor/catalog.h"
#include "core/tensor/tmem.h"

namespace tilescope {
namespace {

struct Cell {
  std::int64_t cta = 0, lane = 0, column = 0;
  auto key() const { return std::tuple(cta, lane, column); }
};

Cell cell(const Layout& layout, std::int64_t first, std::int64_t second) {
  const Result<Place> place = place_of(make_tuple_of(first, second), layout);
  EXPECT_TRUE(place.ok()) << sentence(place.refusal);
  return {place->on(axis_cta).value, place->on(axis_lane).value, place->on(axis_column).value};
}

// Lane and column of register r of lane l, in columns of 32 bits (PTX ISA 9.7.16.8.1, in figures).
Cell expected(const std::string& shape, std::int64_t l, std::int64_t r, std::int64_t half) {
  if (shape == "32dp32b") return {0, l, r};
  if (shape == "16dp64b") return {0, l / 4 + 8 * (l % 2), (l / 2) % 2 + 2 * r};
  if (shape == "16dp128b") return {0, l / 4 + 8 * (r % 2), l % 4 + 4 * (r / 2)};
  if (shape == "16dp256b") {
    return {0, l / 4 + 8 * ((r / 2) % 2), r % 2 + 2 * (l % 4) + 8 * (r / 4)};
  }
  return {0, l % 16, r + (l < 16 ? 0 : half)};  // .16x32bx2
}

Layout fragment_of(const std::string& name, std::int64_t split = 0) {
  const Outcome<Atom> atom = atom_named(name);
  EXPECT_TRUE(atom.ok()) << name;
  const Result<Layout> out = tmem_fragment(std::get<CopyAtom>(*atom), split);
  EXPECT_TRUE(out.ok()) << name << sentence(out.refusal);
  return *out;
}

TEST(TensorMemory, FragmentsLieAsThePtxIsaSaysAndMeetNowhere) {
  struct Shape {
    const char* name;
    std::int64_t registers, most;  // registers at one repetition
  };
  for (const Shape& s :
       {Shape{"32dp32b", 1, 128}, Shape{"16dp64b", 1, 128}, Shape{"16dp128b", 2, 64},
        Shape{"16dp256b", 4, 32}, Shape{"16dp32b", 1, 128}}) {
    for (std::int64_t times = 1; times <= s.most; times *= 2) {
      for (const char* direction : {"LOAD", "STORE"}) {
        const std::string name =
            std::string("SM100_TMEM_") + direction + "_" + s.name + std::to_string(times) + "x";
        const Layout layout = fragment_of(name);
        std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> cells;
        for (std::int64_t l = 0; l < 32; ++l) {
          for (std::int64_t r = 0; r < s.registers * times; ++r) {
            const Cell is = cell(layout, l, r);
            EXPECT_EQ(is.key(), expected(s.name, l, r, times).key()) << name;
            cells.insert(is.key());
          }
        }
        EXPECT_EQ(cells.size(), static_cast<std::size_t>(32 * s.registers * times)) << name;
        EXPECT_EQ(size(layout).value, 32 * s.registers * times) << name;
      }
    }
  }
}

TEST(TensorMemory, TheHalvesOf16x32bx2LieAsFarApartAsTheImmediateSays) {
  const Layout layout = fragment_of("SM100_TMEM_LOAD_16dp32b4x", 64);
  for (std::int64_t l = 0; l < 32; ++l) {
    for (std::int64_t r = 0; r < 4; ++r) {
      EXPECT_EQ(cell(layout, l, r).key(), expected("16dp32b", l, r, 64).key());
    }
  }
  const Outcome<Atom> other = atom_named("SM100_TMEM_LOAD_16dp64b4x");
  EXPECT_EQ(tmem_fragment(std::get<CopyAtom>(*other), 64).refusal.rule, Refusal::Rule::no_split);
}

TEST(TensorMemory, PackedValuesStandAloneInTheirColumns) {
  const Layout layout = fragment_of("SM100_TMEM_LOAD_32dp32b4x_16b");
  EXPECT_EQ(size(layout).value, 32 * 8);
  for (std::int64_t v = 0; v < 8; ++v) EXPECT_EQ(cell(layout, 3, v).key(), std::tuple(0, 3, v));
}

Layout accumulator(std::int64_t m, std::int64_t n, std::int64_t ctas,
                   AccumulatorKind kind = AccumulatorKind::dense) {
  const Result<Layout> out = tmem_accumulator(m, n, ctas, kind);
  EXPECT_TRUE(out.ok()) << sentence(out.refusal);
  return *out;
}

// PTX ISA 9.7.16.10.5: the organisations A to G.
TEST(TensorMemory, AccumulatorsLieAsThePtxIsaSaysAndMeetNowhere) {
  using Kind = AccumulatorKind;
  struct Organisation {
    char letter;
    std::int64_t m, ctas;
    Kind kind;
    Cell (*where)(std::int64_t m, std::int64_t n, std::int64_t columns);
  };
  using I = std::int64_t;
  const Organisation all[] = {{'A', 256, 2, Kind::dense,
                               [](I m, I n, I) {
                                 return Cell{m / 128, m % 128, n};
                               }},
                              {'B', 128, 2, Kind::dense,
                               [](I m, I n, I c) {
                                 return Cell{m / 64, m % 64 + 64 * (n >= c / 2), n % (c / 2)};
                               }},
                              {'C', 128, 2, Kind::sparse,
                               [](I m, I n, I) {
                                 return Cell{m / 64, 32 * (m % 64 / 16) + m % 16, n};
                               }},
                              {'D', 128, 1, Kind::dense,
                               [](I m, I n, I) {
                                 return Cell{0, m, n};
                               }},
                              {'D', 128, 1, Kind::weight_stationary,
                               [](I m, I n, I) {
                                 return Cell{0, m, n};
                               }},
                              {'E', 64, 1, Kind::weight_stationary,
                               [](I m, I n, I c) {
                                 return Cell{0, m + 64 * (n >= c / 2), n % (c / 2)};
                               }},
                              {'F', 64, 1, Kind::dense,
                               [](I m, I n, I) {
                                 return Cell{0, m / 16 * 32 + m % 16, n};
                               }},
                              {'G', 32, 1, Kind::weight_stationary, [](I m, I n, I c) {
                                 return Cell{0, m + 32 * (n / (c / 4)), n % (c / 4)};
                               }}};
  for (const Organisation& o : all) {
    for (const std::int64_t n : {64, 128, 256}) {
      const Layout layout = accumulator(o.m, n, o.ctas, o.kind);
      const TileLayout tile = *tmem_datapath_layout(o.letter, o.m / o.ctas, n);  // one CTA's rows
      std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> cells;
      for (std::int64_t m = 0; m < o.m; ++m) {
        for (std::int64_t column = 0; column < n; ++column) {
          const Cell is = cell(layout, m, column);
          ASSERT_EQ(is.key(), o.where(m, column, n).key()) << o.letter << " " << m << " " << column;
          const Place own = (*owners(tile, make_tuple_of(m % (o.m / o.ctas), column)))[0];
          ASSERT_EQ(own.on(axis_lane).value, is.lane) << text(tile) << " " << m << " " << column;
          ASSERT_EQ(own.on(axis_column).value, is.column) << text(tile);
          cells.insert(is.key());
        }
      }
      EXPECT_EQ(cells.size(), static_cast<std::size_t>(o.m * n)) << o.letter;
    }
  }
}

TEST(TensorMemory, AccumulatorsThatAreNoneAreRefused) {
  using Rule = Refusal::Rule;
  EXPECT_EQ(tmem_datapath_layout('H', 64, 64).refusal.rule, Rule::no_datapath);
  EXPECT_EQ(tmem_datapath_layout('D', 64, 64).refusal.rule, Rule::datapath_rows);
  EXPECT_EQ(tmem_datapath_layout('G', 32, 66).refusal.rule, Rule::tile_does_not_fill);
  EXPECT_EQ(tmem_datapath_layout('B', 64, 64, true).refusal.rule, Rule::no_upper_half);
  EXPECT_EQ(tmem_accumulator(96, 64, 1).refusal.rule, Rule::accumulator_rows);
  EXPECT_EQ(tmem_accumulator(64, 64, 2).refusal.rule, Rule::accumulator_rows);
  EXPECT_EQ(tmem_accumulator(32, 64, 1).refusal.rule, Rule::accumulator_rows);
  EXPECT_EQ(tmem_accumulator(128, 512, 1).refusal.rule, Rule::accumulator_columns);
  EXPECT_EQ(tmem_accumulator(256, 24, 2).refusal.rule, Rule::accumulator_columns);
  EXPECT_EQ(tmem_accumulator(64, 192, 1, AccumulatorKind::weight_stationary).refusal.rule,
            Rule::accumulator_columns);
}

}  // namespace
}  // namespace tilescope
