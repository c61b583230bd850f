// The theme's colours and the 8 px grid for Dear ImGui's own widgets, so that none of them looks
// like its default.
#pragma once

#include <imgui.h>

#include "viz/scene/theme.h"

namespace tilescope::ui {

ImU32 packed(Rgba colour);
ImU32 packed(const Ink& ink, const Theme& theme);

void apply_style(ImGuiStyle& style, const Theme& theme);

}  // namespace tilescope::ui
