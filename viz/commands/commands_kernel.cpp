// The open kernel: its run, and what the comparison shows.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/session/seek.h"

namespace tilescope {
namespace {

Answer run_run(Session& session, Backend& backend, std::string_view) {
  const ViewState& state = session.state;
  if (!state.kernel) {
    return usage_error(
        "There is no kernel to run: open one first, for example `open elementwise_add`.");
  }
  EditState& editing = session.edit;
  if (not_built(session) && !editing.failed) {
    if (!editing.building) {
      const std::string file = source_file(session);
      const Building building{state.kernel->name, file, state.options, true, true};
      return begin_build(session, backend, building);
    }
    editing.building->runs = true;
    return fmt::format("{} is being compiled, and runs when that is done.", editing.building->file);
  }
  if (auto error = not_built(session)) return *error;
  if (auto error = backend.start(*state.kernel, state.options)) return *error;
  session.running = true;
  session.view_at_run = state.view;
  return fmt::format("Running {}.", state.kernel->name);
}

Answer run_cancel(Session& session, Backend& backend, std::string_view) {
  const bool checks = session.course.check.has_value();
  if (checks && session.state.view == ViewName::course) return stop_check(session, backend);
  if (session.edit.building) return stop_build(session, backend);
  if (!session.running && session.seek) return stop_seek(session);
  if (!session.running && checks) return stop_check(session, backend);
  if (!session.running) return usage_error("Nothing is running.");
  backend.cancel();
  return std::string("Stopping the run.");
}

constexpr std::array kKernelCommands = {
    WindowCommand{"run", "", "runs the open kernel and compares every element with a reference",
                  "run", "F5", run_run, nullptr, true},
    WindowCommand{"cancel", "", "stops the run, the compiler, or the judge of an exercise",
                  "cancel", "", run_cancel},
};

}  // namespace

std::span<const WindowCommand> kernel_commands() {
  return kKernelCommands;
}

}  // namespace tilescope
