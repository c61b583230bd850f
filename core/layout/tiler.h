// A tiler says how to cut a layout: `<3:3,(2,4):(1,8)>` gives one layout a mode, `<4,_>` leaves a
// mode whole, and a plain shape `(4,8)` stands for `<4:1,8:1>`. A layout alone cuts the whole
// domain as one.
//
// Kept as one tree of shape:stride leaves in which the outermost parentheses are the tiler's own
// brackets: by_mode(i) is the part for mode i, itself a tiler (so that `(8,(2,4))` cuts by mode all
// the way down).
#pragma once

#include "core/layout/layout.h"

namespace tilescope {

struct Tiler {
  Tree<Mode> modes;
  std::array<std::uint8_t, max_leaves> brackets{};  // of `open`, how many are the tiler's own
  std::uint32_t numbers = 0;  // one bit a leaf: written as a number alone, as in <4,2:1>

  constexpr Tiler() = default;
  // A layout alone: no brackets of its own.
  constexpr Tiler(const Layout& layout) : modes(layout.modes) {}  // NOLINT: a layout is a tiler
  // A shape: extents with stride 1, brackets all the way down.
  constexpr Tiler(const Tuple& shape)  // NOLINT: a shape is a tiler
      : modes(shape.map<Mode>([](const Int& s) {
          return Mode{s, 1};
        })),
        brackets(shape.open),
        numbers(~std::uint32_t{0}) {}

  // Whether it cuts mode by mode; if not, it is a layout for the whole domain.
  constexpr bool by_mode() const { return modes.leaves > 0 && brackets[0] > 0; }
  constexpr bool keeps_whole() const {  // `_`
    return modes.scalar() && modes.leaf[0].shape.kind == Int::Kind::all;
  }
  // The same two of mode(i), where this cuts mode by mode.
  constexpr bool mode_by_mode(int i) const {
    const auto range = modes.range_of(i);
    return range.begin < range.end && brackets[range.begin] > (range.begin == 0 ? 1 : 0);
  }
  constexpr bool mode_keeps_whole(int i) const {
    const auto range = modes.range_of(i);
    return range.end - range.begin == 1 && modes.leaf[range.begin].shape.kind == Int::Kind::all;
  }
  // A number alone: `4` is `4:1`, but see part().
  static constexpr Tiler number(const Int& n) {
    Tiler out(Layout(Tree<Mode>(Mode{n, 1})));
    out.numbers = 1;
    return out;
  }
  constexpr int rank() const { return by_mode() ? modes.rank() : 1; }
  constexpr Layout layout() const { return Layout(modes); }
  // The part as what divides or repeats a layout. A number n alone is make_layout(n), and so 1 is
  // 1:0 there, while in a composition it is 1:1: CuTe tells the two apart, and it prints them.
  constexpr Layout part() const {
    const bool one = modes.scalar() && numbers % 2 != 0 && modes.leaf[0].shape.is(1);
    return one ? Layout(1, 0) : Layout(modes);
  }

  constexpr void push(const Tiler& element) {
    const int before = modes.leaves;
    modes.push(element.modes);
    if (modes.overflowed) return;
    for (int k = 0; k < element.modes.leaves; ++k) {
      brackets[before + k] = element.brackets[k];
      const std::uint32_t bit = std::uint32_t{1} << (before + k);
      numbers = (element.numbers >> k) % 2 != 0 ? numbers | bit : numbers & ~bit;
    }
    if (before == 0 && modes.leaves > 0) ++brackets[0];
  }

  constexpr Tiler mode(int i) const {
    Tiler out(modes, i);
    const int begin = modes.range_of(i).begin;
    for (int k = 0; k < out.modes.leaves; ++k) out.brackets[k] = brackets[begin + k];
    out.numbers = begin < max_leaves ? numbers >> begin : 0;
    if (begin == 0 && out.modes.leaves > 0) --out.brackets[0];
    return out;
  }

  friend constexpr bool operator==(const Tiler& a, const Tiler& b) {
    if (!(a.modes == b.modes)) return false;
    for (int k = 0; k < a.modes.leaves; ++k) {
      if (a.brackets[k] != b.brackets[k]) return false;
    }
    return true;
  }

 private:
  constexpr Tiler(const Tree<Mode>& of, int i) : modes(of.mode(i)) {}
};

}  // namespace tilescope
