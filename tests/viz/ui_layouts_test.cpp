// What the window tells of a layout beyond its grid: derivations as linked grids, the editor.
#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "core/layout/text.h"
#include "tests/viz/ui_session.h"
#include "viz/commands/commands.h"
#include "viz/commands/rebuild.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

class Layouts : public test::SessionTest {
 protected:
  const LayoutView& view() const { return *session.state.layout; }
  std::vector<std::string> titles() const {
    std::vector<std::string> out;
    for (const Panel& panel : view().panels()) out.push_back(panel.title);
    return out;
  }
  int panel(std::string_view title) const {
    const std::vector<std::string> all = titles();
    return static_cast<int>(std::find(all.begin(), all.end(), title) - all.begin());
  }
  std::string line(const CellInfo& info, std::string_view name) const {
    for (const auto& [key, value] : info.lines()) {
      if (key == name) return value;
    }
    return "missing";
  }
};

using Titles = std::vector<std::string>;

TEST_F(Layouts, ACompositionStandsBesideItsTwoSides) {
  must("open layout composition((6,2):(8,2), (4,3):(3,1))");
  EXPECT_EQ(titles(), (Titles{"Left side", "Right side", "Result"}));
  const Panel& left = view().panels()[0];
  const Panel& right = view().panels()[1];
  // R(c) = A(B(c)): the three cells are one element.
  for (std::int64_t i = 0; i < right.rows; ++i) {
    for (std::int64_t j = 0; j < right.columns; ++j) {
      const std::int64_t at = view().offset({1, 0, i, j});
      const Cell there{0, 0, at % left.rows, at / left.rows};
      EXPECT_EQ(view().linked({1, 0, i, j}), view().linked({2, 0, i, j}));
      EXPECT_EQ(view().linked(there), view().linked({2, 0, i, j}));
    }
  }
  EXPECT_EQ(line(view().info({1, 0, 1, 1}), "coordinate of the input"), "4");
  EXPECT_EQ(line(view().info({1, 0, 1, 1}), "offset"), "32");
}

TEST_F(Layouts, ADivisionHasItsTilerAndEveryTileThatCoordinatesBelongTo) {
  must("open layout zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)");
  EXPECT_EQ(titles(), (Titles{"Input", "Tiler", "Logical divide", "Zipped divide"}));
  // The tiler's coordinates are tile 0, and the same elements as the result's first column.
  const Panel& tiler = view().panels()[1];
  EXPECT_EQ(tiler.rows * tiler.columns, 24);
  for (std::int64_t i = 0; i < 24; ++i) {
    const Cell taken{1, 0, i % tiler.rows, i / tiler.rows};
    EXPECT_EQ(view().tile(taken), 0);
    EXPECT_EQ(view().linked(taken), view().linked({3, 0, i, 0}));
  }
  // Complement counts tiles: each of its cells begins another.
  for (std::size_t k = 1; k <= session.state.study.steps(); ++k) {
    if ((*session.state.study.derivation)[k].operation != "complement") continue;
    must("derive " + std::to_string(k));
    const int p = panel("complement");
    ASSERT_LT(p, static_cast<int>(titles().size()));
    std::set<std::int64_t> tiles;
    const Panel& grid = view().panels()[static_cast<std::size_t>(p)];
    for (std::int64_t i = 0; i < grid.rows; ++i) {
      for (std::int64_t j = 0; j < grid.columns; ++j) tiles.insert(view().tile({p, 0, i, j}));
    }
    EXPECT_EQ(static_cast<std::int64_t>(tiles.size()), grid.rows * grid.columns);
  }
}

TEST_F(Layouts, PaddingIsNoElementOfAnUnevenDivision) {
  must("open layout zipped_divide((10,6):(6,1), <4,4>)");
  const int last = static_cast<int>(titles().size()) - 1;
  std::int64_t beyond = 0;
  const Panel& grid = view().panels()[static_cast<std::size_t>(last)];
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    for (std::int64_t j = 0; j < grid.columns; ++j) beyond += !view().inside({last, 0, i, j});
  }
  EXPECT_EQ(beyond, 12 * 8 - 60);
}

TEST_F(Layouts, ASwizzledElementTellsTheBitsThatMoved) {
  must("open layout Sw<3,3,3> o (8,64):(64,1)");
  EXPECT_EQ(titles(), (Titles{"Input", "Result"}));
  must("element 2");
  for (const Cell cell : {Cell{0, 0, 3, 20}, Cell{1, 0, 3, 20}}) {
    const CellInfo info = view().info(cell, 2);
    ASSERT_TRUE(info.swizzled);
    EXPECT_EQ(info.swizzled->before, 212);
    EXPECT_EQ(info.swizzled->after, 204);
    EXPECT_EQ(line(info, "byte"), cell.panel == 0 ? "424" : "408") << "before, and after";
  }
  EXPECT_EQ(view().linked({0, 0, 3, 20}), view().linked({1, 0, 3, 20}));
  must("point 3 20");
  const auto sections = inspector(session);
  ASSERT_TRUE(sections[0].bits);
  int changed = 0;
  for (const BitPicture::Bit& bit : sections[0].bits->bits) {
    changed += bit.before != bit.after;
    if (bit.before != bit.after) {
      EXPECT_TRUE(bit.written);
    }
  }
  EXPECT_EQ(changed, 2);
}

TEST_F(Layouts, InversesLeadBackToTheirInput) {
  must("open layout right_inverse((4,8):(8,1))");
  EXPECT_EQ(titles(), (Titles{"Input", "Result"}));
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      EXPECT_EQ(view().linked({1, 0, i, j}), i + 8 * j) << "L(R(i)) = i";
    }
  }
}

TEST_F(Layouts, DerivationsArePlayedForwardsAndBack) {
  must("open layout composition((6,2):(8,2), (4,3):(3,1))");
  const std::size_t steps = session.state.study.steps();
  ASSERT_EQ(steps, 6u);
  refused("derive next", "This is the result");
  refused("derive 7", "1 to 6");
  refused("derive", "takes next");
  must("derive 1");
  refused("derive back", "first step");
  for (std::size_t k = 2; k <= steps; ++k) {
    must("derive next");
    EXPECT_EQ(session.state.study.step, k);
    EXPECT_EQ(titles().size(), 4u);
  }
  must("derive next");
  EXPECT_EQ(session.state.study.step, 0u) << "the result stands behind the last step";
  must("derive back");
  EXPECT_EQ(session.state.study.step, steps);
  must("derive play");
  EXPECT_TRUE(session.playing);
  EXPECT_FALSE(play_on(session, backend, 0.5));
  EXPECT_TRUE(play_on(session, backend, 1.0));
  EXPECT_EQ(session.state.study.step, 0u);
  while (session.playing) play_on(session, backend, 2);
  must("derive play");
  EXPECT_EQ(session.state.study.step, 1u) << "played from the result it begins anew";
  must("derive stop");
  EXPECT_FALSE(play_on(session, backend, 5));
  must("open layout (8,8):(8,1)");
  refused("derive next", "nothing was derived");
}

TEST_F(Layouts, TheStripListsTheStepsAndEachIsAClick) {
  must("open preset 9x32");
  must("derive 2");
  const Strip shown = strip(session, backend);
  EXPECT_EQ(shown.steps.size(), session.state.study.steps() + 1);
  EXPECT_TRUE(shown.steps[1].current);
  EXPECT_EQ(shown.actions.size(), 3u);
  for (const StripStep& step : shown.steps) must(step.command);
  EXPECT_EQ(session.state.study.step, 0u);
  must("undo");
  EXPECT_EQ(session.state.study.step, session.state.study.steps());
}

// Neither is the value of the other, nor follows from it.
TEST_F(Layouts, WhatStandsBesideIsNoResult) {
  must("open layout (8,8):(8,1)");
  must("beside (8,8):(1,8)");
  EXPECT_EQ(meaning_of_field(session).text, "beside (8,8):(1,8)");
  EXPECT_TRUE(strip(session, backend).apart);
  must("open layout zipped_divide((8,8):(8,1), <4,4>)");
  EXPECT_FALSE(strip(session, backend).apart);
}

TEST_F(Layouts, EveryStepOfManyOperationsCanBeShown) {
  for (const char* expression :
       {"complement((4,4):(1,8), 64)", "coalesce((2,(1,6)):(1,(6,2)))",
        "blocked_product((2,5):(5,1), (3,4):(1,3))", "left_inverse((4,8):(8,1))",
        "make_layout_tv((4,8):(8,1), (2,2):(2,1))", "logical_divide((8,8):(8,1), 4:2)",
        "tiled_divide((8,8):(8,1), <4,4>)", "raked_product((4,8):(8,1), (2,2):(2,1))",
        "A = (8,8):(8,1); T = <4,4>; zipped_divide(A, T)", "composition((8,8):(8,1), <4:2,4>)",
        "local_tile((16,16):(16,1), <4,4>, (1,2))", "A = (8,8):(8,1); A(3,_)"}) {
    must(std::string("open layout '") + expression + "'");
    for (std::size_t k = 1; k <= session.state.study.steps(); ++k) {
      must("derive " + std::to_string(k));
      EXPECT_FALSE(view().panels().empty());
    }
  }
}

TEST_F(Layouts, TwoLayoutsStandBesideEachOther) {
  // Owners: an element lights in both, and each grid has its own owners.
  must("open layout make_layout_tv((4,8):(8,1), (2,2):(2,1))");
  must("beside make_layout_tv((4,8):(1,4), (2,2):(2,1))");
  ASSERT_EQ(view().panels().size(), 2u);
  EXPECT_TRUE(view().kind() == LayoutView::Kind::thread_value);
  EXPECT_NE(view().owners({0, 0, 2, 2})[0].thread, view().owners({1, 0, 2, 2})[0].thread);
  EXPECT_EQ(view().linked({0, 0, 2, 2}), view().linked({1, 0, 2, 2}));
  Session other;
  ASSERT_TRUE(rebuild(other, backend, rebuilding(session.state)).ok());
  EXPECT_EQ(other.state.study.beside, session.state.study.beside);
  // Divisions: by tile.
  must("open layout zipped_divide((8,8):(8,1), <4,4>)");
  EXPECT_TRUE(session.state.study.beside.empty()) << "it was chosen for another layout";
  must("beside zipped_divide((8,8):(8,1), <2,8>)");
  EXPECT_TRUE(view().colour({}) == ColourBy::tile);
  EXPECT_EQ(view().tiles(), 4);
  EXPECT_EQ(titles(), (Titles{"First: input", "Second: input", "First", "Second"}));
  EXPECT_EQ(view().tile({2, 0, 5, 2}), 2);
  EXPECT_EQ(view().tile({3, 0, 5, 3}), 3);
  // And in what is divided: four by four, two by eight; tiles are counted down first.
  for (std::int64_t row = 0; row < 8; ++row) {
    for (std::int64_t column = 0; column < 8; ++column) {
      EXPECT_EQ(view().tile({0, 0, row, column}), row / 4 + 2 * (column / 4));
      EXPECT_EQ(view().tile({1, 0, row, column}), row / 2);
    }
  }
  refused("beside", "takes an expression");
  refused("beside (3,4", "`)`");
  refused("beside make_layout_tv((4,8):(8,1), (2,2):(2,1))", "same kind of thing");
  must("undo");
  EXPECT_EQ(titles(), (Titles{"Input", "Tiler", "Logical divide", "Zipped divide"}));
}

TEST_F(Layouts, ShareStringsKeepTheStudy) {
  must("open layout composition((6,2):(8,2), (4,3):(3,1))");
  must("element 2");
  must("access rows 8");
  must("derive 3");
  const std::vector<std::string> lines = rebuilding(session.state);
  Session other;
  ASSERT_TRUE(rebuild(other, backend, lines).ok());
  EXPECT_EQ(other.state.study.step, 3u);
  EXPECT_EQ(other.state.study.element_bytes, 2);
  EXPECT_EQ(other.state.study.access_bytes, 8);
  EXPECT_TRUE(other.state.study.walk == Walk::along_rows);
  EXPECT_EQ(rebuilding(other.state), lines);
}

// --- the editor ---------------------------------------------------------------------------------

TEST_F(Layouts, TypingOffersCompletionsAndTakesThem) {
  must("type A = (8,8):(8,1); zipped_");
  const Assistance help = assistance(session, backend);
  ASSERT_FALSE(help.completions.all.empty());
  std::size_t divide = 0;
  while (help.completions.all[divide].text != "zipped_divide") ++divide;
  must("complete " + std::to_string(divide + 1));
  EXPECT_EQ(session.field, "A = (8,8):(8,1); zipped_divide(");
  EXPECT_EQ(session.editor.caret, session.field.size());
  const Assistance next = assistance(session, backend);
  ASSERT_TRUE(next.signature);
  EXPECT_EQ(next.signature->name, "zipped_divide");
  must("type A = (8,8):(8,1); zipped_divide(A, <4,4>)");
  EXPECT_FALSE(session.problem);
  EXPECT_EQ(view().tiles(), 4);
  refused("complete", "Nothing completes");
  must("type prese");
  must("complete 1");
  EXPECT_EQ(session.field, "preset 9x32");
  must("type ad");
  EXPECT_EQ(assistance(session, backend).completions.all.back().text, "add");
}

TEST_F(Layouts, WhatWasOpenedIsRecalled) {
  refused("recall back", "nothing further");
  for (const char* text : {"(4,4):(4,1)", "(8,8):(8,1)", "(4,4):(4,1)", "(2,2):(2,1)"}) {
    must(std::string("type ") + text);
    ASSERT_TRUE(enter_field(session, backend).ok());
  }
  EXPECT_EQ(opened_before(session), (Titles{"(8,8):(8,1)", "(4,4):(4,1)", "(2,2):(2,1)"}));
  must("recall back");
  EXPECT_EQ(session.field, "(4,4):(4,1)") << "what stands in the field is not recalled again";
  EXPECT_EQ(session.state.layout_text, "(4,4):(4,1)");
  must("recall back");
  EXPECT_EQ(session.field, "(8,8):(8,1)");
  must("recall next");
  must("recall next");
  EXPECT_EQ(session.field, "(2,2):(2,1)");
}

TEST_F(Layouts, WhatASwizzleIsGivenHasTheColoursOfWhereItLies) {
  must("open layout Sw<2,0,2> o (4,4):(4,1)");
  const LayoutView& view = *session.state.layout;
  const auto colours = [&](int panel, ColourBy by) {
    LayoutView::Window all;
    all.panel = panel;
    all.rows = all.columns = 4;
    LayoutChoice choice;
    choice.colour = by;
    return view.colours_of(all, choice, light_theme());
  };
  for (const ColourBy by : {ColourBy::offset, ColourBy::bank}) {
    const auto input = colours(0, by), result = colours(1, by);
    for (std::size_t i = 0; i < 16; ++i) {
      // The input lies row by row; the result has at cell i the offset i ^ i / 4.
      EXPECT_EQ(result[i], input[i ^ i / 4]) << i;
    }
    EXPECT_NE(input[12], result[12]);
  }
}

// A keystroke costs what is shown, not what there is: 64 times the elements take less than twice as
// long to answer. What it takes in seconds, `./dev bench` says.
TEST_F(Layouts, AKeystrokeIsAnsweredAsSoonForManyElements) {
  // The slowest key of the text, in time of the processor, and the best of three.
  const auto worst = [&](const std::string& text) {
    double out = 0;
    for (std::size_t i = 1; i <= text.size(); ++i) {
      double best = 1e9;
      for (int round = 0; round < 3; ++round) {
        const std::clock_t begun = std::clock();
        type_field(session, backend, text.substr(0, i));
        session.editor = {};
        session.editor.active = true;
        session.editor.caret = i;
        (void)assistance(session, backend);
        (void)picture(session, {1000, 700});
        best = std::min(best, static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
      }
      out = std::max(out, best);
    }
    return out;
  };
  const double few = worst("zipped_divide((1024,1024):(1024,1), <64,64>)");
  const double many = worst("zipped_divide((8192,8192):(8192,1), <64,64>)");
  EXPECT_LT(many, 2 * few);
}

// --- memory -------------------------------------------------------------------------------------

TEST_F(Layouts, EveryAtomOfTheCatalogIsListedAndOpens) {
  const auto rows = [&] {
    for (const OutlineSection& section : outline(session, backend)) {
      if (section.title == "Atoms") return section.items;
    }
    return std::vector<OutlineItem>{};
  };
  std::size_t opened = 0;
  for (const OutlineItem& group : rows()) {
    must(group.command);
    for (const OutlineItem& item : rows()) {
      if (item.level == 0) continue;
      const auto answer = execute(session, backend, item.command);
      EXPECT_TRUE(answer.ok()) << item.command << ": " << answer.error().sentence;
      ++opened;
    }
  }
  EXPECT_GT(opened, 200u);
  must("atoms none");
  for (const OutlineItem& item : rows()) EXPECT_EQ(item.level, 0);
}

TEST_F(Layouts, TritonsEncodingsAreShownAsOwners) {
  must(
      "open layout #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = "
      "[4, 1], order = [1, 0]}> on (64,32)");
  EXPECT_TRUE(view().kind() == LayoutView::Kind::thread_value);
  EXPECT_EQ(view().threads(), 128);
  EXPECT_EQ(view().values(), 16);
  // Element (9, 6): lane 1 + 4, warp 1, register 2.
  const auto owners = view().owners({0, 0, 9, 6});
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners[0].thread, 32 + 4 + 1);
  EXPECT_EQ(owners[0].value, 2);
}

}  // namespace
}  // namespace tilescope
