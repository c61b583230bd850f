// What the layout view says about its cells, against figures worked out by hand and against laws.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/viz/layout_of.h"
#include "viz/layout/presets.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

LayoutView preset(std::string_view name) {
  const Outcome<Preset> found = preset_named(name);
  EXPECT_TRUE(found.ok());
  Outcome<LayoutView> view = open_preset(*found);
  EXPECT_TRUE(view.ok()) << (view.ok() ? "" : view.error().sentence);
  return *view;
}

template <class F>
void for_each_cell(const LayoutView& view, F f) {
  for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
    const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
    for (std::int64_t k = 0; k < panel.slices; ++k) {
      for (std::int64_t i = 0; i < panel.rows; ++i) {
        for (std::int64_t j = 0; j < panel.columns; ++j) f(Cell{p, k, i, j});
      }
    }
  }
}

// --- the 9 x 32 layout by <3:3,(2,4):(1,8)> ---------------------------------------------------

// (8,4):(1,2) sends (2,0) and (0,1) to 2: by hand, 14 offsets 0..13 for 32 cells.
TEST(OverlappingStrides, EachCellAfterTheFirstOfAnOffsetIsMarkedAndTold) {
  const Outcome<LayoutView> made = LayoutView::of_expression("(8,4):(1,2)");
  ASSERT_TRUE(made.ok());
  const LayoutView& view = *made;
  for (std::int64_t j = 0; j < 4; ++j) {
    for (std::int64_t i = 0; i < 8; ++i) {
      EXPECT_EQ(view.again({0, 0, i, j}), j > 0 && i < 6) << i << "," << j;
    }
  }
  ASSERT_EQ(view.notes().size(), 1u);
  EXPECT_EQ(view.notes()[0],
            "10 offsets are in more than one cell, up to 4: strides overlap, such as 2 at (2,0) "
            "and (0,1); a tick in the corner marks each but the first.");
}

TEST(OverlappingStrides, ASwizzleRenamesTheOffsetsAndAStrideOfZeroIsTold) {
  const Outcome<LayoutView> moved = LayoutView::of_expression("Sw<1,0,2> o 0 o (8,4):(1,2)");
  ASSERT_TRUE(moved.ok());
  EXPECT_TRUE(moved->again({0, 0, 0, 1}));
  EXPECT_FALSE(moved->again({0, 0, 7, 1}));
  const Outcome<LayoutView> both = LayoutView::of_expression("(4,(2,2)):(1,(0,2))");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->notes().size(), 2u) << "the stride of 0, and the overlap";
  EXPECT_TRUE(both->again({0, 0, 0, 1})) << "0 once more, by the stride of 0";
  EXPECT_TRUE(both->again({0, 0, 1, 2})) << "3 once more, as 1 + 2";
}

TEST(OverlappingStrides, OneToOneHasNoMarks) {
  for (const char* one : {"(8,4):(1,8)", "(8,4):(4,1)", "((2,4),4):((1,8),2)", "8:-1", "1:0"}) {
    const Outcome<LayoutView> made = LayoutView::of_expression(one);
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(made->notes().empty()) << one;
    EXPECT_FALSE(made->panels()[0].repeats()) << one;
  }
  // Steps that interleave without meeting: 0 3 6 and 0 4 8 make nine different sums.
  const Outcome<LayoutView> woven = LayoutView::of_expression("(3,3):(3,4)");
  ASSERT_TRUE(woven.ok());
  EXPECT_TRUE(woven->notes().empty());
}

TEST(Divided, ShowsInputLogicalAndZippedForm) {
  const LayoutView view = preset("9x32");
  ASSERT_EQ(view.panels().size(), 3u);
  EXPECT_EQ(view.panels()[0].formula, "(9,(4,8)):(59,(13,1))");
  EXPECT_EQ(view.panels()[1].formula, "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))");
  EXPECT_EQ(view.panels()[2].formula, "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))");
  EXPECT_EQ(view.panels()[0].rows, 9);
  EXPECT_EQ(view.panels()[0].columns, 32);
  EXPECT_EQ(view.panels()[2].rows, 24);
  EXPECT_EQ(view.panels()[2].columns, 12);
  EXPECT_EQ(view.tiles(), 12);
  EXPECT_EQ(view.colour({}), ColourBy::tile);
}

TEST(Divided, OffsetsAndTilesByHand) {
  const LayoutView view = preset("9x32");
  // 59 a row; columns in fours of 13, each four 1 further: column 4 is (0,1).
  EXPECT_EQ(view.offset({0, 0, 0, 1}), 13);
  EXPECT_EQ(view.offset({0, 0, 0, 4}), 1);
  EXPECT_EQ(view.offset({0, 0, 8, 31}), 8 * 59 + 3 * 13 + 7);
  // The tile takes rows 0, 3, 6 and columns 0, 1, 8, 9, 16, 17, 24, 25; tiles go down first.
  for (const std::int64_t i : {0, 3, 6}) {
    for (const std::int64_t j : {0, 1, 8, 9, 16, 17, 24, 25}) {
      EXPECT_EQ(view.tile({0, 0, i, j}), 0);
    }
  }
  EXPECT_EQ(view.tile({0, 0, 1, 0}), 1);
  EXPECT_EQ(view.tile({0, 0, 0, 2}), 3);
  EXPECT_EQ(view.tile({0, 0, 0, 4}), 6);
  EXPECT_EQ(view.tile({0, 0, 8, 7}), 11);
  EXPECT_EQ(view.offset({2, 0, 1, 0}), 177);
  EXPECT_EQ(view.offset({2, 0, 0, 1}), 59);
}

TEST(Divided, EachTileHasAllItsCellsInEveryForm) {
  const LayoutView view = preset("9x32");
  for (int panel = 0; panel < 3; ++panel) {
    for (std::int64_t t = 0; t < 12; ++t) {
      EXPECT_EQ(view.count({Focus::On::tile, t}, panel), 24);
    }
  }
}

TEST(Divided, AColumnOfTheZippedFormIsOneTile) {
  for (const char* expression :
       {"zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)",
        "zipped_divide((64,48):(48,1), <16,8>)", "zipped_divide((10,10):(1,10), <4,4>)",
        "zipped_divide((8,(2,6)):(12,(6,1)), <2:4,(2,3):(1,2)>)"}) {
    const LayoutView view = view_of(expression);
    ASSERT_EQ(view.kind(), LayoutView::Kind::divided) << expression;
    for_each_cell(view, [&](const Cell& cell) {
      if (cell.panel == 2 && view.inside(cell)) {
        EXPECT_EQ(view.tile(cell), cell.column);
      }
    });
  }
}

TEST(Divided, TheSameElementHasTheSameOffsetAndTileInEveryForm) {
  const LayoutView view = view_of("zipped_divide((12,(4,5)):(20,(5,1)), <3:4,(2,5):(2,4)>)");
  std::map<std::int64_t, std::int64_t> tile_of;
  for_each_cell(view, [&](const Cell& cell) {
    const auto known = tile_of.emplace(view.offset(cell), view.tile(cell)).first;
    EXPECT_EQ(known->second, view.tile(cell));
  });
  EXPECT_EQ(tile_of.size(), 240u);
}

TEST(Divided, PaddingOfAnUnevenDivisionIsNoElement) {
  const LayoutView view = view_of("zipped_divide((10,10):(1,10), <4,4>)");
  std::int64_t inside = 0, outside = 0;
  std::set<std::int64_t> offsets;
  for_each_cell(view, [&](const Cell& cell) {
    if (cell.panel != 2) return;
    (view.inside(cell) ? inside : outside) += 1;
    if (view.inside(cell)) offsets.insert(view.offset(cell));
  });
  EXPECT_EQ(inside, 100);
  EXPECT_EQ(outside, 44);
  EXPECT_EQ(offsets.size(), 100u);  // none twice
  ASSERT_EQ(view.notes().size(), 1u);
  EXPECT_NE(view.notes()[0].find("44"), std::string::npos);
}

TEST(Divided, InspectorSaysWhereTheElementStands) {
  const CellInfo info = preset("9x32").info({2, 0, 4, 7});
  std::map<std::string, std::string> lines;
  for (const auto& [name, value] : info.lines()) lines[name] = value;
  // Column 7 is tile (1,(0,1)); row 4 is (1,(1,0)) inside it: input row 1 + 3, column 4 + 1.
  EXPECT_EQ(lines["coordinate"], "(4,7)");
  EXPECT_EQ(lines["nested"], "((1,(1,0)),(1,(0,1)))");
  EXPECT_EQ(lines["in the input"], "(4,(1,1))");
  EXPECT_EQ(lines["tile"], "7 at (1,(0,1))");
  EXPECT_EQ(lines["in the tile"], "(1,(1,0))");
  EXPECT_EQ(lines["offset"], "250");
}

// --- thread/value layouts ---------------------------------------------------------------------

TEST(ThreadValue, VoltaQuadpairByItsTable) {
  const LayoutView view = preset("volta");
  struct Row {
    std::int64_t thread, value, m, n;
  };
  for (const Row& row : {Row{0, 0, 0, 0},
                         {1, 0, 1, 0},
                         {2, 0, 0, 2},
                         {3, 0, 1, 2},
                         {4, 0, 4, 0},
                         {5, 0, 5, 0},
                         {6, 0, 4, 2},
                         {7, 0, 5, 2},
                         {0, 1, 0, 1},
                         {0, 2, 2, 0},
                         {0, 3, 2, 1},
                         {0, 4, 0, 4},
                         {0, 5, 0, 5},
                         {0, 6, 2, 4},
                         {0, 7, 2, 5}}) {
    const auto owners = view.owners({0, 0, row.m, row.n});
    ASSERT_EQ(owners.size(), 1u);
    EXPECT_EQ(owners[0].thread, row.thread) << row.m << "," << row.n;
    EXPECT_EQ(owners[0].value, row.value) << row.m << "," << row.n;
  }
}

TEST(ThreadValue, ElementwiseTileGivesEachThreadFourByFour) {
  const LayoutView view = preset("elementwise");
  for_each_cell(view, [&](const Cell& cell) {
    const auto owners = view.owners(cell);
    ASSERT_EQ(owners.size(), 1u);
    EXPECT_EQ(owners[0].thread, cell.row / 4 * 32 + cell.column / 4);
    EXPECT_EQ(owners[0].value, cell.row % 4 * 4 + cell.column % 4);
  });
}

TEST(ThreadValue, EveryOwnerOfACellIsKept) {
  // Four threads that all hold both elements.
  const Outcome<LayoutView> view = LayoutView::thread_value(
      std::get<Layout>(std::get<Value>(evaluate("(4,2):(0,1)"))), Tuple(2));
  ASSERT_TRUE(view.ok());
  const auto owners = view->owners({0, 0, 0, 1});
  ASSERT_EQ(owners.size(), 4u);
  for (std::int32_t t = 0; t < 4; ++t) {
    EXPECT_EQ(owners[static_cast<std::size_t>(t)], (Owner{t, 1}));
    EXPECT_TRUE(view->holds({Focus::On::thread, t}, {0, 0, 0, 1}));
  }
  EXPECT_FALSE(view->holds({Focus::On::thread, 4}, {0, 0, 0, 1}));
  // Hovering it lights all four threads, and the element.
  EXPECT_EQ(view->lit_by({0, 0, 0, 1}, ColourBy::thread).size(), 5u);
  const Cell cell{0, 0, 0, 1};
  using Lines = std::vector<std::string>;
  EXPECT_EQ(view->label(cell, {}, {4, true}), (Lines{"T0 V1", "T1 V1", "T2 V1", "T3 V1"}));
  EXPECT_EQ(view->label(cell, {}, {3, true}), (Lines{"T0 V1", "T1 V1", "+2"}));
  EXPECT_EQ(view->label(cell, {}, {2, false}), (Lines{"T0+3", "V1"}));
  EXPECT_EQ(view->owner_words(cell), "T0 V1, T1 V1, T2 V1, T3 V1");
}

TEST(ThreadValue, SaysWhatIsNotOwnedAndWhatLiesOutside) {
  const Layout pairs = std::get<Layout>(std::get<Value>(evaluate("(4,2):(1,8)")));
  const Outcome<LayoutView> view = LayoutView::thread_value(pairs, Tuple(10));
  ASSERT_TRUE(view.ok());
  ASSERT_EQ(view->notes().size(), 2u);
  EXPECT_EQ(view->notes()[0], "4 cells have no owner.");
  EXPECT_EQ(view->notes()[1], "2 of 8 thread/value pairs are outside the tile.");
  EXPECT_TRUE(view->owners({0, 0, 0, 5}).empty());
}

// --- laws over many views ---------------------------------------------------------------------

std::vector<LayoutView> many_views() {
  std::vector<LayoutView> out{preset("9x32"), preset("volta"), preset("elementwise")};
  for (const char* expression :
       {"(4,8):(8,1)", "24:3", "((2,3),(4,5)):((1,40),(2,8))", "(3,4,2,2):(1,3,12,24)",
        "Sw<3,3,3> o 0 o (8,64):(64,1)", "(4,4):(0,1)", "(6,5):(5,-1)", "1:0",
        "zipped_divide((10,9):(1,10), <4,(3):(3)>)", "logical_divide(24:2, 4:1)",
        "zipped_divide((4,6,2):(1,4,24), <2,3>)", "make_layout_tv((2,16):(16,1), (2,2):(2,1))",
        "(2,4):(0,0)"}) {
    out.push_back(view_of(expression));
  }
  return out;
}

TEST(Law, OffsetsAreTheLayoutsOwn) {
  for (const LayoutView& view : many_views()) {
    for_each_cell(view, [&](const Cell& cell) {
      const Panel& p = view.panels()[static_cast<std::size_t>(cell.panel)];
      const std::int64_t index = cell.row + p.rows * (cell.column + p.columns * cell.slice);
      EXPECT_EQ(view.offset(cell), p.layout(index));
      EXPECT_EQ(view.info(cell).index, index);
    });
  }
}

// Banks are counted in bytes: a value that knows its type says how wide an element is.
TEST(LayoutView, BanksAreThoseOfTheElementsType) {
  const std::pair<const char*, std::int64_t> bits[] = {
      {"smem<f16> o (8,64):(64,1)", 16},
      {"smem<f64> o (8,64):(64,1)", 64},
      {"smem<e2m1> o (8,64):(64,1)", 4},
      {"(8,64):(64,1)", 32},
      {"S = smem<f16> o Sw<3,3,3> o 0 o (8,64):(64,1); S(_,_)", 16},
      {"tma_shared_layout(f16, 128B, (8,64))", 16}};
  for (const auto& [expression, width] : bits) {
    const LayoutView view = view_of(expression);
    const Cell cell{0, 0, 3, 19};
    EXPECT_EQ(view.bank(cell, 0), view.offset(cell) * width / 32 % 32) << expression;
    EXPECT_EQ(view.info(cell).bank, view.bank(cell, 0)) << expression;
    EXPECT_EQ(view.bank(cell, 1), view.offset(cell) / 4 % 32) << expression << ", as asked for";
  }
}

// TIRx's shared memory is shown in the shape that it was made for.
TEST(LayoutView, TirxLayoutsStandInTheirLogicalShape) {
  const LayoutView view = view_of("tma_shared_layout(f16, 128B, (16,128))");
  const Panel& p = view.panels()[0];
  EXPECT_EQ(p.rows, 16);
  EXPECT_EQ(p.columns, 128);
  EXPECT_EQ(p.slices, 1);
  const std::optional<Evaluated> place =
      Scope().evaluate("X = tma_shared_layout(f16, 128B, (16,128)); X(3,70)");
  EXPECT_EQ(std::to_string(view.offset({0, 0, 3, 70})), text(std::get<Value>(*place)));
}

TEST(Law, AWindowsNumbersAndColoursAreThoseOfItsCells) {
  for (const LayoutView& view : many_views()) {
    for (const ColourBy by : view.colours()) {
      LayoutChoice choice;
      choice.colour = by;
      choice.element_bytes = 2;
      for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
        const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
        for (const std::int64_t step : {1, 3}) {
          const std::int64_t row = panel.rows > 2 ? 1 : 0, column = panel.columns > 2 ? 2 : 0;
          const LayoutView::Window w{
              p,   panel.slices - 1, row, column, panel.rows - row, panel.columns - column, step,
              step};
          const std::vector<std::int64_t> numbers = view.numbers_of(w, by, 2);
          const std::vector<Rgba> colours = view.colours_of(w, choice, dark_theme());
          ASSERT_EQ(static_cast<std::int64_t>(colours.size()), w.down() * w.across());
          for (std::size_t i = 0; i < colours.size(); ++i) {
            const std::int64_t at = static_cast<std::int64_t>(i);
            const Cell cell{p, w.slice, row + at / w.across() * step,
                            column + at % w.across() * step};
            const Rgba one = view.colour_of(cell, by, dark_theme(), 2);
            const auto near = [](int a, int b) { return std::abs(a - b) <= 1; };
            EXPECT_TRUE(near(colours[i].r, one.r) && near(colours[i].g, one.g) &&
                        near(colours[i].b, one.b))
                << view.title() << " by " << name_of(by);
            if (by == ColourBy::offset) {
              EXPECT_EQ(numbers[i], view.offset(cell));
            }
            if (by == ColourBy::bank && view.inside(cell)) {
              EXPECT_EQ(numbers[i], view.bank(cell, 2));
            }
          }
        }
      }
    }
  }
}

TEST(Law, TheCellsAtAnOffsetAreAllThatHaveIt) {
  constexpr std::size_t most = 50;
  for (const LayoutView& view : many_views()) {
    for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
      const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
      const std::int64_t row = panel.rows > 2 ? 1 : 0, column = panel.columns > 2 ? 2 : 0;
      const LayoutView::Window w{
          p, panel.slices - 1, row, column, panel.rows - row, panel.columns - column, 1, 1};
      for (const Cell asked :
           {Cell{p, w.slice, row, column}, Cell{p, w.slice, panel.rows - 1, panel.columns - 1}}) {
        const std::int64_t offset = view.offset(asked);
        std::vector<Cell> expected;
        for (std::int64_t i = row; i < panel.rows; ++i) {
          for (std::int64_t j = column; j < panel.columns && expected.size() < most; ++j) {
            const Cell cell{p, w.slice, i, j};
            if (view.inside(cell) && view.offset(cell) == offset) expected.push_back(cell);
          }
        }
        EXPECT_EQ(view.cells_at(w, offset, most), expected) << view.title() << " at " << offset;
      }
    }
  }
}

TEST(Law, HoveringLightsExactlyTheCellsThatShareWhatTheColourMeans) {
  for (const LayoutView& view : many_views()) {
    for (const ColourBy by : view.colours()) {
      LayoutChoice choice;
      choice.colour = by;
      const Panel& last = view.panels().back();
      choice.hover =
          Cell{static_cast<int>(view.panels().size()) - 1, 0, last.rows / 2, last.columns / 3};
      if (!view.inside(*choice.hover)) continue;
      const std::vector<Focus> lit = view.lit_by(*choice.hover, by);
      ASSERT_FALSE(lit.empty());
      EXPECT_EQ(lit[0], (Focus{Focus::On::offset, view.offset(*choice.hover)}));
      // By brute force: what each cell has, compared with what the hovered one has.
      const auto values = [&](const Cell& cell) {
        std::set<std::int64_t> out;
        if (by == ColourBy::tile) out.insert(view.tile(cell));
        for (const Owner& owner : view.owners(cell)) {
          if (by == ColourBy::thread) out.insert(owner.thread);
          if (by == ColourBy::warp) out.insert(owner.thread / 32);
          if (by == ColourBy::value) out.insert(owner.value);
        }
        if (view.kind() == LayoutView::Kind::plain) {
          if (by == ColourBy::thread) out.insert(cell.row);
          if (by == ColourBy::warp) out.insert(cell.row / 32);
          if (by == ColourBy::value) out.insert(cell.column);
        }
        return out;
      };
      const std::set<std::int64_t> mine = values(*choice.hover);
      for_each_cell(view, [&](const Cell& cell) {
        bool shared = false;
        if (view.inside(cell)) {
          for (const std::int64_t v : values(cell)) shared = shared || mine.count(v) != 0;
        }
        bool held = false;
        for (std::size_t i = 1; i < lit.size(); ++i) held = held || view.holds(lit[i], cell);
        EXPECT_EQ(held, shared) << view.title() << " by " << name_of(by);
        EXPECT_EQ(view.holds(lit[0], cell),
                  view.inside(cell) && view.offset(cell) == view.offset(*choice.hover));
      });
    }
  }
}

TEST(Law, IsolationFadesAllOthersAndNothingElse) {
  for (const LayoutView& view : many_views()) {
    LayoutChoice plain, isolated;
    isolated.isolate = {view.kind() == LayoutView::Kind::divided ? Focus::On::tile
                        : view.threads() > 0                     ? Focus::On::thread
                                                                 : Focus::On::offset,
                        1};
    for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
      const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
      const LayoutView::Window w{p, 0, 0, 0, panel.rows, panel.columns};
      const std::vector<Rgba> before = view.colours_of(w, plain, light_theme());
      const std::vector<Rgba> after = view.colours_of(w, isolated, light_theme());
      for (std::size_t i = 0; i < before.size(); ++i) {
        const std::int64_t at = static_cast<std::int64_t>(i);
        const Cell cell{p, 0, at / w.columns, at % w.columns};
        if (view.holds(isolated.isolate, cell)) {
          EXPECT_EQ(before[i], after[i]);
        } else {
          EXPECT_GE(luminance(after[i]), luminance(before[i]));
          EXPECT_GT(luminance(after[i]), 0.5);
        }
      }
    }
  }
}

// --- refusals ---------------------------------------------------------------------------------

TEST(Refusal, SaysWhatIsWrongAndWhatWouldWork) {
  const auto sentence = [](std::string_view expression) {
    const Outcome<LayoutView> view = LayoutView::of_expression(expression);
    EXPECT_FALSE(view.ok()) << expression;
    return view.ok() ? std::string() : view.error().sentence;
  };
  EXPECT_NE(sentence("").find("(9,(4,8)):(59,(13,1))"), std::string::npos);
  EXPECT_NE(sentence("(4,8)").find("make_layout_tv"), std::string::npos);
  EXPECT_NE(sentence("(1048576,1048577):(1,1048576)").find("2^40"), std::string::npos);
  EXPECT_FALSE(sentence("complement((4,4):(1,3), 24)").empty());
  EXPECT_FALSE(sentence("(4,8:(1,4)").empty());
}

TEST(Refusal, AColourThatMeansNothingHereNamesThoseThatDo) {
  const std::optional<Error> error = view_of("24:3").cannot_colour(ColourBy::tile);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->sentence, "24:3 has no tile to colour by; offset, bank, none would work.");
  EXPECT_FALSE(preset("9x32").cannot_colour(ColourBy::tile).has_value());
}

TEST(Refusal, UnknownNamesListTheKnownOnes) {
  const Outcome<Preset> preset = preset_named("nothing like it");
  ASSERT_FALSE(preset.ok());
  EXPECT_NE(preset.error().sentence.find("9x32"), std::string::npos);
  EXPECT_EQ(preset.error().kind, ErrorKind::unknown);
  const Outcome<ColourBy> by = colour_by_name("lane");
  ASSERT_FALSE(by.ok());
  EXPECT_NE(by.error().sentence.find("thread"), std::string::npos);
}

TEST(Presets, EachOpensAndHasItsWords) {
  for (const Preset& each : presets()) {
    const Outcome<LayoutView> view = open_preset(each);
    ASSERT_TRUE(view.ok()) << each.name;
    EXPECT_EQ(view->title(), each.title);
    EXPECT_FALSE(each.help.empty());
    const Outcome<Preset> again = preset_named(each.name);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->name, each.name);
  }
}

TEST(Expression, DivisionsWithBindingsShowTheirForms) {
  EXPECT_EQ(view_of("A = (8,8):(8,1); zipped_divide(A, <4,4>)").kind(), LayoutView::Kind::divided);
  EXPECT_EQ(view_of("make_layout_tv((4,32):(32,1), (4,4):(4,1))").kind(),
            LayoutView::Kind::thread_value);
  EXPECT_EQ(view_of("composition((6,2):(8,2), (4,3):(3,1))").kind(), LayoutView::Kind::parts);
  EXPECT_EQ(view_of("A = (8,8):(8,1); A(3,_)").offset({1, 0, 0, 2}), 26);
}

TEST(Expression, ASwizzledLayoutIsDividedAndCopiedFromItsInput) {
  const LayoutView cut = view_of("zipped_divide(Sw<3,0,3> o 0 o (8,8):(8,1), <4,4>)");
  ASSERT_EQ(cut.panels().size(), 3u);
  EXPECT_EQ(cut.panels()[0].title, "Input");
  EXPECT_EQ(cut.offset({0, 0, 5, 6}), 5 * 8 + (6 ^ 5));
  EXPECT_EQ(cut.offset({2, 0, 1 + 4 * 2, 1 + 2 * 1}), cut.offset({0, 0, 5, 6}))
      << "(1,2) of tile 3";
  EXPECT_EQ(cut.tile({0, 0, 5, 6}), 3);
  const LayoutView copied = view_of("blocked_product(Sw<1,0,2> o 0 o (4,4):(4,1), (2,1):(1,2))");
  ASSERT_EQ(copied.panels().size(), 3u);
  EXPECT_EQ(copied.panels()[0].title, "Block");
}

// slice() answers a layout without its offset; the picture shows where it is.
TEST(Expression, ASliceStandsInItsWhole) {
  const LayoutView view = view_of("slice((_,3), (4,8):(8,1))");
  ASSERT_EQ(view.panels().size(), 2u);
  for (std::int64_t j = 0; j < 8; ++j) EXPECT_EQ(view.taken({0, 0, 2, j}), j == 3) << j;
  EXPECT_EQ(view.offset({1, 0, 0, 1}), 11);
  EXPECT_EQ(view.notes().back(),
            "slice() answers (4):(8), which counts from where the slice begins.");
  EXPECT_EQ(view_of("L = (4,8):(8,1); slice((1,_), L)").panels().size(), 2u);
}

TEST(Legend, SaysOfWhichElementsBanksAre) {
  LayoutChoice banks;
  banks.colour = ColourBy::bank;
  const auto title = [&](std::string_view expression) {
    return view_of(expression).legend(banks, light_theme()).title;
  };
  EXPECT_EQ(title("(8,8):(8,1)"), "bank, elements taken as 4 bytes");
  EXPECT_EQ(title("smem<f16> o (8,8):(8,1)"), "bank, elements of 2 bytes");
  EXPECT_EQ(title("smem<f32> o (8,8):(8,1)"), "bank, elements of 4 bytes");
  banks.element_bytes = 1;
  EXPECT_EQ(title("(8,8):(8,1)"), "bank, elements of 1 byte");
}

}  // namespace
}  // namespace tilescope
