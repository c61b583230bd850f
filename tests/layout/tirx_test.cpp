// TIRx's layouts: values of its documentation, and the laws of the two translations.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/language/language.h"
#include "core/layout/text.h"
#include "core/layout/tile_algebra.h"
#include "tests/layout/generate.h"

namespace tilescope {
namespace {

using testing::Layouts;

std::string value_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  if (const Problem* problem = std::get_if<Problem>(&result)) return "error: " + problem->sentence;
  return text(std::get<Value>(result));
}

TileLayout tile_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  const Value* value = std::get_if<Value>(&result);
  const auto* tile = value ? std::get_if<Shared<TileLayout>>(value) : nullptr;
  EXPECT_TRUE(tile) << expression << " is " << value_of(expression);
  return tile ? **tile : TileLayout{};
}

std::int64_t on(const Place& place, std::string_view axis) {
  return place.on(Axis{*axis_named(axis)}).value;
}

// A flat layout on some of TIRx's axes, and none.
Layout on_axes(Layouts& layouts, int leaves) {
  const Axis axes[] = {{}, {*axis_named("TLane")}, {*axis_named("TCol")}, {*axis_named("laneid")}};
  Layout out = *flatten(layouts.any(leaves));
  for (int i = 0; i < out.leaves(); ++i) {
    Int& stride = out.modes.leaf[i].stride;
    if (stride.value != 0) stride.axis = axes[layouts.number(0, 3)];
  }
  return out;
}

TileLayout any_tile(Layouts& layouts, bool replicas) {
  TileLayout out = *make_shard(on_axes(layouts, static_cast<int>(layouts.number(1, 4))));
  if (replicas) {
    const TileLayout copies =
        *make_replica(on_axes(layouts, static_cast<int>(layouts.number(1, 2))));
    out = *add(out, copies);
  }
  if (layouts.number(0, 1) == 0) {
    out = *add(out, Place(Int(layouts.number(1, 9), Axis{*axis_named("TCol")})));
  }
  return out;
}

// { S(x) + r + O for r in R } by its definition, digit by digit.
std::vector<Place> by_definition(const TileLayout& x, std::int64_t element) {
  const auto place = [](const Layout& part, std::int64_t index) {
    Place out;
    for (int i = part.leaves() - 1; i >= 0; --i) {
      const Mode& m = part.modes.leaf[i];
      EXPECT_FALSE(out.add(Int(index % m.shape.value * m.stride.value, m.stride.axis)));
      index /= m.shape.value;
    }
    return out;
  };
  const std::int64_t copies = x.replica.modes.empty() ? 1 : *size(x.replica);
  std::vector<Place> out;
  for (std::int64_t r = 0; r < copies; ++r) {
    Place sum = place(x.shard, element);
    EXPECT_FALSE(sum.add(place(x.replica, r)));
    EXPECT_FALSE(sum.add(x.offset));
    if (std::find(out.begin(), out.end(), sum) == out.end()) out.push_back(sum);
  }
  return out;
}

TEST(Tirx, OwnersAreTheShardsPlacePlusEachReplica) {
  Layouts layouts(101);
  int several = 0;
  for (int round = 0; round < 500; ++round) {
    const TileLayout x = any_tile(layouts, layouts.number(0, 1) == 0);
    for (std::int64_t i = 0; i < *size(x.shard); ++i) {
      const Result<std::vector<Place>> places = owners(x, Tuple(i));
      ASSERT_TRUE(places) << text(x);
      ASSERT_EQ(*places, by_definition(x, i)) << text(x) << " at " << i;
      several += places->size() > 1;
    }
  }
  EXPECT_GT(several, 500);
}

TEST(Tirx, PrintingThenParsingIsTheIdentity) {
  Layouts layouts(102);
  for (int round = 0; round < 1000; ++round) {
    const TileLayout x = any_tile(layouts, layouts.number(0, 1) == 0);
    ASSERT_EQ(tile_of(text(x)), x) << text(x);
  }
}

TEST(Tirx, ToCuteHasTheSamePlaceForEveryNumber) {
  Layouts layouts(103);
  for (int round = 0; round < 1000; ++round) {
    const TileLayout x = any_tile(layouts, false);
    const Result<Slice> cute = to_cute(x);
    ASSERT_TRUE(cute) << text(x);
    for (std::int64_t i = 0; i < *size(x.shard); ++i) {
      Place place = *place_of(Tuple(i), cute->layout);
      ASSERT_FALSE(place.add(cute->offset));
      ASSERT_EQ(place, by_definition(x, i)[0]) << text(x) << " is " << text(*cute) << " at " << i;
    }
    ASSERT_EQ(*to_tirx(*cute), x) << text(x);
  }
}

TEST(Tirx, FromCuteAndBackIsTheFlatLayout) {
  Layouts layouts(104);
  for (int round = 0; round < 1000; ++round) {
    const Layout a = layouts.any(static_cast<int>(layouts.number(1, 5)));
    const Result<TileLayout> x = to_tirx({a, {}});
    ASSERT_TRUE(x) << text(a);
    ASSERT_EQ(to_cute(*x)->layout, *flatten(a)) << text(a) << " is " << text(*x);
  }
}

// With a shape, coordinates in it keep their places: the last extent is the innermost in TIRx.
TEST(Tirx, ToCuteWithAShapeKeepsCoordinates) {
  Layouts layouts(105);
  int answered = 0;
  for (int round = 0; round < 1000; ++round) {
    const TileLayout x = any_tile(layouts, false);
    const std::int64_t n = *size(x.shard), columns = layouts.number(1, n);
    if (n % columns != 0) continue;
    const Tuple shape = make_tuple_of(n / columns, columns);
    const Result<Slice> cute = to_cute(x, shape);
    if (!cute) continue;  // the shape cuts through an extent
    ++answered;
    for (std::int64_t i = 0; i < n; ++i) {
      Place place = *place_of(make_tuple_of(i / columns, i % columns), cute->layout);
      ASSERT_FALSE(place.add(cute->offset));
      ASSERT_EQ(place, by_definition(x, i)[0]) << text(x) << " is " << text(*cute) << " at " << i;
    }
  }
  EXPECT_GT(answered, 300);
}

// The swizzle of an address in units of 16 bytes: bits 0..2 are XORed with bits 3..5, of which 32B
// has the lowest, 64B the lowest two (TVM: tma_shared_layout; PTX ISA, swizzling modes).
TEST(Tirx, TmaSharedLayoutsPutEachElementWhereTheSwizzleModeDoes) {
  const struct {
    const char* type;
    std::int64_t bits;
  } types[] = {{"u8", 8}, {"e4m3", 8}, {"f16", 16}, {"bf16", 16}, {"f32", 32}, {"f64", 64}};
  for (const auto& type : types) {
    for (const std::int64_t bytes : {32, 64, 128}) {
      const std::int64_t rows = 16, width = 8 * bytes / type.bits, columns = 2 * width;
      const TileLayout x =
          tile_of("tma_shared_layout(" + std::string(type.type) + ", " + std::to_string(bytes) +
                  "B, (" + std::to_string(rows) + "," + std::to_string(columns) + "))");
      const Layout cute = to_cute(x, make_tuple_of(rows, columns))->layout;
      std::set<std::int64_t> reached;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          const std::int64_t block = c / width * rows * bytes;
          const std::int64_t linear = block + r * bytes + c % width * type.bits / 8;
          const std::int64_t chunk = linear / 16, mask = bytes / 16 - 1;
          const std::int64_t address = (chunk ^ ((chunk >> 3) & mask)) * 16 + linear % 16;
          const std::vector<Place> places = *owners(x, Tuple(r * columns + c));
          ASSERT_EQ(places.size(), 1u);
          ASSERT_EQ(places[0].offset().value * type.bits / 8, address) << text(x) << r << "," << c;
          ASSERT_EQ(*crd2idx(make_tuple_of(r, c), cute), places[0].offset().value) << text(cute);
          reached.insert(address);
        }
      }
      ASSERT_EQ(static_cast<std::int64_t>(reached.size()), rows * columns);
    }
  }
}

// The accumulators of tcgen05.mma by their lane and column (PTX ISA, tcgen05 data path layouts).
TEST(Tirx, TensorMemoryLayoutsAreShards) {
  // M = 64, one CTA: 16 rows of each half warp of lanes. lane = 32 * (r / 16) + r % 16.
  const TileLayout half = tile_of("S[(4,16,64):(32@TLane,1@TLane,1@TCol)] + 16@TLane");
  // M = 64 of two CTAs, N split: lane = r + 64 * (c >= N/2), column c % (N/2).
  const TileLayout split = tile_of("S[(64,2,32):(1@TLane,64@TLane,1@TCol)]");
  for (std::int64_t r = 0; r < 64; ++r) {
    for (std::int64_t c = 0; c < 64; ++c) {
      const Place a = (*owners(half, Tuple(r * 64 + c)))[0];
      ASSERT_EQ(on(a, "TLane"), 32 * (r / 16) + 16 + r % 16);
      ASSERT_EQ(on(a, "TCol"), c);
      const Place b = (*owners(split, Tuple(r * 64 + c)))[0];
      ASSERT_EQ(on(b, "TLane"), r + (c >= 32 ? 64 : 0));
      ASSERT_EQ(on(b, "TCol"), c % 32);
    }
  }
  // Scale factors: each of 32 lanes, four times.
  const TileLayout factors = tile_of("S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane]");
  std::set<std::int64_t> lanes;
  const Result<std::vector<Place>> copies = owners(factors, make_tuple_of(3, 5));
  ASSERT_TRUE(copies);
  for (const Place& place : *copies) {
    EXPECT_EQ(on(place, "TCol"), 5);
    lanes.insert(on(place, "TLane"));
  }
  EXPECT_EQ(lanes, (std::set<std::int64_t>{3, 35, 67, 99}));
}

// X(i,j,...) of the logical shape is the element by its number, last extent fastest; of another
// rank it is a coordinate of the shard.
TEST(Tirx, CoordinatesAreThoseOfTheLogicalShape) {
  Layouts layouts(106);
  for (int round = 0; round < 300; ++round) {
    const TileLayout x = any_tile(layouts, true);
    const std::int64_t n = *size(x.shard), columns = layouts.number(1, n);
    if (n % columns != 0) continue;
    const TileLayout shaped = *in_shape(x, make_tuple_of(n / columns, columns));
    ASSERT_EQ(logical_shape(shaped), make_tuple_of(n / columns, columns));
    ASSERT_EQ(shaped, x) << "the function is the same";
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(*owners(shaped, make_tuple_of(i / columns, i % columns)), by_definition(x, i))
          << text(x) << " at " << i;
    }
  }
}

// The places of `result` at the coordinates of its logical shape, against what the operation's
// definition says of each.
template <class Expected>
void expect_places(const TileLayout& result, Expected expected, const std::string& what) {
  const Tuple shape = logical_shape(result);
  for (std::int64_t i = 0; i < *size(result.shard); ++i) {
    std::vector<std::int64_t> at(static_cast<std::size_t>(shape.leaves));
    for (std::size_t k = at.size(), rest = static_cast<std::size_t>(i); k-- > 0;) {
      const std::size_t extent = static_cast<std::size_t>(shape.leaf[k].value);
      at[k] = static_cast<std::int64_t>(rest % extent);
      rest /= extent;
    }
    ASSERT_EQ(*owners(result, Tuple(i)), expected(at)) << what << " = " << text(result);
  }
}

TEST(Tirx, GroupingAndCanonicalFormKeepTheFunction) {
  Layouts layouts(107);
  int grouped = 0;
  for (int round = 0; round < 1000; ++round) {
    const TileLayout x = any_tile(layouts, round % 2 == 0);
    const std::int64_t n = *size(x.shard), columns = layouts.number(1, n);
    const auto same = [&](const TileLayout& y) {
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(*owners(y, Tuple(i)), by_definition(x, i)) << text(x) << " is " << text(y);
      }
    };
    same(canonicalize(x));
    EXPECT_EQ(canonicalize(canonicalize(x)), canonicalize(x)) << text(x);
    if (n % columns != 0) continue;
    const Result<TileLayout> by_shape = group(x, make_tuple_of(n / columns, columns));
    if (!by_shape) continue;
    same(*by_shape);
    ++grouped;
  }
  EXPECT_GT(grouped, 300);
}

// Two dimensions of some size, as a layout with digits of its own for each.
TileLayout any_grid(Layouts& layouts, std::int64_t& rows, std::int64_t& columns) {
  const TileLayout down = *make_shard(on_axes(layouts, static_cast<int>(layouts.number(1, 2))));
  const TileLayout across = *make_shard(on_axes(layouts, static_cast<int>(layouts.number(1, 2))));
  rows = *size(down.shard), columns = *size(across.shard);
  Tree<Mode> modes;
  for (const TileLayout* part : {&down, &across}) {
    for (int i = 0; i < part->shard.leaves(); ++i)
      modes.push(Tree<Mode>(part->shard.modes.leaf[i]));
  }
  return *in_shape(*make_shard(Layout(modes)), make_tuple_of(rows, columns));
}

TEST(Tirx, TilesAndSumsAreBlocksOfTheirParts) {
  Layouts layouts(108);
  constexpr std::int64_t most = 2000;  // elements that a round looks at
  int looked_at = 0;
  for (int round = 0; round < 400; ++round) {
    std::int64_t m = 0, n = 0, rows = 0, columns = 0;
    const TileLayout inner = any_grid(layouts, m, n), outer = any_grid(layouts, rows, columns);
    if (m * n * rows * columns > most) continue;
    ++looked_at;
    const Tuple in = make_tuple_of(m, n), out = make_tuple_of(rows, columns);
    for (const bool scaled : {true, false}) {
      const Result<TileLayout> both =
          scaled ? tile(inner, outer, out, in) : direct_sum(inner, outer, out, in);
      ASSERT_TRUE(both) << text(outer) << " of " << text(inner);
      ASSERT_EQ(logical_shape(*both), make_tuple_of(m * rows, n * columns));
      const TileLayout block = canonicalize(inner);
      const Place reach = *span(inner);
      const auto expected = [&](const std::vector<std::int64_t>& at) {
        Place sum = by_definition(inner, at[0] % m * n + at[1] % n)[0];
        const Place steps = by_definition(outer, at[0] / m * columns + at[1] / n)[0];
        for (int k = 0; k < steps.parts; ++k) {
          Int step = steps.part[k];
          bool shared = false;
          for (int l = 0; l < block.shard.leaves(); ++l) {
            shared = shared || block.shard.modes.leaf[l].stride.axis == step.axis;
          }
          if (scaled && shared) step.value *= reach.on(step.axis).value;
          EXPECT_FALSE(sum.add(step));
        }
        return std::vector{sum};
      };
      expect_places(*both, expected, text(outer) + " of " + text(inner));
    }
  }
  EXPECT_GT(looked_at, 50);
}

TEST(Tirx, SlicesAreBoxesOfTheElements) {
  Layouts layouts(109);
  int answered = 0, refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::int64_t rows = 0, columns = 0;
    TileLayout x = any_grid(layouts, rows, columns);
    if (layouts.number(0, 1) == 0) x = *add(x, Place(Int(5, Axis{*axis_named("TCol")})));
    const std::int64_t top = layouts.number(0, rows - 1), left = layouts.number(0, columns - 1);
    const std::int64_t bottom = layouts.number(top + 1, rows);
    const std::int64_t right = layouts.number(left + 1, columns);
    const Tuple region = make_tuple_of(make_tuple_of(top, bottom), make_tuple_of(left, right));
    const Result<TileLayout> box = slice(x, make_tuple_of(rows, columns), region);
    if (!box) {
      ASSERT_EQ(box.refusal.rule, Refusal::Rule::no_slice) << text(x) << text(region);
      ++refused;
      continue;
    }
    ++answered;
    expect_places(
        *box,
        [&](const std::vector<std::int64_t>& at) {
          return by_definition(x, (top + at[0]) * columns + left + at[1]);
        },
        text(x) + " " + text(region));
  }
  EXPECT_GT(answered, 300);
  EXPECT_GT(refused, 30);
  // Half of a digit and half of the next one: one step from each to the other.
  EXPECT_EQ(value_of("slice(S[(4,8):(100,1)], 32, (4,12))"), "S[(2,4):(96,1)] + 4");
}

// Shared memory as TMA fills it is one atom of 8 rows, tiled along the rows and then the columns
// (TVM: mma_shared_layout).
TEST(Tirx, TmaSharedLayoutsAreTiledAtoms) {
  EXPECT_EQ(value_of("tile_to(tile_to(ComposeLayout(3, 3, 3, S[(8,64)]), (64,64)), (64,256))"),
            value_of("tma_shared_layout(f16, 128B, (64,256))"));
  EXPECT_EQ(value_of("slice(tma_shared_layout(f16, 128B, (64,256)), (64,256), ((8,16),(64,128)))"),
            "Sw<3,3,3> o S[(8,1,64):(64,4096,1)] + 4608");
}

TEST(Tirx, ElementsArePackedAndUnpacked) {
  Layouts layouts(110);
  for (int round = 0; round < 300; ++round) {
    const TileLayout x = *make_shard(*flatten(layouts.any(static_cast<int>(layouts.number(1, 3)))));
    const std::int64_t n = layouts.number(1, 4);
    const TileLayout wide = *unpack(x, n);
    for (std::int64_t i = 0; i < *size(wide.shard); ++i) {
      ASSERT_EQ(by_definition(wide, i)[0].offset().value,
                by_definition(x, i / n)[0].offset().value * n + i % n)
          << text(x);
    }
    const Result<TileLayout> back = pack(wide, n);
    ASSERT_TRUE(back) << text(wide);
    ASSERT_EQ(canonicalize(*back), canonicalize(x)) << text(wide);
  }
  EXPECT_EQ(value_of("unpack(tma_shared_layout(f16, 128B, (64,64)), 2)"),
            "Sw<3,4,3> o S[(64,1,64,2):(128,8192,2,1)]");
  EXPECT_EQ(value_of("storage(S[(4,32,2):(1@warpid,1@laneid,1)] + R[2:4@warpid] + 8)"),
            "S[2:1] + 8");
  EXPECT_EQ(value_of("broadcast(S[8,4], 2, 1)"), "S[(8,2,4):(4,0,1)]");
  EXPECT_EQ(value_of("permute_dims(S[8,4], (1,0))"), "S[(4,8):(1,4)]");
}

TEST(Tirx, IsWrittenAndReadInItsNotation) {
  const std::pair<const char*, const char*> expected[] = {
      {"S[(128, 512) : (1@TLane, 1@TCol)]", "S[(128,512):(1@TLane,1@TCol)]"},
      {"S[(128,64):(1@tid_in_wg,1@m)]", "S[(128,64):(1@tid_in_wg,1)]"},
      {"S[4:1] + R[2:16] + R[3:64@bx] + 3", "S[4:1] + R[(2,3):(16,64@bx)] + 3"},
      {"X = S[(128,64):(1@tid_in_wg,1)]; X(3,4)", "3@tid_in_wg+4"},
      {"X = S[(128,64):(1@tid_in_wg,1)]; X(196)", "3@tid_in_wg+4"},
      {"S[4:1] + R[2:0]; owners(S[4:1] + R[2:0], 3)", "3"},
      {"Sw<3,3,3> o S[(8,64):(64,1)]", "Sw<3,3,3> o S[(8,64):(64,1)]"},
      {"S = 4:2; S(3)", "6"},
      {"S[(8,4)]", "S[(8,4):(4,1)]"},
      {"S[8, 4, 2] + R[2:64]", "S[(8,4,2):(8,2,1)] + R[2:64]"},
      {"TileLayout(S[8])", "S[8:1]"},
      {"ComposeLayout(3, 2, 4, S[8,64])", "Sw<2,3,4> o S[(8,64):(64,1)]"},
      {"shape(tma_shared_layout(f16, 128B, (64,256)))", "(64,256)"},
      {"X = mma_shared_layout(f16, 128B, (64,256)); X(1,3)", "75"},
      {"X = tma_shared_layout(f16, 128B, (64,256)); X(1,0,3)", "75"},
      {"X = S[64:1]; owners(X, (3,4), (8,8))", "28"},
      {"size(S[(4,8):(1@TLane,1)] + R[2:4@TLane])", "32"},
      {"rank(S[(4,8):(1@TLane,1)])", "2"},
      {"cosize(S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane])", "128@TLane+16@TCol"},
  };
  for (const auto& [expression, value] : expected)
    EXPECT_EQ(value_of(expression), value) << expression;
  const std::pair<const char*, const char*> refused[] = {
      {"to_cute(S[32:1@TLane] + R[4:32@TLane])", "Each element has 4 copies"},
      {"to_tirx((4,5):(1@0,1@1))", "1@1 in mode 1"},
      {"to_tirx(Sw<1,0,-3> o 0 o 16:1)", "a shift of -3"},
      {"S[(2,3):(1@0,1)]", "@0 is none of them"},
      {"S[((2,3),4):((1,2),6)]", "flatten(L)"},
      {"S[4:1] + S[4:1]", "Two shards"},
      {"owners(S[4:1], 4)", "no element 4"},
      {"to_cute(S[(4,8):(8,1)], (4,4))", "16 elements for a layout of 32"},
      {"tma_shared_layout(f16, 16B, (64,64))", "32B, 64B and 128B"},
      {"tma_shared_layout(f17, 32B, (64,64))", "no element type"},
      {"tma_shared_layout(f16, 128B, (4,64))", "a multiple of 8"},
      {"tma_shared_layout(f16, 128B, 64)", "rank"},
      {"S[4 o 4:1]", "Expected `]`"},
      {"S[<4>]", "hold extents:strides"},
      {"X = S[(4,8):(1@TLane,1)]; X(0,9)", "9 in mode 1: the extent there is 8"},
      {"X = S[(4,8):(1@TLane,1)]; X(0,1,2)", "3 numbers in a grid of 2 extents"},
      {"X = S[(4,8):(1@TLane,1)]; X(0,?)", "needs a known number"},
      {"in_shape(S[64:1], (3,4))", "12 elements for a layout of 64"},
      {"composition(S[8,4], 4)", "to_cute(X)"},
      {"logical_divide(S[8,4], 4)", "to_cute(X)"},
      {"4:1 o S[8,4]", "to_cute(X)"},
      {"stride(S[8,4])", "to_cute(X)"},
      {"smem<f16> o S[8,4]", "to_cute(X)"},
      {"group(S[4,6], (6,4))", "ends inside a digit"},
      {"slice(S[(4,8):(100,1)], 32, (5,14))", "over the end of a digit"},
      {"slice(S[4,8], (4,8), ((0,4),(0,9)))", "up to 9 in mode 1"},
      {"slice(S[4,8], (4,8), (4,8))", "(BEGIN,END)"},
      {"pack(S[(4,8):(3,1)], 2)", "stride of 3"},
      {"pack(S[(4,8):(8,1@laneid)], 2)", "adjacent"},
      {"permute_dims(S[4,8], (1,1))", "appears twice"},
      {"tile_to(S[8,64], (12,64))", "a multiple of 8"},
  };
  for (const auto& [expression, part] : refused) {
    EXPECT_NE(value_of(expression).find(part), std::string::npos)
        << expression << " says: " << value_of(expression);
  }
}

}  // namespace
}  // namespace tilescope
