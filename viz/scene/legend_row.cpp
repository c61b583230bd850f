#include "viz/scene/legend_row.h"

#include <fmt/format.h>

#include "viz/scene/items.h"

namespace tilescope {
namespace {

constexpr double swatch = 24, to_words = 32, stripes = 12;

double width_of(const LegendItem& item) {
  return to_words + text_width(item.text, small_text, Family::sans);
}

void draw_item(Scene& scene, double x, double y, const LegendItem& item) {
  Rectangle box;
  box.box = {x, y - 7, swatch, 14};
  box.fill = item.fill;
  box.radius = 2;
  box.stroke = {item.edge, 1, false};
  scene.add(box);
  if (item.hatched) hatch(scene, box.box, item.edge, stripes);
  scene.add(words({x + to_words, y}, item.text, Role::quiet));
}

}  // namespace

double legend_row_width(const std::vector<LegendItem>& items) {
  double out = 0;
  for (const LegendItem& item : items) out += width_of(item) + between_groups;
  return items.empty() ? 0 : out - between_groups;
}

double draw_legend_row(Scene& scene, double x, double y, double right,
                       const std::vector<LegendItem>& items) {
  const bool all = x + legend_row_width(items) <= right;
  const double more = all ? 0 : text_width("and 99 more", small_text, Family::sans);
  std::string left_out;
  std::size_t count = 0;
  for (const LegendItem& item : items) {
    if (count == 0 && x + width_of(item) + (all ? 0 : between_groups + more) <= right) {
      draw_item(scene, x, y, item);
      x += width_of(item) + between_groups;
      continue;
    }
    left_out += (count++ ? ", " : "") + item.text;
  }
  if (count == 0) return x;
  const std::string text = fmt::format("and {} more", count);
  if (x + more > right + 1) return x;
  scene.add(words({x, y}, text, Role::quiet));
  scene.hints.push_back({{x, y - 10, more, 20}, left_out});
  return x + more;
}

}  // namespace tilescope
