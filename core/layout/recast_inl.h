// The same memory counted in wider or narrower elements; include algebra.h.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope {
namespace detail {

constexpr int log2_of(std::int64_t n) {
  int bits = 0;
  while ((std::int64_t{1} << (bits + 1)) <= n) ++bits;
  return bits;
}

constexpr bool power_of_two(std::int64_t n) {
  return n > 0 && (n & (n - 1)) == 0;
}

// Sw seen from elements `n` times as wide: its bits move down by log2 n. Bits below the new element
// are gone from a target, which only permutes inside an element; gone from a source they would
// change the result, so those are refused.
constexpr Result<Swizzle> upcast(Swizzle swizzle, std::int64_t n) {
  if (swizzle.identity()) return Swizzle{};
  if (!power_of_two(n)) return refuse(Refusal::Rule::factor, -1, n);
  const int base = swizzle.base - log2_of(n);
  if (base >= 0) return make_swizzle(swizzle.bits, base, swizzle.shift);
  if (swizzle.shift < 0) return refuse(Refusal::Rule::swizzle_below, -1, swizzle.base, log2_of(n));
  const int bits = swizzle.bits + base;
  return bits > 0 ? make_swizzle(bits, 0, swizzle.shift) : Result<Swizzle>(Swizzle{});
}

constexpr Result<Swizzle> downcast(Swizzle swizzle, std::int64_t n) {
  if (swizzle.identity()) return Swizzle{};
  if (!power_of_two(n)) return refuse(Refusal::Rule::factor, -1, n);
  return make_swizzle(swizzle.bits, swizzle.base + log2_of(n), swizzle.shift);
}

}  // namespace detail

constexpr Result<Layout> upcast(const Layout& layout, std::int64_t n) {
  using Rule = Refusal::Rule;
  if (const Refusal r =
          detail::needs_concrete(layout, 0, {.swizzle = true, .unknown = true, .negative = true})) {
    return r;
  }
  if (n < 1) return detail::refuse(Rule::factor, -1, n);
  Layout out = layout;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    Mode& m = out.modes.leaf[i];
    const std::int64_t stride = m.stride.value;
    if (m.stride.zero()) continue;
    if (!m.stride.known() && !multiple_of(m.stride, n))
      return detail::refuse(Rule::divisor, i, stride, n);
    // Backwards only whole elements: what is before the first one is no part of it.
    if (stride % n != 0 && (stride < 0 || n % stride != 0))
      return detail::refuse(Rule::not_divisible, i, stride, n);
    if (stride % n == 0) {
      m.stride = over(m.stride, n);
      continue;
    }
    m.shape = ceil_div(m.shape, Int(n / stride));
    m.stride = 1;
  }
  const Result<Swizzle> swizzle = detail::upcast(layout.swizzle, n);
  if (!swizzle) return swizzle.refusal;
  if (!multiple_of(layout.offset, n)) {
    return detail::refuse(layout.offset.known() ? Rule::not_divisible : Rule::divisor, -1,
                          layout.offset.value, n);
  }
  out.swizzle = *swizzle;
  out.offset = over(layout.offset, n);
  return out;
}

constexpr Result<Layout> downcast(const Layout& layout, std::int64_t n) {
  using Rule = Refusal::Rule;
  if (const Refusal r =
          detail::needs_concrete(layout, 0, {.swizzle = true, .unknown = true, .negative = true})) {
    return r;
  }
  if (n < 1) return detail::refuse(Rule::factor, -1, n);
  Layout out = layout;
  bool adjacent = false, fits = true;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    Mode& m = out.modes.leaf[i];
    Int& scaled = m.stride.is(1) ? m.shape : m.stride;
    adjacent = adjacent || m.stride.is(1);
    scaled = times(scaled, n, fits);
  }
  if (!adjacent) return detail::refuse(Rule::not_adjacent);
  const Result<Swizzle> swizzle = detail::downcast(layout.swizzle, n);
  if (!swizzle) return swizzle.refusal;
  out.swizzle = *swizzle;
  out.offset = times(layout.offset, n, fits);
  if (!fits) return detail::refuse(Rule::overflow);
  return detail::built(out, out.modes);
}

constexpr Result<Layout> recast_layout(const Layout& layout, std::int64_t old_bits,
                                       std::int64_t new_bits) {
  if (old_bits < 1) return detail::refuse(Refusal::Rule::factor, -1, old_bits);
  if (new_bits < 1) return detail::refuse(Refusal::Rule::factor, -1, new_bits);
  const std::int64_t common = detail::gcd(old_bits, new_bits);
  const std::int64_t wider = new_bits / common, narrower = old_bits / common;
  if (wider == 1 && narrower == 1) return layout;
  if (wider == 1) return downcast(layout, narrower);
  const Result<Layout> up = upcast(layout, wider);
  return !up || narrower == 1 ? up : downcast(*up, narrower);
}

constexpr Result<std::int64_t> max_alignment(const Layout& layout) {
  const Result<Layout> inverse = right_inverse(layout);
  if (!inverse) return inverse.refusal;
  const Result<Layout> permuted = logical_divide(*coalesce(layout), *inverse);
  if (!permuted) return permuted.refusal;
  // Every offset is a sum of multiples of the widest run and of the strides after it.
  const Result<Int> run = extent(*get(*permuted, 0));
  if (!run) return run.refusal;
  std::int64_t common = run->value;  // what surely divides it
  const Tree<Mode> behind = permuted->modes.mode(1);
  for (int i = 0; i < behind.leaves; ++i) common = detail::gcd(common, behind.leaf[i].stride.value);
  return common;
}

}  // namespace tilescope
