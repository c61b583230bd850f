// A layout of a power-of-two size as a matrix over GF(2): bit j of the coordinate adds (XOR) column
// j to the offset. Swizzles, transposes and interleavings are all such matrices, and composing
// layouts multiplies them.
//
//     columns((8,8):(8,1)) = (8,16,32,1,2,4)            a permutation of bits: a transpose
//     columns(Sw<1,0,3> o 0 o 16:1) = (1,2,4,9)         bit 3 also flips bit 0
#pragma once

#include "core/layout/algebra.h"

namespace tilescope {

// The offsets of the coordinates 1, 2, 4, ...: the matrix's columns. Refused where L(x) is not the
// XOR of its bits' columns for some x below size(L) (that x and L(x) are the refusal's numbers).
constexpr Result<Tuple> matrix_of(const Layout& layout) {
  using Rule = Refusal::Rule;
  if (const Refusal r = detail::needs_concrete(layout, 0, {.swizzle = true})) return r;
  const Result<std::int64_t> n = size(layout);
  if (!n) return n.refusal;
  if (!detail::power_of_two(*n)) return detail::refuse(Rule::not_power_of_two, -1, *n);
  if (*n > detail::verifiable)
    return detail::refuse(Rule::too_large_to_list, -1, *n, detail::verifiable);
  Tuple columns;
  for (std::int64_t bit = 1; bit < *n; bit *= 2) columns.push(Tuple(layout(bit)));
  for (std::int64_t x = 0; x < *n; ++x) {
    std::int64_t sum = 0;
    for (int j = 0; j < columns.leaves; ++j) {
      if ((x >> j) % 2 != 0) sum ^= columns.leaf[j].value;
    }
    if (sum != layout(x)) return detail::refuse(Rule::not_linear, -1, layout(x), x);
  }
  if (columns.empty()) return Tuple(0);  // one coordinate, no bits
  return columns;
}

namespace detail {

// Whether no two columns share a bit: then XOR is addition, and the columns are strides.
constexpr bool disjoint(const Tuple& columns, Swizzle swizzle) {
  std::int64_t seen = 0;
  for (int j = 0; j < columns.leaves; ++j) {
    const std::int64_t column = swizzle(columns.leaf[j].value);
    if ((seen & column) != 0) return false;
    seen |= column;
  }
  return true;
}

}  // namespace detail

// The layout with these columns: plain where XOR is addition, else after the smallest swizzle that
// makes it so (a swizzle is its own inverse). Refused where no single swizzle does.
constexpr Result<Layout> layout_of_matrix(const Tuple& columns) {
  using Rule = Refusal::Rule;
  if (columns.empty()) return detail::refuse(Rule::empty);
  std::int64_t all = 0;
  for (int j = 0; j < columns.leaves; ++j) {
    if (!columns.leaf[j].known()) return detail::refuse(Rule::dynamic_leaf, j);
    if (columns.leaf[j].value < 0)
      return detail::refuse(Rule::negative_stride, j, columns.leaf[j].value);
    all |= columns.leaf[j].value;
  }
  const int top = all > 0 ? detail::log2_of(all) + 1 : 0;  // bits of an offset
  const auto with = [&](Swizzle swizzle) {
    detail::Leaves modes;
    for (int j = 0; j < columns.leaves; ++j) {
      detail::push_coalesced(modes, {2, swizzle(columns.leaf[j].value)});
    }
    Layout out(modes.done());
    out.swizzle = swizzle;
    return out;
  };
  if (detail::disjoint(columns, {})) return with({});
  for (int bits = 1; 2 * bits <= top; ++bits) {
    for (int base = 0; base + 2 * bits <= top; ++base) {
      for (int far = bits; base + far + bits <= top; ++far) {
        for (const int shift : {far, -far}) {
          const Result<Swizzle> swizzle = make_swizzle(bits, base, shift);
          if (swizzle && detail::disjoint(columns, *swizzle)) return with(*swizzle);
        }
      }
    }
  }
  return detail::refuse(Rule::swizzle_through);
}

}  // namespace tilescope
