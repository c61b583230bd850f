// How wide a text is in DejaVu Sans and DejaVu Sans Mono, so that scenes can be laid out where no
// font is available. The painters use the same fonts.
#pragma once

#include <string>
#include <string_view>

namespace tilescope {

enum class Family { sans, mono };
enum class FontWeight { regular, bold };  // mono is always regular

// Width in pixels at `size` pixels. Kerning is not counted; unknown characters count as one em.
double text_width(std::string_view text, double size, Family family,
                  FontWeight weight = FontWeight::regular);

// Height of a capital letter, and of a line of text, in units of the size.
inline constexpr double cap_height = 0.729, line_height = 1.4;

// The text, cut in the middle ("zipped_div...(1,8)>)") where it is wider than `width`.
std::string fitted(std::string_view text, double width, double size, Family family,
                   FontWeight weight = FontWeight::regular);

}  // namespace tilescope
