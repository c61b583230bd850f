// The program's commands: one table that dispatch, --help, the man page and the completions read.
//
// A command is a function that says its options and answers what to do once they are parsed.
// Options, their help and their checks are said once, there.
#pragma once

#include <span>
#include <string_view>

#include "app/command_line.h"

namespace tilescope {

struct Command {
  std::string_view name;
  std::string_view help;     // one line
  std::string_view example;  // a command line that works as it is
  Action (*define)(CommandOptions& options);
  bool hidden = false;  // not in --help: for the build
};

std::span<const Command> commands();

// One file each.
Action define_eval(CommandOptions& options);
Action define_draw(CommandOptions& options);
Action define_lesson(CommandOptions& options);
Action define_course(CommandOptions& options);
Action define_list(CommandOptions& options);
Action define_run(CommandOptions& options);
Action define_exec(CommandOptions& options);
Action define_capture(CommandOptions& options);
Action define_check(CommandOptions& options);
Action define_explain(CommandOptions& options);
Action define_lower(CommandOptions& options);
Action define_compare(CommandOptions& options);
Action define_gui(CommandOptions& options);
Action define_generate(CommandOptions& options);

// `tilescope` without a command: the window with what one may begin with, or without a display
// three commands to try.
int open_window_or_explain(Terminal& terminal);

}  // namespace tilescope
