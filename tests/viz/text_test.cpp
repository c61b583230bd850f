// Pictures made of characters, and pictures as TeX.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"
#include "viz/layout/layout_text.h"
#include "viz/layout/presets.h"
#include "viz/paint/text.h"
#include "viz/paint/tikz.h"

namespace tilescope {
namespace {

std::string plain(const LayoutView& view, const LayoutChoice& choice = {}, int columns = 0) {
  return paint_text(text_page(view, choice, light_theme(), columns), TextColours::none);
}

int widest_line(std::string_view text) {
  int widest = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    widest = std::max(widest, columns_of(text.substr(0, end)));
    text.remove_prefix(std::min(end, text.size() - 1) + 1);
  }
  return widest;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(TextPicture, IsAGridWithHeavyLinesBetweenTheParts) {
  EXPECT_EQ(plain(view_of("(2,(2,2)):(4,(1,2))")),
            "(2,(2,2)):(4,(1,2))\n"
            "\n"
            "Layout  mode 0 down, mode 1 across\n"
            "   0 1 2 3\n"
            "  ┌─┬─┰─┬─┐\n"
            "0 │0│1┃2│3│\n"
            "  ├─┼─╂─┼─┤\n"
            "1 │4│5┃6│7│\n"
            "  └─┴─┸─┴─┘\n");
}

TEST(TextPicture, CellsSayWhatTheirColourWould) {
  const Outcome<LayoutView> volta = open_preset(presets()[1]);
  ASSERT_TRUE(volta.ok());
  EXPECT_TRUE(has(plain(*volta), "│T5 V0│T5 V1│T7 V0│T7 V1│T5 V4│"));
  LayoutChoice banks;
  banks.colour = ColourBy::bank;
  EXPECT_TRUE(has(plain(view_of("(2,2):(32,1)"), banks), "│32 b0│33 b1│"));
}

TEST(TextPicture, SlicesStandBesideEachOtherWithTheirCoordinates) {
  const std::string text = plain(view_of("(2,2,2,3):(1,2,4,8)"));
  const std::size_t first = text.find("(_,_,0,0)"), second = text.find("(_,_,1,0)");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.substr(first, second - first).find('\n'), std::string::npos) << "mode 2 across";
  EXPECT_TRUE(has(text, "(_,_,1,2)"));
}

TEST(TextPicture, RepetitionsOfAStrideOf0HaveATick) {
  const std::string text = plain(view_of("(2,2):(0,1)"));
  EXPECT_TRUE(has(text, "│0 │1 │")) << text;
  EXPECT_TRUE(has(text, "│0'│1'│")) << text;
}

TEST(TextPicture, FitsTheWidthAskedAndSaysWhatIsCut) {
  const std::string text = plain(view_of("(4,64):(64,1)"), {}, 60);
  EXPECT_LE(widest_line(text), 60) << text;
  EXPECT_TRUE(has(text, "14 columns of 64 are shown")) << text;
  EXPECT_FALSE(has(plain(view_of("(4,64):(64,1)")), "are shown"));
}

TEST(TextPicture, ColoursAreEscapesOnlyWhereAskedAndEndWithTheLine) {
  const TextPage page = text_page(view_of("(2,2):(2,1)"), {}, light_theme());
  EXPECT_FALSE(has(paint_text(page, TextColours::none), "\x1b"));
  const std::string full = paint_text(page, TextColours::full);
  EXPECT_TRUE(has(full, ";48;2;0;32;77m0")) << "0 on cividis' darkest";
  EXPECT_TRUE(has(full, ";38;2;255;255;255;")) << "in white";
  EXPECT_TRUE(has(paint_text(page, TextColours::cube), ";48;5;"));
  std::size_t begin = 0;
  for (std::size_t end = full.find('\n'); end != std::string::npos; end = full.find('\n', begin)) {
    const std::string line = full.substr(begin, end - begin);
    const std::size_t last = line.rfind("\x1b[");
    if (last != std::string::npos) {
      EXPECT_EQ(line.substr(last, 4), "\x1b[0m");
    }
    begin = end + 1;
  }
}

TEST(TextPage, LinesJoinWhereTheyMeet) {
  TextPage page;
  page.across(0, 0, 2, LineWeight::light);
  page.across(1, 0, 2, LineWeight::heavy);
  page.across(2, 0, 2, LineWeight::light);
  page.down(0, 0, 2, LineWeight::light);
  page.down(0, 1, 2, LineWeight::heavy);
  page.down(0, 2, 2, LineWeight::light);
  EXPECT_EQ(paint_text(page, TextColours::none), "┌┰┐\n┝╋┥\n└┸┘\n");
}

// --- TeX --------------------------------------------------------------------------------------

// Braces, environments and nodes that are closed as they were opened: what pdflatex stumbles over
// first. Comments and escaped signs are left out.
std::string fault_in(const std::string& tex) {
  int braces = 0;
  std::vector<std::string> open;
  for (std::size_t i = 0; i < tex.size(); ++i) {
    if (tex[i] == '%') {
      i = tex.find('\n', i);
      if (i == std::string::npos) break;
      continue;
    }
    if (static_cast<unsigned char>(tex[i]) >= 0x80) return "a sign outside ASCII";
    if (tex[i] == '\\') {
      for (const auto& [word, opens] : {std::pair{"\\begin{", true}, std::pair{"\\end{", false}}) {
        const std::string_view begins(word);
        if (tex.compare(i, begins.size(), begins) != 0) continue;
        const std::size_t at = i + begins.size();
        const std::string name = tex.substr(at, tex.find('}', at) - at);
        if (opens) {
          open.push_back(name);
        } else if (open.empty() || open.back() != name) {
          return "ends " + name;
        } else {
          open.pop_back();
        }
      }
      ++i;
      continue;
    }
    braces += (tex[i] == '{') - (tex[i] == '}');
    if (braces < 0) return "a closing brace too many";
  }
  if (braces != 0) return "an open brace";
  return open.empty() ? "" : "an open " + open.back();
}

TEST(Tikz, IsADocumentThatIsClosedAsItWasOpened) {
  for (const char* expression :
       {"zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)", "(4,6,3,2):(1,4,24,72)",
        "make_layout_tv((4,32):(32,1), (4,4):(4,1))", "(8,8):(0,1)", "(300,300):(300,1)"}) {
    for (const Theme* theme : {&light_theme(), &dark_theme()}) {
      const std::string tex = paint_tikz(build_scene(view_of(expression), {}, *theme));
      EXPECT_EQ(fault_in(tex), "") << expression;
      EXPECT_TRUE(has(tex, "\\documentclass") && has(tex, "\\end{document}\n"));
    }
  }
}

TEST(Tikz, EachLabelStandsOnceWithTeXsSignsEscaped) {
  Scene scene = build_scene(view_of("(2,2):(2,1)"), {}, light_theme());
  scene.items.clear();
  Text text;
  text.text = "a_b & 50% {x} #1 $ ^ ~ \\ \u2192 \u2026";
  scene.add(text);
  const std::string tex = paint_tikz(scene);
  EXPECT_TRUE(has(tex,
                  "{a\\_b \\& 50\\% \\{x\\} \\#1 \\$ \\textasciicircum{} \\textasciitilde{} "
                  "\\textbackslash{} $\\to$ \\dots{}}"))
      << tex;
}

TEST(Tikz, TexsMemoryHoldsAMillionCells) {
  const std::string tex =
      paint_tikz(build_scene(view_of("(1024,1024):(1024,1)"), {}, light_theme()));
  EXPECT_LT(tex.size(), 2000000u);
  EXPECT_TRUE(has(tex, "1024 x 1024 cells, drawn as the means of 8 x 8 each"));
}

}  // namespace
}  // namespace tilescope
