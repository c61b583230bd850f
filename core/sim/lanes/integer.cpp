// Integer and logic instructions (PTX ISA 9.7.1, 9.7.8, setp of 9.7.6). All wrap; none traps.
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Class;
using ptx::Compare;
using ptx::Half;
using ptx::Logic;
using ptx::Op;
using ptx::Type;

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
constexpr int width = static_cast<int>(sizeof(T) * 8);
// Unsigned, and wide enough that nothing is promoted to int.
template <class T>
using Wrap = std::conditional_t<sizeof(T) == 8, u64, u32>;
template <class T>
struct TwiceOf;
template <>
struct TwiceOf<u16> {
  using type = u32;
};
template <>
struct TwiceOf<s16> {
  using type = s32;
};
template <>
struct TwiceOf<u32> {
  using type = u64;
};
template <>
struct TwiceOf<s32> {
  using type = s64;
};
template <>
struct TwiceOf<u64> {
  using type = unsigned __int128;
};
template <>
struct TwiceOf<s64> {
  using type = __int128;
};
template <class T>
using Twice = typename TwiceOf<T>::type;

template <class T>
struct Add {
  static T apply(T a, T b) { return static_cast<T>(Wrap<T>(a) + Wrap<T>(b)); }
};
template <class T>
struct Sub {
  static T apply(T a, T b) { return static_cast<T>(Wrap<T>(a) - Wrap<T>(b)); }
};
template <class T>
struct MulLo {
  static T apply(T a, T b) { return static_cast<T>(Wrap<T>(a) * Wrap<T>(b)); }
};
template <class T>
struct MulHi {
  static T apply(T a, T b) { return static_cast<T>((Twice<T>(a) * Twice<T>(b)) >> width<T>); }
};
template <class T>
struct MulWide {
  static Twice<T> apply(T a, T b) { return static_cast<Twice<T>>(Twice<T>(a) * Twice<T>(b)); }
};
template <class T>
struct MadLo {
  static T apply(T a, T b, T c) { return static_cast<T>(Wrap<T>(a) * Wrap<T>(b) + Wrap<T>(c)); }
};
template <class T>
struct MadHi {
  static T apply(T a, T b, T c) { return Add<T>::apply(MulHi<T>::apply(a, b), c); }
};
template <class T>
struct MadWide {
  static Twice<T> apply(T a, T b, Twice<T> c) {
    return Add<Twice<T>>::apply(MulWide<T>::apply(a, b), c);
  }
};

s32 saturated(s64 v) {
  constexpr s64 most = 0x7fffffff, least = -most - 1;
  return static_cast<s32>(v > most ? most : v < least ? least : v);
}
struct AddSat {
  static s32 apply(s32 a, s32 b) { return saturated(s64{a} + b); }
};
struct SubSat {
  static s32 apply(s32 a, s32 b) { return saturated(s64{a} - b); }
};
struct MadHiSat {
  static s32 apply(s32 a, s32 b, s32 c) { return saturated(s64{MulHi<s32>::apply(a, b)} + c); }
};

// By zero: "unspecified, machine-specific" (9.7.1.8, 9.7.1.9). An H200 answers all ones, for
// quotient and remainder, in every width and sign. The smallest number by -1 wraps.
template <class T>
struct Div {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~Wrap<T>{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - Wrap<T>(a));
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~Wrap<T>{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
template <class T>
struct Min {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Max {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <class T>
struct Abs {
  static T apply(T a) { return a < 0 ? static_cast<T>(0 - Wrap<T>(a)) : a; }
};
template <class T>
struct Neg {
  static T apply(T a) { return static_cast<T>(0 - Wrap<T>(a)); }
};

template <class T>
struct And {
  static T apply(T a, T b) { return a & b; }
};
template <class T>
struct Or {
  static T apply(T a, T b) { return a | b; }
};
template <class T>
struct Xor {
  static T apply(T a, T b) { return a ^ b; }
};
template <class T>
struct Not {
  static T apply(T a) { return static_cast<T>(~a); }
};

// Shifts clamp: an amount above the width is the width (9.7.8.8, 9.7.8.9).
template <class T>
struct Shl {
  static T apply(T a, u32 b) { return b >= width<T> ? T{0} : static_cast<T>(Wrap<T>(a) << b); }
};
template <class T>
struct Shr {
  static T apply(T a, u32 b) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (b >= width<T> ? width<T> - 1 : b));
    return b >= width<T> ? T{0} : static_cast<T>(a >> b);
  }
};

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

// lop3 (9.7.8.6): bit 4a + 2b + c of the table is the result for bits a, b, c.
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
  return Flow::next;
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
// 9.7.1.19: position and length count modulo 256; what lies beyond the top is the sign, which of
// an unsigned number is 0.
template <class T>
struct Bfe {
  static T apply(T a, u32 position, u32 length) {
    using U = std::make_unsigned_t<T>;
    const u32 pos = position & 0xff, len = length & 0xff;
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
    const u32 pos = position[l] & 0xff, len = length[l] & 0xff;
    const T field = len >= width<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    const T at = Shl<T>::apply(field, pos);
    t[l] = (b[l] & ~at) | (Shl<T>::apply(a[l], pos) & at);
  }
  blend(lane_array<T>(x, c.d), t, m);
  return Flow::next;
}

template <class T>
struct Eq {
  static bool apply(T a, T b) { return a == b; }
};
template <class T>
struct Ne {
  static bool apply(T a, T b) { return a != b; }
};
template <class T>
struct Lt {
  static bool apply(T a, T b) { return a < b; }
};
template <class T>
struct Le {
  static bool apply(T a, T b) { return a <= b; }
};
template <class T>
struct Gt {
  static bool apply(T a, T b) { return a > b; }
};
template <class T>
struct Ge {
  static bool apply(T a, T b) { return a >= b; }
};

template <template <class> class C, class T>
Handler compare_with(Logic logic) {
  switch (logic) {
    case Logic::none:
      return compare<C<T>, T, Logic::none>;
    case Logic::and_:
      return compare<C<T>, T, Logic::and_>;
    case Logic::or_:
      return compare<C<T>, T, Logic::or_>;
    case Logic::xor_:
      return compare<C<T>, T, Logic::xor_>;
  }
  return nullptr;
}

// lo, ls, hi, hs are the unsigned comparisons; of bits only eq and ne (9.7.6.2).
template <class T>
Handler setp(const ptx::Instruction& i) {
  const Logic logic = i.modifiers.logic();
  const bool bits = ptx::class_of(i.modifiers.type()) == Class::bits;
  const Compare c = i.modifiers.compare();
  if (c == Compare::eq) return compare_with<Eq, T>(logic);
  if (c == Compare::ne) return compare_with<Ne, T>(logic);
  if (bits) return nullptr;
  const bool is_unsigned = std::is_unsigned_v<T>;
  switch (c) {
    case Compare::lt:
      return compare_with<Lt, T>(logic);
    case Compare::le:
      return compare_with<Le, T>(logic);
    case Compare::gt:
      return compare_with<Gt, T>(logic);
    case Compare::ge:
      return compare_with<Ge, T>(logic);
    case Compare::lo:
      return is_unsigned ? compare_with<Lt, T>(logic) : nullptr;
    case Compare::ls:
      return is_unsigned ? compare_with<Le, T>(logic) : nullptr;
    case Compare::hi:
      return is_unsigned ? compare_with<Gt, T>(logic) : nullptr;
    case Compare::hs:
      return is_unsigned ? compare_with<Ge, T>(logic) : nullptr;
    default:
      return nullptr;
  }
}

template <class T>
Handler product(const ptx::Instruction& i) {
  const bool mad = i.op == Op::mad;
  switch (i.modifiers.half()) {
    case Half::lo:
      return mad ? ternary<MadLo<T>, T, T> : binary<MulLo<T>, T, T>;
    case Half::hi:
      return mad ? ternary<MadHi<T>, T, T> : binary<MulHi<T>, T, T>;
    case Half::wide:
      if constexpr (sizeof(T) < 8) {
        return mad ? ternary<MadWide<T>, Twice<T>, T, T, Twice<T>>
                   : binary<MulWide<T>, Twice<T>, T>;
      }
      return nullptr;
    case Half::none:
      return nullptr;
  }
  return nullptr;
}

// What only unsigned (or bit) types of 32 and 64 bits have.
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

template <class T>
Handler of_type(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::add:
      return binary<Add<T>, T, T>;
    case Op::sub:
      return binary<Sub<T>, T, T>;
    case Op::mul:
    case Op::mad:
      return product<T>(i);
    case Op::div:
      return binary<Div<T>, T, T>;
    case Op::rem:
      return binary<Rem<T>, T, T>;
    case Op::min:
      return binary<Min<T>, T, T>;
    case Op::max:
      return binary<Max<T>, T, T>;
    case Op::abs:
      return unary<Abs<T>, T, T>;
    case Op::neg:
      return unary<Neg<T>, T, T>;
    case Op::and_:
      return binary<And<T>, T, T>;
    case Op::or_:
      return binary<Or<T>, T, T>;
    case Op::xor_:
      return binary<Xor<T>, T, T>;
    case Op::not_:
      return unary<Not<T>, T, T>;
    case Op::shl:
      return binary<Shl<T>, T, T, u32>;
    case Op::shr:
      return binary<Shr<T>, T, T, u32>;
    case Op::setp:
      return setp<T>(i);
    default:
      break;
  }
  if constexpr (sizeof(T) >= 4) {
    if (i.op == Op::bfe) return ternary<Bfe<T>, T, T, u32, u32>;
    if (i.op == Op::bfind) {
      return i.modifiers.has(ptx::Field::shiftamt) ? unary<Bfind<T, true>, u32, T>
                                                   : unary<Bfind<T, false>, u32, T>;
    }
    if constexpr (std::is_unsigned_v<T>) return bit_counting<T>(i);
  }
  return nullptr;
}

// Predicates are masks already: one word does all lanes.
template <class F>
Flow predicate(Core& x, const Code& c, Mask m) {
  const Mask a = x.predicates[c.r] ^ c.flip;
  const Mask b = x.predicates[c.a] ^ c.b;
  const Mask result = F::apply(a, b);
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | (result & m);
  return Flow::next;
}

Handler of_predicates(Op op) {
  switch (op) {
    case Op::and_:
      return predicate<And<u32>>;
    case Op::or_:
      return predicate<Or<u32>>;
    case Op::xor_:
      return predicate<Xor<u32>>;
    case Op::not_:
      return predicate<Xor<u32>>;  // with all ones: bind gives predicate 0 as second
    default:
      return nullptr;
  }
}

}  // namespace

Handler integer_handler(const ptx::Instruction& i) {
  if (i.op == Op::shf) return funnel_shift(i);
  if (i.op == Op::lop3) return logic_of_three;
  if (i.op == Op::prmt) return ternary<Prmt, u32, u32>;
  if (i.modifiers.has(ptx::Field::sat)) {
    switch (i.op) {
      case Op::add:
        return binary<AddSat, s32, s32>;
      case Op::sub:
        return binary<SubSat, s32, s32>;
      case Op::mad:
        return ternary<MadHiSat, s32, s32>;
      default:
        return nullptr;
    }
  }
  switch (i.modifiers.type()) {
    case Type::pred:
      return of_predicates(i.op);
    case Type::b16:
    case Type::u16:
      return of_type<u16>(i);
    case Type::b32:
    case Type::u32:
      return of_type<u32>(i);
    case Type::b64:
    case Type::u64:
      return of_type<u64>(i);
    case Type::s16:
      return of_type<s16>(i);
    case Type::s32:
      return of_type<s32>(i);
    case Type::s64:
      return of_type<s64>(i);
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
