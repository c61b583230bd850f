// Undo, redo and the list of steps.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/session/open.h"

namespace tilescope {
namespace {

// How many steps `undo 3` means; 1 where nothing is said.
Outcome<std::size_t> steps_in(std::string_view name, std::string_view arguments,
                              std::size_t there_are) {
  const auto number = arguments.empty() ? std::optional<std::int64_t>(1) : number_in(arguments);
  if (!number || *number < 1) {
    return usage_error(fmt::format("`{}` takes a number of steps, such as `{} 3`.", name, name));
  }
  if (there_are == 0) {
    const std::string_view zoom = name == "undo" ? " Zoom is no step; Home shows all." : "";
    return usage_error(fmt::format("There is nothing to {}.{}", name, zoom));
  }
  if (static_cast<std::uint64_t>(*number) > there_are) {
    return usage_error(fmt::format("There {} only {} step{} to {}.", there_are == 1 ? "is" : "are",
                                   there_are, there_are == 1 ? "" : "s", name));
  }
  return static_cast<std::size_t>(*number);
}

// One step from the end of `from` becomes the present, and the present goes to the end of `to`.
// `why`: why the text of the editor stays as it is, where it was to go with it.
std::string move_step(Session& session, Backend& backend, bool back, std::string& why) {
  std::vector<Step>& from = back ? session.past : session.future;
  std::vector<Step>& to = back ? session.future : session.past;
  Step step = std::move(from.back());
  from.pop_back();
  to.push_back({step.name, session.state, false, step.text});
  const bool elsewhere =
      step.before.moment != session.state.moment || !(step.before.spot == session.state.spot);
  session.state = std::move(step.before);
  if (elsewhere) session.scrolls.clear();  // lists show where it stands
  if (!step.text) return step.name;
  const ViewState chosen = session.state;
  if (const auto error = change_back(session, backend, *step.text, back)) {
    why = " " + error->sentence;
  }
  session.state = chosen;  // to open the editor is no choice of this step
  return step.name;
}

Answer run_undo(Session& session, Backend& backend, std::string_view arguments) {
  const auto steps = steps_in("undo", arguments, session.past.size());
  if (!steps) return steps.error();
  std::string name, why;
  for (std::size_t i = 0; i < *steps; ++i) name = move_step(session, backend, true, why);
  show_in_field(session);
  if (*steps == 1) return fmt::format("Undid `{}`.{}", name, why);
  return fmt::format("Undid {} steps, back to before `{}`.{}", *steps, name, why);
}

Answer run_redo(Session& session, Backend& backend, std::string_view arguments) {
  const auto steps = steps_in("redo", arguments, session.future.size());
  if (!steps) return steps.error();
  std::string name, why;
  for (std::size_t i = 0; i < *steps; ++i) name = move_step(session, backend, false, why);
  show_in_field(session);
  if (*steps == 1) return fmt::format("Did `{}` again.{}", name, why);
  return fmt::format("Did {} steps again, up to `{}`.{}", *steps, name, why);
}

Answer run_history(Session& session, Backend&, std::string_view) {
  session.overlay = {Overlay::Kind::history, "", 0, ""};
  return fmt::format("{} step{} made, {} taken back.", session.past.size(),
                     session.past.size() == 1 ? "" : "s", session.future.size());
}

constexpr std::array kHistoryCommands = {
    WindowCommand{"undo", "[N]", "takes back the last choice, or the last N", "undo", "Ctrl+Z",
                  run_undo},
    WindowCommand{"redo", "[N]", "makes the choice that was taken back again, or N of them", "redo",
                  "Ctrl+Shift+Z", run_redo},
    WindowCommand{"history", "", "lists every step; a click goes there", "history", "Ctrl+H",
                  run_history},
};

}  // namespace

std::span<const WindowCommand> history_commands() {
  return kHistoryCommands;
}

}  // namespace tilescope
