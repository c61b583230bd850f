// Pairs of blocks: .cta_group::2 (PTX ISA 9.7.16.5). Two blocks of a cluster whose ranks differ in
// the last bit only.
//
// Allocation, release, and giving up the permit are steps of both: a warp of each takes them, and
// "the first warp to perform the operation could block until the second warp in the peer CTA also
// performs the operation". So nothing may depend on its waiting, nor on its not waiting.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/handlers.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

std::string place(const Core& x, const Block& block, const PairStep& step) {
  return text(x.machine->site(block, step.thread, step.pc));
}

// Does a warp of the peer stand at the same kind of step, and wait for this one?
bool stands_there(const Core& x, const Block& peer) {
  const auto& code = x.machine->program().code;
  const ptx::TensorStep step = code[x.pc].modifiers.tensor_step();
  return std::any_of(peer.warps.begin(), peer.warps.end(), [&](const Warp& w) {
    return std::any_of(w.splits.begin(), w.splits.end(), [&](const Split& s) {
      return s.wait == Wait::pair && code[s.pc].modifiers.tensor_step() == step;
    });
  });
}

// A block that frees what it shares with one that has yet to allocate it made launches fail on
// every one of 96 tries (NVIDIA/cutlass#3435, on a B300): a cluster's barrier belongs between.
bool peer_has_allocated(Core& x, const Block& peer, u32 column) {
  const auto& promised = peer.tensor.promised;
  const auto found = std::find_if(promised.begin(), promised.end(),
                                  [&](const Allocation& a) { return a.column == column; });
  if (found == promised.end()) return true;
  x.reports->fault(
      x, 0, "tmem_pair",
      fmt::format("tcgen05.dealloc.cta_group::2 of {} columns, before CTA {} of the cluster, the "
                  "other one of the pair, has executed its tcgen05.alloc for them",
                  found->columns, peer.rank),
      "a barrier.cluster between the tcgen05.alloc of both CTAs and any tcgen05.dealloc",
      "no allocation in the other CTA yet");
  const CellRange cells{0, TensorMemory::lanes, found->column, found->columns};
  Evidence evidence = evidence_at(place_of(*x.block, cells));
  evidence.parties = {lane_at(x, 0, "tcgen05.dealloc frees", evidence.place),
                      thread_at(*x.machine, *x.block, found->thread, found->pc,
                                "tcgen05.alloc allocated", evidence.place)};
  x.reports->explain(std::move(evidence));
  return false;
}

// The same where it has, but need not have: the peer's allocation is to be ordered before.
void look_at_allocation(Core& x, const Block& peer, const PairStep& allocation) {
  if (!x.block->order.on()) return;
  const Agent other = peer.order.of(allocation.thread / 32).me();
  if (observer(x).has_met(other, allocation.epoch)) return;
  x.reports->hazard(x, 0, "tmem_pair_order", allocation.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "nothing orders this tcgen05.dealloc.cta_group::2 after the tcgen05.alloc of the peer CTA "
        "(rank {}) at {}",
        peer.rank, place(x, peer, allocation));
    r.expected = "a barrier.cluster between the tcgen05.alloc of both CTAs and any tcgen05.dealloc";
    r.found = "either could be first";
    return r;
  });
}

// Table 48: a dealloc of one block in front of a barrier of the cluster, and of the other one
// behind it. The former may wait for the latter, which then never passes the barrier.
bool on_one_side(Core& x, const Block& peer, const PairStep& mine, const PairStep& theirs) {
  const bool peer_blocks = theirs.arrivals < mine.waits, this_blocks = mine.arrivals < theirs.waits;
  if (!peer_blocks && !this_blocks) return true;
  const u32 before = peer_blocks ? peer.rank : x.block->rank;
  x.reports->fault(
      x, 0, "tmem_pair_barrier",
      fmt::format("CTA {} executes tcgen05.dealloc.cta_group::2 before a barrier.cluster and CTA "
                  "{} after it; the other one is at {}. The first may wait for the second, which "
                  "waits at the barrier: this can hang",
                  before, before ^ 1, place(x, peer, theirs)),
      "both on the same side of each barrier.cluster (PTX ISA 9.7.16.5, table 48)",
      fmt::format("{} and {} barriers passed", mine.waits, theirs.waits));
  return false;
}

}  // namespace

bool is_of_pair(const Core& x) {
  constexpr std::uint8_t two = 2;  // word of Field::cta_group
  return x.machine->program().code[x.pc].modifiers[ptx::Field::cta_group] == two;
}

Block* find_peer(Core& x, int lane, std::string_view name, bool may_have_exited) {
  Block* peer = x.machine->member(*x.block, x.block->rank ^ 1);
  if (!peer) {
    x.reports->fault(
        x, lane, "no_pair",
        fmt::format("{}.cta_group::2 wants another CTA whose rank in the cluster differs in the "
                    "last bit only, and CTA {} of a cluster of {} has none",
                    name, x.block->rank, x.machine->cluster_size),
        "a cluster of an even number of CTAs (PTX ISA 9.7.16.5.1)", "no such CTA");
    return nullptr;
  }
  if (!peer->ended || may_have_exited) return peer;
  x.reports->fault(
      x, lane, "peer_exited",
      fmt::format("{}.cta_group::2 needs CTA {} of the cluster, the other one of the pair, all of "
                  "whose threads have exited",
                  name, peer->rank),
      "\"the peer CTA should be active and should not have exited\" (PTX ISA 9.7.16.5, table 46)",
      "a CTA that has exited");
  return nullptr;
}

bool waits_for_peer(Core& x, const Block& peer, bool peer_was_here) {
  if (peer_was_here || stands_there(x, peer) || !x.machine->flights.waits_for_pair()) return false;
  Split& s = x.warp->splits[x.split];
  s.pc = x.pc;
  s.wait = Wait::pair;
  return true;
}

void wake_peer(Block& peer) {
  for (Warp& warp : peer.warps) {
    for (Split& s : warp.splits) {
      if (s.wait == Wait::pair) s.wait = Wait::none;
    }
  }
}

bool release_in_pair(Core& x, const Block& peer, u32 column) {
  if (!peer_has_allocated(x, peer, column)) return false;
  TensorUnit& unit = x.block->tensor;
  for (const PairStep& allocation : peer.tensor.pair_allocations) {
    look_at_allocation(x, peer, allocation);
  }
  const std::size_t k = unit.pair_releases.size();
  unit.pair_releases.push_back(
      {x.warp->index * 32, x.pc, x.warp->cluster_arrivals, x.warp->cluster_waits, 0});
  const auto& theirs = peer.tensor.pair_releases;
  return k >= theirs.size() || on_one_side(x, peer, unit.pair_releases[k], theirs[k]);
}

}  // namespace tilescope::sim
