// mbarrier.* (PTX ISA 9.7.13.15): lane after lane, as each lane is a thread that arrives or waits
// for itself.
//
// A try_wait whose phase is not complete lets its lanes sleep until it is. With --schedule it may
// answer at once, as PTX allows; and where nobody else could go on it answers after "a
// system-dependent time limit". test_wait never waits: its warp leaves its turn to the others.
#include "core/sim/async/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/sim/checks/evidence.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/cluster.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using ptx::Step;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 mbarrier_bytes = 8;

const ptx::Modifiers& modifiers_of(const Core& x) {
  return x.machine->program().code[x.pc].modifiers;
}

bool is_relaxed(const ptx::Modifiers& how) {
  constexpr std::uint8_t relaxed = 2;  // word of Field::order
  return how[Field::order] == relaxed;
}

// Without a scope it is .cta (9.7.13.15.13, 9.7.13.15.16).
Scope scope_of(const ptx::Modifiers& how) {
  return sim::scope_of(how, Scope::cta);
}

Actor actor(const Core& x, int lane) {
  return {x.warp->index * 32 + static_cast<u32>(lane), x.pc, false, x.block->rank};
}

u64 address_of(const Core& x, const Code& c, int lane) {
  if (c.a == nothing) return c.immediate;
  if (!c.narrow_address) return lane_array<u64>(x, c.a)[lane] + c.immediate;
  return static_cast<u32>(lane_array<u32>(x, c.a)[lane] + c.immediate);
}

// In the block's memory, or in that of another one of the cluster: arrivals, and bytes expected or
// complete, may go there (9.7.13.15.13), waits may not.
bool locate_anywhere(Core& x, const Code& c, int lane, Block*& block, u32& offset) {
  block = x.block;
  if (!modifiers_of(x).reaches_cluster()) return locate_mbarrier(x, c, lane, offset);
  return cluster_offset(x, c, c.space, Access::atomic, lane, address_of(x, c, lane), mbarrier_bytes,
                        mbarrier_bytes, block, offset);
}

u32 operand(const Core& x, Reference r, int lane, u32 otherwise) {
  return r == nothing ? otherwise : lane_array<u32>(x, r)[lane];
}

Flow init(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    u32 offset = 0;
    if (!locate_mbarrier(x, c, lane, offset)) return Flow::fault;
    if (x.block->order.on()) {
      u64 offsets[lanes];
      offsets[lane] = offset;
      watch(x, {Shadow::Kind::write, false, x.warp->index, x.pc, Mask{1} << lane, offsets,
                mbarrier_bytes, false});
    }
    if (!init_mbarrier(*x.machine, *x.block, offset, operand(x, c.b, lane, 0), actor(x, lane))) {
      return Flow::fault;
    }
  }
  return Flow::next;
}

Flow invalidate(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    u32 offset = 0;
    if (!locate_mbarrier(x, c, lane, offset) ||
        !invalidate_mbarrier(*x.machine, *x.block, offset, actor(x, lane))) {
      return Flow::fault;
    }
  }
  return Flow::next;
}

// What one lane signals.
Signal signal_of(const Core& x, const Code& c, int lane, const ptx::Modifiers& how) {
  Signal s;
  s.releases = !is_relaxed(how);
  s.scope = scope_of(how);
  switch (how.step()) {
    case Step::expect_tx:
      s.expected_bytes = operand(x, c.b, lane, 0);
      break;
    case Step::complete_tx:
      s.complete_bytes = operand(x, c.b, lane, 0);
      break;
    default:
      s.drops = how.step() == Step::arrive_drop;
      s.no_complete = how.has(Field::no_complete);
      if (how.has(Field::expects)) {
        s.expected_bytes = operand(x, c.b, lane, 0);
        s.arrivals = 1;
      } else {
        s.arrivals = operand(x, c.b, lane, 1);
      }
  }
  return s;
}

// Who has arrived, and in which phase.
struct Arrived {
  const Block* block = nullptr;
  u32 offset = 0;
  u64 phase = 0;
};

// Lanes of one instruction arrive together: where the mbarrier has fewer arrivals left in its phase
// than they are, the launch fails (measured on an H100: 32 lanes at an mbarrier of 31), as where
// one thread arrives too often. Between them nobody could have found the phase complete, which is
// wanted before an arrival in the next (9.7.13.15.4).
bool check_together(Core& x, int lane, const Block& block, u32 offset, const Arrived& before) {
  const auto b = block.mbarriers.find(offset);
  if (before.block != &block || before.offset != offset || b == block.mbarriers.end() ||
      b->second.phase == before.phase) {
    return true;
  }
  const u32 count = b->second.count;
  x.reports->fault(
      x, lane, "too_many_arrivals",
      fmt::format("lanes of this instruction arrive together at {}, and are more than it has "
                  "arrivals left in phase {}",
                  mbarrier_name(*x.machine, offset), b->second.phase - 1),
      "mbarrier.init with as many arrivals as come in a phase",
      fmt::format("one more by lane {}, where the mbarrier is for {} arrival{}", lane, count,
                  count == 1 ? "" : "s"));
  x.reports->explain(evidence_at(mbarrier_at(block, offset)));
  return false;
}

Flow signal(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = modifiers_of(x);
  const bool arrives = how.step() == Step::arrive || how.step() == Step::arrive_drop;
  u64 states[lanes] = {};
  if (arrives) x.block->tensor.arrive(x.warp->index);
  Arrived before;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    u32 offset = 0;
    Block* block = nullptr;
    if (!locate_anywhere(x, c, lane, block, offset)) return Flow::fault;
    const Signal s = signal_of(x, c, lane, how);
    if (arrives && (s.arrivals == 0 || s.arrivals > MbarrierBits::most)) {
      return x.reports->fault(x, lane, "bad_arrival_count",
                              fmt::format("this thread arrives at {} {} times",
                                          mbarrier_name(*x.machine, offset), s.arrivals),
                              fmt::format("a count from 1 to {}", MbarrierBits::most),
                              fmt::format("{}", s.arrivals));
    }
    if (arrives && !check_together(x, lane, *block, offset, before)) return Flow::fault;
    if (!signal_mbarrier(*x.machine, *block, offset, s, actor(x, lane), &states[lane])) {
      return Flow::fault;
    }
    before = {block, offset, phase_of_state(states[lane])};
  }
  if (arrives && c.d != nothing) base::blend(lane_array<u64>(x, c.d), states, m);
  if (x.machine->stops.asked()) x.limit = 0;  // it may have completed a phase
  return Flow::next;
}

Flow pending_count(Core& x, const Code& c, Mask m) {
  u32 counts[lanes];
  for (int l = 0; l < lanes; ++l) counts[l] = pending_of_state(lane_array<u64>(x, c.b)[l]);
  base::blend(lane_array<u32>(x, c.d), counts, m);
  return Flow::next;
}

// ---- waiting ----

// The lane waits no more.
void forget(Mbarrier& b, u32 warp, Mask gone) {
  for (Attendance& w : b.waiting) {
    if (w.warp == warp) w.mask &= ~gone;
  }
  b.waiting.erase(std::remove_if(b.waiting.begin(), b.waiting.end(),
                                 [](const Attendance& w) { return w.mask == 0; }),
                  b.waiting.end());
}

void remember(Mbarrier& b, u32 warp, Mask come, u32 pc, u64 phase, bool asleep) {
  forget(b, warp, come);
  for (Attendance& w : b.waiting) {
    if (w.warp != warp || w.pc != pc || w.phase != phase || w.asleep != asleep) continue;
    w.mask |= come;
    return;
  }
  b.waiting.push_back({warp, come, pc, phase, asleep});
}

const Attendance* waits_already(const Mbarrier& b, u32 warp, int lane) {
  for (const Attendance& w : b.waiting) {
    if (w.warp == warp && (w.mask >> lane & 1)) return &w;
  }
  return nullptr;
}

// What a lane asks about.
struct Question {
  u32 offset = 0;
  Mbarrier* barrier = nullptr;
  u64 phase = 0;
  bool ready = false;
};

// The parity is that of the current phase, or of the one before: phase -1 of a fresh mbarrier,
// whose parity is 1, counts as complete. A thread that cannot know that the phase before is
// complete cannot mean the current one either: asked a moment earlier, the answer would have been
// another. A chip goes by the lowest bit (measured on an H100, 0 to 7, test_wait and try_wait).
bool ask_by_parity(Core& x, const Code& c, int lane, Question& q) {
  const u32 said = operand(x, c.b, lane, 0), parity = said & 1;
  if (said > 1) {
    x.reports->hazard(x, lane, "bad_parity", x.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "a phase has the parity 0 or 1, not {}: chips are seen to go by its lowest bit", said);
      r.expected = "0 or 1";
      r.found = fmt::format("{}", said);
      return r;
    });
  }
  const Mbarrier& b = *q.barrier;
  q.ready = (b.phase & 1) != parity;
  q.phase = b.phase;
  const Attendance* before = waits_already(b, x.warp->index, lane);
  if (before && (before->phase & 1) == parity && before->phase + 1 < b.phase) {
    return leave_behind(*x.machine, *x.block, q.offset, b, actor(x, lane), before->phase);
  }
  if (q.ready || !x.block->order.on() || knows_completion(b, observer(x))) return true;
  return come_too_late(*x.machine, *x.block, q.offset, b, actor(x, lane));
}

bool ask_by_state(Core& x, const Code& c, int lane, Question& q) {
  q.phase = phase_of_state(lane_array<u64>(x, c.b)[lane]);
  q.ready = q.phase != q.barrier->phase;
  if (!q.ready || q.phase + 1 == q.barrier->phase) return true;
  return leave_behind(*x.machine, *x.block, q.offset, *q.barrier, actor(x, lane), q.phase);
}

bool ask(Core& x, const Code& c, int lane, const ptx::Modifiers& how, Question& q) {
  if (!locate_mbarrier(x, c, lane, q.offset)) return false;
  q.barrier = use_mbarrier(*x.machine, *x.block, q.offset, actor(x, lane));
  if (!q.barrier) return false;
  return how.has(Field::parity) ? ask_by_parity(x, c, lane, q) : ask_by_state(x, c, lane, q);
}

void acquire(Core& x, int lane, Mask together, Mbarrier& b, const ptx::Modifiers& how) {
  if (!x.block->order.on()) return;
  Observer& me = observer(x);
  // By parity it could mean a phase further back as well, did it not know of that.
  if (x.machine->order_log && how.has(Field::parity) && b.phase > 1 &&
      !knows_phases(b, me, b.phase - 1)) {
    x.machine->order_log->may_change(Reversal::Kind::mbarrier, b.completed_by,
                                     x.machine->step_of(*x.block, x.warp->index, x.pc));
  }
  note_completion(b, me.me(), me.epoch());
  const u32 thread = x.warp->index * 32 + static_cast<u32>(lane);
  const bool fresh = note_wait(b, me, thread, x.pc);
  if (fresh && x.machine->order_log) {
    x.machine->order_log->step(x.block->number, x.warp->index,
                               b.place * 0x10001 + b.phase * 16 + 2);
  }
  if (is_relaxed(how)) {
    me.acquire_relaxed(b.completed, scope_of(how), deed(x, lane, together), b.place);
  } else {
    me.acquire(b.completed, scope_of(how), deed(x, lane, together), b.place);
  }
}

// Lanes m sleep until the phase is complete.
Flow sleep(Core& x, Mask m, u32 offset, u64 phase) {
  Split& s = x.warp->splits[x.split];
  s.mbarrier = offset;
  s.phase = phase;
  return wait_here(x, m, Wait::mbarrier);
}

// The one that was waited at last is kept: a fault may ask whether that was the right one.
void pass(Core& x, const Question& q, const ptx::Modifiers& how) {
  Split& s = x.warp->splits[x.split];
  s.mbarrier = q.offset;
  s.phase = how.has(Field::parity) ? q.barrier->phase - 1 : q.phase;
}

// Of a lane that asks for a phase for the first time.
bool refuses(const Core& x, const Question& q, int lane) {
  Mbarrier& b = *q.barrier;
  const u32 bit = Mask{1} << lane;
  for (Attendance& a : b.refused) {
    if (a.warp != x.warp->index) continue;
    if (a.phase != b.phase) {
      a.phase = b.phase;
      a.mask = 0;
    }
    const bool before = a.mask & bit;
    a.mask |= bit;
    return !before;
  }
  b.refused.push_back({x.warp->index, bit, x.pc, b.phase});
  return true;
}

// Up to which of its epochs the warp's own deeds were known to those who told of it here.
u32 heard_of_own(Core& x, const Token& told) {
  if (!x.block->order.on()) return 0;
  const Agent own = observer(x).me();
  u32 out = 0;
  for (const Released& part : told.parts) {
    if (part.doubt == Doubt::none) out = std::max(out, part.view.seen.of(own));
  }
  return out;
}

// Do all of them ask the same of one mbarrier, as they did before? Then one question is enough.
bool ask_alike(Core& x, const Code& c, Mask m, const ptx::Modifiers& how, const Question& first) {
  if (!(m & (m - 1)) || !how.has(Field::parity) || x.machine->options.first_waits_fail)
    return false;
  const int lane = __builtin_ctz(m);
  const u64 address = address_of(x, c, lane);
  const u32 parity = operand(x, c.b, lane, 0);
  if (parity > 1) return false;
  for (Mask rest = m & (m - 1); rest; rest &= rest - 1) {
    const int other = __builtin_ctz(rest);
    if (address_of(x, c, other) != address || operand(x, c.b, other, 0) != parity) return false;
  }
  const std::vector<Attendance>& waiting = first.barrier->waiting;
  return std::all_of(waiting.begin(), waiting.end(), [&](const Attendance& w) {
    return w.warp != x.warp->index || !(w.mask & m) || !(m & ~w.mask);
  });
}

template <bool may_sleep>
Flow wait(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = modifiers_of(x);
  const bool timed_out = std::exchange(x.warp->splits[x.split].timed_out, false);
  const bool unread = x.machine->unread_waits[x.pc];
  Mask ready = 0;
  u32 heard[lanes] = {};
  Question questions[lanes];
  Mask together = 0;  // lanes for which one question was asked
  for (Mask rest = m; rest; rest &= ~together) {
    const int lane = __builtin_ctz(rest);
    Question& q = questions[lane];
    if (!ask(x, c, lane, how, q)) return Flow::fault;
    together = rest == m && ask_alike(x, c, m, how, q) ? m : Mask{1} << lane;
    if (q.ready && x.machine->options.first_waits_fail && refuses(x, q, lane)) q.ready = false;
    if (!q.ready) continue;
    ready |= together;
    pass(x, q, how);
    forget(*q.barrier, x.warp->index, together);
    if (unread) continue;
    acquire(x, lane, m, *q.barrier, how);
    // Of several lanes the last is the one that is remembered.
    const int last = 31 - __builtin_clz(together);
    if (last != lane && x.block->order.on()) {
      note_wait(*q.barrier, observer(x), x.warp->index * 32 + static_cast<u32>(last), x.pc);
    }
    if (!is_relaxed(how)) heard[lane] = heard_of_own(x, q.barrier->completed);
    x.machine->recording.know_phase(x, q.offset);
  }
  if (ready && x.block->order.on()) {
    observer(x).lanes_found_complete(ready, x.warp->live);
    const bool one = together == m;
    for (Mask rest = x.warp->live & ~ready ? ready : 0; rest; rest &= one ? 0 : rest - 1) {
      const int lane = __builtin_ctz(rest);
      observer(x).lanes_acquired(one ? ready : Mask{1} << lane, heard[lane]);
    }
  }
  const bool sleeps = may_sleep && !ready && !timed_out && !x.machine->flights.gives_up_waiting() &&
                      !x.machine->options.first_waits_fail;
  const bool alike = together == m;
  for (Mask rest = m & ~ready; rest; rest &= alike ? 0 : rest - 1) {
    const int lane = __builtin_ctz(rest);
    const Question& q = questions[lane];
    const bool here = q.barrier == questions[__builtin_ctz(m)].barrier;
    remember(*q.barrier, x.warp->index, alike ? m : Mask{1} << lane, x.pc, q.phase, sleeps && here);
  }
  const Question& first = questions[__builtin_ctz(m)];
  if (sleeps) return sleep(x, m, first.offset, first.phase);
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | ready;
  if (ready != m) {
    ++x.block->flight.failed_tests;
    x.machine->flights.end_turn(x);
  }
  return Flow::next;
}

}  // namespace

bool locate_mbarrier(Core& x, const Code& c, int lane, u32& offset) {
  return shared_offset(x, c, c.space, Access::atomic, lane, address_of(x, c, lane), mbarrier_bytes,
                       mbarrier_bytes, offset);
}

Handler async_handler(const ptx::Instruction& i) {
  if (i.op == ptx::Op::setmaxnreg) return register_handler();
  if (i.op == ptx::Op::tensormap) return map_handler(i);
  if (i.op == ptx::Op::clusterlaunchcontrol) return launch_handler(i);
  switch (i.modifiers.step()) {
    case Step::init:
      return init;
    case Step::inval:
      return invalidate;
    case Step::pending_count:
      return pending_count;
    case Step::test_wait:
      return wait<false>;
    case Step::try_wait:
      return wait<true>;
    case Step::none:
      return nullptr;
    default:
      return signal;
  }
}

}  // namespace tilescope::sim
