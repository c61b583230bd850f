#include "viz/timeline/timeline_words.h"

#include "viz/timeline/timeline_idle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/record/text.h"
#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"
#include "viz/scene/time_words.h"
#include "viz/timeline/timeline_search.h"

namespace tilescope {
namespace {

using sim::Cycle;
using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Stall;
using sim::Unit;

std::string whole(double cycles) {
  return grouped(static_cast<std::uint64_t>(std::llround(std::max(0.0, cycles))));
}

// "1,079 (549 ns)": a time since the launch.
std::string time_text(const TimelineView& view, double cycles) {
  const std::string seconds = seconds_text(view, cycles);
  return seconds.empty() ? whole(cycles) : fmt::format("{} ({})", whole(cycles), seconds);
}

sim::TextChoice names_of(const TimelineView& view) {
  sim::TextChoice out;
  out.barriers = view.barriers();
  return out;
}

std::string source_text(const sim::Record& record, std::uint32_t file, std::uint32_t line) {
  if (line == 0 || file >= record.sources.size()) return "";
  return fmt::format("{}:{}", record.sources[file], line);
}

void add_times(const TimelineView& view, const Event& event, Lines& out) {
  const double begin = static_cast<double>(event.begin), end = view.end_of(event);
  const std::string unit = view.known_time() ? "cycle" : "instruction";
  if (event.kind == EventKind::arrival || event.kind == EventKind::report) {
    out.emplace_back(fmt::format("at {}", unit), time_text(view, begin));
    return;
  }
  if (event.kind == EventKind::operation && event.issue < event.begin) {
    const double issue = static_cast<double>(event.issue);
    out.emplace_back(fmt::format("issued at {}", unit), time_text(view, issue));
    out.emplace_back("before it began", time_text(view, begin - issue));
  }
  out.emplace_back(fmt::format("began at {}", unit), time_text(view, begin));
  if (event.end == sim::never_ends) {
    out.emplace_back("ended", "not when the record stops");
  } else {
    out.emplace_back(fmt::format("ended at {}", unit), time_text(view, end));
  }
  out.emplace_back("took", cycles_text(view, end - begin) +
                               (view.known_time() ? ", " + seconds_text(view, end - begin) : ""));
}

void add_barrier(const TimelineView& view, const Event& event, Unit unit, Lines& out) {
  out.emplace_back("barrier", name_of_barrier(view, unit, event.object));
  out.emplace_back("phase", fmt::format("{} (parity {})", event.phase, event.phase % 2));
}

// A run's cycles, divided: its short stalls, which are no events of their own.
void add_stalls(const TimelineView& view, const Event& run, Lines& out) {
  if (!view.known_time() || run.object == 0) return;
  const double all =
      static_cast<double>(run.end == sim::never_ends ? static_cast<Cycle>(view.end()) : run.end) -
      static_cast<double>(run.begin);
  out.emplace_back("of it stalled", fmt::format("{}, each stall under {}",
                                                cycles_text(view, run.object), sim::least_wait));
  out.emplace_back("most of it for", fmt::format("{} {}, {}", sim::letter_of(run.stall),
                                                 sim::text(sim::WaitKey{run.stall, Unit::count_}),
                                                 cycles_text(view, run.phase)));
  out.emplace_back("of it issuing",
                   cycles_text(view, std::max(0.0, all - static_cast<double>(run.object))));
}

void add_amount(const Event& event, Unit unit, Lines& out) {
  if (event.amount == 0) return;
  if (event.bytes) {
    out.emplace_back("bytes", grouped(event.amount));
  } else if (event.kind == EventKind::run) {
    out.emplace_back("instructions", grouped(event.amount));
  } else if (event.kind == EventKind::arrival) {
    out.emplace_back(unit == Unit::async_copy ? "groups waited for" : "arrivals",
                     grouped(event.amount));
  } else if (event.kind == EventKind::folded) {
    out.emplace_back("events", grouped(event.amount));
  } else if (event.kind == EventKind::operation && unit == Unit::tensor) {
    out.emplace_back("multiply-adds", grouped(event.amount));
  }
}

std::string percent(double share) {
  return fmt::format("{:.1f}%", 100 * share);
}

// Shares of tracks that are alike, on average.
void add_shares(const TimelineView& view, const std::vector<sim::TrackId>& tracks, CycleRange range,
                std::string_view busy, std::vector<std::string>& out) {
  sim::Totals sum;
  const auto from = static_cast<Cycle>(std::llround(std::max(0.0, range.from)));
  const auto to = static_cast<Cycle>(std::llround(std::max(0.0, range.to)));
  for (const sim::TrackId track : tracks) {
    const sim::Totals each = view.timeline().totals(track, from, to);
    sum.busy += each.busy + each.folded_busy;
    for (std::size_t i = 0; i < each.stalled.size(); ++i) sum.stalled[i] += each.stalled[i];
    sum.folded_stalled += each.folded_stalled;
  }
  const double all = static_cast<double>(tracks.size()) * static_cast<double>(to - from);
  if (!(all > 0)) return;
  out.push_back(fmt::format("{} {}", busy, percent(static_cast<double>(sum.busy) / all)));
  std::vector<std::pair<Cycle, Stall>> stalls;
  for (std::size_t i = 1; i < sum.stalled.size(); ++i) {
    if (sum.stalled[i] > 0) stalls.emplace_back(sum.stalled[i], static_cast<Stall>(i));
  }
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [cycles, stall] : stalls) {
    const Unit by = stall == Stall::mbarrier && tracks.size() == 1 ? view.usual_of(tracks.front())
                                                                   : Unit::count_;
    out.push_back(fmt::format("{} {} {}", sim::letter_of(stall), sim::text(sim::WaitKey{stall, by}),
                              percent(static_cast<double>(cycles) / all)));
  }
  if (sum.folded_stalled > 0) {
    out.push_back(
        fmt::format("aggregated waits {}", percent(static_cast<double>(sum.folded_stalled) / all)));
  }
}

}  // namespace

std::string name_of_barrier(const TimelineView& view, Unit unit, std::uint32_t object) {
  if (unit == Unit::mbarrier && view.barriers().count(object)) {
    return barrier_text(view.barriers(), object);
  }
  if (unit == Unit::mbarrier) return fmt::format("mbarrier at byte {} of shared memory", object);
  return unit == Unit::cluster ? "the cluster's" : fmt::format("barrier {}", object);
}

Lines place_lines(const TimelineView& view, std::uint32_t pc) {
  Lines out;
  const sim::Record& record = view.record();
  if (pc >= record.lines.size()) return out;
  const sim::RecordedLine& line = record.lines[pc];
  out.emplace_back("instruction", sim::text(line));
  const std::string inner = source_text(record, line.file, line.line);
  const std::string outer = source_text(record, line.caller_file, line.caller_line);
  if (!outer.empty() && outer != inner) {
    out.emplace_back("source", outer);
    out.emplace_back("inlined from", inner);
  } else if (!inner.empty()) {
    out.emplace_back("source", inner);
  }
  out.emplace_back("PTX line", fmt::format("{}", line.ptx_line));
  return out;
}

std::string row_name(const TimelineView& view, sim::TrackId id) {
  const sim::Track& track = view.record().tracks[id];
  const std::string name = view.title_of({false, id});
  if (track.unit != Unit::warp) return name;
  for (const sim::Role& role : view.roles()) {
    if (view.roles().size() > 1 && std::count(role.warps.begin(), role.warps.end(), track.index)) {
      return fmt::format("{} ({})", name, role.name);
    }
  }
  return name;
}

std::string totals_line(const TimelineView& view) {
  const sim::Record& record = view.record();
  std::string line = cycles_text(view, view.end());
  if (const std::string time = text(view.statistics().time()); !time.empty()) line += ": " + time;
  if (!record.device.name.empty() && view.known_time()) line += ", on " + record.device.name;
  return line + fmt::format("; {} events", grouped(record.events.size()));
}

std::string cycles_text(const TimelineView& view, double cycles) {
  const std::string number = whole(cycles);
  return fmt::format("{} {}{}", number, view.known_time() ? "cycle" : "instruction",
                     number == "1" ? "" : "s");
}

std::string seconds_text(const TimelineView& view, double cycles) {
  return view.known_time() ? seconds_text(cycles, view.clock()) : "";
}

Outcome<double> cycles_in(const TimelineView& view, std::string_view text) {
  const std::string_view asked = text;
  double value = 0, place = 0;
  std::size_t digits = 0, n = 0;
  for (; n < text.size(); ++n) {
    const char c = text[n];
    if (c >= '0' && c <= '9') {
      ++digits;
      value = place > 0 ? value + place * (c - '0') : value * 10 + (c - '0');
      place /= 10;
    } else if (c == '.' && place == 0 && digits > 0) {
      place = 0.1;
    } else if (c != ',') {
      break;
    }
  }
  text.remove_prefix(n);
  double factor = 0;
  if (text.empty() || text == "cycles") factor = 1;
  if (text == "ns") factor = view.clock();
  if (text == "us") factor = view.clock() * 1e3;
  if (text == "ms") factor = view.clock() * 1e6;
  if (digits == 0 || (factor == 0 && text != "ns" && text != "us" && text != "ms")) {
    return Error{
        ErrorKind::usage,
        fmt::format("`{}` is no time: say cycles, `1200`, or `300ns`, `1.2us`, `0.1ms`.", asked),
        ""};
  }
  if (factor == 0) {
    return Error{ErrorKind::mismatch,
                 fmt::format("`{}`: this run has no clock, since its schedule was randomised; its "
                             "unit is instructions, `1200`.",
                             asked),
                 ""};
  }
  return value * factor;
}

Lines inspect(const TimelineView& view, EventId id) {
  Lines out;
  const sim::Record& record = view.record();
  if (id >= record.events.size()) return out;
  const Event event = record.events[id];
  const Unit unit = record.tracks[event.track].unit;
  out.emplace_back("event", fmt::format("{}, {}", id, sim::name_of(event.kind)));
  out.emplace_back("row", row_name(view, event.track));
  out.emplace_back("what", sim::description(record, event, names_of(view)));
  add_times(view, event, out);
  add_amount(event, unit, out);
  if (event.kind == EventKind::operation && event.begin > 0) {
    const auto idle = idle_at(view, event.track, static_cast<double>(event.begin) - 1);
    if (idle && idle->next == id) {
      out.emplace_back("idle before", cycles_text(view, idle->to - idle->from));
    }
  }
  switch (event.kind) {
    case EventKind::wait:
      out.emplace_back("waits for", sim::text(sim::WaitKey{event.stall, view.doing(event).unit}));
      if (event.stall == Stall::mbarrier) add_barrier(view, event, Unit::mbarrier, out);
      if (event.stall == Stall::barrier) add_barrier(view, event, Unit::barrier, out);
      break;
    case EventKind::operation:
      if (event.object) add_barrier(view, event, Unit::mbarrier, out);
      break;
    case EventKind::phase:
    case EventKind::arrival:
      if (unit != Unit::async_copy) add_barrier(view, event, unit, out);
      break;
    case EventKind::report:
      if (event.object < record.reports.size()) {
        const Report& report = record.reports[event.object];
        if (!report.expected.empty()) out.emplace_back("expected", report.expected);
        if (!report.found.empty()) out.emplace_back("found", report.found);
        out.emplace_back("site", text(report.site));
        if (report.count > 1) out.emplace_back("times there", grouped(report.count));
      }
      break;
    case EventKind::folded:
      out.emplace_back("ran or worked", cycles_text(view, event.until));
      out.emplace_back("waited", cycles_text(view, event.pc));
      if (event.stall != Stall::none) {
        out.emplace_back("most of it for", sim::text(sim::WaitKey{event.stall, Unit::count_}));
      }
      return out;
    case EventKind::run:
      add_stalls(view, event, out);
      break;
  }
  const bool has_pc = event.kind == EventKind::run || event.kind == EventKind::wait ||
                      event.kind == EventKind::operation;
  if (has_pc) {
    for (auto& line : place_lines(view, event.pc)) out.push_back(std::move(line));
  }
  if (event.kind == EventKind::run && event.until < record.lines.size()) {
    out.emplace_back("up to", sim::text(record.lines[event.until]));
  }
  for (const EventId cause : causes_of(view, id, 3)) {
    out.emplace_back("because", sentence_of(view, cause));
  }
  return out;
}

Lines inspect(const TimelineView& view, const sim::Span& span, TimelinePlace place) {
  Lines out;
  out.emplace_back("row", view.title_of(place));
  out.emplace_back("events",
                   fmt::format("{}, too short to draw one by one: zoom in", grouped(span.count)));
  const double begin = static_cast<double>(span.begin), end = static_cast<double>(span.end);
  out.emplace_back("from", time_text(view, begin));
  out.emplace_back("to", time_text(view, end));
  out.emplace_back("of this", shares_of(view, place, {begin, std::max(end, begin + 1)}));
  return out;
}

std::string sentence_of(const TimelineView& view, EventId id) {
  if (id >= view.record().events.size()) return "";
  const Event event = view.record().events[id];
  return fmt::format("{}: {}", row_name(view, event.track),
                     sim::description(view.record(), event, names_of(view)));
}

namespace {

// A warp that runs does so since its wait is over: the one that ended as the run began.
EventId wait_before(const TimelineView& view, const Event& run) {
  sim::EventFilter filter;
  filter.kinds = sim::bit(EventKind::wait);
  filter.track = run.track;
  const EventId wait = view.timeline().previous(filter, run.begin);
  if (wait == sim::no_event) return wait;
  const Cycle end = view.record().events[wait].end;
  return end <= run.begin && run.begin - end <= 1 ? wait : sim::no_event;
}

}  // namespace

std::vector<EventId> causes_of(const TimelineView& view, EventId id, std::size_t most) {
  std::vector<EventId> out;
  const sim::EventList& events = view.record().events;
  while (id < events.size() && out.size() < most) {
    const Event event = events[id];
    EventId cause = event.cause;
    if (cause >= events.size() && event.kind == EventKind::run) cause = wait_before(view, event);
    // A record from a file may lead round in a circle.
    if (cause >= events.size() || std::count(out.begin(), out.end(), cause)) break;
    out.push_back(cause);
    id = cause;
  }
  return out;
}

std::vector<EventId> effects_of(const TimelineView& view, EventId id, std::size_t most) {
  std::vector<EventId> out;
  if (id >= view.record().events.size()) return out;
  const Event event = view.record().events[id];
  const Cycle end = static_cast<Cycle>(view.end_of(event));
  const sim::Arrows arrows =
      view.timeline().arrows({event.track}, event.begin, std::max(end, event.begin) + 1, 4 * most);
  for (const sim::Arrow& arrow : arrows.arrows) {
    if (arrow.cause == id && out.size() < most) out.push_back(arrow.effect);
  }
  return out;
}

std::vector<TimelineLink> links_of(const TimelineView& view, EventId id, std::string_view whose) {
  std::vector<TimelineLink> out;
  const auto add = [&](std::string label, EventId to) {
    out.push_back(
        {std::move(label), sentence_of(view, to), fmt::format("pick event {}{}", whose, to)});
  };
  bool first = true;
  for (const EventId cause : causes_of(view, id)) {
    add(first ? "because of" : "and that of", cause);
    first = false;
  }
  for (const EventId effect : effects_of(view, id)) add("caused", effect);
  const Event& event = view.record().events[id];
  if (event.kind == EventKind::report && whose.empty()) {
    out.push_back(
        {"go there", "with the view that explains it", fmt::format("go report {}", event.object)});
  }
  return out;
}

std::string shares_of(const TimelineView& view, TimelinePlace place, CycleRange range) {
  std::vector<sim::TrackId> warps;
  std::vector<std::pair<Unit, std::vector<sim::TrackId>>> units;
  for (const sim::TrackId track : view.tracks_of(place)) {
    const Unit unit = view.record().tracks[track].unit;
    if (unit == Unit::warp) {
      warps.push_back(track);
      continue;
    }
    if (unit == Unit::barrier || unit == Unit::mbarrier || unit == Unit::cluster) continue;
    auto at = std::find_if(units.begin(), units.end(),
                           [&](const auto& each) { return each.first == unit; });
    if (at == units.end()) at = units.insert(units.end(), {unit, {}});
    at->second.push_back(track);
  }
  std::vector<std::string> out;
  if (!warps.empty()) add_shares(view, warps, range, "runs", out);
  for (const auto& [unit, tracks] : units) {
    add_shares(view, tracks, range, place.group ? sim::name_of(unit) : "works", out);
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

Lines totals_of(const TimelineView& view, const TimelineChoice& choice) {
  constexpr std::size_t most = 48;
  const CycleRange range = choice.totals.value_or(CycleRange{0, view.end()});
  Lines out;
  out.emplace_back("from", time_text(view, range.from));
  out.emplace_back("to", time_text(view, range.to));
  out.emplace_back("length", time_text(view, range.length()));
  for (const TimelineRow& row : view.rows(choice)) {
    if (out.size() >= most) break;
    if (row.place.group && row.open) continue;
    const std::string shares = shares_of(view, row.place, range);
    if (!shares.empty()) out.emplace_back(view.title_of(row.place), shares);
  }
  return out;
}

Json describe(const TimelineView& view, const TimelineChoice& choice, const TimelineFrame& frame,
              const Scene& scene) {
  const auto object = [](const Lines& lines) {
    Json out = Json::object();
    for (const auto& [name, value] : lines) {
      if (out.contains(name)) {  // several causes
        out[name] = out[name].get<std::string>() + "; " + value;
      } else {
        out[name] = value;
      }
    }
    return out;
  };
  const auto event = [&](EventId id) -> Json {
    if (id >= view.record().events.size()) return nullptr;
    return object(inspect(view, id));
  };
  Json out;
  out["view"] = "timeline";
  out["title"] = view.title();
  out["unit"] = view.known_time() ? "cycles" : "instructions";
  out["end"] = static_cast<std::uint64_t>(view.end());
  out["events"] = view.record().events.size();
  out["from"] = frame.viewport.range.from;
  out["to"] = frame.viewport.range.to;
  if (choice.moment) out["moment"] = *choice.moment;
  Json rows = Json::array();
  for (const TimelineFrame::Place& row : frame.rows) {
    Json each;
    each["name"] = view.name_of(row.row.place);
    each["label"] = view.label_of(row.row.place);
    if (const std::string detail = view.detail_of(row.row.place); !detail.empty()) {
      each["detail"] = detail;
    }
    if (row.row.place.group) each["open"] = row.row.open;
    if (row.pinned) each["pinned"] = true;
    const std::string shares = shares_of(view, row.row.place, frame.viewport.range);
    if (!shares.empty()) each["shares"] = shares;
    rows.push_back(std::move(each));
  }
  out["rows"] = std::move(rows);
  out["hover"] = event(choice.hovered);
  out["selected"] = event(choice.selected);
  if (choice.totals) out["totals"] = object(totals_of(view, choice));
  out["arrows"] = choice.arrows;
  if (!choice.search.empty()) {
    out["search"] = choice.search;
    if (const auto filter = search_of(view, choice.search)) {
      out["hits in view"] = hits_in(view, *filter, frame.viewport.range);
    }
  }
  out["picture"] = describe(scene);
  return out;
}

}  // namespace tilescope
