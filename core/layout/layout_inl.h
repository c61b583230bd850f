// Definitions of layout.h's functions; include layout.h.
#pragma once

#include "core/layout/layout.h"

namespace tilescope {
namespace detail {

constexpr Refusal refuse(Refusal::Rule rule, int mode = -1, std::int64_t a = 0,
                         std::int64_t b = 0) {
  return {rule, static_cast<std::int8_t>(mode), 0, a, b};
}

// A refusal about a stride or an extent on an axis: it names the number.
constexpr Refusal on_axis(Refusal::Rule rule, const Int& number, int mode) {
  return refuse(rule, mode, number.value, static_cast<std::int64_t>(number.axis.path));
}

constexpr Refusal not_an_extent(const Int& extent, int mode) {
  using Rule = Refusal::Rule;
  if (extent.kind == Int::Kind::all) return refuse(Rule::underscore, mode);
  if (!extent.axis.none()) return on_axis(Rule::axis_extent, extent, mode);
  if (extent.value < 1) return refuse(Rule::size_not_positive, mode, extent.value);
  return {};
}

// Compact strides over `shape` from the first leaf to the last, or the other way. Size-1 leaves get
// stride 0: no coordinate ever moves along them.
constexpr Result<Layout> compact(const Tuple& shape, bool first_is_fastest) {
  if (const Refusal r = shape.capacity()) return r;
  Layout out(shape.map<Mode>([](const Int& s) { return Mode{s, 0}; }));
  Int stride = 1;
  bool fits = true;
  for (int k = 0; k < shape.leaves; ++k) {
    const int i = first_is_fastest ? k : shape.leaves - 1 - k;
    const Int extent = shape.leaf[i];
    if (const Refusal r = not_an_extent(extent, i)) return r;
    if (!extent.is(1)) out.modes.leaf[i].stride = stride;
    stride = times(stride, extent, fits);
  }
  if (!fits) return refuse(Refusal::Rule::overflow);
  return out;
}

// What coordinates times strides add up to: one number, or a place.
struct Sum {
  std::int64_t total = 0;
  bool fits = true;

  constexpr Refusal add(const Int& coordinate, const Int& stride, int leaf) {
    if (!coordinate.known() || !stride.known()) return refuse(Refusal::Rule::dynamic_leaf, leaf);
    if (!stride.axis.none()) return on_axis(Refusal::Rule::axis_stride, stride, leaf);
    total = checked_add(total, checked_mul(coordinate.value, stride.value, fits), fits);
    return fits ? Refusal{} : refuse(Refusal::Rule::overflow);
  }
};

struct PlaceSum {
  Place total;

  constexpr Refusal add(const Int& coordinate, const Int& stride, int) {
    bool fits = true;
    Int part = times(coordinate, stride, fits);
    if (part.zero()) part.axis = stride.axis;  // a place knows its axes at 0 too
    if (!fits) return refuse(Refusal::Rule::overflow);
    return total.add(part);
  }
};

// The digit of `index` in a leaf of such an extent, and what is left of the index: index % extent
// and index / extent. Of unknown numbers they are unknown too, with the divisor that follows:
//     ?{div=6} % 4 = ?{div=2}    ?{div=8} % 4 = 0    ?{div=8} / 4 = ?{div=2}    ?{div=6} / 4 = ?
// An unknown extent is at least its divisor, so that an index below that is a digit for certain.
struct Digit {
  Int here, rest;
};
constexpr Digit digit_of(const Int& index, const Int& extent, bool last) {
  if (last) return {index, 0};
  if (index.known() && extent.known()) {
    return {index.value % extent.value, index.value / extent.value};
  }
  if (index.known() && index.value < extent.value) return {index, 0};
  if (extent.known() && multiple_of(index, extent.value)) return {0, over(index, extent.value)};
  return {Int::unknown(gcd(index.value, extent.value)), Int::unknown()};
}

// Whether `next` goes on where `before` ends, for certain: `?` may be any number.
constexpr bool continues(const Mode& before, const Mode& next) {
  if (!before.shape.known() || !before.stride.known() || !next.stride.known()) return false;
  if (!(before.stride.axis == next.stride.axis)) return false;
  bool fits = true;
  return checked_mul(before.shape.value, before.stride.value, fits) == next.stride.value && fits;
}

// Sum of coordinate * stride, over a coordinate that may stop at any level of the structure.
template <class Total>
constexpr Refusal inner_product(const Tuple& coordinate, const Tree<Mode>& modes, Total& sum) {
  if (coordinate.scalar()) {
    Int index = coordinate.leaf[0];
    if (index.kind == Int::Kind::all) return refuse(Refusal::Rule::underscore);
    if (!index.axis.none()) return on_axis(Refusal::Rule::axis_coordinate, index, -1);
    if (index.value < 0) return refuse(Refusal::Rule::out_of_bounds, -1, index.value, 0);
    for (int i = 0; i < modes.leaves; ++i) {
      Mode m = modes.leaf[i];
      // Of an unknown index, leaves that go on are one digit: fewer of its divisors are lost.
      for (; !index.known() && i + 1 < modes.leaves && continues(m, modes.leaf[i + 1]); ++i) {
        bool fits = true;  // as the size of the layout does
        m.shape = times(m.shape, modes.leaf[i + 1].shape, fits);
      }
      const Digit digit = digit_of(index, m.shape, i + 1 == modes.leaves);
      if (const Refusal r = sum.add(digit.here, m.stride, i)) return r;
      index = digit.rest;
    }
    return {};
  }
  if (coordinate.rank() != modes.rank() || modes.scalar() != coordinate.scalar()) {
    return refuse(Refusal::Rule::not_congruent, -1, coordinate.rank(), modes.rank());
  }
  for (int i = 0; i < coordinate.rank(); ++i) {
    if (const Refusal r = inner_product(coordinate.mode(i), modes.mode(i), sum)) return r;
  }
  return {};
}

// What a swizzle makes of an offset. Of an unknown one the bits below its base stay as they are;
// and all of them, where the bits that it reads are 0 for certain.
constexpr Int swizzled(Swizzle swizzle, const Int& offset) {
  if (swizzle.identity()) return offset;
  if (offset.known()) return swizzle(offset.value);
  const int above = swizzle.base + swizzle.bits + (swizzle.shift > 0 ? swizzle.shift : 0);
  if (above < 63 && multiple_of(offset, std::int64_t{1} << above)) return offset;
  return Int::unknown(gcd(offset.value, std::int64_t{1} << swizzle.base));
}

// The strides of an identity layout: 1 on the axis that leads to the leaf.
constexpr Refusal identity_strides(const Tuple& shape, Axis outer, Tuple& stride) {
  if (shape.scalar()) {
    stride = Tuple(Int(1, outer));
    return {};
  }
  constexpr int most_steps = 4, numbered = 127;
  if (outer.steps() == most_steps) return refuse(Refusal::Rule::too_deep, -1, most_steps);
  if (shape.rank() > numbered) return refuse(Refusal::Rule::too_many_leaves, -1, max_leaves);
  for (int i = 0; i < shape.rank(); ++i) {
    const Axis inner{(outer.path << 8) | static_cast<std::uint32_t>(i + 1)};
    Tuple mode;
    if (const Refusal r = identity_strides(shape.mode(i), inner, mode)) return r;
    stride.push(mode);
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
    if (const Refusal r = detail::not_an_extent(shape.leaf[i], i)) return r;
    if (stride.leaf[i].kind == Int::Kind::all) return detail::refuse(Rule::underscore, i);
    out.modes.leaf[i].stride = stride.leaf[i];
  }
  // Sizes and offsets that do not fit are found here, once.
  if (const Result<Int> n = extent(out); !n) return n.refusal;
  if (const Result<Place> reach = coshape(out); !reach) return reach.refusal;
  return out;
}

constexpr Result<Layout> make_identity_layout(const Tuple& shape) {
  if (shape.empty()) return detail::refuse(Refusal::Rule::empty);
  Tuple stride;
  if (const Refusal r = detail::identity_strides(shape, {}, stride)) return r;
  return make_layout(shape, stride);
}

constexpr Result<Int> extent(const Tuple& shape) {
  Int n = 1;
  bool fits = true;
  for (int i = 0; i < shape.leaves; ++i) {
    if (shape.leaf[i].kind == Int::Kind::all) return detail::refuse(Refusal::Rule::underscore, i);
    n = times(n, shape.leaf[i], fits);
  }
  if (!fits) return detail::refuse(Refusal::Rule::overflow);
  return n;
}

constexpr Result<Place> coshape(const Layout& layout) {
  if (!layout.swizzle.identity()) {
    const Result<std::int64_t> n = cosize(layout);
    if (!n) return n.refusal;
    return Place(Int(*n));
  }
  // (extent - 1) * stride on each axis, as extent * stride - stride: what is unknown keeps its
  // divisor. The known numbers are added up by themselves, so that -1 and the final 1 cancel.
  Place unknown, known;
  bool fits = true;
  const auto add = [&](const Int& number) {
    return (number.known() ? known : unknown).add(number);
  };
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (m.stride.is(0)) continue;
    Int stride = m.stride;
    if (stride.value < 0) stride.value = checked_mul(stride.value, -1, fits);
    Int end = times(m.shape, stride, fits);
    end.axis = stride.axis;
    const Int back = stride.known() ? Int(-stride.value, stride.axis) : stride;
    if (const Refusal r = add(end)) return r;
    if (const Refusal r = add(back)) return r;
  }
  if (!layout.offset.is(0)) {
    if (const Refusal r = add(layout.offset)) return r;
  }
  if (known.parts == 0 && unknown.parts == 0) known = Place(Int(0));
  for (int i = 0; i < unknown.parts; ++i) {
    if (const Refusal r = known.add(Int(0, unknown.part[i].axis))) return r;
  }
  for (int i = 0; i < known.parts; ++i) {
    known.part[i] = plus(known.part[i], Int(1, known.part[i].axis), fits);
  }
  if (const Refusal r = known.add(unknown)) return r;
  if (!fits) return detail::refuse(Refusal::Rule::overflow);
  return known;
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
      if (!m.stride.axis.none()) return detail::on_axis(Refusal::Rule::axis_stride, m.stride, i);
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

constexpr Result<Tuple> idx2crd(const Int& index, const Tuple& shape) {
  if (index.kind == Int::Kind::all) return detail::refuse(Refusal::Rule::underscore);
  if (!index.axis.none()) return detail::on_axis(Refusal::Rule::axis_coordinate, index, -1);
  if (index.value < 0) return detail::refuse(Refusal::Rule::out_of_bounds, -1, index.value, 0);
  Tuple out = shape;
  Int rest = index;
  for (int i = 0; i < shape.leaves; ++i) {
    if (const Refusal r = detail::not_an_extent(shape.leaf[i], i)) return r;
    const detail::Digit digit = detail::digit_of(rest, shape.leaf[i], i + 1 == shape.leaves);
    out.leaf[i] = digit.here;
    rest = digit.rest;
  }
  return out;
}

constexpr Result<std::int64_t> crd2index(const Tuple& coordinate, const Tuple& shape) {
  const Result<Layout> counting = make_layout(shape);
  if (!counting) return counting.refusal;
  return crd2idx(coordinate, *counting);
}

constexpr Result<std::int64_t> crd2idx(const Tuple& coordinate, const Layout& layout) {
  if (!layout.offset.known()) return detail::refuse(Refusal::Rule::dynamic_leaf);
  detail::Sum sum{layout.offset.value, true};
  if (const Refusal r = detail::inner_product(coordinate, layout.modes, sum)) return r;
  return layout.swizzle(sum.total);
}

constexpr Result<Place> place_of(const Tuple& coordinate, const Layout& layout) {
  detail::PlaceSum sum;
  if (!layout.offset.is(0)) sum.total = Place(layout.offset);
  if (const Refusal r = detail::inner_product(coordinate, layout.modes, sum)) return r;
  if (layout.swizzle.identity()) return sum.total;
  return Place(detail::swizzled(layout.swizzle, sum.total.offset()));
}

constexpr Result<Place> place_at(const Tuple& coordinate) {
  Tuple axes;
  if (const Refusal r = detail::identity_strides(coordinate, {}, axes)) return r;
  Place out;
  for (int i = 0; i < coordinate.leaves; ++i) {
    Int number = coordinate.leaf[i];
    number.axis = axes.leaf[i].axis;
    if (const Refusal r = out.add(number)) return r;
  }
  return out;
}

}  // namespace tilescope
