// Branches and the end of threads (PTX ISA 9.7.12), and how lanes wait for each other.
#include <fmt/format.h>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/calls.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"
#include "core/sim/tcgen05/handlers.h"

namespace tilescope::sim {

Flow together(Core& x, Mask m, Mask wanted, Wait kind) {
  Warp& w = *x.warp;
  wanted &= w.live;
  if (!(wanted & ~m)) return Flow::next;
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
  return all ? Flow::moved : Flow::yield;
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

// Profiling and dependent launches: nothing happens here.
Flow nothing_happens(Core&, const Code&, Mask) {
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
    case ptx::Op::griddepcontrol:
      return nothing_happens;
    case ptx::Op::nanosleep:
      return sleep;
    case ptx::Op::trap:
      return trap;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
