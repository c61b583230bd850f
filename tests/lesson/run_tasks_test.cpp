// Tasks about memory, about what went on in a run, and those that are judged by a run. Here the run
// is made of values that are written down; tests/app/program_lesson_test.cpp has real ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lesson/task_case.h"

namespace tilescope::test {
namespace {

class MemoryTasks : public ::testing::TestWithParam<TaskCase> {};

TEST_P(MemoryTasks, TakesTheAnswerAndExplainsTheSlip) {
  check(GetParam(), {});
}

INSTANTIATE_TEST_SUITE_P(
    Each, MemoryTasks,
    ::testing::Values(
        TaskCase{"coordinate_is((64,128))", "(64,128)", "(128,64)", "exchanged"},
        TaskCase{"coordinate_is((64,128))", "(64,128)", "(64,0)", "Number 1 of (64,0) is right"},
        TaskCase{"coordinate_is((64,128))", "(64,128)", "(768,0)", "No number"},
        TaskCase{"coordinate_is((64,128))", "(64,128)", "(64,128,0)", "2 numbers in"},
        TaskCase{"number_of(12, stage)", "12", "13", "The first stage has the number 0"},
        TaskCase{"number_of(12, number of bytes)", "12", "13", "Asked is the number of bytes"},
        TaskCase{"number_of(1, parity)", "1", "7", "0 or 1"},
        TaskCase{"number_of(1, parity)", "1", "0", "Is its number odd?"},
        TaskCase{"number_of(12, stage)", "12", "0x28", "Asked is the stage"},
        TaskCase{"whether(0)", "no", "yes", "Not yes"},
        TaskCase{"choice_of(expect_tx, commit, wait)", "expect_tx", "wait", "It is not wait"},
        TaskCase{"choice_of(expect_tx, commit, wait)", "expect_tx", "fence",
                 "one of commit, expect_tx or wait"},
        // Word 37 of shared memory is bank 5.
        TaskCase{"bank_of(148)", "5", "37", "That is the word"},
        TaskCase{"bank_of(148)", "5", "20", "counts bytes"},
        TaskCase{"bank_of(148)", "5", "32", "0 to 31"},
        // Row 3 of 128 bytes: its first 16 bytes lie where piece 3 would: bank 12.
        TaskCase{"bank_of(384, 128B)", "12", "0", "without the swizzle"},
        TaskCase{"bank_of(384, 128B)", "12", "108", "the word after the swizzle"},
        // A column of f32 in rows of 32: all in one bank; padded to 33: each in its own.
        TaskCase{"ways_of(32:32, 4)", "32", "1", "no bank had to"},
        TaskCase{"ways_of(32:33, 4)", "1", "32", "each for another word"},
        // 16 bytes each of rows of 128 bytes: a phase has 8 lanes, all on banks 0 to 3.
        TaskCase{"ways_of(32:8, 16)", "32", "4", "no bank had to"},
        TaskCase{"ways_of(32:8, 16)", "32", "8", "served together, 8 of them"},
        TaskCase{"ways_of(32:8, 16)", "32", "5", "Do so for each of the 4 groups"},
        TaskCase{"ways_of(32:33, 4)", "1", "7", "most different words"},
        TaskCase{"ways_of(32:8, 16, 128B)", "4", "32", "without the swizzle"},
        TaskCase{"swizzle_for(8, 128)", "128B", "64B", "take 2 wavefronts"},
        TaskCase{"swizzle_for(8, 64)", "64B", "128B", "a row has 64"},
        TaskCase{"sectors_of(32:1, 4)", "4", "128", "bytes that are asked for"},
        TaskCase{"sectors_of(32:8, 4)", "32", "4", "neighbours"},
        TaskCase{"sectors_of(32:2, 4)", "8", "2", "lines of 128"},
        TaskCase{"sectors_of(32:2, 4)", "8", "32", "a sector for each lane"},
        TaskCase{"box_for(128, 64, 2, 128B)", "(64,128)", "(128,64)", "innermost first"},
        TaskCase{"box_for(128, 64, 2, 64B)", "(32,128)", "(64,128)", "64 bytes at most"},
        TaskCase{"box_for(128, 64, 2, 64B)", "(32,128)", "(32,64)", "4 copies; 2 are enough"},
        TaskCase{"box_for(512, 64, 2, 128B)", "(64,256)", "(64,512)", "1 to 256"},
        // Eight rows of 128 bytes are 1024.
        TaskCase{"desc_field(sbo, 128, 64, 2, 128B)", "64", "1024", "units of 16 bytes"},
        TaskCase{"desc_field(start, 32768)", "2048", "32768", "units of 16 bytes"},
        TaskCase{"desc_field(advance, 128, 64, 2, 128B)", "2", "1", "next k-step"},
        // PTX ISA, instruction descriptor: D f32 1 << 4, N / 8 << 17, M / 16 << 24.
        TaskCase{"idesc_of(f32, f16, f16, 128, 256)", "138412048", "0x08400000", "D f16"},
        TaskCase{"idesc_of(f32, bf16, bf16, 128, 128)", "136316048", "0x08100490",
                 "N 64 and M 128; wanted are D f32, A bf16, B bf16, N 128"}));

TEST(MemoryTasksToo, AWordMayBeOfEitherCase) {
  EXPECT_EQ(judge(asked("choice_of(L2, memory)"), "l2", {}).is, Judgement::Is::right);
  EXPECT_EQ(judge(asked("swizzle_for(8, 128)"), "128b", {}).is, Judgement::Is::right);
}

TEST(MemoryTasksToo, OperandsThatMakeNoTaskAreRefused) {
  for (const char* bad :
       {"bank_of(4, 256B)", "ways_of(32:1, 3)", "swizzle_for(8, 20)", "box_for(8, 3, 2, none)",
        "desc_field(sbo, 128, 64, 2, none)", "desc_field(lbo, 128, 64, 2, 128B)",
        "desc_field(start, 8)", "desc_field(sbo, 128)", "idesc_of(f32, f64, f16, 128, 128)",
        "idesc_of(f32, f16, f16, 100, 128)", "choice_of(a, a)", "number_of(x)", "coordinate_is(7)",
        "coordinate_is(((1,2),3))", "faster_than(k, 0, --tile 8x8)", "faster_than(k, 50)",
        "stuck_barrier(all)", "bound_of(tensor, luck)"}) {
    EXPECT_FALSE(make_task(bad, {}).ok()) << bad;
  }
}

// --- a run --------------------------------------------------------------------------------------

RunEvidence ran() {
  auto facts = std::make_shared<RunFacts>();
  facts->barriers = {{"full[0]", 1, {32768, 32768}}, {"empty[0]", 4, {0}}};
  facts->stages = 2;
  facts->end = 1000;
  facts->at = [](std::uint64_t cycle) {
    RunFacts::Moment now;
    if (cycle >= 500) now.stage = 1, now.step = 7;
    now.waits = {{4, "full[0]"}, {7, "empty[0]"}};
    now.phases = {{"full[0]", 3}};
    return now;
  };
  facts->bound = "load latency";
  facts->bound_says = "Bound by load latency: the tensor core is busy 20% of a CTA's time.";
  facts->stuck = {{"empty[0]", {0, 7}, false, "warp 4 would bring it, and waits for full[0]"},
                  {"full[0]", {4}, true, ""}};
  facts->told_line = 3;
  facts->told = "nobody wrote this";
  facts->source = {"one", "  two();  // with a comment", "three", "four"};
  RunEvidence evidence;
  evidence.facts = std::move(facts);
  evidence.workshop.file = [](std::string_view name) -> Outcome<std::string> {
    if (name == "same.cu") return std::string("one\n  two();\nthree\nfour\n");
    if (name == "right.cu") return std::string("one\n  two();\nTHREE\nfour\n");
    if (name == "more.cu") return std::string("zero\none\n  two();\nTHREE\nfour\nfive\n");
    if (name == "longer.cu") return std::string("one\n  two();\nfence();\nthree\nfour\n");
    if (name == "o.toml") return std::string("launch");
    if (name == "o.ptx") {
      return std::string(
          "head\n//@ a: waits\nA\n//@ b: copies\nB\nB2\n//@ c: begins\nC\n//@ end\ntail\n");
    }
    if (name == "bad.ptx") return std::string("//@ b: first\n//@ end\n");
    if (name == "bad.toml") return std::string("");
    return Error{ErrorKind::unknown, "There is no such file.", ""};
  };
  evidence.workshop.run_program = [](std::string_view ptx, std::string_view launch) {
    EXPECT_EQ(launch, "launch");
    const bool right = ptx == "head\nC\nB\nB2\nA\ntail\n";
    return Outcome<Trial>(Trial{right, 1e-6,
                                right ? ""
                                      : "it deadlocks at PTX line 2, the copy of PTX line 4 and "
                                        "PTX line 1 (PTX line 9)"});
  };
  evidence.workshop.run_kernel = [](std::string_view kernel) -> Outcome<Trial> {
    if (kernel == "k --m 8") return Trial{true, 10e-6, ""};
    if (kernel == "k --m 8 --tile 2") return Trial{true, 7e-6, ""};
    if (kernel == "k --m 8 --tile 1") return Trial{true, 9e-6, ""};
    if (kernel == "k --m 8 --tile 2 --m 4") return Trial{true, 1e-6, ""};  // less work
    if (kernel == "k --m 8 --a-dtype=e4m3") return Trial{true, 1e-6, ""};
    if (kernel == "k --m 8 --tile 0") return Trial{false, 1e-6, "3 elements are wrong."};
    return Error{ErrorKind::unknown, "There is no such tile.", ""};
  };
  return evidence;
}

class RunTasks : public ::testing::TestWithParam<TaskCase> {};

TEST_P(RunTasks, TakesTheAnswerAndExplainsTheSlip) {
  check(GetParam(), ran());
}

INSTANTIATE_TEST_SUITE_P(
    Each, RunTasks,
    ::testing::Values(TaskCase{"bytes_expected(full[0], 1)", "32768", "16384", "half"},
                      TaskCase{"bytes_expected(full[0], 1)", "32768", "65536", "twice"},
                      TaskCase{"bytes_expected(full[0], 1)", "32768", "8192", "4 times as much"},
                      TaskCase{"bytes_expected(full[0], 1)", "32768", "77", "does not wait for 77"},
                      TaskCase{"arrivals_expected(empty[0])", "4", "1", "mbarrier.init"},
                      TaskCase{"parity_at(full[0], 500)", "1", "3", "0 or 1"},
                      TaskCase{"parity_at(full[0], 500)", "1", "0", "Count the phases"},
                      TaskCase{"stage_read(500)", "1", "7", "That is the k-step"},
                      TaskCase{"stage_read(500)", "1", "none", "is under way"},
                      TaskCase{"stage_read(400)", "none", "1", "No product"},
                      TaskCase{"step_read(500)", "7", "1", "That is the stage"},
                      TaskCase{"waits_for(4, 500)", "full[0]", "empty[0]",
                               "Warp 7 waits for empty[0]"},
                      TaskCase{"waits_for(4, 500)", "full[0]", "full[9]", "no mbarrier `full[9]`"},
                      TaskCase{"waits_for(4, 500)", "full[0]", "none", "Warp 4 waits"},
                      TaskCase{"waits_for(5, 500)", "none", "full[0]", "Asked is warp 5"},
                      TaskCase{"stages_of()", "2", "4", "filled again"},
                      TaskCase{"bound_of()", "loads", "tensor", "Bound by load latency"},
                      TaskCase{"stuck_barrier()", "empty[0]", "ready", "Nobody waits in vain"},
                      TaskCase{"stuck_barrier(cause)", "full[0]", "ready", "Nobody waits in vain"},
                      TaskCase{"stuck_barrier(cause)", "full[0]", "empty[0]",
                               "because of another one: warp 4 would bring it, and waits for full"},
                      TaskCase{"stuck_warp()", "0", "5", "not among those"},
                      TaskCase{"fault_line()", "3", "2", "nobody wrote this"},
                      TaskCase{"bug_line(right.cu)", "3", "2", "as in the right kernel: `two();"},
                      TaskCase{"bug_line(right.cu)", "3", "9", "lines 1 to 4"},
                      // What the right one has before and behind is not the bug.
                      TaskCase{"bug_line(more.cu)", "3", "1", "as in the right kernel"},
                      TaskCase{"bug_line(more.cu)", "3", "4", "as in the right kernel"},
                      // Where a line was taken away: on either side of the gap.
                      TaskCase{"bug_line(longer.cu)", "2", "4", "as in the right"},
                      // Lines of the PTX, which nobody sees, are the pieces that they are in.
                      TaskCase{"order_of(o)", "c b a", "a b c",
                               "it deadlocks at `a`, the copy of `b` and the code before the "
                               "pieces (the code after the pieces)"},
                      TaskCase{"order_of(o)", "c b a", "c b", "Each of the 3 pieces"},
                      TaskCase{"faster_than(k --m 8, 80, --tile 1, --tile 2)", "--tile 2",
                               "--tile 1", "9.00 us, 90% of the 10.00 us without; wanted are 80%"},
                      TaskCase{"faster_than(k --m 8, 80, --tile 1, --tile 2)", "--tile 2",
                               "--tile 0", "3 elements are wrong"},
                      TaskCase{"faster_than(k --m 8, 80, --tile 1, --tile 2)", "--tile 2",
                               "--tile 5", "no such tile"},
                      TaskCase{"faster_than(k --m 8, 80, --tile 2, --ring 3 --tile 1)", "--tile 2",
                               "--tile 2 --m 4",
                               "`--m` is not asked about here: the same work is "
                               "to be done faster, by --tile and --ring"},
                      TaskCase{"faster_than(k --m 8, 80, --tile 2)", "--tile 2", "--a-dtype=e4m3",
                               "`--a-dtype` is not asked"},
                      TaskCase{"faster_than(k --m 8, 80, --tile 2)", "--tile 2", "--tile 2 2",
                               "`2` is not asked"}));

TEST(RunTasksToo, OthersAreRightToo) {
  const RunEvidence evidence = ran();
  const auto right = [&](const std::string& checker, const std::string& answer) {
    return judge(asked(checker), answer, evidence).is == Judgement::Is::right;
  };
  EXPECT_TRUE(right("stuck_barrier()", "full[0]"));
  EXPECT_TRUE(right("stuck_barrier(cause)", "FULL[0]"));
  EXPECT_TRUE(right("waits_for(4, 500)", "Full[0]"));
  EXPECT_TRUE(right("stuck_warp()", "7"));
  EXPECT_TRUE(right("bug_line(longer.cu)", "3"));
  EXPECT_FALSE(right("bug_line(longer.cu)", "1"));
  EXPECT_TRUE(right("order_of(o)", "CBA"));
  EXPECT_TRUE(right("bound_of()", " Loads "));
}

// The words that are offered do not bound what is right.
TEST(RunTasksToo, ABoundIsOneOfTheWordsThatAreOffered) {
  const auto form = [](const std::string& checker) {
    return (*make_task(checker, {}))->form_words();
  };
  EXPECT_EQ(form("bound_of(tensor, L2, memory)"), "one of tensor, L2 or memory");
  EXPECT_NE(form("bound_of()").find("handover"), std::string::npos);
  EXPECT_EQ(judge(asked("bound_of(tensor, L2)"), "loads", ran()).is, Judgement::Is::right);
}

TEST(RunTasksToo, WhatIsToBePutInOrderIsListed) {
  EXPECT_EQ(choices(asked("order_of(o)"), ran()),
            (std::vector<std::string>{"a: waits", "b: copies", "c: begins"}));
  EXPECT_TRUE(choices(asked("stages_of()"), ran()).empty());
}

TEST(RunTasksToo, APredictionIsKeptUntilTheRunAndPraisedWithItsReason) {
  RunEvidence before = ran();
  before.facts = nullptr;
  const Judgement kept = judge(asked("bound_of()"), "loads", before);
  EXPECT_EQ(kept.is, Judgement::Is::kept);
  EXPECT_NE(kept.sentence.find("`loads`"), std::string::npos);
  EXPECT_EQ(judge(asked("bound_of()"), "loads", ran()).sentence,
            "Right. Bound by load latency: the tensor core is busy 20% of a CTA's time.");
  EXPECT_EQ(judge(asked("faster_than(k --m 8, 80, --tile 1)"), "--tile 2", ran()).sentence,
            "Right: 7.00 us, 70% of the 10.00 us without.");
}

TEST(RunTasksToo, WhatCannotBeJudgedSaysWhy) {
  RunEvidence nothing;
  for (const char* checker :
       {"bytes_expected(full[0], 0)", "arrivals_expected(full[0])", "stage_read(1)", "stages_of()",
        "stuck_barrier()", "fault_line()", "bug_line(right.cu)"}) {
    const Judgement verdict = judge(asked(checker), "1", nothing);
    EXPECT_EQ(verdict.is, Judgement::Is::unreadable) << checker;
    EXPECT_NE(verdict.sentence.find("run it first"), std::string::npos) << verdict.sentence;
  }
  const auto says = [&](const char* checker, const char* answer, const char* words) {
    const Judgement verdict = judge(asked(checker), answer, ran());
    EXPECT_EQ(verdict.is, Judgement::Is::unreadable) << checker;
    EXPECT_NE(verdict.sentence.find(words), std::string::npos) << verdict.sentence;
  };
  says("bytes_expected(full[7], 0)", "1", "it has full[0], empty[0]");
  says("bytes_expected(full[0], 2)", "1", "2 phases");
  says("stage_read(2000)", "1", "ends at cycle 1000");
  says("bug_line(same.cu)", "1", "the same as the right one");
  says("bug_line(none.cu)", "1", "no such file");
  says("order_of(bad)", "a b", "no pieces");
  says("order_of(none)", "a b", "no such file");
  says("order_of(o)", "1 2", "no answer here");
  EXPECT_EQ(judge(asked("order_of(o)"), "a b", nothing).is, Judgement::Is::unreadable);
  EXPECT_EQ(judge(asked("faster_than(k, 50, --a)"), "--a", nothing).is, Judgement::Is::unreadable);
}

}  // namespace
}  // namespace tilescope::test
