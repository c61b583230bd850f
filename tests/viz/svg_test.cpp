// The SVG a scene becomes: well-formed, small, and free of what is not a number.
#include <gtest/gtest.h>

#include <cmath>

#include "viz/layout/layout_scene.h"
#include "viz/layout/presets.h"
#include "viz/paint/small_png.h"
#include "viz/paint/svg.h"

namespace tilescope {
namespace {

// Reads tags strictly enough for this: balanced, attributes quoted and named once, text escaped.
// Answers what is wrong, or nothing.
std::string fault_in(const std::string& xml) {
  std::vector<std::string> open;
  bool root = false;
  for (std::size_t i = 0; i < xml.size();) {
    if (xml[i] != '<') {
      const std::size_t end = std::min(xml.find('<', i), xml.size());
      const std::string text = xml.substr(i, end - i);
      if (text.find('>') != std::string::npos && open.back() != "style")
        return "a bare > in " + text;
      for (std::size_t a = text.find('&'); a != std::string::npos; a = text.find('&', a + 1)) {
        const std::string entity = text.substr(a, text.find(';', a) - a + 1);
        if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
          return "entity " + entity;
        }
      }
      if (open.empty() && text.find_first_not_of("\n ") != std::string::npos) return "text outside";
      i = end;
      continue;
    }
    const std::size_t end = xml.find('>', i);
    if (end == std::string::npos) return "a tag without end";
    std::string tag = xml.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes " + tag;
      open.pop_back();
      continue;
    }
    const bool alone = tag.back() == '/';
    if (alone) tag.pop_back();
    if (open.empty() && root) return "a second root";
    root = true;
    std::size_t at = tag.find(' ');
    const std::string name = tag.substr(0, at);
    std::vector<std::string> attributes;
    while (at != std::string::npos && (at = tag.find_first_not_of(' ', at)) != std::string::npos) {
      const std::size_t equals = tag.find("=\"", at);
      if (equals == std::string::npos) return "attribute in " + tag.substr(0, 80);
      const std::size_t close = tag.find('"', equals + 2);
      if (close == std::string::npos) return "quote in " + tag.substr(0, 80);
      const std::string attribute = tag.substr(at, equals - at);
      if (std::find(attributes.begin(), attributes.end(), attribute) != attributes.end()) {
        return attribute + " twice in " + tag.substr(0, 80);
      }
      attributes.push_back(attribute);
      at = close + 1;
      if (at < tag.size() && tag[at] != ' ') return "blank after " + attribute;
    }
    if (!alone) open.push_back(name);
  }
  return open.empty() ? "" : "open " + open.back();
}

Scene scene_of(std::string_view expression, Size size = {}) {
  Outcome<LayoutView> view = LayoutView::of_expression(expression);
  EXPECT_TRUE(view.ok()) << expression;
  return build_scene(*view, {}, light_theme(), size);
}

TEST(Svg, IsWellFormed) {
  for (const Preset& preset : presets()) {
    const Outcome<LayoutView> view = open_preset(preset);
    for (const Theme* theme : {&light_theme(), &dark_theme()}) {
      const std::string svg = paint_svg(build_scene(*view, {}, *theme));
      EXPECT_EQ(fault_in(svg), "");
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_EQ(svg.find("inf"), std::string::npos);
    }
  }
  for (const char* expression : {"Sw<3,3,3> o 0 o (8,64):(64,1)", "(1024,1024):(1024,1)", "1:0",
                                 "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)"}) {
    EXPECT_EQ(fault_in(paint_svg(scene_of(expression))), "") << expression;
  }
}

TEST(Svg, SaysEveryLabelAsText) {
  const std::string svg = paint_svg(scene_of("(4,8):(8,1)"));
  for (int i = 0; i < 32; ++i) {
    EXPECT_NE(svg.find(">" + std::to_string(i) + "</text>"), std::string::npos) << i;
  }
  const std::string divided = paint_svg(scene_of("zipped_divide((8,8):(8,1), <2,4>)"));
  EXPECT_NE(divided.find("&lt;2,4&gt;"), std::string::npos);  // the title
}

TEST(Svg, OwnersWithoutRoomAreInATitle) {
  // Eight threads hold each of two elements: three stand in the cell, all in its title.
  const std::string svg = paint_svg(scene_of("make_layout_tv(2:1, 1:0)"));
  EXPECT_EQ(svg.find("class=\"hints\""), std::string::npos) << "one owner needs no title";
  const Layout shared = std::get<Layout>(std::get<Value>(evaluate("(8,2):(0,1)")));
  const Scene scene = build_scene(*LayoutView::thread_value(shared, Tuple(2)), {}, light_theme());
  const std::string crowded = paint_svg(scene);
  EXPECT_EQ(fault_in(crowded), "");
  EXPECT_NE(crowded.find(">T2 V1</text>"), std::string::npos);
  EXPECT_NE(crowded.find(">+5</text>"), std::string::npos);
  EXPECT_NE(crowded.find("<title>(0,1): T0 V1, T1 V1, T2 V1, T3 V1, T4 V1, T5 V1, T6 V1, T7 V1"),
            std::string::npos);
}

TEST(Svg, ALabelled128By128LayoutIsSmall) {
  const std::string svg = paint_svg(scene_of("(128,128):(128,1)"));
  EXPECT_NE(svg.find(">16383</text>"), std::string::npos);
  EXPECT_LT(svg.size(), 1200000u);
}

// A number and a mark in each cell, and neighbours of different colours.
TEST(Svg, ALabelled128By128LayoutIsSmallInEveryColour) {
  for (const char* expression :
       {"(128,128):(128,1)", "((8,16),(16,8)):((1,128),(8,2048))",
        "Sw<3,3,3> o 0 o (128,128):(128,1)",
        "zipped_divide((128,128):(128,1), <16:8,(8,2):(2,64)>)",
        "make_layout_tv((16,16):(16,1), (8,8):(8,1))",
        "layout_C_TV(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (4,2), <128,128,16>))"}) {
    const Outcome<LayoutView> view = LayoutView::of_expression(expression);
    ASSERT_TRUE(view.ok()) << expression;
    const double grids = static_cast<double>(view->panels().size());
    for (const ColourBy by : view->colours()) {
      LayoutChoice choice;
      choice.colour = by;
      const std::string svg = paint_svg(build_scene(*view, choice, light_theme()));
      EXPECT_LT(static_cast<double>(svg.size()), grids * 1200000) << expression << name_of(by);
      EXPECT_NE(svg.find("</text>"), std::string::npos) << expression << name_of(by);
    }
  }
}

TEST(Svg, ManyCellsAreOneImage) {
  const std::string svg = paint_svg(scene_of("(1024,1024):(1024,1)"));
  EXPECT_NE(svg.find("data:image/png;base64,iVBORw0KGgo"), std::string::npos);
  EXPECT_LT(svg.size(), 200000u);
}

TEST(Svg, SurvivesWhatIsNotANumber) {
  Scene scene;
  scene.size = {std::nan(""), -5};
  scene.theme = light_theme();
  scene.title = "a < b & \"c\"\x01";
  Rectangle box;
  box.box = {std::nan(""), 1e300, 10, 10};
  box.fill = Ink(Role::accent);
  scene.add(box);
  Line line;
  line.points = {{0, 0}, {std::nan(""), 1e18}};
  line.stroke = {Role::text, 1, true};
  line.arrow = true;
  scene.add(line);
  scene.begin("never closed", Box{0, 0, -1, std::nan("")});
  scene.add(Raster{{0, 0, 10, 10}, std::make_shared<Image>()});
  const std::string svg = paint_svg(scene);
  EXPECT_EQ(fault_in(svg), "");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;</title>"), std::string::npos);
}

TEST(Svg, EqualScenesGiveEqualBytes) {
  EXPECT_EQ(paint_svg(scene_of("(16,16):(16,1)")), paint_svg(scene_of("(16,16):(16,1)")));
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace tilescope
