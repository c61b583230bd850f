#include "core/sim/tcgen05/metadata.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

// Where a chunk's four bits are, from the metadata's first lane and column on.
struct Nibble {
  u32 lane = 0, column = 0, bit = 0;
};
Nibble nibble_place(const SparseMetadata& m, u32 row, u32 chunk) {
  if (!m.halved) return {row, chunk / 8, chunk % 8 * 4};
  return {row % 8 + chunk / 4 * 8 + row / 16 * 16, 0, row / 8 % 2 * 16 + chunk % 4 * 4};
}

u32 nibble(const SparseMetadata& m, const TensorMemory& memory, const Nibble& at, u32 copy) {
  return memory.row(at.lane + copy * m.rows)[m.column + at.column] >> at.bit & 15;
}

}  // namespace

std::vector<CellRange> SparseMetadata::cells() const {
  return {{0, TensorMemory::lanes, column, halved ? 1u : 2u}};
}

u32 SparseMetadata::bits(const TensorMemory& memory, u32 row, u32 chunk) const {
  return nibble(*this, memory, nibble_place(*this, row, chunk), 0);
}

std::optional<DescriptorError> decode_metadata(u32 address, const MmaShape& shape, MmaKind kind,
                                               bool ws, bool pair, u32 rows, SparseMetadata& out) {
  if (rows != 128 && !ws) {
    return DescriptorError{
        fmt::format("where the metadata of A lie in TMEM for M {} {} only a figure of the PTX ISA "
                    "says",
                    pair ? rows * 2 : rows, pair ? "of two CTAs" : "without .ws"),
        pair ? "M 256, whose metadata are known from CuTe's tmem_e_frg"
             : "M 128, or .ws, whose metadata are known from CuTe's tmem_e_frg",
        fmt::format("M {}", pair ? rows * 2 : rows)};
  }
  const TensorAddress at = TensorAddress::of(address);
  if (at.lane != 0) {
    return DescriptorError{fmt::format("the metadata of A begin at lane {} of TMEM", at.lane),
                           "lane 0, as D does (PTX ISA 9.7.16.10.8.5)",
                           fmt::format("lane {}", at.lane)};
  }
  out.halved = kind == MmaKind::f16 || kind == MmaKind::tf32;
  out.sparsity = kind == MmaKind::tf32 ? Sparsity::one_of_two : Sparsity::two_of_four;
  out.rows = rows;
  out.chunks = shape.row_bytes() / width_of(shape.a) / chunk_of(out.sparsity);
  if (out.halved && at.column % 2) {
    return DescriptorError{
        fmt::format("the metadata of A begin at column {} of TMEM: what a chip takes there is not "
                    "known",
                    at.column),
        "an even column, and the sparsity selector 1 for the one behind it (CuTe)",
        fmt::format("column {}", at.column)};
  }
  out.column = at.column + (out.halved ? shape.selector : 0);
  return std::nullopt;
}

StoredPlaces stored_places(const SparseMetadata& m, const TensorMemory& memory) {
  return stored_places(m.sparsity, m.rows, m.chunks * chunk_of(m.sparsity) / 2,
                       [&](u32 row, u32 chunk) { return m.bits(memory, row, chunk); });
}

std::vector<u8> undefined_rows(const SparseMetadata& m, const TensorMemory& memory) {
  std::vector<u8> out(m.rows);
  for (u32 row = 0; row < m.rows; ++row) {
    for (u32 c = 0; c < m.chunks; ++c) {
      const Nibble at = nibble_place(m, row, c);
      const u32 first = nibble(m, memory, at, 0);
      for (u32 copy = 0; copy < TensorMemory::lanes / m.rows; ++copy) {
        const u8 bytes = memory.undefined(at.lane + copy * m.rows, m.column + at.column);
        out[row] |= (bytes >> at.bit / 8 & 1) || nibble(m, memory, at, copy) != first;
      }
    }
  }
  return out;
}

std::optional<BadMetadata> find_bad_metadata(const SparseMetadata& m, const TensorMemory& memory) {
  for (u32 row = 0; row < m.rows; ++row) {
    for (u32 c = 0; c < m.chunks; ++c) {
      const u32 bits = m.bits(memory, row, c);
      if (!is_meaningful(m.sparsity, bits)) return BadMetadata{row, c, bits};
    }
  }
  return std::nullopt;
}

}  // namespace tilescope::sim
