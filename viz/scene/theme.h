// The two themes: paper, panel, lines and text in greys, one accent, one red for what is wrong.
//
// A scene says what a thing is (its role), the theme says how that looks. Colours of data are
// chosen in palette.h and are in the scene as they are.
#pragma once

#include <cstdint>
#include <string_view>

#include "viz/scene/colour.h"

namespace tilescope {

enum class Role : std::uint8_t { own, paper, panel, line, text, quiet, accent, wrong, right };

struct Theme {
  bool dark = false;
  Rgba paper, panel, line, text, quiet, accent, wrong, right;
};

const Theme& light_theme();
const Theme& dark_theme();
// "light" or "dark"; null for any other name.
const Theme* theme_named(std::string_view name);

// What a thing is painted with: a role of the theme, or a colour of its own.
struct Ink {
  Role role = Role::text;
  Rgba own{};
  double alpha = 1;

  constexpr Ink() = default;
  constexpr Ink(Role r, double opacity = 1) : role(r), alpha(opacity) {}  // NOLINT
  constexpr Ink(Rgba colour) : role(Role::own), own(colour) {}            // NOLINT
};

Rgba resolve(const Ink& ink, const Theme& theme);

// Type: three sizes in pixels at 100%.
inline constexpr double small_text = 13, heading_text = 16, title_text = 22;
// Space: an 8 px grid.
inline constexpr double inside = 8, between = 16, between_groups = 24;

}  // namespace tilescope
