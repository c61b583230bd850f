// The open kernel's source: edited here or elsewhere, compiled, and in the kernel's place.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/scene/command_text.h"
#include "viz/session/edit_state.h"

namespace tilescope {
namespace {

std::optional<std::size_t> line_number(std::string_view word) {
  const auto number = number_in(word);
  if (!number || *number < 1 || *number > 10'000'000) return {};
  return static_cast<std::size_t>(*number);
}

// Text as it is to stand in the file: a line, or more where there is more than one.
std::vector<std::string> lines_said(std::string_view words) {
  std::vector<std::string> out = lines_of_text(unquoted(words));
  if (out.empty()) out.emplace_back();
  return out;
}

// An error is mended where it stands: its line, in the editor.
Answer edit_line(Session& session, Backend& backend, std::string_view text) {
  const auto [word, rest] = first_word(text);
  const auto number = line_number(word);
  if (!number) {
    return usage_error(
        "`edit line` needs a line's number, from 1 on: `edit line 12` goes there, `edit line 12 "
        "\"  x = 3;\"` puts that in its place.");
  }
  if (!rest.empty()) return change_lines(session, backend, *number, *number, lines_said(rest));
  auto opened = begin_edit(session, backend, "");
  if (!opened) return opened;
  session.edit.edit.line = static_cast<std::uint32_t>(*number);
  return fmt::format("{}, line {}.", session.edit.edit.path, *number);
}

Answer insert_lines(Session& session, Backend& backend, std::string_view text) {
  const auto [word, rest] = first_word(text);
  const auto number = line_number(word);
  if (!number || rest.empty()) {
    return usage_error(
        "`edit insert` needs a line's number and a text, which comes before that line: `edit "
        "insert 12 \"  x = 3;\"`.");
  }
  return change_lines(session, backend, *number, *number - 1, lines_said(rest));
}

Answer delete_lines(Session& session, Backend& backend, std::string_view text) {
  const auto [first, rest] = first_word(text);
  const auto from = line_number(first), to = rest.empty() ? from : line_number(rest);
  if (!from || !to || *to < *from) {
    return usage_error(
        "`edit delete` needs a line's number, or the first and the last one: `edit delete 12 14`.");
  }
  return change_lines(session, backend, *from, *to, {});
}

Answer run_edit(Session& session, Backend& backend, std::string_view arguments) {
  const auto [word, rest] = first_word(arguments);
  if (arguments == "off") return end_edit(session);
  if (arguments == "revert") return revert_edit(session, backend);
  if (word == "line") return edit_line(session, backend, rest);
  if (word == "insert") return insert_lines(session, backend, rest);
  if (word == "delete") return delete_lines(session, backend, rest);
  return begin_edit(session, backend, std::string(unquoted(arguments)));
}

Answer run_rebuild(Session& session, Backend& backend, std::string_view arguments) {
  if (arguments.empty()) return rebuild_kernel(session, backend);
  const bool on = arguments == "on change on";
  if (!on && arguments != "on change off") {
    return usage_error("`rebuild` takes nothing, or `on change on`, or `on change off`.");
  }
  session.state.settings.rebuilds = on;
  return std::string(on ? "A kernel is built anew when a file of it changes."
                        : "A changed file is announced; `rebuild` compiles the kernel again.");
}

constexpr std::array kEditCommands = {
    WindowCommand{"edit", "[F.cu] | off | revert | line N [TEXT] | insert N TEXT | delete N [M]",
                  "opens the kernel's source in the window (a copy of it, where F.cu is not there "
                  "yet), and changes lines of it",
                  "edit add.cu", "", run_edit},
    WindowCommand{"rebuild", "[on change on | on change off]",
                  "compiles the edited source, puts it in the kernel's place, and runs it where it "
                  "had run",
                  "rebuild on change on", "Ctrl+B", run_rebuild},
};

}  // namespace

std::span<const WindowCommand> edit_commands() {
  return kEditCommands;
}

bool look_at_files(Session& session, Backend& backend, double now) {
  const FilesSeen seen = look_for_changes(session, backend, now);
  if (seen.to_rebuild) (void)execute(session, backend, "rebuild");
  constexpr double pause = 1;  // seconds
  CourseState& course = session.course;
  if (session.state.view != ViewName::course || now < course.next_look) return seen.changed;
  course.next_look = now + pause;
  return look_at_course(session, backend) || seen.changed;
}

}  // namespace tilescope
