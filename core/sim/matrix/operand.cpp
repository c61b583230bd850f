#include "core/sim/matrix/operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Elements in a piece of 16 bytes. Those of 4 and 6 bits lie 16 to a piece, packed from its first
// bit on, and the rest of it is padding (figures 202 and 203).
u32 elements_of_piece(ElementType type) {
  return 16 / width_of(type);
}

// Element e of a piece, into the bytes that it gets.
void take_element(ElementType type, const std::byte* piece, u32 e, std::byte* out) {
  const int bits = bits_of(type);
  if (bits >= 8) {
    const u32 width = width_of(type);
    std::memcpy(out, piece + e * width, width);
    return;
  }
  const u32 first = e * static_cast<u32>(bits);
  std::uint16_t two = 0;
  std::memcpy(&two, piece + first / 8, 2);  // bit 15 * 6 + 5 of 16 bytes: byte 12 at most
  *out = static_cast<std::byte>(two >> first % 8 & ((1 << bits) - 1));
}

}  // namespace

std::vector<u32> pieces(const SharedMatrix& matrix, u32 rows, ElementType type, u32 row_bytes) {
  std::vector<u32> out;
  const u32 lines = matrix.k_major ? rows : row_bytes / width_of(type);
  const u32 count = matrix.k_major ? row_bytes / 16 : rows / elements_of_piece(type);
  out.reserve(std::size_t{lines} * count);
  for (u32 l = 0; l < lines; ++l) {
    for (u32 p = 0; p < count; ++p) out.push_back(matrix.piece(l, p));
  }
  return out;
}

OperandBytes read_operand(const SharedMatrix& matrix, u32 rows, ElementType type,
                          const std::byte* memory, const u8* undefined_bits, u32 row_bytes) {
  OperandBytes out;
  out.bytes.resize(std::size_t{rows} * row_bytes);
  out.undefined.resize(rows);
  const u32 elements = elements_of_piece(type), width = width_of(type);
  const u32 lines = matrix.k_major ? rows : row_bytes / width;
  const u32 count = matrix.k_major ? row_bytes / 16 : rows / elements;
  // Of the upper 8 bytes of a piece: those that hold elements, not padding.
  const int bits = bits_of(type);
  const u8 rest = bits == 4 ? 0 : bits == 6 ? 0x0f : 0xff;
  for (u32 l = 0; l < lines; ++l) {
    for (u32 p = 0; p < count; ++p) {
      const u32 at = matrix.piece(l, p);
      const bool bad =
          undefined_bits && (undefined_bits[at / 8] | (undefined_bits[at / 8 + 1] & rest));
      if (matrix.k_major && bits_of(type) >= 8) {
        std::memcpy(&out.bytes[l * row_bytes + p * 16], memory + at, 16);
        out.undefined[l] |= bad;
        continue;
      }
      for (u32 e = 0; e < elements; ++e) {
        const u32 row = matrix.k_major ? l : p * elements + e;
        const u32 k = matrix.k_major ? p * elements + e : l;
        take_element(type, memory + at, e, &out.bytes[row * row_bytes + k * width]);
        out.undefined[row] |= bad;
      }
    }
  }
  return out;
}

bool find_pieces(Core& x, int lane, const Block& block, const SharedMatrix& matrix,
                 std::vector<u32> offsets, std::string_view what, std::vector<Range>& out) {
  const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  const u32 first = *least, last = *most;
  const u64 size = block.shared.size();
  if (u64{last} + 16 > size) {
    x.reports->fault(
        x, lane, "out_of_bounds",
        fmt::format("{} leads to byte {} of the CTA's shared memory, which has {} bytes: start "
                    "0x{:x}, stride {}, leading stride {}",
                    what, last, size, matrix.address + ptx::system_shared, matrix.stride,
                    matrix.leading),
        fmt::format("bytes 0 to {}", size ? size - 1 : 0), fmt::format("byte {}", last));
    return false;
  }
  // Sorted: a bit for each 16 bytes, as offsets are multiples of 16.
  std::vector<u64> there((last - first) / 16 / 64 + 1);
  for (const u32 at : offsets) there[(at - first) / 16 / 64] |= u64{1} << (at - first) / 16 % 64;
  const auto add = [&](u32 at) {
    if (!out.empty() && out.back().end == at) {
      out.back().end += 16;
    } else {
      out.push_back({at, at + 16});
    }
  };
  for (u32 w = 0; w < there.size(); ++w) {
    for (u64 rest = there[w]; rest; rest &= rest - 1) {
      add(first + (w * 64 + static_cast<u32>(__builtin_ctzll(rest))) * 16);
    }
  }
  return true;
}

}  // namespace tilescope::sim
