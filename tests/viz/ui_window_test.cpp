// The window without a display: Dear ImGui lays out and takes input as ever, and nobody paints.
// Typing, pointing and clicking change the session as a reader expects.
#include <gtest/gtest.h>

#include <imgui.h>

#include <cmath>

#include "assets/embedded.h"
#include "tests/viz/ui_workshop.h"
#include "viz/scene/commands.h"
#include "viz/ui/keys.h"
#include "viz/ui/window_ui.h"

namespace tilescope {
namespace {

// Keeps count of textures instead of making any.
class CountedTextures : public ui::Textures {
 public:
  ImTextureID make(int width, int height, std::span<const std::uint8_t> rgba, bool) override {
    EXPECT_EQ(rgba.size(), std::size_t(width) * std::size_t(height) * 4);
    EXPECT_LE(std::max(width, height), largest());
    ++alive;
    ++made;
    return (ImTextureID)(std::uintptr_t)made;
  }
  void drop(ImTextureID) override { --alive; }
  int largest() const override { return 4096; }
  int alive = 0, made = 0;
};

class Window : public ::testing::Test {
 protected:
  Window() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1280, 800};
    io.DeltaTime = 1.0f / 60;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ui::install_key_map(io);
    fonts =
        ui::add_fonts(*io.Fonts, {asset("font/DejaVuSans.ttf"), asset("font/DejaVuSans-Bold.ttf"),
                                  asset("font/DejaVuSansMono.ttf")});
    window = std::make_unique<ui::WindowUi>(fonts, textures);
    act("open preset 9x32");
    settle();
  }
  ~Window() override {
    window.reset();
    EXPECT_EQ(textures.alive, 0) << "every texture that was made is dropped";
    ImGui::DestroyContext();
  }

  void act(std::string_view line) {
    const auto answer = execute(session, workshop, line);
    ASSERT_TRUE(answer.ok()) << answer.error().sentence;
  }
  void frame() {
    ImGui::NewFrame();
    window->draw(session, workshop);
    ImGui::Render();
    window->perform(session, workshop);
  }
  void settle() {
    for (int i = 0; i < 3; ++i) frame();
  }
  void point(ImVec2 at) {
    ImGui::GetIO().MousePos = at;
    frame();
    frame();
  }
  void click(ImVec2 at) {
    point(at);
    ImGui::GetIO().MouseDown[0] = true;
    frame();
    ImGui::GetIO().MouseDown[0] = false;
    frame();
    frame();
  }
  void drag(ImVec2 from, ImVec2 to) {
    point(from);
    ImGui::GetIO().MouseDown[0] = true;
    frame();
    for (int i = 1; i <= 4; ++i) {
      ImGui::GetIO().MousePos = {from.x + (to.x - from.x) * static_cast<float>(i) / 4,
                                 from.y + (to.y - from.y) * static_cast<float>(i) / 4};
      frame();
    }
    ImGui::GetIO().MouseDown[0] = false;
    frame();
    frame();
  }
  void type(const char* text) {
    for (const char* c = text; *c; ++c) {
      ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(*c));
      frame();
    }
    frame();
  }
  void press(ui::Key key, bool control = false, bool shift = false) {
    ImGuiIO& io = ImGui::GetIO();
    ui::set_modifiers(io, control, shift);
    ui::set_key(io, key, true);
    frame();
    ui::set_key(io, key, false);
    ui::set_modifiers(io, false, false);
    frame();
    frame();
  }
  // Where a cell's middle is on the display.
  ImVec2 place(const Cell& cell) {
    const Box box = box_of(*session.choices.layout, *window->picture().layout, cell);
    return on_display(box.centre());
  }
  ImVec2 on_display(Point p) {
    return {window->view_origin().x + static_cast<float>(p.x),
            window->view_origin().y + static_cast<float>(p.y)};
  }
  const ImVec2 field_{400, 28};
  // Replaces the field's text.
  void fill_field(const char* text) {
    click(field_);
    press(static_cast<ui::Key>('A'), true);
    type(text);
  }

  CountedTextures textures;
  Session session;
  test::FakeWorkshop workshop;
  ui::FontSet fonts;
  std::unique_ptr<ui::WindowUi> window;
};

TEST_F(Window, PointingAtACellTellsAllAboutIt) {
  point(place({0, 0, 4, 7}));
  ASSERT_TRUE(session.hover);
  EXPECT_EQ(*session.hover, (Cell{0, 0, 4, 7}));
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
  EXPECT_FALSE(session.hover) << "nothing is under the pointer outside the view";
}

TEST_F(Window, AClickSelectsASecondIsolatesAndEscapeGoesBackOne) {
  click(place({0, 0, 1, 2}));
  ASSERT_TRUE(session.choices.selected);
  EXPECT_EQ(*session.choices.selected, (Cell{0, 0, 1, 2}));
  click(place({0, 0, 1, 2}));
  EXPECT_TRUE(session.choices.isolate.on == Focus::On::tile);
  EXPECT_EQ(session.choices.isolate.number, session.choices.layout->tile({0, 0, 1, 2}));
  press(ui::Key::escape);
  EXPECT_TRUE(session.choices.isolate.on == Focus::On::nothing);
  press(ui::Key::escape);
  EXPECT_FALSE(session.choices.selected);
}

TEST_F(Window, TypingAnExpressionShowsItAtOnce) {
  fill_field("(4,6):(6,1)");
  EXPECT_EQ(session.choices.layout_text, "(4,6):(6,1)");
  EXPECT_EQ(session.choices.layout->panels().front().rows, 4);
  EXPECT_FALSE(session.problem);
}

TEST_F(Window, AMistakeIsToldWhileTypingAndGoesAwayWhenMended) {
  fill_field("(4,6):(6");
  ASSERT_TRUE(session.problem);
  EXPECT_EQ(session.choices.layout_text, "preset 9x32") << "the last layout stays in view";
  type(",1)");
  EXPECT_FALSE(session.problem);
  EXPECT_EQ(session.choices.layout_text, "(4,6):(6,1)");
}

TEST_F(Window, EnterOpensAKernelByName) {
  fill_field("add --m 6");
  EXPECT_FALSE(session.choices.kernel);
  press(ui::Key::enter);
  ASSERT_TRUE(session.choices.kernel);
  EXPECT_EQ(session.choices.kernel->sizes[0].value, 6);
  EXPECT_EQ(session.choices.view, ViewName::matrices);
}

TEST_F(Window, APresetInTheOutlineOpensWithAClick) {
  // Rows of 24 px under the heading "Layouts": the second is the Volta quadpair.
  click({100, 80 + 8 + 24 + 24 + 12});
  EXPECT_EQ(session.choices.layout->kind(), LayoutView::Kind::thread_value);
  EXPECT_EQ(session.field, "preset Volta 8x8 quadpair");
  press(static_cast<ui::Key>('Z'), true);
  EXPECT_EQ(session.field, "preset 9x32") << "Ctrl+Z takes it back";
  press(static_cast<ui::Key>('Z'), true, true);
  EXPECT_EQ(session.field, "preset Volta 8x8 quadpair") << "Ctrl+Shift+Z does it again";
}

TEST_F(Window, TheWheelKeepsThePointUnderThePointer) {
  const Cell cell{0, 0, 4, 7};
  point(place(cell));
  const double before = window->picture().layout->lens.cell;
  for (int i = 0; i < 6; ++i) {
    ImGui::GetIO().MouseWheel = 1;
    frame();
    frame();
    ASSERT_TRUE(session.hover);
    EXPECT_EQ(*session.hover, cell) << "after " << i + 1 << " steps";
  }
  EXPECT_GT(window->picture().layout->lens.cell, before * 2);
  press(ui::Key::home);
  EXPECT_DOUBLE_EQ(window->picture().layout->lens.cell, before);
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
  EXPECT_FALSE(session.choices.selected);
}

TEST_F(Window, F5RunsTheKernelAndAClickTellsWhoWroteAnElement) {
  workshop.wrong = {11};
  act("open add");
  settle();
  press(ui::Key::f5);
  settle();
  ASSERT_EQ(workshop.starts, 1);
  ASSERT_EQ(session.choices.view, ViewName::diff);
  const Box wrong = box_of(*window->picture().diff, Element{1, 3});
  click(on_display(wrong.centre()));
  ASSERT_TRUE(session.choices.element);
  EXPECT_EQ(*session.choices.element, (Element{1, 3}));
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
  EXPECT_EQ(window->arrangement().inspector, 0);
  settle();
  EXPECT_FLOAT_EQ(static_cast<float>(window->picture().scene.size.width), before + 296);
}

TEST_F(Window, AChoiceWithoutRoomFoldsAndAClickGoesOnToTheNext) {
  ImGui::GetIO().DisplaySize = {900, 700};
  settle();
  const ImVec2 label{900 - 240 - 16 - 24, 104};  // the right end of the controls over the view
  ASSERT_FALSE(session.choices.coordinates);
  click(label);
  EXPECT_TRUE(session.choices.coordinates);
  click(label);
  EXPECT_FALSE(session.choices.coordinates);
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

}  // namespace
}  // namespace tilescope
