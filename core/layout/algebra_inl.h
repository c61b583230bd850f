// coalesce, filter, composition, complement, orders; include algebra.h.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope {
namespace detail {

// Leaves as a flat list under construction: pushes in O(1), one bracket pair at the end.
struct Leaves {
  Tree<Mode> list;
  constexpr int count() const { return list.leaves; }
  constexpr Mode& back() { return list.leaf[list.leaves - 1]; }
  constexpr void push(const Mode& m) {
    if (list.leaves == max_leaves) {
      list.overflowed = 1;
      return;
    }
    list.leaf[list.leaves++] = m;
  }
  // (a,b,...) ; one leaf alone stays a scalar, none is `1:0`.
  constexpr Tree<Mode> done() const {
    if (list.leaves == 0) return Tree<Mode>(Mode{1, 0});
    if (list.leaves == 1) return Tree<Mode>(list.leaf[0]);
    Tree<Mode> out = list;
    out.open[0] = 1;
    out.close[out.leaves - 1] = 1;
    return out;
  }
};

constexpr bool continues(const Mode& before, const Mode& next) {
  if (!before.shape.known() || !before.stride.known() || !next.stride.known()) return false;
  if (!(before.stride.axis == next.stride.axis)) return false;
  bool fits = true;
  return checked_mul(before.shape.value, before.stride.value, fits) == next.stride.value && fits;
}

constexpr void push_coalesced(Leaves& out, const Mode& m) {
  if (m.shape.is(1)) return;
  if (out.count() > 0 && m.shape.known() && continues(out.back(), m)) {
    out.back().shape.value *= m.shape.value;
  } else {
    out.push(m);
  }
}

// A stride taken `times`, on the same axis.
constexpr Int scaled(const Int& stride, std::int64_t times, bool& fits) {
  const std::int64_t value = checked_mul(stride.value, times, fits);
  return Int(value, value == 0 ? Axis{} : stride.axis);
}

// What an operand may be beyond a plain layout of numbers.
struct Allowed {
  bool swizzle = false, axes = false;
};

constexpr Refusal needs_concrete(const Layout& layout, int operand, Allowed allowed = {}) {
  Refusal r;
  for (int i = 0; i < layout.modes.leaves && !r; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (!m.shape.known() || !m.stride.known())
      r = refuse(Refusal::Rule::dynamic_leaf, i);
    else if (!allowed.axes && !m.stride.axis.none())
      r = refuse(Refusal::Rule::axis_stride, i);
    else if (m.stride.value < 0)
      r = refuse(Refusal::Rule::negative_stride, i, m.stride.value);
    else if (m.shape.value < 1)
      r = refuse(Refusal::Rule::size_not_positive, i, m.shape.value);
  }
  if (!r && layout.modes.empty()) r = refuse(Refusal::Rule::empty);
  if (!r && !allowed.swizzle && !layout.plain()) r = refuse(Refusal::Rule::has_swizzle);
  if (!r && !layout.offset.known()) r = refuse(Refusal::Rule::dynamic_leaf);
  r.operand = static_cast<std::int8_t>(operand);
  return r;
}

// The left side of a composition, read as digits: an offset of B is written in the mixed radix of
// A's (coalesced) extents, the last digit without bound. A keeps its last mode even at size 1,
// because composition extends it: 1:1 o (3,4):(1,3) = (3,4):(1,3).
struct Digits {
  std::array<Mode, max_leaves> mode{};
  std::array<std::int64_t, max_leaves> reached{};  // largest digit that B reaches so far
  int count = 0;
  bool together;  // whether B's leaves are added up: their sum must not carry

  constexpr Digits(const Tree<Mode>& modes, bool leaves_together) : together(leaves_together) {
    Leaves out;
    for (int i = 0; i + 1 < modes.leaves; ++i) push_coalesced(out, modes.leaf[i]);
    Mode last = modes.leaf[modes.leaves - 1];
    if (last.shape.is(1)) last.shape = 2;  // any extent above 1: it has no bound
    push_coalesced(out, last);
    count = out.count();
    for (int i = 0; i < count; ++i) mode[i] = out.list.leaf[i];
  }
};

// What an operation tells of its steps as it goes, to whoever explains it; nobody by default. The
// explanations are made from the very code that computes, so that the two cannot disagree.
struct Silent {
  constexpr void leaf(int, const Mode&) {}                                // a leaf of B is next
  constexpr void passes(int, const Mode&, std::int64_t, std::int64_t) {}  // stride before, after
  constexpr void takes(int, const Mode&, const Mode&) {}                  // digit, A's mode, result
  constexpr void beyond(const Mode&, const Mode&) {}                      // A's last mode, result
  constexpr void still(const Mode&) {}                                    // a leaf that never moves
  constexpr void gap(const Mode&, std::int64_t, const Mode&) {}    // next mode, covered, what fills
  constexpr void rest(std::int64_t, const Mode&) {}                // covered, what fills the target
  constexpr void finds(const Mode&, std::int64_t, const Mode&) {}  // L's mode, covered, inverse
  constexpr void ends(std::int64_t) {}                             // no mode goes on from here
};

// One leaf of B through A: `leaf.shape` steps of `leaf.stride` in A's domain become one or more
// modes, one for each digit they run through. The law needs each step to stay inside one digit, or
// to run through it in whole parts:
//
//     extent n, stride d:   d >= n: n must divide d (the digit stays 0)
//                           d <  n: all steps fit below n, or d divides n and n/d divides the steps
//
// A leaf of one step never moves; its stride is what CuTe prints for it.
template <class Trace>
constexpr Refusal compose_leaf(Digits& a, const Mode& leaf, Leaves& out, Trace& trace) {
  using Rule = Refusal::Rule;
  std::int64_t steps = leaf.shape.value, stride = leaf.stride.value;
  bool fits = true;
  const Mode& last = a.mode[a.count - 1];  // extends without bound
  if (steps == 1 || stride == 0) {
    for (int i = 0; i + 1 < a.count; ++i) stride = ceil_div(stride, a.mode[i].shape.value);
    const Mode still{steps, scaled(last.stride, stride, fits)};
    trace.still(still);
    out.push(still);
    return fits ? Refusal{} : refuse(Rule::overflow);
  }
  for (int i = 0; i + 1 < a.count && steps > 1; ++i) {
    const std::int64_t extent = a.mode[i].shape.value;
    if (stride >= extent) {
      if (stride % extent != 0) return refuse(Rule::stride_divisibility, i, stride, extent);
      trace.passes(i, a.mode[i], stride, stride / extent);
      stride /= extent;
      continue;
    }
    const std::int64_t here = ceil_div(extent, stride);  // steps that stay below the extent
    std::int64_t taken = steps;
    if (steps > here) {
      if (extent % stride != 0) return refuse(Rule::stride_divisibility, i, stride, extent);
      if (steps % here != 0) return refuse(Rule::shape_divisibility, i, steps, here);
      taken = here;
    }
    const Mode part{taken, scaled(a.mode[i].stride, stride, fits)};
    trace.takes(i, a.mode[i], part);
    out.push(part);
    a.reached[i] += (taken - 1) * stride;
    if (a.together && a.reached[i] >= extent) return refuse(Rule::carry, i, a.reached[i], extent);
    steps /= taken;
    stride = 1;
  }
  if (steps > 1) {
    const Mode part{steps, scaled(last.stride, stride, fits)};
    trace.beyond(last, part);
    out.push(part);
  }
  return fits ? Refusal{} : refuse(Rule::overflow);
}

// Leaves in the order of their strides, smallest first; equal strides keep their order.
constexpr void sort_by_stride(Tree<Mode>& modes) {
  for (int i = 1; i < modes.leaves; ++i) {
    for (int k = i; k > 0 && modes.leaf[k].stride.value < modes.leaf[k - 1].stride.value; --k) {
      const Mode swapped = modes.leaf[k];
      modes.leaf[k] = modes.leaf[k - 1];
      modes.leaf[k - 1] = swapped;
    }
  }
}

// Every leaf of B through A, in B's structure. `leaves_together` asks for the law of composition,
// A(B(c)) for all of c; without it, for each leaf by itself, as products need it.
template <class Trace = Silent>
constexpr Result<Layout> compose(const Layout& a, const Layout& b, bool leaves_together,
                                 Trace trace = {}) {
  if (const Refusal r = needs_concrete(a, 0, {.swizzle = true, .axes = true})) return r;
  if (const Refusal r = needs_concrete(b, 1)) return r;
  Digits digits(a.modes, leaves_together);
  Layout out = with_modes(a, {});
  Tree<Mode>& result = out.modes;
  // Each leaf of B becomes one leaf, or a nested tuple of leaves, in its own place.
  for (int i = 0; i < b.modes.leaves; ++i) {
    Leaves parts;
    trace.leaf(i, b.modes.leaf[i]);
    if (const Refusal r = compose_leaf(digits, b.modes.leaf[i], parts, trace)) return r;
    const Tree<Mode> element = parts.done();
    if (result.leaves + element.leaves > max_leaves || parts.list.overflowed) {
      return refuse(Refusal::Rule::too_many_leaves, -1, max_leaves);
    }
    const int first = result.leaves;
    for (int k = 0; k < element.leaves; ++k) {
      result.open[result.leaves] = element.open[k];
      result.close[result.leaves] = element.close[k];
      result.leaf[result.leaves++] = element.leaf[k];
    }
    result.open[first] = static_cast<std::uint8_t>(result.open[first] + b.modes.open[i]);
    result.close[result.leaves - 1] =
        static_cast<std::uint8_t>(result.close[result.leaves - 1] + b.modes.close[i]);
  }
  if (result.depth() > max_depth) return refuse(Refusal::Rule::too_deep, -1, max_depth);
  if (const Refusal r = numbers_fit(result)) return r;
  return out;
}

constexpr Refusal about_mode(Refusal r, int mode) {
  if (r && r.mode < 0) r.mode = static_cast<std::int8_t>(mode);
  return r;
}

// The first `rank` modes of A each through `operation(mode, i)`; the others as they are, or gone.
enum class Others { kept, dropped };
template <class Operation>
constexpr Result<Layout> by_mode(const Layout& a, int rank, Others others, Operation operation) {
  if (rank > a.rank()) return refuse(Refusal::Rule::rank_too_small, -1, rank, a.rank());
  Tree<Mode> out;
  for (int i = 0; i < a.rank(); ++i) {
    if (i >= rank) {
      if (others == Others::kept) out.push(a.modes.mode(i));
      continue;
    }
    const Result<Layout> part = operation(Layout(a.modes.mode(i)), i);
    if (!part) return about_mode(part.refusal, i);
    out.push(part->modes);
  }
  return built(a, out);
}

}  // namespace detail

constexpr Result<Layout> coalesce(const Layout& layout) {
  if (layout.modes.empty()) return detail::refuse(Refusal::Rule::empty);
  detail::Leaves out;
  for (int i = 0; i < layout.modes.leaves; ++i) detail::push_coalesced(out, layout.modes.leaf[i]);
  return detail::with_modes(layout, out.done());
}

constexpr Result<Layout> coalesce(const Layout& layout, const Tuple& profile) {
  if (profile.scalar()) return coalesce(layout);
  return detail::by_mode(
      layout, profile.rank(), detail::Others::kept,
      [&](const Layout& mode, int i) { return coalesce(mode, profile.mode(i)); });
}

constexpr Result<Layout> flatten(const Layout& layout) {
  return detail::with_modes(layout, layout.modes.flat());
}

constexpr Result<Layout> filter(const Layout& layout) {
  if (layout.modes.empty()) return detail::refuse(Refusal::Rule::empty);
  detail::Leaves out;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    if (!layout.modes.leaf[i].stride.is(0)) detail::push_coalesced(out, layout.modes.leaf[i]);
  }
  return detail::with_modes(layout, out.done());
}

constexpr Result<Layout> filter(const Layout& layout, const Tuple& profile) {
  if (profile.scalar()) return filter(layout);
  return detail::by_mode(layout, profile.rank(), detail::Others::kept,
                         [&](const Layout& mode, int i) { return filter(mode, profile.mode(i)); });
}

constexpr Result<Layout> filter_zeros(const Layout& layout) {
  Layout out = layout;
  for (int i = 0; i < out.modes.leaves; ++i) {
    if (out.modes.leaf[i].stride.is(0)) out.modes.leaf[i].shape = 1;
  }
  return out;
}

constexpr Result<Layout> composition(const Layout& a, const Layout& b) {
  if (!b.plain()) return detail::compose_with_swizzled(a, b);
  return detail::compose(a, b, true);
}

constexpr Result<Layout> composition(const Layout& a, const Tiler& b) {
  if (b.keeps_whole()) return a;
  if (!b.by_mode()) return composition(a, b.layout());
  return detail::by_mode(a, b.rank(), detail::Others::dropped,
                         [&](const Layout& mode, int i) { return composition(mode, b.mode(i)); });
}

namespace detail {

// A stride that is no multiple of what is covered leaves a hole that no whole copy fills: refused
// where every offset must be reached, left where only room for copies is asked for.
enum class Holes { refused, left };

template <class Trace = Silent>
constexpr Result<Layout> complement_in(const Layout& layout, const Tuple& cotarget,
                                       Holes holes = Holes::refused, Trace trace = {}) {
  using Rule = Refusal::Rule;
  if (const Refusal r = needs_concrete(layout, 0)) return r;
  Tree<Mode> covered = filter(layout)->modes;
  sort_by_stride(covered);
  Leaves out;
  bool fits = true;
  std::int64_t reach = 1;  // offsets [0, reach) are covered by what we have so far
  if (!covered.leaf[0].stride.is(0)) {
    for (int i = 0; i < covered.leaves; ++i) {
      const std::int64_t stride = covered.leaf[i].stride.value;
      if (stride < reach) return refuse(Rule::not_injective, i, stride, reach);
      if (stride % reach != 0 && holes == Holes::refused) {
        return refuse(Rule::hole, i, stride, reach);
      }
      trace.gap(covered.leaf[i], reach, {stride / reach, reach});
      push_coalesced(out, {stride / reach, reach});
      reach = checked_mul(stride, covered.leaf[i].shape.value, fits);
      if (!fits) return refuse(Rule::overflow);
    }
  }
  // The rest of the target behind what is covered: ceil(cotarget / reach), leaf by leaf.
  std::int64_t rest = reach, stride = reach;
  for (int i = 0; i < cotarget.leaves; ++i) {
    const Int& target = cotarget.leaf[i];
    if (!target.known()) return refuse(Rule::dynamic_leaf, i);
    if (target.value < 1) return refuse(Rule::size_not_positive, i, target.value);
    const std::int64_t steps = ceil_div(target.value, rest);
    rest = ceil_div(rest, target.value);
    trace.rest(stride, {steps, stride});
    push_coalesced(out, {steps, stride});
    stride = checked_mul(stride, steps, fits);
  }
  if (!fits) return refuse(Rule::overflow);
  if (out.list.overflowed) return refuse(Rule::too_many_leaves, -1, max_leaves);
  return built({}, out.done());
}

}  // namespace detail

constexpr Result<Layout> complement(const Layout& layout, const Tuple& cotarget) {
  return detail::complement_in(layout, cotarget);
}

constexpr Result<Layout> complement(const Layout& layout) {
  const Result<Layout> plain = filter(layout);
  if (!plain) return plain;
  const Result<std::int64_t> reach = cosize(*plain);
  if (!reach) return reach.refusal;
  return complement(*plain, Tuple(*reach));
}

namespace detail {

// For each leaf of a shape: its place in the order, and which leaf of the order gave it. A number
// in the order stands for a whole nested mode, whose leaves follow each other.
struct Order {
  std::array<std::int64_t, max_leaves> place{};
  std::array<int, max_leaves> owner{};
  int leaves = 0, owners = 0;

  constexpr Refusal read(const Tuple& shape, const Tuple& order) {
    if (order.scalar()) {
      if (!order.leaf[0].known()) return refuse(Refusal::Rule::dynamic_leaf, owners);
      for (int k = 0; k < shape.leaves; ++k) {
        place[leaves] = order.leaf[0].value;
        owner[leaves++] = owners;
      }
      ++owners;
      return {};
    }
    if (shape.scalar() || shape.rank() != order.rank()) {
      return refuse(Refusal::Rule::not_congruent, -1, shape.rank(), order.rank());
    }
    for (int i = 0; i < shape.rank(); ++i) {
      if (const Refusal r = read(shape.mode(i), order.mode(i))) return r;
    }
    return {};
  }
};

constexpr Result<Layout> ordered(const Tuple& shape, const Order& order) {
  Result<Layout> out = make_layout(shape);
  if (!out) return out;
  for (int i = 0; i < shape.leaves; ++i) {
    std::int64_t stride = 1;
    for (int k = 0; k < shape.leaves; ++k) {
      const bool same_owner = order.owner[k] == order.owner[i];
      const bool same_place = order.place[k] == order.place[i];
      if (same_place && !same_owner && k < i && !shape.leaf[k].is(1) && !shape.leaf[i].is(1)) {
        return refuse(Refusal::Rule::order_not_distinct, i, order.place[i]);
      }
      const bool faster = order.place[k] < order.place[i] || (same_owner && k < i);
      if (faster) stride *= shape.leaf[k].value;
    }
    out.value.modes.leaf[i].stride = shape.leaf[i].is(1) ? 0 : stride;
  }
  return out;
}

}  // namespace detail

constexpr Result<Layout> make_ordered_layout(const Tuple& shape, const Tuple& order) {
  detail::Order places;
  if (const Refusal r = places.read(shape, order)) return r;
  return detail::ordered(shape, places);
}

constexpr Result<Layout> make_layout_like(const Layout& layout) {
  if (const Refusal r = detail::needs_concrete(layout, 0)) return r;
  // Modes that do not move count as one element, and do not move in the result either.
  const Layout moving = *filter_zeros(layout);
  detail::Order places;
  if (const Refusal r = places.read(moving.shape(), moving.stride())) return r;
  Result<Layout> out = detail::ordered(moving.shape(), places);
  for (int i = 0; out && i < layout.modes.leaves; ++i) {
    out.value.modes.leaf[i].shape = layout.modes.leaf[i].shape;
  }
  return out;
}

constexpr Result<Layout> nullspace(const Layout& layout) {
  if (layout.modes.empty()) return detail::refuse(Refusal::Rule::empty);
  detail::Leaves out;
  std::int64_t stride = 1;
  bool fits = true;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (!m.shape.known()) return detail::refuse(Refusal::Rule::dynamic_leaf, i);
    if (m.stride.is(0)) out.push({m.shape, m.shape.is(1) ? 0 : stride});
    stride = checked_mul(stride, m.shape.value, fits);
  }
  if (!fits) return detail::refuse(Refusal::Rule::overflow);
  return Layout(out.done());
}

}  // namespace tilescope
