// When the moments of operations come.
#include "core/sim/async/flights.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/async/collisions.h"
#include "core/sim/checks/around.h"
#include "core/sim/checks/endless.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/multiplication.h"
#include "core/sim/wgmma/product.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 never = ~u64{0};
// Instructions between two moments of an operation, where nothing else is asked for.
constexpr u64 usual_delay = 128;
constexpr u64 longest_delay = 4096;
// Tests of mbarriers that may fail before --lazy gives in: somebody goes round until one succeeds.
constexpr u32 patience = 32;

bool unfinished(const AsyncOperation& o) {
  return o.stage != Stage::complete && o.leader == no_leader;
}

// What only its own thread waits for is held back together with its warp: a copy may be as late as
// the warp is.
bool is_held(const Block& block, const AsyncOperation& o) {
  return o.group != no_group && o.issuer == block.rank && (block.slow.held >> o.thread / 32 & 1);
}

// Does this one, issued earlier, have to be complete first?
bool comes_before(const AsyncOperation& other, const AsyncOperation& o) {
  if (!unfinished(other)) return false;
  if (std::find(o.behind.begin(), o.behind.end(), other.number) != o.behind.end()) return true;
  return o.pipe && other.pipe == o.pipe && (!o.work->keeps_order || o.work->keeps_order(other, o));
}

// What has to come first, that nothing holds up: o itself where nothing does.
AsyncOperation& first_before(Flight& flight, AsyncOperation& o) {
  for (AsyncOperation& other : flight.operations) {
    if (&other == &o) break;
    if (comes_before(other, o)) return first_before(flight, other);
  }
  return o;
}

bool waits_for_group(const Split& s, u32 lane, const Flight& flight, const AsyncOperation& o) {
  if (s.wait != Wait::group || !(s.mask >> lane & 1)) return false;
  if (s.reads_only && o.stage >= Stage::read) return false;
  return u64{o.group} + s.groups_left < flight.committed[o.thread];
}

// Does a thread wait for this operation, in its block or in one that it arrives at?
bool is_wanted(const Model& machine, const Block& block, const AsyncOperation& o) {
  for (u32 rank = 0; rank < machine.cluster_size; ++rank) {
    const bool reached = o.arrives_at(rank, block.rank);
    if (!reached && rank != block.rank) continue;
    for (const Warp& warp : machine.member(block, rank)->warps) {
      for (const Split& s : warp.splits) {
        if (rank == block.rank && is_awaited(block, o)) return true;
        if (reached && s.wait == Wait::mbarrier && s.mbarrier == o.mbarrier) return true;
        if (rank == block.rank && o.group != no_group && warp.index == o.thread / 32 &&
            waits_for_group(s, o.thread % 32, block.flight, o)) {
          return true;
        }
      }
    }
  }
  return false;
}

// By the clock: a store has been written, and its SM has not heard of it yet.
bool is_being_told(const AsyncOperation& o) {
  return o.stage == Stage::written && o.times[3] > o.times[2];
}

// What happens when an operation leaves this stage.
Moment moment_after(const Work& work, Stage stage) {
  return stage == Stage::issued ? work.read : stage == Stage::read ? work.write : work.complete;
}

// What an operation still uses of a block that its threads have left.
Evidence left_in_flight(const Model& machine, const Block& block, const AsyncOperation& o) {
  const bool writes = !o.writes.empty();
  Evidence::Place place;
  if (writes || !o.reads.empty()) {
    place = place_of(block, writes ? o.writes[0] : o.reads[0]);
  } else if (o.mbarrier != no_mbarrier) {
    place = mbarrier_at(block, o.mbarrier);
  }
  Evidence out = evidence_at(place);
  out.parties = {operation_in(machine, block, o,
                              writes             ? "writes"
                              : !o.reads.empty() ? "reads"
                                                 : "arrives",
                              place)};
  return out;
}

// What its thread waited for last by groups, and came to last.
std::string ways_out(const Model& machine, const Block& block, const AsyncOperation& o) {
  const Block& issuer = machine.issuer(block, o);
  return waited_text(machine, Done{&issuer, o.thread, o.pc}) + last_text(machine, issuer, o.thread);
}

// Shared memory has the same lifetime as its block (2.3), and a wait_group says when it has been
// read (9.7.9.27.2.2, .read). An H200 keeps it for stores that nobody has waited for: 0 wrong of
// 11e9 words that blocks left so, with 1 to 7 of them on a processor; well-known libraries count on
// it.
void tell_of_store(Model& machine, const Block& block, const AsyncOperation& o) {
  machine.reports.hazard_at(block, o.thread, o.pc, "exit_in_flight", o.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "all threads of the CTA have exited, but this {} may still read {}, and nobody has waited "
        "for it",
        o.work->name, range_text(o.reads[0]));
    r.expected = "cp.async.bulk.wait_group.read 0 before the threads exit";
    r.found = "an operation in flight" + ways_out(machine, block, o);
    r.evidence = left_in_flight(machine, block, o);
    return r;
  });
}

// The block's own load from global memory; an arrival of a commit, whose products it has waited for
// by another, is less (FlashAttention's backward leaves its last so). An H100 keeps shared memory
// for these too: of 80,000 CTAs that found it where others had left with 64 KB on their way, none
// saw a word change, nor an mbarrier.
bool is_load(const Block& block, const AsyncOperation& o) {
  return o.work->global == GlobalUse::reads && o.issuer == block.rank && !o.writes.empty() &&
         o.arrives_at(block.rank, block.rank);
}

Report left_behind(const Model& machine, const Block& block, const AsyncOperation& o) {
  Report r;
  r.sentence = fmt::format(
      "all threads of the CTA have exited, but this {} {}, and nobody has waited for it",
      o.work->name,
      !o.writes.empty()  ? "is still to write " + range_text(o.writes[0])
      : !o.reads.empty() ? "may still read " + range_text(o.reads[0])
                         : "is still to arrive at " + mbarrier_name(machine, o.mbarrier));
  r.expected = "a wait for the operation before the threads exit";
  r.found = "an operation in flight" + ways_out(machine, block, o);
  r.evidence = left_in_flight(machine, block, o);
  return r;
}

// The PTX ISA asks for no wait before an exit, only before what a product uses is touched.
void tell_of_product(Model& machine, const Block& block, const AsyncOperation& o) {
  machine.reports.hazard_at(block, o.thread, o.pc, "exit_in_flight", o.pc, [&] {
    Report r;
    r.sentence =
        "all threads of the CTA have exited, but this wgmma.mma_async is in flight, and no warp "
        "has "
        "waited for it";
    r.expected = "wgmma.commit_group and wgmma.wait_group 0 before the threads exit";
    r.found = "an operation in flight";
    r.evidence = left_in_flight(machine, block, o);
    return r;
  });
}

}  // namespace

bool held_up(const Block& block, const AsyncOperation& o) {
  if (is_held(block, o)) return true;
  if (o.pipe == 0 && o.behind.empty()) return false;
  const Flight& flight = block.flight;
  for (const AsyncOperation& other : flight.operations) {
    if (&other == &o) return false;
    if (comes_before(other, o)) return true;
  }
  return false;
}

u64 Flights::delay(const Block& block, const AsyncOperation& o) {
  if (model_->options.lazy) return never;
  if (model_->options.schedule == 0) return usual_delay;
  const bool slow = o.pipe ? block.slow.products : block.slow.copies;
  return slow ? block.slow.length : model_->draws.turn_length(longest_delay);
}

bool Flights::issue(Core& x, int lane, AsyncOperation o) {
  return issue(x, lane, *x.block, std::move(o));
}

bool Flights::issue(Core& x, int lane, Block& block, AsyncOperation o) {
  Flight& flight = block.flight;
  o.number = flight.issued++;
  o.thread = x.warp->index * 32 + static_cast<u32>(lane);
  o.pc = x.pc;
  o.issuer = x.block->rank;
  if (block.order.on()) o.since = observer(x).epoch();
  if (block.order.on() && o.mbarrier != no_mbarrier) {
    o.comes_behind = std::make_shared<const VectorClock>(observer(x).behind());
  }
  for (u32 rank = 0; o.mbarrier != no_mbarrier && rank < model_->cluster_size; ++rank) {
    if (!o.arrives_at(rank, block.rank)) continue;
    Block* at = reach(x, lane, rank);
    // Of a CTA that may not have begun the mbarrier may still be made: it is looked for when it
    // matters.
    const bool later = at && at != x.block && !(x.block->heard >> rank & 1);
    if (!at ||
        (!later && !use_mbarrier(*model_, *at, o.mbarrier, {o.thread, o.pc, false, o.issuer})))
      return false;
  }
  if (!check_operands(x, lane, block, o)) return false;
  model_->global_watch.enter_global(x, lane, o);
  model_->recording.record_issue(x, block, o);
  const u64 wait = model_->clock ? static_cast<u64>(o.times[1]) : delay(block, o);
  o.due = wait;  // from behind this instruction on: begin_delays()
  ++flight.fresh;
  model_->stops.issued(*x.block, o);
  flight.operations.push_back(std::move(o));
  flight.failed_tests = 0;
  // The turn ends here, so that moments come in time however the run is cut into calls.
  x.limit = 0;
  model_->pause = Pause::look;
  return true;
}

// An instruction that issues is executed, and counted: from now on goes the time of its operations.
void Flights::begin_delays(Block& block) {
  for (u32 rank = 0; rank < model_->cluster_size; ++rank) {
    Flight& flight = model_->member(block, rank)->flight;
    for (; flight.fresh; --flight.fresh) {
      u64& due = flight.operations[flight.operations.size() - flight.fresh].due;
      if (due != never) due += model_->instructions;
    }
  }
}

// The same of an operation that uses memory of another block too: `guard` says which.
bool Flights::issue(Core& x, int lane, Block& block, AsyncOperation o, Block& other,
                    AsyncOperation guard) {
  guard.thread = x.warp->index * 32 + static_cast<u32>(lane);
  guard.pc = x.pc;
  guard.issuer = x.block->rank;
  guard.number = other.flight.issued++;
  guard.leader = block.rank;
  guard.leader_number = block.flight.issued;
  guard.due = never;
  if (!check_operands(x, lane, other, guard)) return false;
  o.guards |= 1u << other.rank;
  if (!issue(x, lane, block, std::move(o))) return false;
  other.flight.operations.push_back(std::move(guard));
  ++other.flight.fresh;
  return true;
}

// The guards of an operation that has come far enough are not needed any more.
void Flights::end_guards(Block& block, AsyncOperation& o) {
  if (!o.guards || o.stage < o.guards_until) return;
  for (u32 rank = 0; rank < model_->cluster_size; ++rank) {
    if (!(o.guards >> rank & 1)) continue;
    Block& other = *model_->member(block, rank);
    auto& operations = other.flight.operations;
    const auto guard =
        std::find_if(operations.begin(), operations.end(), [&](const AsyncOperation& g) {
          return g.leader == block.rank && g.leader_number == o.number;
        });
    if (guard == operations.end()) continue;
    if (o.mbarrier != no_mbarrier) {
      guard->mbarrier = o.mbarrier;
      guard->targets = o.targets ? o.targets : 1u << block.rank;
      settle_there(other, *guard);
      guard->mbarrier = no_mbarrier;
    } else {
      settle(*guard, o.by, o.by_epoch);
    }
    operations.erase(guard);
  }
  o.guards = 0;
}

void Flights::spoil_mbarriers(Block& block, const Range& bytes, u32 thread, u32 pc) {
  if (block.mbarriers.empty()) return;
  const u32 first = bytes.begin < 8 ? 0 : bytes.begin - 7;
  for (auto b = block.mbarriers.lower_bound(first);
       b != block.mbarriers.end() && b->first < bytes.end; ++b) {
    if (model_->order_log) {
      model_->order_log->blind(
          "whether somebody still uses an mbarrier that is written over is "
          "not followed");
    }
    b->second.spoilt = true;
    b->second.spoiler = thread;
    b->second.spoilt_at = pc;
  }
}

// The next moment of an operation at which something happens, and those behind it at which nothing
// does.
bool Flights::advance(Block& block, std::size_t index) {
  Flight& flight = block.flight;
  flight.failed_tests = 0;
  AsyncOperation& o = flight.operations[index];
  const Stage from = o.stage;
  const u32 guards = o.guards;
  ++model_->moments;
  model_->recording.is_by(o.event);
  bool happened = false;
  do {
    const Moment happens = moment_after(*o.work, o.stage);
    o.stage = static_cast<Stage>(static_cast<int>(o.stage) + 1);
    if (o.stage == Stage::complete && o.mbarrier != no_mbarrier) settle_there(block, o);
    if (happens && !happens(*model_, block, o)) return false;
    model_->global_watch.leave_global(o);
    end_guards(block, o);
    if (o.stage == Stage::complete && !signal_completion(block, o)) return false;
    if (o.stage == Stage::complete) model_->recording.record_end(o);
    happened = happened || happens;
  } while (unfinished(o) && (!happened || !moment_after(*o.work, o.stage)) &&
           !(model_->clock && is_being_told(o)));
  model_->watcher.look_for_stop(block, o, from, guards);
  if (model_->clock) {
    o.due =
        unfinished(o) ? static_cast<u64>(o.times[static_cast<std::size_t>(o.stage) + 1]) : never;
  } else {
    const u64 wait = delay(block, o);
    o.due = unfinished(o) && wait != never ? model_->instructions + wait : never;
  }
  if (o.group != no_group) wake_groups(block, o.thread / 32);
  const bool awaited = o.reads.empty() && o.writes.empty();
  if (!unfinished(o) && awaited) {
    flight.operations.erase(flight.operations.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return true;
}

bool Flights::is_held_up(const Block& block, const AsyncOperation& o) const {
  return held_up(block, o);
}

bool Flights::signal_completion(Block& block, const AsyncOperation& o) {
  if (o.mbarrier == no_mbarrier || (o.transactions == 0 && o.arrivals == 0)) return true;
  Signal signal;
  signal.complete_bytes = o.transactions;
  signal.arrivals = o.arrivals;
  signal.seen = o.seen.get();
  signal.behind = o.comes_behind.get();
  if (o.seen) signal.by = {o.by, o.by_epoch, 0};
  for (u32 rank = 0; rank < model_->cluster_size; ++rank) {
    if (!o.arrives_at(rank, block.rank)) continue;
    Block& at = *model_->member(block, rank);
    const Block& by = model_->issuer(block, o);
    if (at.ended) {
      if (!arrives_too_late(by, o, rank)) return false;
      continue;
    }
    if (!signal_mbarrier(*model_, at, o.mbarrier, signal, {o.thread, o.pc, true, o.issuer}))
      return false;
  }
  return true;
}

// An arrival of a commit goes where arrivals of threads go, which an H100 lets be
// (core/sim/machine/cluster.cpp): NVIDIA's examples of multicast commits end so. Bytes of a copy
// that complete there have been written there.
bool Flights::arrives_too_late(const Block& by, const AsyncOperation& o, u32 rank) {
  Report r;
  r.sentence = fmt::format(
      "this {} is complete and arrives at {} of CTA {} of the cluster, all of whose threads have "
      "exited",
      o.work->name, mbarrier_name(*model_, o.mbarrier), rank);
  r.expected = "this CTA stays until nobody arrives at its mbarriers any more";
  r.found = "a CTA that has exited";
  r.evidence = evidence_at(mbarrier_at(*model_->member(by, rank), o.mbarrier));
  if (o.work == &commit_work) {
    model_->reports.hazard_at(by, o.thread, o.pc, "peer_exited", o.pc, [&] { return r; });
    return true;
  }
  model_->reports.fault_at(by, o.thread, o.pc, "peer_exited", r.sentence, r.expected, r.found);
  model_->reports.explain(std::move(r.evidence));
  return false;
}

// Its ranges are free again: for those who have seen `by` up to `epoch`.
void Flights::settle(AsyncOperation& o, Agent by, u32 epoch, bool reads_only) {
  if (o.order) model_->completions.end(o.order, by, epoch);
  if (o.global_order && !reads_only) model_->completions.end(o.global_order, by, epoch);
  o.reads.clear();
  o.writes.clear();
}

// For those who wait for the phase of the mbarrier in which it completes: the one in the block, or
// else the first.
void Flights::settle_there(Block& block, AsyncOperation& o) {
  for (u32 i = 0; i < model_->cluster_size; ++i) {
    const u32 rank = (block.rank + i) % model_->cluster_size;
    if (!o.arrives_at(rank, block.rank)) continue;
    const Mbarriers& there = model_->member(block, rank)->mbarriers;
    const auto b = there.find(o.mbarrier);
    if (b == there.end()) continue;
    return settle(o, b->second.agent, b->second.round);
  }
  settle(o, {}, Completions::never);
}

void Flights::wake_groups(Block& block, u32 warp) {
  for (Split& s : block.warps[warp].splits) {
    if (s.wait == Wait::group) s.wait = Wait::none;
  }
}

// Instructions until the next moment of an operation of the block.
u64 Flights::until_due(const Block& block) const {
  u64 due = never;
  for (const AsyncOperation& o : block.flight.operations) {
    if (o.due < due && !held_up(block, o)) due = o.due;
  }
  return due > model_->instructions ? due - model_->instructions : 1;
}

// All moments whose time has come, or those up to where the run is to stop.
bool Flights::come_due(Block& block) {
  Flight& flight = block.flight;
  if (flight.operations.empty() && model_->cluster_size == 1) return true;
  if (flight.failed_tests >= patience) {
    flight.failed_tests = 0;
    for (u32 rank = 0; rank < model_->cluster_size && model_->state == RunState::running; ++rank) {
      hasten(*model_->member(block, rank));
    }
    if (model_->state != RunState::running) return false;
  }
  for (;;) {
    model_->watcher.settle_stops();
    if (model_->stops.hit()) return true;
    std::size_t next = flight.operations.size();
    for (std::size_t i = 0; i < flight.operations.size(); ++i) {
      const AsyncOperation& o = flight.operations[i];
      if (o.due > model_->instructions || held_up(block, o)) continue;
      if (next == flight.operations.size() || o.due < flight.operations[next].due) next = i;
    }
    if (next == flight.operations.size()) return true;
    if (!advance(block, next)) return false;
  }
}

bool Flights::finish(Block& block, u64 number) {
  if (model_->options.lazy) return false;
  for (;;) {
    auto& all = block.flight.operations;
    const auto o = std::find_if(all.begin(), all.end(), [&](const AsyncOperation& each) {
      return each.number == number && each.leader == no_leader;
    });
    if (o == all.end() || !unfinished(*o)) return true;
    if (held_up(block, *o) || !advance(block, static_cast<std::size_t>(o - all.begin())))
      return false;
  }
}

// Nobody can go on: the next moment comes now. With --lazy it is one that somebody waits for.
// False: there is none, or a fault was reported.
bool Flights::hasten(Block& block) {
  Flight& flight = block.flight;
  AsyncOperation* best = nullptr;
  bool best_is_wanted = false;
  for (AsyncOperation& o : flight.operations) {
    if (!unfinished(o)) continue;
    const bool wanted = model_->options.lazy && is_wanted(*model_, block, o);
    if (!wanted && held_up(block, o)) continue;
    const bool better =
        !best || (wanted && !best_is_wanted) || (!model_->options.lazy && o.due < best->due);
    if (!better) continue;
    best = &first_before(flight, o);
    best_is_wanted = wanted;
  }
  if (!best) return false;
  return advance(block, static_cast<std::size_t>(best - flight.operations.data()));
}

// With --lazy: what somebody of the cluster waits for, once nobody is slow. False: there is nothing
// of that.
bool Flights::hasten_wanted(Block& block) {
  const auto& operations = block.flight.operations;
  if (!model_->options.lazy || model_->scheduler.let_the_slow_go_on(block))
    return model_->options.lazy;
  const bool wanted = std::any_of(
      operations.begin(), operations.end(),
      [&](const AsyncOperation& o) { return unfinished(o) && is_wanted(*model_, block, o); });
  return wanted && hasten(block);
}

// A thread has waited for its groups below `limit`: what they used is free, for it and for those
// who synchronise with it from now on. False: some are not far enough yet.
bool Flights::await_groups(Block& block, u32 thread, u32 limit, bool reads_only) {
  auto& operations = block.flight.operations;
  const auto awaited = [&](const AsyncOperation& o) {
    return o.group != no_group && o.thread == thread && o.group < limit;
  };
  for (const AsyncOperation& o : operations) {
    if (awaited(o) && o.stage < (reads_only ? Stage::read : Stage::complete)) return false;
  }
  for (AsyncOperation& o : operations) {
    if (!awaited(o)) continue;
    const Observer* by = block.order.on() ? &block.order.of(thread / 32) : nullptr;
    settle(o, by ? by->me() : Agent{}, by ? by->epoch() : Completions::never, reads_only);
  }
  operations.erase(
      std::remove_if(operations.begin(), operations.end(),
                     [&](const AsyncOperation& o) { return awaited(o) && !unfinished(o); }),
      operations.end());
  return true;
}

// Nobody can go on and nothing is in flight: the time limit of those who are in a try_wait is over,
// and they learn that their phase is not complete (9.7.13.15.16). False: nobody is, or it did not
// help: they came back time after time, and nothing has changed.
bool Flights::time_out(Block& block) {
  constexpr u32 most = 64;
  if (!model_->compares_stores) compare_stores(*model_);
  const u64 changes = changes_for(*model_, block) + block.plain_meetings;
  if (changes != block.timed_out_at) block.time_outs = 0;
  block.timed_out_at = changes;
  if (++block.time_outs > most) return false;
  bool any = false;
  for (Warp& warp : block.warps) {
    for (Split& s : warp.splits) {
      if (s.wait != Wait::mbarrier) continue;
      s.wait = Wait::none;
      s.timed_out = true;
      any = true;
    }
  }
  return any;
}

void Flights::end_turn(Core& x) {
  x.limit = 0;
  model_->pause = Pause::turn;
}

// A try_wait may answer before its phase is complete (9.7.13.15.16). By every eighth seed most do:
// a warp that does not ask again is found out only where others of its warpgroup do not either.
bool Flights::gives_up_waiting() {
  const std::uint64_t seed = model_->options.schedule;
  return seed && model_->draws.drawn(4) < (seed % 8 == 7 ? 3u : 1u);
}

bool Flights::waits_for_pair() {
  return model_->options.lazy || (model_->options.schedule && model_->draws.drawn(2) == 0);
}

// What is in flight in another block still uses this one's memory. Where this one has issued it, to
// read from here, it is like its stores to global memory, for which chips keep shared memory.
bool Flights::leave_to_peer(const Block& block, const AsyncOperation& o) {
  if (o.issuer == block.rank && o.writes.empty()) {
    model_->reports.hazard_at(block, o.thread, o.pc, "exit_in_flight", o.pc,
                              [&] { return left_behind(*model_, block, o); });
    return true;
  }
  model_->reports.fault_at(
      model_->issuer(block, o), o.thread, o.pc, "exit_in_flight",
      fmt::format("all threads of CTA {} of the cluster have exited, but this {}, of CTA {}, "
                  "may still read {} there",
                  block.rank, o.work->name, o.issuer, range_text(o.reads[0])),
      "that CTA waits for the operation, or at a barrier after it, before its threads exit",
      "an operation in flight");
  model_->reports.explain(left_in_flight(*model_, block, o));
  return false;
}

namespace {

// Threads of another CTA have arrived at an mbarrier of this one, and nobody here knew of that
// before it exited: in another order they come too late. (Commits and copies are looked at as they
// come.)
void tell_of_late_arrival(Model& machine, const Block& block, u32 offset, const Released& part) {
  const Block* by = nullptr;
  for (u32 rank = 0; rank < machine.cluster_size; ++rank) {
    const Block* const member = machine.member(block, rank);
    if (rank != block.rank && member && member->number == part.by.block) by = member;
  }
  if (!by || !by->order.on() || part.home.block != part.by.block) return;
  const auto is_heard = [&](const Observer& other) {
    const u32 epoch = part.view.seen.of(other.me());
    for (u32 warp = 0; warp < block.warps.size(); ++warp) {
      if (block.order.of(warp).may_have_seen(other.me(), epoch)) return true;
    }
    return false;
  };
  bool all = true;
  for (u32 warp = 0; warp < by->warps.size(); ++warp) all &= is_heard(by->order.of(warp));
  if (all) return;
  machine.reports.hazard_at(*by, part.by.thread, part.by.pc, "peer_exited", part.by.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this {} goes to {} of CTA {} of the cluster, whose threads have all exited, and none of "
        "them knew of it before: it may come too late, when the memory is another CTA's",
        opcode_text(machine.program().code[part.by.pc].text), mbarrier_name(machine, offset),
        block.rank);
    r.expected = "a barrier.cluster, or another wait of that CTA for this one, before it exits";
    r.found = "an exit that waits for nobody" + exits_text(machine, block);
    r.evidence = evidence_at(mbarrier_at(block, offset));
    return r;
  });
}

void tell_of_late_arrivals(Model& machine, const Block& block) {
  if (machine.cluster_size < 2 || !block.order.on()) return;
  for (const auto& [offset, b] : block.mbarriers) {
    for (const Token* token : {&b.arriving, &b.completed}) {
      for (const Released& part : token->parts) tell_of_late_arrival(machine, block, offset, part);
    }
  }
}

}  // namespace

// The block's threads have all exited. What is in flight may still write to global memory, but the
// block's shared memory is gone.
bool Flights::land(Block& block) {
  tell_of_late_arrivals(*model_, block);
  for (const AsyncOperation& o : block.flight.operations) {
    const bool arrives = o.mbarrier != no_mbarrier && o.arrives_at(block.rank, block.rank);
    if (o.reads.empty() && o.writes.empty() && !arrives) continue;
    if (o.leader != no_leader) {
      if (!leave_to_peer(block, o)) return false;
      continue;
    }
    if (is_group_product(o)) {
      tell_of_product(*model_, block, o);
      continue;
    }
    if (is_store(o)) {
      tell_of_store(*model_, block, o);
      continue;
    }
    const Block& issuer = model_->issuer(block, o);
    const auto tell = [&] { return left_behind(*model_, block, o); };
    if (is_load(block, o) || o.work == &commit_work) {
      model_->reports.hazard_at(issuer, o.thread, o.pc, "exit_in_flight", o.pc, tell);
      continue;
    }
    Report r = tell();
    model_->reports.fault_at(issuer, o.thread, o.pc, "exit_in_flight", std::move(r.sentence),
                             std::move(r.expected), std::move(r.found));
    model_->reports.explain(std::move(r.evidence));
    return false;
  }
  while (!block.flight.operations.empty()) {
    if (!hasten(block)) break;
  }
  return model_->state == RunState::running;
}

}  // namespace tilescope::sim
