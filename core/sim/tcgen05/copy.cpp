#include "core/sim/tcgen05/copy.h"

#include <algorithm>
#include <cstring>

#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 piece_bytes = 16, piece_columns = piece_bytes / 4;

constexpr u64 pair_bit = u64{1} << 63;  // of the first word

// The blocks whose memories it uses: its own, or those of the pair, the even one first.
std::vector<Block*> blocks_of(Model& machine, Block& block, const AsyncOperation& o) {
  if (!(o.words[0] & pair_bit)) return {&block};
  return {machine.member(block, block.rank & ~1u), machine.member(block, block.rank | 1)};
}

// The lines, one after the other, as they will lie in the lanes.
void read_lines(const TensorCopy& copy, const Block& block, AsyncOperation& o) {
  for (u32 i = 0; i < copy.lines() * copy.pieces(); ++i) {
    const u32 from = copy.from.piece(i / copy.pieces(), i % copy.pieces());
    u8 undefined[piece_bytes];
    for (u32 k = 0; k < piece_bytes; ++k) undefined[k] = block.shared.is_undefined(from + k);
    const std::size_t to = o.bytes.size();
    o.bytes.resize(to + piece_bytes);
    o.undefined.resize(to + piece_bytes);
    unpack(copy.packed, block.shared.data() + from, undefined, &o.bytes[to], &o.undefined[to]);
  }
}

bool read(Model& machine, Block& block, AsyncOperation& o) {
  for (const Block* at : blocks_of(machine, block, o)) read_lines(copy_in(o), *at, o);
  return true;
}

// Four bytes of an operation into a cell.
void put(TensorMemory& memory, u32 lane, u32 column, const AsyncOperation& o, std::size_t at) {
  u8 undefined = 0;
  for (u32 k = 0; k < 4; ++k) undefined |= static_cast<u8>((o.undefined[at + k] != 0) << k);
  std::memcpy(memory.row(lane) + column, &o.bytes[at], 4);
  memory.set_undefined(lane, column, undefined);
}

bool write(Model& machine, Block& block, AsyncOperation& o) {
  const TensorCopy copy = copy_in(o);
  const u32 columns = copy.pieces() * piece_columns;
  std::size_t first = 0;  // byte of the current block
  for (Block* at : blocks_of(machine, block, o)) {
    for (u32 i = 0; i < copy.lines() * columns; ++i) {
      for (const u32 lane : copy.lanes_of(i / columns)) {
        put(at->tensor.memory, lane, copy.to.column + i % columns, o, first + std::size_t{i} * 4);
      }
    }
    first += std::size_t{copy.lines()} * columns * 4;
  }
  return true;
}

bool complete(Model& machine, Block&, AsyncOperation& o) {
  machine.flights.settle(o, o.by, o.by_epoch);
  return true;
}

// ---- shift ----

constexpr u32 shifted_rows = 31, shifted_columns = 8;  // .31x256b (9.7.16.2.3)

constexpr u32 shifted_cells = shifted_rows * shifted_columns;

bool read_rows(Model& machine, Block& block, AsyncOperation& o) {
  const TensorAddress from = shifted(o);
  for (const Block* at : blocks_of(machine, block, o)) {
    const TensorMemory& memory = at->tensor.memory;
    for (u32 i = 0; i < shifted_cells; ++i) {
      const u32 lane = from.lane + i / shifted_columns + 1;
      const u32 column = from.column + i % shifted_columns;
      const std::size_t to = o.bytes.size();
      o.bytes.resize(to + 4);
      std::memcpy(&o.bytes[to], memory.row(lane) + column, 4);
      for (u32 k = 0; k < 4; ++k) o.undefined.push_back(memory.undefined(lane, column) >> k & 1);
    }
  }
  return true;
}

bool write_rows(Model& machine, Block& block, AsyncOperation& o) {
  const TensorAddress to = shifted(o);
  std::size_t from = 0;
  for (Block* at : blocks_of(machine, block, o)) {
    for (u32 i = 0; i < shifted_cells; ++i, from += 4) {
      put(at->tensor.memory, to.lane + i / shifted_columns, to.column + i % shifted_columns, o,
          from);
    }
  }
  return true;
}

}  // namespace

const Work tensor_copy_work{"tcgen05.cp",    read,    write, complete,
                            GlobalUse::none, nullptr, false, is_pipelined};
const Work tensor_shift_work{"tcgen05.shift", read_rows, write_rows, nullptr,
                             GlobalUse::none, nullptr,   false,      is_pipelined};
const Work tensor_copy_guard{"tcgen05.cp"};
const Work tensor_shift_guard{"tcgen05.shift"};

bool is_tensor_copy(const AsyncOperation& o) {
  return o.work == &tensor_copy_work || o.work == &tensor_copy_guard;
}

bool is_tensor_shift(const AsyncOperation& o) {
  return o.work == &tensor_shift_work || o.work == &tensor_shift_guard;
}

void unpack(Packed format, const std::byte* from, const u8* from_undefined, std::byte* to,
            u8* to_undefined) {
  if (format == Packed::none) {
    std::memcpy(to, from, piece_bytes);
    std::memcpy(to_undefined, from_undefined, piece_bytes);
    return;
  }
  const u32 bits = format == Packed::six_bits ? 6 : 4;
  for (u32 e = 0; e < 16; ++e) {
    const u32 first = e * bits, byte = first / 8, last = (first + bits - 1) / 8;
    u32 two = 0;
    std::memcpy(&two, from + byte, 2);  // the last is byte 11, and there are 16
    const u32 element = two >> first % 8 & ((1u << bits) - 1);
    to[e] = static_cast<std::byte>(bits == 4 ? element << 2 : element);
    to_undefined[e] = from_undefined[byte] || from_undefined[last];
  }
}

u32 TensorCopy::lines() const {
  switch (shape) {
    case CopyShape::x4x256b:
      return 4;
    case CopyShape::x64x128b:
      return 64;
    case CopyShape::x32x128b:
      return 32;
    default:
      return 128;
  }
}

u32 TensorCopy::pieces() const {
  return shape == CopyShape::x128x256b || shape == CopyShape::x4x256b ? 2 : 1;
}

std::vector<u32> TensorCopy::lanes_of(u32 line) const {
  if (shape == CopyShape::x4x256b) return {to.lane + 32 * line};
  const u32 lane = to.lane + line;
  switch (warps) {
    case CopyWarps::pairs_02_13:
      return {lane, lane + 64};
    case CopyWarps::pairs_01_23:
      return {lane + line / 32 * 32, lane + line / 32 * 32 + 32};
    case CopyWarps::all:
      return {lane, lane + 32, lane + 64, lane + 96};
    default:
      return {lane};
  }
}

std::vector<CellRange> TensorCopy::cells() const {
  const u32 columns = pieces() * piece_columns;
  if (shape != CopyShape::x4x256b) return {{to.lane, TensorMemory::lanes, to.column, columns}};
  std::vector<CellRange> out;
  for (u32 line = 0; line < 4; ++line) out.push_back({to.lane + 32 * line, 1, to.column, columns});
  return out;
}

AsyncOperation copy_operation(const TensorCopy& copy) {
  AsyncOperation o;
  o.work = &tensor_copy_work;
  o.words[0] = static_cast<u64>(copy.shape) | static_cast<u64>(copy.warps) << 8 |
               static_cast<u64>(copy.packed) << 16 | static_cast<u64>(copy.from.swizzle) << 24 |
               (copy.pair ? pair_bit : 0);
  o.words[1] = u64{copy.to.lane} << 32 | copy.to.column;
  o.words[2] = u64{copy.from.address} << 32 | copy.from.leading;
  o.words[3] = copy.from.stride;
  return o;
}

TensorCopy copy_in(const AsyncOperation& o) {
  TensorCopy copy;
  copy.shape = static_cast<CopyShape>(o.words[0] & 0xff);
  copy.warps = static_cast<CopyWarps>(o.words[0] >> 8 & 0xff);
  copy.packed = static_cast<Packed>(o.words[0] >> 16 & 0xff);
  copy.pair = (o.words[0] & pair_bit) != 0;
  copy.from.swizzle = static_cast<SwizzleMode>(o.words[0] >> 24 & 0xff);
  copy.to = {static_cast<u32>(o.words[1] >> 32), static_cast<u32>(o.words[1])};
  copy.from.address = static_cast<u32>(o.words[2] >> 32);
  copy.from.leading = static_cast<u32>(o.words[2]);
  copy.from.stride = static_cast<u32>(o.words[3]);
  return copy;
}

AsyncOperation shift_operation(TensorAddress at, bool pair) {
  AsyncOperation o;
  o.work = &tensor_shift_work;
  o.words[0] = u64{at.lane} << 32 | at.column | (pair ? pair_bit : 0);
  return o;
}

TensorAddress shifted(const AsyncOperation& o) {
  return {static_cast<u32>((o.words[0] & ~pair_bit) >> 32), static_cast<u32>(o.words[0])};
}

void set_issued_at(AsyncOperation& o, u64 event) {
  o.words[4] = event;
}

u64 issued_at(const AsyncOperation& o) {
  return o.words[4];
}

std::vector<CellRange> written_by_shift(TensorAddress at) {
  return {{at.lane, shifted_rows, at.column, shifted_columns}};
}

std::vector<CellRange> read_by_shift(TensorAddress at) {
  return {{at.lane + 1, shifted_rows, at.column, shifted_columns}};
}

}  // namespace tilescope::sim
