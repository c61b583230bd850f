#include "viz/ui/fonts.h"

#include <imgui_freetype.h>

#include <cmath>
#include <string_view>

namespace tilescope::ui {
namespace {

// Dear ImGui measures a font from ascender to descender; DejaVu's are 1.164 em apart (hhea table:
// (1901 + 483) / 2048).
constexpr float kLineHeight = 1.164f;

// Letters, arrows and marks that the window uses.
const ImWchar kRanges[] = {0x0020, 0x00FF, 0x2013, 0x2026, 0x2190, 0x2193, 0x2212, 0x2212, 0x2218,
                           0x2218, 0x2260, 0x2265, 0x25A0, 0x25FF, 0x2713, 0x2717, 0};

ImFont* add(ImFontAtlas& atlas, std::span<const std::byte> file, float em) {
  const float pixels = std::round(em * kLineHeight);
  ImFontConfig config;
  if (file.empty()) {
    config.SizePixels = pixels;
    return atlas.AddFontDefault(&config);
  }
  config.FontDataOwnedByAtlas = false;
  config.PixelSnapH = true;
  return atlas.AddFontFromMemoryTTF(const_cast<std::byte*>(file.data()),
                                    static_cast<int>(file.size()), pixels, &config, kRanges);
}

// The letters keep their pixels in the texture, and are laid out in the window's own.
void lay_out_smaller(ImFont& font, float scale) {
  for (float* length : {&font.FontSize, &font.Ascent, &font.Descent}) *length /= scale;
  for (ImFontGlyph& glyph : font.Glyphs) {
    for (float* length : {&glyph.X0, &glyph.Y0, &glyph.X1, &glyph.Y1, &glyph.AdvanceX}) {
      *length /= scale;
    }
  }
  font.BuildLookupTable();
}

}  // namespace

ImFont* FontSet::nearest(bool code, bool strong, float em) const {
  const std::array<ImFont*, 3>& family = code ? mono : strong ? bold : sans;
  for (ImFont* font : family) {
    if (em_of(font) >= em - 0.5f) return font;
  }
  return family.back();
}

float FontSet::em_of(const ImFont* font) const {
  for (TextSize size : {TextSize::small, TextSize::medium, TextSize::large}) {
    const auto i = static_cast<std::size_t>(index(size));
    if (font == sans[i] || font == bold[i] || font == mono[i]) return static_cast<float>(size);
  }
  return font->FontSize / kLineHeight;
}

FontSet add_fonts(ImFontAtlas& atlas, const FontFiles& files, float scale) {
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  FontSet fonts;
  fonts.scale = scale;
  for (TextSize size : {TextSize::small, TextSize::medium, TextSize::large}) {
    const float em = static_cast<float>(size) * scale;
    const auto i = static_cast<std::size_t>(FontSet::index(size));
    fonts.sans[i] = add(atlas, files.sans, em);
    fonts.bold[i] = add(atlas, files.bold.empty() ? files.sans : files.bold, em);
    fonts.mono[i] = add(atlas, files.mono, em);
  }
  atlas.Build();
  if (scale != 1) {
    for (ImFont* font : atlas.Fonts) lay_out_smaller(*font, scale);
  }
  return fonts;
}

float text_width(const ImFont* font, std::string_view text) {
  return font->CalcTextSizeA(font->FontSize, 1e9f, 0.0f, text.data(), text.data() + text.size()).x;
}

std::string cut_in_the_middle(const ImFont* font, const std::string& text, float width) {
  if (text_width(font, text) <= width) return text;
  // The most that fits, found by halves: `keep` characters, from both ends alike.
  std::size_t low = 0, high = text.size();
  std::string best = "...";
  while (low < high) {
    const std::size_t keep = (low + high + 1) / 2;
    const std::size_t front = (keep + 1) / 2;
    std::string candidate =
        text.substr(0, front) + "..." + text.substr(text.size() - (keep - front));
    if (text_width(font, candidate) <= width) {
      best = std::move(candidate);
      low = keep;
    } else {
      high = keep - 1;
    }
  }
  return best;
}

}  // namespace tilescope::ui
