#include "core/sim/wgmma/rows.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "core/ptx/flights.h"
#include "core/sim/machine/model.h"
#include "core/sim/wgmma/form.h"
#include "core/sim/wgmma/warpgroup.h"

namespace tilescope::sim {
namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Program;
using ptx::Space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 lane_step = 4;  // from row to row

u32 one_of(const Program& program, u32 reg) {
  const u32 same = program.registers[reg].same;
  return same == ptx::no_register ? reg : same;
}

// The register that holds what is lowest in an operand; nothing: none does.
std::optional<u32> lowest(const Program& program, const Operand& o) {
  const Operand& first = o.kind == Operand::Kind::vector && o.count ? program.elements[o.index] : o;
  if (first.kind != Operand::Kind::reg || first.index == ptx::no_register) return {};
  return one_of(program, first.index);
}

// Of a mov or cvt: the operand whose lowest element becomes the lowest of the result.
const Operand* copied(const Program& program, const Instruction& i) {
  const Operand* o = program.operands_of(i);
  if (i.op == Op::mov && i.count == 2) return &o[1];
  if (i.op != Op::cvt) return nullptr;
  if (i.count == 2) return &o[1];
  // Of two f32 that are packed the second is lower (9.7.9.21).
  const bool packs =
      i.count == 3 && i.modifiers.type2() == ptx::Type::f32 && o[1].kind != Operand::Kind::vector;
  return packs ? &o[2] : nullptr;
}

std::array<std::optional<u32>, 2> first_of_a(const Program& program, const Instruction& product) {
  std::array<std::optional<u32>, 2> out;
  u32 seen = 0;
  ptx::each_in_flight(program, product, [&](u32 reg, u32 operand) {
    if (operand == 1 && seen < out.size()) out[seen++] = one_of(program, reg);
  });
  return out;
}

u64 address_of(const Core& x, const Code& c, u32 lane) {
  if (c.a == nothing) return c.immediate;
  const std::byte* a = x.bank[c.a >> 31] + (c.a & ~constant_bit);
  u64 wide = 0;
  u32 narrow = 0;
  if (!c.narrow_address) {
    std::memcpy(&wide, a + lane * sizeof wide, sizeof wide);
    return wide + c.immediate;
  }
  std::memcpy(&narrow, a + lane * sizeof narrow, sizeof narrow);
  return narrow + static_cast<u32>(c.immediate);  // offsets of a 32-bit address wrap
}

u64 from_shared(const Core& x, u64 offset) {
  const Region& shared = x.block->shared;
  if (offset >= shared.size()) return 0;
  const auto byte = static_cast<u32>(offset);
  for (const SharedTile& tile : x.block->tiles.all()) {
    if (byte < tile.begin() || byte >= tile.end()) continue;
    const Writer by = Writer::of(x.block->number, tile.thread, tile.pc);
    return !tile.stored && shared.writer(byte).bits == by.bits ? tile.origin(byte) : 0;
  }
  return 0;
}

// Of an address that is read.
u64 origin(const Core& x, Space space, u64 address) {
  if (space == Space::generic && address - ptx::shared_base < ptx::window_bytes) {
    return from_shared(x, address - ptx::shared_base - x.window);
  }
  if (space == Space::shared) return from_shared(x, address - x.window);
  if (space != Space::global && space != Space::generic) return 0;
  const Region* region = x.machine->region_of(address);
  return region && region->kind() == Region::Kind::buffer ? address : 0;
}

RowsFrom loaded(const Core& x, const Code& c, u32 element) {
  RowsFrom out{};
  for (u32 r = 0; r < out.size(); ++r) {
    out[r] = origin(x, c.space, address_of(x, c, r * lane_step) + u64{element} * c.width);
  }
  return out;
}

// Lane 4 * r has the first elements of row r; with .trans the first row's element r
// (core/sim/matrix/moves.cpp).
RowsFrom loaded_matrix(const Core& x, const Code& c, u32 matrix, bool transposed) {
  RowsFrom out{};
  for (u32 r = 0; r < out.size(); ++r) {
    out[r] = transposed ? origin(x, c.space, address_of(x, c, 8 * matrix) + u64{r} * 2)
                        : origin(x, c.space, address_of(x, c, 8 * matrix + r));
  }
  return out;
}

std::vector<RowsFrom>& rows_of(Core& x) {
  return warpgroup_of(x).warps[x.warp->index % 4].rows;
}

}  // namespace

namespace {

using Registers = std::unordered_set<u32>;

// Those that get into the first two registers of A of a product, by mov and cvt.
Registers leading_to_a(const Program& program) {
  Registers out;
  for (const Instruction& i : program.code) {
    if (!ptx::is_group_product(i)) continue;
    for (const auto& reg : first_of_a(program, i)) {
      if (reg) out.insert(*reg);
    }
  }
  for (bool more = !out.empty(); more;) {
    more = false;
    for (const Instruction& i : program.code) {
      const Operand* from = copied(program, i);
      if (!from) continue;
      const auto source = lowest(program, *from);
      const auto target = lowest(program, program.operands_of(i)[0]);
      if (source && target && out.count(*target)) more = out.insert(*source).second || more;
    }
  }
  return out;
}

}  // namespace

Followed followed_registers(const Program& program) {
  Followed out;
  const Registers all = leading_to_a(program);
  const auto add = [&](const Operand& o) {
    if (o.kind != Operand::Kind::reg || o.index == ptx::no_register) return false;
    const u32 reg = one_of(program, o.index);
    return all.count(reg) && out.try_emplace(reg, static_cast<u32>(out.size())).second;
  };
  for (bool more = !all.empty(); more;) {
    more = false;
    for (const Instruction& i : program.code) {
      const Operand* from = copied(program, i);
      const auto source = from ? lowest(program, *from) : std::nullopt;
      const bool loads = i.op == Op::ld || i.op == Op::ldmatrix;
      if (!loads && !(source && out.count(*source))) continue;
      const Operand& to = program.operands_of(i)[0];
      if (to.kind != Operand::Kind::vector) more = add(to) || more;
      for (u32 e = 0; to.kind == Operand::Kind::vector && e < (loads ? to.count : 1u); ++e) {
        more = add(program.elements[to.index + e]) || more;
      }
    }
  }
  return out;
}

std::vector<RowUse> row_uses(const Program& program, const Instruction& i,
                             const Followed& followed) {
  std::vector<RowUse> out;
  if (followed.empty()) return out;
  const auto add = [&](const Operand& o, u32 element, u32 from) {
    if (o.kind != Operand::Kind::reg || !o.written || o.index == ptx::no_register) return;
    const auto at = followed.find(one_of(program, o.index));
    if (at != followed.end()) out.push_back({at->second, element, from});
  };
  u32 from = RowUse::none;
  if (const Operand* source = copied(program, i)) {
    const auto reg = lowest(program, *source);
    const auto at = reg ? followed.find(*reg) : followed.end();
    if (at != followed.end()) from = at->second;
  }
  for (u32 k = 0; k < i.count; ++k) {
    const Operand& o = program.operands_of(i)[k];
    if (o.kind != Operand::Kind::vector) add(o, 0, k == 0 ? from : RowUse::none);
    for (u32 e = 0; o.kind == Operand::Kind::vector && e < o.count; ++e) {
      add(program.elements[o.index + e], e, k == 0 && e == 0 ? from : RowUse::none);
    }
  }
  return out;
}

std::array<u32, 2> rows_of_a(const Program& program, const Instruction& product,
                             const Followed& followed) {
  std::array<u32, 2> out{RowUse::none, RowUse::none};
  const auto first = first_of_a(program, product);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto at = first[k] ? followed.find(*first[k]) : followed.end();
    if (at != followed.end()) out[k] = at->second;
  }
  return out;
}

bool are_followed(const Core& x, const Touch& touch) {
  return !touch.rows.empty() && x.machine->options.remember_writers;
}

std::vector<RowsFrom> find_rows(Core& x, const Code& c, const Touch& touch) {
  std::vector<RowsFrom> out;
  const Instruction& i = x.machine->program().code[x.pc];
  for (const RowUse& use : touch.rows) {
    RowsFrom from{};
    if (use.from != RowUse::none) {
      from = rows_of(x)[use.from];
    } else if (i.op == Op::ld) {
      from = loaded(x, c, use.element);
    } else if (i.op == Op::ldmatrix) {
      from = loaded_matrix(x, c, use.element, i.modifiers.has(ptx::Field::trans));
    }
    out.push_back(from);
  }
  return out;
}

void put_rows(Core& x, const Touch& touch, const std::vector<RowsFrom>& from, Mask m) {
  for (std::size_t k = 0; k < touch.rows.size(); ++k) {
    RowsFrom& to = rows_of(x)[touch.rows[k].number];
    for (u32 r = 0; r < to.size(); ++r) {
      if (m >> r * lane_step & 1) to[r] = from[k][r];
    }
  }
}

void take_rows(Core& x, const Touch& touch, GroupProduct& product) {
  if (!x.machine->options.remember_writers) return;
  std::vector<RowsFrom>& rows = rows_of(x);
  for (u32 half = 0; half < touch.a_rows.size(); ++half) {
    if (touch.a_rows[half] == RowUse::none) continue;
    product.rows.resize(group_rows);
    const u32 first = x.warp->index % 4 * warp_rows + half * 8;
    std::copy_n(rows[touch.a_rows[half]].begin(), 8, product.rows.begin() + first);
  }
  for (const RowUse& use : touch.rows) rows[use.number] = {};
}

void forget_rows(Block& block, const Warp& warp) {
  if (block.warpgroups.empty()) return;
  for (RowsFrom& each : block.warpgroups[warp.index / 4].warps[warp.index % 4].rows) each = {};
}

}  // namespace tilescope::sim
