#include "viz/scene/colour.h"

#include <cmath>

namespace tilescope {
namespace {

double linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
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
  const Rgba black = rgb(0x000000), white = rgb(0xffffff);
  return contrast(black, background) >= contrast(white, background) ? black : white;
}

}  // namespace tilescope
