// A run beside the baseline: both timelines on one scale, and what the run's figures are more or
// less than the baseline's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/viz/timeline_fixture.h"
#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/session/panels.h"
#include "viz/session/timeline_session.h"

namespace tilescope {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A pipeline of 16 steps is the baseline, one of 24 the run.
class TwoRuns : public test::SessionTest {
 protected:
  TwoRuns() {
    must("open add");
    must("run");
    must("baseline");
    backend.record = longer();
    must("open add --m 8");
    must("run");
  }
  static std::shared_ptr<const sim::Record> longer() {
    sim::SyntheticPipeline of;
    of.steps = 24;
    return test::small_record(of);
  }
  const TimelineView& before() { return *session.state.baseline_timeline; }
  const TimelineView& now() { return *session.state.timeline; }
  Picture shown() { return picture(session, {1280, 800}); }
  Lines section(std::string_view title) {
    for (const InspectorSection& each : inspector(session)) {
      if (each.title == title) return each.lines;
    }
    ADD_FAILURE() << "no section " << title;
    return {};
  }
  static std::string value(const Lines& lines, std::string_view name) {
    for (const auto& [key, text] : lines) {
      if (key == name) return text;
    }
    return "";
  }
};

TEST_F(TwoRuns, StandOneAboveTheOtherOnOneScale) {
  must("select timeline");
  EXPECT_FALSE(shown().timeline_above) << "only where it is asked for";
  must("timeline beside on");
  const Picture both = shown();
  ASSERT_TRUE(both.timeline && both.timeline_above);
  const TimelineFrame &above = *both.timeline_above, &below = *both.timeline;
  EXPECT_LE(above.lanes.bottom(), below.lanes.y);
  EXPECT_EQ(above.viewport.range, below.viewport.range);
  EXPECT_EQ(below.viewport.range, (CycleRange{0, std::max(before().end(), now().end())}));
  for (const double cycle : {0.0, 100.0, 1234.0}) {
    EXPECT_EQ(above.x_of(cycle), below.x_of(cycle)) << "as many pixels a cycle, from the same left";
  }
  const std::vector<std::string> texts = test::texts_of(both.scene);
  const auto says = [&](const std::string& part) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return contains(text, part); });
  };
  EXPECT_TRUE(says("baseline: "));
  const auto longer_by = static_cast<std::uint64_t>(now().end() - before().end());
  ASSERT_GT(longer_by, 0u);
  EXPECT_TRUE(says("more than add")) << "by how much it takes longer is told";
  const Json json = describe(session, backend, both);
  EXPECT_EQ(json["picture"]["baseline"]["end"], static_cast<std::uint64_t>(before().end()));
  must("undo");
  EXPECT_FALSE(session.state.beside_baseline);
  must("redo");
  must("timeline beside off");
  EXPECT_FALSE(shown().timeline_above);
}

TEST_F(TwoRuns, ZoomPanAndTotalsAreOfBothAndRowsAreOfEach) {
  must("timeline beside on");
  must("timeline range 200 900");
  Picture both = shown();
  EXPECT_EQ(both.timeline->viewport.range, (CycleRange{200, 900}));
  EXPECT_EQ(both.timeline_above->viewport.range, (CycleRange{200, 900}));
  zoom_view(session, both, both.timeline_above->lanes.centre(), 2);
  both = shown();
  EXPECT_EQ(both.timeline_above->viewport.range.length(), 350);
  EXPECT_EQ(both.timeline->viewport.range, both.timeline_above->viewport.range);
  // A wheel over the labels of one scrolls that one.
  const Point on_above{20, both.timeline_above->lanes.y + 4};
  pan_view(session, both, 0, -40, on_above);
  both = shown();
  EXPECT_EQ(both.timeline_above->viewport.scroll, 40);
  EXPECT_EQ(both.timeline->viewport.scroll, 0);
  // A drag over either adds up both.
  const TimelineFrame &above = *both.timeline_above, &below = *both.timeline;
  const Point from{above.x_of(400), above.lanes.y + 5}, to{above.x_of(500), above.lanes.y + 5};
  EXPECT_EQ(timeline_drag(session, timeline_part(both, from), from, to), "timeline totals 400 500");
  EXPECT_EQ(&timeline_part(both, {from.x, below.lanes.y + 1}), &below);
  // Beyond the end of the shorter one there is still the longer one.
  const double end = std::min(before().end(), now().end());
  must(fmt::format("timeline totals {} {}", end - 10, end + 10));
  EXPECT_EQ(session.state.timeline_choice.totals->to, end + 10);
}

TEST_F(TwoRuns, RowsOfTheBaselineFoldAndPin) {
  must("timeline beside on");
  const std::size_t rows = now().rows(session.state.timeline_choice).size();
  const std::size_t rows_before = before().rows(session.state.baseline_rows).size();
  Picture both = shown();
  const Point label{20, both.timeline_above->lanes.y + 8};
  std::string command;
  for (const Target& target : both.scene.targets) {
    if (target.box.contains(label)) command = target.command;
  }
  EXPECT_EQ(command, "timeline fold baseline block 0");
  must(command);
  EXPECT_LT(before().rows(session.state.baseline_rows).size(), rows_before);
  EXPECT_EQ(now().rows(session.state.timeline_choice).size(), rows);
  must("timeline pin baseline block 0 tensor core");
  EXPECT_EQ(session.state.baseline_rows.pinned.size(), 1u);
  must("timeline unfold baseline all");
  must("timeline fold baseline all");
  refused("timeline fold baseline block 77", "no such row");
  must("undo");
  must("undo");
  EXPECT_EQ(session.state.baseline_rows.pinned.size(), 1u);
}

TEST_F(TwoRuns, EventsOfTheBaselineAreToldAndPicked) {
  must("timeline beside on");
  must("timeline range 0 600");
  const Picture both = shown();
  const sim::EventId copy = test::first_of(before(), sim::EventKind::operation, sim::Unit::copy_in);
  const auto box = box_of(before(), *both.timeline_above, copy);
  ASSERT_TRUE(box);
  ASSERT_TRUE(point_at(session, both, box->centre()));
  EXPECT_EQ(session.hovered.baseline, copy);
  EXPECT_EQ(session.hovered.event, sim::no_event);
  EXPECT_FALSE(section("Under the pointer, add").empty());
  const std::string command =
      timeline_click(session, timeline_part(both, box->centre()), box->centre());
  EXPECT_EQ(command, fmt::format("pick event baseline {}", copy));
  must(command);
  EXPECT_EQ(session.state.baseline_rows.selected, copy);
  EXPECT_EQ(session.state.timeline_choice.selected, sim::no_event);
  EXPECT_FALSE(section("Selected in add").empty());
  must("pick nothing");
  EXPECT_EQ(session.state.baseline_rows.selected, sim::no_event);
  refused("pick event baseline 99999999", "There is no event");
}

TEST_F(TwoRuns, FiguresSayHowMuchMoreOrFewer) {
  must("select timeline");
  const Lines run = section("Run");
  const auto longer_by = static_cast<std::uint64_t>(now().end() - before().end());
  EXPECT_TRUE(contains(value(run, "took"), fmt::format("{} more than add", longer_by)) ||
              contains(value(run, "took"), "more than add"))
      << value(run, "took");
  must("timeline beside on");
  must("timeline totals 100 800");
  const Lines range = section("Range");
  // By hand: the cycles that all warps wait in the range, in either run.
  const auto waits = [](const TimelineView& view) {
    std::int64_t sum = 0;
    for (sim::TrackId t = 0; t < view.record().tracks.size(); ++t) {
      if (view.record().tracks[t].unit != sim::Unit::warp) continue;
      for (const sim::Cycle each : view.timeline().totals(t, 100, 800).stalled) {
        sum += static_cast<std::int64_t>(each);
      }
    }
    return sum;
  };
  const Figure figure{"", static_cast<double>(waits(now())), "cycles"};
  const std::string said = value(range, "all warps wait");
  EXPECT_TRUE(contains(said, delta_text(figure, static_cast<double>(waits(before())), "add")))
      << said;
  EXPECT_TRUE(contains(said, " add"));
  EXPECT_TRUE(contains(value(range, "CTA 0 tensor core"), "works"));
}

TEST_F(TwoRuns, OneCommandComparesAnotherKernelOfTheSameSizes) {
  must("baseline off");
  must("compare hgemm_v8");
  EXPECT_EQ(session.state.view, ViewName::compare);
  ASSERT_TRUE(session.state.comparison);
  EXPECT_EQ(session.state.comparison->baseline().kernel.name, "add");
  const KernelCard& other = session.state.comparison->now().kernel;
  EXPECT_EQ(other.name, "hgemm_v8");
  EXPECT_EQ(other.sizes[0].value, 8) << "as the run before";
  must("undo");
  EXPECT_EQ(session.state.kernel->name, "add") << "all of it is one step";
  EXPECT_NE(session.state.view, ViewName::compare);
  must("redo");
  EXPECT_EQ(session.state.view, ViewName::compare);
  must("compare add --m 4");
  EXPECT_EQ(session.state.kernel->sizes[0].value, 4) << "what is said counts";
  refused("compare", "takes the kernel");
  refused("compare nothing", "There is no kernel");
  must("open add");
  session.state.result.reset();
  refused("compare hgemm_v8", "no run yet");
}

TEST(Deltas, ReadAsSentences) {
  const Figure now{"waits", 1234, "cycles"};
  const std::vector<Figure> more{{"waits", 1544, "cycles"}}, same{now}, none;
  EXPECT_EQ(text(now, nullptr), "1,234 cycles");
  EXPECT_EQ(text(now, &more, "hgemm_v7"), "1,234 cycles, 310 fewer than hgemm_v7");
  EXPECT_EQ(text(now, &same, "hgemm_v7"), "1,234 cycles, as many as hgemm_v7");
  EXPECT_EQ(text(now, &none), "1,234 cycles, 1,234 more");
}

TEST_F(TwoRuns, WhatHasNoCommonScaleIsSaidSo) {
  must("timeline beside on");
  auto drawn = std::make_shared<sim::Record>(*backend.record);
  drawn->timed = false;
  backend.record = drawn;
  must("run");
  const Picture alone = shown();
  EXPECT_FALSE(alone.timeline_above);
  bool said = false;
  for (const std::string& text : test::texts_of(alone.scene)) {
    said = said || contains(text, "is counted in cycles, that of this run in instructions");
  }
  EXPECT_TRUE(said);
  EXPECT_FALSE(contains(value(section("Run"), "took"), "add")) << "these are not to be subtracted";
}

TEST_F(TwoRuns, LinesMakeBothAgain) {
  must("timeline beside on");
  must("timeline fold baseline block 0");
  must("timeline pin baseline block 0 tensor core");
  must("timeline totals 100 200");
  must("pick event baseline 12");
  const ViewState want = session.state;
  Session other;
  backend.record = test::small_record();
  for (const std::string& line : rebuilding(want)) {
    if (contains(line, "--m 8")) backend.record = longer();
    ASSERT_TRUE(act(other, line)) << line << ": " << other.message.text;
  }
  EXPECT_TRUE(other.state.beside_baseline);
  EXPECT_EQ(other.state.baseline_rows, want.baseline_rows);
  EXPECT_EQ(other.state.timeline_choice, want.timeline_choice);
  EXPECT_EQ(other.state.view, ViewName::timeline);
}

TEST_F(TwoRuns, TheComparisonLeadsThere) {
  must("select compare");
  const Picture now = shown();
  const auto link = std::find_if(now.scene.targets.begin(), now.scene.targets.end(),
                                 [](const Target& t) { return t.command == "timeline beside on"; });
  ASSERT_NE(link, now.scene.targets.end());
  must(link->command);
  EXPECT_EQ(session.state.view, ViewName::timeline);
  must("baseline off");
  EXPECT_FALSE(session.state.beside_baseline);
  refused("timeline beside on", "No run is pinned");
  refused("timeline fold baseline block 0", "No run is pinned");
  refused("pick event baseline 3", "No run is pinned");
  refused("timeline beside sideways", "takes on or off");
}

// The machine's own moment is that of its last instruction; the run is over a little later.
TEST_F(TwoRuns, AtTheEndTheMomentStandsAtTheEndOfTheRecord) {
  must("select timeline");
  must("go end");
  ASSERT_TRUE(timeline_choice_of(session).moment);
  EXPECT_EQ(*timeline_choice_of(session).moment, static_cast<double>(now().record().end));
  must("step back");
  EXPECT_LT(*timeline_choice_of(session).moment, static_cast<double>(now().record().end));
}

}  // namespace
}  // namespace tilescope
