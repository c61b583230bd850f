// Colours, and how well one is read on another.
//
// Contrast is WCAG 2.1's ratio of relative luminances (1 to 21); 4.5 is its level AA for text.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope {

// 8 bits a channel, sRGB, not premultiplied; four bytes in this order, as textures take them.
struct Rgba {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend constexpr bool operator==(Rgba, Rgba) = default;
};

// 0xRRGGBB, opaque.
constexpr Rgba rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex)};
}

// `a` at share 0, `b` at share 1; shares outside are clamped, NaN is `a`.
Rgba mix(Rgba a, Rgba b, double share);
// `top` with its alpha over the opaque `under`.
Rgba over(Rgba top, Rgba under);

double luminance(Rgba colour);    // WCAG relative luminance, 0 black to 1 white
double contrast(Rgba a, Rgba b);  // 1 to 21
std::string hex_of(Rgba colour);  // "#rrggbb"

// Black or white, whichever is read better on the colour: at least 4.58 on any.
Rgba text_on(Rgba background);

}  // namespace tilescope
