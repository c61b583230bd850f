// Colours of CUDA C++ in the source views.
#include "viz/scene/cuda_text.h"

#include <gtest/gtest.h>

namespace tilescope {
namespace {

// "keyword|plain|..." of a line, and the letters of each part.
std::string parts(std::string_view line, bool in_comment = false) {
  constexpr std::string_view names[] = {"", "K", "T", "C", "S", "N", "P"};
  std::string out;
  std::size_t at = 0;
  for (const CudaSpan& span : cuda_spans(line, in_comment)) {
    EXPECT_EQ(span.begin, at) << line;
    at = span.end;
    const auto name = names[static_cast<std::size_t>(span.part)];
    const auto words = std::string(line.substr(span.begin, span.end - span.begin));
    out += name.empty() ? words : std::string(name) + "{" + words + "}";
  }
  EXPECT_EQ(at, line.size()) << line << ": all of it is covered";
  return out;
}

TEST(CudaText, ReadsKeywordsTypesNumbersTextAndComments) {
  EXPECT_EQ(parts("__global__ void add(const float* a, int n) {"),
            "K{__global__} T{void} add(K{const} T{float}* a, T{int} n) {");
  EXPECT_EQ(parts("  if (i < 0x1Fu) return;  // the end"),
            "  K{if} (i < N{0x1Fu}) K{return};  C{// the end}");
  EXPECT_EQ(parts("std::uint32_t x = 1'000 + 1.5e-3f;"),
            "std::T{uint32_t} x = N{1'000} + N{1.5e-3f};");
  EXPECT_EQ(parts("print(\"a \\\" // b\", 'x');"), "print(S{\"a \\\" // b\"}, S{'x'});");
  EXPECT_EQ(parts("#include <cuda_fp16.h>"), "P{#include} S{<cuda_fp16.h>}");
  EXPECT_EQ(parts("#pragma unroll 4"), "P{#pragma} unroll N{4}");
  EXPECT_EQ(parts("integer forward doubled"), "integer forward doubled");
  EXPECT_EQ(parts(""), "");
}

TEST(CudaText, CommentsMayGoOverLines) {
  bool inside = false;
  EXPECT_EQ(cuda_spans("int a; /* from here", inside).back().part, CudaPart::comment);
  EXPECT_TRUE(inside);
  EXPECT_EQ(cuda_spans("int b;", inside).size(), 1u);
  EXPECT_TRUE(inside);
  EXPECT_EQ(parts("to here */ int c;", true), "C{to here */} T{int} c;");
  EXPECT_EQ(parts("a /* b */ 1"), "a C{/* b */} N{1}");
}

TEST(CudaText, TextThatDoesNotEndBreaksNothing) {
  EXPECT_EQ(parts("\"never ends"), "S{\"never ends}");
  EXPECT_EQ(parts("'\\"), "S{'\\}");
  EXPECT_EQ(parts("#"), "P{#}");
  EXPECT_EQ(parts("#include <"), "P{#include} S{<}");
}

TEST(CudaText, EveryPartIsReadInBothThemes) {
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    for (int part = 0; part <= static_cast<int>(CudaPart::preprocessor); ++part) {
      const Rgba colour = colour_of(static_cast<CudaPart>(part), *theme);
      EXPECT_GE(contrast(colour, theme->paper), 4.5) << hex_of(colour);
      EXPECT_GE(contrast(colour, theme->panel), 4.5) << hex_of(colour);
    }
  }
}

}  // namespace
}  // namespace tilescope
