// Definitions of layout.h's functions; include layout.h.
#pragma once

#include "core/layout/layout.h"

namespace tilescope {
namespace detail {

constexpr Refusal refuse(Refusal::Rule rule, int mode = -1, std::int64_t a = 0,
                         std::int64_t b = 0) {
  return {rule, static_cast<std::int8_t>(mode), 0, a, b};
}

// Compact strides over `shape` from the first leaf to the last, or the other way. Size-1 leaves get
// stride 0: no coordinate ever moves along them.
constexpr Result<Layout> compact(const Tuple& shape, bool first_is_fastest) {
  if (const Refusal r = shape.capacity()) return r;
  Layout out(shape.map<Mode>([](const Int& s) { return Mode{s, 0}; }));
  std::int64_t stride = 1;
  bool fits = true;
  for (int k = 0; k < shape.leaves; ++k) {
    const int i = first_is_fastest ? k : shape.leaves - 1 - k;
    const Int extent = shape.leaf[i];
    if (!extent.known()) return refuse(Refusal::Rule::dynamic_leaf, i);
    if (extent.value < 1) return refuse(Refusal::Rule::size_not_positive, i, extent.value);
    if (extent.value != 1) out.modes.leaf[i].stride = stride;
    stride = checked_mul(stride, extent.value, fits);
  }
  if (!fits) return refuse(Refusal::Rule::overflow);
  return out;
}

// The plain part of crd2idx: sum of coordinate * stride, over a coordinate that may stop at any
// level of the structure.
constexpr Result<std::int64_t> inner_product(const Tuple& coordinate, const Tree<Mode>& modes) {
  bool fits = true;
  std::int64_t sum = 0;
  if (coordinate.scalar()) {
    if (!coordinate.leaf[0].known()) {
      return refuse(coordinate.leaf[0].kind == Int::Kind::all ? Refusal::Rule::underscore
                                                              : Refusal::Rule::dynamic_leaf);
    }
    std::int64_t index = coordinate.leaf[0].value;
    if (index < 0) return refuse(Refusal::Rule::out_of_bounds, -1, index, 0);
    for (int i = 0; i < modes.leaves; ++i) {
      const Mode& m = modes.leaf[i];
      if (!m.shape.known() || !m.stride.known()) return refuse(Refusal::Rule::dynamic_leaf, i);
      if (!m.stride.axis.none()) return refuse(Refusal::Rule::axis_stride, i);
      const bool last = i + 1 == modes.leaves;
      const std::int64_t here = last ? index : index % m.shape.value;
      if (!last) index /= m.shape.value;
      sum = checked_add(sum, checked_mul(here, m.stride.value, fits), fits);
    }
    if (!fits) return refuse(Refusal::Rule::overflow);
    return sum;
  }
  if (coordinate.rank() != modes.rank() || modes.scalar() != coordinate.scalar()) {
    return refuse(Refusal::Rule::not_congruent, -1, coordinate.rank(), modes.rank());
  }
  for (int i = 0; i < coordinate.rank(); ++i) {
    const Result<std::int64_t> part = inner_product(coordinate.mode(i), modes.mode(i));
    if (!part) return part;
    sum = checked_add(sum, *part, fits);
  }
  if (!fits) return refuse(Refusal::Rule::overflow);
  return sum;
}

constexpr Refusal slice_into(const Tuple& coordinate, const Tree<Mode>& modes, Tree<Mode>& kept,
                             std::int64_t& offset) {
  if (coordinate.scalar()) {
    if (coordinate.leaf[0].kind == Int::Kind::all) {
      kept.push(modes);
      return kept.capacity();
    }
    const Result<std::int64_t> part = inner_product(coordinate, modes);
    bool fits = true;
    if (part) offset = checked_add(offset, *part, fits);
    return fits ? part.refusal : refuse(Refusal::Rule::overflow);
  }
  if (modes.scalar() || coordinate.rank() != modes.rank()) {
    return refuse(Refusal::Rule::not_congruent, -1, coordinate.rank(), modes.rank());
  }
  for (int i = 0; i < coordinate.rank(); ++i) {
    if (const Refusal r = slice_into(coordinate.mode(i), modes.mode(i), kept, offset)) return r;
  }
  return {};
}

}  // namespace detail

constexpr Result<Layout> make_layout(const Tuple& shape, const Tuple& stride) {
  using Rule = Refusal::Rule;
  if (const Refusal r = shape.capacity()) return r;
  if (const Refusal r = stride.capacity()) return r;
  if (!shape.congruent(stride)) {
    return detail::refuse(Rule::not_congruent, -1, shape.leaves, stride.leaves);
  }
  Layout out(shape.map<Mode>([](const Int& s) { return Mode{s, 0}; }));
  for (int i = 0; i < shape.leaves; ++i) {
    if (shape.leaf[i].value < 1) {
      return detail::refuse(Rule::size_not_positive, i, shape.leaf[i].value);
    }
    if (shape.leaf[i].kind == Int::Kind::all || stride.leaf[i].kind == Int::Kind::all) {
      return detail::refuse(Rule::underscore, i);
    }
    out.modes.leaf[i].stride = stride.leaf[i];
  }
  if (out.concrete()) {  // sizes and offsets that do not fit are found here, once
    const Result<std::int64_t> n = size(out);
    if (!n) return n.refusal;
    const Result<std::int64_t> reach = cosize(out);
    if (!reach) return reach.refusal;
  }
  return out;
}

constexpr Result<Layout> make_layout(const Tuple& shape) {
  return detail::compact(shape, true);
}

constexpr Result<Layout> make_layout_right(const Tuple& shape) {
  return detail::compact(shape, false);
}

constexpr Result<std::int64_t> cosize(const Layout& layout) {
  constexpr std::int64_t countable = std::int64_t{1} << 24;
  const Result<std::int64_t> n = size(layout);
  if (!n) return n;
  if (layout.swizzle.identity()) {
    bool fits = true;
    std::int64_t reach = 1;
    for (int i = 0; i < layout.modes.leaves; ++i) {
      const Mode& m = layout.modes.leaf[i];
      if (!m.stride.known()) return detail::refuse(Refusal::Rule::dynamic_leaf, i);
      if (!m.stride.axis.none()) return detail::refuse(Refusal::Rule::axis_stride, i);
      const std::int64_t step = checked_mul(m.shape.value - 1, m.stride.value, fits);
      reach = checked_add(reach, step < 0 ? checked_mul(step, -1, fits) : step, fits);
    }
    reach = checked_add(reach, layout.offset.value, fits);
    if (!fits) return detail::refuse(Refusal::Rule::overflow);
    return reach;
  }
  if (!layout.concrete()) return detail::refuse(Refusal::Rule::dynamic_leaf);
  if (*n > countable) return detail::refuse(Refusal::Rule::overflow);
  std::int64_t highest = 0;
  for (std::int64_t i = 0; i < *n; ++i) {
    if (layout(i) > highest) highest = layout(i);
  }
  return highest + 1;
}

constexpr Result<Tuple> idx2crd(std::int64_t index, const Tuple& shape) {
  if (index < 0) return detail::refuse(Refusal::Rule::out_of_bounds, -1, index, 0);
  Tuple out = shape;
  for (int i = 0; i < shape.leaves; ++i) {
    if (!shape.leaf[i].known()) return detail::refuse(Refusal::Rule::dynamic_leaf, i);
    const std::int64_t extent = shape.leaf[i].value;
    if (extent < 1) return detail::refuse(Refusal::Rule::size_not_positive, i, extent);
    const bool last = i + 1 == shape.leaves;
    out.leaf[i] = last ? index : index % extent;
    index /= extent;
  }
  return out;
}

constexpr Result<std::int64_t> crd2index(const Tuple& coordinate, const Tuple& shape) {
  const Result<Layout> counting = make_layout(shape);
  if (!counting) return counting.refusal;
  return detail::inner_product(coordinate, counting->modes);
}

constexpr Result<std::int64_t> crd2idx(const Tuple& coordinate, const Layout& layout) {
  if (!layout.offset.known()) return detail::refuse(Refusal::Rule::dynamic_leaf);
  const Result<std::int64_t> sum = detail::inner_product(coordinate, layout.modes);
  if (!sum) return sum;
  bool fits = true;
  const std::int64_t offset = checked_add(*sum, layout.offset.value, fits);
  if (!fits) return detail::refuse(Refusal::Rule::overflow);
  return layout.swizzle(offset);
}

constexpr Result<Slice> slice(const Tuple& coordinate, const Layout& layout) {
  Slice out;
  out.layout.swizzle = layout.swizzle;
  out.layout.offset = layout.offset;
  if (coordinate.scalar() && coordinate.leaf[0].kind == Int::Kind::all) {
    out.layout.modes = layout.modes;
    return out;
  }
  const Refusal r = detail::slice_into(coordinate, layout.modes, out.layout.modes, out.offset);
  if (r) return r;
  if (!layout.swizzle.identity()) {  // the swizzle acts on the sum, so the offset stays inside
    out.layout.offset = out.layout.offset.value + out.offset;
    out.offset = 0;
  }
  return out;
}

}  // namespace tilescope
