// ldmatrix, stmatrix and movmatrix of 8x8 matrices of 16-bit elements (PTX ISA 9.7.14.5.15 to
// 9.7.14.5.17). Lane l holds elements 2 * (l % 4) and the next of row l / 4: the low and the high
// half of a register. With .trans it holds those of column l / 4.
#include <fmt/format.h>

#include <cstring>

#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 row_bytes = 16;

// What half `e` of lane l's register holds.
struct Element {
  int row, column;
};
constexpr Element element(bool transposed, int l, int e) {
  return transposed ? Element{2 * (l % 4) + e, l / 4} : Element{l / 4, 2 * (l % 4) + e};
}

u64 address_of_lane(const Core& x, const Code& c, int l) {
  u64 wide = 0;
  u32 narrow = 0;
  if (c.a == nothing) return c.immediate;
  const std::byte* a = x.bank[c.a >> 31] + (c.a & ~constant_bit);
  if (!c.narrow_address) {
    std::memcpy(&wide, a + l * 8, sizeof wide);
    return wide + c.immediate;
  }
  std::memcpy(&narrow, a + l * 4, sizeof narrow);
  return narrow + static_cast<u32>(c.immediate);  // offsets of a 32-bit address wrap
}

// Where in the block's shared memory the rows of all matrices begin: lane l names row l % 8 of
// matrix l / 8. The addresses of the lanes behind those do not matter (sm_80 and later).
Flow find_rows(Core& x, const Code& c, Access access, u64* rows) {
  const u64 size = x.block->shared.size();
  for (int l = 0; l < 8 * c.count; ++l) {
    const u64 address = address_of_lane(x, c, l);
    rows[l] = address - x.window;
    if (c.space == ptx::Space::generic) {
      rows[l] = address - ptx::shared_base - x.window;
      if (address - ptx::shared_base >= ptx::window_bytes) {
        return x.reports->fault(
            x, l, "not_shared",
            fmt::format("the row address 0x{:x} is not in shared memory", address),
            "an address in the CTA's shared memory", fmt::format("0x{:x}", address));
      }
    }
    if (rows[l] >= size || size - rows[l] < row_bytes || rows[l] % row_bytes != 0) {
      return refuse_access(x, c, access, l, address, row_bytes);
    }
  }
  return Flow::next;
}

// Bits of the halves that no one has written: 0xff for each byte.
void note_undefined(Core& x, Reference d, const Region& shared, const u64 (&at)[2][lanes]) {
  u32 hidden[lanes] = {};
  bool any = false;
  for (int l = 0; l < lanes; ++l) {
    for (int k = 0; k < 4; ++k) {
      const u64 byte = at[k / 2][l] + static_cast<u64>(k % 2);
      if (!shared.is_undefined(byte)) continue;
      hidden[l] |= u32{0xff} << 8 * k;
      any = true;
      if (!x.warp->origin.known) {
        x.warp->origin = {true, x.pc, static_cast<u32>(l), byte, shared.kind(), 0};
      }
    }
  }
  if (!any && x.block->undefined.empty()) return;
  std::memcpy(shadow(x, d), hidden, sizeof hidden);
  recount(x, d, 4);
}

// The rows that are touched, 16 bytes each, for who looks after races.
void note_access(Core& x, const Code& c, Races::Kind kind, const u64* rows) {
  if (!x.block->races.on()) return;
  const Mask named = c.count == 4 ? ~Mask{0} : (Mask{1} << (8 * c.count)) - 1;
  watch_access(x, c, kind, x.block->shared, named, rows, 16);
}

template <bool transposed>
Flow load(Core& x, const Code& c, Mask m) {
  Flow flow = whole_warp(x, m);
  u64 rows[lanes];
  if (flow == Flow::next) flow = find_rows(x, c, Access::load, rows);
  if (flow != Flow::next) return flow;
  const Region& shared = x.block->shared;
  note_access(x, c, Races::Kind::read, rows);
  for (int q = 0; q < c.count; ++q) {
    const Reference d = x.elements[c.target + static_cast<u32>(q)];
    if (d == nothing) continue;
    u64 at[2][lanes];
    std::uint16_t halves[lanes][2];
    for (int l = 0; l < lanes; ++l) {
      for (int e = 0; e < 2; ++e) {
        const Element from = element(transposed, l, e);
        at[e][l] = rows[8 * q + from.row] + 2 * static_cast<u64>(from.column);
        std::memcpy(&halves[l][e], shared.data() + at[e][l], 2);
      }
    }
    std::memcpy(x.bank[0] + d, halves, sizeof halves);
    note_undefined(x, d, shared, at);
  }
  return Flow::next;
}

// Half `e` of every lane of matrix q to shared memory.
void store_half(Core& x, Reference r, const u64* rows, bool transposed, int e) {
  u64 at[lanes];
  std::uint16_t halves[lanes];
  std::uint8_t undefined[lanes][2];
  const std::byte* from = x.bank[r >> 31] + (r & ~constant_bit);
  const bool hidden = x.warp->undefined_registers && has_undefined(x, r, 4);
  for (int l = 0; l < lanes; ++l) {
    const Element to = element(transposed, l, e);
    at[l] = rows[to.row] + 2 * static_cast<u64>(to.column);
    std::memcpy(&halves[l], from + 4 * l + 2 * e, 2);
    if (hidden) std::memcpy(undefined[l], shadow(x, r) + 4 * l + 2 * e, 2);
  }
  LaneData data;
  data.bytes = reinterpret_cast<std::byte*>(halves);
  data.undefined = hidden ? undefined[0] : nullptr;
  data.width = 2;
  x.block->shared.write_lanes(at, ~Mask{0}, data,
                              Writer::of(x.block->number, x.warp->index * 32, x.pc));
}

template <bool transposed>
Flow store(Core& x, const Code& c, Mask m) {
  Flow flow = whole_warp(x, m);
  u64 rows[lanes];
  if (flow == Flow::next) flow = find_rows(x, c, Access::store, rows);
  if (flow != Flow::next) return flow;
  note_access(x, c, Races::Kind::write, rows);
  for (int q = 0; q < c.count; ++q) {
    const Reference r = x.elements[c.target + static_cast<u32>(q)];
    for (int e = 0; e < 2; ++e) store_half(x, r, rows + 8 * q, transposed, e);
  }
  return Flow::next;
}

void transpose(const std::uint16_t (&from)[lanes][2], std::uint16_t (&to)[lanes][2]) {
  for (int l = 0; l < lanes; ++l) {
    for (int e = 0; e < 2; ++e) {
      const Element source = element(true, l, e);
      to[l][e] = from[4 * source.row + source.column / 2][source.column % 2];
    }
  }
}

Flow move(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  std::uint16_t from[lanes][2], to[lanes][2];
  std::memcpy(from, x.bank[c.a >> 31] + (c.a & ~constant_bit), sizeof from);
  transpose(from, to);
  std::memcpy(x.bank[0] + c.d, to, sizeof to);
  if (!x.warp->undefined_registers) return flow;
  std::memset(from, 0, sizeof from);
  if (has_undefined(x, c.a, 4)) std::memcpy(from, shadow(x, c.a), sizeof from);
  transpose(from, to);
  std::memcpy(shadow(x, c.d), to, sizeof to);
  recount(x, c.d, 4);
  return flow;
}

}  // namespace

Handler matrix_move_handler(const ptx::Instruction& i) {
  const bool transposed = i.modifiers.has(ptx::Field::trans);
  switch (i.op) {
    case ptx::Op::ldmatrix:
      return transposed ? load<true> : load<false>;
    case ptx::Op::stmatrix:
      return transposed ? store<true> : store<false>;
    case ptx::Op::movmatrix:
      return move;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
