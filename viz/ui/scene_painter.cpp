#include "viz/ui/scene_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "viz/scene/cuda_text.h"
#include "viz/ui/style.h"

namespace tilescope::ui {
namespace {

// The draw list with where the scene stands in it.
class Pen {
 public:
  Pen(const Scene& scene, ImDrawList& list, ImVec2 origin, const FontSet& fonts, float scale)
      : scene_(scene), list_(list), origin_(origin), fonts_(fonts), scale_(scale) {}

  ImVec2 at(Point p) const {
    return {origin_.x + static_cast<float>(p.x) * scale_,
            origin_.y + static_cast<float>(p.y) * scale_};
  }
  ImU32 colour(const Ink& ink) const { return packed(ink, scene_.theme); }
  float width(const Stroke& stroke) const {
    return std::max(1.0f, static_cast<float>(stroke.width) * scale_);
  }
  ImDrawList& list() const { return list_; }

  void operator()(const Rectangle& r) const;
  void operator()(const Line& line) const;
  void operator()(const Segments& segments) const;
  void operator()(const Text& text);
  void operator()(const GroupBegin& group);
  void operator()(const GroupEnd&);

 private:
  void straight(ImVec2 a, ImVec2 b, const Stroke& stroke) const;
  void dashes(ImVec2 a, ImVec2 b, const Stroke& stroke) const;
  void head(ImVec2 from, ImVec2 to, const Stroke& stroke) const;

  const Scene& scene_;
  ImDrawList& list_;
  ImVec2 origin_;
  const FontSet& fonts_;
  float scale_;
  std::vector<bool> clipped_;  // of the open groups
  // In a line of code texts follow each other: the font's pixels are not those that the scene was
  // laid out by. Where the last one ended.
  bool in_code_ = false;
  std::optional<float> end_;
};

// Upright and level lines lie on whole pixels, so that they are sharp.
void Pen::straight(ImVec2 a, ImVec2 b, const Stroke& stroke) const {
  if (stroke.dashed) return dashes(a, b, stroke);
  const float w = std::round(width(stroke));
  const ImU32 ink = colour(stroke.ink);
  if (a.x == b.x) {
    const float x = std::floor(a.x - w / 2 + 0.5f);
    list_.AddRectFilled({x, std::min(a.y, b.y)}, {x + w, std::max(a.y, b.y)}, ink);
  } else if (a.y == b.y) {
    const float y = std::floor(a.y - w / 2 + 0.5f);
    list_.AddRectFilled({std::min(a.x, b.x), y}, {std::max(a.x, b.x), y + w}, ink);
  } else {
    list_.AddLine(a, b, ink, width(stroke));
  }
}

void Pen::dashes(ImVec2 a, ImVec2 b, const Stroke& stroke) const {
  const float dx = b.x - a.x, dy = b.y - a.y, length = std::hypot(dx, dy);
  if (!(length > 0) || length > 1e5f) return;
  constexpr float dash = 4, gap = 3;
  for (float from = 0; from < length; from += dash + gap) {
    const float to = std::min(from + dash, length);
    list_.AddLine({a.x + dx * from / length, a.y + dy * from / length},
                  {a.x + dx * to / length, a.y + dy * to / length}, colour(stroke.ink),
                  width(stroke));
  }
}

void Pen::head(ImVec2 from, ImVec2 to, const Stroke& stroke) const {
  const float dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  if (!(length > 0)) return;
  const float size = 3 + 3 * width(stroke), ux = dx / length, uy = dy / length;
  const ImVec2 base{to.x - ux * size, to.y - uy * size};
  list_.AddTriangleFilled(to, {base.x - uy * size / 2, base.y + ux * size / 2},
                          {base.x + uy * size / 2, base.y - ux * size / 2}, colour(stroke.ink));
}

void Pen::operator()(const Rectangle& r) const {
  const ImVec2 low = at({r.box.x, r.box.y}), high = at({r.box.right(), r.box.bottom()});
  const float radius = static_cast<float>(r.radius) * scale_;
  if (r.fill) list_.AddRectFilled(low, high, colour(*r.fill), radius);
  if (!(r.stroke.width > 0)) return;
  if (radius > 0) {
    list_.AddRect(low, high, colour(r.stroke.ink), radius, 0, width(r.stroke));
    return;
  }
  const float half = r.stroke.dashed ? 0 : std::round(width(r.stroke)) / 2;
  straight({low.x - half, low.y}, {high.x + half, low.y}, r.stroke);
  straight({low.x - half, high.y}, {high.x + half, high.y}, r.stroke);
  straight({low.x, low.y}, {low.x, high.y}, r.stroke);
  straight({high.x, low.y}, {high.x, high.y}, r.stroke);
}

void Pen::operator()(const Line& line) const {
  for (std::size_t i = 1; i < line.points.size(); ++i) {
    straight(at(line.points[i - 1]), at(line.points[i]), line.stroke);
  }
  if (line.arrow && line.points.size() > 1) {
    head(at(line.points[line.points.size() - 2]), at(line.points.back()), line.stroke);
  }
}

void Pen::operator()(const Segments& segments) const {
  for (const auto& [from, to] : segments.lines) straight(at(from), at(to), segments.stroke);
}

void Pen::operator()(const Text& text) {
  const float em = static_cast<float>(text.size) * scale_;
  ImFont* font = fonts_.nearest(text.family == Family::mono, text.weight == FontWeight::bold, em);
  const float size = font->FontSize * em / fonts_.em_of(font);
  const float wide =
      font->CalcTextSizeA(size, 1e9f, 0, text.text.data(), text.text.data() + text.text.size()).x;
  ImVec2 p = at(text.at);
  if (text.across == Across::centre) p.x -= wide / 2;
  if (text.across == Across::right) p.x -= wide;
  if (in_code_ && end_) p.x = *end_;
  end_ = p.x + wide;
  // Half a capital above the middle stands the top of the capitals; the baseline half below.
  const float ascent = font->Ascent * size / font->FontSize;
  p.y += static_cast<float>(cap_height) * em / 2 - ascent;
  p = {std::round(p.x), std::round(p.y)};
  list_.AddText(font, size, p, colour(text.ink), text.text.data(),
                text.text.data() + text.text.size());
}

void Pen::operator()(const GroupBegin& group) {
  clipped_.push_back(group.clip.has_value());
  in_code_ = group.name == code_group;
  end_.reset();
  if (!group.clip) return;
  const Box& box = *group.clip;
  list_.PushClipRect(at({box.x, box.y}), at({box.right(), box.bottom()}), true);
}

void Pen::operator()(const GroupEnd&) {
  in_code_ = false;
  if (clipped_.empty()) return;
  if (clipped_.back()) list_.PopClipRect();
  clipped_.pop_back();
}

}  // namespace

namespace {

constexpr std::size_t kFewPixels = 128;  // a legend's scale: not worth a texture

void paint_few(const Image& pixels, const Box& box, const Pen& pen) {
  const double dx = box.width / pixels.columns, dy = box.height / pixels.rows;
  for (int r = 0; r < pixels.rows; ++r) {
    for (int c = 0; c < pixels.columns; ++c) {
      const Rgba colour =
          pixels.rgba[std::size_t(r) * std::size_t(pixels.columns) + std::size_t(c)];
      pen.list().AddRectFilled(pen.at({box.x + c * dx, box.y + r * dy}),
                               pen.at({box.x + (c + 1) * dx, box.y + (r + 1) * dy}),
                               packed(colour));
    }
  }
}

// A piece of pixels that are wider than the display's in one direction and finer in the other: the
// texture is smooth, so a strip is cut from the middle of each wide pixel, and neighbours do not
// run into each other.
void paint_strips(ImTextureID texture, ImVec2 low, ImVec2 high, int count, bool upright,
                  ImDrawList& list) {
  const ImVec2 seen_low = list.GetClipRectMin(), seen_high = list.GetClipRectMax();
  const auto share = [count](int i) { return static_cast<float>(i) / static_cast<float>(count); };
  for (int i = 0; i < count; ++i) {
    const float middle = (share(i) + share(i + 1)) / 2;
    ImVec2 a = low, b = high;
    if (upright) {
      a.x = low.x + (high.x - low.x) * share(i);
      b.x = low.x + (high.x - low.x) * share(i + 1);
    } else {
      a.y = low.y + (high.y - low.y) * share(i);
      b.y = low.y + (high.y - low.y) * share(i + 1);
    }
    if (b.x < seen_low.x || b.y < seen_low.y || a.x > seen_high.x || a.y > seen_high.y) continue;
    const ImVec2 from = upright ? ImVec2(middle, 0) : ImVec2(0, middle);
    const ImVec2 to = upright ? ImVec2(middle, 1) : ImVec2(1, middle);
    list.AddImage(texture, a, b, from, to);
  }
}

bool is_paper(const Item& item, const Scene& scene) {
  const Rectangle* r = std::get_if<Rectangle>(&item);
  return r && r->fill && r->fill->role == Role::paper && r->fill->alpha == 1 && r->box.x <= 0 &&
         r->box.y <= 0 && r->box.right() >= scene.size.width &&
         r->box.bottom() >= scene.size.height;
}

}  // namespace

ScenePainter::~ScenePainter() {
  for (const auto& [version, kept] : kept_) {
    for (const Piece& piece : kept.pieces) textures_.drop(piece.texture);
  }
}

const std::vector<ScenePainter::Piece>& ScenePainter::pieces_of(const Image& pixels, bool smooth) {
  Kept& kept = kept_[pixels.version * 2 + (smooth ? 1 : 0)];
  kept.unused = 0;
  if (!kept.pieces.empty()) return kept.pieces;
  const int most = textures_.largest();
  for (int row = 0; row < pixels.rows; row += most) {
    for (int column = 0; column < pixels.columns; column += most) {
      const int rows = std::min(most, pixels.rows - row);
      const int columns = std::min(most, pixels.columns - column);
      std::vector<std::uint8_t> bytes(std::size_t(rows) * std::size_t(columns) * 4);
      for (int r = 0; r < rows; ++r) {
        std::memcpy(
            &bytes[std::size_t(r) * std::size_t(columns) * 4],
            &pixels.rgba[std::size_t(row + r) * std::size_t(pixels.columns) + std::size_t(column)],
            std::size_t(columns) * 4);
      }
      kept.pieces.push_back(
          {textures_.make(columns, rows, bytes, smooth), column, row, columns, rows});
    }
  }
  return kept.pieces;
}

void ScenePainter::forget_unused() {
  // A little patience, so that going back and forth makes nothing anew; little with large ones, of
  // which a zoom makes one a frame.
  constexpr int usual = 120, with_large = 2, large = 1 << 18;
  for (auto it = kept_.begin(); it != kept_.end();) {
    int pixels = 0;
    for (const Piece& piece : it->second.pieces) pixels += piece.columns * piece.rows;
    if (++it->second.unused <= (pixels < large ? usual : with_large)) {
      ++it;
      continue;
    }
    for (const Piece& piece : it->second.pieces) textures_.drop(piece.texture);
    it = kept_.erase(it);
  }
}

void ScenePainter::paint(const Scene& scene, ImDrawList& list, ImVec2 origin, const FontSet& fonts,
                         float scale, bool on_paper) {
  Pen pen(scene, list, origin, fonts, scale);
  list.PushClipRect(origin, pen.at({scene.size.width, scene.size.height}), true);
  for (const Item& item : scene.items) {
    if (on_paper && is_paper(item, scene)) continue;
    if (const Raster* raster = std::get_if<Raster>(&item)) {
      const Image& pixels = *raster->image;
      if (pixels.columns <= 0 || pixels.rows <= 0) continue;
      const double dx = raster->box.width / pixels.columns, dy = raster->box.height / pixels.rows;
      if (pixels.rgba.size() <= kFewPixels) {
        paint_few(pixels, raster->box, pen);
        continue;
      }
      const bool fine_across = dx * scale < 0.99, fine_down = dy * scale < 0.99;
      for (const Piece& piece : pieces_of(pixels, fine_across || fine_down)) {
        const Point low{raster->box.x + piece.column * dx, raster->box.y + piece.row * dy};
        const Point high{low.x + piece.columns * dx, low.y + piece.rows * dy};
        if (fine_across == fine_down) {
          list.AddImage(piece.texture, pen.at(low), pen.at(high));
        } else {
          paint_strips(piece.texture, pen.at(low), pen.at(high),
                       fine_down ? piece.columns : piece.rows, fine_down, list);
        }
      }
      continue;
    }
    std::visit(
        [&](const auto& each) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(each)>, Raster>) pen(each);
        },
        item);
  }
  list.PopClipRect();
  forget_unused();
}

}  // namespace tilescope::ui
