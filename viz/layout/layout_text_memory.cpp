// TMEM as text: a map of runs of lanes and columns, because 128 x 512 cells are no page.
//
//                      0-63                64-127              128-511
//     0-31    warp 0  |m 0-31, n 0-63     |m 0-31, n 64-127   |\u00b7
#include <fmt/format.h>

#include <algorithm>

#include "viz/layout/layout_text.h"

namespace tilescope {
namespace {

constexpr int gap = 2;
constexpr std::int64_t quarter = 32;  // lanes that one warp reaches

// Rows or columns [begin, end) that hold the same.
struct Run {
  std::int64_t begin = 0, end = 0;
};
std::string name_of(const Run& run) {
  return run.end - run.begin == 1 ? fmt::format("{}", run.begin)
                                  : fmt::format("{}-{}", run.begin, run.end - 1);
}

class Map {
 public:
  Map(const LayoutView& view, const LayoutChoice& choice, const Theme& theme, int panel, int most)
      : view_(view), choice_(choice), theme_(theme), panel_(panel), most_(most) {
    const Panel& of = view.panels()[static_cast<std::size_t>(panel)];
    for (std::int64_t j = 0; j < of.columns; ++j) {
      const bool same = j > 0 && equal(of.rows, {0, j - 1}, {0, j}, true);
      same ? void(++columns_.back().end) : columns_.push_back({j, j + 1});
    }
    for (std::int64_t i = 0; i < of.rows; ++i) {
      // A warp's lanes are its own, whatever stands in them.
      const bool same = i % quarter != 0 && equal(of.columns, {i - 1, 0}, {i, 0}, false);
      same ? void(++rows_.back().end) : rows_.push_back({i, i + 1});
    }
  }

  // Answers the row below the map.
  int put(TextPage& page, int row) const {
    const TextStyle quiet{theme_.quiet, {}, false};
    std::vector<std::string> names;
    std::size_t widest = 0;
    for (const Run& run : rows_) {
      names.push_back(fmt::format("{:7} warp {}", name_of(run), run.begin / quarter));
      widest = std::max(widest, names.back().size());
    }
    const int left = static_cast<int>(widest) + 1;
    page.write(row, 0, "lanes", quiet);
    page.write(row, left + 1, "columns", quiet);
    const int top = ++row + 1;
    int at = left;
    std::size_t shown = 0;
    for (; shown < columns_.size(); ++shown) {
      const int width = width_of(columns_[shown]);
      if (shown > 0 && at + width + 1 > most_) break;
      put_column(page, columns_[shown], top, at, width);
      at += width + 1;
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      page.write(top + 1 + 2 * static_cast<int>(i), 0, names[i], quiet);
    }
    row = top + 2 * static_cast<int>(rows_.size()) + 1;
    if (shown < columns_.size()) {
      page.write(row++, 0,
                 fmt::format("{} of {} runs of columns are shown; an SVG shows all.", shown,
                             columns_.size()),
                 quiet);
    }
    return row;
  }

 private:
  struct At {
    std::int64_t row, column;
  };
  std::vector<std::int64_t> held(At at) const {
    return view_.numbers_at({panel_, 0, at.row, at.column}, ColourBy::value);
  }
  bool equal(std::int64_t count, At a, At b, bool down) const {
    for (std::int64_t k = 0; k < count; ++k) {
      if (held(a) != held(b)) return false;
      (down ? a.row : a.column) += 1;
      (down ? b.row : b.column) += 1;
    }
    return true;
  }

  std::string words(const Run& row, const Run& column) const {
    std::string out;
    for (const std::int64_t each : held({row.begin, column.begin})) {
      out += (out.empty() ? "" : " / ") + view_.name(ColourBy::value, each);
    }
    return out.empty() ? "\u00b7" : out;
  }
  int width_of(const Run& column) const {
    int out = columns_of(name_of(column)) + gap;
    for (const Run& row : rows_) out = std::max(out, columns_of(words(row, column)) + gap);
    return out;
  }

  void put_column(TextPage& page, const Run& column, int top, int left, int width) const {
    page.write(top - 1, left + 2, name_of(column), {theme_.quiet, {}, false});
    int y = top;
    for (const Run& row : rows_) {
      const bool warp = row.begin % quarter == 0 && row.begin > 0;
      page.across(y, left, width + 1, warp ? LineWeight::heavy : LineWeight::light);
      const Cell first{panel_, 0, row.begin, column.begin};
      const Rgba paper = view_.colour_of(first, view_.colour(choice_), theme_);
      page.fill(y + 1, left + 1, width, paper);
      page.write(y + 1, left + 2, words(row, column), {text_on(paper), paper, false});
      y += 2;
    }
    page.across(y, left, width + 1, LineWeight::light);
    page.down(top, left, y - top, LineWeight::light);
    page.down(top, left + width + 1, y - top, LineWeight::light);
  }

  const LayoutView& view_;
  const LayoutChoice& choice_;
  const Theme& theme_;
  int panel_, most_;
  std::vector<Run> rows_, columns_;
};

}  // namespace

TextPage text_map(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                  int most_columns) {
  constexpr int otherwise = 4096;
  TextPage page;
  page.write(0, 0, view.title(), {theme.text, {}, true});
  int row = 2;
  for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
    const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
    page.write(row, 0, panel.title, {theme.text, {}, true});
    page.write(row++, columns_of(panel.title) + 2, panel.formula, {theme.quiet, {}, false});
    const int most = most_columns > 0 ? most_columns : otherwise;
    row = Map(view, choice, theme, p, most).put(page, row) + 1;
  }
  for (const std::string& note : view.notes()) page.write(row++, 0, note, {theme.quiet, {}, false});
  return page;
}

}  // namespace tilescope
