// Still pictures: what colours mean is written, or a note says where there would be room for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"

namespace tilescope {
namespace {

// The labels in each panel's cells, by the panel's title, and the notes.
struct Words {
  std::map<std::string, std::vector<std::string>> labels;
  std::vector<std::string> notes;
  double smallest = 1000, right = 0, bottom = 0;

  bool has(const std::string& panel, const std::string& label) const {
    const auto found = labels.find("panel " + panel);
    return found != labels.end() &&
           std::find(found->second.begin(), found->second.end(), label) != found->second.end();
  }
  bool advises() const {
    return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.find("cells are too") != note.npos || note.find("room") != note.npos;
    });
  }
};
Words words_of(const Scene& scene) {
  Words out;
  std::vector<std::string> path{""};
  std::string panel;
  for (const Item& item : scene.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) {
      path.push_back(begin->name);
      if (begin->name.find("panel ") == 0) panel = begin->name;
    }
    if (std::holds_alternative<GroupEnd>(item)) path.pop_back();
    const Text* text = std::get_if<Text>(&item);
    if (text == nullptr) continue;
    if (path.back() == "cells") out.labels[panel].push_back(text->text);
    if (path.back() == "notes") out.notes.push_back(text->text);
    out.smallest = std::min(out.smallest, text->size);
    const double wide = text_width(text->text, text->size, text->family, text->weight);
    if (text->across == Across::left) out.right = std::max(out.right, text->at.x + wide);
    out.bottom = std::max(out.bottom, text->at.y);
  }
  return out;
}

std::set<std::string> numbers_above(const Scene& scene, const std::string& panel) {
  std::set<std::string> out;
  std::string now, group;
  for (const Item& item : scene.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) {
      group = begin->name;
      if (group.find("panel ") == 0) now = group;
    }
    const Text* text = std::get_if<Text>(&item);
    if (text != nullptr && now == panel && group == "columns") out.insert(text->text);
  }
  return out;
}

TEST(StillPicture, NarrowOperandsHaveTheirNames) {
  const Words ctas = words_of(build_scene(
      view_of("make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,256,K,K>,(2,1))"), {},
      light_theme()));
  for (const char* panel : {"A", "B", "C"}) {
    for (const char* cta : {"CTA0", "CTA1", "CTA2", "CTA3"}) {
      EXPECT_TRUE(ctas.has(panel, cta)) << panel << " " << cta;
    }
  }
  const Words warps = words_of(build_scene(
      view_of("make_tiled_mma(SM90_64x8x16_F32F16F16_SS<K,K>,(2,1))"), {}, light_theme()));
  for (int w = 0; w < 8; ++w) EXPECT_TRUE(warps.has("C", "W" + std::to_string(w))) << w;
  EXPECT_TRUE(warps.has("B", "threads")) << "no thread's own, but nothing without a word";
}

TEST(StillPicture, ASizeWithoutRoomForLabelsNamesOneThatHasIt) {
  const LayoutView mma = view_of("SM80_16x8x16_F32F16F16F32_TN");
  const Words small = words_of(build_scene(mma, {}, light_theme(), Size{700, 500}));
  ASSERT_TRUE(small.advises());
  EXPECT_TRUE(small.labels.empty());
  double width = 0, height = 0;
  ASSERT_EQ(std::sscanf(small.notes.back().c_str(), "%lf x %lf pixels have room for labels", &width,
                        &height),
            2)
      << small.notes.back();
  const Words enough = words_of(build_scene(mma, {}, light_theme(), Size{width, height}));
  EXPECT_FALSE(enough.advises());
  EXPECT_TRUE(enough.has("A", "T5"));
  const Words million =
      words_of(build_scene(view_of("(1024,1024):(1024,1)"), {}, light_theme(), Size{1600, 1000}));
  EXPECT_TRUE(million.advises());
}

// What is cut from a note in a narrow picture must not be the size that it is about.
TEST(StillPicture, ANarrowOneNamesTheWholeSize) {
  const LayoutView mma = view_of("SM80_16x8x16_F32F16F16F32_TN");
  for (const Size size : {Size{400, 600}, Size{300, 500}}) {
    const Words small = words_of(build_scene(mma, {}, light_theme(), size));
    ASSERT_EQ(small.notes.size(), 1u) << size.width;
    double width = 0, height = 0;
    ASSERT_EQ(std::sscanf(small.notes[0].c_str(), "%lf x %lf", &width, &height), 2)
        << small.notes[0];
    EXPECT_LE(small.right, size.width);
    EXPECT_TRUE(words_of(build_scene(mma, {}, light_theme(), Size{width, height})).has("A", "T5"));
    // Either side 30 pixels shorter is not enough: the size named is no wild guess.
    for (const Size less : {Size{width - 30, height}, Size{width, height - 30}}) {
      if (less.width < size.width || less.height < size.height) continue;
      EXPECT_FALSE(words_of(build_scene(mma, {}, light_theme(), less)).has("A", "T5"))
          << less.width << " x " << less.height;
    }
  }
}

// Where a column is a tile, its number stands above each, or the picture says that it is too small.
TEST(StillPicture, StripesHaveTheirNumbers) {
  const LayoutView view = view_of("zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)");
  for (const Size size : {Size{800, 600}, Size{1000, 700}, Size{640, 480}}) {
    const Scene scene = build_scene(view, {}, light_theme(), size);
    const std::set<std::string> numbers = numbers_above(scene, "panel Zipped divide");
    EXPECT_TRUE(numbers.size() == 12 || words_of(scene).notes.size() == 1)
        << size.width << ": " << numbers.size();
  }
}

// A little smaller than it would be is better than without labels.
TEST(StillPicture, IsSetSmallerWhereThatMakesRoom) {
  const LayoutView view = view_of("(16,16):(16,1)");
  const Size natural = arrange(view, {}).viewport.size;
  const Size asked{natural.width * 0.55, natural.height * 0.55};
  ASSERT_FALSE(labels_fit(view, {}, arrange(view, Viewport{asked})));
  const Scene scene = build_scene(view, {}, light_theme(), asked);
  const Words words = words_of(scene);
  EXPECT_EQ(scene.size, asked);
  EXPECT_TRUE(words.has("Layout", "255"));
  EXPECT_LT(words.smallest, small_text);
  EXPECT_GE(words.smallest, small_text * 0.7 - 1e-9);
  EXPECT_LE(words.right, asked.width);
  EXPECT_LE(words.bottom, asked.height);
}

TEST(StillPicture, NoColourIsWithoutWords) {
  for (const char* expression :
       {"(64,64):(64,1)", "(300,300):(300,1)", "((16,8),(16,8)):((1,16),(128,2048))",
        "SM90_64x256x16_F32F16F16_SS<K,K>", "SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,256,K,K>",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (4,2))", "SM90_TMA_LOAD<f16,64,128>",
        "zipped_divide((128,128):(128,1), <16,8>)", "tmem_accumulator(64, 128)",
        "D = S[(128,256):(1@TLane,1@TCol)]; SFA = S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane] + "
        "256@TCol; SFA"}) {
    const LayoutView view = view_of(expression);
    for (const ColourBy by : view.colours()) {
      LayoutChoice choice;
      choice.colour = by;
      for (const Size size : {Size{}, Size{900, 600}, Size{480, 360}}) {
        const Words words = words_of(build_scene(view, choice, light_theme(), size));
        const bool column = view.kind() == LayoutView::Kind::divided && by == ColourBy::tile;
        EXPECT_TRUE(words.advises() || !words.labels.empty() || by == ColourBy::none || column)
            << expression << " by " << name_of(by) << " at " << size.width;
      }
    }
  }
}

// Words and drawn-out operands leave nothing of the grids outside the picture, nor take all of it.
TEST(StillPicture, SmallOnesHaveAllOfTheirGrids) {
  for (const char* expression :
       {"make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,256,K,K>,(2,1))",
        "fragment_C(make_tiled_mma(SM100_MMA_F16BF16_SS<f16,f16,f32,64,64,K,K>), 0, (256,128))"}) {
    const LayoutView view = view_of(expression);
    const Frame frame = arrange(view, Viewport{{640, 480}});
    for (const Frame::Place& place : frame.places) {
      EXPECT_LE(place.box.bottom(), frame.body.bottom() + 1) << expression;
      EXPECT_GE(std::max(place.first.height, place.first.width), 40) << expression;
    }
  }
}

TEST(StillPicture, ATmaBoxHasALabelInEachCell) {
  const Words words =
      words_of(build_scene(view_of("SM90_TMA_LOAD<f16,64,128>"), {}, light_theme()));
  EXPECT_EQ(words.labels.at("panel Box").size(), 64u * 128u);
}

// Four columns are too narrow for a name, and another region stands right of them.
TEST(StillPicture, NarrowRegionsAreNamedBesideThem) {
  const LayoutView view = view_of(
      "D = S[(128,256):(1@TLane,1@TCol)]; SFA = S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane] + "
      "256@TCol; SFB = S[(32,8):(1@TLane,1@TCol)] + R[4:32@TLane] + 260@TCol; SFB");
  const Words words = words_of(build_scene(view, {}, light_theme()));
  EXPECT_TRUE(words.has("TMEM", "D"));
  for (const char* name : {"SFA", "SFB"}) {
    for (const char* copy : {", copy 0", ", copy 1", ", copy 2", ", copy 3"}) {
      EXPECT_TRUE(words.has("TMEM", std::string(name) + copy)) << name << copy;
    }
  }
}

// Of M 64 two tiles share each warp's lanes, 16 each (PTX ISA 9.7.16.10.5, layout F).
TEST(StillPicture, InterleavedTilesAreToldApart) {
  const Words words = words_of(build_scene(
      view_of("fragment_C(make_tiled_mma(SM100_MMA_F16BF16_SS<f16,f16,f32,64,64,K,K>), 0, "
              "(256,128))"),
      {}, light_theme()));
  EXPECT_EQ(words.labels.at("panel TMEM").size(), 32u);
  EXPECT_TRUE(words.has("TMEM", "m 208-223, n 64-127"));
}

// "+n" is explained where a cell says it.
TEST(StillPicture, ExplainsACountWhereThereIsOne) {
  const LayoutView view =
      view_of("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2,1), <32,32,16>)");
  const auto explained = [](const Scene& scene) {
    bool counted = false, said = false;
    for (const auto& [panel, labels] : words_of(scene).labels) {
      for (const std::string& label : labels) counted |= label.find('+') != label.npos;
    }
    for (const std::string& note : words_of(scene).notes) said |= note.find("+n") != note.npos;
    return std::pair{counted, said};
  };
  EXPECT_EQ(explained(build_scene(view, {}, light_theme())), (std::pair{false, false}));
  LayoutChoice threads;
  threads.colour = ColourBy::thread;
  Viewport viewport;
  viewport.size = {2000, 1600};
  viewport.cell = 56;  // one owner a cell
  EXPECT_EQ(explained(build_scene(view, threads, light_theme(), arrange(view, viewport, threads))),
            (std::pair{true, true}));
}

TEST(StillPicture, SaysWhatTheLinesAroundPartsMean) {
  const auto says = [](std::string_view expression, Size size) {
    std::vector<std::string> out;
    const Scene scene = build_scene(view_of(expression), {}, light_theme(), size);
    for (const Item& item : scene.items) {
      const Text* text = std::get_if<Text>(&item);
      if (text == nullptr || text->text.find(" grid") == text->text.npos) continue;
      out.push_back(text->text);
      EXPECT_LE(text->at.x + text_width(text->text, text->size, text->family, text->weight),
                scene.size.width);
    }
    return out;
  };
  for (const Size size : {Size{}, Size{900, 600}}) {
    EXPECT_EQ(says("local_tile((16,16):(16,1), (8,4), (1,2))", size),
              std::vector<std::string>{"in the next grid"});
    EXPECT_TRUE(says("(16,16):(16,1)", size).empty());
  }
}

// ldmatrix moves matrices of 8 rows: a line stands between two of them, and none in other copies.
TEST(StillPicture, MatricesOfACopyAreParted) {
  for (const auto& [name, lines] :
       {std::pair{"SM75_U32x4_LDSM_N", 1}, std::pair{"SM90_U32x2_STSM_N", 1},
        std::pair{"UniversalCopy<u128,f16>", 0}}) {
    const LayoutView view = view_of(name);
    for (const Panel& panel : view.panels()) {
      int eights = 0;
      for (const Division& each : panel.row_divisions) eights += each.period == 8;
      EXPECT_EQ(eights, lines) << name << " " << panel.title;
    }
  }
}

// A size beyond what a picture takes of its own accord is named all the same where it is thin.
TEST(StillPicture, LongRowsNameTheSizeForTheirLabels) {
  const Scene scene = build_scene(view_of("(2,300):(1,2)"), {}, light_theme());
  const Words words = words_of(scene);
  ASSERT_EQ(words.notes.size(), 1u);
  double width = 0, height = 0;
  ASSERT_EQ(std::sscanf(words.notes[0].c_str(), "%lf x %lf", &width, &height), 2);
  EXPECT_TRUE(
      words_of(build_scene(view_of("(2,300):(1,2)"), {}, light_theme(), Size{width, height}))
          .has("Layout", "599"));
}

}  // namespace
}  // namespace tilescope
