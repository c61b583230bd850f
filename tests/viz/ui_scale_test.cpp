// Letters of 100 to 250 percent: the window's own pixels grow, all of the display stays covered,
// and letters lie on whole pixels of it.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/viz/ui_stage.h"
#include "viz/ui/scale.h"

namespace tilescope {
namespace {

TEST(Scale, TheRendererFindsAllOfTheDisplayAgain) {
  for (int percent = 100; percent <= 250; ++percent) {
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{2560, 1600}, ImVec2{1919, 1079}}) {
      for (float framebuffer : {1.0f, 2.0f, 1.5f}) {
        ImGuiIO io;
        io.DisplaySize = size;
        io.DisplayFramebufferScale = {framebuffer, framebuffer};
        io.MousePos = {300, 150};
        const float scale = static_cast<float>(percent) / 100;
        ui::scale_display(io, scale);
        // As Dear ImGui's OpenGL renderer counts.
        EXPECT_EQ((int)(io.DisplaySize.x * io.DisplayFramebufferScale.x),
                  (int)(size.x * framebuffer))
            << percent;
        EXPECT_EQ((int)(io.DisplaySize.y * io.DisplayFramebufferScale.y),
                  (int)(size.y * framebuffer))
            << percent;
        EXPECT_NEAR(io.MousePos.x * scale, 300, 0.01);
      }
    }
  }
}

TEST(Scale, LettersGrowAsFarAsTheWindowHasRoom) {
  ImGuiIO io;
  io.DisplaySize = {1280, 800};
  EXPECT_FLOAT_EQ(ui::scale_with_room(io, 1, 100), 1);
  EXPECT_FLOAT_EQ(ui::scale_with_room(io, 1, 150), 1.5f);
  EXPECT_FLOAT_EQ(ui::scale_with_room(io, 1, 250), 2);
  io.DisplaySize = {2560, 1600};
  EXPECT_FLOAT_EQ(ui::scale_with_room(io, 1, 250), 2.5f);
  EXPECT_FLOAT_EQ(ui::scale_with_room(io, 2, 150), 3);
  io.DisplaySize = {64, 64};
  EXPECT_FLOAT_EQ(ui::scale_with_room(io, 1, 250), 1) << "never smaller than at 100 %";
}

TEST(Scale, LettersHaveMorePixelsAndTheSamePlaceInTheLayout) {
  const auto fonts_at = [](ImFontAtlas& atlas, float scale) {
    return ui::add_fonts(atlas,
                         {asset("font/DejaVuSans.ttf"), asset("font/DejaVuSans-Bold.ttf"),
                          asset("font/DejaVuSansMono.ttf")},
                         scale);
  };
  ImFontAtlas one, large;
  const ui::FontSet at_one = fonts_at(one, 1), at_large = fonts_at(large, 2.5f);
  const std::string text = "zipped_divide((9,(4,8)):(59,(13,1)))";
  for (ui::TextSize size : {ui::TextSize::small, ui::TextSize::medium, ui::TextSize::large}) {
    const ImFont *a = at_one.code(size), *b = at_large.code(size);
    EXPECT_NEAR(b->FontSize, a->FontSize, 1);
    EXPECT_NEAR(ui::text_width(b, text), ui::text_width(a, text), 0.08f * ui::text_width(a, text));
    EXPECT_EQ(at_large.em_of(b), at_one.em_of(a));
    const ImFontGlyph *small = a->FindGlyph('M'), *big = b->FindGlyph('M');
    const auto pixels = [](const ImFontGlyph* glyph, const ImFontAtlas& atlas) {
      return (glyph->U1 - glyph->U0) * static_cast<float>(atlas.TexWidth);
    };
    EXPECT_GT(pixels(big, large), 2 * pixels(small, one));
    EXPECT_NEAR(pixels(big, large), (big->X1 - big->X0) * 2.5f, 0.01) << "a texel is a pixel";
  }
}

class ScaledWindow : public test::WindowTest {
 protected:
  // A frame at this scale, as the program draws one.
  void frame_at(float scale) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {1280, 800};
    io.DisplayFramebufferScale = {1, 1};
    ui::scale_display(io, scale);
    ImGui::NewFrame();
    window->draw(session, backend);
    ImGui::Render();
    ui::snap_to_pixels(*ImGui::GetDrawData());
    window->perform(session, backend);
  }
  // How many vertices of letters lie off the display's pixels.
  static int off_grid(float scale) {
    int off = 0;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int l = 0; l < data.CmdListsCount; ++l) {
      for (const ImDrawVert& v : data.CmdLists[l]->VtxBuffer) {
        const float x = v.pos.x * scale;
        off += std::abs(x - std::round(x)) > 0.02f;
      }
    }
    return off;
  }
};

TEST_F(ScaledWindow, AtAnyScaleTheWindowIsLaidOutInItsOwnPixels) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  fonts = ui::add_fonts(atlas,
                        {asset("font/DejaVuSans.ttf"), asset("font/DejaVuSans-Bold.ttf"),
                         asset("font/DejaVuSansMono.ttf")},
                        1.5f);
  atlas.TexID = (ImTextureID)(std::uintptr_t)77;
  for (int i = 0; i < 3; ++i) frame_at(1.5f);
  EXPECT_NEAR(ImGui::GetIO().DisplaySize.x, 853.3f, 0.1f);
  EXPECT_GT(window->picture().scene.size.width, 200);
  EXPECT_LT(window->picture().scene.size.width, 853);
  // What is left between pixels are rounded corners, slanted lines and icons.
  const int vertices = ImGui::GetDrawData()->TotalVtxCount;
  EXPECT_LT(off_grid(1.5f), 2 * vertices / 5) << "of " << vertices;
}

}  // namespace
}  // namespace tilescope
