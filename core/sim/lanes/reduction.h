// What reductions make of the value in memory and another: those of atom and red (PTX ISA 9.7.13.5)
// and of cp.reduce.async.bulk (9.7.9.25.4.2).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/numeric/small_float.h"
#include "core/ptx/opcodes.h"

namespace tilescope::sim {
namespace {

inline float flushed(float f) {
  std::uint32_t b;
  std::memcpy(&b, &f, 4);
  if (!(b & 0x7f800000u)) b &= 0x80000000u;
  std::memcpy(&f, &b, 4);
  return f;
}

// The NaN that an atomic sum of f64 gives: in shared memory, where chips add in a loop, as add
// does, and memory's before b's; in global memory b's before memory's, all its bits. Where neither
// is NaN it is 0xfff8000000000000 (all seen on an H200).
inline double nan_of_sum(double old, double b, bool shared) {
  const double first = shared ? old : b, second = shared ? b : old;
  std::uint64_t bits = 0xfff8000000000000u;
  if (first != first) {
    std::memcpy(&bits, &first, 8);
  } else if (second != second) {
    std::memcpy(&bits, &second, 8);
  }
  if (shared) bits |= 0x0008000000000000u;
  double nan;
  std::memcpy(&nan, &bits, 8);
  return nan;
}

// Floats add to nearest; f32 in global memory flushes subnormals, in shared memory it does not
// (9.7.13.5). NaN is canonical, as for add.
template <class T>
T sum(T old, T b, bool shared) {
  if constexpr (std::is_same_v<T, float>) {
    float r = shared ? old + b : flushed(flushed(old) + flushed(b));
    if (r != r) {
      const std::uint32_t nan = 0x7fffffffu;
      std::memcpy(&r, &nan, 4);
    }
    return r;
  } else if constexpr (std::is_same_v<T, double>) {
    double r = old + b;
    if (r != r) r = nan_of_sum(old, b, shared);
    return r;
  } else {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
  }
}

template <ptx::Operation how, class T>
T combined(T old, T b, T swap, bool shared) {
  if constexpr (how == ptx::Operation::add) return sum(old, b, shared);
  if constexpr (how == ptx::Operation::min) return old < b ? old : b;
  if constexpr (how == ptx::Operation::max) return old > b ? old : b;
  if constexpr (how == ptx::Operation::inc) return old >= b ? T{0} : static_cast<T>(old + 1);
  if constexpr (how == ptx::Operation::dec)
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  if constexpr (how == ptx::Operation::exch) return b;
  if constexpr (how == ptx::Operation::cas) return old == b ? swap : old;
  if constexpr (std::is_integral_v<T>) {
    if constexpr (how == ptx::Operation::and_) return old & b;
    if constexpr (how == ptx::Operation::or_) return old | b;
    if constexpr (how == ptx::Operation::xor_) return old ^ b;
  }
  return old;
}

// f16 and bf16, one or two in a word. Sums are rounded once: f32 holds the sum of two of either
// exactly enough (24 bits are more than twice 11 and 2). Subnormals are kept (.noftz).
template <ptx::Operation how>
std::uint16_t combine_narrow(std::uint16_t a, std::uint16_t b, const FloatFormat& format) {
  const double x = decode(format, a), y = decode(format, b);
  if (how != ptx::Operation::add && (x != x || y != y)) {
    return static_cast<std::uint16_t>(x != x && y != y ? 0x7fff : x != x ? b : a);
  }
  if (how == ptx::Operation::add) {
    const double sum = x + y;
    return static_cast<std::uint16_t>(sum != sum ? 0x7fff : encode(format, sum));
  }
  const bool a_is_less = x < y || (x == y && (a >> 15) > (b >> 15));
  return a_is_less == (how == ptx::Operation::min) ? a : b;
}

template <ptx::Operation how, bool brain, class T>
T combine_parts(T old, T b) {
  const FloatFormat& format = brain ? format_bf16 : format_f16;
  T out = 0;
  for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 16) {
    const std::uint16_t part = combine_narrow<how>(static_cast<std::uint16_t>(old >> shift),
                                                   static_cast<std::uint16_t>(b >> shift), format);
    out = static_cast<T>(out | static_cast<T>(static_cast<T>(part) << shift));
  }
  return out;
}

}  // namespace
}  // namespace tilescope::sim
