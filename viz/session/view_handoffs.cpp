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
    column.most = 420;
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

void draw_handoffs_view(Session& session, Picture& out, const Drawing& how) {
  const auto theatre = theatre_of(session);
  const sim::Record& record = theatre->record();
  const sim::Handoffs all = sim::handoffs_of(record, theatre->pipeline(), ledger_rows);
  Scroll& scroll = session.scrolls[session.state.view];
  const double edge = table_edge, width = how.size.width;
  Scene& scene = out.scene;
  scene.begin("handoffs", Box{0, 0, width, how.size.height});
  double y = 24 - scroll.at;
  draw_title(scene, fmt::format("Handoffs of {}", record.kernel), {edge, y});
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
    scene.add(words({edge, y}, table.title, FontWeight::bold, heading_text));
    y += 14;
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
