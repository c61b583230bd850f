// A layout as a tuple of modes: taking, choosing, gathering and adding them.
//
// Nothing here computes: the leaves stay as they are, only their order and nesting change. A
// composed layout keeps its swizzle and offset; what is put in must be plain, for one layout has
// one swizzle. Names and results are CuTe's (include/cute/layout.hpp, "Operations to manipulate
// Layouts like a tuple of pairs"); a CuTe template argument is a plain argument here.
#pragma once

#include "core/layout/layout.h"

namespace tilescope {

// The modes [begin, end) as a tuple.       take((2,3,4):(1,2,6), 1, 3) = (3,4):(2,6)
constexpr Result<Layout> take(const Layout& layout, std::int64_t begin, std::int64_t end);

// The modes of these numbers, in this order.     select((2,3,4):(1,2,6), 2, 0) = (4,2):(6,1)
constexpr Result<Layout> select(const Layout& layout, const Tuple& modes);

// The modes [begin, end) as one mode.      group((2,3,4):(1,2,6), 0, 2) = ((2,3),4):((1,2),6)
constexpr Result<Layout> group(const Layout& layout, std::int64_t begin, std::int64_t end);

// X as a further mode, after or before the others.   append(2:1, 3:2) = (2,3):(1,2)
constexpr Result<Layout> append(const Layout& layout, const Layout& x);
constexpr Result<Layout> prepend(const Layout& layout, const Layout& x);
// X as often as it takes to have rank n.          append(2:1, 1:0, 3) = (2,1,1):(1,0,0)
constexpr Result<Layout> append(const Layout& layout, const Layout& x, std::int64_t n);
constexpr Result<Layout> prepend(const Layout& layout, const Layout& x, std::int64_t n);

// X in the place of mode i.           replace((2,3):(1,2), 0, 4:9) = (4,3):(9,2)
constexpr Result<Layout> replace(const Layout& layout, std::int64_t i, const Layout& x);

// ((a0,b0),(a1,b1),...) of (a0,a1,...) and (b0,b1,...); a number is paired with the whole of B.
//     zip((2,3):(1,2), (4,5):(6,24)) = ((2,4),(3,5)):((1,6),(2,24))
constexpr Result<Layout> zip(const Layout& a, const Layout& b);

// Flat modes in the nesting of `profile`, which has as many leaves.
//     unflatten((2,3,4):(1,2,6), (1,(1,1))) = (2,(3,4)):(1,(2,6))
constexpr Result<Layout> unflatten(const Layout& layout, const Tuple& profile);

namespace detail {

constexpr Layout with_modes(const Layout& layout, const Tree<Mode>& modes) {
  Layout out = layout;
  out.modes = modes;
  return out;
}

// Whether the number of coordinates and the offsets fit in 64 bits. Every layout that is made keeps
// this, so that what walks over its coordinates need not ask.
constexpr Refusal numbers_fit(const Tree<Mode>& modes) {
  bool fits = true;
  std::int64_t count = 1, reach = 1;
  for (int i = 0; i < modes.leaves; ++i) {
    const Mode& m = modes.leaf[i];
    if (!m.shape.known() || !m.stride.known()) continue;
    const std::int64_t end = checked_mul(m.shape.value, m.stride.value, fits);
    count = checked_mul(count, m.shape.value, fits);
    reach = checked_add(reach, end < 0 ? checked_mul(end, -1, fits) : end, fits);
  }
  return fits ? Refusal{} : refuse(Refusal::Rule::overflow);
}

// The tree as the modes of a layout, if it is within the capacities.
constexpr Result<Layout> built(const Layout& layout, const Tree<Mode>& modes) {
  if (const Refusal r = modes.capacity()) return r;
  if (const Refusal r = numbers_fit(modes)) return r;
  return Result<Layout>(modes, layout.swizzle, layout.offset);
}

constexpr Refusal needs_range(const Layout& layout, std::int64_t begin, std::int64_t end) {
  if (begin >= 0 && begin < end && end <= layout.rank()) return {};
  const bool backwards = begin >= 0 && begin < layout.rank() && end <= begin;
  return backwards ? refuse(Refusal::Rule::empty_range, -1, begin, end)
                   : refuse(Refusal::Rule::mode_out_of_range, -1, begin < 0 ? begin : end - 1,
                            layout.rank());
}

constexpr Refusal needs_plain(const Layout& layout, int operand) {
  Refusal r;
  if (!layout.plain()) r = refuse(Refusal::Rule::has_swizzle);
  if (layout.modes.empty()) r = refuse(Refusal::Rule::empty);
  r.operand = static_cast<std::int8_t>(operand);
  return r;
}

}  // namespace detail

constexpr Result<Layout> take(const Layout& layout, std::int64_t begin, std::int64_t end) {
  if (const Refusal r = detail::needs_range(layout, begin, end)) return r;
  if (layout.modes.scalar()) return layout;
  Tree<Mode> out;
  for (std::int64_t i = begin; i < end; ++i) out.push_mode(layout.modes, static_cast<int>(i));
  return detail::built(layout, out);
}

constexpr Result<Layout> select(const Layout& layout, const Tuple& modes) {
  Tree<Mode> out;
  for (int k = 0; k < modes.leaves; ++k) {
    if (!modes.leaf[k].known()) return detail::refuse(Refusal::Rule::dynamic_leaf, k);
    const Result<Layout> mode = get(layout, modes.leaf[k].value);
    if (!mode) return mode;
    out.push(mode->modes);
  }
  return detail::built(layout, out);
}

constexpr Result<Layout> group(const Layout& layout, std::int64_t begin, std::int64_t end) {
  if (const Refusal r = detail::needs_range(layout, begin, end)) return r;
  Tree<Mode> out, inner;
  for (int i = 0; i < layout.rank(); ++i) {
    const bool grouped = i >= begin && i < end;
    (grouped ? inner : out).push_mode(layout.modes, i);
    if (i + 1 == end) out.push(inner);
  }
  return detail::built(layout, out);
}

constexpr Result<Layout> append(const Layout& layout, const Layout& x) {
  return append(layout, x, layout.rank() + 1);
}

constexpr Result<Layout> prepend(const Layout& layout, const Layout& x) {
  return prepend(layout, x, layout.rank() + 1);
}

constexpr Result<Layout> append(const Layout& layout, const Layout& x, std::int64_t n) {
  if (const Refusal r = detail::needs_plain(x, 1)) return r;
  if (n < layout.rank()) return detail::refuse(Refusal::Rule::rank_too_large, -1, layout.rank(), n);
  if (n == layout.rank()) return layout;
  Tree<Mode> out = layout.modes;
  if (out.scalar()) {
    out = {};
    out.push(layout.modes);
  }
  for (std::int64_t i = layout.rank(); i < n && !out.overflowed; ++i) out.push(x.modes);
  return detail::built(layout, out);
}

constexpr Result<Layout> prepend(const Layout& layout, const Layout& x, std::int64_t n) {
  if (const Refusal r = detail::needs_plain(x, 1)) return r;
  if (n < layout.rank()) return detail::refuse(Refusal::Rule::rank_too_large, -1, layout.rank(), n);
  if (n == layout.rank()) return layout;
  Tree<Mode> out;
  for (std::int64_t i = layout.rank(); i < n && !out.overflowed; ++i) out.push(x.modes);
  for (int i = 0; i < layout.rank(); ++i) out.push_mode(layout.modes, i);
  return detail::built(layout, out);
}

constexpr Result<Layout> replace(const Layout& layout, std::int64_t i, const Layout& x) {
  if (const Refusal r = detail::needs_range(layout, i, i + 1)) return r;
  if (const Refusal r = detail::needs_plain(x, 2)) return r;
  Tree<Mode> out;
  for (int k = 0; k < layout.rank(); ++k) {
    if (k == i)
      out.push(x.modes);
    else
      out.push_mode(layout.modes, k);
  }
  return detail::built(layout, out);
}

constexpr Result<Layout> zip(const Layout& a, const Layout& b) {
  if (const Refusal r = detail::needs_plain(b, 1)) return r;
  const bool whole = a.modes.scalar();
  if (!whole && (b.modes.scalar() || a.rank() != b.rank())) {
    return detail::refuse(Refusal::Rule::not_congruent, -1, a.rank(), b.rank());
  }
  Tree<Mode> out;
  for (int i = 0; i < a.rank(); ++i) {
    Tree<Mode> pair;
    pair.push_mode(a.modes, i);
    if (whole)
      pair.push(b.modes);
    else
      pair.push_mode(b.modes, i);
    out.push(pair);
  }
  return detail::built(a, out);
}

constexpr Result<Layout> unflatten(const Layout& layout, const Tuple& profile) {
  if (layout.depth() > 1 || profile.leaves != layout.leaves()) {
    return detail::refuse(Refusal::Rule::not_congruent, -1, layout.leaves(), profile.leaves);
  }
  Tree<Mode> out = layout.modes;
  out.open = profile.open;
  out.close = profile.close;
  return detail::built(layout, out);
}

}  // namespace tilescope
