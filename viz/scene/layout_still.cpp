// Still pictures: nobody can point into them or zoom, so that what colours mean must be written.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/scene/layout_panels.h"

namespace tilescope {
namespace {

bool is_scale(ColourBy by) {
  using enum ColourBy;
  return by == offset || by == axis || by == axis2 || by == axis3 || by == axis4;
}

void scale(Point& p, double by) {
  p.x *= by, p.y *= by;
}
void scale(Box& b, double by) {
  b.x *= by, b.y *= by, b.width *= by, b.height *= by;
}

struct Scaling {
  double by = 1;
  void operator()(Rectangle& r) const {
    scale(r.box, by);
    r.stroke.width *= by, r.radius *= by;
  }
  void operator()(Line& line) const {
    for (Point& p : line.points) scale(p, by);
    line.stroke.width *= by;
  }
  void operator()(Segments& s) const {
    for (auto& [from, to] : s.lines) scale(from, by), scale(to, by);
    s.stroke.width *= by;
  }
  void operator()(Text& text) const {
    scale(text.at, by);
    text.size *= by;
  }
  void operator()(Raster& raster) const { scale(raster.box, by); }
  void operator()(GroupBegin& group) const {
    if (group.clip) scale(*group.clip, by);
  }
  void operator()(GroupEnd&) const {}
};

// A scene as large as a part of its size.
void shrink(Scene& scene, double by, Size size) {
  for (Item& item : scene.items) std::visit(Scaling{by}, item);
  for (Target& target : scene.targets) scale(target.box, by);
  for (Hint& hint : scene.hints) scale(hint.box, by);
  scene.size = size;
}

// The size from which on cells, or blocks of them, have room for labels; nothing where none has.
std::optional<Size> size_for_labels(const LayoutView& view, const LayoutChoice& choice,
                                    const Theme& theme, Size from) {
  constexpr double step = 1.1, round = 10;
  for (Size at = from; at.width <= most_natural && at.height <= most_natural;) {
    if (is_told(view, choice, theme, arrange(view, Lens{at}, choice))) return at;
    at = {std::ceil(at.width * step / round) * round, std::ceil(at.height * step / round) * round};
  }
  return std::nullopt;
}

std::string advice_for(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                       Size size) {
  if (const std::optional<Size> enough = size_for_labels(view, choice, theme, size)) {
    return fmt::format("These cells are too small for labels: {} x {} pixels have room for them.",
                       enough->width, enough->height);
  }
  return "These cells are too small and too many for labels; a part of them, such as a tile or a "
         "slice, has room.";
}

}  // namespace

bool is_told(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
             const Frame& frame) {
  Scene unused;
  unused.theme = theme;
  const Drawing d{view, choice, theme, frame, unused};
  const ColourBy by = view.colour(choice);
  constexpr double most_of_it = 0.5;
  for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
    const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
    const bool numbered = panel.column_is_tile && by == ColourBy::tile;
    const Size cell = frame.places[static_cast<std::size_t>(p)].cell;
    if (by == ColourBy::none || numbered || setting_for(view, choice, cell).size > 0) continue;
    const std::optional<Seen> seen = seen_of(d, p, 0);
    Labels labels;
    if (!seen || is_scale(by) || label_blocks(d, *seen, labels) < most_of_it) return false;
  }
  return true;
}

Scene build_scene(const LayoutView& view, const LayoutChoice& choice, const Theme& theme, Size size,
                  double smallest) {
  std::vector<LayoutChoice> choices{choice};
  if (!choice.colour && view.kind() == LayoutView::Kind::thread_value) {
    choices[0].colour = view.colour(choice);
    const std::vector<ColourBy> all = view.colours();
    const bool warps = std::find(all.begin(), all.end(), ColourBy::warp) != all.end();
    if (warps && view.categories(ColourBy::warp) > 1 && choices[0].colour == ColourBy::thread) {
      choices.push_back(choice);
      choices[1].colour = ColourBy::warp;
    }
    choices[0].colour.reset();  // its own, in a size of its own
  }
  const bool asked = size.width > 0 && size.height > 0;
  constexpr std::array<double, 4> steps{1, 0.85, 0.7, 0.5};
  for (const LayoutChoice& each : choices) {
    for (const double by : steps) {
      if (by < smallest || (!asked && by < 1)) break;
      Lens lens;
      lens.size = {size.width / by, size.height / by};
      lens.pixel_scale = by;
      const Frame frame = arrange(view, lens, each);
      if (!is_told(view, each, theme, frame)) continue;
      Scene out = build_scene(view, each, theme, frame);
      if (by < 1) shrink(out, by, size);
      return out;
    }
  }
  Lens lens;
  lens.size = size;
  lens.advice = advice_for(view, choice, theme, arrange(view, lens, choice).lens.size);
  return build_scene(view, choice, theme, arrange(view, lens, choice));
}

}  // namespace tilescope
