#include "core/profile/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::sim {
namespace {

constexpr std::uint32_t warp_kinds = bit(EventKind::run) | bit(EventKind::wait);

PathKind kind_of(Unit unit) {
  switch (unit) {
    case Unit::copy_in:
    case Unit::async_copy:
    case Unit::remote:
    case Unit::launch:
      return PathKind::copies_in;
    case Unit::copy_out:
      return PathKind::copies_out;
    case Unit::tensor:
      return PathKind::products;
    case Unit::commit:
      return PathKind::commit;
    default:
      return PathKind::moves;
  }
}

PathKind kind_of(Stall stall) {
  switch (stall) {
    case Stall::shared:
    case Stall::global:
    case Stall::tmem:
      return PathKind::memory;
    default:
      return PathKind::other;
  }
}

class Walk {
 public:
  explicit Walk(const Timeline& timeline) : timeline_(timeline), record_(timeline.record()) {}

  std::vector<PathStep> back() {
    EventId at = last_event();
    // Each turn goes back in time, or from an event to what caused it: far fewer than these.
    std::size_t turns = 4 * record_.events.size() + 16;
    while (at != no_event && turns-- > 0) at = step(at);
    if (now_ > 0) add(PathKind::start, 0, first_);
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  Event event(EventId id) const { return record_.events[id]; }
  Cycle end_of(const Event& e) const {
    return e.end == never_ends ? timeline_.end() : std::max(e.begin, e.end);
  }

  // Of all blocks that are kept.
  EventId last_event() {
    EventId last = no_event;
    for (EventId id = 0; id < record_.events.size(); ++id) {
      const Event e = event(id);
      const bool counts =
          e.kind == EventKind::run || e.kind == EventKind::wait || e.kind == EventKind::operation;
      if (!counts || e.end == never_ends) continue;
      if (last == no_event || e.end >= event(last).end) last = id;
    }
    if (last != no_event) now_ = event(last).end;
    return last;
  }

  // [from, now) was spent on this.
  void add(PathKind kind, Cycle from, EventId of) {
    from = std::min(from, now_);
    if (from < now_) path_.push_back({kind, from, now_, of});
    now_ = from;
    first_ = of;
  }

  // What took the time before now, and what came before that.
  EventId step(EventId id) {
    const Event e = event(id);
    switch (e.kind) {
      case EventKind::run:
        add(PathKind::runs, e.begin, id);
        return before_on(e.track, e.begin);
      case EventKind::wait:
        return through_wait(id, e);
      case EventKind::phase:
        add(PathKind::wakes, end_of(e), id);
        return e.cause;
      case EventKind::arrival:
        add(PathKind::wakes, e.begin, id);
        return e.cause;
      case EventKind::operation:
        return through_operation(id, e);
      default:
        return no_event;
    }
  }

  // The event of a warp's track that ends there or goes on then.
  EventId before_on(TrackId track, Cycle at) const {
    EventFilter filter;
    filter.track = track;
    filter.kinds = warp_kinds;
    return timeline_.previous(filter, at);
  }

  EventId through_wait(EventId id, const Event& e) {
    if (e.cause != no_event) {
      const Event cause = event(e.cause);
      const Cycle ended = cause.kind == EventKind::run ? e.begin : end_of(cause);
      // It was there before the warp asked: what the warp did before decides.
      if (ended > e.begin && ended <= now_ && cause.kind != EventKind::run) {
        add(PathKind::wakes, ended, e.cause);
        return e.cause;
      }
      if (cause.kind == EventKind::run && event_is_other(cause, e) && end_of(cause) > e.begin) {
        const Cycle from = std::min(end_of(cause), now_);
        add(PathKind::wakes, from, e.cause);
        return e.cause;
      }
    }
    add(kind_of(e.stall), e.begin, id);
    return before_on(e.track, e.begin);
  }
  bool event_is_other(const Event& a, const Event& b) const { return a.track != b.track; }

  EventId through_operation(EventId id, const Event& e) {
    if (end_of(e) < now_) add(PathKind::wakes, end_of(e), id);
    add(kind_of(record_.tracks[e.track].unit), e.begin, id);
    if (record_.tracks[e.track].unit == Unit::commit && e.cause != no_event &&
        event(e.cause).kind == EventKind::operation) {
      return e.cause;  // the last product that it waited for
    }
    // What its unit did until then.
    if (e.begin > e.issue) {
      EventFilter filter;
      filter.track = e.track;
      filter.kinds = bit(EventKind::operation);
      EventId before = timeline_.previous(filter, e.begin);
      for (int looked = 0; before != no_event && looked < 8; ++looked) {
        const Event other = event(before);
        if (before != id && end_of(other) > e.issue && end_of(other) <= e.begin) {
          add(PathKind::queued, end_of(other), id);
          return before;
        }
        before = timeline_.previous(filter, other.begin);
      }
      add(PathKind::queued, e.issue, id);
    }
    return e.cause;
  }

  const Timeline& timeline_;
  const Record& record_;
  std::vector<PathStep> path_;
  Cycle now_ = 0;
  EventId first_ = no_event;
};

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
  return Walk(timeline).back();
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
