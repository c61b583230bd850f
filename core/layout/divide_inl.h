// Divides, products and thread/value layouts; include algebra.h.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope {
namespace detail {

// ((a0,b0),(a1,b1),...) of `tiler` into ((a0,a1,...),(b0,b1,...)); modes beyond the tiler's go to
// the second part as they are. A mode that `_` kept whole is a tile, and its rest is 1:0. (CuTe has
// no answer there, or splits a mode of rank 2 as if it had been divided.)
constexpr void unzip(const Tree<Mode>& divided, const Tiler& tiler, Tree<Mode>& tile,
                     Tree<Mode>& rest) {
  for (int i = 0; i < divided.rank(); ++i) {
    if (i >= tiler.rank()) {
      rest.push_mode(divided, i);
    } else if (tiler.mode_keeps_whole(i)) {
      tile.push_mode(divided, i);
      rest.push(Tree<Mode>(Mode{1, 0}));
    } else if (tiler.mode_by_mode(i)) {
      Tree<Mode> inner_tile, inner_rest;
      unzip(divided.mode(i), tiler.mode(i), inner_tile, inner_rest);
      tile.push(inner_tile);
      rest.push(inner_rest);
    } else {
      const Tree<Mode> part = divided.mode(i);
      tile.push_mode(part, 0);
      rest.push_mode(part, 1);
    }
  }
}

// The two parts of a logical divide or product by mode, each gathered over the modes.
constexpr Result<Layout> zipped(const Layout& a, const Result<Layout>& parts, const Tiler& b) {
  if (!parts || (!b.by_mode() && !b.keeps_whole())) return parts;
  Tree<Mode> tile, rest, out;
  if (b.keeps_whole()) {
    tile = parts->modes;
    rest = Tree<Mode>(Mode{1, 0});
  } else {
    unzip(parts->modes, b, tile, rest);
  }
  out.push(tile);
  out.push(rest);
  return built(a, out);
}

// A with 1:0 appended up to `rank` modes.
constexpr Layout padded(const Layout& layout, int rank) {
  return *append(layout, Layout(1, 0), rank);
}

// The modes of one part of a zipped layout, each for itself; a part of one mode stays as it is.
constexpr void push_modes(const Tree<Mode>& part, Tree<Mode>& out) {
  if (part.rank() == 1) out.push(part);
  for (int i = 0; i < part.rank() && part.rank() > 1; ++i) out.push_mode(part, i);
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
  return built(*zipped, out);
}

}  // namespace detail

namespace detail {

// The rests of a divide, leaf by leaf: a tile that fills the first `reach` offsets of the domain
// leaves, of each digit, what is behind it. Where extents are unknown the complement alone does not
// tell that its `?` is the digit's own `?` divided by the tile, so that a composition with it could
// not be sure; here each rest is made from its digit.
//     extents (?{div=8},?), strides (1,?), reach 8:    ?{div=8}/8 steps of 8, then all steps of `?`
constexpr Refusal push_rests(const Layout& whole, std::int64_t reach, Tree<Mode>& out) {
  using Rule = Refusal::Rule;
  bool fits = true;
  for (int i = 0; i < whole.leaves(); ++i) {
    const Mode& digit = whole.modes.leaf[i];
    const bool last = i + 1 == whole.leaves();
    if (!last && digit.shape.known() && reach % digit.shape.value == 0) {  // all of it is tile
      reach /= digit.shape.value;
      continue;
    }
    if (!last && !multiple_of(digit.shape, reach)) {
      return digit.shape.known() ? refuse(Rule::stride_divisibility, i, reach, digit.shape.value)
                                 : refuse(Rule::divisor, i, digit.shape.value, reach);
    }
    const Mode rest{ceil_div(digit.shape, reach), times(digit.stride, reach, fits)};
    if (!rest.shape.is(1)) out.push(Tree<Mode>(rest));
    reach = 1;
  }
  return fits ? Refusal{} : refuse(Rule::overflow);
}

// (tile, rest) where extents of A (coalesced: `whole`) before its last are unknown.
constexpr Result<Layout> divide_unknown(const Layout& a, const Layout& whole, const Layout& b) {
  const Result<Layout> gaps = complement(b, Tuple(1));
  const Result<Layout> moving = filter(b);
  if (!gaps) return gaps;
  if (!moving) return moving;
  Layout inside;
  inside.modes.push(b.modes);
  inside.modes.push(gaps->modes);
  const Result<Layout> tile = composition(a, inside);
  if (!tile) return tile;
  const Result<std::int64_t> covered = size(*moving), holes = size(*gaps);
  if (!covered) return covered.refusal;
  bool fits = true;
  const std::int64_t reach = checked_mul(*covered, holes.value, fits);
  if (!fits) return refuse(Refusal::Rule::overflow);
  Tree<Mode> rests;
  const Tree<Mode> between = tile->modes.mode(1);
  for (int i = 0; i < between.rank() && !holes.refusal && *holes > 1; ++i) {
    rests.push(between.mode(i));
  }
  if (const Refusal r = push_rests(whole, reach, rests)) return r;
  if (rests.empty()) rests = Tree<Mode>(Mode{1, 0});
  Tree<Mode> out;
  out.push(tile->modes.mode(0));
  out.push(rests.unwrapped());
  return built(a, out);
}

constexpr bool unknown_before_the_last(const Layout& layout) {
  for (int i = 0; i + 1 < layout.leaves(); ++i) {
    if (!layout.modes.leaf[i].shape.known()) return true;
  }
  return false;
}

}  // namespace detail

constexpr Result<Layout> logical_divide(const Layout& a, const Layout& b) {
  const Result<Layout> whole = coalesce(a);
  if (!whole) return whole;
  if (detail::unknown_before_the_last(*whole)) return detail::divide_unknown(a, *whole, b);
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
  if (b.keeps_whole()) return a;
  if (!b.by_mode()) return logical_divide(a, b.part());
  return detail::by_mode(a, b.rank(), detail::Others::kept, [&](const Layout& mode, int i) {
    return logical_divide(mode, b.mode(i));
  });
}

constexpr Result<Layout> zipped_divide(const Layout& a, const Tiler& b) {
  return detail::zipped(a, logical_divide(a, b), b);
}

constexpr Result<Layout> tiled_divide(const Layout& a, const Tiler& b) {
  return detail::unpacked(zipped_divide(a, b), false);
}

constexpr Result<Layout> flat_divide(const Layout& a, const Tiler& b) {
  return detail::unpacked(zipped_divide(a, b), true);
}

constexpr Result<Layout> logical_product(const Layout& a, const Layout& b) {
  if (const Refusal r = detail::needs_concrete(b, 1, {.unknown = true})) return r;
  const Result<Int> block = extent(a);
  const Result<Place> reach = coshape(b);
  if (!block) return block.refusal;
  if (!reach) return reach.refusal;
  bool fits = true;
  const Int target = times(*block, reach->offset(), fits);
  if (!fits) return detail::refuse(Refusal::Rule::overflow);
  // A swizzle before A stays before all copies. Copies need room, not every offset of it.
  const Result<Layout> room =
      detail::complement_in(Layout(a.modes), Tuple(target), detail::Holes::left);
  if (!room) return room;
  const Result<Layout> copies = detail::compose(*room, b, false);
  if (!copies) return copies;
  return detail::built(a, make_layout_of(a, *copies).modes);
}

constexpr Result<Layout> logical_product(const Layout& a, const Tiler& b) {
  if (b.keeps_whole()) return a;
  if (!b.by_mode()) return logical_product(a, b.part());
  return detail::by_mode(a, b.rank(), detail::Others::kept, [&](const Layout& mode, int i) {
    return logical_product(mode, b.mode(i));
  });
}

constexpr Result<Layout> zipped_product(const Layout& a, const Tiler& b) {
  return detail::zipped(a, logical_product(a, b), b);
}

constexpr Result<Layout> tiled_product(const Layout& a, const Tiler& b) {
  return detail::unpacked(zipped_product(a, b), false);
}

constexpr Result<Layout> flat_product(const Layout& a, const Tiler& b) {
  return detail::unpacked(zipped_product(a, b), true);
}

constexpr Result<Layout> blocked_product(const Layout& a, const Layout& b) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  const Result<Layout> both = logical_product(detail::padded(a, rank), detail::padded(b, rank));
  if (!both) return both;
  return zip(detail::with_modes(a, both->modes.mode(0)), Layout(both->modes.mode(1)));
}

constexpr Result<Layout> raked_product(const Layout& a, const Layout& b) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  const Result<Layout> both = logical_product(detail::padded(a, rank), detail::padded(b, rank));
  if (!both) return both;
  return zip(detail::with_modes(a, both->modes.mode(1)), Layout(both->modes.mode(0)));
}

constexpr Result<Layout> tile_to_shape(const Layout& block, const Tuple& target,
                                       const Tuple& order) {
  using Rule = Refusal::Rule;
  const int rank = target.rank();
  if (const Refusal r = detail::needs_concrete(block, 0, {.swizzle = true, .unknown = true})) {
    return r;
  }
  if (block.rank() > rank) return detail::refuse(Rule::rank_too_large, -1, block.rank(), rank);
  const Layout whole = detail::padded(block, rank);
  Tuple copies;
  for (int i = 0; i < rank; ++i) {
    const Result<Int> have = extent(*get(whole, i)), want = extent(target.mode(i));
    if (!have) return have.refusal;
    if (!want) return want.refusal;
    if (const Refusal r = detail::not_an_extent(*want, i)) return r;
    if (!have->known()) return detail::refuse(Rule::dynamic_leaf, i);
    if (!multiple_of(*want, have->value)) {
      return want->known() ? detail::refuse(Rule::tile_does_not_fill, i, have->value, want->value)
                           : detail::refuse(Rule::divisor, i, want->value, have->value);
    }
    const Tuple count(over(*want, have->value));
    if (target.scalar())
      copies = count;
    else
      copies.push(count);
  }
  const Result<Layout> arrangement =
      order.empty() ? make_layout(copies) : make_ordered_layout(copies, order);
  if (!arrangement) return arrangement;
  return blocked_product(whole, *arrangement);
}

constexpr Result<ThreadValue> make_layout_tv(const Layout& threads, const Layout& values) {
  // The threads raked over the values make the tile; its inverse says who owns an element.
  const Result<Layout> tile = raked_product(threads, values);
  if (!tile) return tile.refusal;
  ThreadValue out;
  for (int i = 0; i < tile->rank(); ++i) {
    const Result<Int> rows = extent(*get(*tile, i));
    if (!rows) return rows.refusal;
    out.tiler.push(Tuple(*rows));
  }
  const Result<Layout> owner = right_inverse(*tile);
  if (!owner) return owner.refusal;
  const Result<Int> thread_count = extent(threads), value_count = extent(values);
  if (!thread_count || !value_count) return detail::refuse(Refusal::Rule::overflow);
  const Result<Layout> by_thread_and_value =
      composition(*owner, *make_layout(make_tuple_of(*thread_count, *value_count)));
  if (!by_thread_and_value) return by_thread_and_value.refusal;
  out.layout = *by_thread_and_value;
  return out;
}

}  // namespace tilescope
