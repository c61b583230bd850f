// How far one element is from what was wanted.
//
//   absolute  |got - want|                 0 where both are the same, infinities included
//   relative  absolute / |want|            0/0 is 0, x/0 is infinity
//   ulp       values of the type between   (core/numeric/dtype.h)
//   wrong     not (absolute <= atol + rtol |want|), the rule of allclose
//
// Where one is NaN or infinite and the other is not the same, absolute and relative are infinite
// and the element is wrong under any tolerance. Two NaNs are equal unless said otherwise.
// 64-bit integers are subtracted as integers, so a difference of 1 at 2^60 is seen.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "core/numeric/dtype.h"

namespace tilescope {

struct Tolerance {
  double rtol = 0, atol = 0;
};

struct Measure {
  double absolute = 0, relative = 0;
  std::uint64_t ulp = 0;
  bool wrong = false;
};

inline Measure measure_floats(double got, double want, std::uint64_t ulp, Tolerance tolerance,
                              bool nan_equal) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(got) && std::isnan(want) && nan_equal) return {};
  if (got == want) return {};
  if (!std::isfinite(got) || !std::isfinite(want)) return {infinity, infinity, ulp, true};
  const double absolute = std::fabs(got - want), size = std::fabs(want);
  const bool wrong = !(absolute <= tolerance.atol + tolerance.rtol * size);
  return {absolute, size > 0 ? absolute / size : infinity, ulp, wrong};
}

// The distance of integers is exact; it exceeds the (real) tolerance just if it exceeds its floor.
inline Measure measure_integers(std::uint64_t distance, double want, Tolerance tolerance) {
  if (distance == 0) return {};
  const double allowed = tolerance.atol + tolerance.rtol * std::fabs(want);
  const bool wrong =
      allowed < 18446744073709551616.0 && distance > static_cast<std::uint64_t>(allowed);
  const auto absolute = static_cast<double>(distance);
  const double relative =
      want != 0 ? absolute / std::fabs(want) : std::numeric_limits<double>::infinity();
  return {absolute, relative, distance, wrong};
}

inline Measure measure(DType type, const std::byte* got, const std::byte* want, Tolerance tolerance,
                       bool nan_equal) {
  const std::uint64_t ulp = ulp_distance(type, got, want);
  const double w = load_element(type, want);
  if (!is_float(type)) return measure_integers(ulp, w, tolerance);
  return measure_floats(load_element(type, got), w, ulp, tolerance, nan_equal);
}

}  // namespace tilescope
