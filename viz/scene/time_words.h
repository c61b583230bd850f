// Time as the whole window tells it: in cycles, and as seconds by one clock, so that a moment has
// the same number in the timeline, in the strip, in the inspector and in a fault's sentence.
//
// The clock is the device's own (assets/devices/*.toml). Tensor cores that are kept busy lower it,
// but by how much is known only when the run is over; the predicted time of the whole run, which
// the comparison tells, goes by that lower clock and says so.
#pragma once

#include <string>

namespace tilescope {

// "0.5 ns", "612 ns", "3.87 us", "1.20 ms"; empty where there is no clock (GHz).
std::string seconds_text(double cycles, double clock);

}  // namespace tilescope
