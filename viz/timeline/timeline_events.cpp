// What a timeline knows of events before they are drawn: what their colours stand for, how much of
// which there is where, and which operations overlap.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "viz/timeline/timeline_view.h"

namespace tilescope {
namespace {

using sim::Cycle;
using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Stall;
using sim::TrackId;
using sim::Unit;

constexpr std::size_t events_of_piece = 8, most_pieces = std::size_t{1} << 18;
// A short block's warps are cut more finely than that, as far as memory allows for all blocks.
constexpr std::size_t finest_pieces = 512, all_fine_pieces = 2'000'000;
constexpr int most_lanes = 4;
constexpr std::size_t units = static_cast<std::size_t>(Unit::count_) + 1;

// What completed a barrier's phase: the unit whose arrival was the last.
Unit completer(const sim::Record& record, const Event& phase) {
  EventId cause = phase.cause;
  for (int steps = 0; steps < 2 && cause < record.events.size(); ++steps) {
    const Event event = record.events[cause];
    const Unit unit = record.tracks[event.track].unit;
    if (event.kind != EventKind::arrival) {
      // Products are told by their commit.
      return unit == Unit::tensor || unit == Unit::tensor_copy ? Unit::commit : unit;
    }
    cause = event.cause;
  }
  return Unit::count_;
}

}  // namespace

Doing TimelineView::doing(const Event& event) const {
  const Unit unit = record_->tracks[event.track].unit;
  if (event.kind != EventKind::wait) return {unit, Stall::none};
  Doing out{Unit::count_, event.stall};
  if (event.stall == Stall::group) out.unit = unit_of_groups_;
  // No other lane is waited for by one that sleeps.
  const bool sleeps = event.stall == Stall::siblings && event.pc < record_->lines.size() &&
                      record_->lines[event.pc].text.rfind("nanosleep", 0) == 0;
  if (sleeps) out.unit = Unit::warp;
  if (event.stall == Stall::mbarrier && event.cause < record_->events.size()) {
    const Event phase = record_->events[event.cause];
    out.unit = phase.kind == EventKind::phase ? completer(*record_, phase)
                                              : record_->tracks[phase.track].unit;
  }
  return out;
}

std::optional<double> TimelineView::waited(Stall stall) const {
  if (folded_) return {};
  return waited_[static_cast<std::size_t>(stall)];
}

void TimelineView::look_at_events() {
  const std::size_t tracks = record_->tracks.size();
  const auto has = [&](Unit unit) {
    return std::any_of(record_->tracks.begin(), record_->tracks.end(),
                       [&](const sim::Track& track) { return track.unit == unit; });
  };
  if (has(Unit::async_copy) && !has(Unit::copy_out)) unit_of_groups_ = Unit::async_copy;
  const Cycle last = timeline_->end();
  const auto end_of = [&](const Event& event) {
    return std::max(event.begin, event.end == sim::never_ends ? last : event.end);
  };
  std::vector<std::pair<Cycle, Cycle>> life(tracks, {sim::never_ends, 0});
  for (const Event& event : record_->events) {
    auto& [begin, end] = life[event.track];
    begin = std::min(begin, event.begin);
    end = std::max(end, end_of(event));
  }
  densities_.reserve(tracks);
  for (TrackId t = 0; t < tracks; ++t) {
    const std::size_t pieces = std::min(timeline_->events_of(t) / events_of_piece + 1, most_pieces);
    densities_.emplace_back(std::min(life[t].first, life[t].second), life[t].second, pieces);
  }
  warps_of_.assign(groups_.size(), none);
  const std::size_t blocks = std::max<std::size_t>(timeline_->groups().size(), 1);
  const std::size_t fine = std::min(finest_pieces, all_fine_pieces / blocks);
  std::vector<std::uint32_t> block(tracks, none);  // by track: in block_warps_
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].kind != Group::Kind::block && groups_[g].kind != Group::Kind::processor)
      continue;
    std::size_t events = 0;
    for (const TrackId t : tracks_of({true, g})) {
      if (record_->tracks[t].unit != Unit::warp) continue;
      events += timeline_->events_of(t);
      block[t] = static_cast<std::uint32_t>(block_warps_.size());
    }
    warps_of_[g] = static_cast<std::uint32_t>(block_warps_.size());
    const std::size_t pieces = std::max(events / events_of_piece + 1, std::min(fine, 8 * events));
    block_warps_.emplace_back(groups_[g].begin, groups_[g].end, std::min(pieces, most_pieces));
  }
  std::vector<std::array<Cycle, units>> waited(tracks), completed(tracks);
  for (const Event& event : record_->events) {
    Density& density = densities_[event.track];
    density.count(event.begin, event.kind == EventKind::folded ? event.amount : 1);
    const Unit unit = record_->tracks[event.track].unit;
    const Cycle end = end_of(event);
    const auto spread = [&](Doing what, Cycle cycles) {
      density.spread(what, event.begin, end, cycles);
      if (block[event.track] != none) {
        block_warps_[block[event.track]].spread(what, event.begin, end, cycles);
      }
    };
    switch (event.kind) {
      case EventKind::run:
        spread({unit, Stall::none}, end - event.begin);
        break;
      case EventKind::wait: {
        const Doing what = doing(event);
        spread(what, end - event.begin);
        waited_[static_cast<std::size_t>(event.stall)] += static_cast<double>(end - event.begin);
        if (event.stall == Stall::mbarrier) {
          waited[event.track][static_cast<std::size_t>(what.unit)] += end - event.begin;
        }
        break;
      }
      case EventKind::phase:
        ++completed[event.track][static_cast<std::size_t>(completer(*record_, event))];
        break;
      case EventKind::folded:
        folded_ = true;
        spread({unit, Stall::none}, event.until);
        if (event.stall != Stall::none) {
          const bool group = event.stall == Stall::group;
          spread({group ? unit_of_groups_ : Unit::count_, event.stall}, event.pc);
        }
        break;
      default:
        break;
    }
  }
  const auto most = [](const std::array<Cycle, units>& sums) {
    const auto at = std::max_element(sums.begin(), sums.end());
    return *at == 0 ? Unit::count_ : static_cast<Unit>(at - sums.begin());
  };
  for (TrackId t = 0; t < tracks; ++t) {
    usual_.push_back(most(waited[t]));
    completed_by_.push_back(most(completed[t]));
  }
  pack_lanes();
  for (Density& density : densities_) density.close();
  for (Density& density : block_warps_) density.close();
  for (const Density& density : densities_) {
    for (const Doing each : density.doings()) {
      const auto at = std::lower_bound(doings_.begin(), doings_.end(), each);
      if (at == doings_.end() || !(*at == each)) doings_.insert(at, each);
    }
  }
}

std::vector<FoldedStripe> TimelineView::stripes_of(std::uint32_t index) const {
  const Group& group = groups_[index];
  std::vector<FoldedStripe> out;
  const auto stripe = [&](double height) -> FoldedStripe& {
    out.push_back({{}, 0, height, group.begin, group.end});
    return out.back();
  };
  if (group.kind == Group::Kind::barriers) return out;
  if (group.kind == Group::Kind::role) {
    FoldedStripe& warps = stripe(1);
    for (const TrackId track : tracks_of({true, index})) warps.densities.push_back(&density(track));
    warps.of = group.count;
    return out;
  }
  FoldedStripe warps{{}, 0, 2, group.begin, group.end};
  std::vector<std::pair<Unit, FoldedStripe>> by_unit;
  for (std::uint32_t g = index; g < groups_.size(); ++g) {
    if (g != index && groups_[g].parent == none) break;
    const bool within = g == index || groups_[g].parent == index;
    if (within && warps_of_[g] != none) warps.densities.push_back(&block_warps_[warps_of_[g]]);
  }
  for (const TrackId track : tracks_of({true, index})) {
    const Unit unit = record_->tracks[track].unit;
    if (unit == Unit::warp) {
      ++warps.of;
      continue;
    }
    if (unit == Unit::commit || density(track).doings().empty()) continue;
    auto at = std::find_if(by_unit.begin(), by_unit.end(),
                           [&](const auto& each) { return each.first == unit; });
    if (at == by_unit.end()) {
      by_unit.push_back({unit, {{}, 0, 1, group.begin, group.end}});
      at = by_unit.end() - 1;
    }
    at->second.densities.push_back(&density(track));
    ++at->second.of;
  }
  if (warps.of > 0) out.push_back(std::move(warps));
  for (auto& each : by_unit) out.push_back(std::move(each.second));
  return out;
}

bool TimelineView::has_stripes(std::uint32_t group) const {
  const Group::Kind kind = groups_[group].kind;
  return has_units_ && kind != Group::Kind::role && kind != Group::Kind::barriers;
}

// Each operation goes into the first lane that is free when it begins.
void TimelineView::pack_lanes() {
  lane_counts_.assign(record_->tracks.size(), 1);
  queues_.assign(record_->tracks.size(), 0);
  lanes_.assign(record_->events.size(), 0);
  struct Operation {
    TrackId track;
    Cycle begin, end;
    EventId id;
  };
  std::vector<Operation> all;
  EventId id = 0;
  for (const Event& event : record_->events) {
    if (event.kind == EventKind::operation) {
      const Cycle end = event.end == sim::never_ends ? timeline_->end() : event.end;
      all.push_back({event.track, event.begin, std::max(event.begin, end), id});
      Cycle& queue = queues_[event.track];
      queue = std::max(queue, event.begin - std::min(event.issue, event.begin));
    }
    ++id;
  }
  std::sort(all.begin(), all.end(), [](const Operation& a, const Operation& b) {
    return std::tie(a.track, a.begin, a.id) < std::tie(b.track, b.begin, b.id);
  });
  std::array<Cycle, most_lanes> free{};
  Cycle busy_until = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Operation& op = all[i];
    if (i == 0 || all[i - 1].track != op.track) {
      free = {};
      busy_until = 0;
    }
    // More at once than lanes: into that which is free first.
    std::size_t lane = 0;
    while (lane + 1 < free.size() && free[lane] > op.begin) ++lane;
    if (free[lane] > op.begin) {
      lane = static_cast<std::size_t>(std::min_element(free.begin(), free.end()) - free.begin());
    }
    free[lane] = op.end;
    lanes_[op.id] = static_cast<std::uint8_t>(lane);
    std::uint8_t& count = lane_counts_[op.track];
    count = std::max(count, static_cast<std::uint8_t>(lane + 1));
    // Time in which at least one works counts once.
    if (op.end > busy_until) {
      densities_[op.track].add({record_->tracks[op.track].unit, Stall::none},
                               std::max(op.begin, busy_until), op.end);
      busy_until = op.end;
    }
  }
}

}  // namespace tilescope
