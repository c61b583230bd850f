// What the field offers at the caret.
#include "core/language/completion.h"

#include <gtest/gtest.h>

#include "core/language/language.h"

namespace tilescope {
namespace {

std::vector<std::string> texts(const Completions& found) {
  std::vector<std::string> out;
  for (const Completion& each : found.all) out.push_back(each.text);
  return out;
}
Completions at_end(std::string_view text) {
  return completions(text, text.size());
}
bool offers(const Completions& found, std::string_view text) {
  for (const Completion& each : found.all) {
    if (each.text == text) return true;
  }
  return false;
}

TEST(Completion, WhatBeginsLikeTheWordComesFirst) {
  const Completions found = at_end("composition(A, zipped_");
  EXPECT_EQ(found.begin, 15u);
  EXPECT_EQ(found.end, 22u);
  ASSERT_GE(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].text.substr(0, 7), "zipped_");
  EXPECT_NE(found.all[0].detail.find("("), std::string::npos);
  EXPECT_EQ(found.all[0].kind, Completion::Kind::function);
  EXPECT_TRUE(offers(at_end("divide"), "logical_divide")) << "what holds the word comes behind";
}

TEST(Completion, BoundNamesComeWithTheirValues) {
  const Completions found = at_end("Tile = <4,4>; Tall = (8,8):(8,1); bad = (; zipped_divide(Ta");
  ASSERT_FALSE(found.all.empty());
  EXPECT_EQ(found.all[0].text, "Tall");
  EXPECT_EQ(found.all[0].detail, "(8,8):(8,1)");
  EXPECT_FALSE(offers(at_end("Ta = 4:1"), "Ta")) << "a name is not bound while it is being bound";
}

TEST(Completion, AtomsComplete) {
  const Completions found = at_end("make_tiled_mma(SM80_16x8x16_F32F16");
  ASSERT_FALSE(found.all.empty());
  EXPECT_EQ(found.all[0].text, "SM80_16x8x16_F32F16F16F32_TN");
  EXPECT_EQ(found.all[0].kind, Completion::Kind::atom);
}

TEST(Completion, NumbersBlanksAndWholeWordsCompleteToNothing) {
  for (const char* text : {"", "   ", "(8,8", "12", "A(_", "coalesce(", "f(x) "}) {
    EXPECT_TRUE(at_end(text).all.empty()) << text;
  }
  EXPECT_FALSE(offers(at_end("zipped_divide"), "zipped_divide"));
}

TEST(Completion, TheCaretMayStandAnywhereInAnyText) {
  const std::string text = "A = (8,8):(8,1); zipped_divide(A, <4,4>) // Sw<3,3,3> o )(";
  for (std::size_t caret = 0; caret <= text.size() + 3; ++caret) {
    const Completions found = completions(text, caret);
    EXPECT_LE(found.begin, found.end);
    EXPECT_LE(found.end, text.size());
    for (const std::string& each : texts(found)) EXPECT_FALSE(each.empty());
    (void)signature_at(text, caret);
  }
}

TEST(SignatureHelp, NamesTheParameterAtTheCaret) {
  const auto parameter = [](std::string_view text) -> std::string {
    const std::optional<Signature> found = signature_at(text, text.size());
    if (!found) return "none";
    return std::string(found->name) + ":" +
           std::string(found->parameters.substr(found->begin, found->end - found->begin));
  };
  EXPECT_EQ(parameter("composition("), "composition:A");
  EXPECT_EQ(parameter("composition((4,8):(1,4), "), "composition:B");
  EXPECT_EQ(parameter("composition(A, B, "), "composition:");
  EXPECT_EQ(parameter("coalesce(zipped_divide(A, <4,"), "zipped_divide:TILER");
  EXPECT_EQ(parameter("coalesce(zipped_divide(A, <4,4>)"), "coalesce:L");
  EXPECT_EQ(parameter("bank_conflicts(L, 4, "), "bank_conflicts:ELEMENT");
  EXPECT_EQ(parameter("find_swizzle(L, 4, 2, P, Q, R"), "find_swizzle:LANES...");
  EXPECT_EQ(parameter("(4,8):(1,"), "none");
  EXPECT_EQ(parameter("A = coalesce(B; "), "none");
  EXPECT_EQ(parameter("coalesce(B)"), "none");
}

}  // namespace
}  // namespace tilescope
