#include "core/sim/time/recording.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/record/recorder.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/machine/model.h"
#include "core/sim/time/cached.h"
#include "core/sim/time/uses.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

Cycle cycles(double time) {
  return static_cast<Cycle>(std::max(0.0, time));
}

// What a warp stands at, from when it came there to its `slot`; of no cause.
Event wait_of(const WarpTime& t) {
  Event e;
  e.kind = EventKind::wait;
  e.track = t.track;
  e.issue = e.begin = cycles(t.since);
  e.end = std::max(e.begin, cycles(t.slot));
  e.pc = e.until = t.standing.pc;
  e.stall = t.standing.stall;
  e.object = t.standing.object;
  e.phase = t.standing.phase;
  return e;
}

}  // namespace

u64 Recording::phase_key(Unit unit, u32 object) {
  return static_cast<u64>(unit) << 32 | object;
}

bool Recording::keeps_time() const {
  return model_->clock || recorder_;
}

TrackId Recording::track_of(Block& block, Unit unit, u32 index) {
  return recorder_->track({block.number, unit, index, block.processor});
}

TrackId Recording::track_of_unit(Block& block, Unit unit) {
  auto [track, fresh] = block.time.tracks.try_emplace(unit, 0);
  if (fresh) track->second = track_of(block, unit, 0);
  return track->second;
}

void Recording::start_time(Block& block) {
  if (!keeps_time()) return;
  block.time = {};
  block.time.started = model_->clock ? model_->clock->start_at : model_->now();
  block.time.warps.resize(block.warps.size());
  for (WarpTime& t : block.time.warps) t.slot = block.time.started;
  if (model_->clock) {
    block.time.order = model_->clock->begun++;
    block.time.first_warp =
        static_cast<u32>(block.time.order / model_->options.processors * block.warps.size());
    u32 number = block.time.first_warp;
    for (WarpTime& t : block.time.warps) {
      t.scheduler = static_cast<std::uint8_t>(model_->clock->scheduler_of(number++));
      t.ready.assign(model_->clock->costs().scoreboard, 0);
      t.why.assign(model_->clock->costs().scoreboard, Stall::none);
    }
  }
  if (!recorder_) return;
  for (const Warp& warp : block.warps) {
    block.time.warps[warp.index].track = track_of(block, Unit::warp, warp.index);
  }
}

void Recording::begin_run(Block& block, Warp& warp, u32 pc) {
  if (!recorder_) return;
  WarpTime& t = block.time.warps[warp.index];
  actor_ = t.run;
  if (t.run != no_event) return;
  Event e;
  e.kind = EventKind::run;
  e.track = t.track;
  e.issue = e.begin = cycles(t.slot);
  e.end = never_ends;
  e.pc = pc;
  t.run = actor_ = recorder_->add(e);
  t.run_instructions = 0;
  t.run_stalled = {};
}

void Recording::end_run(Block& block, Warp& warp) {
  WarpTime& t = block.time.warps[warp.index];
  if (!recorder_ || t.run == no_event) return;
  recorder_->change(t.run, [&](Event& e) {
    e.end = std::max(e.begin, cycles(t.slot));
    e.until = t.last_pc;
    e.amount = t.run_instructions;
    const auto most = std::max_element(t.run_stalled.begin(), t.run_stalled.end());
    if (*most == 0) return;
    e.object = std::accumulate(t.run_stalled.begin(), t.run_stalled.end(), 0u);
    e.phase = *most;
    e.stall = static_cast<Stall>(most - t.run_stalled.begin());
  });
  t.run = no_event;
}

// Of cp.async: that which was there last of those that a wait was for.
EventId Recording::group_at(const RecordedCopies& copies, double there) const {
  for (const auto& [number, id] : copies.groups) {
    const auto group = recorder_->find(id);
    if (group && group->end == cycles(there)) return id;
  }
  return no_event;
}

// In the middle of a run.
void Recording::record_stall(Block& block, Warp& warp, Stall stall, u32 pc, double from,
                             double to) {
  if (!recorder_) return;
  WarpTime& t = block.time.warps[warp.index];
  if (to - from < static_cast<double>(least_wait)) return t.stall_in_run(stall, to - from);
  end_run(block, warp);
  Event e;
  e.kind = EventKind::wait;
  e.track = t.track;
  e.issue = e.begin = cycles(from);
  e.end = cycles(to);
  e.pc = e.until = pc;
  e.stall = stall;
  if (stall == Stall::group) e.cause = group_at(t.recorded_copies, to);
  recorder_->add(e);
}

// A warp that stood goes on, from its `slot` on.
void Recording::end_wait(Block& block, Warp& warp) {
  WarpTime& t = block.time.warps[warp.index];
  const auto stall = static_cast<std::size_t>(t.standing.stall);
  if (!recorder_) return;
  recorder_->counters(t.standing.pc).stalled[stall] +=
      static_cast<u64>(std::max(0.0, t.slot - t.since));
  const double resumes = t.slot;
  t.slot = t.since;
  end_run(block, warp);
  t.slot = resumes;
  Event e = wait_of(t);
  e.cause = actor_;
  const Unit unit = e.stall == Stall::mbarrier  ? Unit::mbarrier
                    : e.stall == Stall::barrier ? Unit::barrier
                    : e.stall == Stall::cluster ? Unit::cluster
                                                : Unit::warp;
  const auto phase = block.time.phases.find(phase_key(unit, e.object));
  if (phase != block.time.phases.end() && phase->second.phase) {
    e.cause = phase->second.last;
    if (unit != Unit::mbarrier) e.phase = phase->second.phase - 1;
  }
  recorder_->add(e);
}

// A phase is complete now, and those who wait know it `later`.
void Recording::note_phase(Block& block, Unit unit, u32 object, double later) {
  if (!keeps_time()) return;
  PhaseTime& p = block.time.phases[phase_key(unit, object)];
  const double at = model_->now();
  p.visible = at + later;
  if (recorder_) {
    if (p.phase == 0) {
      p.track = track_of(block, unit, object);
      p.began = std::max(p.began, block.time.started);
    }
    Event e;
    e.kind = EventKind::phase;
    e.track = p.track;
    e.issue = e.begin = cycles(p.began);
    e.end = std::max(e.begin, cycles(at));
    e.object = object;
    e.phase = p.phase;
    e.cause = actor_;
    p.last = recorder_->add(e);
  }
  ++p.phase;
  p.began = at;
}

void Recording::know_phase(Core& x, u32 mbarrier) {
  if (!model_->clock) return;
  const auto phase = x.block->time.phases.find(phase_key(Unit::mbarrier, mbarrier));
  if (phase == x.block->time.phases.end()) return;
  WarpTime& t = x.block->time.warps[x.warp->index];
  t.slot = std::max(t.slot, phase->second.visible);
}

// Whoever completes a phase from another block, or by a thread's arrival, is not heard of at once.
void Recording::note_mbarrier_phase(Block& block, u32 offset, bool by_operation, bool remote) {
  const DeviceTimes& t = model_->options.times;
  note_phase(block, Unit::mbarrier, offset, remote ? t.remote : by_operation ? 0 : t.arrive);
}

// Of threads, what the lanes of one instruction do is one event; an operation has its own.
void Recording::record_arrivals(Block& block, u32 offset, u32 pc, u32 arrivals, u32 bytes) {
  if (!recorder_ || (arrivals == 0 && bytes == 0)) return;
  PhaseTime& p = block.time.phases[phase_key(Unit::mbarrier, offset)];
  Event e;
  e.kind = EventKind::arrival;
  e.track = track_of(block, Unit::mbarrier, offset);
  e.issue = e.begin = e.end = cycles(model_->now());
  e.pc = e.until = pc;
  e.object = offset;
  e.phase = p.phase;
  e.bytes = bytes != 0;
  e.amount = e.bytes ? bytes : arrivals;
  e.cause = actor_;
  bool same = false;
  recorder_->change(p.arrival, [&](Event& last) {
    same = last.begin == e.begin && last.pc == pc && last.phase == e.phase &&
           last.cause == e.cause && last.bytes == e.bytes;
    if (same) last.amount += e.amount;
  });
  if (!same) p.arrival = recorder_->add(e);
}

// A warp's load from TMEM, or its store: what it has asked for is there later.
void Recording::record_move(const Core& x, Unit unit, u64 bytes,
                            const std::vector<CellRange>& cells, double from, double to) {
  if (!recorder_) return;
  Block& block = *x.block;
  Event e;
  e.kind = EventKind::operation;
  e.track = track_of_unit(block, unit);
  e.issue = e.begin = cycles(from);
  e.end = std::max(e.begin, cycles(to));
  e.pc = e.until = x.pc;
  e.amount = bytes;
  e.bytes = true;
  e.cause = actor_;
  const EventId id = recorder_->add(e);
  for (const CellRange& range : cells) {
    recorder_->add_use(id, use_of_cells(range, block.rank, unit == Unit::tensor_store));
  }
}

bool Recording::keeps_accesses(const Core& x) const {
  return recorder_ && recorder_->keeps_accesses(x.block->time.warps[x.warp->index].track);
}

void Recording::record_access(const Core& x, WarpAccess access, const u64* addresses, double from,
                              double to) {
  access.track = x.block->time.warps[x.warp->index].track;
  access.begin = cycles(from);
  access.end = std::max(access.begin, cycles(to));
  access.pc = x.pc;
  u64 at[lanes] = {};
  if (access.of == WarpAccess::Of::lanes) {
    std::copy_n(addresses, lanes, at);
    return recorder_->add_access(access, at);
  }
  const u64 first = addresses[__builtin_ctz(access.mask)];
  u64 base = 0;
  if (access.of == WarpAccess::Of::shared) {
    // Within a window of the cluster's: that of the CTA whose memory it is.
    constexpr u64 window = (u64{1} << ptx::rank_shift) - 1;
    for (u32 l = 0; l < lanes; ++l) {
      at[l] = (addresses[l] & window) - model_->program().shared_start;
    }
    return recorder_->add_access(access, at);
  }
  for (std::size_t i = 0; i < model_->shells.size(); ++i) {
    const Region& region = model_->buffer(i);
    if (first < region.base() || first - region.base() >= region.size()) continue;
    access.buffer = static_cast<u32>(i);
    base = region.base();
  }
  for (u32 l = 0; l < lanes; ++l) at[l] = addresses[l] - base;
  recorder_->add_access(access, at);
}

// shfl.sync (PTX ISA 9.7.9.6): which lane each one reads.
void Recording::record_shuffle(const Core& x, const Code& c, Mask m, double from, double to) {
  if (!keeps_accesses(x)) return;
  const ptx::Operation how = model_->program().code[x.pc].modifiers.operation();
  const u32* const b = base::lane_array<u32>(x, c.b);
  const u32* const clamp = base::lane_array<u32>(x, c.c);
  u64 at[lanes] = {};
  for (int lane = 0; lane < lanes; ++lane) {
    const int segment = static_cast<int>(clamp[lane] >> 8 & 31);
    const int limit = static_cast<int>(clamp[lane] & 31), by = static_cast<int>(b[lane] & 31);
    const int least = lane & segment, most = least | (limit & ~segment);
    int j = lane;
    bool inside = false;
    if (how == ptx::Operation::up) j = lane - by, inside = j >= most;
    if (how == ptx::Operation::down) j = lane + by, inside = j <= most;
    if (how == ptx::Operation::bfly) j = lane ^ by, inside = j <= most;
    if (how == ptx::Operation::idx) j = least | (by & ~segment), inside = j <= most;
    at[lane] = static_cast<u64>(inside ? j : lane);
  }
  WarpAccess access;
  access.kind = WarpAccess::Kind::shuffle;
  access.of = WarpAccess::Of::lanes;
  access.mask = m;
  access.bytes = 4;
  record_access(x, access, at, from, to);
}

// An operation is in flight now.
void Recording::record_issue(Core& x, Block& block, AsyncOperation& o) {
  if (model_->clock) model_->clock->schedule(*model_, x, block, o);
  if (!recorder_) return;
  const Unit unit = unit_of(o);
  Event e;
  e.kind = EventKind::operation;
  e.track = track_of_unit(block, unit);
  e.issue = cycles(model_->now());
  e.begin = std::max(e.issue, cycles(o.times[0]));
  e.end = model_->clock ? std::max(e.begin, cycles(o.times[3])) : never_ends;
  e.pc = e.until = o.pc;
  e.object = o.mbarrier == no_mbarrier ? 0 : o.mbarrier;
  e.cause = actor_;
  if (unit == Unit::commit) {
    if (const AsyncOperation* last = awaited_by_commit(block, o.pipe)) e.cause = last->event;
  }
  e.amount = unit == Unit::tensor ? o.products : 0;
  if (unit == Unit::copy_in || unit == Unit::copy_out || unit == Unit::tensor_copy) {
    e.bytes = true;
    for (const Range& r : o.writes.empty() ? o.reads : o.writes) e.amount += r.end - r.begin;
  }
  RecordedCopies::Open copies;
  if (unit == Unit::async_copy) {
    std::swap(copies, x.block->time.warps[x.warp->index].recorded_copies.open);
  }
  if (!copies.uses.empty()) {
    e.issue = e.begin = cycles(copies.issued);
    e.bytes = true;
    e.amount = copies.bytes;
  }
  if (o.mbarrier != no_mbarrier) {
    // Of the first block whose mbarrier it is: a pair's copies arrive at that of one of them.
    const u32 rank = o.targets ? static_cast<u32>(__builtin_ctz(o.targets)) : block.rank;
    const auto& phases = model_->member(block, rank)->time.phases;
    const auto phase = phases.find(phase_key(Unit::mbarrier, o.mbarrier));
    e.phase = phase == phases.end() ? 0 : phase->second.phase;
  }
  o.event = recorder_->add(e);
  if (o.event == no_event) return;
  for (const MemoryUse& use : uses_by(*model_, block, o, recorder_->about().buffers))
    recorder_->add_use(o.event, use);
  for (const MemoryUse& use : copies.uses) recorder_->add_use(o.event, use);
}

void Recording::record_report(const Block& block, u32 thread, u32 pc) {
  if (!recorder_ || block.time.warps.empty()) return;
  const WarpTime& t =
      block.time.warps[std::min<std::size_t>(thread / 32, block.time.warps.size() - 1)];
  Event e;
  e.kind = EventKind::report;
  e.track = t.track;
  e.issue = e.begin = e.end = cycles(std::max(t.slot, model_->now()));
  e.pc = e.until = pc;
  e.object = static_cast<u32>(model_->reports.all().size() - 1);
  e.cause = t.run;
  recorder_->add(e);
}

// Without a clock an operation ends when it is complete.
void Recording::record_end(AsyncOperation& o) {
  if (!recorder_ || model_->clock) return;
  recorder_->change(o.event, [&](Event& e) { e.end = std::max(e.begin, cycles(model_->now())); });
  o.event = no_event;
}

// Without a clock a warp's turn is a run of it, and it waits until it has another.
void Recording::record_turn_begin(Block& block, Warp& warp) {
  const auto ready = std::find_if(warp.splits.begin(), warp.splits.end(),
                                  [](const Split& s) { return s.wait == Wait::none; });
  if (!recorder_ || ready == warp.splits.end()) return;
  WarpTime& t = block.time.warps[warp.index];
  t.slot = model_->now();
  if (std::exchange(t.waits, false)) end_wait(block, warp);
  begin_run(block, warp, ready->pc);
  t.run_instructions = model_->instructions;
}

void Recording::record_turn_end(Block& block, Warp& warp) {
  if (!recorder_) return;
  WarpTime& t = block.time.warps[warp.index];
  t.slot = model_->now();
  t.run_instructions = model_->instructions - t.run_instructions;
  if (!warp.splits.empty()) t.last_pc = warp.splits.front().pc;
  end_run(block, warp);
  model_->scheduler.watch_wait(block, warp);
}

// What the record is of.
void Recording::begin_record() {
  Recorder* recorder = recorder_;
  if (!recorder) return;
  Record r;
  r.kernel = model_->kernel;
  r.launch = model_->launch;
  r.barriers = model_->barrier_names();
  r.timed = model_->clock.has_value();
  const Dispatcher::Room room = model_->dispatcher.room_of_processor();
  r.resident_blocks = static_cast<u32>(std::max<u64>(1, room.blocks));
  r.resident_warps = r.resident_blocks * static_cast<u32>((model_->launch.block.count() + 31) / 32);
  r.limited_by = room.limited_by;
  const ptx::Program& p = model_->program();
  const auto source = [&](std::string_view file) {
    auto found = std::find(r.sources.begin(), r.sources.end(), file);
    if (found == r.sources.end()) found = r.sources.insert(found, std::string(file));
    return static_cast<u32>(found - r.sources.begin());
  };
  for (const ptx::Instruction& i : p.code) {
    RecordedLine line;
    line.text = std::string(i.text);
    line.ptx_line = i.line;
    line.product = product_of(i);
    const std::string_view file = p.source_file(i), caller = p.caller_file(i);
    if (!file.empty()) line.file = source(file), line.line = i.source_line;
    if (!caller.empty()) line.caller_file = source(caller), line.caller_line = i.caller_line;
    r.lines.push_back(std::move(line));
  }
  for (const Buffer& buffer : model_->shells) {
    r.buffers.push_back({buffer.name, buffer.dtype, buffer.shape});
  }
  r.counters.resize(p.code.size());
  recorder->begin(std::move(r));
}

// The last block has ended, or a fault the run: what is still open ends here.
void Recording::finish_record() {
  model_->ended = model_->now();
  if (!keeps_time()) return;
  double end = model_->clock ? model_->clock->ended_at : model_->now();
  for (Block& block : model_->blocks) {
    for (Warp& warp : block.warps) {
      if (warp.index >= block.time.warps.size()) continue;
      WarpTime& t = block.time.warps[warp.index];
      end = std::max(end, t.slot);
      const bool stands = std::exchange(t.waits, false);
      if (stands) t.slot = t.since;
      end_run(block, warp);
      if (!stands) continue;
      // Who waited when a fault ended the run waits to its end, and nothing lets it go on.
      t.slot = std::max(t.since, model_->now());
      if (recorder_) recorder_->add(wait_of(t));
    }
    for (AsyncOperation& o : block.flight.operations) record_end(o);
  }
  model_->ended =
      static_cast<double>(cycles(model_->clock ? std::max(end, model_->clock->predicted) : end));
  if (!recorder_) return;
  Record& r = recorder_->about();
  r.end = static_cast<Cycle>(model_->ended);
  r.blocks_simulated = model_->dispatcher.finished();
  r.reports = model_->reports.all();
  if (!model_->clock) return;
  r.seconds = model_->clock->seconds();
  r.uncertain = model_->clock->uncertain;
  model_->clock->tell_pipes(*recorder_);
  const Level2& level2 = model_->clock->level2();
  r.cache_overflowed = level2.overflowed();
  for (std::size_t i = 0; i < r.buffers.size() && i < model_->shells.size(); ++i) {
    const Region& region = model_->buffer(i);
    CachedBuffer cached = cached_of(level2, model_->first_buffer + i, region.base(), region.size(),
                                    static_cast<u32>(i), r.buffers[i]);
    if (!cached.since.empty()) r.cached.push_back(std::move(cached));
  }
}

}  // namespace tilescope::sim
