// Warps, barriers and units of a cluster, and what happened on them.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/profile/pipeline_parts.h"
#include "core/record/issuer.h"

namespace tilescope::sim::pipeline_parts {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

constexpr std::size_t all_events = ~std::size_t{0};

std::vector<EventId> events_of(const Finding& f, TrackId track, EventKind kind) {
  EventFilter filter;
  filter.track = track;
  filter.kinds = bit(kind);
  return f.timeline.find(filter, 0, never_ends, all_events);
}

EventFilter on(TrackId track) {
  EventFilter filter;
  filter.track = track;
  return filter;
}

void find_tracks(Finding& f, const std::vector<Role>& roles) {
  std::vector<TrackId> tracks;
  for (TrackId t = 0; t < f.record.tracks.size(); ++t) {
    const Track& track = f.record.tracks[t];
    if (track.block == many_blocks || cluster_of(f.record.launch, track.block) != f.out.cluster) {
      continue;
    }
    tracks.push_back(t);
    if (std::find(f.out.blocks.begin(), f.out.blocks.end(), track.block) == f.out.blocks.end()) {
      f.out.blocks.push_back(track.block);
    }
  }
  std::sort(f.out.blocks.begin(), f.out.blocks.end());
  std::map<u32, std::size_t> role_of;
  for (const Role& role : roles) {
    for (const u32 warp : role.warps) role_of[warp] = f.out.roles.size();
    f.out.roles.push_back(role.name);
  }
  f.out.begin = never_ends;
  for (const TrackId t : tracks) {
    const Track& track = f.record.tracks[t];
    const u8 rank = f.rank_of(track.block);
    const auto add_all = [&](std::vector<EventId>& to) {
      const auto events = events_of(f, t, EventKind::operation);
      to.insert(to.end(), events.begin(), events.end());
    };
    switch (track.unit) {
      case Unit::warp: {
        const auto role = role_of.find(track.index);
        f.out.warps.push_back({rank, track.index, t, role == role_of.end() ? 0 : role->second});
        for (const EventId id :
             {f.timeline.next(on(t), 0), f.timeline.previous(on(t), never_ends)}) {
          if (id == no_event) continue;
          f.out.begin = std::min(f.out.begin, f.event(id).begin);
          f.out.end = std::max(f.out.end, f.end_of(f.event(id)));
        }
        break;
      }
      case Unit::mbarrier:
      case Unit::barrier:
      case Unit::cluster:
        f.out.barriers.push_back({track.unit, rank, track.index, t,
                                  events_of(f, t, EventKind::phase),
                                  events_of(f, t, EventKind::arrival)});
        break;
      case Unit::copy_in:
        add_all(f.copies_in);
        break;
      case Unit::copy_out:
        add_all(f.out.copies_out);
        break;
      case Unit::async_copy: {
        add_all(f.thread_copies);
        const auto waits = events_of(f, t, EventKind::arrival);
        f.group_waits.insert(f.group_waits.end(), waits.begin(), waits.end());
        break;
      }
      case Unit::tensor:
        add_all(f.out.products);
        break;
      case Unit::tensor_copy:
        add_all(f.moves);
        break;
      case Unit::tensor_load:
        add_all(f.out.loads);
        break;
      default:
        break;
    }
  }
  if (f.out.begin == never_ends) f.out.begin = 0;
  for (auto* each : {&f.copies_in, &f.thread_copies, &f.group_waits, &f.out.copies_out,
                     &f.out.products, &f.moves, &f.out.loads}) {
    std::stable_sort(each->begin(), each->end(),
                     [&](EventId a, EventId b) { return f.event(a).begin < f.event(b).begin; });
    for (const EventId id : *each) f.out.end = std::max(f.out.end, f.end_of(f.event(id)));
  }
  std::sort(f.out.warps.begin(), f.out.warps.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.index) < std::tie(b.rank, b.index);
  });
  std::sort(f.out.barriers.begin(), f.out.barriers.end(), [](const auto& a, const auto& b) {
    return std::tie(a.unit, a.rank, a.object) < std::tie(b.unit, b.rank, b.object);
  });
}

// Of each barrier the warps that waited for one of its phases.
void find_waiters(Finding& f) {
  f.waiters.resize(f.out.barriers.size());
  for (const PipelineWarp& warp : f.out.warps) {
    for (const EventId id : events_of(f, warp.track, EventKind::wait)) {
      const EventId cause = f.event(id).cause;
      if (cause == no_event) continue;
      const TrackId track = f.record.events.track(cause);
      for (std::size_t i = 0; i < f.out.barriers.size(); ++i) {
        if (f.out.barriers[i].track == track) {
          f.waiters[i].emplace(f.out.blocks[warp.rank], warp.index);
        }
      }
    }
  }
}

}  // namespace

u8 Finding::rank_of(std::uint64_t block) const {
  const auto at = std::find(out.blocks.begin(), out.blocks.end(), block);
  return static_cast<u8>(at - out.blocks.begin());
}

void Finding::add_issuers(EventId id, Warps& to) const {
  const EventId run = issuer_of(record, event(id));
  if (run != no_event) {
    const Track& track = record.tracks[event(run).track];
    if (track.unit == Unit::warp) to.emplace(track.block, track.index);
  }
  for (const MemoryUse& use : uses_of(record.uses, id)) {
    if (use.of != MemoryUse::Of::registers) continue;
    for (u32 warp = use.row; warp < use.row + use.rows; ++warp) {
      to.emplace(out.blocks[use.rank], warp);
    }
  }
}

Filling* Finding::filling_for(RingStage& stage, Cycle issue) {
  Filling* found = nullptr;
  for (Filling& filling : stage.fillings) {
    if (filling.issued <= issue) found = &filling;
  }
  return found;
}

void find_units(Finding& f, const std::vector<Role>& roles) {
  find_tracks(f, roles);
  find_waiters(f);
}

}  // namespace tilescope::sim::pipeline_parts
