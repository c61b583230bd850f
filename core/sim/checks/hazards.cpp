// Accesses of shared and global memory that nothing orders.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "core/sim/checks/conflict.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/checks/lane_orders.h"
#include "core/sim/checks/late_reads.h"
#include "core/sim/checks/unordered.h"
#include "core/sim/machine/early.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

// Is what was there before used up: read, or brought by an operation that is complete? Then a later
// write, behind a way of telling that chips keep though PTX does not promise it, spoils nothing. So
// free their stages kernels that release in the scope of their own CTA, as CUTLASS's multicast ones
// do, or by a relaxed barrier.cluster. Who tells by another relaxed operation has left something
// out.
//
// Where a scope is too narrow that is a hazard all the same, of its own kind (narrow_scope).
bool is_used_up(const Core& x, const Conflict& c, Shadow::Kind kind) {
  if (!c.is_likely || kind == Shadow::Kind::read) return false;
  if (c.other.kind != Shadow::Kind::read && !c.other.async) return false;
  if (!c.by) return true;
  const bool relaxed = c.by->why == Doubt::relaxed_release || c.by->why == Doubt::relaxed_acquire;
  return !relaxed || x.machine->program().code[c.by->release.pc].op == ptx::Op::barrier;
}

// Does the scope of the release or of the acquire not include the other one?
bool is_of_narrow_scope(const Conflict& c) {
  return c.by && (c.by->why == Doubt::release_scope || c.by->why == Doubt::acquire_scope);
}

// Two CTAs write the same tile of a result: that is told of the tile (core/sim/checks/tiles.h).
bool is_told_by_tiles(const Core& x, const Accessed& memory, Shadow::Kind kind, const Conflict& c) {
  return memory.region && memory.region->watches_tiles() && kind == Shadow::Kind::write &&
         c.other.kind == Shadow::Kind::write && c.other.home.block != x.block->number;
}

// Each thread fences what it wrote before a barrier, and one of them tells behind it by a relaxed
// access, as kernels in use do: only a fence by who tells makes a release pattern (8.8).
bool is_fenced_elsewhere(const Accessed& memory, const Conflict& c) {
  return memory.region && c.is_likely && !c.other.async && c.by &&
         c.by->why == Doubt::relaxed_release && c.by->fenced.of(c.other.agent) >= c.other.epoch;
}

}  // namespace

Evidence evidence_of(const Core& x, const Accessed& memory, int lane, std::string_view name,
                     std::string_view verb, std::uint64_t begin, std::uint64_t end,
                     const Conflict& c) {
  return collision(lane_at(x, lane, fmt::format("{} {}", name, verb), place_of(memory, begin, end)),
                   earlier(x, memory, c, verb_of(c.other.kind)));
}

namespace {

// That is worth knowing, once for what tells so.
void note_weak_order(Core& x, const Accessed& memory, int lane, std::string_view name,
                     Shadow::Kind kind, std::uint64_t begin, std::uint64_t end, const Conflict& c) {
  Model& machine = *x.machine;
  const auto tell = [&] {
    Report r;
    r.evidence = evidence_of(x, memory, lane, name, verb_of(kind), begin, end, c);
    r.sentence = fmt::format(
        "{} at {} {} {} behind what {} it at {}, only because {} tells so, and PTX does not "
        "promise "
        "that order; chips keep it",
        name, place_text(machine.site(*x.block, x.warp->index * 32, x.pc)), verb_of(kind),
        byte_text(x, memory, c.offset), verb_of(c.other.kind), place_text(machine, c.other),
        c.by ? deed_text(x, c.by->release) : "another warp");
    r.expected = "a release and an acquire that include each other";
    if (c.by) r.expected += ": " + weakness(x, *c.by) + "; it needs " + remedy(x, *c.by);
    r.found = is_fenced_elsewhere(memory, c)
                  ? "a fence, by another thread than the one that tells"
                  : "memory that is used again, which nobody reads any more";
    return r;
  };
  const Block* teller = c.by ? machine.resident(c.by->release.block) : nullptr;
  if (!teller) return machine.reports.note(x, lane, "weak_order", c.other.pc, tell);
  machine.reports.note_at(*teller, c.by->release.thread, c.by->release.pc, "weak_order",
                          c.by->acquire.pc, tell);
}

}  // namespace

namespace {

// A cp.async that nobody has waited for, or another copy that may still read its tensor map.
Report report_of_copy(const Core& x, const std::string& mine, const Conflict& c) {
  const ptx::Instruction& copy = x.machine->program().code[c.other.pc];
  const bool reads_map = copy.modifiers.has(ptx::Field::tensor);
  Report r;
  r.sentence =
      fmt::format("{}, where the {} at {} of warp {} may still be {}: it was not waited for", mine,
                  reads_map ? opcode_text(copy.text) : "cp.async", place_text(*x.machine, c.other),
                  c.other.thread / 32,
                  reads_map                            ? "reading its tensor map"
                  : c.other.kind == Shadow::Kind::read ? "reading"
                                                       : "writing");
  r.expected = reads_map
                   ? "a wait for the copy by whoever changes its tensor map, or another map"
                   : "cp.async.wait_group or wait_all by the thread that copies, then a barrier";
  r.found = "a copy in flight" + gap_text(x, c);
  return r;
}

// Who did it before: "warp 3", "the asynchronous operation issued at a.cu:12".
std::string earlier_text(const Core& x, const Conflict& c) {
  const bool own = c.other.home.block == x.block->number;
  return own && c.other.async
             ? "the asynchronous operation issued at " + place_text(*x.machine, c.other)
             : who_text(x, c.other);
}
std::string place_behind(const Core& x, const Conflict& c) {
  const bool own = c.other.home.block == x.block->number;
  return own && c.other.async ? "" : " at " + place_text(*x.machine, c.other);
}

// Something tells of it, but too weakly: that is what is to be changed.
Report report_of_weakness(const Core& x, const Accessed& memory, std::string_view name,
                          Shadow::Kind kind, const Conflict& c) {
  Report r;
  const Site here = x.machine->site(*x.block, x.warp->index * 32, x.pc);
  r.sentence = fmt::format(
      "{}, and only that orders {} at {}, which {} {}, behind {}, which {} it{}",
      weakness(x, *c.by), name, place_text(here), verb_of(kind), byte_text(x, memory, c.offset),
      earlier_text(x, c), verb_of(c.other.kind), place_behind(x, c));
  r.expected = remedy(x, *c.by);
  r.found = "an order that chips are seen to keep, and PTX does not promise";
  return r;
}

// Both are strong, and that does not count.
Report report_of_sizes(const Core& x, const std::string& mine, const Conflict& c) {
  Report r;
  r.sentence = fmt::format(
      "{}, which {} {}{}: the one has {} bytes and the other {}, so that they overlap only in "
      "part, and are a race although both are strong",
      mine, earlier_text(x, c), verb_of(c.other.kind), place_behind(x, c), c.size, c.other.size);
  r.expected = "accesses of one size, which overlap completely (PTX ISA 8.7, 8.7.2)";
  r.found = "two sizes, and nothing that orders the two" + gap_text(x, c);
  return r;
}

// The mbarrier of this CTA that tells of an operation's end; null: it is another thing that does.
const Mbarriers::value_type* told_by(const Core& x, std::uint32_t operation) {
  if (!operation) return nullptr;
  const Agent on = x.machine->completions.on(operation);
  const auto found = std::find_if(x.block->mbarriers.begin(), x.block->mbarriers.end(),
                                  [&](const auto& each) { return each.second.agent == on; });
  return found == x.block->mbarriers.end() ? nullptr : &*found;
}

// The first wait of the program whose answer nobody reads.
std::string unread_wait_text(const Model& machine) {
  const auto first = std::find(machine.unread_waits.begin(), machine.unread_waits.end(), true);
  if (first == machine.unread_waits.end()) return "";
  const auto pc = static_cast<std::uint32_t>(first - machine.unread_waits.begin());
  const ptx::Instruction& i = machine.program().code[pc];
  return fmt::format("; nobody looks at the answer of the {} at PTX line {}", opcode_text(i.text),
                     i.line);
}

// A copy has brought what is read or written, and its mbarrier was not waited for.
Report report_of_missing_wait(const Core& x, const std::string& mine, const Conflict& c,
                              const Mbarriers::value_type& told) {
  Report r;
  const std::string name = mbarrier_name(*x.machine, told.first);
  r.sentence =
      fmt::format("{}, which {} {}; that completes on {}, and warp {} has not waited for it", mine,
                  earlier_text(x, c), verb_of(c.other.kind), name, x.warp->index);
  r.expected = fmt::format(
      "a wait for the phase of {} that it completes (mbarrier.try_wait, until the answer is true)",
      name);
  r.found = "either could be first" + unread_wait_text(*x.machine) + gap_text(x, c);
  return r;
}

Report report_of_race(const Core& x, const Accessed& memory, const std::string& mine,
                      const Conflict& c) {
  const bool is_own = !memory.region && memory.owner == x.block && c.other.async && !c.is_likely;
  const auto* const told = is_own ? told_by(x, c.other.operation) : nullptr;
  if (told) return report_of_missing_wait(x, mine, c, *told);
  Report r;
  const bool near = c.other.home.block == x.block->number || !memory.region;
  r.sentence = fmt::format("{}, which {} {}{}, with {} between", mine, earlier_text(x, c),
                           verb_of(c.other.kind), place_behind(x, c),
                           near ? "no barrier" : "nothing that orders the two");
  const bool is_store = memory.region && c.other.async && c.other.kind != Shadow::Kind::read;
  r.expected = is_store ? "cp.async.bulk.wait_group, without .read, by the thread that issued it, "
                          "then a barrier or a release"
               : near   ? "a barrier, or atomics that order the two"
                        : "a release behind the one and an acquire before the other";
  r.found = c.is_likely ? "an order that chips are seen to keep, and PTX does not promise"
                        : "either could be first";
  // Both are strong and of one size, and not in each other's scope.
  if (!near && !c.other.async && c.other.strong && x.code[x.pc].synchronises) {
    r.expected = ".gpu or .sys on both, where two CTAs come to one place (PTX ISA 8.5, 8.7)";
    r.found = "two strong accesses, and the scope of one does not include the other";
  }
  r.found += gap_text(x, c);
  return r;
}

}  // namespace

void tell_unordered(Core& x, const Accessed& memory, int lane, std::string_view name,
                    Shadow::Kind kind, std::uint64_t begin, std::uint64_t end, const Conflict& c) {
  Model& machine = *x.machine;
  if (is_told_by_tiles(x, memory, kind, c)) return;
  const bool frees = is_used_up(x, c, kind), narrow = is_of_narrow_scope(c);
  if ((frees && !narrow) || is_fenced_elsewhere(memory, c)) {
    return note_weak_order(x, memory, lane, name, kind, begin, end, c);
  }
  const char* const race = frees ? "narrow_scope" : memory.region ? "global_race" : "shared_race";
  const auto tell = [&] {
    const std::string mine =
        fmt::format("{} {} {}", name, verb_of(kind), byte_text(x, memory, c.offset));
    Report r = c.pending ? report_of_copy(x, mine, c)
               : c.by    ? report_of_weakness(x, memory, name, kind, c)
               : c.size  ? report_of_sizes(x, mine, c)
                         : report_of_race(x, memory, mine, c);
    r.evidence = evidence_of(x, memory, lane, name, verb_of(kind), begin, end, c);
    // Without source lines an unrolled loop has nothing else that holds its places together.
    const auto& code = machine.program().code;
    if (!c.by && !c.pending && !code[x.pc].source_line) {
      r.pair = fmt::format("{}, then {}", ptx::opcode(code[c.other.pc].op).name, name);
    }
    return r;
  };
  // Once for what tells too weakly, whatever all relies on it.
  if (c.by && !c.pending) {
    const Deed& weak = too_weak(*c.by);
    const Deed& other = &weak == &c.by->release ? c.by->acquire : c.by->release;
    if (const Block* home = machine.resident(weak.block)) {
      return machine.reports.hazard_at(*home, weak.thread, weak.pc, race, other.pc, tell);
    }
    Block gone;  // it has ended: only its place is told
    gone.number = weak.block;
    gone.index = machine.site_of(Writer::of(weak.block, weak.thread, weak.pc)).block;
    return machine.reports.hazard_at(gone, weak.thread, weak.pc, race, other.pc, tell);
  }
  machine.reports.hazard(x, lane, c.pending ? "copy_not_awaited" : race, c.other.pc, tell);
}

Shadow::Touch touch_of(Core& x, const MemoryAccess& access) {
  const Observer& me = observer(x);
  Shadow::Touch t;
  t.kind = access.kind;
  t.strong = access.strong;
  t.scope = access.scope;
  t.size = access.element;
  t.agent = me.me();
  t.home = me.home();
  t.epoch = me.epoch();
  t.operation = access.operation;
  t.thread = access.warp * 32 + static_cast<std::uint32_t>(__builtin_ctz(access.mask));
  t.pc = access.pc;
  return t;
}

// Does a lane of a store leave what is there?
bool stores_the_same(const Accessed& memory, const MemoryAccess& access, std::uint32_t lane) {
  const Region& bytes = memory.region ? *memory.region : memory.owner->shared;
  const std::uint64_t begin = access.offsets[lane];
  return !bytes.any_undefined(begin, access.bytes) &&
         std::memcmp(bytes.data() + begin, access.values + lane * access.bytes, access.bytes) == 0;
}

namespace {

// Does what stays of it, in memory that is not another CTA's? Of lanes at one place an H200 keeps
// the lowest's, of each 128 bytes (Region::write_lanes): threads that have the same element may
// differ by a rounding.
bool stores_the_same(const Core& x, const Accessed& memory, const MemoryAccess& access) {
  if (!memory.region && memory.owner != x.block) return false;
  const std::uint32_t together = access.bytes > 4 ? 128 / access.bytes : 32;
  std::array<std::uint64_t, 32> kept;
  std::size_t count = 0;
  for (std::uint32_t k = 32; k-- > 0;) {
    const std::uint32_t lane = k ^ (together - 1);
    if (!(access.mask >> lane & 1)) continue;
    const auto end = kept.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(kept.begin(), end, access.offsets[lane]) != end) continue;
    kept[count++] = access.offsets[lane];
    if (!stores_the_same(memory, access, lane)) return false;
  }
  return true;
}

// Triton's warps set the state of their roles so, each of them, at one word, and many CTAs a flag:
// whoever comes last, the same is there. It is only worth knowing, and of shared memory told once
// for the place, whichever instructions they are.
void tell_same_value(Core& x, const Accessed& memory, const MemoryAccess& access,
                     const Conflict& c) {
  const auto lane = static_cast<int>(c.lane);
  const std::uint64_t begin = access.offsets[c.lane];
  const std::string_view name = ptx::opcode(x.machine->program().code[access.pc].op).name;
  const auto tell = [&] {
    Report r;
    r.evidence = evidence_of(x, memory, lane, name, "writes", begin, begin + access.bytes, c);
    r.sentence = fmt::format(
        "{} writes {}, which {} writes at {}, with {} between; both write the same value, so it is "
        "the same whoever comes last",
        name, byte_text(x, memory, begin), who_text(x, c.other), place_text(*x.machine, c.other),
        memory.region ? "nothing that orders the two" : "no barrier");
    r.expected = "one warp that writes it, or a barrier between";
    r.found = "the same value by several warps";
    return r;
  };
  if (is_told_by_tiles(x, memory, Shadow::Kind::write, c)) return;
  if (memory.region) return x.machine->reports.note(x, lane, "same_value", c.other.pc, tell);
  x.machine->reports.note_of_place(x, lane, "same_value", static_cast<std::uint32_t>(begin), tell);
}

// Lanes from `first` on that lie side by side with the one before; or at the same place, `step` 0.
std::uint32_t together(const MemoryAccess& a, std::uint32_t first, std::uint64_t& step) {
  std::uint32_t end = first + 1;
  step = a.bytes;
  if (end < 32 && (a.mask >> end & 1) && a.offsets[end] == a.offsets[first]) step = 0;
  while (end < 32 && (a.mask >> end & 1) && a.offsets[end] == a.offsets[end - 1] + step) ++end;
  return end;
}

// Notes it in `shadow`. Answers whether it is unordered with what was before.
bool note(Core& x, Shadow& shadow, const Accessed& memory, const MemoryAccess& a, Conflict& out,
          OfLanes& of_lanes, bool& repeats) {
  const Observer& me = observer(x);
  LanesAccess lanes;
  if (a.by_lane) lanes = {a.mask, a.bytes, a.offsets, a.run, x.machine->lanes_tell};
  // One reference is all that a std::function holds without memory of its own.
  const struct {
    const Core& x;
    const Accessed& memory;
    const MemoryAccess& access;
  } store{x, memory, a};
  std::function<bool()> same;
  if (a.values && a.kind == Shadow::Kind::write) {
    same = [&store] { return stores_the_same(store.x, store.memory, store.access); };
    lanes.stores_the_same = &same;
  }
  Shadow::Pass pass(shadow, me, x.machine->completions, touch_of(x, a), lanes);
  bool races = false;
  if (a.run) {
    races = pass.touch(a.offsets[0], a.offsets[0] + std::uint64_t{a.bytes} * 32);
  } else {
    for (std::uint32_t first = 0, end = 0; first < 32; first = end) {
      end = first + 1;
      if (!(a.mask >> first & 1)) continue;
      std::uint64_t step = 0;
      end = together(a, first, step);
      const std::uint64_t begin = a.offsets[first];
      races |= pass.touch(begin, begin + (step ? step * (end - first) : a.bytes));
    }
  }
  of_lanes.find(x, pass, lanes.may_be_untold);
  repeats = pass.repeats();
  if (!races && !repeats) return false;
  out = conflict_of(*x.machine, me, pass.other(), pass.at());
  const bool sizes = a.element && out.other.size && a.element != out.other.size;
  if (sizes && a.strong && out.other.strong) out.size = a.element;
  for (Mask rest = a.mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    if (a.offsets[lane] > out.offset || out.offset >= a.offsets[lane] + a.bytes) continue;
    out.lane = lane;
    break;
  }
  return true;
}

void look_at(Core& x, Shadow& shadow, const Accessed& memory, const MemoryAccess& access) {
  Conflict c;
  OfLanes of_lanes;
  bool repeats = false;
  look_for_lanes_that_did_not_wait(x, shadow, memory, access);
  const bool races = note(x, shadow, memory, access, c, of_lanes, repeats);
  Model& machine = *x.machine;
  // It is told, and to stop there may be wanted.
  if ((races || of_lanes.any()) && machine.stops.asked()) x.limit = 0;
  of_lanes.tell(x, memory, access);
  if (access.values && access.by_lane && !access.run) tell_one_place(x, memory, access);
  if (!races) return;
  if (repeats) return tell_same_value(x, memory, access, c);
  const std::uint64_t begin = access.offsets[c.lane];
  tell_unordered(x, memory, static_cast<int>(c.lane),
                 ptx::opcode(machine.program().code[x.pc].op).name, access.kind, begin,
                 begin + access.bytes, c);
}

}  // namespace

namespace {

// What ld.global.nc reads must not be written while the kernel runs (9.7.9.9), in whatever order.
void log_use(Core& x, const Region& region, const MemoryAccess& access) {
  const bool writes = access.kind != Shadow::Kind::read;
  if (!writes && !x.machine->program().code[access.pc].modifiers.has(ptx::Field::nc)) return;
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (Mask rest = access.mask; rest; rest &= rest - 1) {
    const std::uint64_t at = access.offsets[access.run ? 0 : __builtin_ctz(rest)];
    begin = std::min(begin, at);
    end = std::max(end, at + access.bytes * (access.run ? 32 : 1));
  }
  x.machine->order_log->use_region(region.base(), begin, end, writes);
}

}  // namespace

// Shared memory that two warps touch, and nothing says in which order.
void watch_in(Core& x, Block& block, const MemoryAccess& access) {
  Model& machine = *x.machine;
  if (!block.flight.operations.empty()) machine.flights.check_access(x, block, access);
  if (!block.mbarriers.empty() && access.kind != Shadow::Kind::read) {
    for (Mask rest = access.mask; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const auto begin = static_cast<std::uint32_t>(access.offsets[lane]);
      machine.flights.spoil_mbarriers(block, {begin, begin + access.bytes},
                                      access.warp * 32 + static_cast<std::uint32_t>(lane), x.pc);
    }
  }
  if (machine.order_log && access.kind == Shadow::Kind::read) {
    for (Mask rest = access.mask; rest; rest &= rest - 1) {
      const auto begin = static_cast<std::uint32_t>(access.offsets[__builtin_ctz(rest)]);
      const auto at = block.mbarriers.lower_bound(begin < 8 ? 0 : begin - 7);
      if (at != block.mbarriers.end() && at->first < begin + access.bytes) {
        machine.order_log->blind("it reads the bits of an mbarrier");
      }
    }
  }
  look_at(x, block.order.shared, {&block, nullptr}, access);
}

bool note_quiet_read(Core& x, const Shadow::EvenRead& read) {
  Block& block = *x.block;
  const Model& machine = *x.machine;
  if (!block.flight.operations.empty() || machine.order_log || machine.lanes_tell) return false;
  const Observer& me = observer(x);
  if (me.alone().lanes) return false;
  Shadow::Touch* const touch = block.order.shared.gather(me, read);
  if (!touch) return false;
  touch->thread = x.warp->index * 32;
  touch->pc = x.pc;
  return true;
}

void watch(Core& x, const MemoryAccess& access) {
  watch_in(x, *x.block, access);
}

namespace {

void log_access(const Core& x, AccessLog& log, const Region& region, const MemoryAccess& a) {
  // Synchronising accesses of the chip's other launches: those of the CTA alone are none.
  const bool strong = a.strong && a.scope >= Scope::gpu;
  const bool reads = a.kind == Shadow::Kind::read;
  const auto how = strong ? (reads ? AccessLog::How::strong_read : AccessLog::How::strong_write)
                          : (reads ? AccessLog::How::read : AccessLog::How::write);
  const bool early = is_early(x);
  if (a.run) {
    const std::uint64_t begin = region.base() + a.offsets[0];
    log.add(how, begin, begin + 32 * a.bytes, early);
    return;
  }
  for (Mask rest = a.mask; rest; rest &= rest - 1) {
    const std::uint64_t begin = region.base() + a.offsets[__builtin_ctz(rest)];
    log.add(how, begin, begin + a.bytes, early);
  }
}

}  // namespace

namespace {

// ld.global.nc reads what is read-only for as long as the kernel runs (9.7.9.9): what this launch
// has written by then, in whatever order, a cache may still have as it was.
void look_for_written(Core& x, const Region& region, const MemoryAccess& a) {
  const Shadow& shadow = x.machine->accesses_of(region);
  for (Mask rest = a.mask; rest; rest &= rest - 1) {
    Conflict c;
    c.lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    const std::uint64_t begin = a.offsets[c.lane];
    const bool written = shadow.any_writer(
        begin, begin + a.bytes, [&](std::uint64_t at, std::uint64_t, const Shadow::Touch& by) {
          c.offset = at;
          c.other = by;
          return true;
        });
    if (!written) continue;
    const auto lane = static_cast<int>(c.lane);
    return x.machine->reports.hazard(x, lane, "nc_of_written", c.other.pc, [&] {
      const Accessed memory{nullptr, &region};
      Report r;
      r.sentence = fmt::format(
          "ld.global.nc reads {}, which {} wrote at {}, in the same launch: the cache that it "
          "reads through may still have the old bytes, whatever lies between",
          byte_text(x, memory, c.offset), who_text(x, c.other), place_text(*x.machine, c.other));
      r.expected = "ld.global, where the kernel writes the memory itself";
      r.found = "ld.global.nc (const __restrict__, __ldg) of memory that is not read-only";
      r.evidence = evidence_of(x, memory, lane, "ld.global.nc", "reads", begin, begin + a.bytes, c);
      return r;
    });
  }
}

}  // namespace

// The same of global memory.
void watch_region(Core& x, Region& region, const MemoryAccess& access) {
  if (x.machine->access_log) log_access(x, *x.machine->access_log, region, access);
  if (access.kind == Shadow::Kind::read &&
      x.machine->program().code[access.pc].modifiers.has(ptx::Field::nc)) {
    look_for_written(x, region, access);
  }
  if (x.machine->order_log) log_use(x, region, access);
  if (!keep_late_read(x, region, access)) look_at_region(x, region, access);
}

void look_at_region(Core& x, Region& region, const MemoryAccess& access) {
  look_at(x, x.machine->accesses_of(region), {nullptr, &region}, access);
}

}  // namespace tilescope::sim
