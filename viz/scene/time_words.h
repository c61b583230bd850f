// Time as the whole window tells it: in cycles, and as seconds by one clock, so that a moment has
// the same number in the timeline, in the strip, in the inspector and in a fault's sentence, and
// the last one is the time that the run took.
//
// The clock is that of the run (core/profile/run_time.h): tensor cores that are kept busy lower the
// device's own (assets/devices/*.toml), by how much is known only when a run is over. Who steps
// through a kernel that has not been run sees the device's.
#pragma once

#include <string>

namespace tilescope {

// "0.5 ns", "612 ns", "3.87 us", "1.20 ms"; empty where there is no clock (GHz).
std::string seconds_text(double cycles, double clock);

}  // namespace tilescope
