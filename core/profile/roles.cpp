// What the kept events say: roles of warps, asynchronous units, and which SMs had blocks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/profile/statistics.h"
#include "core/record/issuer.h"

namespace tilescope::sim {
namespace {

using Signature = std::uint32_t;  // a bit for each Unit that a warp issues work to
using Waits = std::vector<std::pair<WaitKey, double>>;

constexpr Signature bit(Unit unit) {
  return Signature{1} << static_cast<unsigned>(unit);
}

struct Span {
  Cycle begin = 0, end = 0;
};

void add(Waits& waits, const WaitKey& key, double cycles) {
  for (auto& [k, sum] : waits) {
    if (k == key) {
      sum += cycles;
      return;
    }
  }
  waits.emplace_back(key, cycles);
}

std::vector<Waited> shares(const Waits& waits, double whole) {
  std::vector<Waited> out;
  for (const auto& [key, cycles] : waits) {
    if (cycles > 0 && whole > 0) out.push_back({key, cycles / whole});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Waited& a, const Waited& b) { return a.share > b.share; });
  return out;
}

// The parts of `span` that none of `busy` covers; these are apart and in order.
std::vector<Span> gaps(const std::vector<Span>& busy, const Span& span) {
  std::vector<Span> out;
  Cycle at = span.begin;
  for (const Span& b : busy) {
    if (b.begin > at) out.push_back({at, std::min(b.begin, span.end)});
    at = std::max(at, b.end);
  }
  if (at < span.end) out.push_back({at, span.end});
  return out;
}

// Spans that overlap or touch become one.
std::vector<Span> together(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Span> out;
  for (const Span& s : spans) {
    if (!out.empty() && s.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, s.end);
    } else {
      out.push_back(s);
    }
  }
  return out;
}

// How many of them overlap at once.
std::uint32_t most_at_once(const std::vector<Span>& spans) {
  std::vector<std::pair<Cycle, int>> changes;  // what ends goes before what begins then
  for (const Span& s : spans) {
    changes.emplace_back(s.begin, 1);
    changes.emplace_back(s.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 0;
  for (const auto& [at, by] : changes) now += by, most = std::max(most, now);
  return static_cast<std::uint32_t>(most);
}

double length(const std::vector<Span>& spans) {
  double sum = 0;
  for (const Span& s : spans) sum += static_cast<double>(s.end - s.begin);
  return sum;
}

// What one block did, and of which tracks that is known.
struct Block {
  std::vector<TrackId> tracks;
  Span life{never_ends, 0};
  Span kept{never_ends, 0};  // without what was folded
  std::uint32_t processor = 0;
  bool whole = true;
};

class Events {
 public:
  Events(const Record& record, Statistics& out) : record_(record), out_(out) {}

  void look() {
    sort_by_track();
    find_blocks();
    count_by_hand();
    for (auto& [number, block] : blocks_) {
      if (looked_at(block)) look_at_warps(block);
    }
    make_roles();
    for (const Unit unit :
         {Unit::tensor, Unit::copy_in, Unit::async_copy, Unit::copy_out, Unit::tensor_copy,
          Unit::tensor_load, Unit::tensor_store, Unit::remote}) {
      look_at_unit(unit);
    }
    look_at_processors();
  }

 private:
  bool looked_at(const Block& block) const {
    const Span& span = span_of(block);
    return span.begin < span.end && (block.whole || !any_whole_);
  }
  // Its life; where only a range of the time was kept, that.
  const Span& span_of(const Block& block) const { return any_whole_ ? block.life : block.kept; }
  Cycle end_of(const Event& event) const {
    return std::max(event.begin, event.end == never_ends ? last_ : event.end);
  }

  // places_[starts_[t]..starts_[t + 1]) are the events of track t, by their begin.
  void sort_by_track() {
    last_ = record_.end;
    const std::size_t tracks = record_.tracks.size(), events = record_.events.size();
    starts_.assign(tracks + 1, 0);
    for (const Event& e : record_.events) {
      if (e.track < tracks) ++starts_[e.track + 1];
      last_ = std::max(last_, e.end == never_ends ? e.begin : e.end);
    }
    for (std::size_t t = 0; t < tracks; ++t) starts_[t + 1] += starts_[t];
    places_.resize(starts_[tracks]);
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = 0; i < events; ++i) {
      const Event e = record_.events[i];
      if (e.track < tracks) places_[next[e.track]++] = static_cast<EventId>(i);
    }
    for (std::size_t t = 0; t < tracks; ++t) {
      const auto by_begin = [&](EventId a, EventId b) {
        return record_.events[a].begin < record_.events[b].begin;
      };
      const auto first = places_.begin() + static_cast<std::ptrdiff_t>(starts_[t]);
      const auto end = places_.begin() + static_cast<std::ptrdiff_t>(starts_[t + 1]);
      if (!std::is_sorted(first, end, by_begin)) std::stable_sort(first, end, by_begin);
    }
  }

  template <class F>
  void each(TrackId track, F f) const {
    for (std::size_t i = starts_[track]; i < starts_[track + 1]; ++i) f(record_.events[places_[i]]);
  }

  void find_blocks() {
    for (TrackId t = 0; t < record_.tracks.size(); ++t) {
      const Track& track = record_.tracks[t];
      if (track.block == many_blocks) {
        each(t, [&](const Event& e) { out_.folded += e.amount; });
        continue;
      }
      Block& block = blocks_[track.block];
      block.tracks.push_back(t);
      block.processor = track.processor;
      each(t, [&](const Event& e) {
        if (e.kind == EventKind::folded) {
          block.whole = false;
          out_.folded += e.amount;
        }
        if (track.unit != Unit::warp || e.kind == EventKind::report) return;
        block.life.begin = std::min(block.life.begin, e.begin);
        block.life.end = std::max(block.life.end, end_of(e));
        if (e.kind == EventKind::folded) return;
        block.kept.begin = std::min(block.kept.begin, e.begin);
        block.kept.end = std::max(block.kept.end, end_of(e));
      });
    }
    for (const auto& [number, block] : blocks_) {
      any_whole_ = any_whole_ || (block.whole && block.life.begin < block.life.end);
    }
    for (const auto& [number, block] : blocks_) {
      if (!looked_at(block)) continue;
      ++out_.blocks_looked_at;
      if (any_whole_) continue;
      out_.kept_from = std::min(out_.kept_from.value_or(never_ends), block.kept.begin);
      out_.kept_to = std::max(out_.kept_to, block.kept.end);
    }
  }

  const Track* track_of(const Event& event) const {
    return event.track < record_.tracks.size() ? &record_.tracks[event.track] : nullptr;
  }

  WaitKey key_of(const Event& wait) const {
    WaitKey key{wait.stall, Unit::count_};
    if (wait.stall != Stall::mbarrier) return key;
    // A phase, its last arrival, and who arrived.
    EventId at = wait.cause;
    for (int hops = 0; hops < 4 && at < record_.events.size(); ++hops) {
      const Event event = record_.events[at];
      const Track* track = track_of(event);
      if (!track) break;
      if (event.kind == EventKind::operation) key.by = track->unit;
      if (event.kind == EventKind::run) key.by = Unit::warp;
      if (key.by != Unit::count_) break;
      at = event.cause;
    }
    if (key.by == Unit::tensor || key.by == Unit::tensor_copy) key.by = Unit::commit;
    return key;
  }

  // The warp's track that issued an operation, or none.
  const Track* issuer(const Event& operation) const {
    const EventId run = issuer_of(record_, operation);
    return run == no_event ? nullptr : track_of(record_.events[run]);
  }

  // What is no operation shows by the instructions that a warp executes: how many that copy by
  // cp.async come before each; and without a clock, how many that load from TMEM or store.
  void count_by_hand() {
    const auto count = [&](Unit unit, std::string_view opcode) {
      std::vector<std::uint32_t> before{0};
      for (const RecordedLine& line : record_.lines) {
        const bool is = line.text.find(opcode) != std::string::npos;
        before.push_back(before.back() + (is ? 1 : 0));
      }
      by_hand_.emplace_back(unit, std::move(before));
    };
    if (!record_.timed) {
      count(Unit::tensor_load, "tcgen05.ld.");
      count(Unit::tensor_store, "tcgen05.st.");
    }
    // All four warps issue a product; its event is of the one that came last.
    count(Unit::tensor, "wgmma.mma_async.");
    for (const char* form : {"cp.async.ca.", "cp.async.cg.", "cp.async.mbarrier."}) {
      count(Unit::async_copy, form);
    }
  }

  // A run may have jumped over what lies between its ends: then it has executed far fewer
  // instructions than there are. (Some that are none on a chip are not counted.)
  Signature shown_by(const Event& run) const {
    if (run.until < run.pc || run.until >= record_.lines.size()) return 0;
    if (4 * run.amount < std::uint64_t{run.until} - run.pc + 1) return 0;
    Signature shown = 0;
    for (const auto& [unit, before] : by_hand_) {
      if (before[run.until + 1] > before[run.pc]) shown |= bit(unit);
    }
    return shown;
  }

  void look_at_warps(const Block& block) {
    for (const TrackId t : block.tracks) {
      const Track& track = record_.tracks[t];
      if (track.unit == Unit::warp) {
        Warp& warp = warps_[track.index];
        ++warp.blocks;
        each(t, [&](const Event& e) {
          const auto cycles = static_cast<double>(end_of(e) - e.begin);
          if (e.kind == EventKind::run) {
            warp.issues |= shown_by(e);
            warp.instructions += e.amount;
            warp.running += cycles;
          } else if (e.kind == EventKind::wait) {
            if (!record_.timed && e.stall == Stall::tmem) warp.issues |= bit(Unit::tensor_load);
            add(warp.waits, key_of(e), cycles);
            warp.waiting += cycles;
          }
        });
      } else {
        each(t, [&](const Event& e) {
          if (e.kind != EventKind::operation) return;
          if (const Track* from = issuer(e)) warps_[from->index].issues |= bit(track.unit);
        });
      }
    }
  }

  std::string name_of_role(Signature issues) const {
    static constexpr std::pair<Unit, std::string_view> words[] = {
        {Unit::copy_in, "copies in"},          {Unit::async_copy, "cp.async"},
        {Unit::tensor_copy, "to TMEM"},        {Unit::tensor, "MMAs"},
        {Unit::tensor_store, "to TMEM"},       {Unit::tensor_load, "write back"},
        {Unit::copy_out, "copies out"},        {Unit::remote, "to other CTAs"},
        {Unit::launch, "clusterlaunchcontrol"}};
    // Who writes back also starts the copies out, with one of its warps.
    if (issues & bit(Unit::tensor_load)) issues &= ~bit(Unit::copy_out);
    std::string name;
    for (const auto& [unit, word] : words) {
      if (!(issues & bit(unit)) || name.ends_with(word)) continue;
      name += fmt::format("{}{}", name.empty() ? "" : ", ", word);
    }
    return name;
  }

  void make_roles() {
    bool some = false;
    for (const auto& [index, warp] : warps_) some = some || !name_of_role(warp.issues).empty();
    std::map<std::string, Waits> waits;
    std::map<std::string, std::uint64_t> there;
    for (const auto& [index, warp] : warps_) {
      std::string name = name_of_role(warp.issues);
      if (name.empty()) name = some ? "the others" : "all warps";
      auto role = std::find_if(out_.roles.begin(), out_.roles.end(),
                               [&](const Role& r) { return r.name == name; });
      if (role == out_.roles.end()) {
        out_.roles.push_back({});
        role = out_.roles.end() - 1;
        role->name = name;
      }
      role->warps.push_back(index);
      role->instructions += warp.instructions;
      role->cycles += warp.running + warp.waiting;
      role->running += warp.running;
      there[name] += warp.blocks;
      for (const auto& [key, cycles] : warp.waits) add(waits[name], key, cycles);
    }
    for (Role& role : out_.roles) {
      role.waits = shares(waits[role.name], role.cycles);
      if (role.cycles > 0) role.running /= role.cycles;
      role.cycles /= static_cast<double>(there[role.name]);
    }
  }

  void look_at_unit(Unit unit) {
    UnitUse use;
    use.unit = unit;
    double lives = 0, busy = 0, outside = 0, flying = 0, queued = 0, worked = 0, running = 0;
    Waits idle;
    for (const auto& [number, block] : blocks_) {
      if (!looked_at(block)) continue;
      std::vector<Span> spans;
      std::vector<std::uint32_t> feeders;
      for (const TrackId t : block.tracks) {
        if (record_.tracks[t].unit != unit) continue;
        each(t, [&](const Event& e) {
          if (e.kind != EventKind::operation) return;
          ++use.operations;
          use.amount += e.amount;
          use.bytes = e.bytes;
          queued += static_cast<double>(e.begin - e.issue);
          worked += static_cast<double>(end_of(e) - e.begin);
          flying += static_cast<double>(end_of(e) - e.issue);
          if (end_of(e) > e.begin) spans.push_back({e.begin, end_of(e)});
          const Track* from = issuer(e);
          if (from && std::find(feeders.begin(), feeders.end(), from->index) == feeders.end()) {
            feeders.push_back(from->index);
          }
        });
      }
      if (spans.empty()) continue;
      spans = together(std::move(spans));
      const Span& span = span_of(block);
      lives += static_cast<double>(span.end - span.begin);
      busy += length(spans);
      const Span active{spans.front().begin, spans.back().end};
      const Cycle life = span.end - span.begin;
      outside += static_cast<double>(life - std::min(life, active.end - active.begin));
      if (feeders.empty()) continue;
      Waits waited;
      const double ran = while_idle(block, feeders, gaps(spans, active), waited);
      running += ran / static_cast<double>(feeders.size());
      for (const auto& [key, cycles] : waited) {
        add(idle, key, cycles / static_cast<double>(feeders.size()));
      }
    }
    if (use.operations == 0) return;
    const auto n = static_cast<double>(use.operations);
    use.queued = queued / n;
    use.worked = worked / n;
    if (lives > 0) {
      use.busy = std::min(1.0, busy / lives);
      use.in_flight = flying / lives;
      use.outside = outside / lives;
      use.idle_running = running / lives;
    }
    use.idle = shares(idle, lives);
    out_.units.push_back(std::move(use));
  }

  // What these warps did in the gaps: how long they ran, and what they waited for.
  double while_idle(const Block& block, const std::vector<std::uint32_t>& feeders,
                    const std::vector<Span>& idle, Waits& waits) const {
    double ran = 0;
    for (const TrackId t : block.tracks) {
      const Track& track = record_.tracks[t];
      if (track.unit != Unit::warp ||
          std::find(feeders.begin(), feeders.end(), track.index) == feeders.end()) {
        continue;
      }
      std::size_t gap = 0;
      each(t, [&](const Event& e) {
        if (e.kind != EventKind::run && e.kind != EventKind::wait) return;
        while (gap < idle.size() && idle[gap].end <= e.begin) ++gap;
        double overlap = 0;
        for (std::size_t g = gap; g < idle.size() && idle[g].begin < end_of(e); ++g) {
          const Cycle from = std::max(idle[g].begin, e.begin),
                      to = std::min(idle[g].end, end_of(e));
          if (to > from) overlap += static_cast<double>(to - from);
        }
        if (overlap <= 0) return;
        if (e.kind == EventKind::run) {
          ran += overlap;
        } else {
          add(waits, key_of(e), overlap);
        }
      });
    }
    return ran;
  }

  void look_at_processors() {
    std::map<std::uint32_t, std::vector<Span>> busy;
    for (const auto& [number, block] : blocks_) {
      if (block.life.begin < block.life.end) busy[block.processor].push_back(block.life);
    }
    out_.processors_used = static_cast<std::uint32_t>(busy.size());
    if (out_.resident_blocks == 0) {
      for (const auto& [processor, spans] : busy) {
        out_.resident_blocks = std::max(out_.resident_blocks, most_at_once(spans));
      }
      out_.resident_warps = out_.resident_blocks * out_.warps;
    }
    double sum = 0;
    for (auto& [processor, spans] : busy) sum += length(together(std::move(spans)));
    const double all = static_cast<double>(record_.end) * record_.device.processors;
    if (all > 0) out_.occupied = std::min(1.0, sum / all);
  }

  struct Warp {
    Signature issues = 0;
    std::uint64_t blocks = 0;
    std::uint64_t instructions = 0;
    double running = 0, waiting = 0;
    Waits waits;
  };

  const Record& record_;
  Statistics& out_;
  std::vector<std::size_t> starts_;
  std::vector<EventId> places_;
  std::map<std::uint64_t, Block> blocks_;
  std::map<std::uint32_t, Warp> warps_;
  std::vector<std::pair<Unit, std::vector<std::uint32_t>>> by_hand_;  // by pc
  Cycle last_ = 0;
  bool any_whole_ = false;
};

}  // namespace

void look_at_events(const Record& record, Statistics& statistics) {
  Events(record, statistics).look();
}

}  // namespace tilescope::sim
