#include "viz/ui/style.h"

namespace tilescope::ui {

ImU32 packed(Rgba colour) {
  return IM_COL32(colour.r, colour.g, colour.b, colour.a);
}
ImU32 packed(const Ink& ink, const Theme& theme) {
  return packed(resolve(ink, theme));
}

void apply_style(ImGuiStyle& style, const Theme& theme) {
  const auto set = [&](ImGuiCol which, Rgba colour, float alpha = 1) {
    style.Colors[which] = ImGui::ColorConvertU32ToFloat4(packed(colour));
    style.Colors[which].w *= alpha;
  };
  for (int i = 0; i < ImGuiCol_COUNT; ++i) set(i, theme.panel);
  set(ImGuiCol_Text, theme.text);
  set(ImGuiCol_TextDisabled, theme.quiet);
  set(ImGuiCol_TextSelectedBg, theme.accent, 0.3f);
  set(ImGuiCol_WindowBg, theme.panel);
  set(ImGuiCol_ChildBg, theme.panel, 0);
  set(ImGuiCol_PopupBg, theme.paper);
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_BorderShadow, theme.line, 0);
  set(ImGuiCol_FrameBg, theme.paper);
  set(ImGuiCol_FrameBgHovered, theme.paper);
  set(ImGuiCol_FrameBgActive, theme.paper);
  set(ImGuiCol_ScrollbarBg, theme.panel, 0);
  set(ImGuiCol_ScrollbarGrab, theme.line);
  set(ImGuiCol_ScrollbarGrabHovered, theme.quiet, 0.6f);
  set(ImGuiCol_ScrollbarGrabActive, theme.quiet);
  set(ImGuiCol_NavHighlight, theme.accent);

  style.WindowPadding = {0, 0};
  style.FramePadding = {8, 7};
  style.ItemSpacing = {8, 8};
  style.ItemInnerSpacing = {8, 8};
  style.WindowBorderSize = 0;
  style.ChildBorderSize = 0;
  style.FrameBorderSize = 1;
  style.PopupBorderSize = 1;
  style.WindowRounding = 0;
  style.ChildRounding = 0;
  style.FrameRounding = 4;
  style.PopupRounding = 4;
  style.ScrollbarRounding = 4;
  style.ScrollbarSize = 8;
  style.AntiAliasedLines = true;
  style.AntiAliasedFill = true;
}

}  // namespace tilescope::ui
