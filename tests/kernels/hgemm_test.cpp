// The ladder of matrix products on the simulator: right, and free of hazards, whatever the order in
// which warps go on and asynchronous work is done.
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
  Sizes small;                // a loop over K, and several tiles where the step has them
  std::vector<Sizes> course;  // what the course checks, up to 1024
};

const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      {"hgemm_v1", {128, 128, 64}, {{128, 128, 64}}},
      {"hgemm_v2",
       {128, 128, 192},
       {{128, 128, 64}, {128, 128, 512}, {128, 128, 1024}, {128, 128, 4096}}},
      {"hgemm_v3", {256, 128, 192}, {{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}}},
      {"hgemm_v4", {136, 136, 200}, {{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}}},
      {"hgemm_v5", {136, 136, 264}, {{512, 512, 512}, {1024, 1024, 1024}}},
      {"hgemm_v6", {136, 264, 264}, {{1024, 1024, 1024}}},
      {"hgemm_v7", {136, 264, 264}, {{1024, 1024, 1024}}},
      {"hgemm_v8", {136, 264, 328}, {{1024, 1024, 1024}}},
      {"hgemm_v9", {264, 264, 328}, {{1024, 1024, 1024}}},
      {"hgemm_v10", {520, 264, 328}, {{1024, 1024, 1024}}},
  };
  return all;
}

TEST(Hgemm, IsRightAtTheShapesOfTheCourse) {
  for (const Step& step : steps()) {
    for (const Sizes& shape : step.course) {
      if (sanitized && shape.m > 512) continue;
      expect_right(step.kernel, shape, with(0, false, false));
    }
  }
}

TEST(Hgemm, AddsAsTheChipDoes) {
  for (const Step& step : steps()) expect_right(step.kernel, step.small);
}

TEST(Hgemm, TakesBf16) {
  for (const Step& step : steps()) {
    expect_right(step.kernel, step.small, {}, DType::bf16);
    expect_right(step.kernel, step.small, with(0, false, false), DType::bf16);
  }
}

TEST(Hgemm, IsRightInEveryOrder) {
  for (const Step& step : steps()) {
    for (std::uint64_t seed = 1; seed <= orders; ++seed) {
      expect_right(step.kernel, step.small, with(seed, false, false));
      expect_right(step.kernel, step.small, with(seed, true, false));
    }
  }
}

TEST(Hgemm, IsRightWhenWorkIsDoneAsLateAsIsLegal) {
  for (const Step& step : steps()) expect_right(step.kernel, step.small, with(0, true, false));
}

// TMA clips and fills, so that any number of rows, and rows of any 16 bytes, will do.
TEST(Hgemm, TakesRaggedShapesFromStepFourOn) {
  for (const char* kernel :
       {"hgemm_v4", "hgemm_v5", "hgemm_v6", "hgemm_v7", "hgemm_v8", "hgemm_v9", "hgemm_v10"}) {
    for (const Sizes& shape : {Sizes{1, 8, 8}, Sizes{77, 264, 72}, Sizes{300, 120, 136}}) {
      expect_right(kernel, shape, with(0, false, false));
      expect_right(kernel, shape, with(7, true));
    }
  }
}

// Coordinates have 32 bits; what ends a size is a grid's extent, or memory.
TEST(Hgemm, TakesMoreThan65536RowsAndColumns) {
  expect_right("hgemm_v4", {65537, 8, 8}, with(0, false, false));
  expect_right("hgemm_v6", {8, 65544, 8}, with(0, false, false));
}

// More tiles than blocks: each block has several, with the same barriers.
TEST(Hgemm, PersistentBlocksTakeTileAfterTile) {
  for (const char* kernel : {"hgemm_v6", "hgemm_v7", "hgemm_v8"}) {
    expect_right(kernel, {13 * 128, 12 * 128, 64}, with(0, false, false));
    expect_right(kernel, {13 * 128, 12 * 128, 64}, with(0, true, false));
  }
}

TEST(Hgemm, PersistentClustersTakeTileAfterTile) {
  for (const bool lazy : {false, true}) {
    if (sanitized && lazy) continue;
    expect_right("hgemm_v9", {13 * 256, 6 * 256, 64}, with(0, lazy, false));
    if (sanitized) continue;
    expect_right("hgemm_v10", {13 * 512, 6 * 256, 64}, with(0, lazy, false));
  }
}

TEST(Hgemm, SaysWhichShapesAStepCannotDo) {
  EXPECT_NE(objection("hgemm_v1", {128, 128, 128}).find("hgemm_v2 takes any k"), std::string::npos);
  EXPECT_NE(objection("hgemm_v2", {256, 128, 128}).find("m = 256"), std::string::npos);
  EXPECT_NE(objection("hgemm_v4", {256, 100, 96}).find("multiples of 8"), std::string::npos);
  EXPECT_NE(objection("hgemm_v3", {256, 128, 96}).find("k in multiples of 64"), std::string::npos);
  EXPECT_EQ(objection("hgemm_v5", {8, 65536 * 128, 8}),
            "n = 8388608 was asked for, but hgemm_v5 takes n from 1 to 8388480.");
  EXPECT_NE(objection("hgemm_v6", {1 << 20, 1 << 20, 8}).find("GiB for its tensors"),
            std::string::npos);
}

}  // namespace
}  // namespace tilescope
