// Two records side by side: what changed is what was changed by hand.
#include "core/profile/difference.h"

#include <gtest/gtest.h>

#include "tests/sim/pipeline_record.h"

namespace tilescope::test {
namespace {

using namespace tilescope::sim;

Difference compare(const Record& a, const Record& b) {
  return difference_of(statistics_of(a), statistics_of(b));
}

const Pair* find(const std::vector<Pair>& rows, const std::string& name) {
  for (const Pair& r : rows) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

// The same pipeline, but its first product is 30 cycles later, which all then wait for.
Record slower() {
  Record r = pipeline_record();
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    Event e = r.events[i];
    const Track& t = r.tracks[e.track];
    const Cycle o = t.block * 100;
    if (e.kind == EventKind::wait && t.unit == Unit::warp && t.index == 1 && e.begin == o + 5) {
      e.end += 30;
    } else if (e.begin >= o + 47) {
      e.issue += 30, e.begin += 30, e.end += 30;
    }
    r.events.set(i, e);
  }
  r.end += 30;
  r.seconds = 220e-9;
  r.counters[1].stalled[static_cast<std::size_t>(Stall::mbarrier)] += 60;
  return r;
}

TEST(Difference, OfARecordAndItselfIsNothing) {
  const Difference d = compare(pipeline_record(), pipeline_record());
  EXPECT_DOUBLE_EQ(d.ratio, 1);
  EXPECT_EQ(d.verdict.find("B takes as long as A"), 0u) << d.verdict;
  for (const Pair& p : d.pipes) EXPECT_EQ(p.change(), 0) << p.name;
  for (const PairTable& role : d.roles) {
    for (const Pair& p : role.rows) EXPECT_EQ(p.change(), 0) << role.name << " " << p.name;
  }
  for (const LinePair& line : d.lines) {
    EXPECT_EQ(line.change(), 0) << line.a;
    EXPECT_EQ(line.a, line.b);
  }
}

TEST(Difference, OtherWorkIsSaidBeforeAnyTime) {
  Record half = pipeline_record();
  half.what = "M = 128";
  half.work = pipeline_record().work / 2;
  const std::string said = compare(pipeline_record(), half).verdict;
  const std::size_t work = said.find("They did different work: A "), time = said.find(" us");
  EXPECT_EQ(work, 0u) << said;
  EXPECT_NE(said.find("M = 128"), std::string::npos) << said;
  EXPECT_LT(work, time);
  const Difference same = compare(pipeline_record(), slower());
  EXPECT_EQ(same.verdict.find("different work"), std::string::npos) << same.verdict;
}

TEST(Difference, WhatIsTheSameIsNotToldAsAChange) {
  const std::string said = compare(pipeline_record(), pipeline_record()).verdict;
  EXPECT_NE(said.find("of a CTA's time in both"), std::string::npos) << said;
  EXPECT_EQ(said.find("instead of"), std::string::npos) << said;
}

TEST(Difference, SaysWhoWaitsLonger) {
  const Difference d = compare(pipeline_record(), slower());
  EXPECT_DOUBLE_EQ(d.ratio, 1.1);
  EXPECT_EQ(d.verdict.find("B takes 1.10 times as long as A: 0.22 us instead of 0.20 us."), 0u)
      << d.verdict;
  // Before its first product, which comes 30 cycles later, and after its last: 105 of 200 cycles,
  // and 135 of 230.
  EXPECT_NE(d.verdict.find("prologue and epilogue of CTAs take 59% instead of 52%"),
            std::string::npos)
      << d.verdict;
  ASSERT_EQ(d.roles.size(), 3u);
  for (const PairTable& role : d.roles) {
    if (role.name != "MMAs") continue;
    const Pair* copies = find(role.rows, "copies in (mbarrier)");
    ASSERT_TRUE(copies);
    EXPECT_DOUBLE_EQ(copies->a, 111);  // 42 + 12 + 57
    EXPECT_DOUBLE_EQ(copies->b, 141);
    EXPECT_EQ(role.rows.front().name, copies->name);  // the largest change first
  }
  ASSERT_TRUE(find(d.stalls, "an mbarrier"));
  EXPECT_DOUBLE_EQ(find(d.stalls, "an mbarrier")->change(), 60);
  EXPECT_EQ(d.lines.front().a, "pipeline.cu:6");
  EXPECT_EQ(d.lines.front().change(), 60);
}

TEST(Difference, MatchesLinesOfOtherFilesByTheirPtx) {
  Record b = pipeline_record();
  b.sources = {"other.cu"};
  b.lines[4].text = "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%r714}, [%r815];";
  b.lines[5].text = "red.global.add.f32 [%rd3], %f4;";
  const Difference d = compare(pipeline_record(), b);
  int pairs = 0;
  for (const LinePair& line : d.lines) {
    if (line.a == "pipeline.cu:9") {
      EXPECT_EQ(line.b, "other.cu:9");
    }
    pairs += !line.a.empty() && !line.b.empty();
  }
  EXPECT_EQ(pairs, 4);  // the store and the reduction are of one each
  EXPECT_EQ(d.lines.size(), 6u);
}

TEST(Difference, ShowsWhatOneOfThemLacks) {
  Record b = pipeline_record();
  for (std::size_t i = 0; i < b.events.size(); ++i) {
    Event e = b.events[i];
    if (b.tracks[e.track].unit == Unit::copy_in) e.cause = no_event;  // nobody is known to copy
    b.events.set(i, e);
  }
  const std::string t = text(compare(pipeline_record(), b));
  EXPECT_NE(t.find("copies in (A alone)"), std::string::npos) << t;
  EXPECT_NE(t.find("the others (B alone)"), std::string::npos) << t;
}

TEST(Difference, WithoutTimeComparesWhatWasDone) {
  Record b = pipeline_record();
  b.timed = false, b.seconds = 0;
  b.counters[2].global_bytes = 12345;
  const Difference d = compare(pipeline_record(), b);
  EXPECT_FALSE(d.known_time);
  const std::string t = text(d);
  EXPECT_EQ(t.find("B has no time"), 0u) << t;
  ASSERT_TRUE(find(d.traffic, "L2 bytes"));
  EXPECT_EQ(find(d.traffic, "L2 bytes")->b, 12345);
  // Cycles of one and instructions of the other are not compared.
  EXPECT_TRUE(d.stalls.empty());
  EXPECT_TRUE(d.lines.empty());
}

}  // namespace
}  // namespace tilescope::test
