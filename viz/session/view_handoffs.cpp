// Who hands what on to whom in the cluster that is looked at: the tables of
// core/profile/handoffs.h.
#include <fmt/format.h>

#include <algorithm>

#include "core/profile/handoffs.h"
#include "viz/scene/items.h"
#include "viz/scene/table_scene.h"
#include "viz/session/theatre_session.h"
#include "viz/session/value_table.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

constexpr std::size_t ledger_rows = 64;

std::optional<Emptiness> no_handoffs(const Session& session) {
  const ViewState& state = session.state;
  const std::string& name = state.kernel->name;
  if (!state.timeline) {
    if (session.running) return Emptiness{fmt::format("{} is running.", name), "", ""};
    return Emptiness{fmt::format("Who hands what on to whom in {} is told here when it has run: "
                                 "roles, stages, barriers, phases and bytes.",
                                 name),
                     "run", "Run"};
  }
  return no_cluster(session);
}

Table as_table(const sim::HandoffsTable& of) {
  Table out;
  out.name = of.title;
  for (std::size_t i = 0; i < of.columns.size(); ++i) {
    TableColumn column;
    column.title = of.columns[i];
    column.across = of.right[i] ? Across::right : Across::left;
    if (of.right[i]) column.family = Family::mono;
    out.columns.push_back(std::move(column));
  }
  for (std::size_t i = 0; i < of.rows.size(); ++i) {
    TableRow row;
    for (const std::string& cell : of.rows[i]) row.cells.push_back({cell});
    if (of.events[i] != sim::no_event) {
      row.command = fmt::format("pick event {}", of.events[i]);
      row.hint = "shows its first in the timeline";
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

// How wide the table is where nothing of it is cut.
double width_of(const sim::HandoffsTable& of) {
  constexpr double gap = 16;
  double out = 2 * table_edge - gap;
  for (std::size_t i = 0; i < of.columns.size(); ++i) {
    double wide = text_width(of.columns[i], small_text, Family::sans);
    const Family family = of.right[i] ? Family::mono : Family::sans;
    for (const auto& row : of.rows) {
      if (i < row.size()) wide = std::max(wide, text_width(row[i], small_text, family));
    }
    out += std::ceil(wide) + gap;
  }
  return out;
}

// A row of a table that is wider than its room: the first cell, and below it each other one behind
// its column's title, in as many lines as they need. Answers where it ends.
double draw_folded_row(Scene& scene, const sim::HandoffsTable& of, std::size_t row, double y,
                       double width) {
  constexpr double line = 18, indent = 16, gap = 16;
  const double left = table_edge + indent, right = width - table_edge;
  const double begin = y;
  const std::vector<std::string>& cells = of.rows[row];
  y += 12;
  scene.add(words({table_edge, y}, of.columns[0], Role::quiet));
  const double after = table_edge + text_width(of.columns[0], small_text, Family::sans) + 6;
  for (const std::string& piece : wrapped(cells[0], right - after, 64, FontWeight::bold)) {
    scene.add(words({after, y}, piece, FontWeight::bold));
    y += line;
  }
  double x = left;
  for (std::size_t i = 1; i < cells.size() && i < of.columns.size(); ++i) {
    if (cells[i].empty()) continue;
    const Family family = of.right[i] ? Family::mono : Family::sans;
    const double title = text_width(of.columns[i], small_text, Family::sans) + 6;
    const double wide = title + text_width(cells[i], small_text, family);
    if (x > left && x + wide > right) {
      x = left;
      y += line;
    }
    scene.add(words({x, y}, of.columns[i], Role::quiet));
    if (x + wide <= right) {
      scene.add(words({x + title, y}, cells[i], family));
      x += wide + gap;
      continue;
    }
    // Longer than a line: it goes on below, and what follows begins anew.
    for (const std::string& piece : wrapped(cells[i], right - x - title)) {
      scene.add(words({x + title, y}, piece));
      y += line;
    }
    x = left;
  }
  if (x > left) y += line;
  Line under;
  under.points = {{table_edge, y - 4.5}, {right, y - 4.5}};
  under.stroke = {Role::line, 1, false};
  scene.add(under);
  if (of.events[row] != sim::no_event) {
    scene.targets.push_back({{0, begin, width, y - begin},
                             fmt::format("pick event {}", of.events[row]),
                             "shows its first in the timeline"});
  }
  return y;
}

void draw_handoffs_view(Session& session, Picture& out, const Drawing& how) {
  const auto theatre = theatre_of(session);
  const sim::Record& record = theatre->record();
  const sim::Handoffs all = sim::handoffs_of(record, theatre->pipeline(), ledger_rows);
  Scroll& scroll = session.scrolls[session.state.view];
  const double edge = table_edge, width = how.size.width;
  Scene& scene = out.scene;
  scene.begin("handoffs", Box{0, 0, width, how.size.height});
  double y = 24 - scroll.at;
  draw_title(scene,
             fitted(fmt::format("Handoffs of {}", record.kernel), width - 2 * edge, title_text,
                    Family::sans, FontWeight::bold),
             {edge, y});
  y += 30;
  const auto sentence = [&](const std::string& text, Role role) {
    for (const std::string& line : wrapped(text, width - 2 * edge, 6)) {
      scene.add(words({edge, y}, line, role));
      y += 18;
    }
  };
  sentence(all.about, Role::quiet);
  for (const std::string& absent : all.absent) sentence("Absent: " + absent, Role::wrong);
  if (!all.nothing.empty()) sentence(all.nothing, Role::quiet);
  for (const sim::HandoffsTable& table : all.tables) {
    y += 20;
    scene.add(
        words({edge, y},
              fitted(table.title, width - 2 * edge, heading_text, Family::sans, FontWeight::bold),
              FontWeight::bold, heading_text));
    y += 14;
    if (width_of(table) > width) {
      scene.begin(table.title);
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        y = draw_folded_row(scene, table, row, y, width);
      }
      scene.end();
      y += 8;
      if (!table.below.empty()) sentence(table.below, Role::quiet);
      continue;
    }
    const double height = table_titles + table_row * static_cast<double>(table.rows.size());
    if (y + height > 0 && y < how.size.height) {
      Scroll whole;
      draw_table(scene, as_table(table), {0, y, width, height + 2}, whole);
    }
    y += height + 8;
    if (!table.below.empty()) sentence(table.below, Role::quiet);
  }
  scene.end();
  out.scroll = std::max(0.0, y + scroll.at + edge - how.size.height);
  scroll.at = std::min(scroll.at, *out.scroll);
}

// A row for each cell, as its tables have different columns.
Outcome<ValueTable> handoffs_values(const Session& session) {
  const auto theatre = theatre_of(session);
  const sim::Handoffs all = sim::handoffs_of(theatre->record(), theatre->pipeline(), ledger_rows);
  ValueTable out{{"table", "row", "column", "value"}, {}};
  for (const sim::HandoffsTable& table : all.tables) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      for (std::size_t i = 0; i < table.columns.size() && i < table.rows[row].size(); ++i) {
        out.rows.push_back(
            {table.title, fmt::format("{}", row), table.columns[i], table.rows[row][i]});
      }
    }
  }
  return out;
}

std::string handoffs_markdown(const Session& session) {
  const auto theatre = theatre_of(session);
  return sim::handoffs_text(theatre->record(), theatre->pipeline(), ledger_rows);
}

}  // namespace

const View handoffs_view = {
    .id = ViewName::handoffs,
    .name = "handoffs",
    .tab = "Handoffs",
    .said = "who hands what on to whom",
    .list = true,
    .empty = no_handoffs,
    .draw = draw_handoffs_view,
    .values = handoffs_values,
    .text = handoffs_markdown,
};

}  // namespace tilescope
