// Place: where a coordinate leads, as a sum of numbers on axes.
//
//     layout                          coordinate    place
//     (8,8):(8,1)                     (3,5)         29                    an offset
//     (4,5):(1@0,1@1)                 (3,2)         3@0+2@1, written (3,2), a coordinate
//     (128,64):(1@TLane,1@TCol)       (3,4)         3@TLane+4@TCol
//     (128,64):(1@tid_in_wg,1)        (3,4)         3@tid_in_wg+4         thread 3 has offset 4
//
// An offset is the number that is on no axis. Parts are in the order in which they came, one
// an axis; a part of 0 stays, so that the place (0,0) knows its two axes, but changes nothing: two
// places are equal where all their numbers are. CuTe calls the numbered kind an ArithmeticTuple
// (include/cute/numeric/arithmetic_tuple.hpp); TIRx's places are the named kind.
#pragma once

#include <array>
#include <cstdint>

#include "core/layout/tree.h"

namespace tilescope {

struct Place {
  std::array<Int, max_leaves> part{};
  std::uint8_t parts = 0;

  constexpr Place() = default;
  constexpr Place(const Int& number) : parts(1) { part[0] = number; }  // NOLINT: 29 is a place

  // The number on an axis, or on none: the offset. 0 where there is no such part.
  constexpr Int on(Axis axis) const {
    for (int i = 0; i < parts; ++i) {
      if (part[i].axis == axis) return part[i];
    }
    return Int(0, axis);
  }
  constexpr Int offset() const { return on({}); }

  // No axis but the offset's: an offset and nothing else.
  constexpr bool plain() const {
    for (int i = 0; i < parts; ++i) {
      if (!part[i].axis.none()) return false;
    }
    return true;
  }
  constexpr bool zero() const {
    for (int i = 0; i < parts; ++i) {
      if (!part[i].zero()) return false;
    }
    return true;
  }
  constexpr bool known() const {
    for (int i = 0; i < parts; ++i) {
      if (!part[i].known()) return false;
    }
    return true;
  }

  constexpr Refusal add(const Int& number) {
    bool fits = true;
    for (int i = 0; i < parts; ++i) {
      if (!(part[i].axis == number.axis)) continue;
      part[i] = plus(part[i], number, fits);
      return fits ? Refusal{} : Refusal{Refusal::Rule::overflow, -1, 0, 0, 0};
    }
    if (parts == max_leaves) return {Refusal::Rule::too_many_leaves, -1, 0, max_leaves, 0};
    part[parts++] = number;
    return {};
  }
  constexpr Refusal add(const Place& other) {
    for (int i = 0; i < other.parts; ++i) {
      if (const Refusal r = add(other.part[i])) return r;
    }
    return {};
  }

  friend constexpr bool operator==(const Place& a, const Place& b) {
    for (int i = 0; i < a.parts; ++i) {
      if (!(a.part[i] == b.on(a.part[i].axis))) return false;
    }
    for (int i = 0; i < b.parts; ++i) {
      if (!(b.part[i] == a.on(b.part[i].axis))) return false;
    }
    return true;
  }
};

namespace detail {

// The numbered axes below `outer` as a tuple; `steps` of their paths lead to `outer`.
constexpr Result<Tuple> coordinate_below(const Place& place, Axis outer, int steps) {
  constexpr int first_named = 128;
  const Refusal none{Refusal::Rule::not_congruent, -1, 0, 0, 0};
  int modes = 0;
  for (int i = 0; i < place.parts; ++i) {
    const Axis axis = place.part[i].axis;
    const int inner = axis.steps() - steps;  // steps left, the outermost of them the next mode
    if (axis.none() || inner < 0 || !(axis.without(inner) == outer)) continue;
    if (inner == 0) {  // a number here: nothing else may be below
      for (int k = 0; k < place.parts; ++k) {
        const int deeper = place.part[k].axis.steps() - steps;
        if (deeper > 0 && place.part[k].axis.without(deeper) == outer) return none;
      }
      Int number = place.part[i];
      number.axis = {};
      return Tuple(number);
    }
    const int mode = axis.step(inner - 1);
    if (mode >= first_named || mode > max_leaves) return none;
    modes = mode > modes ? mode : modes;
  }
  if (modes == 0) return Tuple(0);
  Tuple out;
  for (int m = 1; m <= modes; ++m) {
    const Axis below{(outer.path << 8) | static_cast<std::uint32_t>(m)};
    const Result<Tuple> mode = coordinate_below(place, below, steps + 1);
    if (!mode) return mode;
    out.push(*mode);
  }
  if (const Refusal r = out.capacity()) return r;
  return out;
}

}  // namespace detail

// The place as a coordinate, where all its axes are numbered: 3@0+2@1 is (3,2), and 1@0@0+2@1 is
// ((1),2). Refused for an offset, for a named axis, and for a number on an axis and one inside it.
constexpr Result<Tuple> coordinate_of(const Place& place) {
  if (place.plain() || !place.offset().zero()) {
    return Refusal{Refusal::Rule::not_congruent, -1, 0, 0, 0};
  }
  return detail::coordinate_below(place, {}, 0);
}

}  // namespace tilescope
