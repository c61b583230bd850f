// min and max of floating-point numbers, which f32 and the halves share.
#pragma once

#include "core/sim/lanes/rounding.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

// The smaller or larger of two (9.7.3.11, 9.7.4.7): -0 is less than +0. Of a number and NaN the
// number, or with .NaN the NaN. With .xorsign.abs magnitudes are compared, and the sign of a number
// that comes out is the product of both.
template <bool larger, bool nan_wins, bool magnitudes>
struct Extreme {
  static float apply(float a, float b) {
    const std::uint32_t signs = bits_of(a) ^ bits_of(b);
    if constexpr (magnitudes) a = std::fabs(a), b = std::fabs(b);
    const bool first = larger ? a > b : a < b, second = larger ? a < b : a > b;
    const std::uint32_t equal = larger ? bits_of(a) & bits_of(b) : bits_of(a) | bits_of(b);
    const float chosen = first ? a : second ? b : float_of(equal);
    const float with_nan = nan_wins ? (a != a ? a : b) : (a != a ? b : a);
    const float out = a != a || b != b ? with_nan : chosen;
    if constexpr (!magnitudes) return out;
    return out != out ? out : float_of((bits_of(out) & 0x7fffffffu) | (signs & 0x80000000u));
  }
};

}  // namespace
}  // namespace tilescope::sim::TILESCOPE_LANES
