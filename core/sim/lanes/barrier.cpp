// Barriers of a block (PTX ISA 9.7.13.1) and memory fences (9.7.13.4).
//
// Of bar and barrier.aligned all live lanes of a warp must arrive together, and a warp counts as 32
// threads where the barrier has a count. Without .aligned each thread counts for itself. A barrier
// without a count completes when every thread of the block that has not exited has arrived (exit,
// 9.7.12.7, releases those who wait for it).
//
// Fences order nothing here: every access takes effect at once and in program order.
#include <fmt/format.h>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine.h"
#include "core/sim/together.h"

namespace tilescope::sim {
namespace {

using base::lane_array;

template <bool aligned, bool waits>
Flow barrier(Core& x, const Code& c, Mask m) {
  if (aligned) {
    const Flow flow = together(x, m, x.warp->live, Wait::aligned);
    if (flow != Flow::next) return flow;
  }
  const int lane = __builtin_ctz(m);
  const std::uint32_t id = lane_array<std::uint32_t>(x, c.a)[lane];
  const std::uint32_t count = c.b == nothing ? 0 : lane_array<std::uint32_t>(x, c.b)[lane];
  if (id > 15) {
    return x.machine->fault(x, lane, "bad_barrier", "there is no such barrier in a block",
                            "a barrier from 0 to 15", fmt::format("barrier {}", id));
  }
  if (c.b != nothing && (count == 0 || count % 32)) {
    return x.machine->fault(
        x, lane, "bad_barrier",
        fmt::format("barrier {} is given a number of threads that it cannot have", id),
        "a multiple of 32 above 0", fmt::format("{} threads", count));
  }
  Barrier& b = x.block->barriers[id];
  if (b.arrived && b.expected != count) {
    const auto said = [](std::uint32_t n) {
      return n ? fmt::format("{} threads", n) : std::string("all threads of the block");
    };
    return x.machine->fault(
        x, lane, "barrier_mismatch",
        fmt::format(
            "barrier {} is used with two numbers of threads at once; it was opened at PTX line {}",
            id, x.machine->program().code[b.opened_at].line),
        said(b.expected), said(count));
  }
  if (b.arrived == 0) b.opened_at = x.pc;
  b.expected = count;
  b.arrived += aligned && count ? 32 : static_cast<std::uint32_t>(__builtin_popcount(m));
  Split& s = x.warp->splits[x.split];
  if (const Mask others = s.mask & ~m) {
    Split on;
    on.pc = x.pc + 1;
    on.mask = others;
    x.warp->splits.push_back(on);
  }
  Split& here = x.warp->splits[x.split];
  here.mask = m;
  here.pc = x.pc + 1;
  if (waits) {
    here.wait = Wait::barrier;
    here.barrier = static_cast<std::uint8_t>(id);
  }
  x.machine->finish_barriers(*x.block);
  return Flow::yield;
}

Flow fence(Core&, const Code&, Mask) {
  return Flow::next;
}

}  // namespace

Handler barrier_handler(const ptx::Instruction& i) {
  using ptx::Op;
  if (i.op == Op::membar || i.op == Op::fence) return fence;
  if (i.modifiers.has(ptx::Field::warp)) return warp_barrier_handler();
  const bool waits = i.modifiers.operation() == ptx::Operation::sync;
  if (i.op == Op::bar || i.modifiers.has(ptx::Field::aligned)) {
    return waits ? barrier<true, true> : barrier<true, false>;
  }
  return waits ? barrier<false, true> : barrier<false, false>;
}

}  // namespace tilescope::sim
