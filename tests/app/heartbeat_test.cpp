// A run that goes on and on: what it says, when, and in what pieces it is executed.
#include "app/heartbeat.h"

#include <gtest/gtest.h>

namespace tilescope {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Heartbeat, ALineEveryTenSeconds) {
  const Heartbeat::Time begun{};
  Heartbeat heartbeat(begun);
  const Progress progress{3, 8, 123456};
  EXPECT_FALSE(heartbeat.due(begun + seconds(9), progress));
  EXPECT_EQ(heartbeat.due(begun + seconds(10), progress),
            "still running after 10 s: 123456 PTX instructions by warps, 3 of 8 CTAs done");
  EXPECT_FALSE(heartbeat.due(begun + seconds(19), progress));
  EXPECT_EQ(heartbeat.due(begun + seconds(35), progress),
            "still running after 35 s: 123456 PTX instructions by warps, 3 of 8 CTAs done");
}

// Whatever instructions cost, a piece of them takes less than Ctrl-C may wait, soon after they
// become dearer.
TEST(Pieces, TakeAsLongWhateverInstructionsCost) {
  Pieces pieces;
  const auto execute = [&](double each) {  // seconds of an instruction
    const double took = each * static_cast<double>(pieces.next());
    pieces.took(pieces.next(),
                std::chrono::duration_cast<Pieces::Duration>(std::chrono::duration<double>(took)));
    return took;
  };
  EXPECT_LT(execute(1e-5), 0.05) << "the first, before anything is known";
  for (const double each : {1e-7, 1e-4, 1e-6, 1e-3}) {
    for (int i = 0; i < 8; ++i) execute(each);
    const double took = execute(each);
    EXPECT_LT(took, 0.05) << each;
    EXPECT_GT(took, each < 1e-6 ? 0.015 : 0.03) << each << ": pieces cost something, too";
  }
  for (int i = 0; i < 20; ++i) execute(1);
  EXPECT_GT(pieces.next(), 0u) << "it goes on";
}

}  // namespace
}  // namespace tilescope
