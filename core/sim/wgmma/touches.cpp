// Which instructions use registers of a wgmma.mma_async: found when a program is bound, so that no
// other instruction is looked at while it runs.
#include <unordered_map>
#include <utility>

#include "core/ptx/flights.h"
#include "core/sim/wgmma/handlers.h"
#include "core/sim/wgmma/rows.h"

namespace tilescope::sim {
namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;

// Registers of an instruction's operands, with whether they are written.
template <class F>
void each_register(const ptx::Program& program, const Instruction& i, F f) {
  const auto one = [&](const Operand& o) {
    const bool has = (o.kind == Operand::Kind::reg || o.kind == Operand::Kind::address) &&
                     o.index != ptx::no_register;
    if (has) f(o.index, o.written);
  };
  for (std::uint32_t k = 0; k < i.count; ++k) {
    const Operand& o = program.operands_of(i)[k];
    if (o.kind != Operand::Kind::vector) one(o);
    for (std::uint32_t e = 0; o.kind == Operand::Kind::vector && e < o.count; ++e) {
      one(program.elements[o.index + e]);
    }
  }
}

// A copy between registers that are one: nothing happens.
bool is_renaming(const Instruction& i, const Touch& touch) {
  return i.op == Op::mov && !i.guarded && touch.uses.size() == 2 &&
         touch.uses[0].number == touch.uses[1].number;
}

Flow rename_register(Core&, const Code&, Mask) {
  return Flow::next;
}

}  // namespace

void find_touches(const ptx::Program& program, Bound& bound) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;  // of the registers
  const auto one_of = [&](std::uint32_t reg) {
    const std::uint32_t same = program.registers[reg].same;
    return same == ptx::no_register ? reg : same;
  };
  const Followed followed = followed_registers(program);
  bound.followed_registers = static_cast<std::uint32_t>(followed.size());
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    if (!ptx::is_group_product(program.code[pc])) continue;
    Touch touch;
    touch.rows = row_uses(program, program.code[pc], followed);
    touch.a_rows = rows_of_a(program, program.code[pc], followed);
    ptx::each_in_flight(program, program.code[pc], [&](std::uint32_t reg, std::uint32_t k) {
      if (k > 1) return;
      const auto [at, fresh] = numbers.try_emplace(
          one_of(reg), static_cast<std::uint32_t>(bound.group_registers.size()));
      if (fresh) bound.group_registers.push_back(one_of(reg));
      touch.uses.push_back({at->second, reg, k == 0, k == 0});
    });
    bound.code[pc].immediate = bound.touches.size();
    bound.touches.push_back(std::move(touch));
  }
  if (numbers.empty()) return;
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const Instruction& i = program.code[pc];
    if (ptx::is_group_product(i)) continue;
    Touch touch;
    each_register(program, i, [&](std::uint32_t reg, bool written) {
      const auto at = numbers.find(one_of(reg));
      if (at != numbers.end()) touch.uses.push_back({at->second, reg, false, written});
    });
    touch.rows = row_uses(program, i, followed);
    if (touch.uses.empty() && touch.rows.empty()) continue;
    if (is_renaming(i, touch)) {
      bound.code[pc].run = rename_register;
      continue;
    }
    touch.run = std::exchange(bound.code[pc].run, touch_group_registers);
    bound.touch_of[static_cast<std::uint32_t>(pc)] =
        static_cast<std::uint32_t>(bound.touches.size());
    bound.touches.push_back(std::move(touch));
  }
}

}  // namespace tilescope::sim
