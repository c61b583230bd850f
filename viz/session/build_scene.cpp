#include "viz/session/build_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "viz/scene/items.h"

namespace tilescope {
namespace {

constexpr double kEdge = 16, kHead = 72;

using Weight = Complaint::Weight;

Ink ink_of(Weight weight) {
  return weight == Weight::error ? Ink(Role::wrong) : Ink(Role::quiet);
}

std::string_view name_of(Weight weight) {
  return weight == Weight::error ? "error" : weight == Weight::warning ? "warning" : "note";
}

std::string command_of(const Build& build, const Complaint& complaint) {
  const bool here = complaint.line > 0 && complaint.file == build.name;
  return here ? fmt::format("edit line {}", complaint.line) : "";
}

// What is wrong, a complaint after the other, in as many rows as its words need.
Table list_of(const Build& build, double width) {
  Table table;
  table.name = "complaints";
  double where = 0;
  const auto place = [](const Complaint& c) {
    return c.file.empty() ? "" : c.line ? fmt::format("{}:{}", c.file, c.line) : c.file;
  };
  for (const Complaint& each : build.complaints) {
    where = std::max(where, text_width(place(each), small_text, Family::mono));
  }
  where = std::min(std::ceil(where), width / 3);
  const double kind = std::ceil(text_width("warning", small_text, Family::sans));
  table.columns = {{"", Across::left, Family::sans, kind},
                   {"where", Across::left, Family::mono, where},
                   {"what the compiler says", Across::left, Family::sans, 0, true, 1e9, true}};
  const double room = width - 2 * kEdge - kind - where - 2 * 16;
  for (const Complaint& each : build.complaints) {
    bool first = true;
    for (const std::string& piece : wrapped(each.text, room)) {
      TableRow row;
      row.cells = {{first ? std::string(name_of(each.weight)) : "", ink_of(each.weight), {}},
                   {first ? place(each) : "", Role::quiet, {}},
                   {piece, Role::text, {}}};
      row.command = command_of(build, each);
      row.hint = "opens the editor at this line";
      table.rows.push_back(std::move(row));
      first = false;
    }
  }
  return table;
}

// A line of the text, or a complaint below it.
struct TextRow {
  std::size_t line = 0;
  const Complaint* complaint = nullptr;
  std::string words;
};

std::vector<TextRow> rows_of(const Build& build, const std::vector<std::string>& lines,
                             double width) {
  std::vector<TextRow> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out.push_back({i, nullptr, lines[i]});
    for (const Complaint& each : build.complaints) {
      if (each.file != build.name || each.line != i + 1) continue;
      for (std::string& piece : wrapped(each.text, width)) {
        out.push_back({i, &each, std::move(piece)});
      }
    }
  }
  return out;
}

TableRow row_of(const TextRow& of) {
  TableRow row;
  row.command = fmt::format("edit line {}", of.line + 1);
  row.hint = "opens the editor at this line";
  if (of.complaint) {
    const bool error = of.complaint->weight == Weight::error;
    row.cells = {{}, {}, {of.words, ink_of(of.complaint->weight), {}}};
    if (error) row.cells[2].fill = Ink(Role::wrong, 0.1);
    return row;
  }
  row.cells = {{}, {fmt::format("{}", of.line + 1), Role::quiet, {}}, {of.words, Role::text, {}}};
  return row;
}

Table text_of(const Build& build, const std::vector<TextRow>& rows) {
  Table table;
  table.name = "source";
  table.columns = {
      {"", Across::left, Family::mono, 8},
      {"line", Across::right, Family::mono, text_width("00000", small_text, Family::mono)},
      {build.name, Across::left, Family::mono, 0, true, 1e9, true}};
  table.count = rows.size();
  table.row = [&rows](std::size_t i) {
    TableRow row = row_of(rows[i]);
    const bool wrong = !rows[i].complaint && i + 1 < rows.size() && rows[i + 1].complaint &&
                       rows[i + 1].complaint->weight == Weight::error;
    if (wrong) {
      row.cells[0] = {"\u25cf", Role::wrong, {}};
      row.cells[2].fill = Ink(Role::wrong, 0.1);
    }
    return row;
  };
  for (std::size_t i = 0; i < rows.size() && !table.focus; ++i) {
    if (rows[i].complaint && rows[i].complaint->weight == Weight::error) table.focus = i;
  }
  return table;
}

void add_words(Scene& scene, double y, std::string words, Ink ink, double size, double width) {
  Text text;
  text.at = {kEdge, y};
  text.text = fitted(words, width, size, Family::sans, FontWeight::regular);
  text.ink = ink;
  text.size = size;
  text.across = Across::left;
  scene.add(text);
}

double draw_build(Scene& scene, const Build& build, bool stands, Scroll& scroll) {
  const double width = scene.size.width, height = scene.size.height;
  scene.begin("build", Box{0, 0, width, kHead});
  add_words(scene, 24, heading_of(build), Role::wrong, heading_text, width - 2 * kEdge);
  add_words(scene, 50,
            stands ? "What runs is the text that was compiled before. A click on a line opens the "
                     "editor there."
                   : "A click on a line opens the editor there; your own editor will do as well.",
            Role::quiet, small_text, width - 2 * kEdge);
  scene.end();
  const Table list = list_of(build, width);
  const double wanted = table_titles + static_cast<double>(list.rows.size()) * table_row + 8;
  const double listed = std::min(wanted, std::round((height - kHead) * 0.4));
  Scroll of_list;
  draw_table(scene, list, {0, kHead, width, listed}, of_list);
  const auto text = build.sources.find(build.name);
  static const std::vector<std::string> none;
  const double code = width - 2 * kEdge - 8 - text_width("00000", small_text, Family::mono) - 32;
  const std::vector<TextRow> rows =
      rows_of(build, text == build.sources.end() ? none : text->second, code);
  const Box room{0, kHead + listed, width, std::max(1.0, height - kHead - listed)};
  Line border;
  border.stroke = {Role::line, 1, false};
  border.points = {{0, room.y - 0.5}, {width, room.y - 0.5}};
  scene.add(border);
  return draw_table(scene, text_of(build, rows), room, scroll);
}

}  // namespace

const Build* complained_of(const Session& session) {
  if (session.edit.failed) return session.edit.failed.get();
  const KernelCard* kernel = session.state.kernel.get();
  const Build* build = kernel ? kernel->built.get() : nullptr;
  return build && !build->complaints.empty() ? build : nullptr;
}

std::string heading_of(const Build& build) {
  if (!build.compiled()) {
    const std::size_t errors = build.errors();
    return fmt::format("{} does not compile: {} error{}.", build.name, errors,
                       errors == 1 ? "" : "s");
  }
  const std::size_t warnings = build.count(Complaint::Weight::warning);
  return fmt::format("{} compiles, with {} warning{}.", build.name, warnings,
                     warnings == 1 ? "" : "s");
}

bool shows_build(const Session& session) {
  return session.state.kernel && session.state.view == ViewName::source &&
         (session.edit.edit.open() || session.edit.failed);
}

std::optional<double> draw_build_of(Session& session, Scene& scene, Size size) {
  scene.size = size;
  scene.theme = session.theme();
  if (session.edit.edit.open()) return {};
  return draw_build(scene, *session.edit.failed, session.state.live != nullptr,
                    session.scrolls[ViewName::source]);
}

std::optional<std::uint32_t> line_now(const Build& build, const Complaint& complaint,
                                      const std::vector<std::string>& lines) {
  const auto text = build.sources.find(build.name);
  if (complaint.file != build.name || complaint.line == 0 || text == build.sources.end()) return {};
  if (complaint.line > text->second.size()) return {};
  const std::string& wanted = text->second[complaint.line - 1];
  const std::size_t at = complaint.line - 1;
  for (std::size_t away = 0; away < std::max(lines.size(), at + 1); ++away) {
    for (const std::size_t i : {at - away, at + away}) {
      if (i < lines.size() && lines[i] == wanted) return static_cast<std::uint32_t>(i + 1);
    }
  }
  return {};
}

Json describe_build(const Session& session) {
  const SourceEdit& edit = session.edit.edit;
  Json out = {{"view", "edit"}, {"file", edit.path}, {"saved", !edit.unsaved()}};
  const std::vector<std::string> lines = lines_of_text(edit.text);
  out["lines"] = lines.size();
  out["complaints"] = Json::array();
  const Build* said = complained_of(session);
  if (!said) return out;
  const Build& build = *said;
  for (const Complaint& each : build.complaints) {
    Json row = {{"weight", name_of(each.weight)}, {"text", text(each)}};
    if (const auto line = line_now(build, each, lines)) row["line"] = *line;
    out["complaints"].push_back(std::move(row));
  }
  return out;
}

}  // namespace tilescope
