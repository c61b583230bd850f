#include "viz/scene/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilescope {
namespace {

constexpr Rgba black = rgb(0x000000), white = rgb(0xffffff);

// Okabe and Ito's orange, sky blue, bluish green, yellow, blue, vermilion, reddish purple; black
// comes last, as it is the heaviest.
constexpr std::array<Rgba, 7> hues{rgb(0xE69F00), rgb(0x56B4E9), rgb(0x009E73), rgb(0xF0E442),
                                   rgb(0x0072B2), rgb(0xD55E00), rgb(0xCC79A7)};
constexpr int neutral = 7, hue_count = 8;

// The map of Nunez, Anderton and Renslow at ninths.
constexpr std::array<Rgba, 10> cividis{rgb(0x00204D), rgb(0x00336F), rgb(0x39486B), rgb(0x575C6D),
                                       rgb(0x707173), rgb(0x8A8779), rgb(0xA69D75), rgb(0xC4B56C),
                                       rgb(0xE4CF5B), rgb(0xFFEA46)};

Rgba neutral_ink(bool dark) {
  return dark ? rgb(0xE8EBEE) : black;
}

// Steps of lightness of a hue: > 0 towards white, < 0 towards black.
constexpr std::array<double, 7> steps{0, 0.45, -0.35, 0.7, -0.58, 0.24, -0.18};
// Of the neutral, towards grey.
constexpr std::array<double, 7> grey_steps{0, 0.45, 0.27, 0.7, 0.14, 0.57, 0.36};

Rgba lighter(Rgba colour, double step) {
  return step >= 0 ? mix(colour, white, step) : mix(colour, black, -step);
}

}  // namespace

Rgba category(std::int64_t i, bool dark) {
  if (i < 0) i = 0;
  const int hue = static_cast<int>(i % hue_count);
  const std::size_t step = static_cast<std::size_t>(i / hue_count) % steps.size();
  if (hue == neutral) return mix(neutral_ink(dark), dark ? black : white, grey_steps[step]);
  return lighter(hues[static_cast<std::size_t>(hue)], steps[step]);
}

Rgba thread_colour(std::int64_t thread, std::int64_t threads, bool dark) {
  if (threads <= 32) return category(thread, dark);
  const double lane = static_cast<double>(thread % 32) / 31;
  const int hue = static_cast<int>((thread / 32) % hue_count);
  // Every other eight warps take a darker stretch of their hues.
  const bool darker = (thread / 32 / hue_count) % 2 == 1;
  if (hue == neutral) {
    // The darkest lane is still lighter than the dark theme's paper.
    const Rgba darkest = dark ? rgb(0x5A5D62) : rgb(0x1E1F21);
    return mix(rgb(0xD9DBDE), darkest, darker ? 0.5 + 0.5 * lane : lane);
  }
  const double step = darker ? -0.25 - 0.45 * lane : 0.72 - 0.94 * lane;
  return lighter(hues[static_cast<std::size_t>(hue)], step);
}

Rgba quantity(double share) {
  if (!(share > 0)) return cividis.front();
  if (share >= 1) return cividis.back();
  const double at = share * (cividis.size() - 1);
  const std::size_t below = static_cast<std::size_t>(at);
  return mix(cividis[below], cividis[below + 1], at - static_cast<double>(below));
}

Rgba signed_difference(double share, bool dark) {
  const Rgba zero = dark ? neutral_ink(true) : white;
  if (std::isnan(share)) return zero;
  const double size = std::min(std::fabs(share), 1.0);
  return mix(zero, share < 0 ? rgb(0x0072B2) : rgb(0xE69F00), size);
}

}  // namespace tilescope
