// What wgmma.mma_async adds up, in a machine that stands still.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "core/numeric/small_float.h"
#include "core/ptx/flights.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/waits.h"
#include "core/sim/stepping/find_block.h"
#include "core/sim/stepping/inspect.h"
#include "core/sim/wgmma/form.h"
#include "core/sim/wgmma/warpgroup.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Element = GroupAccumulator::Element;

std::vector<u32> registers_of_d(const ptx::Program& program, u32 pc) {
  std::vector<u32> out;
  ptx::each_in_flight(program, program.code[pc], [&](u32 reg, u32 operand) {
    if (operand == 0) out.push_back(reg);
  });
  return out;
}

std::string_view name_of(SumType type) {
  return type == SumType::f16 ? "f16" : type == SumType::s32 ? "s32" : "f32";
}

double value_of(SumType type, u32 bits) {
  switch (type) {
    case SumType::f16:
      return decode(format_f16, bits & 0xffff);
    case SumType::s32:
      return static_cast<std::int32_t>(bits);
    default:
      return static_cast<double>(std::bit_cast<float>(bits));
  }
}

// Is there a warp of the warpgroup that has not waited for a product that writes D of this one?
bool is_in_use(const Machine& machine, const Block& block, u32 group, u32 pc) {
  if (group >= block.warpgroups.size()) return false;
  const Bound& bound = machine.model().image->bound[block.rank];
  const std::vector<GroupUse>& uses = bound.touches[bound.code[pc].immediate].uses;
  for (const GroupWarp& warp : block.warpgroups[group].warps) {
    for (const GroupUse& use : uses) {
      const bool known = use.is_d && use.number < warp.uses.size();
      if (known && warp.uses[use.number].as_d > warp.waited) return true;
    }
  }
  return false;
}

// One warp's rows.
void read_rows(const Machine& machine, const Block& block, u32 member, const Warp& warp,
               const GroupForm& form, const std::vector<u32>& registers,
               const std::vector<bool>& held, GroupAccumulator& out) {
  const Fragment& f = group_d_fragment(form);
  const ptx::Program& program = machine.program();
  const std::uint16_t* place = f.place.data();
  for (std::size_t r = 0; r < registers.size(); ++r) {
    const ptx::Register& reg = program.registers[registers[r]];
    const std::size_t file = warp.index * machine.model().register_stride() + reg.place;
    for (int shift = 0; shift < 32; shift += f.bits) {
      for (u32 l = 0; l < 32; ++l, ++place) {
        Element& e = out.elements[std::size_t{member} * warp_rows * form.n + *place];
        e.warp = static_cast<std::uint8_t>(member);
        e.lane = static_cast<std::uint8_t>(l);
        e.reg = static_cast<std::uint16_t>(r);
        e.byte = static_cast<std::uint8_t>(shift / 8);
        e.held = held[r] && reg.place != ptx::no_register;
        if (!e.held) continue;
        u32 word = 0;
        std::memcpy(&word, block.registers.settled() + file + l * 4, 4);
        e.value = value_of(form.d, word >> shift);
        for (int k = 0; !block.undefined.empty() && k < f.bits / 8; ++k) {
          if (block.undefined[file + l * 4 + e.byte + static_cast<std::size_t>(k)])
            e.undefined = true;
        }
      }
    }
  }
}

}  // namespace

std::vector<GroupAccumulator> Registers::accumulators(const Machine& machine, u64 number,
                                                      u32 warp) const {
  std::vector<GroupAccumulator> out;
  const Block* block = find_block(machine, number);
  const u32 group = warp / 4;
  if (!block || group * 4 + 4 > block->warps.size()) return out;
  const ptx::Program& program = machine.program();
  // Where each of the four warps stands; one that has exited wants nothing.
  std::array<std::optional<u32>, 4> stands;
  for (u32 i = 0; i < 4; ++i) {
    const Warp& w = block->warps[group * 4 + i];
    if (!w.splits.empty()) stands[i] = waiting_at(w.splits[0]);
  }
  const u32 here = stands[warp % 4].value_or(0);
  // Products that write the same registers, by where those are.
  std::map<std::tuple<u32, u32, SumType>, std::vector<u32>> products;
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    if (!ptx::is_group_product(program.code[pc])) continue;
    const std::vector<u32> registers = registers_of_d(program, pc);
    if (registers.empty()) continue;
    const GroupForm form = group_form(program, program.code[pc]);
    products[{program.registers[registers[0]].place, form.n, form.d}].push_back(pc);
  }
  for (const auto& [key, at] : products) {
    const auto next = std::lower_bound(at.begin(), at.end(), here);
    GroupAccumulator a;
    a.pc = next == at.end() ? at.back() : *next;
    const GroupForm form = group_form(program, program.code[a.pc]);
    const std::vector<u32> registers = registers_of_d(program, a.pc);
    // A register has a name in each product; any of them may be the one that is wanted.
    std::vector<std::vector<u32>> names;
    for (const u32 pc : at) names.push_back(registers_of_d(program, pc));
    std::array<std::vector<bool>, 4> held;
    bool any = false;
    for (u32 i = 0; i < 4; ++i) {
      for (std::size_t r = 0; r < registers.size(); ++r) {
        const u32 place = program.registers[registers[r]].place;
        const auto wants = [&](const std::vector<u32>& of) {
          return program.registers[of[r]].place == place &&
                 lives_[of[r]].holds_at(positions_[*stands[i]]);
        };
        held[i].push_back(stands[i] && std::any_of(names.begin(), names.end(), wants));
        any = any || held[i].back();
      }
    }
    if (!any) continue;
    a.site = machine.site(*block, group * 128, a.pc);
    a.type = name_of(form.d);
    a.columns = form.n;
    a.in_use = is_in_use(machine, *block, group, a.pc);
    a.elements.resize(std::size_t{GroupAccumulator::rows} * form.n);
    for (const u32 reg : registers) a.registers.push_back(program.name_of_register(reg));
    for (u32 i = 0; i < 4; ++i) {
      read_rows(machine, *block, i, block->warps[group * 4 + i], form, registers, held[i], a);
    }
    out.push_back(std::move(a));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.pc < b.pc; });
  return out;
}

}  // namespace tilescope::sim
