// A run that one is in from Python: the machine somewhere on its way, and the warp that is looked
// at.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>

#include "app/python/replay.h"
#include "app/python/settings.h"
#include "viz/machine/live_run.h"

namespace tilescope::python {

struct Walk {
  std::shared_ptr<const Replay> replay;
  LiveRun live;
  RunCursor spot;
  bool moving = false;  // by some thread; the GIL is not held meanwhile

  const sim::Machine& machine() const { return live.stepper.machine(); }
};

// Before the first instruction. Refused: the run has not kept how it began.
std::shared_ptr<Walk> walk_of(const Run& run);

// As the window's `step` goes: `by` is one of its words; instructions and lines are those of the
// warp looked at. Whoever did what it stopped for is looked at then.
void step(Walk& walk, std::int64_t n, const std::string& by, bool back);
// To a time (what_at_is), in either direction.
void go_to(Walk& walk, nb::handle at);
// What comes before a cycle has all happened there, and of what comes within some 64 cycles behind
// it some has; a position is one state of the run.
inline constexpr const char* what_at_is =
    "a time of the run in cycles, as the timeline's axis has it, 1200; or as the window's `go` "
    "takes it: \"1.2us\", \"start\", \"end\", \"instruction 500\", \"position 700\", \"report "
    "0\"";

// A CTA's number, of it or of where it is in the grid, (x, y, z); and that. Refused: there is none.
std::uint64_t block_in(const sim::Machine& machine, nb::handle block);
nb::object tuple_of_block(const sim::Machine& machine, std::uint64_t block);
std::uint32_t warp_in(const sim::Machine& machine, std::int64_t warp);

}  // namespace tilescope::python
