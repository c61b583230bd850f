// The window around the view: palette, list of commands.
#include "viz/scene/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/scene/command_palette.h"

namespace tilescope {
namespace {

Answer run_palette(Session& session, Workshop&, std::string_view arguments) {
  // Behind a command's name what it takes comes next.
  const auto named = [&](const WindowCommand& command) { return command.name == arguments; };
  const std::span<const WindowCommand> all = window_commands();
  const bool whole = std::any_of(all.begin(), all.end(), named);
  open_palette(session, fmt::format("{}{}", arguments, whole ? " " : ""));
  return std::string("Type a command, or a few letters of it.");
}

Answer run_commands(Session& session, Workshop&, std::string_view) {
  session.overlay = {Overlay::Kind::commands, "", 0, ""};
  return fmt::format("There are {} commands.", window_commands().size());
}

constexpr std::array kTable = {
    WindowCommand{"palette", "[TEXT]", "finds a command by a few letters of it and does it",
                  "palette", "Ctrl+Shift+P", run_palette},
    WindowCommand{"commands", "", "lists every command with its arguments and keys", "commands",
                  "?", run_commands},
};

}  // namespace

std::span<const WindowCommand> shell_commands() {
  return kTable;
}

}  // namespace tilescope
