#include "viz/scene/table_scene.h"

#include <algorithm>
#include <cmath>

#include "viz/scene/items.h"
#include "viz/scene/table_room.h"

namespace tilescope {
namespace {

constexpr double gap = 16, edge = table_edge, least_stretched = 80;

double natural_width(const Table& table, std::size_t c) {
  const TableColumn& column = table.columns[c];
  if (column.width != 0 || column.stretches) return column.width;
  double width = text_width(column.title, small_text, Family::sans);
  for (const TableRow& row : table.rows) {
    if (row.heading || row.code || c >= row.cells.size()) continue;
    width = std::max(width, text_width(row.cells[c].text, small_text, column.family));
  }
  return std::min(std::ceil(width), column.most);
}

// Of columns that are left out nothing.
std::vector<std::optional<double>> widths_of(const Table& table, double room) {
  std::vector<std::optional<double>> out;
  double taken = 2 * edge - gap, wanted = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out.push_back(natural_width(table, c));
    taken += *out.back() + gap;
    if (table.columns[c].stretches) wanted += table.columns[c].least;
  }
  while (taken + wanted > room) {
    std::size_t spare = out.size();
    for (std::size_t c = 0; c < out.size(); ++c) {
      if (!out[c] || table.columns[c].spared == 0) continue;
      if (spare == out.size() || table.columns[c].spared > table.columns[spare].spared) spare = c;
    }
    if (spare == out.size()) break;
    taken -= *out[spare] + gap;
    if (table.columns[spare].stretches) wanted -= table.columns[spare].least;
    out[spare].reset();
  }
  for (std::size_t c = 0; c < out.size(); ++c) {
    const TableColumn& column = table.columns[c];
    if (column.stretches && out[c]) out[c] = std::max(least_stretched, room - taken);
  }
  return out;
}

double left_of(const TableColumn& column, double x, double width) {
  return column.across == Across::left    ? x
         : column.across == Across::right ? x + width
                                          : x + width / 2;
}

std::string cut(const std::string& text, const TableColumn& column, double width, Family family,
                FontWeight weight) {
  return column.keeps_begin ? begin_of(text, width, family)
                            : fitted(text, width, small_text, family, weight);
}

// `shown` is the text, or its beginning and a mark that there is more.
void draw_code(Scene& scene, Point at, const std::string& text, const std::string& shown,
               const std::vector<CudaSpan>& spans) {
  const auto differs = std::mismatch(shown.begin(), shown.end(), text.begin(), text.end()).first;
  const auto kept = static_cast<std::size_t>(differs - shown.begin());
  scene.begin(std::string(code_group));
  for (const CudaSpan& span : spans) {
    const bool last = &span == &spans.back() || span.end >= kept;
    const std::string part =
        shown.substr(span.begin, last ? std::string::npos : span.end - span.begin);
    const double before = text_width(shown.substr(0, span.begin), small_text, Family::mono);
    scene.add(words({at.x + before, at.y}, part, Ink(colour_of(span.part, scene.theme)),
                    Family::mono, Across::left));
    if (last) break;
  }
  scene.end();
}

}  // namespace

std::vector<std::string> columns_left_out(const Table& table, double width) {
  std::vector<std::string> out;
  const auto widths = widths_of(table, width);
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (!widths[c]) out.push_back(table.columns[c].title);
  }
  return out;
}

double draw_table(Scene& scene, const Table& table, const Box& room, Scroll& scroll) {
  const Box body{room.x, room.y + table_titles, room.width,
                 std::max(0.0, room.height - table_titles)};
  const std::size_t count = table.row ? table.count : table.rows.size();
  const double all = static_cast<double>(count) * table_row;
  const double most = std::max(0.0, all - body.height);
  if (!scroll.by_hand && table.focus) {
    const double top = static_cast<double>(*table.focus) * table_row;
    const double margin = std::min(body.height / 4, 4 * table_row);
    if (top < scroll.at + margin || top + table_row > scroll.at + body.height - margin) {
      scroll.at = top - body.height / 3;
    }
  }
  scroll.at = std::clamp(std::round(scroll.at), 0.0, most);
  const std::vector<std::optional<double>> widths = widths_of(table, room.width);

  scene.begin(table.name, room);
  scene.begin("titles");
  double x = room.x + edge;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const TableColumn& column = table.columns[c];
    if (!widths[c]) continue;
    // What is cut can be read whole under the pointer.
    const std::string title = fitted(column.title, *widths[c], small_text, Family::sans);
    scene.add(words({left_of(column, x, *widths[c]), room.y + table_titles / 2}, title, Role::quiet,
                    Family::sans, column.across, FontWeight::regular));
    const std::string hint = column.hint.empty() ? title == column.title ? "" : column.title
                                                 : column.title + ": " + column.hint;
    if (!hint.empty()) scene.hints.push_back({{x, room.y, *widths[c], table_titles}, hint});
    x += *widths[c] + gap;
  }
  Line under;
  under.points = {{room.x, body.y - 0.5}, {room.right(), body.y - 0.5}};
  under.stroke = {Role::line, 1, false};
  scene.add(under);
  scene.end();

  scene.begin("rows", body);
  if (count == 0) {
    Point at{room.x + edge, body.y + table_row};
    for (std::string& line : wrapped(table.when_empty, body.width - 2 * edge)) {
      scene.add(words(at, std::move(line), Role::quiet));
      at.y += 20;
    }
  }
  const auto first = static_cast<std::size_t>(scroll.at / table_row);
  for (std::size_t r = first; r < count; ++r) {
    const TableRow made = table.row ? table.row(r) : TableRow{};
    const TableRow& row = table.row ? made : table.rows[r];
    const double y = body.y + static_cast<double>(r) * table_row - scroll.at;
    if (y >= body.bottom()) break;
    const Box line{room.x, y, room.width, table_row};
    if (row.selected) {
      Rectangle mark;
      mark.box = line;
      mark.fill = Ink(Role::accent, 0.14);
      scene.add(mark);
    }
    if (!row.command.empty()) scene.targets.push_back({line.cut(body), row.command, row.hint});
    x = room.x + edge;
    for (std::size_t c = 0; c < row.cells.size() && c < widths.size(); ++c) {
      const bool alone = row.heading || row.code;
      if (!widths[c] && !alone) continue;
      const TableCell& cell = row.cells[c];
      const TableColumn column = alone ? TableColumn{} : table.columns[c];
      const double width = alone ? room.width - 2 * edge : *widths[c];
      if (cell.fill) {
        Rectangle paper;
        paper.box = {x - 4, y + 1, width + 8, table_row - 2};
        paper.fill = *cell.fill;
        paper.radius = 3;
        scene.add(paper);
      }
      const Family family = row.code ? Family::mono : column.family;
      const FontWeight weight = row.heading ? FontWeight::bold : FontWeight::regular;
      if (!cell.spans.empty()) {
        draw_code(scene, {x, y + table_row / 2}, cell.text,
                  cut(cell.text, column, width, family, weight), cell.spans);
      } else if (!cell.text.empty()) {
        scene.add(words({left_of(column, x, width), y + table_row / 2},
                        cut(cell.text, column, width, family, weight),
                        row.heading ? Ink(Role::quiet) : cell.ink, family, column.across, weight));
      }
      if (!cell.hint.empty()) {
        scene.hints.push_back({Box{x - 4, y, width + 8, table_row}.cut(body), cell.hint});
      }
      if (!cell.command.empty()) {
        scene.targets.push_back(
            {Box{x - 4, y, width + 8, table_row}.cut(body), cell.command, cell.text});
      }
      x += width + gap;
      if (alone) break;
    }
  }
  scene.end();
  scene.end();
  if (most > 0) {
    // Where in the whole one is: a thin bar, no control.
    const double long_as = std::max(24.0, body.height * body.height / all);
    Rectangle bar;
    bar.box = {room.right() - 4, body.y + (body.height - long_as) * scroll.at / most, 3, long_as};
    bar.fill = Ink(Role::line);
    bar.radius = 1.5;
    scene.add(bar);
  }
  return most;
}

}  // namespace tilescope
