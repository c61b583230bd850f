// Bits and fields of bits (PTX ISA 9.7.1, 9.7.8, 9.7.9.7): counting, finding, moving, choosing.
#include <limits>
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Field;
using ptx::Logic;
using ptx::Op;
using ptx::Type;

template <class T>
constexpr u32 width = static_cast<u32>(sizeof(T) * 8);

// Funnel shifts (9.7.8.7): the pair b:a, of which a left shift keeps the upper word.
template <bool left, bool wrap>
struct Shf {
  static u32 apply(u32 a, u32 b, u32 c) {
    const u32 n = wrap ? c & 31 : (c > 32 ? 32 : c);
    const u64 pair = static_cast<u64>(b) << 32 | a;
    return static_cast<u32>(left ? (pair << n) >> 32 : pair >> n);
  }
};

// prmt (9.7.9.7): each nibble of the selector names one of the eight bytes; with its highest bit
// set the byte's sign is repeated instead.
struct Prmt {
  static u32 apply(u32 a, u32 b, u32 selector) {
    const u64 pair = static_cast<u64>(b) << 32 | a;
    u32 out = 0;
    for (int k = 0; k < 4; ++k) {
      const u32 nibble = selector >> (4 * k) & 15;
      u32 byte = static_cast<u32>(pair >> (8 * (nibble & 7))) & 0xff;
      if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
      out |= byte << (8 * k);
    }
    return out;
  }
};

// With a mode the two lowest bits of c choose one of four selections.
constexpr u16 selections[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
};
template <int mode>
struct PrmtMode {
  static u32 apply(u32 a, u32 b, u32 c) { return Prmt::apply(a, b, selections[mode][c & 3]); }
};
Handler permute(const ptx::Instruction& i) {
  switch (i.modifiers[ptx::Field::permute]) {
    case 1:
      return ternary<PrmtMode<0>, u32, u32>;
    case 2:
      return ternary<PrmtMode<1>, u32, u32>;
    case 3:
      return ternary<PrmtMode<2>, u32, u32>;
    case 4:
      return ternary<PrmtMode<3>, u32, u32>;
    case 5:
      return ternary<PrmtMode<4>, u32, u32>;
    case 6:
      return ternary<PrmtMode<5>, u32, u32>;
    default:
      return ternary<Prmt, u32, u32>;
  }
}

// lop3 (9.7.8.6): bit 4a + 2b + c of the table is the result for bits a, b, c. With an operation on
// predicates p is whether the result is not 0, combined with q.
template <Logic logic>
Flow logic_of_three(Core& x, const Code& code, Mask m) {
  const u32* a = lane_array<u32>(x, code.a);
  const u32* b = lane_array<u32>(x, code.b);
  const u32* c = lane_array<u32>(x, code.c);
  const u32 table = lane_array<u32>(x, code.e)[0];
  u32 t[32] = {};
  for (u32 row = 0; row < 8; ++row) {
    if (!(table >> row & 1)) continue;
    const u32 fa = row & 4 ? 0 : ~0u, fb = row & 2 ? 0 : ~0u, fc = row & 1 ? 0 : ~0u;
    TILESCOPE_FOR_LANES(l) t[l] |= (a[l] ^ fa) & (b[l] ^ fb) & (c[l] ^ fc);
  }
  blend(lane_array<u32>(x, code.d), t, m);
  if constexpr (logic != Logic::none) {
    Mask some = 0;
    for (int l = 0; l < 32; ++l) some |= t[l] ? lane_bit[l] : 0u;
    set_predicates(x, code, m, some, logic);
  }
  return Flow::next;
}
Handler logic_with(Logic logic) {
  if (logic == Logic::and_) return logic_of_three<Logic::and_>;
  if (logic == Logic::or_) return logic_of_three<Logic::or_>;
  return logic_of_three<Logic::none>;
}

Handler funnel_shift(const ptx::Instruction& i) {
  const bool wrap = i.modifiers[ptx::Field::amount] == 2;  // clamp, wrap
  if (i.modifiers.funnel() == ptx::Funnel::l) {
    return wrap ? ternary<Shf<true, true>, u32, u32> : ternary<Shf<true, false>, u32, u32>;
  }
  return wrap ? ternary<Shf<false, true>, u32, u32> : ternary<Shf<false, false>, u32, u32>;
}

template <class T>
struct Popc {
  static u32 apply(T a) { return static_cast<u32>(__builtin_popcountll(a)); }
};
template <class T>
struct Clz {
  static u32 apply(T a) {
    return a == 0 ? width<T> : static_cast<u32>(__builtin_clzll(a)) - (64 - width<T>);
  }
};
template <class T>
struct Brev {
  static T apply(T a) {
    u64 v = a;
    v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
    v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
    return static_cast<T>(__builtin_bswap64(v) >> (64 - width<T>));
  }
};
// The highest bit that differs from the sign, or all ones (9.7.1.16).
template <class T, bool shift>
struct Bfind {
  static u32 apply(T a) {
    const auto v = static_cast<std::make_unsigned_t<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (v == 0) return ~0u;
    const u32 zeros = Clz<std::make_unsigned_t<T>>::apply(v);
    return shift ? zeros : width<T> - 1 - zeros;
  }
};
// 9.7.1.19 lets position and length be 0 to 255. Beyond that chips take them modulo 256 for 32
// bits, and as they are for 64 (seen on an H200).
template <class T>
inline u32 place_of(u32 value) {
  return width<T> == 64 ? (value < 256 ? value : 255) : value & 0xff;
}

// What lies beyond the top is the sign, which of an unsigned number is 0.
template <class T>
struct Bfe {
  static T apply(T a, u32 position, u32 length) {
    using U = std::make_unsigned_t<T>;
    const u32 pos = place_of<T>(position), len = place_of<T>(length);
    constexpr u32 msb = width<T> - 1;
    if (len == 0) return 0;
    const bool negative = std::is_signed_v<T> &&
                          (static_cast<U>(a) >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1);
    const U field = pos > msb ? U{0} : static_cast<U>(static_cast<U>(a) >> pos);
    const u32 have = pos > msb ? 0 : msb + 1 - pos;
    const u32 keep = len < have ? len : have;
    const U low = keep > msb ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << keep) - 1);
    return static_cast<T>((field & low) | (negative ? static_cast<U>(~low) : U{0}));
  }
};

template <class T>
Flow bit_field_insert(Core& x, const Code& c, Mask m) {
  const T* a = lane_array<T>(x, c.a);
  const T* b = lane_array<T>(x, c.b);
  const u32* position = lane_array<u32>(x, c.c);
  const u32* length = lane_array<u32>(x, c.e);
  T t[32];
  for (int l = 0; l < 32; ++l) {
    const u32 pos = place_of<T>(position[l]), len = place_of<T>(length[l]);
    const T field = len >= width<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    const T at = pos >= width<T> ? T{0} : static_cast<T>(field << pos);
    t[l] = pos >= width<T> ? b[l] : (b[l] & ~at) | (static_cast<T>(a[l] << pos) & at);
  }
  blend(lane_array<T>(x, c.d), t, m);
  return Flow::next;
}

// szext (9.7.1.21): the lower n bits of a, extended; .wrap takes n modulo 32.
template <class T, bool wrap>
struct Szext {
  static u32 apply(u32 a, u32 b) {
    const u32 n = wrap ? b & 31 : b;
    if (n >= 32) return a;
    if (n == 0) return 0;
    const u32 rest = ~u32{0} << n;
    const bool negative = std::is_signed_v<T> && (a >> (n - 1) & 1);
    return negative ? a | rest : a & ~rest;
  }
};

// bmsk (9.7.1.22): b ones from position a; .wrap takes both modulo 32.
template <bool wrap>
struct Bmsk {
  static u32 apply(u32 a, u32 b) {
    const u32 position = wrap ? a & 31 : a, count = wrap ? b & 31 : b;
    if (position >= 32 || count == 0) return 0;
    const u32 ones = count >= 32 ? ~u32{0} : (u32{1} << count) - 1;
    return ones << position;
  }
};

// fns (9.7.1.17): the place of the nth one from `base` on, up or down. A base above 31 is undefined
// behaviour, and finds nothing here; the offset -2^31, which has no magnitude in 32 bits, gives 0
// whatever the mask (measured on an H100).
struct Fns {
  static u32 apply(u32 mask, u32 base, u32 offset) {
    const s32 n = static_cast<s32>(offset);
    if (n == std::numeric_limits<s32>::min()) return 0;
    s64 left = n == 0 ? 1 : n < 0 ? -s64{n} : s64{n};
    for (s64 at = base; at >= 0 && at < 32; at += n < 0 ? -1 : 1) {
      if (mask >> at & 1 && --left == 0) return static_cast<u32>(at);
      if (n == 0) break;
    }
    return ~u32{0};
  }
};

template <class T>
Handler find_or_extract(const ptx::Instruction& i) {
  if (i.op == Op::bfe) return ternary<Bfe<T>, T, T, u32, u32>;
  return i.modifiers.has(Field::shiftamt) ? unary<Bfind<T, true>, u32, T>
                                          : unary<Bfind<T, false>, u32, T>;
}

template <class T>
Handler bit_counting(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::popc:
      return unary<Popc<T>, u32, T>;
    case Op::clz:
      return unary<Clz<T>, u32, T>;
    case Op::brev:
      return unary<Brev<T>, T, T>;
    case Op::bfi:
      return bit_field_insert<T>;
    default:
      return nullptr;
  }
}

Handler fields(const ptx::Instruction& i) {
  const bool wide = ptx::bits_of(i.modifiers.type()) == 64;
  if (i.op != Op::bfe && i.op != Op::bfind) {
    return wide ? bit_counting<u64>(i) : bit_counting<u32>(i);
  }
  if (ptx::class_of(i.modifiers.type()) == ptx::Class::signed_integer) {
    return wide ? find_or_extract<s64>(i) : find_or_extract<s32>(i);
  }
  return wide ? find_or_extract<u64>(i) : find_or_extract<u32>(i);
}

Handler extension(const ptx::Instruction& i, bool wrap) {
  if (i.modifiers.type() == Type::s32) {
    return wrap ? binary<Szext<s32, true>, u32, u32> : binary<Szext<s32, false>, u32, u32>;
  }
  return wrap ? binary<Szext<u32, true>, u32, u32> : binary<Szext<u32, false>, u32, u32>;
}

}  // namespace

Handler bits_handler(const ptx::Instruction& i) {
  const bool wrap = i.modifiers[Field::amount] == 2;  // clamp, wrap
  switch (i.op) {
    case Op::shf:
      return funnel_shift(i);
    case Op::lop3:
      return logic_with(i.modifiers.logic());
    case Op::prmt:
      return permute(i);
    case Op::szext:
      return extension(i, wrap);
    case Op::bmsk:
      return wrap ? binary<Bmsk<true>, u32, u32> : binary<Bmsk<false>, u32, u32>;
    case Op::fns:
      return ternary<Fns, u32, u32>;
    default:
      return fields(i);
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
