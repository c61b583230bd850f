// Runs that an exercise of a lesson is judged by, on the simulator, beside whatever is open.
#pragma once

#include <string_view>

#include "core/lesson/run_facts.h"

namespace tilescope {

// "hgemm_v8 --m 256 --tile 128x256", as `open` takes it. Refused: what cannot be opened.
Outcome<Trial> try_kernel(std::string_view kernel);
// PTX, and the launch file that belongs to it. Right if it ends without fault and hazard, also
// where asynchronous work is delivered as late as is legal (--lazy), and its buffers are as the
// launch file expects them, where it does.
Outcome<Trial> try_program(std::string_view ptx, std::string_view launch);

}  // namespace tilescope
