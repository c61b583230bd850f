// Colours can be told apart and what is written on them can be read.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "viz/scene/font_metrics.h"
#include "viz/scene/palette.h"
#include "viz/scene/theme.h"

namespace tilescope {
namespace {

constexpr double readable = 4.5;  // WCAG 2.1, level AA

void expect_readable(Rgba background) {
  EXPECT_GE(contrast(text_on(background), background), readable) << hex_of(background);
}

TEST(Contrast, IsTheRatioOfWcag) {
  EXPECT_NEAR(contrast(rgb(0x000000), rgb(0xffffff)), 21, 1e-9);
  EXPECT_NEAR(contrast(rgb(0xffffff), rgb(0xffffff)), 1, 1e-9);
  EXPECT_NEAR(contrast(rgb(0x777777), rgb(0xffffff)), 4.48, 0.005);  // a known near miss
}

TEST(Contrast, TextOnAnyCellIsReadable) {
  for (const bool dark : {false, true}) {
    for (int i = 0; i < distinct_categories; ++i) expect_readable(category(i, dark));
    for (int t = 0; t < 1024; ++t) expect_readable(thread_colour(t, 1024, dark));
    for (int i = -100; i <= 100; ++i) expect_readable(signed_difference(i / 100.0, dark));
  }
  for (int i = 0; i <= 100; ++i) expect_readable(quantity(i / 100.0));
  for (std::uint32_t r = 0; r < 256; r += 15) {
    for (std::uint32_t g = 0; g < 256; g += 15) {
      for (std::uint32_t b = 0; b < 256; b += 15) expect_readable(rgb(r << 16 | g << 8 | b));
    }
  }
}

TEST(Contrast, TheThemesWordsAreReadableOnTheirPaperAndPanels) {
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    for (const Rgba paper : {theme->paper, theme->panel}) {
      EXPECT_GE(contrast(theme->text, paper), readable);
      EXPECT_GE(contrast(theme->quiet, paper), readable);
    }
  }
}

TEST(Palette, BeginsWithOkabeAndItosEight) {
  std::set<std::string> first;
  for (int i = 0; i < 8; ++i) first.insert(hex_of(category(i, false)));
  const std::set<std::string> published{"#000000", "#e69f00", "#56b4e9", "#009e73",
                                        "#f0e442", "#0072b2", "#d55e00", "#cc79a7"};
  EXPECT_EQ(first, published);
}

TEST(Palette, CategoriesDifferUntilTheyRepeat) {
  for (const bool dark : {false, true}) {
    std::set<std::string> seen;
    for (int i = 0; i < distinct_categories; ++i) seen.insert(hex_of(category(i, dark)));
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(distinct_categories));
    EXPECT_EQ(category(distinct_categories, dark), category(0, dark));
  }
}

TEST(Palette, ThreadsOfABlockAllDiffer) {
  for (const int threads : {8, 32, 128, 512}) {
    std::set<std::string> seen;
    for (int t = 0; t < threads; ++t) seen.insert(hex_of(thread_colour(t, threads, false)));
    // From the ninth warp on, the greys repeat themselves.
    EXPECT_GE(seen.size(), static_cast<std::size_t>(threads > 256 ? threads - 32 : threads));
  }
}

TEST(Palette, AWarpIsAHueFromLightToDark) {
  for (int warp = 0; warp < 8; ++warp) {
    for (int lane = 1; lane < 32; ++lane) {
      EXPECT_LT(luminance(thread_colour(32 * warp + lane, 256, false)),
                luminance(thread_colour(32 * warp + lane - 1, 256, false)));
    }
  }
}

TEST(Palette, QuantitiesGetLighterAndDifferencesAreWhiteAtZero) {
  for (int i = 1; i <= 64; ++i) {
    EXPECT_GT(luminance(quantity(i / 64.0)), luminance(quantity((i - 1) / 64.0)));
  }
  EXPECT_EQ(signed_difference(0, false), rgb(0xffffff));
  EXPECT_GT(signed_difference(-1, false).b, signed_difference(-1, false).r);  // blue
  EXPECT_GT(signed_difference(1, false).r, signed_difference(1, false).b);    // orange
  EXPECT_EQ(signed_difference(std::nan(""), false), rgb(0xffffff));
  EXPECT_EQ(quantity(std::nan("")), quantity(0));
}

TEST(FontMetrics, MonoIsEvenAndFittedTextFits) {
  EXPECT_DOUBLE_EQ(text_width("0000", 13, Family::mono), 4 * text_width("0", 13, Family::mono));
  const std::string whole = "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)";
  EXPECT_EQ(fitted(whole, 10000, 13, Family::mono), whole);
  for (double width = 0; width < 500; width += 7) {
    const std::string cut = fitted(whole, width, 13, Family::sans);
    EXPECT_LE(text_width(cut, 13, Family::sans), width);
  }
  const std::string cut = fitted(whole, 200, 13, Family::mono);
  EXPECT_EQ(cut.substr(0, 6), "zipped");
  EXPECT_EQ(cut.back(), ')');
}

}  // namespace
}  // namespace tilescope
