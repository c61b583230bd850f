// A, B and D as matrices, and the bytes of shared memory that A and B are in: a piece of 16 bytes
// has one colour in both.
#include <algorithm>
#include <cmath>

#include "viz/product/product_painter.h"
#include "viz/scene/number_words.h"

namespace tilescope {

using sim::ProductUnit;
using u32 = std::uint32_t;

namespace {

std::shared_ptr<const Image> image_of(u32 columns, u32 rows, std::vector<Rgba> rgba) {
  auto out = std::make_shared<Image>();
  out->columns = static_cast<int>(columns);
  out->rows = static_cast<int>(rows);
  out->rgba = std::move(rgba);
  out->version = new_image_version();
  return out;
}

}  // namespace

// Pieces that are neighbours in a matrix differ: by their place along what is contiguous, the hue;
// by their row in the swizzle's pattern of eight, the lightness.
Rgba ProductPainter::piece_colour(bool of_a, u32 row, u32 k) const {
  const auto& o = of_a ? p_.a_from : p_.b_from;
  const u32 elements = 16 / sim::width_of(o.stored);
  const bool k_major = !o.matrix || o.matrix->k_major;
  const u32 piece = k_major ? k / elements : row / elements, line = k_major ? row : k;
  const Rgba hue = category(of_a ? piece % 4 : 4 + piece % 3, s_.theme.dark);
  return mix(hue, s_.theme.paper, 0.09 * (line % 8));
}

Rgba ProductPainter::owner_colour(std::uint16_t owner) const {
  if (owner == ProductView::nobody) return s_.theme.line;
  if (p_.issue.unit == ProductUnit::warp) return lane_colour(owner);
  const u32 warp = owner / 32, lane = owner % 32;
  return mix(category(warp % 7, s_.theme.dark), s_.theme.paper, 0.02 * lane);
}

void ProductPainter::make_images() {
  if (images_->of == &v_ && images_->dark == s_.theme.dark && images_->d) return;
  *images_ = {};
  images_->of = &v_;
  images_->dark = s_.theme.dark;
  std::vector<Rgba> a, b, d;
  const bool lanes = !v_.a_lanes.empty();
  for (u32 i = 0; i < p_.m; ++i) {
    for (u32 k = 0; k < p_.k; ++k) {
      a.push_back(lanes ? lane_colour(v_.a_lanes[i * p_.k + k]) : piece_colour(true, i, k));
    }
    for (u32 j = 0; j < p_.n; ++j) {
      d.push_back(owner_colour(v_.owners[std::size_t{i} * p_.n + j]));
    }
  }
  for (u32 k = 0; k < p_.k; ++k) {
    for (u32 j = 0; j < p_.n; ++j) {
      b.push_back(lanes ? lane_colour(v_.b_lanes[k * p_.n + j]) : piece_colour(false, j, k));
    }
  }
  images_->a = image_of(p_.k, p_.m, std::move(a));
  images_->b = image_of(p_.n, p_.k, std::move(b));
  images_->d = image_of(p_.n, p_.m, std::move(d));
  if (p_.issue.unit != ProductUnit::tcgen05) return;
  std::vector<Rgba> cells(128 * 512, s_.theme.panel);
  for (std::size_t i = 0; i < p_.parts.size(); ++i) {
    const sim::SumPart& part = p_.parts[i];
    for (u32 r = 0; r < part.rows; ++r) {
      for (u32 c = 0; c < part.columns; ++c) {
        const u32 lane = (p_.cells[i].lane + r) % 128, column = (p_.cells[i].column + c) % 512;
        cells[lane * 512 + column] =
            owner_colour(v_.owners[std::size_t{part.row + r} * p_.n + part.column + c]);
      }
    }
  }
  if (p_.a_from.cells) {
    const sim::CellRange& c = *p_.a_from.cells;
    for (u32 lane = c.lane; lane < std::min(128u, c.lane + c.lanes); ++lane) {
      for (u32 x = c.column; x < std::min(512u, c.column + c.columns); ++x) {
        cells[lane * 512 + x] = piece_colour(true, lane - c.lane, 0);
      }
    }
  }
  images_->cells = image_of(512, 128, std::move(cells));
}

Rgba ProductPainter::lane_colour(std::uint16_t owner) const {
  if (owner == ProductView::nobody) return s_.theme.panel;
  return mix(category(owner % 32 / 4 % 7, s_.theme.dark), s_.theme.paper, 0.16 * (owner % 4));
}

// Which lane has each element, where that can be read.
void ProductPainter::draw_lanes(const Box& box, const std::vector<std::uint16_t>& lanes,
                                std::uint32_t columns, std::uint32_t rows) {
  const double wide = box.width / columns, high = box.height / rows;
  if (wide < 16 || high < 11 || lanes.size() < std::size_t{columns} * rows) return;
  scene_.begin("lanes");
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) {
      const std::uint16_t lane = lanes[std::size_t{i} * columns + j];
      if (lane == ProductView::nobody) continue;
      scene_.add(words({box.x + wide * (j + 0.5), box.y + high * (i + 0.5)},
                       fmt::format("{}", lane % 32), Ink(text_on(lane_colour(lane))), Family::mono,
                       small_text - 3, Across::centre));
    }
  }
  scene_.end();
}

// A at the left of D, B above it.
void ProductPainter::draw_matrices(const Box& room) {
  scene_.begin("matrices");
  const bool of_warp = p_.issue.unit == ProductUnit::warp;
  heading(room, "A, B and D",
          of_warp ? "each element's lane" : "hues: 16 bytes of A and B; warps of D");
  const double depth = std::clamp(std::min(room.width, room.height) * 0.2, 34.0, 96.0);
  const double top = room.y + 36, left = room.x + 4;
  const double width = std::max(40.0, room.width - depth - 16),
               height = std::max(40.0, room.height - depth - 60);
  // Cells as square as the room lets them be.
  const double cell = std::min(width / p_.n, height / p_.m);
  const double wide = std::min(width, std::max(cell * p_.n, width * 0.6)),
               high = std::min(height, std::max(cell * p_.m, height * 0.6));
  frame_.a = {left, top + depth + 8, depth, high};
  frame_.b = {left + depth + 8, top, wide, depth};
  frame_.d = {left + depth + 8, top + depth + 8, wide, high};
  const std::pair<Box, std::shared_ptr<const Image>> all[] = {
      {frame_.a, images_->a}, {frame_.b, images_->b}, {frame_.d, images_->d}};
  for (const auto& [box, image] : all) {
    scene_.add(Raster{box, image});
    scene_.add(Rectangle{box, {}, {Role::line, 1, false}, 0});
  }
  const double beside = top + std::max(5.0, depth / 2 - 8);
  line({left, beside}, "A", depth, Role::quiet);
  const std::string extents = fmt::format("{}x{}", p_.m, p_.k);
  if (text_width(extents, small_text, Family::sans) <= depth + 4) {
    line({left, beside + 15}, extents, depth + 4, Role::quiet);
  } else {
    line({left, beside + 13}, fmt::format("{}", p_.m), depth + 4, Role::quiet);
    line({left, beside + 26}, fmt::format("x {}", p_.k), depth + 4, Role::quiet);
  }
  std::string of_b = fmt::format("B {} x {}, k down", p_.k, p_.n);
  if (text_width(of_b, small_text, Family::sans) > wide)
    of_b = fmt::format("B {} x {}", p_.k, p_.n);
  line({frame_.b.x, top - 10}, of_b, wide, Role::quiet);
  line({frame_.d.x, frame_.d.bottom() + 12}, fmt::format("D {} x {}, {}", p_.m, p_.n, d_type(p_)),
       wide, Role::quiet);
  if (of_warp) {
    draw_lanes(frame_.a, v_.a_lanes, p_.k, p_.m);
    draw_lanes(frame_.b, v_.b_lanes, p_.n, p_.k);
    draw_lanes(frame_.d, v_.owners, p_.n, p_.m);
  }
  // The row and the column that meet in the element.
  const double row_high = frame_.d.height / p_.m, column_wide = frame_.d.width / p_.n;
  const auto at_least = [](Box box, double side) {
    const double x = std::max(0.0, side - box.width) / 2, y = std::max(0.0, side - box.height) / 2;
    return Box{box.x - x, box.y - y, box.width + 2 * x, box.height + 2 * y};
  };
  const Box of_a =
      at_least({frame_.a.x, frame_.a.y + row_high * s_.row, frame_.a.width, row_high}, 4);
  const Box in_b =
      at_least({frame_.b.x + column_wide * s_.column, frame_.b.y, column_wide, frame_.b.height}, 4);
  const Box of_d = at_least(
      {frame_.d.x + column_wide * s_.column, frame_.d.y + row_high * s_.row, column_wide, row_high},
      6);
  scene_.add(Line{
      {{of_a.right(), of_a.centre().y}, {of_d.x, of_d.centre().y}}, {Role::text, 1, true}, false});
  scene_.add(Line{
      {{in_b.centre().x, in_b.bottom()}, {of_d.centre().x, of_d.y}}, {Role::text, 1, true}, false});
  for (const Box& box : {of_a, in_b, of_d}) draw_selection(scene_, box, 1.5);
  if (s_.hovered && s_.hovered->in != ProductSpot::In::d) {
    const bool a = s_.hovered->in == ProductSpot::In::a;
    const Box in = a ? frame_.a : frame_.b;
    const auto& o = a ? p_.a_from : p_.b_from;
    const u32 elements = 16 / sim::width_of(o.stored);
    const bool k_major = !o.matrix || o.matrix->k_major;
    // All that is in the same piece.
    const u32 row = k_major ? s_.hovered->row : s_.hovered->row / elements * elements,
              rows = k_major ? 1 : elements,
              k = k_major ? s_.hovered->column / elements * elements : s_.hovered->column,
              ks = k_major ? std::min(elements, p_.k - k) : 1;
    const double r = (a ? in.height : in.width) / (a ? p_.m : p_.n),
                 c = (a ? in.width : in.height) / p_.k;
    const Box box = a ? Box{in.x + c * k, in.y + r * row, c * ks, r * rows}
                      : Box{in.x + r * row, in.y + c * k, r * rows, c * ks};
    scene_.add(Rectangle{at_least(box, 5), {}, {Role::text, 2, false}, 0});
  }
  scene_.end();
}

void ProductPainter::draw_bytes(const Box& room) {
  scene_.begin("shared memory");
  heading(room, "Shared memory, as it lies", "lines of 128 bytes");
  const bool a = p_.a_from.matrix.has_value(), b = p_.b_from.matrix.has_value();
  const double each = a && b ? room.width / 2 : room.width;
  double x = room.x;
  for (const bool of_a : {true, false}) {
    if (!(of_a ? a : b)) continue;
    draw_operand_bytes({x, room.y + 22, each - 12, room.height - 22}, of_a);
    x += each;
  }
  scene_.end();
}

void ProductPainter::draw_operand_bytes(const Box& room, bool of_a) {
  const std::vector<ProductView::Piece> pieces = v_.pieces(of_a);
  if (pieces.empty()) return;
  const auto [least, most] =
      std::minmax_element(pieces.begin(), pieces.end(),
                          [](const auto& x, const auto& y) { return x.offset < y.offset; });
  const u32 first = least->offset / 128 * 128, lines = (most->offset + 16 - first + 127) / 128;
  scene_.begin(of_a ? "bytes of A" : "bytes of B");
  const auto& o = of_a ? p_.a_from : p_.b_from;
  std::string title = fmt::format("{} from {}", of_a ? "A" : "B", grouped(least->offset));
  if (o.blocks.size() > 1) {
    const std::string more = fmt::format("{}, CTAs {}, {}", title, o.blocks[0], o.blocks[1]);
    if (text_width(more, small_text, Family::sans) <= room.width) title = more;
  }
  line({room.x, room.y + 8}, title, room.width, Role::text);
  const double near = room.height > 240 ? 8 * 13 + 26 : 0;
  const double gutter = address_gutter(most->offset, room.width);
  const Box box{room.x + gutter, room.y + 20, room.width - gutter,
                std::min(room.height - 26 - near, 14.0 * lines)};
  if (gutter > 0) draw_addresses(box, first, lines);
  std::vector<Rgba> rgba(std::size_t{lines} * 8, s_.theme.panel);
  for (const ProductView::Piece& piece : pieces) {
    rgba[(piece.offset - first) / 16] = piece_colour(of_a, piece.row, piece.k);
  }
  scene_.add(Raster{box, image_of(8, lines, std::move(rgba))});
  scene_.add(Rectangle{box, {}, {Role::line, 1, false}, 0});
  (of_a ? frame_.a_bytes : frame_.b_bytes) = {box, first, lines};
  const double wide = box.width / 8, high = box.height / lines;
  const u32 chosen = of_a ? s_.row : s_.column % std::max(1u, o.rows);
  for (const ProductView::Piece& piece : pieces) {
    const u32 at = (piece.offset - first) / 16;
    const Box cell{box.x + at % 8 * wide, box.y + at / 8 * high, wide, high};
    const bool own = chosen >= piece.row && chosen < piece.row + piece.rows;
    if (own && high * lines > 0) {
      scene_.add(Rectangle{{cell.x, cell.y - 1, cell.width, std::max(high, 2.0) + 1},
                           {},
                           {Role::accent, 1.5, false},
                           0});
    }
    const bool under = s_.hovered && s_.hovered->in != ProductSpot::In::d &&
                       (s_.hovered->in == ProductSpot::In::a) == of_a;
    const u32 elements = 16 / sim::width_of(o.stored);
    const u32 on = under ? s_.hovered->row % std::max(1u, o.rows) : 0;
    const bool held =
        under && (o.matrix->k_major ? piece.row == on && s_.hovered->column - piece.k < elements
                                    : piece.k == s_.hovered->column && on - piece.row < piece.rows);
    if (held) {
      scene_.add(Rectangle{{cell.x, cell.y - 1, cell.width, std::max(high, 4.0) + 1},
                           {},
                           {Role::text, 2, false},
                           0});
    }
  }
  if (near > 0) {
    draw_pieces_near({room.x, box.bottom() + 8, room.width, near - 8}, pieces, of_a);
  }
  scene_.end();
}

// Room for addresses of lines before them; 0: there is none.
double ProductPainter::address_gutter(u32 last, double width) {
  constexpr double least = 44;  // for the bytes
  const double wide = std::ceil(text_width(grouped(last), small_text, Family::mono)) + 6;
  return width - wide < least ? 0 : wide;
}

// The address of the first byte of every line, or of as many lines as have room.
void ProductPainter::draw_addresses(const Box& box, u32 first, u32 lines) {
  constexpr double least = 13;
  const double high = box.height / lines;
  u32 step = 1;
  while (high * step < least) step *= 2;
  scene_.begin("addresses");
  for (u32 i = 0; i < lines; i += step) {
    scene_.add(words({box.x - 6, box.y + high * (i + 0.5)}, grouped(first + i * 128), Role::quiet,
                     Family::mono, Across::right));
  }
  scene_.end();
}

// The eight lines around the element's row, large enough to be read.
void ProductPainter::draw_pieces_near(const Box& room,
                                      const std::vector<ProductView::Piece>& pieces, bool of_a) {
  const auto& o = of_a ? p_.a_from : p_.b_from;
  const u32 chosen = of_a ? s_.row : s_.column % std::max(1u, o.rows);
  const auto own = std::find_if(pieces.begin(), pieces.end(), [&](const auto& piece) {
    return chosen >= piece.row && chosen < piece.row + piece.rows;
  });
  if (own == pieces.end()) return;
  const u32 first = own->offset / 1024 * 1024;

  u32 least = chosen, most = chosen;
  for (const ProductView::Piece& piece : pieces) {
    if (piece.offset < first || piece.offset >= first + 1024) continue;
    least = std::min(least, piece.row);
    most = std::max(most, piece.row + piece.rows - 1);
  }
  const u32 before = of_a ? 0 : s_.column - chosen;  // columns of the other CTA
  const char* what = of_a ? "rows" : "columns";
  const std::string from = fmt::format("from {}", grouped(first));
  std::string title = fmt::format("{} {} to {}, {}", what, before + least, before + most, from);
  // In one line, or in two.
  const bool two = text_width(title, small_text, Family::sans) > room.width;
  if (two) {
    title = fmt::format("{} {}-{}", what, before + least, before + most);
    if (text_width(title, small_text, Family::sans) > room.width)
      title.erase(0, title.find(' ') + 1);
    line({room.x, room.y + 19}, from, room.width, Role::quiet);
  }
  line({room.x, room.y + 6}, title, room.width, Role::quiet);
  const double head_height = two ? 29 : 16;
  const auto last =
      std::max_element(pieces.begin(), pieces.end(),
                       [](const auto& x, const auto& y) { return x.offset < y.offset; });
  const double gutter = address_gutter(last->offset, room.width), left = room.x + gutter;
  const double wide = (room.width - gutter) / 8, high = (room.height - head_height - 2) / 8;
  const double top = room.y + head_height;
  if (gutter > 0) draw_addresses({left, top, 8 * wide, 8 * high}, first, 8);
  for (u32 i = 0; i < 64; ++i) {
    scene_.add(Rectangle{
        {left + i % 8 * wide, top + i / 8 * high, wide - 1, high - 1}, Ink(Role::panel), {}, 0});
  }
  for (const ProductView::Piece& piece : pieces) {
    if (piece.offset < first || piece.offset >= first + 1024) continue;
    const u32 i = (piece.offset - first) / 16;
    const Box cell{left + i % 8 * wide, top + i / 8 * high, wide - 1, high - 1};
    const Rgba colour = piece_colour(of_a, piece.row, piece.k);
    scene_.add(Rectangle{cell, Ink(colour), {}, 0});
    const std::string text = piece.rows == 1 ? fmt::format("{},{}", piece.row, piece.k)
                                             : fmt::format("{},k{}", piece.row, piece.k);
    if (text_width(text, small_text - 3, Family::mono) < wide - 2) {
      scene_.add(words({cell.centre().x, cell.centre().y}, text, Ink(text_on(colour)), Family::mono,
                       small_text - 3, Across::centre));
    }
    if (chosen >= piece.row && chosen < piece.row + piece.rows) {
      scene_.add(Rectangle{cell, {}, {Role::accent, 1.5, false}, 0});
    }
  }
}

}  // namespace tilescope
