// Branches and the end of threads (PTX ISA 9.7.12), and how lanes wait for each other.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/sim/checks/late_reads.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/calls.h"
#include "core/sim/machine/early.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"
#include "core/sim/tcgen05/handlers.h"

namespace tilescope::sim {

namespace {

// Is this split at the same barrier of the block as the instruction at hand, for as many threads
// and to do the same there?
bool is_at_same_barrier(const Core& x, const Split& s) {
  const auto& code = x.machine->program().code;
  if (s.wait != Wait::aligned || code[s.pc].op != code[x.pc].op ||
      code[s.pc].unit != ptx::Unit::barrier || code[s.pc].modifiers.has(ptx::Field::cluster) ||
      code[s.pc].modifiers.operation() != code[x.pc].modifiers.operation() ||
      code[s.pc].modifiers.reduce() != code[x.pc].modifiers.reduce()) {
    return false;
  }
  const auto same = [&](Reference theirs, Reference mine) {
    if (theirs == nothing || mine == nothing) return theirs == mine;
    const int other = __builtin_ctz(s.mask), own = __builtin_ctz(x.warp->splits[x.split].mask);
    return base::lane_array<std::uint32_t>(x, theirs)[other] ==
           base::lane_array<std::uint32_t>(x, mine)[own];
  };
  return same(x.code[s.pc].a, x.code[x.pc].a) && same(x.code[s.pc].b, x.code[x.pc].b);
}

// "lanes 16-31 at PTX line 21, lanes 0-15 at PTX line 24"
std::string parts_text(const Core& x) {
  std::string out;
  for (const Split& s : x.warp->splits) {
    const std::uint32_t line = x.machine->program().code[s.pc].line;
    out += fmt::format("{}{} at PTX line {}", out.empty() ? "" : ", ", lanes_text(s.mask), line);
  }
  return out;
}

// All lanes of the warp that have not exited have come to one barrier, by several instructions,
// though .aligned says that they execute the same one, and else nothing is defined (9.7.13.1). An
// H100 runs that where ptxas 13.0 has put no WARPSYNC.ALL before either, as it does where two
// branches hold nothing else; with those, as branches or predicated, it hangs (measured). So the
// parts go on here, and arrive one by one. Parts at different barriers, or of which one is at
// another aligned instruction, hang (measured: bar.sync 0 and 1, bar and shfl, bar and mma, two
// mma): they wait.
void part_ways(Core& x) {
  std::vector<Split>& splits = x.warp->splits;
  if (!std::all_of(splits.begin(), splits.end(),
                   [&](const Split& s) { return is_at_same_barrier(x, s); })) {
    return;
  }
  x.reports->hazard(x, __builtin_ctz(splits[x.split].mask), "divergent_barrier", x.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "lanes of warp {} come to one barrier by different instructions, each of which is for the "
        "whole warp: {}",
        x.warp->index, parts_text(x));
    r.expected = "one instruction for all of them, or barrier.sync without .aligned";
    r.found = "what an H100 hangs on, but where ptxas puts no WARPSYNC before them";
    return r;
  });
  for (Split& s : splits) {
    s.wait = Wait::none;
    s.apart = true;
  }
}

}  // namespace

Flow together(Core& x, Mask m, Mask wanted, Wait kind, bool orders) {
  Warp& w = *x.warp;
  wanted &= w.live;
  const bool apart = std::exchange(w.splits[x.split].apart, false);
  if (apart || !(wanted & ~m)) {
    // Of these instructions PTX promises an order of what the lanes do in memory only for barriers
    // (9.7.13); chips have one for all, and here it counts.
    if (orders && x.block->order.on()) observer(x).lanes_meet(m, w.live);
    return Flow::next;
  }
  if (const Mask others = w.splits[x.split].mask & ~m) {
    Split on;
    on.pc = x.pc + 1;
    on.mask = others;
    w.splits.push_back(on);
  }
  Mask here = m;
  for (std::uint32_t k = 0; k < w.splits.size();) {
    const Split& other = w.splits[k];
    if (k == x.split || other.pc != x.pc || other.wait != kind) {
      ++k;
      continue;
    }
    here |= other.mask;
    w.splits.erase(w.splits.begin() + k);
    if (k < x.split) --x.split;
  }
  Split& s = w.splits[x.split];
  s.mask = here;
  s.pc = x.pc;
  const bool all = !(wanted & ~here);
  s.wait = all ? Wait::none : kind;
  s.wanted = all ? 0 : wanted;
  if (all) return Flow::moved;
  part_ways(x);
  return Flow::yield;
}

Flow wait_here(Core& x, Mask m, Wait kind) {
  Warp& w = *x.warp;
  if (const Mask others = w.splits[x.split].mask & ~m) {
    Split on;
    on.pc = x.pc + 1;
    on.mask = others;
    w.splits.push_back(on);
  }
  Split& s = w.splits[x.split];
  s.mask = m;
  s.pc = x.pc;
  s.wait = kind;
  return Flow::yield;
}

Flow end_lanes(Core& x, Mask m) {
  Warp& w = *x.warp;
  if (!w.copies.open.empty()) watch_exit(x, m);
  w.live &= ~m;
  ++x.block->meetings;
  x.block->live_threads -= static_cast<std::uint32_t>(__builtin_popcount(m));
  if (!x.block->live_threads) x.machine->dispatcher.leave(*x.block);
  // Who waited for these lanes need not any more: each looks again when it is its turn.
  for (Split& s : w.splits) {
    if (s.wait == Wait::others || s.wait == Wait::aligned) s.wait = Wait::none;
  }
  Split& s = w.splits[x.split];
  s.mask &= ~m;
  if (s.mask) {
    s.pc = x.pc + 1;
  } else {
    w.splits.erase(w.splits.begin() + x.split);
  }
  finish_barriers(*x.machine, *x.block);
  return Flow::yield;
}

namespace {

Flow branch(Core& x, const Code& c, Mask m) {
  drop_late_reads(x, m);
  Split& s = x.warp->splits[x.split];
  if (m == s.mask) {
    s.pc = c.target;
    return Flow::moved;
  }
  s.mask &= ~m;
  s.pc = x.pc + 1;
  Split taken;
  taken.pc = c.target;
  taken.mask = m;
  x.warp->splits.push_back(taken);
  return Flow::yield;
}

// brx.idx (9.7.12.4): lane for lane, the label with the number that it holds.
Flow branch_by_index(Core& x, const Code& c, Mask m) {
  drop_late_reads(x, m);
  const std::uint32_t* index = base::lane_array<std::uint32_t>(x, c.a);
  Warp& w = *x.warp;
  const Mask all = w.splits[x.split].mask;
  const auto count = static_cast<std::uint32_t>(c.immediate);
  bool first = true;
  const auto send = [&](Mask lanes, std::uint32_t pc) {
    Split split;
    split.pc = pc;
    split.mask = lanes;
    if (first) {
      w.splits[x.split] = split;
    } else {
      w.splits.push_back(split);
    }
    first = false;
  };
  for (Mask rest = m; rest;) {
    const int lane = __builtin_ctz(rest);
    if (index[lane] >= count) {
      return x.reports->fault(x, lane, "bad_branch", "brx.idx has no label with this number",
                              fmt::format("a number below {}", count),
                              fmt::format("{}", index[lane]));
    }
    const std::uint32_t to = x.elements[c.target + index[lane]];
    Mask group = 0;
    for (Mask other = rest; other; other &= other - 1) {
      const int l = __builtin_ctz(other);
      if (index[l] < count && x.elements[c.target + index[l]] == to) group |= Mask{1} << l;
    }
    rest &= ~group;
    send(group, to);
    if (group == all) return Flow::moved;
  }
  if (all & ~m) send(all & ~m, x.pc + 1);
  return Flow::yield;
}

Flow exit_lanes(Core& x, const Code&, Mask m) {
  return end_lanes(x, m);
}

// Profiling: nothing happens here.
Flow nothing_happens(Core&, const Code&, Mask) {
  return Flow::next;
}

// The launches before this one are over (launches run one after the other); what comes before this
// they may still have been at work with.
Flow wait_for_launches(Core& x, const Code&, Mask) {
  note_wait(x);
  return Flow::next;
}

// None runs beside this one here, but it could.
Flow let_dependents_begin(Core& x, const Code&, Mask) {
  note_dependents(x);
  return Flow::next;
}

Flow breakpoint(Core& x, const Code&, Mask m) {
  return x.reports->fault(x, __builtin_ctz(m), "breakpoint",
                          "the kernel executed brkpt, and there is no debugger to go on with", "",
                          "");
}

// Sleeping is leaving the turn to the other splits of the warp.
Flow sleep(Core& x, const Code&, Mask) {
  x.warp->splits[x.split].pc = x.pc + 1;
  return Flow::yield;
}

Flow trap(Core& x, const Code&, Mask m) {
  return x.reports->fault(x, __builtin_ctz(m), "trap",
                          "the kernel executed trap" + moved_base_text(x), "", "");
}

}  // namespace

Handler control_handler(const ptx::Instruction& i) {
  switch (i.op) {
    case ptx::Op::bra:
      return branch;
    case ptx::Op::brx:
      return branch_by_index;
    case ptx::Op::call:
      return call;
    case ptx::Op::ret:
      return leave;
    case ptx::Op::exit:
      return exit_lanes;
    case ptx::Op::brkpt:
      return breakpoint;
    case ptx::Op::pmevent:
      return nothing_happens;
    case ptx::Op::griddepcontrol:
      return i.modifiers.operation() == ptx::Operation::wait ? wait_for_launches
                                                             : let_dependents_begin;
    case ptx::Op::nanosleep:
      return sleep;
    case ptx::Op::trap:
      return trap;
    case ptx::Op::alloca_:
    case ptx::Op::stacksave:
    case ptx::Op::stackrestore:
      return stack_handler(i);
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
