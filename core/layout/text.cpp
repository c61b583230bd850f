#include "core/layout/text.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace tilescope {
namespace {

// TIRx's thread axes, then its memory axes.
constexpr std::array<std::string_view, 20> named_axes = {
    "m",   "P",   "F",  "Bank",   "TCol",   "TLane", "bx",        "by",        "bz",  "cbx",
    "cby", "cbz", "tx", "warpid", "laneid", "wgid",  "tid_in_wg", "wid_in_wg", "pid", "vid"};
constexpr int first_named = 128;

void append(std::string& out, std::uint8_t count, char c) {
  out.append(count, c);
}

template <class Leaf, class F>
std::string tree_text(const Tree<Leaf>& tree, F leaf_text) {
  if (tree.empty()) return "()";
  std::string out;
  for (int i = 0; i < tree.leaves; ++i) {
    if (i > 0) out += ',';
    append(out, tree.open[i], '(');
    out += leaf_text(tree.leaf[i]);
    append(out, tree.close[i], ')');
  }
  return out;
}

std::string modes_text(const Tree<Mode>& modes) {
  return tree_text(modes, [](const Mode& m) { return text(m.shape); }) + ":" +
         tree_text(modes, [](const Mode& m) { return text(m.stride); });
}

std::string where(const Refusal& r) {
  std::string out = r.operand == 1 ? " of the second operand" : "";
  return r.mode < 0 ? out : fmt::format(" in mode {}{}", static_cast<int>(r.mode), out);
}

}  // namespace

std::optional<std::uint8_t> axis_named(std::string_view name) {
  for (std::size_t i = 0; i < named_axes.size(); ++i) {
    if (named_axes[i] == name) return static_cast<std::uint8_t>(first_named + i);
  }
  int number = 0;
  if (name.empty() || name.size() > 3) return std::nullopt;
  for (char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  if (number >= first_named - 1) return std::nullopt;
  return static_cast<std::uint8_t>(number + 1);
}

std::string axis_name(std::uint8_t step) {
  if (step < first_named) return fmt::to_string(step - 1);
  const std::size_t index = static_cast<std::size_t>(step - first_named);
  return index < named_axes.size() ? std::string(named_axes[index]) : "?";
}

std::string text(const Int& number) {
  std::string out;
  switch (number.kind) {
    case Int::Kind::all:
      return "_";
    case Int::Kind::dynamic:
      out = number.value == 1 ? "?" : fmt::format("?{{div={}}}", number.value);
      break;
    case Int::Kind::number:
      out = fmt::to_string(number.value);
      break;
  }
  for (int i = 0; i < number.axis.steps(); ++i) out += "@" + axis_name(number.axis.step(i));
  return out;
}

std::string text(const Tuple& tuple) {
  return tree_text(tuple, [](const Int& n) { return text(n); });
}

std::string text(Swizzle swizzle) {
  return fmt::format("Sw<{},{},{}>", static_cast<int>(swizzle.bits), static_cast<int>(swizzle.base),
                     static_cast<int>(swizzle.shift));
}

std::string text(const Layout& layout) {
  const std::string modes = modes_text(layout.modes);
  if (layout.plain()) return modes;
  return text(layout.swizzle) + " o " + text(layout.offset) + " o " + modes;
}

std::string text(const Tiler& tiler) {
  if (!tiler.by_mode()) return tiler.keeps_whole() ? "_" : modes_text(tiler.modes);
  std::string out = "<";
  for (int i = 0; i < tiler.rank(); ++i) {
    const Tiler part = tiler.mode(i);
    const bool extent = part.modes.scalar() && part.modes.leaf[0].stride.is(1);
    if (i > 0) out += ',';
    out += extent ? text(part.modes.leaf[0].shape) : text(part);
  }
  return out + ">";
}

std::string text(const Slice& slice) {
  const std::string layout = slice.layout.modes.empty() ? std::string("():()") : text(slice.layout);
  return fmt::format("{} off {}", layout, slice.offset);
}

std::string text(const ThreadValue& tv) {
  return "(" + text(tv.tiler) + "," + text(tv.layout) + ")";
}

std::string sentence(const Refusal& r) {
  using Rule = Refusal::Rule;
  const std::string at = where(r);
  switch (r.rule) {
    case Rule::none:
      return "";
    case Rule::too_many_leaves:
      return fmt::format("The result needs more than {} leaves; split the layout.", max_leaves);
    case Rule::too_deep:
      return fmt::format("Nested deeper than {} levels; flatten some of them.", max_depth);
    case Rule::overflow:
      return "A size or an offset does not fit in 64 bits; use smaller extents or strides.";
    case Rule::not_congruent:
      return fmt::format(
          "The two differ in structure ({} against {} elements); give both the same nesting.", r.a,
          r.b);
    case Rule::mode_out_of_range:
      return fmt::format("There is no mode {}: the layout has rank {} (modes 0 to {}).", r.a, r.b,
                         r.b - 1);
    case Rule::rank_too_small:
      return fmt::format(
          "A tiler of rank {} needs a layout of at least that rank{}, and this one has rank {}.",
          r.a, at, r.b);
    case Rule::size_not_positive:
      return fmt::format("An extent of {}{}: extents are 1 or more.", r.a, at);
    case Rule::stride_divisibility:
      return fmt::format(
          "A stride of {}{} meets an extent of {}: one must divide the other, or a step would "
          "cross "
          "into the next mode part way. Strides that divide {} (or are multiples of it) would "
          "work.",
          r.a, at, r.b, r.b);
    case Rule::shape_divisibility:
      return fmt::format(
          "{} steps{} do not fill whole rounds of the {} that fit before the mode ends; a multiple "
          "of {} (or fewer than {}) would work.",
          r.a, at, r.b, r.b, r.b + 1);
    case Rule::carry:
      return fmt::format(
          "Together the modes of the right side reach {}{} of extent {}: their sum runs over its "
          "end, so no layout gives A(B(c)) for all c.",
          r.a, at, r.b);
    case Rule::not_injective:
      return fmt::format(
          "A stride of {}{} lies inside the {} offsets that smaller strides already cover: the "
          "layout visits an offset twice and has no complement.",
          r.a, at, r.b);
    case Rule::hole:
      return fmt::format(
          "A stride of {}{} is no multiple of the {} offsets covered before it; the hole cannot be "
          "filled by a layout. A multiple of {} would work.",
          r.a, at, r.b, r.b);
    case Rule::negative_stride:
      return fmt::format("A stride of {}{}: this operation needs strides of 0 or more.", r.a, at);
    case Rule::dynamic_leaf:
      return fmt::format("A `?`{}: this operation needs a known number there.", at);
    case Rule::axis_stride:
      return fmt::format("A stride on an axis{}: this operation needs plain strides.", at);
    case Rule::has_swizzle:
      return fmt::format(
          "A swizzled layout{} stands where only a plain one can: take the swizzle off, or put the "
          "layout on the left side of the composition.",
          at);
    case Rule::out_of_bounds:
      return fmt::format("A coordinate of {}: coordinates are 0 or more.", r.a);
    case Rule::underscore:
      return "A `_` stands where a number is needed; `_` belongs in slice().";
    case Rule::empty:
      return fmt::format("An empty layout (){}: at least one mode is needed.", at);
    case Rule::swizzle_bits:
      return fmt::format(
          "A swizzle of {} bits shifted by {}: each of B, M and |S| is at most 30, and the shift "
          "is "
          "at least the bits, or source and target overlap.",
          r.a, r.b);
    case Rule::order_not_distinct:
      return fmt::format("Order {} stands twice{}: each mode needs its own place in the order.",
                         r.a, at);
  }
  return "";
}

}  // namespace tilescope
