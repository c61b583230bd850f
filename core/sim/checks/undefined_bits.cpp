#include "core/sim/checks/undefined_bits.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr u64 all = ~u64{0};

// The number of the lowest bit that is 1; 64: there is none.
int lowest(u64 bits) {
  return bits ? __builtin_ctzll(bits) : 64;
}
u64 from(int bit) {
  return bit < 64 ? all << bit : 0;
}
u64 below(int bit) {
  return ~from(bit);
}

}  // namespace

u64 hidden_by_and(Partly a, Partly b) {
  const u64 decided = (~a.hidden & ~a.value) | (~b.hidden & ~b.value);
  return (a.hidden | b.hidden) & ~decided;
}

u64 hidden_by_or(Partly a, Partly b) {
  return hidden_by_and({~a.value, a.hidden}, {~b.value, b.hidden});
}

u64 hidden_by_sum(u64 hidden) {
  return from(lowest(hidden));
}

// What a hidden bit of the one changes is a multiple of it and of whatever the other may be.
u64 hidden_by_product(Partly a, Partly b) {
  const int by_a = lowest(a.hidden) + lowest(b.value | b.hidden);
  const int by_b = lowest(b.hidden) + lowest(a.value | a.hidden);
  return from(std::min(by_a, by_b));
}

// Does a bit of the result change with the hidden ones of the three in its place?
u32 hidden_by_lop3(const std::array<Partly, 3>& of, u32 table) {
  const auto result = [&](u32 flips) {
    u32 out = 0;
    for (u32 row = 0; row < 8; ++row) {
      if (!(table >> row & 1)) continue;
      u32 here = ~0u;
      for (u32 k = 0; k < 3; ++k) {
        const auto bits = static_cast<u32>(of[k].value ^ (flips >> k & 1 ? of[k].hidden : 0));
        here &= row >> (2 - k) & 1 ? bits : ~bits;
      }
      out |= here;
    }
    return out;
  };
  u32 out = 0;
  for (u32 flips = 1; flips < 8; ++flips) out |= result(0) ^ result(flips);
  return out;
}

u64 hidden_by_reversal(u64 hidden, int width) {
  u64 out = 0;
  for (int k = 0; k < width; ++k) out |= (hidden >> k & 1) << (width - 1 - k);
  return out;
}

u64 hidden_by_field(u64 hidden, int position, int length, int width, bool is_signed) {
  if (length == 0) return 0;
  const u64 kept = below(std::min(length, std::max(0, width - position)));
  const u64 field = position < width ? hidden >> position & kept : 0;
  const bool sign = is_signed && hidden >> std::min(position + length - 1, width - 1) & 1;
  return field | (sign ? ~kept : 0);
}

u32 hidden_by_permutation(u64 pair, u64 selector) {
  u32 out = 0;
  for (u32 k = 0; k < 4; ++k) {
    const u64 which = selector >> (4 * k);
    auto byte = static_cast<u32>(pair >> (8 * (which & 7)) & 0xff);
    if (which & 8) byte = byte & 0x80 ? 0xff : 0;
    out |= byte << (8 * k);
  }
  return out;
}

u64 hidden_by_halves(u64 hidden, int bits) {
  const u64 lower = below(bits), upper = lower << bits;
  return (hidden & lower ? lower : 0) | (hidden & upper ? upper : 0);
}

}  // namespace tilescope::sim
