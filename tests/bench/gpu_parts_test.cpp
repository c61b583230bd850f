// The parts of the GPU bench that need no GPU: what is asked for, bounds, choices, tables.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/catalog/catalog.h"
#include "tests/bench/comparison.h"
#include "tests/bench/gpu_options.h"
#include "tests/bench/ladder.h"
#include "tests/bench/matrices.h"
#include "tests/bench/prediction.h"
#include "tests/bench/product_table.h"
#include "tests/bench/random_shapes.h"

namespace tilescope::bench {
namespace {

TEST(ProductKind, ReadsTypes) {
  EXPECT_EQ(product_kind("tf32")->c, "f32");
  EXPECT_EQ(product_kind("e4m3")->c, "f16");
  const ProductKind mixed = *product_kind("e4m3xe5m2:bf16");
  EXPECT_EQ(mixed.a + mixed.b + mixed.c, "e4m3e5m2bf16");
  EXPECT_EQ(mixed.name(), "e4m3 x e5m2 -> bf16");
  EXPECT_EQ(product_kinds("f16,bf16,f16:f32")->size(), 3u);
  for (const char* bad : {"", "f16x", "f16xbf16", "e4m3xf16", "f16:", "f16:u8", "f32", "f16,"}) {
    EXPECT_FALSE(product_kinds(bad)) << bad;
  }
}

TEST(ProductKind, KnowsWhatCublasLtLacks) {
  for (const char* has : {"f16", "bf16", "f16:f32", "tf32", "e4m3", "e4m3:bf16", "e4m3:f32",
                          "e4m3xe5m2", "e5m2xe4m3:bf16"}) {
    EXPECT_FALSE(no_baseline(*product_kind(has))) << has;
  }
  EXPECT_TRUE(no_baseline(*product_kind("e5m2")));
  EXPECT_TRUE(no_baseline(*product_kind("f16:bf16")));
  ProductKind across = *product_kind("f16");
  across.a_across = true;
  EXPECT_FALSE(no_baseline(across));
}

// Each is a fit of dense_gemm, which is what they are for.
TEST(ProductKind, IsOneOfDenseGemms) {
  for (const char* text : {"f16", "bf16", "tf32", "e4m3", "e5m2", "e4m3xe5m2:f32", "f16:f32"}) {
    Request request;
    request.choices = choices_of(*product_kind(text), {128, 256, 2, 1});
    const auto fits = fit(**find_kernel("dense_gemm"), request);
    EXPECT_TRUE(fits) << text << (fits ? "" : fits.error().sentence);
  }
}

// ---- Bounds: against sums that are cut as tensor cores cut them ---------------------------------

// Sums of K products, `group` at a time, each addition keeping `bits` behind the largest term.
double cut_sum(const std::vector<double>& products, std::size_t group, int bits) {
  double sum = 0;
  for (std::size_t i = 0; i < products.size(); i += group) {
    double most = std::fabs(sum);
    const std::size_t end = std::min(products.size(), i + group);
    for (std::size_t p = i; p < end; ++p) most = std::max(most, std::fabs(products[p]));
    const double unit = std::ldexp(1, std::ilogb(most) - bits);
    sum = std::trunc(sum / unit) * unit;
    for (std::size_t p = i; p < end; ++p) sum += std::trunc(products[p] / unit) * unit;
  }
  return sum;
}

struct Precision {
  const char* kind;
  std::size_t group;
  int bits;
};

TEST(ErrorBound, HoldsForSumsAsTensorCoresCutThem) {
  for (const Precision& p :
       {Precision{"e4m3:f32", 32, 13}, Precision{"f16:f32", 16, 23}, Precision{"tf32", 8, 23}}) {
    for (const std::size_t k : {std::size_t{64}, std::size_t{1024}, std::size_t{8192}}) {
      const ProductKind kind = *product_kind(p.kind);
      const ErrorBound bound = bound_of(kind, static_cast<std::int64_t>(k));
      double worst = 0, off = 0, size = 0;
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto a = uniform_numbers(kind.a, k, 2 * seed),
                   b = uniform_numbers(kind.b, k, 2 * seed + 1);
        const Values x(kind.a, a), y(kind.b, b);
        std::vector<double> products(k);
        double exact = 0;
        for (std::size_t i = 0; i < k; ++i) exact += products[i] = x[i] * y[i];
        const double error = cut_sum(products, p.group, p.bits) - exact;
        worst = std::max(worst, std::fabs(error));
        off += error * error;
        size += exact * exact;
      }
      EXPECT_LT(worst, bound.absolute) << p.kind << " " << k;
      EXPECT_LT(bound.absolute, std::sqrt(static_cast<double>(k)) / 6)
          << p.kind << " " << k << ": half of what an element comes to";
      EXPECT_LT(std::sqrt(off / size), bound.mean) << p.kind << " " << k;
    }
  }
}

// A product in double, rounded to C's type.
struct Small {
  ProductKind kind;
  Sizes sizes{40, 24, 64, 1};
  std::vector<std::byte> a, b, c;
  explicit Small(const ProductKind& k) : kind(k) {
    a = uniform_numbers(k.a, 40 * 64, 1);
    b = uniform_numbers(k.b, 24 * 64, 2);
    const HostProduct product = host();
    const DType type = *stored_as(k.c);
    c.resize(40 * 24 * tilescope::bytes_of(type));
    for (std::int64_t i = 0; i < 40 * 24; ++i) {
      store_element(type, &c[static_cast<std::size_t>(i) * tilescope::bytes_of(type)],
                    product.exact(i / 24, i % 24));
    }
  }
  HostProduct host() const { return {kind, sizes, a, b, {}}; }
};

TEST(Rightness, TakesWhatIsRightAndNothingElse) {
  for (const char* text : {"f16", "bf16", "tf32", "e4m3", "e4m3:e4m3"}) {
    Small small(*product_kind(text));
    const DType type = *stored_as(small.kind.c);
    const std::size_t width = tilescope::bytes_of(type);
    const ErrorBound bound = bound_of(small.kind, 64);
    const std::vector<std::byte> want = small.c;
    EXPECT_TRUE(sampled(want, small.host(), bound).right()) << text;
    EXPECT_TRUE(between(want, want, type, bound).right()) << text;
    // The last element, which an edge leaves out.
    std::byte* const last = &small.c[small.c.size() - width];
    store_element(type, last, load_element(type, last) + 4);
    EXPECT_FALSE(sampled(small.c, small.host(), bound).right()) << text;
    EXPECT_FALSE(between(small.c, want, type, bound).right()) << text;
    store_element(type, last, std::nan(""));
    EXPECT_FALSE(between(small.c, want, type, bound).right()) << text;
    EXPECT_FALSE(sampled(small.c, small.host(), bound).right()) << text;
    // What nobody wrote, as a GPU's memory is filled.
    const std::vector<std::byte> nothing(small.c.size(), std::byte{gpu::undefined_fill});
    EXPECT_FALSE(between(nothing, want, type, bound).right()) << text;
  }
}

TEST(Matrices, AreTwiceAsLargeAsL2) {
  const ProductKind kind;
  EXPECT_EQ(sets_of(kind, {8192, 8192, 8192}), 2u);
  const Sizes small{256, 256, 256};
  EXPECT_GT(static_cast<double>(sets_of(kind, small) - 1) * kind.bytes(small), 2 * l2_bytes - 1);
  EXPECT_EQ(sets_of(kind, {64, 64, 64}), 4096u);
}

TEST(UniformNumbers, AreOfTheirType) {
  const auto tf32 = uniform_numbers("tf32", 1000, 3);
  for (std::size_t i = 0; i < 1000; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &tf32[4 * i], 4);
    EXPECT_EQ(bits & 0x1fff, 0u);
  }
  for (const char* type : {"f16", "bf16", "tf32", "e4m3", "e5m2"}) {
    const auto bytes = uniform_numbers(type, 5000, 4);
    const Values values(type, bytes);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < 5000; ++i) {
      EXPECT_LE(std::fabs(values[i]), 1.0) << type;
      sum += values[i];
      squares += values[i] * values[i];
    }
    EXPECT_NEAR(sum / 5000, 0, 0.05) << type;
    EXPECT_NEAR(squares / 5000, 1.0 / 3, 0.03) << type;
  }
}

// ---- Tiles --------------------------------------------------------------------------------------

TEST(DenseForms, ReadsRules) {
  const auto rules = tile_rules("model,best,128x192,256x128:1x2,64x64:1x1:4");
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 5u);
  EXPECT_EQ((*rules)[2].tile, (DenseTile{128, 192, 2, 1}));
  EXPECT_EQ((*rules)[3].tile, (DenseTile{256, 128, 1, 2}));
  EXPECT_EQ((*rules)[4].tile, (DenseTile{64, 64, 1, 1, 4}));
  EXPECT_EQ(text((*rules)[4].tile), "64x64:1x1:4");
  for (const char* bad : {"", "128", "128x", "x256", "128x256:2", "128x256:2x1x1", "128x256:2x1:0",
                          "128x256:2x1:2:2", "model,"}) {
    EXPECT_FALSE(tile_rules(bad)) << bad;
  }
}

TEST(DenseForms, KnowsWhatIsCarried) {
  const std::vector<DenseTile> f16 = carried_tiles(*product_kind("f16"));
  EXPECT_GE(f16.size(), 8u);
  for (const DenseTile& tile : f16) EXPECT_GT(tile.m * tile.n * tile.cluster_m, 0) << text(tile);
  EXPECT_GE(carried_tiles(*product_kind("e4m3")).size(), 1u);
  EXPECT_TRUE(carried_tiles(*product_kind("e5m2:f32")).empty());
}

TEST(DenseForms, TriesThoseThatTheKernelCanDo) {
  const ProductKind f16;
  const Sizes square{2048, 2048, 2048, 1}, shallow{2048, 2048, 64, 1};
  const std::size_t carried = carried_tiles(f16).size();
  EXPECT_EQ(tiles_to_try(f16, square, false).size(), carried + 16);
  EXPECT_EQ(tiles_to_try(f16, shallow, false).size(), carried) << "K is one stage";
  const auto all = tiles_to_try(f16, square, true);
  EXPECT_GE(all.size(), 17u + 16);
  std::set<std::string> names;
  for (const DenseTile& tile : all) names.insert(text(tile));
  EXPECT_EQ(names.size(), all.size()) << "each once";
  ProductKind across;
  across.b_across = true;
  for (const DenseTile& tile : tiles_to_try(across, square, true)) EXPECT_EQ(tile.n % 64, 0);
}

// As the program chooses where nobody says.
TEST(DenseForms, TheModelsFormIsTheCatalogs) {
  Request request;
  request.sizes = {{"m", 64}, {"n", 512}, {"k", 8192}};
  request.choices = ProductKind().choices();
  const DenseTile tile = tile_of(*fit(**find_kernel("dense_gemm"), request));
  EXPECT_GT(tile.slices, 1) << text(tile) << ": few tiles and a large K";
  request.choices = choices_of({}, {128, 128, 2, 1});
  EXPECT_EQ(text(tile_of(*fit(**find_kernel("dense_gemm"), request))), "128x128:2x1");
}

// ---- Shapes and tables --------------------------------------------------------------------------

TEST(RandomShapes, AreTheSameForASeedAndWithinTheirLimits) {
  const ProductKind f16, e4m3 = *product_kind("e4m3");
  const auto shapes = random_shapes(500, 7, f16);
  ASSERT_EQ(shapes.size(), 500u);
  double sum = 0;
  for (const Sizes& s : shapes) {
    for (const std::int64_t size : {s.m, s.n, s.k}) {
      EXPECT_GE(size, 64);
      EXPECT_LE(size, 8192);
      EXPECT_EQ(size % 8, 0);
      sum += std::log(static_cast<double>(size));
    }
  }
  EXPECT_NEAR(sum / 1500, std::log(std::sqrt(64.0 * 8192)), 0.15) << "log-uniform";
  EXPECT_EQ(random_shapes(500, 7, f16)[499].k, shapes[499].k);
  EXPECT_NE(random_shapes(3, 8, f16)[0].m, shapes[0].m);
  for (const Sizes& s : random_shapes(100, 7, e4m3)) EXPECT_EQ(s.k % 16, 0);
}

TEST(RandomShapes, AreSummedUp) {
  std::vector<ShapeResult> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back({"dense_gemm (model), f16",
                   "64x64:1x1",
                   {},
                   {64 + 8 * i, 64, 64},
                   1e-5,
                   i == 5 ? 0.25 : 1,
                   true});
  }
  all.push_back({"dense_gemm (model), f16", "64x64:1x1", {}, {8, 8, 8}, 1e-5, 0.01, false});
  all.push_back({"dense_gemm (best), f16", "64x64:1x1", {}, {8, 8, 8}, 1e-5, 0, true});
  const std::string said = summary(all, 3);
  EXPECT_NE(said.find("dense_gemm (model), f16: 13 shapes, 1 WRONG; geometric mean 0.891x of 12, "
                      "least 0.250x at 104 x 64 x 64\n"),
            said.npos)
      << said;
  EXPECT_NE(said.find("dense_gemm (best), f16: 1 shapes, all right; nothing to compare with\n"),
            said.npos)
      << said;
  const auto json = to_json(all);
  EXPECT_EQ(json[0]["wrong"], 1);
  EXPECT_EQ(json[0]["least"]["m"], 104);
  EXPECT_NEAR(json[0]["geometric_mean"].get<double>(), std::pow(0.25, 1.0 / 12), 1e-12);
}

TEST(Ladder, SaysWhatEachRungBuys) {
  const Ladder ladder{{4096, 4096, 4096, 1},
                      {{"wgmma_v1", 600e-6, 900e-6},
                       {"wgmma_v2", 300e-6, 300e-6},
                       {"dense_gemm", {}, 150e-6},
                       {"cublasLt", 210e-6, {}}}};
  EXPECT_EQ(
      text(ladder),
      "f16 4096 x 4096 x 4096      measured    gain  predicted    gain  predicted / measured\n"
      "  wgmma_v1                     600.0              900.0                          1.50\n"
      "  wgmma_v2                     300.0   2.00x      300.0   3.00x                  1.00\n"
      "  dense_gemm                       -              150.0   2.00x                     -\n"
      "  cublasLt                     210.0                  -                             -\n");
  EXPECT_FALSE(to_json(ladder)[2].contains("measured"));
}

TEST(Predictions, AreOfTheCardsDescription) {
  EXPECT_EQ(description_of("NVIDIA H100 80GB HBM3")->name, "NVIDIA H100");
  EXPECT_EQ(description_of("NVIDIA H200")->name, "NVIDIA H200");
  EXPECT_FALSE(description_of("NVIDIA T4"));
  const auto device = description_of("h100");
  const CatalogEntry* const entry = *find_kernel("wgmma_v8");
  const Sizes small{256, 256, 256, 1}, large{1024, 1024, 1024, 1};
  const auto times = predictions({{entry, small}, {entry, large}, {entry, {1, 1, 1}}}, *device);
  ASSERT_TRUE(times[0] && times[1]);
  EXPECT_GT(*times[0], 1e-6);
  EXPECT_LT(*times[0], *times[1]);
  EXPECT_FALSE(times[2]);
  EXPECT_EQ(*predictions({{entry, large}}, *device, 1)[0], *times[1]) << "whatever threads";
}

TEST(ChipState, TakesMeans) {
  ChipState all;
  ChipState one;
  one.samples = 1;
  one.sm_clock = one.least_sm_clock = 1400;
  all.include(one);
  one.sm_clock = one.least_sm_clock = 1100;
  one.samples = 2;
  one.power = 650;
  all.include(one);
  EXPECT_EQ(all.samples, 3);
  EXPECT_DOUBLE_EQ(*all.sm_clock, 1200);
  EXPECT_DOUBLE_EQ(*all.least_sm_clock, 1100);
  EXPECT_EQ(all.text(), "1200 MHz  650 W");
  EXPECT_FALSE(to_json(all).contains("celsius"));
}

// Both are slower in the same round: what counts is each round's ratio, 1, 2 and 4, not that of the
// medians, which is 4.
TEST(Comparison, ARatioIsTheMedianOfTheRounds) {
  bench::Comparison all;
  all.contenders.resize(2);
  all.contenders[0].kernel = "dense_gemm";
  all.contenders[0].seconds = {1, 10, 2};
  EXPECT_EQ(all.ratio(all.contenders[0]), 0);
  all.contenders[1].kernel = "cublasLt";
  all.contenders[1].seconds = {1, 20, 8};
  EXPECT_EQ(all.ratio(all.contenders[0]), 2);
  EXPECT_EQ(all.ratio(all.contenders[1]), 1);
}

}  // namespace
}  // namespace tilescope::bench
