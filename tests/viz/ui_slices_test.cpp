// Grids of more than two modes one slice at a time; uneven divisions whose steps are linked by
// element; where a view is zoomed to.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/layout/text.h"
#include "tests/viz/ui_session.h"
#include "viz/commands/rebuild.h"
#include "viz/session/look.h"
#include "viz/session/panels.h"
#include "viz/session/value_table.h"

namespace tilescope {
namespace {

class Slices : public test::SessionTest {
 protected:
  const LayoutView& view() const { return *session.state.layout; }
  const Panel& grid(std::size_t p = 0) const { return view().panels()[p]; }
  std::string strip_says() {
    std::string out;
    for (const StripStep& step : strip(session, backend).steps) {
      if (step.title == "Slice") out = step.value;
    }
    return out;
  }
};

TEST_F(Slices, OneAtATimeForwardsAndBack) {
  must("open layout (4,8,16):(1,4,32)");
  EXPECT_EQ(grid().slices, 16);
  refused("slice previous", "All slices are shown");
  must("slice next");
  must("slice next");
  EXPECT_EQ(grid().slices, 1);
  EXPECT_EQ(grid().first_slice, 1);
  EXPECT_EQ(strip_says(), "(_,_,1), 2 of 16");
  EXPECT_EQ(view().offset({0, 1, 2, 3}), 2 + 3 * 4 + 32);
  must("slice previous");
  refused("slice previous", "first slice");
  must("slice 15");
  refused("slice next", "last slice");
  refused("slice 16", "0 to 15");
  refused("slice sideways", "takes next");
  must("undo");
  EXPECT_EQ(grid().first_slice, 0);
  must("slice all");
  EXPECT_EQ(grid().slices, 16);
  EXPECT_TRUE(strip_says().empty());
  must("open layout (4,8):(1,4)");
  refused("slice next", "no slices");
}

// Whichever modes are rows and columns, a cell has the coordinate and the offset of the layout.
TEST_F(Slices, AnyTwoModesAreRowsAndColumns) {
  const Layout layout = [] {
    Layout out;
    for (const auto& [shape, stride] : {std::pair{3, 40}, {4, 1}, {5, 4}, {2, 20}}) {
      out.modes.push(Tree<Mode>(Mode{shape, stride}));
    }
    return out;
  }();
  must("open layout (3,4,5,2):(40,1,4,20)");
  const std::int64_t extent[] = {3, 4, 5, 2};
  for (int rows = 0; rows < 4; ++rows) {
    for (int columns = 0; columns < 4; ++columns) {
      if (rows == columns) continue;
      must("slice rows " + std::to_string(rows));
      must("slice columns " + std::to_string(columns));
      must("slice all");
      const bool usual = rows == 0 && columns == 1;
      ASSERT_EQ(session.state.study.slice.grid < 0, usual);
      ASSERT_EQ(grid().rows, extent[rows]);
      ASSERT_EQ(grid().columns, extent[columns]);
      ASSERT_EQ(grid().slices, 120 / extent[rows] / extent[columns]);
      for (std::int64_t k = 0; k < grid().slices; ++k) {
        for (std::int64_t i = 0; i < grid().rows; ++i) {
          for (std::int64_t j = 0; j < grid().columns; ++j) {
            const CellInfo info = view().info({0, k, i, j});
            EXPECT_EQ(info.flat[static_cast<std::size_t>(rows)], i);
            EXPECT_EQ(info.flat[static_cast<std::size_t>(columns)], j);
            EXPECT_EQ(layout(info.index), info.offset) << "index " << info.index;
          }
        }
      }
      // Painted colours are computed apart from single cells.
      const LayoutView::Window window{0, grid().slices - 1, 0, 0, grid().rows, grid().columns};
      const auto painted = view().numbers_of(window, ColourBy::offset, 0);
      EXPECT_EQ(painted.back(),
                view().offset({0, window.slice, window.rows - 1, window.columns - 1}));
    }
  }
}

TEST_F(Slices, ASliceIsWrittenAsCuTeWritesIt) {
  must("open layout (3,4,5,2):(40,1,4,20)");
  must("slice (_,3,_,1)");
  EXPECT_EQ(strip_says(), "(_,3,_,1), 8 of 8");
  EXPECT_EQ(view().offset({0, 7, 2, 4}), 2 * 40 + 3 + 4 * 4 + 20);
  refused("slice (_,4,_,1)", "0 to 3");
  refused("slice (_,_,_,1)", "two `_`");
  refused("slice (_,1,_)", "two `_`");
  refused("slice (_,x,_,1)", "two `_`");
  refused("slice rows 4", "modes 0 to 3");
  refused("slice next grid 3", "no such grid");
}

TEST_F(Slices, ClicksStepAndEveryTargetWorks) {
  must("open layout (8,8,6):(8,1,64)");
  const Picture all = picture(session, {1000, 700});
  std::vector<std::string> alone;
  for (const Target& target : all.scene.targets) {
    if (target.command.rfind("slice", 0) == 0) alone.push_back(target.command);
  }
  ASSERT_EQ(alone.size(), 6u) << "each heading";
  must(alone[4]);
  EXPECT_EQ(grid().first_slice, 4);
  for (const Target& target : picture(session, {1000, 700}).scene.targets) must(target.command);
  for (const Choice& choice : view_choices(session)) {
    for (const Tab& tab : choice.options) must(tab.command);
  }
}

TEST_F(Slices, GridsOfTheSameExtentsTurnTogether) {
  must("open layout Sw<2,0,3> o 0 o (8,8,4):(8,1,64)");
  ASSERT_EQ(view().panels().size(), 2u);
  must("slice (_,2,_)");
  EXPECT_EQ(grid(0).first_slice, 2);
  EXPECT_EQ(grid(1).first_slice, 2);
  EXPECT_EQ(grid(0).columns, 4);
  EXPECT_EQ(view().linked({0, 2, 5, 3}), view().linked({1, 2, 5, 3}));
}

TEST_F(Slices, TilesOfATurnedDivisionStayTheSame) {
  must("open layout flat_divide((10,12):(12,1), <4,4>)");
  const int last = static_cast<int>(view().panels().size()) - 1;
  std::map<std::int64_t, std::int64_t> tile_of;  // by index
  const auto each = [&](auto visit) {
    const Panel& p = grid(static_cast<std::size_t>(last));
    for (std::int64_t k = 0; k < p.all_slices; ++k) {
      for (std::int64_t i = 0; i < p.rows; ++i) {
        for (std::int64_t j = 0; j < p.columns; ++j) visit(Cell{last, k, i, j});
      }
    }
  };
  each([&](const Cell& cell) { tile_of[view().info(cell).index] = view().tile(cell); });
  must("slice rows 2");
  must("slice columns 3");
  each([&](const Cell& cell) { EXPECT_EQ(view().tile(cell), tile_of[view().info(cell).index]); });
}

TEST_F(Slices, BeyondTheFirstThousandOneCanStillGo) {
  must("open layout (2,2,5000):(1,2,4)");
  EXPECT_EQ(grid().slices, 1024);
  must("slice 4999");
  EXPECT_EQ(view().offset({0, 4999, 1, 1}), 19999);
  must("pick 1 1 0 4999");
  const auto table = value_table(session);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows.size(), 4u) << "what is shown";
}

// Nobody looks through 10^12 cells for one.
TEST_F(Slices, ACellOfAHugeGridIsPickedAndPointedAt) {
  must("open layout (1000000,1000000):(1,1000000)");
  must("pick 999999 3");
  must("point 5 999999");
  const Picture shown = picture(session, {900, 700});
  int outlines = 0;
  for (const Item& item : shown.scene.items) {
    const Rectangle* box = std::get_if<Rectangle>(&item);
    outlines += box != nullptr && box->stroke.ink.role == Role::accent;
  }
  EXPECT_EQ(outlines, 2) << "the selected cell and the one under the pointer";
  EXPECT_EQ(view().info({0, 0, 999999, 3}).offset, 3999999);
}

TEST_F(Slices, ShareStringsAndStepsKeepTheSlice) {
  must("open layout flat_divide((8,16):(1,8), <4,4>)");
  must("slice (_,1,_,2)");
  const auto lines = rebuilding(session.state);
  Session other;
  ASSERT_TRUE(rebuild(other, backend, lines).ok()) << joined(lines);
  EXPECT_TRUE(other.state == session.state);
  EXPECT_EQ(rebuilding(other.state), lines);
  must("derive 1");
  EXPECT_LT(session.state.study.slice.grid, 0) << "other grids";
  must("undo");
  EXPECT_TRUE(other.state == session.state);
}

// Where tiles reach beyond the input, an offset there is another element's: (0,6) has offset 6 in
// (10,6):(6,1), which is (1,0)'s. The steps know their elements all the same.
TEST_F(Slices, StepsOfAnUnevenDivisionKnowTheirElements) {
  must("open layout zipped_divide((10,6):(6,1), <4,4>)");
  const std::size_t steps = session.state.study.steps();
  std::int64_t compared = 0, padding = 0;
  for (std::size_t step = 1; step <= steps; ++step) {
    must("derive " + std::to_string(step));
    const std::size_t at = view().panels().size() - 2;
    const DerivationStep& told = (*session.state.study.derivation)[step];
    if (grid(at).title != told.operation) continue;
    const bool offsets = !told.through;
    for (std::int64_t i = 0; i < grid(at).rows; ++i) {
      for (std::int64_t j = 0; j < grid(at).columns; ++j) {
        const Cell cell{static_cast<int>(at), 0, i, j};
        const CellInfo info = view().info(cell);
        if (!view().inside(cell)) {
          ++padding;
          EXPECT_LT(view().tile(cell), 0);
          continue;
        }
        ASSERT_TRUE(info.tile) << told.operation;
        if (!offsets || !info.input_coordinate) continue;
        // A mode's step moves along that mode alone.
        const Layout input(view().panels()[0].layout);
        const auto offset = crd2idx(*info.input_coordinate, input);
        ASSERT_TRUE(offset);
        EXPECT_EQ(*offset, view().linked(cell)) << told.operation;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 20);
  EXPECT_GT(padding, 0);
}

// Zoom is no step of undo, but what is shared is looked at in the same place.
TEST_F(Slices, AShareStringKeepsZoomAndPan) {
  must("open layout (64,64):(64,1)");
  Picture shown = picture(session, {900, 700});
  const std::size_t steps = session.past.size();
  zoom_view(session, shown, {300, 400}, 4);
  shown = picture(session, {900, 700});
  pan_view(session, shown, -40, -25);
  shown = picture(session, {900, 700});
  EXPECT_EQ(session.past.size(), steps);
  must("share");
  Session other;
  ASSERT_TRUE(execute(other, backend, "open share " + session.copied).ok());
  const Picture again = picture(other, {900, 700});
  EXPECT_NEAR(again.layout->viewport.cell, shown.layout->viewport.cell, 1e-3);
  EXPECT_NEAR(again.layout->viewport.pan.x, shown.layout->viewport.pan.x, 0.01);
  EXPECT_NEAR(again.layout->viewport.pan.y, shown.layout->viewport.pan.y, 0.01);
  // In a window of another size the same cell is in the middle.
  Session larger;
  ASSERT_TRUE(execute(larger, backend, "open share " + session.copied).ok());
  const Picture wide = picture(larger, {1300, 900});
  const auto middle = [](const Picture& of) {
    const Box& body = of.layout->body;
    const Frame::Place& place = of.layout->places[0];
    return Point{(body.centre().x - place.first.x) / place.cell.width,
                 (body.centre().y - place.first.y) / place.cell.height};
  };
  EXPECT_NEAR(middle(wide).x, middle(shown).x, 0.01);
  EXPECT_NEAR(middle(wide).y, middle(shown).y, 0.01);
  EXPECT_EQ(rebuilding(session, backend, Extent::all).back(), zoom_line(session));
  must("zoom fit");
  EXPECT_TRUE(zoom_line(session).empty());
}

TEST_F(Slices, ZoomIsAskedForInWords) {
  must("open layout (64,64):(64,1)");
  must("zoom by 3");
  EXPECT_EQ(zoom_line(session), "zoom by 3") << "before any picture";
  (void)picture(session, {900, 700});
  EXPECT_EQ(zoom_line(session).rfind("zoom at ", 0), 0u);
  must("zoom at 40 10.5 20.5");
  const Picture shown = picture(session, {900, 700});
  EXPECT_EQ(shown.layout->viewport.cell, 40);
  EXPECT_EQ(cell_at(view(), *shown.layout, shown.layout->body.centre()), (Cell{0, 0, 10, 20}));
  for (const char* line :
       {"zoom", "zoom at", "zoom at 3", "zoom at x 1 2", "zoom at -4 1 2", "zoom by", "zoom by 0",
        "zoom in by 3", "zoom by nan", "zoom at 4 1 inf", "zoom sideways", "zoom at 3 1 2 9"}) {
    refused(line, "`zoom` takes");
  }
  must("zoom at 30 1 1 99 99");
  (void)picture(session, {900, 700});
  must("open add");
  must("zoom at 60 1.5 2.5");
  (void)picture(session, {900, 700});
  must("run");
  must("zoom at 90 1.5 2.5 by 1.2");
  const Picture diff = picture(session, {900, 700});
  ASSERT_TRUE(diff.diff);
  EXPECT_EQ(zoom_line(session).rfind("zoom at ", 0), 0u);
}

// A layout needs no kernel behind it, nor a difference the layout that is open too; a workspace
// keeps both.
TEST_F(Slices, WhatIsSharedIsTheOpenView) {
  must("open layout (4,8):(8,1)");
  must("open add --m 6");
  must("run");
  must("select layout");
  must("copy command");
  EXPECT_EQ(session.copied, "tilescope draw '(4,8):(8,1)' -o view.svg");
  must("pick 1 1");
  must("copy command");
  EXPECT_EQ(session.copied, "tilescope gui --do 'open layout (4,8):(8,1); pick 1 1 0 0'");
  must("select diff");
  must("copy command");
  EXPECT_EQ(session.copied, "tilescope gui --do 'open add --m 6; run'");
  EXPECT_EQ(rebuilding(session, backend, Extent::all).size(), 5u);
}

}  // namespace
}  // namespace tilescope
