// Letters from 100 to 250 percent, and displays with many pixels to the inch.
//
// The window is laid out in its own pixels, those at 100 %: a grid of 8, letters of 13, lines of 1.
// On the display each takes `scale` pixels. So everything grows with the letters, and no widget
// knows of it. Letters are drawn at the size that they have on the display (fonts.h), and where the
// scale is no whole number, letters and level or upright edges are moved to whole pixels.
#pragma once

#include <imgui.h>

namespace tilescope::ui {

// The display's pixels for one of the window's: what the letters ask for, as far as the window has
// room for them. It is laid out in no fewer than 640 x 400 of its own pixels.
float scale_with_room(const ImGuiIO& io, float density, int percent);

// The most percent that it has room for.
int percent_with_room(ImVec2 display, float density);

// Between the platform's word on the display and ImGui::NewFrame: the same display in the window's
// own pixels.
void scale_display(ImGuiIO& io, float scale);

// After ImGui::Render.
void snap_to_pixels(ImDrawData& data);

}  // namespace tilescope::ui
