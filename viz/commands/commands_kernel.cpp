// The open kernel: its run, and what the comparison shows.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/session/standing.h"

namespace tilescope {
namespace {

Answer run_run(Session& session, Workshop& workshop, std::string_view) {
  const Choices& choices = session.choices;
  if (!choices.kernel) {
    return usage_error(
        "There is no kernel to run: open one first, for example `open elementwise_add`.");
  }
  EditDesk& desk = session.edit;
  if (not_built(session) && !desk.failed) {
    if (!desk.building) {
      const std::string file = source_file(session);
      const Building building{choices.kernel->name, file, choices.options, true, true};
      return begin_build(session, workshop, building);
    }
    desk.building->runs = true;
    return fmt::format("{} is being compiled, and runs when that is done.", desk.building->file);
  }
  if (auto error = not_built(session)) return *error;
  if (auto error = workshop.start(*choices.kernel, choices.options)) return *error;
  session.running = true;
  return fmt::format("Running {}.", choices.kernel->name);
}

Answer run_cancel(Session& session, Workshop& workshop, std::string_view) {
  if (session.edit.building) return stop_build(session, workshop);
  if (!session.running && session.way) return stop_way(session);
  if (!session.running) return usage_error("Nothing is running.");
  workshop.cancel();
  return std::string("Stopping the run.");
}

constexpr std::array kKernelCommands = {
    WindowCommand{"run", "", "runs the open kernel and compares every element with a reference",
                  "run", "F5", run_run, nullptr, true},
    WindowCommand{"cancel", "", "stops the run, or the compiler", "cancel", "", run_cancel},
};

}  // namespace

std::span<const WindowCommand> kernel_commands() {
  return kKernelCommands;
}

}  // namespace tilescope
