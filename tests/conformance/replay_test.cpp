// The simulator against what chips answered (vectors/), opcode by opcode, bit for bit. Spellings
// that no chip was asked about are counted as that, and only run: they become recorded by
// `conformance missing` on a machine with a GPU. A table below says how many of each opcode there
// are.
#include <fmt/format.h>
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "core/sim/machine/device.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/kernel_text.h"
#include "tests/conformance/maps.h"

namespace tilescope::conformance {
namespace {

// What was recorded, one after the other: the second chip was asked what the first was not.
constexpr const char* recordings[] = {"h200.txt", "h100.txt"};

Vectors recorded(const std::string& name) {
  Outcome<Vectors> read = vectors_in(TILESCOPE_TESTS_DIR "/vectors/" + name);
  EXPECT_TRUE(read.ok()) << name << ": " << read.error().sentence;
  return read ? std::move(*read) : Vectors{};
}

using Answers = decltype(Vectors::answers);

const Answers& kept() {
  static const Answers answers = [] {
    Answers out;
    for (const std::string name : recordings) out.merge(recorded(name).answers);
    return out;
  }();
  return answers;
}

// What can be said of a form without a chip: it runs, nothing is wrong with how it is asked, and
// lanes give different answers. Of no form that another chip than the PTX's has.
void expect_runs(sim::SimDevice& simulator, const Spelling& spelling, const Kernel& kernel) {
  if (!on_this_chip(spelling, 0)) return;
  std::vector<Report> reports;
  const Outcome<std::vector<Buffer>> ran = run(simulator, kernel, &reports);
  ASSERT_TRUE(ran.ok()) << spelling.key() << ": " << ran.error().sentence;
  for (const Report& r : reports) ADD_FAILURE() << spelling.key() << ": " << r.sentence;
  // A parameter is the same for all of them.
  if (spelling.opcode->op == ptx::Op::ld && spelling.modifiers.space() == ptx::Space::param) return;
  std::set<std::vector<std::uint64_t>> answers;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) answers.insert(kernel.values(*ran, lane));
  EXPECT_GE(answers.size(), 4u) << spelling.key() << " has nearly always the same answer";
}

// Forms whose bits are known to differ from the chip's, and why: lines "PATTERN | why" of
// vectors/exceptions.txt, where * in the pattern stands for anything. They are tried all the same:
// one that no longer differs is no exception.
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

// How many spellings of each opcode there are and what became of them. A spelling that gets lost,
// or that is refused all of a sudden, makes a number smaller: then this table says so, and nobody
// need count.
struct Tally {
  int equal = 0;       // bit for bit, or within the bound of its approximation
  int known = 0;       // to differ (exceptions)
  int unrecorded = 0;  // by the chip
  int refused = 0;     // by the chip's assembler

  friend bool operator==(const Tally& a, const Tally& b) {
    return a.equal == b.equal && a.known == b.known && a.unrecorded == b.unrecorded &&
           a.refused == b.refused;
  }
  friend std::ostream& operator<<(std::ostream& out, const Tally& t) {
    return out << fmt::format("{} equal, {} known to differ, {} not recorded, {} refused", t.equal,
                              t.known, t.unrecorded, t.refused);
  }
};

// clang-format off
const std::map<std::string, Tally>& expected() {
  static const std::map<std::string, Tally> table = {
    {"add", {58, 0, 0, 30}},
    {"sub", {56, 0, 0, 30}},
    {"mul", {61, 0, 0, 10}},
    {"mad", {45, 0, 0, 0}},
    {"div", {22, 0, 0, 0}},
    {"rem", {6, 0, 0, 0}},
    {"abs", {12, 0, 0, 0}},
    {"neg", {12, 0, 0, 0}},
    {"min", {43, 0, 0, 4}},
    {"max", {43, 0, 0, 4}},
    {"popc", {2, 0, 0, 0}},
    {"clz", {2, 0, 0, 0}},
    {"brev", {2, 0, 0, 0}},
    {"bfind", {8, 0, 0, 0}},
    {"bfe", {4, 0, 0, 0}},
    {"bfi", {2, 0, 0, 0}},
    {"and", {4, 0, 0, 0}},
    {"or", {4, 0, 0, 0}},
    {"xor", {4, 0, 0, 0}},
    {"not", {4, 0, 0, 0}},
    {"shl", {3, 0, 0, 0}},
    {"shr", {9, 0, 0, 0}},
    {"shf", {4, 0, 0, 0}},
    {"lop3", {27, 0, 0, 0}},
    {"prmt", {7, 0, 0, 0}},
    {"setp", {720, 0, 0, 0}},
    {"selp", {11, 0, 0, 0}},
    {"addc", {8, 0, 0, 0}},
    {"subc", {8, 0, 0, 0}},
    {"madc", {16, 0, 0, 0}},
    {"mul24", {4, 0, 0, 0}},
    {"mad24", {5, 0, 0, 0}},
    {"sad", {6, 0, 0, 0}},
    {"cnot", {3, 0, 0, 0}},
    {"szext", {4, 0, 0, 0}},
    {"bmsk", {2, 0, 0, 0}},
    {"fns", {1, 0, 0, 0}},
    {"dp4a", {4, 0, 0, 0}},
    {"dp2a", {8, 0, 0, 0}},
    {"vabsdiff2", {0, 0, 4, 0}},
    {"vabsdiff4", {4, 0, 0, 0}},
    {"set", {3264, 0, 0, 0}},
    {"slct", {33, 0, 0, 0}},
    {"fma", {35, 1, 0, 24}},
    {"testp", {12, 0, 0, 0}},
    {"rcp", {15, 0, 0, 0}},
    {"sqrt", {14, 0, 0, 0}},
    {"rsqrt", {4, 0, 0, 0}},
    {"ex2", {6, 0, 0, 0}},
    {"lg2", {2, 0, 0, 0}},
    {"sin", {2, 0, 0, 0}},
    {"cos", {2, 0, 0, 0}},
    {"tanh", {5, 0, 0, 0}},
    {"copysign", {2, 0, 0, 0}},
    {"mov", {19, 0, 0, 0}},
    {"cvt", {847, 1, 78, 53}},
    {"cvta", {14, 0, 2, 0}},
    {"ld", {942, 0, 0, 959}},
    {"ldu", {78, 0, 0, 444}},
    {"st", {798, 96, 54, 991}},
    {"prefetch", {8, 0, 0, 0}},
    {"prefetchu", {1, 0, 0, 0}},
    {"applypriority", {2, 0, 0, 0}},
    {"discard", {2, 0, 0, 0}},
    {"createpolicy", {37, 0, 0, 0}},
    {"isspacep", {8, 0, 0, 0}},
    {"atom", {666, 0, 0, 0}},
    {"red", {499, 0, 0, 20}},
    {"cp", {312, 0, 24, 0}},
    {"mapa", {3, 0, 0, 0}},
    {"getctarank", {3, 0, 0, 0}},
    {"bra", {58, 2, 0, 0}},
    {"brx", {24, 0, 0, 0}},
    {"call", {24, 0, 0, 0}},
    {"ret", {12, 0, 0, 0}},
    {"exit", {8, 0, 0, 0}},
    {"nanosleep", {1, 0, 0, 0}},
    {"pmevent", {4, 0, 0, 0}},
    {"griddepcontrol", {2, 0, 0, 0}},
    {"bar", {21, 0, 0, 0}},
    {"barrier", {50, 0, 0, 0}},
    {"membar", {4, 0, 0, 0}},
    {"fence", {38, 0, 0, 0}},
    {"mbarrier", {183, 0, 0, 0}},
    {"setmaxnreg", {6, 0, 0, 0}},
    {"shfl", {4, 0, 0, 0}},
    {"vote", {4, 0, 0, 0}},
    {"match", {4, 0, 0, 0}},
    {"redux", {9, 0, 0, 8}},
    {"elect", {1, 0, 0, 0}},
    {"activemask", {1, 0, 0, 0}},
    {"mma", {51, 1, 0, 0}},
    {"wmma", {492, 0, 0, 0}},
    {"ldmatrix", {18, 0, 0, 0}},
    {"stmatrix", {18, 0, 0, 0}},
    {"movmatrix", {1, 0, 0, 0}},
  };
  return table;
}
// clang-format on

class Replay : public testing::TestWithParam<std::string> {};

TEST_P(Replay, GivesTheChipsBits) {
  sim::SimDevice simulator;
  Tally found;
  for (const Spelling& spelling : spellings(*ptx::opcode_named(GetParam()))) {
    const std::optional<Kernel> kernel = kernel_for(spelling);
    if (!kernel) continue;
    const auto chip = kept().find(spelling.key());
    if (chip == kept().end()) {
      ++found.unrecorded;
      expect_runs(simulator, spelling, *kernel);
      continue;
    }
    if (chip->second.kind == '-') {
      ++found.refused;
      continue;
    }
    const Outcome<std::vector<Buffer>> simulated = run(simulator, *kernel);
    const Differences d = simulated ? compare(spelling, *kernel, chip->second, *simulated)
                                    : Differences{lanes, {simulated.error().sentence}};
    if (is_exception(spelling.key())) {
      ++found.known;
      EXPECT_NE(d.lanes, 0u) << spelling.key() << " is no exception any more";
      continue;
    }
    found.equal += d.lanes == 0;
    std::string first;
    for (const std::string& one : d.first) first += "\n  " + one;
    EXPECT_EQ(d.lanes, 0u) << spelling.key() << first;
  }
  const auto row = expected().find(GetParam());
  ASSERT_NE(row, expected().end()) << "the table has no row for it: " << found;
  EXPECT_EQ(found, row->second);
}

std::vector<std::string> opcodes_with_kernels() {
  std::vector<std::string> out;
  for (const ptx::Opcode& opcode : ptx::opcodes()) {
    if (opcode.op == ptx::Op::wgmma) continue;  // wgmma_bits_test.cpp
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

// Every answer of the chip has a spelling that it is compared with, but for these.
TEST(Vectors, NoAnswerIsLeftBehind) {
  // Of mixed signedness: the chip's assembler takes them, the table does not.
  const std::vector<std::string> without_spelling = {
      "vabsdiff4.u32.s32.u32", "vabsdiff4.u32.s32.u32.add", "vabsdiff4.u32.u32.s32",
      "vabsdiff4.u32.u32.s32.add"};
  std::vector<std::string> left;
  std::set<std::string> keys;
  for (const ptx::Opcode& opcode : ptx::opcodes()) {
    for (const Spelling& spelling : spellings(opcode)) keys.insert(spelling.key());
  }
  for (const auto& [key, answer] : kept()) {
    if (keys.count(key) == 0) left.push_back(key);
  }
  EXPECT_EQ(left, without_spelling);
}

// The manual says how many of them agree with the chip.
TEST(Vectors, AreAsManyAsTheManualSays) {
  Tally all;
  const std::vector<std::string> tried = opcodes_with_kernels();
  for (const auto& [opcode, tally] : expected()) {
    EXPECT_EQ(std::count(tried.begin(), tried.end(), opcode), 1) << opcode << " is not tried";
    all.equal += tally.equal, all.known += tally.known;
    all.unrecorded += tally.unrecorded, all.refused += tally.refused;
  }
  EXPECT_EQ(all, (Tally{9921, 101, 162, 2577}));
  std::ostringstream manual;
  manual << std::ifstream(TILESCOPE_SOURCE_DIR "/docs/manual/simulator.md").rdbuf();
  EXPECT_NE(manual.str().find("9,921 forms"), std::string::npos);
  EXPECT_NE(manual.str().find("101 more"), std::string::npos);
  // What is known to differ stays little.
  EXPECT_LE(50 * all.known, all.equal + all.known);
}

TEST(Vectors, SayWhereTheyAreFrom) {
  for (const std::string name : recordings) {
    const Vectors vectors = recorded(name);
    EXPECT_NE(vectors.chip.find(name == "h200.txt" ? "H200" : "H100"), std::string::npos);
    EXPECT_EQ(vectors.date.size(), 10u);
    EXPECT_FALSE(vectors.commit.empty());
  }
  EXPECT_FALSE(vectors_in("no such file").ok());
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
