// Integers packed in a register (PTX ISA 9.7.1): u16x2 and s16x2, and the products of bytes that
// dp4a and dp2a add up; and integers of 24 bits.
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Class;
using ptx::Field;
using ptx::Half;
using ptx::Op;
using ptx::Type;

struct AddHalf {
  static u16 apply(u16 a, u16 b) { return static_cast<u16>(a + b); }
};
template <class T, bool relu>
struct MinHalf {
  static T apply(T a, T b) {
    const T v = a < b ? a : b;
    return relu && v < 0 ? T{0} : v;
  }
};
template <class T, bool relu>
struct MaxHalf {
  static T apply(T a, T b) {
    const T v = a > b ? a : b;
    return relu && v < 0 ? T{0} : v;
  }
};

// A packed register is an array of 64 halves.
template <class Operation, class T>
Flow of_halves(Core& x, const Code& c, Mask m) {
  alignas(64) T t[64];
  for (int part = 0; part < 64; part += 32) {
    T* d = t + part;
    const T* a = lane_array<T>(x, c.a) + part;
    const T* b = lane_array<T>(x, c.b) + part;
    TILESCOPE_FOR_LANES(l) d[l] = Operation::apply(a[l], b[l]);
  }
  blend(lane_array<u32>(x, c.d), reinterpret_cast<const u32*>(t), m);
  return Flow::next;
}

// A part of a word, extended by its sign if A is signed.
template <class A>
s64 part(u32 word, int bits, int index) {
  const u32 raw = word >> (bits * index) & ((1u << bits) - 1);
  if (!std::is_signed_v<A>) return raw;
  return s64{raw} - (raw >> (bits - 1) ? s64{1} << bits : 0);
}

template <class A, class B>
struct Dp4a {
  static u32 apply(u32 a, u32 b, u32 c) {
    s64 sum = c;
    for (int k = 0; k < 4; ++k) sum += part<A>(a, 8, k) * part<B>(b, 8, k);
    return static_cast<u32>(sum);
  }
};
template <class A, class B, bool high>
struct Dp2a {
  static u32 apply(u32 a, u32 b, u32 c) {
    s64 sum = c;
    for (int k = 0; k < 2; ++k) sum += part<A>(a, 16, k) * part<B>(b, 8, k + (high ? 2 : 0));
    return static_cast<u32>(sum);
  }
};

// The product has 48 bits, of which .hi has the upper 32 (9.7.1.5).
template <class T, bool high>
struct Mul24 {
  static u32 apply(u32 a, u32 b) {
    const s64 whole = part<T>(a, 24, 0) * part<T>(b, 24, 0);
    return static_cast<u32>(high ? whole >> 16 : whole);
  }
};
template <class T, bool high>
struct Mad24 {
  static u32 apply(u32 a, u32 b, u32 c) { return Mul24<T, high>::apply(a, b) + c; }
};
struct Mad24Sat {
  static u32 apply(u32 a, u32 b, u32 c) {
    const s64 v = s64{static_cast<s32>(Mul24<s32, true>::apply(a, b))} + static_cast<s32>(c);
    constexpr s64 most = 0x7fffffff, least = -most - 1;
    return static_cast<u32>(v > most ? most : v < least ? least : v);
  }
};

// vabsdiff2, vabsdiff4 (9.7.18.2): of halves or bytes T; c is only taken with .add.
template <class T, bool sums>
struct AbsoluteDifferences {
  static u32 apply(u32 a, u32 b, u32 c) {
    constexpr u32 bits = 8 * sizeof(T);
    u32 out = sums ? c : 0;
    for (u32 at = 0; at < 32; at += bits) {
      const s32 x = static_cast<s32>(static_cast<T>(a >> at));
      const s32 y = static_cast<s32>(static_cast<T>(b >> at));
      const u32 apart = static_cast<u32>(x < y ? y - x : x - y);
      out += sums ? apart : apart << at;
    }
    return out;
  }
};

template <class T>
Handler absolute_differences(const ptx::Instruction& i) {
  return i.modifiers.has(Field::operation) ? ternary<AbsoluteDifferences<T, true>, u32, u32>
                                           : ternary<AbsoluteDifferences<T, false>, u32, u32>;
}

template <class A, class B>
Handler dot(const ptx::Instruction& i) {
  if (i.op == Op::dp4a) return ternary<Dp4a<A, B>, u32, u32>;
  return i.modifiers.half() == Half::hi ? ternary<Dp2a<A, B, true>, u32, u32>
                                        : ternary<Dp2a<A, B, false>, u32, u32>;
}

bool is_signed(Type type) {
  return ptx::class_of(type) == Class::signed_integer;
}

Handler dots(const ptx::Instruction& i) {
  const bool a = is_signed(i.modifiers.type()), b = is_signed(i.modifiers.type2());
  if (a) return b ? dot<s32, s32>(i) : dot<s32, u32>(i);
  return b ? dot<u32, s32>(i) : dot<u32, u32>(i);
}

template <class T>
Handler of_24(const ptx::Instruction& i) {
  const bool high = i.modifiers.half() == Half::hi;
  if (i.modifiers.has(Field::sat)) return ternary<Mad24Sat, u32, u32>;
  if (i.op == Op::mul24)
    return high ? binary<Mul24<T, true>, u32, u32> : binary<Mul24<T, false>, u32, u32>;
  return high ? ternary<Mad24<T, true>, u32, u32> : ternary<Mad24<T, false>, u32, u32>;
}

Handler halves(const ptx::Instruction& i) {
  const bool is_s = is_signed(i.modifiers.type()), relu = i.modifiers.has(Field::relu);
  switch (i.op) {
    case Op::add:
      return of_halves<AddHalf, u16>;
    case Op::min:
      if (relu) return of_halves<MinHalf<s16, true>, s16>;
      return is_s ? of_halves<MinHalf<s16, false>, s16> : of_halves<MinHalf<u16, false>, u16>;
    case Op::max:
      if (relu) return of_halves<MaxHalf<s16, true>, s16>;
      return is_s ? of_halves<MaxHalf<s16, false>, s16> : of_halves<MaxHalf<u16, false>, u16>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler dot_handler(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::dp4a:
    case Op::dp2a:
      return dots(i);
    case Op::vabsdiff4:
      return is_signed(i.modifiers.type2()) ? absolute_differences<std::int8_t>(i)
                                            : absolute_differences<std::uint8_t>(i);
    case Op::vabsdiff2:
      return is_signed(i.modifiers.type2()) ? absolute_differences<std::int16_t>(i)
                                            : absolute_differences<std::uint16_t>(i);
    case Op::mul24:
    case Op::mad24:
      return is_signed(i.modifiers.type()) ? of_24<s32>(i) : of_24<u32>(i);
    default:
      return halves(i);
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
