// The window without a display, for tests: Dear ImGui lays out and takes input as ever, and nobody
// paints. Pointing, clicking, typing and pressing keys are calls.
#pragma once

#include <gtest/gtest.h>

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "assets/embedded.h"
#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/ui/keys.h"
#include "viz/ui/window_ui.h"

namespace tilescope::test {

// Keeps count of textures instead of making any.
class CountedTextures : public ui::Textures {
 public:
  ImTextureID make(int width, int height, std::span<const std::uint8_t> rgba,
                   bool is_smooth) override {
    EXPECT_EQ(rgba.size(), std::size_t(width) * std::size_t(height) * 4);
    EXPECT_LE(std::max(width, height), largest());
    ++alive;
    ++made;
    if (is_smooth) smooth[std::uintptr_t(made)] = {float(width), float(height)};
    return (ImTextureID)(std::uintptr_t)made;
  }
  void drop(ImTextureID) override { --alive; }
  int largest() const override { return 4096; }
  int alive = 0, made = 0;
  std::map<std::uintptr_t, ImVec2> smooth;  // their sizes, by name
};

// Over a backend of tests, or the program's own.
template <class Shop>
class WindowOver : public ::testing::Test {
 protected:
  WindowOver() {
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
  ~WindowOver() override {
    window.reset();
    EXPECT_EQ(textures.alive, 0) << "every texture that was made is dropped";
    ImGui::DestroyContext();
  }

  void act(std::string_view line) {
    const auto answer = execute(session, backend, line);
    ASSERT_TRUE(answer.ok()) << answer.error().sentence;
  }
  void frame() {
    ImGui::NewFrame();
    window->draw(session, backend);
    ImGui::Render();
    window->perform(session, backend);
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
    ++clicks_;
    point(at);
    ImGui::GetIO().MouseDown[0] = true;
    frame();
    ImGui::GetIO().MouseDown[0] = false;
    frame();
    frame();
  }
  void drag(ImVec2 from, ImVec2 to) {
    ++clicks_;
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
    ++texts_;
    for (const char* c = text; *c; ++c) {
      ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(*c));
      frame();
    }
    frame();
  }
  void press(ui::Key key, bool control = false, bool shift = false) {
    ++keys_;
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
    const Box box = box_of(*session.state.layout, *window->picture().layout, cell);
    return on_display(box.centre());
  }
  ImVec2 on_display(Point p) {
    return {window->view_origin().x + static_cast<float>(p.x),
            window->view_origin().y + static_cast<float>(p.y)};
  }
  // The middle of what can be clicked under this name, inside these names, as the window drew it
  // last; nothing where it is not there, or is scrolled out of sight.
  std::optional<ImVec2> middle_of(std::initializer_list<std::string_view> names) {
    for (const ui::FocusRing::Target& target : window->ring().targets()) {
      const auto* in = static_cast<const ImGuiWindow*>(target.window);
      ImGuiID id = in->ID;
      for (std::string_view name : names) id = ImHashStr(std::string(name).c_str(), 0, id);
      const ImVec2 middle{(target.low.x + target.high.x) / 2, (target.low.y + target.high.y) / 2};
      if (id == target.id && in->InnerRect.Contains(middle)) return middle;
    }
    return std::nullopt;
  }
  const ImVec2 field_{400, 28};
  // Replaces the field's text.
  void fill_field(const char* text) {
    click(field_);
    press(static_cast<ui::Key>('A'), true);
    type(text);
  }

  // What the reader did so far, by hand: a drag is a click, a chord one key, a text one text.
  int clicks() const { return clicks_; }
  int keys() const { return keys_; }
  int texts() const { return texts_; }

  CountedTextures textures;
  Session session;
  Shop backend;
  ui::FontSet fonts;
  std::unique_ptr<ui::WindowUi> window;

 private:
  int clicks_ = 0, keys_ = 0, texts_ = 0;
};

using WindowTest = WindowOver<FakeBackend>;

}  // namespace tilescope::test
