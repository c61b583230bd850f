// The products without tensor cores on the simulator: right at any size, whatever the order in
// which warps go on; and what they are compared with.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/diff/diff.h"
#include "core/sim/machine/machine.h"
#include "kernels/reference/products.h"
#include "kernels/reference/reference.h"
#include "tests/kernels/shipped.h"

namespace tilescope {
namespace {

using test::shipped_ptx;

// Small whole numbers: their products and sums are exact in f32.
Buffer numbers(std::string name, std::int64_t rows, std::int64_t columns, int salt) {
  Buffer out{std::move(name), DType::f32, {rows, columns}, {}, false};
  out.bytes.resize(static_cast<std::size_t>(rows * columns) * 4);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    store_element(DType::f32, &out.bytes[static_cast<std::size_t>(i) * 4],
                  static_cast<double>((i * 7 + salt) % 13 - 6));
  }
  return out;
}

double at(const Buffer& matrix, std::int64_t row, std::int64_t column) {
  return load_element(DType::f32,
                      &matrix.bytes[static_cast<std::size_t>(row * matrix.shape[1] + column) * 4]);
}

double sum_of_products(const Buffer& a, const Buffer& b, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t p = 0; p < a.shape[1]; ++p) sum += at(a, row, p) * at(b, p, column);
  return sum;
}

Request request_of(Sizes s) {
  Request request;
  request.sizes = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
  return request;
}

// Every element is exact, and nothing is reported.
void expect_right(const std::string& kernel, Sizes s, std::uint64_t schedule) {
  SCOPED_TRACE(kernel + " " + std::to_string(s.m) + " x " + std::to_string(s.n) + " x " +
               std::to_string(s.k) + ", schedule " + std::to_string(schedule));
  const auto entry = find_kernel(kernel);
  ASSERT_TRUE(entry.ok());
  Request request = request_of(s);
  request.inputs["A"] = numbers("A", s.m, s.k, 1);
  request.inputs["B"] = numbers("B", s.k, s.n, 5);
  const Outcome<Job> job = make_job(**entry, request, shipped_ptx(kernel));
  ASSERT_TRUE(job.ok()) << job.error().sentence;
  sim::Options options;
  options.schedule = schedule;
  Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  const RunState state = machine->run(~std::uint64_t{0});
  for (const Report& r : machine->reports()) ADD_FAILURE() << r.sentence << "\n" << text(r.site);
  ASSERT_EQ(state, RunState::done);
  const Buffer c = machine->buffers()[2];
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      ASSERT_EQ(at(c, i, j), sum_of_products(job->buffers[0], job->buffers[1], i, j))
          << i << " " << j;
    }
  }
}

TEST(Matmul, IsRightAtAnySize) {
  for (const Sizes s : {Sizes{1, 1, 1},
                        {64, 64, 16},
                        {65, 63, 17},
                        {9, 33, 5},
                        {7, 130, 40},
                        {130, 31, 33},
                        {96, 128, 64}}) {
    for (const char* kernel : {"matmul_naive", "matmul_tiled"}) expect_right(kernel, s, 0);
  }
}

TEST(Matmul, IsRightInAnyOrder) {
  for (std::uint64_t schedule = 1; schedule <= 20; ++schedule) {
    expect_right("matmul_tiled", {70, 66, 40}, schedule);
  }
}

TEST(Matmul, RandomNumbersLieWithinTheTolerance) {
  for (const char* kernel : {"matmul_naive", "matmul_tiled"}) {
    const CatalogEntry& entry = **find_kernel(kernel);
    const Outcome<Job> job = make_job(entry, request_of({64, 64, 3000}), shipped_ptx(kernel));
    ASSERT_TRUE(job.ok()) << job.error().sentence;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, {});
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    ASSERT_EQ(machine->run(~std::uint64_t{0}), RunState::done);
    const auto want = entry.reference(*job, {}, {});
    ASSERT_TRUE(want.ok());
    DiffOptions how;
    how.tolerance = {entry.variants[0].rtol, entry.variants[0].atol};
    const auto compared = diff(machine->buffers()[2], want->front(), how);
    ASSERT_TRUE(compared.ok()) << compared.error().sentence;
    EXPECT_TRUE(compared->ok()) << text(*compared);
  }
}

TEST(Matmul, SizesThatTheKernelsCannotCount) {
  const auto sentence = [](Sizes s) {
    const Outcome<Job> job = make_job(**find_kernel("matmul_tiled"), request_of(s), "");
    return job.ok() ? "taken" : job.error().sentence;
  };
  EXPECT_EQ(sentence({65536, 32768, 1}),
            "matmul_tiled counts elements in 32 bits, so A (m, k), B (k, n) and C (m, n) must have "
            "fewer than 2^31 each, and it was asked for m = 65536, n = 32768, k = 1.");
  EXPECT_NE(sentence({1, 65536, 32768}).find("counts elements in 32 bits"), std::string::npos);
  EXPECT_NE(sentence({600000, 1, 1}).find("m"), std::string::npos);
}

TEST(Reference, MatmulIsTheSumOfProducts) {
  const Buffer a = numbers("A", 5, 19, 2), b = numbers("B", 19, 3, 4);
  const Buffer c = *reference::matmul(a, b);
  ASSERT_EQ(c.shape, (std::vector<std::int64_t>{5, 3}));
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(at(c, i, j), sum_of_products(a, b, i, j));
  }
  EXPECT_NE(reference::matmul(b, b).error().sentence.find("as many columns in the first"),
            std::string::npos);
}

using reference::Loops;

// Numbers of an f32 whose sums are rounded, so that another order gives other bits.
std::vector<double> thirds(std::size_t count, int from) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>((static_cast<int>(i % 1009) * 37 + from) % 211 - 105) / 3;
  }
  return out;
}

TEST(Products, OfAllLoopsAreTheSumsAndOursTheSameBits) {
  struct Sizes {
    std::size_t m, n, k;
  };
  for (const Sizes& z : {Sizes{1, 1, 1}, Sizes{5, 3, 7}, Sizes{131, 70, 261}, Sizes{64, 130, 512},
                         Sizes{259, 5, 9}, Sizes{2, 2, 0}}) {
    const std::vector<double> left = thirds(z.m * z.k, 1), right = thirds(z.n * z.k, 50);
    std::vector<double> first;
    for (const Loops loops : {Loops::narrow, Loops::avx2, Loops::avx512, Loops::openblas}) {
      if (!reference::are_there(loops)) continue;
      for (const unsigned threads : {1u, 3u}) {
        std::vector<double> sums(z.m * z.n, -1);
        ASSERT_TRUE(reference::for_each_row(
            left, right, z.m, z.n, z.k, {{}, threads},
            [&](std::size_t row, const double* of_row) {
              std::copy(of_row, of_row + z.n,
                        sums.begin() + static_cast<std::ptrdiff_t>(row * z.n));
            },
            loops));
        for (std::size_t i = 0; i < z.m; ++i) {
          for (std::size_t j = 0; j < z.n; ++j) {
            double sum = 0;
            for (std::size_t p = 0; p < z.k; ++p) sum += left[i * z.k + p] * right[j * z.k + p];
            ASSERT_NEAR(sums[i * z.n + j], sum, 1e-9) << i << ", " << j;
          }
        }
        if (loops == Loops::openblas) continue;
        if (first.empty()) first = sums;
        EXPECT_EQ(first, sums) << static_cast<int>(loops) << ", " << threads;
      }
    }
  }
}

TEST(Products, InfinitiesAndNaNStay) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> left = {infinity, 1, 0, 1}, right = {1, 2, infinity, 0};  // 2 x 2
  for (const Loops loops : {Loops::narrow, Loops::avx2, Loops::avx512, Loops::openblas}) {
    if (!reference::are_there(loops)) continue;
    std::vector<double> sums(4);
    ASSERT_TRUE(reference::for_each_row(
        left, right, 2, 2, 2, {},
        [&](std::size_t row, const double* of_row) {
          std::copy(of_row, of_row + 2, sums.begin() + static_cast<std::ptrdiff_t>(row * 2));
        },
        loops));
    EXPECT_EQ(sums[0], infinity);
    EXPECT_EQ(sums[1], infinity);
    EXPECT_EQ(sums[2], 2);
    EXPECT_TRUE(std::isnan(sums[3])) << static_cast<int>(loops);
  }
}

TEST(Products, AreGivenUpWhenNobodyWantsThem) {
  const std::vector<double> all = thirds(1000 * 8, 3);
  int asked = 0, rows = 0;
  const Effort effort{[&] { return ++asked < 3; }, 1};
  EXPECT_FALSE(reference::for_each_row(all, all, 1000, 1000, 8, effort,
                                       [&](std::size_t, const double*) { ++rows; }));
  EXPECT_EQ(asked, 3);
  EXPECT_LT(rows, 1000);
}

}  // namespace
}  // namespace tilescope
