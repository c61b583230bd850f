#include "viz/paint/cairo.h"

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <ft2build.h>

#include <cmath>
#include <cstring>
#include <memory>

#include FT_FREETYPE_H

namespace tilescope {
namespace {

constexpr double most_side = 32000, most_pixels = 268435456;

struct Destroy {
  void operator()(cairo_t* c) const { cairo_destroy(c); }
  void operator()(cairo_surface_t* s) const { cairo_surface_destroy(s); }
  void operator()(cairo_pattern_t* p) const { cairo_pattern_destroy(p); }
  void operator()(cairo_font_face_t* f) const { cairo_font_face_destroy(f); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

// A font file and FreeType's view of it. Cairo may keep a face longer than a picture takes, so it
// has its own copy of the bytes, and both go when Cairo lets go.
struct FontBytes {
  std::vector<std::byte> bytes;
  FT_Library library = nullptr;
  FT_Face face = nullptr;

  ~FontBytes() {
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }
};

Owned<cairo_font_face_t> font_from(std::span<const std::byte> bytes, const char* fallback,
                                   bool bold) {
  static const cairo_user_data_key_t key{};
  auto font = std::make_unique<FontBytes>();
  font->bytes.assign(bytes.begin(), bytes.end());
  const bool loaded =
      !bytes.empty() && FT_Init_FreeType(&font->library) == 0 &&
      FT_New_Memory_Face(font->library, reinterpret_cast<const FT_Byte*>(font->bytes.data()),
                         static_cast<FT_Long>(font->bytes.size()), 0, &font->face) == 0;
  if (loaded) {
    Owned<cairo_font_face_t> face(cairo_ft_font_face_create_for_ft_face(font->face, 0));
    const auto drop = [](void* data) { delete static_cast<FontBytes*>(data); };
    if (cairo_font_face_set_user_data(face.get(), &key, font.get(), drop) == CAIRO_STATUS_SUCCESS) {
      font.release();
      return face;
    }
  }
  return Owned<cairo_font_face_t>(cairo_toy_font_face_create(
      fallback, CAIRO_FONT_SLANT_NORMAL, bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL));
}

class Painter {
 public:
  // `snap`: lines and edges fall on device pixels, `scale` of them to a pixel of the scene.
  Painter(cairo_t* cairo, const Scene& scene, const Fonts& fonts, double scale, bool snap)
      : cairo_(cairo),
        scene_(scene),
        scale_(scale),
        snap_(snap),
        sans_(font_from(fonts.sans, "DejaVu Sans", false)),
        bold_(font_from(fonts.sans_bold, "DejaVu Sans", true)),
        mono_(font_from(fonts.mono, "DejaVu Sans Mono", false)) {
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cairo_, options);
    cairo_font_options_destroy(options);
  }

  void paint() {
    cairo_scale(cairo_, scale_, scale_);
    for (const Item& item : scene_.items) {
      std::visit([this](const auto& each) { draw(each); }, item);
    }
  }

 private:
  void ink(const Ink& with) {
    const Rgba c = resolve(with, scene_.theme);
    cairo_set_source_rgba(cairo_, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0);
  }

  // On the middle of a device pixel for a line of odd width, between two for an even one.
  double snapped(double at, double width) const {
    if (!snap_) return at;
    const bool odd = width > 0 && (std::lround(width * scale_) % 2 == 1 || width * scale_ < 1);
    return (std::round(at * scale_) + (odd ? 0.5 : 0)) / scale_;
  }

  void stroke(const Stroke& with) {
    ink(with.ink);
    const double width =
        snap_ && with.width * scale_ >= 1 ? std::round(with.width * scale_) / scale_ : with.width;
    cairo_set_line_width(cairo_, width);
    const double dash[] = {4, 3};
    cairo_set_dash(cairo_, dash, with.dashed ? 2 : 0, 0);
    cairo_stroke(cairo_);
  }

  void path(const Box& box, double radius, double width) {
    const double x = snapped(box.x, width), y = snapped(box.y, width);
    const double right = snapped(box.right(), width), bottom = snapped(box.bottom(), width);
    if (radius <= 0) {
      cairo_rectangle(cairo_, x, y, right - x, bottom - y);
      return;
    }
    const double r = std::min({radius, (right - x) / 2, (bottom - y) / 2}),
                 quarter = std::acos(0.0);
    cairo_new_sub_path(cairo_);
    cairo_arc(cairo_, right - r, y + r, r, -quarter, 0);
    cairo_arc(cairo_, right - r, bottom - r, r, 0, quarter);
    cairo_arc(cairo_, x + r, bottom - r, r, quarter, 2 * quarter);
    cairo_arc(cairo_, x + r, y + r, r, 2 * quarter, 3 * quarter);
    cairo_close_path(cairo_);
  }

  void draw(const Rectangle& r) {
    if (r.fill) {
      path(r.box, r.radius, 0);
      ink(*r.fill);
      cairo_fill(cairo_);
    }
    if (r.stroke.width > 0) {
      path(r.box, r.radius, r.stroke.width);
      stroke(r.stroke);
    }
  }

  void draw(const Line& line) {
    if (line.points.size() < 2) return;
    cairo_new_path(cairo_);  // a text leaves its end as the current point
    for (const Point& p : line.points) cairo_line_to(cairo_, p.x, p.y);
    stroke(line.stroke);
    if (!line.arrow) return;
    const Point tip = line.points.back(), from = line.points[line.points.size() - 2];
    const double angle = std::atan2(tip.y - from.y, tip.x - from.x), length = 8, half = 0.4;
    cairo_move_to(cairo_, tip.x, tip.y);
    for (const double side : {-half, half}) {
      cairo_line_to(cairo_, tip.x - length * std::cos(angle + side),
                    tip.y - length * std::sin(angle + side));
    }
    cairo_close_path(cairo_);
    cairo_fill(cairo_);
  }

  void draw(const Segments& segments) {
    for (const auto& [a, b] : segments.lines) {
      const double width = segments.stroke.width;
      const bool upright = a.x == b.x, level = a.y == b.y;
      const double ax = upright ? snapped(a.x, width) : a.x, ay = level ? snapped(a.y, width) : a.y;
      cairo_move_to(cairo_, ax, ay);
      cairo_line_to(cairo_, upright ? ax : b.x, level ? ay : b.y);
    }
    stroke(segments.stroke);
  }

  void draw(const Text& text) {
    cairo_set_font_face(cairo_, text.family == Family::mono       ? mono_.get()
                                : text.weight == FontWeight::bold ? bold_.get()
                                                                  : sans_.get());
    cairo_set_font_size(cairo_, text.size);
    double x = text.at.x;
    if (text.across != Across::left) {
      cairo_text_extents_t extents;
      cairo_text_extents(cairo_, text.text.c_str(), &extents);
      x -= extents.x_advance * (text.across == Across::centre ? 0.5 : 1);
    }
    ink(text.ink);
    cairo_move_to(cairo_, x, text.at.y + text.size * cap_height / 2);
    cairo_show_text(cairo_, text.text.c_str());
  }

  void draw(const Raster& raster) {
    const Image& image = *raster.image;
    if (image.columns <= 0 || image.rows <= 0 || raster.box.empty()) return;
    Owned<cairo_surface_t> surface(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image.columns, image.rows));
    unsigned char* bytes = cairo_image_surface_get_data(surface.get());
    if (bytes == nullptr) return;
    const int stride = cairo_image_surface_get_stride(surface.get());
    for (int y = 0; y < image.rows; ++y) {
      for (int x = 0; x < image.columns; ++x) {
        const Rgba c =
            image.rgba[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.columns) +
                       static_cast<std::size_t>(x)];
        const auto part = [&](std::uint8_t v) { return static_cast<std::uint32_t>(v * c.a / 255); };
        const std::uint32_t pixel =
            static_cast<std::uint32_t>(c.a) << 24 | part(c.r) << 16 | part(c.g) << 8 | part(c.b);
        std::memcpy(bytes + y * stride + x * 4, &pixel, 4);
      }
    }
    cairo_surface_mark_dirty(surface.get());
    const double left = snapped(raster.box.x, 0), top = snapped(raster.box.y, 0);
    const double right = snapped(raster.box.right(), 0), bottom = snapped(raster.box.bottom(), 0);
    cairo_save(cairo_);
    cairo_rectangle(cairo_, left, top, right - left, bottom - top);
    cairo_clip(cairo_);
    cairo_translate(cairo_, left, top);
    cairo_scale(cairo_, (right - left) / image.columns, (bottom - top) / image.rows);
    cairo_set_source_surface(cairo_, surface.get(), 0, 0);
    cairo_pattern_t* pattern = cairo_get_source(cairo_);
    const bool shrunk = (right - left) * scale_ < image.columns;
    cairo_pattern_set_filter(pattern, shrunk ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
    cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD);
    cairo_paint(cairo_);
    cairo_restore(cairo_);
  }

  void draw(const GroupBegin& group) {
    cairo_save(cairo_);
    if (!group.clip) return;
    const Box& box = *group.clip;
    cairo_rectangle(cairo_, box.x, box.y, std::max(box.width, 0.0), std::max(box.height, 0.0));
    cairo_clip(cairo_);
  }
  void draw(const GroupEnd&) { cairo_restore(cairo_); }

  cairo_t* cairo_;
  const Scene& scene_;
  double scale_;
  bool snap_;
  Owned<cairo_font_face_t> sans_, bold_, mono_;
};

cairo_status_t append(void* to, const unsigned char* data, unsigned int length) {
  auto* bytes = static_cast<std::vector<std::byte>*>(to);
  const std::byte* begin = reinterpret_cast<const std::byte*>(data);
  bytes->insert(bytes->end(), begin, begin + length);
  return CAIRO_STATUS_SUCCESS;
}

Error unpaintable(const Scene& scene, std::string_view why) {
  return {ErrorKind::usage,
          fmt::format("A picture of {:.0f} x {:.0f} pixels cannot be made: {}.", scene.size.width,
                      scene.size.height, why),
          {}};
}

std::optional<Error> wrong_size(const Scene& scene, double scale) {
  const double width = scene.size.width * scale, height = scene.size.height * scale;
  if (!(width >= 1) || !(height >= 1)) return unpaintable(scene, "it has no area");
  if (width > most_side || height > most_side || width * height > most_pixels) {
    return unpaintable(scene,
                       "a side goes up to 32,000 pixels and the whole up to 268 million; "
                       "--size 1600x1000 would fit, and an SVG has no such limit");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> cannot_paint(Size size, double scale) {
  Scene empty;
  empty.size = size;
  return wrong_size(empty, scale);
}

Outcome<std::vector<std::byte>> paint_png(const Scene& scene, const Fonts& fonts, double scale) {
  if (!std::isfinite(scale) || scale <= 0) scale = 1;
  if (auto error = wrong_size(scene, scale)) return *error;
  Owned<cairo_surface_t> surface(cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(scene.size.width * scale)),
      static_cast<int>(std::lround(scene.size.height * scale))));
  Owned<cairo_t> cairo(cairo_create(surface.get()));
  if (cairo_status(cairo.get()) != CAIRO_STATUS_SUCCESS) {
    return unpaintable(scene, "there is not enough memory");
  }
  Painter(cairo.get(), scene, fonts, scale, true).paint();
  std::vector<std::byte> out;
  if (cairo_surface_write_to_png_stream(surface.get(), append, &out) != CAIRO_STATUS_SUCCESS) {
    return unpaintable(scene, cairo_status_to_string(cairo_status(cairo.get())));
  }
  return out;
}

Outcome<std::vector<std::byte>> paint_pdf(const Scene& scene, const Fonts& fonts) {
  if (auto error = wrong_size(scene, pdf_scale)) return *error;
  std::vector<std::byte> out;
  Owned<cairo_surface_t> surface(cairo_pdf_surface_create_for_stream(
      append, &out, scene.size.width * pdf_scale, scene.size.height * pdf_scale));
  // Without a date the same scene gives the same bytes.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, scene.title.c_str());
  Owned<cairo_t> cairo(cairo_create(surface.get()));
  Painter(cairo.get(), scene, fonts, pdf_scale, false).paint();
  cairo_show_page(cairo.get());
  cairo_surface_finish(surface.get());
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) {
    return unpaintable(scene, cairo_status_to_string(cairo_surface_status(surface.get())));
  }
  return out;
}

}  // namespace tilescope
