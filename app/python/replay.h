// How a launch begins once more, as it began the first time: for stepping through it, for what its
// memory held, for the window. Kept where record=True asks for it, with the memory of before.
#pragma once

#include <functional>
#include <string>

#include "core/sim/machine/machine.h"

namespace tilescope::python {

struct Replay {
  // Before its first instruction; raises where it is refused.
  std::function<sim::Machine()> machine;
  // What the window opens it by, `open F.ptx --launch F.toml`; files that this needs are written
  // into the folder. Raises.
  std::function<std::string(const std::string& folder)> window;
};

}  // namespace tilescope::python
