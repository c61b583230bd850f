// Which instructions use what a tcgen05.ld has loaded: found when a program is bound, so that no
// other instruction is looked at while it runs. "An intra-thread ordering through true register
// dependency will be respected" (PTX ISA 9.7.16.6.4.5): whoever uses one of its registers comes
// behind the load. A mov is no use: what it copies ptxas keeps in one register, or moves the copy.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/handlers.h"

namespace tilescope::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using u32 = std::uint32_t;

bool is_load(const Instruction& i) {
  return i.op == ptx::Op::tcgen05 && i.modifiers.tensor_step() == ptx::TensorStep::ld;
}

template <class F>
void each_used(const ptx::Program& program, const Instruction& i, bool written, F f) {
  const auto one = [&](const Operand& o) {
    const bool has = (o.kind == Operand::Kind::reg || o.kind == Operand::Kind::address) &&
                     o.index != ptx::no_register;
    if (has && o.written == written) f(o.index);
  };
  for (u32 k = 0; k < i.count; ++k) {
    const Operand& o = program.operands_of(i)[k];
    if (o.kind != Operand::Kind::vector) one(o);
    for (u32 e = 0; o.kind == Operand::Kind::vector && e < o.count; ++e) {
      one(program.elements[o.index + e]);
    }
  }
}

const Bound& bound_of(const Core& x) {
  return x.machine->image->bound[x.block->rank];
}

// Loads of this warp that the instruction uses something of are over.
Flow use_loaded(Core& x, const Code& c, Mask m) {
  const LoadedUse& use = bound_of(x).loaded.at(x.pc);
  TensorUnit& unit = x.block->tensor;
  if (m) {
    for (TensorMove& move : unit.moves) {
      if (move.store || move.used || move.warp != x.warp->index) continue;
      if (std::find(use.loads.begin(), use.loads.end(), move.pc) == use.loads.end()) continue;
      move.used = ++unit.events;
      move.used_by = x.pc;
    }
  }
  return use.run(x, c, m);
}

}  // namespace

void find_loaded(const ptx::Program& program, Bound& bound) {
  std::unordered_map<u32, std::vector<u32>> readers;  // of the registers that something reads
  std::vector<u32> loads;
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    if (is_load(program.code[pc])) loads.push_back(pc);
  }
  if (loads.empty()) return;
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    each_used(program, program.code[pc], false, [&](u32 reg) { readers[reg].push_back(pc); });
  }
  for (const u32 load : loads) {
    std::unordered_set<u32> holds;  // registers that have something of it
    std::vector<u32> left;
    const auto add = [&](u32 reg) {
      if (holds.insert(reg).second) left.push_back(reg);
    };
    each_used(program, program.code[load], true, add);
    while (!left.empty()) {
      const auto found = readers.find(left.back());
      left.pop_back();
      if (found == readers.end()) continue;
      for (const u32 pc : found->second) {
        const Instruction& i = program.code[pc];
        if (i.op == ptx::Op::mov) {
          each_used(program, i, true, add);
          continue;
        }
        std::vector<u32>& of = bound.loaded[pc].loads;
        if (of.empty() || of.back() != load) of.push_back(load);
      }
    }
  }
  for (auto& [pc, use] : bound.loaded) use.run = std::exchange(bound.code[pc].run, use_loaded);
}

}  // namespace tilescope::sim
