// Across the lanes of a warp: shfl.sync (PTX ISA 9.7.9.6), vote.sync (9.7.13.10), match, redux,
// elect and activemask.
//
// A .sync instruction waits until all lanes of its membermask that have not exited are here. Lanes
// that execute it together may name different masks, each the set of its own group.
#include <fmt/format.h>

#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Operation;
using u32 = std::uint32_t;

// Flow::next when everybody named in the lanes' masks is here.
Flow gather(Core& x, Reference masks, Mask m, bool orders = true) {
  const u32* mask = lane_array<u32>(x, masks);
  Mask wanted = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    wanted |= mask[lane];
    if (!(mask[lane] >> lane & 1)) {
      return x.reports->fault(
          x, lane, "not_a_member", "a lane executes this without being in its own membermask",
          fmt::format("a mask with bit {}", lane), fmt::format("0x{:08x}", mask[lane]));
    }
  }
  return together(x, m, wanted, Wait::others, orders);
}

// Whose value a lane gets (9.7.9.6); none that it has: its own.
template <Operation how>
int source_of(int lane, u32 b, u32 clamp, bool& inside) {
  // The ISA's own names: the sub-segment of the lane, and how far it reaches.
  const int segmask = static_cast<int>(clamp >> 8 & 31), cval = static_cast<int>(clamp & 31);
  const int bval = static_cast<int>(b & 31);
  const int min_lane = lane & segmask;
  const int max_lane = min_lane | (cval & ~segmask);
  int j = lane;
  inside = false;
  if (how == Operation::up) j = lane - bval, inside = j >= max_lane;
  if (how == Operation::down) j = lane + bval, inside = j <= max_lane;
  if (how == Operation::bfly) j = lane ^ bval, inside = j <= max_lane;
  if (how == Operation::idx) j = min_lane | (bval & ~segmask), inside = j <= max_lane;
  return inside ? j : lane;
}

template <Operation how>
Flow shuffle(Core& x, const Code& c, Mask m) {
  const Flow flow = gather(x, c.e, m);
  if (flow != Flow::next) return flow;
  const u32* a = lane_array<u32>(x, c.a);
  const u32* b = lane_array<u32>(x, c.b);
  const u32* clamp = lane_array<u32>(x, c.c);
  u32 t[32];
  Mask in_range = 0, strays = 0;
  for (int lane = 0; lane < 32; ++lane) {
    bool inside = false;
    const int j = source_of<how>(lane, b[lane], clamp[lane], inside);
    t[lane] = a[j];
    in_range |= inside ? 1u << lane : 0u;
    strays |= (m >> j & 1) ? 0u : 1u << lane;
  }
  base::blend(lane_array<u32>(x, c.d), t, m);
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | (in_range & m);
  // What comes from a lane that does not take part is undefined.
  x.strays = strays & m;
  if (x.strays) undefine(x, c.d, 4, x.strays);
  return Flow::next;
}

// The lanes of m that name the same mask as lane `lane`.
Mask group_of(const u32* mask, Mask m, int lane) {
  Mask out = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    if (mask[l] == mask[lane]) out |= 1u << l;
  }
  return out;
}

template <Operation how>
Flow vote(Core& x, const Code& c, Mask m) {
  const Flow flow = gather(x, c.a, m);
  if (flow != Flow::next) return flow;
  const u32* mask = lane_array<u32>(x, c.a);
  const Mask yes = x.predicates[c.r] ^ c.flip;
  u32 ballots[32] = {};
  Mask result = 0;
  for (Mask rest = m; rest;) {
    const Mask group = group_of(mask, m, __builtin_ctz(rest));
    const Mask said = yes & group;
    const bool outcome = how == Operation::all   ? said == group
                         : how == Operation::any ? said != 0
                                                 : said == group || said == 0;
    if (outcome) result |= group;
    for (Mask lane = group; lane; lane &= lane - 1) ballots[__builtin_ctz(lane)] = said;
    rest &= ~group;
  }
  if (how == Operation::ballot) {
    base::blend(lane_array<u32>(x, c.d), ballots, m);
  } else if (c.p) {
    x.predicates[c.p] = (x.predicates[c.p] & ~m) | (result & m);
  }
  return Flow::next;
}

// match.sync (9.7.13.11): lanes of the same group that hold the same value.
template <class T, bool all>
Flow match(Core& x, const Code& c, Mask m) {
  const Flow flow = gather(x, c.e, m);
  if (flow != Flow::next) return flow;
  const u32* mask = lane_array<u32>(x, c.e);
  const T* a = lane_array<T>(x, c.a);
  u32 t[32] = {};
  Mask agree = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const Mask group = group_of(mask, m, lane);
    Mask same = 0;
    for (Mask other = group; other; other &= other - 1) {
      const int l = __builtin_ctz(other);
      if (a[l] == a[lane]) same |= 1u << l;
    }
    if (same == group) agree |= 1u << lane;
    t[lane] = all && same != group ? 0 : same;
  }
  base::blend(lane_array<u32>(x, c.d), t, m);
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | (agree & m);
  return Flow::next;
}

// redux.sync (9.7.13.14)
template <class Op, class T>
Flow reduce(Core& x, const Code& c, Mask m) {
  const Flow flow = gather(x, c.e, m);
  if (flow != Flow::next) return flow;
  const u32* mask = lane_array<u32>(x, c.e);
  const T* a = lane_array<T>(x, c.a);
  T t[32] = {};
  for (Mask rest = m; rest;) {
    const Mask group = group_of(mask, m, __builtin_ctz(rest));
    T sum = Op::first(a[__builtin_ctz(group)]);
    for (Mask other = group & (group - 1); other; other &= other - 1) {
      sum = Op::apply(sum, Op::first(a[__builtin_ctz(other)]));
    }
    for (Mask lane = group; lane; lane &= lane - 1) t[__builtin_ctz(lane)] = sum;
    rest &= ~group;
  }
  base::blend(lane_array<T>(x, c.d), t, m);
  return Flow::next;
}

template <Operation how, class T>
struct Combine {
  static T first(T a) { return a; }
  static T apply(T a, T b) {
    if (how == Operation::add) return static_cast<T>(static_cast<u32>(a) + static_cast<u32>(b));
    if (how == Operation::min) return a < b ? a : b;
    if (how == Operation::max) return a > b ? a : b;
    if (how == Operation::and_) return a & b;
    if (how == Operation::or_) return a | b;
    return a ^ b;
  }
};

// Of floats, as bits: the number where one is NaN, or with .NaN always NaN; -0 is below +0.
template <bool largest, bool absolute, bool nan>
struct CombineFloats {
  static u32 first(u32 a) { return absolute ? a & 0x7fffffffu : a; }
  static u32 apply(u32 a, u32 b) {
    if (is_nan(a) || is_nan(b)) {
      if (nan || (is_nan(a) && is_nan(b))) return 0x7fffffffu;
      return is_nan(a) ? b : a;
    }
    return (order(a) < order(b)) == largest ? b : a;
  }
  static bool is_nan(u32 a) { return (a & 0x7fffffffu) > 0x7f800000u; }
  // Bits that stand in the order of the numbers.
  static u32 order(u32 a) { return a & 0x80000000u ? ~a : a | 0x80000000u; }
};

template <bool largest>
Handler reduce_floats(const ptx::Instruction& i) {
  const bool absolute = i.modifiers.has(ptx::Field::abs), nan = i.modifiers.has(ptx::Field::nan);
  if (absolute) {
    return nan ? reduce<CombineFloats<largest, true, true>, u32>
               : reduce<CombineFloats<largest, true, false>, u32>;
  }
  return nan ? reduce<CombineFloats<largest, false, true>, u32>
             : reduce<CombineFloats<largest, false, false>, u32>;
}

Handler reduction_handler(const ptx::Instruction& i) {
  const Operation how = i.modifiers.operation();
  if (i.modifiers.type() == ptx::Type::f32) {
    return how == Operation::max ? reduce_floats<true>(i) : reduce_floats<false>(i);
  }
  const bool is_signed = i.modifiers.type() == ptx::Type::s32;
  using s32 = std::int32_t;
  switch (how) {
    case Operation::add:
      return reduce<Combine<Operation::add, u32>, u32>;
    case Operation::min:
      return is_signed ? reduce<Combine<Operation::min, s32>, s32>
                       : reduce<Combine<Operation::min, u32>, u32>;
    case Operation::max:
      return is_signed ? reduce<Combine<Operation::max, s32>, s32>
                       : reduce<Combine<Operation::max, u32>, u32>;
    case Operation::and_:
      return reduce<Combine<Operation::and_, u32>, u32>;
    case Operation::or_:
      return reduce<Combine<Operation::or_, u32>, u32>;
    case Operation::xor_:
      return reduce<Combine<Operation::xor_, u32>, u32>;
    default:
      return nullptr;
  }
}

// elect.sync (9.7.13.15): the same lane every time for the same mask; here the lowest that is
// there. It hands nothing from lane to lane: who is elected is behind what the others did in memory
// no more than before.
Flow elect(Core& x, const Code& c, Mask m) {
  const Flow flow = gather(x, c.e, m, false);
  if (flow != Flow::next) return flow;
  const u32* mask = lane_array<u32>(x, c.e);
  u32 t[32] = {};
  Mask leaders = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const int leader = __builtin_ctz(group_of(mask, m, lane));
    t[lane] = static_cast<u32>(leader);
    if (lane == leader) leaders |= 1u << lane;
  }
  if (c.d != nothing) base::blend(lane_array<u32>(x, c.d), t, m);
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | (leaders & m);
  return Flow::next;
}

Flow active_mask(Core& x, const Code& c, Mask m) {
  u32 t[32];
  for (u32& v : t) v = m;
  base::blend(lane_array<u32>(x, c.d), t, m);
  return Flow::next;
}

// bar.warp.sync (9.7.13.2): each lane has seen what the others did before.
Flow meet(Core& x, const Code& c, Mask m) {
  const Flow flow = gather(x, c.a, m);
  if (flow == Flow::next && m == x.warp->live && x.block->order.on()) observer(x).meet();
  return flow;
}

}  // namespace

Handler warp_barrier_handler() {
  return meet;
}

void sources_of_shuffle(const Core& x, const Code& c, Operation how, int (&from)[32]) {
  const u32* b = lane_array<u32>(x, c.b);
  const u32* clamp = lane_array<u32>(x, c.c);
  for (int lane = 0; lane < 32; ++lane) {
    bool inside = false;
    from[lane] =
        how == Operation::up     ? source_of<Operation::up>(lane, b[lane], clamp[lane], inside)
        : how == Operation::down ? source_of<Operation::down>(lane, b[lane], clamp[lane], inside)
        : how == Operation::bfly ? source_of<Operation::bfly>(lane, b[lane], clamp[lane], inside)
                                 : source_of<Operation::idx>(lane, b[lane], clamp[lane], inside);
  }
}

Handler warp_handler(const ptx::Instruction& i) {
  if (i.op == ptx::Op::activemask) return active_mask;
  if (i.op == ptx::Op::elect) return elect;
  if (i.op == ptx::Op::redux) return reduction_handler(i);
  if (i.op == ptx::Op::match) {
    const bool all = i.modifiers.operation() == Operation::all;
    if (ptx::bits_of(i.modifiers.type()) == 64) {
      return all ? match<std::uint64_t, true> : match<std::uint64_t, false>;
    }
    return all ? match<u32, true> : match<u32, false>;
  }
  switch (i.modifiers.operation()) {
    case Operation::up:
      return shuffle<Operation::up>;
    case Operation::down:
      return shuffle<Operation::down>;
    case Operation::bfly:
      return shuffle<Operation::bfly>;
    case Operation::idx:
      return shuffle<Operation::idx>;
    case Operation::all:
      return vote<Operation::all>;
    case Operation::any:
      return vote<Operation::any>;
    case Operation::uni:
      return vote<Operation::uni>;
    case Operation::ballot:
      return vote<Operation::ballot>;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
