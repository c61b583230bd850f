// Whole products with scale factors of blocks, by a kernel that nvcc has compiled: TMA, bulk copies
// of factors in CUTLASS's chunks, tcgen05.cp and tcgen05.mma.block_scale (tests/kernels/scaled).
// Compared with sums in double, of numbers whose places only core's layouts know.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "core/numeric/tile_groups.h"
#include "core/sim/machine/machine.h"
#include "core/tensor/scale_factors.h"

namespace tilescope {
namespace {

using I = std::int64_t;

struct Form {
  const char* entry;
  ScaleFormat format;
  I vector;  // elements that share a factor
  bool two;  // elements of 4 bits, two in a byte
};

std::string scaled_ptx() {
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/kernels/scaled/scaled_gemm.ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// rows x k elements as they lie in memory, their factors, and what both come to.
struct Operand {
  Buffer elements, factors;
  std::vector<double> values;

  Operand(const char* name, const Form& form, I rows, I k, std::mt19937& random) {
    const I row = form.two ? k / 2 : k;
    elements = {name, DType::u8, {rows, row}, {}, false};
    elements.bytes.resize(static_cast<std::size_t>(rows * row));
    factors = {std::string(name) + "_factors", DType::u8, {rows * k / form.vector}, {}, false};
    factors.bytes.resize(static_cast<std::size_t>(rows * k / form.vector));
    const Layout where = *scale_factors(rows, k, form.vector);
    for (std::byte& b : factors.bytes) {
      const std::uint32_t v =
          form.format == ScaleFormat::ue8m0 ? 124 + random() % 6 : 0x30 + random() % 16;
      b = static_cast<std::byte>(v);
    }
    for (std::byte& b : elements.bytes) {
      b = static_cast<std::byte>(form.two ? random() : random() & 0xbf);  // e4m3 below 2, no NaN
    }
    for (I i = 0; i < rows; ++i) {
      for (I p = 0; p < k; ++p) {
        const auto byte = static_cast<std::uint32_t>(
            elements.bytes[static_cast<std::size_t>(i * row + (form.two ? p / 2 : p))]);
        const double element =
            form.two ? decode(format_e2m1, byte >> p % 2 * 4 & 15) : decode(format_e4m3, byte);
        const std::byte factor = factors.bytes[static_cast<std::size_t>(where(i + rows * p))];
        values.push_back(element * decode(form.format, static_cast<std::uint8_t>(factor)));
      }
    }
  }
};

Job job_of(const Form& form, const Operand& a, const Operand& b, I m, I n) {
  Job job;
  job.program = {"scaled_gemm", scaled_ptx()};
  job.launch.entry = form.entry;
  job.launch.grid = {static_cast<std::uint32_t>(n / 128), static_cast<std::uint32_t>(m / 128), 1};
  job.launch.block = {128, 1, 1};
  job.launch.dynamic_shared = 2 * (2 * 128 * 128 + 2 * 4 * 512);
  job.buffers = {{"C", DType::f32, {m, n}, {}, true, {128, 128}},
                 a.elements,
                 b.elements,
                 a.factors,
                 b.factors};
  job.buffers[0].bytes.resize(static_cast<std::size_t>(m * n) * 4);
  const auto map = [](std::uint32_t buffer) {
    TensorMap out;
    out.buffer = buffer;
    out.box = {128, 128};
    out.swizzle = MapSwizzle::bytes128;
    return Argument::tensor_map(out);
  };
  const auto steps = static_cast<std::int32_t>(a.elements.shape[1] / 128);
  job.arguments = {Argument::pointer(0),
                   map(1),
                   map(2),
                   Argument::pointer(3),
                   Argument::pointer(4),
                   Argument::i32(static_cast<int>(n)),
                   Argument::i32(steps)};
  return job;
}

// Hazards are faults here: the kernel counts on nothing that PTX does not promise.
void expect_product(const Form& form, I m, I n, I k, const sim::Options& options) {
  SCOPED_TRACE(testing::Message() << form.entry << " schedule " << options.schedule
                                  << (options.lazy ? " lazy" : "")
                                  << (options.exact ? "" : " fast"));
  std::mt19937 random(7);
  const Operand a("A", form, m, k, random), b("B", form, n, k, random);
  Outcome<sim::Machine> machine = sim::Machine::load(job_of(form, a, b, m, n), options);
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  const RunState state = machine->run(~std::uint64_t{0});
  for (const Report& r : machine->reports()) {
    EXPECT_EQ(r.weight, Weight::note) << r.sentence;
  }
  ASSERT_EQ(state, RunState::done);
  const std::vector<std::byte> bytes = machine->buffers()[0].bytes;
  for (I i = 0; i < m; ++i) {
    for (I j = 0; j < n; ++j) {
      double want = 0, size = 0;
      for (I p = 0; p < k; ++p) {
        const double term = a.values[static_cast<std::size_t>(i * k + p)] *
                            b.values[static_cast<std::size_t>(j * k + p)];
        want += term;
        size += std::fabs(term);
      }
      float got;
      std::memcpy(&got, &bytes[static_cast<std::size_t>(i * n + j) * 4], 4);
      ASSERT_NEAR(got, want, size * 1e-6) << i << ' ' << j;
    }
  }
}

constexpr Form forms[] = {{"scaled_mxf8", ScaleFormat::ue8m0, 32, false},
                          {"scaled_mxf4", ScaleFormat::ue8m0, 32, true},
                          {"scaled_nvf4", ScaleFormat::ue4m3, 16, true}};

TEST(ScaledGemm, IsTheSumInDouble) {
  for (const Form& form : forms) {
    expect_product(form, 256, 128, form.two ? 1280 : 640, {});
  }
}

TEST(ScaledGemm, WhateverTheOrder) {
  for (const Form& form : forms) {
    const I k = form.two ? 768 : 384;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      sim::Options options;
      options.schedule = seed;
      options.lazy = seed % 2;
      expect_product(form, 128, 128, k, options);
    }
    sim::Options fast;
    fast.exact = false;
    expect_product(form, 128, 128, k, fast);
  }
}

}  // namespace
}  // namespace tilescope
