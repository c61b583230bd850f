// Divides, products and thread/value layouts; include algebra.h.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope {
namespace detail {

// ((a0,b0),(a1,b1),...) of `tiler` into ((a0,a1,...),(b0,b1,...)); modes beyond the tiler's go to
// the second part as they are.
constexpr void unzip(const Tree<Mode>& divided, const Tiler& tiler, Tree<Mode>& tile,
                     Tree<Mode>& rest) {
  for (int i = 0; i < divided.rank(); ++i) {
    const Tree<Mode> part = divided.mode(i);
    if (i >= tiler.rank()) {
      rest.push(part);
    } else if (tiler.mode(i).by_mode()) {
      Tree<Mode> inner_tile, inner_rest;
      unzip(part, tiler.mode(i), inner_tile, inner_rest);
      tile.push(inner_tile);
      rest.push(inner_rest);
    } else {
      tile.push(part.mode(0));
      rest.push(part.mode(1));
    }
  }
}

// A with 1:0 appended up to `rank` modes.
constexpr Layout padded(const Layout& layout, int rank) {
  if (layout.rank() >= rank) return layout;
  Tree<Mode> out;
  if (layout.modes.scalar())
    out.push(layout.modes);
  else
    out = layout.modes;
  while (out.rank() < rank) out.push(Tree<Mode>(Mode{1, 0}));
  return with_modes(layout, out);
}

// ((a0,b0),(a1,b1),...); as in CuTe a number on the left is paired whole.
constexpr Result<Layout> zip(const Tree<Mode>& a, const Tree<Mode>& b) {
  Tree<Mode> out;
  for (int i = 0; i < a.rank(); ++i) {
    Tree<Mode> pair;
    pair.push(a.mode(i));
    pair.push(a.scalar() ? b : b.mode(i));
    out.push(pair);
  }
  if (const Refusal r = out.capacity()) return r;
  return Layout(out);
}

// The modes of one part of a zipped layout, each for itself; a part of one mode stays as it is.
constexpr void push_modes(const Tree<Mode>& part, Tree<Mode>& out) {
  if (part.rank() == 1) out.push(part);
  for (int i = 0; i < part.rank() && part.rank() > 1; ++i) out.push(part.mode(i));
}

// (tile, rest0, rest1, ...) or (tile0, tile1, ..., rest0, ...) of a zipped layout.
constexpr Result<Layout> unpacked(const Result<Layout>& zipped, bool tile_too) {
  if (!zipped) return zipped;
  Tree<Mode> out;
  if (tile_too)
    push_modes(zipped->modes.mode(0), out);
  else
    out.push(zipped->modes.mode(0));
  push_modes(zipped->modes.mode(1), out);
  if (const Refusal r = out.capacity()) return r;
  return with_modes(*zipped, out);
}

}  // namespace detail

constexpr Result<Layout> logical_divide(const Layout& a, const Layout& b) {
  const Result<Layout> whole = coalesce(a);
  if (!whole) return whole;
  const Result<Layout> rest = complement(b, whole->shape());
  if (!rest)
    return Refusal{rest.refusal.rule, rest.refusal.mode, 1, rest.refusal.a, rest.refusal.b};
  Layout both;
  both.modes.push(b.modes);
  both.modes.push(rest->modes);
  if (const Refusal r = both.modes.capacity()) return r;
  return composition(a, both);
}

constexpr Result<Layout> logical_divide(const Layout& a, const Tiler& b) {
  if (b.keeps_whole()) {
    const Layout pair = detail::with_modes(a, make_layout_of(a, Layout(1, 0)).modes);
    if (const Refusal r = pair.modes.capacity()) return r;
    return pair;
  }
  if (!b.by_mode()) return logical_divide(a, b.layout());
  return detail::by_mode(
      a, b.rank(), [&](const Layout& mode, int i) { return logical_divide(mode, b.mode(i)); });
}

constexpr Result<Layout> zipped_divide(const Layout& a, const Tiler& b) {
  const Result<Layout> divided = logical_divide(a, b);
  if (!divided || !b.by_mode()) return divided;
  Tree<Mode> tile, rest, out;
  detail::unzip(divided->modes, b, tile, rest);
  out.push(tile);
  out.push(rest);
  if (const Refusal r = out.capacity()) return r;
  return detail::with_modes(a, out);
}

constexpr Result<Layout> tiled_divide(const Layout& a, const Tiler& b) {
  return detail::unpacked(zipped_divide(a, b), false);
}

constexpr Result<Layout> flat_divide(const Layout& a, const Tiler& b) {
  return detail::unpacked(zipped_divide(a, b), true);
}

constexpr Result<Layout> logical_product(const Layout& a, const Layout& b) {
  const Result<std::int64_t> block = size(a);
  if (!block) return block.refusal;
  if (const Refusal r = detail::needs_concrete(b, 1)) return r;
  const Result<std::int64_t> reach = cosize(b);
  if (!reach) return reach.refusal;
  bool fits = true;
  const std::int64_t target = checked_mul(*block, *reach, fits);
  if (!fits) return detail::refuse(Refusal::Rule::overflow);
  const Result<Layout> room = complement(a, Tuple(target));
  if (!room) return room;
  const Result<Layout> copies = detail::compose(*room, b, false);
  if (!copies) return copies;
  const Layout out = make_layout_of(a, *copies);
  if (const Refusal r = out.modes.capacity()) return r;
  return out;
}

constexpr Result<Layout> tiled_product(const Layout& a, const Layout& b) {
  return detail::unpacked(logical_product(a, b), false);
}

constexpr Result<Layout> flat_product(const Layout& a, const Layout& b) {
  return detail::unpacked(logical_product(a, b), true);
}

constexpr Result<Layout> blocked_product(const Layout& a, const Layout& b) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  const Result<Layout> both = logical_product(detail::padded(a, rank), detail::padded(b, rank));
  if (!both) return both;
  return detail::zip(both->modes.mode(0), both->modes.mode(1));
}

constexpr Result<Layout> raked_product(const Layout& a, const Layout& b) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  const Result<Layout> both = logical_product(detail::padded(a, rank), detail::padded(b, rank));
  if (!both) return both;
  return detail::zip(both->modes.mode(1), both->modes.mode(0));
}

constexpr Result<ThreadValue> make_layout_tv(const Layout& threads, const Layout& values) {
  // The threads raked over the values make the tile; its inverse says who owns an element.
  const Result<Layout> tile = raked_product(threads, values);
  if (!tile) return tile.refusal;
  ThreadValue out;
  for (int i = 0; i < tile->rank(); ++i) {
    const Result<std::int64_t> extent = product(get(*tile, i)->shape());
    if (!extent) return extent.refusal;
    out.tiler.push(Tuple(*extent));
  }
  const Result<Layout> owner = right_inverse(*tile);
  if (!owner) return owner.refusal;
  const Result<std::int64_t> thread_count = size(threads), value_count = size(values);
  if (!thread_count || !value_count) return detail::refuse(Refusal::Rule::overflow);
  const Result<Layout> by_thread_and_value =
      composition(*owner, *make_layout(make_tuple_of(Int(*thread_count), Int(*value_count))));
  if (!by_thread_and_value) return by_thread_and_value.refusal;
  out.layout = *by_thread_and_value;
  return out;
}

}  // namespace tilescope
