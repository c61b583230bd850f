// One number of a shape, a stride or a coordinate.
//
// A number is known (`16`), unknown but divisible (`?`, `?{div=16}`), or the slicing mark `_`.
// A stride may be on an axis: `1@0` adds to coordinate 0, `1@TLane` to a lane of TMEM,
// `2@1@0` to mode 1 inside mode 0. A number without an axis is an offset in elements.
//
// This header, like every header of the layout value, includes only <array>, <cstdint> and
// <type_traits>, so that device code can use it.
#pragma once

#include <cstdint>

namespace tilescope {

// A path of up to four steps, outermost last as it is written: `2@1@0` has steps 1, 0.
// Each step is one byte: 0 no step, 1 + n for the numbered axis n < 127, 128 + id for a named axis.
struct Axis {
  std::uint32_t path = 0;

  constexpr bool none() const { return path == 0; }
  constexpr int steps() const {
    int n = 0;
    for (std::uint32_t p = path; p != 0; p >>= 8) ++n;
    return n;
  }
  constexpr std::uint8_t step(int i) const {
    return static_cast<std::uint8_t>((path >> (8 * i)) & 0xff);
  }
  // Without its innermost steps: what is left leads to where they begin.
  constexpr Axis without(int inner) const { return {inner > 3 ? 0 : path >> (8 * inner)}; }
  constexpr Axis then(std::uint8_t outer) const {
    return {path | (static_cast<std::uint32_t>(outer) << (8 * steps()))};
  }
  friend constexpr bool operator==(Axis, Axis) = default;
};

struct Int {
  enum class Kind : std::uint32_t { number, dynamic, all };

  std::int64_t value = 0;  // number: itself; dynamic: what it is divisible by, at least 1
  Axis axis;
  Kind kind = Kind::number;

  constexpr Int() = default;
  constexpr Int(std::int64_t v) : value(v) {}  // NOLINT: a number is an Int wherever one is asked
  constexpr Int(std::int64_t v, Axis a) : value(v), axis(a) {}

  static constexpr Int unknown(std::int64_t divisible_by = 1) {
    Int i(divisible_by);
    i.kind = Kind::dynamic;
    return i;
  }
  static constexpr Int all() {
    Int i;
    i.kind = Kind::all;
    return i;
  }

  constexpr bool known() const { return kind == Kind::number; }
  constexpr bool zero() const { return known() && value == 0; }  // on whichever axis
  constexpr bool is(std::int64_t v) const { return known() && axis.none() && value == v; }
  friend constexpr bool operator==(const Int& a, const Int& b) {
    return a.value == b.value && a.axis == b.axis && a.kind == b.kind;
  }
};

// Arithmetic that says when a result does not fit in 64 bits, instead of wrapping.
// `fits` is cleared on overflow and left alone otherwise.
constexpr std::int64_t checked_mul(std::int64_t a, std::int64_t b, bool& fits) {
  constexpr std::int64_t lowest = INT64_MIN, highest = INT64_MAX;
  if (a == 0 || b == 0) return 0;
  const bool over = a > 0 ? (b > 0 ? a > highest / b : b < lowest / a)
                          : (b > 0 ? a < lowest / b : b < highest / a);
  if (over) fits = false;
  return over ? 0 : a * b;
}

constexpr std::int64_t checked_add(std::int64_t a, std::int64_t b, bool& fits) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
    fits = false;
    return 0;
  }
  return a + b;
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}

namespace detail {

constexpr std::int64_t gcd(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

}  // namespace detail

// --- arithmetic of numbers that may be unknown --------------------------------------------------
//
// A result is unknown where an operand is, and divisible by what follows from their divisors:
//
//     ?{div=4} * 8        = ?{div=32}       products multiply
//     ?{div=16} + 24      = ?{div=8}        sums have the greatest common divisor
//     ceil(?{div=16} / 4) = ?{div=4}        ceil(?{div=6} / 4) = ?
//
// Unknown numbers are never equal to each other, and an unknown extent is at least 1, hence at
// least its divisor. A known number that does not fit clears `fits`; a divisor that does not fit is
// replaced by a smaller one that is right too.

// Provably a multiple of d > 0, and provably at least n (of an extent).
constexpr bool multiple_of(const Int& a, std::int64_t d) {
  return a.value % d == 0;
}
constexpr bool at_least(const Int& extent, std::int64_t n) {
  return extent.value >= n;
}

// At most one of the two is on an axis; the product does too, unless it is 0.
constexpr Int times(const Int& a, const Int& b, bool& fits) {
  if (a.zero() || b.zero()) return 0;
  const Axis axis = a.axis.none() ? b.axis : a.axis;
  if (a.known() && b.known()) return Int(checked_mul(a.value, b.value, fits), axis);
  bool divisor_fits = true;
  const std::int64_t x = checked_mul(a.value, a.value < 0 ? -1 : 1, divisor_fits),
                     y = checked_mul(b.value, b.value < 0 ? -1 : 1, divisor_fits),
                     divisor = checked_mul(x, y, divisor_fits);
  const std::int64_t larger = x > y ? x : y;  // at least 1: one of the two is unknown
  Int out = Int::unknown(divisor_fits ? divisor : larger);
  out.axis = axis;
  return out;
}

// Of two numbers on the same axis.
constexpr Int plus(const Int& a, const Int& b, bool& fits) {
  if (a.known() && b.known()) return Int(checked_add(a.value, b.value, fits), a.axis);
  if (a.zero()) return b;
  if (b.zero()) return a;
  Int out = Int::unknown(detail::gcd(a.value, b.value));
  out.axis = a.axis;
  return out;
}

// a / d, for a multiple of d > 0.
constexpr Int over(const Int& a, std::int64_t d) {
  Int out = a;
  out.value /= d;
  return out;
}

// Of extents and strides, which are not negative; b is at least 1.
constexpr Int ceil_div(const Int& a, const Int& b) {
  if (a.known() && b.known()) return Int(ceil_div(a.value, b.value), a.axis);
  if (a.known() && a.value <= b.value) return Int(a.value > 0 ? 1 : 0, a.axis);
  Int out = Int::unknown(b.known() && multiple_of(a, b.value) ? a.value / b.value : 1);
  out.axis = a.axis;
  return out;
}

}  // namespace tilescope
