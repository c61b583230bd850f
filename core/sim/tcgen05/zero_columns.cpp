#include "core/sim/tcgen05/zero_columns.h"

#include <fmt/format.h>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 field(u64 bits, u32 low, u32 count) {
  return static_cast<u32>(bits >> low & ((u64{1} << count) - 1));
}

std::optional<DescriptorError> check_shift(u64 bits, u32 m, u32 instruction) {
  constexpr u32 promised[] = {0, 8, 16, 32};  // bits 30-31 (table 42)
  const u32 shift = field(bits, 56, 6), most = m == 32 ? 16 : 32;
  if (shift > most) {
    return DescriptorError{
        fmt::format("the column shift of the zero-column mask 0x{:016x} (bits 56-61) is {}", bits,
                    shift),
        fmt::format("at most {} with M {} (table 45)", most, m), fmt::format("{}", shift)};
  }
  const u32 told = promised[instruction >> 30];
  if (shift <= told) return std::nullopt;
  return DescriptorError{
      fmt::format("the column shift of the zero-column mask 0x{:016x} (bits 56-61) is {}, but the "
                  "instruction descriptor 0x{:08x} says that it is at most {}",
                  bits, shift, instruction, told),
      "a larger maximum in bits 30-31 of the instruction descriptor (table 42)",
      fmt::format("{}", shift)};
}

}  // namespace

std::optional<DescriptorError> decode_zero_columns(u64 bits, u32 m, u32 n, u32 instruction,
                                                   ZeroColumns& out) {
  out = {};
  if (field(bits, 36, 3) || field(bits, 62, 2)) {
    return DescriptorError{
        fmt::format("reserved bits of the zero-column mask 0x{:016x} (36-38, 62-63) are not 0",
                    bits),
        "0 (table 45)", fmt::format("0x{:016x}", bits)};
  }
  if (auto error = check_shift(bits, m, instruction)) return error;
  out.shift = field(bits, 56, 6);
  if (!field(bits, 39, 1)) return std::nullopt;
  const u32 spans[] = {field(bits, 48, 8) + 1, field(bits, 40, 8) + 1};  // used, skipped
  const u32 columns = n * m / 128;                                       // of a sub-mask
  for (u32 sub = 0; sub < 128 / m; ++sub) {
    u32 skips = field(bits, 32 + sub, 1), at = field(bits, 8 * sub, 8) % (spans[0] + spans[1]);
    for (u32 j = sub * columns; j < (sub + 1) * columns; ++j, ++at) {
      while (at >= spans[skips]) {
        at -= spans[skips];
        skips ^= 1;
      }
      if (skips) out.mask[j / 64] |= u64{1} << j % 64;
    }
  }
  return std::nullopt;
}

}  // namespace tilescope::sim
