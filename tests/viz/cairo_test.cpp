// PNG and PDF of a scene, read back with Cairo's own decoder.
#include <cairo.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "viz/layout/layout_scene.h"
#include "viz/layout/presets.h"
#include "viz/paint/cairo.h"
#include "viz/paint/small_png.h"
#include "viz/scene/palette.h"

#ifdef __SANITIZE_ADDRESS__
// fontconfig, which Cairo loads, keeps its configuration until the process is gone.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\n";
}
#endif

namespace tilescope {
namespace {

struct Decoded {
  int width = 0, height = 0;
  std::vector<Rgba> pixels;
  Rgba at(double x, double y) const {
    return pixels[static_cast<std::size_t>(static_cast<int>(y) * width + static_cast<int>(x))];
  }
};

Decoded decoded(const void* data, std::size_t size) {
  struct Source {
    const unsigned char* at;
    std::size_t left;
  } source{static_cast<const unsigned char*>(data), size};
  const auto read = [](void* from, unsigned char* to, unsigned int length) {
    auto* s = static_cast<Source*>(from);
    if (s->left < length) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(to, s->at, length);
    s->at += length;
    s->left -= length;
    return CAIRO_STATUS_SUCCESS;
  };
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
      cairo_image_surface_create_from_png_stream(read, &source), cairo_surface_destroy);
  Decoded out;
  EXPECT_EQ(cairo_surface_status(surface.get()), CAIRO_STATUS_SUCCESS);
  out.width = cairo_image_surface_get_width(surface.get());
  out.height = cairo_image_surface_get_height(surface.get());
  const unsigned char* bytes = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      std::uint32_t p = 0;
      std::memcpy(&p, bytes + y * stride + x * 4, 4);
      out.pixels.push_back({static_cast<std::uint8_t>(p >> 16), static_cast<std::uint8_t>(p >> 8),
                            static_cast<std::uint8_t>(p)});
    }
  }
  return out;
}

Decoded painted(const Scene& scene, double scale = 1) {
  const Outcome<std::vector<std::byte>> png = paint_png(scene, {}, scale);
  EXPECT_TRUE(png.ok());
  if (!png.ok()) return {};
  return decoded(png->data(), png->size());
}

TEST(Png, Is8BitRgbOfTheScenesSize) {
  const Outcome<LayoutView> view = open_preset(presets()[1]);
  const Scene scene = build_scene(*view, {}, light_theme(), Size{640, 480});
  const Outcome<std::vector<std::byte>> png = paint_png(scene, {});
  ASSERT_TRUE(png.ok());
  const auto byte = [&](std::size_t i) { return std::to_integer<int>((*png)[i]); };
  EXPECT_EQ(byte(1), 'P');
  EXPECT_EQ(byte(16 + 2) * 256 + byte(16 + 3), 640);
  EXPECT_EQ(byte(20 + 2) * 256 + byte(20 + 3), 480);
  EXPECT_EQ(byte(24), 8);  // bits a channel
  EXPECT_EQ(byte(25), 2);  // RGB
}

TEST(Png, CellsHaveTheirColours) {
  for (const Preset& preset : presets()) {
    const Outcome<LayoutView> view = open_preset(preset);
    for (const Theme* theme : {&light_theme(), &dark_theme()}) {
      for (const double scale : {1.0, 2.0}) {
        const Frame frame = arrange(*view, {});
        const Decoded picture = painted(build_scene(*view, {}, *theme, frame), scale);
        EXPECT_EQ(picture.at(2, 2), theme->paper);
        for (int p = 0; p < static_cast<int>(view->panels().size()); ++p) {
          for (const std::int64_t n : {0, 1, 3, 7}) {
            const Cell cell{p, 0, n, n};
            const Box box = box_of(*view, frame, cell);
            const Rgba want = view->colour_of(cell, view->colour({}), *theme);
            // Off the middle, where a label may be.
            const Rgba got = picture.at((box.x + box.width * 0.15) * scale + 1,
                                        (box.y + box.height * 0.15) * scale + 1);
            EXPECT_LE(
                std::abs(got.r - want.r) + std::abs(got.g - want.g) + std::abs(got.b - want.b), 3)
                << preset.name << " " << n;
          }
        }
      }
    }
  }
}

TEST(Png, OddSizesArePaintedOrRefusedWithASentence) {
  Scene scene;
  scene.theme = light_theme();
  scene.size = {0, 0};
  EXPECT_FALSE(paint_png(scene, {}).ok());
  scene.size = {1e6, 10};
  const Outcome<std::vector<std::byte>> wide = paint_png(scene, {});
  ASSERT_FALSE(wide.ok());
  EXPECT_NE(wide.error().sentence.find("1000000"), std::string::npos);
  EXPECT_NE(wide.error().sentence.find("--size"), std::string::npos);
  scene.size = {1, 1};
  EXPECT_EQ(painted(scene).width, 1);
  const Outcome<LayoutView> view = LayoutView::of_expression("(100000,1):(1,1)");
  EXPECT_EQ(painted(build_scene(*view, {}, dark_theme(), Size{300, 200})).height, 200);
}

TEST(Pdf, IsOnePageWithItsTitle) {
  const Outcome<LayoutView> view = open_preset(presets()[0]);
  const Outcome<std::vector<std::byte>> pdf = paint_pdf(build_scene(*view, {}, light_theme()), {});
  ASSERT_TRUE(pdf.ok());
  const std::string text(reinterpret_cast<const char*>(pdf->data()), pdf->size());
  EXPECT_EQ(text.substr(0, 5), "%PDF-");
  EXPECT_NE(text.find("/Count 1"), std::string::npos);
}

// The PNG writer of embedded images against another's reader.
TEST(SmallPng, IsReadBackPixelByPixel) {
  std::mt19937 random(7);
  for (const int colours : {1, 2, 200, 256, 257, 100000}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {300, 7}, {64, 64}, {517, 389}}) {
      Image image;
      image.columns = width;
      image.rows = height;
      for (int i = 0; i < width * height; ++i) {
        const std::uint32_t c = static_cast<std::uint32_t>(i / 9 + static_cast<int>(random() % 3)) %
                                static_cast<std::uint32_t>(colours) * 2654435761u;
        image.rgba.push_back(rgb(c & 0xffffff));
      }
      const std::string png = small_png(image);
      const Decoded got = decoded(png.data(), png.size());
      ASSERT_EQ(got.width, width);
      ASSERT_EQ(got.height, height);
      EXPECT_TRUE(got.pixels == image.rgba) << colours << " colours, " << width << "x" << height;
    }
  }
}

}  // namespace
}  // namespace tilescope
