// ldmatrix, stmatrix and movmatrix of 8x8 matrices of 16-bit elements (PTX ISA 9.7.14.5.15 to
// 9.7.14.5.17). Lane l holds elements 2 * (l % 4) and the next of row l / 4: the low and the high
// half of a register. With .trans it holds those of column l / 4.
//
// Of bytes (sm_100 and sm_120; figures 105, 106 and 108 are pictures, CuTe's SM100_U8x8_LDSM_T and
// SM100_U8x4_STSM_T the same in layouts) byte b of lane l is
//
//   m8n16                element 4 * (l % 4) + b of row l / 4
//   m16n16.trans         of the two registers of a matrix the w-th: what memory has as row
//                        4 * (l % 4) + b at byte l / 4 + 8 * w; sixteen lanes name these rows
//   m16n8.trans (store)  row 2 * (l % 4) + b % 2 of memory, at byte l / 4 + 8 * (b / 2)
//
// Where elements have 6 or 4 bits in memory a row becomes 16 bytes first (9.7.16.9.1).
#include <fmt/format.h>

#include <cstring>

#include "core/sim/checks/origin.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/tcgen05/copy.h"

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
      if (!is_of_memory(x.warp->origin)) {
        x.warp->origin = {true, x.pc, static_cast<u32>(l), byte, shared.kind(), 0};
      }
    }
  }
  if (!any && x.block->undefined.empty()) return;
  std::memcpy(shadow(x, d), hidden, sizeof hidden);
  recount(x, d, 4);
}

// The rows that are touched, 16 bytes each, for who looks after races.
void note_access(Core& x, const Code& c, Shadow::Kind kind, const u64* rows,
                 const std::byte* values = nullptr) {
  if (!x.block->order.on()) return;
  const Mask named = c.count == 4 ? ~Mask{0} : (Mask{1} << (8 * c.count)) - 1;
  watch_access(x, c, kind, x.block->shared, named, rows, row_bytes, false, values);
}

template <bool transposed>
Flow load(Core& x, const Code& c, Mask m) {
  Flow flow = whole_warp(x, m);
  u64 rows[lanes];
  if (flow == Flow::next) flow = find_rows(x, c, Access::load, rows);
  if (flow != Flow::next) return flow;
  const Region& shared = x.block->shared;
  note_access(x, c, Shadow::Kind::read, rows);
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

// A store of matrices for who looks after races: with what each row is to hold, as warps that share
// a tile store the same rows; not where part of it is undefined.
void note_store(Core& x, const Code& c, const u64* rows, bool transposed) {
  if (!x.block->order.on()) return;
  std::byte held[lanes][row_bytes];
  bool known = true;
  for (int q = 0; q < c.count; ++q) {
    const Reference r = x.elements[c.target + static_cast<u32>(q)];
    const std::byte* from = x.bank[r >> 31] + (r & ~constant_bit);
    known = known && !(x.warp->undefined_registers && has_undefined(x, r, 4));
    for (int l = 0; l < lanes; ++l) {
      for (int e = 0; e < 2; ++e) {
        const Element to = element(transposed, l, e);
        std::memcpy(held[8 * q + to.row] + 2 * to.column, from + 4 * l + 2 * e, 2);
      }
    }
  }
  note_access(x, c, Shadow::Kind::write, rows, known ? held[0] : nullptr);
}

template <bool transposed>
Flow store(Core& x, const Code& c, Mask m) {
  Flow flow = whole_warp(x, m);
  u64 rows[lanes];
  if (flow == Flow::next) flow = find_rows(x, c, Access::store, rows);
  if (flow != Flow::next) return flow;
  note_store(x, c, rows, transposed);
  for (int q = 0; q < c.count; ++q) {
    const Reference r = x.elements[c.target + static_cast<u32>(q)];
    for (int e = 0; e < 2; ++e) store_half(x, r, rows + 8 * q, transposed, e);
  }
  return Flow::next;
}

// What byte b of lane l's register `r` holds.
struct BytePlace {
  int row, column;  // row: the lane that names it
};
BytePlace byte_place(ptx::Shape shape, int r, int l, int b) {
  switch (shape) {
    case ptx::Shape::m16n16:
      return {r / 2 * 16 + 4 * (l % 4) + b, l / 4 + 8 * (r % 2)};
    case ptx::Shape::m16n8:
      return {r * 8 + 2 * (l % 4) + b % 2, l / 4 + 8 * (b / 2)};
    default:
      return {r * 8 + l / 4, 4 * (l % 4) + b};
  }
}

Packed packed_in(const ptx::Modifiers& how) {
  switch (how[ptx::Field::from_format]) {
    case 1:
      return Packed::six_bits;
    case 2:
      return Packed::four_bits;
    default:
      return Packed::none;
  }
}

Flow load_bytes(Core& x, const Code& c, Mask m) {
  Flow flow = whole_warp(x, m);
  u64 at[lanes];
  if (flow == Flow::next) flow = find_rows(x, c, Access::load, at);
  if (flow != Flow::next) return flow;
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const Region& shared = x.block->shared;
  note_access(x, c, Shadow::Kind::read, at);
  std::byte rows[lanes][row_bytes];
  std::uint8_t undefined[lanes][row_bytes];
  for (int l = 0; l < 8 * c.count; ++l) {
    std::uint8_t hidden[row_bytes];
    for (u32 k = 0; k < row_bytes; ++k) hidden[k] = shared.is_undefined(at[l] + k) ? 0xff : 0;
    unpack(packed_in(how), shared.data() + at[l], hidden, rows[l], undefined[l]);
  }
  for (int r = 0; r < c.count; ++r) {
    const Reference d = x.elements[c.target + static_cast<u32>(r)];
    if (d == nothing) continue;
    std::byte bytes[lanes][4];
    std::uint8_t hidden[lanes][4];
    bool any = false;
    for (int l = 0; l < lanes; ++l) {
      for (int b = 0; b < 4; ++b) {
        const BytePlace from = byte_place(how.shape(), r, l, b);
        bytes[l][b] = rows[from.row][from.column];
        hidden[l][b] = undefined[from.row][from.column] ? 0xff : 0;
        if (!hidden[l][b]) continue;
        any = true;
        if (is_of_memory(x.warp->origin)) continue;
        x.warp->origin = {true, x.pc, static_cast<u32>(l), at[from.row], shared.kind(), 0};
      }
    }
    std::memcpy(x.bank[0] + d, bytes, sizeof bytes);
    if (!any && x.block->undefined.empty()) continue;
    std::memcpy(shadow(x, d), hidden, sizeof hidden);
    recount(x, d, 4);
  }
  return Flow::next;
}

Flow store_bytes(Core& x, const Code& c, Mask m) {
  Flow flow = whole_warp(x, m);
  u64 rows[lanes];
  if (flow == Flow::next) flow = find_rows(x, c, Access::store, rows);
  if (flow != Flow::next) return flow;
  note_access(x, c, Shadow::Kind::write, rows);
  for (int r = 0; r < c.count; ++r) {
    const Reference from = x.elements[c.target + static_cast<u32>(r)];
    const std::byte* bytes = x.bank[from >> 31] + (from & ~constant_bit);
    const bool hidden = x.warp->undefined_registers && has_undefined(x, from, 4);
    for (int b = 0; b < 4; ++b) {
      u64 at[lanes];
      std::byte values[lanes];
      std::uint8_t undefined[lanes];
      for (int l = 0; l < lanes; ++l) {
        const BytePlace to = byte_place(ptx::Shape::m16n8, r, l, b);
        at[l] = rows[to.row] + static_cast<u64>(to.column);
        values[l] = bytes[4 * l + b];
        undefined[l] = hidden ? shadow(x, from)[4 * l + b] : std::uint8_t{0};
      }
      LaneData data;
      data.bytes = values;
      data.undefined = hidden ? undefined : nullptr;
      data.width = 1;
      x.block->shared.write_lanes(at, ~Mask{0}, data,
                                  Writer::of(x.block->number, x.warp->index * 32, x.pc));
    }
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
  const bool bytes = i.modifiers.shape() != ptx::Shape::m8n8;
  switch (i.op) {
    case ptx::Op::ldmatrix:
      if (bytes) return load_bytes;
      return transposed ? load<true> : load<false>;
    case ptx::Op::stmatrix:
      if (bytes) return store_bytes;
      return transposed ? store<true> : store<false>;
    case ptx::Op::movmatrix:
      return move;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
