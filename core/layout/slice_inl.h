// Slicing, of plain and of swizzled layouts; include algebra.h.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope {
namespace detail {

// What a coordinate keeps of a layout's modes, and what it takes: those at numbers, with the
// numbers (CuTe's slice and dice).
struct Cut {
  Tree<Mode> kept, taken;
  Tuple at;
  PlaceSum offset;

  constexpr Refusal read(const Tuple& coordinate, const Tree<Mode>& modes) {
    if (coordinate.scalar()) {
      return coordinate.leaf[0].kind == Int::Kind::all ? keep(modes) : take(coordinate, modes);
    }
    if (modes.scalar() || coordinate.rank() != modes.rank()) {
      return refuse(Refusal::Rule::not_congruent, -1, coordinate.rank(), modes.rank());
    }
    for (int i = 0; i < coordinate.rank(); ++i) {
      if (const Refusal r = read(coordinate.mode(i), modes.mode(i))) return r;
    }
    return {};
  }

 private:
  constexpr Refusal keep(const Tree<Mode>& modes) {
    kept.push(modes);
    for (int i = 0; i < modes.leaves; ++i) {  // the offset is 0 on their axes
      const Axis axis = modes.leaf[i].stride.axis;
      if (axis.none()) continue;
      if (const Refusal r = offset.total.add(Int(0, axis))) return r;
    }
    return kept.capacity();
  }
  constexpr Refusal take(const Tuple& coordinate, const Tree<Mode>& modes) {
    taken.push(modes);
    at.push(coordinate);
    return inner_product(coordinate, modes, offset);
  }
};

// The bits of an offset as a swizzle sees them, the last field without bound:
//
//     ... M+|S|+B | upper, B bits | gap, |S|-B bits | lower, B bits | kept, M bits
//
// One of `upper` and `lower` is XORed with the other. A sum of offsets of which no field carries
// into the next one is swizzled field by field, so that the fields that the swizzle leaves alone
// may be added after it.
struct Fields {
  Swizzle swizzle;

  static constexpr int most_bits = 62;
  constexpr int distance() const { return swizzle.shift < 0 ? -swizzle.shift : swizzle.shift; }
  constexpr int end() const { return swizzle.base + distance() + swizzle.bits; }
  constexpr bool fit() const { return end() <= most_bits; }

  constexpr std::int64_t lower() const { return ((bit(swizzle.bits)) - 1) << swizzle.base; }
  constexpr std::int64_t upper() const { return lower() << distance(); }
  constexpr std::int64_t meet() const { return lower() | upper(); }
  // The offsets after all fields: they pass a swizzle whatever they are added to.
  constexpr std::int64_t behind() const { return ~(bit(end()) - 1); }

  // A layout of the fields with the bits at `mask` alone.
  constexpr Layout only(std::int64_t mask) const {
    Layout out;
    int at = 0;
    for (const int width :
         {int{swizzle.base}, int{swizzle.bits}, distance() - swizzle.bits, int{swizzle.bits}}) {
      out.modes.push(Mode{bit(width), mask & bit(at) ? bit(at) : 0});
      at += width;
    }
    out.modes.push(Mode{1, mask & bit(at) ? bit(at) : 0});
    return out;
  }

  static constexpr std::int64_t bit(int i) { return std::int64_t{1} << i; }
};

// The digits of a sum in fields, or in fields of which those that are XORed fall into single bits.
struct FieldSum {
  Digits digits{Tree<Mode>(Mode{1, 0}), true};
  std::array<std::int64_t, max_leaves> begun{};

  constexpr FieldSum(const Fields& fields, bool by_bit) {
    const Swizzle& s = fields.swizzle;
    digits.modes = {};
    push(0, s.base);
    xored(s.base, s.bits, by_bit);
    push(s.base + s.bits, fields.distance() - s.bits);
    xored(s.base + fields.distance(), s.bits, by_bit);
    digits.modes.push({2, Fields::bit(fields.end())});
  }

  // Adds a number, or all that modes reach; whether nothing carries.
  constexpr bool add(std::int64_t number) {
    for (int i = 0; i + 1 < digits.count(); ++i) {
      const std::int64_t extent = digits.mode(i).shape.value;
      begun[i] = digits.reached[i] += number % extent;
      if (digits.reached[i] >= extent) return false;
      number /= extent;
    }
    return true;
  }
  constexpr bool add(const Tree<Mode>& modes) {
    Silent silent;
    for (int i = 0; i < modes.leaves; ++i) {
      const Mode& m = modes.leaf[i];
      Leaves parts;
      if (!m.shape.known() || !m.stride.known() || !m.stride.axis.none() || m.stride.value < 0) {
        return false;
      }
      if (compose_leaf(digits, m, parts, silent)) return false;
    }
    return true;
  }
  // The bits that move in what was added last.
  constexpr std::int64_t moving() const {
    std::int64_t out = 0;
    for (int i = 0; i + 1 < digits.count(); ++i) {
      if (digits.reached[i] > begun[i]) out |= digits.mode(i).stride.value;
    }
    return out;
  }

 private:
  constexpr void push(int at, int width) {
    if (width > 0) digits.modes.push({Fields::bit(width), Fields::bit(at)});
  }
  constexpr void xored(int at, int width, bool by_bit) {
    if (!by_bit) return push(at, width);
    for (int i = 0; i < width; ++i) push(at + i, 1);
  }
};

// A swizzle over modes that move no two bits which it XORs: each bit of the modes moves the offset
// by as much as it would alone after `inside`. CuTe's make_swizzle_strides.
//     y\z  0    1
//      0   Z   ...   a bit that is read: Z+Y where its partner is 0, Y-Z where it is 1;
//      1  -Z   ...   a bit that is changed: Z, or -Z where its partner is 1
constexpr Result<Layout> without_swizzle(const Fields& fields, std::int64_t inside,
                                         const Tree<Mode>& modes) {
  const Swizzle& s = fields.swizzle;
  Layout moved;
  moved.modes.push(Mode{Fields::bit(s.base), 1});
  const auto push_bits = [&](int at, int partner, bool reads) {
    for (int i = 0; i < s.bits; ++i) {
      const std::int64_t own = Fields::bit(at + i), other = Fields::bit(partner + i);
      const std::int64_t sign = inside & other ? -1 : 1;
      moved.modes.push(Mode{2, reads ? own + sign * other : sign * own});
    }
  };
  const int low = s.base, high = s.base + fields.distance();
  push_bits(low, high, s.shift < 0);
  moved.modes.push(Mode{Fields::bit(fields.distance() - s.bits), Fields::bit(s.base + s.bits)});
  push_bits(high, low, s.shift > 0);
  moved.modes.push(Mode{1, Fields::bit(fields.end())});
  return compose(moved, Layout(modes), true);
}

// The offset of a slice of a swizzled layout: what stays inside, and what is added after.
struct Parted {
  Int inside, behind;
};

// Of an unknown offset (the part of a thread that is not known) by the modes that were taken.
constexpr Parted parted_unknown(const Fields& fields, const Cut& cut, const Layout& layout) {
  bool fits = true;
  const Int whole = cut.offset.total.offset();
  const Parted together{plus(layout.offset, whole, fits), 0};
  FieldSum sum(fields, false);
  if (!layout.offset.known() || layout.offset.value < 0 || !sum.add(layout.offset.value) ||
      !sum.add(cut.taken) || !sum.add(cut.kept)) {
    return together;
  }
  const Result<Layout> meets = compose(fields.only(fields.meet()), Layout(cut.taken), true);
  const Result<Layout> passes = compose(fields.only(~fields.meet()), Layout(cut.taken), true);
  if (!meets || !passes) return together;
  const Result<Place> inside = place_of(cut.at, *meets), behind = place_of(cut.at, *passes);
  if (!inside || !behind) return together;
  return {plus(layout.offset, inside->offset(), fits), behind->offset()};
}

constexpr Parted parted(const Fields& fields, const Cut& cut, const Layout& layout) {
  const Int whole = cut.offset.total.offset();
  if (cut.kept.empty() && (!fields.fit() || !whole.known())) {
    bool fits = true;  // as was asked before
    return {plus(layout.offset, whole, fits), 0};
  }
  if (!whole.known()) return parted_unknown(fields, cut, layout);
  bool fits = true;
  FieldSum sum(fields, false);
  const bool apart = layout.offset.known() && layout.offset.value >= 0 && whole.value >= 0 &&
                     sum.add(layout.offset.value) && sum.add(whole.value) && sum.add(cut.kept);
  const std::int64_t mask = apart ? ~fields.meet() : fields.behind();
  return {plus(layout.offset, whole.value & ~mask, fits), whole.value & mask};
}

// Whether a layout with `offset` added inside has all its offsets `offset` further on.
constexpr bool passes_swizzle(const Int& offset, const Layout& layout) {
  const Fields fields{layout.swizzle};
  if (layout.swizzle.identity() || offset.zero()) return true;
  if (!fields.fit()) return false;
  if (multiple_of(offset, Fields::bit(fields.end()))) return true;
  if (!offset.known() || !layout.offset.known() || (offset.value & fields.meet()) != 0)
    return false;
  FieldSum sum(fields, false);
  return offset.value >= 0 && layout.offset.value >= 0 && sum.add(layout.offset.value) &&
         sum.add(offset.value) && sum.add(layout.modes);
}

constexpr Result<Slice> swizzled_slice(const Cut& cut, const Layout& layout) {
  const Fields fields{layout.swizzle};
  Slice out{with_modes(layout, cut.kept), {}};
  bool fits = true;
  out.layout.offset = plus(layout.offset, cut.offset.total.offset(), fits);
  if (!fits) return refuse(Refusal::Rule::overflow);
  if (!fields.fit() && !cut.kept.empty()) return out;
  const Parted offset = parted(fields, cut, layout);
  out.layout.offset = offset.inside;
  out.offset = Place(offset.behind);
  if (cut.kept.empty()) {  // one element: nothing is added inside any more
    out.layout = {};
    const Refusal r = out.offset.add(swizzled(layout.swizzle, offset.inside));
    return r ? Result<Slice>(r) : Result<Slice>(out);
  }
  // A plain layout, where no two bits that are XORed are left: 2 fields of B bits and 3 others.
  if (!offset.inside.known() || offset.inside.value < 0 || 2 * layout.swizzle.bits + 3 > max_leaves)
    return out;
  FieldSum bits(fields, true);
  if (!bits.add(offset.inside.value) || !bits.add(cut.kept)) return out;
  const std::int64_t moving = bits.moving();
  if ((moving & fields.lower()) & ((moving & fields.upper()) >> fields.distance())) return out;
  const Result<Layout> plain = without_swizzle(fields, offset.inside.value, cut.kept);
  if (!plain) return out;
  out.layout = *plain;
  if (const Refusal r = out.offset.add(Int(layout.swizzle(offset.inside.value)))) return r;
  return out;
}

}  // namespace detail

constexpr Result<Slice> slice(const Tuple& coordinate, const Layout& layout) {
  detail::Cut cut;
  if (const Refusal r = cut.read(coordinate, layout.modes)) return r;
  const bool whole = coordinate.scalar() && coordinate.leaf[0].kind == Int::Kind::all;
  if (whole) cut.kept = layout.modes;
  if (!layout.swizzle.identity() && cut.taken.leaves > 0)
    return detail::swizzled_slice(cut, layout);
  return Slice{detail::with_modes(layout, cut.kept), cut.offset.total};
}

}  // namespace tilescope
