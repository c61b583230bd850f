#include "core/layout/tile_algebra.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/layout/text.h"

namespace tilescope {
namespace {

using Rule = Refusal::Rule;
using Iters = std::vector<Mode>;  // TVM's word: (extent, stride on an axis), the last innermost

Iters iters_of(const Layout& part) {
  return Iters(part.modes.leaf.begin(), part.modes.leaf.begin() + part.modes.leaves);
}

Result<Layout> layout_of(const Iters& iters) {
  if (iters.size() > max_leaves) return detail::refuse(Rule::too_many_leaves, -1, max_leaves);
  Tree<Mode> modes;
  for (const Mode& m : iters) modes.push(Tree<Mode>(m));
  return detail::built({}, iters.size() == 1 ? Tree<Mode>(iters[0]) : modes);
}

// The layout with another shard. Its logical shape was that of other elements.
Result<TileLayout> with_shard(const TileLayout& layout, const Iters& iters) {
  const Result<Layout> shard = layout_of(iters);
  if (!shard) return shard.refusal;
  TileLayout out = layout;
  out.shard = *shard;
  out.shape = {};
  return out;
}

Refusal needs_known(const TileLayout& layout) {
  if (layout.shard.modes.empty()) return detail::refuse(Rule::empty);
  for (const Layout* part : {&layout.shard, &layout.replica}) {
    for (int i = 0; i < part->leaves(); ++i) {
      const Mode& m = part->modes.leaf[i];
      if (!m.shape.known() || !m.stride.known()) return detail::refuse(Rule::dynamic_leaf, i);
    }
  }
  return layout.offset.known() ? Refusal{} : detail::refuse(Rule::dynamic_leaf);
}

// A shape as TIRx has them: flat, of known extents.
Refusal needs_shape(const Tuple& shape) {
  if (shape.empty()) return detail::refuse(Rule::empty);
  if (shape.depth() > 1) return detail::refuse(Rule::not_flat, -1, shape.depth());
  for (int i = 0; i < shape.leaves; ++i) {
    if (const Refusal r = detail::not_an_extent(shape.leaf[i], i)) return r;
    if (!shape.leaf[i].known()) return detail::refuse(Rule::dynamic_leaf, i);
  }
  return product(shape).refusal;
}

Refusal needs_as_many(const TileLayout& layout, const Tuple& shape) {
  if (const Refusal r = needs_known(layout)) return r;
  if (const Refusal r = needs_shape(shape)) return r;
  const Result<std::int64_t> have = size(layout.shard);
  if (!have) return have.refusal;
  const std::int64_t want = *product(shape);
  return *have == want ? Refusal{} : detail::refuse(Rule::sizes_differ, -1, want, *have);
}

// The digits of a shard, and which of them belong to each extent of a shape: those of extent i are
// [first[i], first[i + 1]).
struct Grouped {
  Iters iters;
  std::vector<std::size_t> first{0};

  Iters of(std::size_t extent) const {
    const auto at = [&](std::size_t i) {
      return iters.begin() + static_cast<std::ptrdiff_t>(first[i]);
    };
    return Iters(at(extent), at(extent + 1));
  }
};

// TVM's Group: digits are gathered from the outermost on until they are a multiple of the shape's
// next extent, and the last of them is split where that extent ends.
Result<Grouped> grouped(const TileLayout& layout, const Tuple& shape) {
  if (const Refusal r = needs_as_many(layout, shape)) return r;
  Grouped out;
  std::int64_t gathered = 1;
  int next = 0;
  const Refusal cut = detail::refuse(Rule::not_grouped);
  for (const Mode& m : iters_of(layout.shard)) {
    std::int64_t extent = m.shape.value;
    const std::int64_t stride = m.stride.value;
    bool fits = true;
    gathered = checked_mul(gathered, extent, fits);
    while (fits && next < shape.leaves && gathered % shape.leaf[next].value == 0) {
      const std::int64_t rest = gathered / shape.leaf[next].value;
      if (extent % rest != 0) return cut;
      out.iters.push_back({extent / rest, Int(checked_mul(stride, rest, fits), m.stride.axis)});
      extent = gathered = rest;
      ++next;
      out.first.push_back(out.iters.size());
    }
    if (!fits) return detail::refuse(Rule::overflow);
    if (extent == 1) continue;
    if (next == shape.leaves) return cut;
    out.iters.push_back({extent, m.stride});
  }
  if (next != shape.leaves) return cut;
  return out;
}

// One after the other: digits of extent 1 go, and those that run on where the next one ends.
Iters canonical(const Iters& iters) {
  Iters out;
  for (const Mode& m : iters) {
    if (m.shape.is(1)) continue;
    bool fits = true;
    const bool runs_on =
        !out.empty() && out.back().stride.axis == m.stride.axis &&
        checked_mul(m.shape.value, m.stride.value, fits) == out.back().stride.value && fits;
    if (runs_on)
      out.back() = {out.back().shape.value * m.shape.value, m.stride};
    else
      out.push_back(m);
  }
  if (out.empty() && !iters.empty()) out.push_back({1, Int(1, iters[0].stride.axis)});
  return out;
}

// Replicas of both, and both offsets.
Refusal add_copies(TileLayout& to, const TileLayout& from) {
  Iters copies = iters_of(to.replica);
  for (const Mode& m : iters_of(from.replica)) copies.push_back(m);
  if (!copies.empty()) {
    const Result<Layout> all = layout_of(copies);
    if (!all) return all.refusal;
    to.replica = *all;
  }
  return to.offset.add(from.offset);
}

// The digits of two layouts in turn, extent by extent: those of the outer one, then the inner's.
Result<TileLayout> interleaved(const TileLayout& outer, const Grouped& outside,
                               const TileLayout& inner, const Grouped& inside) {
  Iters iters;
  for (std::size_t i = 0; i + 1 < outside.first.size(); ++i) {
    for (const Mode& m : outside.of(i)) iters.push_back(m);
    for (const Mode& m : inside.of(i)) iters.push_back(m);
  }
  TileLayout both = inner;
  if (const Refusal r = add_copies(both, outer)) return r;
  return with_shard(both, canonical(iters));
}

// Each extent times the other's.
Result<Tuple> times_each(const Tuple& a, const Tuple& b) {
  Tuple out;
  bool fits = true;
  for (int i = 0; i < a.leaves; ++i) out.push(Tuple(times(a.leaf[i], b.leaf[i], fits)));
  if (!fits) return detail::refuse(Rule::overflow);
  return out;
}

Refusal needs_same_rank(const Tuple& a, const Tuple& b) {
  return a.leaves == b.leaves ? Refusal{}
                              : detail::refuse(Rule::not_congruent, -1, a.leaves, b.leaves);
}

Result<TileLayout> in_blocks(const TileLayout& outer, const Tuple& outer_shape,
                             const TileLayout& inner, const Tuple& inner_shape, bool scaled) {
  if (const Refusal r = needs_same_rank(outer_shape, inner_shape)) return r;
  if (!outer.swizzle.identity()) return detail::refuse(Rule::has_swizzle);
  Result<Grouped> outside = grouped(canonicalize(outer), outer_shape);
  if (!outside) return outside.refusal;
  const Result<Grouped> inside = grouped(canonicalize(inner), inner_shape);
  if (!inside) return inside.refusal;
  const Result<Place> reach = span(inner);
  if (!reach) return reach.refusal;
  const Iters own = iters_of(canonicalize(inner).shard);
  bool fits = true;
  for (Mode& m : outside.value.iters) {
    const bool shared = std::any_of(own.begin(), own.end(), [&](const Mode& each) {
      return each.stride.axis == m.stride.axis;
    });
    if (!scaled || !shared) continue;
    m.stride.value = checked_mul(m.stride.value, reach->on(m.stride.axis).value, fits);
  }
  if (!fits) return detail::refuse(Rule::overflow);
  const Result<TileLayout> both = interleaved(outer, *outside, inner, *inside);
  const Result<Tuple> shape = times_each(outer_shape, inner_shape);
  if (!both) return both;
  if (!shape) return shape.refusal;
  return in_shape(*both, *shape);
}

// The digits of one extent from `begin` on, `count` elements: TVM's SlicePerGroup. What the first
// element adds goes to `offset`.
Result<Iters> sliced(const Iters& iters, std::int64_t begin, std::int64_t count, Place& offset) {
  const std::size_t digits = iters.size();
  std::vector<std::int64_t> first(digits);
  std::int64_t rest = begin;
  for (std::size_t k = digits; k-- > 0; rest /= iters[k].shape.value) {
    first[k] = rest % iters[k].shape.value;
    bool fits = true;
    const Int step(checked_mul(first[k], iters[k].stride.value, fits), iters[k].stride.axis);
    if (!fits) return detail::refuse(Rule::overflow);
    if (const Refusal r = offset.add(step)) return r;
  }
  // Whole digits from the innermost on, then one that is left in part.
  std::size_t pivot = digits;
  while (pivot > 0 && first[pivot - 1] == 0 && count % iters[pivot - 1].shape.value == 0) {
    count /= iters[--pivot].shape.value;
  }
  Iters out(iters.begin() + static_cast<std::ptrdiff_t>(pivot), iters.end());
  const Refusal torn = detail::refuse(Rule::no_slice);
  if (pivot == 0) return count == 1 ? Result<Iters>(out) : Result<Iters>(torn);
  const Mode& part = iters[pivot - 1];
  if (first[pivot - 1] + count <= part.shape.value) {
    out.insert(out.begin(), {count, part.stride});
    return out;
  }
  // Two halves, one at the end of the digit and one at the beginning of the next round.
  const bool halves = count % 2 == 0 && first[pivot - 1] + count / 2 == part.shape.value;
  const bool goes_on = pivot > 1 && first[pivot - 2] + 1 < iters[pivot - 2].shape.value &&
                       iters[pivot - 2].stride.axis == part.stride.axis;
  if (!halves || !goes_on) return torn;
  const std::int64_t jump =
      iters[pivot - 2].stride.value - (part.shape.value - count / 2) * part.stride.value;
  out.insert(out.begin(), {count / 2, part.stride});
  out.insert(out.begin(), {2, Int(jump, part.stride.axis)});
  return out;
}

bool is_thread_axis(Axis axis) {
  if (axis.none()) return false;
  constexpr std::string_view memories[] = {"P", "F", "Bank", "TCol", "TLane"};
  return std::none_of(std::begin(memories), std::end(memories),
                      [&](std::string_view name) { return axis == Axis{*axis_named(name)}; });
}

Iters memory_alone(const Layout& part) {
  Iters out;
  for (const Mode& m : iters_of(part)) {
    if (!is_thread_axis(m.stride.axis)) out.push_back(m);
  }
  return out;
}

}  // namespace

Result<Place> span(const TileLayout& layout) {
  if (const Refusal r = needs_known(layout)) return r;
  Place out;
  bool fits = true;
  const auto reach = [&](const Mode& m) {
    return out.add(Int(checked_mul(m.shape.value - 1, m.stride.value, fits), m.stride.axis));
  };
  for (const Layout* part : {&layout.shard, &layout.replica}) {
    for (const Mode& m : iters_of(*part)) {
      if (const Refusal r = reach(m)) return r;
    }
  }
  if (const Refusal r = out.add(layout.offset)) return r;
  if (!fits) return detail::refuse(Rule::overflow);
  for (int i = 0; i < out.parts; ++i) ++out.part[i].value;
  return out;
}

Result<TileLayout> group(const TileLayout& layout, const Tuple& shape) {
  const Result<Grouped> digits = grouped(layout, shape);
  if (!digits) return digits.refusal;
  const Result<TileLayout> out = with_shard(layout, digits->iters);
  if (!out) return out;
  return in_shape(*out, shape);
}

TileLayout canonicalize(const TileLayout& layout) {
  if (needs_known(layout)) return layout;
  Result<TileLayout> out = with_shard(layout, canonical(iters_of(layout.shard)));
  if (!out) return layout;
  out.value.shape = layout.shape;
  Place offset;
  for (int i = 0; i < layout.offset.parts; ++i) {
    if (!layout.offset.part[i].zero()) (void)offset.add(layout.offset.part[i]);
  }
  out.value.offset = offset;
  return *out;
}

Result<TileLayout> tile(const TileLayout& inner, const TileLayout& outer, const Tuple& outer_shape,
                        const Tuple& inner_shape) {
  return in_blocks(outer, outer_shape, inner, inner_shape, true);
}

Result<TileLayout> tile_to(const TileLayout& layout, const Tuple& to, const Tuple& current) {
  for (const Tuple* shape : {&to, &current}) {
    if (const Refusal r = needs_shape(*shape)) return r;
  }
  if (const Refusal r = needs_same_rank(to, current)) return r;
  Tuple copies;
  for (int i = 0; i < to.leaves; ++i) {
    const std::int64_t whole = to.leaf[i].value, block = current.leaf[i].value;
    if (whole % block != 0) return detail::refuse(Rule::tile_does_not_fill, i, block, whole);
    copies.push(Tuple(whole / block));
  }
  const Result<Layout> arrangement = make_layout_right(copies);
  if (!arrangement) return arrangement.refusal;
  TileLayout outer;
  outer.shard = *arrangement;
  return tile(layout, outer, copies, current);
}

Result<TileLayout> direct_sum(const TileLayout& right, const TileLayout& left,
                              const Tuple& left_shape, const Tuple& right_shape) {
  return in_blocks(left, left_shape, right, right_shape, false);
}

Result<TileLayout> slice(const TileLayout& layout, const Tuple& shape, const Tuple& region) {
  const Result<Grouped> digits = grouped(canonicalize(layout), shape);
  if (!digits) return digits.refusal;
  const bool one_range = shape.leaves == 1 && region.leaves == 2;  // (0,8) for ((0,8))
  if (!one_range && region.rank() != shape.leaves) {
    return detail::refuse(Rule::not_congruent, -1, region.rank(), shape.leaves);
  }
  Iters iters;
  Tuple extents;
  TileLayout from = canonicalize(layout);
  for (int i = 0; i < shape.leaves; ++i) {
    const Tuple range = one_range ? region.unwrapped() : region.mode(i);
    if (range.leaves != 2 || range.depth() != 1 || !range.leaf[0].known() ||
        !range.leaf[1].known()) {
      return detail::refuse(Rule::not_a_range, i);
    }
    const std::int64_t begin = range.leaf[0].value, end = range.leaf[1].value;
    if (begin < 0 || end <= begin || end > shape.leaf[i].value) {
      return detail::refuse(Rule::range_beyond, i, end, shape.leaf[i].value);
    }
    Iters own = canonical(digits->of(static_cast<std::size_t>(i)));
    const Result<Iters> kept = sliced(own, begin, end - begin, from.offset);
    if (!kept) return detail::about_mode(kept.refusal, i);
    iters.insert(iters.end(), kept->begin(), kept->end());
    extents.push(Tuple(end - begin));
  }
  if (iters.empty()) iters.push_back({1, 1});
  const Result<TileLayout> out = with_shard(canonicalize(from), iters);
  if (!out) return out;
  return in_shape(*out, extents);
}

Result<TileLayout> permute_dims(const TileLayout& layout, const Tuple& order) {
  if (const Refusal r = needs_known(layout)) return r;
  const Iters iters = iters_of(layout.shard);
  if (order.leaves != layout.shard.leaves()) {
    return detail::refuse(Rule::not_congruent, -1, order.leaves, layout.shard.leaves());
  }
  Iters out;
  std::uint64_t seen = 0;
  for (int i = 0; i < order.leaves; ++i) {
    const Int& which = order.leaf[i];
    if (!which.known()) return detail::refuse(Rule::dynamic_leaf, i);
    if (which.value < 0 || which.value >= order.leaves) {
      return detail::refuse(Rule::mode_out_of_range, -1, which.value, order.leaves);
    }
    if ((seen >> which.value) % 2 != 0)
      return detail::refuse(Rule::order_not_distinct, i, which.value);
    seen |= std::uint64_t{1} << which.value;
    out.push_back(iters[static_cast<std::size_t>(which.value)]);
  }
  return with_shard(layout, out);
}

Result<TileLayout> storage(const TileLayout& layout) {
  if (const Refusal r = needs_known(layout)) return r;
  Iters shard = memory_alone(layout.shard);
  if (shard.empty()) shard.push_back({1, 1});
  Result<TileLayout> out = with_shard(layout, shard);
  if (!out) return out;
  const Iters copies = memory_alone(layout.replica);
  out.value.replica = copies.empty() ? Layout() : *layout_of(copies);
  out.value.offset = {};
  for (int i = 0; i < layout.offset.parts; ++i) {
    const Int& part = layout.offset.part[i];
    if (!is_thread_axis(part.axis)) (void)out.value.offset.add(part);
  }
  return out;
}

Result<TileLayout> unpack(const TileLayout& layout, std::int64_t n) {
  if (const Refusal r = needs_known(layout)) return r;
  const bool swizzled = !layout.swizzle.identity();
  if (n < 1 || (swizzled && !detail::power_of_two(n))) return detail::refuse(Rule::factor, -1, n);
  Iters iters = iters_of(layout.shard);
  bool fits = true;
  for (Mode& m : iters) m.stride.value = checked_mul(m.stride.value, n, fits);
  if (!fits) return detail::refuse(Rule::overflow);
  iters.push_back({n, 1});
  Result<TileLayout> out = with_shard(layout, iters);
  if (out && swizzled) out.value.swizzle.base += static_cast<std::int8_t>(detail::log2_of(n));
  if (out) out.value.element_bits = layout.element_bits / n;
  return out;
}

Result<TileLayout> pack(const TileLayout& layout, std::int64_t n) {
  if (const Refusal r = needs_known(layout)) return r;
  const bool swizzled = !layout.swizzle.identity();
  if (n < 1 || (swizzled && !detail::power_of_two(n))) return detail::refuse(Rule::factor, -1, n);
  Iters iters = iters_of(layout.shard);
  Mode& last = iters.back();
  const bool adjacent = last.stride.value == 1 && !is_thread_axis(last.stride.axis);
  if (!adjacent) return detail::refuse(Rule::not_adjacent);
  for (std::size_t i = 0; i + 1 < iters.size(); ++i) {
    if (iters[i].stride.value % n != 0) {
      return detail::refuse(Rule::not_divisible, static_cast<int>(i), iters[i].stride.value, n);
    }
    iters[i].stride.value /= n;
  }
  if (last.shape.value % n != 0) {
    return detail::refuse(Rule::tile_does_not_fill, layout.shard.leaves() - 1, n, last.shape.value);
  }
  last.shape.value /= n;
  const int lower = swizzled ? detail::log2_of(n) : 0;
  if (lower > layout.swizzle.base) {
    return detail::refuse(Rule::swizzle_below, -1, layout.swizzle.base, lower);
  }
  Result<TileLayout> out = with_shard(layout, iters);
  if (out && swizzled) out.value.swizzle.base -= static_cast<std::int8_t>(lower);
  if (out) out.value.element_bits = layout.element_bits * n;
  return out;
}

Result<TileLayout> broadcast(const TileLayout& layout, std::int64_t n, std::int64_t position) {
  if (const Refusal r = needs_known(layout)) return r;
  if (n < 1) return detail::refuse(Rule::size_not_positive, -1, n);
  Iters iters = iters_of(layout.shard);
  const std::int64_t digits = static_cast<std::int64_t>(iters.size());
  const std::int64_t before = position < 0 ? digits + 1 + position : position;
  if (before < 0 || before > digits) {
    return detail::refuse(Rule::mode_out_of_range, -1, position, digits + 1);
  }
  iters.insert(iters.begin() + static_cast<std::ptrdiff_t>(before), {n, 0});
  return with_shard(layout, iters);
}

}  // namespace tilescope
