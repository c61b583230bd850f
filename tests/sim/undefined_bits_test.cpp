// Which bits of a result are undefined, beside what comes of every value that the undefined bits of
// the operands may have.
#include "core/sim/checks/undefined_bits.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Three = std::array<u64, 3>;

class Draw {
 public:
  u64 bits() { return random_(); }
  int below(int n) { return static_cast<int>(random_() % static_cast<u64>(n)); }
  // Of 32 or 64 bits, many of them 0; up to three bits are hidden.
  Partly partly(int width) {
    const u64 all = width < 64 ? (u64{1} << width) - 1 : ~u64{0};
    Partly out{random_() & all, 0};
    if (below(3) == 0) out.value &= random_() << below(width);
    if (below(8) == 0) out.value = 0;
    for (int k = below(4); k > 0; --k) out.hidden |= u64{1} << below(width);
    out.value &= all;
    return out;
  }

 private:
  std::mt19937_64 random_{5};
};

// The bits of the result that are not the same for all values that the operands may have.
u64 differing(const std::array<Partly, 3>& of, const std::function<u64(const Three&)>& result) {
  const Three known{of[0].value & ~of[0].hidden, of[1].value & ~of[1].hidden,
                    of[2].value & ~of[2].hidden};
  const u64 first = result(known);
  u64 out = 0;
  Three at{};
  const std::function<void(std::size_t)> each = [&](std::size_t k) {
    if (k == 3) {
      out |= first ^ result({known[0] | at[0], known[1] | at[1], known[2] | at[2]});
      return;
    }
    // All parts of a set of bits, the empty one last.
    for (u64 part = of[k].hidden;; part = (part - 1) & of[k].hidden) {
      at[k] = part;
      each(k + 1);
      if (part == 0) break;
    }
  };
  each(0);
  return out;
}

u64 mask(int width) {
  return width < 64 ? (u64{1} << width) - 1 : ~u64{0};
}

TEST(UndefinedBits, OfBitsKeptApartAreExact) {
  Draw draw;
  u64 any = 0;
  for (int round = 0; round < 20'000; ++round) {
    const int width = draw.below(2) ? 32 : 64;
    const std::array<Partly, 3> of{draw.partly(width), draw.partly(width), draw.partly(width)};
    const Partly a = of[0], b = of[1];
    EXPECT_EQ(hidden_by_and(a, b), differing({a, b}, [](const Three& x) { return x[0] & x[1]; }));
    EXPECT_EQ(hidden_by_or(a, b), differing({a, b}, [](const Three& x) { return x[0] | x[1]; }));
    EXPECT_EQ(hidden_by_reversal(a.hidden, width), differing({a}, [&](const Three& x) {
                u64 out = 0;
                for (int k = 0; k < width; ++k) out |= (x[0] >> k & 1) << (width - 1 - k);
                return out;
              }));
    const auto table = static_cast<u32>(draw.below(256));
    const u64 differ = differing(of, [&](const Three& x) {
      u64 out = 0;
      for (int k = 0; k < 32; ++k) {
        const u64 row = (x[0] >> k & 1) * 4 + (x[1] >> k & 1) * 2 + (x[2] >> k & 1);
        out |= u64{table >> row & 1} << k;
      }
      return out;
    });
    any |= differ;
    EXPECT_EQ(hidden_by_lop3(of, table), differ) << table;
    const u64 selector = draw.bits();
    const u64 pair = a.value << 32 | (b.value & mask(32));
    const u64 hidden = a.hidden << 32 | (b.hidden & mask(32));
    EXPECT_EQ(hidden_by_permutation(hidden, selector),
              differing({Partly{pair, hidden}}, [&](const Three& x) {
                u64 out = 0;
                for (int k = 0; k < 4; ++k) {
                  const u64 which = selector >> (4 * k) & 15;
                  const u64 byte = x[0] >> (8 * (which & 7)) & 0xff;
                  out |= (which < 8 ? byte : byte & 0x80 ? 0xff : 0) << (8 * k);
                }
                return out;
              }));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(any, mask(32));
}

// PTX ISA 9.7.1.19, its own text of bfe.
TEST(UndefinedBits, OfFieldsAreExact) {
  Draw draw;
  for (int round = 0; round < 20'000; ++round) {
    const int width = draw.below(2) ? 32 : 64, msb = width - 1;
    const bool is_signed = draw.below(2);
    const int position = draw.below(80), length = draw.below(80);
    const Partly a = draw.partly(width);
    const u64 differ = differing({a}, [&](const Three& x) {
      const u64 sign =
          !is_signed || length == 0 ? 0 : x[0] >> std::min(position + length - 1, msb) & 1;
      u64 out = 0;
      for (int i = 0; i <= msb; ++i) {
        const bool inside = i < length && position + i <= msb;
        out |= (inside ? x[0] >> (position + i) & 1 : sign) << i;
      }
      return out;
    });
    ASSERT_EQ(hidden_by_field(a.hidden, position, length, width, is_signed) & mask(width), differ)
        << position << " " << length << " " << width << is_signed;
  }
}

TEST(UndefinedBits, OfSumsAndProductsAreFromTheLowestOneOn) {
  Draw draw;
  int defined = 0;
  for (int round = 0; round < 20'000; ++round) {
    const int width = draw.below(2) ? 32 : 64;
    const Partly a = draw.partly(width), b = draw.partly(width), c = draw.partly(width);
    const auto lowest = [&](u64 bits) { return bits & mask(width) & (~bits + 1); };
    const u64 sum = hidden_by_sum(a.hidden | b.hidden) & mask(width);
    const u64 differ =
        differing({a, b}, [&](const Three& x) { return (x[0] - x[1]) & mask(width); });
    ASSERT_EQ(differ & ~sum, 0u);
    ASSERT_EQ(lowest(sum), lowest(a.hidden | b.hidden));
    const u64 product = hidden_by_product(a, b) & mask(width);
    const u64 other = differing({a, b}, [&](const Three& x) { return x[0] * x[1] & mask(width); });
    ASSERT_EQ(other & ~product, 0u)
        << a.value << " " << a.hidden << " " << b.value << " " << b.hidden;
    defined += (a.hidden | b.hidden) && !product;
    const u64 both = hidden_by_sum(hidden_by_product(a, b) | c.hidden) & mask(width);
    ASSERT_EQ(
        differing({a, b, c}, [&](const Three& x) { return (x[0] * x[1] + x[2]) & mask(width); }) &
            ~both,
        0u);
  }
  EXPECT_GT(defined, 500);  // nothing times whatever it may be
}

TEST(UndefinedBits, OfHalvesAreAllOfOne) {
  EXPECT_EQ(hidden_by_halves(0, 16), 0u);
  EXPECT_EQ(hidden_by_halves(0x10, 16), 0xffffu);
  EXPECT_EQ(hidden_by_halves(0x10000, 16), 0xffff0000u);
  EXPECT_EQ(hidden_by_halves(1, 32), 0xffffffffu);
  EXPECT_EQ(hidden_by_halves(u64{1} << 63 | 1, 32), ~u64{0});
}

}  // namespace
}  // namespace tilescope::sim
