// How a warp executes: split after split, and in a split instruction after instruction. Once, for
// both ways to run: in order (scheduler.cpp) and by the clock (time/clocked.cpp). What differs is
// the Way's:
//
//   goes_on()         the warp's turn is not over
//   all_wait()        none of its splits can go on
//   reaches(x)        it stands before the instruction at x.pc. False: its turn is over there
//   issues(x, c, m)   lanes m are about to execute it
//   has_executed(x)   they have
//   runs_on()         nothing of this is asked for where an instruction goes on to the next one
//   is_over()         whether the split's turn is, after it
//   has_moved()       the split is somewhere else
//   has_run(block, ran)   a split's turn is over, or the budget
//
// All of them are inlined: this is the simulator's inner loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/sim/checks/signallers.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {

inline bool is_ready(const Warp& warp) {
  return std::any_of(warp.splits.begin(), warp.splits.end(),
                     [](const Split& s) { return s.wait == Wait::none; });
}

// `all` have come to the instruction, and its guard lets `executes` through. The last that a warp
// came to stands last (core/sim/checks/around.h). Where there are too many, those stay that bring
// others on: what others did is a help, but no cause of a deadlock.
inline void note_lanes(Core& x, Mask all, Mask executes) {
  std::vector<Visited>& visited = x.warp->visited;
  if (!visited.empty() && visited.back().pc == x.pc) {
    Visited& v = visited.back();
    v.executed = (v.executed & ~all) | executes;
    v.kept_out = (v.kept_out & ~all) | (all & ~executes);
    return;
  }
  Visited now{x.pc, executes, all & ~executes};
  auto out =
      std::find_if(visited.begin(), visited.end(), [&](const Visited& v) { return v.pc == x.pc; });
  if (out != visited.end()) {
    now.executed |= out->executed & ~all;
    now.kept_out |= out->kept_out & ~all;
  } else if (visited.size() == Warp::most_visited) {
    const ptx::Program& program = x.machine->program();
    out = std::find_if(visited.begin(), visited.end(),
                       [&](const Visited& v) { return !brings_others_on(program, v.pc); });
    if (out == visited.end()) return;
  }
  if (out != visited.end()) visited.erase(out);
  visited.push_back(now);
}

// Runs one split until it waits, ends or divides (`ended`), its turn is over, or it has executed
// `limit` instructions; in company also until the end of a block, where it may meet another.
template <class Way>
std::uint64_t Scheduler::run_split(Core& x, Way way, std::uint64_t limit, bool stop_at_block_end,
                                   bool& ended) {
  std::uint64_t executed = 0;
  Warp& warp = *x.warp;
  Mask mask = warp.splits[x.split].mask;
  std::uint32_t pc = warp.splits[x.split].pc;
  ended = false;
  x.limit = limit;
  x.executed = &executed;
  while (executed < x.limit && !ended) {
    const Code& c = x.code[pc];
    x.pc = pc;
    Flow flow = Flow::next;
    if (c.plain && way.runs_on() && !warp.undefined_registers) {
      const Code* at = &c;
      do {
        x.pc = pc;
        ++executed;
        flow = at->run(x, *at, mask);
        if (flow != Flow::next) break;
        ++pc;
        ++at;
      } while (at->plain && executed < x.limit && !warp.undefined_registers);
      if (flow == Flow::next) continue;
    } else {
      if (!way.reaches(x)) break;
      const Mask m = mask & (x.predicates[c.guard] ^ c.guard_flip);
      way.issues(x, c, m);
      ++executed;
      if (c.notes_lanes) note_lanes(x, mask, m);
      if (warp.undefined_registers) {
        flow = run_carefully(x, c, mask, m);
      } else if (m) {
        flow = c.run(x, c, m);
      }
      way.has_executed(x);
      if (flow == Flow::next) {
        ++pc;
        ended = (stop_at_block_end && c.ends_block) || way.is_over();
        continue;
      }
    }
    if (flow == Flow::moved) way.has_moved();
    // It stands where it failed.
    if (flow == Flow::fault && x.split < warp.splits.size()) warp.splits[x.split].pc = pc;
    ended = flow != Flow::moved || stop_at_block_end || way.is_over();
    if (flow != Flow::moved) return executed;  // the handler has left the splits as they are to be
    mask = warp.splits[x.split].mask;
    pc = warp.splits[x.split].pc;
  }
  warp.splits[x.split].pc = pc;
  return executed;
}

// Fewer than `budget` instructions: the warp's turn is over, it waits or has ended.
template <class Way>
std::uint64_t Scheduler::run_warp(Block& block, Warp& warp, Way way, std::uint64_t budget) {
  std::uint64_t executed = 0;
  while (executed < budget && model_->state == RunState::running && way.goes_on() &&
         !model_->stops.hit()) {
    if (warp.current < 0 && !choose_split(warp)) {
      way.all_wait();
      break;
    }
    Core x = model_->core_of(block, warp);
    x.split = static_cast<std::uint32_t>(warp.current);
    const bool company = warp.splits.size() > 1;
    const Mask mask = warp.splits[x.split].mask;
    bool ended = false;
    const std::uint64_t ran = run_split(x, way, std::min(budget - executed, warp.turn_left),
                                        company && !warp.fair, ended);
    executed += ran;
    model_->instructions += ran;
    warp.executed += ran;
    way.has_run(block, ran);
    warp.turn_left -= ran;
    if (company) warp.unfair_for += ran;
    // Where splits have become one, the current one has another index now.
    warp.current = ended || warp.turn_left == 0 ? -1 : static_cast<std::int32_t>(x.split);
    if (!ran) continue;
    model_->last = {block.number, warp.index, x.pc, mask, model_->moments};
    if (model_->stops.asked()) model_->watcher.look_for_stop(block, warp, x.pc, mask);
  }
  return executed;
}

}  // namespace tilescope::sim
