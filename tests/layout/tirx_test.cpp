// TIRx's layouts: values of its documentation, and the laws of the two translations.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/language/language.h"
#include "core/layout/text.h"
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
      {"S[4]", "hold extents:strides"},
  };
  for (const auto& [expression, part] : refused) {
    EXPECT_NE(value_of(expression).find(part), std::string::npos)
        << expression << " says: " << value_of(expression);
  }
}

}  // namespace
}  // namespace tilescope
