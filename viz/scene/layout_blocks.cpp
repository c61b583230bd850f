// Labels of blocks: where cells are too small for labels of their own, a rectangle of cells with
// one tile, thread, warp or value is labelled once.
//
// Blocks are found on a grid of samples a few pixels apart, so that a million cells cost no more
// than what can be labelled; the cells of a block's middle row and column are then asked one by
// one, because samples alone would take a fine pattern for a block.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/layout_panels.h"

namespace tilescope {
namespace {

constexpr double sample_distance = 4;  // px
constexpr std::int64_t most_samples = 1 << 20;

struct Sampled {
  LayoutView::Window window;
  std::vector<std::int64_t> number;
  std::int64_t rows = 0, columns = 0;

  std::int64_t at(std::int64_t i, std::int64_t j) const {
    return number[static_cast<std::size_t>(i * columns + j)];
  }
};

// Rows [row, row + rows) and columns alike, in cells of the grid.
struct Block {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
};

// The largest rectangle of equal samples that begins at (i, j), first to the right, then down.
Block block_at(const Sampled& s, std::int64_t i, std::int64_t j) {
  const std::int64_t n = s.at(i, j);
  std::int64_t width = 1, height = 1;
  while (j + width < s.columns && s.at(i, j + width) == n) ++width;
  const auto same = [&](std::int64_t row) {
    for (std::int64_t k = 0; k < width; ++k) {
      if (s.at(row, j + k) != n) return false;
    }
    return true;
  };
  while (i + height < s.rows && same(i + height)) ++height;
  const LayoutView::Window& w = s.window;
  Block out{w.row + i * w.row_step, w.column + j * w.column_step, height * w.row_step,
            width * w.column_step};
  out.rows = std::min(out.rows, w.row + w.rows - out.row);
  out.columns = std::min(out.columns, w.column + w.columns - out.column);
  return out;
}

bool all_equal(const LayoutView& view, const Seen& seen, const Block& block, ColourBy by) {
  const auto number = [&](std::int64_t row, std::int64_t column, std::int64_t rows,
                          std::int64_t columns) {
    return view.numbers_of({seen.panel, seen.slice, row, column, rows, columns}, by, 0);
  };
  const std::int64_t middle_row = block.row + block.rows / 2;
  const std::int64_t middle_column = block.column + block.columns / 2;
  const std::vector<std::int64_t> across = number(middle_row, block.column, 1, block.columns);
  const std::vector<std::int64_t> down = number(block.row, middle_column, block.rows, 1);
  const auto differs = [&](std::int64_t n) { return n != across[0]; };
  return std::none_of(across.begin(), across.end(), differs) &&
         std::none_of(down.begin(), down.end(), differs);
}

// The middle of a block for a label `high` tall. Where a line between parts of the rows would run
// through the label it stands in the middle of the part above that line.
double label_middle(const Panel& panel, const Seen& seen, const Block& block, double high) {
  const double top = seen.y(block.row), bottom = seen.y(block.row + block.rows);
  double middle = (top + bottom) / 2;
  for (const Division& part : panel.row_divisions) {
    const double pitch = seen.cell.height * static_cast<double>(part.period);
    const double line = seen.y(0) + std::round((middle - seen.y(0)) / pitch) * pitch;
    const bool crossed = std::abs(line - middle) < high / 2 && line > top && line < bottom;
    if (crossed && pitch > high) middle = (std::max(top, line - pitch) + line) / 2;
  }
  return middle;
}

}  // namespace

void label_blocks(const Drawing& d, const Seen& seen, Labels& out) {
  const ColourBy by = d.view.colour(d.choice);
  const bool last = seen.panel + 1 == static_cast<int>(d.view.panels().size());
  const bool indexed = d.view.kind() == LayoutView::Kind::divided && last;  // a column is a tile
  if (d.view.mark(by).empty() || d.view.most_owners() > 1 || indexed) return;
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  Sampled s;
  s.window = window_of(seen);
  const auto step = [](double cell) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(sample_distance / cell));
  };
  s.window.row_step = step(seen.cell.height);
  s.window.column_step = step(seen.cell.width);
  s.rows = s.window.down();
  s.columns = s.window.across();
  if (s.rows * s.columns > most_samples) return;
  s.number = d.view.numbers_of(s.window, by, d.choice.element_bytes);
  if (s.number.empty()) return;
  const auto label_of = [&](std::int64_t n) { return d.view.name(by, n); };
  const auto width_of = [](const std::string& label) {
    return text_width(label, small_text, Family::mono) + 4;
  };
  // All blocks of a size are labelled or none is, not those alone whose number is short.
  const double room = width_of(label_of(*std::max_element(s.number.begin(), s.number.end())));
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < s.columns; ++j) {
      const std::int64_t n = s.at(i, j);
      if (n < 0 || (j > 0 && s.at(i, j - 1) == n) || (i > 0 && s.at(i - 1, j) == n)) continue;
      const Block block = block_at(s, i, j);
      if (block.rows * block.columns < 2) continue;
      std::string label = label_of(n);
      const double wide = width_of(label);
      const double high = small_text * label_pitch;
      const Box box{seen.x(block.column), seen.y(block.row),
                    seen.cell.width * static_cast<double>(block.columns),
                    seen.cell.height * static_cast<double>(block.rows)};
      if (std::max(room, wide) > box.width || high > box.height ||
          !all_equal(d.view, seen, block, by))
        continue;
      Point middle{box.centre().x, label_middle(panel, seen, block, high)};
      if (seen.cell.height > small_text + 4) {  // inside one row of cells, not between two
        middle.y = seen.y(block.row + (block.rows - 1) / 2) + seen.cell.height / 2;
      }
      // A patch of the block's colour, so that no line between its cells runs through the text.
      const Rgba colour = d.view.colours_of({seen.panel, seen.slice, block.row, block.column, 1, 1},
                                            d.choice, d.theme)[0];
      Rectangle patch;
      patch.box = Box{middle.x - wide / 2, middle.y - high / 2, wide, high}.grown(0.5);
      patch.fill = Ink(colour);
      d.scene.add(patch);
      out.add(label_text(middle, std::move(label), small_text), colour);
    }
  }
}

}  // namespace tilescope
