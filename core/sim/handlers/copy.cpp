// cp.async (PTX ISA 9.7.9.25.3): copies from global to shared memory that go on while the thread
// does, gathered into groups that it can wait for.
//
// When the bytes arrive is open until the thread waits for their group. Here they arrive at once,
// or with Options::lazy only at the wait; touching them before is reported in either case
// (core/sim/order/shadow.h).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/sim/checks/evidence.h"
#include "core/sim/checks/one_place.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/copies.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::size_t at(int lane) {
  return static_cast<std::size_t>(lane);
}

// Code: a and immediate the source, b and the first element the destination, c the bytes to read
// (or nothing: all), width the bytes to write, r a predicate that says to read none.
u64 address_of(const Core& x, Reference r, bool narrow, u64 offset, int lane) {
  if (r == nothing) return offset;
  if (narrow) return static_cast<u32>(lane_array<u32>(x, r)[lane] + offset);
  return lane_array<u64>(x, r)[lane] + offset;
}

void deliver(Model& machine, Block& block, const Warp& warp, const Copy& copy, int lane) {
  std::byte data[16] = {};
  std::uint8_t undefined[16] = {};
  const u32 read = copy.read[at(lane)];
  if (read > 0) {
    const Region* region = machine.region_of(copy.source[at(lane)]);
    const u64 offset = copy.source[at(lane)] - region->base();
    std::memcpy(data, region->data() + offset, read);
    for (u32 k = 0; k < read; ++k) undefined[k] = region->is_undefined(offset + k) ? 0xff : 0;
  }
  const auto thread = warp.index * 32 + static_cast<u32>(lane);
  block.shared.write(copy.target[at(lane)], data, undefined, copy.bytes,
                     Writer::of(block.number, thread, copy.pc));
}

bool inside(const Region* r, u64 offset, u32 bytes) {
  return r && offset < r->size() && r->size() - offset >= bytes;
}

// Until they are waited for the copies may read their sources.
void watch_sources(Core& x, const Copy& copy, Mask m) {
  while (m) {
    const int first = __builtin_ctz(m);
    m &= m - 1;
    const u32 read = copy.read[at(first)];
    Region* const region = read ? find_region(x, copy.source[at(first)]) : nullptr;
    if (!region || !region->watched) continue;
    u64 offsets[lanes];
    Mask together = 0;
    for (Mask rest = m | Mask{1} << first; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const u64 offset = copy.source[at(lane)] - region->base();
      if (copy.read[at(lane)] != read || offset >= region->size()) continue;
      offsets[lane] = offset;
      together |= Mask{1} << lane;
    }
    m &= ~together;
    MemoryAccess access{Shadow::Kind::read, false, x.warp->index, x.pc, together, offsets, read};
    access.operation = copy.operation;
    watch_region(x, *region, access);
  }
}

// Of lanes that copy the same to the same place one counts: cooperative groups have those that are
// too many do so.
Mask without_repeats(const Copy& copy, Mask m) {
  each_at_one_place(m, copy.target.data(), copy.bytes, [&](u32 first, u32 lane) {
    if (copy.source[first] == copy.source[lane] && copy.read[first] == copy.read[lane]) {
      m &= ~(Mask{1} << lane);
    }
    return true;
  });
  return m;
}

Flow copy_async(Core& x, const Code& c, Mask m) {
  Copy copy;
  copy.mask = m;
  copy.bytes = c.width;
  copy.pc = x.pc;
  const Mask ignored = c.r ? x.predicates[c.r] ^ c.flip : 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    u32 read = c.c == nothing ? copy.bytes : lane_array<u32>(x, c.c)[lane];
    if (ignored >> lane & 1) read = 0;
    if (read > copy.bytes) {
      return x.reports->fault(x, lane, "bad_copy", "cp.async is to read more than it writes",
                              "at most as many bytes as the copy has", std::to_string(read));
    }
    const u64 source = address_of(x, c.a, c.narrow_address, c.immediate, lane);
    if (read > 0) {
      const Region* region = find_region(x, source);
      // Alignment is that of the whole copy; bounds are those of what it reads.
      if (source % copy.bytes || !inside(region, source - (region ? region->base() : 0), read)) {
        return refuse_access(x, c, Access::load, lane, source, copy.bytes);
      }
    }
    const u64 target =
        address_of(x, c.b, x.elements[c.target] != 0, x.elements[c.target + 1], lane) - x.window;
    if (target % copy.bytes || !inside(&x.block->shared, target, copy.bytes)) {
      Code shared = c;
      shared.space = ptx::Space::shared;
      return refuse_access(x, shared, Access::store, lane, target + x.window, copy.bytes);
    }
    copy.source[at(lane)] = source;
    copy.target[at(lane)] = target;
    copy.read[at(lane)] = read;
    copy.group[at(lane)] = x.warp->copies.committed[at(lane)];
  }
  if (x.block->order.on()) {
    MemoryAccess access{
        Shadow::Kind::copy, false,      x.warp->index, x.pc, without_repeats(copy, m),
        copy.target.data(), copy.bytes, false};
    access.operation = copy.operation = x.machine->completions.begin();
    watch(x, access);
    watch_sources(x, copy, m);
  }
  if (!x.machine->options.lazy) {
    for (Mask rest = m; rest; rest &= rest - 1) {
      deliver(*x.machine, *x.block, *x.warp, copy, __builtin_ctz(rest));
    }
  }
  x.machine->recording.record_copy(x, copy);
  copy.order = x.warp->copies.issued++;
  x.warp->copies.open.push_back(copy);
  return Flow::next;
}

Flow commit(Core& x, const Code&, Mask m) {
  if (m) x.machine->recording.record_group(x, x.warp->copies.committed[at(__builtin_ctz(m))]);
  for (Mask rest = m; rest; rest &= rest - 1) ++x.warp->copies.committed[at(__builtin_ctz(rest))];
  return Flow::next;
}

// Lanes may wait one by one.
void end_copy(Model& machine, Block& block, Copy& copy, Mask done, const CopyEnd& end) {
  u32 part = copy.operation;
  if (copy.mask) {
    part = machine.completions.begin();
    for (Mask rest = done; rest; rest &= rest - 1) {
      const u64 begin = copy.target[at(__builtin_ctz(rest))];
      block.order.shared.divide(begin, begin + copy.bytes, copy.operation, part);
    }
  }
  if (part != copy.operation || machine.completions.in_flight(part)) {
    machine.completions.end(part, end.agent, end.epoch);
  }
}

// Completes the copies of lanes m that `which` chooses: who has seen `end` has seen them.
template <class Which>
void complete(Model& machine, Block& block, Warp& warp, Mask m, const CopyEnd& end, Which which) {
  std::vector<Copy>& open = warp.copies.open;
  for (Copy& copy : open) {
    Mask done = 0;
    for (Mask rest = m & copy.mask; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (!which(copy, lane)) continue;
      if (machine.options.lazy) deliver(machine, block, warp, copy, lane);
      done |= Mask{1} << lane;
    }
    copy.mask &= ~done;
    if (done && block.order.on()) end_copy(machine, block, copy, done, end);
  }
  open.erase(std::remove_if(open.begin(), open.end(), [](const Copy& c) { return c.mask == 0; }),
             open.end());
}

// What was waited for counts as written by the warp now: others see it when they have synchronised
// with it. Of copies that an mbarrier has told of by then, the warp has seen them, too.
template <class Which>
void await(Core& x, Mask m, Which which) {
  CopyEnd now;
  if (x.block->order.on()) {
    Observer& me = observer(x);
    for (const CopyEnd& told : x.warp->copies.told) me.see(told.agent, told.epoch);
    x.warp->copies.told.clear();
    now = {me.me(), me.epoch()};
  }
  complete(*x.machine, *x.block, *x.warp, m, now, which);
}

Flow wait_group(Core& x, const Code& c, Mask m) {
  std::array<u32, 32> limit{};
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u32 left = lane_array<u32>(x, c.a)[lane], committed = x.warp->copies.committed[at(lane)];
    limit[at(lane)] = committed > left ? committed - left : 0;
  }
  await(x, m, [&](const Copy& copy, int lane) { return copy.group[at(lane)] < limit[at(lane)]; });
  if (m) x.machine->recording.record_group_wait(x, limit[at(__builtin_ctz(m))]);
  return Flow::next;
}

// What is of no group is waited for as if it were one.
Flow wait_all(Core& x, const Code&, Mask m) {
  if (m) {
    const u32 open = x.warp->copies.committed[at(__builtin_ctz(m))];
    x.machine->recording.record_group(x, open);
    x.machine->recording.record_group_wait(x, open + 1);
  }
  await(x, m, [](const Copy&, int) { return true; });
  return Flow::next;
}

// cp.async.mbarrier.arrive (9.7.9.25.3.4, 9.7.13.15.15): when all copies that these lanes have
// begun so far are complete, each arrives.
bool complete_earlier(Model& machine, Block& block, AsyncOperation& o) {
  Warp& warp = block.warps[o.thread / 32];
  CopyEnd end;
  if (const auto b = block.mbarriers.find(o.mbarrier); b != block.mbarriers.end()) {
    end = {b->second.agent, b->second.round};
    warp.copies.told.push_back(end);
  }
  // Of what the thread has waited for meanwhile it tells as well.
  for (const u32 copy : o.copies) machine.completions.end(copy, end.agent, end.epoch);
  complete(machine, block, warp, static_cast<Mask>(o.words[0]), end,
           [&](const Copy& copy, int lane) {
             if (copy.order >= o.words[1]) return false;
             const auto begin = static_cast<u32>(copy.target[at(lane)]);
             o.writes.push_back({begin, begin + copy.bytes});
             return true;
           });
  return true;
}

constexpr Work arrival{"cp.async.mbarrier.arrive", nullptr, complete_earlier};

Flow arrive(Core& x, const Code& c, Mask m) {
  const bool counted = x.machine->program().code[x.pc].modifiers.has(ptx::Field::noinc);
  while (m) {
    const int first = __builtin_ctz(m);
    AsyncOperation o;
    o.work = &arrival;
    Mask together = 0;
    for (Mask rest = m; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      u32 offset = 0;
      if (!locate_mbarrier(x, c, lane, offset)) return Flow::fault;
      if (lane == first) o.mbarrier = offset;
      if (offset == o.mbarrier) together |= Mask{1} << lane;
    }
    m &= ~together;
    o.arrivals = static_cast<u32>(__builtin_popcount(together));
    o.words = {together, x.warp->copies.issued};
    for (const Copy& copy : x.warp->copies.open) {
      if (copy.operation && (copy.mask & together)) o.copies.push_back(copy.operation);
    }
    // What earlier ones tell of is complete too: they do not come later, and tell of it themselves.
    for (const AsyncOperation& other : x.block->flight.operations) {
      if (other.work == &arrival && other.thread / 32 == x.warp->index) {
        o.behind.push_back(other.number);
      }
    }
    // Without .noinc the phase waits for these arrivals in addition to those that it was made for.
    Signal more;
    more.further = counted ? 0 : o.arrivals;
    const auto thread = x.warp->index * 32 + static_cast<u32>(first);
    if (!signal_mbarrier(*x.machine, *x.block, o.mbarrier, more, {thread, x.pc, false}) ||
        !x.machine->flights.issue(x, first, std::move(o))) {
      return Flow::fault;
    }
  }
  return Flow::next;
}

// Lanes whose copy an mbarrier in flight waits for: somebody else waits for that.
Mask told_by_mbarrier(const Core& x, const Copy& copy) {
  Mask out = 0;
  for (const AsyncOperation& o : x.block->flight.operations) {
    const bool covers =
        o.work == &arrival && o.thread / 32 == x.warp->index && copy.order < o.words[1];
    if (covers) out |= static_cast<Mask>(o.words[0]);
  }
  return out;
}

}  // namespace

// PTX says that a thread can wait for its cp.async, and not what becomes of one that nobody waits
// for (9.7.9.25.3): chips are seen to let it end, and nothing promises it.
void watch_exit(Core& x, Mask m) {
  for (const Copy& copy : x.warp->copies.open) {
    if (!(copy.mask & m & ~told_by_mbarrier(x, copy))) continue;
    const int lane = __builtin_ctz(copy.mask & m);
    x.reports->hazard(x, lane, "exit_in_flight", copy.pc, [&] {
      const u32 thread = x.warp->index * 32 + static_cast<u32>(lane);
      Report r;
      r.sentence = fmt::format(
          "this thread exits, but its cp.async at {} is still to write byte {} of shared memory, "
          "and "
          "nobody has waited for it",
          place_text(x.machine->site(*x.block, thread, copy.pc)), copy.target[at(lane)]);
      r.expected = "cp.async.wait_all or wait_group before the thread exits";
      r.found = "a copy in flight";
      const u32 target = copy.target[at(lane)];
      Evidence::Place place = place_of(*x.block, Range{target, target + 4});
      r.evidence = evidence_at(place);
      r.evidence.parties = {
          thread_at(*x.machine, *x.block, thread, copy.pc, "cp.async writes", place)};
      r.evidence.parties[0].in_flight = true;
      return r;
    });
  }
}

Handler copy_handler(const ptx::Instruction& i) {
  if (i.modifiers.has(ptx::Field::bulk)) return bulk_handler(i);
  if (i.modifiers.has(ptx::Field::on_mbarrier)) return arrive;
  switch (i.modifiers.operation()) {
    case ptx::Operation::commit_group:
      return commit;
    case ptx::Operation::wait_group:
      return wait_group;
    case ptx::Operation::wait_all:
      return wait_all;
    default:
      return copy_async;
  }
}

}  // namespace tilescope::sim
