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
#include "core/sim/async/boxes.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/waits.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/stepping/find_block.h"
#include "core/sim/stepping/inspect.h"
#include "core/sim/wgmma/form.h"
#include "core/sim/wgmma/product.h"
#include "core/sim/wgmma/warpgroup.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using SumElement = GroupAccumulator::Element;

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

// Where a warp's lanes stand; a lane that has exited wants nothing.
struct Stand {
  std::vector<u32> at;                    // of each split
  std::array<std::uint8_t, 32> split_of;  // of each lane
  static constexpr std::uint8_t exited = 0xff;
};
Stand stand_of(const Warp& warp) {
  Stand out{{}, {}};
  out.split_of.fill(Stand::exited);
  for (const Split& split : warp.splits) {
    for (u32 l = 0; l < 32; ++l) {
      if (split.mask >> l & 1) out.split_of[l] = static_cast<std::uint8_t>(out.at.size());
    }
    out.at.push_back(waiting_at(split));
  }
  return out;
}

// The instruction that the lane looked at stands at, else the split that is at a wgmma, else the
// first.
u32 looked_at(const ptx::Program& program, const Stand& stand, std::optional<u32> lane) {
  if (stand.at.empty()) return 0;
  if (lane && *lane < 32 && stand.split_of[*lane] != Stand::exited) {
    return stand.at[stand.split_of[*lane]];
  }
  for (const u32 pc : stand.at) {
    if (program.code[pc].modifiers.group_step() != ptx::GroupStep{}) return pc;
  }
  return stand.at.front();
}

// Products that write the same registers.
struct Products {
  const std::vector<u32>& at;               // the instructions
  std::vector<std::vector<u32>> registers;  // D of each: a register has a name in each of them
};

// Which of D's registers, as this product has them, are held by a split at `pc`: by any of their
// names.
std::vector<bool> held_at(const ptx::Program& program, const std::vector<ptx::Life>& lives,
                          u32 position, const Products& products, const std::vector<u32>& own) {
  std::vector<bool> out;
  for (std::size_t r = 0; r < own.size(); ++r) {
    const u32 place = program.registers[own[r]].place;
    out.push_back(place != ptx::no_register &&
                  std::any_of(products.registers.begin(), products.registers.end(),
                              [&](const std::vector<u32>& of) {
                                return program.registers[of[r]].place == place &&
                                       lives[of[r]].holds_at(position);
                              }));
  }
  return out;
}

// What the last of the products took from shared memory; null: none of them has begun.
const GroupSource* source_of(const Block& block, u32 group, const Products& products) {
  const GroupSource* last = nullptr;
  if (group >= block.warpgroups.size()) return last;
  for (const GroupSource& each : block.warpgroups[group].sources) {
    const bool own =
        std::find(products.at.begin(), products.at.end(), each.pc) != products.at.end();
    if (own && (!last || each.product > last->product)) last = &each;
  }
  return last;
}

// Has another instruction written the r-th register since the source's product? By the name under
// which a product used it last.
bool is_changed(const Machine& machine, const Block& block, u32 group, u32 member,
                const Products& products, std::size_t r, const GroupSource& source) {
  const Bound& bound = machine.model().image->bound[block.rank];
  const GroupWarp& warp = block.warpgroups[group].warps[member];
  const GroupWarp::Use* last = nullptr;
  for (const u32 pc : products.at) {
    const GroupUse& use = bound.touches[bound.code[pc].immediate].uses[r];  // D's are the first
    if (use.number >= warp.uses.size()) continue;
    const GroupWarp::Use& state = warp.uses[use.number];
    if (!last || state.as_d > last->as_d) last = &state;
  }
  return !last || last->changed_after > source.product + 1;
}

// Does the first product of new sums fly that has not written them yet?
bool is_beginning(const Block& block, u32 group, const Products& products) {
  return std::any_of(
      block.flight.operations.begin(), block.flight.operations.end(), [&](const AsyncOperation& o) {
        if (!is_group_product(o) || o.stage >= Stage::written) return false;
        const GroupWords words = GroupWords::of(o);
        return words.group == group && !words.accumulate &&
               std::find(products.at.begin(), products.at.end(), words.pc[0]) != products.at.end();
      });
}

// Where in global memory a byte of shared memory came from; 0: not from these tiles.
u64 origin(const std::vector<SharedTile>& tiles, u32 byte) {
  for (const SharedTile& tile : tiles) {
    if (const u64 address = tile.origin(byte)) return address;
  }
  return 0;
}

std::vector<u64> rows_from(const std::vector<SharedTile>& tiles, const SharedMatrix& matrix,
                           u32 rows, ElementType type, u32 row_bytes) {
  const ElementType as = type == ElementType::b1 ? ElementType::u8 : type;
  const u32 width = width_of(as);
  std::vector<u64> out(rows);
  std::vector<bool> seen(rows);
  each_piece(matrix, rows, as, row_bytes, [&](u32 row, u32 count, u32 offset) {
    for (u32 i = 0; i < count; ++i) {
      if (seen[row + i]) continue;
      seen[row + i] = true;
      out[row + i] = origin(tiles, offset + i * width);
    }
  });
  return out;
}

void find_origins(const ptx::Program& program, const GroupSource& source, GroupAccumulator& out) {
  const GroupForm form = group_form(program, program.code[source.pc]);
  GroupWords words;
  words.a = source.a;
  words.b = source.b;
  GroupOperands operands;
  if (decode(form, words, operands)) return;
  out.rows_from = form.a_in_registers
                      ? source.rows
                      : rows_from(source.tiles, operands.a, group_rows, form.a, form.a_bytes());
  out.rows_from.resize(group_rows);
  out.columns_from = rows_from(source.tiles, operands.b, form.n, form.b, form.b_bytes());
}

// One warp's rows.
void read_rows(const Machine& machine, const Block& block, u32 member, const Warp& warp,
               const GroupForm& form, const std::vector<u32>& registers, const Stand& stand,
               const std::vector<std::vector<bool>>& held, const std::vector<bool>& changed,
               GroupAccumulator& out) {
  const Fragment& f = group_d_fragment(form);
  const ptx::Program& program = machine.program();
  const std::uint16_t* place = f.place.data();
  for (std::size_t r = 0; r < registers.size(); ++r) {
    const ptx::Register& reg = program.registers[registers[r]];
    const std::size_t file = warp.index * machine.model().register_stride() + reg.place;
    for (int shift = 0; shift < 32; shift += f.bits) {
      for (u32 l = 0; l < 32; ++l, ++place) {
        SumElement& e = out.elements[std::size_t{member} * warp_rows * form.n + *place];
        e.warp = static_cast<std::uint8_t>(member);
        e.lane = static_cast<std::uint8_t>(l);
        e.reg = static_cast<std::uint16_t>(r);
        e.byte = static_cast<std::uint8_t>(shift / 8);
        const std::uint8_t split = stand.split_of[l];
        e.held = split != Stand::exited && held[split][r];
        if (!e.held) continue;
        e.changed = changed[r];
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

std::vector<GroupAccumulator> Registers::accumulators(const Machine& machine, u64 number, u32 warp,
                                                      std::optional<u32> lane) const {
  std::vector<GroupAccumulator> out;
  const Block* block = find_block(machine, number);
  const u32 group = warp / 4;
  if (!block || group * 4 + 4 > block->warps.size()) return out;
  const ptx::Program& program = machine.program();
  std::array<Stand, 4> stands;
  for (u32 i = 0; i < 4; ++i) stands[i] = stand_of(block->warps[group * 4 + i]);
  const u32 here = looked_at(program, stands[warp % 4], lane);
  // By where their registers are.
  std::map<std::tuple<u32, u32, SumType>, std::vector<u32>> all;
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    if (!ptx::is_group_product(program.code[pc])) continue;
    const std::vector<u32> registers = registers_of_d(program, pc);
    if (registers.empty()) continue;
    const GroupForm form = group_form(program, program.code[pc]);
    all[{program.registers[registers[0]].place, form.n, form.d}].push_back(pc);
  }
  for (const auto& [key, at] : all) {
    Products products{at, {}};
    for (const u32 pc : at) products.registers.push_back(registers_of_d(program, pc));
    const auto next = std::lower_bound(at.begin(), at.end(), here);
    GroupAccumulator a;
    a.pc = next == at.end() ? at.back() : *next;
    const GroupForm form = group_form(program, program.code[a.pc]);
    const std::vector<u32> registers = registers_of_d(program, a.pc);
    std::array<std::vector<std::vector<bool>>, 4> held;
    bool any = false;
    for (u32 i = 0; i < 4; ++i) {
      for (const u32 pc : stands[i].at) {
        held[i].push_back(held_at(program, lives_, positions_[pc], products, registers));
        any = any ||
              std::find(held[i].back().begin(), held[i].back().end(), true) != held[i].back().end();
      }
      a.splits[i] = static_cast<u32>(stands[i].at.size());
    }
    if (!any) continue;
    a.site = machine.site(*block, group * 128, a.pc);
    a.type = name_of(form.d);
    a.columns = form.n;
    a.in_use = is_in_use(machine, *block, group, a.pc);
    a.elements.resize(std::size_t{GroupAccumulator::rows} * form.n);
    for (const u32 reg : registers) a.registers.push_back(program.name_of_register(reg));
    const GroupSource* source = source_of(*block, group, products);
    if (source && !is_beginning(*block, group, products)) find_origins(program, *source, a);
    for (u32 i = 0; i < 4; ++i) {
      std::vector<bool> changed;
      for (std::size_t r = 0; r < registers.size(); ++r) {
        changed.push_back(source && is_changed(machine, *block, group, i, products, r, *source));
      }
      read_rows(machine, *block, i, block->warps[group * 4 + i], form, registers, stands[i],
                held[i], changed, a);
    }
    out.push_back(std::move(a));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.pc < b.pc; });
  return out;
}

}  // namespace tilescope::sim
