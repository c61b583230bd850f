// tcgen05 (PTX ISA 9.7.16): where descriptors say that matrices lie, how registers meet tensor
// memory, and what a product is, for every kind, shape and organisation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "core/layout/algebra.h"
#include "core/numeric/small_float.h"
#include "core/sim/machine/machine.h"
#include "core/sim/tcgen05/product.h"
#include "core/sim/tcgen05/scales.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// --- shared-memory descriptors ------------------------------------------------------------------

// Of an offset in the block's own shared memory, which begins behind the system's.
u64 descriptor(u32 address, u32 leading, u32 stride, u64 swizzle) {
  return u64{(address + ptx::system_shared) >> 4} | u64{leading >> 4} << 16 |
         u64{stride >> 4} << 32 | u64{1} << 46 | swizzle << 61;
}

// The canonical layouts of 9.7.16.3.3 in bytes, as core's layouts: (line, piece) to the piece's
// offset.
Layout canonical(int bits, bool k_major, int leading, int stride) {
  const int width = 16 << bits;
  const auto mode = [](int n, int s) { return Layout(Int(n), Int(s)); };
  const Layout lines = make_layout_of(mode(8, bits ? width : 16), mode(32, bits      ? stride
                                                                           : k_major ? stride
                                                                                     : leading));
  const Layout pieces = bits == 0 ? mode(8, k_major ? leading : stride)
                        : k_major ? mode(2, 16)
                                  : make_layout_of(mode(width / 16, 16), mode(8, leading));
  const Layout plain = make_layout_of(lines, pieces);
  return bits ? *composition(Swizzle{static_cast<std::int8_t>(bits), 4, 3}, plain) : plain;
}

TEST(Tcgen05, DescriptorsAreTheCanonicalLayouts) {
  constexpr u64 codes[] = {0, 6, 4, 2};  // of swizzles with 0, 1, 2, 3 bits
  for (int bits = 0; bits <= 3; ++bits) {
    for (const bool k_major : {true, false}) {
      const u32 leading = 4096, stride = 1024;
      SharedMatrix matrix;
      const auto error =
          decode(descriptor(2048, leading, stride, codes[bits]), !k_major, false, matrix);
      ASSERT_FALSE(error) << error->sentence;
      const Layout layout = canonical(bits, k_major, leading, stride);
      for (u32 line = 0; line < 32; ++line) {
        for (u32 piece = 0; piece < (k_major ? 2 : 8); ++piece) {
          const std::int64_t want = 2048 + layout(line + 256 * piece);
          ASSERT_EQ(matrix.piece(line, piece), want) << bits << k_major << line << ' ' << piece;
        }
      }
    }
  }
}

// Where an H100 found A(m, 0) and A(m, 8) of wgmma m64n8k16, as numbers of 16 bytes: the code of
// the swizzle, stride, where the matrix begins, its base offset.
TEST(Descriptor, ABaseOffsetSaysWhereThePatternBegins) {
  struct Found {
    u64 swizzle;
    u32 stride, start;
    u64 base_offset;
    u32 pieces[8];
  };
  const Found measured[] = {
      {2, 1024, 256 + 32, 3, {21, 20, 26, 27, 35, 34, 40, 41}},
      {4, 512, 192 + 32, 1, {14, 15, 19, 18, 23, 22, 24, 25}},
      {6, 256, 384, 2, {25, 24, 27, 26, 29, 28, 31, 30}},
      {6, 256, 32, 5, {3, 2, 5, 4, 7, 6, 8, 9}},
  };
  for (const Found& f : measured) {
    SharedMatrix matrix;
    const u64 bits = descriptor(f.start, 16, f.stride, f.swizzle) | f.base_offset << 49;
    ASSERT_FALSE(decode(bits, false, false, matrix));
    for (u32 i = 0; i < 8; ++i) {
      EXPECT_EQ(matrix.piece(i / 2, i % 2), f.pieces[i] * 16) << f.swizzle << " " << i;
    }
  }
  SharedMatrix matrix;
  const auto refused = decode(descriptor(0, 4096, 512, 1) | u64{1} << 49, true, true, matrix);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->sentence.find("base offset"), std::string::npos) << refused->sentence;
}

TEST(Tcgen05, ThirtyTwoByteAtomsSwizzleLinesByFours) {
  SharedMatrix matrix;
  ASSERT_FALSE(decode(descriptor(0, 4096, 512, 1), true, true, matrix));
  const Layout plain = make_layout_of(make_layout_of(Layout(4, 128), Layout(8, 512)),
                                      make_layout_of(Layout(8, 16), Layout(2, 4096)));
  for (u32 line = 0; line < 8; ++line) {
    for (u32 piece = 0; piece < 16; ++piece) {
      const std::int64_t at = plain(line + 32 * piece);
      EXPECT_EQ(matrix.piece(line, piece), at ^ (at >> 7 & 3) << 5);  // Sw<2,5,2>
    }
  }
}

// K 96: rows of 48 bytes, packed, of which some run over 128 bytes and go on in the next buffer
// (CUTLASS, sm103_blockscaled_mma_warpspecialized.hpp: the third product of a buffer begins at byte
// 96 and has its last 16 bytes from the buffer behind).
TEST(Tcgen05, LongRowsGoOnAtAnAbsoluteAddress) {
  const u32 first = 2048, next = 34816, stride = 1024;
  const u64 absolute = u64{1} << 52;
  const auto swizzled_128 = [](u32 at) { return at ^ (at >> 7 & 7) << 4; };
  for (const u32 begin : {0u, 48u, 96u, 112u}) {
    SharedMatrix matrix;
    const u64 bits = descriptor(first + begin, next + ptx::system_shared, stride, 2) | absolute;
    ASSERT_FALSE(decode(bits, false, false, matrix, true));
    for (u32 row = 0; row < 128; ++row) {
      for (u32 piece = 0; piece < 3; ++piece) {
        const u32 in_row = begin + 16 * piece;
        const u32 plain = in_row < 128 ? first + in_row : next + in_row - 128;
        ASSERT_EQ(matrix.piece(row, piece), swizzled_128(plain + row * 128)) << begin << ' ' << row;
      }
    }
    EXPECT_TRUE(decode(bits, false, false, matrix));                       // rows of 32
    EXPECT_TRUE(decode(bits ^ u64{6} << 61, false, false, matrix, true));  // 64 bytes
    EXPECT_EQ(decode(bits ^ absolute, false, false, matrix, true).has_value(), begin > 80);
  }
}

TEST(Tcgen05, InstructionDescriptorsOfOthersAreRead) {
  MmaShape s;
  ASSERT_FALSE(decode(0x08200490u, {MmaKind::f16}, s));  // Cutlass: bf16, 128 x 128
  EXPECT_EQ(s.m, 128u);
  EXPECT_EQ(s.n, 128u);
  EXPECT_EQ(s.k, 16u);
  EXPECT_EQ(s.a, ElementType::bf16);
  EXPECT_EQ(s.d, SumType::f32);
  ASSERT_FALSE(decode(0x08400010u, {MmaKind::f16}, s));
  EXPECT_EQ(s.n, 256u);
  EXPECT_TRUE(decode(0x10400010u, {MmaKind::f16}, s));  // 256 rows are for two CTAs
  ASSERT_FALSE(decode(0x10400010u, {MmaKind::f16, false, true}, s));
  EXPECT_EQ(s.m, 256u);
  EXPECT_EQ(s.n, 256u);
}

// With scale factors: CUTLASS's InstrDescriptorBlockScaled (mma_sm100_desc.hpp), written out as its
// fields a_format 7, b_format 10, n >> 3 17, scale_format 23, m >> 4 24, a_sf_id 29, b_sf_id 4.
TEST(Tcgen05, InstructionDescriptorsWithScaleFactors) {
  using V = ptx::ScaleVectors;
  MmaShape s;
  const u32 f8 = 1u << 10 | 16u << 17 | 1u << 23 | 8u << 24;  // e4m3 x e5m2, 128 x 128
  ASSERT_FALSE(decode(f8 | 3u << 29 | 2u << 4, {MmaKind::mxf8f6f4}, s));
  EXPECT_EQ(s.m, 128u);
  EXPECT_EQ(s.n, 128u);
  EXPECT_EQ(s.k, 32u);
  EXPECT_EQ(s.a, ElementType::e4m3);
  EXPECT_EQ(s.b, ElementType::e5m2);
  EXPECT_EQ(s.d, SumType::f32);
  EXPECT_EQ(s.scales(), 1u);
  EXPECT_EQ(s.a_scale_id, 3u);
  EXPECT_EQ(s.b_scale_id, 2u);
  const u32 f4 = 1u << 7 | 1u << 10 | 32u << 17 | 16u << 24;  // e2m1, 256 x 256, ue4m3
  ASSERT_FALSE(decode(f4, {MmaKind::mxf4nvf4, false, true, false, false, V::block16}, s));
  EXPECT_EQ(s.m, 256u);
  EXPECT_EQ(s.k, 64u);
  EXPECT_EQ(s.scales(), 4u);
  EXPECT_EQ(s.scale_format, ScaleFormat::ue4m3);
  ASSERT_FALSE(decode(f4 | 1u << 23 | 2u << 29, {MmaKind::mxf4, false, true}, s));
  EXPECT_EQ(s.scales(), 2u);
  EXPECT_EQ(s.a_scale_id, 2u);
  const auto fits = [&](u32 bits, MmaKind kind, V vectors, bool pair = false) {
    return !decode(bits, {kind, false, pair, false, false, vectors}, s);
  };
  EXPECT_FALSE(fits(f4, MmaKind::mxf4, V::none, true));    // ue4m3 is for mxf4nvf4
  EXPECT_FALSE(fits(f4, MmaKind::mxf4nvf4, V::x2, true));  // and for blocks of 16
  EXPECT_TRUE(fits(f4, MmaKind::mxf4nvf4, V::x4, true));
  EXPECT_FALSE(fits(f4 | 2u << 29, MmaKind::mxf4nvf4, V::x4, true));  // a whole cell
  EXPECT_FALSE(fits(f4, MmaKind::mxf4nvf4, V::x4));                   // 256 rows are for two CTAs
  EXPECT_FALSE(fits(f8 ^ 8u << 24 ^ 4u << 24, MmaKind::mxf8f6f4, V::none));  // nor are 64
  EXPECT_FALSE(fits(f8 ^ 1u << 23, MmaKind::mxf8f6f4, V::none));
  EXPECT_FALSE(fits(f8 | 1u << 31, MmaKind::mxf8f6f4, V::none));
  EXPECT_TRUE(fits(f8 | 1u << 15 | 1u << 16, MmaKind::mxf8f6f4, V::none));
  EXPECT_FALSE(fits(f4 | 1u << 15, MmaKind::mxf4nvf4, V::x4, true));
  const u32 long_rows = f4 | 1u << 31;
  EXPECT_FALSE(fits(long_rows, MmaKind::mxf4nvf4, V::x4, true));  // sm_103a has them
  ASSERT_FALSE(
      decode(long_rows | 2u << 29, {MmaKind::mxf4nvf4, false, true, false, true, V::block16}, s));
  EXPECT_EQ(s.k, 96u);
  EXPECT_EQ(s.scales(), 6u);
  EXPECT_TRUE(
      decode(long_rows | 1u << 29, {MmaKind::mxf4nvf4, false, true, false, true, V::block16}, s));
  ASSERT_FALSE(decode(long_rows | 1u << 23 | 3u << 29,
                      {MmaKind::mxf4, false, true, false, true, V::none}, s));
  EXPECT_EQ(s.scales(), 3u);
  const u32 six_bits = f8 | 3u << 7;
  EXPECT_TRUE(fits(six_bits, MmaKind::mxf8f6f4, V::none));
  EXPECT_FALSE(fits(six_bits | 1u << 15, MmaKind::mxf8f6f4, V::none));  // table 54
}

// A cell's row is found as the row's cells are.
TEST(Tcgen05, CellsOfScaleFactorsKnowTheirRow) {
  for (const bool halves : {false, true}) {
    for (const u32 rows : {16u, 64u, 144u, 256u}) {
      const ScaleFactors factors{7, rows, 0, 1, halves};
      const std::vector<CellRange> all = factors.cells();
      u32 found = 0;
      for (u32 lane = 0; lane < 128; ++lane) {
        for (u32 column = 0; column < 32; ++column) {
          const bool in = std::any_of(all.begin(), all.end(), [&](const CellRange& c) {
            return c.meets({lane, 1, column, 1});
          });
          const auto row = factors.row_in({lane, column});
          ASSERT_EQ(row.has_value(), in) << rows << ' ' << lane << ' ' << column;
          found += in;
          if (!in) continue;
          const u32 part = halves ? rows / 2 : rows;
          EXPECT_EQ(*row % part, (column - 7) * 32 + lane % 32);
          EXPECT_EQ(*row / part, halves ? lane / 64 : 0);
        }
      }
      EXPECT_EQ(found, rows * (halves ? 2 : 4));
    }
  }
}

// Table 39: two CTAs have M 128 or 256, and N in steps of 16, of integers in steps of 32.
TEST(Tcgen05, ShapesOfTwoCtas) {
  const auto fits = [](MmaKind kind, u32 m, u32 n) {
    MmaShape s;
    const u32 types = kind == MmaKind::i8 ? 2u << 4 : 1u << 4;
    return !decode(types | n >> 3 << 17 | m >> 4 << 24, {kind, false, true}, s);
  };
  for (const u32 m : {16u, 32u, 64u, 128u, 192u, 256u}) {
    EXPECT_EQ(fits(MmaKind::f16, m, 64), m == 128 || m == 256) << m;
  }
  for (u32 n = 8; n <= 504; n += 8) {
    EXPECT_EQ(fits(MmaKind::f16, 256, n), n % 16 == 0 && n <= 256) << n;
    EXPECT_EQ(fits(MmaKind::i8, 128, n), n % 32 == 0 && n <= 256) << n;
  }
}

// --- products -----------------------------------------------------------------------------------

struct Case {
  MmaKind kind;
  ElementType a, b;
  SumType d = SumType::f32;
  u32 m = 128, n = 64;
  bool ws = false, transpose_a = false, transpose_b = false, negate_a = false, negate_b = false;
  bool accumulate = true;
  int scale = 0;
  bool halves = false;  // one block's 64 rows of a product of two, by layout B
};

FloatFormat float_format(ElementType type) {
  constexpr FloatFormat formats[] = {format_f16,  format_bf16, format_tf32, format_e4m3,
                                     format_e5m2, format_e2m3, format_e3m2, format_e2m1};
  return formats[static_cast<int>(type)];
}

// Small integers, which every type holds and no sum of which is rounded.
double small(u32 i, u32 k, u32 salt) {
  return static_cast<int>((i * 7 + k * 3 + salt) % 5) - 2;
}

u32 pattern(ElementType type, double value) {
  if (type == ElementType::s8) return static_cast<u32>(static_cast<int>(value)) & 0xff;
  if (type == ElementType::u8) return static_cast<u32>(static_cast<int>(value) + 2);
  if (type == ElementType::tf32)
    return encode(format_f32, value) | 0x1abc;  // low bits do not count
  return encode(float_format(type), value);
}

double value_of(ElementType type, double value) {
  return type == ElementType::u8 ? value + 2 : value;
}

// Writes the matrix where the descriptor says that it lies.
void place(const SharedMatrix& matrix, ElementType type, u32 rows, u32 k, u32 salt,
           std::vector<std::byte>& memory) {
  const u32 bits = static_cast<u32>(bits_of(type)), elements = std::min(16u, 128 / bits);
  for (u32 i = 0; i < rows; ++i) {
    for (u32 p = 0; p < k; ++p) {
      const u32 along = matrix.k_major ? p : i, line = matrix.k_major ? i : p;
      const u32 at = matrix.piece(line, along / elements);
      const u32 v = pattern(type, small(i, p, salt)), first = along % elements * bits;
      for (u32 b = 0; b < bits; ++b) {
        if (v >> b & 1) memory[at + (first + b) / 8] |= std::byte{1} << (first + b) % 8;
      }
    }
  }
}

TensorAddress cell_of(const Case& c, u32 m, u32 n) {
  if (c.m == 128) return {m, n};
  if (c.m == 64 && !c.ws && !c.halves) return {m / 16 * 32 + m % 16, n};
  if (c.m == 64) return {m + 64 * (n / (c.n / 2)), n % (c.n / 2)};
  return {m + 32 * (n / (c.n / 4)), n % (c.n / 4)};
}

u64 swizzle_code(const Case& c, bool transposed) {
  return c.kind == MmaKind::tf32 && transposed ? 1 : 2;
}

void expect_product(const Case& c, bool exact) {
  SCOPED_TRACE(testing::Message() << "kind " << int(c.kind) << " A " << int(c.a) << " D "
                                  << int(c.d) << " " << c.m << "x" << c.n << (c.ws ? " ws" : "")
                                  << (exact ? " exact" : " fast"));
  Product product;
  product.kind = c.kind;
  product.ws = c.ws;
  product.accumulate = c.accumulate;
  product.scale = c.scale;
  MmaShape& s = product.shape;
  s = {c.m, c.n, c.kind == MmaKind::f16 ? 16u : c.kind == MmaKind::tf32 ? 8u : 32u, c.d, c.a, c.b};
  s.negate_a = c.negate_a;
  s.negate_b = c.negate_b;
  product.halves = c.halves;
  if (c.halves) s.m = 128;  // lanes

  std::vector<std::byte> memory(128 * 1024);
  SharedMatrix a, b;
  const bool wide = c.kind == MmaKind::tf32;
  ASSERT_FALSE(
      decode(descriptor(0, 16384, 1024, swizzle_code(c, c.transpose_a)), c.transpose_a, wide, a));
  ASSERT_FALSE(decode(descriptor(0x10000, 16384, 1024, swizzle_code(c, c.transpose_b)),
                      c.transpose_b, wide, b));
  place(a, c.a, c.m, s.k, 0, memory);
  place(b, c.b, c.n, s.k, 1, memory);

  TensorMemory tensor;
  tensor.allocate({0, 512, 0, 0});
  const bool half = c.d == SumType::f16, integer = c.d == SumType::s32;
  for (u32 m = 0; m < c.m; ++m) {
    for (u32 n = 0; n < c.n; ++n) {
      const TensorAddress at = cell_of(c, m, n);
      tensor.row(at.lane)[at.column] =
          integer ? m + n : encode(half ? format_f16 : format_f32, static_cast<double>(m + n));
      tensor.set_undefined(at.lane, at.column, 0);
    }
  }
  OperandBytes left = read_operand(a, c.m, c.a, memory.data(), nullptr);
  if (c.halves) {
    const OperandBytes again = left;
    left.bytes.insert(left.bytes.end(), again.bytes.begin(), again.bytes.end());
    left.undefined.insert(left.undefined.end(), again.undefined.begin(), again.undefined.end());
  }
  const OperandBytes right = read_operand(b, c.n, c.b, memory.data(), nullptr);
  multiply(product, left.bytes.data(), left.undefined.data(), right.bytes.data(),
           right.undefined.data(), exact ? Sums::exact : Sums::fast, tensor);
  for (u32 m = 0; m < c.m; ++m) {
    for (u32 n = 0; n < c.n; ++n) {
      double want = c.accumulate ? std::ldexp(m + n, -c.scale) : 0;
      for (u32 k = 0; k < s.k; ++k) {
        const double x = value_of(c.a, small(m, k, 0)), y = value_of(c.b, small(n, k, 1));
        want += (c.negate_a ? -x : x) * (c.negate_b ? -y : y);
      }
      const TensorAddress at = cell_of(c, m, n);
      const u32 got = tensor.row(at.lane)[at.column];
      const double value =
          integer ? static_cast<std::int32_t>(got) : decode(half ? format_f16 : format_f32, got);
      ASSERT_EQ(value, want) << m << ' ' << n;
      ASSERT_EQ(tensor.undefined(at.lane, at.column) & (half ? 3 : 15), 0);
    }
  }
}

std::vector<Case> kinds() {
  using T = ElementType;
  return {{MmaKind::f16, T::f16, T::f16},
          {MmaKind::f16, T::bf16, T::f16},
          {MmaKind::f16, T::f16, T::f16, SumType::f16},
          {MmaKind::tf32, T::tf32, T::tf32},
          {MmaKind::f8f6f4, T::e4m3, T::e5m2},
          {MmaKind::f8f6f4, T::e2m3, T::e3m2},
          {MmaKind::f8f6f4, T::e2m1, T::e4m3, SumType::f16},
          {MmaKind::i8, T::s8, T::u8, SumType::s32}};
}

void for_kinds(const std::function<void(Case&)>& change) {
  for (Case c : kinds()) {
    change(c);
    expect_product(c, true);
    if (c.kind != MmaKind::i8) expect_product(c, false);
  }
}

TEST(Tcgen05, EveryKindMultiplies) {
  for_kinds([](Case&) {});
}
TEST(Tcgen05, HalfOfTheRowsOfTwoBlocks) {
  for (const u32 n : {32u, 160u, 256u}) {
    for_kinds([&](Case& c) { c.m = 64, c.n = n, c.halves = true; });
  }
}
TEST(Tcgen05, WithoutAccumulating) {
  for_kinds([](Case& c) { c.accumulate = false; });
}
TEST(Tcgen05, EveryOrganisationOfTheSum) {
  for (const u32 n : {8u, 40u, 256u}) {
    for_kinds([&](Case& c) { c.n = c.kind == MmaKind::i8 && n == 40 ? 48 : n; });
    for_kinds([&](Case& c) { c.m = 64, c.n = c.kind == MmaKind::i8 && n == 40 ? 48 : n; });
  }
  for (const u32 m : {32u, 64u, 128u}) {
    for (const u32 n : {64u, 128u, 256u}) {
      for_kinds([&](Case& c) { c.m = m, c.n = n, c.ws = true; });
    }
  }
}
TEST(Tcgen05, TransposedOperands) {
  for_kinds([](Case& c) { c.transpose_a = true; });
  for_kinds([](Case& c) { c.transpose_b = true; });
}
TEST(Tcgen05, NegatedOperands) {
  for_kinds([](Case& c) { c.negate_a = c.kind != MmaKind::i8; });
  for_kinds([](Case& c) { c.negate_b = c.kind != MmaKind::i8; });
}
TEST(Tcgen05, TheSumThatIsAddedToIsScaled) {
  for_kinds([](Case& c) { c.scale = c.kind == MmaKind::f16 || c.kind == MmaKind::tf32 ? 1 : 0; });
}

TEST(Tcgen05, DisabledLanesStayAsTheyAre) {
  Product product;
  product.kind = MmaKind::f16;
  product.shape = {128, 8, 16, SumType::f32, ElementType::f16, ElementType::f16};
  product.disabled[0] = u64{1} << 5;
  TensorMemory tensor;
  tensor.allocate({0, 32, 0, 0});
  std::vector<std::byte> bytes(128 * operand_row);
  const std::vector<std::uint8_t> defined(128);
  multiply(product, bytes.data(), defined.data(), bytes.data(), defined.data(), Sums::exact,
           tensor);
  EXPECT_EQ(tensor.undefined(5, 0), 0xf);
  EXPECT_EQ(tensor.undefined(4, 7), 0);
  EXPECT_EQ(tensor.undefined(6, 0), 0);
}

TEST(Tcgen05, UndefinedRowsAndColumnsStayAmongThemselves) {
  Product product;
  product.kind = MmaKind::f16;
  product.shape = {128, 16, 16, SumType::f32, ElementType::f16, ElementType::f16};
  TensorMemory tensor;
  tensor.allocate({0, 32, 0, 0});
  std::vector<std::byte> bytes(128 * operand_row);
  std::vector<std::uint8_t> a(128), b(16);
  a[3] = 1;
  b[9] = 1;
  multiply(product, bytes.data(), a.data(), bytes.data(), b.data(), Sums::exact, tensor);
  for (u32 m = 0; m < 128; ++m) {
    for (u32 n = 0; n < 16; ++n) {
      EXPECT_EQ(tensor.undefined(m, n) != 0, m == 3 || n == 9) << m << ' ' << n;
    }
  }
}

// --- moves --------------------------------------------------------------------------------------

// A warp stores 32 lanes of `columns` columns, lane l's column c as 1000 l + c, and loads them in
// another shape: what register r of each lane is.
std::vector<u32> loaded(const std::string& shape, int times, int registers, int columns,
                        const std::string& more = "") {
  std::string text =
      ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .b32 %r<400>;\n.reg .b64 %d<4>;\n.shared .align 4 .b32 base;\n"
      "mov.u32 %r0, base;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 512;\n"
      "ld.shared.b32 %r1, [%r0];\nmov.u32 %r2, %tid.x;\nmul.lo.u32 %r3, %r2, 1000;\n";
  for (int c = 0; c < columns; ++c) {
    text += "add.u32 %r4, %r3, " + std::to_string(c) + ";\nadd.u32 %r5, %r1, " + std::to_string(c) +
            ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r4};\n";
  }
  text += "tcgen05.wait::st.sync.aligned;\ntcgen05.ld.sync.aligned." + shape + ".x" +
          std::to_string(times) + ".b32 {";
  for (int r = 0; r < registers; ++r) {
    text += (r ? ", %r" : "%r") + std::to_string(10 + r);
  }
  text += "}, [%r1]" + more +
          ";\ntcgen05.wait::ld.sync.aligned;\nld.param.u64 %d0, [out];\n"
          "mad.wide.u32 %d1, %r2, 4, %d0;\n";
  for (int r = 0; r < registers; ++r) {
    text +=
        "st.global.u32 [%d1+" + std::to_string(128 * r) + "], %r" + std::to_string(10 + r) + ";\n";
  }
  text += "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 512;\nret;\n}\n";
  Job job;
  job.program = {"moves", text};
  job.launch.block.x = 32;
  job.buffers.push_back({"OUT", DType::u32, {registers * 32}, {}, true});
  job.buffers[0].bytes.resize(static_cast<std::size_t>(registers) * 128);
  job.arguments = {Argument::pointer(0)};
  Outcome<Machine> machine = Machine::load(job);
  EXPECT_TRUE(machine.ok()) << machine.error().sentence;
  if (!machine.ok()) return {};
  EXPECT_EQ(machine->run(~u64{0}), RunState::done);
  for (const Report& r : machine->reports()) ADD_FAILURE() << r.sentence;
  std::vector<u32> out(static_cast<std::size_t>(registers) * 32);
  std::memcpy(out.data(), machine->buffers()[0].bytes.data(), out.size() * 4);
  return out;
}

// CuTe's DstLayout of the shape at x1, in bits of rows side by side: (lane, bit) to the bit;
// repeated along the columns.
void expect_shape(const std::string& name, const Layout& lane_and_word, int row_words, int words) {
  for (const int times : {1, 2, 4}) {
    const int registers = words * times;
    const std::vector<u32> got = loaded(name, times, registers, row_words * times);
    ASSERT_EQ(got.size(), static_cast<std::size_t>(registers) * 32) << name;
    for (int r = 0; r < registers; ++r) {
      for (int l = 0; l < 32; ++l) {
        const std::int64_t word = lane_and_word(l + 32 * (r % words));
        const std::int64_t row = word / row_words,
                           column = word % row_words + r / words * row_words;
        ASSERT_EQ(got[static_cast<std::size_t>(r * 32 + l)], row * 1000 + column)
            << name << " x" << times << " lane " << l << " register " << r;
      }
    }
  }
}

TEST(Tcgen05, LoadsAreCutesLayouts) {
  // Copy_Traits<SM100_TMEM_LOAD_...1x>::DstLayout, in words of 32 bits instead of bits.
  const auto tuple = [](auto... n) { return make_tuple_of(n...); };
  expect_shape("32x32b", *make_layout(tuple(32, 1), tuple(1, 1)), 1, 1);
  expect_shape("16x64b", *make_layout(tuple(tuple(2, 2, 8), 1), tuple(tuple(16, 1, 2), 1)), 2, 1);
  expect_shape("16x128b", *make_layout(tuple(tuple(4, 8), 2), tuple(tuple(1, 4), 32)), 4, 2);
  expect_shape("16x256b",
               *make_layout(tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(2, 8), tuple(1, 64))), 8,
               4);
}

TEST(Tcgen05, TheSplitShapeTakesTwoPlaces) {
  const std::vector<u32> got = loaded("16x32bx2", 2, 2, 8, ", 5");
  ASSERT_EQ(got.size(), 64u);
  for (u32 r = 0; r < 2; ++r) {
    for (u32 l = 0; l < 32; ++l) {
      EXPECT_EQ(got[r * 32 + l], l % 16 * 1000 + r + (l < 16 ? 0 : 5)) << l << ' ' << r;
    }
  }
}

// --- columns ------------------------------------------------------------------------------------

// Two blocks on one processor, each of which allocates so many columns, one allocation after the
// other, and gives them back in the end.
std::pair<RunState, std::vector<Report>> sharing(const std::vector<int>& allocations) {
  std::string text =
      ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .b32 %r<40>;\n.shared .align 4 .b32 base;\nmov.u32 %r0, base;\n";
  const std::string group = ".cta_group::1.sync.aligned";
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    const std::string reg = "%r" + std::to_string(i + 1);
    text += "tcgen05.alloc" + group + ".shared::cta.b32 [%r0], " + std::to_string(allocations[i]) +
            ";\nld.shared.b32 " + reg + ", [%r0];\n";
  }
  // The other block gets a turn while this one has them.
  text +=
      "mov.u32 %r30, 0;\nSPIN:\nadd.u32 %r30, %r30, 1;\nsetp.lt.u32 %p0, %r30, 200;\n"
      "@%p0 bra SPIN;\n";
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    text += "tcgen05.dealloc" + group + ".b32 %r" + std::to_string(i + 1) + ", " +
            std::to_string(allocations[i]) + ";\n";
  }
  text += "ret;\n}\n";
  text.replace(text.find(".shared .align"), 0, ".reg .pred %p<2>;\n");
  Job job;
  job.program = {"sharing", text};
  job.launch.grid.x = 2;
  job.launch.block.x = 32;
  Options options;
  options.processors = 1;
  options.block_turn = 3;
  Outcome<Machine> machine = Machine::load(job, options);
  EXPECT_TRUE(machine.ok()) << machine.error().sentence;
  const RunState state = machine->run(~u64{0});
  return {state, machine->reports()};
}

TEST(Tcgen05, BlocksOfAProcessorShareItsColumns) {
  for (const std::vector<int>& allocations :
       {std::vector<int>{256}, std::vector<int>{512}, std::vector<int>{128, 32}}) {
    const auto [state, reports] = sharing(allocations);
    EXPECT_EQ(state, RunState::done);
    EXPECT_TRUE(reports.empty()) << reports[0].sentence;
  }
}

// A kernel that takes it for granted that TMEM's columns begin at 0: an order draws where they do,
// and says so; it need not.
TEST(Tcgen05, AnOrderDrawsWhereColumnsBegin) {
  Job job;
  job.program = {"granted",
                 ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
                 ".reg .b32 base;\n.reg .pred moved;\n.shared .align 4 .b32 at;\n"
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 32;\n"
                 "ld.shared.b32 base, [at];\nsetp.ne.u32 moved, base, 0;\n@moved trap;\n"
                 "tcgen05.dealloc.cta_group::1.sync.aligned.b32 base, 32;\nret;\n}\n"};
  job.launch.grid.x = 1;
  job.launch.block.x = 32;
  int stopped = 0;
  for (u64 seed = 1; seed <= 8; ++seed) {
    for (const bool first : {false, true}) {
      Options options;
      options.schedule = seed;
      options.first_columns = first;
      Outcome<Machine> machine = Machine::load(job, options);
      ASSERT_TRUE(machine.ok()) << machine.error().sentence;
      if (machine->run(~u64{0}) == RunState::done) continue;
      ASSERT_FALSE(first) << machine->reports().back().sentence;
      EXPECT_NE(machine->reports().back().sentence.find("--first-columns keeps it"),
                std::string::npos)
          << machine->reports().back().sentence;
      ++stopped;
    }
  }
  EXPECT_GE(stopped, 4) << "32 columns of 512 begin at 0 in one order of 16";
}

TEST(Tcgen05, BlocksThatWaitForEachOthersColumnsAreADeadlock) {
  const auto [state, reports] = sharing({256, 256});
  EXPECT_EQ(state, RunState::fault);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().kind, "deadlock");
  EXPECT_NE(reports.back().sentence.find("for columns of TMEM"), std::string::npos)
      << reports.back().sentence;
}

}  // namespace
}  // namespace tilescope::sim
