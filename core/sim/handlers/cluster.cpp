// What blocks of a cluster do together: barrier.cluster (PTX ISA 9.7.13.3), and where the others'
// shared memory lies: mapa and getctarank (9.7.9.23, 9.7.9.24).
#include <fmt/format.h>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// ---- the barrier ----

Flow refuse(Core& x, Mask lanes, const char* sentence, const char* expected, const char* found) {
  return x.reports->fault(x, __builtin_ctz(lanes), "cluster_barrier", sentence, expected, found);
}

// Each thread arrives once, then waits, then may arrive again.
template <bool aligned, bool releases>
Flow arrive(Core& x, const Code&, Mask m) {
  if (aligned) {
    const Flow flow = together(x, m, x.warp->live, Wait::aligned);
    if (flow != Flow::next) return flow;
  }
  Warp& warp = *x.warp;
  if (const Mask twice = m & (warp.cluster_arrived | warp.cluster_passed)) {
    return refuse(x, twice,
                  "this thread arrives at the barrier of the cluster a second time without having "
                  "waited for the first",
                  "barrier.cluster.wait between two arrivals", "no wait between");
  }
  Block& block = *x.block;
  if (block.order.on()) {
    observer(x).arrive(block.cluster_arriving, releases, Scope::cluster, deed(x, __builtin_ctz(m)));
  }
  block.tensor.arrive(warp.index);
  warp.cluster_arrivals += m >> __builtin_ctz(warp.live) & 1;
  warp.cluster_arrived |= m;
  finish_cluster_barrier(*x.machine, block);
  return Flow::next;
}

template <bool aligned>
Flow wait(Core& x, const Code&, Mask m) {
  if (aligned) {
    const Flow flow = together(x, m, x.warp->live, Wait::aligned);
    if (flow != Flow::next) return flow;
  }
  Warp& warp = *x.warp;
  if (const Mask astray = m & ~(warp.cluster_arrived | warp.cluster_passed)) {
    return refuse(x, astray,
                  "this thread waits at the barrier of the cluster, but has not arrived there",
                  "barrier.cluster.arrive before barrier.cluster.wait", "no arrival");
  }
  if (m & ~warp.cluster_passed) return wait_here(x, m, Wait::cluster);
  warp.cluster_passed &= ~m;
  warp.cluster_waits += m >> __builtin_ctz(warp.live) & 1;
  if (x.block->order.on()) {
    observer(x).acquire(x.block->cluster_completed, Scope::cluster, deed(x, __builtin_ctz(m)));
    observer(x).lanes_meet(m, warp.live);
  }
  return Flow::next;
}

// ---- addresses ----

constexpr u64 rank_bits = 0xffu << ptx::rank_shift;

// Where the window of shared memory begins for an address as this instruction means it.
u64 window_of(const Core& x) {
  return x.machine->program().code[x.pc].modifiers.has(Field::space) ? 0 : ptx::shared_base;
}

bool in_window(Core& x, int lane, u64 address, u64 base) {
  if (address - base < ptx::window_bytes) return true;
  x.reports->fault(x, lane, "not_shared",
                   fmt::format("the address 0x{:x} is not in shared memory", address),
                   "an address in shared memory of the cluster", fmt::format("0x{:x}", address));
  return false;
}

// Arithmetic: a rank that the cluster does not have is found out where the address is used, and
// lanes that do not use theirs may name any (CuTeDSL maps by %laneid).
template <class Address>
Flow map_address(Core& x, const Code& c, Mask m) {
  const Address* from = lane_array<Address>(x, c.a);
  const u32* rank = lane_array<u32>(x, c.b);
  const u64 base = window_of(x);
  Address to[lanes] = {};
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    if (!in_window(x, l, from[l], base)) return Flow::fault;
    to[l] = static_cast<Address>((from[l] & ~rank_bits) | u64{rank[l]} << ptx::rank_shift);
  }
  base::blend(lane_array<Address>(x, c.d), to, m);
  return Flow::next;
}

template <class Address>
Flow find_rank(Core& x, const Code& c, Mask m) {
  const Address* from = lane_array<Address>(x, c.a);
  const u64 base = window_of(x);
  u32 rank[lanes] = {};
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    if (!in_window(x, l, from[l], base)) return Flow::fault;
    rank[l] = static_cast<u32>((from[l] & rank_bits) >> ptx::rank_shift);
  }
  base::blend(lane_array<u32>(x, c.d), rank, m);
  return Flow::next;
}

}  // namespace

Handler cluster_barrier_handler(const ptx::Instruction& i) {
  const bool aligned = i.modifiers.has(Field::aligned);
  if (i.modifiers.operation() == ptx::Operation::wait) return aligned ? wait<true> : wait<false>;
  constexpr std::uint8_t relaxed = 2;  // word of Field::order
  if (i.modifiers[Field::order] == relaxed) {
    return aligned ? arrive<true, false> : arrive<false, false>;
  }
  return aligned ? arrive<true, true> : arrive<false, true>;
}

Handler rank_handler(const ptx::Instruction& i) {
  const bool wide = i.modifiers.type() == ptx::Type::u64;
  if (i.op == ptx::Op::mapa) return wide ? map_address<u64> : map_address<u32>;
  return wide ? find_rank<u64> : find_rank<u32>;
}

}  // namespace tilescope::sim
