#include "core/io/trace_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/profile/statistics.h"
#include "core/record/issuer.h"

namespace tilescope {
namespace {

using sim::Cycle;
using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Track;
using sim::TrackId;
using sim::Unit;

// Rows stand in this order: who issues, then what is issued, then what they meet at.
int rank_of(Unit unit) {
  switch (unit) {
    case Unit::warp:
      return 0;
    case Unit::mbarrier:
      return 20;
    case Unit::barrier:
      return 21;
    case Unit::cluster:
      return 22;
    default:
      return 1 + static_cast<int>(unit);
  }
}

std::string block_text(const Launch& launch, std::uint64_t block) {
  const Dim3 g = launch.grid;
  if (g.x == 0 || g.y == 0) return fmt::format("CTA {}", block);
  return fmt::format("CTA ({},{},{})", block % g.x, block / g.x % g.y, block / g.x / g.y);
}

// The events of one row, before those that overlap get rows of their own.
struct Row {
  std::uint32_t process = 0;
  int rank = 0;
  std::uint32_t index = 0, object = 0;
  Unit unit = Unit::warp;
  bool operator<(const Row& o) const {
    return std::tie(process, rank, index, object) < std::tie(o.process, o.rank, o.index, o.object);
  }
};

class Planner {
 public:
  explicit Planner(const sim::Record& record) : record_(record) {}

  TracePlan plan() {
    plan_.last = record_.end;
    for (const Event& e : record_.events) {
      plan_.last = std::max(plan_.last, e.end == sim::never_ends ? e.begin : e.end);
    }
    name_roles();
    number_processes();
    place_on_threads();
    draw_flows();
    count();
    std::stable_sort(plan_.items.begin(), plan_.items.end(),
                     [](const TraceItem& a, const TraceItem& b) {
                       return std::tie(a.at, a.kind, a.ends) < std::tie(b.at, b.kind, b.ends);
                     });
    return std::move(plan_);
  }

 private:
  const Track* track_of(const Event& e) const {
    return e.track < record_.tracks.size() ? &record_.tracks[e.track] : nullptr;
  }
  Cycle end_of(const Event& e) const { return end_in_trace(e, plan_.last); }
  std::uint64_t ns(Cycle cycle) const { return nanoseconds(record_, cycle); }

  void name_roles() {
    sim::Statistics statistics;
    look_at_events(record_, statistics);
    for (const sim::Role& role : statistics.roles) {
      for (const std::uint32_t warp : role.warps) roles_[warp] = role.name;
    }
    if (statistics.roles.size() < 2) roles_.clear();
  }

  void number_processes() {
    plan_.processes.push_back(
        fmt::format("{}{}{}", record_.kernel, record_.what.empty() ? "" : ", ", record_.what));
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> numbers;
    for (const Track& t : record_.tracks) {
      numbers[{t.block, t.block == sim::many_blocks ? t.processor : 0}];
    }
    for (auto& [key, number] : numbers) {
      number = static_cast<std::uint32_t>(plan_.processes.size());
      plan_.processes.push_back({});
    }
    process_of_.reserve(record_.tracks.size());
    for (const Track& t : record_.tracks) {
      const bool many = t.block == sim::many_blocks;
      const std::uint32_t process = numbers[{t.block, many ? t.processor : 0}];
      process_of_.push_back(process);
      plan_.processes[process] =
          many ? fmt::format("other CTAs of SM {}", t.processor)
               : fmt::format("{}, SM {}", block_text(record_.launch, t.block), t.processor);
    }
  }

  // "full[0] (0x18000)", "mbarrier 0x18000"
  std::string barrier_row(std::uint32_t byte) const {
    const auto name = record_.barriers.find(byte);
    return name == record_.barriers.end() ? fmt::format("mbarrier {:#x}", byte)
                                          : fmt::format("{} ({:#x})", name->second, byte);
  }

  std::string name_of_row(const Row& row) const {
    switch (row.unit) {
      case Unit::warp: {
        const auto role = roles_.find(row.index);
        return role == roles_.end() ? fmt::format("warp {}", row.index)
                                    : fmt::format("warp {}: {}", row.index, role->second);
      }
      case Unit::mbarrier:
        return barrier_row(row.index);
      case Unit::barrier:
        return fmt::format("barrier {}", row.index);
      case Unit::copy_in:
        return fmt::format("{}, {}", sim::name_of(row.unit), barrier_row(row.object));
      default:
        return std::string(sim::name_of(row.unit));
    }
  }

  // Each event goes to the first thread of its row that is free when it begins.
  void place_on_threads() {
    std::map<Row, std::vector<EventId>> rows;
    EventId id = 0;
    for (const Event& e : record_.events) {
      const EventId event = id++;
      const Track* t = track_of(e);
      if (!t) continue;
      Row row{process_of_[e.track], rank_of(t->unit), t->index, 0, t->unit};
      if (t->unit == Unit::copy_in && e.kind == EventKind::operation) row.object = e.object;
      rows[row].push_back(event);
    }
    plan_.thread_of.assign(record_.events.size(), 0);
    for (auto& of : rows) {  // no structured binding: lambdas cannot capture one in clang 14
      const Row& row = of.first;
      std::vector<EventId>& events = of.second;
      std::stable_sort(events.begin(), events.end(), [&](EventId a, EventId b) {
        const Event x = record_.events[a], y = record_.events[b];
        return std::pair(x.begin, end_of(x)) < std::pair(y.begin, end_of(y));
      });
      const auto first = static_cast<std::uint32_t>(plan_.threads.size());
      std::vector<std::uint64_t> free;  // from when on each of the row's threads is
      const auto thread = [&](std::size_t lane) {
        if (lane == free.size()) {
          const std::string name = name_of_row(row);
          plan_.threads.push_back(
              {row.process, lane == 0 ? name : fmt::format("{} ({})", name, lane + 1)});
          free.push_back(0);
        }
        return first + static_cast<std::uint32_t>(lane);
      };
      for (const EventId event : events) {
        const Event e = record_.events[event];
        if (!is_slice(e)) {
          plan_.thread_of[event] = thread(0);
          plan_.items.push_back({e.begin, TraceKind::instant, false, event});
          continue;
        }
        const std::uint64_t begin = ns(e.begin);
        std::size_t lane = 0;
        while (lane < free.size() && free[lane] > begin) ++lane;
        plan_.thread_of[event] = thread(lane);
        free[lane] = ns(end_of(e));
        plan_.items.push_back({e.begin, TraceKind::slice, false, event});
      }
    }
  }

  // An arrow from a slice, at a time within it, to where another one begins.
  void flow(EventId from, Cycle leaves, EventId to, bool arrives) {
    const Event source = record_.events[from], target = record_.events[to];
    if (!is_slice(source) || !is_slice(target) || !track_of(source)) return;
    const Cycle last = end_of(source);
    if (last <= source.begin) return;
    leaves = std::clamp(leaves, source.begin, last - 1);
    // Before the end in nanoseconds too, of which a cycle is a part: viewers take an arrow from
    // where a slice ends for one from nowhere.
    while (leaves > source.begin && ns(leaves) >= ns(last)) --leaves;
    if (leaves > target.begin) return;
    const auto number = static_cast<std::uint32_t>(plan_.arrives.size());
    plan_.arrives.push_back(arrives);
    plan_.items.push_back({leaves, TraceKind::flow, false, from, number});
    plan_.items.push_back({target.begin, TraceKind::flow, true, to, number});
  }

  // What completed the phase that a wait stood for: an operation, or the run of who arrived.
  void flow_to_wait(const Event& wait, EventId to) {
    EventId at = wait.cause;
    Cycle when = wait.end;
    for (int hops = 0; hops < 4 && at < record_.events.size(); ++hops) {
      const Event e = record_.events[at];
      if (e.kind == EventKind::run || e.kind == EventKind::operation) {
        flow(at, e.kind == EventKind::run ? when : e.end, to, true);
        return;
      }
      when = e.kind == EventKind::phase ? e.end : e.begin;
      at = e.cause;
    }
  }

  void draw_flows() {
    // Where a warp runs again after a wait, its next event; events of one thread are in order.
    std::vector<EventId> waiting(plan_.threads.size(), sim::no_event);
    const std::size_t slices = plan_.items.size();
    for (std::size_t i = 0; i < slices; ++i) {
      const EventId id = plan_.items[i].event;
      const Event e = record_.events[id];
      if (e.kind == EventKind::operation) {
        const EventId run = sim::issuer_of(record_, e);
        if (run != sim::no_event) flow(run, e.issue, id, false);
      }
      if (e.kind != EventKind::run && e.kind != EventKind::wait) continue;
      EventId& before = waiting[plan_.thread_of[id]];
      if (before != sim::no_event && e.kind == EventKind::run) {
        flow_to_wait(record_.events[before], id);
      }
      before = e.kind == EventKind::wait && e.cause != sim::no_event ? id : sim::no_event;
    }
  }

  // ---- counters ----

  struct Change {
    Cycle at = 0;
    int series = 0, by = 0;
  };

  void counter(std::uint32_t process, std::string_view name, std::array<std::string_view, 2> series,
               std::vector<Change> changes) {
    if (changes.empty()) return;
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    const auto number = static_cast<EventId>(plan_.counters.size());
    plan_.counters.push_back({process, name, series});
    std::array<std::int32_t, 2> values{};
    for (std::size_t i = 0; i < changes.size();) {
      // What changes within a nanosecond is one change: a viewer would show the last.
      const std::uint64_t now = ns(changes[i].at);
      std::array<bool, 2> changed{};
      Cycle at = changes[i].at;
      for (; i < changes.size() && ns(changes[i].at) == now; ++i) {
        const auto series_at = static_cast<std::size_t>(changes[i].series);
        values[series_at] += changes[i].by;
        changed[series_at] = true;
        at = changes[i].at;
      }
      for (std::uint32_t s = 0; s < 2; ++s) {
        if (changed[s])
          plan_.items.push_back({at, TraceKind::counter, false, number, s, values[s]});
      }
    }
  }

  void count() {
    count_blocks();
    count_copies();
    count_stages();
  }

  void count_blocks() {
    std::map<std::uint64_t, std::pair<Cycle, Cycle>> lives;
    for (const Event& e : record_.events) {
      const Track* t = track_of(e);
      if (!t || t->unit != Unit::warp || t->block == sim::many_blocks) continue;
      const auto [life, fresh] = lives.try_emplace(t->block, e.begin, end_of(e));
      if (fresh) continue;
      life->second.first = std::min(life->second.first, e.begin);
      life->second.second = std::max(life->second.second, end_of(e));
    }
    std::vector<Change> changes;
    for (const auto& [block, life] : lives) {
      changes.push_back({life.first, 0, 1});
      changes.push_back({life.second, 0, -1});
    }
    counter(0, "blocks resident", {"blocks", ""}, std::move(changes));
  }

  bool is_copy(const Event& e) const {
    const Track* t = track_of(e);
    return t && e.kind == EventKind::operation &&
           (t->unit == Unit::copy_in || t->unit == Unit::async_copy);
  }

  void count_copies() {
    std::map<std::uint32_t, std::vector<Change>> changes;  // by process
    for (const Event& e : record_.events) {
      if (!is_copy(e)) continue;
      std::vector<Change>& of = changes[process_of_[e.track]];
      of.push_back({e.issue, 0, 1});
      of.push_back({end_of(e), 0, -1});
    }
    for (auto& [process, of] : changes) {
      counter(process, "copies in flight", {"copies", ""}, std::move(of));
    }
  }

  // A stage is what copies bring for one phase of an mbarrier. It is being filled from the first
  // one's issue to the last one's end. From then on it is ready, until a warp that waited for the
  // phase goes on; where nobody had to wait, until the next copy for that mbarrier, or after the
  // last one until the block's last product.
  void count_stages() {
    struct Stage {
      Cycle begin = sim::never_ends, full = 0, used = sim::never_ends;
      std::uint32_t process = 0;
    };
    using Barrier = std::pair<std::uint64_t, std::uint32_t>;  // of a cluster
    std::map<Barrier, std::map<std::uint32_t, Stage>> barriers;
    std::map<std::uint64_t, Cycle> products;  // of a cluster: the last one's end
    const auto cluster = [&](const Event& e) {
      return sim::cluster_of(record_.launch, record_.tracks[e.track].block);
    };
    for (const Event& e : record_.events) {
      const Track* t = track_of(e);
      if (!t || e.kind != EventKind::operation) continue;
      if (t->unit == Unit::tensor) {
        Cycle& last = products[cluster(e)];
        last = std::max(last, end_of(e));
      }
      if (t->unit != Unit::copy_in) continue;
      Stage& stage = barriers[{cluster(e), e.object}][e.phase];
      if (e.issue < stage.begin) stage.begin = e.issue, stage.process = process_of_[e.track];
      stage.full = std::max(stage.full, end_of(e));
    }
    for (const Event& e : record_.events) {
      if (e.kind != EventKind::wait || e.stall != sim::Stall::mbarrier || !track_of(e)) continue;
      const auto barrier = barriers.find({cluster(e), e.object});
      if (barrier == barriers.end()) continue;
      const auto stage = barrier->second.find(e.phase);
      if (stage == barrier->second.end()) continue;
      stage->second.used = std::min(stage->second.used, end_of(e));
    }
    std::map<std::uint32_t, std::vector<Change>> changes;
    for (const auto& [barrier, stages] : barriers) {
      for (auto stage = stages.begin(); stage != stages.end(); ++stage) {
        const Stage& s = stage->second;
        const auto next = std::next(stage);
        const Cycle used = s.used != sim::never_ends ? s.used
                           : next != stages.end()    ? next->second.begin
                                                     : products[barrier.first];
        std::vector<Change>& out = changes[s.process];
        out.push_back({s.begin, 0, 1});
        out.push_back({s.full, 0, -1});
        if (used <= s.full) continue;
        out.push_back({s.full, 1, 1});
        out.push_back({used, 1, -1});
      }
    }
    for (auto& [process, of] : changes) {
      counter(process, "stages", {"being filled", "ready, not consumed"}, std::move(of));
    }
  }

  const sim::Record& record_;
  TracePlan plan_;
  std::map<std::uint32_t, std::string> roles_;
  std::vector<std::uint32_t> process_of_;  // by track
};

}  // namespace

bool is_slice(const Event& event) {
  return event.kind != EventKind::arrival && event.kind != EventKind::report;
}

Cycle end_in_trace(const Event& event, Cycle last) {
  return std::max(event.begin, event.end == sim::never_ends ? last : event.end);
}

std::uint64_t nanoseconds(const sim::Record& record, Cycle cycle) {
  const double clock = record.device.times.clock;
  if (!record.timed || !(clock > 0)) return cycle;
  return static_cast<std::uint64_t>(static_cast<double>(cycle) / clock);
}

TracePlan plan_trace(const sim::Record& record) {
  return Planner(record).plan();
}

}  // namespace tilescope
