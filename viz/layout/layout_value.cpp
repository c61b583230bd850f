// From a value of the language to the view that shows it best.
#include <fmt/format.h>

#include "core/layout/text.h"
#include "viz/layout/layout_axes.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

bool stands_on_axes(const Layout& layout) {
  for (int i = 0; i < layout.modes.leaves; ++i) {
    if (!layout.modes.leaf[i].stride.axis.none()) return true;
  }
  return false;
}

// What a tiler takes of the smallest shape that holds it.
Outcome<LayoutView> taken_by(const Tiler& tiler) {
  Tuple shape;
  for (int i = 0; i < tiler.rank(); ++i) {
    const Result<std::int64_t> reach =
        cosize(tiler.by_mode() ? tiler.mode(i).layout() : tiler.layout());
    if (!reach) {
      return refused(fmt::format(
          "The tiler {} leaves extents open; logical_divide(LAYOUT, {}) would draw what it cuts.",
          text(tiler), text(tiler)));
    }
    shape.push(Tuple(*reach));
  }
  const Result<Layout> whole = make_layout(tiler.by_mode() ? shape : shape.mode(0));
  if (!whole) return refused(sentence(whole.refusal));
  const Result<Layout> tile = composition(*whole, tiler);
  if (!tile) return refused(sentence(tile.refusal));
  return LayoutView::parts({{"What it is taken from", *whole}, {"Tile", *tile}}, text(tiler));
}

// The square of rows and chunks in which a swizzle moves chunks of 2^M elements: rows are numbered
// by the bits that it reads, chunks by the bits that it writes.
Outcome<LayoutView> moved_by(const Swizzle& swizzle) {
  if (swizzle.identity() || swizzle.bits > 8) {
    return refused(
        fmt::format("{} has no square of up to 256 chunks to draw; Sw<3,4,3> has, and {} o 0 o "
                    "LAYOUT draws a layout after it.",
                    text(swizzle), text(swizzle)));
  }
  Layout layout;
  const std::int64_t chunks = std::int64_t{1} << swizzle.bits;
  const std::int64_t chunk = std::int64_t{1} << swizzle.base;
  const std::int64_t row = chunk << std::abs(swizzle.shift);
  layout.modes.push(Tree<Mode>(Mode{chunks, swizzle.shift > 0 ? row : chunk}));
  layout.modes.push(Tree<Mode>(Mode{chunks, swizzle.shift > 0 ? chunk : row}));
  layout.swizzle = swizzle;
  Outcome<LayoutView> view = LayoutView::plain(layout, text(swizzle));
  if (view) {
    view->remark(
        fmt::format("A cell is a chunk of {} elements, which stay together; its number is "
                    "where the chunk begins.",
                    chunk));
  }
  return view;
}

// A slice, a tile or a partition of what stands on axes: its coordinates, or its part of tensor
// memory.
Outcome<LayoutView> of_moved(const Slice& slice, const std::string& title) {
  Layout layout = slice.layout;
  if (layout.modes.empty()) layout.modes = Tree<Mode>(Mode{1, 0});  // one element
  if (LayoutView::speaks_of_tensor_memory(layout)) {
    return LayoutView::tensor_memory({LayoutView::region_on_axes({}, layout, slice.offset)}, title);
  }
  const Tree<Mode>& modes = layout.modes;
  if (modes.rank() == 1 && modes.mode(0).rank() > 1) layout.modes = modes.mode(0);
  Outcome<LayoutView> view = LayoutView::on_axes(layout, title, slice.offset);
  return view;
}

// A slice or a partition of which not all is known, such as thread ? has: as the layout that begins
// at an unknown number. What stands on axes has no such one.
std::optional<Layout> begins_at_unknown(const Slice& slice) {
  if (slice.offset.known() && all_known(slice.layout)) return std::nullopt;
  Place offset = slice.offset;
  if (!offset.plain() || offset.add(slice.layout.offset)) return std::nullopt;
  Layout out = slice.layout;
  out.offset = offset.offset();
  const Tree<Mode>& modes = slice.layout.modes;
  if (modes.empty()) out.modes = Tree<Mode>(Mode{1, 0});  // one element
  if (modes.rank() == 1 && modes.mode(0).rank() > 1) out.modes = modes.mode(0);
  return out;
}

}  // namespace

Outcome<LayoutView> LayoutView::of_value(const Value& value, std::string formula) {
  const auto titled = [&](Outcome<LayoutView> view) {
    if (view && !formula.empty()) view->retitle(formula);
    return view;
  };
  const Layout* layout = std::get_if<Layout>(&value);
  if (layout != nullptr && !all_known(*layout)) return with_unknowns(*layout, formula);
  if (layout != nullptr && speaks_of_tensor_memory(*layout)) {
    return tensor_memory({region_on_axes({}, *layout, {})}, text(*layout));
  }
  if (layout != nullptr && stands_on_axes(*layout)) return on_axes(*layout, formula);
  if (layout != nullptr) return titled(plain(*layout));
  if (const ThreadValue* tv = std::get_if<ThreadValue>(&value)) {
    return titled(thread_value(tv->layout, tv->tiler));
  }
  if (const auto* atom = std::get_if<Shared<MmaAtom>>(&value)) return of_atom(**atom, formula);
  if (const auto* mma = std::get_if<Shared<TiledMma>>(&value)) return of_tiled(**mma, formula);
  if (const auto* atom = std::get_if<Shared<CopyAtom>>(&value)) return of_copy(**atom, formula);
  if (const auto* copy = std::get_if<Shared<TiledCopy>>(&value)) return of_tiled(**copy, formula);
  if (const auto* tiles = std::get_if<Shared<TileLayout>>(&value)) {
    return of_tiles(**tiles, formula.empty() ? text(**tiles) : formula);
  }
  const Tensor* tensor = std::get_if<Tensor>(&value);
  if (tensor != nullptr && !tensor->alone()) {
    return of_value(Slice{tensor->layout, tensor->offset}, formula.empty() ? text(value) : formula);
  }
  const Slice* slice = std::get_if<Slice>(&value);
  if (const std::optional<Layout> open = slice ? begins_at_unknown(*slice) : std::nullopt) {
    Outcome<LayoutView> view = with_unknowns(*open, formula.empty() ? text(value) : formula);
    if (view) view->panels_[0].formula = text(value);
    return view;
  }
  if (slice != nullptr && slice->offset.plain() && slice->offset.known()) {
    Layout moved = slice->layout;
    moved.offset = moved.offset.value + slice->offset.offset().value;
    return titled(plain(moved));
  }
  if (slice != nullptr && slice->offset.known() && all_known(slice->layout)) {
    return of_moved(*slice, formula.empty() ? text(value) : formula);
  }
  if (const Tiler* tiler = std::get_if<Tiler>(&value)) return titled(taken_by(*tiler));
  if (const Swizzle* swizzle = std::get_if<Swizzle>(&value)) return titled(moved_by(*swizzle));
  if (slice != nullptr) {
    return refused(
        fmt::format("{} has numbers that are not known, and is on axes; a picture "
                    "shows one or the other.",
                    text(value)));
  }
  std::string instead = "a layout, such as (4,8):(1,4), a division of one, or make_layout_tv(...)";
  if (std::holds_alternative<Tuple>(value)) {
    const Tuple& tuple = std::get<Tuple>(value);
    instead =
        fmt::format("a layout, such as make_layout({}), a division of one, or make_layout_tv(...)",
                    tuple.scalar() ? "(4,8)" : text(tuple));
  } else if (std::holds_alternative<Numbers>(value) || std::holds_alternative<Tuples>(value)) {
    instead = "the layout that the list was made from, which shows its numbers in place";
  }
  std::string shown = text(value);
  constexpr std::size_t most = 60;
  if (shown.size() > most) shown = shown.substr(0, most) + "\u2026";
  return refused(fmt::format("{} is {}; a picture needs {}.", shown, kind_of(value), instead));
}

}  // namespace tilescope
