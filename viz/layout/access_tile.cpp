// The tile of an access, with the lanes that an instruction's words go to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/layout/banks.h"
#include "core/layout/layout.h"
#include "viz/layout/access_view.h"
#include "viz/scene/items.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_tile_cells = 1 << 14;
constexpr double least_tile_cell = 3, most_tile_cell = 28, least_tile_room = 64;

}  // namespace

void draw_tile_and_lanes(Scene& scene, const AccessView& view,
                         const std::vector<AccessView::Row>& rows, const Box& room) {
  const Layout& layout = view.memory();
  const auto all = size(layout);
  const auto first = get(layout, 0);
  if (!all || room.height < least_tile_room) return;
  const std::int64_t cells = *all;
  const std::int64_t down = first && layout.rank() > 1 ? *size(*first) : 1;
  if (cells < 1 || cells > most_tile_cells || down < 1 || cells % down != 0) return;
  const std::int64_t across = cells / down;
  const double heading = 24, gutter = 40;
  const double cell =
      std::min({(room.width - gutter) / static_cast<double>(across),
                (room.height - heading) / static_cast<double>(down), most_tile_cell});
  if (cell < least_tile_cell) return;
  // Whose word each is: the lanes by their addresses.
  std::map<std::int64_t, int> lanes;
  for (const AccessView::Row& row : rows) {
    for (const AccessView::Word& word : row.words) {
      if (word.there) lanes.emplace(word.address / bank_bytes, word.lane);
    }
  }
  scene.begin("tile");
  scene.add(
      words({room.x, room.y + 8},
            fmt::format("the tile, {} x {}: the elements that this instruction's lanes ask for",
                        down, across),
            Role::quiet));
  const Box grid{room.x + gutter, room.y + heading, cell * static_cast<double>(across),
                 cell * static_cast<double>(down)};
  scene.add(Rectangle{grid, Ink(Role::panel), {}, 0});
  const bool lettered = cell >= text_width("31", small_text, Family::mono) + 2;
  Image image;
  image.rows = static_cast<int>(down);
  image.columns = static_cast<int>(across);
  std::vector<Text> labels;
  for (std::int64_t r = 0; r < down; ++r) {
    for (std::int64_t c = 0; c < across; ++c) {
      const std::int64_t byte = layout(r + c * down) * view.choice().element_bytes;
      const auto lane = lanes.find(byte / bank_bytes);
      if (lane == lanes.end()) {
        image.rgba.push_back(scene.theme.panel);
        continue;
      }
      const Rgba colour = thread_colour(lane->second, lanes_of_warp, scene.theme.dark);
      image.rgba.push_back(colour);
      if (!lettered) continue;
      labels.push_back(words({grid.x + cell * (static_cast<double>(c) + 0.5),
                              grid.y + cell * (static_cast<double>(r) + 0.5)},
                             fmt::format("{}", lane->second), Ink(text_on(colour)), Family::mono,
                             Across::centre));
    }
  }
  image.version = new_image_version();
  scene.add(Raster{grid, std::make_shared<const Image>(std::move(image))});
  if (cell >= 8) {
    Segments lines;
    lines.stroke = {Role::line, 1, false};
    for (std::int64_t r = 0; r <= down; ++r) {
      const double y = grid.y + cell * static_cast<double>(r);
      lines.lines.push_back({{grid.x, y}, {grid.right(), y}});
    }
    for (std::int64_t c = 0; c <= across; ++c) {
      const double x = grid.x + cell * static_cast<double>(c);
      lines.lines.push_back({{x, grid.y}, {x, grid.bottom()}});
    }
    scene.add(std::move(lines));
  } else {
    scene.add(Rectangle{grid, {}, {Role::line, 1, false}, 0});
  }
  for (Text& label : labels) scene.add(std::move(label));
  const auto every = static_cast<std::int64_t>(std::ceil(18 / cell));
  for (std::int64_t r = 0; r < down; r += every) {
    scene.add(words({grid.x - inside, grid.y + cell * static_cast<double>(r) + cell / 2},
                    fmt::format("{}", r), Role::quiet, Family::mono, Across::right));
  }
  scene.end();
}

}  // namespace tilescope
