// What a layout view's cells look like: numbers to colours.
//
// A grid's colours are made in one pass: the offset of cell (i, j) is what row i gives plus what
// column j gives, so a cell costs an addition, a swizzle and one look into a table of colours.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/layout/text.h"
#include "viz/layout/layout_derivation.h"
#include "viz/layout/layout_view.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr std::int64_t lanes = 32;
constexpr std::int64_t most_told_apart = 4096;  // cells of a tile, each with its thread's colour

// What is not lit: a fifth of its colour, the rest paper. In whole numbers, a million times a
// frame.
Rgba faded(Rgba colour, Rgba paper) {
  const auto part = [](int c, int p) { return static_cast<std::uint8_t>((c * 51 + p * 205) >> 8); };
  return {part(colour.r, paper.r), part(colour.g, paper.g), part(colour.b, paper.b)};
}

// What indices begin, begin + step... of a mode give to an offset.
std::vector<std::int64_t> contributions(const Tree<Mode>& mode, std::int64_t begin,
                                        std::int64_t count, std::int64_t step) {
  const Layout alone(mode);
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    out[static_cast<std::size_t>(i)] = alone(begin + i * step);
  }
  return out;
}

struct Separated {
  std::vector<std::int64_t> rows, columns;
  std::int64_t base = 0;
};
Separated separate(const Layout& layout, const LayoutView::Window& w) {
  Separated out;
  const int rank = layout.rank();
  const Tree<Mode> none(Mode{1, 0});
  out.rows = contributions(rank > 1 ? layout.modes.mode(0) : none, w.row, w.down(), w.row_step);
  out.columns =
      contributions(layout.modes.mode(rank > 1 ? 1 : 0), w.column, w.across(), w.column_step);
  out.base = layout.offset.value;
  std::int64_t rest = w.slice;
  for (int i = 2; i < rank; ++i) {
    const Layout mode(layout.modes.mode(i));
    const std::int64_t extent = *size(mode);
    out.base += mode(rest % extent);
    rest /= extent;
  }
  return out;
}

}  // namespace

ColourBy colour_telling(Focus::On on) {
  switch (on) {
    case Focus::On::offset:
      return ColourBy::offset;
    case Focus::On::tile:
      return ColourBy::tile;
    case Focus::On::thread:
      return ColourBy::thread;
    case Focus::On::warp:
      return ColourBy::warp;
    case Focus::On::value:
      return ColourBy::value;
    case Focus::On::bank:
      return ColourBy::bank;
    case Focus::On::phase:
      return ColourBy::offset;
    case Focus::On::nothing:
      break;
  }
  return ColourBy::none;
}

std::vector<ColourBy> LayoutView::colours() const {
  using enum ColourBy;
  const auto axes = [&] {
    std::vector<ColourBy> out;
    for (const ColourBy by : {axis, axis2, axis3, axis4}) {
      if (axis_of(by) != nullptr) out.push_back(by);
    }
    out.push_back(none);
    return out;
  };
  switch (kind_) {
    case Kind::divided: {
      if (!shows_places()) return {tile, offset, bank, none};
      std::vector<ColourBy> out = axes();
      out.insert(out.begin(), tile);
      return out;
    }
    case Kind::thread_value:
      // Where cells are too many for labels of their own, a warp's block can still have one.
      if (!owned_.value_names.empty()) return {value, warp, none};
      if (owned_.threads == 1 && placing_ == Placing::free) return {offset, value, none};
      if (owned_.thread_mark != "T")
        return {thread, value, offset, none};  // CTAs and rows have no warps
      if (highest_ >= most_told_apart && owned_.threads > lanes) {
        return {warp, thread, value, offset, none};
      }
      return {thread, warp, value, offset, none};
    case Kind::parts:
      return shows_places() ? axes() : std::vector<ColourBy>{offset, bank, none};
    case Kind::places:
      return axes();
    case Kind::plain:
      break;
  }
  std::vector<ColourBy> out{offset};
  if (division_.tiles > 0) out.push_back(tile);
  if (panels_[0].tiles) std::swap(out[0], out[1]);  // a product is about its copies
  if (owned_.threads > 0) {
    for (const ColourBy by : {thread, warp, value}) out.push_back(by);
  }
  for (const ColourBy by : {bank, none}) out.push_back(by);
  return out;
}

ColourBy LayoutView::colour(const LayoutChoice& choice) const {
  const std::vector<ColourBy> known = colours();
  if (!choice.colour) return known.front();
  const ColourBy asked = meant_by(*choice.colour);
  return std::find(known.begin(), known.end(), asked) != known.end() ? asked : known.front();
}

ColourBy LayoutView::meant_by(ColourBy by) const {
  if (!places_.on_axes || (by != ColourBy::thread && by != ColourBy::warp)) return by;
  const bool threads = by == ColourBy::thread;
  // TIRx's names of thread axes, the nearest first.
  for (const std::string_view name :
       threads ? std::array<std::string_view, 3>{"tx", "tid_in_wg", "laneid"}
               : std::array<std::string_view, 3>{"warpid", "wid_in_wg", ""}) {
    for (std::size_t i = 0; i < places_.on_axes->size() && !name.empty(); ++i) {
      const std::string_view title = (*places_.on_axes)[i].title;
      if (title != fmt::format("axis {}", name)) continue;
      return static_cast<ColourBy>(static_cast<int>(ColourBy::axis) + static_cast<int>(i));
    }
  }
  return by;
}

std::optional<Error> LayoutView::cannot_colour(ColourBy by) const {
  std::string works;
  for (const ColourBy known : colours()) {
    if (known == meant_by(by)) return std::nullopt;
    works += works.empty() ? "" : ", ";
    works += name_of(known);
    if (const OnAxis* on = axis_of(known)) {
      works += fmt::format(" ({})", on->title.substr(on->title.find(' ') + 1));
    }
  }
  return Error{ErrorKind::usage,
               fmt::format("{} has no {} to colour by; {} would work.", panels_[0].formula,
                           name_of(by), works),
               {}};
}

const LayoutView::OnAxis* LayoutView::axis_of(ColourBy by) const {
  const int k = static_cast<int>(by) - static_cast<int>(ColourBy::axis);
  const bool there = places_.on_axes && k >= 0 && k < static_cast<int>(places_.on_axes->size());
  return there && by < ColourBy::none ? &(*places_.on_axes)[static_cast<std::size_t>(k)] : nullptr;
}

std::optional<LayoutView::Scale> LayoutView::scale_of(ColourBy by) const {
  if (by == ColourBy::offset) return Scale{lowest_, highest_};
  const OnAxis* on = axis_of(by);
  return on != nullptr ? std::optional<Scale>({on->lowest, on->highest}) : std::nullopt;
}

Rgba LayoutView::paint(std::int64_t number, ColourBy by, const Theme& theme) const {
  if (by == ColourBy::none) return theme.paper;
  if (const std::optional<Scale> scale = scale_of(by)) {
    const double range = static_cast<double>(scale->highest - scale->lowest);
    return quantity(range > 0 ? static_cast<double>(number - scale->lowest) / range : 0);
  }
  if (number < 0) return theme.panel;
  if (by == ColourBy::thread) return thread_colour(number, owned_.threads, theme.dark);
  if (by == ColourBy::value && maps_tensor_memory()) {
    number = owned_.group_of_value[static_cast<std::size_t>(number)];
  }
  return category(number, theme.dark);
}

Rgba LayoutView::colour_of(const Cell& cell, ColourBy by, const Theme& theme,
                           int element_bytes) const {
  if (!inside(cell)) return theme.panel;
  return paint(number_of(cell, by, element_bytes), by, theme);
}

std::vector<std::int64_t> LayoutView::numbers_of(const Window& w, ColourBy by,
                                                 int element_bytes) const {
  const Panel& panel = panels_[static_cast<std::size_t>(w.panel)];
  const std::int64_t down = w.down(), across = w.across();
  std::vector<std::int64_t> out(static_cast<std::size_t>(down * across), -1);
  if (by == ColourBy::none) return out;
  const auto fill = [&](auto number) {
    // In blocks, because grids are kept column by column and pictures row by row.
    constexpr std::int64_t block = 64;
    for (std::int64_t top = 0; top < down; top += block) {
      for (std::int64_t left = 0; left < across; left += block) {
        const std::int64_t right = std::min(left + block, across);
        for (std::int64_t i = top; i < std::min(top + block, down); ++i) {
          std::int64_t* row_out = out.data() + i * across;
          for (std::int64_t j = left; j < right; ++j) row_out[j] = number(i, j);
        }
      }
    }
  };
  const auto row = [&](std::int64_t i) { return w.row + i * w.row_step; };
  const auto column = [&](std::int64_t j) { return w.column + j * w.column_step; };
  if (by == ColourBy::offset || by == ColourBy::bank) {
    const Separated s = separate(panel.layout, w);
    const bool before = only_moves(panel.through);
    fill([&](std::int64_t i, std::int64_t j) {
      const std::int64_t value = panel.layout.swizzle(s.base + s.rows[static_cast<std::size_t>(i)] +
                                                      s.columns[static_cast<std::size_t>(j)]);
      const std::int64_t offset = before          ? panel.through->swizzle(value)
                                  : panel.through ? (*panel.through)(value)
                                                  : value;
      return by == ColourBy::bank ? bank_of(before ? value : offset, element_bytes) : offset;
    });
  } else if (by == ColourBy::tile && division_.by_mode && !division_.padded &&
             !panel.keys.modes.empty()) {
    // Tiles are counted colexicographically, so that a row and a column each give their share.
    const std::int64_t corner = number_of({w.panel, w.slice, w.row, w.column}, by, 0);
    std::vector<std::int64_t> shares;
    for (std::int64_t j = 0; j < across; ++j) {
      shares.push_back(number_of({w.panel, w.slice, w.row, column(j)}, by, 0));
    }
    std::vector<std::int64_t> rises;
    for (std::int64_t i = 0; i < down; ++i) {
      rises.push_back(number_of({w.panel, w.slice, row(i), w.column}, by, 0) - corner);
    }
    fill([&](std::int64_t i, std::int64_t j) {
      return rises[static_cast<std::size_t>(i)] + shares[static_cast<std::size_t>(j)];
    });
  } else if (panel.owners && panel.owners->one_each()) {
    const Separated s = separate(panel.layout, w);
    fill([&](std::int64_t i, std::int64_t j) -> std::int64_t {
      const Owner& owner = panel.owners->pairs[static_cast<std::size_t>(
          s.base + s.rows[static_cast<std::size_t>(i)] + s.columns[static_cast<std::size_t>(j)])];
      return by == ColourBy::value    ? owner.value
             : by == ColourBy::thread ? owner.thread
             : by == ColourBy::warp   ? owner.thread / lanes
                                      : -1;
    });
  } else {
    fill([&](std::int64_t i, std::int64_t j) {
      return number_of({w.panel, w.slice, row(i), column(j)}, by, element_bytes);
    });
  }
  return out;
}

namespace {

Cell cell_in(const LayoutView::Window& w, std::size_t i) {
  const std::int64_t at = static_cast<std::int64_t>(i), across = w.across();
  return {w.panel, w.slice, w.row + at / across * w.row_step,
          w.column + at % across * w.column_step};
}

}  // namespace

std::vector<Cell> LayoutView::cells_at(const Window& w, std::int64_t offset,
                                       std::size_t most) const {
  std::vector<Cell> out;
  const auto add = [&](std::size_t at) {
    const Cell cell = cell_in(w, at);
    if (inside(cell)) out.push_back(cell);
  };
  const Panel& panel = panels_[static_cast<std::size_t>(w.panel)];
  const bool before = only_moves(panel.through);
  if (panel.through && !before) {
    const std::vector<std::int64_t> offsets = numbers_of(w, ColourBy::offset, 0);
    for (std::size_t at = 0; at < offsets.size() && out.size() < most; ++at) {
      if (offsets[at] == offset) add(at);
    }
    return out;
  }
  // A row and a column each give their share of an offset; a swizzle undoes itself.
  const Separated s = separate(panel.layout, w);
  const std::int64_t sum = panel.layout.swizzle(before ? panel.through->swizzle(offset) : offset);
  std::vector<std::pair<std::int64_t, std::size_t>> shares;
  for (std::size_t j = 0; j < s.columns.size(); ++j) shares.emplace_back(s.columns[j], j);
  std::sort(shares.begin(), shares.end());
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const std::int64_t missing = sum - s.base - s.rows[i];
    auto found = std::lower_bound(shares.begin(), shares.end(), std::pair(missing, std::size_t{0}));
    for (; found != shares.end() && found->first == missing; ++found) {
      if (out.size() == most) return out;
      add(i * s.columns.size() + found->second);
    }
  }
  return out;
}

std::vector<Rgba> LayoutView::colours_of(const Window& window, const LayoutChoice& choice,
                                         const Theme& theme) const {
  Painted base = painted(window, choice, theme);
  std::vector<Rgba> out;
  lit(base, window, choice, theme, out);
  return out;
}

LayoutView::Painted LayoutView::painted(const Window& window, const LayoutChoice& choice,
                                        const Theme& theme) const {
  const ColourBy by = colour(choice);
  Painted result;
  result.numbers = numbers_of(window, by, choice.element_bytes);
  const std::vector<std::int64_t>& numbers = result.numbers;
  std::vector<Rgba>& out = result.colours;
  out.resize(numbers.size());
  // What a swizzle is given has the colours of where it lies: else both grids would look alike.
  std::vector<std::int64_t> before;
  if (const auto& through = panels_[static_cast<std::size_t>(window.panel)].through;
      only_moves(through) && by == ColourBy::offset) {
    before = numbers;
    for (std::int64_t& n : before) n = through->swizzle(n);
  }
  const std::vector<std::int64_t>& counted = before.empty() ? numbers : before;

  // Colours by number, so that a cell costs one look; an offset falls into one of 1024 steps.
  constexpr std::int64_t steps = 1024;
  std::vector<Rgba> table;
  const std::optional<Scale> scale = scale_of(by);
  const bool scaled = scale.has_value();
  const std::int64_t lowest = scaled ? scale->lowest : 0;
  const std::int64_t range = scaled ? std::max<std::int64_t>(scale->highest - lowest, 1) : 1;
  const std::int64_t known =
      scaled                   ? steps
      : by == ColourBy::thread ? std::min<std::int64_t>(owned_.threads, 1 << 16)
      : maps_tensor_memory()   ? std::max(owned_.values, ceil_div(owned_.threads, lanes))
                               : distinct_categories;
  for (std::int64_t n = 0; n < known; ++n) {
    const bool beyond = by == ColourBy::value && maps_tensor_memory() && n >= owned_.values;
    table.push_back(scaled   ? quantity(static_cast<double>(n) / (steps - 1))
                    : beyond ? theme.panel
                             : paint(n, by, theme));
  }
  const bool direct = scaled && range < (std::int64_t{1} << 52);
  const Rgba none = by == ColourBy::none ? theme.paper : theme.panel;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t n = counted[i];
    if (direct) {
      const std::int64_t at = (n - lowest) * (steps - 1) / range;
      out[i] = table[static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, steps - 1))];
    } else if (scaled) {
      out[i] = paint(n, by, theme);
    } else {
      out[i] = n < 0 ? none : table[static_cast<std::size_t>(n % known)];
    }
  }
  const Panel& panel = panels_[static_cast<std::size_t>(window.panel)];
  if (panel.part) {
    const std::vector<std::int64_t> kept = members_of(window, panel.part);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (kept[i] == 0) out[i] = faded(out[i], theme.paper);
    }
  }
  // Padding is grey whatever the colour means.
  for (std::size_t i = 0; division_.padded && i < out.size(); ++i) {
    if (!inside(cell_in(window, i))) out[i] = theme.panel;
  }
  return result;
}

std::vector<Focus> LayoutView::lit_now(const LayoutChoice& choice) const {
  if (choice.isolate.on != Focus::On::nothing) return {resolved(choice.isolate)};
  if (!choice.hover || !exists(*choice.hover)) return {};
  std::vector<Focus> out = lit_by(*choice.hover, colour(choice));
  if (!out.empty()) out.erase(out.begin());  // the element itself is outlined, not lit
  return out;
}

std::vector<Rgba> LayoutView::owner_colours(const Cell& cell, const LayoutChoice& choice,
                                            const Theme& theme, int lines) const {
  const std::span<const Owner> all = owners(cell);
  const ColourBy by = colour(choice);
  const bool of_owners = by == ColourBy::thread || by == ColourBy::warp || by == ColourBy::value;
  if (all.size() < 2 || !of_owners || numbers_at(cell, by).empty()) return {};
  const std::vector<Focus> lit = lit_now(choice);
  const auto kept = [&](const Owner& owner) {
    for (const Focus& focus : lit) {
      const ColourBy told = colour_telling(focus.on);
      const bool by_cell = told == ColourBy::offset || told == ColourBy::tile;
      if (by_cell ? holds(focus, cell) : number_of_owner(owner, told) == focus.number) return true;
    }
    return lit.empty();
  };
  // One owner a line, or one of those that count the same: a lit one where there is any.
  constexpr std::size_t most_bands = 4;
  std::vector<Owner> shown;
  for (const Owner& owner : all) {
    const auto same = std::find_if(shown.begin(), shown.end(), [&](const Owner& known) {
      return lines == 0 && number_of_owner(known, by) == number_of_owner(owner, by);
    });
    if (same == shown.end()) {
      shown.push_back(owner);
    } else if (kept(owner)) {
      *same = owner;
    }
  }
  const std::size_t most = lines > 0 ? static_cast<std::size_t>(lines) : most_bands;
  const std::size_t count = shown.size() <= most ? shown.size() : most - 1;
  std::vector<Rgba> out;
  for (std::size_t i = 0; i < count; ++i) {
    const Rgba full = paint(number_of_owner(shown[i], by), by, theme);
    out.push_back(kept(shown[i]) ? full : faded(full, theme.paper));
  }
  if (count < shown.size()) out.push_back(theme.panel);
  return out;
}

// Cells outside the lit set go towards the paper.
void LayoutView::lit(Painted& painted, const Window& w, const LayoutChoice& choice,
                     const Theme& theme, std::vector<Rgba>& out) const {
  const std::vector<Focus> shown = lit_now(choice);
  if (shown.empty()) {
    out = painted.colours;
    return;
  }
  if (painted.faded.empty()) {
    painted.faded = painted.colours;
    for (Rgba& colour : painted.faded) colour = faded(colour, theme.paper);
  }
  const auto numbers_by = [&](ColourBy by, int element_bytes) -> const std::vector<std::int64_t>& {
    const auto [found, fresh] = painted.others.try_emplace(by);
    if (fresh) found->second = numbers_of(w, by, element_bytes);
    return found->second;
  };
  out.resize(painted.colours.size());
  if (shown[0].on == Focus::On::phase && choice.phase) {
    const std::vector<std::int64_t>& offsets = numbers_by(ColourBy::offset, 0);
    const bool here = choice.phase_grid < 0 || choice.phase_grid == w.panel;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool keep =
          here && std::binary_search(choice.phase->begin(), choice.phase->end(), offsets[i]);
      out[i] = keep ? painted.colours[i] : painted.faded[i];
    }
    return;
  }
  // One attribute for the whole pass; cells with several owners are asked one by one.
  const ColourBy by = colour_telling(shown[0].on);
  const std::vector<std::int64_t>& numbers =
      by == colour(choice) ? painted.numbers : numbers_by(by, choice.element_bytes);
  const bool owned = kind_ == Kind::thread_value;
  for (std::size_t i = 0; i < out.size(); ++i) {
    bool keep = false;
    for (const Focus& focus : shown) keep = keep || numbers[i] == focus.number;
    if (!keep && owned && owners(cell_in(w, i)).size() > 1) {
      for (const Focus& focus : shown) keep = keep || holds(focus, cell_in(w, i));
    }
    out[i] = keep ? painted.colours[i] : painted.faded[i];
  }
}

}  // namespace tilescope
