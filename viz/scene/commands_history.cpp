// Undo and redo.
#include "viz/scene/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/scene/open.h"

namespace tilescope {
namespace {

Answer run_undo(Session& session, Workshop&, std::string_view) {
  if (session.past.empty()) return usage_error("There is nothing to undo.");
  Step step = std::move(session.past.back());
  session.past.pop_back();
  session.future.push_back({step.name, session.choices, false});
  session.choices = std::move(step.before);
  show_in_field(session);
  return fmt::format("Undid `{}`.", step.name);
}

Answer run_redo(Session& session, Workshop&, std::string_view) {
  if (session.future.empty()) return usage_error("There is nothing to redo.");
  Step step = std::move(session.future.back());
  session.future.pop_back();
  session.past.push_back({step.name, session.choices, false});
  session.choices = std::move(step.before);
  show_in_field(session);
  return fmt::format("Did `{}` again.", step.name);
}

constexpr std::array kTable = {
    WindowCommand{"undo", "", "takes back the last choice", "undo", "Ctrl+Z", run_undo},
    WindowCommand{"redo", "", "makes the choice that was taken back again", "redo", "Ctrl+Shift+Z",
                  run_redo},
};

}  // namespace

std::span<const WindowCommand> history_commands() {
  return kTable;
}

}  // namespace tilescope
