#include "viz/session/diff_table.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "viz/scene/number_words.h"
#include "viz/scene/table_room.h"
#include "viz/session/comparison.h"

namespace tilescope {
namespace {

Element element_at(const Comparison& comparison, std::int64_t index) {
  const std::int64_t columns = as_matrix(comparison.got->shape).cols;
  return {index / columns, index % columns};
}

std::string ulp_words(std::uint64_t ulp) {
  return ulp == std::numeric_limits<std::uint64_t>::max() ? "NaN" : fmt::format("{}", ulp);
}

std::string line_of(const Site& site) {
  if (site.source_line == 0) return fmt::format("PTX line {}", site.ptx_line);
  const std::size_t slash = site.source.find_last_of('/');
  const std::string file = slash == std::string::npos ? site.source : site.source.substr(slash + 1);
  return fmt::format("{}:{}", file, site.source_line);
}

TableColumn number(std::string title) {
  TableColumn out;
  out.title = std::move(title);
  out.across = Across::right;
  out.family = Family::mono;
  return out;
}

// Row after row: place, element, got, want, errors, writer.
std::vector<std::string> cells_of(const Comparison& comparison, const Mismatch& m,
                                  const std::string& place) {
  const Element e = element_at(comparison, m.index);
  std::vector<std::string> out = {place,
                                  fmt::format("{}", e.row),
                                  fmt::format("{}", e.column),
                                  m.got_text,
                                  m.want_text,
                                  fmt::format("{:.4g}", m.got - m.want),
                                  fmt::format("{:.4g}", m.error.relative),
                                  ulp_words(m.error.ulp)};
  if (!comparison.hints.writer) return out;
  if (!m.writer) {
    out.insert(out.end(), {"nobody", "", "", ""});
    return out;
  }
  const Site& s = *m.writer;
  out.push_back(fmt::format("({},{},{})", s.block.x, s.block.y, s.block.z));
  out.push_back(fmt::format("{}", s.warp));
  out.push_back(fmt::format("{}", s.lane));
  out.push_back(line_of(s));
  return out;
}

std::vector<std::string> titles(const Comparison& comparison) {
  std::vector<std::string> out = {"#",        "row", "column", "got", "want", "got minus want",
                                  "relative", "ulp"};
  if (comparison.hints.writer) out.insert(out.end(), {"block", "warp", "lane", "written at"});
  return out;
}

// The selected element, where it is wrong and not among the worst.
std::optional<Mismatch> selected_beyond(const Session& session,
                                        const std::vector<Mismatch>& worst) {
  const Comparison& comparison = *session.state.compare.comparison;
  const auto& at = session.state.element;
  const MatrixShape shape = as_matrix(comparison.got->shape);
  if (!at || at->row >= shape.rows || at->column >= shape.cols) return {};
  const std::int64_t index = at->row * shape.cols + at->column;
  for (const Mismatch& each : worst) {
    if (each.index == index) return {};
  }
  float value = 0;
  std::uint8_t wrong = 0;
  session.state.diff->source().read(at->row, at->column, {&value, 1}, {&wrong, 1});
  if (!wrong) return {};
  Mismatch out = mismatch_at(*comparison.got, *comparison.want, comparison.report.options, index);
  if (comparison.hints.writer) out.writer = comparison.hints.writer(index);
  return out;
}

}  // namespace

std::string left_out_words(const Table& table, double width) {
  const std::vector<std::string> names = columns_left_out(table, width);
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "" : fmt::format("No room for {}: the inspector has them.", out);
}

Table worst_table(const Session& session) {
  const DiffStudy& study = session.state.compare;
  const Comparison& comparison = *study.comparison;
  Table out;
  out.name = "worst first";
  out.when_empty = fmt::format(
      "No element is wrong: all {} agree within the tolerance. The map colours how far "
      "they are off.",
      grouped(comparison.report.compared));
  std::vector<std::string> names = titles(comparison);
  names[5] = "got - want";  // the room is for the numbers
  if (names.size() > 8) names[8] = "CTA";
  for (std::size_t c = 0; c < names.size(); ++c) {
    // The column that they are sorted by says so.
    const bool sorted =
        (study.measured == Measured::relative && c == 6) ||
        (study.measured == Measured::ulp && c == 7) ||
        (study.measured != Measured::relative && study.measured != Measured::ulp && c == 5);
    out.columns.push_back(number(sorted ? names[c] + ", worst first" : names[c]));
    // What the inspector says as well gives way first; where it was written keeps its place.
    out.columns.back().spared = c == 0 ? 6 : c == 10 ? 5 : c == 9 ? 4 : c == 8 ? 3 : 0;
    if (!sorted && (c == 6 || c == 7)) out.columns.back().spared = c == 6 ? 2 : 1;
    if (c == 11) {
      out.columns.back().across = Across::left;
      out.columns.back().stretches = true;
      out.columns.back().least = 176;  // a file's name and a line
    }
  }
  std::vector<Mismatch> all = comparison.worst(study.measured);
  const std::optional<Mismatch> beyond = selected_beyond(session, all);
  if (beyond) all.push_back(*beyond);
  out.rows.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Element e = element_at(comparison, all[i].index);
    const bool last = beyond && i + 1 == all.size();
    TableRow row;
    for (std::string& text :
         cells_of(comparison, all[i], last ? "selected" : fmt::format("{}", i + 1))) {
      TableCell cell;
      cell.text = std::move(text);
      row.cells.push_back(std::move(cell));
    }
    row.cells[0].ink = Role::quiet;
    row.cells[3].ink = Role::wrong;
    row.command = fmt::format("pick {} {}", e.row, e.column);
    row.hint = "selects this element";
    row.selected = session.state.element == e;
    if (row.selected) out.focus = i;
    out.rows.push_back(std::move(row));
  }
  return out;
}

ValueTable worst_values(const Session& session) {
  const DiffStudy& study = session.state.compare;
  const Comparison& comparison = *study.comparison;
  ValueTable out{titles(comparison), {}};
  const std::vector<Mismatch>& all = comparison.worst(study.measured);
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.rows.push_back(cells_of(comparison, all[i], fmt::format("{}", i + 1)));
  }
  return out;
}

}  // namespace tilescope
