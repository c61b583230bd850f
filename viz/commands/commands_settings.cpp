// Settings of the window: colours, letters, motion, panels.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/scene/command_text.h"
#include "viz/session/settings.h"

namespace tilescope {
namespace {

Answer run_theme(Session& session, Backend&, std::string_view arguments) {
  const Theme* theme = theme_named(arguments);
  if (!theme) return usage_error(fmt::format("There is no theme `{}`: light or dark.", arguments));
  session.state.dark = theme->dark;
  return fmt::format("The theme is {}.", arguments);
}

Answer run_font(Session& session, Backend&, std::string_view arguments) {
  constexpr int least = WindowSettings::least_font, most = WindowSettings::most_font, step = 25;
  int& font = session.state.settings.font;
  int wanted = font;
  if (arguments == "larger") {
    wanted = std::min(most, font + step);
  } else if (arguments == "smaller") {
    wanted = std::max(least, font - step);
  } else if (arguments == "usual") {
    wanted = 100;
  } else {
    const auto number = number_in(arguments);
    if (!number || *number < least || *number > most) {
      return usage_error(
          fmt::format("`font` takes {} to {} (percent), larger, smaller or usual.", least, most));
    }
    wanted = static_cast<int>(*number);
  }
  if (wanted == font && arguments != "usual") {
    return fmt::format("The letters stay at {} %; there are {} to {} %.", font, least, most);
  }
  font = wanted;
  if (const int room = session.letters_room; font > room) {
    return fmt::format(
        "The letters are at {} %, all that this window has room for; in a larger one "
        "they have {} %.",
        room, font);
  }
  return fmt::format("The letters are at {} %.", font);
}

Answer run_animation(Session& session, Backend&, std::string_view arguments) {
  if (arguments != "on" && arguments != "off") return usage_error("`animation` takes on or off.");
  session.state.settings.animation = arguments == "on";
  return std::string(session.state.settings.animation ? "What is in flight moves."
                                                      : "Nothing moves by itself.");
}

Answer run_panel(Session& session, Backend&, std::string_view arguments) {
  constexpr int least = WindowSettings::least_panel, most = WindowSettings::most_panel;
  WindowSettings& settings = session.state.settings;
  const auto [name, size] = first_word(arguments);
  if (name != "outline" && name != "inspector") {
    return usage_error(fmt::format("There is no panel `{}`: outline or inspector.", name));
  }
  int& width = name == "outline" ? settings.outline : settings.inspector;
  if (size == "hide") {
    width = 0;
    return fmt::format("The {} is hidden; `panel {} show` brings it back.", name, name);
  }
  if (size == "show") {
    width = WindowSettings::usual;
    return fmt::format("The {} has its usual width.", name);
  }
  const auto number = number_in(size);
  if (!number || *number < least || *number > most) {
    return usage_error(fmt::format("`panel {}` takes a width from {} to {} pixels, show or hide.",
                                   name, least, most));
  }
  width = static_cast<int>(*number);
  return fmt::format("The {} is {} pixels wide.", name, width);
}

Answer run_legend(Session& session, Backend&, std::string_view arguments) {
  auto& legend = session.state.settings.legend;
  if (arguments == "usual") {
    legend.reset();
    return std::string("The legend is shown where the view has room for it.");
  }
  const bool turned = arguments == "turn" || arguments.empty();
  if (!turned && arguments != "show" && arguments != "hide") {
    return usage_error("`legend` takes show, hide, turn or usual.");
  }
  legend = turned ? !session.legend_shown : arguments == "show";
  return std::string(*legend ? "The legend is shown." : "The legend is folded; L shows it.");
}

constexpr std::array kSettingsCommands = {
    WindowCommand{"theme", "light | dark", "changes the colours of the window", "theme dark", "",
                  run_theme, nullptr, true},
    WindowCommand{"font", "larger | smaller | usual | PERCENT",
                  "makes the letters, and all around them, larger or smaller: 100 to 250 percent",
                  "font 150", "Ctrl+= larger, Ctrl+Shift+= larger, Ctrl+- smaller, Ctrl+0 usual",
                  run_font},
    WindowCommand{"animation", "on | off", "lets what is in flight move, or keeps it still",
                  "animation off", "", run_animation},
    WindowCommand{"panel",
                  "outline show | outline hide | outline WIDTH | inspector show | inspector hide | "
                  "inspector WIDTH",
                  "shows, hides or resizes a panel; WIDTH is in pixels", "panel outline 240", "",
                  run_panel},
    WindowCommand{
        "legend", "show | hide | turn | usual",
        "shows or folds what colours mean, at the foot of views; usual: shown where there "
        "is room. Pictures in files have it always",
        "legend hide", "L turn", run_legend},
};

}  // namespace

std::span<const WindowCommand> settings_commands() {
  return kSettingsCommands;
}

std::vector<std::string> settings_lines(const WindowSettings& settings) {
  const WindowSettings usual;
  std::vector<std::string> lines;
  if (settings.font != usual.font) lines.push_back(fmt::format("font {}", settings.font));
  if (!settings.animation) lines.emplace_back("animation off");
  if (settings.rebuilds) lines.emplace_back("rebuild on change on");
  if (settings.legend) lines.emplace_back(*settings.legend ? "legend show" : "legend hide");
  for (const auto& [name, width] :
       {std::pair{"outline", settings.outline}, std::pair{"inspector", settings.inspector}}) {
    if (width == 0) lines.push_back(fmt::format("panel {} hide", name));
    if (width > 0) lines.push_back(fmt::format("panel {} {}", name, width));
  }
  return lines;
}

bool is_setting(std::string_view line) {
  const std::string_view name = first_word(line).first;
  return name == "font" || name == "animation" || name == "panel" || name == "legend" ||
         line.substr(0, 18) == "rebuild on change ";
}

}  // namespace tilescope
