// The window's commands: one table of name, arguments, help, shortcut and the function on the
// session. Everything that can be clicked is one of these lines, so it can be typed, scripted
// (`--do`), tested and undone.
//
//     execute(session, backend, "open layout (8,8):(8,1)")
//     execute(session, backend, "colour offset")
//
// Law: a command that is refused leaves the choices as they were. One that changed them is one step
// of undo, and undo then redo leads to the same choices.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

// What could be said after a command now: "preset 9x32".
struct Suggestion {
  std::string arguments, help;
};

struct WindowCommand {
  std::string_view name;
  std::string_view arguments;  // as help writes them: "layout EXPR | preset NAME | KERNEL ..."
  std::string_view help;       // one line
  std::string_view example;    // a line that works on the 9x32 example or after `open KERNEL`
  // Keys, each followed by the arguments that they stand for: "Ctrl+Z", or "Home fit, Ctrl+= in".
  // Empty: none.
  std::string_view shortcut;
  // Answers the sentence for the status line.
  Outcome<std::string> (*run)(Session& session, Backend& backend, std::string_view arguments);
  // What there is to say after it, for the palette. None: the literal words of `arguments`.
  std::vector<Suggestion> (*suggest)(const Session& session, const Backend& backend) = nullptr;
  // It makes choices and does nothing else, so that it may be in a share string from a stranger.
  bool chooses = false;
};

// The table, and the same by theme: what `?` lists.
struct CommandGroup {
  std::string_view title;
  std::span<const WindowCommand> commands;
};
std::span<const WindowCommand> window_commands();
std::span<const CommandGroup> command_groups();

// What the keys of a command do, as a line: {"Home", "zoom fit"}.
struct KeyBinding {
  std::string keys, line;
};
std::vector<KeyBinding> key_bindings(const WindowCommand& command);
// All of them in a few letters: "Home, Ctrl+=".
std::string keys_text(const WindowCommand& command);

// Runs one command; the session's message says what happened. Refused: an unknown command (with
// the nearest name), arguments that do not fit (with the command's own).
Outcome<std::string> execute(Session& session, Backend& backend, std::string_view line);

// The field's text has changed to `text`: an expression that has a value is opened at once; where
// it has none, the problem is under the field and the view stays as it is. What was typed in
// one go is one step of undo.
void type_field(Session& session, Backend& backend, std::string_view text);
// Enter in the field: opens the expression, preset or kernel that is there.
Outcome<std::string> enter_field(Session& session, Backend& backend);

// While the derivation is played: `seconds` have passed; the next step is shown when it is due.
// Answers whether anything changed.
bool play_on(Session& session, Backend& backend, double seconds);

// About once a second: whether a file that the open kernel depends on has changed. Says so, and
// rebuilds where that is the setting. True if anything was found. `now`: seconds.
bool look_at_files(Session& session, Backend& backend, double now);

}  // namespace tilescope
