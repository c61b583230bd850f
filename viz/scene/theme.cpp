#include "viz/scene/theme.h"

namespace tilescope {

const Theme& light_theme() {
  static const Theme theme{false,         rgb(0xFFFFFF), rgb(0xF6F7F9),
                           rgb(0xDDE1E6), rgb(0x1B1F24), rgb(0x5B6470),
                           rgb(0x1F6FEB), rgb(0xD1242F), rgb(0x1A7F37)};
  return theme;
}

const Theme& dark_theme() {
  static const Theme theme{true,          rgb(0x14171A), rgb(0x1C2024),
                           rgb(0x2C3238), rgb(0xE8EBEE), rgb(0x9AA4AF),
                           rgb(0x58A6FF), rgb(0xFF6B6B), rgb(0x3FB950)};
  return theme;
}

const Theme* theme_named(std::string_view name) {
  if (name == "light") return &light_theme();
  if (name == "dark") return &dark_theme();
  return nullptr;
}

Rgba resolve(const Ink& ink, const Theme& theme) {
  Rgba out = ink.own;
  switch (ink.role) {
    case Role::own:
      break;
    case Role::paper:
      out = theme.paper;
      break;
    case Role::panel:
      out = theme.panel;
      break;
    case Role::line:
      out = theme.line;
      break;
    case Role::text:
      out = theme.text;
      break;
    case Role::quiet:
      out = theme.quiet;
      break;
    case Role::accent:
      out = theme.accent;
      break;
    case Role::wrong:
      out = theme.wrong;
      break;
    case Role::right:
      out = theme.right;
      break;
  }
  if (ink.alpha < 1) {
    out.a = static_cast<std::uint8_t>(out.a * (ink.alpha > 0 ? ink.alpha : 0) + 0.5);
  }
  return out;
}

}  // namespace tilescope
