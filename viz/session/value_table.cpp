#include "viz/session/value_table.h"
#include "core/profile/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "viz/session/diff_table.h"

namespace tilescope {
namespace {

std::optional<Error> too_many(std::int64_t rows) {
  if (rows <= most_table_rows) return {};
  return Error{
      ErrorKind::mismatch,
      fmt::format("That would be a table of {} rows; up to {} are written. A picture shows "
                  "them all.",
                  rows, most_table_rows),
      ""};
}

// Cells have different lines (some have more owners), so columns are found as they come.
class CellTable {
 public:
  void add(const Panel& panel, const LayoutView& view, const Cell& cell) {
    std::vector<std::string> row = {panel.title.empty() ? "layout" : panel.title,
                                    fmt::format("{}", cell.slice), fmt::format("{}", cell.row),
                                    fmt::format("{}", cell.column)};
    for (auto& [name, value] : view.info(cell).lines()) {
      const auto [found, is_new] = places_.try_emplace(name, table_.columns.size());
      if (is_new) table_.columns.push_back(name);
      if (row.size() <= found->second) row.resize(found->second + 1);
      row[found->second] = std::move(value);
    }
    table_.rows.push_back(std::move(row));
  }
  ValueTable take() { return std::move(table_); }

 private:
  ValueTable table_{{"grid", "slice", "row", "column"}, {}};
  std::map<std::string, std::size_t> places_;
};

Outcome<ValueTable> cells_of(const LayoutView& view) {
  std::int64_t count = 0;
  for (const Panel& panel : view.panels()) count += panel.rows * panel.columns * panel.slices;
  if (auto error = too_many(count)) return *error;
  CellTable out;
  for (std::size_t p = 0; p < view.panels().size(); ++p) {
    const Panel& panel = view.panels()[p];
    for (std::int64_t slice = panel.first_slice; slice < panel.first_slice + panel.slices;
         ++slice) {
      for (std::int64_t row = 0; row < panel.rows; ++row) {
        for (std::int64_t column = 0; column < panel.columns; ++column) {
          const Cell cell{static_cast<int>(p), slice, row, column};
          if (view.exists(cell)) out.add(panel, view, cell);
        }
      }
    }
  }
  return out.take();
}

Outcome<ValueTable> elements_of(const MatricesView& view) {
  ValueTable out{{"row", "column"}, {}};
  std::int64_t rows = 0, columns = 0;
  for (const MatricesView::Matrix& matrix : view.matrices()) {
    out.columns.push_back(matrix.name);
    rows = std::max(rows, matrix.rows);
    columns = std::max(columns, matrix.columns);
  }
  if (auto error = too_many(rows * columns)) return *error;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      std::vector<std::string> line = {fmt::format("{}", row), fmt::format("{}", column)};
      for (std::size_t m = 0; m < view.matrices().size(); ++m) {
        const MatricesView::Matrix& matrix = view.matrices()[m];
        const bool there = row < matrix.rows && column < matrix.columns;
        line.push_back(there ? view.value(m, {row, column}) : "");
      }
      out.rows.push_back(std::move(line));
    }
  }
  return out;
}

Outcome<ValueTable> differences_of(const DiffView& view) {
  const DifferenceSource& source = view.source();
  if (auto error = too_many(source.rows() * source.columns())) return *error;
  ValueTable out{{"row", "column", "got", "want", "got minus want", "wrong"}, {}};
  std::vector<float> difference(static_cast<std::size_t>(source.columns()));
  std::vector<std::uint8_t> wrong(difference.size());
  for (std::int64_t row = 0; row < source.rows(); ++row) {
    source.read(row, 0, difference, wrong);
    for (std::int64_t column = 0; column < source.columns(); ++column) {
      const auto i = static_cast<std::size_t>(column);
      out.rows.push_back({fmt::format("{}", row), fmt::format("{}", column),
                          source.got(row, column), source.want(row, column),
                          fmt::format("{}", difference[i]), wrong[i] ? "wrong" : ""});
    }
  }
  return out;
}

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.einfa") == std::string::npos;
}

// The lanes of a mask: "0 4 8".
std::string lanes_text(std::uint32_t lanes) {
  std::string out;
  for (int lane = 0; lane < lanes_of_warp; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    if (!out.empty()) out += ' ';
    out += std::to_string(lane);
  }
  return out;
}

ValueTable words_of(const AccessView& view) {
  ValueTable out{{"instruction", "phase", "wavefront", "bank", "byte", "lanes"}, {}};
  for (const ServedPhase& phase : view.phases()) {
    for (const ServedWord& word : phase.words) {
      out.rows.push_back({std::to_string(phase.instruction), std::to_string(phase.phase),
                          std::to_string(word.wavefront), std::to_string(word.bank),
                          std::to_string(word.word * bank_bytes), lanes_text(word.lanes)});
    }
  }
  return out;
}

ValueTable sectors_in(const AccessView& view) {
  ValueTable out{{"instruction", "byte", "lanes"}, {}};
  for (std::size_t k = 0; k < view.sectors().size(); ++k) {
    for (const TouchedSector& sector : view.sectors()[k].sectors) {
      out.rows.push_back({std::to_string(k), std::to_string(sector.sector * sector_bytes),
                          lanes_text(sector.lanes)});
    }
  }
  return out;
}

ValueTable images_of(const BitMatrix& matrix) {
  ValueTable out{{"coordinate bit", "offset"}, {}};
  for (const BitMatrix::Column& column : matrix.columns) {
    out.rows.push_back({column.title, std::to_string(column.image)});
  }
  return out;
}

// All events, by their begins.
Outcome<ValueTable> events_of(const TimelineView& view) {
  const std::size_t most = view.record().events.size();
  if (auto error = too_many(static_cast<std::int64_t>(most))) return *error;
  ValueTable out;
  out.columns = {"event", "row",    "kind",      "issued",     "begin",
                 "end",   "amount", "waits for", "instruction"};
  const sim::Record& record = view.record();
  const auto end = static_cast<sim::Cycle>(view.end()) + 1;
  for (const sim::EventId id : view.timeline().find({}, 0, end, most)) {
    const sim::Event event = record.events[id];
    const bool placed = event.kind == sim::EventKind::run || event.kind == sim::EventKind::wait ||
                        event.kind == sim::EventKind::operation;
    out.rows.push_back({fmt::format("{}", id), view.name_of({false, event.track}),
                        std::string(sim::name_of(event.kind)), fmt::format("{}", event.issue),
                        fmt::format("{}", event.begin),
                        event.end == sim::never_ends ? std::string() : fmt::format("{}", event.end),
                        fmt::format("{}", event.amount),
                        event.kind == sim::EventKind::wait
                            ? sim::text(sim::WaitKey{event.stall, view.doing(event).unit})
                            : std::string(),
                        placed && event.pc < record.lines.size() ? sim::text(record.lines[event.pc])
                                                                 : std::string()});
  }
  return out;
}

}  // namespace

Outcome<ValueTable> value_table(const Session& session) {
  if (const auto empty = emptiness(session)) return Error{ErrorKind::usage, empty->sentence, ""};
  const View& view = view_of(session.state.view);
  if (view.values) return view.values(session);
  std::string what =
      view.said.empty() ? fmt::format("the {} view", view.name) : std::string(view.said);
  if (what[0] >= 'a' && what[0] <= 'z') what[0] = static_cast<char>(what[0] - 'a' + 'A');
  return Error{ErrorKind::usage,
               fmt::format("{} is no table of values; `export F.svg` draws it.", what), ""};
}

Outcome<ValueTable> cell_values(const Session& session) {
  return cells_of(*session.state.layout);
}
Outcome<ValueTable> bank_values(const Session& session) {
  return words_of(**access_of(session));
}
Outcome<ValueTable> sector_values(const Session& session) {
  return sectors_in(**access_of(session));
}
Outcome<ValueTable> bit_values(const Session& session) {
  return images_of(*bit_matrix_of(session));
}
Outcome<ValueTable> matrix_values(const Session& session) {
  return elements_of(*session.state.matrices);
}
Outcome<ValueTable> event_values(const Session& session) {
  return events_of(*session.state.timeline);
}
Outcome<ValueTable> difference_values(const Session& session) {
  const ViewState& state = session.state;
  if (state.compare.as_table && state.compare.comparison) return worst_values(session);
  return differences_of(*state.diff);
}

std::string csv(const ValueTable& table) {
  std::string out;
  const auto add = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) out += ',';
      if (i < row.size()) out += field(row[i]);
    }
    out += "\r\n";
  };
  add(table.columns);
  for (const auto& row : table.rows) add(row);
  return out;
}

std::string aligned(const ValueTable& table) {
  std::vector<std::size_t> widths(table.columns.size());
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  measure(table.columns);
  for (const auto& row : table.rows) measure(row);
  std::string out;
  const auto add = [&](const std::vector<std::string>& row, bool heading) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool right = heading ? !table.rows.empty() && i < table.rows.front().size() &&
                                       is_number(table.rows.front()[i])
                                 : is_number(row[i]);
      line += right ? fmt::format("{:>{}}  ", row[i], widths[i])
                    : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add(table.columns, true);
  for (const auto& row : table.rows) add(row, false);
  return out;
}

}  // namespace tilescope
