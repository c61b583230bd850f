// The program's commands: one table that dispatch, --help, the man page and the completions read.
//
// A command is a function that puts its options on a CLI11 application and answers what to do once
// they are parsed. Options, their help and their checks are said once, there.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string_view>

#include "app/terminal.h"

namespace tilescope {

// Runs with the options parsed; answers the exit code (design: the contract of exit codes).
using Action = std::function<int(Terminal&)>;

struct Command {
  std::string_view name;
  std::string_view help;     // one line
  std::string_view example;  // a command line that works as it stands
  Action (*define)(CLI::App& options);
  bool hidden = false;  // not in --help: for the build
};

std::span<const Command> commands();

// Fills `app` with every command, as the program parses it. `chosen` is set to the action of the
// sub-command that a parse finds.
void define_commands(CLI::App& app, Action& chosen);

// One file each.
Action define_eval(CLI::App& options);
Action define_draw(CLI::App& options);
Action define_list(CLI::App& options);
Action define_run(CLI::App& options);
Action define_gui(CLI::App& options);
Action define_generate(CLI::App& options);

// `tilescope` without a command: the window on the 9x32 example, or without a display three
// commands to try.
int open_window_or_explain(Terminal& terminal);

}  // namespace tilescope
