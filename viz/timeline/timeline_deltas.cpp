#include "viz/timeline/timeline_deltas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "viz/scene/number_words.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Cycle;
using sim::Stall;
using sim::Unit;

std::string whole(double value) {
  return grouped(static_cast<std::uint64_t>(std::llround(std::max(0.0, value))));
}

const Figure* named(const std::vector<Figure>& all, const std::string& name) {
  for (const Figure& each : all) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::string unit_of(const TimelineView& view) {
  return view.known_time() ? "cycles" : "instructions";
}

// Cycles of tracks in a range, by what they were spent on.
struct Spent {
  double runs = 0;
  std::array<double, static_cast<std::size_t>(Stall::count_)> stalled{};
  double folded = 0;  // of waits that the record has folded
  double waits() const {
    double sum = folded;
    for (const double each : stalled) sum += each;
    return sum;
  }
  void add(const sim::Totals& totals) {
    runs += static_cast<double>(totals.busy + totals.folded_busy);
    for (std::size_t i = 0; i < stalled.size(); ++i) {
      stalled[i] += static_cast<double>(totals.stalled[i]);
    }
    folded += static_cast<double>(totals.folded_stalled);
  }
};

struct Added {
  Spent warps;
  std::map<Unit, double> units;  // that worked
  bool has_warps = false;
};

Added added(const TimelineView& view, const std::vector<sim::TrackId>& tracks, CycleRange range) {
  Added out;
  const auto from = static_cast<Cycle>(std::llround(std::max(0.0, range.from)));
  const auto to = static_cast<Cycle>(std::llround(std::max(0.0, range.to)));
  for (const sim::TrackId track : tracks) {
    const Unit unit = view.record().tracks[track].unit;
    if (unit == Unit::barrier || unit == Unit::mbarrier || unit == Unit::cluster) continue;
    const sim::Totals totals = view.timeline().totals(track, from, to);
    if (unit == Unit::warp) {
      out.warps.add(totals);
      out.has_warps = true;
    } else {
      out.units[unit] += static_cast<double>(totals.busy + totals.folded_busy);
    }
  }
  return out;
}

std::string lower_first(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z' && (text.size() < 2 || text[1] > 'Z')) {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

std::string name_of_wait(Stall stall) {
  return "wait for " + sim::text(sim::WaitKey{stall, Unit::count_});
}

// The causes of waits, the longest first.
void add_waits(const Spent& spent, const std::string& unit, std::vector<Figure>& out) {
  std::vector<Figure> waits;
  for (std::size_t i = 1; i < spent.stalled.size(); ++i) {
    if (!(spent.stalled[i] > 0)) continue;
    waits.push_back({name_of_wait(static_cast<Stall>(i)), spent.stalled[i], unit});
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Figure& a, const Figure& b) { return a.value > b.value; });
  out.insert(out.end(), waits.begin(), waits.end());
}

}  // namespace

std::string delta_text(const Figure& now, double before, const std::string& than) {
  const double change = std::round(now.value) - std::round(before);
  const std::string end =
      than.empty() ? "" : fmt::format(" {} {}", change == 0 ? "as" : "than", than);
  if (change == 0) return "as many" + end;
  return fmt::format("{} {}{}", whole(std::abs(change)), change > 0 ? "more" : "fewer", end);
}

std::string text(const Figure& now, const std::vector<Figure>* before, const std::string& than) {
  std::string out = whole(now.value);
  if (!now.unit.empty()) out += " " + now.unit;
  if (!before) return out;
  const Figure* same = named(*before, now.name);
  return fmt::format("{}, {}", out, delta_text(now, same ? same->value : 0, than));
}

double run_end(const TimelineView& view) {
  return view.record().end ? static_cast<double>(view.record().end) : view.end();
}

std::vector<Figure> figures_of(const TimelineView& view) {
  const sim::Statistics& s = view.statistics();
  const std::string cycles = unit_of(view);
  // One that faulted took no time to its end.
  const auto& reports = view.record().reports;
  const bool faulted = !reports.empty() && reports.back().weight == Weight::fault;
  std::vector<Figure> out{{faulted ? "stopped at" : "took", run_end(view), cycles}};
  if (const sim::PipeUse* tensor = sim::find(s, sim::Pipe::tensor)) {
    const auto which = static_cast<std::size_t>(sim::Pipe::tensor);
    out.push_back(
        {"all tensor cores busy", tensor->cycles * view.record().pipes[which].copies, cycles});
  }
  const auto moved = [&](std::string name, const sim::Traffic& traffic) {
    if (traffic.bytes > 0) {
      out.push_back({std::move(name), static_cast<double>(traffic.bytes), "bytes"});
    }
  };
  moved("shared memory", s.shared);
  moved("L2", s.l2);
  moved("global memory", s.memory);
  moved("TMEM", s.tensor);
  Spent spent;
  for (std::size_t i = 1; i < spent.stalled.size(); ++i) {
    spent.stalled[i] = static_cast<double>(s.sum.stalled[i]);
  }
  if (spent.waits() > 0) out.push_back({"all warps wait", spent.waits(), cycles});
  add_waits(spent, cycles, out);
  return out;
}

std::vector<Figure> figures_of(const TimelineView& view, CycleRange range) {
  const std::string cycles = unit_of(view);
  const Added all = added(view, view.tracks(), range);
  std::vector<Figure> out{{"all warps run", all.warps.runs, cycles},
                          {"all warps wait", all.warps.waits(), cycles}};
  add_waits(all.warps, cycles, out);
  for (const auto& [unit, worked] : all.units) {
    out.push_back(
        {fmt::format("{} at work", lower_first(std::string(sim::name_of(unit)))), worked, cycles});
  }
  return out;
}

std::vector<Figure> figures_of(const TimelineView& view, TimelinePlace place, CycleRange range) {
  const Added all = added(view, view.tracks_of(place), range);
  std::vector<Figure> out;
  if (all.has_warps) {
    out.push_back({"runs", all.warps.runs, unit_of(view)});
    out.push_back({"waits", all.warps.waits(), unit_of(view)});
  }
  for (const auto& [unit, worked] : all.units) {
    const std::string name = place.group ? std::string(sim::name_of(unit)) : "works";
    out.push_back({name, worked, unit_of(view)});
  }
  return out;
}

namespace {

// ", 1,200 of them in runs": of a cause the cycles that have no box of their own.
std::string in_runs(const TimelineView& view, const Figure& figure) {
  for (std::size_t i = 1; i < static_cast<std::size_t>(Stall::count_); ++i) {
    const auto stall = static_cast<Stall>(i);
    if (figure.name != name_of_wait(stall)) continue;
    const double in_boxes = view.waited(stall).value_or(figure.value);
    // Each stall is counted in whole cycles.
    const double inside = figure.value - in_boxes;
    if (!view.known_time() || inside < std::max(1.0, figure.value / 1000)) return "";
    return in_boxes == 0 ? ", all in runs" : fmt::format(", {} of them in runs", whole(inside));
  }
  return "";
}

}  // namespace

Lines figure_lines(const TimelineView& view, const ComparedWith* baseline) {
  Lines out;
  std::vector<Figure> before;
  // Cycles and instructions are not to be subtracted; bytes are bytes.
  const bool same_unit = baseline && baseline->view->known_time() == view.known_time();
  if (baseline) before = figures_of(*baseline->view);
  for (Figure each : figures_of(view)) {
    const bool compared = baseline && (same_unit || each.unit == "bytes");
    // Seconds are this run's: they stand before what is said of the baseline.
    const sim::RunTime time = view.statistics().time();
    const bool took = each.name == "took";
    const std::string seconds =
        time.seconds > 0 ? sim::time_text(time.without_launch()) : seconds_text(view, each.value);
    if (took && !seconds.empty()) each.unit += fmt::format(" ({})", seconds);
    const std::string said =
        text(each, compared ? &before : nullptr, baseline ? baseline->name : "");
    out.emplace_back(each.name, said + in_runs(view, each));
    if (took && time.seconds > 0) {
      out.emplace_back("with its launch", sim::time_text(time.seconds));
    }
  }
  return out;
}

Lines totals_beside(const TimelineView& view, const TimelineChoice& choice,
                    const ComparedWith& baseline) {
  constexpr std::size_t most = 48, most_rows = 200;
  const CycleRange range = choice.totals.value_or(CycleRange{0, view.end()});
  const std::vector<Figure> before = figures_of(*baseline.view, range);
  Lines out;
  out.emplace_back("from", cycles_text(view, range.from));
  out.emplace_back("to", cycles_text(view, range.to));
  out.emplace_back("length", cycles_text(view, range.length()));
  for (const Figure& each : figures_of(view, range)) {
    out.emplace_back(each.name, text(each, &before, baseline.name));
  }
  std::map<std::string, TimelinePlace> there;
  for (const TimelineRow& row : baseline.view->rows(baseline.choice)) {
    if (there.size() >= most_rows) break;
    if (!(row.place.group && row.open)) there[baseline.view->name_of(row.place)] = row.place;
  }
  for (const TimelineRow& row : view.rows(choice)) {
    if (out.size() >= most) break;
    if (row.place.group && row.open) continue;
    const std::string name = view.name_of(row.place);
    const auto same = there.find(name);
    std::vector<Figure> of_it;
    if (same != there.end()) of_it = figures_of(*baseline.view, same->second, range);
    std::string said;
    for (const Figure& each : figures_of(view, row.place, range)) {
      said += fmt::format("{}{} {}", said.empty() ? "" : "; ", each.name,
                          text(each, same == there.end() ? nullptr : &of_it));
    }
    if (!said.empty()) out.emplace_back(view.title_of(row.place), std::move(said));
  }
  return out;
}

}  // namespace tilescope
