// What gives way where there is little room does not vanish without a sign; and what the whole
// window tells in one way: times, colours.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/viz/timeline_fixture.h"
#include "viz/scene/legend_row.h"
#include "viz/scene/time_words.h"
#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_words.h"
#include "viz/timeline/write_time.h"

namespace tilescope {
namespace {

using sim::EventKind;
using sim::Stall;
using sim::Unit;
using test::lens_of;
using test::small_timeline;

Scene drawn(const TimelineView& view, double width, double height) {
  const TimelineFrame frame = arrange(view, {}, lens_of(width, height));
  return build_scene(view, {}, light_theme(), frame, nullptr);
}

TEST(SmallRoom, TheLegendLeavesTheTimelineItsRoom) {
  const auto view = small_timeline();
  const Scene wide = drawn(*view, 1280, 800), small = drawn(*view, 340, 240);
  const auto more = [](const Scene& scene) {
    const auto texts = test::texts_of(scene);
    return std::find_if(texts.begin(), texts.end(), [](const std::string& each) {
             return each.rfind("and ", 0) == 0 && each.find(" more") != each.npos;
           }) != texts.end();
  };
  EXPECT_FALSE(more(wide));
  EXPECT_TRUE(more(small));
  EXPECT_LE(legend_height({view.get()}, {340, 240}), 240.0 / 4);
  EXPECT_GT(arrange(*view, {}, lens_of(340, 240)).lanes.height, 60);
  // Each that is left out is named where the count of them stands.
  std::string hints;
  for (const Hint& hint : small.hints) hints += hint.text + "\n";
  const auto told = test::texts_of(small);
  for (const auto& line : legend_of({view.get()}, {1280, 800})) {
    for (const LegendEntry& entry : line) {
      const bool seen = std::count(told.begin(), told.end(), entry.text) > 0;
      EXPECT_TRUE(seen || hints.find(entry.text) != hints.npos) << entry.text;
    }
  }
}

TEST(SmallRoom, ARowOfALegendCountsWhatItLeavesOut) {
  Scene scene;
  std::vector<LegendItem> items;
  for (int i = 0; i < 12; ++i) items.push_back({Ink(Role::panel), "warp " + std::to_string(i)});
  draw_legend_row(scene, 16, 20, 400, items);
  const auto texts = test::texts_of(scene);
  ASSERT_FALSE(texts.empty());
  const std::size_t shown = texts.size() - 1;
  EXPECT_EQ(texts.back(), "and " + std::to_string(items.size() - shown) + " more");
  ASSERT_EQ(scene.hints.size(), 1u);
  EXPECT_LE(scene.hints[0].box.right(), 400);
  EXPECT_NE(scene.hints[0].text.find("warp 11"), std::string::npos);
  Scene all;
  draw_legend_row(all, 16, 20, 16 + legend_row_width(items), items);
  EXPECT_EQ(test::texts_of(all).size(), items.size()) << "what has room stands there";
}

TEST(Colours, CommitsAreNotTakenForProducts) {
  for (const Theme& theme : {light_theme(), dark_theme()}) {
    EXPECT_FALSE(colour_of({Unit::commit, Stall::none}, theme) ==
                 colour_of({Unit::tensor, Stall::none}, theme));
  }
  // A wait for what a commit tells is a wait for products, and looks like one.
  const Theme& theme = light_theme();
  EXPECT_TRUE(colour_of({Unit::commit, Stall::mbarrier}, theme) ==
              colour_of({Unit::tensor, Stall::none}, theme));
  bool named = false;
  for (const auto& line : legend_of({small_timeline().get()}, {1280, 800})) {
    for (const LegendEntry& entry : line) named = named || entry.text == "commits";
  }
  EXPECT_TRUE(named);
}

TEST(Times, AreToldByOneClock) {
  const auto view = small_timeline();
  EXPECT_EQ(view->clock(), 2) << "the device's, not the mean of a run that is over";
  EXPECT_EQ(seconds_text(*view, 2000), seconds_text(2000, 2));
  EXPECT_EQ(seconds_text(2000, 2), "1.00 us");
  EXPECT_EQ(seconds_text(300, 2), "150 ns");
  EXPECT_EQ(seconds_text(300, 0), "");
}

TEST(Times, AWriteIsToldByTheRecord) {
  const auto view = small_timeline();
  const sim::Record& record = view->record();
  const sim::EventId id = test::first_of(*view, EventKind::run, Unit::warp);
  ASSERT_NE(id, sim::no_event);
  const sim::Event event = record.events[id];
  Site writer;
  writer.ptx_line = record.lines[event.pc].ptx_line;
  writer.block = {static_cast<std::uint32_t>(record.tracks[event.track].block), 0, 0};
  writer.warp = record.tracks[event.track].index;
  const Lines lines = write_time(*view, writer);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].first, "written in cycles");
  EXPECT_NE(lines[0].second.find(" ns"), std::string::npos) << lines[0].second;
  writer.ptx_line = 999'999;
  EXPECT_TRUE(write_time(*view, writer).empty()) << "the record does not know";
}

}  // namespace
}  // namespace tilescope
