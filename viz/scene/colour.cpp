#include "viz/scene/colour.h"

#include <array>
#include <cmath>

namespace tilescope {
namespace {

// A channel as light; a table, because every label of a large grid asks.
double linear(std::uint8_t channel) {
  static const std::array<double, 256> table = [] {
    std::array<double, 256> t{};
    for (std::size_t i = 0; i < t.size(); ++i) {
      const double c = static_cast<double>(i) / 255;
      t[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    }
    return t;
  }();
  return table[channel];
}

std::uint8_t blend(std::uint8_t a, std::uint8_t b, double share) {
  return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
}

}  // namespace

Rgba mix(Rgba a, Rgba b, double share) {
  if (!(share > 0)) return a;
  if (share > 1) share = 1;
  return {blend(a.r, b.r, share), blend(a.g, b.g, share), blend(a.b, b.b, share),
          blend(a.a, b.a, share)};
}

Rgba over(Rgba top, Rgba under) {
  Rgba out = mix(under, top, top.a / 255.0);
  out.a = 255;
  return out;
}

double luminance(Rgba colour) {
  return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

double contrast(Rgba a, Rgba b) {
  const double x = luminance(a), y = luminance(b);
  return (std::fmax(x, y) + 0.05) / (std::fmin(x, y) + 0.05);
}

std::string hex_of(Rgba colour) {
  static const char digits[] = "0123456789abcdef";
  std::string out = "#";
  for (const std::uint8_t channel : {colour.r, colour.g, colour.b}) {
    out += digits[channel >> 4];
    out += digits[channel & 15];
  }
  return out;
}

Rgba text_on(Rgba background) {
  // (L + 0.05) / 0.05 against 1.05 / (L + 0.05).
  const double light = luminance(background) + 0.05;
  return light * light >= 1.05 * 0.05 ? rgb(0x000000) : rgb(0xffffff);
}

}  // namespace tilescope
