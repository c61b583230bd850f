#include "viz/ui/icons.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace tilescope::ui {
namespace {

constexpr float stroke = 1.6f;

// One icon about a point; x to the right, y down, within 6 pixels of it.
class IconShape {
 public:
  IconShape(ImDrawList& list, ImVec2 centre, ImU32 colour)
      : list_(list), centre_(centre), colour_(colour) {}

  IconShape& mirrored() {
    mirror_ = -1;
    return *this;
  }
  void line(std::initializer_list<ImVec2> points, bool closed = false) {
    for (const ImVec2 p : points) list_.PathLineTo(at(p));
    list_.PathStroke(colour_, closed ? ImDrawFlags_Closed : 0, stroke);
  }
  void triangle(ImVec2 a, ImVec2 b, ImVec2 c) {
    list_.AddTriangleFilled(at(a), at(b), at(c), colour_);
  }
  void box(ImVec2 low, ImVec2 high) {
    const ImVec2 a = at(low), b = at(high);
    list_.AddRectFilled({std::min(a.x, b.x), a.y}, {std::max(a.x, b.x), b.y}, colour_, 1);
  }
  void circle(float radius) { list_.AddCircle(centre_, radius, colour_, 0, stroke); }
  // Lines and arcs of one stroke; degrees clockwise from the right.
  void to(ImVec2 point) { list_.PathLineTo(at(point)); }
  void arc(ImVec2 about, float radius, float from, float to) {
    constexpr int pieces = 12;
    for (int i = 0; i <= pieces; ++i) {
      const float degrees = from + (to - from) * static_cast<float>(i) / pieces;
      const float angle = degrees * 3.14159265f / 180;
      list_.PathLineTo(
          at({about.x + radius * std::cos(angle), about.y + radius * std::sin(angle)}));
    }
  }
  void draw(bool closed = false) {
    list_.PathStroke(colour_, closed ? ImDrawFlags_Closed : 0, stroke);
  }

 private:
  ImVec2 at(ImVec2 p) const { return {centre_.x + mirror_ * p.x, centre_.y + p.y}; }

  ImDrawList& list_;
  ImVec2 centre_;
  ImU32 colour_;
  float mirror_ = 1;
};

void draw_turn(IconShape& shape) {  // back round to where it came from
  shape.to({-5, -2});
  shape.to({1.5f, -2});
  shape.arc({1.5f, 1.25f}, 3.25f, -90, 90);
  shape.to({-2, 4.5f});
  shape.draw();
  shape.line({{-2, -5}, {-5, -2}, {-2, 1}});
}

void draw_share(IconShape& shape) {
  shape.line({{-2.5f, -1}, {-5, -1}, {-5, 5}, {5, 5}, {5, -1}, {2.5f, -1}});
  shape.line({{0, 2}, {0, -5.5f}});
  shape.line({{-2.75f, -3}, {0, -5.75f}, {2.75f, -3}});
}

void draw_moon(IconShape& shape) {  // a disc without the disc that covers its upper right
  shape.arc({0, 0}, 5, 15.8f, 254.2f);
  shape.arc({2.5f, -2.5f}, 4.5f, 210.9f, 59.1f);
  shape.draw(true);
}

void draw_sun(IconShape& shape) {
  shape.circle(2.5f);
  for (int i = 0; i < 8; ++i) {
    const float angle = static_cast<float>(i) * 3.14159265f / 4;
    const float c = std::cos(angle), s = std::sin(angle);
    shape.line({{4.25f * c, 4.25f * s}, {6 * c, 6 * s}});
  }
}

void draw_legend_mark(IconShape& shape) {
  for (const float y : {-4.0f, 0.0f, 4.0f}) {
    shape.box({-5.5f, y - 1.5f}, {-2.5f, y + 1.5f});
    shape.line({{-0.5f, y}, {5.5f, y}});
  }
}

void draw_corners(IconShape& shape) {
  for (const float x : {-1.0f, 1.0f}) {
    for (const float y : {-1.0f, 1.0f})
      shape.line({{2 * x, 5 * y}, {5 * x, 5 * y}, {5 * x, 2 * y}});
  }
}

}  // namespace

std::optional<Icon> icon_of(std::string_view words) {
  static constexpr std::pair<std::string_view, Icon> known[] = {
      {"Run", Icon::play},           {"Play", Icon::play},
      {"Pause", Icon::pause},        {"Stop", Icon::stop},
      {"Next", Icon::next},          {"Step", Icon::next},
      {"Back", Icon::back},          {"Previous", Icon::back},
      {"First", Icon::first},        {"Last", Icon::last},
      {"Line", Icon::forth},         {"Barrier", Icon::forth},
      {"Line back", Icon::backward}, {"Barrier back", Icon::backward},
      {"Undo", Icon::undo},          {"Redo", Icon::redo},
      {"Share", Icon::share},        {"Show all", Icon::fit},
      {"Dark", Icon::moon},          {"Light", Icon::sun},
      {"Legend", Icon::legend},
  };
  for (const auto& [name, icon] : known) {
    if (name == words) return icon;
  }
  if (words.substr(0, 5) == "Next ") return Icon::forth;
  return {};
}

void draw_icon(ImDrawList& list, Icon icon, ImVec2 centre, ImU32 colour) {
  IconShape shape(list, {std::floor(centre.x) + 0.5f, std::floor(centre.y) + 0.5f}, colour);
  switch (icon) {
    case Icon::play:
      return shape.triangle({-3.5f, -5}, {-3.5f, 5}, {5, 0});
    case Icon::pause:
      shape.box({-4, -4.5f}, {-1.25f, 4.5f});
      return shape.box({1.25f, -4.5f}, {4, 4.5f});
    case Icon::stop:
      return shape.box({-4, -4}, {4, 4});
    case Icon::back:
      shape.mirrored();
      [[fallthrough]];
    case Icon::next:
      shape.triangle({-4.5f, -4.5f}, {-4.5f, 4.5f}, {2.5f, 0});
      return shape.box({3, -4.5f}, {4.75f, 4.5f});
    case Icon::first:
      shape.mirrored();
      [[fallthrough]];
    case Icon::last:
      shape.triangle({-6, -4}, {-6, 4}, {-1, 0});
      shape.triangle({-1, -4}, {-1, 4}, {4, 0});
      return shape.box({4, -4}, {5.75f, 4});
    case Icon::backward:
      shape.mirrored();
      [[fallthrough]];
    case Icon::forth:
    case Icon::folded:
      return shape.line({{-2, -4}, {2, 0}, {-2, 4}});
    case Icon::unfolded:
      return shape.line({{-4, -2}, {0, 2}, {4, -2}});
    case Icon::redo:
      shape.mirrored();
      [[fallthrough]];
    case Icon::undo:
      return draw_turn(shape);
    case Icon::share:
      return draw_share(shape);
    case Icon::fit:
      return draw_corners(shape);
    case Icon::moon:
      return draw_moon(shape);
    case Icon::sun:
      return draw_sun(shape);
    case Icon::legend:
      return draw_legend_mark(shape);
  }
}

}  // namespace tilescope::ui
