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

// c + |a - b| (9.7.1.7), which wraps as sums do.
template <class T>
struct Sad {
  static T apply(T a, T b, T c) {
    return static_cast<T>(Wrap<T>(c) + (a < b ? Wrap<T>(b) - Wrap<T>(a) : Wrap<T>(a) - Wrap<T>(b)));
  }
};
template <class T>
struct Cnot {
  static T apply(T a) { return a == 0 ? T{1} : T{0}; }
};
// .relu of s32: what is below 0 becomes 0 (9.7.1.12).
template <class Extreme>
struct Relu {
  static s32 apply(s32 a, s32 b) {
    const s32 v = Extreme::apply(a, b);
    return v < 0 ? 0 : v;
  }
};

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
    case Op::sad:
      return ternary<Sad<T>, T, T>;
    case Op::cnot:
      return unary<Cnot<T>, T, T>;
    case Op::setp:
      return setp<T>(i);
    default:
      break;
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

bool carries(const ptx::Instruction& i) {
  return i.op == Op::addc || i.op == Op::subc || i.op == Op::madc ||
         i.modifiers.has(ptx::Field::cc);
}

}  // namespace

Handler integer_handler(const ptx::Instruction& i) {
  if (carries(i)) return carry_handler(i);
  switch (i.op) {
    case Op::set:
    case Op::slct:
      return comparison_handler(i);
    case Op::dp4a:
    case Op::dp2a:
    case Op::vabsdiff2:
    case Op::vabsdiff4:
    case Op::mul24:
    case Op::mad24:
      return dot_handler(i);
    default:
      break;
  }
  if (i.modifiers.type() == Type::u16x2 || i.modifiers.type() == Type::s16x2) return dot_handler(i);
  if (Handler h = bits_handler(i)) return h;
  if (i.modifiers.has(ptx::Field::relu)) {
    return i.op == Op::min ? binary<Relu<Min<s32>>, s32, s32> : binary<Relu<Max<s32>>, s32, s32>;
  }
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
