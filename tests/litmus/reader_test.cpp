// What is wrong with a test's text is said with its line; what no execution ends is said as that.
#include <gtest/gtest.h>

#include "tests/litmus/axioms.h"

namespace tilescope::litmus {
namespace {

std::string refusal(const std::string& text) {
  const Outcome<litmus::Test> test = read_test(text, "t");
  return test.ok() ? "" : test.error().where + ": " + test.error().sentence;
}

const std::string end = "outcome P0.r0\nallowed 0\nrace none\n";

TEST(LitmusReader, RefusesWithLineAndReason) {
  const auto expect = [](const std::string& text, const std::string& says) {
    EXPECT_NE(refusal(text).find(says), std::string::npos) << refusal(text);
  };
  expect("global x = 0\nld.weak.u32 r0, [x]\n", "t.litmus:2: ld.weak.u32 r0, [x]: is before the");
  expect("P0 in cta 0:\n  ld.weak.u32 r0, [x]\n" + end,
         "t.litmus:2: ld.weak.u32 r0, [x]: there is no");
  expect("global x = 0\nglobal x = 1\n", "t.litmus:2: global x = 1: the variable has no name");
  expect("shared x = 0\n", "lacks \"of cta N\"");
  expect("mbarrier m of cta 0\n", "lacks its value");
  expect("P0 in cta 0:\n  if r0 = 1: fence.sc.gpu\n" + end, "a condition is written");
  expect("P0 in cta 0:\n  mov.u32 r16, 1\n" + end, "none of the registers r0 to r15");
  expect("P0 in cta 0:\n" + end + "allowed 0 1\n", "not as many values");
  expect("P0 in cta 0:\noutcome P1.r0\n", "no register of a thread");
  expect("P0 in cta 0:\noutcome P0.r0\nallowed 0\n", "it has no line \"race\"");
  expect("P0 in cta 0:\n" + end + "forbidden 0\n", "P0.r0=0 is allowed and forbidden");
  expect("P0 in cta 0:\nP1 in cta 1:\nP2 in cta 1:\n" + end, "CTA 1 has 2 threads and CTA 0 has 1");
  expect("cluster 2\nP0 in cta 0:\n" + end, "not whole clusters");
  expect("shared x of cta 1 = 0\nP0 in cta 0:\n  ld.weak.u32 r0, [x]\nP1 in cta 1:\n" + end,
         "shared memory of another cluster");
  expect(
      "global x = 0\nP0 in cta 0:\n  ld.weak.u32 r0, [x]\noutcome P0.r0\nallowed 0\n"
      "race x between P0:0 and P0:1\n",
      "\"P0:1\" is no instruction");
  expect("cluster 0\n", "\"0\" is no number from 1 to 16");
  expect("P0 in cta 99999:\n", "no number from 0 to 63");
  expect("P0 in cta 0:\n  if r77 == 1: mov.u32 r0, 1\n", "with one of r0 to r15");
  expect("P0 in cta 0:\noutcome P0.r99\n", "no register of a thread");
  EXPECT_EQ(refusal("P0 in cta 0:\n" + end), "");
}

std::string mistake(const std::string& text) {
  const Outcome<litmus::Test> test = read_test(text, "t");
  EXPECT_TRUE(test.ok()) << refusal(text);
  return test.ok() ? judge(*test).mistake : "";
}

TEST(LitmusAxioms, SayWhyNothingCanBeSaid) {
  EXPECT_EQ(mistake("P0 in cta 0:\n  frobnicate.u32 r0, 1\n" + end),
            "P0:0: frobnicate.u32 is not understood, or lacks an operand");
  const std::string x = "global x = 0\nP0 in cta 0:\n";
  for (const char* line :
       {"ld.weak.u32 99, [x]", "ld.weak.u32 r0, 1", "st.weak.u32 r0, 1", "mov.u32 5, 1",
        "mov.u32 r0", "atom.add.u32 [x], 1", "bar.sync", "if r0 == 0: fence.sc.gpu",
        "mbarrier.arrive.shared::cta.b64 _, 1", "cp.async.ca.shared.global [x], 4"}) {
    EXPECT_NE(mistake(x + line + "\n" + end).find("is not understood"), std::string::npos) << line;
  }
  // Each waits at the barrier that the other one has not come to.
  EXPECT_EQ(mistake("P0 in cta 0:\n  bar.sync 1\n  bar.sync 2\nP1 in cta 0:\n  bar.sync 2\n"
                    "  bar.sync 1\n" +
                    end),
            "no execution comes to its end: a wait is never satisfied");
  EXPECT_EQ(mistake("mbarrier m of cta 0 count 2\nP0 in cta 0:\n"
                    "  mbarrier.arrive.shared::cta.b64 _, [m]\n"
                    "  mbarrier.try_wait.parity.shared::cta.b64 [m], 0\n" +
                    end),
            "no execution comes to its end: a wait is never satisfied");
  EXPECT_NE(
      mistake("P0 in cta 0:\n  bar.sync 1, 64\nP1 in cta 0:\n" + end).find("barrier 1 of CTA 0"),
      std::string::npos);
  std::string many = "P0 in cta 0:\n";
  for (int i = 0; i < 70; ++i) many += "  fence.acq_rel.gpu\n";
  EXPECT_EQ(mistake(many + end), "it has 70 events: at most 64");
}

TEST(LitmusFiles, ThereAreMany) {
  EXPECT_GE(files_in(TILESCOPE_TESTS_DIR "/files").size(), 400u);
}

}  // namespace
}  // namespace tilescope::litmus
