// The simulator against what a chip answered (vectors/), opcode by opcode, bit for bit. Spellings
// that no chip was asked about are counted and told; they become recorded by
// `./dev conformance --gpu` on a machine with a GPU.
#include <fmt/format.h>
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/sim/machine/device.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/maps.h"

namespace tilescope::conformance {
namespace {

const Vectors& kept() {
  static const Vectors vectors = [] {
    std::ostringstream text;
    text << std::ifstream(TILESCOPE_TESTS_DIR "/vectors/h200.txt").rdbuf();
    const Outcome<Vectors> read = read_vectors(text.str());
    EXPECT_TRUE(read.ok()) << read.error().sentence;
    return read ? *read : Vectors{};
  }();
  return vectors;
}

// Forms whose bits are known to differ from the chip's, and why: lines "PATTERN | why" of
// vectors/exceptions.txt, where * in the pattern stands for anything. They are tried all the same,
// and told when they no longer differ.
const std::vector<std::string>& exceptions() {
  static const std::vector<std::string> patterns = [] {
    std::vector<std::string> out;
    std::ifstream file(TILESCOPE_TESTS_DIR "/vectors/exceptions.txt");
    for (std::string line; std::getline(file, line);) {
      const std::size_t bar = line.find(" | ");
      if (line.rfind("#", 0) != 0 && bar != std::string::npos) out.push_back(line.substr(0, bar));
    }
    return out;
  }();
  return patterns;
}

bool is_exception(const std::string& key) {
  return std::any_of(exceptions().begin(), exceptions().end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), key.c_str(), 0) == 0;
  });
}

class Replay : public testing::TestWithParam<std::string> {};

TEST_P(Replay, GivesTheChipsBits) {
  sim::SimDevice simulator;
  std::size_t compared = 0, unrecorded = 0, refused = 0, known = 0;
  for (const Spelling& spelling : spellings(*ptx::opcode_named(GetParam()))) {
    const std::optional<Kernel> kernel = kernel_for(spelling);
    if (!kernel) continue;
    const auto chip = kept().answers.find(spelling.key());
    if (chip == kept().answers.end()) {
      ++unrecorded;
      continue;
    }
    if (chip->second.kind == '-') {
      ++refused;
      continue;
    }
    ++compared;
    const Outcome<std::vector<Buffer>> simulated = run(simulator, *kernel);
    if (!simulated && is_exception(spelling.key())) {
      ++known;
      continue;
    }
    if (!simulated) {
      ADD_FAILURE() << spelling.key() << ": " << simulated.error().sentence;
      continue;
    }
    const Differences d = compare(spelling, *kernel, chip->second, *simulated);
    if (is_exception(spelling.key())) {
      ++known;
      if (d.lanes == 0) fmt::print("{} is no exception any more\n", spelling.key());
      continue;
    }
    std::string first;
    for (const std::string& one : d.first) first += "\n  " + one;
    EXPECT_EQ(d.lanes, 0u) << spelling.key() << first;
  }
  fmt::print(
      "{} compared, {} of them known to differ; {} not recorded, {} refused by the chip's "
      "assembler\n",
      compared, known, unrecorded, refused);
  EXPECT_GT(compared + unrecorded + refused, 0u);
}

std::vector<std::string> opcodes_with_kernels() {
  std::vector<std::string> out;
  for (const ptx::Opcode& opcode : ptx::opcodes()) {
    for (const Spelling& spelling : spellings(opcode)) {
      if (!kernel_for(spelling)) continue;
      out.emplace_back(opcode.name);
      break;
    }
  }
  return out;
}

std::string label(const testing::TestParamInfo<std::string>& test) {
  return test.param;
}
INSTANTIATE_TEST_SUITE_P(Opcodes, Replay, testing::ValuesIn(opcodes_with_kernels()), label);

TEST(Vectors, SayWhereTheyAreFrom) {
  EXPECT_NE(kept().chip.find("H200"), std::string::npos);
  EXPECT_EQ(kept().date.size(), 10u);
  EXPECT_FALSE(kept().commit.empty());
  EXPECT_GT(kept().answers.size(), 4000u);
}

TEST(Vectors, ReadBackAsTheyWereWritten) {
  Vectors vectors{"chip", "2026-01-02", "abc", {}};
  vectors.answers["add.s32"] = {'=', {1, 2, 3, 4, 5, 6, 7, 8}, "00ff", ""};
  vectors.answers["ex2.approx.f32"] = {'~', {}, "3f800000", ""};
  vectors.answers["add.rn.sat.f64"] = {'-', {}, "", "no such thing"};
  const Outcome<Vectors> read = read_vectors(write(vectors));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(write(*read), write(vectors));
  EXPECT_FALSE(read_vectors("something else").ok());
  EXPECT_FALSE(read_vectors(write(vectors) + "= add.u32\tshort\n").ok());
}

TEST(Comparison, ABitThatDiffersIsFoundAndNamed) {
  const Spelling spelling = spellings(*ptx::opcode_named("add")).front();
  const Kernel kernel = *kernel_for(spelling);
  sim::SimDevice simulator;
  const Outcome<std::vector<Buffer>> right = run(simulator, kernel);
  ASSERT_TRUE(right.ok());
  const Answer chip = answer_of(kernel, *right, false);
  EXPECT_EQ(compare(spelling, kernel, chip, *right).lanes, 0u);
  for (const std::uint32_t lane : {0u, 67u, 1234u}) {
    std::vector<Buffer> wrong = *right;
    wrong[1].bytes[lane * 8] ^= std::byte{1};
    EXPECT_GT(compare(spelling, kernel, chip, wrong).lanes, 0u) << lane;
    EXPECT_EQ(compare(spelling, kernel, *right, wrong).lanes, 1u) << lane;
  }
}

TEST(Bounds, AreNeitherTooWideNorTooNarrow) {
  for (const Spelling& spelling : spellings(*ptx::opcode_named("ex2"))) {
    if (spelling.text != "ex2.approx.f32") continue;
    const Bound* bound = bound_of(spelling);
    ASSERT_NE(bound, nullptr);
    EXPECT_EQ(outside(*bound, spelling, {0x3f800000}, 0x40000000), "") << "2^1";
    EXPECT_EQ(outside(*bound, spelling, {0x3f800000}, 0x40000002), "") << "2 ulp";
    EXPECT_NE(outside(*bound, spelling, {0x3f800000}, 0x40000004), "");
    EXPECT_NE(outside(*bound, spelling, {0x7fc00000}, 0x3f800000), "") << "NaN";
    EXPECT_NE(disagree(spelling, {0xff800000}, 0, 0x80000000), "") << "2^-inf is +0";
  }
}

// A file says which of the first maps the driver took.
void expect_as_the_driver(const std::string& name, MapFields (*map_of)(std::uint64_t)) {
  std::ifstream file(TILESCOPE_TESTS_DIR "/vectors/" + name);
  std::string chip, digits;
  std::getline(file, chip);
  std::getline(file, digits);
  EXPECT_NE(chip.find("H200"), std::string::npos);
  ASSERT_GE(digits.size(), 1000u);
  std::size_t taken = 0;
  for (std::uint64_t n = 0; n < 4 * digits.size(); ++n) {
    const auto digit = std::string_view("0123456789abcdef").find(digits[n / 4]);
    ASSERT_NE(digit, std::string_view::npos);
    const bool takes = digit >> n % 4 & 1;
    const MapFields map = map_of(n);
    const std::optional<std::string> wrong = objection(map);
    EXPECT_EQ(!wrong, takes) << text(map) << ": " << wrong.value_or("nothing against it");
    taken += takes;
  }
  EXPECT_GT(taken, digits.size());
  EXPECT_LT(taken, 3 * digits.size());
}

TEST(TensorMaps, AreTakenAndRefusedAsByTheDriver) {
  expect_as_the_driver("tensor_maps.txt", random_map);
}

TEST(TensorMaps, ForIm2colAreTakenAndRefusedAsByTheDriver) {
  expect_as_the_driver("tensor_maps_im2col.txt", random_im2col_map);
}

}  // namespace
}  // namespace tilescope::conformance
