// Clusters (PTX ISA 5.2, "Cooperative Thread Arrays and clusters"): blocks that are resident
// together and reach each other's shared memory.
//
// The blocks of a cluster lie side by side in Grid::blocks and keep their places until the last
// of them has ended, so that what one does to another that has gone is seen for what it is.
#include "core/sim/machine/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

// Arrivals and stores, asynchronous ones too. An H100 (driver 580, 50 launches of 132 clusters, and
// of 2,048) lets them go to a CTA that has exited, and says nothing; so it is presumed of commits,
// which arrive. A load, an atomic, a red and a bulk copy are an "unspecified launch failure" there.
bool goes_unnoticed(const Core& x) {
  const ptx::Instruction& i = x.machine->program().code[x.pc];
  return i.op == ptx::Op::mbarrier || i.op == ptx::Op::st || i.op == ptx::Op::tcgen05 ||
         (i.op == ptx::Op::red && i.modifiers.has(ptx::Field::async));
}

// The CTAs of a cluster begin together. Has this warp executed no more than the other CTA had when
// it was over? Then it is a race which of the two is first, that it loses here: an H100 ran
// CuTeDSL's mapa, in which each CTA reads the other one and exits, with one cluster 8 of 8 times,
// and with 2,048 clusters never.
bool could_be_in_time(const Core& x, const Block& peer) {
  const ptx::Instruction& i = x.machine->program().code[x.pc];
  if (i.op != ptx::Op::ld && i.op != ptx::Op::atom && i.op != ptx::Op::red) return false;
  const std::uint64_t mine = x.warp->executed + (x.executed ? *x.executed : 0);
  return std::any_of(peer.warps.begin(), peer.warps.end(),
                     [&](const Warp& w) { return w.executed >= mine; });
}

}  // namespace

// "Accessing the shared memory of another block needs it to have begun, and not to have ended"
// (CUDA C++ Programming Guide, "Distributed Shared Memory").
Block* reach(Core& x, int lane, u32 rank) {
  Block* peer = x.machine->member(*x.block, rank);
  const auto no = [&](const char* kind, std::string sentence, const char* expected,
                      const char* found) {
    x.reports->fault(x, lane, kind, std::move(sentence), expected, found);
    return nullptr;
  };
  if (!peer) {
    return no("bad_rank",
              fmt::format("CTA {} of a cluster of {} is accessed", rank, x.machine->cluster_size),
              "a rank in the cluster", "no such CTA");
  }
  if (peer == x.block) return peer;
  if (x.machine->order_log && x.block->order.on()) {
    const Observer& me = x.block->order.of(x.warp->index);
    peer->order.reached_by.push_back(
        {me.me(), me.epoch(), x.machine->step_of(*x.block, x.warp->index, x.pc)});
    if (!me.behind().knows(static_cast<u32>(peer->number))) {
      x.machine->order_log->blind(
          "it accesses the memory of another CTA of the cluster, which may not have started by "
          "then");
    }
  }
  if (peer->ended && (goes_unnoticed(x) || could_be_in_time(x, *peer))) {
    x.reports->hazard(x, lane, "peer_exited", x.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "this {} goes to CTA {} of the cluster, all of whose threads have exited: the memory may "
          "be another CTA's by now",
          ptx::opcode(x.machine->program().code[x.pc].op).name, rank);
      r.expected = "a barrier.cluster, or another wait of that CTA for this one, before it exits";
      r.found = "a CTA that has exited";
      return r;
    });
    return peer;
  }
  if (peer->ended) {
    return no("peer_exited",
              fmt::format("the shared memory of CTA {} of the cluster is accessed, but all its "
                          "threads have exited: the memory may be another CTA's by now",
                          rank),
              "a barrier.cluster, or another wait of that CTA for this one, before it exits",
              "a CTA that has exited");
  }
  // The CTAs of a cluster are resident together, and have their shared memory, before the first of
  // them executes anything: an access that comes too early arrives, and may be overwritten.
  if (!(x.block->heard >> rank & 1)) {
    x.reports->hazard(x, lane, "peer_not_started", x.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "the shared memory of CTA {} of the cluster is accessed, and nothing guarantees that it "
          "has started",
          rank);
      r.expected = "a barrier.cluster before the first access to another CTA";
      r.found = "none yet, nor an arrival from it";
      return r;
    });
  }
  return peer;
}

// The barrier of the cluster is complete when all its threads that have not exited have arrived
// (9.7.13.3).
void finish_cluster_barrier(Model& machine, Block& block) {
  bool any = false;
  for (u32 r = 0; r < machine.cluster_size; ++r) {
    for (const Warp& w : machine.member(block, r)->warps) {
      if (w.live & ~w.cluster_arrived) return;
      any = any || w.cluster_arrived;
    }
  }
  if (!any) return;
  Happened done;
  done.what = Happening::cluster;
  done.block = block.number;
  done.warp = Happened::at_hand;
  machine.stops.happened(done);
  Token all;
  for (u32 r = 0; r < machine.cluster_size; ++r) {
    const Block& member = *machine.member(block, r);
    all.add(member.cluster_arriving);
    if (!member.order.on()) continue;
    // Those that have exited were before it, as far as tcgen05 asks.
    Released exited;
    exited.home = member.order.of(0).home();
    exited.scope = Scope::cluster;
    bool any_exited = false;
    for (const Warp& w : member.warps) {
      if (w.live) continue;
      member.order.of(w.index).exit(exited.view);
      any_exited = true;
    }
    exited.view.behind.clear();
    if (any_exited) all.add(exited);
  }
  for (u32 r = 0; r < machine.cluster_size; ++r) {
    Block& b = *machine.member(block, r);
    b.heard = (1u << machine.cluster_size) - 1;
    ++b.meetings;
    if (b.live_threads) machine.recording.note_phase(b, Unit::cluster, 0, 0);
    b.cluster_completed = all;
    b.cluster_arriving.clear();
    for (Warp& w : b.warps) {
      w.cluster_passed |= w.cluster_arrived;
      w.cluster_arrived = 0;
      for (Split& s : w.splits) {
        if (s.wait == Wait::cluster) s.wait = Wait::none;
      }
    }
  }
}

}  // namespace tilescope::sim
