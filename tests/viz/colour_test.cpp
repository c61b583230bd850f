// Colours can be told apart and what is written on them can be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
      EXPECT_GE(contrast(theme->wrong, paper), readable);
    }
  }
}

// A frame of the accent stands between lines of paper, so that it is seen on any cell.
TEST(Contrast, TheFrameOfASelectionIsSeenOnItsPaper) {
  constexpr double seen = 3;  // WCAG 2.1, non-text contrast
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    EXPECT_GE(contrast(theme->accent, theme->paper), seen);
  }
}

// Of the warp that has no hue, the last of eight.
TEST(Contrast, NoLaneLooksLikeNothingWritten) {
  constexpr double apart = 1.2;
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    for (int t = 224; t < 256; ++t) {
      EXPECT_GE(contrast(thread_colour(t, 256, theme->dark), theme->panel), apart) << t;
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

// What the three kinds of dichromats see: Machado, Oliveira, Fernandes, "A Physiologically-based
// Model for Simulation of Color Vision Deficiency" (2009), severity 1.0, on linear light.
using Matrix = std::array<std::array<double, 3>, 3>;
constexpr Matrix full_vision{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix protanopia{{{0.152286, 1.052583, -0.204868},
                             {0.114503, 0.786281, 0.099216},
                             {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deuteranopia{{{0.367322, 0.860646, -0.227968},
                               {0.280085, 0.672501, 0.047413},
                               {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix tritanopia{{{1.255528, -0.076749, -0.178779},
                             {-0.078411, 0.930809, 0.147602},
                             {0.004733, 0.691367, 0.303900}}};

// Oklab (Ottosson 2020, bottosson.github.io/posts/oklab) of a colour as one with such eyes sees it:
// distances in it are alike to the eye wherever they are; 0.02 is about the least that is noticed.
std::array<double, 3> seen(Rgba colour, const Matrix& eyes) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const std::array<double, 3> light{linear(colour.r), linear(colour.g), linear(colour.b)};
  const auto times = [](const Matrix& m, const std::array<double, 3>& v) {
    std::array<double, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) out[i] += m[i][j] * v[j];
    }
    return out;
  };
  std::array<double, 3> rgb_seen = times(eyes, light);
  for (double& c : rgb_seen) c = std::clamp(c, 0.0, 1.0);
  constexpr Matrix to_cones{{{0.4122214708, 0.5363325363, 0.0514459929},
                             {0.2119034982, 0.6806995451, 0.1073969566},
                             {0.0883024619, 0.2817188376, 0.6299787005}}};
  constexpr Matrix to_lab{{{0.2104542553, 0.7936177850, -0.0040720468},
                           {1.9779984951, -2.4285922050, 0.4505937099},
                           {0.0259040371, 0.7827717662, -0.8086757660}}};
  std::array<double, 3> cones = times(to_cones, rgb_seen);
  for (double& c : cones) c = std::cbrt(c);
  return times(to_lab, cones);
}

double distance_seen(Rgba a, Rgba b, const Matrix& eyes) {
  const auto x = seen(a, eyes), y = seen(b, eyes);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

TEST(Palette, EightCategoriesAreToldApartByEveryKindOfEyes) {
  for (const bool dark : {false, true}) {
    for (const Matrix* eyes : {&full_vision, &protanopia, &deuteranopia, &tritanopia}) {
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < i; ++j) {
          EXPECT_GE(distance_seen(category(i, dark), category(j, dark), *eyes),
                    distance_of_categories)
              << hex_of(category(i, dark)) << " " << hex_of(category(j, dark));
        }
      }
    }
  }
  // The measure itself: red and green, which protanopes and deuteranopes confuse.
  EXPECT_GT(distance_seen(rgb(0xa02020), rgb(0x406000), full_vision), 0.15);
  EXPECT_LT(distance_seen(rgb(0xa02020), rgb(0x406000), deuteranopia), 0.06);
}

TEST(Palette, ScalesKeepTheirOrderForEveryKindOfEyes) {
  for (const Matrix* eyes : {&full_vision, &protanopia, &deuteranopia, &tritanopia}) {
    for (int i = 1; i <= 32; ++i) {
      EXPECT_GT(seen(quantity(i / 32.0), *eyes)[0], seen(quantity((i - 1) / 32.0), *eyes)[0]);
    }
    for (const bool dark : {false, true}) {
      EXPECT_GT(distance_seen(signed_difference(-1, dark), signed_difference(1, dark), *eyes), 0.2);
    }
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
