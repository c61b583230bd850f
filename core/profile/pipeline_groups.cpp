// Stages that threads fill by groups of cp.async. Each warp commits groups of its own and waits for
// them; those of one number and one instruction, of all warps of a CTA, are one filling.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/profile/pipeline_parts.h"
#include "core/record/issuer.h"

namespace tilescope::sim::pipeline_parts {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

// The warp that did something; no_warp: it is not known.
constexpr TrackId no_warp = ~TrackId{0};
TrackId warp_of(const Finding& f, const Event& e) {
  const EventId run = issuer_of(f.record, e);
  return run == no_event ? no_warp : f.record.events.track(run);
}

// By warp, and by time.
using Waits = std::map<TrackId, std::vector<EventId>>;

// The first instant at which a warp has waited for a group that it began at a time. no_event: none.
EventId wait_for(const Finding& f, const Waits& waits, const Event& group) {
  const auto own = waits.find(warp_of(f, group));
  if (own == waits.end()) return no_event;
  for (const EventId id : own->second) {
    const Event e = f.event(id);
    if (e.begin >= group.issue && e.phase > group.phase) return id;
  }
  return no_event;
}

// Does a warp access what the stage has?
bool meets(const Finding& f, const WarpAccess& access, const RingStage& stage) {
  for (u32 mask = access.mask; mask; mask &= mask - 1) {
    const auto lane = static_cast<u32>(__builtin_ctz(mask));
    const std::uint64_t at = access.at(lane, f.record.lane_offsets);
    for (const ByteSpan& span : stage.spans) {
      if (at < span.end && at + access.bytes > span.begin) return true;
    }
  }
  return false;
}

// A filling is over when threads store to its stage; then `over` has an end for it.
void add_access(const Finding& f, u32 number, RingStage& stage, std::vector<bool>& over) {
  const WarpAccess& access = f.record.accesses[number];
  Filling* filling = Finding::filling_for(stage, access.begin);
  if (!filling || !meets(f, access, stage)) return;
  const auto use = static_cast<std::size_t>(filling - stage.fillings.data());
  if (access.kind != WarpAccess::Kind::load) {
    over[use] = true;
  } else if (!over[use]) {
    filling->loads.push_back(number);
    filling->read_begin = std::min(filling->read_begin, access.begin);
    filling->read_end =
        filling->read_end == never_ends ? access.begin : std::max(filling->read_end, access.begin);
  }
}

// Where the record's accesses stop, what reads there were is not known.
void forget_reads_after(RingStage& stage, Cycle known) {
  for (std::size_t i = 0; i < stage.fillings.size(); ++i) {
    Filling& filling = stage.fillings[i];
    const bool followed = i + 1 < stage.fillings.size() && stage.fillings[i + 1].issued <= known;
    if (followed) continue;
    filling.loads.clear();
    filling.read_begin = filling.read_end = never_ends;
  }
}

}  // namespace

void add_groups(Finding& f) {
  Waits waits;
  for (const EventId id : f.group_waits) waits[warp_of(f, f.event(id))].push_back(id);
  struct Raw {
    Filling filling;
    std::vector<ByteSpan> spans;
    std::vector<u32> waits;
    bool awaited = true;
  };
  std::map<std::tuple<u8, u32, u32>, Raw> raw;  // rank, number, commit
  for (const EventId id : f.thread_copies) {
    const Event e = f.event(id);
    if (!is_group(f.record, e)) continue;
    const u8 rank = f.rank_of(f.record.tracks[e.track].block);
    Raw& r = raw[{rank, e.phase, e.pc}];
    Filling& filling = r.filling;
    for (const MemoryUse& use : uses_of(f.record.uses, id)) {
      if (use.of == MemoryUse::Of::shared) {
        r.spans.push_back({use.column, use.column + use.columns});
      } else {
        add_part(filling, use, true);
      }
    }
    filling.issued = std::min(filling.issued, e.issue);
    filling.begin = std::min(filling.begin, e.begin);
    filling.landed =
        filling.landed == never_ends ? f.end_of(e) : std::max(filling.landed, f.end_of(e));
    filling.phase = e.phase;
    filling.bytes += e.amount;
    filling.copies.push_back(id);
    const EventId wait = wait_for(f, waits, e);
    if (wait == no_event) {
      r.awaited = false;
      continue;
    }
    const Event waited = f.event(wait);
    if (std::find(r.waits.begin(), r.waits.end(), waited.pc) == r.waits.end()) {
      r.waits.push_back(waited.pc);
    }
    filling.awaited =
        filling.awaited == never_ends ? waited.begin : std::max(filling.awaited, waited.begin);
  }
  for (auto& [key, r] : raw) {
    if (r.spans.empty()) continue;  // of events whose uses were not kept
    if (!r.awaited) r.filling.awaited = never_ends;
    r.filling.full = r.filling.awaited;
    put_together(r.spans, padding);
    bool fresh = false;
    RingStage& stage = stage_of(f, std::get<0>(key), r.spans, fresh);
    if (fresh) stage.by_threads = stage.groups = true;
    for (const u32 pc : r.waits) {
      if (std::find(stage.waits.begin(), stage.waits.end(), pc) == stage.waits.end()) {
        stage.waits.push_back(pc);
      }
    }
    stage.fillings.push_back(std::move(r.filling));
  }
}

void add_reads_by_threads(Finding& f) {
  struct Read {
    RingStage* stage;
    std::vector<bool> over;  // by filling
  };
  std::vector<Read> stages;
  for (RingStage& stage : f.out.stages) {
    const bool read = std::any_of(stage.fillings.begin(), stage.fillings.end(),
                                  [](const Filling& filling) { return !filling.readers.empty(); });
    if (stage.by_threads && !read)
      stages.push_back({&stage, std::vector<bool>(stage.fillings.size())});
  }
  if (stages.empty()) return;
  const std::vector<WarpAccess>& all = f.record.accesses;
  Cycle last = 0;
  for (u32 number = 0; number < all.size(); ++number) {
    const WarpAccess& access = all[number];
    const Track& track = f.record.tracks[access.track];
    if (cluster_of(f.record.launch, track.block) != f.out.cluster) continue;
    last = std::max(last, access.begin);
    if (access.of != WarpAccess::Of::shared || access.kind == WarpAccess::Kind::copy) continue;
    const u8 rank = f.rank_of(track.block);
    for (Read& read : stages) {
      if (read.stage->rank == rank) add_access(f, number, *read.stage, read.over);
    }
  }
  if (all.size() < most_accesses) return;
  for (Read& read : stages) forget_reads_after(*read.stage, last);
}

}  // namespace tilescope::sim::pipeline_parts
