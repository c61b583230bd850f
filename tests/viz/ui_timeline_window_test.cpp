// The timeline under the mouse and the keys.
#include <gtest/gtest.h>

#include "tests/viz/ui_stage.h"
#include "viz/session/timeline_session.h"

namespace tilescope {
namespace {

class TimelineWindow : public test::WindowTest {
 protected:
  TimelineWindow() {
    act("open add");
    act("run");
    backend.wait();
    take_result(session, backend);
    act("select timeline");
    settle();
  }
  const TimelineFrame& frame_now() { return *window->picture().timeline; }
  const TimelineChoice& choice() { return session.state.timeline_choice; }
};

TEST_F(TimelineWindow, WAndSZoomAAndDPanAndNotWhileTyping) {
  const double whole = frame_now().viewport.range.length();
  press(static_cast<ui::Key>('W'));
  EXPECT_LT(frame_now().viewport.range.length(), whole);
  const double from = frame_now().viewport.range.from;
  press(static_cast<ui::Key>('D'));
  EXPECT_GT(frame_now().viewport.range.from, from);
  press(static_cast<ui::Key>('A'));
  EXPECT_NEAR(frame_now().viewport.range.from, from, 1e-6);
  press(static_cast<ui::Key>('S'));
  EXPECT_NEAR(frame_now().viewport.range.length(), whole, 1e-6);
  click(field_);
  press(static_cast<ui::Key>('W'));
  EXPECT_NEAR(frame_now().viewport.range.length(), whole, 1e-6);
}

TEST_F(TimelineWindow, TheWheelZoomsOverLanesAndScrollsOverLabels) {
  const Box lanes = frame_now().lanes;
  const double cycle = frame_now().cycle_of(lanes.x + 200);
  point(on_display({lanes.x + 200, lanes.y + 100}));
  ImGui::GetIO().MouseWheel = 2;
  frame();
  frame();
  EXPECT_LT(frame_now().viewport.range.length(), session.state.timeline->end() * 0.9);
  EXPECT_NEAR(frame_now().cycle_of(lanes.x + 200), cycle, 1);
  const double range = frame_now().viewport.range.length();
  point(on_display({20, lanes.y + 100}));
  ImGui::GetIO().MouseWheel = -2;
  frame();
  frame();
  EXPECT_EQ(frame_now().viewport.range.length(), range);
  EXPECT_GT(frame_now().viewport.scroll, 0);
}

TEST_F(TimelineWindow, ADragAddsUpAndEscEndsIt) {
  const TimelineFrame now = frame_now();
  drag(on_display({now.x_of(500), now.lanes.y + 40}),
       on_display({now.x_of(1500), now.lanes.y + 90}));
  ASSERT_TRUE(choice().totals);
  EXPECT_NEAR(choice().totals->from, 500, 4 * now.cycles_of_pixel());
  EXPECT_NEAR(choice().totals->to, 1500, 4 * now.cycles_of_pixel());
  EXPECT_EQ(frame_now().viewport.range, now.viewport.range) << "it moves nothing";
  EXPECT_EQ(choice().selected, sim::no_event);
  press(ui::Key::escape);
  EXPECT_FALSE(choice().totals);
}

TEST_F(TimelineWindow, AllOfTheRunIsAStripToLookElsewhere) {
  const TimelineFrame all = frame_now();
  ASSERT_TRUE(all.shows_all());
  const double y = all.minimap.centre().y;
  // Over a part of it: that part is shown.
  drag(on_display({all.minimap_x_of(600), y}), on_display({all.minimap_x_of(1200), y}));
  const TimelineFrame part = frame_now();
  const double pixel = part.whole / part.minimap.width;
  EXPECT_NEAR(part.viewport.range.from, 600, 3 * pixel);
  EXPECT_NEAR(part.viewport.range.to, 1200, 3 * pixel);
  EXPECT_FALSE(choice().totals) << "nothing is added up by it";
  // The frame of what is seen is dragged along.
  drag(on_display({part.minimap_x_of(900), y}), on_display({part.minimap_x_of(1100), y}));
  const TimelineFrame moved = frame_now();
  EXPECT_NEAR(moved.viewport.range.from, 800, 6 * pixel);
  EXPECT_NEAR(moved.viewport.range.length(), part.viewport.range.length(), 1e-6);
  // A click beside it brings it there.
  click(on_display({moved.minimap_x_of(400), y}));
  const CycleRange there = frame_now().viewport.range;
  EXPECT_NEAR((there.from + there.to) / 2, 400, 3 * pixel);
  EXPECT_NEAR(there.length(), part.viewport.range.length(), 1e-6);
}

TEST_F(TimelineWindow, TheMomentIsDraggedAlongTheAxis) {
  const TimelineFrame now = frame_now();
  const double y = now.axis.y + 8;
  point(on_display({now.x_of(500), y}));
  ImGui::GetIO().MouseDown[0] = true;
  frame();
  ImGui::GetIO().MousePos = on_display({now.x_of(1000), y});
  frame();
  frame();
  ASSERT_TRUE(session.timeline_playhead);
  EXPECT_NEAR(*session.timeline_playhead, 1000, 2 * now.cycles_of_pixel());
  const TimelineChoice dragged = timeline_choice_of(session);
  EXPECT_TRUE(dragged.moment_dragged);
  EXPECT_EQ(dragged.moment, session.timeline_playhead);
  EXPECT_EQ(frame_now().viewport.range, now.viewport.range) << "what is seen stays";
  ImGui::GetIO().MouseDown[0] = false;
  frame();
  frame();
  EXPECT_FALSE(session.timeline_playhead);
}

TEST_F(TimelineWindow, WhatWasDraggedOverStandsFirstInTheInspector) {
  const auto first = [&] { return inspector(session).front().title; };
  EXPECT_EQ(first(), "Under the pointer");
  const TimelineFrame now = frame_now();
  drag(on_display({now.x_of(500), now.lanes.y + 40}),
       on_display({now.x_of(1500), now.lanes.y + 90}));
  EXPECT_EQ(first(), "Range");
  press(ui::Key::escape);
  EXPECT_EQ(first(), "Under the pointer");
}

TEST_F(TimelineWindow, AClickSelectsAndOneOnAHeadingFolds) {
  act("timeline range 0 1500");
  settle();
  sim::EventFilter filter;
  filter.kinds = sim::bit(sim::EventKind::operation);
  filter.unit = sim::Unit::copy_in;
  filter.block = 0;
  const sim::EventId copy = session.state.timeline->timeline().next(filter, 0);
  const auto box = box_of(*session.state.timeline, frame_now(), copy);
  ASSERT_TRUE(box);
  click(on_display(box->centre()));
  EXPECT_EQ(choice().selected, copy);
  const std::size_t rows = session.state.timeline->rows(choice()).size();
  click(on_display({40, frame_now().lanes.y + 8}));
  EXPECT_LT(session.state.timeline->rows(choice()).size(), rows);
  press(static_cast<ui::Key>('Z'), true);
  EXPECT_EQ(session.state.timeline->rows(choice()).size(), rows);
}

}  // namespace
}  // namespace tilescope
