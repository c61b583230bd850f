// Going through a run in both directions: a machine, copies of it along its way, and what is known
// of the run so far.
//
//   Outcome<Stepper> s = Stepper::load(job, options);
//   s->step({.by = StepBy::phase, .count = 3});        // or go_to(), to_the_end(), ...
//   while (s->go_on(100'000) == Arrival::going) show(s->progress());   // stop calling: it stays
//   inspect(s->machine());
//
// A place is a position of the machine (core/sim/machine/stops.h), and whether the run is known to
// be over there. Going back is going forward from a copy: the machine at a place is the same, bit
// for bit, from wherever one came. A step back leads to the previous place at which one forward
// would have stopped, so that a step forward from there leads here again, if here was such a place.
//
// Where there is no such place, it is at the end of the run, or at its beginning.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sim/stepping/checkpoints.h"

namespace tilescope::sim {

enum class StepBy : std::uint8_t {
  instruction,  // a warp has executed one
  line,         // a warp comes to another line of the source
  phase,        // a phase of an mbarrier is complete
  barrier,      // a barrier of a block (bar.sync) is
  cluster,      // barrier.cluster is
  copy,         // a copy was issued, or is complete
  product,      // a product was issued, or is complete; mma.sync was executed
  write,        // to what Step::watch says
  fault,        // just before it, with Stepper::fault() known
  report,       // a hazard or note was reported; or the run ended with a fault
  moment,       // whatever comes next: an instruction, or a moment of an operation
  breakpoint,   // to one of Step::breaks
};
std::string_view name_of(StepBy by);

struct Step {
  StepBy by = StepBy::instruction;
  bool back = false;
  std::uint64_t count = 1;
  // Only what these do. Of lines: those of the warp that executed last, where nobody is named.
  std::optional<std::uint64_t> block{};
  std::optional<std::uint32_t> warp{};
  std::optional<std::uint32_t> object{};  // the barrier: its number, or offset in shared memory
  std::uint32_t stages = bit(Stage::issued) | bit(Stage::complete);
  bool into = false;  // of lines: also those of functions called and inlined
  Watch watch{};
  StopAt breaks{};  // all of them together
};

enum class Arrival : std::uint8_t {
  going,  // go_on() again
  there,
  none,  // there is no such place: it is at the end, or at the beginning
};

class Stepper {
 public:
  static Outcome<Stepper> load(Job job, Options options = {}, CheckpointLimits limits = {});
  // A machine that has not run yet. One with a record writes it until it first goes back, or until
  // it is told to stop.
  explicit Stepper(Machine machine, CheckpointLimits limits = {});
  void stop_recording() { now_ = Machine(std::as_const(now_)); }

  // ---- where it is ----
  const Machine& machine() const { return now_; }
  std::uint64_t position() const { return now_.position(); }
  // Has the run ended here? RunState::running: it goes on, as far as is known.
  RunState state() const { return now_.state(); }
  // What it stopped for; nothing where it did so for a position or a number of instructions.
  const std::optional<Happened>& reason() const { return reason_; }

  // ---- what is known of the run, from wherever it has been ----
  // How the run ends, once that was seen.
  std::optional<RunState> ending() const { return ending_; }
  const Report* fault() const;  // that it ends with
  // What it tells from its beginning to its end, once that was seen; else what it has told up to
  // here.
  const std::vector<Report>& known_reports() const {
    return ending_ ? reports_of_end_ : now_.reports();
  }
  // Did the last step lead to the place just before it?
  bool stands_before_fault() const { return before_fault_; }
  // The number of the report that is of this moment, on whichever way it came here: it has just
  // been told; or it is the fault, and this the place before it that was found once.
  std::optional<std::uint32_t> report_here() const;
  const Checkpoints& checkpoints() const { return checkpoints_; }

  // ---- going: each of these begins a way, in place of the one under way ----
  void step(const Step& step);
  void go_to(std::uint64_t position);  // or the first one after that can be stood at
  void go_to_instruction(std::uint64_t count);
  void go_to_cycle(double cycle);  // by Machine::now()
  // To where it has just told this report, counted from 0: after the instruction, or the end.
  void go_to_report(std::uint32_t number);
  void to_the_beginning() { go_to(0); }
  void to_the_end();

  // Executes about so many instructions on the way.
  Arrival go_on(std::uint64_t budget);
  Arrival arrive();  // all of the way
  struct Progress {
    std::uint64_t position = 0;
    std::optional<std::uint64_t> target;  // position; nothing: not known
  };
  Progress progress() const { return {position(), target_}; }
  // Of the way that has come to an end: "there is no earlier phase of an mbarrier"; else empty.
  const std::string& story() const { return story_; }

 private:
  // What is under way: to a place; to the nth stop from here on; through the intervals between
  // copies, the last one first, noting the stops in each; to the end, and back to before the fault.
  enum class Way : std::uint8_t { none, seek, count, scan, fault, before_fault };

  // ways.cpp
  void step_forward();
  void step_back();
  bool step_back_by_number();
  StopAt stops_of(const Step& step) const;
  bool is_indexed(Happening what) const;
  const Happened* find_in_index(const StopAt& at) const;  // the one that is `left_` stops away
  void seek(StopAt at, Way way = Way::seek);
  void seek_position(std::uint64_t position, Way way = Way::seek);
  void scan_before(std::uint64_t position);
  void seek_stop(const Happened& stop);
  void give_up();  // there is no such place

  // stepper.cpp
  Arrival advance(std::uint64_t& budget);
  Arrival arrived_at(RunState state);
  Arrival scanned(RunState state);
  Arrival found_fault();
  Arrival counted(RunState state);
  Arrival finish(Arrival arrival);
  RunState run(std::uint64_t& budget);
  void restore(const Checkpoint& from);
  void learn(RunState state);
  double remaining() const;

  Machine now_;
  double cost_ = 0;  // of now_, as Checkpoint::cost
  Checkpoints checkpoints_;
  double rate_ = 0;              // milliseconds a position
  std::vector<Happened> index_;  // all of those kinds that are kept, up to indexed_to_
  std::uint64_t indexed_to_ = 0, known_to_ = 0;
  std::optional<RunState> ending_;
  std::uint64_t end_ = 0;  // position
  std::vector<Report> reports_of_end_;

  Way way_ = Way::none;
  Arrival result_ = Arrival::there;  // what it is when the way has come to its end
  Step step_;
  StopAt at_;                  // that the machine is asked for
  std::uint64_t left_ = 0;     // stops to come
  std::uint64_t origin_ = 0;   // position at which the way began
  bool origin_ended_ = false;  // and that the run was over there
  std::uint64_t from_ = 0;     // of a scan: the interval (from_, until_]
  std::uint64_t until_ = 0;
  std::deque<Happened> stops_;     // the last `left_` in the interval
  std::uint64_t in_interval_ = 0;  // how many there are
  std::optional<std::uint64_t> target_;
  std::optional<Happened> reason_;
  std::string story_;
  bool before_fault_ = false;
  std::optional<std::uint64_t> before_fault_at_;  // position, once it was found
  std::shared_ptr<const std::vector<std::uint32_t>> outer_lines_, inner_lines_;
};

// Of each instruction the number of the line of the source that it belongs to: one of another file
// where it was inlined belongs, seen from outside, to the line of the call. Instructions of which
// no line is known belong to the one before.
std::vector<std::uint32_t> lines_of(const ptx::Program& program, bool inner);

}  // namespace tilescope::sim
