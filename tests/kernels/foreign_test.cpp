// A product as another compiler writes it: PTX and a launch file, both from elsewhere, and rows
// that do not lie side by side. What that compiler leaves out is a hazard; the product is right.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "core/diff/diff.h"
#include "core/io/launch_file.h"
#include "core/sim/machine/machine.h"
#include "kernels/reference/reference.h"

namespace tilescope {
namespace {

constexpr std::int64_t tile_m = 128, tile_n = 32;

// From one row to the next there are `gap` elements more than a row has.
struct Shape {
  std::int64_t m, n, k, gap_a, gap_b, gap_c;
};

std::string launch_file(const Shape& s, int seed) {
  std::string out = fmt::format("grid = [{}, {}, 1]\nblock = [128, 1, 1]\ndynamic_smem = 40976\n",
                                s.m / tile_m, s.n / tile_n);
  const auto buffer = [&](char name, std::int64_t rows, std::int64_t stride, std::string fill) {
    out += fmt::format("[[buffer]]\nname = \"{}\"\ndtype = \"f16\"\nshape = [{}, {}]\n{}\n", name,
                       rows, stride, fill);
  };
  buffer('A', s.m, s.k + s.gap_a, fmt::format("random = {}", seed));
  buffer('B', s.n, s.k + s.gap_b, fmt::format("random = {}", seed + 1));
  buffer('C', s.m, s.n + s.gap_c, "zeros = true");
  out += "[[arg]]\nbuffer = \"A\"\n[[arg]]\nbuffer = \"B\"\n";
  out += "[[arg]]\nsize = 8\nat = [{ offset = 0, buffer = \"C\" }]\n";
  for (const std::int64_t number : {s.m, s.n, s.k, s.k + s.gap_a, s.k + s.gap_b, s.n + s.gap_c}) {
    out += fmt::format("[[arg]]\ni32 = {}\n", number);
  }
  return out + "[[arg]]\nnull = true\n[[arg]]\nnull = true\n";
}

std::string foreign_ptx() {
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/kernels/foreign/triton_matmul.ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first `columns` of each row, side by side.
Buffer without_gap(const Buffer& padded, std::int64_t columns) {
  const std::size_t width = bytes_of(padded.dtype);
  const auto from = static_cast<std::size_t>(padded.shape[1]) * width;
  const auto to = static_cast<std::size_t>(columns) * width;
  Buffer out{padded.name, padded.dtype, {padded.shape[0], columns}, {}, false};
  for (std::size_t at = 0; at < padded.bytes.size(); at += from) {
    const auto row = padded.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    out.bytes.insert(out.bytes.end(), row, row + static_cast<std::ptrdiff_t>(to));
  }
  return out;
}

bool gaps_are_zero(const Buffer& padded, std::int64_t columns) {
  const std::size_t width = bytes_of(padded.dtype);
  const auto stride = static_cast<std::size_t>(padded.shape[1]) * width;
  for (std::size_t at = 0; at < padded.bytes.size(); ++at) {
    const bool gap = at % stride >= static_cast<std::size_t>(columns) * width;
    if (gap && padded.bytes[at] != std::byte{0}) return false;
  }
  return true;
}

// Runs it, and answers which hazards it has.
std::set<std::string> expect_right(const Shape& s, int seed, const sim::Options& options) {
  SCOPED_TRACE(fmt::format("{} x {} x {}, gaps {} {} {}, seed {}, schedule {}", s.m, s.n, s.k,
                           s.gap_a, s.gap_b, s.gap_c, seed, options.schedule));
  std::set<std::string> hazards;
  const auto check = [&] {
    const auto file = parse_launch_file(launch_file(s, seed), "mm.toml");
    ASSERT_TRUE(file.ok()) << file.error().sentence;
    const auto job = make_job(*file, {"triton_matmul.ptx", foreign_ptx()}, {});
    ASSERT_TRUE(job.ok()) << job.error().sentence;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok()) << machine.error().where << ": " << machine.error().sentence;
    const RunState state = machine->run(~std::uint64_t{0});
    for (const Report& r : machine->reports()) {
      if (r.weight == Weight::hazard) hazards.insert(r.kind);
      EXPECT_NE(r.weight, Weight::fault) << r.sentence << "\n" << text(r.site);
    }
    ASSERT_EQ(state, RunState::done);
    const auto want =
        reference::gemm(without_gap(job->buffers[0], s.k), without_gap(job->buffers[1], s.k));
    ASSERT_TRUE(want.ok());
    DiffOptions how;
    how.tolerance = {1e-3, 1e-2};
    const Buffer c = machine->buffers()[2];
    const auto compared = diff(without_gap(c, s.n), *want, how);
    ASSERT_TRUE(compared.ok()) << compared.error().sentence;
    EXPECT_TRUE(compared->ok()) << text(*compared);
    EXPECT_TRUE(gaps_are_zero(c, s.n)) << "it wrote between the rows of C";
  };
  check();
  return hazards;
}

TEST(Foreign, AProductInTritonsMannerIsRight) {
  const Shape shapes[] = {{128, 32, 64, 0, 0, 0},
                          {256, 64, 192, 8, 0, 16},
                          {128, 96, 512, 0, 64, 8},
                          {384, 32, 128, 16, 8, 0}};
  int seed = 0;
  for (const Shape& shape : shapes) {
    const auto hazards = expect_right(shape, ++seed, {});
    EXPECT_TRUE(hazards.count("tcgen05_fence")) << "that compiler writes no tcgen05.fence";
  }
}

TEST(Foreign, AProductInTritonsMannerIsRightInOtherOrders) {
  for (std::uint64_t schedule = 1; schedule <= 5; ++schedule) {
    sim::Options options;
    options.schedule = schedule;
    expect_right({256, 64, 192, 8, 8, 8}, 1, options);
  }
}

// Nothing is multiplied and no mbarrier waited for: C is what TMEM was set to.
TEST(Foreign, AProductOfNoColumnsIsZero) {
  expect_right({128, 32, 0, 64, 64, 0}, 1, {});
}

}  // namespace
}  // namespace tilescope
