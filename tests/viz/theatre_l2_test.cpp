// L2 in the theatre: what it has when, and that a tile that it has comes from there.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/profile/statistics.h"
#include "tests/sim/pipeline_record.h"
#include "viz/theatre/theatre_scene.h"

namespace tilescope {
namespace {

// A (16 x 48) in three cells, of which the copies of the three tiles bring one each; the second one
// is there already.
std::shared_ptr<const TheatreView> theatre_with_l2() {
  sim::Record made = test::pipeline_record();
  test::add_uses(made);
  made.cached = {{0, 1, 3, {45, 0, sim::never_ends}}};
  for (sim::MemoryUse& use : made.uses) {
    if (use.of != sim::MemoryUse::Of::global) continue;
    use.asked = 512;
    use.missed = use.column == 16 ? 0 : 512;
  }
  const auto roles = sim::statistics_of(made).roles;
  const auto record = std::make_shared<const sim::Record>(std::move(made));
  const auto timeline = std::make_shared<const sim::Timeline>(*record);
  return std::make_shared<const TheatreView>(record, timeline, roles, 0);
}

TEST(TheatreL2, HasWhatHasCome) {
  const auto view = theatre_with_l2();
  const sim::CachedBuffer* const cached = view->cached(0);
  ASSERT_TRUE(cached);
  EXPECT_FALSE(view->cached(1));
  EXPECT_DOUBLE_EQ(share_in_l2(*cached, 10), 1.0 / 3);
  EXPECT_DOUBLE_EQ(share_in_l2(*cached, 45), 2.0 / 3);
  EXPECT_DOUBLE_EQ(share_in_l2(*cached, 44, 1), 1);
  EXPECT_DOUBLE_EQ(share_in_l2(*cached, 44, 0), 0);
  const TheatreNow now = theatre_at(*view, 25);
  const TheatreShown shown{*view, now, light_theme()};
  const Json told = describe_theatre(shown);
  EXPECT_EQ(told["l2"][0]["of"], "A");
  EXPECT_EQ(told["copies"][0]["from_memory"], 512);
  EXPECT_EQ(told["copies"][1]["from_memory"], 0);
}

// The first copy goes from the matrix through L2, the second one from L2.
TEST(TheatreL2, ATileThatItHasComesFromThere) {
  const auto view = theatre_with_l2();
  const TheatreNow now = theatre_at(*view, 25);
  ASSERT_EQ(now.copies.size(), 2u);
  EXPECT_TRUE(now.copies[0].from_memory());
  EXPECT_FALSE(now.copies[1].from_memory());
  const TheatreShown shown{*view, now, light_theme()};
  for (const Size size : {Size{1400, 800}, Size{900, 600}}) {
    Scene scene;
    draw_theatre(scene, shown, size);
    std::vector<std::size_t> ways;
    double first = 0, second = 0;
    for (const Item& item : scene.items) {
      const auto* const line = std::get_if<Line>(&item);
      if (!line || line->arrow || line->stroke.dashed) continue;
      if (line->points.size() == 3) first = line->points[0].x;
      if (line->points.size() == 2) second = line->points[0].x;
      if (line->points.size() == 2 || line->points.size() == 3) ways.push_back(line->points.size());
    }
    EXPECT_EQ(std::count(ways.begin(), ways.end(), 3u), 1) << size.width;
    EXPECT_GT(second, first) << "L2 stands right of the matrix";
  }
}

TEST(TheatreL2, LegsOfAWayTakeEqualTime) {
  const std::vector<Point> way = {{0, 0}, {10, 0}, {10, 100}};
  EXPECT_DOUBLE_EQ(along(way, 0.25).x, 5);
  EXPECT_DOUBLE_EQ(along(way, 0.5).x, 10);
  EXPECT_DOUBLE_EQ(along(way, 0.75).y, 50);
  EXPECT_DOUBLE_EQ(along(way, 1).y, 100);
}

}  // namespace
}  // namespace tilescope
