// Barriers of a block (PTX ISA 9.7.13.1) and memory fences (9.7.13.4).
//
// Of bar and barrier.aligned all live lanes of a warp are to arrive together; without .aligned they
// may come in parts. Either "causes executing thread to wait for all non-exited threads from its
// warp and marks warps' arrival at barrier": a warp counts once, when the last of its lanes that
// have not exited is there, and as 32 threads where the barrier has a count (measured on an H100:
// halves at two places, and the rest of the warp gone). A barrier without a count completes when
// every thread of the block that has not exited has arrived (exit, 9.7.12.7, releases those who
// wait for it).
//
// Fences order no accesses here: each takes effect at once and in program order. What they change
// is what others, and the async proxy, have been told of (core/sim/order).
#include <fmt/format.h>

#include "core/sim/checks/around.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Reduce;

// Two warps can come to a barrier in each other's place, so that it is not always the same ones
// that meet: what one of them says to those it means to meet, others hear.
void tell_partners(Core& x, int lane, std::uint32_t id, const RunStep& before) {
  x.reports->hazard(x, lane, "barrier_partners", before.pc, [&] {
    const Model& machine = *x.machine;
    const std::string_view name = opcode_text(machine.program().code[x.pc].text);
    const Site there = machine.site(*x.block, before.warp * 32, before.pc);
    Report r;
    r.sentence = fmt::format(
        "{} by warp {} comes to barrier {} in the round behind that of warp {} at {}, and nothing "
        "has it come behind that warp: either could be in the round of the other, so that others "
        "meet",
        name, x.warp->index, id, before.warp, place_text(there));
    r.expected =
        "a barrier of their own for those who are to meet, or a wait that has this warp come "
        "behind the round before (PTX ISA 9.7.13.1)";
    r.found = fmt::format("more warps than the {} threads of barrier {} wait for",
                          x.block->barriers[id].expected, id);
    Evidence::Place place;
    place.of = Evidence::Place::Of::barrier;
    place.block = x.block->number;
    place.begin = id;
    place.end = id + 1;
    r.evidence =
        collision(lane_at(x, lane, fmt::format("{} arrives", name), place),
                  thread_at(machine, *x.block, before.warp * 32, before.pc, "arrives", place));
    return r;
  });
}

// An arrival in a round that does not come behind all of those in the one before could have been
// one of them. Where all threads of the CTA arrive nobody can.
void note_arrival(Core& x, int lane, std::uint32_t id) {
  OrderLog* const log = x.machine->order_log ? &*x.machine->order_log : nullptr;
  if (!log && !x.block->barriers[id].expected) return;
  const Observer& me = observer(x);
  const RunStep step = x.machine->step_of(*x.block, x.warp->index, x.pc);
  BlockOrder& order = x.block->order;
  for (const BlockOrder::Arrival& a : order.came_before[id]) {
    if (me.comes_behind(a.agent, a.epoch)) continue;
    if (log) log->may_change(Reversal::Kind::barrier, a.step, step);
    if (x.block->barriers[id].expected) tell_partners(x, lane, id, a.step);
    break;
  }
  order.came[id].push_back({me.me(), me.epoch(), step});
  if (log) log->step(x.block->number, x.warp->index, id * 16 + 3);
}

template <bool aligned, bool waits, Reduce reduce>
Flow barrier(Core& x, const Code& c, Mask m) {
  if (aligned) {
    const Flow flow = together(x, m, x.warp->live, Wait::aligned);
    if (flow != Flow::next) return flow;
  }
  const int lane = __builtin_ctz(m);
  const std::uint32_t id = lane_array<std::uint32_t>(x, c.a)[lane];
  const std::uint32_t count = c.b == nothing ? 0 : lane_array<std::uint32_t>(x, c.b)[lane];
  if (id > 15) {
    return x.reports->fault(x, lane, "bad_barrier", "there is no such barrier in a CTA",
                            "a barrier from 0 to 15", fmt::format("barrier {}", id));
  }
  if (c.b != nothing && (count == 0 || count % 32)) {
    return x.reports->fault(
        x, lane, "bad_barrier",
        fmt::format("barrier {} is given a number of threads that it cannot have", id),
        "a multiple of 32 above 0", fmt::format("{} threads", count));
  }
  Barrier& b = x.block->barriers[id];
  if (b.open && b.expected != count) {
    const auto said = [](std::uint32_t n) {
      return n ? fmt::format("{} threads", n) : std::string("all threads of the CTA");
    };
    return x.reports->fault(
        x, lane, "barrier_mismatch",
        fmt::format(
            "barrier {} is used with two numbers of threads at once; it was opened at PTX line {}",
            id, x.machine->program().code[b.opened_at].line),
        said(b.expected), said(count));
  }
  if (b.open && b.reduce != reduce) {
    return x.reports->fault(
        x, lane, "barrier_mismatch",
        fmt::format("barrier {} is used in two ways at once, which has no defined outcome: with a "
                    "reduction and without, or with two; it was opened at PTX line {}",
                    id, x.machine->program().code[b.opened_at].line),
        "the same form of bar.red from every thread", "another one");
  }
  if (!b.open) b.opened_at = x.pc;
  b.open = true;
  b.expected = count;
  if (x.block->order.on()) note_arrival(x, lane, id);
  if (x.block->order.on()) {
    observer(x).release_doubts(b.doubts);
    observer(x).release(b.view);
    if (waits) observer(x).all_lanes_meet();
  }
  x.block->tensor.arrive(x.warp->index);
  b.reduce = reduce;
  const Mask yes = x.predicates[c.r] ^ c.flip;
  b.yes += static_cast<std::uint32_t>(__builtin_popcount(m & yes));
  b.no += static_cast<std::uint32_t>(__builtin_popcount(m & ~yes));
  b.came[x.warp->index] |= m;
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
  finish_barriers(*x.machine, *x.block);
  return Flow::yield;
}

template <bool aligned, bool waits>
Handler barrier_for(Reduce reduce) {
  switch (reduce) {
    case Reduce::popc:
      return barrier<aligned, waits, Reduce::popc>;
    case Reduce::and_:
      return barrier<aligned, waits, Reduce::and_>;
    case Reduce::or_:
      return barrier<aligned, waits, Reduce::or_>;
    default:
      return barrier<aligned, waits, Reduce::none>;
  }
}

Scope fence_scope(const ptx::Modifiers& how) {
  switch (how.operation()) {
    case ptx::Operation::cta:
      return Scope::cta;
    case ptx::Operation::gl:
      return Scope::gpu;
    case ptx::Operation::sys:
      return Scope::sys;
    default:
      return scope_of(how, Scope::sys);
  }
}

// A fence.sc is a fence.acq_rel here: which of two comes first in their order (8.9.3, "Fence-SC
// order") nothing says, so that what hangs on it alone is unordered.
Flow fence(Core& x, const Code&, Mask m) {
  if (!x.block->order.on()) return Flow::next;
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const Scope scope = fence_scope(how);
  Observer& me = observer(x);
  if (how.has(ptx::Field::restriction) && x.machine->order_log) {
    x.machine->order_log->blind("a fence with .sync_restrict counts for all memory here");
  }
  if (how.has(ptx::Field::mbarrier_init)) {
    me.fence_inits(x.block->order.agent(Completer::inits, x.warp->index), m);
    return Flow::next;
  }
  constexpr std::uint8_t only_acquires = 3, only_releases = 4;  // words of Field::order
  const std::uint8_t order = how[ptx::Field::order];
  const Deed by = deed(x, __builtin_ctz(m), m);
  if (order != only_releases) me.fence_acquire(scope, by);
  if (order != only_acquires) me.fence_release(scope, by);
  me.presume_met();  // they may hand something over by relaxed accesses around it
  return Flow::next;
}

template <bool shared, bool global>
Flow fence_async_proxy(Core& x, const Code&, Mask m) {
  if (shared && x.block->order.on()) {
    observer(x).fence_proxy(m | ~x.warp->live);
  }
  if (global && x.block->order.on()) {
    observer(x).fence_proxy_of_global(m | ~x.warp->live);
  }
  if (global) x.machine->global_watch.fence_global(x, m, Proxy::async);
  return Flow::next;
}

Flow release_maps(Core& x, const Code&, Mask m) {
  const Scope scope = scope_of(x.machine->program().code[x.pc].modifiers, Scope::cta);
  x.machine->global_watch.fence_global(x, m, Proxy::tensor_map, scope);
  return Flow::next;
}

Flow acquire_map(Core& x, const Code& c, Mask m) {
  const Scope scope = scope_of(x.machine->program().code[x.pc].modifiers, Scope::cta);
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const bool narrow = c.narrow_address;
    const std::uint64_t base = c.a == nothing ? 0
                               : narrow       ? lane_array<std::uint32_t>(x, c.a)[lane]
                                              : lane_array<std::uint64_t>(x, c.a)[lane];
    x.machine->global_watch.acquire_map(x, base + c.immediate, scope);
  }
  return Flow::next;
}

// Of proxies that nothing here goes through.
Flow fence_elsewhere(Core&, const Code&, Mask) {
  return Flow::next;
}

Handler fence_handler(const ptx::Modifiers& how) {
  if (!how.has(ptx::Field::proxy)) return fence;
  const std::string_view proxy = ptx::words_of(ptx::Field::proxies)[how[ptx::Field::proxies] - 1u];
  if (proxy == "tensormap::generic") {
    const bool asks = ptx::words_of(ptx::Field::order)[how[ptx::Field::order] - 1u] == "acquire";
    return asks ? acquire_map : release_maps;
  }
  if (proxy != "async") return fence_elsewhere;
  switch (how.space()) {
    case ptx::Space::global:
      return fence_async_proxy<false, true>;
    case ptx::Space::shared:
      return fence_async_proxy<true, false>;
    default:
      return fence_async_proxy<true, true>;
  }
}

}  // namespace

void finish_reduction(Core& x, const Code& c, Mask m, const Barrier& b) {
  if (b.reduce == Reduce::popc) {
    std::uint32_t yes[32];
    for (std::uint32_t& v : yes) v = b.yes;
    base::blend(lane_array<std::uint32_t>(x, c.d), yes, m);
    define(x, c.d, 4, m);
  } else if (c.p) {
    const bool holds = b.reduce == Reduce::or_ ? b.yes != 0 : b.no == 0;
    x.predicates[c.p] = (x.predicates[c.p] & ~m) | (holds ? m : 0);
  }
}

Handler barrier_handler(const ptx::Instruction& i) {
  using ptx::Op;
  if (i.op == Op::membar || i.op == Op::fence) return fence_handler(i.modifiers);
  if (i.modifiers.has(ptx::Field::warp)) return warp_barrier_handler();
  if (i.modifiers.has(ptx::Field::cluster)) return cluster_barrier_handler(i);
  const bool waits = i.modifiers.operation() != ptx::Operation::arrive;
  const Reduce reduce = i.modifiers.reduce();
  if (i.op == Op::bar || i.modifiers.has(ptx::Field::aligned)) {
    return waits ? barrier_for<true, true>(reduce) : barrier_for<true, false>(reduce);
  }
  return waits ? barrier_for<false, true>(reduce) : barrier_for<false, false>(reduce);
}

}  // namespace tilescope::sim
