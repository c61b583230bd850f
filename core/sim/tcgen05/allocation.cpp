// tcgen05.alloc, dealloc and relinquish_alloc_permit (PTX ISA 9.7.16.7.1).
//
// An SM's 512 columns are shared by the blocks that are resident on it: an allocation waits
// until there are enough neighbouring columns, and takes the first of them, or with --schedule any:
// nothing promises that an allocation begins at column 0.
//
// Of .cta_group::2 a warp of each block of the pair allocates. The first to come takes columns that
// are free on both SMs; the other one gets the same, which are promised to it until then.
// Each frees its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/sim/checks/evidence.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/tcgen05/handlers.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// All lanes' value of a number of columns. 0 after a fault.
u32 columns_of(Core& x, const Code& c, std::string_view name) {
  const u32* columns = lane_array<u32>(x, c.b);
  for (int l = 1; l < lanes; ++l) {
    if (columns[l] == columns[0]) continue;
    x.reports->fault(x, l, "tmem_columns",
                     fmt::format("lanes of one warp give {} different numbers of columns", name),
                     fmt::format("{} in every lane", columns[0]), fmt::format("{}", columns[l]));
    return 0;
  }
  const u32 n = columns[0];
  if (n >= TensorMemory::unit && n <= TensorMemory::columns && (n & (n - 1)) == 0) return n;
  x.reports->fault(
      x, 0, "tmem_columns",
      fmt::format("{} is given {} columns, which is no power of two from 32 to 512", name, n),
      "32, 64, 128, 256 or 512 columns (PTX ISA 9.7.16.7.1)", fmt::format("{}", n));
  return 0;
}

void note_generic(Core& x, u64 address) {
  x.reports->hazard(x, 0, "generic_for_shared", x.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this tcgen05.alloc of .shared::cta is given the generic address 0x{:x}: its low half is "
        "taken, as chips are seen to do",
        address);
    r.expected = "an address in shared memory, by cvta.to.shared or __cvta_generic_to_shared";
    r.found = "a generic address";
    return r;
  });
}

// Where the address goes: an offset in the block's shared memory. Compilers also pass the shared
// address widened to 64 bits where no space is said: a high half of 0 is taken as the window's.
bool destination(Core& x, const Code& c, u64& offset) {
  u64 address = c.immediate;
  if (c.a != nothing) {
    address += c.narrow_address ? lane_array<u32>(x, c.a)[0] : lane_array<u64>(x, c.a)[0];
  }
  if (c.space == ptx::Space::generic && address >= ptx::window_bytes) address -= ptx::shared_base;
  // ptxas takes a 64-bit register for .shared::cta too, and the address is its low half:
  // ThunderKittens gives a generic one.
  if (c.space == ptx::Space::shared && !c.narrow_address &&
      address - ptx::shared_base < ptx::window_bytes) {
    note_generic(x, address);
    address -= ptx::shared_base;
  }
  offset = address - x.window;
  if (offset % 4 == 0 && offset + 4 <= x.block->shared.size()) return true;
  Code shared = c;
  shared.space = ptx::Space::shared;
  refuse_access(x, shared, Access::store, 0, address, 4);
  return false;
}

void write_address(Core& x, u64 offset, u32 column) {
  u64 offsets[lanes] = {offset};
  if (x.block->order.on()) {
    watch(x, {Shadow::Kind::write, false, x.warp->index, x.pc, 1, offsets, 4, false});
  }
  x.block->shared.write(offset, reinterpret_cast<const std::byte*>(&column), nullptr, 4,
                        Writer::of(x.block->number, x.warp->index * 32, x.pc));
}

bool may_allocate(Core& x, u32 columns) {
  const TensorUnit& unit = x.block->tensor;
  if (unit.relinquished) {
    const Site site = x.machine->site(*x.block, x.warp->index * 32, unit.relinquished_at);
    const Evidence::Party by = thread_at(*x.machine, *x.block, x.warp->index * 32,
                                         unit.relinquished_at, "tcgen05.relinquish_alloc_permit");
    x.reports->fault(
        x, 0, "tmem_after_relinquish",
        fmt::format("tcgen05.alloc by a CTA that has relinquished its permit to allocate, at {}",
                    text(site)),
        "every tcgen05.alloc before tcgen05.relinquish_alloc_permit", "an allocation after it");
    Evidence evidence;
    evidence.parties = {lane_at(x, 0, "tcgen05.alloc"), by};
    x.reports->explain(std::move(evidence));
    return false;
  }
  if (columns > unit.largest) {
    x.reports->fault(x, 0, "tmem_growth",
                     fmt::format("tcgen05.alloc of {} columns by a CTA that has allocated {} "
                                 "before: the numbers must not grow",
                                 columns, unit.largest),
                     fmt::format("at most {} columns (PTX ISA 9.7.16.7.1)", unit.largest),
                     fmt::format("{}", columns));
    return false;
  }
  return true;
}

Flow wait_for_columns(Core& x) {
  if (x.machine->order_log) {
    x.machine->order_log->blind("who gets columns of TMEM first is not tried otherwise");
  }
  Split& s = x.warp->splits[x.split];
  s.pc = x.pc;
  s.wait = Wait::columns;
  return Flow::yield;
}

// What the other block has allocated for both.
Flow take_promise(Core& x, Block& peer, u32 columns, u64 offset) {
  TensorUnit& unit = x.block->tensor;
  const Allocation first = unit.promised.front();
  if (first.columns != columns) {
    return x.reports->fault(
        x, 0, "tmem_pair",
        fmt::format("tcgen05.alloc.cta_group::2 of {} columns, but CTA {} of the cluster, the "
                    "other one of the pair, allocates {} at {}",
                    columns, peer.rank, first.columns,
                    text(x.machine->site(peer, first.thread, first.pc))),
        fmt::format("{} columns, as in the other CTA", first.columns), fmt::format("{}", columns));
  }
  unit.promised.erase(unit.promised.begin());
  unit.memory.take({first.column, columns, x.warp->index * 32, x.pc});
  write_address(x, offset, first.column);
  return Flow::next;
}

// "The issuing warp must make sure that peer CTA is launched" (PTX ISA 9.7.16.7.1). The CTAs of a
// cluster are resident together on chips, and CUTLASS's tutorials go by that.
void look_for_start(Core& x, const Block& peer) {
  if (x.block->heard >> peer.rank & 1) return;
  x.reports->note(x, 0, "pair_not_started", x.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this warp allocates TMEM for a pair of CTAs, and nothing says that CTA {} of the cluster, "
        "the other one, has begun: chips start both together, PTX leaves it to the kernel",
        peer.rank);
    r.expected = "a barrier.cluster before tcgen05.alloc.cta_group::2 (PTX ISA 9.7.16.7.1)";
    r.found = "none yet, nor an arrival from it";
    return r;
  });
}

Flow allocate_in_pair(Core& x, u32 columns, u64 offset) {
  Block* peer = find_peer(x, 0, "tcgen05.alloc");
  if (!peer) return Flow::fault;
  look_for_start(x, *peer);
  TensorUnit& unit = x.block->tensor;
  if (waits_for_peer(x, *peer, !unit.promised.empty())) return Flow::yield;
  if (!unit.promised.empty()) {
    if (take_promise(x, *peer, columns, offset) == Flow::fault) return Flow::fault;
  } else {
    const std::optional<u32> column = free_columns(*x.machine, *x.block, columns, peer);
    if (!column) return wait_for_columns(x);
    unit.memory.allocate({*column, columns, x.warp->index * 32, x.pc});
    peer->tensor.memory.reserve(*column, columns);
    peer->tensor.promised.push_back({*column, columns, x.warp->index * 32, x.pc});
    write_address(x, offset, *column);
    wake_peer(*peer);
  }
  unit.largest = columns;
  unit.pair_allocations.push_back(
      {x.warp->index * 32, x.pc, 0, 0, x.block->order.on() ? observer(x).epoch() : 0});
  return Flow::next;
}

Flow allocate(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const u32 columns = columns_of(x, c, "tcgen05.alloc");
  const TensorMemory& before = x.block->tensor.memory;
  if (x.machine->order_log &&
      (!before.allocations().empty() || before.given_back(0, TensorMemory::columns))) {
    x.machine->order_log->blind("who gets columns of TMEM first is not tried otherwise");
  }
  u64 offset = 0;
  if (!columns || !may_allocate(x, columns) || !destination(x, c, offset)) return Flow::fault;
  if (x.machine->order_log && x.block->order.on()) {
    const Observer& me = observer(x);
    x.block->order.allocated.push_back(
        {me.me(), me.epoch(), x.machine->step_of(*x.block, x.warp->index, x.pc)});
  }
  if (is_of_pair(x)) return allocate_in_pair(x, columns, offset);
  const std::optional<u32> column = free_columns(*x.machine, *x.block, columns);
  if (!column) return wait_for_columns(x);
  x.block->tensor.memory.allocate({*column, columns, x.warp->index * 32, x.pc});
  x.block->tensor.largest = columns;
  write_address(x, offset, *column);
  return Flow::next;
}

Flow deallocate(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const u32 columns = columns_of(x, c, "tcgen05.dealloc");
  if (!columns) return Flow::fault;
  const TensorAddress at = TensorAddress::of(lane_array<u32>(x, c.a)[0]);
  TensorUnit& unit = x.block->tensor;
  const auto& all = unit.memory.allocations();
  const bool known = at.lane == 0 && std::any_of(all.begin(), all.end(), [&](const Allocation& a) {
                       return a.column == at.column && a.columns == columns;
                     });
  if (!known) {
    std::string have;
    for (const Allocation& a : all) {
      have +=
          fmt::format("{}{} columns at {}, allocated at {}", have.empty() ? "" : "; ", a.columns,
                      a.column, place_text(x.machine->site(*x.block, a.thread, a.pc)));
    }
    x.reports->fault(
        x, 0, "tmem_out_of_allocation",
        fmt::format("tcgen05.dealloc of {} columns at lane {}, column {}, which is no allocation{}",
                    columns, at.lane, at.column, given_back_text(x, *x.block, at.column, columns)),
        have.empty() ? "an allocation: the CTA has none" : "one of: " + have,
        fmt::format("0x{:08x}", lane_array<u32>(x, c.a)[0]));
    const CellRange named{0, TensorMemory::lanes, at.column, columns};
    Evidence evidence = evidence_at(place_of(*x.block, named));
    evidence.parties = {lane_at(x, 0, "tcgen05.dealloc frees", evidence.place)};
    x.reports->explain(std::move(evidence));
    return Flow::fault;
  }
  const std::vector<CellRange> cells = {{0, TensorMemory::lanes, at.column, columns}};
  if (is_of_pair(x)) {
    Block* peer = x.machine->member(*x.block, x.block->rank ^ 1);
    const bool was_here = peer && peer->tensor.pair_releases.size() > unit.pair_releases.size();
    if (!find_peer(x, 0, "tcgen05.dealloc", was_here)) return Flow::fault;
    if (waits_for_peer(x, *peer, was_here)) return Flow::yield;
    if (!release_in_pair(x, *peer, at.column)) return Flow::fault;
    wake_peer(*peer);
  }
  if (!check_tensor_use(x, 0, TensorUse::release, cells)) return Flow::fault;
  const u32 epoch = x.block->order.on() ? observer(x).epoch() : 0;
  unit.memory.deallocate({at.column, columns, x.warp->index * 32, x.pc, epoch});
  unit.past.forget(at.column, columns);
  columns_are_free(*x.machine, *x.block);
  return Flow::next;
}

Flow relinquish(Core& x, const Code&, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  if (is_of_pair(x)) {
    Block* peer = x.machine->member(*x.block, x.block->rank ^ 1);
    const bool was_here = peer && peer->tensor.relinquished;
    if (!find_peer(x, 0, "tcgen05.relinquish_alloc_permit", was_here)) return Flow::fault;
    if (waits_for_peer(x, *peer, was_here)) return Flow::yield;
    wake_peer(*peer);
  }
  if (x.machine->order_log && x.block->order.on()) {
    for (const BlockOrder::Arrival& a : x.block->order.allocated) {
      if (observer(x).has_seen(a.agent, a.epoch)) continue;
      x.machine->order_log->blind(
          "nothing says that all tcgen05.alloc are before tcgen05.relinquish_alloc_permit");
    }
  }
  x.block->tensor.relinquished = true;
  x.block->tensor.relinquished_at = x.pc;
  return Flow::next;
}

}  // namespace

Handler tensor_allocation_handler(ptx::TensorStep step) {
  switch (step) {
    case ptx::TensorStep::alloc:
      return allocate;
    case ptx::TensorStep::dealloc:
      return deallocate;
    default:
      return relinquish;
  }
}

namespace {

using Units = std::array<bool, TensorMemory::columns / TensorMemory::unit>;

void take_columns(const std::vector<Allocation>& allocations, Units& taken) {
  for (const Allocation& a : allocations) {
    for (u32 at = a.column; at < a.column + a.columns; at += TensorMemory::unit) {
      taken[at / TensorMemory::unit] = true;
    }
  }
}

}  // namespace

// The first columns that no block on the SM has, nor one on that of `peer`, where there is
// one; with --schedule any such.
std::optional<u32> free_columns(Model& machine, const Block& block, u32 columns,
                                const Block* peer) {
  Units taken{};
  for (const Block& other : machine.blocks) {
    const bool near = other.processor == block.processor;
    if (!near && !(peer && other.processor == peer->processor)) continue;
    take_columns(other.tensor.memory.allocations(), taken);
    take_columns(other.tensor.promised, taken);
  }
  std::vector<u32> places;
  const u32 units = columns / TensorMemory::unit;
  for (u32 at = 0; at + units <= taken.size(); ++at) {
    if (std::none_of(&taken[at], &taken[at] + units, [](bool t) { return t; })) {
      places.push_back(at * TensorMemory::unit);
    }
  }
  if (places.empty()) return std::nullopt;
  const bool drawn = machine.options.schedule && !machine.options.first_columns;
  return places[drawn ? static_cast<std::size_t>(machine.draws.drawn(places.size())) : 0];
}

std::string moved_base_text(const Core& x) {
  const auto& all = x.block->tensor.memory.allocations();
  if (!x.machine->options.schedule || x.machine->options.first_columns || all.empty()) return "";
  const u32 first = all.front().column;
  if (first == 0) return "";
  return fmt::format(
      " (this schedule has tcgen05.alloc begin at column {}, which PTX allows; a kernel that takes "
      "0 for granted stops here: --first-columns keeps it)",
      first);
}

// Those who wait for columns of this SM look again.
void columns_are_free(Model& machine, const Block& block) {
  for (Block& other : machine.blocks) {
    if (other.processor != block.processor) continue;
    if (machine.clock) {
      const auto number = static_cast<std::size_t>(&other - machine.blocks.data());
      machine.clock->agenda.forget(number / machine.cluster_size);
    }
    for (Warp& warp : other.warps) {
      for (Split& s : warp.splits) {
        if (s.wait == Wait::columns) s.wait = Wait::none;
      }
    }
  }
}

}  // namespace tilescope::sim
