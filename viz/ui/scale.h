// Letters from 100 to 250 percent, and displays with many pixels to the inch.
//
// The window is laid out in its own pixels, those at 100 %: a grid of 8, letters of 13, lines of 1.
// On the display each takes `scale` pixels. So everything grows with the letters, and no widget
// knows of it. Letters are drawn at the size that they have on the display (fonts.h), and where the
// scale is no whole number, letters and level or upright edges are moved to whole pixels.
#pragma once

#include <imgui.h>

namespace tilescope::ui {

// Between the platform's word on the display and ImGui::NewFrame: the same display in the window's
// own pixels.
void scale_display(ImGuiIO& io, float scale);

// After ImGui::Render.
void snap_to_pixels(ImDrawData& data);

}  // namespace tilescope::ui
