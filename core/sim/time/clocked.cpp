// The machine by the clock: whose turn it is, how far it may go, and when those who waited go on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/record/recorder.h"
#include "core/sim/checks/deadlock.h"
#include "core/sim/checks/endless.h"
#include "core/sim/checks/result.h"
#include "core/sim/machine/split_loop.h"
#include "core/sim/time/wait.h"
#include "core/sim/wgmma/handlers.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr double never = std::numeric_limits<double>::infinity();
// A warp is ahead of the others of its cluster by no more than this, where nobody can tell.
constexpr double ahead = 64;

// When the next moment of an operation comes.
double next_moment(const AsyncOperation& o) {
  if (o.stage == Stage::complete || o.leader != no_leader) return never;
  return o.times[static_cast<std::size_t>(o.stage) + 1];
}

}  // namespace

// A warp runs on until it comes to what others can tell, and is not the earliest any more.
struct Scheduler::ByClock {
  Model& model;
  Clock& clock;
  WarpTime& t;
  const Cost* costs = clock.costs().of.data();
  const double horizon = clock.turn.horizon;

  bool goes_on() const { return clock.turn.goes_on; }
  void all_wait() { clock.turn.goes_on = false; }
  bool runs_on() const { return false; }
  bool reaches(Core& x) {
    const Cost& cost = costs[x.pc];
    if (!cost.meets) return true;
    clock.await_operands(x, cost, t);
    if (t.slot > horizon) clock.turn.goes_on = false;
    return t.slot <= horizon;
  }
  void issues(Core& x, const Code& c, Mask m) {
    const Cost& cost = costs[x.pc];
    model.recording.begin_run(*x.block, *x.warp, x.pc);
    const double issued = clock.execute(x, c, cost, m);
    if (cost.meets) clock.set_now(issued);
  }
  void has_executed(Core& x) {
    const Cost& cost = costs[x.pc];
    t.last_pc = x.pc;
    if (cost.ends) clock.catch_up(x, t);
    clock.turn.alone = clock.turn.alone && cost.alone;
    if (cost.meets || t.slot > horizon + ahead) clock.turn.goes_on = false;
  }
  bool is_over() const { return !clock.turn.goes_on; }
  void has_moved() { t.slot += clock.times().branch; }
  void has_run(Block& block, u64) {
    for (u32 rank = 0; rank < model.cluster_size; ++rank)
      model.member(block, rank)->flight.fresh = 0;
    if (std::exchange(model.pause, Pause::none) != Pause::none) clock.turn.goes_on = false;
  }
};

void Scheduler::start_clock() {
  // What shared memory leaves of an SM's memory is L1's.
  const auto threads = std::max<u64>(1, model_->launch.block.count());
  const u64 shared = model_->program().shared_bytes + u64{model_->launch.dynamic_shared} +
                     model_->options.block_shared;
  const u64 blocks = std::min<u64>(model_->options.processor_threads / threads + 1,
                                   model_->options.processor_shared / std::max<u64>(1, shared));
  const auto all = static_cast<u64>(model_->options.times.l1_size);
  const u64 taken = std::min(all, blocks * shared);
  model_->clock.emplace(model_->options.times, model_->program(), model_->options.processors,
                        all - taken, spare_registers(model_->program(), static_cast<u32>(threads)),
                        model_->recording.recorder());
  u64 footprint = 0;
  for (const Region& r : model_->regions) footprint += r.size();
  // What goes round in more memory than L2 has finds nothing of it there again.
  const bool warm = model_->options.warm && footprint <= model_->clock->level2().bytes();
  for (const Region& r : model_->regions) model_->clock->level2().add(r.base(), r.size(), warm);
}

void Scheduler::watch_wait(Block& block, Warp& warp) {
  watch_wait(block, warp, is_ready(warp));
}

// A warp stands, or goes on again, since the clock last looked.
void Scheduler::watch_wait(Block& block, Warp& warp, bool ready) {
  WarpTime& t = block.time.warps[warp.index];
  if (ready == !t.waits || warp.splits.empty()) return;
  if (!ready) {
    const Split& s = *speaking_split(warp.splits);
    t.waits = true;
    t.since = t.slot;
    t.standing = {stall_of(s.wait), s.wait == Wait::barrier ? s.pc - 1 : s.pc, 0, 0};
    if (s.wait == Wait::mbarrier) {
      t.standing.object = s.mbarrier;
      t.standing.phase = static_cast<u32>(s.phase);
    } else if (s.wait == Wait::barrier) {
      t.standing.object = s.barrier;
    }
    return;
  }
  t.waits = false;
  t.slot = std::max(t.slot, when_it_goes_on(block, t));
  model_->recording.end_wait(block, warp);
}

// All who stand at a barrier of the block go on, the last to arrive among them.
void Scheduler::pass_barrier(Block& block, u32 id) {
  if (!model_->clock) return;
  const auto stands = [&](const Warp& w) {
    return std::any_of(w.splits.begin(), w.splits.end(),
                       [&](const Split& s) { return s.wait == Wait::barrier && s.barrier == id; });
  };
  const auto count = std::count_if(block.warps.begin(), block.warps.end(), stands);
  const DeviceTimes& times = model_->clock->times();
  const double on =
      model_->clock->now() + times.barrier + times.barrier_warp * static_cast<double>(count);
  for (const Warp& w : block.warps) {
    WarpTime& t = block.time.warps[w.index];
    if (stands(w)) t.slot = std::max(t.slot, on);
  }
}

double Scheduler::when_it_goes_on(const Block& block, const WarpTime& t) const {
  const DeviceTimes& times = model_->clock->times();
  const double now = model_->clock->now();
  switch (t.standing.stall) {
    case Stall::mbarrier: {
      const auto phase =
          block.time.phases.find(model_->recording.phase_key(Unit::mbarrier, t.standing.object));
      const double visible = phase == block.time.phases.end() ? now : phase->second.visible;
      return std::max(now, visible) + times.mbarrier;
    }
    case Stall::cluster:
      return now + times.cluster;
    case Stall::group:
    case Stall::columns:
    case Stall::registers:
      return now + times.mbarrier;
    default:
      return now;
  }
}

// When a warp can go on, which is looked at.
double Scheduler::look_at(Block& block, Warp& warp) {
  const bool ready = is_ready(warp);
  watch_wait(block, warp, ready);
  return ready ? block.time.warps[warp.index].slot : never;
}

// Brings the agenda of the current cluster up to date.
void Scheduler::look_at_cluster(std::size_t number) {
  Agenda::Cluster& cluster = model_->clock->agenda.cluster(number);
  double* slot = model_->clock->agenda.slots(number);
  Block* const blocks = &model_->blocks[number * model_->cluster_size];
  const std::size_t warps = blocks->warps.size();
  if (cluster.known) {
    if (cluster.ran == Agenda::nobody) return;
    Block& block = blocks[cluster.ran / warps];
    slot[cluster.ran] = look_at(block, block.warps[cluster.ran % warps]);
  } else {
    cluster.in_flight = false;
    for (u32 rank = 0; rank < model_->cluster_size; ++rank) {
      Block& block = blocks[rank];
      cluster.in_flight = cluster.in_flight || !block.flight.operations.empty();
      for (Warp& warp : block.warps) *slot++ = block.ended ? never : look_at(block, warp);
    }
    cluster.known = true;
  }
  cluster.ran = Agenda::nobody;
}

// Of the current cluster, who is first, and how far it may go before the next one. Infinity where
// nobody can go on.
double Scheduler::find_turn(ClockTurn& turn) {
  const std::size_t number = current_ / model_->cluster_size;
  const std::size_t first = number * model_->cluster_size;
  look_at_cluster(number);
  Agenda::Cluster& cluster = model_->clock->agenda.cluster(number);
  const double* const slots = model_->clock->agenda.slots(number);
  const auto warps = static_cast<u32>(model_->blocks[first].warps.size());
  double earliest = never, next = never;
  const auto offer = [&](double time, u32 rank, u32 warp, std::size_t operation) {
    if (time >= earliest) {
      next = std::min(next, time);
      return;
    }
    next = earliest;
    earliest = time;
    turn.rank = rank;
    turn.warp = warp;
    turn.operation = operation;
  };
  const auto offer_operations = [&](u32 rank) {
    const Block& block = model_->blocks[first + rank];
    const auto& operations = block.flight.operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const double time = next_moment(operations[i]);
      if (time < earliest && !model_->flights.is_held_up(block, operations[i]))
        offer(time, rank, 0, i);
    }
  };
  for (u32 rank = 0; rank < model_->cluster_size; ++rank) {
    if (cluster.in_flight) offer_operations(rank);
    const double* const slot = slots + rank * warps;
    for (u32 warp = 0; warp < warps; ++warp) offer(slot[warp], rank, warp, ClockTurn::none);
  }
  turn.horizon = next;
  return cluster.earliest = earliest;
}

// A warp that may go on again, and was not looked at since, goes on as watch_wait() will say.
bool Scheduler::all_have_reached(double cycle) const {
  if (!model_->clock) return static_cast<double>(model_->instructions) >= cycle;
  const auto goes_on_early = [&](const Block& block, const Warp& warp) {
    const WarpTime& t = block.time.warps[warp.index];
    if (t.slot >= cycle || !is_ready(warp)) return false;
    return !t.waits || when_it_goes_on(block, t) < cycle;
  };
  const auto is_early = [&](const Block& block) {
    const auto goes_on = [&](const Warp& warp) { return goes_on_early(block, warp); };
    if (!block.ended && std::any_of(block.warps.begin(), block.warps.end(), goes_on)) return true;
    const auto& operations = block.flight.operations;
    return std::any_of(operations.begin(), operations.end(), [&](const AsyncOperation& o) {
      return next_moment(o) < cycle && !model_->flights.is_held_up(block, o);
    });
  };
  // Who was early the last time is likely to be so still.
  const std::size_t count = model_->blocks.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (model_->clock->early + i) % count;
    if (!is_early(model_->blocks[at])) continue;
    model_->clock->early = at;
    return false;
  }
  return count > 0;
}

// The warps of all SMs do not fit into the processor's caches, and have their turns one after the
// other: what those of the next clusters need is fetched while this one has its own. First a block,
// then its warps and units, then what these point to. (Not registers: they are too many.)
void Scheduler::fetch_ahead(std::size_t number) const {
  constexpr std::size_t few = 64;  // of these all stays in the caches
  const std::size_t clusters = model_->blocks.size() / model_->cluster_size;
  if (clusters < few) return;
  const auto fetch = [](const void* what, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 64)
      __builtin_prefetch(static_cast<const std::byte*>(what) + at);
  };
  const auto of_next = [&](std::size_t by, const auto& warp) {
    const std::size_t which = (number + by) % clusters;
    const double* slot = model_->clock->agenda.slots(which);
    for (u32 rank = 0; rank < model_->cluster_size; ++rank) {
      const Block& block = model_->blocks[which * model_->cluster_size + rank];
      for (u32 w = 0; w < block.warps.size(); ++w) {
        if (*slot++ < model_->clock->window_end) warp(block, w);
      }
    }
  };
  fetch(&model_->blocks[(number + 3) % clusters * model_->cluster_size], 256);
  of_next(2, [&](const Block& block, u32 w) {
    fetch(&block.warps[w], 128);
    fetch(&block.time.warps[w], 256);
    model_->clock->fetch_units(block, w);
  });
  of_next(1, [&](const Block& block, u32 w) {
    const WarpTime& t = block.time.warps[w];
    fetch(block.warps[w].splits.data(), sizeof(Split));
    fetch(t.ready.data(), t.ready.size() * sizeof(double));
    fetch(t.why.data(), t.why.size());
    model_->clock->fetch_room(block, w);
  });
}

// The clusters have their turns one after the other, each up to the end of the window.
bool Scheduler::choose_turn() {
  const double window = std::max(1.0, model_->options.clock_turn);
  Clock& clock = *model_->clock;
  const std::size_t clusters = model_->blocks.size() / model_->cluster_size;
  for (;;) {
    double earliest = never;
    std::size_t number = current_ / model_->cluster_size;
    for (std::size_t tried = 0; tried < clusters; ++tried) {
      const Agenda::Cluster& cluster = clock.agenda.cluster(number);
      double time = cluster.earliest;
      if (tried) fetch_ahead(number);
      if (!cluster.is_settled() || time < clock.window_end) {
        current_ = number * model_->cluster_size;
        time = find_turn(clock.turn);
      }
      if (time < clock.window_end) {
        // Nobody runs for ever, though he is alone.
        clock.turn.horizon = std::min(clock.turn.horizon, time + window);
        clock.turn.goes_on = clock.turn.alone = true;
        clock.turn.ran = false;
        clock.turn.time = time;
        return true;
      }
      earliest = std::min(earliest, time);
      number = number + 1 == clusters ? 0 : number + 1;
    }
    current_ = number * model_->cluster_size;
    if (earliest == never) return false;
    clock.window_end = (std::floor(earliest / window) + 1) * window;
  }
}

// Nobody can go on by himself: the time limits of those in a try_wait are over; or there is nothing
// left that anybody waits for.
bool Scheduler::bring_about_by_clock() {
  bool any = false;
  for (Block& block : model_->blocks)
    any = (!block.ended && model_->flights.time_out(block)) || any;
  model_->clock->agenda.forget_all();
  if (any) return true;
  const auto stuck = std::find_if(model_->blocks.begin(), model_->blocks.end(),
                                  [](const Block& b) { return !b.ended && b.live_threads; });
  current_ = static_cast<std::size_t>(stuck - model_->blocks.begin());
  report_deadlock(*model_, *stuck);
  return false;
}

u64 Scheduler::simulated_blocks() const {
  if (!model_->options.waves) return model_->dispatcher.total();
  return std::min(model_->dispatcher.total(), model_->options.waves *
                                                  model_->dispatcher.resident() /
                                                  model_->cluster_size * model_->cluster_size);
}

// Some waves have been simulated, and the others take as long as these on average. How much the
// last one differs from that says how far it may be wrong, and so does half a wave for the last
// part.
void Scheduler::end_sample() {
  Clock& clock = *model_->clock;
  clock.predicted = clock.ended_at;
  const u64 all = simulated_blocks();
  if (all == model_->dispatcher.total() || clock.waves.empty()) return;
  const std::size_t last = clock.waves.size() - 1;
  // Blocks of a later wave may end before the last of an earlier one.
  for (std::size_t w = 1; w <= last; ++w) {
    clock.waves[w] = std::max(clock.waves[w], clock.waves[w - 1]);
  }
  const double one = clock.waves[last] / static_cast<double>(last + 1);
  const double before = last ? clock.waves[last] - clock.waves[last - 1] : 0;
  const double left = static_cast<double>(model_->dispatcher.total() - all) /
                      static_cast<double>(model_->dispatcher.resident());
  clock.predicted += left * one;
  const double wrong = left * std::abs(one - before) + one / 2;
  clock.uncertain = wrong / clock.predicted;
}

// All threads of a block have exited: when it is over, with what it has left in flight.
bool Scheduler::end_block_by_clock(Block& block) {
  double end = block.time.started;
  for (const WarpTime& t : block.time.warps) {
    end = std::max({end, t.slot, t.written, t.open_copies});
    for (const auto& [group, there] : t.copies) end = std::max(end, there);
  }
  for (const AsyncOperation& o : block.flight.operations) end = std::max(end, o.times[3]);
  if (!model_->flights.land(block) || !leave_tensor_memory(*model_, block) ||
      !leave_warpgroups(*model_, block)) {
    return false;
  }
  leave_registers(*model_, block);
  model_->clock->ended_at = std::max(model_->clock->ended_at, end);
  if (model_->options.waves) {
    const std::size_t wave = block.time.order / model_->dispatcher.resident();
    if (model_->clock->waves.size() <= wave) model_->clock->waves.resize(wave + 1);
    model_->clock->waves[wave] = std::max(model_->clock->waves[wave], end);
  }
  block.time.ended = end;
  for (Warp& warp : block.warps)
    model_->recording.end_run(block, warp);  // of the record: its last one
  current_ = static_cast<std::size_t>(&block - model_->blocks.data());
  const std::size_t first = current_ / model_->cluster_size * model_->cluster_size;
  for (u32 rank = 0; rank < model_->cluster_size; ++rank) {
    if (model_->blocks[first + rank].live_threads == 0)
      end = std::max(end, model_->blocks[first + rank].time.ended);
  }
  model_->clock->start_at = end + model_->clock->times().block_start;
  end_block();
  note_cluster(first / model_->cluster_size);
  return true;
}

// A cluster has begun in this place, or another one has come there, or none has.
void Scheduler::note_cluster(std::size_t number) {
  const u64 warps = (model_->launch.block.count() + 31) / 32;
  Agenda& agenda = model_->clock->agenda;
  agenda.fit(model_->blocks.size() / model_->cluster_size, model_->cluster_size * warps);
  agenda.forget(number);
}

RunState Scheduler::run_by_clock(u64 budget) {
  model_->clock->agenda.forget_all();
  while (model_->state == RunState::running) {
    model_->watcher.settle_stops();
    if (model_->stops.hit()) return RunState::stopped;
    if (model_->dispatcher.finished() == simulated_blocks()) {
      end_sample();
      if (model_->dispatcher.finished() == model_->dispatcher.total() && model_->options.calculates)
        finish_grid(*model_);
      model_->state = model_->state == RunState::running ? RunState::done : model_->state;
      break;
    }
    if (budget == 0) return RunState::running;
    while (model_->dispatcher.can_start() && model_->dispatcher.started() < simulated_blocks() &&
           (model_->blocks.empty() ||
            model_->blocks.size() + model_->cluster_size <= model_->dispatcher.resident())) {
      const std::size_t at = model_->blocks.size();
      model_->blocks.resize(at + model_->cluster_size);
      model_->clock->start_at = model_->clock->times().block_start;
      model_->dispatcher.start_cluster(at);
      note_cluster(at / model_->cluster_size);
    }
    ClockTurn& turn = model_->clock->turn;
    if (!turn.goes_on && !choose_turn()) {
      if (!bring_about_by_clock()) break;
      continue;
    }
    const std::size_t cluster = current_ / model_->cluster_size;
    Block& block = model_->blocks[cluster * model_->cluster_size + turn.rank];
    Agenda& agenda = model_->clock->agenda;
    if (turn.operation != ClockTurn::none) {
      turn.goes_on = false;
      agenda.forget(cluster);
      model_->clock->set_now(turn.time);
      if (!model_->flights.advance(block, turn.operation)) break;
      continue;
    }
    Warp& warp = block.warps[turn.warp];
    const u64 room = model_->stops.room(block, warp, model_->position(), model_->instructions);
    const ByClock way{*model_, *model_->clock, block.time.warps[warp.index]};
    const u64 ran = run_warp(block, warp, way, std::min(budget, room));
    if (turn.alone) {
      const auto warps = static_cast<u32>(block.warps.size());
      agenda.cluster(cluster).ran = turn.rank * warps + turn.warp;
    } else {
      agenda.forget(cluster);
    }
    warp.pace.instructions += ran;
    budget -= std::min(ran, budget);
    if (model_->state == RunState::fault) break;
    if (block.live_threads == 0) {
      turn.goes_on = false;
      if (!end_block_by_clock(block)) break;
      continue;
    }
    turn.ran = turn.ran || ran;
    if (!turn.goes_on && turn.ran) look_for_endless_loop_at_times(*model_, block, warp);
  }
  if (model_->state != RunState::running) model_->recording.finish_record();
  return model_->state;
}

}  // namespace tilescope::sim
