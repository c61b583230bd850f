// Where a run is to stop, and what happens on its way.
//
// A stop is between two steps of a run. A step is one instruction of a warp, or one moment of an
// operation in flight (core/sim/async/operation.h); Machine::position() counts both, so that a run
// passes every position once and a position names one state of the machine. Some moments come
// together, as when a block has ended: the positions between them are passed over.
//
//   machine.watcher.stop_at(where);                                     // from the next run() on
//   while (machine.run(budget) == RunState::running) { ... }    // stopped, done or fault
//   machine.stops.last()                                      // what it was
//   machine.run(budget);                                        // goes on to the next such place
//
// Stopping changes nothing in the run. A machine that is asked for nothing looks for nothing.
//
// For loops that execute instructions. A warp runs at most room() instructions; after them come
// executed() and settle(). What units do meanwhile they tell by happened(), without a position,
// since the current instruction is not counted yet; it is settled with that instruction. Where
// hit() is true then, the loop goes back to its caller, so that the next run() goes on as if
// nothing had been.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/ptx/program.h"
#include "core/sim/async/operation.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct Block;
struct Warp;
enum class Unit : std::uint8_t;  // core/record/event.h

enum class Happening : std::uint8_t {
  copy,         // a moment of a copy: cp.async, bulk, TMA, tcgen05.cp, words sent
  product,      // of a product: tcgen05.mma, or an mma.sync executed
  phase,        // of an mbarrier: complete
  barrier,      // a named barrier of a block, complete
  cluster,      // barrier.cluster, complete
  write,        // to bytes or cells that are watched
  line,         // a warp is at another line of the source, and nothing of this one holds it
  instruction,  // a warp has executed one
  report,       // a hazard or a note was reported; object: its number
  count_
};
constexpr std::uint32_t bit(Happening what) {
  return 1u << static_cast<int>(what);
}
constexpr std::uint32_t bit(Stage stage) {
  return 1u << static_cast<int>(stage);
}

struct Happened {
  static constexpr std::uint32_t at_hand = ~0u;  // the warp that has just executed something
  Happening what = Happening::instruction;
  Unit unit{};                     // that the operation is of, or the barrier; else the warp
  Stage stage = Stage::complete;   // of an operation: that it has come to
  std::uint8_t passed = 0;         // this one, and others on the way to it: a bit each
  std::uint32_t warp = 0, pc = 0;  // who executed, issued, or completed it
  // The barrier: its number, or its offset in shared memory. Of a write: which watch.
  std::uint32_t object = 0;
  std::uint64_t block = 0;     // of that warp; of a barrier: the barrier's
  std::uint64_t number = 0;    // the phase that is complete; the operation's, in its block
  std::uint64_t position = 0;  // of the machine, after it
};

// The last instruction that a machine has executed, and by whom; and how many moments were past
// then.
struct Executed {
  std::uint64_t block = 0;
  std::uint32_t warp = 0, pc = 0;
  std::uint32_t mask = 0;  // lanes; 0: nobody has executed anything
  std::uint64_t moments = 0;
};

// Bytes or cells whose next write is asked for.
struct Watch {
  enum class Where : std::uint8_t { nowhere, global, shared, tensor };
  Where where = Where::nowhere;
  std::uint64_t block = 0;           // of shared memory and TMEM
  std::uint64_t begin = 0, end = 0;  // addresses; offsets in the block's shared memory
  CellRange cells;
};

struct StopAt {
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint32_t what = 0;      // a bit for each Happening
  std::uint32_t stages = ~0u;  // of operations, a bit each
  // Only what these did, or what is done to this barrier.
  std::optional<std::uint64_t> block;
  std::optional<std::uint32_t> warp, object;
  static constexpr std::size_t most_watches = 64;
  std::vector<Watch> watches;  // at most so many
  // Of each instruction, which line it is of: where `line` is asked for. A warp that is in more
  // calls than `depth` comes to no other line.
  std::shared_ptr<const std::vector<std::uint32_t>> lines;
  std::uint32_t depth = ~0u;
  bool some_lines = false;  // line 0 is none to stop at
  // Only these phases; empty: all.
  struct Phase {
    std::uint32_t object = 0;  // the mbarrier
    std::optional<std::uint64_t> block, number;
  };
  std::vector<Phase> phases;
  // Where the machine has come to this position; to so many instructions; the warp above to so
  // many.
  std::uint64_t position = never, instructions = never, executed = never;
  // All have come to this (Machine::all_have_reached()): cycles, or instructions where there is no
  // clock.
  static constexpr double no_cycle = 1e300;
  double cycle = no_cycle;
  // These are kept, and no stop (a bit for each Happening): Stops::take().
  std::uint32_t kept = 0;
};

class Stops {
 public:
  // ---- for those who ask ----
  const StopAt& where() const { return at_; }
  bool hit() const { return hit_; }
  const std::optional<Happened>& last() const {
    return last_;
  }  // why it stopped, if by a happening
  std::size_t kept() const { return kept_.size(); }
  std::vector<Happened> take() { return std::exchange(kept_, {}); }

  // ---- for the machine and its loops ----
  void ask(StopAt at, const ptx::Program& program);
  void go_on();
  bool asked() const { return asked_; }
  bool asks_for_one() const { return at_.object.has_value(); }  // by its number
  // Instructions that this warp may execute now, at least 1.
  std::uint64_t room(const Block& block, const Warp& warp, std::uint64_t position,
                     std::uint64_t instructions) const {
    return asked_ ? limit(block, warp, position, instructions) : StopAt::never;
  }
  void happened(const Happened& what) {
    if (asked_ && (wanted_ & bit(what.what))) fresh_.push_back(what);
  }
  // A barrier lets lanes of a warp go on: they wait no more after the instruction at `pc`.
  void released(const Block& block, const Warp& warp, std::uint32_t pc, std::uint32_t lanes);
  // An operation of a warp of `issuer` was issued, or has come from a stage to another.
  void issued(const Block& issuer, const AsyncOperation& operation);
  void moved(const Block& issuer, const AsyncOperation& operation, Stage from);
  // A warp has executed instructions, the last one at `pc` by `lanes`: one only where each of them
  // is asked for.
  void executed(const ptx::Program& program, const Block& block, const Warp& warp, std::uint32_t pc,
                std::uint32_t lanes);
  // What is fresh happened up to here.
  void settle(std::uint64_t position, std::uint64_t instructions, bool at_cycle);

 private:
  std::uint64_t limit(const Block& block, const Warp& warp, std::uint64_t position,
                      std::uint64_t instructions) const;
  bool comes_to_line(const Warp& warp, std::uint32_t pc, std::uint32_t lanes) const;

  StopAt at_;
  std::uint32_t wanted_ = 0;  // to stop at or to keep
  bool asked_ = false, each_ = false, hit_ = false;
  std::vector<Happened> fresh_, kept_;
  std::optional<Happened> last_;
};

// Does a program have products or copies of this kind that are over when their instruction is, or
// that their threads alone wait for (mma.sync, cp.async)?
bool executes(const ptx::Program& program, Happening what);

// Is it one of those that are asked for?
bool matches(const StopAt& at, const Happened& what);

}  // namespace tilescope::sim
