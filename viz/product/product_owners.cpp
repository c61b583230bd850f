// Where D is and who has it: cells of TMEM and the loads that take them, or a warp's registers.
#include <algorithm>
#include <cmath>

#include "viz/product/product_painter.h"

namespace tilescope {

using sim::ProductUnit;
using u32 = std::uint32_t;

void ProductPainter::draw_owners(const Box& room) {
  scene_.begin("owners");
  const bool cells = p_.issue.unit == ProductUnit::tcgen05;
  heading(room, cells ? "D in TMEM" : "D in registers");
  const Box below{room.x, room.y + 22, room.width, room.height - 22};
  cells ? draw_cells(below) : draw_fragment(below);
  scene_.end();
}

void ProductPainter::draw_cells(const Box& room) {
  line({room.x, room.y + 8}, "lanes down, columns across", room.width, Role::quiet);
  const Box box{room.x, room.y + 22, room.width,
                std::clamp(room.height * 0.42, 40.0, std::max(40.0, room.width * 0.6))};
  scene_.add(Raster{box, images_->cells});
  scene_.add(Rectangle{box, {}, {Role::line, 1, false}, 0});
  Segments quarters;
  quarters.stroke = {Role::line, 1, true};
  for (int i = 1; i < 4; ++i) {
    const double y = box.y + box.height * i / 4;
    quarters.lines.push_back({{box.x, y}, {box.right(), y}});
  }
  scene_.add(std::move(quarters));
  const ElementPlace place = v_.place(s_.row, s_.column);
  if (place.cell) {
    const Point at{box.x + (place.cell->column + 0.5) * box.width / 512,
                   box.y + (place.cell->lane + 0.5) * box.height / 128};
    draw_selection(scene_, {at.x - 4, at.y - 4, 8, 8}, 1.5);
  }
  double y = box.bottom() + 16;
  for (const std::string& text : wrapped(
           fmt::format("D[{}, {}]: {}", s_.row, s_.column, place_text(v_, place)), room.width, 3)) {
    if (y + 6 > room.bottom()) break;
    scene_.add(words({room.x, y}, text));
    y += row;
  }
  if (y + 10 > room.bottom()) return;
  if (v_.loads.empty()) {
    line({room.x, y + 4}, "No tcgen05.ld of the record reads this sum.", room.width, Role::quiet);
    return;
  }
  y += 4;
  line({room.x, y}, fmt::format("{} loads: lanes, columns", v_.loads.size()), room.width,
       Role::quiet);
  y += row;
  // The element's own first.
  const std::size_t own = place.load.value_or(0);
  for (std::size_t i = 0; i < v_.loads.size() && y + 8 < room.bottom(); ++i) {
    const std::size_t which = (own + i) % v_.loads.size();
    const ProductLoad& load = v_.loads[which];
    const sim::CellRange& c = load.cells.front();
    const bool its = place.load && which == *place.load;
    scene_.add(Rectangle{{room.x, y - 5, 10, 10},
                         Ink(owner_colour(static_cast<std::uint16_t>(load.warp * 32))),
                         {},
                         2});
    line({room.x + 16, y},
         fmt::format("warp {}: {}-{}, {}-{}", load.warp, c.lane, c.lane + c.lanes - 1, c.column,
                     c.column + c.columns - 1),
         room.width - 16, its ? Role::text : Role::quiet);
    if (its) {
      scene_.add(Rectangle{{box.x + c.column * box.width / 512, box.y + c.lane * box.height / 128,
                            c.columns * box.width / 512, c.lanes * box.height / 128},
                           {},
                           {Role::text, 1, false},
                           0});
    }
    y += row;
  }
}

// Eight rows and some columns about the element, each with its lane.
void ProductPainter::draw_fragment(const Box& room) {
  const u32 rows = std::min(8u, p_.m), columns = std::min(room.width > 300 ? 16u : 8u, p_.n);
  const u32 first_row = s_.row / rows * rows, first_column = s_.column / columns * columns;
  const ElementPlace place = v_.place(s_.row, s_.column);
  double y = room.y + 8;
  for (const std::string& text : wrapped(
           fmt::format("D[{}, {}]: {}", s_.row, s_.column, place_text(v_, place)), room.width, 3)) {
    if (y + 6 > room.bottom()) break;
    scene_.add(words({room.x, y}, text));
    y += row;
  }
  line({room.x, y},
       fmt::format("lanes: rows {}-{}, columns {}-{}", first_row,
                   std::min(p_.m, first_row + rows) - 1, first_column,
                   std::min(p_.n, first_column + columns) - 1),
       room.width, Role::quiet);
  y += 12;
  const double wide = std::clamp(room.width / columns, 4.0, 26.0),
               high = std::clamp((room.bottom() - y - 4) / rows, 4.0, 26.0);
  scene_.begin("lanes");
  for (u32 i = 0; i < rows; ++i) {
    for (u32 j = 0; j < columns; ++j) {
      const u32 r = first_row + i, c = first_column + j;
      if (r >= p_.m || c >= p_.n) continue;
      const std::uint16_t owner = v_.owners[std::size_t{r} * p_.n + c];
      const Box box{room.x + wide * j, y + high * i, wide - 1, high - 1};
      const Rgba colour = lane_colour(owner);
      scene_.add(Rectangle{box, Ink(colour), {}, 0});
      if (wide >= 15 && high >= 14 && owner != ProductView::nobody) {
        scene_.add(words(box.centre(), fmt::format("{}", owner % 32), Ink(text_on(colour)),
                         Family::mono, small_text - 3, Across::centre));
      }
      if (r == s_.row && c == s_.column) draw_selection(scene_, box, 1.5);
      scene_.targets.push_back(
          {box, fmt::format("product element {} {}", r, c), fmt::format("opens D[{}, {}]", r, c)});
    }
  }
  scene_.end();
}

}  // namespace tilescope
