// tcgen05.mma with scale factors of blocks (PTX ISA 9.7.16.10.7): every kind, size of block, ID and
// type, of one CTA and of two, A in shared memory and in TMEM; the factors come by tcgen05.cp. What
// must come out is calculated from the numbers of rows and columns alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "core/numeric/small_float.h"
#include "core/sim/machine/machine.h"
#include "core/sim/matrix/sums.h"
#include "core/sim/tcgen05/product.h"
#include "tests/sanitized.h"
#include "tests/sim/tensor_kernel.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using test::filled;

// Where the images of a CTA are in its shared memory, and all in TMEM.
constexpr u32 b_image = 8192, a_scale_image = 16384, b_scale_image = 17408, image_bytes = 20480;

// GROUP is .cta_group::1 or 2; TRANSFERS are copies into TMEM, by one thread; FIRST and SECOND the
// products, to which D is added the second time. N columns of D are stored: as many in OUT for each
// lane of each CTA.
const char* const kernel = R"(
.version 8.8
.target TARGET
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 columns)
{
IMAGES
  tcgen05.fence::before_thread_sync;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  tcgen05.fence::after_thread_sync;
  ld.shared.b32 %r1, [base];
  cvt.u64.u32 %d6, %r10;
  and.b64 %d6, %d6, 0x3ffff;
  shr.u64 %d6, %d6, 4;
  add.u64 %d1, %d6, A_DESCRIPTOR;
  add.u64 %d2, %d6, B_DESCRIPTOR;
  add.u64 %d3, %d6, A_SCALES;
  add.u64 %d4, %d6, B_SCALES;
  add.u32 %r5, %r1, 256;
  add.u32 %r6, %r1, 264;
  add.u32 %r7, %r1, 288;
  setp.eq.u32 %p4, %r2, %r2;
  mov.b16 %h0, MASK;
  @!%p6 bra WAIT;
TRANSFERS
  mov.b32 %r14, FIRST_WORD;
  mov.b32 %r15, SECOND_WORD;
  tcgen05.mmaGROUP.KIND [%r1], A_OPERAND, %d2, %r14, [%r5], [%r6], !%p4;
  tcgen05.mmaGROUP.KIND [%r1], A_OPERAND, %d2, %r15, [%r5], [%r6], %p4;
  tcgen05.commitGROUP.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r20], %h0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r20], 0;
  @!%p3 bra WAIT;
  tcgen05.fence::after_thread_sync;
  ld.param.u32 %r30, [columns];
  ld.param.u64 %d0, [out];
  mad.lo.u32 %r31, %r9, 128, %r2;
  mul.lo.u32 %r31, %r31, %r30;
  mad.wide.u32 %d0, %r31, 4, %d0;
  and.b32 %r4, %r2, 96;
  shl.b32 %r4, %r4, 16;
  add.u32 %r4, %r4, %r1;
  mov.u32 %r32, 0;
STORE:
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r33, %r34, %r35, %r36, %r37, %r38, %r39, %r40}, [%r4];
  tcgen05.wait::ld.sync.aligned;
  st.global.v4.u32 [%d0], {%r33, %r34, %r35, %r36};
  st.global.v4.u32 [%d0+16], {%r37, %r38, %r39, %r40};
  add.u64 %d0, %d0, 32;
  add.u32 %r4, %r4, 8;
  add.u32 %r32, %r32, 8;
  setp.lt.u32 %p5, %r32, %r30;
  @%p5 bra STORE;
  tcgen05.fence::before_thread_sync;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @%p0 tcgen05.deallocGROUP.sync.aligned.b32 %r1, 512;
  ret;
}
)";

struct Scaled {
  std::string kind = "mxf8f6f4", vectors;  // ".scale_vec::1X"
  ElementType a = ElementType::e4m3, b = ElementType::e4m3;
  u32 m = 128, n = 64, block = 32;
  bool pair = false, a_in_tmem = false, e4m3_scales = false, negate_a = false;
  bool fast = false;
  bool ultra = false;  // K 96

  bool packed() const { return kind != "mxf8f6f4"; }
  u32 k() const { return ultra ? 96 : packed() ? 64 : 32; }
  u32 row_bytes() const { return ultra ? 48 : 32; }
  u32 factors() const { return k() / block; }  // of a row, in one product
  u32 ctas() const { return pair ? 2 : 1; }
  bool halves() const { return pair && m == 128; }
  // Bytes of scale factors that a row has: one cell, or two.
  u32 stored() const { return ultra ? 8 : 4; }
  // Columns of B's first cells: those of 128 or 256 rows, or of half as many.
  u32 chunk() const { return (n > 128 ? 8 : 4) / (halves() ? 2 : 1); }
};

// The numbers: elements as patterns, and of each row four bytes of scale factors, of which a
// product takes some.
struct Numbers {
  std::vector<u32> a, b;
  std::vector<std::uint8_t> a_scales, b_scales;

  Numbers(const Scaled& c, u32 seed) {
    std::mt19937 random(seed);
    const auto element = [&](ElementType type) {
      // Small numbers, of which no sum is rounded.
      constexpr double values[] = {0, 0.5, 1, 1.5, 2, 3, -1, -2, -0.5};
      return encode(format_of(type), values[random() % std::size(values)]);
    };
    for (u32 i = 0; i < c.m * c.k(); ++i) a.push_back(element(c.a));
    for (u32 i = 0; i < c.n * c.k(); ++i) b.push_back(element(c.b));
    const auto scale = [&]() -> std::uint8_t {
      if (!c.e4m3_scales) return static_cast<std::uint8_t>(124 + random() % 7);
      constexpr double values[] = {0.5, 1, 1.5, 2, 3, 0};
      return static_cast<std::uint8_t>(encode(format_e4m3, values[random() % std::size(values)]));
    };
    for (u32 i = 0; i < c.stored() * c.m; ++i) a_scales.push_back(scale());
    for (u32 i = 0; i < c.stored() * c.n; ++i) b_scales.push_back(scale());
  }
};

double scale_value(const Scaled& c, std::uint8_t pattern) {
  return c.e4m3_scales ? decode(format_e4m3, pattern) : std::ldexp(1.0, pattern - 127);
}

// Byte IDs of the two products.
std::pair<u32, u32> ids(const Scaled& c, bool second) {
  if (c.factors() == 1) return second ? std::pair(3u, 0u) : std::pair(1u, 2u);
  if (c.factors() == 3) return second ? std::pair(3u, 2u) : std::pair(0u, 1u);
  if (c.factors() == 6) return second ? std::pair(2u, 0u) : std::pair(0u, 2u);
  if (c.factors() == 2) return second ? std::pair(2u, 0u) : std::pair(0u, 2u);
  return {0, 0};
}

// The elements of one operand as the products take them: scaled, first those of the one, then of
// the other.
std::vector<double> scaled_elements(const Scaled& c, bool of_a, const Numbers& x) {
  const std::vector<u32>& patterns = of_a ? x.a : x.b;
  const std::vector<std::uint8_t>& scales = of_a ? x.a_scales : x.b_scales;
  const FloatFormat format = format_of(of_a ? c.a : c.b);
  std::vector<double> out;
  for (u32 row = 0; row < (of_a ? c.m : c.n); ++row) {
    for (const bool second : {false, true}) {
      const u32 id = of_a ? ids(c, second).first : ids(c, second).second;
      for (u32 k = 0; k < c.k(); ++k) {
        const double value = decode(format, patterns[row * c.k() + k]);
        out.push_back((of_a && c.negate_a ? -value : value) *
                      scale_value(c, scales[c.stored() * row + id + k / c.block]));
      }
    }
  }
  return out;
}

// Rows [first, first + rows) of a matrix without swizzle: pieces of 16 bytes of one row are
// rows * 16 apart, rows 16. Elements of less than 8 bits are 16 to a piece, or two to a byte.
void put_matrix(const Scaled& c, ElementType type, const std::vector<u32>& elements, u32 first,
                u32 rows, u32 line, u32 lines, std::vector<std::byte>& image, u32 at) {
  const u32 bits = static_cast<u32>(bits_of(type)), a_piece = c.packed() ? 32 : 16;
  for (u32 i = 0; i < rows; ++i) {
    for (u32 k = 0; k < c.k(); ++k) {
      const u32 piece = k / a_piece, bit = k % a_piece * bits;
      const u32 v = elements[(first + i) * c.k() + k];
      for (u32 b = 0; b < bits; ++b) {
        if (!(v >> b & 1)) continue;
        image[at + piece * lines * 16 + (line + i) * 16 + (bit + b) / 8] |= std::byte{1}
                                                                            << (bit + b) % 8;
      }
    }
  }
}

// Scale factors of rows [first, first + rows): 512 bytes for four of each of 128 rows, those of row
// r at (r % 32) * 16 + r / 32 * 4 (CUTLASS's basic chunk), from line `line` of 16 bytes on; the
// next four `apart` bytes behind.
void put_scales(const Scaled& c, const std::vector<std::uint8_t>& scales, u32 first, u32 rows,
                u32 line, u32 apart, std::vector<std::byte>& image, u32 at) {
  for (u32 r = 0; r < rows; ++r) {
    for (u32 cell = 0; cell < c.stored() / 4; ++cell) {
      std::memcpy(
          &image[at + cell * apart + r / 128 * 512 + (line + r % 32) * 16 + r % 128 / 32 * 4],
          &scales[c.stored() * (first + r) + 4 * cell], 4);
    }
  }
}

std::vector<std::byte> image_of(const Scaled& c, const Numbers& x, u32 cta) {
  std::vector<std::byte> out(image_bytes);
  const u32 a_rows = c.m / c.ctas(), b_rows = c.n / c.ctas();
  // Where it is copied into TMEM A has a line for each lane: with 64 rows two.
  const u32 lines = c.a_in_tmem ? 128 : a_rows;
  for (u32 line = 0; line < lines; line += a_rows) {
    put_matrix(c, c.a, x.a, cta * a_rows, a_rows, line, lines, out, 0);
  }
  put_matrix(c, c.b, x.b, cta * b_rows, b_rows, 0, b_rows, out, b_image);
  put_scales(c, x.a_scales, cta * a_rows, a_rows, 0, 512, out, a_scale_image);
  if (c.halves()) {
    put_scales(c, x.b_scales, 0, c.n / 2, 0, 1024, out, b_scale_image);
    put_scales(c, x.b_scales, c.n / 2, c.n / 2, 32, 1024, out, b_scale_image);
  } else {
    put_scales(c, x.b_scales, 0, c.n, 0, c.n > 128 ? 1024 : 512, out, b_scale_image);
  }
  return out;
}

u32 type_code(const Scaled& c, ElementType type) {
  if (c.packed()) return 1;
  switch (type) {
    case ElementType::e4m3:
      return 0;
    case ElementType::e5m2:
      return 1;
    case ElementType::e2m3:
      return 3;
    case ElementType::e3m2:
      return 4;
    default:
      return 5;
  }
}

// Tables 43 and 44 of the PTX ISA.
u32 instruction(const Scaled& c, bool second) {
  const auto [a_id, b_id] = ids(c, second);
  return b_id << 4 | type_code(c, c.a) << 7 | type_code(c, c.b) << 10 | u32{c.negate_a} << 13 |
         c.n / 8 << 17 | u32{!c.e4m3_scales} << 23 | c.m / 128 << 27 | a_id << 29 |
         u32{c.ultra} << 31;
}

std::string text_of(u64 value) {
  return std::to_string(value);
}

// No swizzle; the next 8 lines 128 bytes further, the next piece of 16 bytes of a line `leading`.
u64 descriptor(u32 at, u32 leading) {
  return u64{at >> 4} | u64{leading >> 4} << 16 | u64{128 >> 4} << 32 | u64{1} << 46;
}

std::string program_of(const Scaled& c) {
  const std::string group = c.pair ? ".cta_group::2" : ".cta_group::1";
  // Copies of the lines at an offset from the images of scale factors, to a column.
  std::string transfers;
  const auto copy = [&](const char* form, const char* column, u32 to, const char* image, u32 from) {
    transfers += "  add.u32 %r8, " + std::string(column) + ", " + std::to_string(to) + ";\n";
    transfers += "  add.u64 %d5, " + std::string(image) + ", " + std::to_string(from / 16) + ";\n";
    transfers += "  tcgen05.cpGROUP." + std::string(form) + " [%r8], %d5;\n";
  };
  for (u32 cell = 0; cell < c.stored() / 4; ++cell) {
    copy("32x128b.warpx4", "%r5", 4 * cell, "%d3", 512 * cell);
    if (c.halves()) {
      copy("64x128b.warpx2::01_23", "%r6", c.chunk() * cell, "%d4", 1024 * cell);
      continue;
    }
    for (u32 half = 0; half < (c.n > 128 ? 2u : 1u); ++half) {
      copy("32x128b.warpx4", "%r6", c.chunk() * cell + 4 * half, "%d4",
           (c.n > 128 ? 1024 : 512) * cell + 512 * half);
    }
  }
  const int bits = bits_of(c.a);
  const char* unpacked = c.packed() || bits == 8 ? ""
                         : bits == 6             ? ".b8x16.b6x16_p32"
                                                 : ".b8x16.b4x16_p64";
  if (c.a_in_tmem)
    transfers += std::string("  tcgen05.cpGROUP.128x256b") + unpacked + " [%r7], %d1;\n";
  std::string text = filled(kernel, "IMAGES\n", test::images_in_shared(image_bytes));
  if (c.a_in_tmem && c.ultra) copy("128x128b", "%r7", 8, "%d1", 2 * 128 * 16);
  text = filled(text, "TRANSFERS", transfers);
  text = filled(text, "TARGET", c.ultra ? "sm_103a" : "sm_100a");
  text = filled(text, "GROUP", group);
  text = filled(text, "KIND", "kind::" + c.kind + ".block_scale" + c.vectors);
  text = filled(text, "A_OPERAND", c.a_in_tmem ? "[%r7]" : "%d1");
  text = filled(text, "A_DESCRIPTOR",
                text_of(descriptor(0, (c.a_in_tmem ? 128 : c.m / c.ctas()) * 16)));
  text = filled(text, "B_DESCRIPTOR", text_of(descriptor(b_image, c.n / c.ctas() * 16)));
  text = filled(text, "A_SCALES", text_of(descriptor(a_scale_image, 0)));
  text = filled(text, "B_SCALES", text_of(descriptor(b_scale_image, 0)));
  text = filled(text, "FIRST_WORD", text_of(instruction(c, false)));
  text = filled(text, "SECOND_WORD", text_of(instruction(c, true)));
  return filled(text, "MASK", c.pair ? "3" : "1");
}

void expect_scaled(const Scaled& c) {
  SCOPED_TRACE(testing::Message() << c.kind << c.vectors << " " << c.m << "x" << c.n << " A "
                                  << static_cast<int>(c.a) << " B " << static_cast<int>(c.b)
                                  << (c.pair ? " pair" : "") << (c.a_in_tmem ? " tmem" : "")
                                  << (c.fast ? " fast" : ""));
  const Numbers x(c, c.m * 1000 + c.n);
  const u32 columns = c.halves() ? c.n / 2 : c.n;
  Job job;
  job.program = {"scaled", program_of(c)};
  job.launch.block.x = 128;
  job.launch.grid.x = c.ctas();
  job.launch.cluster = Dim3{c.ctas(), 1, 1};
  const std::uint64_t words = u64{c.ctas()} * 128 * columns;
  job.buffers.push_back({"OUT", DType::u32, {static_cast<std::int64_t>(words)}, {}, true});
  job.buffers[0].bytes.resize(words * 4);
  job.buffers.push_back(
      {"IN", DType::u32, {static_cast<std::int64_t>(c.ctas() * image_bytes / 4)}, {}, false});
  for (u32 cta = 0; cta < c.ctas(); ++cta) {
    const std::vector<std::byte> image = image_of(c, x, cta);
    job.buffers[1].bytes.insert(job.buffers[1].bytes.end(), image.begin(), image.end());
  }
  job.arguments = {Argument::pointer(0), Argument::pointer(1),
                   Argument::i32(static_cast<std::int32_t>(columns))};
  Options options;
  options.exact = !c.fast;
  Outcome<Machine> machine = Machine::load(job, options);
  ASSERT_TRUE(machine.ok()) << machine.error().sentence << machine.error().where;
  const RunState state = machine->run(~u64{0});
  for (const Report& r : machine->reports()) {
    EXPECT_EQ(r.weight, Weight::note) << r.sentence;
  }
  ASSERT_EQ(state, RunState::done);
  const std::vector<std::byte> bytes = machine->buffers()[0].bytes;
  const std::vector<double> a = scaled_elements(c, true, x), b = scaled_elements(c, false, x);
  for (u32 m = 0; m < c.m; ++m) {
    for (u32 n = 0; n < c.n; ++n) {
      const u32 a_rows = c.m / c.ctas(), cta = m / a_rows;
      const u32 lane = m % a_rows + (n >= columns ? 64 : 0);
      double want = 0;
      for (u32 k = 0; k < 2 * c.k(); ++k) want += a[m * 2 * c.k() + k] * b[n * 2 * c.k() + k];
      float got;
      std::memcpy(&got, &bytes[((cta * 128 + lane) * columns + n % columns) * 4], 4);
      ASSERT_EQ(got, want) << m << ' ' << n;
    }
  }
}

// Every size of block by both of its names, and none where it may be left out.
std::vector<Scaled> forms() {
  std::vector<Scaled> out;
  for (const char* vectors : {"", ".scale_vec::1X", ".block32"})
    out.push_back({"mxf8f6f4", vectors});
  const auto four_bits = [&](const char* kind, const char* vectors, u32 block, bool e4m3) {
    Scaled c{kind, vectors, ElementType::e2m1, ElementType::e2m1};
    c.block = block;
    c.e4m3_scales = e4m3;
    out.push_back(c);
  };
  for (const char* vectors : {"", ".scale_vec::2X", ".block32"}) {
    four_bits("mxf4", vectors, 32, false);
    if (*vectors) four_bits("mxf4nvf4", vectors, 32, false);
  }
  for (const char* vectors : {".scale_vec::4X", ".block16"}) {
    four_bits("mxf4nvf4", vectors, 16, false);
    four_bits("mxf4nvf4", vectors, 16, true);
  }
  return out;
}

TEST(BlockScale, EveryFormMultiplies) {
  for (const Scaled& c : forms()) expect_scaled(c);
}

TEST(BlockScale, EveryWidth) {
  for (Scaled c : forms()) {
    for (const u32 n : {8u, 40u, 128u, 136u, 256u}) {
      c.n = n;
      expect_scaled(c);
    }
  }
}

TEST(BlockScale, EveryTypeOfElement) {
  using T = ElementType;
  for (const T a : {T::e4m3, T::e5m2, T::e2m3, T::e3m2, T::e2m1}) {
    for (const T b : {T::e4m3, T::e5m2, T::e2m3, T::e3m2, T::e2m1}) {
      expect_scaled({"mxf8f6f4", "", a, b});
    }
  }
}

TEST(BlockScale, AInTmem) {
  for (Scaled c : forms()) {
    c.a_in_tmem = true;
    expect_scaled(c);
  }
  using T = ElementType;
  for (const T a : {T::e5m2, T::e2m3, T::e3m2, T::e2m1}) {
    Scaled c{"mxf8f6f4", "", a, T::e4m3};
    c.a_in_tmem = true;
    expect_scaled(c);
  }
}

TEST(BlockScale, TwoCtas) {
  for (Scaled c : forms()) {
    c.pair = true;
    for (const u32 m : {128u, 256u}) {
      for (const u32 n : {16u, 64u, 208u, 256u}) {
        if (test::sanitized && n > 16) continue;
        c.m = m;
        c.n = n;
        expect_scaled(c);
      }
    }
  }
}

TEST(BlockScale, TwoCtasWithAInTmem) {
  for (Scaled c : forms()) {
    c.pair = true;
    c.a_in_tmem = true;
    for (const u32 m : {128u, 256u}) {
      c.m = m;
      expect_scaled(c);
    }
  }
}

// K 96, which sm_103a has: rows of 48 bytes, and factors in two cells.
TEST(BlockScale, SixFactorsOrThreeWithK96) {
  for (Scaled c : forms()) {
    if (!c.packed()) continue;
    c.ultra = true;
    for (const u32 n : {16u, 128u, 160u}) {
      c.n = n;
      expect_scaled(c);
    }
    c.a_in_tmem = true;
    expect_scaled(c);
    c.pair = true;
    for (const u32 n : {16u, 128u, 256u}) {
      c.m = 256;
      c.n = n;
      expect_scaled(c);
    }
    c.m = 128;
    c.a_in_tmem = false;
    expect_scaled(c);
  }
}

TEST(BlockScale, NegatedA) {
  for (Scaled c : forms()) {
    c.negate_a = true;
    expect_scaled(c);
  }
}

// A multiply-add with scale factors takes not much longer than one of f8 without: 0.9 to 1.4 times
// as long by g++ (`./dev bench` says), and here twice at most, since machines are busy. Other
// compilers and sanitizers do not build what is quick.
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
double time_of(MmaKind kind, u32 scale_block, bool exact) {
  Product product;
  product.kind = kind;
  MmaShape& s = product.shape;
  s = {128, 256, is_packed(kind) ? 64u : 32u};
  s.a = s.b = is_packed(kind) ? ElementType::e2m1 : ElementType::e4m3;
  s.scale_block = scale_block;
  s.scale_format = scale_block == 16 ? ScaleFormat::ue4m3 : ScaleFormat::ue8m0;
  std::vector<std::byte> operand(256 * operand_row, std::byte{0x35}), scales(256 * 4);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    scales[i] = static_cast<std::byte>((scale_block == 16 ? 0x30 : 120) + i % 16);
  }
  product.a_scales = product.b_scales = scales.data();
  const std::vector<std::uint8_t> defined(256);
  TensorMemory memory;
  memory.allocate({0, 256, 0, 0});
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const std::clock_t start = std::clock();  // of this process, so that others do not count
    multiply(product, operand.data(), defined.data(), operand.data(), defined.data(),
             exact ? Sums::exact : Sums::fast, memory);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best / s.k;
}

TEST(BlockScale, TakesHardlyLongerThanWithoutFactors) {
  for (const bool exact : {true, false}) {
    const double dense = time_of(MmaKind::f8f6f4, 0, exact);
    EXPECT_LT(time_of(MmaKind::mxf8f6f4, 32, exact), 2 * dense) << exact;
    EXPECT_LT(time_of(MmaKind::mxf4, 32, exact), 2 * dense) << exact;
    EXPECT_LT(time_of(MmaKind::mxf4nvf4, 16, exact), 2 * dense) << exact;
  }
}
#endif

TEST(BlockScale, ByFusedMultiplyAdd) {
  for (Scaled c : forms()) {
    c.fast = true;
    expect_scaled(c);
    c.pair = true;
    expect_scaled(c);
  }
}

}  // namespace
}  // namespace tilescope::sim
