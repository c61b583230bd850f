// Laws of the asynchronous machine's bits: mbarriers, tensor maps, swizzles.
#include <gtest/gtest.h>

#include "core/layout/layout.h"
#include "core/sim/async/copies.h"
#include "core/sim/async/map_bits.h"
#include "core/sim/async/mbarrier.h"

namespace tilescope::sim {
namespace {

TEST(MbarrierBits, ReadBackAsTheyWereWritten) {
  constexpr std::uint32_t counts[] = {0, 1, 1000, MbarrierBits::most};
  constexpr std::int32_t bytes[] = {
      0, 1, -1, 32768, static_cast<int>(MbarrierBits::most), -static_cast<int>(MbarrierBits::most)};
  for (const std::uint32_t pending : counts) {
    for (const std::uint32_t expected : counts) {
      for (const std::int32_t transactions : bytes) {
        for (const bool odd : {false, true}) {
          MbarrierBits read;
          ASSERT_TRUE(unpack(pack({pending, expected, transactions, odd}), read));
          EXPECT_EQ(read.pending, pending);
          EXPECT_EQ(read.expected, expected);
          EXPECT_EQ(read.transactions, transactions);
          EXPECT_EQ(read.odd, odd);
        }
      }
    }
  }
  MbarrierBits none;
  EXPECT_FALSE(unpack(0, none));
}

TEST(MbarrierState, HoldsThePhaseAndWhatWasPending) {
  for (const std::uint64_t phase : {0ull, 1ull, 1ull << 40}) {
    for (const std::uint32_t pending : {1u, MbarrierBits::most}) {
      EXPECT_EQ(phase_of_state(mbarrier_state(phase, pending)), phase);
      EXPECT_EQ(pending_of_state(mbarrier_state(phase, pending)), pending);
    }
  }
}

MapFields some_map() {
  MapFields map;
  map.address = 0x7f0000000040;
  map.dtype = DType::bf16;
  map.rank = 3;
  map.dims = {std::uint64_t{1} << 32, 1, 77, 0, 0};
  map.strides = {2, (std::uint64_t{1} << 40) - 16, 0, 0, 0};
  map.box = {64, 1, 256, 0, 0};
  map.steps = {1, 8, 1, 0, 0};
  map.swizzle = MapSwizzle::bytes128;
  map.nan_fill = true;
  return map;
}

TEST(MapBits, ReadBackAsTheyWereWritten) {
  const MapFields map = some_map();
  const std::optional<MapFields> read = decode_map(encode(map));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->address, map.address);
  EXPECT_EQ(read->dtype, map.dtype);
  EXPECT_EQ(read->rank, map.rank);
  EXPECT_EQ(read->dims, map.dims);
  EXPECT_EQ(read->strides, map.strides);
  EXPECT_EQ(read->box, map.box);
  EXPECT_EQ(read->steps, map.steps);
  EXPECT_EQ(read->swizzle, map.swizzle);
  EXPECT_TRUE(read->nan_fill);
}

TEST(MapBits, BytesThatAreNoMapAreNone) {
  EXPECT_FALSE(decode_map({}));
  MapBits bits = encode(some_map());
  bits[0] ^= std::byte{1};
  EXPECT_FALSE(decode_map(bits));
  const MapBits before = bits;
  EXPECT_FALSE(replace_field(bits, MapField::rank, 0, 1)) << "told where it is used, not here";
  EXPECT_EQ(bits, before);
  EXPECT_EQ(why_no_map(bits), "other bytes");
  EXPECT_EQ(why_no_map({}), "zeros");
}

// As Triton's make_tensor_descriptor has it.
TEST(MapBits, FieldByFieldZerosBecomeAMap) {
  MapFields wanted = some_map();
  MapBits bits{};
  EXPECT_FALSE(replace_field(bits, MapField::global_address, 0, wanted.address));
  EXPECT_FALSE(replace_field(bits, MapField::rank, 0, wanted.rank - 1));
  for (std::uint32_t d = 0; d < wanted.rank; ++d) {
    EXPECT_FALSE(decode_map(bits));
    EXPECT_NE(why_no_map(bits), "");
    EXPECT_FALSE(replace_field(bits, MapField::box_dim, d, wanted.box[d]));
    EXPECT_FALSE(replace_field(bits, MapField::global_dim, d, wanted.dims[d]));
    EXPECT_FALSE(replace_field(bits, MapField::element_stride, d, wanted.steps[d]));
    const bool strided = d > 0;
    EXPECT_FALSE(strided && replace_field(bits, MapField::global_stride, d - 1, wanted.strides[d]));
  }
  EXPECT_FALSE(replace_field(bits, MapField::elemtype, 0, 6)) << "f16";
  EXPECT_FALSE(replace_field(bits, MapField::swizzle_mode, 0, 3)) << "128 bytes";
  wanted.dtype = DType::f16;
  wanted.swizzle = MapSwizzle::bytes128;
  wanted.nan_fill = false;
  EXPECT_EQ(bits, encode(wanted));
}

TEST(MapBits, AFieldThatIsReplacedIsTheOnlyOneThatChanges) {
  MapBits bits = encode(some_map());
  EXPECT_FALSE(replace_field(bits, MapField::global_stride, 1, 4096));
  EXPECT_FALSE(replace_field(bits, MapField::swizzle_mode, 0, 1));
  EXPECT_FALSE(decode_map(bits)) << "128-byte rows do not fit swizzle 32B";
  EXPECT_FALSE(replace_field(bits, MapField::box_dim, 0, 16));
  const std::optional<MapFields> read = decode_map(bits);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->strides,
            (std::array<std::uint64_t, 5>{2, (std::uint64_t{1} << 40) - 16, 4096, 0, 0}));
  EXPECT_EQ(read->swizzle, MapSwizzle::bytes32);
  EXPECT_EQ(read->box, (std::array<std::uint32_t, 5>{16, 1, 256, 0, 0}));
  EXPECT_EQ(read->dims, some_map().dims);
  EXPECT_TRUE(replace_field(bits, MapField::box_dim, 5, 16)) << "there is no dimension 5";
}

// Table 33: 14 is .b4x16_p64, 15 .b6x16_p32.
TEST(MapBits, ElementsOf4And6BitsArePackedBytes) {
  MapFields map;
  map.rank = 2;
  map.dtype = DType::f16;
  map.dims = {256, 16};
  map.strides = {2, 512};
  map.box = {128, 8};
  map.steps = {1, 1};
  for (const auto& [number, packing] :
       {std::pair(14, MapPacking::b4x16_p64), std::pair(15, MapPacking::b6x16_p32)}) {
    MapBits bits = encode(map);
    EXPECT_FALSE(replace_field(bits, MapField::elemtype, 0, static_cast<std::uint64_t>(number)));
    const std::optional<MapFields> read = decode_map(bits);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->packing, packing);
    EXPECT_EQ(read->global_bytes(128), packing == MapPacking::b4x16_p64 ? 64u : 96u);
    EXPECT_FALSE(replace_field(bits, MapField::box_dim, 0, 64));
    EXPECT_FALSE(decode_map(bits)) << "elements come by 128";
    EXPECT_FALSE(replace_field(bits, MapField::box_dim, 0, 128));
    EXPECT_FALSE(replace_field(bits, MapField::elemtype, 0, 0));
    EXPECT_EQ(decode_map(bits)->packing, MapPacking::none);
  }
}

// Table 33: 8 is .f32.ftz, 11 .tf32, 12 .tf32.ftz.
TEST(MapBits, F32IsRoundedOrFlushedWhereItsTypeSaysSo) {
  MapFields map;
  map.rank = 1;
  map.dtype = DType::f32;
  map.dims = {256};
  map.strides = {4};
  map.box = {128};
  map.steps = {1};
  for (const auto& [number, floats] :
       {std::pair(8, MapFloat::f32_ftz), std::pair(11, MapFloat::tf32),
        std::pair(12, MapFloat::tf32_ftz), std::pair(7, MapFloat::f32)}) {
    MapBits bits = encode(map);
    EXPECT_FALSE(replace_field(bits, MapField::elemtype, 0, static_cast<std::uint64_t>(number)));
    const std::optional<MapFields> read = decode_map(bits);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->floats, floats);
    EXPECT_EQ(read->dtype, DType::f32);
    EXPECT_EQ(decode_map(encode(*read))->floats, floats);
  }
}

// 13 is .b4x16: the map counts elements, and bytes are copied.
TEST(MapBits, ElementsOf4BitsAreTwoAByte) {
  MapFields map;
  map.rank = 2;
  map.dtype = DType::u8;
  map.dims = {254, 16};
  map.strides = {1, 128};
  map.box = {256, 8};
  map.steps = {1, 1};
  MapBits bits = encode(map);
  EXPECT_FALSE(replace_field(bits, MapField::elemtype, 0, 13));
  const std::optional<MapFields> read = decode_map(bits);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->packing, MapPacking::b4x16);
  EXPECT_EQ(read->dims[0], 254u);
  const MapFields bytes = in_bytes(*read);
  EXPECT_EQ(bytes.dims[0], 127u);
  EXPECT_EQ(bytes.box[0], 128u);
  EXPECT_EQ(bytes.row_bytes(), 128u);
  EXPECT_FALSE(replace_field(bits, MapField::box_dim, 0, 80));
  EXPECT_FALSE(decode_map(bits)) << "40 bytes";
  EXPECT_FALSE(replace_field(bits, MapField::box_dim, 0, 96));
  EXPECT_TRUE(decode_map(bits));
  EXPECT_FALSE(replace_field(bits, MapField::global_dim, 0, 255));
  EXPECT_FALSE(decode_map(bits)) << "a byte is cut in two";
}

// The swizzles of PTX ISA 5.5.7 are the layouts' Swizzle<B, 4, 3> on addresses; with atoms of 32
// bytes Swizzle<2, 5, 2>.
TEST(Swizzles, AreThoseOfTheLayouts) {
  const std::pair<MapSwizzle, Swizzle> same[] = {
      {MapSwizzle::none, *make_swizzle(0, 4, 3)},
      {MapSwizzle::bytes32, *make_swizzle(1, 4, 3)},
      {MapSwizzle::bytes64, *make_swizzle(2, 4, 3)},
      {MapSwizzle::bytes128, *make_swizzle(3, 4, 3)},
      {MapSwizzle::bytes128_atom32, *make_swizzle(2, 5, 2)}};
  for (const auto& [mode, swizzle] : same) {
    for (std::uint32_t address = 0; address < 4096; address += 16) {
      EXPECT_EQ(swizzled(mode, address), static_cast<std::uint32_t>(swizzle(address)))
          << name_of(mode) << " at " << address;
    }
  }
}

}  // namespace
}  // namespace tilescope::sim
