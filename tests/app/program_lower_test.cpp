// `lower`: what it prints, what it answers as JSON, what it refuses.
#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using nlohmann::json;

class Lower : public Program {};

TEST_F(Lower, OfAKernelGoesDownToLlvm) {
  const Ended ended = run({"lower", "elementwise_add", "--dynamic"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "A thread's offset: (tid mod 32) * 4 + (tid / 32) * (? * 4)\n"));
  EXPECT_TRUE(has(ended.out, "\"((16,128),(?,?)):((?,1),(?{div=16},128))\""));
  EXPECT_TRUE(has(ended.out, "llvm.extractvalue %arg0[1, 1, 0]"));
  EXPECT_TRUE(has(ended.out, "Checked: 5 levels answer the same for 128 threads"));
  // Known sizes are constants.
  EXPECT_TRUE(has(run({"lower", "elementwise_add"}).out, "(tid / 32) * 2048\n"));
  EXPECT_TRUE(has(run({"lower", "elementwise_add", "--n", "1024"}).out, "(tid / 32) * 4096\n"));
  EXPECT_TRUE(has(run({"lower", "hgemm_v7"}).out, "!cute.memref<f16, gmem, \"(1024,1024)"));
}

TEST_F(Lower, FollowsAValueThroughAllLevels) {
  const auto [code, d] = run_json({"lower", "slice((?,_), (?,8):(8,1))", "--follow", "slice"});
  ASSERT_EQ(code, 0);
  ASSERT_EQ(d["levels"].size(), 5u);
  EXPECT_EQ(d["levels"][0]["statements"].size(), 1u);
  EXPECT_EQ(d["levels"][1]["statements"].size(), 6u);
  for (const json& statement : d["levels"][1]["statements"]) {
    EXPECT_EQ(statement["from"], json::array({d["levels"][0]["statements"][0]["number"]}));
  }
  EXPECT_EQ(d["outcome"], "!cute.memref<f32, gmem, \"(8):(1)\">");
  EXPECT_EQ(d["checked"]["elements"], 24);  // 8 elements, 3 choices
}

TEST_F(Lower, DrawsAllLevels) {
  EXPECT_EQ(run({"lower", "elementwise_add", "--follow", "slice", "-o", "a.svg"}).exit_code, 0);
  EXPECT_TRUE(has(read("a.svg"), "folded LLVM"));
  EXPECT_TRUE(has(read("a.svg"), "cute.crd2idx"));
  EXPECT_EQ(run({"lower", "elementwise_add", "-o", "a.gif"}).exit_code, 2);
}

TEST_F(Lower, RefusesWithASentence) {
  const auto fails = [&](const Words& words, int code, const std::string& part) {
    Words all = {"lower"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended ended = run(all);
    EXPECT_EQ(ended.exit_code, code) << part;
    EXPECT_TRUE(has(ended.err, part)) << ended.err;
    EXPECT_EQ(ended.out, "");
  };
  fails({"Sw<3,3,3> o 0 o (8,64):(64,1)"}, 1, "has a swizzle");
  fails({"(8,8"}, 2, "(8,8");
  fails({"no_such_kernel"}, 2, "no_such_kernel");
  fails({"hgemm_v7", "--layout", "C"}, 2, "there are A, B, D, atom, tile, accumulator");
  fails({"hgemm_v7", "--dynamic"}, 2, "written without");
  fails({"(8,8):(8,1)", "--dynamic"}, 2, "go with a kernel's name");
  fails({"(8,8):(8,1)", "--follow", "view"}, 2, "there are %arg0, %iter, %lay");
  fails({"(8,8):(8,1)", "--align", "12"}, 1, "a power of two");
}

}  // namespace
}  // namespace tilescope::test
