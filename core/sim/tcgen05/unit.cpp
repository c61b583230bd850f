// Who gets in whose way in TMEM, and what nobody has ordered.
#include "core/sim/tcgen05/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/sim/checks/around.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/copy.h"
#include "core/sim/tcgen05/handlers.h"
#include "core/sim/tcgen05/in_flight.h"
#include "core/sim/tcgen05/multiplication.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

const char* verb(TensorUse use) {
  switch (use) {
    case TensorUse::load:
    case TensorUse::operand:
      return "reads";
    case TensorUse::release:
      return "frees";
    default:
      return "writes";
  }
}

const Observer& observer_of(const Core& x) {
  return x.block->order.of(x.warp->index);
}

// By whom it is, and on what it completes: whoever has seen that has seen it.
void mark(Core& x, int lane, TensorEvent& event) {
  if (!x.block->order.on()) return;
  BlockOrder& order = x.block->order;
  event.agent = observer_of(x).me();
  event.epoch = observer_of(x).epoch();
  if (!event.product) return;
  event.pipe = order.agent(Completer::tensor_core, pipe_of(x, lane));
  event.pipe_epoch = order.coming_epoch();
}

// "tcgen05.ld.sync.aligned.32x32b.x1.b32", without a guard.
std::string_view name_at(const Core& x) {
  return opcode_text(x.machine->program().code[x.pc].text);
}

// "tcgen05.mma", or "tcgen05.cp": which of those that count as products it is.
std::string_view product_at(const Core& x, u32 pc) {
  const std::string_view text = opcode_text(x.machine->program().code[pc].text);
  return text.substr(0, text.find('.', text.find('.') + 1));
}

std::string where(const Core& x, const Block& block, u32 warp, u32 pc) {
  return text(x.machine->site(block, warp * 32, pc));
}

// The other block of the pair; null where the kernel's blocks compute alone, or there is none.
Block* peer_of(const Core& x, const Block& block) {
  if (x.machine->program().cta_group != 2) return nullptr;
  return x.machine->member(block, block.rank ^ 1);
}

// " of block 1 of the cluster", where they are not those of the current block.
std::string whose(const Core& x, const Block& home) {
  return &home == x.block ? "" : fmt::format(" of CTA {} of the cluster", home.rank);
}

// What the current lane does, and a past or present use by another warp of the same block or not.
Evidence between(const Core& x, int lane, const Block& home, TensorUse use, const CellRange& cells,
                 Evidence::Party other) {
  return collision(
      lane_at(x, lane, fmt::format("{} {}", name_at(x), verb(use)), place_of(home, cells)),
      std::move(other));
}

Evidence::Party party_of(const Core& x, const Block& home, const TensorMove& move,
                         const CellRange& cells) {
  Evidence::Party out =
      thread_at(*x.machine, home, move.warp * 32, move.pc,
                move.store ? "tcgen05.st writes" : "tcgen05.ld reads", place_of(home, cells));
  out.in_flight = true;
  return out;
}

// `home`: whose cells; `by`: the block of the thread that did it.
Evidence::Party party_of(const Core& x, const Block& home, const Block& by,
                         const TensorEvent& past) {
  const Evidence::Place place =
      past.cells.empty() ? Evidence::Place{} : place_of(home, past.cells.front());
  return thread_at(*x.machine, by, past.warp * 32, past.pc,
                   fmt::format("{} {}",
                               past.product ? product_at(x, past.pc)
                                            : opcode_text(x.machine->program().code[past.pc].text),
                               past.writes ? "writes" : "reads"),
                   place);
}

bool report(Core& x, int lane, const Block& home, TensorUse use, const CellRange& cells,
            const std::string& other, std::string expected, std::string found,
            Evidence::Party party, std::optional<u32> mbarrier = {}) {
  x.reports->fault(x, lane, "tmem_in_use",
                   fmt::format("this {} {} {}{}, but {}", name_at(x), verb(use), cells_text(cells),
                               whose(x, home), other),
                   std::move(expected), std::move(found));
  Evidence evidence = between(x, lane, home, use, cells, std::move(party));
  evidence.mbarrier = mbarrier;
  x.reports->explain(std::move(evidence));
  return false;
}

// "These tcgen05 operations are not inherently ordered with respect to other tcgen05 operations in
// the same thread" (9.7.16.6.1): a warp's stores neither.
void note_second_store(Core& x, const TensorMove& first, const CellRange& cells) {
  x.reports->hazard(x, 0, "tmem_order", first.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this {} writes {}, as the tcgen05.st at {} may still do: stores of a "
        "warp keep no order",
        name_at(x), cells_text(cells), where(x, *x.block, first.warp, first.pc));
    r.expected = "tcgen05.wait::st between them";
    r.found = "none";
    r.pair = "tcgen05.st, then tcgen05.st";
    r.evidence =
        between(x, 0, *x.block, TensorUse::store, cells, party_of(x, *x.block, first, cells));
    return r;
  });
}

// Has its warp told of it since, as far as the current one knows, or exited? Its own may have told
// anybody.
bool has_told(const Core& x, const Block& home, const TensorMove& move) {
  const TensorUnit& unit = home.tensor;
  if (!home.warps[move.warp].live) return true;
  const bool own = &home == x.block && move.warp == x.warp->index;
  for (const TensorEvent* past : unit.past.touching(move.cells)) {
    if (past->by_peer || past->product || past->warp != move.warp || past->pc != move.pc) continue;
    if (own || !x.block->order.on() ? unit.order[move.warp].arrived < past->at
                                    : !observer_of(x).has_met(past->agent, past->epoch)) {
      return false;
    }
  }
  return true;
}

// Is it over by now, as chips go? Registers that a ld fills are waited for where they are used
// (9.7.16.6.4.5). And whoever is told of a load or store by a barrier or an mbarrier comes so much
// later than it was issued: Cutlass's tutorials give TMEM back without wait::ld, CuTeDSL's products
// let the next one overwrite what was loaded and only moved to other registers, and add to what was
// stored without wait::st. Nothing promises it: "a register dependency does not imply that a
// dependee instruction's memory accesses will be performed before a dependent instruction's".
bool is_over(const Core& x, const Block& home, const TensorMove& move) {
  const bool own = &home == x.block && move.warp == x.warp->index;
  return (own && move.used) || has_told(x, home, move);
}

void note_not_awaited(Core& x, int lane, const Block& home, TensorUse use, const TensorMove& move,
                      const CellRange& cells) {
  x.reports->hazard(x, lane, "tmem_not_awaited", move.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this {} {} {}{}, and the warp of the tcgen05.{} at {} has not waited for the {}",
        name_at(x), verb(use), cells_text(cells), whose(x, home), move.store ? "st" : "ld",
        where(x, home, move.warp, move.pc), move.store ? "store" : "load");
    r.expected = fmt::format("tcgen05.wait::{} in the {} warp before the barrier",
                             move.store ? "st" : "ld", move.store ? "storing" : "loading");
    r.found = move.used ? "a use of its registers alone" : "none";
    r.evidence = between(x, lane, home, use, cells, party_of(x, home, move, move.cells.front()));
    return r;
  });
}

// Loads and stores in `home` that nobody has waited for. Two loads are no conflict.
bool check_moves(Core& x, int lane, const Block& home, TensorUse use,
                 const std::vector<CellRange>& cells) {
  for (const TensorMove& move : home.tensor.moves) {
    const bool reads = use == TensorUse::load || use == TensorUse::operand;
    if (reads && !move.store) continue;
    const CellRange* met = meeting(cells, move.cells);
    if (!met) continue;
    if (use == TensorUse::store && move.store && move.warp == x.warp->index) {  // in its own block
      note_second_store(x, move, *met);
      continue;
    }
    if (is_over(x, home, move)) {
      note_not_awaited(x, lane, home, use, move, *met);
      continue;
    }
    // Another warp, which has told nobody of it: a race, and the history of the cells says so.
    if (&home != x.block || move.warp != x.warp->index) continue;
    return report(
        x, lane, home, use, *met,
        move.store ? fmt::format("the tcgen05.st at {} may not have written it yet: its warp has "
                                 "not waited for it",
                                 where(x, home, move.warp, move.pc))
                   : fmt::format("the tcgen05.ld at {} may still read it: its warp has not waited "
                                 "for it",
                                 where(x, home, move.warp, move.pc)),
        move.store ? "tcgen05.wait::st in the storing warp before"
                   : "tcgen05.wait::ld in the loading warp before",
        move.store ? "a store in flight" : "a load in flight",
        party_of(x, home, move, *meeting(move.cells, cells)));
  }
  return true;
}

// What of it meets these cells.
Evidence::Party product_party(const Core& x, const Block& home, const AsyncOperation& o,
                              const std::vector<CellRange>& cells) {
  TensorCells theirs;
  tensor_cells(o, theirs);
  const CellRange* written = meeting(theirs.written, cells);
  const CellRange* met = written ? written : meeting(theirs.read, cells);
  return operation_in(*x.machine, home, o, written ? "writes" : "reads",
                      met ? place_of(home, *met) : Evidence::Place{});
}

bool is_to_arrive(const Core& x, u32 mbarrier) {
  for (u32 rank = 0; rank < x.machine->cluster_size; ++rank) {
    const Block* home = x.machine->member(*x.block, rank);
    if (!home) continue;
    for (const AsyncOperation& o : home->flight.operations) {
      const bool commits = o.work == &commit_work && o.stage != Stage::complete;
      if (commits && o.mbarrier == mbarrier && o.arrives_at(x.block->rank, rank)) return true;
    }
  }
  return false;
}

// Products are in flight: the mbarrier at which the current thread has waited last, where that was
// for an earlier phase than the one that they complete. None has come, or it is still to come.
std::optional<u32> waited_in_vain(const Core& x) {
  const u32 at = x.warp->splits[x.split].mbarrier;
  const auto found = x.block->mbarriers.find(at);
  if (found == x.block->mbarriers.end()) return {};
  const bool fresh = found->second.phase == 0;
  return fresh || is_to_arrive(x, at) ? std::optional(at) : std::nullopt;
}

// Columns are freed under a product of another warp, of whose issue this one knows nothing: so the
// product could be over as well, and nothing on the chip but another allocation minds (CuTeDSL's
// backward attention: the warps that free have waited for the product before). It is a race, which
// the history of the cells tells.
bool is_freed_under(const Core& x, const ProductInFlight& product,
                    const std::vector<CellRange>& cells) {
  const u32 warp = product.thread / 32;
  if (!x.block->order.on() || product.issuer != x.block->rank || warp == x.warp->index)
    return false;
  const std::vector<const TensorEvent*> all = x.block->tensor.past.touching(cells);
  // The last one with these cells: of several into one accumulator all are in flight.
  return std::any_of(all.begin(), all.end(), [&](const TensorEvent* past) {
    return past->product && !past->by_peer && past->warp == warp &&
           !observer_of(x).has_met(past->agent, past->epoch);
  });
}

// On which mbarrier the product is told of, as far as its commit has been issued.
std::string commit_text(const Core& x, const ProductInFlight& product) {
  const Block& issuer = *x.machine->member(*x.block, product.issuer);
  for (const AsyncOperation& o : issuer.flight.operations) {
    if (o.work != &commit_work || o.thread != product.thread || o.stage == Stage::complete ||
        o.number < product.operation->number) {
      continue;
    }
    return o.arrives_at(x.block->rank, issuer.rank) ? unheard_text(x, o.mbarrier) : "";
  }
  return "";
}

bool check_products(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  ProductInFlight other;
  if (!find_product(*x.block, cells, use == TensorUse::load, other)) return true;
  if (use == TensorUse::release && is_freed_under(x, other, cells)) return true;
  const Site site =
      x.machine->site(*x.machine->member(*x.block, other.issuer), other.thread, other.pc);
  return report(
      x, lane, *x.block, use, cells[0],
      fmt::format("the tcgen05.mma at {} is still {} it: nobody has waited for its commit",
                  text(site), other.writes ? "writing" : "reading"),
      "tcgen05.commit after the mma, and a wait for its mbarrier",
      "an mma in flight" + commit_text(x, other) +
          gap_text(x, Done{x.machine->member(*x.block, other.issuer), other.thread, other.pc}),
      product_party(x, *x.block, *other.operation, cells), waited_in_vain(x));
}

// A warp loads what a copy of its own is still to write, behind a tcgen05.wait::st. PTX keeps no
// order between the two (9.7.16.6.2), and that is no wait for it; but NVIDIA's own example counts
// on it (CuTeDSL's cluster_tmem_reduce). So it goes on with the copy done, and with --lazy without.
bool is_load_behind_copy(const Core& x, TensorUse use, const AsyncOperation& other) {
  return use == TensorUse::load && is_tensor_copy(other) && other.leader == no_leader &&
         other.issuer == x.block->rank && other.thread / 32 == x.warp->index &&
         x.block->tensor.order[x.warp->index].awaited > issued_at(other);
}

bool check_transfers(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  while (const AsyncOperation* other = find_transfer(*x.block, cells, use == TensorUse::load)) {
    const std::string while_it = fmt::format(
        "the {} at {} is still in flight there: nobody has waited for its commit",
        other->work->name,
        text(x.machine->site(x.machine->issuer(*x.block, *other), other->thread, other->pc)));
    const std::string expected = "tcgen05.commit after it, and a wait for its mbarrier";
    const std::string found = fmt::format("a {} in flight", other->work->name);
    Evidence::Party party = product_party(x, *x.block, *other, cells);
    if (!is_load_behind_copy(x, use, *other)) {
      return report(x, lane, *x.block, use, cells[0], while_it, expected, found, std::move(party));
    }
    // That nothing orders it the history of the cells tells.
    if (!x.machine->flights.finish(*x.block, other->number)) return !x.machine->faulted();
  }
  return true;
}

bool writes(TensorUse use) {
  return use == TensorUse::store || use == TensorUse::product;
}

// Do they need an order that fences make? Two that only read do not, nor do a warp's own moves; the
// products of a thread keep their order, which is looked at with those in flight. Columns are given
// back behind all that was done with them.
bool needs_order(const TensorEvent& past, const Core& x, TensorUse use) {
  const bool product = use == TensorUse::product || use == TensorUse::operand;
  const bool own = past.warp == x.warp->index && !past.by_peer;
  if (own && (past.product == product || !past.product)) return false;
  return past.writes || writes(use) || use == TensorUse::release;
}

// Does nothing order it behind? Of a product that is a commit, and for other products, which the
// tensor core takes in turn, whatever tells of its issue (9.7.16.6.4.3).
bool is_race(const Core& x, TensorUse use, const TensorEvent& past) {
  const Observer& me = observer_of(x);
  if (past.product && me.has_met(past.pipe, past.pipe_epoch)) return false;
  const bool product = use == TensorUse::product || use == TensorUse::operand;
  return (past.product && !product) || !me.has_met(past.agent, past.epoch);
}

// It has met what orders the two, and no fence::after_thread_sync since.
bool misses_after(const Core& x, const TensorEvent& past) {
  const VectorClock& after = x.block->tensor.order[x.warp->index].after;
  const bool awaited = past.product && observer_of(x).has_met(past.pipe, past.pipe_epoch);
  return awaited ? after.of(past.pipe) < past.pipe_epoch : after.of(past.agent) < past.epoch;
}

std::string_view past_text(const Core& x, const TensorEvent& past) {
  return past.product ? product_at(x, past.pc) : "tcgen05.ld or st";
}

// `by`: the block of the thread that did it.
void note_race(Core& x, int lane, const Block& home, TensorUse use, const TensorEvent& past,
               const Block& by, const std::vector<CellRange>& cells) {
  x.reports->hazard(x, lane, "tmem_race", past.pc, [&] {
    Report r;
    r.sentence = fmt::format("this {} {} {}{}, and nothing orders it after the {} at {}",
                             name_at(x), verb(use), cells_text(*meeting(cells, past.cells)),
                             whose(x, home), past_text(x, past), where(x, by, past.warp, past.pc));
    r.expected =
        past.product
            ? "a commit after it, a wait for its mbarrier, and tcgen05.fence::after_thread_sync"
            : "a barrier between them, with tcgen05.fence::before_thread_sync before and "
              "fence::after_thread_sync after it";
    r.found = "either could be first" + gap_text(x, Done{&by, past.warp * 32, past.pc});
    r.evidence =
        between(x, lane, home, use, *meeting(cells, past.cells), party_of(x, home, by, past));
    return r;
  });
}

void note_after(Core& x, int lane, TensorUse use, const CellRange& cells) {
  x.reports->hazard(x, lane, "tcgen05_fence", x.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "unfenced TMEM access: this {} follows a barrier without tcgen05.fence::after_thread_sync: "
        "nothing orders it after the tcgen05 operations before the barrier",
        name_at(x));
    r.expected = "tcgen05.fence::after_thread_sync after the barrier";
    r.found = "none since the barrier";
    const Evidence::Place place = place_of(*x.block, cells);
    r.evidence = evidence_at(place);
    r.evidence.parties = {lane_at(x, lane, fmt::format("{} {}", name_at(x), verb(use)), place)};
    return r;
  });
}

// Whoever used these cells before, a warp of the block `by`, has a fence of its own in front of the
// barrier. (A commit is one for products, 9.7.16.6.4.)
bool misses_before(const Core& x, const Block& by, const TensorEvent& past) {
  const Observer& me = observer_of(x);
  if (past.agent == me.me() || (past.product && me.has_met(past.pipe, past.pipe_epoch))) {
    return false;
  }
  return !by.tensor.order[past.warp].has_fenced(past.epoch, me.met(past.agent));
}

void note_before(Core& x, int lane, const Block& home, TensorUse use, const CellRange& cells,
                 const TensorEvent& past, const Block& by) {
  x.reports->hazard(x, lane, "tcgen05_fence", past.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this {} follows the {} at {}, and that warp did not execute "
        "tcgen05.fence::before_thread_sync between it and the barrier",
        name_at(x), past_text(x, past), where(x, by, past.warp, past.pc));
    r.expected = "tcgen05.fence::before_thread_sync before the barrier";
    if (past.product) r.expected += ", or a commit and a wait (PTX ISA 9.7.16.6.4.3)";
    r.found = (past.product ? "none since its issue" : "none since the load or store") +
              told_text(*x.machine, by, past.warp);
    r.evidence = between(x, lane, home, use, cells, party_of(x, home, by, past));
    return r;
  });
}

// What was done with these cells before, and is not in order with this.
void look_for_hazards(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  if (!x.block->order.on()) return;
  bool after = false;
  for (const TensorEvent* past : x.block->tensor.past.touching(cells)) {
    if (!needs_order(*past, x, use)) continue;
    const Block& by = past->by_peer ? *peer_of(x, *x.block) : *x.block;
    if (is_race(x, use, *past)) {
      note_race(x, lane, *x.block, use, *past, by, cells);
      continue;
    }
    // dealloc is synchronous (9.7.16.6.1): a barrier will do.
    if (use == TensorUse::release) continue;
    const bool product = use == TensorUse::product || use == TensorUse::operand;
    if (product && past->product && past->agent != observer_of(x).me()) {
      View& behind = x.block->tensor.pipelined[pipe_of(x, lane)];
      observer_of(x).complete(behind, past->pipe, past->pipe_epoch);
    }
    after = after || misses_after(x, *past);
    if (misses_before(x, by, *past)) note_before(x, lane, *x.block, use, cells[0], *past, by);
  }
  if (after) note_after(x, lane, use, cells[0]);
}

// The canonical patterns arrive and wait in the scope of the cluster (9.7.16.6.4.3, 9.7.16.6.4.4),
// which includes the other block of the pair; one that does not is no synchronisation with it
// (8.7). Chips are seen to order the two all the same.
void note_narrow(Core& x, int lane, Block& peer, TensorUse use, const TensorEvent& past,
                 const std::vector<CellRange>& cells) {
  x.reports->hazard(x, lane, "tmem_race", past.pc, [&] {
    const Done done{&peer, past.warp * 32, past.pc};
    const auto told = narrow_behind(*x.machine, done);
    const auto heard = narrow_before(*x.machine, *x.warp);
    const auto text_of = [&](const Block& home, u32 thread, u32 pc) {
      return fmt::format("the {} at {}", opcode_text(x.machine->program().code[pc].text),
                         place_text(x.machine->site(home, thread, pc)));
    };
    Report r;
    r.sentence = fmt::format(
        "this {} {} {}{}, behind the tcgen05.ld or st at {}, and what tells of that has the scope "
        "of a CTA, though it comes from another one",
        name_at(x), verb(use), cells_text(*meeting(cells, past.cells)), whose(x, peer),
        where(x, peer, past.warp, past.pc));
    r.expected =
        ".cluster at the arrival and at the wait, relaxed or not (PTX ISA 9.7.16.6.4.4, 8.7)";
    r.found = "an order that chips are seen to keep, and PTX does not promise";
    if (told) r.found += "; " + text_of(peer, past.warp * 32, *told);
    if (heard) r.found += "; " + text_of(*x.block, x.warp->index * 32, *heard);
    r.evidence =
        between(x, lane, peer, use, *meeting(cells, past.cells), party_of(x, peer, peer, past));
    return r;
  });
}

// What warps of the other block did with its cells, which a product is about to use: has this warp
// heard of it since? Products of both blocks are remembered in both, and looked at in the own one.
void look_for_peer_hazards(Core& x, int lane, Block& peer, TensorUse use,
                           const std::vector<CellRange>& cells) {
  if (!x.block->order.on()) return;
  bool after = false;
  for (const TensorEvent* past : peer.tensor.past.touching(cells)) {
    if (past->by_peer || past->product || !(past->writes || writes(use))) continue;
    if (is_race(x, use, *past)) {
      note_race(x, lane, peer, use, *past, peer, cells);
      continue;
    }
    after = after || misses_after(x, *past);
    if (!observer_of(x).has_reached(past->agent, past->epoch))
      note_narrow(x, lane, peer, use, *past, cells);
    if (misses_before(x, peer, *past)) note_before(x, lane, peer, use, cells[0], *past, peer);
  }
  if (after) note_after(x, lane, use, cells[0]);
}

Evidence::Place columns_of(const Block& block, const Allocation& a) {
  return place_of(block, CellRange{0, TensorMemory::lanes, a.column, a.columns});
}

// The other block of the pair has allocated for both.
bool leave_promise(Model& machine, const Block& block) {
  const Allocation& left = block.tensor.promised.front();
  machine.reports.fault_at(
      *machine.member(block, block.rank ^ 1), left.thread, left.pc, "tmem_pair",
      fmt::format("tcgen05.alloc.cta_group::2 allocates {} columns in both CTAs of the pair, but "
                  "all threads of CTA {} of the cluster have exited without executing one",
                  left.columns, block.rank),
      "tcgen05.alloc by a warp of each CTA of the pair (PTX ISA 9.7.16.5)", "one of one CTA");
  machine.reports.explain(evidence_at(columns_of(block, left)));
  return false;
}

}  // namespace

bool check_tensor_use(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  if (!check_moves(x, lane, *x.block, use, cells)) return false;
  const bool product = use == TensorUse::product || use == TensorUse::operand;
  // Products look for each other themselves: those of one thread keep their order.
  if (!product && !check_products(x, lane, use, cells)) return false;
  if (!product && !check_transfers(x, lane, use, cells)) return false;
  if (cells.empty()) return true;
  look_for_hazards(x, lane, use, cells);
  if (use == TensorUse::release) return true;
  TensorEvent event{0, x.warp->index, x.pc, product, writes(use), cells, false, {}, {}, 0, 0};
  mark(x, lane, event);
  x.block->tensor.remember(std::move(event));
  return true;
}

bool check_peer_tensor_use(Core& x, int lane, Block& peer, TensorUse use,
                           const std::vector<CellRange>& cells) {
  if (cells.empty()) return true;
  if (!check_moves(x, lane, peer, use, cells)) return false;
  look_for_peer_hazards(x, lane, peer, use, cells);
  TensorEvent event{0, x.warp->index, x.pc, true, writes(use), cells, true, {}, {}, 0, 0};
  mark(x, lane, event);
  peer.tensor.remember(std::move(event));
  return true;
}

void TensorUnit::remember(TensorEvent event) {
  event.at = ++events;
  past.remember(event);
}

bool leave_tensor_memory(Model& machine, Block& block) {
  if (!block.tensor.promised.empty()) return leave_promise(machine, block);
  if (block.tensor.memory.allocations().empty()) return true;
  const Allocation& left = block.tensor.memory.allocations().front();
  machine.reports.fault_at(
      block, left.thread, left.pc, "tmem_not_deallocated",
      fmt::format("the CTA has exited with {} columns of TMEM that it allocated here",
                  left.columns),
      "tcgen05.dealloc of every allocation before the CTA exits (PTX ISA 9.7.16.7.1)",
      fmt::format("columns {}-{} still allocated", left.column, left.column + left.columns - 1) +
          last_text(machine, block, left.thread));
  machine.reports.explain(evidence_at(columns_of(block, left)));
  return false;
}

}  // namespace tilescope::sim
