// Cells with several owners: what their colours are split into.
//
//     as many lines as owners fit     each line of the label on its owner's colour
//     the first owner and "+n"        the first owner's colour, the others' in a strip at the foot
//     cells too small for labels      a band for each colour
#include <algorithm>
#include <numeric>

#include "viz/layout/layout_panels.h"

namespace tilescope {
namespace {

constexpr double least_height = 4;  // px of a cell that is split
constexpr std::int64_t most_pixels = std::int64_t{1} << 22, most_side = 8192;

// Pixels of a cell, and what stands in them.
struct Split {
  std::int64_t rows = 1, columns = 1;
  bool strip = false;
};
constexpr std::int64_t strip_rows = 6;  // of which the last is the strip

Rgba colour_at(const std::vector<Rgba>& owners, const Split& split, std::int64_t row,
               std::int64_t column) {
  const std::int64_t count = static_cast<std::int64_t>(owners.size());
  if (!split.strip) return owners[static_cast<std::size_t>(row * count / split.rows)];
  if (row + 1 < split.rows || count == 1) return owners[0];
  return owners[static_cast<std::size_t>(1 + column * (count - 1) / split.columns)];
}

// As fine as the cells need it: so that two owners are two halves, three are three thirds.
Split split_for(const std::vector<std::vector<Rgba>>& owners, bool strip) {
  Split out;
  out.strip = strip;
  for (const std::vector<Rgba>& each : owners) {
    const std::int64_t count = static_cast<std::int64_t>(each.size());
    if (count < 2) continue;
    out.rows = strip ? strip_rows : std::lcm(out.rows, count);
    if (strip) out.columns = std::lcm(out.columns, count - 1);
  }
  return out;
}

}  // namespace

bool splits_cells(const Drawing& d, const Seen& seen, const LayoutView::Window& window) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  const bool several = panel.owners && panel.owners->most > 1 && !panel.owners->everyone;
  if (!several || seen.cell.height * d.frame.viewport.pixel_scale < least_height) return false;
  constexpr std::int64_t finest = 12;  // rows of a cell: the common multiple of 1 to 4
  return window.down() * window.across() * finest <= most_pixels &&
         window.down() * finest <= most_side && window.across() * finest <= most_side;
}

std::shared_ptr<const Image> split_among_owners(const Drawing& d, const Seen& seen,
                                                const LayoutView::Window& window,
                                                const Image& cells) {
  const Setting setting = setting_for(d.view, d.choice, seen.cell);
  const bool labelled = setting.size > 0;
  const int lines = labelled && setting.form.pairs ? setting.form.lines : 0;
  std::vector<std::vector<Rgba>> owners;
  owners.reserve(cells.rgba.size());
  for (std::int64_t i = 0; i < window.down(); ++i) {
    for (std::int64_t j = 0; j < window.across(); ++j) {
      const Cell cell{window.panel, window.slice, window.row + i * window.row_step,
                      window.column + j * window.column_step};
      owners.push_back(d.view.owner_colours(cell, d.choice, d.theme, lines));
      if (owners.back().empty()) owners.back() = {cells.rgba[owners.size() - 1]};
    }
  }
  const Split split = split_for(owners, labelled && !setting.form.pairs);
  auto out = std::make_shared<Image>();
  out->rows = cells.rows * static_cast<int>(split.rows);
  out->columns = cells.columns * static_cast<int>(split.columns);
  out->version = new_image_version();
  out->rgba.reserve(owners.size() * static_cast<std::size_t>(split.rows * split.columns));
  for (std::int64_t i = 0; i < cells.rows; ++i) {
    for (std::int64_t row = 0; row < split.rows; ++row) {
      for (std::int64_t j = 0; j < cells.columns; ++j) {
        const std::vector<Rgba>& here = owners[static_cast<std::size_t>(i * cells.columns + j)];
        for (std::int64_t column = 0; column < split.columns; ++column) {
          out->rgba.push_back(colour_at(here, split, row, column));
        }
      }
    }
  }
  return out;
}

}  // namespace tilescope
