#include "viz/paint/text.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace tilescope {
namespace {

// The nearest of xterm's 6 x 6 x 6 cube (16 to 231): its levels are 0, 95, 135, 175, 215, 255.
int cube_index(Rgba c) {
  const auto level = [](int v) {
    constexpr std::array<int, 6> levels{0, 95, 135, 175, 215, 255};
    int best = 0;
    for (int i = 1; i < 6; ++i) {
      if (std::abs(levels[static_cast<std::size_t>(i)] - v) <
          std::abs(levels[static_cast<std::size_t>(best)] - v)) {
        best = i;
      }
    }
    return best;
  };
  return 16 + 36 * level(c.r) + 6 * level(c.g) + level(c.b);
}

// What xterm shows for it, so that the ink can be chosen for the paper that is seen.
Rgba cube_colour(Rgba c) {
  const int n = cube_index(c) - 16;
  const auto level = [](int i) { return static_cast<std::uint8_t>(i == 0 ? 0 : 55 + 40 * i); };
  return {level(n / 36), level(n / 6 % 6), level(n % 6)};
}

std::string code_of(const char* which, Rgba c, TextColours colours) {
  return colours == TextColours::full ? fmt::format(";{}8;2;{};{};{}", which, c.r, c.g, c.b)
                                      : fmt::format(";{}8;5;{}", which, cube_index(c));
}

std::string escape_of(const TextStyle& style, TextColours colours) {
  std::string out = "\x1b[0";
  if (style.bold) out += ";1";
  const bool rounded = style.paper && colours == TextColours::cube;
  const auto ink = rounded ? std::optional<Rgba>(text_on(cube_colour(*style.paper))) : style.ink;
  if (ink) out += code_of("3", *ink, colours);
  if (style.paper) out += code_of("4", *style.paper, colours);
  return out + "m";
}

}  // namespace

std::string paint_text(const TextPage& page, TextColours colours) {
  std::string out;
  const bool plain = colours == TextColours::none;
  for (int i = 0; i < page.rows(); ++i) {
    const std::vector<TextPage::Sign>& row = page.row(i);
    std::size_t end = row.size();
    while (end > 0 && character_of(row[end - 1]) == " " && (plain || !row[end - 1].style.paper)) {
      --end;
    }
    TextStyle now;
    for (std::size_t j = 0; j < end; ++j) {
      if (!plain && !(row[j].style == now)) {
        now = row[j].style;
        out += escape_of(now, colours);
      }
      out += character_of(row[j]);
    }
    if (!plain && !(now == TextStyle{})) out += "\x1b[0m";
    out += '\n';
  }
  return out;
}

}  // namespace tilescope
