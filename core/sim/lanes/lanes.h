// What every handler file starts from: lanes as arrays, and loops over them that the compiler turns
// into vector instructions.
//
// The files of this folder are compiled once for each set of vector instructions, into a namespace
// of that name (TILESCOPE_LANES); core/sim/bind/bind.cpp asks the processor which one to take. They
// are compiled without strict aliasing: a register is whatever type the instruction says.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/sim/machine/code.h"

#if defined(__clang__)
#define TILESCOPE_FOR_LANES(l) \
  _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < 32; ++l)
#else
#define TILESCOPE_FOR_LANES(l) _Pragma("GCC ivdep") for (int l = 0; l < 32; ++l)
#endif

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

// The integers of registers, by PTX's names.
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
inline T* lane_array(const Core& x, Reference r) {
  return reinterpret_cast<T*>(x.bank[r >> 31] + (r & ~constant_bit));
}

// lane l's bit
constexpr std::uint32_t lane_bit[32] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

// d[l] = from[l] in the lanes of m
template <class T>
inline void blend(T* d, const T* from, Mask m) {
  TILESCOPE_FOR_LANES(l) d[l] = (m & lane_bit[l]) ? from[l] : d[l];
}

// Op::apply(a), of operand types
template <class Op, class D, class A>
Flow unary(Core& x, const Code& c, Mask m) {
  D* d = lane_array<D>(x, c.d);
  const A* a = lane_array<A>(x, c.a);
  if (m == x.live) {
    TILESCOPE_FOR_LANES(l) d[l] = Op::apply(a[l]);
  } else {
    D t[32];
    TILESCOPE_FOR_LANES(l) t[l] = Op::apply(a[l]);
    blend(d, t, m);
  }
  return Flow::next;
}

template <class Op, class D, class A, class B = A>
Flow binary(Core& x, const Code& c, Mask m) {
  D* d = lane_array<D>(x, c.d);
  const A* a = lane_array<A>(x, c.a);
  const B* b = lane_array<B>(x, c.b);
  if (m == x.live) {
    TILESCOPE_FOR_LANES(l) d[l] = Op::apply(a[l], b[l]);
  } else {
    D t[32];
    TILESCOPE_FOR_LANES(l) t[l] = Op::apply(a[l], b[l]);
    blend(d, t, m);
  }
  return Flow::next;
}

template <class Op, class D, class A, class B = A, class C = A>
Flow ternary(Core& x, const Code& c, Mask m) {
  D* d = lane_array<D>(x, c.d);
  const A* a = lane_array<A>(x, c.a);
  const B* b = lane_array<B>(x, c.b);
  const C* e = lane_array<C>(x, c.c);
  if (m == x.live) {
    TILESCOPE_FOR_LANES(l) d[l] = Op::apply(a[l], b[l], e[l]);
  } else {
    D t[32];
    TILESCOPE_FOR_LANES(l) t[l] = Op::apply(a[l], b[l], e[l]);
    blend(d, t, m);
  }
  return Flow::next;
}

// p (and its complement q) from a comparison, combined with r (setp, 9.7.6.2).
inline void set_predicates(Core& x, const Code& c, Mask m, Mask yes, ptx::Logic logic) {
  const Mask r = x.predicates[c.r] ^ c.flip;
  Mask p = yes, q = ~yes;
  if (logic == ptx::Logic::and_) p &= r, q &= r;
  if (logic == ptx::Logic::or_) p |= r, q |= r;
  if (logic == ptx::Logic::xor_) p ^= r, q ^= r;
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | (p & m);
  if (c.q) x.predicates[c.q] = (x.predicates[c.q] & ~m) | (q & m);
}

template <class Op, class A, ptx::Logic logic>
Flow compare(Core& x, const Code& c, Mask m) {
  const A* a = lane_array<A>(x, c.a);
  const A* b = lane_array<A>(x, c.b);
  Mask yes = 0;
  for (int l = 0; l < 32; ++l) yes |= Op::apply(a[l], b[l]) ? lane_bit[l] : 0u;
  set_predicates(x, c, m, yes, logic);
  return Flow::next;
}

}  // namespace
}  // namespace tilescope::sim::TILESCOPE_LANES
