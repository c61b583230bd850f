// Typing, pointing and clicking change the session as a reader expects.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/sim/program.h"
#include "tests/viz/ui_stage.h"
#include "viz/ui/cut_at_the_end.h"

namespace tilescope {
namespace {

using Window = test::WindowTest;

TEST_F(Window, PointingAtACellTellsAllAboutIt) {
  point(place({0, 0, 4, 7}));
  ASSERT_TRUE(session.hovered.cell);
  EXPECT_EQ(*session.hovered.cell, (Cell{0, 0, 4, 7}));
  const auto sections = inspector(session);
  ASSERT_FALSE(sections.empty());
  EXPECT_EQ(sections[0].title, "Under the pointer");
  bool told = false;
  for (const auto& [name, value] : sections[0].lines) {
    // Row 4, column 7 = (4,(3,1)) of (9,(4,8)):(59,(13,1)): 4*59 + 3*13 + 1.
    told = told || (name == "offset" && value == "276");
  }
  EXPECT_TRUE(told);
  point({2, 2});
  EXPECT_FALSE(session.hovered.cell) << "nothing is under the pointer outside the view";
}

TEST_F(Window, AClickSelectsASecondIsolatesAndEscapeGoesBackOne) {
  click(place({0, 0, 1, 2}));
  ASSERT_TRUE(session.state.selected);
  EXPECT_EQ(*session.state.selected, (Cell{0, 0, 1, 2}));
  click(place({0, 0, 1, 2}));
  EXPECT_TRUE(session.state.isolate.on == Focus::On::tile);
  EXPECT_EQ(session.state.isolate.number, session.state.layout->tile({0, 0, 1, 2}));
  press(ui::Key::escape);
  EXPECT_TRUE(session.state.isolate.on == Focus::On::nothing);
  press(ui::Key::escape);
  EXPECT_FALSE(session.state.selected);
}

TEST_F(Window, TypingAnExpressionShowsItAtOnce) {
  fill_field("(4,6):(6,1)");
  EXPECT_EQ(session.state.layout_text, "(4,6):(6,1)");
  EXPECT_EQ(session.state.layout->panels().front().rows, 4);
  EXPECT_FALSE(session.problem);
}

TEST_F(Window, AMistakeIsToldWhileTypingAndGoesAwayWhenMended) {
  fill_field("(4,6):(6");
  ASSERT_TRUE(session.problem);
  EXPECT_EQ(session.state.layout_text, "preset 9x32") << "the last layout stays in view";
  type(",1)");
  EXPECT_FALSE(session.problem);
  EXPECT_EQ(session.state.layout_text, "(4,6):(6,1)");
}

TEST_F(Window, EnterOpensAKernelByName) {
  fill_field("add --m 6");
  EXPECT_FALSE(session.state.kernel);
  press(ui::Key::enter);
  ASSERT_TRUE(session.state.kernel);
  EXPECT_EQ(session.state.kernel->sizes[0].value, 6);
  EXPECT_EQ(session.state.view, ViewName::kernel);
}

TEST_F(Window, APresetInTheOutlineOpensWithAClick) {
  // Rows of 24 px: the views of the open layout, a gap of 16, then under the heading "Layouts" the
  // second is the Volta quadpair.
  click({100, 80 + 8 + 6 * 24 + 16 + 24 + 24 + 12});
  EXPECT_EQ(session.state.layout->kind(), LayoutView::Kind::thread_value);
  EXPECT_EQ(session.field, "preset Volta 8x8 quadpair");
  press(static_cast<ui::Key>('Z'), true);
  EXPECT_EQ(session.field, "preset 9x32") << "Ctrl+Z takes it back";
  press(static_cast<ui::Key>('Z'), true, true);
  EXPECT_EQ(session.field, "preset Volta 8x8 quadpair") << "Ctrl+Shift+Z does it again";
}

TEST_F(Window, TheWheelKeepsThePointUnderThePointer) {
  const Cell cell{0, 0, 4, 7};
  point(place(cell));
  const double before = window->picture().layout->viewport.cell;
  for (int i = 0; i < 6; ++i) {
    ImGui::GetIO().MouseWheel = 1;
    frame();
    frame();
    ASSERT_TRUE(session.hovered.cell);
    EXPECT_EQ(*session.hovered.cell, cell) << "after " << i + 1 << " steps";
  }
  EXPECT_GT(window->picture().layout->viewport.cell, before * 2);
  press(ui::Key::home);
  EXPECT_DOUBLE_EQ(window->picture().layout->viewport.cell, before);
}

// Over the registers stands an accumulator: the wheel zooms it there, and scrolls the list below.
TEST_F(Window, TheWheelZoomsTheAccumulatorAndScrollsTheRegisters) {
  auto program = test::read_program(TILESCOPE_SOURCE_DIR "/tests/sim/programs/wgmma_epilogue.ptx");
  auto stepper = sim::Stepper::load(std::move(program.job));
  ASSERT_TRUE(stepper);
  auto live = std::make_shared<LiveRun>(std::move(*stepper));
  for (int i = 0; i < 400; ++i) {
    if (!live->registers.accumulators(live->stepper.machine(), 0, 0).empty()) break;
    live->stepper.step({});
    live->stepper.arrive();
  }
  act("open add");
  session.state.live = live;
  session.state.moment = live->stepper.position();
  act("select registers");
  settle();
  const auto now = [&]() -> const AccumulatorFrame& { return *window->picture().accumulator; };
  ASSERT_TRUE(window->picture().accumulator);
  const Box values = now().values;
  const auto wheel = [&](Point at, float by) {
    point(on_display(at));
    ImGui::GetIO().MouseWheel = by;
    frame();
    frame();
  };
  wheel(values.centre(), 6);
  const double cell = now().viewport.cell;
  EXPECT_GT(cell, 2);
  const Point pan = now().viewport.pan;
  const ImVec2 from = on_display(values.centre());
  drag(from, {from.x - 20, from.y - 10});
  EXPECT_NEAR(now().viewport.pan.x - pan.x, 20, 1);
  EXPECT_NEAR(now().viewport.pan.y - pan.y, 10, 1);
  wheel({values.x, values.bottom() + 120}, -2);
  EXPECT_EQ(now().viewport.cell, cell);
  EXPECT_TRUE(session.scrolls[ViewName::registers].by_hand) << "that is for the list";
  press(ui::Key::home);
  EXPECT_EQ(now().viewport.cell, 1);
}

TEST_F(Window, DraggingMovesTheViewAndSelectsNothing) {
  act("zoom in");
  act("zoom in");
  act("zoom in");
  settle();
  const ImVec2 before = place({0, 0, 4, 7});
  drag({600, 450}, {560, 420});
  const ImVec2 after = place({0, 0, 4, 7});
  EXPECT_NEAR(after.x - before.x, -40, 1);
  EXPECT_NEAR(after.y - before.y, -30, 1);
  EXPECT_FALSE(session.state.selected);
}

TEST_F(Window, F5RunsTheKernelAndAClickTellsWhoWroteAnElement) {
  backend.wrong = {11};
  act("open add");
  settle();
  press(ui::Key::f5);
  settle();
  ASSERT_EQ(backend.starts, 1);
  ASSERT_EQ(session.state.view, ViewName::diff);
  const Box wrong = box_of(*window->picture().diff, Element{1, 3});
  click(on_display(wrong.centre()));
  ASSERT_TRUE(session.state.element);
  EXPECT_EQ(*session.state.element, (Element{1, 3}));
  bool source = false;
  for (const InspectorSection& section : inspector(session)) {
    for (const auto& line : section.lines) source = source || line.second == "kernels/add.cu:42";
  }
  EXPECT_TRUE(source);
}

TEST_F(Window, AMillionCellsAreOneTexturedQuadAGrid) {
  act("open layout (1024,1024):(1024,1)");
  settle();
  EXPECT_LT(ImGui::GetDrawData()->TotalVtxCount, 20000);
  const int made = textures.made;
  for (int i = 0; i < 20; ++i) point({500.0f + static_cast<float>(i), 400});
  EXPECT_EQ(textures.made, made) << "the pointer makes no raster anew";
}

TEST_F(Window, PanelsCollapseAndTheViewTakesTheirPlace) {
  const float before = static_cast<float>(window->picture().scene.size.width);
  drag({1280 - 296, 400}, {1275, 400});
  EXPECT_EQ(session.state.settings.inspector, 0);
  settle();
  EXPECT_FLOAT_EQ(static_cast<float>(window->picture().scene.size.width), before + 296);
}

TEST_F(Window, AChoiceWithoutRoomFoldsIntoAMenu) {
  ImGui::GetIO().DisplaySize = {900, 700};
  settle();
  // The right end of the controls over the view, before the legend's.
  const ImVec2 label{900 - 240 - 16 - 40 - 24, 104};
  ASSERT_FALSE(session.state.coordinates);
  const ImVec2 second{label.x, 104 + 16 + 4 + 4 + 24 + 12};  // rows of 24 below it
  click(label);
  EXPECT_FALSE(session.state.coordinates) << "it only opens";
  click(second);
  EXPECT_TRUE(session.state.coordinates);
  click(label);
  press(ui::Key::escape);
  click(second);
  EXPECT_TRUE(session.state.coordinates) << "Esc put the menu away, and did nothing else";
  act("pick 1 1");
  click(label);
  click({700, 500});
  EXPECT_TRUE(session.state.coordinates) << "a click beside it puts it away";
  click(label);
  press(ui::Key::up);  // belongs to the selection, which waits
  press(ui::Key::tab);
  press(ui::Key::enter);
  EXPECT_FALSE(session.state.coordinates) << "Tab and Enter choose from it";
}

TEST_F(Window, F6GoesFromPartToPart) {
  const auto field = [&] {
    settle();
    return ImGui::GetIO().WantTextInput;
  };
  press(ui::Key::f6);
  EXPECT_TRUE(field());
  press(ui::Key::f6);
  EXPECT_FALSE(field());
  press(ui::Key::enter);  // the first target of the outline: the open layout as a grid
  EXPECT_EQ(session.message.text, "Showing the layout.");
  press(ui::Key::f6, false, true);
  EXPECT_TRUE(field());
  press(ui::Key::f6, false, true);  // round to the last: the strip's first button
  press(ui::Key::enter);
  EXPECT_GT(session.state.study.step, 0u) << "Back, from the result, is the last step";
}

TEST_F(Window, TheTourShowsAPanelThatIsHidden) {
  act("panel outline hide");
  settle();
  const float whole = window->view_origin().x;
  EXPECT_EQ(whole, 0);
  act("tour");
  act("tour next");
  settle();
  EXPECT_GT(window->view_origin().x, 100);
  act("tour end");
  settle();
  EXPECT_EQ(window->view_origin().x, 0);
}

TEST_F(Window, LettersSayWhatTheWindowHasRoomFor) {
  session.letters_room = 200;
  act("font 250");
  EXPECT_NE(session.message.text.find("at 200 %"), std::string::npos) << session.message.text;
  EXPECT_EQ(session.state.settings.font, 250);
  act("font 150");
  EXPECT_EQ(session.message.text, "The letters are at 150 %.");
}

TEST_F(Window, EveryWindowSizeIsDrawnWithoutHarm) {
  act("open add");
  act("run");
  for (const char* view : {"select layout", "select matrices", "select diff"}) {
    act(view);
    for (const ImVec2 size :
         {ImVec2{64, 64}, ImVec2{320, 200}, ImVec2{800, 500}, ImVec2{2560, 1600}}) {
      ImGui::GetIO().DisplaySize = size;
      settle();
    }
  }
}

TEST_F(Window, ThePaletteIsTypedInAndEnterDoesIt) {
  press(static_cast<ui::Key>('P'), true, true);
  ASSERT_EQ(session.overlay.kind, Overlay::Kind::palette);
  settle();
  type("dark");
  EXPECT_EQ(session.overlay.text, "dark");
  press(ui::Key::enter);
  EXPECT_TRUE(session.state.dark);
  EXPECT_FALSE(session.overlay.open());
  press(static_cast<ui::Key>('Z'), true);
  EXPECT_FALSE(session.state.dark);
}

TEST_F(Window, ThePaletteCompletesKeepsTheCaretAtTheEndAndTellsARefusal) {
  press(static_cast<ui::Key>('P'), true, true);
  settle();
  type("isol ti");
  press(ui::Key::enter);
  EXPECT_EQ(session.overlay.text, "isolate tile ");
  settle();
  type("99");
  EXPECT_EQ(session.overlay.text, "isolate tile 99");
  press(ui::Key::enter);
  EXPECT_NE(session.overlay.problem.find("0 to 11"), std::string::npos);
  settle();
  press(ui::Key::escape);
  EXPECT_FALSE(session.overlay.open());
  EXPECT_TRUE(session.state.isolate.on == Focus::On::nothing);
}

TEST_F(Window, TabCompletesInThePaletteAndTypingGoesOn) {
  act("palette");
  settle();
  type("isol ti");
  press(ui::Key::tab);
  settle();
  type("4");
  EXPECT_EQ(session.overlay.text, "isolate tile 4");
  press(ui::Key::enter);
  EXPECT_TRUE((session.state.isolate == Focus{Focus::On::tile, 4}));
}

TEST_F(Window, ArrowsChooseInThePaletteAndAClickBesideItClosesIt) {
  act("palette theme");
  settle();
  press(ui::Key::down);
  EXPECT_EQ(session.overlay.chosen, 1u);
  press(ui::Key::up);
  EXPECT_EQ(session.overlay.chosen, 0u);
  click({60, 600});
  EXPECT_FALSE(session.overlay.open());
  EXPECT_FALSE(session.state.selected) << "and does nothing else";
}

TEST_F(Window, AQuestionMarkListsTheCommandsUnlessItIsTyped) {
  type("?");
  settle();
  EXPECT_EQ(session.overlay.kind, Overlay::Kind::commands);
  press(ui::Key::escape);
  EXPECT_FALSE(session.overlay.open());
  fill_field("4:?");
  settle();
  EXPECT_FALSE(session.overlay.open());
}

TEST_F(Window, TheListOfStepsIsWalkedByTabAndEnterGoesThere) {
  act("colour offset");
  act("pick 1 1");
  act("history");
  settle();
  EXPECT_EQ(window->ring().targets().size(), session.past.size() + 1)
      << "the steps and the beginning alone";
  press(ui::Key::tab);
  press(ui::Key::tab);
  press(ui::Key::tab);  // the beginning, the preset, the colour
  press(ui::Key::enter);
  settle();
  EXPECT_FALSE(session.state.selected);
  EXPECT_TRUE(session.state.colour == ColourBy::offset);
  press(ui::Key::escape);
  EXPECT_FALSE(session.overlay.open());
}

TEST_F(Window, EveryCommandIsDoneFromTheKeyboardAlone) {
  act("lesson layouts");  // which goes on with an exercise when it is opened again
  act("open add");
  act("run");
  settle();
  act("open preset 9x32");
  settle();
  for (const WindowCommand& command : window_commands()) {
    press(static_cast<ui::Key>('P'), true, true);
    settle();
    ASSERT_EQ(session.overlay.kind, Overlay::Kind::palette) << command.name;
    type(std::string(command.example).c_str());
    EXPECT_EQ(session.overlay.text, command.example);
    press(ui::Key::enter);
    if (!session.overlay.problem.empty()) {
      const bool typing = command.name == "complete" || command.name == "recall";
      EXPECT_TRUE(typing || command.name == "cancel" || command.name == "redo")
          << session.overlay.problem;
    }
    settle();
    if (session.overlay.open()) press(ui::Key::escape);
    if (command.name == "run") act("select layout");
    ASSERT_FALSE(session.overlay.open()) << command.name;
  }
}

TEST_F(Window, TabReachesEveryTargetAndEnterDoesWhatAClickDoes) {
  press(ui::Key::tab);
  const std::size_t count = window->ring().targets().size();
  ASSERT_GT(count, 12u) << "the field, buttons, choices, rows of the outline, the view";
  // Once round, every target is somewhere: pressing Enter on each does what its command says.
  std::set<std::string> done;
  for (std::size_t i = 0; i < count; ++i) {
    const bool field = ImGui::GetIO().WantTextInput;
    const std::size_t steps = session.past.size();
    session.message = {};
    if (!field) press(ui::Key::enter);
    if (!session.message.text.empty()) done.insert(session.message.text);
    if (session.past.size() > steps) act("undo");
    if (!session.atoms.empty()) act("atoms none");  // no choice, and more rows to go round
    if (session.playing) act("derive stop");
    settle();
    press(ui::Key::tab);
  }
  for (const char* words : {"Coloured by offset.", "Cells show their coordinates.",
                            "All of the view is shown.", "The theme is dark."}) {
    EXPECT_TRUE(done.count(words)) << words;
  }
  EXPECT_TRUE(std::any_of(done.begin(), done.end(), [](const std::string& each) {
    return each.find("Opened the preset Volta") == 0;
  }));
}

TEST_F(Window, TabGoesIntoTheFieldAndOutOfItAndBackAgain) {
  bool typed = false;
  for (std::size_t i = 0; i < 60 && !typed; ++i) {
    press(ui::Key::tab);
    settle();
    if (!ImGui::GetIO().WantTextInput) continue;
    press(static_cast<ui::Key>('A'), true);
    type("(4,6):(6,1)");
    typed = true;
  }
  ASSERT_TRUE(typed);
  EXPECT_EQ(session.state.layout_text, "(4,6):(6,1)");
  press(ui::Key::tab);
  settle();
  EXPECT_FALSE(ImGui::GetIO().WantTextInput);
  press(ui::Key::tab, false, true);
  settle();
  EXPECT_TRUE(ImGui::GetIO().WantTextInput);
}

TEST_F(Window, ArrowsMoveTheSelectionAndNotWhileTextIsTyped) {
  press(ui::Key::right);
  press(ui::Key::right);
  press(ui::Key::down);
  ASSERT_TRUE(session.state.selected);
  EXPECT_EQ(*session.state.selected, (Cell{0, 0, 1, 1}));
  click(field_);
  press(ui::Key::left);
  EXPECT_EQ(*session.state.selected, (Cell{0, 0, 1, 1}));
}

TEST_F(Window, TheTourIsWalkedByItsButtonsAndLeavesTheWindowUsable) {
  act("tour");
  settle();
  for (int i = 0; i < 3 && session.tour; ++i) {
    const std::size_t step = *session.tour;
    act("tour next");
    settle();
    EXPECT_EQ(session.tour, std::optional<std::size_t>(step + 1));
  }
  click(place({0, 0, 1, 2}));
  EXPECT_TRUE(session.state.selected) << "what it talks about can be tried";
  press(ui::Key::escape);
  EXPECT_FALSE(session.tour);
}

TEST_F(Window, CtrlPlusAndMinusChangeTheLetters) {
  press(ui::Key::equal, true);
  press(ui::Key::equal, true, true);
  EXPECT_EQ(session.state.settings.font, 150);
  press(ui::Key::minus, true);
  EXPECT_EQ(session.state.settings.font, 125);
  press(static_cast<ui::Key>('0'), true);
  EXPECT_EQ(session.state.settings.font, 100);
}

TEST_F(Window, WhatIsCopiedReachesTheClipboard) {
  click(place({0, 0, 4, 7}));
  press(static_cast<ui::Key>('C'), true);
  EXPECT_STREQ(ImGui::GetClipboardText(), "276");
  press(static_cast<ui::Key>('S'), true, true);
  EXPECT_EQ(ImGui::GetClipboardText(), session.copied);
  EXPECT_EQ(session.copied.rfind("tilescope:1:", 0), 0u);
}

TEST_F(Window, AnEdgeThatIsDraggedIsRememberedAndUndone) {
  drag({216, 400}, {300, 400});
  EXPECT_EQ(session.state.settings.outline, 300);
  settle();
  EXPECT_EQ(window->view_origin().x, 300);
  act("undo");
  settle();
  EXPECT_EQ(window->view_origin().x, 216);
}

TEST(Keys, EveryShortcutInTheCommandTableIsAKeyThatIsKnown) {
  for (const WindowCommand& command : window_commands()) {
    for (const KeyBinding& binding : key_bindings(command)) {
      ui::Shortcut shortcut;
      EXPECT_TRUE(ui::parse_shortcut(binding.keys, shortcut)) << binding.keys;
    }
  }
  ui::Shortcut none;
  EXPECT_FALSE(ui::parse_shortcut("Hyper+Q", none));
  EXPECT_FALSE(ui::parse_shortcut("", none));
}

TEST(Fonts, TextIsCutInTheMiddleAndNeverWiderThanItsPlace) {
  ImFontAtlas atlas;
  const ui::FontSet set =
      ui::add_fonts(atlas, {asset("font/DejaVuSans.ttf"), {}, asset("font/DejaVuSansMono.ttf")});
  const ImFont* mono = set.code(ui::TextSize::small);
  const std::string text = "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)";
  EXPECT_EQ(ui::cut_in_the_middle(mono, text, 1000), text);
  for (float width = 40; width < 440; width += 17) {
    const std::string cut = ui::cut_in_the_middle(mono, text, width);
    EXPECT_LE(ui::text_width(mono, cut), width);
    EXPECT_EQ(cut.front(), text.front());
    EXPECT_EQ(cut.back(), text.back()) << cut;
  }
}

TEST(Fonts, ASentenceIsCutAtItsEnd) {
  ImFontAtlas atlas;
  const ui::FontSet set =
      ui::add_fonts(atlas, {asset("font/DejaVuSans.ttf"), {}, asset("font/DejaVuSansMono.ttf")});
  const ImFont* font = set.words(ui::TextSize::small);
  const std::string text = "1 hazard: ld reads byte 0. hgemm_v7: all 1,048,576 elements agree.";
  EXPECT_EQ(ui::cut_at_the_end(font, text, 1000), text);
  for (float width = 40; width < 400; width += 17) {
    const std::string cut = ui::cut_at_the_end(font, text, width);
    EXPECT_LE(ui::text_width(font, cut), width);
    const std::size_t kept = cut.size() - 3;  // the bytes of the letter that stands for the rest
    EXPECT_EQ(cut.substr(kept), "\u2026");
    EXPECT_EQ(cut.substr(0, kept), text.substr(0, kept));
  }
}

}  // namespace
}  // namespace tilescope
