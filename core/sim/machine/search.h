// Looks for an order in which a launch goes wrong, beyond the current one: a deadlock that is
// reachable, an mbarrier's phase that is overtaken, whatever else is a fault.
//
// Warps of a chip may be as late as they like. A kernel that synchronises rightly does not mind, so
// each warp is held back, in a run of its own, at each point where it meets others (barriers,
// mbarriers, copies, TMEM, atomics), until nothing else of its cluster can go on; in a grid of few
// CTAs that may tell each other something in global memory, until nothing else of that can. Then
// two are, the second somewhere after the first, of any block of the cluster, and so on: the order
// that is found first holds the fewest. That few delays suffice for most faults is known from
// programs of the same kind (Emmi, Qadeer and Rakamaric, "Delay-bounded scheduling", POPL 2011).
//
// Clusters run the same program, so those that are held belong to the first one and the last one,
// where a grid's edges are; without clusters, to the first block and the last one. What was held is
// in Options::holds, and the same again when it is given to another run.
//
//   Search search(std::move(*machine), {.runs = 1000});
//   while (search.advance(1'000'000) == RunState::running) show(search.progress());
//   if (search.found()) show(*search.found());
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/sim/machine/machine.h"

namespace tilescope::sim {

struct SearchLimits {
  std::uint64_t runs = 1000;
  std::uint32_t holds = 3;  // in one run
  std::string kind;         // of a hazard that is looked for as well as a fault; empty: of none
};

class Search {
 public:
  struct Progress {
    std::uint64_t tried = 0;   // orders
    std::uint64_t known = 0;   // to be tried, these among them: more may show themselves
    std::uint64_t points = 0;  // where one warp was held, or is to be
    std::size_t holds = 0;     // in the current order
  };
  struct Found {
    std::vector<Hold> holds;
    std::vector<Report> reports;  // of that run: the last one is the fault, where there is one
  };

  // A hazard that somebody has to be held for, and the first order that shows it.
  struct Hazard {
    std::vector<Hold> holds;
    Report report;
  };

  // A machine that has not run yet; its own options are those of every run. Options::beside threads
  // of its executor run other orders beside the caller's: what is found, and how many were tried
  // before, is the same with any number.
  explicit Search(Machine machine, SearchLimits limits = {});

  // Executes about `budget` warp instructions. done: all orders within the limits were tried;
  // fault: found() is there.
  RunState advance(std::uint64_t budget);

  Progress progress() const;
  const std::optional<Found>& found() const { return found_; }
  // That the order in which nobody is held does not show: of each kind and place one, the first.
  const std::vector<Hazard>& hazards() const { return hazards_; }
  // Whether the limit on runs, not that on holds, ended it: then some of the orders with so many
  // holds were left out.
  bool cut_short() const { return left_out_; }

 private:
  using Holds = std::vector<Hold>;
  // An order that is tried.
  struct Run {
    Machine machine;
    bool over = false;
    std::uint64_t executed = 0;  // by the last call
    RunState state = RunState::running;
  };
  void begin(const Holds& holds);
  void advance(Run& run, const Holds& holds, std::uint64_t budget) const;
  std::uint64_t advance_all(std::uint64_t budget);  // answers how much was executed
  void end_first();
  bool fails(const Run& run, bool held) const;
  void note_hazards(const Machine& machine, const Holds& holds);
  bool is_over(const Machine& machine, const Holds& holds) const;  // nothing held matters any more
  bool is_wanted(const Hold& place, const Holds& before) const;
  void plan(Machine& machine, const Holds& before);

  Machine start_;
  SearchLimits limits_;
  std::uint64_t last_cluster_ = 0;
  Executor* executor_ = nullptr;
  std::vector<std::size_t> lines_;            // of it: one for each order beside the first
  std::deque<Holds> planned_;                 // the first are those that run
  std::deque<std::unique_ptr<Run>> running_;  // each where it was planned
  std::uint64_t tried_ = 0, known_ = 1, points_ = 0;
  bool left_out_ = false;
  std::optional<Found> found_;
  std::set<std::tuple<std::string, std::uint32_t, std::string>> known_hazards_;
  std::vector<Hazard> hazards_;
};

}  // namespace tilescope::sim
