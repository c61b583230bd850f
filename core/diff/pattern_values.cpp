// What wrong elements have as their values: others' right values, a factor, an offset, nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "core/diff/pattern_search.h"

namespace tilescope::patterns {
namespace {

using Map = std::function<Place(Place)>;

// ---- values from elsewhere ----

// How many of the sample have the value that belongs to where the map leads.
struct Explained {
  std::size_t held = 0, of = 0;
  bool good = false;
};

Explained explained(const Search& search, const Map& from) {
  constexpr std::size_t first_look = 32;
  const std::vector<Place>& sample = search.sample();
  Explained out{0, sample.size(), false};
  std::size_t by_chance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const Place there = from(sample[i]);
    if (search.inside(there)) {
      out.held += search.is_value_of(sample[i], there);
      // The same map of another element: what it explains, anything would.
      by_chance += search.is_value_of(sample[(i + 1) % sample.size()], there);
    }
    if (i + 1 == first_look && 2 * out.held < first_look) return out;
  }
  out.good = static_cast<double>(out.held) >= holds * static_cast<double>(out.of) &&
             out.held >= 4 * by_chance;
  return out;
}

bool add_moved(const Search& search, const Map& from, std::string name, std::string_view map,
               std::vector<Pattern>& out) {
  const Explained e = explained(search, from);
  if (!e.good) return false;
  out.push_back(search.pattern(
      Pattern::Kind::moved, std::move(name),
      fmt::format("got(r, c) is want({}) in {}.", map, share_text(e.held, e.of, search.wrong()))));
  return true;
}

bool find_transposed(const Search& search, std::vector<Pattern>& out) {
  if (search.rows() == search.columns() && add_moved(
                                               search,
                                               [](Place p) {
                                                 return Place{p.column, p.row};
                                               },
                                               "transposed", "c, r", out)) {
    return true;
  }
  for (std::int64_t t = 128; t >= 2; t /= 2) {
    const Map from = [t](Place p) {
      return Place{p.row - p.row % t + p.column % t, p.column - p.column % t + p.row % t};
    };
    const std::string map = fmt::format("r - r%{0} + c%{0}, c - c%{0} + r%{0}", t);
    if (add_moved(search, from, fmt::format("transposed within tiles of {0}x{0}", t), map, out)) {
      return true;
    }
  }
  return false;
}

std::string signed_text(std::string_view name, std::int64_t by) {
  if (by == 0) return std::string(name);
  return fmt::format("{} {} {}", name, by < 0 ? '-' : '+', std::abs(by));
}

bool add_shift(const Search& search, Place by, std::vector<Pattern>& out) {
  if (by.row == 0 && by.column == 0) return false;
  const Map from = [by](Place p) { return Place{p.row + by.row, p.column + by.column}; };
  std::string name = "shifted by";
  if (by.row) name += fmt::format(" {} row{}", std::abs(by.row), std::abs(by.row) == 1 ? "" : "s");
  if (by.row && by.column) name += " and";
  if (by.column) {
    name += fmt::format(" {} column{}", std::abs(by.column), std::abs(by.column) == 1 ? "" : "s");
  }
  return add_moved(search, from, name,
                   signed_text("r", by.row) + ", " + signed_text("c", by.column), out);
}

// Shifts within a tile, as the places near a few elements vote; and by powers of two, and tiles.
bool find_shifted(const Search& search, const PatternHints& hints, std::vector<Pattern>& out) {
  constexpr std::int64_t near_rows = 16, near_columns = 64;
  constexpr std::size_t voters = 24;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> votes;
  const std::size_t stride = std::max<std::size_t>(1, search.sample().size() / voters);
  for (std::size_t i = 0; i < search.sample().size(); i += stride) {
    const Place p = search.sample()[i];
    for (std::int64_t row = -near_rows; row <= near_rows; ++row) {
      for (std::int64_t column = -near_columns; column <= near_columns; ++column) {
        const Place there{p.row + row, p.column + column};
        if (search.inside(there) && search.is_value_of(p, there)) ++votes[{row, column}];
      }
    }
  }
  std::vector<std::pair<std::size_t, Place>> ranked;
  for (const auto& [by, count] : votes) ranked.push_back({count, {by.first, by.second}});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 4); ++i) {
    if (add_shift(search, ranked[i].second, out)) return true;
  }
  std::vector<std::int64_t> rows = {0}, columns = {0};
  const auto add_both = [](std::vector<std::int64_t>& to, std::int64_t by) {
    to.push_back(by);
    to.push_back(-by);
  };
  for (std::int64_t by = 8; by <= 4096; by *= 2) add_both(rows, by), add_both(columns, by);
  if (hints.tile.rows > 0) add_both(rows, hints.tile.rows);
  if (hints.tile.cols > 0) add_both(columns, hints.tile.cols);
  for (const std::int64_t row : rows) {
    for (const std::int64_t column : columns) {
      if (add_shift(search, {row, column}, out)) return true;
    }
  }
  return false;
}

// A swizzle that was not taken, or not taken back: bits of the row XORed into the column's; or
// bits that are flipped all alike.
bool find_swizzled(const Search& search, std::vector<Pattern>& out) {
  for (int bits = 3; bits >= 1; --bits) {
    const std::int64_t mask = (1 << bits) - 1;
    for (int from = 0; from <= 4; ++from) {
      for (int to = 0; to <= 6; ++to) {
        const Map map = [=](Place p) {
          return Place{p.row, p.column ^ ((p.row >> from & mask) << to)};
        };
        const std::string text = fmt::format("r, c ^ (r>>{} & {}) << {}", from, mask, to);
        const std::string name =
            fmt::format("shifted by a swizzle: row bits {}..{} XORed into column bits {}..{}", from,
                        from + bits - 1, to, to + bits - 1);
        if (add_moved(search, map, name, text, out)) return true;
      }
    }
  }
  for (std::int64_t row = 0; row <= 2048; row = row ? row * 2 : 1) {
    for (std::int64_t column = 0; column <= 2048; column = column ? column * 2 : 1) {
      if (row == 0 && column == 0) continue;
      const Map map = [=](Place p) { return Place{p.row ^ row, p.column ^ column}; };
      std::string name = "swapped:";
      if (row) name += fmt::format(" blocks of {} rows", row);
      if (row && column) name += " and";
      if (column) name += fmt::format(" blocks of {} columns", column);
      const std::string text = fmt::format("{}, {}", row ? fmt::format("r ^ {}", row) : "r",
                                           column ? fmt::format("c ^ {}", column) : "c");
      if (add_moved(search, map, name, text, out)) return true;
    }
  }
  return false;
}

// ---- factors, offsets, constants ----

bool add_value(const Search& search, const std::function<bool(Place)>& is, std::string name,
               std::string_view sentence, std::vector<Pattern>& out) {
  std::size_t held = 0;
  for (const Place at : search.sample()) held += is(at);
  const std::size_t of = search.sample().size();
  if (static_cast<double>(held) < holds * static_cast<double>(of)) return false;
  out.push_back(
      search.pattern(Pattern::Kind::value, std::move(name),
                     fmt::format("{} in {}.", sentence, share_text(held, of, search.wrong()))));
  return true;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool find_constants(const Search& search, std::vector<Pattern>& out) {
  if (add_value(
          search, [&](Place p) { return std::isnan(search.got(p)); }, "not a number", "got is NaN",
          out)) {
    return true;
  }
  if (add_value(
          search, [&](Place p) { return search.got(p) == 0; }, "zeros", "got is 0", out)) {
    return true;
  }
  const double one = search.got(search.sample().front());
  return add_value(
      search, [&](Place p) { return search.got(p) == one; },
      fmt::format("the same value, {:g}", one), fmt::format("got is {:g}", one), out);
}

// A number of wanted values that differ: else a factor and an offset explain anything.
bool has_variety(const Search& search) {
  std::vector<double> all;
  for (const Place p : search.sample()) all.push_back(search.want(p));
  std::sort(all.begin(), all.end());
  return std::unique(all.begin(), all.end()) - all.begin() >= 4;
}

bool find_linear(const Search& search, std::vector<Pattern>& out) {
  if (!has_variety(search)) return false;
  std::vector<double> ratios, offsets;
  for (const Place p : search.sample()) {
    const double got = search.got(p), want = search.want(p);
    if (!std::isfinite(got) || !std::isfinite(want)) continue;
    if (want != 0) ratios.push_back(got / want);
    offsets.push_back(got - want);
  }
  const double factor = median(ratios), offset = median(offsets);
  const double near = std::round(factor * 64) / 64;  // 2, 0.5, -1: said as that
  for (const double by : {near, factor}) {
    if (by == 0 || by == 1) continue;
    if (add_value(
            search, [&](Place p) { return search.is_about(p, search.want(p) * by); },
            by == -1 ? "the sign" : fmt::format("a constant factor, {:.4g}", by),
            fmt::format("got is {:.4g} x want", by), out)) {
      return true;
    }
  }
  if (offset == 0) return false;
  return add_value(
      search, [&](Place p) { return search.is_about(p, search.want(p) + offset); },
      fmt::format("a constant offset, {:+.4g}", offset),
      fmt::format("got is want {} {:.4g}", offset < 0 ? '-' : '+', std::fabs(offset)), out);
}

}  // namespace

void find_values(const Search& search, const PatternHints& hints, std::vector<Pattern>& out) {
  if (find_constants(search, out)) return;
  if (find_linear(search, out)) return;
  if (find_transposed(search, out)) return;
  if (find_swizzled(search, out)) return;
  find_shifted(search, hints, out);
}

}  // namespace tilescope::patterns
