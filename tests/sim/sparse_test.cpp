// tcgen05.mma.sp (PTX ISA 9.7.16.10.8): every kind, M and selector, with and without .ws, of one
// CTA and of two, A in shared memory and in TMEM, with scale factors; and .ashift. The metadata are
// laid by CuTe's tmem_e_frg and tmem_e_frg_ws as they are written there, stride by stride; what
// must come out is calculated from the numbers of A with its zeros.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/numeric/small_float.h"
#include "core/sim/machine/machine.h"
#include "core/sim/matrix/sums.h"
#include "tests/sim/tensor_kernel.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using test::filled;

// Where the images of a CTA are in its shared memory; the metadata are in a buffer of their own.
constexpr u32 b_at = 8192, a_scales_at = 24576, b_scales_at = 25088, image_size = 26624;
constexpr u32 d_columns = 64;

// D is in columns 0 to 63 of TMEM, A from 256 on where it is there, the metadata from META_COLUMN
// on, scale factors from 296 and 304 on. Two products: the second adds.
const char* const kernel = R"(
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 meta)
{
IMAGES
  bar.sync 0;
  ld.shared.b32 %r1, [base];
  and.b32 %r4, %r2, 96;
  shl.b32 %r4, %r4, 16;
  add.u32 %r4, %r4, %r1;
  ld.param.u64 %d7, [meta];
  mad.lo.u32 %r16, %r9, 128, %r2;
  mad.wide.u32 %d7, %r16, 16, %d7;
  ld.global.v4.u32 {%r33, %r34, %r35, %r36}, [%d7];
  add.u32 %r17, %r4, META_COLUMN;
  tcgen05.st.sync.aligned.32x32b.x4.b32 [%r17], {%r33, %r34, %r35, %r36};
  mov.b32 %r13, 0;
  tcgen05.st.sync.aligned.32x32b.x64.b32 [%r4], {ZEROS};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  tcgen05.fence::after_thread_sync;
  cvt.u64.u32 %d6, %r10;
  and.b64 %d6, %d6, 0x3ffff;
  shr.u64 %d6, %d6, 4;
  add.u64 %d1, %d6, A_DESCRIPTOR;
  add.u64 %d2, %d6, B_DESCRIPTOR;
  add.u64 %d3, %d6, A_SCALES;
  add.u64 %d4, %d6, B_SCALES;
  add.u32 %r5, %r1, 296;
  add.u32 %r6, %r1, 304;
  add.u32 %r7, %r1, 256;
  add.u32 %r8, %r1, META_COLUMN;
  setp.eq.u32 %p4, %r2, %r2;
  mov.b16 %h0, MASK;
  @!%p6 bra WAIT;
TRANSFERS
  mov.b32 %r14, WORD;
  PRODUCT_ONE
  PRODUCT_TWO
  tcgen05.commitGROUP.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r20], %h0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r20], 0;
  @!%p3 bra WAIT;
  tcgen05.fence::after_thread_sync;
  ld.param.u64 %d0, [out];
  mad.lo.u32 %r31, %r9, 128, %r2;
  mul.lo.u32 %r31, %r31, 64;
  mad.wide.u32 %d0, %r31, 4, %d0;
  mov.u32 %r32, 0;
STORE:
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r33, %r34, %r35, %r36, %r37, %r38, %r39, %r40}, [%r4];
  tcgen05.wait::ld.sync.aligned;
  st.global.v4.u32 [%d0], {%r33, %r34, %r35, %r36};
  st.global.v4.u32 [%d0+16], {%r37, %r38, %r39, %r40};
  add.u64 %d0, %d0, 32;
  add.u32 %r4, %r4, 8;
  add.u32 %r32, %r32, 8;
  setp.lt.u32 %p5, %r32, 64;
  @%p5 bra STORE;
  tcgen05.fence::before_thread_sync;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @%p0 tcgen05.deallocGROUP.sync.aligned.b32 %r1, 512;
  ret;
}
)";

struct Case {
  std::string kind = "f16", vectors;
  ElementType type = ElementType::f16;
  u32 m = 128, n = 32, selector = 0;
  bool ws = false, pair = false, a_in_tmem = false, sparse = true, ashift = false;
  double special = 0;  // of B, where A's elements are not stored

  u32 ctas() const { return pair ? 2 : 1; }
  u32 rows() const { return m / ctas(); }  // of A in one CTA
  bool packed() const { return kind == "mxf4" || kind == "mxf4nvf4"; }
  bool scaled() const { return kind.starts_with("mx"); }
  u32 bits() const { return packed() ? 4 : std::max(8u, static_cast<u32>(bits_of(type))); }
  u32 stored() const { return 256 / bits(); }
  u32 k() const { return stored() * (sparse ? 2 : 1); }
  u32 factors() const { return vectors == ".block16" ? 4 : packed() ? 2 : 1; }
};

struct Numbers {
  std::vector<u32> a, b;   // patterns: of A those that are stored
  std::vector<u32> place;  // of each stored element of A
  std::vector<std::uint8_t> a_scales, b_scales;
  std::vector<u32> nibbles;  // the metadata, chunk by chunk
  u32 chunk = 4;             // elements of one

  Numbers(const Case& c, u32 seed) {
    std::mt19937 random(seed);
    const auto element = [&]() -> u32 {
      if (c.kind == "i8") return random() % 256;
      constexpr double values[] = {0.5, 1, 1.5, 2, 3, -1, -2, -0.5};
      return encode(format_of(c.type), values[random() % std::size(values)]);
    };
    for (u32 i = 0; i < c.m * c.stored(); ++i) a.push_back(element());
    for (u32 i = 0; i < c.n * c.k(); ++i) b.push_back(element());
    for (u32 i = 0; i < c.m * 4; ++i)
      a_scales.push_back(static_cast<std::uint8_t>(125 + random() % 4));
    for (u32 i = 0; i < c.n * 4; ++i)
      b_scales.push_back(static_cast<std::uint8_t>(125 + random() % 4));
    chunk = c.type == ElementType::tf32 ? 2 : c.packed() ? 8 : 4;
    for (u32 row = 0; row < c.m; ++row) {
      for (u32 first = 0; first < c.k(); first += c.sparse ? chunk : 1) {
        if (!c.sparse) {
          place.push_back(first);
          continue;
        }
        if (chunk == 2) {
          const u32 one = random() % 2;
          nibbles.push_back(one ? 0b1110 : 0b0100);
          place.push_back(first + one);
          continue;
        }
        constexpr u32 both[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110, 0b0110};
        const u32 say = both[random() % std::size(both)];
        nibbles.push_back(say);
        for (const u32 at : {say & 3, say >> 2}) {
          for (u32 e = 0; e < chunk / 4; ++e) place.push_back(first + at * (chunk / 4) + e);
        }
      }
    }
    if (c.special == 0) return;
    // Column 0 of the product: no number wherever row 0 of A has a zero that is not stored.
    std::vector<bool> used(c.k());
    for (u32 s = 0; s < c.stored(); ++s) used[place[s]] = true;
    for (u32 k = 0; k < c.k(); ++k) {
      if (!used[k]) b[k] = encode(format_of(c.type), c.special);
    }
  }
};

double value(const Case& c, u32 pattern) {
  if (c.kind == "i8") return static_cast<std::int8_t>(pattern);
  return decode(format_of(c.type), pattern);
}

void put_matrix(const Case& c, const std::vector<u32>& elements, u32 width, u32 first, u32 rows,
                std::vector<std::byte>& image, u32 at) {
  const u32 bits = c.packed() ? 4 : static_cast<u32>(bits_of(c.type)), in_piece = 128 / c.bits();
  for (u32 i = 0; i < rows; ++i) {
    for (u32 k = 0; k < width; ++k) {
      u32 v = elements[(first + i) * width + k];
      if (c.type == ElementType::tf32) v <<= 13;
      const u32 bit = k % in_piece * bits;
      for (u32 b = 0; b < bits; ++b) {
        if (!(v >> b & 1)) continue;
        image[at + k / in_piece * rows * 16 + i * 16 + (bit + b) / 8] |= std::byte{1}
                                                                         << (bit + b) % 8;
      }
    }
  }
}

void put_scales(const std::vector<std::uint8_t>& scales, u32 first, u32 rows,
                std::vector<std::byte>& image, u32 at) {
  for (u32 r = 0; r < rows; ++r) {
    std::memcpy(&image[at + r / 128 * 512 + r % 32 * 16 + r % 128 / 32 * 4],
                &scales[(first + r) * 4], 4);
  }
}

// The place of (m, k) by the layouts of CuTe, in units of the bits that an element of A has there:
// f16 one, tf32 two, 8 bits one, 4 bits half of one. 128 lanes, then columns of 32 bits.
u32 virtual_place(const Case& c, u32 m, u32 k) {
  if (c.kind == "f16") return m % 8 + m / 8 % 2 * 2048 + m / 16 * 16 + k % 16 * 128 + k / 16 * 8;
  if (c.kind == "tf32") return m % 8 + m / 8 % 2 * 1024 + m / 16 * 16 + k % 8 * 128 + k / 8 * 8;
  return m + 128 * k;
}

// Four words for each lane; of selector 1 the second has them.
std::vector<u32> metadata_of(const Case& c, const Numbers& x, u32 cta) {
  const bool one_column = c.kind == "f16" || c.kind == "tf32";
  std::vector<u32> out(128 * 4, 0x44444444u);
  for (u32 lane = 0; c.sparse && lane < 128; ++lane) {
    for (u32 w = 0; w < (one_column ? 1u : 2u); ++w) out[lane * 4 + c.selector + w] = 0;
  }
  if (!c.sparse) return out;
  const u32 chunks = c.k() / x.chunk;
  for (u32 m = 0; m < c.rows(); ++m) {
    for (u32 i = 0; i < chunks; ++i) {
      for (u32 bit = 0; bit < 4; ++bit) {
        if (!(x.nibbles[(cta * c.rows() + m) * chunks + i] >> bit & 1)) continue;
        const u32 at = virtual_place(c, m, i * x.chunk + bit * x.chunk / 4);
        const u32 unit = at / 128;
        const u32 to = c.kind == "tf32" ? unit * 2 + bit % 2 : c.packed() ? unit / 2 : unit;
        for (u32 copy = 0; copy < 128 / c.rows(); ++copy) {
          const u32 lane = at % 128 + copy * c.rows();
          out[lane * 4 + c.selector + to / 32] |= 1u << to % 32;
        }
      }
    }
  }
  return out;
}

u32 word_of(const Case& c) {
  const u32 type = c.type == ElementType::tf32                                   ? 2
                   : c.packed() || c.kind == "i8" || c.type == ElementType::bf16 ? 1
                   : c.type == ElementType::e2m1                                 ? 5
                                                                                 : 0;
  const u32 common = u32{c.sparse} << 2 | type << 7 | type << 10 | c.n / 8 << 17;
  if (c.scaled()) return common | 1u << 23 | c.m / 128 << 27;
  return common | c.selector | (c.kind == "i8" ? 2u : 1u) << 4 | c.m / 16 << 24;
}

u64 descriptor(u32 at, u32 leading) {
  return u64{at >> 4} | u64{leading >> 4} << 16 | u64{128 >> 4} << 32 | u64{1} << 46;
}

std::string program_of(const Case& c) {
  std::string text = filled(kernel, "IMAGES\n", test::images_in_shared(image_size)), transfers;
  const auto copy = [&](const char* form, const char* to, const char* from) {
    transfers += std::string("  tcgen05.cpGROUP.") + form + " [" + to + "], " + from + ";\n";
  };
  if (c.a_in_tmem) copy("128x256b", "%r7", "%d1");
  if (c.scaled()) {
    copy("32x128b.warpx4", "%r5", "%d3");
    copy("32x128b.warpx4", "%r6", "%d4");
  }
  const auto product = [&](bool adds, bool shifts) {
    return "tcgen05.mma" + std::string(c.ws ? ".ws" : "") + (c.sparse ? ".sp" : "") +
           "GROUP.kind::" + c.kind + (c.scaled() ? ".block_scale" + c.vectors : "") +
           (shifts ? ".ashift" : "") + " [%r1], " + (c.a_in_tmem ? "[%r7]" : "%d1") + ", %d2, " +
           (c.sparse ? "[%r8], " : "") + "%r14, " + (c.scaled() ? "[%r5], [%r6], " : "") +
           (adds ? "%p4;" : "!%p4;");
  };
  std::string zeros;
  for (u32 i = 0; i < d_columns; ++i) zeros += i ? ", %r13" : "%r13";
  text = filled(text, "ZEROS", zeros);
  text = filled(text, "TRANSFERS", transfers);
  text = filled(text, "PRODUCT_ONE", product(false, c.ashift));
  text = filled(text, "PRODUCT_TWO", product(true, false));
  text = filled(text, "GROUP", c.pair ? ".cta_group::2" : ".cta_group::1");
  text = filled(text, "META_COLUMN", "288");
  text = filled(text, "A_DESCRIPTOR", std::to_string(descriptor(0, c.rows() * 16)));
  text = filled(text, "B_DESCRIPTOR", std::to_string(descriptor(b_at, c.n / c.ctas() * 16)));
  text = filled(text, "A_SCALES", std::to_string(descriptor(a_scales_at, 0)));
  text = filled(text, "B_SCALES", std::to_string(descriptor(b_scales_at, 0)));
  text = filled(text, "WORD", std::to_string(word_of(c)));
  return filled(text, "MASK", c.pair ? "3" : "1");
}

Job job_of(const Case& c, const Numbers& x) {
  Job job;
  job.program = {"sparse", program_of(c)};
  job.launch.block.x = 128;
  job.launch.grid.x = c.ctas();
  job.launch.cluster = Dim3{c.ctas(), 1, 1};
  const std::int64_t words = std::int64_t{c.ctas()} * 128 * d_columns;
  job.buffers.push_back({"OUT", DType::u32, {words}, {}, true});
  job.buffers[0].bytes.resize(static_cast<std::size_t>(words) * 4);
  job.buffers.push_back({"IN", DType::u32, {c.ctas() * image_size / 4}, {}, false});
  job.buffers.push_back({"META", DType::u32, {c.ctas() * 512}, {}, false});
  for (u32 cta = 0; cta < c.ctas(); ++cta) {
    std::vector<std::byte> image(image_size);
    put_matrix(c, x.a, c.stored(), cta * c.rows(), c.rows(), image, 0);
    put_matrix(c, x.b, c.k(), cta * (c.n / c.ctas()), c.n / c.ctas(), image, b_at);
    put_scales(x.a_scales, cta * c.rows(), c.rows(), image, a_scales_at);
    put_scales(x.b_scales, 0, c.n, image, b_scales_at);
    job.buffers[1].bytes.insert(job.buffers[1].bytes.end(), image.begin(), image.end());
    const std::vector<u32> metadata = metadata_of(c, x, cta);
    const auto* bytes = reinterpret_cast<const std::byte*>(metadata.data());
    job.buffers[2].bytes.insert(job.buffers[2].bytes.end(), bytes, bytes + 2048);
  }
  job.arguments = {Argument::pointer(0), Argument::pointer(1), Argument::pointer(2)};
  return job;
}

// Row m of A, with its zeros, times column n of B.
double product_of(const Case& c, const Numbers& x, u32 m, u32 n) {
  double sum = 0;
  const u32 block = c.k() / c.factors();
  for (u32 s = 0; s < c.stored(); ++s) {
    const u32 k = x.place[m * c.stored() + s];
    double term = value(c, x.a[m * c.stored() + s]) * value(c, x.b[n * c.k() + k]);
    if (c.scaled()) {
      term = std::ldexp(term, x.a_scales[m * 4 + k / block] + x.b_scales[n * 4 + k / block] - 254);
    }
    sum += term;
  }
  return sum;
}

// The row of A that a lane's row becomes: one further, in each 32 lanes but the last.
u32 shifted(u32 m) {
  return m % 32 == 31 ? m : m + 1;
}

std::string name_of(const Case& c) {
  return c.kind + c.vectors + " " + std::to_string(c.m) + "x" + std::to_string(c.n) + " selector " +
         std::to_string(c.selector) + (c.ws ? " ws" : "") + (c.pair ? " pair" : "") +
         (c.a_in_tmem ? " A in TMEM" : "") + (c.sparse ? "" : " dense") +
         (c.ashift ? " ashift" : "");
}

Machine machine_of(const Case& c, const Numbers& x) {
  Outcome<Machine> machine = Machine::load(job_of(c, x), Options());
  EXPECT_TRUE(machine.ok()) << machine.error().sentence << machine.error().where;
  return std::move(*machine);
}

void expect_product(const Case& c) {
  SCOPED_TRACE(name_of(c));
  const Numbers x(c, c.m * 100 + c.n + c.selector);
  Machine machine = machine_of(c, x);
  const RunState state = machine.run(~u64{0});
  for (const Report& r : machine.reports()) EXPECT_EQ(r.weight, Weight::note) << r.sentence;
  ASSERT_EQ(state, RunState::done);
  const std::vector<std::byte> bytes = machine.buffers()[0].bytes;
  const u32 copies = c.ws ? 128 / c.m : 1, columns = c.n / copies;
  for (u32 m = 0; m < c.m; ++m) {
    for (u32 n = 0; n < c.n; ++n) {
      const u32 lane = m % c.rows() + c.rows() * (n / columns), cta = m / c.rows();
      const double want = product_of(c, x, m, n) +
                          product_of(c, x, c.ashift ? m / 32 * 32 + shifted(m % 32) : m, n);
      u32 found = 0;
      std::memcpy(&found, &bytes[((cta * 128 + lane) * d_columns + n % columns) * 4], 4);
      const double got =
          c.kind == "i8" ? static_cast<std::int32_t>(found) : decode(format_f32, found);
      ASSERT_EQ(got, want) << m << ' ' << n;
    }
  }
}

std::vector<Case> kinds() {
  using T = ElementType;
  return {{"f16"},
          {"f16", "", T::bf16},
          {"tf32", "", T::tf32},
          {"f8f6f4", "", T::e4m3},
          {"f8f6f4", "", T::e2m1},
          {"i8", "", T::s8}};
}

std::vector<Case> scaled_kinds() {
  using T = ElementType;
  return {{"mxf8f6f4", "", T::e4m3},         {"mxf8f6f4", ".scale_vec::1X", T::e4m3},
          {"mxf8f6f4", ".block32", T::e2m1}, {"mxf4", "", T::e2m1},
          {"mxf4", ".block32", T::e2m1},     {"mxf4nvf4", ".scale_vec::2X", T::e2m1},
          {"mxf4nvf4", ".block16", T::e2m1}};
}

TEST(Sparse, EveryKindMultiplies) {
  for (Case c : kinds()) {
    for (const u32 selector : {0u, 1u}) {
      if (selector && c.kind != "f16" && c.kind != "tf32") continue;
      c.selector = selector;
      expect_product(c);
    }
  }
}

TEST(Sparse, ScaleFactorsAreOfBlocksWithTheirZeros) {
  for (const Case& c : scaled_kinds()) expect_product(c);
}

TEST(Sparse, WeightStationary) {
  for (Case c : kinds()) {
    c.ws = true;
    for (const u32 m : {32u, 64u, 128u}) {
      c.m = m;
      c.n = m == 32 ? 128 : 64;
      expect_product(c);
    }
  }
}

TEST(Sparse, APairOfCtas) {
  for (Case c : kinds()) {
    c.pair = true;
    c.m = 256;
    c.n = 64;
    expect_product(c);
  }
}

TEST(Sparse, AInTensorMemory) {
  for (Case c : kinds()) {
    if (c.type == ElementType::e2m1) continue;  // it lies otherwise there
    c.a_in_tmem = true;
    expect_product(c);
  }
}

// What A does not store does not meet B's infinities and NaNs.
TEST(Sparse, WhatIsNotStoredMeetsNothing) {
  for (const double special :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Case c;
    c.special = special;
    const Numbers x(c, 5);
    Machine machine = machine_of(c, x);
    ASSERT_EQ(machine.run(~u64{0}), RunState::done);
    u32 found = 0;
    std::memcpy(&found, machine.buffers()[0].bytes.data(), 4);
    EXPECT_EQ(decode(format_f32, found), 2 * product_of(c, x, 0, 0));
  }
}

// Rows move behind the product: the second one finds them a row further.
TEST(Sparse, RowsOfAAreShiftedBehindTheProduct) {
  for (Case c : kinds()) {
    if (c.type == ElementType::e2m1) continue;
    c.a_in_tmem = c.ashift = true;
    c.sparse = false;
    expect_product(c);
  }
}

std::string refusal(const Case& c, const Numbers& x) {
  Machine machine = machine_of(c, x);
  machine.run(~u64{0});
  return machine.reports().empty()
             ? ""
             : machine.reports()[0].sentence + " | " + machine.reports()[0].expected;
}

TEST(Sparse, WhatOnlyFiguresSayIsRefused) {
  Case c;
  c.m = 64;
  EXPECT_NE(refusal(c, Numbers(c, 1)).find("for M 64 without .ws only a figure"),
            std::string::npos);
  c.m = 128;
  c.selector = 2;
  EXPECT_NE(refusal(c, Numbers(c, 1)).find("sparsity selector"), std::string::npos);
}

TEST(Sparse, MetadataThatMeanNothingAreTold) {
  Case c;
  Numbers x(c, 1);
  x.nibbles[5 * 8 + 2] = 0b0101;
  EXPECT_NE(refusal(c, x).find("the metadata of row 5, chunk 2, of A are 0b0101"),
            std::string::npos);
}

}  // namespace
}  // namespace tilescope::sim
