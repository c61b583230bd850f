// When a unit is idle, and what ended that: against a look at every event.
#include "viz/timeline/timeline_idle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/viz/timeline_fixture.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::EventKind;
using sim::Unit;

TEST(TimelineIdle, IsTheTimeBetweenTwoOperationsOfAUnit) {
  const auto view = test::small_timeline();
  const sim::Record& record = view->record();
  std::size_t idle = 0, works = 0;
  for (sim::TrackId track = 0; track < record.tracks.size(); ++track) {
    const Unit unit = record.tracks[track].unit;
    const bool counts = unit == Unit::tensor || unit == Unit::copy_in;
    for (double at = 0.5; at < view->end(); at += 37) {
      const auto found = idle_at(*view, track, at);
      if (unit == Unit::warp || unit == Unit::mbarrier || unit == Unit::barrier) {
        EXPECT_FALSE(found) << "a warp that does nothing waits, and a barrier is in a phase";
      }
      if (!counts) continue;
      double from = 0, to = view->end();
      bool busy = false;
      for (std::size_t i = 0; i < record.events.size(); ++i) {
        const sim::Event event = record.events[i];
        if (event.track != track || event.kind != EventKind::operation) continue;
        const auto begin = static_cast<double>(event.begin), end = static_cast<double>(event.end);
        busy = busy || (begin <= at && at < end);
        if (end <= at) from = std::max(from, end);
        if (begin > at) to = std::min(to, begin);
      }
      ASSERT_EQ(found.has_value(), !busy) << "track " << track << " at " << at;
      ++(busy ? works : idle);
      if (!found) continue;
      EXPECT_EQ(found->from, from);
      EXPECT_EQ(found->to, to);
    }
  }
  EXPECT_GT(idle, 10u);
  EXPECT_GT(works, 10u);
}

TEST(TimelineIdle, TellsWhatEndedItAndWhatTheIssuingWarpDid) {
  const auto view = test::small_timeline();
  const sim::EventId first = test::first_of(*view, EventKind::operation, Unit::tensor);
  const sim::Event event = view->record().events[first];
  const auto idle = idle_at(*view, event.track, static_cast<double>(event.begin) - 1);
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->next, first);
  const Lines lines = inspect(*view, *idle);
  const auto value = [&](std::string_view name) {
    for (const auto& line : lines) {
      if (line.first.substr(0, name.size()) == name) return line.second;
    }
    return std::string();
  };
  EXPECT_EQ(value("until"), sentence_of(*view, first));
  const auto causes = causes_of(*view, first, 3);
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(value("because"), sentence_of(*view, causes[0]));
  // Before the first products the warp that issues them waits for the first copies.
  EXPECT_NE(value("meanwhile").find("mbarrier"), std::string::npos) << value("meanwhile");
}

TEST(TimelineIdle, PointingBetweenTwoOperationsShowsIt) {
  const auto view = test::small_timeline();
  const TimelineChoice choice;
  const TimelineFrame frame = arrange(*view, choice, test::lens_of());
  const sim::EventId first = test::first_of(*view, EventKind::operation, Unit::tensor);
  const sim::Event event = view->record().events[first];
  const auto box = box_of(*view, frame, first);
  ASSERT_TRUE(box);
  const TimelineHit between =
      hit(*view, choice, frame, {frame.x_of(static_cast<double>(event.begin) / 4), box->y + 2});
  ASSERT_TRUE(between.idle);
  EXPECT_EQ(between.idle->next, first);
  const TimelineHit on = hit(*view, choice, frame, {box->x + 1, box->y + 2});
  EXPECT_FALSE(on.idle);
}

}  // namespace
}  // namespace tilescope
