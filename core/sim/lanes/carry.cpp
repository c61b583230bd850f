// Additions, subtractions and products that carry (PTX ISA 9.7.2): integers wider than a register.
//
// The condition code's carry flag CC.CF is a predicate register that the text does not show
// (core/ptx/opcodes.h), one bit a lane.
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Field;
using ptx::Half;
using ptx::Op;
using ptx::Type;

// d = a + b (or a - b) with the flag going in and coming out, where these are asked for. A
// difference is a + ~b + 1, so its flag is set where nothing was borrowed (seen on an H200; the ISA
// says "borrow-out", which only tells apart who mixes subtractions with additions).
template <class T, bool subtract, bool in, bool out>
Flow carry(Core& x, const Code& c, const T* a, const T* b, Mask m) {
  const Mask flags = in ? x.predicates[c.r] : 0;
  T t[32];
  Mask carried = 0;
  for (int l = 0; l < 32; ++l) {
    T first = 0;
    const T flag = in ? (flags & lane_bit[l] ? 1 : 0) : subtract;
    const T other = static_cast<T>(subtract ? ~b[l] : b[l]);
    const bool one = __builtin_add_overflow(a[l], other, &first);
    const bool two = __builtin_add_overflow(first, flag, &t[l]);
    carried |= one || two ? lane_bit[l] : 0u;
  }
  blend(lane_array<T>(x, c.d), t, m);
  if (out) x.predicates[c.p] = (x.predicates[c.p] & ~m) | (carried & m);
  return Flow::next;
}

template <class T, bool subtract, bool in, bool out>
Flow sum(Core& x, const Code& c, Mask m) {
  return carry<T, subtract, in, out>(x, c, lane_array<T>(x, c.a), lane_array<T>(x, c.b), m);
}

// S is the type of the product, with its sign; sums do not tell signs apart.
template <class S>
using Unsigned = std::conditional_t<sizeof(S) == 8, u64, u32>;

template <class S, bool high, bool in, bool out>
Flow product(Core& x, const Code& c, Mask m) {
  using T = Unsigned<S>;
  using Wide = std::conditional_t<sizeof(S) == 8, __int128, std::int64_t>;
  using UnsignedWide = std::conditional_t<sizeof(S) == 8, unsigned __int128, u64>;
  const S* a = lane_array<S>(x, c.a);
  const S* b = lane_array<S>(x, c.b);
  T t[32];
  for (int l = 0; l < 32; ++l) {
    const auto whole = static_cast<UnsignedWide>(
        std::is_signed_v<S> ? static_cast<UnsignedWide>(Wide{a[l]} * Wide{b[l]})
                            : UnsignedWide{static_cast<T>(a[l])} * static_cast<T>(b[l]));
    t[l] = static_cast<T>(high ? whole >> (8 * sizeof(T)) : whole);
  }
  return carry<T, false, in, out>(x, c, t, lane_array<T>(x, c.c), m);
}

template <class T, bool subtract>
Handler sum_with(bool in, bool out) {
  if (in) return out ? sum<T, subtract, true, true> : sum<T, subtract, true, false>;
  return sum<T, subtract, false, true>;
}

template <class S, bool high>
Handler product_with(bool in, bool out) {
  if (in) return out ? product<S, high, true, true> : product<S, high, true, false>;
  return product<S, high, false, true>;
}

template <class S>
Handler of_type(const ptx::Instruction& i) {
  const bool out = i.modifiers.has(Field::cc);
  switch (i.op) {
    case Op::add:
    case Op::addc:
      return sum_with<Unsigned<S>, false>(i.op == Op::addc, out);
    case Op::sub:
    case Op::subc:
      return sum_with<Unsigned<S>, true>(i.op == Op::subc, out);
    case Op::mad:
    case Op::madc:
      return i.modifiers.half() == Half::hi ? product_with<S, true>(i.op == Op::madc, out)
                                            : product_with<S, false>(i.op == Op::madc, out);
    default:
      return nullptr;
  }
}

}  // namespace

Handler carry_handler(const ptx::Instruction& i) {
  switch (i.modifiers.type()) {
    case Type::u32:
      return of_type<u32>(i);
    case Type::s32:
      return of_type<std::int32_t>(i);
    case Type::u64:
      return of_type<u64>(i);
    case Type::s64:
      return of_type<std::int64_t>(i);
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
