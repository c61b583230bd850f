// PTX below the levels: what an address is computed from, what became of what, and that one wrong
// number in a kernel's text is named.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/lower/code.h"
#include "core/ptx/addresses.h"
#include "core/ptx/slice_run.h"
#include "tests/lower/lowered.h"

namespace tilescope::lowering::testing {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string ours(const std::string& kernel) {
  return read(TILESCOPE_SOURCE_DIR "/assets/ptx/" + kernel + ".ptx");
}
std::string cutedsl(const std::string& name) {
  return read(TILESCOPE_TESTS_DIR "/" + name);
}

std::shared_ptr<const ptx::Program> decoded(const std::string& text, const std::string& entry) {
  Outcome<ptx::Module> parsed = ptx::parse_module("test.ptx", text);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().sentence;
    return nullptr;
  }
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  const auto function = module->entry(entry);
  if (!function) {
    ADD_FAILURE() << function.error().sentence;
    return nullptr;
  }
  Outcome<ptx::Program> program = ptx::decode(module, **function);
  if (!program) {
    ADD_FAILURE() << program.error().sentence;
    return nullptr;
  }
  return std::make_shared<const ptx::Program>(std::move(*program));
}

struct Whole {
  Lowering l;
  Lowered lowered;
};

Whole whole(const std::string& text, const std::string& entry, const std::string& expression = "",
            std::vector<std::string> names = {}, std::uint32_t threads = 0) {
  Whole out;
  Code code;
  code.program = decoded(text, entry);
  code.names = std::move(names);
  if (threads) code.threads = {threads, 1, 1};
  if (!code.program) return out;
  if (!expression.empty()) out.l = lowering::testing::lowered(expression);
  Outcome<Lowered> done = lower_to(out.l, code);
  if (!done) {
    ADD_FAILURE() << done.error().sentence;
    return out;
  }
  out.lowered = std::move(*done);
  return out;
}

std::vector<std::string> sums(const Lowered& lowered) {
  std::vector<std::string> out;
  for (const CodeAddress& a : lowered.addresses) out.push_back(a.sum);
  return out;
}

const std::string copy = "make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1))";
const std::string open_sizes = "partition_S(" + copy +
                               ", ?, slice(((_,_),?), gmem<f32> o zipped_divide((?,?):(?,1), "
                               "<16,128>)))";
const std::string known_sizes =
    "partition_S(" + copy +
    ", ?, slice(((_,_),?), gmem<f32> o zipped_divide((256,512):(512,1), "
    "<16,128>)))";

TEST(Code, CutedslsOwnKernelHasTheBytesOfItsLayout) {
  const Whole open = whole(cutedsl("cutedsl_add_open.ptx"), "", open_sizes);
  EXPECT_TRUE(open.lowered.compared);
  EXPECT_TRUE(open.lowered.agrees);
  ASSERT_EQ(open.lowered.found.size(), 3u);
  EXPECT_EQ(open.lowered.found[0],
            "param_0: the same bytes as in the layout for all 128 threads, in 15 blocks with 3 "
            "choices of the sizes.");
  EXPECT_TRUE(open.lowered.sums_agree) << open.lowered.sums;
  ASSERT_EQ(open.lowered.addresses.size(), 3u);
  EXPECT_EQ(open.lowered.addresses[0].sum,
            "param_0 + ((tid / 32) * [param_0+16] * 4 + (tid mod 32) * 4 + "
            "(ctaid / [param_0+8]) * 128 + (ctaid mod [param_0+8]) * [param_0+20]) * 4 bytes");
  EXPECT_EQ(open.lowered.addresses[0].what, "16 loads of 4 bytes");
  EXPECT_EQ(open.lowered.addresses[0].more.size(), 16u);

  const Whole known = whole(cutedsl("cutedsl_add.ptx"), "", known_sizes);
  EXPECT_TRUE(known.lowered.agrees);
  EXPECT_EQ(known.lowered.addresses[0].sum,
            "param_0 + ((tid / 32) * 2048 + (tid mod 32) * 4 + (ctaid / 16) * 128 + "
            "(ctaid mod 16) * 8192) * 4 bytes");
}

// The statement of folded LLVM that an instruction is from, by both of their texts.
TEST(Code, InstructionsAreOfTheStatementsThatComeToTheSame) {
  const Whole open = whole(cutedsl("cutedsl_add_open.ptx"), "", open_sizes);
  ASSERT_EQ(open.l.levels.size(), 6u);
  const Level &ptx = open.l.levels[5], &llvm = open.l.levels[4];
  ASSERT_TRUE(ptx.instructions);
  const auto source = [&](const std::string& begin) -> std::string {
    for (const Statement& s : ptx.statements) {
      if (s.words.rfind(begin, 0) != 0) continue;
      return s.from.size() == 1 ? text(open.l, llvm, s.from[0]) : "not one";
    }
    return "no such instruction";
  };
  EXPECT_NE(source("div.s32 %r32").find("= llvm.sdiv %0, %1"), std::string::npos);
  EXPECT_NE(source("sub.s32 %r34").find("= llvm.srem %0, %1"), std::string::npos);
  EXPECT_NE(source("mul.lo.s32 %r33").find("= llvm.srem %0, %1"), std::string::npos);  // on the way
  EXPECT_NE(source("and.b32 %r53").find("= llvm.mul %17, %13"), std::string::npos);
  EXPECT_NE(source("mad.lo.s32 %r56").find("= llvm.add %18, %19"), std::string::npos);
  EXPECT_NE(source("add.s64 %rd1,").find("= llvm.getelementptr %11[%20]"), std::string::npos);
  EXPECT_NE(source("ld.global.b32 %r67").find("= llvm.getelementptr %11[%20]"), std::string::npos);
  EXPECT_NE(source("ld.param.b64 %rd26").find("%arg0[0]"), std::string::npos);
  // What is followed from the program's slice arrives at its line of the source.
  int slice = -1;
  for (std::size_t i = 0; i < open.l.levels[0].statements.size(); ++i) {
    if (open.l.levels[0].statements[i].op == Op::slice) slice = static_cast<int>(i);
  }
  const std::vector<int> end = became(open.l, 0, slice, 5);
  EXPECT_TRUE(std::any_of(end.begin(), end.end(), [&](int s) {
    return ptx.statements[static_cast<std::size_t>(s)].words == "elementwise_add.py:12";
  }));
  EXPECT_FALSE(std::any_of(end.begin(), end.end(), [&](int s) {
    return ptx.statements[static_cast<std::size_t>(s)].words.rfind("and.b32 %r53", 0) == 0;
  }));
}

// A kernel for other threads, other tiles, other values does not pass for this layout.
TEST(Code, AnotherLayoutIsNotTheKernels) {
  const std::string text = cutedsl("cutedsl_add.ptx");
  for (const auto& [from, to] :
       {std::pair("(4,32):(32,1)", "(32,4):(4,1)"), std::pair("(4,32):(32,1)", "(4,32):(1,4)"),
        std::pair("(4,4):(4,1)", "(2,4):(4,1)"), std::pair("<16,128>", "<32,128>"),
        std::pair("(512,1)", "(516,1)")}) {
    std::string other = known_sizes;
    other.replace(other.find(from), std::string(from).size(), to);
    const Whole wrong = whole(text, "", other);
    EXPECT_TRUE(wrong.lowered.compared) << other;
    EXPECT_FALSE(wrong.lowered.agrees) << other;
  }
}

// Each constant of the address, one after the other, is made wrong by one bit.
TEST(Code, OneWrongConstantIsNamed) {
  const std::string text = cutedsl("cutedsl_add.ptx");
  const std::vector<std::pair<std::string, std::string>> wrongs = {
      {"shl.b32 \t%r21, %r20, 13;", "shl.b32 \t%r21, %r20, 12;"},
      {"%r21, 122880;", "%r21, 114688;"},
      {"shl.b32 \t%r23, %r20, 3;", "shl.b32 \t%r23, %r20, 4;"},
      {"%r23, 2147483520;", "%r23, 2147483392;"},
      {"shl.b32 \t%r25, %r19, 2;", "shl.b32 \t%r25, %r19, 3;"},
      {"%r25, 124;", "%r25, 108;"},
      {"shl.b32 \t%r27, %r19, 6;", "shl.b32 \t%r27, %r19, 7;"},
      {"%r27, 6144;", "%r27, 2048;"},
      {"mul.wide.u32 \t%rd21, %r31, 4;", "mul.wide.u32 \t%rd21, %r31, 8;"},
      {"[%rd1+2052]", "[%rd1+2060]"},
  };
  for (const auto& [right, wrong] : wrongs) {
    std::string planted = text;
    const std::size_t at = planted.find(right);
    ASSERT_NE(at, std::string::npos) << right;
    planted.replace(at, right.size(), wrong);
    const Whole found = whole(planted, "", known_sizes);
    EXPECT_FALSE(found.lowered.agrees) << wrong;
    ASSERT_FALSE(found.lowered.found.empty());
    const std::string& sentence = found.lowered.found[0];
    EXPECT_TRUE(sentence.find("thread ") != std::string::npos ||
                sentence.find("block ") != std::string::npos)
        << sentence;
    EXPECT_TRUE(found.lowered.sums_agree) << found.lowered.sums;  // they are of that text
  }
  std::string planted = text;
  planted.replace(planted.find("%r27, 6144;"), 11, "%r27, 2048;");
  EXPECT_EQ(whole(planted, "", known_sizes).lowered.found[0],
            "param_0: not the same bytes: thread 64 of block 0 has bytes 0 to 15 and 3 pieces more "
            "in PTX, 16384 to 16399 and 3 pieces more in the layout.");
}

TEST(Code, OursCountsItsBlocksAlongTheRows) {
  Code code;
  code.program = decoded(ours("elementwise_add"), "elementwise_add");
  ASSERT_TRUE(code.program);
  code.names = {"A", "B", "C", "m", "n"};
  code.threads = {128, 1, 1};
  Filling filling;  // 256 x 512
  filling.parameters = {{24, 256}, {28, 512}};
  filling.blocks = {64, 1, 1};
  code.fillings = {filling};
  Lowering l = lowered(known_sizes);
  const Outcome<Lowered> done = lower_to(l, code);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->agrees);
  ASSERT_EQ(done->found.size(), 3u);
  EXPECT_NE(done->found[2].find("C: the same bytes as in the layout for all 128 threads, in 5 "
                                "blocks, where blocks are counted along the rows of tiles"),
            std::string::npos)
      << done->found[2];
  EXPECT_TRUE(done->sums_agree) << done->sums;
  EXPECT_NE(done->addresses[0].sum.find("A + ((tid / 32) * n * 4 + (tid mod 32) * 4"),
            std::string::npos)
      << done->addresses[0].sum;
}

TEST(Code, LoopsAreToldAsWhatTheyAdd) {
  const Whole tiled =
      whole(ours("matmul_tiled"), "matmul_tiled", "", {"A", "B", "C", "m", "n", "k"}, 256);
  const std::vector<std::string> all = sums(tiled.lowered);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], "A + ((tid / 16) * k + tid mod 16 + ctaid.y * k * 64 + round * 16) * 4 bytes");
  EXPECT_EQ(all[1], "B + ((tid / 64) * n + tid mod 64 + ctaid * 64 + round * n * 16) * 4 bytes");
  EXPECT_EQ(
      all[2],
      "C + ((tid / 16) * n * 4 + (tid mod 16) * 4 + ctaid.y * n * 64 + ctaid * 64) * 4 bytes");
  EXPECT_TRUE(tiled.lowered.sums_agree) << tiled.lowered.sums;
  EXPECT_FALSE(tiled.lowered.compared);
  EXPECT_TRUE(has(tiled.lowered.loops, "0 first, + 16 each round"));
}

TEST(Code, CoordinatesOfTensorCopiesAreToldToo) {
  const Whole v4 = whole(ours("hgemm_v4"), "hgemm_v4", "", {"A", "B", "D"});
  const std::vector<std::string> all = sums(v4.lowered);
  EXPECT_TRUE(has(all, "A at (round1 * 256 + 64, ctaid * 128)"));
  EXPECT_TRUE(has(all, "B at (round1 * 256 + 64, ctaid.y * 128)"));
  // The second loop goes on from where the first stopped, which is told and not guessed.
  EXPECT_TRUE(has(all, "A at (round2 * 64 + %r462, ctaid * 128)"));
  EXPECT_TRUE(has(v4.lowered.loops, "0 or round1 * 256 + 256"));
  EXPECT_TRUE(has(all, "D at (ctaid.y * 128 + 64, ctaid * 128)"));
  EXPECT_TRUE(v4.lowered.sums_agree) << v4.lowered.sums;
  const Whole v1 = whole(ours("hgemm_v1"), "hgemm_v1", "", {"A", "B", "D"});
  EXPECT_TRUE(has(sums(v1.lowered), "A + tid * 8 * 2 bytes") ||
              has(sums(v1.lowered), "A + tid * 4 * 4 bytes"));
  const Whole w3 = whole(ours("wgmma_v3"), "wgmma_v3", "", {"A", "B", "D", "m", "n", "k"});
  EXPECT_TRUE(has(sums(w3.lowered), "A at (round * 128 + 192, ctaid * 64)"));
  EXPECT_TRUE(w3.lowered.sums_agree) << w3.lowered.sums;
}

// Every kernel that is shipped: instructions and sums meet, for every thread that is tried.
TEST(Code, OfEveryShippedKernelSumsAreWhatItsInstructionsCompute) {
  for (const char* kernel : {"elementwise_add", "elementwise_add_sm_90", "matmul_naive", "hgemm_v2",
                             "hgemm_v6", "hgemm_v10", "wgmma_v1", "wgmma_v5", "wgmma_v9"}) {
    const std::string text = ours(kernel);
    const Outcome<ptx::Module> module = ptx::parse_module("test.ptx", text);
    ASSERT_TRUE(module);
    for (const ptx::Function& f : module->functions) {
      if (!f.entry || !f.body_line) continue;
      const Whole one = whole(text, std::string(f.name));
      EXPECT_TRUE(one.lowered.sums_agree) << f.name << ": " << one.lowered.sums;
      EXPECT_FALSE(one.lowered.sums.empty());
    }
  }
}

// By the CUDA text of matmul_tiled: row t / 16 and column t mod 16 of A's tile of 64 x 16.
TEST(Code, ASliceRunByItselfIsWhatTheSourceSays) {
  const auto program = decoded(ours("matmul_tiled"), "matmul_tiled");
  ASSERT_TRUE(program);
  ptx::Addresses addresses(program, {256, 1, 1});
  ASSERT_FALSE(addresses.accesses().empty());
  const ptx::Access& first = addresses.accesses()[0];
  for (std::uint32_t t = 0; t < 256; ++t) {
    ptx::ThreadNumbers numbers;
    numbers.threads = {256, 1, 1};
    numbers.thread = {t, 0, 0};
    numbers.block = {3, 2, 0};
    numbers.parameters = {{0, 1 << 20}, {8, 2 << 20}, {16, 3 << 20},
                          {24, 192},    {28, 256},    {32, 320}};
    for (std::uint32_t round = 0; round < 3; ++round) {
      for (std::uint32_t b = 0; b < program->blocks.size(); ++b) numbers.rounds[b] = round;
      ptx::SliceRun run(addresses, numbers);
      const std::uint64_t row = 2 * 64 + t / 16, column = round * 16 + t % 16;
      EXPECT_EQ(run.address(first), (1u << 20) + 4 * (row * 320 + column)) << t << " " << round;
    }
  }
}

TEST(Code, WithoutAccessesThereIsNoAddress) {
  Code code;
  code.program = decoded(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry e() {\n ret;\n}\n", "e");
  ASSERT_TRUE(code.program);
  Lowering l;
  const Outcome<Lowered> none = lower_to(l, code);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().sentence.find("no access to global memory"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::lowering::testing
