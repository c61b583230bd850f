// Why a run took so long, of a record that was made by hand (tests/sim/pipeline_record.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/sim/pipeline_record.h"
#include "viz/why/why_scene.h"

namespace tilescope {
namespace {

std::shared_ptr<const WhyView> why(sim::Record made) {
  auto record = std::make_shared<const sim::Record>(std::move(made));
  auto timeline = std::make_shared<const sim::Timeline>(*record);
  return std::make_shared<const WhyView>(record, timeline);
}
std::shared_ptr<const WhyView> why() {
  sim::Record record = test::pipeline_record();
  test::add_uses(record);
  return why(std::move(record));
}

struct Drawn {
  Scene scene;
  WhyFrame frame;
};
Drawn draw(const WhyView& view, const sim::WhatIf& what, Size size = {1000, 700}) {
  Drawn out;
  out.scene.size = size;
  out.scene.theme = light_theme();
  Scroll scroll;
  const WhyAnswer answer = view.ask(what);
  out.frame = draw_why(out.scene, {view, answer, out.scene.theme}, size, scroll);
  return out;
}
bool says(const Scene& scene, const std::string& part) {
  return std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& item) {
    const Text* text = std::get_if<Text>(&item);
    return text && text->text.find(part) != std::string::npos;
  });
}
// Boxes of the colour that a kind's bar has: how wide they are, all together.
double reach_of(const Scene& scene, const std::string& group) {
  double right = 0;
  bool inside = false;
  for (const Item& item : scene.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) inside = begin->name == group;
    if (std::holds_alternative<GroupEnd>(item)) inside = false;
    const auto* box = std::get_if<Rectangle>(&item);
    if (inside && box && box->fill && box->fill->role == Role::own) {
      right = std::max(right, box->box.right());
    }
  }
  return right;
}

TEST(WhyView, AnswersTheUsualQuestions) {
  const auto view = why();
  EXPECT_EQ(view->run().end, 340);
  ASSERT_EQ(view->usual().size(), 4u);
  EXPECT_EQ(view->usual()[0].text, "copies twice as fast");
  EXPECT_EQ(view->usual()[0].answer.end, 300);  // added up in tests/sim/critical_path_test.cpp
  EXPECT_EQ(view->ask({.barriers = 0}).end, 328);
}

TEST(WhyView, ThePictureSaysTheTimeAndWhatItWentTo) {
  const auto view = why();
  const Drawn d = draw(*view, {});
  EXPECT_TRUE(says(d.scene, "Why pipeline takes 340 cycles"));
  EXPECT_TRUE(says(d.scene, "copies in 23.5%"));  // 80 of 340
  EXPECT_FALSE(says(d.scene, "then"));
  // Each step leads to its event.
  EXPECT_TRUE(std::any_of(d.scene.targets.begin(), d.scene.targets.end(),
                          [](const Target& t) { return t.command.starts_with("pick event "); }));
}

// Where there is room for it, whole.
TEST(WhyView, WhatIsLeftOutIsSaidToItsEnd) {
  const auto view = why();
  for (const Size size : {Size{1000, 900}, Size{1280, 1000}, Size{2000, 1400}}) {
    const Drawn d = draw(*view, {.copies = 0.5}, size);
    EXPECT_TRUE(says(d.scene, "to which SM.")) << size.width;
    EXPECT_FALSE(says(d.scene, "\u2026")) << size.width;
  }
}

TEST(WhyView, WhatIsAskedStandsBelowOnTheSameScale) {
  const auto view = why();
  const Drawn d = draw(*view, {.copies = 0.5});
  EXPECT_TRUE(says(d.scene, "300 cycles, 11.8% less"));
  EXPECT_TRUE(says(d.scene, "copies at 50%"));
  const double whole = reach_of(d.scene, "chain"), then = reach_of(d.scene, "chain then");
  const double begin = 16 + 104;  // where time 0 is
  EXPECT_NEAR((then - begin) / (whole - begin), 300.0 / 340, 0.01);
}

TEST(WhyView, SlidersGoFromNothingToAll) {
  const auto view = why();
  const Drawn d = draw(*view, {});
  for (const WhyPart part : why_parts) {
    const Box& track = d.frame.sliders[static_cast<std::size_t>(part)];
    ASSERT_GT(track.width, 40);
    EXPECT_EQ(d.frame.part_at(track.centre()), part);
    EXPECT_EQ(d.frame.share_at(part, track.x - 50), 0);
    EXPECT_EQ(d.frame.share_at(part, track.right() + 50), 1);
    EXPECT_NEAR(d.frame.share_at(part, track.centre().x), 0.5, 0.01);
    sim::WhatIf what;
    share_of(what, part) = 0;
    EXPECT_TRUE(what.changes());
  }
  EXPECT_FALSE(d.frame.part_at({5, 5}));
}

TEST(WhyView, EverySizeHasItsSlidersAndNothingOutside) {
  const auto view = why();
  for (const Size size : {Size{480, 360}, Size{770, 580}, Size{1600, 900}, Size{2300, 1300}}) {
    for (const sim::WhatIf& what : {sim::WhatIf{}, sim::WhatIf{.products = 0}}) {
      const Drawn d = draw(*view, what, size);
      for (const Box& track : d.frame.sliders) {
        EXPECT_GT(track.width, 20) << size.width;
        EXPECT_LE(track.right(), size.width);
        // On a page of a small room one scrolls to them.
        const bool page = size.height < 420;
        EXPECT_LE(track.bottom(), size.height + (page ? d.frame.scroll : 0));
      }
      for (const Target& target : d.scene.targets) EXPECT_LE(target.box.right(), size.width + 1);
    }
  }
}

// In a small room all of it is there, one under the other: sliders beside their words and numbers,
// and the list with who and which line below what.
TEST(WhyView, IsAPageWhereThereIsLittleRoom) {
  const auto view = why();
  const Size small{400, 264};
  const Drawn d = draw(*view, {}, small), wide = draw(*view, {}, {1600, 900});
  EXPECT_GT(d.frame.scroll, small.height);
  for (const Box& track : d.frame.sliders) {
    EXPECT_GE(track.x, 16 + text_width("latency takes", small_text, Family::sans));
    EXPECT_LE(track.right() + 7 + text_width("100%", small_text, Family::mono), small.width - 16);
  }
  for (const sim::PathLine& line : view->lines()) {
    if (!line.where.empty()) EXPECT_TRUE(says(d.scene, line.where)) << line.where;
  }
  EXPECT_TRUE(says(wide.scene, "where"));
  // Scrolled, what was below comes up, and no further than its end.
  Scene scene;
  scene.size = small;
  scene.theme = light_theme();
  Scroll scroll;
  scroll.at = 1e6;
  const WhyAnswer answer = view->ask({});
  draw_why(scene, {*view, answer, scene.theme}, small, scroll);
  EXPECT_EQ(scroll.at, d.frame.scroll);
}

TEST(WhyView, ARecordOfNothingSaysSo) {
  const auto view = why(sim::Record{});
  EXPECT_TRUE(says(draw(*view, {}).scene, "no events whose causes are known"));
}

TEST(WhyView, IsDescribed) {
  const auto view = why();
  const WhyAnswer answer = view->ask({.copies = 0.5});
  const Theme theme = light_theme();
  const Json d = describe_why({*view, answer, theme});
  EXPECT_EQ(d["run"]["end"], 340);
  EXPECT_EQ(d["what_if"], "copies at 50%");
  EXPECT_EQ(d["then"]["end"], 300);
  EXPECT_EQ(d["usual"]["copies twice as fast"], 300);
}

}  // namespace
}  // namespace tilescope
