#include "core/profile/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/record/issuer.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

constexpr std::size_t all_events = ~std::size_t{0};

using Warps = std::set<std::pair<std::uint64_t, u32>>;  // block, index

// Of several barriers that fit the times of a stage or a sum, the closest.
struct Candidate {
  const BarrierPhases* barrier = nullptr;
  std::vector<EventId> phases;  // for each use; no_event: none was needed
  double gap = 0;               // cycles behind what it waits for, all uses together
};

class Builder {
 public:
  Builder(const Timeline& timeline, const std::vector<Role>& roles, std::uint64_t cluster)
      : timeline_(timeline), record_(timeline.record()), roles_(roles) {
    out_.cluster = cluster;
  }

  Pipeline build() {
    find_tracks();
    find_waiters();
    find_fillings();
    find_readers();
    find_own_readers();
    make_rings();
    find_sums();
    std::stable_sort(out_.accumulators.begin(), out_.accumulators.end(),
                     [](const Accumulator& a, const Accumulator& b) {
                       return std::tie(a.where.rank, a.where.row, a.where.column) <
                              std::tie(b.where.rank, b.where.row, b.where.column);
                     });
    for (RingStage& stage : out_.stages) find_free(stage);
    for (Accumulator& accumulator : out_.accumulators) find_barriers(accumulator);
    return std::move(out_);
  }

 private:
  Event event(EventId id) const { return record_.events[id]; }
  Cycle end_of(const Event& e) const {
    return e.end == never_ends ? timeline_.end() : std::max(e.begin, e.end);
  }
  std::vector<EventId> events_of(TrackId track, EventKind kind) const {
    EventFilter filter;
    filter.track = track;
    filter.kinds = bit(kind);
    return timeline_.find(filter, 0, never_ends, all_events);
  }
  u8 rank_of(std::uint64_t block) const {
    const auto at = std::find(out_.blocks.begin(), out_.blocks.end(), block);
    return static_cast<u8>(at - out_.blocks.begin());
  }

  void find_tracks() {
    std::vector<TrackId> tracks;
    for (TrackId t = 0; t < record_.tracks.size(); ++t) {
      const Track& track = record_.tracks[t];
      if (track.block == many_blocks || cluster_of(record_.launch, track.block) != out_.cluster) {
        continue;
      }
      tracks.push_back(t);
      if (std::find(out_.blocks.begin(), out_.blocks.end(), track.block) == out_.blocks.end()) {
        out_.blocks.push_back(track.block);
      }
    }
    std::sort(out_.blocks.begin(), out_.blocks.end());
    std::map<u32, std::size_t> role_of;
    for (const Role& role : roles_) {
      for (const u32 warp : role.warps) role_of[warp] = out_.roles.size();
      out_.roles.push_back(role.name);
    }
    out_.begin = never_ends;
    for (const TrackId t : tracks) {
      const Track& track = record_.tracks[t];
      const u8 rank = rank_of(track.block);
      const auto add_all = [&](std::vector<EventId>& to) {
        const auto events = events_of(t, EventKind::operation);
        to.insert(to.end(), events.begin(), events.end());
      };
      switch (track.unit) {
        case Unit::warp: {
          const auto role = role_of.find(track.index);
          out_.warps.push_back({rank, track.index, t, role == role_of.end() ? 0 : role->second});
          for (const EventId id :
               {timeline_.next(on(t), 0), timeline_.previous(on(t), never_ends)}) {
            if (id == no_event) continue;
            out_.begin = std::min(out_.begin, event(id).begin);
            out_.end = std::max(out_.end, end_of(event(id)));
          }
          break;
        }
        case Unit::mbarrier:
        case Unit::barrier:
        case Unit::cluster:
          out_.barriers.push_back({track.unit, rank, track.index, t, events_of(t, EventKind::phase),
                                   events_of(t, EventKind::arrival)});
          break;
        case Unit::copy_in:
          add_all(copies_in_);
          break;
        case Unit::copy_out:
          add_all(out_.copies_out);
          break;
        case Unit::tensor:
          add_all(out_.products);
          break;
        case Unit::tensor_copy:
          add_all(moves_);
          break;
        case Unit::tensor_load:
          add_all(out_.loads);
          break;
        default:
          break;
      }
    }
    if (out_.begin == never_ends) out_.begin = 0;
    for (auto* each : {&copies_in_, &out_.copies_out, &out_.products, &moves_, &out_.loads}) {
      std::stable_sort(each->begin(), each->end(),
                       [&](EventId a, EventId b) { return event(a).begin < event(b).begin; });
      for (const EventId id : *each) out_.end = std::max(out_.end, end_of(event(id)));
    }
    std::sort(out_.warps.begin(), out_.warps.end(), [](const auto& a, const auto& b) {
      return std::tie(a.rank, a.index) < std::tie(b.rank, b.index);
    });
    std::sort(out_.barriers.begin(), out_.barriers.end(), [](const auto& a, const auto& b) {
      return std::tie(a.unit, a.rank, a.object) < std::tie(b.unit, b.rank, b.object);
    });
  }

  // Of each barrier the warps that waited for one of its phases.
  void find_waiters() {
    waiters_.resize(out_.barriers.size());
    for (const PipelineWarp& warp : out_.warps) {
      for (const EventId id : events_of(warp.track, EventKind::wait)) {
        const EventId cause = event(id).cause;
        if (cause == no_event) continue;
        const TrackId track = record_.events.track(cause);
        for (std::size_t i = 0; i < out_.barriers.size(); ++i) {
          if (out_.barriers[i].track == track) {
            waiters_[i].emplace(out_.blocks[warp.rank], warp.index);
          }
        }
      }
    }
  }

  EventFilter on(TrackId track) const {
    EventFilter filter;
    filter.track = track;
    return filter;
  }

  // An mbarrier that a copy of this CTA completes on: its own, or that of another CTA of the
  // cluster (a pair's copies arrive at one of them).
  std::optional<std::size_t> barrier_of_copy(u8 rank, u32 offset) const {
    if (const auto own = out_.mbarrier(rank, offset)) return own;
    for (std::size_t i = 0; i < out_.barriers.size(); ++i) {
      const BarrierPhases& b = out_.barriers[i];
      if (b.unit == Unit::mbarrier && b.object == offset) return i;
    }
    return {};
  }

  void find_fillings() {
    struct Raw {
      Filling filling;
      std::vector<ByteSpan> spans;
    };
    std::map<std::tuple<u8, u32, u32>, Raw> raw;  // rank, mbarrier, phase
    for (const EventId id : copies_in_) {
      const Event e = event(id);
      for (const MemoryUse& use : uses_of(record_.uses, id)) {
        if (use.of != MemoryUse::Of::shared || !use.writes) continue;
        Raw& r = raw[{use.rank, e.object, e.phase}];
        r.spans.push_back({use.column, use.column + use.columns});
        Filling& f = r.filling;
        f.issued = std::min(f.issued, e.issue);
        f.begin = std::min(f.begin, e.begin);
        f.phase = e.phase;
        f.bytes += e.amount;
        f.copies.push_back(id);
        for (const MemoryUse& part : uses_of(record_.uses, id)) {
          if (part.of == MemoryUse::Of::global && !part.writes) f.parts.push_back(part);
        }
      }
    }
    for (auto& [key, r] : raw) {
      const u8 rank = std::get<0>(key);
      const u32 offset = std::get<1>(key), phase = std::get<2>(key);
      const std::vector<ByteSpan>& spans = r.spans;
      put_together(r.spans);
      const std::optional<std::size_t> barrier = barrier_of_copy(rank, offset);
      if (barrier) {
        for (const EventId id : out_.barriers[*barrier].phases) {
          const Event e = event(id);
          if (e.phase != phase || e.end == never_ends) continue;
          r.filling.full = e.end;
        }
      }
      auto stage = std::find_if(out_.stages.begin(), out_.stages.end(), [&](const RingStage& s) {
        return s.rank == rank && s.spans == spans;
      });
      if (stage == out_.stages.end()) {
        stage = out_.stages.insert(out_.stages.end(), RingStage{});
        stage->rank = rank;
        stage->spans = r.spans;
        stage->full = barrier;
      }
      stage->fillings.push_back(std::move(r.filling));
    }
    std::sort(out_.stages.begin(), out_.stages.end(), [](const RingStage& a, const RingStage& b) {
      return std::pair(a.rank, a.spans.front().begin) < std::pair(b.rank, b.spans.front().begin);
    });
    for (RingStage& stage : out_.stages) {
      std::sort(stage.fillings.begin(), stage.fillings.end(),
                [](const Filling& a, const Filling& b) { return a.issued < b.issued; });
    }
  }

  // In order, those that touch or overlap as one.
  static void put_together(std::vector<ByteSpan>& spans) {
    std::sort(spans.begin(), spans.end(),
              [](const ByteSpan& a, const ByteSpan& b) { return a.begin < b.begin; });
    std::vector<ByteSpan> out;
    for (const ByteSpan& span : spans) {
      if (!out.empty() && span.begin <= out.back().end) {
        out.back().end = std::max(out.back().end, span.end);
      } else {
        out.push_back(span);
      }
    }
    spans = std::move(out);
  }

  // The filling that an operation which begins then finds in a stage.
  static Filling* filling_for(RingStage& stage, Cycle issue) {
    Filling* found = nullptr;
    for (Filling& f : stage.fillings) {
      if (f.issued <= issue) found = &f;
    }
    return found;
  }

  void find_readers() {
    for (const auto* operations : {&out_.products, &moves_, &out_.copies_out}) {
      for (const EventId id : *operations) {
        const Event e = event(id);
        for (const MemoryUse& use : uses_of(record_.uses, id)) {
          if (use.of != MemoryUse::Of::shared || use.writes) continue;
          for (RingStage& stage : out_.stages) {
            if (!stage.meets(use)) continue;
            Filling* f = filling_for(stage, e.issue);
            if (!f) continue;
            if (f->readers.empty() || f->readers.back() != id) f->readers.push_back(id);
            f->read_begin = std::min(f->read_begin, e.begin);
            f->read_end = f->read_end == never_ends ? end_of(e) : std::max(f->read_end, end_of(e));
          }
        }
      }
    }
  }

  // The warps that issue an operation: of a warpgroup's product all four.
  void add_issuers(EventId id, Warps& out) const {
    const EventId run = issuer_of(record_, event(id));
    if (run != no_event) {
      const Track& track = record_.tracks[event(run).track];
      if (track.unit == Unit::warp) out.emplace(track.block, track.index);
    }
    for (const MemoryUse& use : uses_of(record_.uses, id)) {
      if (use.of != MemoryUse::Of::registers) continue;
      for (u32 warp = use.row; warp < use.row + use.rows; ++warp) {
        out.emplace(out_.blocks[use.rank], warp);
      }
    }
  }

  void find_own_readers() {
    for (RingStage& stage : out_.stages) {
      Warps fill, read;
      for (const Filling& f : stage.fillings) {
        for (const EventId id : f.copies) add_issuers(id, fill);
        for (const EventId id : f.readers) add_issuers(id, read);
      }
      stage.own =
          !fill.empty() && std::includes(read.begin(), read.end(), fill.begin(), fill.end());
    }
  }

  void make_rings() {
    std::map<std::tuple<u8, std::string, u32>, std::vector<std::size_t>> rings;
    for (std::size_t i = 0; i < out_.stages.size(); ++i) {
      const RingStage& stage = out_.stages[i];
      std::vector<std::string> names;
      for (const MemoryUse& part : stage.fillings.front().parts) {
        const std::string& name = record_.buffers[part.buffer].name;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
      std::string holds;
      for (const std::string& name : names) holds += (holds.empty() ? "" : ", ") + name;
      rings[{stage.rank, holds, stage.bytes()}].push_back(i);
    }
    for (auto& [key, stages] : rings) {
      out_.rings.push_back({std::get<1>(key), std::get<0>(key), std::move(stages)});
    }
    for (const Ring& ring : out_.rings) {
      std::vector<Filling*> all;
      for (const std::size_t stage : ring.stages) {
        for (Filling& f : out_.stages[stage].fillings) all.push_back(&f);
      }
      std::sort(all.begin(), all.end(),
                [](const Filling* a, const Filling* b) { return a->issued < b->issued; });
      for (std::size_t i = 0; i < all.size(); ++i) all[i]->step = static_cast<u32>(i);
    }
    std::sort(out_.rings.begin(), out_.rings.end(),
              [&](const Ring& a, const Ring& b) { return a.stages.front() < b.stages.front(); });
  }

  // What of a tensor an operand of a product is from: the part of the first copy that brought some
  // of it, and the rows and columns that it takes of all of them.
  struct Part {
    const MemoryUse* copied = nullptr;  // null: not known
    u32 row = 0, rows = 0, column = 0, columns = 0;
  };
  // The parts that a product takes from the CTA whose sum it is; and of a pair those of the other.
  struct Operands {
    Part a, b, other_a, other_b;
  };

  // And the fillings that brought it.
  Part part_of(const Event& e, const MemoryUse& operand, std::vector<Filling*>& from) {
    Part out;
    if (operand.of != MemoryUse::Of::shared) return out;
    for (RingStage& stage : out_.stages) {
      if (!stage.meets(operand)) continue;
      Filling* f = filling_for(stage, e.issue);
      if (!f) continue;
      from.push_back(f);
      for (const EventId copy : f->copies) {
        const auto uses = uses_of(record_.uses, copy);
        const auto part = std::find_if(uses.begin(), uses.end(), [](const MemoryUse& use) {
          return use.of == MemoryUse::Of::global && !use.writes;
        });
        for (const MemoryUse& use : uses) {
          if (use.writes && use.meets(operand) && part != uses.end())
            take(out, *part, use, operand);
        }
      }
    }
    return out;
  }

  // Rows of a copy are at one pitch in shared memory, so that the operand's bytes say which it
  // takes.
  static void take(Part& out, const MemoryUse& part, const MemoryUse& copied,
                   const MemoryUse& operand) {
    u32 row = part.row, rows = part.rows;
    if (part.rows > 0 && copied.columns % part.rows == 0) {
      const u32 pitch = copied.columns / part.rows;
      const u32 begin = std::max(operand.column, copied.column) - copied.column;
      const u32 end = std::min(operand.column + operand.columns, copied.column + copied.columns) -
                      copied.column;
      row += begin / pitch;
      rows = (end + pitch - 1) / pitch - begin / pitch;
    }
    if (!out.copied) {
      out = {&part, row, rows, part.column, part.columns};
      return;
    }
    if (out.copied->buffer != part.buffer) return;
    const u32 last_row = std::max(out.row + out.rows, row + rows);
    const u32 last_column = std::max(out.column + out.columns, part.column + part.columns);
    out.row = std::min(out.row, row);
    out.rows = last_row - out.row;
    out.column = std::min(out.column, part.column);
    out.columns = last_column - out.column;
  }

  static bool same(const MemoryUse* a, const MemoryUse* b) {
    return a && b ? a->buffer == b->buffer && a->row == b->row && a->column == b->column : a == b;
  }
  static bool goes_back(const MemoryUse* from, const MemoryUse* to) {
    return from && to && (to->row < from->row || to->column < from->column);
  }

  void find_sums() {
    struct Last {
      Operands first, before;
      std::size_t load = 0;  // the first in out_.loads that is not behind it
    };
    std::vector<Last> last;
    for (const EventId id : out_.products) {
      const Event e = event(id);
      Operands operands;
      std::optional<MemoryUse> d;
      std::vector<Filling*> from;
      const u8 home = rank_of(record_.tracks[e.track].block);
      for (const MemoryUse& use : uses_of(record_.uses, id)) {
        if (use.rank != home) {
          const Part part = part_of(e, use, from);
          if (use.operand == MemoryUse::Operand::a) operands.other_a = part;
          if (use.operand == MemoryUse::Operand::b) operands.other_b = part;
          continue;
        }
        if (use.operand == MemoryUse::Operand::a) operands.a = part_of(e, use, from);
        if (use.operand == MemoryUse::Operand::b) operands.b = part_of(e, use, from);
        if (use.operand != MemoryUse::Operand::d) continue;
        if (!d) {
          d = use;
          continue;
        }
        const u32 row = std::min(d->row, use.row), column = std::min(d->column, use.column);
        d->rows = std::max(d->row + d->rows, use.row + use.rows) - row;
        d->columns = std::max(d->column + d->columns, use.column + use.columns) - column;
        d->row = row;
        d->column = column;
      }
      if (!d) continue;
      d->event = no_event;
      auto at = std::find_if(out_.accumulators.begin(), out_.accumulators.end(),
                             [&](const Accumulator& a) { return a.where == *d; });
      if (at == out_.accumulators.end()) {
        at = out_.accumulators.insert(out_.accumulators.end(), Accumulator{});
        at->where = *d;
        last.emplace_back();
      }
      Last& before = last[static_cast<std::size_t>(at - out_.accumulators.begin())];
      bool fresh = at->sums.empty();
      if (!fresh) {
        const bool a = same(before.before.a.copied, operands.a.copied),
                   b = same(before.before.b.copied, operands.b.copied);
        const bool known = operands.a.copied && operands.b.copied;
        fresh = goes_back(before.before.a.copied, operands.a.copied) ||
                goes_back(before.before.b.copied, operands.b.copied) || (known && a != b) ||
                was_read(*at, e);
      }
      if (fresh) {
        at->sums.emplace_back();
        at->sums.back().number = sums_++;
        before.first = before.before = operands;
      }
      Accumulation& sum = at->sums.back();
      if (!fresh && !(same(before.before.a.copied, operands.a.copied) &&
                      same(before.before.b.copied, operands.b.copied))) {
        ++sum.last_step;
      }
      before.before = operands;
      sum.begin = std::min(sum.begin, e.begin);
      sum.end = std::max(sum.end, end_of(e));
      sum.products.push_back(id);
      sum.steps.push_back(sum.last_step);
      for (Filling* filling : from) {
        if (filling->sum != Filling::no_sum) continue;
        filling->step = sum.last_step;
        filling->sum = sum.number;
      }
      sum.tile = tile_of(before.first, operands);
    }
    for (const EventId id : out_.loads) {
      const Event e = event(id);
      for (const MemoryUse& use : uses_of(record_.uses, id)) {
        for (Accumulator& accumulator : out_.accumulators) {
          if (!accumulator.where.meets(use)) continue;
          Accumulation* sum = nullptr;
          for (Accumulation& s : accumulator.sums) {
            if (s.begin <= e.begin) sum = &s;
          }
          if (!sum) continue;
          sum->loads.push_back(id);
          sum->read_begin = std::min(sum->read_begin, e.begin);
          sum->read_end =
              sum->read_end == never_ends ? end_of(e) : std::max(sum->read_end, end_of(e));
        }
      }
    }
  }

  // Has the sum been read since its last product, and before this one?
  bool was_read(const Accumulator& accumulator, const Event& product) const {
    const Cycle from = accumulator.sums.back().end;
    const auto first = std::partition_point(out_.loads.begin(), out_.loads.end(),
                                            [&](EventId id) { return event(id).begin < from; });
    for (auto at = first; at != out_.loads.end() && event(*at).begin < product.issue; ++at) {
      for (const MemoryUse& use : uses_of(record_.uses, *at)) {
        if (accumulator.where.meets(use)) return true;
      }
    }
    return false;
  }

  // Of D: the rows are those of A and the columns those of B which stay as K goes on. Where there
  // was one step alone, the tensors' last index is taken for K.
  std::optional<MemoryUse> tile_of(const Operands& first, const Operands& now) const {
    if (!first.a.copied || !first.b.copied || !now.a.copied || !now.b.copied) return {};
    // What of `a` stays on the way to `b`, with that of the pair's other part where it is beside
    // it.
    const auto stays = [](const Part& a, const Part& b, const Part& other) {
      const bool along_rows = a.copied->row != b.copied->row;
      const auto of = [&](const Part& part) {
        return along_rows ? std::pair(part.column, part.columns) : std::pair(part.row, part.rows);
      };
      auto [begin, count] = of(a);
      if (!other.copied) return std::pair(begin, count);
      const auto [second, more] = of(other);
      if (second == begin + count) count += more;
      if (second + more == begin) begin = second, count += more;
      return std::pair(begin, count);
    };
    MemoryUse out;
    out.of = MemoryUse::Of::global;
    out.writes = true;
    std::tie(out.row, out.rows) = stays(first.a, now.a, now.other_a);
    std::tie(out.column, out.columns) = stays(first.b, now.b, now.other_b);
    return out;
  }

  // The first phase of a barrier that is complete at a time or later; its number of phases: none.
  std::size_t first_phase(const BarrierPhases& barrier, Cycle at) const {
    const auto found = std::partition_point(barrier.phases.begin(), barrier.phases.end(),
                                            [&](EventId id) { return event(id).end < at; });
    return static_cast<std::size_t>(found - barrier.phases.begin());
  }

  // For each use i < count a phase of `barrier` that is complete from from(i) on and not after
  // to(i).
  template <class From, class To>
  std::optional<Candidate> fits(const BarrierPhases& barrier, std::size_t count, From from,
                                To to) const {
    Candidate out{&barrier, {}, 0};
    for (std::size_t i = 0; i < count; ++i) {
      const Cycle least = from(i), most = to(i);
      const std::size_t phase =
          least == never_ends ? barrier.phases.size() : first_phase(barrier, least);
      const bool complete =
          phase < barrier.phases.size() && event(barrier.phases[phase]).end != never_ends;
      if (complete && event(barrier.phases[phase]).end <= most) {
        out.phases.push_back(barrier.phases[phase]);
        out.gap += static_cast<double>(event(barrier.phases[phase]).end - least);
      } else if (most == never_ends) {
        out.phases.push_back(no_event);  // the last use: nobody waits for it
      } else {
        return {};
      }
    }
    return out;
  }

  // Of those that fit, first one that these warps have waited for, then the one completed soonest.
  template <class From, class To, class Usable>
  std::optional<Candidate> closest(std::size_t count, const Warps& waiters, From from, To to,
                                   Usable usable) const {
    std::optional<Candidate> best;
    bool best_awaited = false;
    for (std::size_t i = 0; i < out_.barriers.size(); ++i) {
      if (!usable(out_.barriers[i])) continue;
      const auto found = fits(out_.barriers[i], count, from, to);
      if (!found) continue;
      const bool awaited = std::any_of(waiters_[i].begin(), waiters_[i].end(),
                                       [&](const auto& warp) { return waiters.count(warp) != 0; });
      if (best && (best_awaited != awaited ? best_awaited : best->gap <= found->gap)) continue;
      best = found;
      best_awaited = awaited;
    }
    return best;
  }

  template <class Use>
  void note_phases(const Candidate& found, std::vector<Use>& uses, Cycle Use::*at) const {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (found.phases[i] != no_event) uses[i].*at = event(found.phases[i]).end;
    }
  }

  bool is_full(const BarrierPhases& barrier) const {
    const auto number = static_cast<std::size_t>(&barrier - out_.barriers.data());
    return std::any_of(out_.stages.begin(), out_.stages.end(),
                       [&](const RingStage& s) { return s.full == number; });
  }
  bool is_free(const BarrierPhases& barrier) const {
    const auto number = static_cast<std::size_t>(&barrier - out_.barriers.data());
    return std::any_of(out_.stages.begin(), out_.stages.end(),
                       [&](const RingStage& s) { return s.free == number; });
  }

  void find_free(RingStage& stage) {
    std::vector<Filling>& uses = stage.fillings;
    if (uses.size() < 2) return;
    Warps fill;
    for (const Filling& f : uses) {
      for (const EventId id : f.copies) add_issuers(id, fill);
    }
    const auto done = [&](std::size_t i) {
      return uses[i].read_end != never_ends ? uses[i].read_end : uses[i].full;
    };
    const auto next = [&](std::size_t i) {
      return i + 1 < uses.size() ? uses[i + 1].issued : never_ends;
    };
    const auto found =
        closest(uses.size(), fill, done, next, [&](const BarrierPhases& b) { return !is_full(b); });
    if (!found) return;
    stage.free = static_cast<std::size_t>(found->barrier - out_.barriers.data());
    note_phases(*found, uses, &Filling::freed);
  }

  void find_barriers(Accumulator& accumulator) {
    std::vector<Accumulation>& sums = accumulator.sums;
    if (accumulator.where.of != MemoryUse::Of::tensor) return;
    Warps read_by, added_by;
    for (const Accumulation& sum : sums) {
      for (const EventId id : sum.loads) add_issuers(id, read_by);
      for (const EventId id : sum.products) add_issuers(id, added_by);
    }
    const auto ready = [&](std::size_t i) { return sums[i].end; };
    const auto read = [&](std::size_t i) { return sums[i].read_begin; };
    const auto usable = [&](const BarrierPhases& b) { return !is_free(b) && !is_full(b); };
    const auto complete = closest(sums.size(), read_by, ready, read, usable);
    if (complete) {
      accumulator.complete = static_cast<std::size_t>(complete->barrier - out_.barriers.data());
      note_phases(*complete, sums, &Accumulation::complete);
    }
    if (sums.size() < 2) return;
    const auto drained = closest(
        sums.size(), added_by, [&](std::size_t i) { return sums[i].read_end; },
        [&](std::size_t i) { return i + 1 < sums.size() ? sums[i + 1].begin : never_ends; },
        [&](const BarrierPhases& b) {
          return usable(b) && (!complete || &b != complete->barrier);
        });
    if (!drained) return;
    accumulator.drained = static_cast<std::size_t>(drained->barrier - out_.barriers.data());
    note_phases(*drained, sums, &Accumulation::drained);
  }

  const Timeline& timeline_;
  const Record& record_;
  const std::vector<Role>& roles_;
  Pipeline out_;
  std::vector<EventId> copies_in_, moves_;
  std::size_t sums_ = 0;
  std::vector<Warps> waiters_;  // by barrier
};

template <class Use, class Begins>
const Use* last_begun(const std::vector<Use>& uses, Begins begins, Cycle time) {
  const auto after = std::partition_point(uses.begin(), uses.end(),
                                          [&](const Use& u) { return begins(u) <= time; });
  return after == uses.begin() ? nullptr : &*(after - 1);
}

}  // namespace

const Filling* RingStage::at(Cycle time) const {
  return last_begun(
      fillings, [](const Filling& f) { return f.issued; }, time);
}

u32 RingStage::bytes() const {
  u32 out = 0;
  for (const ByteSpan& span : spans) out += span.end - span.begin;
  return out;
}

bool RingStage::meets(const MemoryUse& use) const {
  return use.of == MemoryUse::Of::shared && use.rank == rank &&
         std::any_of(spans.begin(), spans.end(), [&](const ByteSpan& span) {
           return use.column < span.end && use.column + use.columns > span.begin;
         });
}

std::string spans_text(const std::vector<ByteSpan>& spans) {
  std::string out;
  for (const ByteSpan& span : spans) {
    out += fmt::format("{}{}-{}", out.empty() ? "" : ", ", span.begin, span.end - 1);
  }
  return out;
}

const Accumulation* Accumulator::at(Cycle time) const {
  return last_begun(
      sums, [](const Accumulation& s) { return s.begin; }, time);
}

std::optional<std::size_t> Pipeline::mbarrier(u8 rank, u32 offset) const {
  for (std::size_t i = 0; i < barriers.size(); ++i) {
    const BarrierPhases& b = barriers[i];
    if (b.unit == Unit::mbarrier && b.rank == rank && b.object == offset) return i;
  }
  return {};
}

Pipeline pipeline_of(const Timeline& timeline, const std::vector<Role>& roles,
                     std::uint64_t cluster) {
  return Builder(timeline, roles, cluster).build();
}

std::string barrier_text(const Record& record, const BarrierPhases& barrier, u8 rank) {
  if (barrier.unit == Unit::cluster) return "the cluster's barrier";
  const std::string name = barrier.unit == Unit::barrier
                               ? fmt::format("bar {}", barrier.object)
                               : barrier_name(record.barriers, barrier.object);
  return barrier.rank == rank ? name : fmt::format("{} of CTA {}", name, barrier.rank);
}

std::string part_text(const Record& record, const MemoryUse& part) {
  const std::string name =
      part.buffer < record.buffers.size() ? record.buffers[part.buffer].name : "";
  return fmt::format("{}[{}:{}, {}:{}]", name.empty() ? "" : name + " ", part.row,
                     part.row + part.rows, part.column, part.column + part.columns);
}

std::string parts_text(const Record& record, const std::vector<MemoryUse>& parts) {
  std::string out;
  for (const MemoryUse& part : parts) {
    out += (out.empty() ? "" : ", ") + part_text(record, part);
  }
  return out;
}

}  // namespace tilescope::sim
