#include "core/profile/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::sim {
namespace {

// "warp 7 of CTA 0", "tensor core of CTA 0"
std::string where(const Record& record, const Event& e) {
  const Track& track = record.tracks[e.track];
  if (track.unit == Unit::warp) return fmt::format("CTA {} warp {}", track.block, track.index);
  if (track.unit == Unit::mbarrier) {
    return fmt::format("CTA {} {}", track.block, barrier_name(record.barriers, track.index));
  }
  if (track.unit == Unit::barrier) return fmt::format("CTA {} bar {}", track.block, track.index);
  if (track.unit == Unit::cluster) return fmt::format("CTA {}'s cluster", track.block);
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

bool same(const PathLine& a, const PathLine& b) {
  return a.kind == b.kind && a.what == b.what && a.where == b.where && a.line == b.line;
}

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
                                               "wake-up",
                                               "stores on their way"};
  return names[static_cast<std::size_t>(kind)];
}

std::array<Cycle, static_cast<std::size_t>(PathKind::count_)> totals_of(
    const std::vector<PathStep>& path) {
  std::array<Cycle, static_cast<std::size_t>(PathKind::count_)> out{};
  for (const PathStep& step : path) out[static_cast<std::size_t>(step.kind)] += step.to - step.from;
  return out;
}

std::string without_time(const Record& record) {
  if (record.timed) return "";
  return "The order of this run was drawn (a schedule, --lazy, a warp that is held): it has no "
         "time, "
         "so nothing can be told of what took it. Run it without these.";
}

std::string caveat(const Record& record) {
  std::string out;
  for (const Report& report : record.reports) {
    if (report.weight != Weight::fault) continue;
    out = fmt::format("The run ended in a fault ({}); this is its time until then. ", report.kind);
    break;
  }
  std::uint64_t folded = 0;
  for (const Event& event : record.events) {
    if (event.kind == EventKind::folded) folded += event.amount;
  }
  if (folded) {
    out += fmt::format(
        "{} events were not kept one by one (--record-limit, --record-block, --record-time): what "
        "they did is in no chain, and counts as waiting. ",
        folded);
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::vector<PathKind> kinds_of(const std::vector<PathStep>& path) {
  const auto totals = totals_of(path);
  std::vector<PathKind> out;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i]) out.push_back(static_cast<PathKind>(i));
  }
  std::stable_sort(out.begin(), out.end(), [&](PathKind a, PathKind b) {
    return totals[static_cast<std::size_t>(a)] > totals[static_cast<std::size_t>(b)];
  });
  return out;
}

std::vector<PathLine> lines_of(const Record& record, const std::vector<PathStep>& path) {
  std::vector<PathLine> all;
  for (const PathStep& step : path) {
    PathLine one;
    one.kind = step.kind, one.event = step.event;
    one.from = step.from, one.takes = step.to - step.from;
    one.what = name_of(one.kind);
    if (step.event != no_event) {
      const Event e = record.events[step.event];
      if (one.kind != PathKind::memory && e.kind == EventKind::wait) one.what = name_of(e.stall);
      one.where = where(record, e);
      one.line = line_of(record, e);
    }
    if (!all.empty() && same(all.back(), one)) {
      all.back().takes += one.takes;
    } else {
      all.push_back(std::move(one));
    }
  }
  std::vector<PathLine> out;
  for (std::size_t i = 0; i < all.size();) {
    // The pattern that repeats over most lines from here on.
    std::size_t period = 1, times = 1;
    for (std::size_t p = 1; p <= 12 && i + 2 * p <= all.size(); ++p) {
      std::size_t n = 1;
      while (i + (n + 1) * p <= all.size()) {
        bool equal = true;
        for (std::size_t k = 0; k < p && equal; ++k) equal = same(all[i + k], all[i + n * p + k]);
        if (!equal) break;
        ++n;
      }
      if (n > 1 && n * p > times * period) period = p, times = n;
    }
    for (std::size_t k = 0; k < period; ++k) {
      PathLine line = all[i + k];
      line.times = times;
      if (k == 0 && times > 1) line.period = period;
      for (std::size_t n = 1; n < times; ++n) line.takes += all[i + n * period + k].takes;
      line.takes /= times;
      out.push_back(std::move(line));
    }
    i += period * times;
  }
  return out;
}

std::string times_text(const PathLine& line) {
  return line.period == 1
             ? fmt::format("{} times this line, on average:", line.times)
             : fmt::format("{} times these {} lines, on average:", line.times, line.period);
}

std::string path_text(const Record& record, const std::vector<PathStep>& path,
                      std::size_t most_lines) {
  if (path.empty()) return "The record has no events whose causes are known.\n";
  const Cycle all = path.back().to - path.front().from;
  std::string out = fmt::format("The longest chain takes {} {}:\n", all,
                                record.timed ? "cycles" : "instructions");
  const auto totals = totals_of(path);
  for (const PathKind kind : kinds_of(path)) {
    const Cycle total = totals[static_cast<std::size_t>(kind)];
    out +=
        fmt::format("  {:>9}  {:4.1f}%  {}\n", total,
                    100 * static_cast<double>(total) / static_cast<double>(std::max<Cycle>(1, all)),
                    name_of(kind));
  }
  out += "\n      from    takes\n";
  const std::vector<PathLine> lines = lines_of(record, path);
  std::size_t told = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PathLine& t = lines[i];
    const bool begins = t.period > 0 || t.times == 1;
    if (begins && told >= most_lines) {
      out += fmt::format("  ... and {} more\n", lines.size() - i);
      break;
    }
    if (t.period) out += "  " + times_text(t) + "\n";
    out +=
        fmt::format("{} {:>9} {:>8}  {}{}{}\n", t.times > 1 ? "   " : " ", t.from, t.takes, t.what,
                    t.where.empty() ? "" : ", " + t.where, t.line.empty() ? "" : ", " + t.line);
    ++told;
  }
  return out;
}

}  // namespace tilescope::sim
