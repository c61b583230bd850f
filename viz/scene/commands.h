// The window's commands: one table of name, arguments, help, shortcut and the function on the
// session. Everything that can be clicked is one of these lines, so it can be typed, scripted
// (`--do`), tested and undone.
//
//     execute(session, workshop, "open layout (8,8):(8,1)")
//     execute(session, workshop, "colour offset")
//
// Law: a command that is refused leaves the choices as they were. One that changed them is one step
// of undo, and undo then redo leads to the same choices.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "viz/scene/session.h"
#include "viz/scene/workshop.h"

namespace tilescope {

struct WindowCommand {
  std::string_view name;
  std::string_view arguments;  // as help writes them: "layout EXPR | preset NAME | KERNEL ..."
  std::string_view help;       // one line
  std::string_view example;    // a line that works on the 9x32 example or after `open KERNEL`
  std::string_view shortcut;   // "Ctrl+Z"; empty: none
  // Answers the sentence for the status line.
  Outcome<std::string> (*run)(Session& session, Workshop& workshop, std::string_view arguments);
};

std::span<const WindowCommand> window_commands();

// Runs one command; the session's message says what happened. Refused: an unknown command (with
// the nearest name), arguments that do not fit (with the command's own).
Outcome<std::string> execute(Session& session, Workshop& workshop, std::string_view line);

// The field's text has changed to `text`: an expression that has a value is opened at once; where
// it has none, the problem stands under the field and the view stays as it is. What was typed in
// one go is one step of undo.
void type_field(Session& session, Workshop& workshop, std::string_view text);
// Enter in the field: opens the expression, preset or kernel that stands there.
Outcome<std::string> enter_field(Session& session, Workshop& workshop);

}  // namespace tilescope
