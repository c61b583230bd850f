// Where wrong elements lie, and who wrote them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/diff/pattern_search.h"

namespace tilescope::patterns {
namespace {

std::string range_text(std::string_view what, std::int64_t first, std::int64_t count) {
  if (count == 1) return fmt::format("{} {}", what, first);
  return fmt::format("{}s {}..{}", what, first, first + count - 1);
}

std::string ordinal(std::int64_t n) {
  const std::int64_t last = n % 10, two = n % 100;
  const bool teen = two >= 11 && two <= 13;
  return fmt::format("{}{}", n,
                     teen        ? "th"
                     : last == 1 ? "st"
                     : last == 2 ? "nd"
                     : last == 3 ? "rd"
                                 : "th");
}

// ---- rows and columns that come again ----

// Residues [first, first + width) modulo `period`.
struct Comb {
  std::int64_t period = 0, first = 0, width = 0;
};

// The comb that leaves out the largest share of the indices at which something is wrong. Chance: u
// indices fall into a share s of all with probability s^u; below 1/1000 it is no chance.
std::optional<Comb> comb_of(const std::vector<std::uint64_t>& wrong_at) {
  const auto count = static_cast<std::int64_t>(wrong_at.size());
  std::vector<std::int64_t> touched;
  for (std::int64_t i = 0; i < count; ++i) {
    if (wrong_at[static_cast<std::size_t>(i)] > 0) touched.push_back(i);
  }
  std::optional<Comb> best;
  double best_share = 0.51;  // half at most
  for (std::int64_t period = 2; period <= std::min<std::int64_t>(count / 2, 512); ++period) {
    std::int64_t low = period, high = -1;
    for (const std::int64_t i : touched) {
      low = std::min(low, i % period);
      high = std::max(high, i % period);
    }
    const std::int64_t width = high - low + 1;
    const double share = static_cast<double>(width) / static_cast<double>(period);
    if (share >= best_share - 1e-9) continue;
    // Nearly all of its teeth are touched: else it is only an area.
    std::int64_t teeth = 0;
    for (std::int64_t i = 0; i < count; ++i) teeth += i % period >= low && i % period <= high;
    const auto hit = static_cast<double>(touched.size());
    if (hit < 0.75 * static_cast<double>(teeth)) continue;
    if (touched.back() / period == touched.front() / period) continue;
    if (hit * std::log(share) > std::log(1e-3)) continue;
    best = Comb{period, low, width};
    best_share = share;
  }
  return best;
}

// What hardware has such rows.
std::string rows_of_a_warp(const Comb& comb) {
  if (comb.period == 64 && comb.width == 16 && comb.first % 16 == 0) {
    return fmt::format(": what warp {} of four holds of a wgmma accumulator", comb.first / 16);
  }
  if (comb.period == 128 && comb.width == 32 && comb.first % 32 == 0) {
    return fmt::format(": the lanes of TMEM that warp {} of four can reach", comb.first / 32);
  }
  if (comb.period == 16 && comb.width == 8 && comb.first % 8 == 0) {
    return fmt::format(": the {} half of an m16n8 fragment", comb.first ? "lower" : "upper");
  }
  return "";
}

bool find_comb(const Search& search, bool in_rows, std::vector<Pattern>& out) {
  const auto comb = comb_of(in_rows ? search.in_row() : search.in_column());
  if (!comb) return false;
  const std::string_view what = in_rows ? "row" : "column";
  std::string name, where;
  if (comb->width == 1) {
    name = comb->period == 2 ? fmt::format("every other {}", what)
                             : fmt::format("every {} {}", ordinal(comb->period), what);
    where = fmt::format("{}s {}, {}, {} and so on", what, comb->first, comb->first + comb->period,
                        comb->first + 2 * comb->period);
  } else {
    name = fmt::format("{} of every {}", range_text(what, comb->first, comb->width), comb->period);
    where = name;
  }
  out.push_back(search.pattern(in_rows ? Pattern::Kind::rows : Pattern::Kind::columns, name,
                               fmt::format("All {} wrong elements are in {}{}.", search.wrong(),
                                           where, in_rows ? rows_of_a_warp(*comb) : "")));
  return true;
}

// ---- tiles ----

struct Tiles {
  MatrixShape shape;
  std::vector<Place> touched;  // by tile
  bool whole = false;          // all that are touched are wrong, but for a few elements
  double fill = 0;
};

std::optional<Tiles> tiles_of(const Search& search, MatrixShape shape) {
  if (shape.rows < 1 || shape.cols < 1) return {};
  if (shape.rows >= search.rows() && shape.cols >= search.columns()) return {};
  const std::int64_t across = (search.columns() + shape.cols - 1) / shape.cols;
  const std::int64_t down = (search.rows() + shape.rows - 1) / shape.rows;
  std::vector<std::uint64_t> wrong(static_cast<std::size_t>(across * down));
  const MatrixRect& box = search.box();
  for (std::int64_t row = box.row; row < box.row + box.rows; ++row) {
    for (std::int64_t column = box.col; column < box.col + box.cols; ++column) {
      if (!search.is_wrong({row, column})) continue;
      ++wrong[static_cast<std::size_t>(row / shape.rows * across + column / shape.cols)];
    }
  }
  Tiles out{shape, {}, true, 0};
  double elements = 0;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    if (wrong[t] == 0) continue;
    const Place tile{static_cast<std::int64_t>(t) / across, static_cast<std::int64_t>(t) % across};
    const auto area =
        static_cast<double>(std::min(shape.rows, search.rows() - tile.row * shape.rows) *
                            std::min(shape.cols, search.columns() - tile.column * shape.cols));
    out.touched.push_back(tile);
    out.whole = out.whole && static_cast<double>(wrong[t]) >= holds * area;
    elements += area;
  }
  out.fill = static_cast<double>(search.wrong()) / elements;
  return out;
}

std::string tile_names(const Tiles& tiles) {
  constexpr std::size_t most = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(tiles.touched.size(), most); ++i) {
    out += fmt::format("{}({},{})", i ? ", " : "", tiles.touched[i].row, tiles.touched[i].column);
  }
  if (tiles.touched.size() > most) out += fmt::format(" and {} more", tiles.touched.size() - most);
  return out;
}

void add_tiles(const Search& search, const Tiles& tiles, bool of_block, std::vector<Pattern>& out) {
  const std::string size = fmt::format("{}x{}", tiles.shape.rows, tiles.shape.cols);
  const std::string_view owner = of_block ? ", each what one CTA computes" : "";
  if (tiles.touched.size() == 1) {
    const Place t = tiles.touched.front();
    const std::int64_t row = t.row * tiles.shape.rows, column = t.column * tiles.shape.cols;
    const std::int64_t rows = std::min(tiles.shape.rows, search.rows() - row);
    const std::int64_t columns = std::min(tiles.shape.cols, search.columns() - column);
    out.push_back(search.pattern(
        Pattern::Kind::tile, tiles.whole ? "a whole tile" : "inside one tile",
        fmt::format("All {} wrong elements are in tile ({},{}) of {}{}: {}, {}; {:.3g}% of it is "
                    "wrong.",
                    search.wrong(), t.row, t.column, size,
                    of_block ? ", what one CTA computes" : "", range_text("row", row, rows),
                    range_text("column", column, columns), 100 * tiles.fill)));
    return;
  }
  out.push_back(search.pattern(
      Pattern::Kind::tile, fmt::format("{} whole tiles", tiles.touched.size()),
      fmt::format("All {} wrong elements are in {} tiles of {}{}: {}; {:.3g}% of these is wrong.",
                  search.wrong(), tiles.touched.size(), size, owner, tile_names(tiles),
                  100 * tiles.fill)));
}

constexpr std::size_t most_tiles = 64;

bool find_tiles(const Search& search, const PatternHints& hints, std::vector<Pattern>& out) {
  if (const auto own = tiles_of(search, hints.tile)) {
    const bool one = own->touched.size() == 1;
    if (one || (own->whole && own->touched.size() <= most_tiles)) {
      add_tiles(search, *own, true, out);
      return true;
    }
  }
  // The largest power of two that the wrong elements fill. No larger than the box around them.
  std::optional<Tiles> best;
  for (std::int64_t rows = 8; rows <= 512 && rows <= search.box().rows; rows *= 2) {
    for (std::int64_t columns = 8; columns <= 512 && columns <= search.box().cols; columns *= 2) {
      if (best && rows * columns <= best->shape.rows * best->shape.cols) continue;
      // What is full is full of smaller ones: a wrong total that no such tiles can have is none.
      const double least =
          static_cast<double>(search.wrong()) / static_cast<double>(rows * columns);
      if (least > static_cast<double>(most_tiles) || least < holds / 4) continue;
      auto tiles = tiles_of(search, {rows, columns});
      if (tiles && tiles->whole && tiles->touched.size() <= most_tiles) best = std::move(tiles);
    }
  }
  if (!best) return false;
  add_tiles(search, *best, false, out);
  return true;
}

// ---- a rectangle, the edge ----

bool find_rectangle(const Search& search, std::vector<Pattern>& out) {
  const MatrixRect& box = search.box();
  const auto all = static_cast<double>(search.rows()) * static_cast<double>(search.columns());
  const auto area = static_cast<double>(box.rows) * static_cast<double>(box.cols);
  const double fill = static_cast<double>(search.wrong()) / area;
  if (area > all / 2 || fill < holds) return false;
  const bool rows = box.cols == search.columns(), columns = box.rows == search.rows();
  std::string name = "a rectangle";
  if (rows || columns) {
    const std::int64_t from = rows ? box.row : box.col, count = rows ? box.rows : box.cols;
    const std::int64_t whole = rows ? search.rows() : search.columns();
    const std::string_view what = rows ? "row" : "column";
    const std::string_view end = from == 0 ? "first " : from + count == whole ? "last " : "";
    name = count == 1
               ? fmt::format("{}{} {}", end.empty() ? "" : "the ", end.empty() ? "one" : end, what)
               : fmt::format("the {}{} {}s", end, count, what);
    if (count == 1 && !end.empty()) name = fmt::format("the {}{}", end, what);
  }
  out.push_back(
      search.pattern(Pattern::Kind::rectangle, name,
                     fmt::format("All {} wrong elements are in {}, {}; {:.3g}% of these is wrong.",
                                 search.wrong(), range_text("row", box.row, box.rows),
                                 range_text("column", box.col, box.cols), 100 * fill)));
  return true;
}

}  // namespace

void find_places(const Search& search, const PatternHints& hints, std::vector<Pattern>& out) {
  const auto all = static_cast<std::uint64_t>(search.rows() * search.columns());
  if (static_cast<double>(search.wrong()) >= holds * static_cast<double>(all)) {
    out.push_back(search.pattern(
        Pattern::Kind::everything, "everything",
        search.wrong() == all ? fmt::format("All {} elements are wrong.", all)
                              : fmt::format("{} of {} elements are wrong, over the whole matrix.",
                                            search.wrong(), all)));
    return;
  }
  const bool rows = find_comb(search, true, out), columns = find_comb(search, false, out);
  if (rows || columns) return;
  if (!find_tiles(search, hints, out)) find_rectangle(search, out);
}

// ---- who ----

void find_writers(const Search& search, const PatternHints& hints, std::vector<Pattern>& out) {
  if (!hints.writer || search.right_sample().size() < fewest) return;
  std::vector<Site> wrong, right;
  std::size_t nobody = 0;
  for (const Place at : search.sample()) {
    if (const auto site = hints.writer(search.number(at))) {
      wrong.push_back(*site);
    } else {
      ++nobody;
    }
  }
  for (const Place at : search.right_sample()) {
    if (const auto site = hints.writer(search.number(at))) right.push_back(*site);
  }
  const std::size_t looked = search.sample().size();
  if (static_cast<double>(nobody) >= holds * static_cast<double>(looked)) {
    out.push_back(search.pattern(
        Pattern::Kind::writer, "never written",
        fmt::format("Nobody wrote {}.", share_text(nobody, looked, search.wrong()))));
    return;
  }
  if (wrong.size() < fewest || right.size() < fewest) return;
  // Something that all who wrote wrong ones share, and next to nobody who wrote right ones has.
  const auto compare = [&](std::string_view what, auto&& value_of) {
    std::set<std::string> bad;
    for (const Site& site : wrong) bad.insert(value_of(site));
    if (bad.size() != 1 || bad.begin()->empty()) return;
    std::size_t good = 0;  // some of a mistake's values are right by chance
    for (const Site& site : right) good += value_of(site) == *bad.begin();
    if (good * 50 > right.size()) return;
    out.push_back(
        search.pattern(Pattern::Kind::writer, fmt::format("{} {}", what, *bad.begin()),
                       fmt::format("{} {} wrote {}, and {} of {} right ones looked at.", what,
                                   *bad.begin(), share_text(wrong.size(), looked, search.wrong()),
                                   good ? fmt::format("{}", good) : "none", right.size())));
  };
  compare("block",
          [](const Site& s) { return fmt::format("({},{},{})", s.block.x, s.block.y, s.block.z); });
  compare("warp", [](const Site& s) { return fmt::format("{}", s.warp); });
  compare("lane", [](const Site& s) { return fmt::format("{}", s.lane); });
  compare("line", [](const Site& s) {
    return s.source_line ? fmt::format("{}:{}", s.source, s.source_line) : std::string();
  });
}

}  // namespace tilescope::patterns
