#include "viz/commands/overlay_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/lesson/glossary.h"
#include "viz/commands/command_palette.h"
#include "viz/commands/commands.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

Json palette_json(const Session& session, const Backend& backend) {
  Json entries = Json::array();
  for (const PaletteEntry& entry : palette_entries(session, backend, session.overlay.text, 12)) {
    entries.push_back({{"line", entry.line},
                       {"arguments", entry.arguments},
                       {"help", entry.help},
                       {"keys", entry.keys}});
  }
  Json out = {{"text", session.overlay.text}, {"entries", std::move(entries)}};
  out["chosen"] = session.overlay.chosen;
  if (!session.overlay.problem.empty()) out["problem"] = session.overlay.problem;
  return out;
}

Json sheet_json(const Sheet& sheet) {
  Json rows = Json::array();
  for (const SheetRow& row : sheet.rows) {
    if (row.command.empty()) {
      rows.push_back({{"heading", row.left}});
      continue;
    }
    Json each = {{"left", row.left}, {"middle", row.middle}, {"right", row.right}};
    each["command"] = row.command;
    if (row.current) each["current"] = true;
    rows.push_back(std::move(each));
  }
  return {{"title", sheet.title}, {"rows", std::move(rows)}};
}

}  // namespace

Json describe_overlay(const Session& session, const Backend& backend) {
  Json out;
  if (session.overlay.kind == Overlay::Kind::palette) {
    out = palette_json(session, backend);
  } else {
    out = sheet_json(sheet_of(session));
  }
  out["kind"] = name_of(session.overlay.kind);
  return out;
}

Sheet commands_sheet() {
  Sheet sheet{Sheet::Kind::commands, "Commands", "A click writes the command into the palette", {}};
  for (const CommandGroup& group : command_groups()) {
    sheet.rows.push_back({std::string(group.title), "", "", "", false, false});
    for (const WindowCommand& command : group.commands) {
      const std::string_view blank = command.arguments.empty() ? "" : " ";
      sheet.rows.push_back({fmt::format("{}{}{}", command.name, blank, command.arguments),
                            std::string(command.help), keys_text(command),
                            fmt::format("palette {}", command.name), false, false});
    }
  }
  return sheet;
}

Sheet words_sheet(const Session& session) {
  Sheet sheet{Sheet::Kind::words, "Words", "A click goes to where it is explained", {}};
  if (!session.shelf) return sheet;
  const std::vector<Lesson>& lessons = session.shelf->lessons;
  for (const GlossaryEntry& entry : glossary(lessons)) {
    const auto named = [&](const Lesson& lesson) { return lesson.name == entry.lesson; };
    const auto lesson = std::find_if(lessons.begin(), lessons.end(), named);
    const std::string where = lesson == lessons.end() ? entry.lesson : lesson->title;
    std::string meaning = entry.term.meaning;
    meaning.erase(std::remove(meaning.begin(), meaning.end(), '`'), meaning.end());  // Markdown's
    sheet.rows.push_back({entry.term.forms.front(), std::move(meaning),
                          fmt::format("{} {}", where, entry.step + 1),
                          fmt::format("lesson {} {}", entry.lesson, entry.step + 1),
                          has_form(entry.term, session.overlay.text), false});
  }
  return sheet;
}

Sheet sheet_of(const Session& session) {
  switch (session.overlay.kind) {
    case Overlay::Kind::history:
      return history_sheet(session);
    case Overlay::Kind::words:
      return words_sheet(session);
    case Overlay::Kind::none:
    case Overlay::Kind::palette:
    case Overlay::Kind::commands:
      break;
  }
  return commands_sheet();
}

Sheet history_sheet(const Session& session) {
  Sheet sheet{Sheet::Kind::steps, "Steps", "A click goes there", {}};
  const std::size_t past = session.past.size(), future = session.future.size();
  const auto undo = [](std::size_t steps) {
    return steps == 0 ? std::string("back") : fmt::format("undo {}", steps);
  };
  sheet.rows.push_back({"0", "the beginning", "", undo(past), past == 0, false});
  for (std::size_t i = 0; i < past; ++i) {
    const bool now = i + 1 == past;
    sheet.rows.push_back({fmt::format("{}", i + 1), session.past[i].name, now ? "now" : "",
                          undo(past - 1 - i), now, false});
  }
  for (std::size_t i = 0; i < future; ++i) {  // the next to be done again lies last
    sheet.rows.push_back({fmt::format("{}", past + i + 1), session.future[future - 1 - i].name,
                          "taken back", fmt::format("redo {}", i + 1), false, true});
  }
  return sheet;
}

}  // namespace tilescope
