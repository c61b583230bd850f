#include "viz/ui/scale.h"

#include <algorithm>
#include <cmath>

namespace tilescope::ui {
namespace {

// The scale at which the least that is laid out fills the display.
float room_of(ImVec2 display) {
  constexpr float least_width = 640, least_height = 400;
  return std::min(display.x / least_width, display.y / least_height);
}

// A length on the display in the window's pixels, so that the renderer, which multiplies and cuts
// off, finds all of the display again.
float unscaled(float length, float scale, float framebuffer) {
  float out = length / scale;
  while (std::floor(out * (framebuffer * scale)) < std::floor(length * framebuffer)) {
    out = std::nextafter(out, length * 2);
  }
  return out;
}

// Four corners of a level rectangle, in Dear ImGui's order.
bool is_level(const ImDrawVert* v) {
  return v[0].pos.y == v[1].pos.y && v[1].pos.x == v[2].pos.x && v[2].pos.y == v[3].pos.y &&
         v[3].pos.x == v[0].pos.x;
}

// What has a part of a texture is a letter or a picture; plain colour has one point of it.
bool is_plain(const ImDrawVert* v) {
  return v[0].uv.x == v[2].uv.x && v[0].uv.y == v[2].uv.y;
}

class Grid {
 public:
  explicit Grid(ImVec2 scale) : scale_(scale) {}

  // A letter keeps its size and moves; an edge goes to the nearest pixel.
  void letter(ImDrawVert* v) const {
    const float dx = x(v[0].pos.x) - v[0].pos.x, dy = y(v[0].pos.y) - v[0].pos.y;
    for (int i = 0; i < 4; ++i) v[i].pos = {v[i].pos.x + dx, v[i].pos.y + dy};
  }
  void rectangle(ImDrawVert* v) const {
    float right = x(v[2].pos.x), bottom = y(v[2].pos.y);
    const float left = x(v[0].pos.x), top = y(v[0].pos.y);
    // The thinnest line has a pixel.
    if (right == left && v[2].pos.x > v[0].pos.x) right = left + 1 / scale_.x;
    if (bottom == top && v[2].pos.y > v[0].pos.y) bottom = top + 1 / scale_.y;
    v[0].pos = {left, top};
    v[1].pos = {right, top};
    v[2].pos = {right, bottom};
    v[3].pos = {left, bottom};
  }

 private:
  float x(float at) const { return std::round(at * scale_.x) / scale_.x; }
  float y(float at) const { return std::round(at * scale_.y) / scale_.y; }
  ImVec2 scale_;
};

void snap(ImDrawList& list, const Grid& grid, ImTextureID letters) {
  for (const ImDrawCmd& command : list.CmdBuffer) {
    if (command.UserCallback) continue;
    const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
    ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    for (unsigned i = 0; i + 6 <= command.ElemCount;) {
      const ImDrawIdx* q = index + i;
      const auto a = static_cast<unsigned>(q[0]);
      const bool quad = q[1] == a + 1 && q[2] == a + 2 && q[3] == a && q[4] == a + 2 &&
                        q[5] == a + 3 && is_level(vertices + a);
      if (!quad) {
        i += 3;
        continue;
      }
      if (command.TextureId == letters && !is_plain(vertices + a)) {
        grid.letter(vertices + a);
      } else {
        grid.rectangle(vertices + a);
      }
      i += 6;
    }
  }
}

}  // namespace

float scale_with_room(const ImGuiIO& io, float density, int percent) {
  const float wanted = density * static_cast<float>(percent) / 100;
  return std::max(density, std::min(wanted, room_of(io.DisplaySize)));
}

int percent_with_room(ImVec2 display, float density) {
  return std::max(100, static_cast<int>(std::floor(room_of(display) / density * 100)));
}

void scale_display(ImGuiIO& io, float scale) {
  if (scale == 1) return;
  const ImVec2 framebuffer = io.DisplayFramebufferScale;
  io.DisplaySize = {unscaled(io.DisplaySize.x, scale, framebuffer.x),
                    unscaled(io.DisplaySize.y, scale, framebuffer.y)};
  io.DisplayFramebufferScale = {framebuffer.x * scale, framebuffer.y * scale};
  if (io.MousePos.x != -FLT_MAX) io.MousePos = {io.MousePos.x / scale, io.MousePos.y / scale};
}

void snap_to_pixels(ImDrawData& data) {
  const ImVec2 scale = data.FramebufferScale;
  if (scale.x == std::floor(scale.x) && scale.y == std::floor(scale.y)) return;
  const ImTextureID letters = ImGui::GetIO().Fonts->TexID;
  for (int i = 0; i < data.CmdListsCount; ++i) snap(*data.CmdLists[i], Grid(scale), letters);
}

}  // namespace tilescope::ui
