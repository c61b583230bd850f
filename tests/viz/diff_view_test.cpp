// The heat map of a difference: every wrong element is seen, at any size.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "viz/matrix/diff_json.h"
#include "viz/scene/describe.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

// Small rounding everywhere, and chosen elements wrong.
class Made : public DifferenceSource {
 public:
  Made(std::int64_t rows, std::int64_t columns, std::vector<Element> wrong, float rounding = 1e-6f)
      : rows_(rows), columns_(columns), wrong_(std::move(wrong)), rounding_(rounding) {}
  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  void values(Measured, std::int64_t row, std::int64_t column, std::span<float> difference,
              std::span<std::uint8_t> wrong) const override {
    for (std::size_t k = 0; k < difference.size(); ++k) {
      const std::int64_t j = column + static_cast<std::int64_t>(k);
      ASSERT_LT(row, rows_);
      ASSERT_LT(j, columns_);
      difference[k] = (row + j) % 2 == 0 ? rounding_ : -rounding_ / 2;
      wrong[k] = 0;
      for (const Element& e : wrong_) {
        if (!(e == Element{row, j})) continue;
        wrong[k] = 1;
        difference[k] = e.row == 0 ? std::nanf("") : 2.5f;
      }
    }
  }
  std::string got(std::int64_t row, std::int64_t column) const override {
    return std::to_string(row) + "." + std::to_string(column);
  }
  std::string want(std::int64_t, std::int64_t) const override { return "0.5"; }

 private:
  std::int64_t rows_, columns_;
  std::vector<Element> wrong_;
  float rounding_;
};

DiffView view_of(std::int64_t rows, std::int64_t columns, std::vector<Element> wrong,
                 float rounding = 1e-6f) {
  return DiffView(std::make_shared<Made>(rows, columns, std::move(wrong), rounding), "C = A + B",
                  {{"wrong", "some"}});
}

const Raster& map_of(const Scene& scene) {
  for (const Item& item : scene.items) {
    const Raster* raster = std::get_if<Raster>(&item);
    if (raster != nullptr) return *raster;
  }
  ADD_FAILURE() << "no map";
  static const Raster none{{}, std::make_shared<Image>()};
  return none;
}

std::size_t count(const Raster& map, Rgba colour) {
  std::size_t n = 0;
  for (const Rgba c : map.image->rgba) n += c == colour;
  return n;
}

TEST(Diff, CountsWhatIsWrongAndScalesByWhatIsRight) {
  const DiffView view = view_of(17, 1000, {{3, 4}, {16, 999}});
  EXPECT_EQ(view.wrong_count(), 2);
  EXPECT_FLOAT_EQ(static_cast<float>(view.largest()), 2.5f);
  EXPECT_FLOAT_EQ(static_cast<float>(view.largest_right()), 1e-6f);
}

TEST(Diff, OneWrongElementOfManyIsSeenAtAnySize) {
  for (const Element wrong : {Element{0, 0}, Element{1033, 2047}, Element{777, 1}}) {
    const DiffView view = view_of(1034, 2048, {wrong});
    for (const Size size : {Size{400, 300}, Size{1280, 800}, Size{3000, 2000}}) {
      const DiffFrame frame = arrange(view, Viewport{size});
      const Scene scene = build_scene(view, {}, light_theme(), frame);
      EXPECT_EQ(count(map_of(scene), light_theme().wrong), 1u);
      // And marked, where it is a pixel or less.
      std::size_t rings = 0;
      for (const Item& item : scene.items) {
        const Rectangle* r = std::get_if<Rectangle>(&item);
        if (r == nullptr || r->stroke.ink.role != Role::wrong) continue;
        ++rings;
        EXPECT_TRUE(r->box.grown(2).contains(box_of(frame, wrong).centre()));
      }
      EXPECT_EQ(rings, 1u);
    }
  }
}

// Red, and the redder the more: a scale in the legend says how much.
TEST(Diff, WhatIsWrongSaysHowMuch) {
  const Theme& theme = light_theme();
  const DiffView view = view_of(4, 4, {{2, 2}});
  const Rgba most = view.colour_of(2.5f, true, {}, theme),
             little = view.colour_of(0.5f, true, {}, theme);
  const Rgba less = view.colour_of(-2.5f, true, {}, theme);
  EXPECT_EQ(most, theme.wrong);
  EXPECT_GT(contrast(most, theme.paper), contrast(little, theme.paper));
  EXPECT_GT(less.b, less.g) << "violet where got lies below want";
  const Scene scene = build_scene(view, {}, theme, arrange(view, Viewport{{800, 600}}));
  std::size_t ends = 0;
  for (const Item& item : scene.items) {
    const Text* text = std::get_if<Text>(&item);
    ends += text && (text->text == "2.5" || text->text == "-2.5") && text->ink.role == Role::quiet;
  }
  EXPECT_EQ(ends, 2u);
}

// Among values, which have colours of their own, wrong ones are outlined where cells are small.
TEST(Diff, SmallWrongElementsAmongValuesAreOutlined) {
  std::vector<Element> wrong;
  for (std::int64_t i = 0; i < 16; ++i) wrong.push_back({10 + i / 4, 10 + i % 4});
  const DiffView view(std::make_shared<Made>(200, 200, wrong, 1e-6f), "got", {}, Measured::got);
  const Scene scene = build_scene(view, {}, light_theme(), arrange(view, Viewport{{400, 400}}));
  bool outlined = false;
  for (const Item& item : scene.items) {
    const Segments* lines = std::get_if<Segments>(&item);
    if (lines && lines->stroke.ink.role == Role::wrong) outlined |= lines->lines.size() == 16;
  }
  EXPECT_TRUE(outlined);
}

TEST(Diff, ColoursSayTheSignAndWhiteIsZero) {
  const Theme& theme = light_theme();
  const DiffView view = view_of(4, 4, {{2, 2}});
  EXPECT_EQ(view.colour_of(0, false, {}, theme), rgb(0xffffff));
  EXPECT_EQ(view.colour_of(1e-6f, false, {}, theme), signed_difference(1, false));
  EXPECT_EQ(view.colour_of(0, true, {}, theme), theme.wrong);
  const std::vector<Rgba> colours = view.colours_of(1, 0, 0, 4, 4, {}, theme);
  EXPECT_EQ(colours[0], signed_difference(1, false));
  EXPECT_EQ(colours[1], signed_difference(-0.5, false));
  EXPECT_EQ(colours[10], theme.wrong);
  DiffChoice only;
  only.only_wrong = true;
  EXPECT_EQ(view.colours_of(1, 0, 0, 4, 4, only, theme)[0], theme.panel);
}

TEST(Diff, AnExactResultIsWhite) {
  const DiffView view = view_of(300, 200, {}, 0);
  const Raster map =
      map_of(build_scene(view, {}, light_theme(), arrange(view, Viewport{{900, 700}})));
  EXPECT_EQ(count(map, rgb(0xffffff)), map.image->rgba.size());
}

TEST(Diff, APointIsTheElementDrawnThere) {
  const DiffView view = view_of(40, 60, {{3, 4}});
  DiffFrame frame = arrange(view, Viewport{{800, 600}});
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = 0; j < 60; ++j) {
      const auto found = element_at(view, frame, box_of(frame, {i, j}).centre());
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(*found, (Element{i, j}));
    }
  }
  EXPECT_FALSE(element_at(view, frame, {1, 1}).has_value());
  const Point pointer = box_of(frame, {20, 30}).centre();
  for (int n = 0; n < 5; ++n) frame = arrange(view, zoomed(view, frame, pointer, 1.5));
  EXPECT_EQ(*element_at(view, frame, pointer), (Element{20, 30}));
}

TEST(Diff, ZoomedInACellShowsItsValue) {
  const DiffView view = view_of(64, 64, {{5, 5}});
  Viewport viewport{{800, 600}, 100};
  const Scene scene = build_scene(view, {}, light_theme(), arrange(view, viewport));
  bool wrong = false, right = false;
  for (const Item& item : scene.items) {
    const Text* text = std::get_if<Text>(&item);
    if (text == nullptr) continue;
    wrong = wrong || text->text == "2.5";
    right = right || text->text == "1e-06";
  }
  EXPECT_TRUE(right);
  viewport.pan = {500, 500};
  const Scene there = build_scene(view, {}, light_theme(), arrange(view, viewport));
  for (const Item& item : there.items) {
    const Text* text = std::get_if<Text>(&item);
    wrong = wrong || (text != nullptr && text->text == "2.5");
  }
  EXPECT_TRUE(wrong);
}

TEST(Diff, DescribesTotalsSelectionAndProvenance) {
  const DiffView view = view_of(8, 8, {{3, 4}});
  DiffChoice choice;
  choice.selected = Element{3, 4};
  choice.provenance = {{"written by", "block (0,0,0), warp 0, lane 1"}};
  const Json json =
      describe(view, choice, build_scene(view, choice, light_theme(), arrange(view, Viewport{})));
  EXPECT_EQ(json["wrong"], 1);
  EXPECT_EQ(json["selected"]["got"], "3.4");
  EXPECT_EQ(json["selected"]["want"], "0.5");
  EXPECT_EQ(json["selected"]["verdict"], "wrong");
  EXPECT_EQ(json["provenance"]["written by"], "block (0,0,0), warp 0, lane 1");
  EXPECT_NE(json.dump().find("got minus want"), std::string::npos);
}

TEST(Diff, OddShapesGiveASanePicture) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                                      {0, 5},
                                      {1, 1},
                                      {1, 129},
                                      {100000, 1},
                                      {1, 100000}}) {
    const DiffView view = view_of(rows, columns, {});
    for (const Viewport& viewport :
         {Viewport{}, Viewport{{1, 1}}, Viewport{{800, 600}, std::nan("")},
          Viewport{{800, 600}, 20, {1e9, -1e9}}}) {
      const Scene scene = build_scene(view, {}, light_theme(), arrange(view, viewport));
      EXPECT_GT(scene.items.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace tilescope
