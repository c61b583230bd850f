// The open kernel's source: edited here or elsewhere, compiled, and in the kernel's place.
#include "viz/scene/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/scene/command_text.h"
#include "viz/scene/edit_desk.h"

namespace tilescope {
namespace {

// An error is mended where it stands: its line, in the editor.
Answer edit_line(Session& session, Workshop& workshop, std::string_view text) {
  const auto number = number_in(text);
  if (!number || *number < 1 || *number > 10'000'000) {
    return usage_error("`edit line` needs a line's number, from 1 on: `edit line 12`.");
  }
  auto opened = begin_edit(session, workshop, "");
  if (!opened) return opened;
  session.edit.edit.line = static_cast<std::uint32_t>(*number);
  return fmt::format("{}, line {}.", session.edit.edit.path, *number);
}

Answer run_edit(Session& session, Workshop& workshop, std::string_view arguments) {
  const auto [word, rest] = first_word(arguments);
  if (arguments == "off") return end_edit(session);
  if (arguments == "revert") return revert_edit(session, workshop);
  if (word == "line") return edit_line(session, workshop, rest);
  return begin_edit(session, workshop, std::string(unquoted(arguments)));
}

Answer run_rebuild(Session& session, Workshop& workshop, std::string_view arguments) {
  if (arguments.empty()) return rebuild_kernel(session, workshop);
  const bool on = arguments == "on change on";
  if (!on && arguments != "on change off") {
    return usage_error("`rebuild` takes nothing, or `on change on`, or `on change off`.");
  }
  session.choices.settings.rebuilds = on;
  return std::string(on ? "A kernel is built anew when a file of it changes."
                        : "A changed file is told of; `rebuild` builds the kernel anew.");
}

constexpr std::array kTable = {
    WindowCommand{"edit", "[F.cu] | off | revert | line N",
                  "opens the kernel's source in the window; a copy of it, where F.cu is not there "
                  "yet",
                  "edit add.cu", "", run_edit},
    WindowCommand{"rebuild", "[on change on | on change off]",
                  "compiles the edited source, puts it in the kernel's place, and runs it where it "
                  "had run",
                  "rebuild on change on", "Ctrl+B", run_rebuild},
};

}  // namespace

std::span<const WindowCommand> edit_commands() {
  return kTable;
}

}  // namespace tilescope
