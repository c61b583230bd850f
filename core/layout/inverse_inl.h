// Inverses, what two layouts share, and swizzles that pass through layouts; include algebra.h.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope {
namespace detail {

// The most coordinates that are counted out where a law is verified by trying it.
inline constexpr std::int64_t verifiable = std::int64_t{1} << 22;

template <class Trace = Silent>
constexpr Result<Layout> right_inverse_of(const Layout& layout, Trace trace = {}) {
  if (const Refusal r = needs_concrete(layout, 0, {.unknown = true})) return r;
  if (const Refusal r = needs_order(layout.modes)) return r;
  // Walk the leaves by stride; those that continue [0, reach) without a gap are inverted: where a
  // leaf is among A's coordinates becomes its stride.
  Tree<Mode> leaves = coalesce(layout)->modes;
  Int before = 1;
  bool fits = true;  // as does the size
  std::array<Int, max_leaves> domain{};
  for (int i = 0; i < leaves.leaves; ++i) {
    domain[i] = before;
    before = times(before, leaves.leaf[i].shape, fits);
  }
  Leaves out;
  Int reach = 1;
  std::array<bool, max_leaves> used{};
  for (bool found = true; found;) {
    found = false;
    for (int i = 0; i < leaves.leaves && !found; ++i) {
      const Mode& m = leaves.leaf[i];
      if (used[i] || m.shape.is(1) || m.stride.value < reach.value) continue;
      // Whether it goes on from an unknown end is not known.
      if (!reach.known()) return refuse(Refusal::Rule::unordered, -1, reach.value);
      if (!m.stride.is(reach.value)) continue;
      trace.finds(m, reach, {m.shape, domain[i]});
      push_coalesced(out, {m.shape, domain[i]});
      reach = times(reach, m.shape, fits);
      found = used[i] = true;
    }
  }
  trace.ends(reach);
  return Layout(out.done());
}

template <class Trace = Silent>
constexpr Result<Layout> left_inverse_of(const Layout& layout, Trace trace = {}) {
  using Rule = Refusal::Rule;
  if (const Refusal r = needs_concrete(layout, 0, {.unknown = true})) return r;
  if (const Refusal r = needs_order(layout.modes)) return r;
  // An offset is read as digits in the radix of the sorted strides; each digit's place among L's
  // coordinates is its stride. Digits that no leaf of L moves have stride 0, and leaves of L that
  // do not move (a broadcast) have no digit.
  const Tree<Mode> leaves = coalesce(layout)->modes;
  Tree<Mode> by_stride = leaves;
  sort_by_stride(by_stride);
  int first = 0;
  while (first < by_stride.leaves && by_stride.leaf[first].stride.is(0)) ++first;
  if (first == by_stride.leaves) return Layout(by_stride.leaf[first - 1].shape, 0);
  Leaves out;
  if (!by_stride.leaf[first].stride.is(1)) out.push({by_stride.leaf[first].stride, 0});
  Int reach = 1;
  bool fits = true;
  for (int i = first; i < leaves.leaves; ++i) {
    const Mode& m = by_stride.leaf[i];
    const std::int64_t stride = m.stride.value;
    if (!reach.known()) return refuse(Rule::unordered, i - 1, reach.value);
    if (stride < reach.value) return refuse(Rule::not_injective, i, stride, reach.value);
    Int domain = 1;
    for (int k = 0; !(leaves.leaf[k] == m); ++k) domain = times(domain, leaves.leaf[k].shape, fits);
    const bool last = i + 1 == leaves.leaves;
    const Int end = times(stride, m.shape, fits);
    if (!fits) return refuse(Rule::overflow);
    const Int next = last ? end : by_stride.leaf[i + 1].stride;
    if (!multiple_of(next, stride)) return refuse(Rule::hole, i + 1, next.value, stride);
    trace.finds(m, reach, {over(next, stride), domain});
    push_coalesced(out, {over(next, stride), domain});
    reach = end;
  }
  if (out.list.overflowed) return refuse(Rule::too_many_leaves, -1, max_leaves);
  return Layout(out.done());
}

// The swizzle that has these source and target bits, as CuTe's make_swizzle<Y,Z>; the identity
// where both are empty, a refusal where no Swizzle has them.
constexpr Result<Swizzle> swizzle_of_masks(std::int64_t source, std::int64_t target) {
  const Refusal no = refuse(Refusal::Rule::swizzle_through, -1, source, target);
  if (source == 0 && target == 0) return Swizzle{};
  if (source <= 0 || target <= 0) return no;
  const auto lowest = [](std::int64_t x) {
    int n = 0;
    while ((x >> n) % 2 == 0) ++n;
    return n;
  };
  const int y = lowest(source), z = lowest(target);
  const std::int64_t field = source >> y;
  if (field != target >> z || (field & (field + 1)) != 0) return no;
  int bits = 0;
  while ((field >> bits) != 0) ++bits;
  const Result<Swizzle> made = make_swizzle(bits, y < z ? y : z, y - z);
  return made ? made : Result<Swizzle>(no);
}

// L(index) with arithmetic that says when it does not fit: an index may be far outside of L.
constexpr Result<std::int64_t> offset_at(const Layout& layout, std::int64_t index) {
  if (index < 0) return refuse(Refusal::Rule::out_of_bounds, -1, index);
  bool fits = true;
  std::int64_t sum = layout.offset.value;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    const bool last = i + 1 == layout.modes.leaves;
    const std::int64_t here = last ? index : index % m.shape.value;
    if (!last) index /= m.shape.value;
    sum = checked_add(sum, checked_mul(here, m.stride.value, fits), fits);
  }
  if (!fits) return refuse(Refusal::Rule::overflow);
  return layout.swizzle(sum);
}

// For A o Sw with A plain: the swizzle Sw' for which Sw' o A may be the same. Whether it is, the
// caller verifies: A carries a swizzle only where it moves the swizzled bits as bits.
constexpr Result<Swizzle> carried_through(const Layout& a, Swizzle swizzle) {
  if (swizzle.identity()) return Swizzle{};
  const std::int64_t field = (std::int64_t{1} << swizzle.bits) - 1;
  const int up = swizzle.shift > 0 ? swizzle.shift : 0,
            down = swizzle.shift < 0 ? -swizzle.shift : 0;
  if (swizzle.base + up + down + swizzle.bits > 62) return refuse(Refusal::Rule::swizzle_through);
  const Result<std::int64_t> source = offset_at(a, field << (swizzle.base + up));
  const Result<std::int64_t> target = offset_at(a, field << (swizzle.base + down));
  if (!source || !target) return refuse(Refusal::Rule::swizzle_through);
  return swizzle_of_masks(*source, *target);
}

// A o (Sw o B) as Sw' o (A o B): CuTe's rule, and here verified for every coordinate of B.
constexpr Result<Layout> compose_with_swizzled(const Layout& a, const Layout& b) {
  using Rule = Refusal::Rule;
  if (!a.plain()) return refuse(Rule::has_swizzle);
  if (const Refusal r = needs_concrete(a, 0)) return r;
  if (const Refusal r = needs_concrete(b, 1, {.swizzle = true})) return r;
  if (b.offset.value != 0) return refuse(Rule::has_offset, -1, b.offset.value);
  const Result<std::int64_t> n = size(b);
  if (!n) return n.refusal;
  if (*n > verifiable) return refuse(Rule::too_large_to_list, -1, *n, verifiable);
  Result<Layout> out = compose(a, Layout(b.modes), true);
  if (!out) return out;
  const Result<Swizzle> carried = carried_through(a, b.swizzle);
  for (const Swizzle candidate : {carried.value, Swizzle{}}) {
    if (!carried && !candidate.identity()) continue;
    out.value.swizzle = candidate;
    bool same = true;
    for (std::int64_t i = 0; i < *n && same; ++i) {
      const Result<std::int64_t> expected = offset_at(a, b(i));
      same = expected && out.value(i) == *expected;
    }
    if (same) return out;
  }
  return refuse(Rule::swizzle_through);
}

// The inverse of Sw o L is L's inverse o Sw; as one layout it is Sw' o the inverse, where that
// holds.
constexpr Result<Layout> swizzled_inverse(const Layout& layout, const Result<Layout>& plain_inverse,
                                          bool from_the_left) {
  using Rule = Refusal::Rule;
  if (!plain_inverse) return plain_inverse;
  if (!layout.offset.is(0)) return refuse(Rule::has_offset, -1, layout.offset.value);
  Result<Layout> out = plain_inverse;
  const Result<Swizzle> carried = carried_through(*plain_inverse, layout.swizzle);
  const Result<std::int64_t> n = size(from_the_left ? layout : *plain_inverse);
  if (!n) return n.refusal;
  if (*n > verifiable) return refuse(Rule::too_large_to_list, -1, *n, verifiable);
  for (const Swizzle candidate : {carried.value, Swizzle{}}) {
    if (!carried && !candidate.identity()) continue;
    out.value.swizzle = candidate;
    bool inverts = true;
    for (std::int64_t i = 0; i < *n && inverts; ++i) {
      const std::int64_t there = from_the_left ? layout(i) : out.value(i);
      const Result<std::int64_t> back = offset_at(from_the_left ? *out : layout, there);
      inverts =
          back && (from_the_left ? *back >= 0 && *back < *n && layout(*back) == there : *back == i);
    }
    if (inverts) return out;
  }
  return refuse(Rule::swizzle_through);
}

}  // namespace detail

constexpr Result<Swizzle> composition(Swizzle a, Swizzle b) {
  // Both are linear over bits (XOR), so they agree everywhere if they agree on each bit.
  const auto mask = [](Swizzle s, bool source) {
    const std::int64_t field = (std::int64_t{1} << s.bits) - 1;
    const int up = s.shift > 0 ? s.shift : 0, down = s.shift < 0 ? -s.shift : 0;
    return field << (s.base + (source ? up : down));
  };
  const Refusal no = detail::refuse(Refusal::Rule::swizzle_merge);
  const Result<Swizzle> merged =
      detail::swizzle_of_masks(mask(a, true) ^ mask(b, true), mask(a, false) ^ mask(b, false));
  if (!merged) return no;
  for (int bit = 0; bit < 62; ++bit) {
    const std::int64_t x = std::int64_t{1} << bit;
    if ((*merged)(x) != a(b(x))) return no;
  }
  return merged;
}

constexpr Result<Layout> composition(Swizzle a, const Layout& b) {
  for (int i = 0; i < b.modes.leaves && !a.identity(); ++i) {  // a swizzle permutes offsets
    const Int& stride = b.modes.leaf[i].stride;
    if (!stride.axis.none()) return detail::on_axis(Refusal::Rule::axis_stride, stride, i);
  }
  const Result<Swizzle> merged = composition(a, b.swizzle);
  if (!merged) return merged.refusal;
  Layout out = b;
  out.swizzle = *merged;
  return out;
}

constexpr Result<Layout> right_inverse(const Layout& layout) {
  if (layout.plain()) return detail::right_inverse_of(layout);
  const Result<Layout> plain = detail::right_inverse_of(Layout(layout.modes));
  return detail::swizzled_inverse(layout, plain, false);
}

constexpr Result<Layout> left_inverse(const Layout& layout) {
  if (layout.plain()) return detail::left_inverse_of(layout);
  const Result<Layout> plain = detail::left_inverse_of(Layout(layout.modes));
  return detail::swizzled_inverse(layout, plain, true);
}

namespace detail {

constexpr Result<Layout> max_common_plain(const Layout& a, const Layout& b) {
  Result<Layout> to_b = right_inverse(b);
  if (!to_b) to_b.refusal.operand = 1;
  if (!to_b) return to_b;
  const Result<Layout> through = composition(a, *to_b);
  if (!through) return through;
  const Layout common = *coalesce(*through);
  const Mode& first = common.modes.leaf[0];
  if (!common.plain() || !first.stride.is(1)) return Layout(1, 0);
  return composition(*to_b, Layout(first.shape, first.stride));
}

// How many neighbours a swizzle leaves side by side: 2^M, if its offset keeps them together.
constexpr Result<std::int64_t> unswizzled(const Layout& layout, int operand) {
  Refusal r;
  const std::int64_t side_by_side = std::int64_t{1} << layout.swizzle.base;
  if (layout.swizzle.identity() ? !layout.offset.is(0)
                                : !multiple_of(layout.offset, side_by_side)) {
    r = refuse(Refusal::Rule::has_offset, -1, layout.offset.value);
  }
  r.operand = static_cast<std::int8_t>(operand);
  if (r) return r;
  return layout.swizzle.identity() ? INT64_MAX : side_by_side;
}

}  // namespace detail

constexpr Result<Layout> max_common_layout(const Layout& a, const Layout& b) {
  const Result<std::int64_t> most_a = detail::unswizzled(a, 0), most_b = detail::unswizzled(b, 1);
  if (!most_a) return most_a.refusal;
  if (!most_b) return most_b.refusal;
  const std::int64_t most = *most_a < *most_b ? *most_a : *most_b;
  const Result<Layout> common = detail::max_common_plain(Layout(a.modes), Layout(b.modes));
  if (!common) return common;
  const Result<Int> n = extent(*common);
  if (!n) return n.refusal;
  const bool all = most == INT64_MAX || (n->known() && n->value <= most);
  return all ? common : composition(*common, Layout(most, 1));
}

constexpr Result<Int> max_common_extent(const Layout& a, const Layout& b) {
  const bool alike = a.swizzle == b.swizzle && a.offset == b.offset;
  const Result<Layout> common =
      alike ? detail::max_common_plain(Layout(a.modes), Layout(b.modes)) : max_common_layout(a, b);
  if (!common) return common.refusal;
  return extent(*common);
}

constexpr Result<std::int64_t> max_common_vector(const Layout& a, const Layout& b) {
  const Result<Int> n = max_common_extent(a, b);
  if (!n) return n.refusal;
  if (!n->known()) return detail::refuse(Refusal::Rule::dynamic_leaf);
  return n->value;
}

}  // namespace tilescope
