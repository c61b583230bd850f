// How the barriers of a block complete.
#include <algorithm>
#include <utility>

#include "core/sim/checks/unread.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

// Warps of which all lanes that have not exited are there count from now on.
void count_warps(const Block& block, Barrier& b) {
  for (const Warp& w : block.warps) {
    Mask& came = b.came[w.index];
    if (!came || (w.live & ~came)) continue;
    b.arrived += b.expected ? 32 : static_cast<std::uint32_t>(__builtin_popcount(w.live));
    came = 0;
  }
}

// "The barrier is reinitialized so that it can be immediately reused." Lanes whose warp has not
// counted are there for the next round.
void begin_anew(Barrier& b) {
  if (std::all_of(b.came.begin(), b.came.end(), [](Mask m) { return m == 0; })) {
    b = {};
  } else {
    b.arrived = b.yes = b.no = 0;
  }
}

}  // namespace

// A barrier is complete when as many threads have arrived as it is for. Threads that have exited
// hold up nobody (PTX ISA 9.7.12.7).
void finish_barriers(Model& machine, Block& block) {
  for (std::uint32_t id = 0; id < block.barriers.size(); ++id) {
    Barrier& b = block.barriers[id];
    if (!b.open) continue;
    count_warps(block, b);
    const std::uint32_t wanted = b.expected ? b.expected : block.live_threads;
    if (b.arrived == 0 || b.arrived < wanted) continue;
    machine.recording.note_phase(block, Unit::barrier, id, 0);
    machine.scheduler.pass_barrier(block, id);
    // Those that have exited were before them.
    for (const Warp& w : block.warps) {
      if (block.order.on() && !w.live) block.order.of(w.index).exit(b.view);
    }
    std::uint32_t released = 0;
    for (Warp& w : block.warps) {
      for (Split& s : w.splits) {
        if (s.wait != Wait::barrier || s.barrier != id || (b.came[w.index] & s.mask)) continue;
        s.wait = Wait::none;
        released += static_cast<std::uint32_t>(__builtin_popcount(s.mask));
        machine.stops.released(block, w, s.pc - 1, s.mask);
        if (block.order.on()) {
          block.order.of(w.index).acquire(b.view);
          block.order.of(w.index).acquire_doubts(b.doubts);
        }
        if (b.reduce == ptx::Reduce::none) continue;
        Core x = machine.core_of(block, w);
        finish_reduction(x, x.code[s.pc - 1], s.mask, b);
      }
    }
    if (released == block.live_threads && block.order.on()) {
      block.order.shared.forget_reads(
          [&](std::uint32_t pc) { return may_be_overtaken(machine, pc); });
    }
    block.order.came_before[id] = std::exchange(block.order.came[id], {});
    Happened done;
    done.what = Happening::barrier;
    done.block = block.number;
    done.warp = Happened::at_hand;
    done.object = id;
    machine.stops.happened(done);
    ++block.meetings;
    if (b.reduce == ptx::Reduce::none) ++block.plain_meetings;
    block.met_at[id] = machine.instructions;
    begin_anew(b);
  }
  finish_cluster_barrier(machine, block);
}

}  // namespace tilescope::sim
