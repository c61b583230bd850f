// The timeline's commands in the window's session: what they choose, what they refuse, undo, and
// the lines that make a view again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/session/panels.h"
#include "viz/session/timeline_session.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

class TimelineCommands : public ::testing::Test {
 protected:
  TimelineCommands() {
    must("open add");
    must("run");
    backend.wait();
    EXPECT_TRUE(take_result(session, backend));
    must("select timeline");
  }
  std::string must(std::string_view line) {
    const auto answer = execute(session, backend, line);
    EXPECT_TRUE(answer) << line << ": " << (answer ? "" : answer.error().sentence);
    return session.message.text;
  }
  void refused(std::string_view line, std::string_view words) {
    const ViewState before = session.state;
    const auto answer = execute(session, backend, line);
    ASSERT_FALSE(answer) << line;
    EXPECT_NE(answer.error().sentence.find(words), std::string::npos) << answer.error().sentence;
    EXPECT_TRUE(session.state == before) << line;
  }
  const TimelineView& view() { return *session.state.timeline; }
  const TimelineChoice& choice() { return session.state.timeline_choice; }

  Session session;
  test::FakeBackend backend;
};

TEST_F(TimelineCommands, ARunBringsATimelineAndDescribesIt) {
  const Picture now = picture(session, {1280, 800});
  ASSERT_TRUE(now.timeline);
  const Json json = describe(session, backend, now);
  EXPECT_EQ(json["view"], "timeline");
  EXPECT_EQ(json["picture"]["view"], "timeline");
  EXPECT_EQ(json["picture"]["rows"][0]["label"], "CTA 0");
  must("open add");
  must("select timeline");
  ASSERT_TRUE(emptiness(session));
  EXPECT_EQ(emptiness(session)->command, "run");
  EXPECT_FALSE(session.state.timeline);
  refused("timeline zoom in", "There is no timeline");
  refused("find wait", "There is no timeline");
  refused("pick event 3", "There is no timeline");
}

TEST_F(TimelineCommands, RangesAreSaidInCyclesOrSeconds) {
  must("timeline range 1000 2000");
  EXPECT_EQ(timeline_frame(session).viewport.range, (CycleRange{1000, 2000}));
  must("timeline range 0.5us 1us");
  EXPECT_EQ(timeline_frame(session).viewport.range, (CycleRange{1000, 2000}));
  EXPECT_TRUE(session.past.empty() || session.past.back().name != "timeline range 0.5us 1us")
      << "what is looked at is no step of undo";
  must("timeline zoom in");
  EXPECT_LT(timeline_frame(session).viewport.range.length(), 1000);
  const double from = timeline_frame(session).viewport.range.from;
  must("timeline pan right");
  EXPECT_GT(timeline_frame(session).viewport.range.from, from);
  must("timeline pan left");
  EXPECT_NEAR(timeline_frame(session).viewport.range.from, from, 1e-6);
  must("timeline zoom fit");
  EXPECT_EQ(timeline_frame(session).viewport.range, (CycleRange{0, view().end()}));
  refused("timeline range 5", "two times");
  refused("timeline range 9 5", "ends before it begins");
  refused("timeline range 99999999 999999999", "has ended by then");
  refused("timeline range a b", "is no time");
  refused("timeline", "takes range");
  refused("timeline zoom sideways", "in, out or fit");
}

TEST_F(TimelineCommands, FoldsPinsAndTotalsAreStepsOfUndo) {
  const TimelineChoice before = choice();
  must("timeline fold block 0");
  must("timeline pin block 0 tensor core");
  must("timeline totals 100 700");
  must("timeline arrows on");
  EXPECT_EQ(choice().turned.size(), 1u);
  EXPECT_EQ(choice().pinned.size(), 1u);
  EXPECT_EQ(choice().totals, (CycleRange{100, 700}));
  const TimelineChoice after = choice();
  for (int i = 0; i < 4; ++i) must("undo");
  EXPECT_EQ(choice(), before);
  for (int i = 0; i < 4; ++i) must("redo");
  EXPECT_EQ(choice(), after);
  must("timeline unfold all");
  EXPECT_EQ(view().rows(choice()).size(), view().groups().size() + view().record().tracks.size());
  must("timeline fold all");
  EXPECT_EQ(view().rows(choice()).size(), 8u);  // a row a block
  refused("timeline fold block 77", "no such row");
  refused("timeline fold tensor core", "is one row");
  refused("timeline unpin block 1 warp 0", "is not pinned");
  must("timeline unpin all");
  must("timeline totals off");
  EXPECT_FALSE(choice().totals);
}

TEST_F(TimelineCommands, ColoursAreUnitsOrSteps) {
  EXPECT_FALSE(choice().steps);
  must("timeline colour step");
  EXPECT_TRUE(choice().steps);
  const auto lines = timeline_lines(session.state);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "timeline colour step"), 1);
  must("undo");
  EXPECT_FALSE(choice().steps);
  refused("timeline colour hue", "takes range");
  must("timeline colour unit");
  EXPECT_FALSE(choice().steps);
}

TEST_F(TimelineCommands, PickingOpensShowsAndTellsAnEvent) {
  must("timeline fold all");
  must("pick event 40");
  EXPECT_EQ(choice().selected, 40u);
  Picture now = picture(session, {1280, 800});
  EXPECT_TRUE(box_of(view(), *now.timeline, 40));
  const auto sections = inspector(session);
  const auto selected = std::find_if(sections.begin(), sections.end(),
                                     [](const auto& each) { return each.title == "Selected"; });
  ASSERT_NE(selected, sections.end());
  // Its causes are links, and told once.
  Lines lines = inspect(view(), 40);
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](const auto& line) { return line.first == "because"; }),
              lines.end());
  EXPECT_EQ(selected->lines, lines);
  // Each link is a command that leads there.
  ASSERT_FALSE(selected->links.empty());
  must(selected->links.front().command);
  EXPECT_NE(choice().selected, 40u);
  must("pick nothing");
  EXPECT_EQ(choice().selected, sim::no_event);
  refused("pick event 99999999", "There is no event");
  refused("pick event x", "event's number");
}

// A command does not know how large the next picture is: what it shows is in that all the same.
TEST_F(TimelineCommands, WhatIsPickedIsSeenInASmallPicture) {
  const auto& events = view().record().events;
  for (const sim::EventId id : {events.size() - 1, events.size() / 2, std::size_t{40}}) {
    must(fmt::format("pick event {}", id));
    const Picture now = picture(session, {640, 300});
    EXPECT_TRUE(box_of(view(), *now.timeline, id)) << id;
    fit_view(session);
  }
  must(fmt::format("pick event {}", events.size() - 1));
  must("timeline pan up");
  EXPECT_FALSE(session.timeline_viewport.reveal) << "who looks elsewhere wants to be there";
}

TEST_F(TimelineCommands, AWarpThatIsLookedAtIsOpenAndMarked) {
  must("timeline fold all");
  must("look block 1 warp 1");
  const Picture now = picture(session, {640, 300});
  const auto track = timeline_choice_of(session).warp;
  ASSERT_TRUE(track);
  const sim::Track& of = view().record().tracks[*track];
  EXPECT_EQ(of.block, 1u);
  EXPECT_EQ(of.index, 1u);
  const auto& rows = now.timeline->rows;
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
    return row.row.place == TimelinePlace{false, *track};
  }));
}

TEST_F(TimelineCommands, TheEventsOfALineThatIsLookedAtAreMarked) {
  const std::uint32_t line = view().record().lines.back().ptx_line;
  must(fmt::format("look line ptx:{}", line));
  EXPECT_EQ(choice().search, fmt::format("ptx:{}", line));
  must("look line none");
  EXPECT_TRUE(choice().search.empty());
}

TEST_F(TimelineCommands, ArrowKeysGoFromEventToEvent) {
  must("pick event 40");
  const sim::TrackId row = view().record().events.track(40);
  must("move right");
  const sim::EventId next = choice().selected;
  EXPECT_NE(next, 40u);
  EXPECT_EQ(view().record().events.track(next), row);
  must("move left");
  EXPECT_EQ(choice().selected, 40u);
  must("move down");
  EXPECT_NE(view().record().events.track(choice().selected), row);
}

TEST_F(TimelineCommands, BackTakesRangeThenSelectionThenSearchThenZoom) {
  must("find wait");
  must("timeline totals 10 20");
  must("back");
  EXPECT_FALSE(choice().totals);
  must("back");
  EXPECT_EQ(choice().selected, sim::no_event);
  must("back");
  EXPECT_TRUE(choice().search.empty());
  must("timeline range 100 200");
  must("back");
  EXPECT_EQ(timeline_frame(session).viewport.range, (CycleRange{0, view().end()}));
}

TEST_F(TimelineCommands, FindGoesFromHitToHit) {
  EXPECT_NE(must("find wait mbarrier 0").find("in view"), std::string::npos);
  const sim::EventId first = choice().selected;
  must("find next");
  const sim::EventId second = choice().selected;
  EXPECT_NE(first, second);
  EXPECT_GE(view().record().events[second].begin, view().record().events[first].begin);
  must("find previous");
  EXPECT_EQ(choice().selected, first);
  refused("find previous", "before this one");
  refused("find frobnicate", "no instruction has it");
  must("find nothing");
  EXPECT_TRUE(choice().search.empty());
  refused("find next", "Nothing is looked for");
}

TEST_F(TimelineCommands, LinesMakeTheSameTimelineAgain) {
  must("find tma");
  must("timeline unfold block 2");
  must("timeline pin block 2 tensor core");
  must("timeline totals 0.1us 0.2us");
  must("timeline arrows on");
  must("pick event 300");
  must("timeline fold block 0");
  const TimelineChoice want = choice();
  Session other;
  test::FakeBackend elsewhere;
  for (const std::string& line : rebuilding(session.state)) {
    ASSERT_TRUE(execute(other, elsewhere, line)) << line << ": " << other.message.text;
    elsewhere.wait();
    take_result(other, elsewhere);
  }
  EXPECT_EQ(other.state.timeline_choice, want);
  EXPECT_EQ(other.state.view, ViewName::timeline);
}

TEST_F(TimelineCommands, AClickSaysWhatItMeans) {
  must("timeline range 0 3000");
  must("find tma");
  const Picture now = picture(session, {1280, 800});
  const sim::EventId copy = choice().selected;
  const auto box = box_of(view(), *now.timeline, copy);
  ASSERT_TRUE(box);
  EXPECT_NE(timeline_click(session, *now.timeline, box->centre()).find("timeline range"),
            std::string::npos)
      << "a second click shows it in full";
  must("pick nothing");
  EXPECT_EQ(timeline_click(session, *now.timeline, box->centre()),
            "pick event " + std::to_string(copy));
  const Point left{now.timeline->x_of(500), 300}, right{now.timeline->x_of(900), 300};
  EXPECT_EQ(timeline_drag(session, *now.timeline, right, left), "timeline totals 500 900");
}

}  // namespace
}  // namespace tilescope
