// What orders the work of streams, and which of it races.
#include "core/sim/order/work_order.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tilescope::sim {
namespace {

AccessLog log(AccessLog::How how, std::uint64_t begin, std::uint64_t end) {
  AccessLog out;
  out.add(how, begin, end);
  return out;
}
AccessLog reads(std::uint64_t begin = 0, std::uint64_t end = 64) {
  return log(AccessLog::How::read, begin, end);
}
AccessLog writes(std::uint64_t begin = 0, std::uint64_t end = 64) {
  return log(AccessLog::How::write, begin, end);
}

WorkOrder two_streams() {
  WorkOrder out;
  out.add_stream(1);
  out.add_stream(2);
  return out;
}

TEST(ByteSet, HasTheBytesThatWereAdded) {
  std::mt19937 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 200; ++round) {
    ByteSet sets[2];
    std::set<std::uint64_t> known[2];
    for (int i = 0; i < 2; ++i) {
      for (int piece = 0; piece < 3; ++piece) {
        const std::uint64_t begin = below(20000), end = begin + below(round % 2 ? 9000 : 70);
        sets[i].add(begin, end);
        for (std::uint64_t at = begin; at < end; ++at) known[i].insert(at);
      }
    }
    std::optional<std::uint64_t> least;
    for (const std::uint64_t at : known[0]) {
      if (!least && known[1].count(at)) least = at;
    }
    EXPECT_EQ(sets[0].common(sets[1]), least);
    EXPECT_EQ(sets[1].common(sets[0]), least);
  }
}

TEST(WorkOrder, TwoStreamsAreInNoOrder) {
  WorkOrder order = two_streams();
  EXPECT_TRUE(order.add(1, "a", writes()).empty());
  const auto races = order.add(2, "b", reads(32, 100));
  ASSERT_EQ(races.size(), 1u);
  EXPECT_EQ(races[0].earlier.name, "a");
  EXPECT_EQ(races[0].meeting.at, 32u);
  EXPECT_FALSE(races[0].meeting.writes);
  EXPECT_TRUE(races[0].meeting.other_writes);
}

TEST(WorkOrder, TwoThatReadAndOtherBytesAreNoRace) {
  WorkOrder order = two_streams();
  EXPECT_TRUE(order.add(1, "a", reads()).empty());
  EXPECT_TRUE(order.add(2, "b", reads()).empty());
  EXPECT_TRUE(order.add(2, "c", writes(64, 128)).empty());
  EXPECT_TRUE(order.add(1, "d", writes(128, 129)).empty());
}

TEST(WorkOrder, StrongAccessesOfBothAreNoRace) {
  WorkOrder order = two_streams();
  order.add(1, "a", log(AccessLog::How::strong_write, 0, 4));
  EXPECT_TRUE(order.add(2, "b", log(AccessLog::How::strong_read, 0, 4)).empty());
  EXPECT_TRUE(order.add(2, "c", log(AccessLog::How::strong_write, 0, 4)).empty());
  EXPECT_EQ(order.add(2, "d", reads(0, 4)).size(), 1u);
  WorkOrder other = two_streams();
  other.add(1, "a", log(AccessLog::How::strong_read, 0, 4));
  EXPECT_TRUE(other.add(2, "b", reads(0, 4)).empty());
}

TEST(WorkOrder, AnEventOrders) {
  WorkOrder order = two_streams();
  order.add(1, "a", writes());
  order.record(7, 1);
  order.add(1, "late", writes(64, 128));
  order.wait(2, 7);
  EXPECT_TRUE(order.add(2, "b", reads()).empty());
  EXPECT_EQ(order.add(2, "c", reads(64, 128)).size(), 1u) << "it was given out after the event";
}

TEST(WorkOrder, AnEventThatNobodyRecordedOrdersNothing) {
  WorkOrder order = two_streams();
  order.add(1, "a", writes());
  order.wait(2, 7);
  EXPECT_EQ(order.add(2, "b", reads()).size(), 1u);
}

TEST(WorkOrder, WhatTheHostHasWaitedForIsOver) {
  for (int how = 0; how < 4; ++how) {
    WorkOrder order = two_streams();
    order.add(1, "a", writes());
    order.record(7, 1);
    if (how == 0) order.host_waited_for_stream(1);
    if (how == 1) order.host_waited_for_event(7);
    if (how == 2) order.host_waited_for_all();
    if (how == 3) order.host_waited_for_stream(2);
    EXPECT_EQ(order.add(2, "b", reads()).size(), how == 3 ? 1u : 0u) << how;
    EXPECT_EQ(order.held() > 0, true);
  }
}

TEST(WorkOrder, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  WorkOrder order;
  order.add_stream(1);
  order.add_stream(2, false);
  order.add(1, "a", writes());
  EXPECT_TRUE(order.add(0, "b", writes()).empty());
  EXPECT_TRUE(order.add(1, "c", reads()).empty());
  EXPECT_EQ(order.add(2, "d", reads()).size(), 2u) << "a and b wrote, and it waits for nobody";
  WorkOrder through;
  through.add_stream(1);
  through.add_stream(2);
  through.add(1, "a", writes());
  through.add(0, "nothing", {});
  EXPECT_TRUE(through.add(2, "b", reads()).empty());
}

TEST(WorkOrder, AStreamThatIsGoneIsStillWaitedFor) {
  WorkOrder order;
  order.add_stream(1);
  order.add(1, "a", writes());
  order.remove_stream(1);
  EXPECT_TRUE(order.add(0, "b", reads()).empty());
  order.add_stream(2);
  EXPECT_TRUE(order.add(2, "c", reads()).empty());
}

// It reads the first 64 bytes before it waits, and the next 64 behind.
AccessLog early_reads() {
  AccessLog out;
  out.tell_early();
  const auto yes = [](const AccessLog::Wait& wait) { return wait.agent == Agent{0, 5}; };
  const auto no = [](const AccessLog::Wait&) { return false; };
  EXPECT_TRUE(out.is_early(3, yes));
  out.add(AccessLog::How::read, 0, 64, true);
  out.waited(3, {{0, 6}, 1});
  EXPECT_TRUE(out.is_early(3, yes)) << "it is behind agent 5 alone";
  out.waited(3, {{0, 5}, 1});
  EXPECT_FALSE(out.is_early(3, yes));
  EXPECT_TRUE(out.is_early(3, no)) << "it is behind none of them";
  EXPECT_TRUE(out.is_early(4, yes)) << "another cluster has not waited";
  out.add(AccessLog::How::read, 64, 128, false);
  return out;
}

AccessLog letting_begin(AccessLog out) {
  out.let_dependents_begin();
  return out;
}

TEST(WorkOrder, WhatIsEarlyHasNoOrderWithTheLaunchRightBefore) {
  using Kind = WorkOrder::Kind;
  WorkOrder order;
  order.expect_early_launches();
  order.add(0, "a", letting_begin(writes()), Kind::launch);
  const auto races = order.add(0, "b", early_reads(), Kind::early_launch);
  ASSERT_EQ(races.size(), 1u);
  EXPECT_EQ(races[0].earlier.name, "a");
  EXPECT_TRUE(races[0].early);
  EXPECT_EQ(races[0].meeting.at, 0u);
  EXPECT_TRUE(order.add(0, "c", writes(), Kind::launch).empty());
  EXPECT_TRUE(order.add(0, "d", letting_begin(writes(64, 128)), Kind::launch).empty());
  EXPECT_TRUE(order.add(0, "e", early_reads(), Kind::early_launch).empty())
      << "the launch right before writes what is read behind the wait alone";
}

TEST(WorkOrder, NoneBeginsBeforeALaunchHasEndedThatDoesNotLetIt) {
  using Kind = WorkOrder::Kind;
  WorkOrder order;
  order.expect_early_launches();
  order.add(0, "a", writes(), Kind::launch);
  EXPECT_TRUE(order.add(0, "b", early_reads(), Kind::early_launch).empty());
  order.add(0, "c", letting_begin(writes()), Kind::launch);
  EXPECT_EQ(order.add(0, "d", early_reads(), Kind::early_launch).size(), 1u);
}

// A lets B begin, and B lets C before it has waited for A: A and C may run side by side.
TEST(WorkOrder, LaunchesThatLetEachOtherBeginAreAChain) {
  using Kind = WorkOrder::Kind;
  for (const bool waits_first : {false, true}) {
    WorkOrder order;
    order.expect_early_launches();
    order.add(0, "a", letting_begin(writes()), Kind::launch);
    AccessLog nothing;
    nothing.let_dependents_begin(!waits_first);
    EXPECT_TRUE(order.add(0, "b", std::move(nothing), Kind::early_launch).empty());
    const auto races = order.add(0, "c", early_reads(), Kind::early_launch);
    ASSERT_EQ(races.size(), waits_first ? 0u : 1u);
    if (!waits_first) EXPECT_EQ(races[0].earlier.name, "a");
  }
}

TEST(WorkOrder, OtherWorkBetweenTwoLaunchesIsWaitedFor) {
  using Kind = WorkOrder::Kind;
  for (int how = 0; how < 4; ++how) {
    WorkOrder order;
    order.expect_early_launches();
    order.record(7, 0);
    order.add(0, "a", letting_begin(writes()), Kind::launch);
    if (how == 0) order.add(0, "a copy", {}, Kind::other);
    if (how == 1) order.record(8, 0);
    if (how == 2) order.wait(0, 7);
    if (how == 3) order.host_waited_for_stream(0);
    EXPECT_TRUE(order.add(0, "b", early_reads(), Kind::early_launch).empty()) << how;
  }
}

TEST(WorkOrder, OrderIsPassedOn) {
  WorkOrder order = two_streams();
  order.add_stream(3);
  order.add(1, "a", writes());
  order.record(7, 1);
  order.wait(2, 7);
  order.record(8, 2);
  order.wait(3, 8);
  EXPECT_TRUE(order.add(3, "b", reads()).empty());
}

}  // namespace
}  // namespace tilescope::sim
