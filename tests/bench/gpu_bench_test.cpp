// The GPU bench as it is run, on a GPU that is none (fake_gpu.cpp).
#include <nlohmann/json.hpp>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

class GpuBench : public Program {
 protected:
  GpuBench() {
    for (const char* library : {"TILESCOPE_CUDA_DRIVER", "TILESCOPE_CUBLASLT", "TILESCOPE_NVML"}) {
      set(library, TILESCOPE_FAKE_GPU);
    }
  }
  Words small(Words more) const {
    Words words = {"--rounds", "1", "--shapes", "72x64x128", "--carried"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(GpuBench, PutsKernelsBesideCublasLt) {
  const Ended ended = run(small({"--kernels", "wgmma_v8", "--types", "f16,bf16"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(has(ended.out,
                  "Fake H100, compute capability 9.0, driver for CUDA 13.0, cublasLt "
                  "13.1.0"))
      << ended.out;
  EXPECT_TRUE(has(ended.out, "f16 72 x 64 x 128, ")) << ended.out;
  EXPECT_TRUE(has(ended.out, "5000.0 us")) << ended.out;
  EXPECT_TRUE(has(ended.out, "0.800x")) << ended.out;
  EXPECT_TRUE(has(ended.out, "cublasLt (best of 3)")) << ended.out;
  EXPECT_TRUE(has(ended.out, "1410 MHz  693 W  61 C")) << ended.out;
}

TEST_F(GpuBench, MultipliesEachTypeByDenseGemm) {
  const Ended ended = run(small(
      {"--kernels", "dense_gemm", "--types", "f16,bf16,tf32,e4m3,f16:f32", "--json", "r.json"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const auto all = nlohmann::json::parse(read("r.json"));
  EXPECT_EQ(all["card"], "Fake H100");
  EXPECT_EQ(all["f8_fast_accumulation"], true);
  ASSERT_EQ(all["rows"].size(), 10u) << ended.out;
  for (const auto& row : all["rows"]) {
    EXPECT_TRUE(row["right"]) << row;
    EXPECT_EQ(row["chip"]["sm_mhz"], 1410) << row;
    EXPECT_EQ(row["chip"]["memory_mhz"], 2619) << row;
    EXPECT_LT(row["error_over_bound"], 1) << row;
  }
  EXPECT_EQ(all["rows"][0]["rule"], "model");
  EXPECT_EQ(all["rows"][9]["kernel"], "cublasLt");
}

TEST_F(GpuBench, FindsWhatIsWrong) {
  for (const char* mistake : {"wrong", "nothing"}) {
    set("FAKE_GPU", mistake);
    for (const char* type : {"f16", "e4m3", "tf32"}) {
      const Ended ended = run(small({"--kernels", "dense_gemm", "--types", type}));
      EXPECT_EQ(ended.exit_code, 1) << mistake << " " << type << ended.out;
      EXPECT_TRUE(has(ended.out, "WRONG: an element is off by")) << ended.out;
    }
  }
}

TEST_F(GpuBench, KnowsMajorsAndFactors) {
  for (const Words& more :
       {Words{"--a-major", "m", "--b-major", "n"}, Words{"--alpha", "0.5", "--beta", "0.25"}}) {
    Words words = small({"--kernels", "dense_gemm", "--types", "f16"});
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_TRUE(has(ended.out, "cublasLt (best of 3)")) << ended.out;
  }
}

TEST_F(GpuBench, TriesEveryTileThatIsCarried) {
  const Ended ended =
      run(small({"--kernels", "dense_gemm", "--types", "f16", "--tile", "model,best,128x128:2x1"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(has(ended.out, "(model)")) << ended.out;
  EXPECT_TRUE(has(ended.out, "(best of ")) << ended.out;
  EXPECT_TRUE(has(ended.out, "dense_gemm 128x128:2x1 (as asked)")) << ended.out;
}

TEST_F(GpuBench, SaysWhichFormIsNotCarried) {
  const Ended ended =
      run(small({"--kernels", "dense_gemm", "--types", "e4m3:bf16", "--tile", "model,best"}));
  EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
  EXPECT_TRUE(
      has(ended.out, "dense_gemm: The program does not carry ptx/dense_gemm/e4m3_e4m3_bf16"))
      << ended.out;
  EXPECT_TRUE(has(ended.out, "The program carries no form for e4m3 -> bf16, and none is compiled."))
      << ended.out;
}

TEST_F(GpuBench, SaysWhereThereIsNothingToCompareWith) {
  const Ended ended = run(small({"--kernels", "dense_gemm", "--types", "e4m3xe5m2"}));
  EXPECT_TRUE(has(ended.out, "cublasLt (best of 3)")) << ended.out;
  set("FAKE_GPU", "no_fast");
  EXPECT_TRUE(has(run(small({"--kernels", "dense_gemm", "--types", "e4m3"})).out,
                  "cublasLt has no product of 72 x 64 x 128 of e4m3."));
  set("TILESCOPE_CUBLASLT", "/nowhere");
  set("TILESCOPE_NVML", "/nowhere");
  const Ended alone = run(small({"--kernels", "dense_gemm", "--types", "f16"}));
  EXPECT_EQ(alone.exit_code, 0) << alone.out << alone.err;
  EXPECT_TRUE(has(alone.out, "There is no cublasLt to compare with")) << alone.out;
  EXPECT_TRUE(has(alone.out, "Clocks, power and temperature are not told")) << alone.out;
  EXPECT_FALSE(has(alone.out, "MHz")) << alone.out;
}

TEST_F(GpuBench, SumsUpShapesThatNobodyChose) {
  const Ended ended = run({"--random-shapes", "3", "--seed", "15499", "--types", "f16", "--rounds",
                           "1", "--json", "r.json", "--carried"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(has(ended.out,
                  "3 random shapes, seed 15499\ndense_gemm (model), f16: 3 shapes, all "
                  "right; geometric mean 0.800x of 3, least 0.800x at "))
      << ended.out;
  const auto all = nlohmann::json::parse(read("r.json"));
  EXPECT_EQ(all["rows"].size(), 6u);
  EXPECT_EQ(all["summary"][0]["shapes"], 3);
}

TEST_F(GpuBench, PutsTheLadderBesideItsPredictions) {
  const Words ladder = {"--ladder", "--kernels", "wgmma_v8", "--shapes", "256x256x256",
                        "--rounds", "1",         "--json",   "r.json"};
  const Ended ended = run(ladder);
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(has(ended.out, "\n  wgmma_v8                    5000.0 ")) << ended.out;
  EXPECT_TRUE(has(ended.out, "\n  cublasLt                    4000.0 ")) << ended.out;
  EXPECT_TRUE(has(ended.out, "Predicted: NVIDIA H100")) << ended.out;
  const auto rung = nlohmann::json::parse(read("r.json"))["ladder"][0];
  EXPECT_NEAR(rung["measured"].get<double>(), 5e-3, 1e-9);
  set("TILESCOPE_CUDA_DRIVER", "/nowhere");
  const Ended without = run(ladder);
  EXPECT_EQ(without.exit_code, 0) << without.out << without.err;
  EXPECT_TRUE(has(without.out, "Nothing is measured: only predictions follow.")) << without.out;
  EXPECT_TRUE(has(without.out, "\n  wgmma_v8                         - ")) << without.out;
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["ladder"][0]["predicted"], rung["predicted"]);
}

TEST_F(GpuBench, BadOptionsGetASentence) {
  const std::vector<std::pair<Words, std::string>> bad = {
      {{"--tile", "wide"}, "--tile wide: there are model, best"},
      {{"--types", "f17"}, "--types f17: an operand is"},
      {{"--types", "f16xe4m3"}, "--types f16xe4m3: an operand is"},
      {{"--shapes", "64x64"}, "64x64 is no shape"},
      {{"--rounds", "none"}, "--rounds takes a number"},
      {{"--beta", "2"}, "--beta takes a number from -1 to 1"},
      {{"--a-major", "n"}, "--a-major takes k or m"},
      {{"--rounds"}, "--rounds wants N."},
      {{"--random-shapes", "0"}, "--random-shapes takes a number from 1 on"},
      {{"--random-shapes", "3", "--shapes", "64x64x64"}, "leave one of them out"},
      {{"--seed", "x"}, "--seed takes a number"},
      {{"--speed", "3"}, "--speed is not known."}};
  for (const auto& [words, sentence] : bad) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2) << ended.out << ended.err;
    EXPECT_TRUE(has(ended.err, sentence)) << ended.err;
  }
}

}  // namespace
}  // namespace tilescope::test
