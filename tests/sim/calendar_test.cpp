// A unit never does more in a stretch of time than it can, whoever asks first.
#include "core/sim/time/calendar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tilescope::sim {
namespace {

TEST(Calendar, GivesOneAfterTheOther) {
  Calendar unit(2, 16, 64);  // two a cycle
  EXPECT_DOUBLE_EQ(unit.take(0, 8), 4);
  EXPECT_DOUBLE_EQ(unit.take(0, 8), 8);
  EXPECT_DOUBLE_EQ(unit.take(100, 2), 101);
  EXPECT_DOUBLE_EQ(unit.take(0, 32), 24);  // 16 in the rest of the first bucket, 16 in the second
  EXPECT_DOUBLE_EQ(unit.taken(), 50);
}

TEST(Calendar, HasRoomLeftInFrontOfWhatIsTaken) {
  Calendar unit(1, 16, 64);
  EXPECT_DOUBLE_EQ(unit.take(320, 16), 336);
  EXPECT_DOUBLE_EQ(unit.take(0, 16), 16);  // asked for later, wanted earlier
}

TEST(Calendar, WithoutARateTakesNoTime) {
  Calendar unit(0, 16, 64);
  EXPECT_DOUBLE_EQ(unit.take(7, 1e9), 7);
}

TEST(Calendar, NeverDoesMoreThanItCan) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const double rate = 0.5 + static_cast<double>(random() % 64);
    Calendar unit(rate, 32, 256);
    double all = 0, first = 1e9, last = 0;
    for (int i = 0; i < 400; ++i) {
      const double at = static_cast<double>(random() % 2000);
      const double amount = 1 + static_cast<double>(random() % 500);
      const double end = unit.take(at, amount);
      EXPECT_GE(end, at + amount / rate - 1e-3);
      all += amount;
      first = std::min(first, at);
      last = std::max(last, end);
    }
    EXPECT_GE(last - first, all / rate - 33);  // a bucket is as fine as it gets
    // And where everybody wants it at once, it does no less.
    EXPECT_LE(last, 2000 + all / rate * 1.01 + 64);
  }
}

}  // namespace
}  // namespace tilescope::sim
