// What of two values is looked at: one of the errors (core/diff/measure.h), or a value itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/diff/measure.h"

namespace tilescope {

enum class Measured : std::uint8_t {
  difference,  // got - want; not a number where one is infinite or NaN and the other is not the
               // same
  absolute,
  relative,
  ulp,
  got,
  want
};
inline constexpr std::array kMeasured = {Measured::difference, Measured::absolute,
                                         Measured::relative,   Measured::ulp,
                                         Measured::got,        Measured::want};

constexpr std::string_view name_of(Measured what) {
  constexpr std::string_view names[] = {"difference", "absolute", "relative", "ulp", "got", "want"};
  return names[static_cast<std::size_t>(what)];
}
constexpr std::optional<Measured> measured_named(std::string_view name) {
  for (const Measured each : kMeasured) {
    if (name_of(each) == name) return each;
  }
  return {};
}

// An error, which is 0 where both are the same and grows without end; else a value of the matrix.
constexpr bool is_error(Measured what) {
  return what < Measured::got;
}

// By which of its errors an element is worse than another: a value has none of its own.
inline double badness(const Measure& m, Measured by) {
  if (by == Measured::relative) return m.relative;
  if (by == Measured::ulp) return static_cast<double>(m.ulp);
  return m.absolute;
}

}  // namespace tilescope
