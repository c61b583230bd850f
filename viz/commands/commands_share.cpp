// A view that goes elsewhere: share strings, workspaces, the clipboard.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/commands/link.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"
#include "viz/commands/workspace.h"
#include "viz/scene/command_text.h"
#include "viz/session/edit_state.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

// The text goes to the clipboard of whoever shows the window; without one it stays here.
std::string copied(Session& session, std::string text, std::string_view what) {
  session.copied = std::move(text);
  session.copy_due = true;
  return fmt::format("Copied {}.", what);
}

Answer copy_share(Session& session, const Backend& backend) {
  const std::vector<std::string> lines = rebuilding(session, backend, Extent::view);
  if (lines.empty()) return usage_error("Nothing is open that could be shared.");
  std::string text = share_string(lines);
  const std::string what =
      fmt::format("the share string, {} characters; `open share` takes it", text.size());
  return copied(session, std::move(text), what);
}

Answer run_share(Session& session, Backend& backend, std::string_view) {
  return copy_share(session, backend);
}

// The number that a selected or pointed at cell is about: its offset.
Answer copy_cell(Session& session) {
  const ViewState& state = session.state;
  const std::optional<Cell> cell = state.selected ? state.selected : session.hovered.cell;
  if (!state.layout || !cell || !state.layout->exists(*cell)) {
    return usage_error("No cell is selected: click one, or `pick 3 5`.");
  }
  const std::int64_t offset = state.layout->info(*cell).offset;
  return copied(
      session, fmt::format("{}", offset),
      fmt::format("{}, the offset of row {}, column {}", offset, cell->row, cell->column));
}

Answer copy_element(Session& session) {
  const ViewState& state = session.state;
  const std::optional<Element> at = state.element ? state.element : session.hovered.element;
  if (!state.matrices || !at) {
    return usage_error("No element is selected: click one, or `pick 3 5`.");
  }
  // The output where there is one, else the first matrix.
  const bool ran = state.result && state.result->output < state.matrices->matrices().size();
  const std::size_t which = ran ? state.result->output : 0;
  const std::string value = state.matrices->value(which, *at);
  return copied(session, value,
                fmt::format("{}, {} at row {}, column {}", value,
                            state.matrices->matrices()[which].name, at->row, at->column));
}

Answer copy_table(Session& session) {
  std::string text;
  std::size_t rows = 0;
  for (const InspectorSection& section : inspector(session)) {
    for (const auto& [name, value] : section.lines) {
      text += fmt::format("{}\t{}\t{}\n", section.title, name, value);
      ++rows;
    }
  }
  if (rows == 0) return usage_error("The inspector is empty, so there is no table to copy.");
  return copied(session, std::move(text), fmt::format("{} rows of the inspector", rows));
}

Answer run_copy(Session& session, Backend& backend, std::string_view arguments) {
  if (arguments == "value") {
    return shows_layout(session.state.view) ? copy_cell(session) : copy_element(session);
  }
  if (arguments == "table") return copy_table(session);
  if (arguments == "share") return copy_share(session, backend);
  if (arguments == "command") {
    std::string line = command_line(session, backend);
    const std::string what = fmt::format("the command line that makes this view: {}", line);
    return copied(session, std::move(line), what);
  }
  return usage_error("`copy` takes value, table, command or share.");
}

Answer run_save(Session& session, Backend& backend, std::string_view arguments) {
  const auto [what, rest] = first_word(arguments);
  if (arguments.empty() || arguments == "over") return save_edit(session, backend, what == "over");
  const std::string path(unquoted(rest));
  if (what != "workspace" || path.empty()) {
    return usage_error(
        "`save` takes nothing (the source that is edited), or a workspace and its file: `save "
        "workspace day.json`.");
  }
  if (auto error = backend.write_text(path, workspace_text(session, backend))) return *error;
  return fmt::format("Saved the workspace in {}.", path);
}

// Words that are given stand for what was copied elsewhere.
Answer run_paste(Session& session, Backend& backend, std::string_view arguments) {
  if (arguments.empty()) {
    session.paste_due = true;
    return std::string("What was copied is in the field.");
  }
  const std::string text(unquoted(arguments));
  if (is_link(text)) return execute(session, backend, fmt::format("open {}", text));
  if (is_share(text)) return execute(session, backend, fmt::format("open share {}", text));
  type_field(session, backend, text);
  if (session.problem) return usage_error(session.problem->sentence);
  return std::string("It is in the field.");
}

constexpr std::array kShareCommands = {
    WindowCommand{"share", "", "copies a word that opens this view elsewhere: `open share WORD`",
                  "share", "Ctrl+Shift+S", run_share},
    WindowCommand{"copy", "value | table | command | share",
                  "copies the selected value, the inspector's rows, or what makes this view",
                  "copy command", "Ctrl+C value, Ctrl+Shift+C table", run_copy},
    WindowCommand{"paste", "[WORDS]",
                  "puts what was copied into the field: an expression, or a word that was shared",
                  "paste", "Ctrl+V", run_paste},
    WindowCommand{"save", "[over] | workspace F.json",
                  "writes the source that is edited; or what is open and the window's settings",
                  "save workspace day.json", "Ctrl+S", run_save},
};

}  // namespace

std::span<const WindowCommand> share_commands() {
  return kShareCommands;
}

}  // namespace tilescope
