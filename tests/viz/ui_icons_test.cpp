// Icons of buttons: each draws something within its place, and belongs to a word.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/viz/ui_stage.h"
#include "viz/ui/icons.h"

namespace tilescope {
namespace {

using ui::Icon;

class Icons : public test::WindowTest {};

TEST_F(Icons, AreDrawnWithinTheirPlace) {
  ImGui::NewFrame();
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  for (int i = 0; i <= static_cast<int>(Icon::unfolded); ++i) {
    const int before = list.VtxBuffer.Size;
    ui::draw_icon(list, static_cast<Icon>(i), {100, 100}, IM_COL32_WHITE);
    ASSERT_GT(list.VtxBuffer.Size, before) << i;
    for (int v = before; v < list.VtxBuffer.Size; ++v) {
      const ImVec2 at = list.VtxBuffer[v].pos;
      EXPECT_LE(std::abs(at.x - 100.5f), ui::icon_size / 2 + 1.5f) << i;
      EXPECT_LE(std::abs(at.y - 100.5f), ui::icon_size / 2 + 1.5f) << i;
    }
  }
  ImGui::EndFrame();
}

TEST_F(Icons, BelongToWords) {
  EXPECT_EQ(ui::icon_of("Undo"), Icon::undo);
  EXPECT_EQ(ui::icon_of("Next copy"), Icon::forth);
  EXPECT_EQ(ui::icon_of("Line back"), Icon::backward);
  EXPECT_FALSE(ui::icon_of("Answer"));
  EXPECT_FALSE(ui::icon_of(""));
}

}  // namespace
}  // namespace tilescope
