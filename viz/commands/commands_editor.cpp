// The field without a keyboard: typing, completing, and what was opened before.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

void type(Session& session, Backend& backend, const std::string& text, std::size_t caret) {
  session.editor.active = true;
  session.editor.caret = caret;
  session.editor.chosen = 0;
  session.editor.dismissed = false;
  type_field(session, backend, text);
}

Answer run_type(Session& session, Backend& backend, std::string_view arguments) {
  const std::string text(unquoted(arguments));
  session.editor.recalled.reset();
  type(session, backend, text, text.size());
  return std::string(session.problem ? "" : "Typed.");
}

Answer run_complete(Session& session, Backend& backend, std::string_view arguments) {
  session.editor.active = true;
  session.editor.dismissed = false;
  const Completions from = offered(session, backend);
  const auto number = arguments.empty() ? std::optional<std::int64_t>(1) : number_in(arguments);
  if (!number) return usage_error("`complete` takes which of the completions, counted from 1.");
  if (from.all.empty()) return usage_error("Nothing completes the word at the caret.");
  if (*number < 1 || *number > static_cast<std::int64_t>(from.all.size())) {
    return usage_error(
        fmt::format("There is no completion {}: there are 1 to {}.", *number, from.all.size()));
  }
  const auto which = static_cast<std::size_t>(*number - 1);
  std::size_t caret = 0;
  const std::string text = completed(session.field, from, which, caret);
  const std::string word = from.all[which].text;
  type(session, backend, text, caret);
  return fmt::format("Completed to {}.", word);
}

Answer run_recall(Session& session, Backend& backend, std::string_view arguments) {
  if (arguments != "back" && arguments != "next")
    return usage_error("`recall` takes back or next.");
  const std::optional<std::string> text = recalled(session, arguments == "back");
  if (!text) return usage_error("There is nothing further in what was opened.");
  type(session, backend, *text, text->size());
  session.editor.dismissed = true;
  return fmt::format("Recalled {}.", *text);
}

constexpr std::array kEditorCommands = {
    WindowCommand{"type", "TEXT", "types into the field, as the keyboard does",
                  "type zipped_divide((8,8):(8,1), <4,4>)", "", run_type},
    WindowCommand{"complete", "[N]", "completes the word at the caret", "complete 1", "",
                  run_complete},
    WindowCommand{"recall", "back | next", "brings what was opened before into the field",
                  "recall back", "", run_recall},
};

}  // namespace

std::span<const WindowCommand> editor_commands() {
  return kEditorCommands;
}

}  // namespace tilescope
