// What is inside a Machine: the grid that runs, and those who make it go on. For the simulator's
// own files; a handler has it as Core::machine.
//
//   Grid          program, memory, resident blocks, how far it has come
//   Scheduler     whose turn it is, how far a turn goes, and the loop that executes instructions
//   Dispatcher    which blocks are resident on which processor, and how one starts
//   Flights       what is in flight: from issue through its moments to its end
//   GlobalWatch   global memory, and the other ways to it
//   Watcher       looks for what the run is to stop at
//   Recording     what happens, as the record has it, and when by the clock
//   Reports       what is wrong
//
// A part keeps what only it needs, and finds the rest through the model. A copy of a model has
// copies of its parts, which know the copy: so it goes on by itself, and is the same, bit for bit.
#pragma once

#include "core/sim/async/flights.h"
#include "core/sim/async/global_watch.h"
#include "core/sim/machine/dispatcher.h"
#include "core/sim/machine/draws.h"
#include "core/sim/machine/grid.h"
#include "core/sim/machine/reports.h"
#include "core/sim/machine/scheduler.h"
#include "core/sim/machine/watcher.h"
#include "core/sim/time/recording.h"

namespace tilescope::sim {

class Model : public Grid {
 public:
  Model();
  Model(const Model& other);
  Model& operator=(const Model&) = delete;

  // One warp of a block, as handlers see it.
  Core core_of(Block& block, Warp& warp);

  Draws draws;
  Reports reports;
  Recording recording;
  Watcher watcher;
  Flights flights;
  GlobalWatch global_watch;
  Dispatcher dispatcher;
  Scheduler scheduler;
};

}  // namespace tilescope::sim
