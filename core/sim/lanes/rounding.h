// Rounding a real number to f32 in each of PTX's four directions, on any host.
//
// A result is first computed as a double that was rounded to odd: truncated, with the last bit set
// if anything was lost. Such a double, of 53 bits where f32 has 24, rounds to f32 as the exact
// value would, in every direction (Boldo and Melquiond, Emulation of FMA and correctly rounded
// sums, 2008). No host rounding mode is touched.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/ptx/opcodes.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Round;

inline std::uint32_t bits_of(float f) {
  std::uint32_t b;
  std::memcpy(&b, &f, 4);
  return b;
}
inline float float_of(std::uint32_t b) {
  float f;
  std::memcpy(&f, &b, 4);
  return f;
}

// Rounds `nearest` + `error` (which is within half a unit of it) to odd.
inline double to_odd(double nearest, double error) {
  if (error == 0 || nearest != nearest || error != error) return nearest;
  std::int64_t bits;
  std::memcpy(&bits, &nearest, 8);
  if (bits & 1) return nearest;
  // Even and inexact: of its two odd neighbours, the one on the error's side.
  bits += ((error > 0) == (nearest > 0)) ? 1 : -1;
  std::memcpy(&nearest, &bits, 8);
  return nearest;
}

// a + b exactly, as a double and what it lost (Knuth's two-sum).
inline double sum_to_odd(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return to_odd(s, (a - (s - t)) + (b - t));
}

template <Round round>
inline float narrowed(double odd) {
  const float nearest = static_cast<float>(odd);
  if constexpr (round == Round::rn || round == Round::none) return nearest;
  const double back = static_cast<double>(nearest);
  if (back == odd || odd != odd) return nearest;
  const bool above = back > odd;  // the nearest is above the value
  bool down = false, up = false;
  if constexpr (round == Round::rz) (odd > 0 ? down : up) = (odd > 0) == above;
  if constexpr (round == Round::rm) down = above;
  if constexpr (round == Round::rp) up = !above;
  std::uint32_t b = bits_of(nearest);
  // One step in the wanted direction: away from zero counts the bits up, towards zero down.
  if (down) b = (b & 0x7fffffffu) == 0 ? 0x80000001u : (b >> 31) ? b + 1 : b - 1;
  if (up) b = (b & 0x7fffffffu) == 0 ? 0x00000001u : (b >> 31) ? b - 1 : b + 1;
  return float_of(b);
}

}  // namespace
}  // namespace tilescope::sim::TILESCOPE_LANES
