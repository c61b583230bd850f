// The window around the view: palette, list of commands, tour.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/commands/command_palette.h"
#include "viz/session/tour.h"

namespace tilescope {
namespace {

Answer run_palette(Session& session, Backend&, std::string_view arguments) {
  // Behind a command's name what it takes comes next.
  const auto named = [&](const WindowCommand& command) { return command.name == arguments; };
  const std::span<const WindowCommand> all = window_commands();
  const bool whole = std::any_of(all.begin(), all.end(), named);
  open_palette(session, fmt::format("{}{}", arguments, whole ? " " : ""));
  return std::string("Type a command, or a few letters of it.");
}

Answer run_commands(Session& session, Backend&, std::string_view) {
  session.overlay = {Overlay::Kind::commands, "", 0, ""};
  return fmt::format("There are {} commands.", window_commands().size());
}

Answer run_part(Session& session, Backend&, std::string_view arguments) {
  if (arguments != "next" && arguments != "back") return usage_error("`part` takes next or back.");
  session.parts_due += arguments == "next" ? 1 : -1;
  return std::string("Tab goes on within this part; F6 goes to the next one.");
}

Answer run_tour(Session& session, Backend&, std::string_view arguments) {
  const std::size_t count = tour_steps().size();
  if (arguments.empty()) {
    session.tour = 0;
    session.overlay = {};
  } else if (arguments == "end") {
    session.tour.reset();
  } else if (arguments != "next" && arguments != "back") {
    return usage_error("`tour` takes next, back or end, and alone begins.");
  } else if (!session.tour) {
    return usage_error("There is no tour on; `tour` begins it.");
  } else if (arguments == "next") {
    session.tour = *session.tour + 1 < count ? std::optional(*session.tour + 1) : std::nullopt;
  } else if (*session.tour > 0) {
    --*session.tour;
  }
  session.tour_seen = true;
  if (!session.tour) return std::string("The tour has ended; `tour` begins it again.");
  return fmt::format("{} ({} of {}).", tour_steps()[*session.tour].title, *session.tour + 1, count);
}

constexpr std::array kShellCommands = {
    WindowCommand{"palette", "[TEXT]", "finds a command by a few letters of it and does it",
                  "palette", "Ctrl+Shift+P", run_palette},
    WindowCommand{"commands", "", "lists every command with its arguments and keys", "commands",
                  "?", run_commands},
    WindowCommand{"part", "next | back",
                  "takes the keyboard to the next part: field, outline, view, inspector, strip",
                  "part next", "F6 next, Shift+F6 back", run_part},
    WindowCommand{"tour", "[next | back | end]", "shows the window's parts in six steps", "tour",
                  "", run_tour},
};

}  // namespace

std::span<const WindowCommand> shell_commands() {
  return kShellCommands;
}

}  // namespace tilescope
