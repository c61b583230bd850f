// Still pictures: nobody can point into them or zoom, so that what colours mean must be written.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/layout/layout_panels.h"
#include "viz/layout/layout_still.h"

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

// The smallest size from one on that does, found by growing both sides and then trimming each. More
// pixels than the largest square that a viewer opens are no answer.
template <typename Does>
std::optional<Size> smallest_size(Size from, Does does) {
  constexpr double step = 1.1, round = 10, most_side = 32000;
  const auto larger = [&](int steps) {
    const double by = std::pow(step, steps);
    return steps == 0 ? from
                      : Size{std::ceil(from.width * by / round) * round,
                             std::ceil(from.height * by / round) * round};
  };
  if (does(from)) return from;
  // The largest that may still be trimmed to what a viewer would open; then halves of the way.
  int enough = 0;
  for (Size at = larger(1); at.width <= most_side && at.height <= most_side &&
                            at.width * at.height <= 4 * most_natural * most_natural;
       at = larger(enough + 1)) {
    ++enough;
  }
  if (enough == 0 || !does(larger(enough))) return std::nullopt;
  for (int less = 0; enough - less > 1;) {
    const int middle = (less + enough) / 2;
    (does(larger(middle)) ? enough : less) = middle;
  }
  Size at = larger(enough);
  const auto trim = [&](double Size::*side) {
    double low = from.*side - round;  // too small, as far as is known
    while (at.*side - low > round) {
      Size less = at;
      less.*side = std::max(from.*side, std::floor((low + at.*side) / 2 / round) * round);
      if (less.*side >= at.*side) break;
      if (does(less)) {
        at = less;
      } else {
        low = less.*side;
      }
    }
  };
  trim(&Size::width);
  trim(&Size::height);
  if (at.width * at.height > most_natural * most_natural) return std::nullopt;
  return at;
}

// What is tried, in this order: all of it smaller, then warps instead of threads.
std::vector<LayoutChoice> choices_for(const LayoutView& view, const LayoutChoice& choice) {
  std::vector<LayoutChoice> out{choice};
  if (choice.colour || view.kind() != LayoutView::Kind::thread_value) return out;
  const std::vector<ColourBy> all = view.colours();
  const bool warps = std::find(all.begin(), all.end(), ColourBy::warp) != all.end();
  if (warps && view.categories(ColourBy::warp) > 1 && view.colour(choice) == ColourBy::thread) {
    out.push_back(choice);
    out[1].colour = ColourBy::warp;
  }
  return out;
}

// How a picture of a size tells what its colours mean; nothing where it cannot.
struct Telling {
  LayoutChoice choice;
  double by = 1;  // how much smaller all of it is set
  Frame frame;
};
std::optional<Telling> telling(const LayoutView& view, const LayoutChoice& choice,
                               const Theme& theme, Size size, double smallest) {
  const bool asked = size.width > 0 && size.height > 0;
  constexpr std::array<double, 4> steps{1, 0.85, 0.7, 0.5};
  for (const LayoutChoice& each : choices_for(view, choice)) {
    for (const double by : steps) {
      if (by < smallest || (!asked && by < 1)) break;
      Viewport viewport;
      viewport.size = {size.width / by, size.height / by};
      viewport.pixel_scale = by;
      Telling out{each, by, arrange(view, viewport, each)};
      if (is_told(view, each, theme, out.frame)) return out;
    }
  }
  return std::nullopt;
}

// The size comes first, and as few words as there is room for: what is cut must not be the size.
std::string advice_for(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                       Size size, double smallest) {
  if (const std::optional<Size> enough = size_that_tells(view, choice, theme, size, smallest)) {
    const std::string pixels = fmt::format("{} x {}", enough->width, enough->height);
    const std::string whole =
        fmt::format("{} pixels have room for labels; these cells are too small.", pixels);
    const std::string brief = fmt::format("{} has room for labels.", pixels);
    const double room = size.width - 2 * between_groups;
    for (const std::string& each : {whole, brief}) {
      if (text_width(each, small_text, Family::sans) <= room) return each;
    }
    return pixels;
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
    const Size cell = frame.places[static_cast<std::size_t>(p)].cell;
    // Columns that are a tile each have its number above, where each has room for it.
    const double number =
        text_width(fmt::format("{}", panel.columns - 1), small_text, Family::mono) + 6;
    const bool numbered = panel.column_is_tile && by == ColourBy::tile && cell.width >= number;
    if (by == ColourBy::none || numbered || setting_for(view, choice, cell).size > 0) continue;
    const std::optional<Seen> seen = seen_of(d, p, panel.first_slice);
    Labels labels;
    if (!seen || is_scale(by) || label_blocks(d, *seen, labels) < most_of_it) return false;
  }
  return true;
}

std::optional<Size> size_that_tells(const LayoutView& view, const LayoutChoice& choice,
                                    const Theme& theme, Size from, double smallest) {
  return smallest_size(from, [&](Size at) {
    return has_room(arrange(view, Viewport{at})) &&
           telling(view, choice, theme, at, smallest).has_value();
  });
}

std::optional<Size> size_with_room(const LayoutView& view, Size from) {
  return smallest_size(from, [&](Size at) { return has_room(arrange(view, Viewport{at})); });
}

Scene build_scene(const LayoutView& view, const LayoutChoice& choice, const Theme& theme, Size size,
                  double smallest) {
  if (const std::optional<Telling> how = telling(view, choice, theme, size, smallest)) {
    Scene out = build_scene(view, how->choice, theme, how->frame);
    if (how->by < 1) shrink(out, how->by, size);
    return out;
  }
  Viewport viewport;
  viewport.size = size;
  viewport.advice =
      advice_for(view, choice, theme, arrange(view, viewport, choice).viewport.size, smallest);
  return build_scene(view, choice, theme, arrange(view, viewport, choice));
}

}  // namespace tilescope
