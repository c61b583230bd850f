// How streams share a chip in time.
#include "app/exec_clock.h"

#include <gtest/gtest.h>

namespace tilescope {
namespace {

using Work = ExecClock::Work;

// A launch that takes so much of the chip's room and of its memory.
Work chip(double room, double seconds, double memory = 0) {
  return {ExecClock::Part::chip, {room, memory}, seconds};
}

// As measured on an H200: launches of half the chip's room go on beside each other, of larger ones
// the second waits.
TEST(ExecClock, WhatFillsHalfOfItGoesOnBesideTheOther) {
  ExecClock clock;
  EXPECT_DOUBLE_EQ(clock.work(1, chip(0.5, 10)).end, 10);
  EXPECT_DOUBLE_EQ(clock.work(2, chip(0.5, 10)).end, 10);
  ExecClock full;
  EXPECT_DOUBLE_EQ(full.work(1, chip(1, 10)).end, 10);
  const ExecClock::Span second = full.work(2, chip(1, 10));
  EXPECT_DOUBLE_EQ(second.begin, 10);
  EXPECT_DOUBLE_EQ(second.end, 20);
}

TEST(ExecClock, WhatComesLaterHasWhatIsLeft) {
  ExecClock clock;
  clock.work(1, chip(0.75, 10));
  // A quarter of the chip for 10 s is half of what it takes; then it has what it wants for 5.
  const ExecClock::Span later = clock.work(2, chip(0.5, 10));
  EXPECT_DOUBLE_EQ(later.begin, 0);
  EXPECT_DOUBLE_EQ(later.end, 15);
  // Of the third stream's: nothing is left up to 10, half up to 15.
  const ExecClock::Span third = clock.work(3, chip(1, 10));
  EXPECT_DOUBLE_EQ(third.begin, 10);
  EXPECT_DOUBLE_EQ(third.end, 22.5);
}

TEST(ExecClock, AStreamsWorksFollowEachOther) {
  ExecClock clock;
  clock.work(1, chip(0.1, 10));
  EXPECT_DOUBLE_EQ(clock.work(1, chip(0.1, 10)).begin, 10);
  clock.wait(2, 12);
  EXPECT_DOUBLE_EQ(clock.work(2, chip(0.1, 10)).end, 22);
}

TEST(ExecClock, CopiesGoOnBesideLaunchesAndEachWayAlone) {
  ExecClock clock;
  clock.work(1, chip(1, 10));
  EXPECT_DOUBLE_EQ(clock.work(2, {ExecClock::Part::to_device, {1, 0}, 4}).end, 4);
  EXPECT_DOUBLE_EQ(clock.work(3, {ExecClock::Part::from_device, {1, 0}, 4}).end, 4);
  EXPECT_DOUBLE_EQ(clock.work(4, {ExecClock::Part::to_device, {1, 0}, 4}).end, 8);
}

TEST(ExecClock, NothingBeginsBeforeTheHostHasAskedForIt) {
  ExecClock clock;
  clock.work(1, chip(1, 10));
  clock.host_knows_all();
  EXPECT_DOUBLE_EQ(clock.time_of(2), 10);
  EXPECT_DOUBLE_EQ(clock.work(2, chip(0.5, 10)).begin, 10);
  EXPECT_DOUBLE_EQ(clock.work(3, chip(1, 10)).end, 25) << "half for 10 s, then all";
}

// An H200's copies of 1 GiB: one that takes nearly all of memory's bandwidth 569 us, two 1094; of
// three quarters of it 714 and 1125; beside one that computes for 1051 us 1098.
TEST(ExecClock, MemoryIsSharedAsWell) {
  ExecClock clock;
  EXPECT_DOUBLE_EQ(clock.work(1, chip(0.25, 569, 0.96)).end, 569);
  EXPECT_NEAR(clock.work(2, chip(0.25, 569, 0.96)).end, 1094, 30);
  ExecClock less;
  less.work(1, chip(0.25, 714, 0.77));
  EXPECT_NEAR(less.work(2, chip(0.25, 714, 0.77)).end, 1125, 100);
  ExecClock computes;
  computes.work(1, chip(0.25, 714, 0.77));
  EXPECT_DOUBLE_EQ(computes.work(2, chip(0.25, 1051)).end, 1051);
}

// An H200: two kernels of 191.8 and 166.4 us, the first of which tells after a quarter, and the
// second waits after 50 of 70 parts: 242.3 us.
TEST(ExecClock, WhatComesBeforeTheWaitGoesOnBesideTheLaunchBefore) {
  Work first = chip(0.1, 191.8), second = chip(0.1, 166.4);
  first.lets_begin_after = 191.8 / 4;
  second.waits_after = 166.4 * 5 / 7;
  ExecClock clock;
  clock.work(1, first);
  const ExecClock::Span early = clock.work(1, second);
  EXPECT_DOUBLE_EQ(early.begin, 191.8 / 4);
  EXPECT_NEAR(early.end, 242.3, 5);
  // Other work between the two, or one that the first does not let begin.
  ExecClock apart;
  apart.work(1, first);
  apart.work(1, {ExecClock::Part::to_device, {1, 0}, 3});
  EXPECT_DOUBLE_EQ(apart.work(1, second).begin, 194.8);
  // What is over before the first launch is parts nothing; an event between the two does.
  ExecClock blocking;
  blocking.work(1, first);
  blocking.wait(1, 5);
  EXPECT_DOUBLE_EQ(blocking.work(1, second).begin, 191.8 / 4);
  ExecClock event;
  event.work(1, first);
  event.part(1);
  EXPECT_DOUBLE_EQ(event.work(1, second).begin, 191.8);
  // Half as fast beside another stream's launch, the first tells as much later.
  ExecClock shared;
  shared.work(2, chip(0.5, 1000, 0.5));
  Work waiting = first;
  waiting.takes.memory = 1;
  EXPECT_DOUBLE_EQ(shared.work(1, waiting).end, 2 * 191.8);
  EXPECT_DOUBLE_EQ(shared.work(1, second).begin, 2 * 191.8 / 4);
  ExecClock late;
  late.work(1, chip(0.1, 191.8));
  EXPECT_DOUBLE_EQ(late.work(1, second).end, 191.8 + 166.4);
  // The first fills the chip: the second's CTAs have no room before it ends.
  ExecClock full;
  first.takes.room = 1;
  full.work(1, first);
  EXPECT_DOUBLE_EQ(full.work(1, second).begin, 191.8);
}

}  // namespace
}  // namespace tilescope
