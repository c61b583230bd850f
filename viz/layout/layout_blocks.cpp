// Labels of blocks: where cells are too small for labels of their own, a rectangle of cells with
// one tile, thread, warp or value is labelled once.
//
// Blocks are found on a grid of samples a few pixels apart, so that a million cells cost no more
// than what can be labelled; the cells of a block's middle row and column are then asked one by
// one, because samples alone would take a fine pattern for a block.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "viz/layout/layout_panels.h"

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

// What the cells of a slice count as, for labels: a number, or, where cells have several owners, a
// number for each set of those that the colour tells apart.
class Counted {
 public:
  Counted(const Drawing& d, const Seen& seen) : d_(d), seen_(seen), by_(d.view.colour(d.choice)) {
    const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
    sets_ = panel.owners && panel.owners->most > 1 && !panel.owners->everyone;
  }

  std::vector<std::int64_t> numbers(const LayoutView::Window& w) {
    if (!sets_) return d_.view.numbers_of(w, by_, d_.choice.element_bytes);
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < w.down(); ++i) {
      for (std::int64_t j = 0; j < w.across(); ++j) {
        out.push_back(
            number_of({w.panel, w.slice, w.row + i * w.row_step, w.column + j * w.column_step}));
      }
    }
    return out;
  }

  // Every name in it: "W0", or "W0" and "W4".
  std::vector<std::string> names(std::int64_t number) const {
    if (!sets_) return {d_.view.name(by_, number)};
    std::vector<std::string> out;
    for (const std::int64_t each : set_[static_cast<std::size_t>(number)]) {
      out.push_back(d_.view.name(by_, each));
    }
    return out;
  }

  bool all_equal(const Block& block) {
    const auto number = [&](std::int64_t row, std::int64_t column, std::int64_t rows,
                            std::int64_t columns) {
      return numbers({seen_.panel, seen_.slice, row, column, rows, columns});
    };
    const std::int64_t middle_row = block.row + block.rows / 2;
    const std::int64_t middle_column = block.column + block.columns / 2;
    const std::vector<std::int64_t> across = number(middle_row, block.column, 1, block.columns);
    const std::vector<std::int64_t> down = number(block.row, middle_column, block.rows, 1);
    const auto differs = [&](std::int64_t n) { return n != across[0]; };
    return std::none_of(across.begin(), across.end(), differs) &&
           std::none_of(down.begin(), down.end(), differs);
  }

 private:
  std::int64_t number_of(const Cell& cell) {
    std::vector<std::int64_t> set = d_.view.numbers_at(cell, by_);
    if (set.empty()) return -1;
    const auto [at, fresh] =
        known_.try_emplace(std::move(set), static_cast<std::int64_t>(known_.size()));
    if (fresh) set_.push_back(at->first);
    return at->second;
  }

  const Drawing& d_;
  const Seen& seen_;
  ColourBy by_;
  bool sets_ = false;
  std::map<std::vector<std::int64_t>, std::int64_t> known_;
  std::vector<std::vector<std::int64_t>> set_;  // by number
};

// A block's names one below the other where there is room for it, else in one line, else the first
// and how many more there are; nothing where no way fits.
std::vector<std::string> lines_for(std::vector<std::string> names, Size room) {
  const auto wide = [](const std::string& line) {
    return text_width(line, small_text, Family::mono) + 4;
  };
  const std::string line = fmt::format("{}", fmt::join(names, " "));
  const double pitch = small_text * label_pitch;
  const auto too_wide = [&](const std::string& name) { return wide(name) > room.width; };
  const double high = pitch * static_cast<double>(names.size());
  if (high <= room.height && std::none_of(names.begin(), names.end(), too_wide)) return names;
  if (wide(line) <= room.width && pitch <= room.height) return {line};
  const std::size_t comma = line.find(", ");  // "m 0-63, n 0-127": a line for each coordinate
  if (names.size() == 1 && comma != std::string::npos) {
    const std::string first = line.substr(0, comma + 1), second = line.substr(comma + 2);
    const bool fits = std::max(wide(first), wide(second)) <= room.width && 2 * pitch <= room.height;
    return fits ? std::vector{first, second} : std::vector<std::string>{};
  }
  const std::string brief = fmt::format("{}+{}", names[0], names.size() - 1);
  if (names.size() > 1 && wide(brief) <= room.width && pitch <= room.height) return {brief};
  return {};
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

// The lines in the middle of a block, on a patch of its colour, so that no line between its cells
// runs through the text.
void label_block(const Drawing& d, const Seen& seen, const Block& block,
                 const std::vector<std::string>& lines, Labels& out) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  const double pitch = small_text * label_pitch;
  const double high = pitch * static_cast<double>(lines.size());
  double wide = 0;
  for (const std::string& line : lines) {
    wide = std::max(wide, text_width(line, small_text, Family::mono) + 4);
  }
  Point middle{seen.x(block.column) + seen.cell.width * static_cast<double>(block.columns) / 2,
               label_middle(panel, seen, block, high)};
  if (seen.cell.height > small_text + 4 && lines.size() == 1) {  // inside one row, not between two
    middle.y = seen.y(block.row + (block.rows - 1) / 2) + seen.cell.height / 2;
  }
  const Cell first{seen.panel, seen.slice, block.row, block.column};
  std::vector<Rgba> colours = d.view.owner_colours(first, d.choice, d.theme, 0);
  if (colours.size() != lines.size()) {  // not a line for each owner
    colours.assign(lines.size(),
                   d.view.colours_of({first.panel, first.slice, first.row, first.column, 1, 1},
                                     d.choice, d.theme)[0]);
  }
  double y = middle.y - (high - pitch) / 2;
  for (std::size_t k = 0; k < lines.size(); ++k, y += pitch) {
    Rectangle patch;
    patch.box = Box{middle.x - wide / 2, y - pitch / 2, wide, pitch}.grown(0.5);
    patch.fill = Ink(colours[k]);
    d.scene.add(patch);
    out.add(label_text({middle.x, y}, lines[k], small_text), colours[k]);
  }
}

}  // namespace

namespace {

// Names beside blocks that are too narrow for them: what lies in a few columns of TMEM is
// named in the free cells to its right, at the end of a line where others are between.
class Callouts {
 public:
  Callouts(const Drawing& d, const Seen& seen, const Sampled& s) : d_(d), seen_(seen), s_(s) {}

  // Answers whether there was room.
  bool put(const Block& block, const std::string& name, Labels& out) {
    const double top = seen_.y(block.row), bottom = seen_.y(block.row + block.rows);
    const Panel& panel = d_.view.panels()[static_cast<std::size_t>(seen_.panel)];
    const double middle = label_middle(panel, seen_, block, pitch);
    for (const double step : {0.0, 1.0, -1.0, 2.0, -2.0}) {
      const double y = middle + step * pitch;
      if (y - pitch / 2 < top || y + pitch / 2 > bottom) continue;
      if (put_at(block, y, name, out)) return true;
    }
    return false;
  }

 private:
  static constexpr double pitch = small_text * label_pitch, air = 6;

  bool put_at(const Block& block, double y, const std::string& name, Labels& out) {
    const double begin = seen_.x(block.column + block.columns);
    const Box strip{begin, y - pitch / 2, seen_.x(seen_.column + seen_.columns) - begin, pitch};
    const double free = free_from(strip);
    const double wide = text_width(name, small_text, Family::mono);
    const Box box{free + air, strip.y, wide + air, pitch};
    if (box.right() > strip.right()) return false;
    const Box taken{begin, strip.y, box.right() - begin, pitch};
    for (const Box& other : taken_) {
      if (!other.cut(taken).empty()) return false;
    }
    taken_.push_back(taken);
    if (free > begin) {  // past others: from this block's middle, in the ink that is seen on it
      const double from = (seen_.x(block.column) + begin) / 2;
      const Cell first{seen_.panel, seen_.slice, block.row, block.column};
      const Rgba under = d_.view.colour_of(first, d_.view.colour(d_.choice), d_.theme);
      d_.scene.add(Segments{{{{from, y}, {begin, y}}}, {Ink(text_on(under)), 1.5, false}});
      d_.scene.add(Line{{{begin, y}, {free + air - 2, y}}, {Role::text, 1, false}, false});
    }
    Text text = label_text({box.x, y}, name, small_text);
    text.across = Across::left;
    out.add(std::move(text), d_.theme.panel);
    return true;
  }

  // Where the free cells at the right end of a strip begin.
  double free_from(const Box& strip) const {
    const auto row_at = [&](double y) {
      const auto row = static_cast<std::int64_t>((y - seen_.y(s_.window.row)) / seen_.cell.height);
      return std::clamp<std::int64_t>(row / s_.window.row_step, 0, s_.rows - 1);
    };
    std::int64_t k = s_.columns;
    const auto free = [&](std::int64_t column) {
      for (std::int64_t i = row_at(strip.y); i <= row_at(strip.bottom()); ++i) {
        if (s_.at(i, column) >= 0) return false;
      }
      return true;
    };
    while (k > 0 && free(k - 1)) --k;
    return std::max(strip.x, seen_.x(s_.window.column + k * s_.window.column_step));
  }

  const Drawing& d_;
  const Seen& seen_;
  const Sampled& s_;
  std::vector<Box> taken_;
};

// What instructions read as a whole belongs to no thread.
double label_everyone(const Drawing& d, const Seen& seen, Labels& out) {
  const double pitch = small_text * label_pitch;
  const Size room{seen.grid.width, seen.grid.height};
  const std::vector<std::string> lines = lines_for({"all", "threads"}, room);
  if (lines.empty() || lines[0] != "all") {
    if (lines.empty()) return 0;
    out.add(label_text(seen.grid.centre(), lines[0], small_text), d.theme.panel);
    return 1;
  }
  const Point middle = seen.grid.centre();
  out.add(label_text({middle.x, middle.y - pitch / 2}, lines[0], small_text), d.theme.panel);
  out.add(label_text({middle.x, middle.y + pitch / 2}, lines[1], small_text), d.theme.panel);
  return 1;
}

}  // namespace

double label_blocks(const Drawing& d, const Seen& seen, Labels& out) {
  const ColourBy by = d.view.colour(d.choice);
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  if (d.view.mark(by).empty() || panel.column_is_tile) return 0;
  if (panel.owners && panel.owners->everyone && by != ColourBy::value) {
    return label_everyone(d, seen, out);
  }
  Sampled s;
  s.window = window_of(seen);
  const auto step = [](double cell) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(sample_distance / cell));
  };
  s.window.row_step = step(seen.cell.height);
  s.window.column_step = step(seen.cell.width);
  s.rows = s.window.down();
  s.columns = s.window.across();
  if (s.rows * s.columns > most_samples) return 0;
  Counted counted(d, seen);
  s.number = counted.numbers(s.window);
  if (s.number.empty()) return 1;
  const std::int64_t highest = *std::max_element(s.number.begin(), s.number.end());
  if (highest < 0) return 1;
  // All blocks of a size are labelled or none is, not those alone whose number is short.
  const double room = d.view.maps_tensor_memory()
                          ? 0
                          : text_width(counted.names(highest)[0], small_text, Family::mono) + 4;
  Callouts callouts(d, seen, s);
  double coloured = 0, labelled = 0;
  for (const std::int64_t n : s.number) coloured += n >= 0 ? 1 : 0;
  coloured *= static_cast<double>(s.window.row_step) * static_cast<double>(s.window.column_step);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < s.columns; ++j) {
      const std::int64_t n = s.at(i, j);
      if (n < 0 || (j > 0 && s.at(i, j - 1) == n) || (i > 0 && s.at(i - 1, j) == n)) continue;
      const Block block = block_at(s, i, j);
      const Size size{seen.cell.width * static_cast<double>(block.columns),
                      seen.cell.height * static_cast<double>(block.rows)};
      if ((block.rows < 2 && block.columns < 2) || room > size.width) continue;
      const std::vector<std::string> names = counted.names(n);
      const std::vector<std::string> lines = lines_for(names, size);
      if (!counted.all_equal(block)) continue;
      if (!lines.empty()) {
        label_block(d, seen, block, lines, out);
      } else if (!d.view.maps_tensor_memory() || names.size() != 1 ||
                 !callouts.put(block, names[0], out)) {
        continue;
      }
      labelled += static_cast<double>(block.rows) * static_cast<double>(block.columns);
    }
  }
  return coloured > 0 ? labelled / coloured : 1;
}

}  // namespace tilescope
