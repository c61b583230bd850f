// `lower`: what it prints, what it answers as JSON, what it refuses.
#include <algorithm>

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

const std::string tile_of_a_thread =
    "partition_S(make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1)), ?, "
    "slice(((_,_),?), gmem<f32> o zipped_divide((?,?):(?,1), <16,128>)))";
const std::string cutedsl = TILESCOPE_SOURCE_DIR "/tests/lower/cutedsl_add_open.ptx";

TEST_F(Lower, OfAKernelGoesOnToItsPtx) {
  const auto [code, d] = run_json({"lower", "elementwise_add", "--dynamic"});
  ASSERT_EQ(code, 0);
  ASSERT_EQ(d["levels"].size(), 6u);
  EXPECT_EQ(d["levels"][5]["title"], "PTX");
  const json& ptx = d["ptx"];
  EXPECT_EQ(ptx["agrees"], true);
  EXPECT_EQ(ptx["sums_agree"], true);
  ASSERT_EQ(ptx["found"].size(), 3u);
  for (const char* name : {"A", "B", "C"}) {
    const std::string sum = std::string(name) + " + ((tid / 32) * n * 4 + (tid mod 32) * 4";
    EXPECT_TRUE(std::any_of(ptx["addresses"].begin(), ptx["addresses"].end(), [&](const json& a) {
      return a["base"] == name && a["sum"].get<std::string>().rfind(sum, 0) == 0;
    })) << name;
  }
  // Under the line of the CUDA source, with its text.
  const Ended shown = run({"lower", "elementwise_add", "--dynamic", "--level", "PTX"});
  EXPECT_TRUE(has(shown.out, "elementwise_add.cu:135  ")) << shown.out;
  EXPECT_TRUE(has(shown.out, "shl.b32 %r37, %r35, 2 : (tid mod 32) * 4"));
  // The sizes are those that are asked for.
  EXPECT_EQ(run({"lower", "elementwise_add", "--m", "48", "--n", "1024"}).exit_code, 0);
  EXPECT_TRUE(has(run({"lower", "wgmma_v3"}).out, "A at (round * 128 + 192, ctaid * 64)"));
}

TEST_F(Lower, AnExpressionStandsBesideThePtxOfACompiler) {
  const Ended right = run({"lower", tile_of_a_thread, "--ptx", cutedsl});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_TRUE(has(right.out, "param_2: the same bytes as in the layout for all 128 threads"));
  const Ended followed = run({"lower", tile_of_a_thread, "--ptx", cutedsl, "--follow", "slice"});
  EXPECT_TRUE(has(followed.out, "div.s32 %r32, %r31, %r25 : ctaid / [param_0+8]"));
  EXPECT_FALSE(has(followed.out, "and.b32 %r53"));
  // One wrong number in the text.
  std::string text = read(cutedsl);
  const std::string number = "%r52, 124;";
  ASSERT_NE(text.find(number), std::string::npos);
  text.replace(text.find(number), number.size(), "%r52, 120;");
  write("wrong.ptx", text);
  const Ended wrong = run({"lower", tile_of_a_thread, "--ptx", "wrong.ptx"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(has(wrong.out, "param_0: not the same bytes: thread 1 of block 0")) << wrong.out;
  // The file alone.
  const Ended alone = run({"lower", cutedsl});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_TRUE(has(alone.out, "(tid mod 32) * 4"));
  EXPECT_EQ(run({"lower", cutedsl, "-o", "code.svg"}).exit_code, 0);
  EXPECT_TRUE(has(read("code.svg"), "elementwise_add.py:17"));
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
  fails({"(8,8):(8,1)", "--ptx", "no.ptx"}, 2, "no.ptx");
  fails({"(8,8):(8,1)", "--launch", "a.toml"}, 2, "go with a PTX file");
  fails({cutedsl, "--follow", "slice"}, 2, "a PTX file alone has none");
  fails({cutedsl, "--ptx", cutedsl}, 2, "Two PTX files");
  fails({cutedsl, "--entry", "nothing"}, 2, "elementwise_add");
}

}  // namespace
}  // namespace tilescope::test
