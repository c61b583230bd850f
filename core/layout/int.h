// One number of a shape, a stride or a coordinate.
//
// A number is known (`16`), unknown but divisible (`?`, `?{div=16}`), or the slicing mark `_`.
// A stride may stand on an axis: `1@0` adds to coordinate 0, `1@TLane` to a lane of tensor memory,
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
  constexpr Axis then(std::uint8_t outer) const {
    return {path | (static_cast<std::uint32_t>(outer) << (8 * steps()))};
  }
  friend constexpr bool operator==(Axis a, Axis b) { return a.path == b.path; }
};

struct Int {
  enum class Kind : std::uint8_t { number, dynamic, all };

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

}  // namespace tilescope
