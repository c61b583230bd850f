#include <fmt/format.h>

#include "core/diff/diff.h"

namespace tilescope {
namespace {

std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

std::string ulp_text(std::uint64_t ulp) {
  return ulp == std::numeric_limits<std::uint64_t>::max() ? "NaN" : fmt::format("{}", ulp);
}

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; the last one is not padded.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> width;
  for (const Row& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string out;
  for (const Row& row : rows) {
    out += " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      out += " " + row[c];
      if (c + 1 < row.size()) out += std::string(width[c] - row[c].size() + 1, ' ');
    }
    out += '\n';
  }
  return out;
}

std::string table(const std::vector<Mismatch>& mismatches, const DiffReport& report) {
  std::vector<Row> rows = {{"at", "got", "want", "absolute", "relative", "ulp"}};
  for (const Mismatch& m : mismatches) {
    rows.push_back({index_text(m.index, report.shape), m.got_text, m.want_text,
                    short_number(m.error.absolute), short_number(m.error.relative),
                    ulp_text(m.error.ulp)});
    if (report.traced) rows.back().push_back(writer_text(m.writer));
  }
  return aligned(rows);
}

std::string extremes(const DiffReport& report) {
  const auto at = [&](std::int64_t index) { return "at " + index_text(index, report.shape); };
  std::vector<Row> rows = {
      {"largest absolute error", short_number(report.max_absolute.value),
       at(report.max_absolute.index)},
      {"largest relative error", short_number(report.max_relative.value),
       at(report.max_relative.index)},
      {"largest ulp distance", ulp_text(report.max_ulp.value), at(report.max_ulp.index)},
      {"mean absolute error", short_number(report.mean_absolute)}};
  if (report.not_finite) {
    rows.push_back({"without a finite error", fmt::format("{}", report.not_finite)});
  }
  return aligned(rows);
}

}  // namespace

std::string index_text(std::int64_t index, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> coordinate(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    coordinate[d] = index % shape[d];
    index /= shape[d];
  }
  std::string out = "(";
  for (std::size_t d = 0; d < coordinate.size(); ++d) {
    if (d) out += ", ";
    out += fmt::format("{}", coordinate[d]);
  }
  return out + ")";
}

std::string writer_text(const std::optional<Site>& writer) {
  if (!writer) return "never written";
  std::string out = fmt::format("written by CTA ({},{},{}), warp {}, lane {}", writer->block.x,
                                writer->block.y, writer->block.z, writer->warp, writer->lane);
  if (writer->source_line) {
    out += fmt::format(" at {}:{}", writer->source, writer->source_line);
  } else if (writer->ptx_line) {
    out += fmt::format(" at PTX line {}", writer->ptx_line);
  }
  return out;
}

std::string text(const DiffReport& report) {
  std::string out =
      fmt::format("{} against {}: {} {}, {} element{}, rtol {}, atol {}\n", report.got_name,
                  report.want_name, name_of(report.dtype), shape_text(report.shape),
                  report.compared, report.compared == 1 ? "" : "s", report.options.tolerance.rtol,
                  report.options.tolerance.atol);
  if (report.ok()) {
    out += report.exact == report.compared
               ? "  all are equal\n"
               : fmt::format("  all are within tolerance, {} of them equal\n", report.exact);
  } else {
    out += fmt::format(
        "  {} differ ({:.3g}%), {} are equal\n", report.wrong,
        100.0 * static_cast<double>(report.wrong) / static_cast<double>(report.compared),
        report.exact);
  }
  if (report.exact != report.compared) out += extremes(report);
  if (!report.first.empty()) {
    out += fmt::format("first {} of {} that differ\n", report.first.size(), report.wrong);
    out += table(report.first, report);
  }
  // Where every wrong element is listed already, the worst ones are among them.
  if (!report.worst.empty() && report.first.size() < report.wrong) {
    out += fmt::format("worst {} by absolute error\n", report.worst.size());
    out += table(report.worst, report);
  }
  return out;
}

}  // namespace tilescope
