#include "core/sim/checks/lane_orders.h"

#include <fmt/format.h>

#include <cstring>

#include "core/sim/checks/evidence.h"
#include "core/sim/checks/one_place.h"
#include "core/sim/checks/unordered.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

const Block* block_of(const Core& x, std::uint32_t number) {
  return number == x.block->number ? x.block : x.machine->resident(number);
}

Conflict conflict_of(const Shadow::LaneRace& race) {
  Conflict out;
  out.lane = race.lane;
  out.offset = race.at;
  out.other = race.other;
  return out;
}

std::string_view name_of(const Core& x, std::uint32_t pc) {
  return ptx::opcode(x.machine->program().code[pc].op).name;
}

// The report of a lane's access and an earlier one, without its words.
Report report_of(const Core& x, const Accessed& memory, const MemoryAccess& access,
                 const Conflict& c) {
  Report r;
  const std::uint64_t begin = access.offsets[c.lane];
  r.evidence = evidence_of(x, memory, static_cast<int>(c.lane), name_of(x, access.pc),
                           verb_of(access.kind), begin, begin + access.bytes, c);
  return r;
}

// Another lane of the warp did it before, and nothing orders the two: lanes go on alone where they
// do not meet.
void tell_within(Core& x, const Accessed& memory, const MemoryAccess& access, const Conflict& c) {
  if (access.values && access.kind == Shadow::Kind::write && c.other.kind == Shadow::Kind::write &&
      stores_the_same(memory, access, c.lane)) {
    return;
  }
  x.machine->reports.hazard(x, static_cast<int>(c.lane), "lane_race", c.other.pc, [&] {
    Report r = report_of(x, memory, access, c);
    r.sentence = fmt::format(
        "{} {} {} in lane {}, which lane {} of the same warp {} at {}, and the two have not met "
        "since: lanes of a warp have no order of their own",
        name_of(x, access.pc), verb_of(access.kind), byte_text(x, memory, c.offset), c.lane,
        c.other.thread % 32, verb_of(c.other.kind), place_text(*x.machine, c.other));
    const auto& code = x.machine->program().code;
    const bool adds =
        access.pc == c.other.pc || (code[access.pc].source_line && access.kind != c.other.kind &&
                                    code[access.pc].source_line == code[c.other.pc].source_line);
    r.expected = "bar.warp.sync (__syncwarp()) by both lanes between the two";
    if (adds) r.expected += "; or an atomic, where each lane adds its own";
    r.found = "an order that this run has, and PTX does not promise";
    return r;
  });
}

// A lane of another warp stored there, and by what another lane of that warp told this access is
// ordered behind it: that lane's release covers what it did itself, and what it was told of.
void tell_untold(Core& x, const Accessed& memory, const MemoryAccess& access, const Conflict& c,
                 const Deed& by) {
  const Block* home = block_of(x, by.block);
  if (!home) return;
  Model& machine = *x.machine;
  machine.reports.hazard_at(*home, by.thread, by.pc, "lanes_not_released", c.other.pc, [&] {
    Report r = report_of(x, memory, access, c);
    r.sentence = fmt::format(
        "{} in lane {} tells others of what that lane did; lane {} of its warp writes {} at {}, "
        "the "
        "two have not met since, and {} of warp {} {} it at {}, behind the one and not the other",
        opcode_text(machine.program().code[by.pc].text), by.thread % 32, c.other.thread % 32,
        byte_text(x, memory, c.offset), place_text(machine, c.other), name_of(x, access.pc),
        access.warp, verb_of(access.kind), place_text(machine, touch_of(x, access)));
    r.expected = "bar.warp.sync (__syncwarp()) by all lanes before one of them tells for all";
    r.found =
        "an order that chips are seen to have where lanes are together, and PTX does not promise";
    return r;
  });
}

// A lane does what only another lane of its warp has waited for.
void tell_did_not_wait(Core& x, const Accessed& memory, const MemoryAccess& access,
                       const Conflict& c) {
  const Deed by = observer(x).alone();
  Model& machine = *x.machine;
  if (machine.stops.asked()) x.limit = 0;
  machine.reports.hazard_at(*x.block, by.thread, by.pc, "lanes_did_not_wait", access.pc, [&] {
    Report r = report_of(x, memory, access, c);
    r.sentence = fmt::format(
        "lane {} waits here, lane {} of its warp does not, and they have not met since: {} in lane "
        "{} {} {} at {}, which {} {} at {}, behind the wait of lane {} alone",
        by.thread % 32, c.lane, name_of(x, access.pc), c.lane, verb_of(access.kind),
        byte_text(x, memory, c.offset), place_text(machine, touch_of(x, access)),
        who_text(x, c.other), verb_of(c.other.kind), place_text(machine, c.other), by.thread % 32);
    r.expected = "bar.warp.sync (__syncwarp()) by all lanes behind the wait of one";
    r.found = "lanes that may go on alone, as an H200 lets them";
    return r;
  });
}

}  // namespace

void OfLanes::find(const Core& x, const Shadow::Pass& pass, bool may_be_untold) {
  pass.races_within(within_);
  if (!may_be_untold) return;
  const VectorClock& seen = x.block->order.of(x.warp->index).sure().seen;
  untold_ = pass.untold(
      told_, [&](Agent agent, std::uint32_t theirs, std::uint32_t turn, std::uint32_t epoch) {
        const Block* block = block_of(x, agent.block);
        if (!block)
          return Observer::Untold{};  // it has ended: what its lanes told is no longer known
        return block->order.of(agent.slot).untold(theirs, turn, epoch, seen.of(agent));
      });
}

void OfLanes::tell(Core& x, const Accessed& memory, const MemoryAccess& access) const {
  if (within_.other.lanes) tell_within(x, memory, access, conflict_of(within_));
  if (untold_.lanes) tell_untold(x, memory, access, conflict_of(told_), untold_.by);
}

void look_for_lanes_that_did_not_wait(Core& x, Shadow& shadow, const Accessed& memory,
                                      const MemoryAccess& access) {
  const Observer& me = observer(x);
  if (!me.alone().lanes || !access.by_lane || access.strong) return;
  const Model& machine = *x.machine;
  Conflict c;
  const auto is_behind = [&](const Shadow::Touch& earlier, std::uint64_t at) {
    if (earlier.strong) return false;
    // What nobody has seen is a race, and told so.
    const std::uint32_t operation = earlier.operation;
    const bool untold = operation ? machine.completions.is_seen(operation, me) &&
                                        !machine.completions.is_seen_by_all_lanes(operation, me)
                                  : me.has_seen(earlier.agent, earlier.epoch) &&
                                        !me.was_seen_by_all(earlier.agent, earlier.epoch);
    if (!untold) return false;
    c.offset = at;
    c.other = earlier;
    return true;
  };
  for (Mask rest = access.mask & ~me.alone().lanes; rest; rest &= rest - 1) {
    c.lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    const std::uint64_t begin = access.offsets[c.lane], end = begin + access.bytes;
    bool found = shadow.any_writer(
        begin, end,
        [&](std::uint64_t at, std::uint64_t, const Shadow::Touch& t) { return is_behind(t, at); });
    if (!found && access.kind != Shadow::Kind::read) {
      found = shadow.any_read(
          begin, end, [&](std::uint64_t at, const Shadow::Touch& t) { return is_behind(t, at); });
    }
    if (found) return tell_did_not_wait(x, memory, access, c);
  }
}

// Lanes of one store that store different values at one place. Which of them stays is left open;
// that one of them does, CUDA promises (Programming Guide, "SIMT Architecture").
void tell_one_place(Core& x, const Accessed& memory, const MemoryAccess& a) {
  // Most lie one behind the other.
  bool overlap = a.mask != ~Mask{0};
  for (std::uint32_t l = 1; l < 32; ++l) overlap |= a.offsets[l] < a.offsets[l - 1] + a.bytes;
  if (!overlap) return;
  each_at_one_place(a.mask, a.offsets, a.bytes, [&](std::uint32_t first, std::uint32_t lane) {
    if (std::memcmp(a.values + first * a.bytes, a.values + lane * a.bytes, a.bytes) == 0)
      return true;
    x.machine->reports.note(x, static_cast<int>(lane), "lanes_store_one_place", x.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "lanes {} and {} store different values at {} by one instruction; one of them stays, "
          "and which is open",
          first, lane, byte_text(x, memory, a.offsets[lane]));
      r.expected = "one lane that stores there, or the same value from all";
      r.found = "what an H200 is seen to leave: of each 128 bytes the lowest lane's";
      return r;
    });
    return false;
  });
}

}  // namespace tilescope::sim
