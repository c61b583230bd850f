// A run that one is in: the machine somewhere on its way, and what of it is looked at.
//
// The machine goes on in small pieces, between two frames of a window or until it is there, and
// nobody else touches it: a picture is drawn of a machine that is stopped. Where it is to be
// is a position (sim::Machine::position()), which names one state of the run, the same on every
// way to it; so undo, share strings and workspaces need but that number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ptx/debug_names.h"
#include "core/sim/stepping/inspect.h"
#include "core/sim/stepping/stepper.h"

namespace tilescope {

// The line of the source that each instruction belongs to, seen from the kernel's own file: of what
// was inlined from another file, that of the call; of what has none, that of the instruction
// before.
struct SourcePlaces {
  explicit SourcePlaces(const ptx::Program& program);
  struct Place {
    std::uint32_t file = 0, line = 0;  // line 0: not known
  };
  std::vector<std::string> files;
  std::vector<Place> of;  // by pc
};

// The lines of what a kernel was made from, by the name that the PTX has for a file; of the PTX
// under the empty name. A file that is not available is missing.
using Sources = std::map<std::string, std::vector<std::string>, std::less<>>;

struct LiveRun {
  explicit LiveRun(sim::Stepper at)
      : stepper(std::move(at)),
        registers(stepper.machine().program()),
        places(stepper.machine().program()),
        names(ptx::debug_names(*stepper.machine().program().module)) {}
  sim::Stepper stepper;
  sim::Registers registers;
  SourcePlaces places;
  ptx::DebugNames names;  // of variables of the source, where the PTX has them
  Sources sources;
  double clock = 0;  // GHz, of the record of this run; 0: there is none, and the device's is taken
};

// What of a run is looked at, by all views of it together.
struct RunCursor {
  std::uint64_t block = 0;  // x + y * grid.x + z * grid.x * grid.y
  std::uint32_t warp = 0, lane = 0;

  struct SourceLine {
    std::string file;  // as the PTX names it; empty: a line of the PTX
    std::uint32_t line = 0;
    friend bool operator==(const SourceLine&, const SourceLine&) = default;
  };
  struct Cell {
    std::uint32_t lane = 0, column = 0;
    friend bool operator==(Cell, Cell) = default;
  };
  std::optional<SourceLine> line;
  std::optional<std::uint32_t> byte;     // of the block's shared memory
  std::optional<std::uint32_t> barrier;  // an mbarrier, by its byte of shared memory
  std::optional<Cell> cell;              // of TMEM
  std::string name;                      // of a register: "%r3"; empty: none
  std::optional<std::uint32_t> report;   // a fault or hazard whose places are marked: its number

  friend bool operator==(const RunCursor&, const RunCursor&) = default;
};

// The report whose places are marked. Null: none, or the run is not known to tell it.
const Report* report_looked_at(const LiveRun& run, const RunCursor& spot);

// As `look` takes it: " block 3 warp 5 lane 2"; for readers, with the names of mbarriers.
std::string look_words(const RunCursor& spot, const BarrierNames* names = nullptr);
// "kernels/blackwell/hgemm_v7.cu:120", "ptx:310"
std::string text(const RunCursor::SourceLine& line);

// Where a machine is, in a sentence: what has just happened, who is about to do what, and when.
std::string standing_text(const LiveRun& run, const RunCursor& spot);
// "cycle 1,234 (0.66 us)"; "instruction 1,234" where there is no clock.
std::string moment_text(const LiveRun& run);
// GHz; 0: there is no time.
double clock_of(const LiveRun& run);
// When that is, in cycles. The machine's clock is where warps last met; after an instruction
// it is the time of the warp that executed it, which may be further.
double time_of(const sim::Machine& machine);

}  // namespace tilescope
