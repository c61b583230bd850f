#include "core/sim/async/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/sim/async/mbarrier_order.h"
#include "core/sim/async/unexpected_bytes.h"
#include "core/sim/checks/around.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 field = MbarrierBits::most;
constexpr std::int64_t zero_bytes = std::int64_t{1} << 20;  // in the field of the tx-count

u64 word_in_memory(const Block& block, u32 offset) {
  u64 word = 0;
  std::memcpy(&word, block.shared.data() + offset, sizeof word);
  return word;
}

void store(const Model& machine, Block& block, u32 offset, Mbarrier& b, u64 word, Actor who) {
  b.word = word;
  block.shared.write(offset, reinterpret_cast<const std::byte*>(&word), nullptr, sizeof word,
                     Writer::of(home_of(machine, block, who).number, who.thread, who.pc));
}

// Who did something to an mbarrier, for pictures of it.
Evidence::Party party_of(const Model& machine, const Block& block, u32 offset, Actor who,
                         std::string_view does) {
  return thread_at(machine, home_of(machine, block, who), who.thread, who.pc,
                   fmt::format("{} {}", opcode_text(machine.program().code[who.pc].text), does),
                   mbarrier_at(block, offset));
}

// A fault that has to do with this mbarrier. Answers false.
bool at_fault(Model& machine, const Block& block, u32 offset, Actor who, std::string kind,
              std::string sentence, std::string expected, std::string found) {
  machine.reports.fault_at(home_of(machine, block, who), who.thread, who.pc, std::move(kind),
                           std::move(sentence), std::move(expected), std::move(found));
  Evidence evidence = evidence_at(mbarrier_at(block, offset));
  evidence.parties = {party_of(machine, block, offset, who, "uses it")};
  machine.reports.explain(std::move(evidence));
  return false;
}

// A thread that waits for a phase and was left behind by `b.completer`.
bool left_behind(Model& machine, const Block& block, u32 offset, const Mbarrier& b, Actor waiter,
                 std::string sentence, std::string expected, std::string found) {
  machine.reports.fault_at(block, waiter.thread, waiter.pc, "waiter_left_behind",
                           std::move(sentence), std::move(expected),
                           std::move(found) + parity_text(machine, waiter.pc));
  Evidence evidence = evidence_at(mbarrier_at(block, offset));
  evidence.parties = {party_of(machine, block, offset, waiter, "waits"),
                      party_of(machine, block, offset, b.completer,
                               fmt::format("completed phase {}", b.phase - 1))};
  machine.reports.explain(std::move(evidence));
  return false;
}

std::string arrivals_text(u64 n) {
  return fmt::format("{} arrival{}", n, n == 1 ? "" : "s");
}

std::string bytes_text(std::int64_t n) {
  return fmt::format("{} byte{}", n, n == 1 ? "" : "s");
}

std::string line_text(const Model& machine, const Block& block, u32 thread, u32 pc) {
  return place_text(machine.site(block, thread, pc));
}

// "warp 1, lanes 0-31 at PTX line 40"
std::string attendance_text(const Model& machine, const Block& block, const Attendance& a) {
  const std::string whose =
      a.rank == block.rank ? "" : fmt::format("CTA {} of the cluster, ", a.rank);
  return fmt::format("{}warp {} {} at {}", whose, a.warp, lanes_text(a.mask),
                     line_text(machine, *machine.member(block, a.rank), a.warp * 32, a.pc));
}

void note_arrival(Mbarrier& b, Actor who, u32 rank) {
  const u32 warp = who.thread / 32, lane = u32{1} << who.thread % 32;
  for (Attendance& a : b.arrived) {
    if (a.rank != rank || a.warp != warp || a.pc != who.pc || (a.mask & lane)) continue;
    a.mask |= lane;
    return;
  }
  constexpr std::size_t most_kept = 64;
  if (b.arrived.size() < most_kept) b.arrived.push_back({warp, lane, who.pc, b.phase, false, rank});
}

void note_visit(Mbarrier& b, const Signal& what, Actor who, u32 rank, u64 now) {
  const u32 warp = who.thread / 32;
  const auto same = [&](const Visits& v) {
    return v.pc == who.pc && v.warp == warp && v.rank == rank;
  };
  auto v = std::find_if(b.visits.begin(), b.visits.end(), same);
  if (v == b.visits.end()) {
    if (b.visits.size() == Mbarrier::most_visits) return;
    b.visits.push_back({rank, warp, who.pc});
    v = b.visits.end() - 1;
  }
  if (v->phases == 0 || v->phase != b.phase) {
    ++v->phases;
    v->phase = b.phase;
    v->last = 0;
    v->when_before = std::exchange(v->when, now);
    v->times_before = std::exchange(v->times, 0);
    v->bytes_before = std::exchange(v->bytes, 0);
  }
  ++v->times;
  v->ever |= u32{1} << who.thread % 32;
  v->last |= u32{1} << who.thread % 32;
  v->bytes += u64{what.expected_bytes} + what.complete_bytes;
  v->arrives = v->arrives || what.arrivals;
  v->expects = v->expects || what.expected_bytes;
  v->brings = v->brings || what.complete_bytes;
}

// What the actor did, and has seen, goes to those who will wait for this phase. An operation passes
// on what it did itself; what its thread had seen only where the instruction orders that, too: of
// cp.async.mbarrier.arrive and complete-tx PTX says that they do not (8.9.1.1).
void release(Model& machine, Block& block, Mbarrier& b, const Signal& what, Actor who) {
  if (!block.order.on()) return;
  const Block& home = home_of(machine, block, who);
  Deed by{static_cast<u32>(home.number), who.thread, who.pc};
  if (who.operation) {
    Released part;
    part.home = block.order.of(0).home();  // it arrives for the block's threads, whatever scope
    part.by = by;
    if (what.behind) part.view.behind = *what.behind;
    b.arriving.add(part);
    if (!what.seen) return;
    for (const Released& seen : what.seen->parts) {
      part.view = seen.view;
      part.doubt = seen.doubt;
      b.arriving.add(part);
    }
    return;
  }
  Observer& me = machine.member(block, home.rank)->order.of(who.thread / 32);
  by.lanes = u32{1} << who.thread % 32;
  machine.lanes_tell = true;
  me.arrive(b.arriving, what.releases, what.scope, by);
}

// Who waits for this phase sees what has completed in it.
void release_completions(const Block& block, Mbarrier& b) {
  if (!block.order.on()) return;
  Released part;
  part.view.seen.see(b.agent, b.round);
  part.view.behind.see(b.agent, b.round);
  part.home = block.order.of(0).home();
  b.arriving.add(part);
}

// Those who sleep in a try_wait for a phase before the one that is complete now.
bool leave_nobody_behind(Model& machine, const Block& block, u32 offset, const Mbarrier& b) {
  for (const Attendance& w : b.waiting) {
    if (!w.asleep || w.phase + 1 >= b.phase) continue;
    const u32 thread = w.warp * 32 + static_cast<u32>(__builtin_ctz(w.mask));
    return leave_behind(machine, block, offset, b, {thread, w.pc, false}, w.phase);
  }
  return true;
}

// "the tcgen05.commit of warp 0 at hgemm_v6.cu:77"
std::string actor_text(const Model& machine, const Block& block, Actor who) {
  return fmt::format("the {} of warp {} at {}", opcode_text(machine.program().code[who.pc].text),
                     who.thread / 32,
                     line_text(machine, home_of(machine, block, who), who.thread, who.pc));
}

void wake(Block& block, u32 offset, const Mbarrier& b) {
  ++block.meetings;
  for (Warp& warp : block.warps) {
    for (Split& s : warp.splits) {
      if (s.wait == Wait::mbarrier && s.mbarrier == offset && s.phase < b.phase) {
        s.wait = Wait::none;
      }
    }
  }
}

// Does something that the phase was completed by come behind this wait for the one before?
bool is_through(const Mbarrier& b, const PassedWait& w) {
  return std::any_of(b.completed.parts.begin(), b.completed.parts.end(),
                     [&](const Released& part) { return part.view.behind.of(w.agent) >= w.epoch; });
}

// The phase before this one.
std::string phase_text(u64 phase) {
  return phase == 0 ? "the fresh mbarrier" : fmt::format("phase {}", phase - 1);
}

// Whether all lanes had come to that wait another lane's signal does not say: lanes that nothing
// orders may still have been on their way (--prove: not followed).
void log_lanes_left_behind(Model& machine, const Block& block, u32 offset, const Mbarrier& b,
                           const PassedWait& w) {
  u32 until = 0;
  for (const Released& part : b.completed.parts)
    until = std::max(until, part.view.behind.of(w.agent));
  const Observer::Untold untold =
      block.order.of(w.agent.slot)
          .untold(w.lanes, w.turn, w.epoch, until, Observer::Meets::by_instructions);
  if (!untold.lanes) return;
  machine.order_log->blind(fmt::format(
      "lanes of a warp that waited for {} at {} may go on before others have come there: {} tells "
      "of its own lane alone, and they have not met (bar.warp.sync)",
      mbarrier_name(machine, offset), line_text(machine, block, w.thread, w.pc),
      opcode_text(machine.program().code[untold.by.pc].text)));
}

// A phase that completes although somebody may not have come to the wait for the one before: then
// that wait is for a later one. It is so in every order in which the phase completes, while only
// some show it.
void look_for_early_completion(Model& machine, Block& block, u32 offset, const Mbarrier& b,
                               Actor who) {
  if (!block.order.on() || machine.supposes) return;
  for (const PassedWait& w : b.waited) {
    if (w.phases + 1 != b.phase) continue;
    if (is_through(b, w)) {
      if (machine.order_log) log_lanes_left_behind(machine, block, offset, b, w);
      continue;
    }
    const Block& home = home_of(machine, block, who);
    machine.reports.hazard_at(home, who.thread, who.pc, "phase_too_early", w.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "{} completes phase {} of {}, and nothing says that warp {} is through with its wait for "
          "{} at {}: coming later, it would wait for phase {}",
          actor_text(machine, block, who), b.phase - 1, mbarrier_name(machine, offset),
          w.thread / 32, phase_text(b.phase - 1), line_text(machine, block, w.thread, w.pc),
          b.phase);
      r.expected = fmt::format(
          "an arrival, or a barrier, by which whoever completes phase {} knows that all have "
          "waited "
          "for {}",
          b.phase - 1, phase_text(b.phase - 1));
      r.found = "a phase that may complete before all have waited for the one before";
      r.evidence = evidence_at(mbarrier_at(block, offset));
      r.evidence.parties = {
          party_of(machine, block, offset, who, fmt::format("completed phase {}", b.phase - 1)),
          party_of(machine, block, offset, {w.thread, w.pc, false}, "waited")};
      return r;
    });
  }
}

bool complete_phase(Model& machine, Block& block, u32 offset, Mbarrier& b, MbarrierBits& bits,
                    Actor who, const Knowledge& known_by = {}) {
  ++b.phase;
  bits.odd = !bits.odd;
  bits.pending = bits.expected;
  release_completions(block, b);
  b.completed = std::move(b.arriving);
  b.arriving.clear();
  b.round_before = std::exchange(b.round, block.order.next_epoch());
  if (machine.order_log) log_completion(machine, block, b, who);
  b.arrived_before = std::move(b.arrived);
  b.arrived.clear();
  b.completer = who;
  look_for_early_completion(machine, block, offset, b, who);
  look_for_unexpected_bytes(machine, block, offset, b, who);
  Happened done;
  done.what = Happening::phase;
  done.block = block.number;
  done.warp = who.thread / 32;
  done.pc = who.pc;
  done.object = offset;
  done.number = b.phase - 1;
  machine.stops.happened(done);
  if (block.order.on() && !who.operation) {
    const Observer& by = home_of(machine, block, who).order.of(who.thread / 32);
    note_completion(b, by.me(), by.epoch());
  } else if (block.order.on() && known_by.epoch) {
    note_completion(b, known_by.agent, known_by.epoch);
  }
  if (!leave_nobody_behind(machine, block, offset, b)) return false;
  machine.recording.note_mbarrier_phase(block, offset, who.operation, is_remote(block, who));
  wake(block, offset, b);
  return true;
}

// Bytes expected and bytes that came: the tx-count has a range (9.7.13.15.2).
bool count_bytes(Model& machine, const Block& block, u32 offset, const Signal& what, Actor who,
                 MbarrierBits& bits) {
  constexpr std::int64_t most = MbarrierBits::most;
  std::int64_t count = bits.transactions;
  for (const std::int64_t change :
       {std::int64_t{what.expected_bytes}, -std::int64_t{what.complete_bytes}}) {
    const std::int64_t before = count;
    count += change;
    if (count >= -most && count <= most) continue;
    return at_fault(
        machine, block, offset, who, "tx_count_out_of_range",
        fmt::format("{} {} on {}, whose tx-count is {}, and it cannot become {}",
                    bytes_text(std::abs(change)), change > 0 ? "are expected" : "arrive",
                    mbarrier_name(machine, offset), before, count),
        fmt::format("a tx-count from -{} to {}", most, most), fmt::format("{}", count));
  }
  bits.transactions = static_cast<std::int32_t>(count);
  return true;
}

bool count_arrivals(Model& machine, const Block& block, u32 offset, const Signal& what, Actor who,
                    const Mbarrier& b, MbarrierBits& bits) {
  if (bits.pending + u64{what.further} > MbarrierBits::most) {
    return at_fault(machine, block, offset, who, "bad_arrival_count",
                    fmt::format("{} would wait for more arrivals than it can count",
                                mbarrier_name(machine, offset)),
                    fmt::format("at most {}", MbarrierBits::most),
                    fmt::format("{}", bits.pending + u64{what.further}));
  }
  bits.pending += what.further;
  if (what.arrivals > bits.pending) {
    return at_fault(
        machine, block, offset, who, "too_many_arrivals",
        fmt::format(
            "{} {} at {}, whose phase {} waits for {}{}: the pending count cannot fall "
            "below 0. {}",
            arrivals_text(what.arrivals), what.arrivals == 1 ? "comes" : "come",
            mbarrier_name(machine, offset), b.phase,
            bits.pending ? fmt::format("only {}", bits.pending) : "no more arrivals",
            bits.transactions ? fmt::format(", and for {}", bytes_text(bits.transactions)) : "",
            mbarrier_story(machine, block, offset)),
        fmt::format("at most {} in a phase", arrivals_text(b.count)), "one arrival too many");
  }
  if (what.drops && what.arrivals > bits.expected) {
    return at_fault(
        machine, block, offset, who, "bad_arrival_count",
        fmt::format("mbarrier.arrive_drop takes {} from {}, which expects {}",
                    arrivals_text(what.arrivals), mbarrier_name(machine, offset), bits.expected),
        "at most as many as are expected", fmt::format("{}", what.arrivals));
  }
  if (what.drops) bits.expected -= what.arrivals;
  bits.pending -= what.arrivals;
  return true;
}

std::string came_text(const Model& machine, const Block& block, std::vector<Attendance> list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Attendance& a, const Attendance& b) { return a.warp < b.warp; });
  std::string out;
  for (const Attendance& a : list) {
    if (!out.empty()) out += ", ";
    out += attendance_text(machine, block, a);
  }
  return out;
}

// Who came in the phase before, but not in this one.
std::vector<Attendance> absent(const Mbarrier& b) {
  std::vector<Attendance> out;
  for (Attendance before : b.arrived_before) {
    for (const Attendance& now : b.arrived) {
      if (now.warp == before.warp && now.rank == before.rank) before.mask &= ~now.mask;
    }
    if (before.mask) out.push_back(before);
  }
  return out;
}

}  // namespace

const Block& home_of(const Model& machine, const Block& block, const Actor& who) {
  return who.rank == Actor::here ? block : *machine.member(block, who.rank);
}
bool is_remote(const Block& block, const Actor& who) {
  return who.rank != Actor::here && who.rank != block.rank;
}

u64 pack(const MbarrierBits& bits) {
  return u64{bits.pending} | u64{bits.expected} << 20 |
         static_cast<u64>(bits.transactions + zero_bytes) << 40 | u64{bits.odd} << 61 |
         u64{2} << 62;
}

bool unpack(u64 word, MbarrierBits& out) {
  out.pending = static_cast<u32>(word & field);
  out.expected = static_cast<u32>(word >> 20 & field);
  out.transactions =
      static_cast<std::int32_t>(static_cast<std::int64_t>(word >> 40 & 0x1fffff) - zero_bytes);
  out.odd = word >> 61 & 1;
  return word >> 62 == 2;
}

u64 mbarrier_state(u64 phase, u32 pending) {
  return phase << 20 | pending;
}
u64 phase_of_state(u64 state) {
  return state >> 20;
}
u32 pending_of_state(u64 state) {
  return static_cast<u32>(state & field);
}

std::string mbarrier_name(const Model& machine, u32 offset) {
  const BarrierNames& names = machine.barrier_names();
  if (const auto known = names.find(offset); known != names.end()) {
    return fmt::format("the mbarrier {} (byte {} of shared memory)", known->second, offset);
  }
  for (const ptx::Placed& placed : machine.program().shared) {
    const u64 into = offset - placed.address;
    if (offset < placed.address || into >= placed.variable.bytes) continue;
    return fmt::format("the mbarrier at byte {} of shared memory ({}{})", offset,
                       placed.variable.name, into ? fmt::format("+{}", into) : "");
  }
  return fmt::format("the mbarrier at byte {} of shared memory", offset);
}

namespace {

// Has whoever uses the mbarrier seen that it was made? By a barrier of the block; of the cluster
// one that releases, or a fence.mbarrier_init and one that is relaxed (9.7.13.4). All else promises
// nothing, and is seen to do where it has been made by then, which it has here: a relaxed barrier
// (Cutlass makes an mbarrier behind its last fence); a copy by which another CTA hears, of which
// 8.9.1.1 says that it orders nothing else; the longer way of a warp that meets nobody (CuTeDSL).
void check_visible(Model& machine, Block& block, u32 offset, const Mbarrier& b, Actor who) {
  if (who.operation || !block.order.on()) return;
  const u32 maker = b.maker / 32, warp = who.thread / 32;
  const bool remote = is_remote(block, who);
  const Block& home = home_of(machine, block, who);
  const Observer& user = home.order.of(warp);
  const Agent made_by = block.order.of(maker).me();
  if (user.has_seen(made_by, b.made_when) ||
      user.has_seen(block.order.agent(Completer::inits, maker), b.made_when)) {
    return;
  }
  machine.reports.hazard_at(home, who.thread, who.pc, "mbarrier_not_visible", b.made_at, [&] {
    Report r;
    r.sentence = fmt::format(
        "{} was initialised by warp {} at {}, and nothing has made that visible to {} yet",
        mbarrier_name(machine, offset), maker, line_text(machine, block, b.maker, b.made_at),
        remote ? "the other CTAs of the cluster" : fmt::format("warp {}", warp));
    r.expected = !remote ? "a barrier of the CTA between mbarrier.init and the first use"
                         : "fence.mbarrier_init after the mbarrier.init, or "
                           "barrier.cluster.arrive.release";
    r.found = user.may_have_seen(made_by, b.made_when) ? "a barrier.cluster with a relaxed arrival"
                                                       : "no barrier between";
    r.found += gap_text(machine, home, who.thread, who.pc, Done{&block, b.maker, b.made_at});
    const Actor made{b.maker, b.made_at, false, block.rank};
    r.evidence = evidence_at(mbarrier_at(block, offset));
    r.evidence.parties = {party_of(machine, block, offset, who, "uses it"),
                          party_of(machine, block, offset, made, "initialised it")};
    return r;
  });
}

// "; the nearest at byte 24, made at a.cu:12 (PTX line 40), and at byte 40, made at ...": on either
// side.
std::string others_text(const Model& machine, const Block& block, u32 offset) {
  const auto behind = block.mbarriers.lower_bound(offset);
  std::string out;
  const auto add = [&](u32 at, const Mbarrier& b) {
    out += fmt::format("{} at byte {}, made at {}", out.empty() ? "; the nearest" : ", and", at,
                       line_text(machine, block, b.maker, b.made_at));
  };
  if (behind != block.mbarriers.begin()) add(std::prev(behind)->first, std::prev(behind)->second);
  if (behind != block.mbarriers.end()) add(behind->first, behind->second);
  return out;
}

}  // namespace

Mbarrier* use_mbarrier(Model& machine, Block& block, u32 offset, Actor who) {
  const auto found = block.mbarriers.find(offset);
  if (found == block.mbarriers.end()) {
    at_fault(
        machine, block, offset, who, "mbarrier_not_initialised",
        fmt::format("byte {} of shared memory is used as an mbarrier, but no mbarrier.init has "
                    "made one there",
                    offset),
        "mbarrier.init, then a barrier of the CTA, before the first use",
        "no mbarrier" + others_text(machine, block, offset));
    return nullptr;
  }
  Mbarrier& b = found->second;
  if (word_in_memory(block, offset) != b.word || block.shared.any_undefined(offset, 8)) {
    const std::string by =
        b.spoilt ? fmt::format(", by {} of warp {}",
                               line_text(machine, block, b.spoiler, b.spoilt_at), b.spoiler / 32)
                 : "";
    at_fault(machine, block, offset, who, "mbarrier_overwritten",
             fmt::format("{} was overwritten by data{}", mbarrier_name(machine, offset), by),
             "mbarrier.inval before its bytes are used for something else",
             "bytes that no mbarrier operation left there");
    if (b.spoilt) {
      Evidence evidence = evidence_at(mbarrier_at(block, offset));
      evidence.parties = {
          party_of(machine, block, offset, who, "uses it"),
          party_of(machine, block, offset, {b.spoiler, b.spoilt_at, false}, "overwrote it")};
      machine.reports.explain(std::move(evidence));
    }
    return nullptr;
  }
  check_visible(machine, block, offset, b, who);
  return &b;
}

namespace {

// Another lane of the warp has just done the same, by the same instruction: kernels in use have all
// lanes initialise (ThunderKittens).
bool is_same_init(const Mbarrier& old, u32 count, const Actor& who) {
  return old.made_at == who.pc && old.maker / 32 == who.thread / 32 &&
         old.maker % 32 < who.thread % 32 && old.count == count && old.phase == 0 &&
         old.arrived.empty();
}

// Nothing in flight will complete on it; else false, and the fault is told.
bool is_idle(Model& machine, Block& block, u32 offset, std::string_view becomes,
             std::string_view by, Actor who) {
  for (const AsyncOperation& o : block.flight.operations) {
    if (o.mbarrier != offset || o.stage == Stage::complete ||
        !o.arrives_at(block.rank, block.rank)) {
      continue;
    }
    return at_fault(machine, block, offset, who, "mbarrier_in_use",
                    fmt::format("{} is {}, but the {} at {} will complete on it",
                                mbarrier_name(machine, offset), becomes, o.work->name,
                                line_text(machine, block, o.thread, o.pc)),
                    fmt::format("a wait for the operation before {}", by),
                    "an operation in flight");
  }
  return true;
}

}  // namespace

bool init_mbarrier(Model& machine, Block& block, u32 offset, u32 count, Actor who) {
  if (count == 0 || count > MbarrierBits::most) {
    return at_fault(machine, block, offset, who, "bad_arrival_count",
                    fmt::format("{} is initialised with a count of {}",
                                mbarrier_name(machine, offset), arrivals_text(count)),
                    fmt::format("a count from 1 to {}", MbarrierBits::most),
                    fmt::format("{}", count));
  }
  if (const auto old = block.mbarriers.find(offset);
      old != block.mbarriers.end() && word_in_memory(block, offset) == old->second.word) {
    if (is_same_init(old->second, count, who)) {
      machine.reports.hazard_at(
          block, who.thread, who.pc, "mbarrier_initialised_twice", who.pc, [&] {
            Report r;
            r.sentence = fmt::format(
                "several lanes of the warp initialise {}, with the same count: PTX leaves open "
                "what "
                "comes of the second (PTX ISA 9.7.13.15.9)",
                mbarrier_name(machine, offset));
            r.expected = "one lane that executes mbarrier.init";
            r.found = fmt::format("lanes {} and {}", old->second.maker % 32, who.thread % 32);
            r.evidence = evidence_at(mbarrier_at(block, offset));
            return r;
          });
      return true;
    }
    if (!is_idle(machine, block, offset, "initialised again", "mbarrier.init", who)) return false;
    // Measured on an H100: it begins anew, with the new count.
    machine.reports.hazard_at(
        block, who.thread, who.pc, "mbarrier_initialised_twice", old->second.made_at, [&] {
          Report r;
          r.sentence = fmt::format(
              "{} is initialised again; it was at {}, and is in phase {}",
              mbarrier_name(machine, offset),
              line_text(machine, block, old->second.maker, old->second.made_at), old->second.phase);
          r.expected = "mbarrier.inval before another mbarrier.init";
          r.found = "a valid mbarrier";
          r.evidence = evidence_at(mbarrier_at(block, offset));
          const Actor before{old->second.maker, old->second.made_at, false, block.rank};
          r.evidence.parties = {party_of(machine, block, offset, who, "initialises it again"),
                                party_of(machine, block, offset, before, "initialised it")};
          return r;
        });
  }
  Mbarrier b;
  b.count = count;
  b.maker = who.thread;
  b.made_at = who.pc;
  if (block.order.on()) {
    Observer& maker = block.order.of(who.thread / 32);
    maker.note_init(who.thread % 32);
    b.made_when = maker.epoch();
    b.agent = block.order.agent(Completer::mbarrier, offset);
    b.round = block.order.next_epoch();
    b.place = u64{1} << 63 | block.number << 32 | offset;
  }
  store(machine, block, offset, b, pack({count, count, 0, false}), who);
  block.mbarriers[offset] = std::move(b);
  return true;
}

bool invalidate_mbarrier(Model& machine, Block& block, u32 offset, Actor who) {
  if (!use_mbarrier(machine, block, offset, who)) return false;
  if (!is_idle(machine, block, offset, "invalidated", "mbarrier.inval", who)) return false;
  block.mbarriers.erase(offset);
  block.shared.make_undefined(offset, 8);
  return true;
}

bool signal_mbarrier(Model& machine, Block& block, u32 offset, const Signal& what, Actor who,
                     u64* state) {
  Mbarrier* b = use_mbarrier(machine, block, offset, who);
  if (!b) return false;
  MbarrierBits bits;
  unpack(b->word, bits);
  if (state) *state = mbarrier_state(b->phase, bits.pending);
  if (!count_bytes(machine, block, offset, what, who, bits) ||
      !count_arrivals(machine, block, offset, what, who, *b, bits)) {
    return false;
  }
  machine.recording.record_arrivals(block, offset, who.pc, what.arrivals, what.complete_bytes);
  const Block& home = home_of(machine, block, who);
  block.heard |= home.heard;
  if (what.arrivals) note_arrival(*b, who, home.rank);
  note_visit(*b, what, who, home.rank, ++block.signals);
  if (machine.order_log && block.order.on()) {
    log_signal(machine, block, offset, *b, what, who);
  }
  if (what.arrivals || what.complete_bytes) release(machine, block, *b, what, who);
  const bool completes =
      (what.arrivals || what.complete_bytes) && bits.pending == 0 && bits.transactions == 0;
  if (completes && what.no_complete) {
    return at_fault(machine, block, offset, who, "completed_by_no_complete",
                    fmt::format("an arrival with .noComplete completes phase {} of {}", b->phase,
                                mbarrier_name(machine, offset)),
                    "another arrival to complete the phase", "no arrival left to come");
  }
  if (completes && !complete_phase(machine, block, offset, *b, bits, who, what.by)) return false;
  store(machine, block, offset, *b, pack(bits), who);
  return true;
}

bool suppose_complete(Model& machine, Block& block, u32 offset, Actor who) {
  Mbarrier* b = use_mbarrier(machine, block, offset, who);
  MbarrierBits bits;
  if (!b || !unpack(b->word, bits)) return false;
  if (block.order.on()) {
    Released all;
    all.view = block.order.all();
    all.home = block.order.of(0).home();
    b->arriving.add(all);
  }
  bits.transactions = 0;
  if (!complete_phase(machine, block, offset, *b, bits, who)) return false;
  store(machine, block, offset, *b, pack(bits), who);
  return true;
}

bool leave_behind(Model& machine, const Block& block, u32 offset, const Mbarrier& b, Actor waiter,
                  u64 phase) {
  return left_behind(
      machine, block, offset, b, waiter,
      fmt::format(
          "missed phase: this thread waits for phase {} of {}, and phase {} completed too, by {}, "
          "before the thread went on: by parity it cannot tell phase {} from phase {}",
          phase, mbarrier_name(machine, offset), b.phase - 1,
          actor_text(machine, block, b.completer), phase, phase + 2),
      "a phase that completes only after all waiters of the one before have gone on",
      fmt::format("phase {} complete, and a thread still waiting for phase {}", b.phase - 1,
                  phase));
}

bool come_too_late(Model& machine, const Block& block, u32 offset, const Mbarrier& b,
                   Actor waiter) {
  const u64 last = b.phase - 1;
  return left_behind(
      machine, block, offset, b, waiter,
      fmt::format("missed phase: this thread waits for parity {} of {}, which is in phase {}: "
                  "phase {} was completed by {}, and nothing orders this warp after that. Earlier, "
                  "{} would have let it through; now it waits for phase {}",
                  b.phase & 1, mbarrier_name(machine, offset), b.phase, last,
                  actor_text(machine, block, b.completer),
                  last == 0 ? "the fresh barrier" : fmt::format("phase {}", last - 1), b.phase),
      fmt::format("phase {} to complete only after this warp has gone on", last),
      fmt::format("phase {} complete", last));
}

std::string mbarrier_story(const Model& machine, const Block& block, u32 offset) {
  const auto found = block.mbarriers.find(offset);
  if (found == block.mbarriers.end()) return "it is no mbarrier";
  const Mbarrier& b = found->second;
  MbarrierBits bits;
  unpack(b.word, bits);
  std::string lacks;
  if (bits.pending) lacks = fmt::format("{} of {}", bits.pending, arrivals_text(b.count));
  if (bits.transactions > 0) {
    lacks += fmt::format("{}{}", lacks.empty() ? "" : " and ", bytes_text(bits.transactions));
  }
  std::string out = fmt::format("phase {} lacks {}", b.phase, lacks.empty() ? "nothing" : lacks);
  if (bits.transactions < 0) {
    out += fmt::format(", and {} more than expected arrived", bytes_text(-bits.transactions));
  }
  if (!b.arrived.empty()) {
    out += fmt::format("; arrived: {}", came_text(machine, block, b.arrived));
  }
  const std::vector<Attendance> missing = absent(b);
  if (bits.pending && !missing.empty()) {
    out += fmt::format("; in phase {} also arrived: {}", b.phase - 1,
                       came_text(machine, block, missing));
  }
  const std::string made = line_text(machine, block, b.maker, b.made_at);
  if (b.arrived.empty() && missing.empty()) {
    out += fmt::format("; nobody has arrived since it was initialised at {}", made);
  } else if (bits.pending && b.phase == 0) {  // the count that it was given was never reached
    out += fmt::format("; it was initialised at {}", made);
  }
  return out;
}

std::string unexpected_story(const Model& machine, const Block& block, u32 offset) {
  const auto found = block.mbarriers.find(offset);
  if (found == block.mbarriers.end()) return "";
  const Mbarrier& b = found->second;
  MbarrierBits bits;
  if (b.phase == 0 || !b.arrived.empty() || !unpack(b.word, bits) || bits.transactions > 0) {
    return "";
  }
  return fmt::format(
      "; {}, on which it completes, expects no bytes any more: phase {} completed without them, by "
      "{}; arrived: {}",
      mbarrier_name(machine, offset), b.phase - 1, actor_text(machine, block, b.completer),
      came_text(machine, block, b.arrived_before));
}

}  // namespace tilescope::sim
