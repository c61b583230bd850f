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
  // (a,b,...) ; one leaf alone stays a scalar, none is `1:0`. Nothing is pushed behind it.
  constexpr const Tree<Mode>& done() {
    if (list.leaves == 0) list.leaf[list.leaves++] = Mode{1, 0};
    if (list.leaves == 1) return list;
    list.open[0] = 1;
    list.close[list.leaves - 1] = 1;
    return list;
  }
};

constexpr void push_coalesced(Leaves& out, const Mode& m) {
  if (m.shape.is(1)) return;
  if (out.count() > 0 && continues(out.back(), m)) {
    bool fits = true;  // as does the size of what is coalesced
    out.back().shape = times(out.back().shape, m.shape, fits);
  } else {
    out.push(m);
  }
}

// What an operand may be beyond a plain layout of numbers.
struct Allowed {
  bool swizzle = false, axes = false, unknown = false, negative = false;
};

constexpr Refusal needs_concrete(const Layout& layout, int operand, Allowed allowed = {}) {
  Refusal r;
  for (int i = 0; i < layout.modes.leaves && !r; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (!allowed.unknown && (!m.shape.known() || !m.stride.known()))
      r = refuse(Refusal::Rule::dynamic_leaf, i);
    else if (!allowed.axes && !m.stride.axis.none())
      r = on_axis(Refusal::Rule::axis_stride, m.stride, i);
    else if (!allowed.negative && m.stride.value < 0)
      r = refuse(Refusal::Rule::negative_stride, i, m.stride.value);
    else if (m.shape.value < 1)
      r = refuse(Refusal::Rule::size_not_positive, i, m.shape.value);
  }
  if (!r && layout.modes.empty()) r = refuse(Refusal::Rule::empty);
  if (!r && !allowed.swizzle && !layout.plain()) r = refuse(Refusal::Rule::has_swizzle);
  if (!r && !allowed.unknown && !layout.offset.known()) r = refuse(Refusal::Rule::dynamic_leaf);
  r.operand = static_cast<std::int8_t>(operand);
  return r;
}

// For what goes through the modes in the order of their strides.
constexpr Refusal needs_order(const Tree<Mode>& modes) {
  for (int i = 0; i < modes.leaves; ++i) {
    const Int& stride = modes.leaf[i].stride;
    if (!stride.known()) return refuse(Refusal::Rule::unordered, i, stride.value);
  }
  return {};
}

// The left side of a composition, read as digits: an offset of B is written in the mixed radix of
// A's (coalesced) extents, the last digit without bound. A keeps its last mode even at size 1,
// because composition extends it: 1:1 o (3,4):(1,3) = (3,4):(1,3).
struct Digits {
  Leaves modes;
  std::array<std::int64_t, max_leaves> reached{};  // largest digit that B reaches so far
  bool together;  // whether B's leaves are added up: their sum must not carry

  constexpr Digits(const Tree<Mode>& of, bool leaves_together) : together(leaves_together) {
    for (int i = 0; i + 1 < of.leaves; ++i) push_coalesced(modes, of.leaf[i]);
    Mode last = of.leaf[of.leaves - 1];
    if (last.shape.is(1)) last.shape = 2;  // any extent above 1: it has no bound
    push_coalesced(modes, last);
  }
  constexpr int count() const { return modes.count(); }
  constexpr const Mode& mode(int i) const { return modes.list.leaf[i]; }
};

// What an operation tells of its steps as it goes, to whoever explains it; nobody by default. The
// explanations are made from the very code that computes, so that the two cannot disagree.
struct Silent {
  constexpr void leaf(int, const Mode&) {}                // a leaf of B is next
  constexpr void along(const Int&, const Tree<Mode>&) {}  // B's stride, A's mode on its axis
  constexpr void passes(int, const Mode&, const Int&, const Int&) {}  // stride before, after
  constexpr void takes(int, const Mode&, const Mode&) {}              // digit, A's mode, result
  constexpr void beyond(const Mode&, const Mode&) {}                  // A's last mode, result
  constexpr void still(const Mode&) {}                                // a leaf that never moves
  constexpr void gap(const Mode&, const Int&, const Mode&) {}    // next mode, covered, what fills
  constexpr void rest(const Int&, const Mode&) {}                // covered, what fills the target
  constexpr void finds(const Mode&, const Int&, const Mode&) {}  // L's mode, covered, inverse
  constexpr void ends(const Int&) {}                             // no mode goes on from here
};

// How many of the `steps` of `stride` are taken inside a digit of this extent, or why none can be:
// they all fit below it, or they run through it in whole parts.
constexpr Result<std::int64_t> steps_inside(const Int& steps, std::int64_t stride,
                                            const Int& extent, int digit) {
  using Rule = Refusal::Rule;
  bool fits = true;
  const bool all_fit =
      steps.known() &&
      at_least(extent, checked_add(checked_mul(steps.value - 1, stride, fits), 1, fits));
  if (all_fit && fits) return steps.value;
  if (!extent.known()) {  // no part of an unknown extent is whole for certain
    const std::int64_t enough = checked_mul(steps.value, stride, fits);
    return steps.known() && fits ? refuse(Rule::divisor, digit, extent.value, enough)
                                 : refuse(Rule::dynamic_leaf, digit);
  }
  if (extent.value % stride != 0)
    return refuse(Rule::stride_divisibility, digit, stride, extent.value);
  const std::int64_t whole = extent.value / stride;
  if (multiple_of(steps, whole)) return whole;
  Refusal r = refuse(Rule::shape_divisibility, digit, steps.value, whole);
  if (!steps.known()) r = refuse(Rule::divisor, -1, steps.value, whole);
  if (!steps.known()) r.operand = 1;
  return r;
}

// Whether a stride passes over a digit of this extent, so that the digit stays 0: it does if it is
// a multiple. A smaller stride stays inside. Refused where neither is certain.
constexpr Result<bool> passes_over(const Int& stride, const Int& extent, int digit) {
  using Rule = Refusal::Rule;
  if (!stride.known()) {
    if (extent.known() && multiple_of(stride, extent.value)) return true;
    Refusal r = extent.known() ? refuse(Rule::divisor, -1, stride.value, extent.value)
                               : refuse(Rule::dynamic_leaf, -1);
    r.operand = 1;
    return r;
  }
  if (!extent.known() || stride.value < extent.value) return false;
  if (stride.value % extent.value == 0) return true;
  return refuse(Rule::stride_divisibility, digit, stride.value, extent.value);
}

// One leaf of B through A: `leaf.shape` steps of `leaf.stride` in A's domain become one or more
// modes, one for each digit they run through. The law needs each step to stay inside one digit, or
// to run through it in whole parts:
//
//     extent n, stride d:   d >= n: n must divide d (the digit stays 0)
//                           d <  n: all steps fit below n, or d divides n and n/d divides the steps
//
// Of unknown numbers that must be certain from what divides them. A leaf of one step never moves;
// its stride is what CuTe prints for it.
template <class Trace>
constexpr Refusal compose_leaf(Digits& a, const Mode& leaf, Leaves& out, Trace& trace) {
  using Rule = Refusal::Rule;
  Int steps = leaf.shape, stride = leaf.stride;
  bool fits = true;
  const Mode& last = a.mode(a.count() - 1);  // extends without bound
  if (steps.is(1) || stride.zero()) {
    for (int i = 0; i + 1 < a.count(); ++i) stride = ceil_div(stride, a.mode(i).shape);
    const Mode still{steps, times(last.stride, stride, fits)};
    trace.still(still);
    out.push(still);
    return fits ? Refusal{} : refuse(Rule::overflow);
  }
  for (int i = 0; i + 1 < a.count() && !steps.is(1); ++i) {
    const Int& extent = a.mode(i).shape;
    const Result<bool> passes = passes_over(stride, extent, i);
    if (!passes) return passes.refusal;
    if (*passes) {
      const Int rest = over(stride, extent.value);
      trace.passes(i, a.mode(i), stride, rest);
      stride = rest;
      continue;
    }
    const Result<std::int64_t> taken = steps_inside(steps, stride.value, extent, i);
    if (!taken) return taken.refusal;
    const Mode part{*taken, times(a.mode(i).stride, stride, fits)};
    trace.takes(i, a.mode(i), part);
    out.push(part);
    a.reached[i] += (*taken - 1) * stride.value;
    if (a.together && !at_least(extent, a.reached[i] + 1)) {
      return extent.known() ? refuse(Rule::carry, i, a.reached[i], extent.value)
                            : refuse(Rule::divisor, i, extent.value, a.reached[i] + 1);
    }
    steps = over(steps, *taken);
    stride = 1;
  }
  if (!steps.is(1)) {
    const Mode part{steps, times(last.stride, stride, fits)};
    trace.beyond(last, part);
    out.push(part);
  }
  return fits ? Refusal{} : refuse(Rule::overflow);
}

// The mode of A that a numbered axis leads to: `1@0@1` moves along mode 0 of mode 1.
constexpr Result<Tree<Mode>> mode_along(const Tree<Mode>& a, const Int& stride, int leaf) {
  constexpr int first_named = 128;
  Tree<Mode> out = a;
  for (int k = stride.axis.steps() - 1; k >= 0; --k) {
    const int step = stride.axis.step(k);
    Refusal r;
    if (step >= first_named)
      r = on_axis(Refusal::Rule::axis_stride, stride, leaf);
    else if (out.scalar() || step > out.rank())
      r = refuse(Refusal::Rule::mode_out_of_range, leaf, step - 1, out.rank());
    r.operand = 1;
    if (r) return r;
    out = out.mode(step - 1);
  }
  return out;
}

constexpr Mode without_axis(Mode m) {
  m.stride.axis = {};
  return m;
}

// Leaf i of B where B's strides are on axes: B(c) is then a coordinate of A, and each axis goes
// through its own mode (CuTe's rule for a ScaledBasis on the right). What the leaves before it do
// on the same axis is added up with it.
template <class Trace>
constexpr Refusal compose_coordinate(const Tree<Mode>& a, const Tree<Mode>& b, int i, bool together,
                                     Leaves& out, Trace& trace) {
  const Mode& leaf = b.leaf[i];
  const Result<Tree<Mode>> along = mode_along(a, leaf.stride, i);
  if (!along) return along.refusal;
  trace.along(leaf.stride, *along);
  Digits digits(*along, together);
  Silent silent;
  for (int k = 0; k < i; ++k) {
    if (!(b.leaf[k].stride.axis == leaf.stride.axis)) continue;
    Leaves before;
    if (const Refusal r = compose_leaf(digits, without_axis(b.leaf[k]), before, silent)) return r;
  }
  return compose_leaf(digits, without_axis(leaf), out, trace);
}

// Offsets and coordinates do not mix: B's leaves that move all are on axes, or none does. And
// axes of a coordinate are apart: none leads into the mode of another.
constexpr Refusal needs_one_kind(const Tree<Mode>& b) {
  for (int i = 0; i < b.leaves; ++i) {
    const Int& stride = b.leaf[i].stride;
    for (int k = 0; k < b.leaves && !stride.axis.none(); ++k) {
      const Axis other = b.leaf[k].stride.axis;
      const int inner = other.steps() - stride.axis.steps();
      const bool still = b.leaf[k].stride.zero() || b.leaf[k].shape.is(1);
      const bool inside = inner > 0 && other.without(inner) == stride.axis;
      if (still || (!other.none() && !inside)) continue;
      Refusal r = on_axis(Refusal::Rule::axis_stride, stride, i);
      r.operand = 1;
      return r;
    }
  }
  return {};
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
  // A may run backwards: its strides are only multiplied.
  if (const Refusal r = needs_concrete(
          a, 0, {.swizzle = true, .axes = true, .unknown = true, .negative = true})) {
    return r;
  }
  if (const Refusal r = needs_concrete(b, 1, {.axes = true, .unknown = true})) return r;
  if (const Refusal r = needs_one_kind(b.modes)) return r;
  Digits digits(a.modes, leaves_together);
  // Each leaf of B becomes one leaf, or a nested tuple of leaves, in its own place.
  Leaves all;
  for (int i = 0; i < b.modes.leaves; ++i) {
    const int first = all.count();
    trace.leaf(i, b.modes.leaf[i]);
    const bool offset = b.modes.leaf[i].stride.axis.none();
    Refusal r = offset ? compose_leaf(digits, b.modes.leaf[i], all, trace)
                       : compose_coordinate(a.modes, b.modes, i, leaves_together, all, trace);
    if (r && r.operand == 1 && r.mode < 0) r.mode = static_cast<std::int8_t>(i);
    if (r) return r;
    if (all.list.overflowed) return refuse(Refusal::Rule::too_many_leaves, -1, max_leaves);
    const int last = all.count() - 1, nested = last > first;
    all.list.open[first] = static_cast<std::uint8_t>(b.modes.open[i] + nested);
    all.list.close[last] = static_cast<std::uint8_t>(b.modes.close[i] + nested);
  }
  if (all.list.depth() > max_depth) return refuse(Refusal::Rule::too_deep, -1, max_depth);
  if (const Refusal r = numbers_fit(all.list)) return r;
  return Result<Layout>(all.list, a.swizzle, a.offset);
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
      if (others == Others::kept) out.push_mode(a.modes, i);
      continue;
    }
    const Result<Layout> part = operation(Layout(a.modes, i), i);
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
  return Result<Layout>(out.done(), layout.swizzle, layout.offset);
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
  return Result<Layout>(out.done(), layout.swizzle, layout.offset);
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
  if (const Refusal r = needs_concrete(layout, 0, {.unknown = true})) return r;
  Leaves moving;  // as filter has it
  for (int i = 0; i < layout.modes.leaves; ++i) {
    if (!layout.modes.leaf[i].stride.is(0)) push_coalesced(moving, layout.modes.leaf[i]);
  }
  moving.done();
  Tree<Mode>& covered = moving.list;
  if (const Refusal r = needs_order(covered)) return r;
  sort_by_stride(covered);
  Leaves out;
  bool fits = true;
  Int reach = 1;  // offsets [0, reach) are covered by what we have so far
  for (int i = 0; i < covered.leaves && !covered.leaf[0].stride.is(0); ++i) {
    const std::int64_t stride = covered.leaf[i].stride.value;
    if (!reach.known()) return refuse(Rule::unordered, i - 1, covered.leaf[i - 1].shape.value);
    if (stride < reach.value) return refuse(Rule::not_injective, i, stride, reach.value);
    if (stride % reach.value != 0 && holes == Holes::refused) {
      return refuse(Rule::hole, i, stride, reach.value);
    }
    trace.gap(covered.leaf[i], reach, {stride / reach.value, reach});
    push_coalesced(out, {stride / reach.value, reach});
    reach = times(stride, covered.leaf[i].shape, fits);
    if (!fits) return refuse(Rule::overflow);
  }
  // The rest of the target after what is covered: ceil(cotarget / reach), leaf by leaf.
  Int rest = reach, stride = reach;
  for (int i = 0; i < cotarget.leaves; ++i) {
    const Int& target = cotarget.leaf[i];
    if (const Refusal r = not_an_extent(target, i)) return r;
    const Int steps = ceil_div(target, rest);
    rest = ceil_div(rest, target);
    trace.rest(stride, {steps, stride});
    push_coalesced(out, {steps, stride});
    stride = times(stride, steps, fits);
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
  if (const Refusal r = detail::needs_concrete(*plain, 0, {.unknown = true})) return r;
  const Result<Place> reach = coshape(*plain);
  if (!reach) return reach.refusal;
  return complement(*plain, Tuple(reach->offset()));
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
  bool fits = true;  // as does the whole size
  for (int i = 0; i < shape.leaves; ++i) {
    Int stride = 1;
    for (int k = 0; k < shape.leaves; ++k) {
      const bool same_owner = order.owner[k] == order.owner[i];
      const bool same_place = order.place[k] == order.place[i];
      if (same_place && !same_owner && k < i && !shape.leaf[k].is(1) && !shape.leaf[i].is(1)) {
        return refuse(Refusal::Rule::order_not_distinct, i, order.place[i]);
      }
      const bool faster = order.place[k] < order.place[i] || (same_owner && k < i);
      if (faster) stride = times(stride, shape.leaf[k], fits);
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
  if (const Refusal r = detail::needs_concrete(layout, 0, {.unknown = true})) return r;
  if (const Refusal r = detail::needs_order(layout.modes)) return r;
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
  if (const Refusal r = detail::needs_order(layout.modes)) return r;  // which of them are 0
  Int stride = 1;
  bool fits = true;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (m.stride.zero()) out.push({m.shape, m.shape.is(1) ? Int(0) : stride});
    stride = times(stride, m.shape, fits);
  }
  if (!fits) return detail::refuse(Refusal::Rule::overflow);
  return Layout(out.done());
}

}  // namespace tilescope
