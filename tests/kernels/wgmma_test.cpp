// Hopper's ladder of matrix products on the simulator: right, and free of hazards, whatever the
// order in which warps go on and asynchronous work is done.
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/products.h"

namespace tilescope {
namespace {

using test::expect_right;
using test::objection;
using test::orders;
using test::sanitized;
using test::with;

struct Step {
  std::string kernel;
  Sizes small;  // a loop over K, more than one tile, and from step 2 on ragged edges
};

const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      {"wgmma_v1", {128, 256, 192}}, {"wgmma_v2", {72, 264, 200}},  {"wgmma_v3", {72, 264, 392}},
      {"wgmma_v4", {72, 264, 392}},  {"wgmma_v5", {136, 264, 392}}, {"wgmma_v6", {136, 264, 392}},
      {"wgmma_v7", {264, 264, 392}}, {"wgmma_v8", {264, 264, 392}}, {"wgmma_v9", {264, 264, 392}}};
  return all;
}

TEST(WgmmaLadder, IsRight) {
  const std::int64_t size = sanitized ? 512 : 1024;
  for (const Step& step : steps())
    expect_right(step.kernel, {size, size, size}, with(0, false, false));
}

TEST(WgmmaLadder, AddsAsTheChipDoes) {
  for (const Step& step : steps()) {
    expect_right(step.kernel, step.small);
    expect_right(step.kernel, step.small, {}, DType::bf16);
  }
}

TEST(WgmmaLadder, IsRightInEveryOrder) {
  for (const Step& step : steps()) {
    for (std::uint64_t seed = 1; seed <= orders; ++seed) {
      expect_right(step.kernel, step.small, with(seed, false, false));
      expect_right(step.kernel, step.small, with(seed, true, false));
    }
  }
}

TEST(WgmmaLadder, TakesRaggedShapesFromStepTwoOn) {
  for (const Step& step : steps()) {
    if (step.kernel == "wgmma_v1") continue;
    for (const Sizes& shape : {Sizes{1, 8, 8}, Sizes{77, 264, 72}, Sizes{300, 120, 136}}) {
      expect_right(step.kernel, shape, with(0, false, false));
      expect_right(step.kernel, shape, with(7, true));
    }
  }
}

// More tiles than blocks: each has several, with the same barriers.
TEST(WgmmaLadder, PersistentBlocksTakeTileAfterTile) {
  for (const char* kernel : {"wgmma_v6", "wgmma_v7", "wgmma_v8", "wgmma_v9"}) {
    for (const bool lazy : {false, true}) {
      if (sanitized && (lazy || kernel != std::string("wgmma_v9"))) continue;
      if (test::whole || lazy) expect_right(kernel, {25 * 128, 7 * 256, 64}, with(0, lazy, false));
      if (test::whole || !lazy)
        expect_right(kernel, {25 * 128, 7 * 256, 192}, with(3, lazy, false));
    }
  }
}

TEST(WgmmaLadder, SaysWhichShapesAStepCannotDo) {
  EXPECT_NE(objection("wgmma_v1", {128, 128, 128}).find("n in multiples of 256"),
            std::string::npos);
  EXPECT_NE(objection("wgmma_v2", {256, 100, 96}).find("multiples of 8"), std::string::npos);
  EXPECT_EQ(objection("wgmma_v5", {8, 65536 * 256, 8}),
            "n = 16777216 was asked for, but wgmma_v5 takes n from 1 to 16776960.");
}

}  // namespace
}  // namespace tilescope
