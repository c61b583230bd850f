// setmaxnreg (PTX ISA 9.7.19.5). Code: d the number of registers.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

constexpr const char* section = "PTX ISA 9.7.19.5";

std::string change_text(const RegisterChange& change) {
  return fmt::format("setmaxnreg.{} {}", change.more ? "inc" : "dec", change.registers);
}

// All warps of a warpgroup execute the same setmaxnreg, and none goes on to the next before all
// have: so the text, which leaves the rest undefined. Chips take a warp at a time (SASS:
// USETMAXREG.DEALLOC, TRY_ALLOC.CTAPOOL), and an H100 ran through where the warps of one warpgroup
// executed it at places and with numbers of their own, as Triton's roles do: a hazard.
void watch_warpgroup(Core& x, const RegisterChange& mine) {
  const Block& block = *x.block;
  const u32 first = x.warp->index / 4 * 4, number = x.warp->register_changes;
  const auto& known = block.registers_free.changes[first / 4];
  const auto site_text = [&](const RegisterChange& c) {
    return text(x.machine->site(block, c.warp * 32, c.pc));
  };
  if (number < known.size()) {
    const RegisterChange& other = known[number];
    if (other.more == mine.more && other.registers == mine.registers) return;
    x.reports->hazard(x, 0, "setmaxnreg", other.pc, [&] {
      Report r;
      r.sentence = fmt::format("this {} is not what warp {} of the warpgroup executed, {} at {}",
                               change_text(mine), other.warp, change_text(other), site_text(other));
      r.expected = fmt::format("the same setmaxnreg in all warps of a warpgroup ({})", section);
      r.found = change_text(mine);
      return r;
    });
    return;
  }
  for (u32 w = first; w < std::min<u32>(first + 4, static_cast<u32>(block.warps.size())); ++w) {
    if (block.warps[w].register_changes >= number) continue;
    const RegisterChange& last = known[block.warps[w].register_changes];
    x.reports->hazard(x, 0, "setmaxnreg", last.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "this {} comes before warp {} of the warpgroup has executed the one before it, {} at {}",
          change_text(mine), w, change_text(last), site_text(last));
      r.expected = fmt::format("a barrier of the warpgroup between two setmaxnreg ({})", section);
      r.found = "none";
      return r;
    });
    return;
  }
}

bool goes_the_right_way(Core& x, const RegisterChange& mine) {
  const u32 have = x.warp->registers;
  if (mine.more ? mine.registers >= have : mine.registers <= have) return true;
  x.reports->fault(
      x, 0, "setmaxnreg",
      fmt::format("{} in a warp whose threads have {} registers", change_text(mine), have),
      fmt::format("at {} {} registers ({})", mine.more ? "least" : "most", have, section),
      fmt::format("{}", mine.registers));
  return false;
}

// Without a number at the start "the setmaxnreg instruction may have no effect".
void note_no_effect(Core& x) {
  x.reports->note(x, 0, "setmaxnreg_no_effect", x.pc, [&] {
    Report r;
    r.sentence =
        "this setmaxnreg has no effect: nothing says how many registers the kernel starts with";
    r.expected = ".maxnreg, or .minnctapersm with .maxntid or .reqntid";
    r.found = "neither";
    return r;
  });
}

// Whoever wants registers gets them in every order where those that are given without a wait for
// anybody who wants some are enough for all.
void log_change(Core& x, RegisterPool& pool, const RegisterChange& mine) {
  const Observer& me = observer(x);
  const u32 had = x.warp->registers;
  if (mine.more) {
    pool.wanted += mine.registers - had;
    pool.taken.push_back({me.me(), me.epoch()});
    return;
  }
  const VectorClock behind = me.behind();
  const bool waits =
      std::any_of(pool.taken.begin(), pool.taken.end(),
                  [&](const RegisterPool::Taken& t) { return behind.of(t.agent) >= t.epoch; });
  if (!waits) pool.given += had - mine.registers;
}

Flow set_registers(Core& x, const Code& c, Mask m) {
  const Flow flow = together(x, m, x.warp->live, Wait::aligned);
  if (flow != Flow::next) return flow;
  Warp& warp = *x.warp;
  if (warp.registers == 0) {
    note_no_effect(x);
    return Flow::next;
  }
  const bool more = x.machine->program().code[x.pc].modifiers[ptx::Field::registers] == 1;  // inc
  const RegisterChange mine{warp.index, x.pc, base::lane_array<u32>(x, c.d)[0], more};
  if (!goes_the_right_way(x, mine)) return Flow::fault;
  RegisterPool& pool = x.block->registers_free;
  if (more && pool.free < mine.registers - warp.registers) return wait_here(x, m, Wait::registers);
  watch_warpgroup(x, mine);
  if (x.machine->order_log && x.block->order.on()) log_change(x, pool, mine);
  pool.free += warp.registers - mine.registers;
  warp.registers = mine.registers;
  auto& known = pool.changes[warp.index / 4];
  if (warp.register_changes++ == known.size()) known.push_back(mine);
  if (more) return Flow::next;
  for (Warp& other : x.block->warps) {
    for (Split& s : other.splits) {
      if (s.wait == Wait::registers) s.wait = Wait::none;
    }
  }
  return Flow::next;
}

}  // namespace

Handler register_handler() {
  return set_registers;
}

u32 registers_at_entry(const ptx::Program& program) {
  const ptx::Function& entry = program.entry;
  const auto count = [](const std::array<u32, 3>& d) {
    return d[0] ? d[0] * std::max(d[1], 1u) * std::max(d[2], 1u) : 0;
  };
  const u32 required = count(entry.required_block);
  const u32 threads = required ? required : count(entry.maximum_block);
  u32 most = entry.maximum_registers;
  if (entry.minimum_blocks_per_sm && threads) {
    const u32 warps = (threads + 31) / 32 * entry.minimum_blocks_per_sm;
    const u32 share = registers_of_processor / 4 / ((warps + 3) / 4 * 32) / 8 * 8;
    most = most ? std::min(most, share) : share;
  }
  u32 named = 0;
  for (const ptx::Instruction& i : program.code) {
    if (i.op != ptx::Op::setmaxnreg || i.modifiers[ptx::Field::registers] != 1) continue;  // inc
    named = std::max(named, static_cast<u32>(program.operands_of(i)[0].value));
  }
  if (named) most = std::min(most, named);
  return (std::min(most, 255u) + 7) / 8 * 8;
}

// A chip lets it: DeepGEMM's kernels have one warp of four execute it.
void leave_registers(Model& machine, const Block& block) {
  const RegisterPool& pool = block.registers_free;
  if (machine.order_log && pool.wanted > pool.given) {
    machine.order_log->blind("who gets registers first is not tried otherwise: setmaxnreg");
  }
  for (const Warp& warp : block.warps) {
    const auto& known = block.registers_free.changes[warp.index / 4];
    if (warp.register_changes >= known.size()) continue;
    const RegisterChange& other = known[warp.register_changes];
    machine.reports.hazard_at(block, other.warp * 32, other.pc, "setmaxnreg", other.pc, [&] {
      Report r;
      r.sentence =
          fmt::format("warp {} has exited without this {}, which warp {} of its warpgroup executed",
                      warp.index, change_text(other), other.warp);
      r.expected = fmt::format("the same setmaxnreg in all warps of a warpgroup ({})", section);
      r.found = "none";
      return r;
    });
  }
}

}  // namespace tilescope::sim
