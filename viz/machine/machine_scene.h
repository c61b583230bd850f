// A machine that is stopped, as pictures: who executes what, and what is where.
//
// All views show the same block, warp and lane (RunCursor), chosen in the line at their top; a
// click on anything leads to the others by the same commands that can be typed.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "viz/machine/breakpoints.h"
#include "viz/machine/comparison_view.h"
#include "viz/machine/live_run.h"
#include "viz/scene/scene.h"
#include "viz/scene/table_scene.h"

namespace tilescope {

// The event of the timeline that is selected, in views of a machine that may be elsewhere.
struct SelectedEvent {
  std::string sentence;
  std::string when;     // "cycles 2,336 to 2,735"
  std::string command;  // "go 2336"; empty: the machine is in the middle of it
};

struct AccumulatorFrame;
struct PipelineNow;

struct MachineShown {
  const LiveRun& run;
  const RunCursor& spot;
  const sim::Record* record = nullptr;  // for counters; null: it has not been run whole
  const Theme& theme;
  const std::vector<Breakpoint>& breakpoints;
  const ComparisonView* comparison = nullptr;  // with the baseline; null: there is none
  std::optional<SelectedEvent> event = {};     // of the block looked at
  // Which element of the output one of a warpgroup's accumulator goes to, "D [130, 7]", or all of
  // it, "D [128:192, 0:256]". Null, or empty: not known.
  using Place = std::optional<std::pair<std::uint32_t, std::uint32_t>>;  // row, column; or all
  std::function<std::string(const sim::GroupAccumulator&, Place)> output = {};
  const PipelineNow* pipeline = nullptr;  // viz/machine/pipeline_now.h; null: no record tells it

  const sim::Machine& machine() const { return run.stepper.machine(); }
  bool legend = true;  // what letters stand for, at the foot
};

// Blocks and warps to choose from, those that wait with the letter of what they wait for. Answers
// how high it is.
inline constexpr double whose_height = 72;
void draw_whose(Scene& scene, const MachineShown& shown, double width);

// The machine's views; `scroll` is where its list is. Answers how far that can be scrolled. The
// PTX beside the source is scrolled by itself: where it is drawn, and how far it can be.
double draw_source(Scene& scene, const MachineShown& shown, const Box& room, Scroll& scroll,
                   Box& ptx, double& most_of_ptx);
// Under the warpgroup's accumulator, if it has one (viz/machine/machine_accumulators.h).
double draw_registers(Scene& scene, const MachineShown& shown, const Box& room,
                      const AccumulatorFrame* accumulator, Scroll& scroll);
double draw_barriers(Scene& scene, const MachineShown& shown, const Box& room, Scroll& scroll);
// Shared memory and TMEM: viz/machine/memory_view.h and tensor_view.h.

// "m an mbarrier, l other lanes": what letters stand for; and as a line at the foot of a view.
std::string letters_text(const std::set<sim::Stall>& stalls);
inline constexpr double letters_height = 24;
void draw_letters(Scene& scene, const std::string& text, const Box& room);

// What an instruction is, without tabs and predicate's blanks: "@p1 bra L3".
std::string instruction_text(std::string_view text);

// "resident", "has not begun", "has exited"
std::string state_of_block(const sim::Machine& machine, std::uint64_t block);
// "Block 3 has exited: it has no TMEM now.", and what to do to see some.
std::string nothing_of_block(const sim::Machine& machine, std::uint64_t block,
                             std::string_view what);
// In as many lines as it needs.
void draw_sentence(Scene& scene, Point at, double width, std::string_view sentence);

}  // namespace tilescope
