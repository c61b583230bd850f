#include "app/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/deadlock.h"
#include "core/run/report_groups.h"

namespace tilescope {
namespace {

using nlohmann::ordered_json;

// JSON has no infinities and no NaN: they are strings.
ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace

ordered_json site_json(const Site& site) {
  return {{"kernel", site.kernel},
          {"source", site.source},
          {"source_line", site.source_line},
          {"caller", site.caller},
          {"caller_line", site.caller_line},
          {"ptx_line", site.ptx_line},
          {"ptx_place", site.ptx_place},
          {"block", {site.block.x, site.block.y, site.block.z}},
          {"warp", site.warp},
          {"lane", site.lane}};
}

namespace {

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
  // A launch file need not say which buffers are outputs.
  const std::string to = inputs.empty() || outputs.empty() ? "" : " -> ";
  return fmt::format("{}{}{}; {} CTA{} of {} threads", inputs, to, outputs, blocks,
                     blocks == 1 ? "" : "s", run.job.launch.block.count());
}

namespace {

// The sentence with what belongs to it; `times` is empty where there is nothing to count, `all`
// where all of it is told.
std::string text_of_report(const Report& r, const std::string& times, std::string_view all) {
  std::string out = fmt::format("{} ({}): {}", name_of(r.weight), r.kind, r.sentence);
  if (!r.site.kernel.empty()) out += "\n  at " + text(r.site);  // else of no kernel: a copy
  if (!r.expected.empty()) out += fmt::format("\n  expected {}", r.expected);
  if (!r.found.empty()) out += fmt::format("\n  found    {}", r.found);
  if (!times.empty()) out += fmt::format("\n  {}", times);
  if (r.deadlock && !r.deadlock->sentence.empty()) {
    out += fmt::format("\n  why      {}", r.deadlock->sentence);
    if (!all.empty()) out += fmt::format("\n  all of it: {}", all);
  }
  return out;
}

}  // namespace

std::string text_of_reports(const std::vector<Report>& reports, bool verbose,
                            const Elsewhere& elsewhere) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "\n") + text; };
  if (verbose) {
    for (const Report& r : reports) {
      add(text_of_report(r, r.count > 1 ? fmt::format("{} times at this place", r.count) : "", ""));
      if (r.deadlock) add(text_of(*r.deadlock));
    }
    return out;
  }
  const std::vector<ReportGroup> grouped = groups(reports);
  for (const ReportGroup& group : grouped) {
    add(text_of_report(reports[group.members.front()], text_of_counts(group), elsewhere.all));
  }
  if (grouped.size() < reports.size()) {
    add(fmt::format("{} reports, grouped by source line and kind; {}", reports.size(),
                    elsewhere.each));
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
    if (r.deadlock) out.back()["deadlock"] = to_json(*r.deadlock);
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

bool has_hazard(const std::vector<Report>& reports, const Telling& telling) {
  return has_hazard(sift(reports, telling.rules).kept);
}

}  // namespace tilescope
