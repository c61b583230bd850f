// How long a run takes, as one figure that everything tells: `--stats`, `--predict`, the window. A
// launch costs time before the first CTA starts and after the last one has exited
// (DeviceTimes::launch, measured on the device), so there are two: with it, as a benchmark that
// waits for one launch sees it, and without.
//
// The clock is the run's own: tensor cores that are kept busy lower it. Of a run that a fault ended
// it is the device's, since the power that it drew until then is not told. Moments inside a run go
// by the same one (viz/scene/time_words.h).
#pragma once

#include <string>

#include "core/record/record.h"

namespace tilescope::sim {

struct RunTime {
  Cycle cycles = 0;    // until all CTAs have exited
  double clock = 0;    // GHz, over these
  double seconds = 0;  // with the launch; 0: the record has no time
  double launch = 0;   // seconds of these that the launch costs
  double without_launch() const { return seconds > launch ? seconds - launch : 0; }
};

RunTime run_time_of(const Record& record);

// "7.82 us", "1.204 ms"
std::string time_text(double seconds);
// "9.48 us with its launch, 7.82 us without"; one figure where a launch costs nothing; empty where
// there is no time.
std::string text(const RunTime& time);

}  // namespace tilescope::sim
