// Pictures of layouts with unknown numbers: what is known of each cell's offset.
//
//     (4,8):(?,1)           3 + 2a in row 2, column 3; a is the unknown stride
//     (?{div=8},4):(1,?)    the first 8 rows, and a note that there may be more
//     (?,8):(1@0,1@1)       the coordinates of the first rows; they have no unknown part
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/layout_axes.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

// An unknown number of a layout under a letter, and what it multiplies in the offset.
struct Unknown {
  char letter = 'a';
  std::string what;  // "the stride of mode 0"
  std::int64_t divisible_by = 1;
  Layout times;  // index -> how often it is in the offset
};

std::string divisor_words(std::int64_t divisible_by) {
  return divisible_by > 1 ? fmt::format(", but a multiple of {}", divisible_by) : "";
}

// How much is drawn of an extent that is not known: what divides it where that is little.
std::int64_t shown_of(const Int& extent) {
  constexpr std::int64_t few = 4, most = 8;
  return extent.value > 1 && extent.value <= most ? extent.value : few;
}

// "1", or "1, leaf 2" of a nested mode.
std::string name_of_leaf(const Layout& layout, int leaf) {
  int mode = 0, begin = 0;
  while (begin + layout.modes.mode(mode).leaves <= leaf) begin += layout.modes.mode(mode++).leaves;
  if (layout.modes.mode(mode).leaves == 1) return fmt::format("{}", mode);
  return fmt::format("{}, leaf {}", mode, leaf - begin);
}

// "0", "3+2a", "a+4b".
std::string sum(std::int64_t known, const std::vector<Unknown>& unknowns, std::int64_t index) {
  std::string out = known != 0 ? fmt::format("{}", known) : "";
  for (const Unknown& each : unknowns) {
    const std::int64_t times = each.times(index);
    if (times == 0) continue;
    if (!out.empty() && times > 0) out += "+";
    if (times == -1) out += "-";
    if (times != 1 && times != -1) out += fmt::format("{}", times);
    out += each.letter;
  }
  return out.empty() ? "0" : out;
}

// How many elements a tiler takes of a mode that is one number; 0: that is not known.
std::int64_t tile_of(const Tiler* tiler, const Layout& grid, int mode) {
  if (tiler == nullptr || grid.modes.mode(mode).leaves > 1) return 0;
  if (!tiler->by_mode() && grid.rank() > 1) return 0;
  if (tiler->by_mode() && mode >= tiler->rank()) return 0;
  const Tiler part = tiler->by_mode() ? tiler->mode(mode) : *tiler;
  if (part.by_mode()) return 0;
  const Result<std::int64_t> count = size(part.layout());
  return count ? *count : 0;
}

// Extents made known; `notes` says what was made up.
void make_up_extents(Layout& grid, const Tiler* tiler, std::vector<std::string>& notes) {
  constexpr std::int64_t tiles = 2, most = 256;
  for (int mode = 0, leaf = 0; mode < grid.rank(); ++mode) {
    const int end = leaf + grid.modes.mode(mode).leaves;
    for (; leaf < end; ++leaf) {
      Int& extent = grid.modes.leaf[leaf].shape;
      if (extent.known()) continue;
      const std::int64_t tile = tile_of(tiler, grid, mode);
      const bool by_tiles = tile > 0 && tiles * tile <= most;
      const std::int64_t shown = by_tiles ? tiles * tile : shown_of(extent);
      std::string note = fmt::format("The extent of mode {} is not known{}: its first {} are drawn",
                                     name_of_leaf(grid, leaf), divisor_words(extent.value), shown);
      if (by_tiles) note += fmt::format(", {} tiles", tiles);
      if (leaf + 1 < end) note += ", and what follows in that mode begins after all of them";
      notes.push_back(note + ".");
      extent = shown;
    }
  }
}

// Places on axes need no letters: (?,8):(1@0,1@1) leads to coordinates that are all known.
bool only_extents_are_unknown(const Layout& layout) {
  for (int i = 0; i < layout.modes.leaves; ++i) {
    if (!layout.modes.leaf[i].stride.known()) return false;
  }
  return layout.offset.known();
}
bool stands_on_axes(const Layout& layout) {
  bool any = false;
  for (int i = 0; i < layout.modes.leaves; ++i) any |= !layout.modes.leaf[i].stride.axis.none();
  return any && layout.swizzle.identity();
}

}  // namespace

Outcome<LayoutView::Places> LayoutView::places_with_unknowns(const Layout& layout,
                                                             const Tiler* tiler) {
  for (int i = 0; i < layout.modes.leaves; ++i) {
    if (layout.modes.leaf[i].stride.axis.none() && layout.swizzle.identity()) continue;
    return refused(fmt::format(
        "{} has unknown numbers and {}; a picture shows one or the other.", text(layout),
        layout.swizzle.identity() ? "strides on axes" : "a swizzle of them"));
  }
  std::vector<std::string> notes;
  Layout grid(layout.modes);
  make_up_extents(grid, tiler, notes);

  Layout known(grid.modes);
  std::vector<Unknown> unknowns;
  const auto name = [&](std::string what, const Int& number) {
    const char letter = static_cast<char>('a' + unknowns.size());
    notes.push_back(
        fmt::format("{} is {}: not known{}.", letter, what, divisor_words(number.value)));
    unknowns.push_back({letter, std::move(what), number.value, Layout(grid.modes)});
    for (int k = 0; k < grid.modes.leaves; ++k) unknowns.back().times.modes.leaf[k].stride = 0;
  };
  for (int i = 0; i < known.modes.leaves; ++i) {
    const Int stride = known.modes.leaf[i].stride;
    if (stride.known()) continue;
    known.modes.leaf[i].stride = 0;
    name("the stride of mode " + name_of_leaf(grid, i), stride);
    unknowns.back().times.modes.leaf[i].stride = 1;
  }
  if (layout.offset.known()) {
    known.offset = layout.offset;
  } else {
    name("where the layout begins", layout.offset);
    unknowns.back().times.offset = 1;
  }
  const Result<std::int64_t> count = size(grid);
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (!count || *count > most) {
    return refused(
        fmt::format("{} has more than {} cells; with unknown numbers a picture shows up "
                    "to that.",
                    text(layout), most));
  }
  std::vector<OnAxis> scales{{"known part of the offset", 0, 0, {}}};
  for (const Unknown& each : unknowns) {
    scales.push_back({fmt::format("multiples of {}", each.letter), 0, 0, {}});
  }
  std::vector<std::vector<std::string>> cells;
  for (std::int64_t i = 0; i < *count; ++i) {
    cells.push_back({sum(known(i), unknowns, i)});
    scales[0].numbers.push_back(known(i));
    for (std::size_t k = 0; k < unknowns.size(); ++k) {
      scales[k + 1].numbers.push_back(unknowns[k].times(i));
    }
  }
  return Places{grid, text(layout), std::move(cells), std::move(scales), std::move(notes)};
}

Outcome<LayoutView> LayoutView::with_unknowns(const Layout& layout, std::string title) {
  if (layout.modes.empty()) return plain(layout);
  if (only_extents_are_unknown(layout) && stands_on_axes(layout)) {
    std::vector<std::string> notes;
    Layout grid = layout;
    make_up_extents(grid, nullptr, notes);
    Outcome<LayoutView> view = on_axes(grid, title.empty() ? text(layout) : std::move(title));
    if (!view) return view;
    view->panels_[0].formula = text(layout);
    for (std::string& note : notes) view->remark(std::move(note));
    return view;
  }
  Outcome<Places> places = places_with_unknowns(layout, nullptr);
  if (!places) return places.error();
  return of_places(std::move(*places), title.empty() ? text(layout) : std::move(title));
}

}  // namespace tilescope
