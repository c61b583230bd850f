#include "viz/scene/stage_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/items.h"
#include "viz/scene/palette.h"

namespace tilescope {

Rgba step_colour(std::uint32_t step, const Theme& theme) {
  return category(step % 7 + step / 7 % 3 * 8, theme.dark);
}

Ink faint_step(std::uint32_t step, const Theme& theme) {
  return Ink(mix(theme.paper, step_colour(step, theme), 0.35));
}

void draw_dial(Scene& scene, const Dial& dial, Point at, double radius) {
  const Box box{at.x - radius, at.y - radius, 2 * radius, 2 * radius};
  scene.add(Rectangle{box, Ink(Role::paper), {Role::line, 3, false}, radius});
  const double share = std::clamp(dial.share, 0.0, 1.0);
  if (share > 0) {
    Line arc;
    arc.stroke = {dial.waited ? Ink(Role::accent) : Ink(Role::quiet), 3, false};
    const int steps = std::max(2, static_cast<int>(share * 24));
    for (int i = 0; i <= steps; ++i) {
      const double angle = 2 * M_PI * share * i / steps - M_PI / 2;
      arc.points.push_back({at.x + radius * std::cos(angle), at.y + radius * std::sin(angle)});
    }
    scene.add(std::move(arc));
  } else if (dial.waited) {
    scene.add(Rectangle{box, {}, {Role::accent, 1, true}, radius});
  }
  scene.add(words(at, fmt::format("{}", dial.phase % 2), Across::centre, Family::mono,
                  dial.used ? Role::text : Role::quiet));
}

std::string_view name_of(StageState state) {
  static constexpr std::string_view names[] = {"empty", "coming", "full", "being read", "read"};
  return names[static_cast<std::size_t>(state)];
}

namespace {

void draw_tile(Scene& scene, const StageContents& stage, std::size_t i, const Box& box,
               bool small) {
  const StageContents::Tile& tile = stage.tiles[i];
  const Rgba solid = step_colour(stage.step, scene.theme);
  const bool coming = stage.state == StageState::coming, used = stage.state == StageState::used;
  Box filled = box.grown(-2);
  if (coming) {
    hatch(scene, filled, faint_step(stage.step, scene.theme), 6);
    filled.width *= tile.share;
  }
  if (!filled.empty()) {
    scene.add(Rectangle{filled, used ? faint_step(stage.step, scene.theme) : Ink(solid), {}, 2});
  }
  // What is still on its way has its name on the way.
  if (small || box.width < 34 || (stage.tiles.size() > 1 && tile.share < 1)) return;
  std::string label = fmt::format("{}{}k{}", tile.label, tile.label.empty() ? "" : " ", stage.step);
  // Its hue says the step, too.
  if (text_width(label, small_text, Family::sans, FontWeight::bold) > box.width) label = tile.label;
  const bool two = box.height > 34;
  // Over the hatching of what is not there yet stand letters of text.
  const bool over_paper = used || (coming && tile.share < 0.9);
  const Ink ink = over_paper ? Ink(Role::text) : Ink(text_on(solid));
  if (text_width(label, small_text, Family::sans, FontWeight::bold) > box.width) return;
  scene.add(words({box.centre().x, box.centre().y - (two ? 8 : 0)}, label, Across::centre,
                  FontWeight::bold, ink));
  const std::string state(coming && tile.share >= 1 ? "there" : name_of(stage.state));
  if (two && i == 0 && text_width(state, small_text, Family::sans) < box.width - 4) {
    scene.add(words({box.centre().x, box.centre().y + 9}, state, Across::centre, ink));
  }
}

}  // namespace

void draw_stage(Scene& scene, const StageContents& stage, const Box& box, bool small) {
  scene.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 3});
  if (stage.state != StageState::empty) {
    const double width =
        box.width / static_cast<double>(std::max<std::size_t>(1, stage.tiles.size()));
    for (std::size_t i = 0; i < stage.tiles.size(); ++i) {
      draw_tile(scene, stage, i, {box.x + width * static_cast<double>(i), box.y, width, box.height},
                small);
    }
  }
  if (stage.state == StageState::read) {
    scene.add(Rectangle{box, {}, {Role::text, 2, false}, 3});
  }
}

}  // namespace tilescope
