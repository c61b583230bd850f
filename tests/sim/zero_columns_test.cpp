// The zero-column mask of tcgen05.mma.ws (PTX ISA 9.7.16.4.3): the masks of the ISA's four
// examples, and what is no mask.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/sim/tcgen05/zero_columns.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 any_shift = 3u << 30;  // of an instruction descriptor

u64 descriptor(std::array<u64, 4> starts, std::array<u64, 4> firsts, u64 mask, u64 skip, u64 use,
               u64 shift) {
  u64 out = mask << 39 | skip << 40 | use << 48 | shift << 56;
  for (u32 i = 0; i < 4; ++i) out |= starts[i] << 8 * i | firsts[i] << (32 + i);
  return out;
}

// `count` columns from `first` on, the first on the right, as the ISA writes them.
std::string bits(const ZeroColumns& z, u32 first, u32 count) {
  std::string out;
  for (u32 j = 0; j < count; ++j) out.insert(out.begin(), z.is_zero(first + j) ? '1' : '0');
  return out;
}

TEST(ZeroColumns, AreThoseOfTheExamples) {
  ZeroColumns z;
  ASSERT_FALSE(decode_zero_columns(descriptor({}, {}, 0, 4, 3, 0), 128, 256, any_shift, z));
  EXPECT_EQ(bits(z, 0, 256), std::string(256, '0'));
  ASSERT_FALSE(decode_zero_columns(descriptor({}, {}, 1, 2, 3, 0), 128, 256, any_shift, z));
  EXPECT_EQ(bits(z, 0, 14), "11100001110000");
  EXPECT_EQ(bits(z, 252, 4), "0000");  // 252 is a multiple of 7
  ASSERT_FALSE(decode_zero_columns(descriptor({}, {1, 0}, 1, 2, 3, 0), 64, 128, any_shift, z));
  EXPECT_EQ(bits(z, 0, 17), "11100001110000111");
  EXPECT_EQ(bits(z, 64, 18), "000011100001110000");
  ASSERT_FALSE(decode_zero_columns(descriptor({0, 1, 2, 1}, {1, 1, 0, 0}, 1, 2, 3, 2), 32, 128,
                                   any_shift, z));
  EXPECT_EQ(bits(z, 0, 14), "00001110000111");
  EXPECT_EQ(bits(z, 32, 13), "0000111000011");
  EXPECT_EQ(bits(z, 64, 12), "111000011100");
  EXPECT_EQ(bits(z, 96, 13), "1110000111000");
  EXPECT_EQ(z.shift, 2u);
}

TEST(ZeroColumns, AreShiftedAsFarAsBothDescriptorsSay) {
  ZeroColumns z;
  const auto refused = [&](u64 shift, u32 m, u32 instruction) {
    return decode_zero_columns(descriptor({}, {}, 0, 0, 0, shift), m, 64, instruction, z)
        .has_value();
  };
  EXPECT_FALSE(refused(32, 128, any_shift));
  EXPECT_TRUE(refused(33, 128, any_shift));
  EXPECT_FALSE(refused(16, 32, any_shift));
  EXPECT_TRUE(refused(17, 32, any_shift));
  EXPECT_FALSE(refused(8, 64, 1u << 30));
  EXPECT_TRUE(refused(9, 64, 1u << 30));
  EXPECT_TRUE(refused(1, 64, 0));
  EXPECT_FALSE(refused(0, 64, 0));
  EXPECT_TRUE(decode_zero_columns(u64{1} << 36, 64, 64, 0, z));
  EXPECT_TRUE(decode_zero_columns(u64{1} << 62, 64, 64, 0, z));
}

}  // namespace
}  // namespace tilescope::sim
