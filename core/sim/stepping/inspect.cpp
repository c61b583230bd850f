// Registers, warps, barriers and operations of a machine that stands still.
#include "core/sim/stepping/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/machine/model.h"
#include "core/sim/machine/waits.h"
#include "core/sim/stepping/find_block.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

const Warp* find_warp(const Machine& machine, u64 block, u32 warp, std::size_t split) {
  const Block* b = find_block(machine, block);
  if (!b || warp >= b->warps.size() || split >= b->warps[warp].splits.size()) return nullptr;
  return &b->warps[warp];
}

// The function that an instruction is of: what CUDA provides has no instructions.
const ptx::Routine& routine_at(const ptx::Program& program, u32 pc) {
  const auto next = std::upper_bound(program.routines.begin(), program.routines.end(), pc,
                                     [](u32 at, const ptx::Routine& r) { return at < r.first; });
  return *std::prev(next);
}

RegisterValue value_of(const Machine& machine, const Block& block, const Warp& warp, u32 index) {
  const ptx::Program& program = machine.program();
  const ptx::Register& reg = program.registers[index];
  RegisterValue out;
  out.name = program.name_of_register(index);
  out.type = reg.type;
  if (reg.place == ptx::no_register) return out;
  if (reg.type == ptx::Type::pred) {
    const std::size_t at = std::size_t{warp.index} * program.predicate_count + reg.place;
    const bool all = block.undefined_predicates.empty();
    for (u32 l = 0; l < 32; ++l) {
      out.low[l] = block.predicates[at] >> l & 1;
      out.undefined[l] = all ? 0 : block.undefined_predicates[at] >> l & 1;
    }
    return out;
  }
  const auto width = static_cast<std::size_t>(std::max(2, ptx::bytes_of(reg.type)));
  const std::size_t file = warp.index * machine.model().register_stride() + reg.place;
  for (u32 l = 0; l < 32; ++l) {
    const std::byte* from = block.registers.settled() + file + l * width;
    std::memcpy(&out.low[l], from, std::min<std::size_t>(width, 8));
    if (width > 8) std::memcpy(&out.high[l], from + 8, width - 8);
    for (std::size_t k = 0; !block.undefined.empty() && k < width; ++k) {
      if (block.undefined[file + l * width + k]) {
        out.undefined[l] = static_cast<std::uint16_t>(out.undefined[l] | 1u << k);
      }
    }
  }
  return out;
}

}  // namespace

Registers::Registers(const ptx::Program& program)
    : lives_(ptx::lives_of(program)), positions_(ptx::positions_of(program)) {}

std::vector<RegisterValue> Registers::all(const Machine& machine, u64 block, u32 warp,
                                          std::size_t split) const {
  std::vector<RegisterValue> out;
  const Warp* w = find_warp(machine, block, warp, split);
  if (!w) return out;
  const u32 pc = w->splits[split].pc;
  const ptx::Routine& routine = routine_at(machine.program(), pc);
  for (u32 r = routine.first_register; r < routine.end_register; ++r) {
    if (!lives_[r].holds_at(positions_[pc])) continue;
    out.push_back(value_of(machine, *find_block(machine, block), *w, r));
    out.back().alive = true;
  }
  return out;
}

std::optional<RegisterValue> Registers::find(const Machine& machine, u64 block, u32 warp,
                                             std::string_view name, std::size_t split) const {
  const Warp* w = find_warp(machine, block, warp, split);
  if (!w) return {};
  const u32 pc = w->splits[split].pc;
  const ptx::Program& program = machine.program();
  const ptx::Routine& routine = routine_at(program, pc);
  for (u32 r = routine.first_register; r < routine.end_register; ++r) {
    if (program.name_of_register(r) != name) continue;
    RegisterValue out = value_of(machine, *find_block(machine, block), *w, r);
    out.alive = lives_[r].holds_at(positions_[pc]);
    return out;
  }
  return {};
}

std::size_t split_of_lane(const WarpState& warp, std::uint32_t lane) {
  for (std::size_t i = 0; i < warp.splits.size(); ++i) {
    if (warp.splits[i].lanes >> lane & 1) return i;
  }
  return 0;
}

std::vector<WarpState> warps_of(const Machine& machine, u64 block) {
  std::vector<WarpState> out;
  const Block* b = find_block(machine, block);
  if (!b) return out;
  for (const Warp& w : b->warps) {
    WarpState state{w.index, w.live, w.executed, {}};
    for (const Split& s : w.splits) {
      const u32 pc = waiting_at(s), lane = static_cast<u32>(__builtin_ctz(s.mask));
      const ptx::Instruction& i = machine.program().code[pc];
      SplitState split{pc,
                       s.mask,
                       s.wait,
                       "",
                       i.text,
                       machine.site(*b, w.index * 32 + lane, pc),
                       w.calls.depth[lane]};
      if (s.wait != Wait::none) {
        split.why = std::string(ptx::opcode(i.op).name) + wait_text(machine.model(), *b, w, s);
      }
      state.splits.push_back(std::move(split));
    }
    out.push_back(std::move(state));
  }
  return out;
}

std::vector<MbarrierState> mbarriers_of(const Machine& machine, u64 block) {
  std::vector<MbarrierState> out;
  const Block* b = find_block(machine, block);
  if (!b) return out;
  for (const auto& [offset, m] : b->mbarriers) {
    MbarrierBits bits;
    unpack(m.word, bits);
    out.push_back({offset, mbarrier_name(machine.model(), offset), m.phase, bits.pending,
                   bits.expected, bits.transactions, m.arrived, m.arrived_before, m.waiting,
                   mbarrier_story(machine.model(), *b, offset)});
  }
  return out;
}

std::vector<BarrierState> barriers_of(const Machine& machine, u64 block) {
  std::vector<BarrierState> out;
  const Block* b = find_block(machine, block);
  if (!b) return out;
  for (u32 n = 0; n < b->barriers.size(); ++n) {
    const Barrier& barrier = b->barriers[n];
    if (!barrier.open) continue;
    BarrierState state{
        n, barrier.there(), barrier.expected ? barrier.expected : b->live_threads, {}};
    for (const Warp& w : b->warps) {
      if (std::any_of(w.splits.begin(), w.splits.end(),
                      [&](const Split& s) { return s.wait == Wait::barrier && s.barrier == n; })) {
        state.waiting.push_back(w.index);
      }
    }
    out.push_back(std::move(state));
  }
  return out;
}

std::vector<OperationState> operations_of(const Machine& machine, u64 block) {
  std::vector<OperationState> out;
  const Block* b = find_block(machine, block);
  if (!b) return out;
  for (const AsyncOperation& o : b->flight.operations) {
    const Block& by = machine.issuer(*b, o);
    OperationState state;
    state.name = o.work->name;
    state.number = o.number;
    state.stage = o.stage;
    state.issuer = machine.site(by, o.thread, o.pc);
    state.issuing_block = by.number;
    state.reads = o.reads;
    state.writes = o.writes;
    state.global = o.global;
    tensor_cells(o, state.cells);
    if (o.mbarrier != no_mbarrier) {
      state.mbarrier = o.mbarrier;
      state.mbarrier_name = mbarrier_name(machine.model(), o.mbarrier);
    }
    state.transactions = o.transactions;
    if (o.group != no_group) state.group = o.group;
    out.push_back(std::move(state));
  }
  return out;
}

std::string_view name_of(Stage stage) {
  constexpr std::string_view names[] = {"issued", "read", "written", "complete"};
  return names[static_cast<std::size_t>(stage)];
}

std::string text(const SplitState& s) {
  return fmt::format("{} at {}: {}{}", lanes_text(s.lanes), place_text(s.site), s.text,
                     s.why.empty() ? "" : "; waits at " + s.why);
}

std::string text(const RegisterValue& v, u32 lane) {
  if (!v.alive) return fmt::format("{} is not alive here", v.name);
  if (v.undefined[lane]) return fmt::format("{} = undefined", v.name);
  if (v.type == ptx::Type::pred)
    return fmt::format("{} = {}", v.name, v.low[lane] ? "true" : "false");
  const int width = ptx::bytes_of(v.type);
  if (width == 16) return fmt::format("{} = 0x{:016x}{:016x}", v.name, v.high[lane], v.low[lane]);
  return fmt::format("{} = 0x{:0{}x}", v.name, v.low[lane], 2 * width);
}

std::string text(const MbarrierState& b) {
  return fmt::format("{}: {}", b.name, b.story);
}

std::string text(const BarrierState& b) {
  return fmt::format("barrier {}: {} of {} threads are there", b.number, b.arrived, b.expected);
}

std::string text(const OperationState& o) {
  std::string out = fmt::format("{} of {}: {}", o.name, text(o.issuer), name_of(o.stage));
  for (const Range& r : o.reads) {
    out += fmt::format(", reads bytes {} to {} of shared memory", r.begin, r.end - 1);
  }
  for (const Range& r : o.writes) {
    out += fmt::format(", writes bytes {} to {} of shared memory", r.begin, r.end - 1);
  }
  for (const CellRange& c : o.cells.written) out += ", writes " + cells_text(c);
  if (o.mbarrier) out += fmt::format(", completes on {}", o.mbarrier_name);
  return out;
}

}  // namespace tilescope::sim
