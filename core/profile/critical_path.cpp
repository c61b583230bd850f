#include "core/profile/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/profile/run_graph.h"

namespace tilescope::sim {
namespace {

// "warp 7 of CTA 0", "tensor core of CTA 0"
std::string where(const Record& record, const Event& e) {
  const Track& track = record.tracks[e.track];
  if (track.unit == Unit::warp) return fmt::format("CTA {} warp {}", track.block, track.index);
  if (track.unit == Unit::mbarrier) {
    return fmt::format("CTA {} {}", track.block, barrier_name(record.barriers, track.index));
  }
  return fmt::format("CTA {}", track.block);
}

// "hgemm_v7.cu:77", in the kernel's own file.
std::string line_of(const Record& record, const Event& e) {
  if (e.kind != EventKind::run && e.kind != EventKind::wait && e.kind != EventKind::operation) {
    return "";
  }
  if (e.pc >= record.lines.size()) return "";
  const RecordedLine& line = record.lines[e.pc];
  const bool called = line.caller_line != 0;
  const std::uint32_t number = called ? line.caller_line : line.line;
  const std::uint32_t file = called ? line.caller_file : line.file;
  if (number == 0 || file >= record.sources.size()) {
    return fmt::format("PTX line {}", line.ptx_line);
  }
  const std::string& path = record.sources[file];
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), number);
}

struct Told {
  std::string kind, where, line;
  Cycle length = 0, begin = 0;
  bool same(const Told& o) const { return kind == o.kind && where == o.where && line == o.line; }
};

}  // namespace

std::string_view name_of(PathKind kind) {
  static constexpr std::string_view names[] = {"before the first instruction",
                                               "a warp runs",
                                               "a warp's own loads",
                                               "other waits",
                                               "from issue to begin",
                                               "copies in",
                                               "copies out",
                                               "products",
                                               "to and from TMEM",
                                               "commit",
                                               "until who waits goes on"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<PathStep> critical_path(const Timeline& timeline) {
  const RunGraph graph(timeline);
  return graph.path({}, graph.times({}));
}

std::array<Cycle, static_cast<std::size_t>(PathKind::count_)> totals_of(
    const std::vector<PathStep>& path) {
  std::array<Cycle, static_cast<std::size_t>(PathKind::count_)> out{};
  for (const PathStep& step : path) out[static_cast<std::size_t>(step.kind)] += step.to - step.from;
  return out;
}

std::string path_text(const Record& record, const std::vector<PathStep>& path,
                      std::size_t most_lines) {
  if (path.empty()) return "The record has no events whose causes are known.\n";
  const Cycle all = path.back().to - path.front().from;
  std::string out = fmt::format("The longest chain takes {} {}:\n", all,
                                record.timed ? "cycles" : "instructions");
  const auto totals = totals_of(path);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return totals[a] > totals[b]; });
  for (const std::size_t i : order) {
    out += fmt::format(
        "  {:>9}  {:4.1f}%  {}\n", totals[i],
        100 * static_cast<double>(totals[i]) / static_cast<double>(std::max<Cycle>(1, all)),
        name_of(static_cast<PathKind>(i)));
  }
  std::vector<Told> told;
  for (const PathStep& step : path) {
    Told one{std::string(name_of(step.kind)), "", "", step.to - step.from, step.from};
    if (step.event != no_event) {
      const Event e = record.events[step.event];
      one.where = where(record, e);
      one.line = line_of(record, e);
    }
    if (!told.empty() && told.back().same(one)) {
      told.back().length += one.length;
    } else {
      told.push_back(std::move(one));
    }
  }
  out += "\n      from    takes\n";
  std::size_t lines = 0;
  for (std::size_t i = 0; i < told.size() && lines < most_lines;) {
    // The shortest pattern that repeats from here on.
    std::size_t period = 0, times = 1;
    for (std::size_t p = 1; p <= 12 && i + 2 * p <= told.size(); ++p) {
      std::size_t n = 1;
      while (i + (n + 1) * p <= told.size()) {
        bool equal = true;
        for (std::size_t k = 0; k < p && equal; ++k) equal = told[i + k].same(told[i + n * p + k]);
        if (!equal) break;
        ++n;
      }
      if (n > 1 && n * p > times * std::max<std::size_t>(1, period)) period = p, times = n;
    }
    const std::size_t shown = times > 1 ? period : 1;
    if (times > 1) out += fmt::format("  {} times:\n", times);
    for (std::size_t k = 0; k < shown; ++k) {
      Cycle length = 0;
      for (std::size_t n = 0; n < times; ++n) length += told[i + n * shown + k].length;
      const Told& t = told[i + k];
      out += fmt::format("{} {:>9} {:>8}  {}{}{}\n", times > 1 ? "   " : " ", t.begin,
                         length / times, t.kind, t.where.empty() ? "" : ", " + t.where,
                         t.line.empty() ? "" : ", " + t.line);
      ++lines;
    }
    i += shown * times;
    if (lines >= most_lines && i < told.size()) {
      out += fmt::format("  ... and {} more\n", told.size() - i);
    }
  }
  return out;
}

}  // namespace tilescope::sim
