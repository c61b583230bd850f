// The comparison in the window: against what, what is shown of it, the histogram, the worst first,
// and the way from a wrong element to the write that made it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/sim/stepping/inspect.h"
#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/matrix/diff_histogram.h"
#include "viz/matrix/diff_marks.h"
#include "viz/session/comparison.h"
#include "viz/session/panels.h"
#include "viz/session/seek.h"
#include "viz/session/value_table.h"

namespace tilescope {
namespace {

class Compared : public test::SessionTest {
 protected:
  void run_wrong(std::set<std::int64_t> wrong) {
    backend.wrong = std::move(wrong);
    must("open add");
    must("run");
  }
  void walk() {
    while (seeking(session)) seek_on(session, backend, 1000);
  }
  Json shown() {
    const Picture now = picture(session, {1280, 800});
    return describe(session, backend, now);
  }
  std::uint64_t count(const Histogram& h) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < h.right.size(); ++i) out += h.right[i] + h.wrong[i];
    return out;
  }
};

TEST_F(Compared, EveryMeasureIsShownWithItsOwnNumbers) {
  run_wrong({11, 30});
  for (const Measured each : kMeasured) {
    must("show " + std::string(name_of(each)));
    const DiffView& view = *session.state.diff;
    EXPECT_EQ(view.measured(), each);
    EXPECT_EQ(view.wrong_count(), 2);
    EXPECT_EQ(count(view.histogram()), 32u) << "each element is counted once";
    const Json json = shown();
    EXPECT_EQ(json["picture"]["measure"], name_of(each));
    EXPECT_NE(json["picture"].dump().find(std::string(words_of(each))), std::string::npos);
  }
  // Element 11 is (1, 3): wanted 22, got 23.
  float value = 0;
  std::uint8_t wrong = 0;
  const DifferenceSource& source = session.state.diff->source();
  const std::vector<std::pair<Measured, float>> expected = {
      {Measured::difference, 1.f},     {Measured::absolute, 1.f}, {Measured::relative, 1 / 22.f},
      {Measured::ulp, float(1 << 19)}, {Measured::got, 23.f},     {Measured::want, 22.f}};
  for (const auto& [what, number] : expected) {
    source.values(what, 1, 3, {&value, 1}, {&wrong, 1});
    EXPECT_FLOAT_EQ(value, number) << name_of(what);
    EXPECT_EQ(wrong, 1);
  }
  refused("show nonsense", "`nonsense` is none of these");
}

TEST_F(Compared, WhatIsShownIsUndoneAndComesBackFromItsLines) {
  run_wrong({11});
  must("show relative");
  must("mark 0.03125 0.0625");
  must("show table");
  must("pick 1 3");
  EXPECT_EQ(joined(rebuilding(session.state)),
            "show relative; show table; open add; run; pick 1 3; mark 0.03125 0.0625");
  const ViewState last = session.state;
  for (int i = 0; i < 4; ++i) must("undo");
  EXPECT_EQ(session.state.diff->measured(), Measured::difference);
  EXPECT_FALSE(session.state.compare.marks);
  EXPECT_FALSE(session.state.compare.as_table);
  for (int i = 0; i < 4; ++i) must("redo");
  EXPECT_TRUE(session.state == last);
  must("open add --m 6");
  EXPECT_FALSE(session.state.compare.comparison) << "another kernel has no comparison yet";
}

TEST_F(Compared, AgainstAFileAGpuAndTheReferenceAgain) {
  refused("diff against reference", "open a kernel and `run` it first");
  refused("diff against B.npy", "There is nothing to compare");
  run_wrong({11});
  refused("diff", "diff against reference");
  refused("diff against the.moon", "reference, baseline, gpu or a .npy file");
  refused("diff against gpu", "There is no GPU");
  refused("diff against nosuch.npy", "cannot be read");
  refused("diff against B.npy", "(5, 7)");  // another shape
  backend.shape = {4, 8};
  must("diff against B.npy");
  EXPECT_NE(session.message.text.find("1 of 32 elements differ from B.npy"), std::string::npos);
  EXPECT_NE(session.state.diff->title().find("against B.npy"), std::string::npos);
  const std::string lines = joined(rebuilding(session.state));
  EXPECT_NE(lines.find("run; diff against B.npy"), std::string::npos) << lines;
  backend.has_gpu = true;
  must("diff against gpu");
  EXPECT_NE(session.message.text.find("differ from the GPU"), std::string::npos);
  must("diff against reference");
  EXPECT_TRUE(session.state.compare.against.empty());
  must("undo");
  EXPECT_EQ(session.state.compare.against, "gpu");
}

TEST_F(Compared, AgainstTheRunThatIsPinned) {
  run_wrong({11});
  refused("diff against baseline", "No run is pinned");
  must("baseline");
  backend.wrong = {11, 12};
  must("run");
  must("diff against baseline");
  EXPECT_EQ(session.message.text, "1 of 32 elements differ from the baseline.");
}

TEST_F(Compared, TwoFilesAreCompared) {
  must("open A.npy");
  refused("diff against gpu", "A GPU runs kernels");
  must("diff against B.npy");
  EXPECT_EQ(session.message.text, "All 35 elements agree with B.npy.");
  EXPECT_EQ(session.state.view, ViewName::diff);
  EXPECT_FALSE(emptiness(session));
  must("pick 4 6");
  refused("pick 5 0", "5 x 7");
  EXPECT_NE(shown().dump().find("all 35 agree"), std::string::npos);
  EXPECT_EQ(joined(rebuilding(session.state)), "open A.npy; pick 4 6; diff against B.npy");
}

TEST_F(Compared, BarsHoldAllElementsAndAClickMarksTheirs) {
  run_wrong({11, 30});
  must("show absolute");
  Picture now = picture(session, {1280, 800});
  ASSERT_TRUE(now.histogram);
  const std::vector<HistogramBar> bars = now.histogram->bars;
  ASSERT_EQ(bars.size(), 2u) << "zeros, and those that are off by one";
  EXPECT_EQ(bars[0].right, 30u);
  EXPECT_EQ(bars[0].wrong, 0u);
  EXPECT_EQ(bars[1].wrong, 2u);
  EXPECT_TRUE(bars[1].range.holds(1));
  // The pointer over it says so; a click marks.
  const Box plot = now.histogram->plot;
  EXPECT_TRUE(point_at(session, now, Point{plot.right() - 5, plot.bottom() - 5}));
  EXPECT_EQ(session.hovered.bar, 1u);
  EXPECT_NE(shown().dump().find("1 to under 2: 0 right, 2 wrong"), std::string::npos);
  std::string command;
  for (const Target& target : now.scene.targets) {
    if (target.box.contains({plot.right() - 5, plot.bottom() - 5})) command = target.command;
  }
  EXPECT_EQ(command, "mark 1 2");
  must(command);
  EXPECT_EQ(session.state.compare.marks->wrong_count(), 2u);
  const Theme& theme = session.theme();
  const auto colours =
      session.state.diff->colours_of(1, 0, 0, 4, 8, diff_choice(session, false), theme);
  for (std::size_t i = 0; i < colours.size(); ++i) {
    EXPECT_EQ(colours[i] == theme.wrong, i == 11 || i == 30) << i;
    EXPECT_EQ(colours[i] == theme.panel, i != 11 && i != 30) << i;
  }
  must("mark zero");
  EXPECT_EQ(session.state.compare.marks->right_count(), 30u);
  must("mark infinite");
  EXPECT_EQ(session.state.compare.marks->right_count(), 0u);
  must("mark nothing");
  EXPECT_FALSE(session.state.compare.marks);
  refused("mark 3 1", "from the smaller number");
  refused("mark 1", "from the smaller number");
  refused("mark a b", "from the smaller number");
}

TEST(Marks, AMarkedElementIsInEveryLevelAboveIt) {
  class Spike : public DifferenceSource {
   public:
    std::int64_t rows() const override { return 500; }
    std::int64_t columns() const override { return 700; }
    void values(Measured, std::int64_t row, std::int64_t column, std::span<float> out,
                std::span<std::uint8_t> wrong) const override {
      for (std::size_t k = 0; k < out.size(); ++k) {
        const bool here = row == 333 && column + static_cast<std::int64_t>(k) == 555;
        out[k] = here ? 0.75f : 100.f;  // the extreme of its bins is another's
        wrong[k] = 0;
      }
    }
    std::string got(std::int64_t, std::int64_t) const override { return ""; }
    std::string want(std::int64_t, std::int64_t) const override { return ""; }
  };
  const DiffView view(std::make_shared<Spike>(), "spike", {}, Measured::absolute);
  const DiffMarks marks(view, {0.5, 1});
  EXPECT_EQ(marks.right_count(), 1u);
  for (std::int64_t step = 1; step <= 16; step *= 2) {
    const std::int64_t rows = (500 + step - 1) / step, columns = (700 + step - 1) / step;
    const auto bins = marks.bins(view, step, 0, 0, rows, columns);
    EXPECT_EQ(std::count(bins.begin(), bins.end(), DiffMarks::right), 1) << step;
    EXPECT_EQ(bins[static_cast<std::size_t>(333 / step * columns + 555 / step)], DiffMarks::right);
  }
}

TEST_F(Compared, WrongElementsAreVisitedInOrderBothWays) {
  run_wrong({3, 11, 12, 31});
  refused("wrong sideways", "next, previous, first or worst");
  std::vector<Element> seen;
  must("wrong first");
  EXPECT_NE(session.message.text.find("wrong 1 of 4"), std::string::npos) << session.message.text;
  seen.push_back(*session.state.element);
  for (int i = 0; i < 3; ++i) {
    must("wrong next");
    seen.push_back(*session.state.element);
  }
  EXPECT_EQ(seen, (std::vector<Element>{{0, 3}, {1, 3}, {1, 4}, {3, 7}}));
  refused("wrong next", "this is the last");
  must("wrong previous");
  EXPECT_EQ(*session.state.element, (Element{1, 4}));
  must("show relative");
  must("wrong worst");
  EXPECT_EQ(*session.state.element, (Element{0, 3})) << "7 instead of 6";
  run_wrong({});
  must("wrong next");
  EXPECT_EQ(session.message.text, "No element is wrong.");
}

TEST_F(Compared, TheWorstStandFirstAndSelect) {
  run_wrong({3, 11, 31});
  must("show relative");
  must("show table");
  Picture now = picture(session, {1280, 800});
  EXPECT_TRUE(now.scroll);
  EXPECT_FALSE(now.diff);
  std::vector<std::string> picks;
  for (const Target& target : now.scene.targets) {
    if (target.command.rfind("pick", 0) == 0) picks.push_back(target.command);
  }
  EXPECT_EQ(picks, (std::vector<std::string>{"pick 0 3", "pick 1 3", "pick 3 7"}));
  must("export worst.csv");
  const std::string csv = backend.texts["worst.csv"];
  EXPECT_NE(
      csv.find("#,row,column,got,want,got minus want,relative,ulp,block,warp,lane,written at"),
      std::string::npos)
      << csv;
  EXPECT_NE(csv.find("1,0,3,7,6,1,0.1667,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("add.cu:42"), std::string::npos) << csv;
}

TEST_F(Compared, APatternIsNamedWithItsEvidenceAndLeadsToAnElement) {
  std::set<std::int64_t> every_other;
  for (std::int64_t i = 0; i < 4 * 64; ++i) {
    if (i % 2) every_other.insert(i);
  }
  backend.wrong = every_other;
  must("open add --m 4 --n 64");
  must("run");
  bool found = false;
  for (const InspectorSection& section : inspector(session)) {
    if (section.title != "Pattern: every other column") continue;
    found = true;
    EXPECT_NE(section.lines[0].second.find("All 128 wrong elements are in columns 1, 3, 5"),
              std::string::npos);
    ASSERT_EQ(section.links.size(), 1u);
    must(section.links[0].command);
    EXPECT_EQ(*session.state.element, (Element{0, 1}));
  }
  EXPECT_TRUE(found) << shown()["inspector"].dump(1);
}

// Both blocks of the small machine write their threads' numbers to the same elements.
TEST_F(Compared, GoWriteStandsBehindTheWriteThatMadeAnElementAndThenTheOneBefore) {
  run_wrong({5});
  refused("go write", "No element is selected");
  must("pick 0 5");
  must("go write");
  walk();
  EXPECT_NE(session.message.text.find("Element (0, 5) has just become 5"), std::string::npos)
      << session.message.text;
  EXPECT_EQ(session.state.view, ViewName::source);
  EXPECT_EQ(session.state.spot.lane, 5u);
  EXPECT_EQ(session.state.spot.warp, 0u);
  const std::uint64_t block = session.state.spot.block, last = session.state.moment;
  must("go write");
  walk();
  const std::uint64_t first = session.state.moment;
  EXPECT_LT(first, last);
  EXPECT_NE(session.state.spot.block, block) << "the other block's write";
  EXPECT_EQ(sim::element(*machine_of(session), 0, 5)->value, 5);
  must("step back moment");
  walk();
  EXPECT_EQ(sim::element(*machine_of(session), 0, 5)->value, 0) << "before it, it is not there";
  must("go write next");
  walk();
  EXPECT_EQ(session.state.moment, first);
  must("go write next");
  walk();
  EXPECT_EQ(session.state.moment, last);
  must("undo");
  walk();
  EXPECT_EQ(session.state.moment, first);
}

}  // namespace
}  // namespace tilescope
