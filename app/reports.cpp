#include "app/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

namespace tilescope {
namespace {

using nlohmann::ordered_json;

// JSON has no infinities and no NaN: they are strings.
ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

ordered_json site_json(const Site& site) {
  return {{"kernel", site.kernel},
          {"source", site.source},
          {"source_line", site.source_line},
          {"caller", site.caller},
          {"caller_line", site.caller_line},
          {"ptx_line", site.ptx_line},
          {"block", {site.block.x, site.block.y, site.block.z}},
          {"warp", site.warp},
          {"lane", site.lane}};
}

ordered_json mismatch_json(const Mismatch& m, const DiffReport& diff) {
  return {{"index", m.index},
          {"at", index_text(m.index, diff.shape)},
          {"got", m.got_text},
          {"want", m.want_text},
          {"absolute", number(m.error.absolute)},
          {"relative", number(m.error.relative)},
          {"ulp", m.error.ulp},
          {"writer", m.writer ? site_json(*m.writer) : ordered_json(nullptr)}};
}

ordered_json mismatches_json(const std::vector<Mismatch>& mismatches, const DiffReport& diff) {
  ordered_json out = ordered_json::array();
  for (const Mismatch& m : mismatches) out.push_back(mismatch_json(m, diff));
  return out;
}

}  // namespace

std::string describe(const PreparedRun& run) {
  std::string inputs, outputs;
  for (std::size_t i = 0; i < run.job.buffers.size(); ++i) {
    const Buffer& b = run.job.buffers[i];
    std::string& side = b.undefined ? outputs : inputs;
    side += fmt::format("{}{} {} {}", side.empty() ? "" : ", ", b.name, shape_text(b.shape),
                        name_of(b.dtype));
  }
  const auto blocks = run.job.launch.grid.count();
  return fmt::format("{} -> {}; {} block{} of {} threads", inputs, outputs, blocks,
                     blocks == 1 ? "" : "s", run.job.launch.block.count());
}

std::string text_of_reports(const std::vector<Report>& reports) {
  // Reports of one kind at one instruction, each with another partner: a few say what is to be
  // said.
  constexpr int told_at_once = 3;
  using Place = std::tuple<std::string_view, std::string_view, std::uint32_t>;
  std::map<Place, int> seen, folded;
  std::string out;
  for (const Report& r : reports) {
    const Place place{r.kind, r.site.kernel, r.site.ptx_line};
    if (++seen[place] > told_at_once) {
      ++folded[place];
      continue;
    }
    out += fmt::format("{}{} ({}): {}\n  at {}", out.empty() ? "" : "\n", name_of(r.weight), r.kind,
                       r.sentence, text(r.site));
    if (!r.expected.empty()) out += fmt::format("\n  expected {}", r.expected);
    if (!r.found.empty()) out += fmt::format("\n  found    {}", r.found);
    if (r.count > 1) out += fmt::format("\n  {} times at this place", r.count);
  }
  for (const auto& [place, more] : folded) {
    const auto& [kind, kernel, line] = place;
    out += fmt::format(
        "\n{} more ({}) at PTX line {} of {}, of which the other side is elsewhere; "
        "--json lists all",
        more, kind, line, kernel);
  }
  return out;
}

ordered_json to_json(const std::vector<Report>& reports) {
  ordered_json out = ordered_json::array();
  for (const Report& r : reports) {
    out.push_back({{"weight", name_of(r.weight)},
                   {"kind", r.kind},
                   {"sentence", r.sentence},
                   {"expected", r.expected},
                   {"found", r.found},
                   {"site", site_json(r.site)},
                   {"count", r.count}});
  }
  return out;
}

ordered_json to_json(const std::vector<Pattern>& patterns) {
  ordered_json out = ordered_json::array();
  for (const Pattern& p : patterns) {
    out.push_back({{"kind", name_of(p.kind)},
                   {"name", p.name},
                   {"evidence", p.evidence},
                   {"first", p.first}});
  }
  return out;
}

ordered_json to_json(const DiffReport& diff) {
  return {{"got", diff.got_name},
          {"want", diff.want_name},
          {"dtype", name_of(diff.dtype)},
          {"shape", diff.shape},
          {"rtol", diff.options.tolerance.rtol},
          {"atol", diff.options.tolerance.atol},
          {"compared", diff.compared},
          {"wrong", diff.wrong},
          {"exact", diff.exact},
          {"max_absolute",
           {{"value", number(diff.max_absolute.value)}, {"index", diff.max_absolute.index}}},
          {"max_relative",
           {{"value", number(diff.max_relative.value)}, {"index", diff.max_relative.index}}},
          {"max_ulp", {{"value", diff.max_ulp.value}, {"index", diff.max_ulp.index}}},
          {"mean_absolute", number(diff.mean_absolute)},
          {"first", mismatches_json(diff.first, diff)},
          {"worst", mismatches_json(diff.worst, diff)}};
}

bool has_hazard(const std::vector<Report>& reports) {
  return std::any_of(reports.begin(), reports.end(),
                     [](const Report& r) { return r.weight == Weight::hazard; });
}

}  // namespace tilescope
