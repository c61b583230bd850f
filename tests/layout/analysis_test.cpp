// What is said of layouts, against counting it out; memory accesses by known cases; matrices.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/language/language.h"
#include "core/layout/access.h"
#include "core/layout/analysis.h"
#include "core/layout/bits.h"
#include "core/layout/text.h"
#include "tests/layout/generate.h"

namespace tilescope {
namespace {

using testing::Layouts;

Layout layout_of(std::string_view expression) {
  return std::get<Layout>(std::get<Value>(evaluate(expression)));
}
std::string value_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  const Problem* problem = std::get_if<Problem>(&result);
  return problem ? "error: " + problem->sentence : text(std::get<Value>(result));
}

TEST(Properties, AreWhatCountingSays) {
  Layouts layouts(51);
  int injective_ones = 0, compact_ones = 0, contiguous_ones = 0;
  for (int round = 0; round < 4000; ++round) {
    Layout a = round % 2 ? layouts.any(static_cast<int>(layouts.number(1, 4)))
                         : layouts.compact(static_cast<int>(layouts.number(1, 3)));
    if (round % 5 == 0) a.swizzle = *make_swizzle(1, layouts.number(0, 2), layouts.number(1, 3));
    std::map<std::int64_t, std::int64_t> owners_of;
    bool run = true;
    for (std::int64_t i = 0; i < *size(a); ++i) {
      ++owners_of[a(i)];
      run = run && a(i) == a(0) + i;
    }
    const bool apart = static_cast<std::int64_t>(owners_of.size()) == *size(a);
    const bool onto = owners_of.rbegin()->first + 1 == static_cast<std::int64_t>(owners_of.size());
    ASSERT_EQ(injective(a)->value, apart) << text(a);
    ASSERT_EQ(surjective(a)->value, onto) << text(a);
    ASSERT_EQ(compact(a)->value, apart && onto) << text(a);
    ASSERT_EQ(contiguous(a)->value, run) << text(a);
    const Broadcast found = *broadcast(a);
    std::int64_t least = *size(a), most = 0;
    for (const auto& [offset, n] : owners_of) {
      least = std::min(least, n);
      most = std::max(most, n);
      ASSERT_EQ(static_cast<std::int64_t>(owners(a, offset)->size()), n) << text(a);
    }
    ASSERT_EQ(found.offsets, static_cast<std::int64_t>(owners_of.size())) << text(a);
    ASSERT_EQ(found.least, least) << text(a);
    ASSERT_EQ(found.most, most) << text(a);
    injective_ones += apart;
    compact_ones += apart && onto;
    contiguous_ones += run;
  }
  EXPECT_GT(injective_ones, 1000);
  EXPECT_GT(compact_ones, 500);
  EXPECT_GT(contiguous_ones, 100);
}

TEST(Properties, HugeLayoutsAreAnsweredByTheirStridesOrRefused) {
  EXPECT_TRUE(injective(layout_of("(1048576,1048576):(1048576,1)"))->value);
  EXPECT_FALSE(injective(layout_of("(1048576,1048576):(0,1)"))->value);
  EXPECT_EQ(surjective(layout_of("(1048576,1048576):(1048576,1)")).refusal.rule,
            Refusal::Rule::too_large_to_list);
}

TEST(Properties, SayWhy) {
  EXPECT_EQ(value_of("injective((2,2):(1,1))"), "false");
  const auto because = [](std::string_view expression) {
    return std::get<Verdict>(std::get<Value>(evaluate(expression))).because;
  };
  EXPECT_EQ(because("injective((2,2,2):(2,3,5))"),
            "Coordinates (1,1,0) and (0,0,1) both have offset 5.");
  EXPECT_EQ(because("surjective((2,2):(1,4))"), "No coordinate has offset 2.");
  EXPECT_NE(because("injective((4,8):(0,1))").find("stride 0"), std::string::npos);
}

TEST(Vectors, AreTheWidestThatMoveTogether) {
  EXPECT_EQ(value_of("vector((8,8):(8,1), 16)"), "elements 8, bits 128, along 8:8");
  EXPECT_EQ(value_of("vector((8,8):(1,8), 32)"), "elements 4, bits 128, along 4:1");
  EXPECT_EQ(value_of("vector((8,8):(1,10), 32)"), "elements 2, bits 64, along 2:1");
  EXPECT_EQ(value_of("vector((7,8):(1,7), 32)"), "elements 4, bits 128, along 4:1");
  EXPECT_EQ(value_of("vector((7,8):(1,8), 32)"), "elements 1, bits 32, along 1:0");
  EXPECT_EQ(value_of("vector(Sw<3,2,3> o 0 o (8,64):(64,1), 16)"),
            "elements 4, bits 64, along 4:8");
  EXPECT_EQ(value_of("vector((4,2):(1,0), 32)"), "elements 4, bits 128, along 4:1");
}

// The CUDA programming guide's cases, and the phases of wide accesses.
TEST(BankConflicts, AreCountedByPhase) {
  const auto count = [](const char* lanes, std::int64_t width, std::int64_t element) {
    const BankConflicts found = *bank_conflicts(layout_of(lanes), {width, element});
    return std::pair(found.wavefronts, found.excess());
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(count("32:1", 4, 4), Counts(1, 0));
  EXPECT_EQ(count("32:2", 4, 4), Counts(2, 1));
  EXPECT_EQ(count("32:3", 4, 4), Counts(1, 0));
  EXPECT_EQ(count("32:32", 4, 4), Counts(32, 31));
  EXPECT_EQ(count("32:33", 4, 4), Counts(1, 0));
  EXPECT_EQ(count("32:0", 4, 4), Counts(1, 0));              // one word for all lanes
  EXPECT_EQ(count("32:1", 1, 1), Counts(1, 0));              // four lanes a word
  EXPECT_EQ(count("(8,4):(0,32)", 4, 4), Counts(4, 0));      // mode 0 is the lane: 4 instructions
  EXPECT_EQ(count("((8,4)):((0,32))", 4, 4), Counts(4, 3));  // one, of four distinct words
  EXPECT_EQ(count("32:1", 8, 8), Counts(2, 0));
  EXPECT_EQ(count("32:1", 16, 16), Counts(4, 0));  // 4 wavefronts are the minimum
  EXPECT_EQ(count("32:2", 16, 16), Counts(8, 4));
  EXPECT_EQ(count("32:64", 16, 2), Counts(32, 28));  // ldmatrix rows of 64 halves
}

TEST(BankConflicts, EveryWidthOfContiguousLanesIsFree) {
  for (const std::int64_t width : {1, 2, 4, 8, 16}) {
    const BankConflicts found = *bank_conflicts(Layout(32, 1), {width, width});
    EXPECT_EQ(found.excess(), 0) << width;
    EXPECT_EQ(found.ideal, width <= 4 ? 1 : width / 4) << width;
  }
}

TEST(BankConflicts, RefuseWhatTheHardwareRefuses) {
  EXPECT_EQ(bank_conflicts(Layout(32, 1), {16, 2}).refusal.rule, Refusal::Rule::not_aligned);
  EXPECT_EQ(bank_conflicts(Layout(32, 1), {3, 3}).refusal.rule, Refusal::Rule::access_width);
  EXPECT_EQ(bank_conflicts(Layout(64, 1), {4, 4}).refusal.rule, Refusal::Rule::lanes);
}

TEST(Coalescing, CountsSectors) {
  const auto sectors = [](const char* lanes, std::int64_t width) {
    const Coalescing found = *coalescing(layout_of(lanes), {width, width});
    return std::tuple(found.sectors, found.ideal, found.lines);
  };
  using Counts = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  EXPECT_EQ(sectors("32:1", 4), Counts(4, 4, 1));
  EXPECT_EQ(sectors("32:2", 4), Counts(8, 4, 2));
  EXPECT_EQ(sectors("32:32", 4), Counts(32, 4, 32));
  EXPECT_EQ(sectors("32:0", 4), Counts(1, 1, 1));
  EXPECT_EQ(sectors("32:1", 16), Counts(16, 16, 4));
  EXPECT_EQ(sectors("32:1", 2), Counts(2, 2, 1));
}

TEST(FindSwizzle, RemovesTheConflictsOfRowsAndColumns) {
  // A tile of 64 x 64 halves, row-major: 8 lanes read 16 bytes each down a column (ldmatrix).
  EXPECT_EQ(value_of("find_swizzle((64,64):(64,1), 16, 2, 32:1)"), "Sw<3,3,3>");
  EXPECT_EQ(value_of("bank_conflicts(composition(Sw<3,3,3> o 0 o (64,64):(64,1), 32:1), 16, 2)")
                .substr(0, 34),
            "wavefronts 4, ideal 4, excess 0, w");
  // Rows and columns of 32 x 32 floats at once: no swizzle has to trade one for the other.
  const FoundSwizzle both =
      *find_swizzle(layout_of("(32,32):(32,1)"), {layout_of("32:1"), layout_of("32:32")}, {4, 4});
  EXPECT_EQ(both.before, 31);
  EXPECT_EQ(both.after, 0);
  // Nothing to gain: the identity.
  EXPECT_EQ(value_of("find_swizzle(1024:1, 4, 4, 32:1)"), "Sw<0,0,0>");
}

TEST(FindSwizzle, NeverMakesItWorse) {
  Layouts layouts(52);
  for (int round = 0; round < 30; ++round) {
    const std::int64_t columns = std::int64_t{8} << layouts.number(0, 3);
    const Layout memory = *make_layout_right(make_tuple_of(32, columns));
    const Layout lanes(32, layouts.number(0, 1) ? 1 : 32);
    const FoundSwizzle found = *find_swizzle(memory, {lanes}, {4, 4});
    ASSERT_LE(found.after, found.before);
    const Layout swizzled = *composition(found.swizzle, *composition(memory, lanes));
    ASSERT_EQ(bank_conflicts(swizzled, {4, 4})->excess(), found.after) << text(found.swizzle);
    std::set<std::int64_t> offsets;  // the memory is permuted, not left
    for (std::int64_t i = 0; i < *size(memory); ++i) offsets.insert(found.swizzle(memory(i)));
    ASSERT_EQ(*offsets.rbegin(), *size(memory) - 1);
  }
}

TEST(Matrices, AreTheLayoutAsXorOfBits) {
  EXPECT_EQ(value_of("to_matrix((8,8):(8,1))"), "(8,16,32,1,2,4)");
  EXPECT_EQ(value_of("to_matrix(Sw<1,0,3> o 0 o 16:1)"), "(1,2,4,9)");
  EXPECT_EQ(value_of("from_matrix((1,2,4,9))"), "Sw<1,0,3> o 0 o 16:1");
  EXPECT_EQ(value_of("from_matrix((8,16,32,1,2,4))"), "(8,8):(8,1)");
  EXPECT_NE(value_of("to_matrix((4,2):(1,3))").find("error"), std::string::npos);
  EXPECT_NE(value_of("to_matrix((3,2):(1,3))").find("not a power of two"), std::string::npos);
}

TEST(Matrices, GoBothWays) {
  Layouts layouts(53);
  int swizzled = 0;
  for (int round = 0; round < 1000; ++round) {
    Tuple shape;
    const int leaves = static_cast<int>(layouts.number(1, 4));
    for (int i = 0; i < leaves; ++i) shape.push(Tuple(std::int64_t{1} << layouts.number(1, 3)));
    Layout a = layouts.number(0, 1) ? *make_layout(shape) : *make_layout_right(shape);
    const std::int64_t bits = layouts.number(1, 2), far = layouts.number(bits, 4);
    if (round % 2) a.swizzle = *make_swizzle(bits, layouts.number(0, 3), far);
    const Result<Tuple> columns = matrix_of(a);
    ASSERT_TRUE(columns) << text(a);
    const Result<Layout> back = layout_of_matrix(*columns);
    ASSERT_TRUE(back) << text(a) << " " << text(*columns);
    swizzled += !back->swizzle.identity();
    ASSERT_EQ(*size(*back), *size(a));
    for (std::int64_t i = 0; i < *size(a); ++i) ASSERT_EQ((*back)(i), a(i)) << text(a);
  }
  EXPECT_GT(swizzled, 100);
}

}  // namespace
}  // namespace tilescope
