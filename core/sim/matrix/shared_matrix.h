// What a shared-memory descriptor says: where the elements of a matrix are in shared memory, by the
// rules of the PTX ISA, read from the 64 bits alone. Of tcgen05 (9.7.16.3, 9.7.16.4.1, tables 40
// and 41):
//
//    0-13  address >> 4          46-48  1                      16-29  leading stride >> 4
//   49-51  base offset              52  leading stride mode    32-45  stride >> 4
//   53-60  0                     61-63  swizzle                14-15, 30-31  in no field: 0
//
// and of wgmma (9.7.15.5.1.2.2):
//
//    0-13  address >> 4          16-29  leading stride >> 4    32-45  stride >> 4
//   49-51  base offset           62-63  swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32
//
// A matrix is rows (M of A, N of B) by K. Pieces of 16 bytes hold neighbours along K (K-major) or
// along the rows (MN-major); where piece p of line l lies is the canonical layout of the ISA
// (9.7.16.3.3), on whose addresses the swizzle works. Swizzle of w bytes, W = w / 16 pieces:
//
//   K-major   none    (l % 8) * 16 + (l / 8) * stride + p * leading       l: row, p: K
//             w       (l % 8) * w  + (l / 8) * stride + p * 16            p: below 2
//             128, absolute: where a row's 128 bytes end, what comes next is at the address that
//                      the leading stride's field holds (sm_103a, K of 48 bytes: 9.7.16.3.1.2)
//   MN-major  none    (l % 8) * 16 + (l / 8) * leading + p * stride       l: K, p: rows
//             w       (l % 8) * w  + (l / 8) * stride + (p % W) * 16 + (p / W) * leading
//             128 in 32-byte atoms: as 128, with lines by fours           (Cutlass,
//             mma_traits_sm100)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tilescope::sim {

// What is wrong with a descriptor: the field with its bits, what it may be, what it is.
struct DescriptorError {
  std::string sentence, expected, found;
};

enum class SwizzleMode : std::uint8_t { none, bytes_128_by_32, bytes_128, bytes_64, bytes_32 };

struct SharedMatrix {
  // An offset in the block's shared memory: what tcgen05 and wgmma have begins at 1024 of its
  // window (ptx::system_shared), which is a whole pattern of every swizzle.
  std::uint32_t address = 0;
  std::uint32_t leading = 0, stride = 0;
  SwizzleMode swizzle = SwizzleMode::none;
  bool k_major = true;
  std::uint32_t base_offset =
      0;                  // 128s of bytes by which the pattern begins behind a multiple of it
  bool absolute = false;  // `leading` is where pieces behind the 128 bytes of a row go on

  // Of the 16 bytes of piece p of line l: their offset in shared memory.
  std::uint32_t piece(std::uint32_t line, std::uint32_t piece) const;
};

// Bytes of a swizzled row: 0 without a swizzle.
constexpr std::uint32_t swizzle_width(SwizzleMode mode) {
  switch (mode) {
    case SwizzleMode::none:
      return 0;
    case SwizzleMode::bytes_64:
      return 64;
    case SwizzleMode::bytes_32:
      return 32;
    default:
      return 128;
  }
}

// On the bits of the address (PTX ISA 9.7.16.10.6; Swizzle<B,4,3> and <2,5,2> of CuTe), those above
// reckoned from where the pattern begins. Measured on an H100, wgmma m64n8k16, A K-major: 43,008
// places of pieces, matrices that begin 0 to 1,024 bytes into a pattern of 128, 64 or 32 bytes,
// base offsets 0 to 7. For tcgen05 it is carried over.
constexpr std::uint32_t swizzled(SwizzleMode mode, std::uint32_t address,
                                 std::uint32_t base_offset = 0) {
  const std::uint32_t from = address - base_offset * 128;
  switch (mode) {
    case SwizzleMode::bytes_128:
      return address ^ (from >> 3 & 0x70);
    case SwizzleMode::bytes_64:
      return address ^ (from >> 3 & 0x30);
    case SwizzleMode::bytes_32:
      return address ^ (from >> 3 & 0x10);
    case SwizzleMode::bytes_128_by_32:
      return address ^ (from >> 2 & 0x60);
    default:
      return address;
  }
}

inline std::uint32_t SharedMatrix::piece(std::uint32_t line, std::uint32_t piece) const {
  const std::uint32_t width = swizzle_width(swizzle);
  if (absolute) {
    const std::uint32_t at = address / 16 % 8 + piece;  // in the row of 128 bytes
    const std::uint32_t base = at < 8 ? address / 128 * 128 + at * 16 : leading + (at - 8) * 16;
    return swizzled(swizzle, base + line % 8 * width + line / 8 * stride, base_offset);
  }
  std::uint32_t offset = 0;
  if (width == 0) {
    const std::uint32_t along = k_major ? leading : stride, across = k_major ? stride : leading;
    offset = line % 8 * 16 + line / 8 * across + piece * along;
  } else if (k_major) {
    offset = line % 8 * width + line / 8 * stride + piece * 16;
  } else {
    const std::uint32_t lines = swizzle == SwizzleMode::bytes_128_by_32 ? 4 : 8,
                        pieces = width / 16;
    offset = line % lines * width + line / lines * stride + piece % pieces * 16 +
             piece / pieces * leading;
  }
  return swizzled(swizzle, address + offset, base_offset);
}

// Of tcgen05. `transposed` is the bit of the instruction descriptor that makes it MN-major, `wide`
// that its elements have 32 bits (tf32), `long_rows` that rows have 48 bytes (K 96). Nothing else
// is looked at: whether it is in the block's memory shows when it is read.
std::optional<DescriptorError> decode(std::uint64_t bits, bool transposed, bool wide,
                                      SharedMatrix& out, bool long_rows = false);

// Of wgmma; `transposed` is the instruction's own operand. The bits in no field are not looked at.
std::optional<DescriptorError> decode_wgmma(std::uint64_t bits, bool transposed, SharedMatrix& out);

}  // namespace tilescope::sim
