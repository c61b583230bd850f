#include "core/sim/matrix/shared_matrix.h"

#include <fmt/format.h>

#include "core/ptx/program.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 field(u64 bits, int low, int count) {
  return static_cast<u32>(bits >> low & ((u64{1} << count) - 1));
}

std::optional<DescriptorError> error(u64 bits, std::string_view name, int low, int count,
                                     std::string expected) {
  const std::string where =
      count == 1 ? fmt::format("bit {}", low) : fmt::format("bits {}-{}", low, low + count - 1);
  return DescriptorError{fmt::format("the {} of the shared-memory descriptor 0x{:016x} ({}) is {}",
                                     name, bits, where, field(bits, low, count)),
                         std::move(expected), fmt::format("{}", field(bits, low, count))};
}

bool swizzle_of(u32 code, SwizzleMode& out) {
  constexpr SwizzleMode modes[] = {SwizzleMode::none,      SwizzleMode::bytes_128_by_32,
                                   SwizzleMode::bytes_128, SwizzleMode::none,
                                   SwizzleMode::bytes_64,  SwizzleMode::none,
                                   SwizzleMode::bytes_32,  SwizzleMode::none};
  out = modes[code];
  return code == 0 || out != SwizzleMode::none;
}

// TMA's pattern begins at multiples of its size: bytes that it laid are found with base offset 0
// wherever the matrix begins (CuTeDSL's products of tcgen05 begin at 128 and 256). Another one says
// that the pattern begins so many 128s of bytes behind a multiple (swizzled()).
std::optional<DescriptorError> read_base_offset(u64 bits, SharedMatrix& out) {
  out.base_offset = out.swizzle == SwizzleMode::none ? 0 : field(bits, 49, 3);
  if (out.base_offset == 0 || out.swizzle != SwizzleMode::bytes_128_by_32) return std::nullopt;
  return error(bits, "base offset", 49, 3,
               "0: where a chip finds a pattern of 128 bytes by 32 with another one was not asked");
}

}  // namespace

namespace {

// Rows of 48 bytes: those of swizzled layouts that run over their 128 (64, 32) bytes go on at an
// absolute address, which only 128 bytes have (9.7.16.3.1.2.1).
std::optional<DescriptorError> check_long_rows(u64 bits, const SharedMatrix& m) {
  const u32 width = swizzle_width(m.swizzle), in_row = width ? m.address % width : 0;
  if (m.absolute && m.swizzle != SwizzleMode::bytes_128) {
    return error(bits, "swizzling mode", 61, 3,
                 "2, 128 bytes, with an absolute leading address (9.7.16.3.1.2.1)");
  }
  if (m.absolute || width == 0 || in_row + 48 <= width) return std::nullopt;
  return error(bits, "leading stride mode", 52, 1,
               fmt::format("1, and the address of the next chunk: rows of 48 bytes that begin at "
                           "byte {} of {} run over their end (9.7.16.3.1.2)",
                           in_row, width));
}

}  // namespace

std::optional<DescriptorError> decode(u64 bits, bool transposed, bool wide, SharedMatrix& out,
                                      bool long_rows) {
  // Every field is 14 bits of (x & 0x3ffff) >> 4: what stands above comes of an address or stride
  // that was not cut off, and would run into the next field.
  for (const int reserved : {14, 30}) {
    if (field(bits, reserved, 2)) {
      return error(bits, "reserved field", reserved, 2, "0: an address has 18 bits (table 40)");
    }
  }
  if (field(bits, 46, 3) != 1) return error(bits, "constant", 46, 3, "0b001 (table 40)");
  if (field(bits, 53, 8) != 0) return error(bits, "constant", 53, 8, "0 (table 40)");
  if (field(bits, 52, 1) != 0 && !long_rows) {
    return error(bits, "leading stride mode", 52, 1,
                 "0: absolute addresses are for K 96 on sm_103a (9.7.16.3.1.2)");
  }
  if (!swizzle_of(field(bits, 61, 3), out.swizzle)) {
    return error(bits, "swizzling mode", 61, 3,
                 "0 none, 1 128 bytes by 32, 2 128 bytes, 4 64 bytes or 6 32 bytes (table 40)");
  }
  out.address = (field(bits, 0, 14) << 4) - ptx::system_shared;
  out.leading = field(bits, 16, 14) << 4;
  out.stride = field(bits, 32, 14) << 4;
  out.k_major = !transposed;
  out.absolute = field(bits, 52, 1);
  if (out.absolute) out.leading -= ptx::system_shared;
  if (auto wrong = read_base_offset(bits, out)) return wrong;
  if (long_rows) {
    if (auto wrong = check_long_rows(bits, out)) return wrong;
  }
  const bool by_32 = out.swizzle == SwizzleMode::bytes_128_by_32;
  if (transposed && wide != by_32) {
    return error(bits, "swizzling mode", 61, 3,
                 wide ? "1: transposed tf32 takes 128 bytes by 32 only (9.7.16.10.1)"
                      : "0, 2, 4 or 6: 128 bytes by 32 is for transposed tf32 (9.7.16.10.1)");
  }
  if (!transposed && by_32) {
    return error(bits, "swizzling mode", 61, 3,
                 "0, 2, 4 or 6: where K-major elements are with 128 bytes by 32 is not known "
                 "(table 55 has no such atom)");
  }
  return std::nullopt;
}

std::optional<DescriptorError> decode_wgmma(u64 bits, bool transposed, SharedMatrix& out) {
  constexpr SwizzleMode modes[] = {SwizzleMode::none, SwizzleMode::bytes_128, SwizzleMode::bytes_64,
                                   SwizzleMode::bytes_32};
  out.swizzle = modes[field(bits, 62, 2)];
  out.address = (field(bits, 0, 14) << 4) - ptx::system_shared;
  out.leading = field(bits, 16, 14) << 4;
  out.stride = field(bits, 32, 14) << 4;
  out.k_major = !transposed;
  return read_base_offset(bits, out);
}

}  // namespace tilescope::sim
