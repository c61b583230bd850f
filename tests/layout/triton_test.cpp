// Triton's encodings: the bases that its own unit tests state
// (unittest/Dialect/TritonGPU/LinearLayoutConversionsTest.cpp), and that the thread/value layout is
// the XOR of them.
#include "core/language/triton.h"

#include <gtest/gtest.h>

#include "core/language/language.h"
#include "core/layout/text.h"

namespace tilescope::triton {
namespace {

Blocked blocked(Numbers size, Numbers threads, Numbers warps, Numbers ctas, Numbers split,
                Numbers order, Numbers cta_order) {
  return {size, threads, warps, order, ctas, split, cta_order};
}

void expect_bases(const Blocked& encoding, const Numbers& shape,
                  const std::array<Bases, inputs>& want) {
  const auto found = linear_of(encoding, shape);
  ASSERT_TRUE(std::holds_alternative<LinearLayout>(found)) << std::get<std::string>(found);
  const LinearLayout& layout = std::get<LinearLayout>(found);
  for (std::size_t i = 0; i < inputs; ++i) EXPECT_EQ(layout.bases[i], want[i]) << input_names[i];
  EXPECT_EQ(layout.shape, shape);
}

TEST(Triton, BlockedEncodingsHaveTheBasesThatTritonGivesThem) {
  expect_bases(blocked({1}, {4}, {4}, {1}, {1}, {0}, {0}), {16},
               {Bases{}, {{1}, {2}}, {{4}, {8}}, {}});
  expect_bases(blocked({1}, {4}, {4}, {4}, {2}, {0}, {0}), {32},
               {Bases{}, {{1}, {2}}, {{4}, {8}}, {{16}, {0}}});
  expect_bases(blocked({8, 1}, {8, 4}, {1, 4}, {1, 2}, {1, 2}, {0, 1}, {1, 0}), {64, 128},
               {Bases{{1, 0}, {2, 0}, {4, 0}, {0, 16}, {0, 32}},
                {{8, 0}, {16, 0}, {32, 0}, {0, 1}, {0, 2}},
                {{0, 4}, {0, 8}},
                {{0, 64}}});
}

TEST(Triton, ALargerTensorIsRepeatedInRegistersAlongTheOrder) {
  expect_bases(blocked({1}, {4}, {4}, {1}, {1}, {0}, {0}), {128},
               {Bases{{16}, {32}, {64}}, {{1}, {2}}, {{4}, {8}}, {}});
  expect_bases(blocked({2}, {4}, {1}, {1}, {1}, {0}, {0}), {32},
               {Bases{{1}, {8}, {16}}, {{2}, {4}}, {}, {}});
  expect_bases(blocked({2, 2}, {4, 8}, {2, 2}, {2, 2}, {2, 2}, {1, 0}, {1, 0}), {1024, 128},
               {Bases{{0, 1}, {1, 0}, {0, 32}, {16, 0}, {32, 0}, {64, 0}, {128, 0}, {256, 0}},
                {{0, 2}, {0, 4}, {0, 8}, {2, 0}, {4, 0}},
                {{0, 16}, {8, 0}},
                {{0, 64}, {512, 0}}});
}

TEST(Triton, OfASmallerTensorTheHighestBitsMoveNothing) {
  expect_bases(blocked({4}, {4}, {4}, {1}, {1}, {0}, {0}), {8},
               {Bases{{1}, {2}}, {{4}, {0}}, {{0}, {0}}, {}});
  expect_bases(blocked({1, 1}, {32, 1}, {1, 8}, {1, 1}, {1, 1}, {0, 1}, {1, 0}), {1, 64},
               {Bases{{0, 8}, {0, 16}, {0, 32}},
                {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
                {{0, 1}, {0, 2}, {0, 4}},
                {}});
  expect_bases(blocked({1, 4}, {8, 4}, {4, 1}, {2, 2}, {2, 1}, {1, 0}, {1, 0}), {128, 16},
               {Bases{{0, 1}, {0, 2}, {32, 0}},
                {{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}},
                {{8, 0}, {16, 0}},
                {{0, 0}, {64, 0}}});
  expect_bases(blocked({1}, {1}, {4}, {2}, {2}, {0}, {0}), {4}, {Bases{}, {}, {{1}, {0}}, {{2}}});
  expect_bases(blocked({8, 1}, {8, 4}, {1, 4}, {1, 2}, {1, 2}, {0, 1}, {0, 1}), {64, 1},
               {Bases{{1, 0}, {2, 0}, {4, 0}},
                {{8, 0}, {16, 0}, {32, 0}, {0, 0}, {0, 0}},
                {{0, 0}, {0, 0}},
                {{0, 0}}});
}

// The element that the bits of a thread and a register lead to.
std::int64_t element(const LinearLayout& layout, std::int64_t thread, std::int64_t value) {
  Numbers at(layout.shape.size(), 0);
  const auto add = [&](const Bases& bases, std::int64_t bits) {
    for (std::size_t k = 0; k < bases.size(); ++k) {
      if ((bits >> k & 1) == 0) continue;
      for (std::size_t d = 0; d < at.size(); ++d) at[d] ^= bases[k][d];
    }
    return bits >> bases.size();
  };
  add(layout.bases[register_bits], value);
  std::int64_t rest = add(layout.bases[lane_bits], thread);
  rest = add(layout.bases[warp_bits], rest);
  add(layout.bases[block_bits], rest);
  std::int64_t out = 0;
  for (std::size_t d = at.size(); d-- > 0;) out = out * layout.shape[d] + at[d];
  return out;
}

void expect_law(const LinearLayout& layout) {
  const auto found = thread_value_of(layout);
  ASSERT_TRUE(std::holds_alternative<ThreadValue>(found)) << std::get<std::string>(found);
  const Layout& pairs = std::get<ThreadValue>(found).layout;
  const std::int64_t threads = *size(*get(pairs, 0)), values = *size(*get(pairs, 1));
  for (std::int64_t t = 0; t < threads; ++t) {
    for (std::int64_t v = 0; v < values; ++v) {
      ASSERT_EQ(pairs(t + threads * v), element(layout, t, v)) << t << " " << v;
    }
  }
}

TEST(Triton, ThreadsAndValuesAreTheBits) {
  for (const Numbers& shape : {Numbers{64, 32}, Numbers{16, 16}, Numbers{256, 128}}) {
    const auto found =
        linear_of(blocked({1, 4}, {8, 4}, {4, 1}, {1, 1}, {1, 1}, {1, 0}, {1, 0}), shape);
    expect_law(std::get<LinearLayout>(found));
  }
  // Bits that flip the same bit: a swizzle.
  LinearLayout crossed;
  crossed.bases[register_bits] = {{0, 1}, {0, 2}};
  crossed.bases[lane_bits] = {{1, 1}, {2, 2}};
  expect_law(std::get<LinearLayout>(linear_on(crossed, {})));
}

std::string value_text(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  const Value* value = std::get_if<Value>(&result);
  return value ? text(*value) : std::get<Problem>(result).sentence;
}

TEST(Triton, EncodingsAreReadAsTheCompilerPrintsThem) {
  const std::string encoding =
      "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
      "order = [1, 0]}>";
  const std::string value = value_text(encoding + " on (64,32)");
  EXPECT_NE(value.find("(64,32)"), std::string::npos) << value;
  EXPECT_EQ(value_text("#blocked = " + encoding + " on (64,32)"), value);
  EXPECT_EQ(value_text("X = " + encoding + " on (64,32); X"), value);
  // Without a shape it is what is covered once: 32 x 16.
  EXPECT_EQ(value_text(encoding), value_text(encoding + " on (32,16)"));
  EXPECT_EQ(value_text("#triton_gpu" + encoding.substr(4)), value_text(encoding));
  EXPECT_EQ(value_text("# ttg.blocked is a comment\n4:1"), "4:1");
  // The same bits as a linear encoding.
  EXPECT_EQ(value_text("#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], "
                       "[2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []}>"),
            value_text(encoding));
}

TEST(Triton, WhatIsNoEncodingGetsASentence) {
  const auto says = [](std::string_view expression, std::string_view words) {
    const Evaluated result = evaluate(expression);
    ASSERT_TRUE(std::holds_alternative<Problem>(result)) << expression;
    const Problem& problem = std::get<Problem>(result);
    EXPECT_NE(problem.sentence.find(words), std::string::npos)
        << expression << ": " << problem.sentence;
    EXPECT_LE(problem.begin, expression.size());
  };
  says("#ttg.slice<{dim = 0}>", "blocked");
  says("#ttg.blocked<{sizePerThread = [1]}>", "needs `threadsPerWarp`");
  says("#ttg.blocked<{size = [1]}>", "no field");
  says("#ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
       "powers of two");
  says("#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [1]}>",
       "once");
  says(
      "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [1], "
      "order = [0]}>",
      "every dimension");
  says(
      "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}> "
      "on (48)",
      "powers of two");
  says(
      "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}> "
      "on (4,4)",
      "dimensions");
  says("#ttg.linear<{register = [[0, 1]], lane = [[1]]}>", "every dimension");
  says("#ttg.linear<{registers = [[0, 1]]}>", "no input");
  says("#ttg.linear<{}>", "needs a shape");
  says("#ttg.", "Triton");
  says("#ttg.linear<{register = [[0, 1]", "Expected");
  says("#ttg.linear<{register = 5}>", "Expected");
}

}  // namespace
}  // namespace tilescope::triton
