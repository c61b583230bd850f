// How streams share a chip in time.
#include "app/exec_clock.h"

#include <gtest/gtest.h>

namespace tilescope {
namespace {

constexpr auto chip = ExecClock::Part::chip;

// As measured on an H200: launches of half the chip's room go on beside each other, of larger ones
// the second waits.
TEST(ExecClock, WhatFillsHalfOfItGoesOnBesideTheOther) {
  ExecClock clock;
  EXPECT_DOUBLE_EQ(clock.work(1, chip, 0.5, 10).end, 10);
  EXPECT_DOUBLE_EQ(clock.work(2, chip, 0.5, 10).end, 10);
  ExecClock full;
  EXPECT_DOUBLE_EQ(full.work(1, chip, 1, 10).end, 10);
  const ExecClock::Span second = full.work(2, chip, 1, 10);
  EXPECT_DOUBLE_EQ(second.begin, 10);
  EXPECT_DOUBLE_EQ(second.end, 20);
}

TEST(ExecClock, WhatComesLaterHasWhatIsLeft) {
  ExecClock clock;
  clock.work(1, chip, 0.75, 10);
  // A quarter of the chip for 10 s is half of what it takes; then it has what it wants for 5.
  const ExecClock::Span later = clock.work(2, chip, 0.5, 10);
  EXPECT_DOUBLE_EQ(later.begin, 0);
  EXPECT_DOUBLE_EQ(later.end, 15);
  // Of the third stream's: nothing is left up to 10, half up to 15.
  const ExecClock::Span third = clock.work(3, chip, 1, 10);
  EXPECT_DOUBLE_EQ(third.begin, 10);
  EXPECT_DOUBLE_EQ(third.end, 22.5);
}

TEST(ExecClock, AStreamsWorksFollowEachOther) {
  ExecClock clock;
  clock.work(1, chip, 0.1, 10);
  EXPECT_DOUBLE_EQ(clock.work(1, chip, 0.1, 10).begin, 10);
  clock.wait(2, 12);
  EXPECT_DOUBLE_EQ(clock.work(2, chip, 0.1, 10).end, 22);
}

TEST(ExecClock, CopiesGoOnBesideLaunchesAndEachWayAlone) {
  ExecClock clock;
  clock.work(1, chip, 1, 10);
  EXPECT_DOUBLE_EQ(clock.work(2, ExecClock::Part::to_device, 1, 4).end, 4);
  EXPECT_DOUBLE_EQ(clock.work(3, ExecClock::Part::from_device, 1, 4).end, 4);
  EXPECT_DOUBLE_EQ(clock.work(4, ExecClock::Part::to_device, 1, 4).end, 8);
}

TEST(ExecClock, NothingBeginsBeforeTheHostHasAskedForIt) {
  ExecClock clock;
  clock.work(1, chip, 1, 10);
  clock.host_knows_all();
  EXPECT_DOUBLE_EQ(clock.time_of(2), 10);
  EXPECT_DOUBLE_EQ(clock.work(2, chip, 0.5, 10).begin, 10);
  EXPECT_DOUBLE_EQ(clock.work(3, chip, 1, 10).end, 25) << "half for 10 s, then all";
}

}  // namespace
}  // namespace tilescope
