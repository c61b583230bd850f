// A scene as PNG or PDF, through Cairo. Desktop only.
//
// The fonts come from the caller as the bytes of the font files, so that a picture is the same on
// every machine; where none are given, fontconfig's DejaVu is used.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "viz/scene/scene.h"

namespace tilescope {

struct Fonts {
  std::span<const std::byte> sans, sans_bold, mono;  // they must outlive the call
};

// Why a scene of this size cannot be painted at a scale, which need not be drawn to be known.
std::optional<Error> cannot_paint(Size scene, double scale = 1);
inline constexpr double pdf_scale = 0.75;  // points a pixel

// 8-bit RGB. `scale` is device pixels for one pixel of the scene. Refused: a picture of more than
// 2^28 pixels or a side above 32,000, or no memory for it.
Outcome<std::vector<std::byte>> paint_png(const Scene& scene, const Fonts& fonts, double scale = 1);
// One page of the scene's size (a pixel is 3/4 point), text as text.
Outcome<std::vector<std::byte>> paint_pdf(const Scene& scene, const Fonts& fonts);

}  // namespace tilescope
