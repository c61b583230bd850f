// A nested tuple with up to 32 leaves and 8 levels, as a plain value.
//
// A tuple is kept as it is written: its leaves in order, and for each leaf how many parentheses
// open before it and close after it.
//
//     ((3,(2,4)),5)      leaf    3  2  4  5
//                        open    2  1  0  0
//                        close   0  0  2  1        (each count sits on its own leaf)
//
// So a tuple is two small arrays of counts and one of leaves: it copies, compares and nests without
// a heap and without a type per shape. `(2)` and `2` differ, as in CuTe. The one tuple without
// leaves is `()`.
//
// Every operation here is about structure alone; Tuple (leaves are numbers) and Layout (leaves are
// shape:stride pairs) share them.
#pragma once

#include <array>
#include <cstdint>

#include "core/layout/int.h"
#include "core/layout/refusal.h"

namespace tilescope {

inline constexpr int max_leaves = 32;
inline constexpr int max_depth = 8;

template <class Leaf>
struct Tree {
  std::uint8_t leaves = 0;
  std::uint8_t overflowed = 0;  // a build step went over a capacity: the tree is not to be used
  std::array<std::uint8_t, max_leaves> open{};
  std::array<std::uint8_t, max_leaves> close{};
  std::array<Leaf, max_leaves> leaf{};

  constexpr Tree() = default;
  constexpr Tree(const Leaf& scalar) : leaves(1) { leaf[0] = scalar; }  // NOLINT: 4 is a tree

  constexpr bool empty() const { return leaves == 0; }
  constexpr bool scalar() const { return leaves == 1 && open[0] == 0; }

  // Deepest nesting: 0 for a scalar, 1 for (1,2), 2 for ((1,2),3).
  constexpr int depth() const {
    int level = 0, deepest = 0;
    for (int i = 0; i < leaves; ++i) {
      level += open[i];
      if (level > deepest) deepest = level;
      level -= close[i];
    }
    return leaves == 0 ? 1 : deepest;
  }

  // The number of top-level modes; a scalar is its own single mode.
  constexpr int rank() const {
    if (scalar()) return 1;
    int level = 0, modes = 0;
    for (int i = 0; i < leaves; ++i) {
      level += open[i];
      level -= close[i];
      if (level <= 1) ++modes;
    }
    return modes;
  }

  // The top-level mode i as a tree of its own; an empty tree where there is none.
  constexpr Tree mode(int i) const {
    Tree out;
    const Range range = range_of(i);
    for (int k = range.begin; k < range.end; ++k) {
      out.open[out.leaves] = open[k];
      out.close[out.leaves] = close[k];
      out.leaf[out.leaves] = leaf[k];
      ++out.leaves;
    }
    without_outer(out, 0, range);
    return out;
  }

  // The leaves [begin, end) of the top-level mode i; none where there is no such mode.
  struct Range {
    int begin = 0, end = 0;
  };
  constexpr Range range_of(int i) const {
    if (scalar()) return {0, i == 0 ? 1 : 0};
    int level = 0, current = 0, begin = 0;
    for (int k = 0; k < leaves; ++k) {
      level += open[k];
      level -= close[k];
      if (level > 1) continue;
      if (current == i) return {begin, k + 1};
      ++current;
      begin = k + 1;
    }
    return {};
  }

  // Puts `element` after the modes of this tuple. A tuple under construction starts as Tree{} and
  // is a tuple of `rank` modes at any time.
  constexpr void push(const Tree& element) {
    if (element.overflowed) {
      overflowed = 1;
      return;
    }
    append(element, {0, element.leaves}, false);
  }
  // push(of.mode(i)), without a tree in between: a tree is 1 KB.
  constexpr void push_mode(const Tree& of, int i) { append(of, of.range_of(i), true); }

  // All leaves in order as one flat tuple; a scalar stays a scalar.
  constexpr Tree flat() const {
    if (scalar() || empty()) return *this;
    Tree out = *this;
    out.open = {};
    out.close = {};
    out.open[0] = 1;
    out.close[leaves - 1] = 1;
    return out;
  }

  // (x) is x, and nothing else changes.
  constexpr Tree unwrapped() const { return !scalar() && rank() == 1 ? mode(0) : *this; }

  template <class Other>
  constexpr bool congruent(const Tree<Other>& other) const {
    if (leaves != other.leaves) return false;
    for (int i = 0; i < leaves; ++i) {
      if (open[i] != other.open[i] || close[i] != other.close[i]) return false;
    }
    return true;
  }

  // The same structure with other leaves: f(leaf) for each.
  template <class Other, class F>
  constexpr Tree<Other> map(F f) const {
    Tree<Other> out;
    out.leaves = leaves;
    out.overflowed = overflowed;
    out.open = open;
    out.close = close;
    for (int i = 0; i < leaves; ++i) out.leaf[i] = f(leaf[i]);
    return out;
  }

  constexpr Refusal capacity() const {
    if (overflowed == 1) return {Refusal::Rule::too_many_leaves, -1, 0, max_leaves, 0};
    if (overflowed == 2) return {Refusal::Rule::too_deep, -1, 0, max_depth, 0};
    return {};
  }

  friend constexpr bool operator==(const Tree& a, const Tree& b) {
    if (!a.congruent(b)) return false;
    for (int i = 0; i < a.leaves; ++i) {
      if (!(a.leaf[i] == b.leaf[i])) return false;
    }
    return true;
  }

 private:
  // `out` has one whole mode of this tuple from leaf `first` on: takes the parentheses away that
  // are the tuple's own.
  constexpr void without_outer(Tree& out, int first, Range range) const {
    if (scalar() || range.begin == range.end) return;
    if (range.begin == 0) --out.open[first];
    if (range.end == leaves) --out.close[out.leaves - 1];
  }

  // Puts leaves of `from` behind those of this tuple, as one more mode of it.
  constexpr void append(const Tree& from, Range range, bool is_mode) {
    if (leaves + range.end - range.begin > max_leaves) {
      overflowed = 1;
      return;
    }
    if (range.begin == range.end) return;
    const int first = leaves;
    if (first > 0) --close[first - 1];
    for (int k = range.begin; k < range.end; ++k) {
      open[leaves] = from.open[k];
      close[leaves] = from.close[k];
      leaf[leaves] = from.leaf[k];
      ++leaves;
    }
    if (is_mode) from.without_outer(*this, first, range);
    if (first == 0) ++open[0];
    ++close[leaves - 1];
    if (depth() > max_depth) overflowed = 2;
  }
};

// A tuple of numbers: a shape, a stride, a coordinate.
using Tuple = Tree<Int>;

template <class... Elements>
constexpr Tuple make_tuple_of(const Elements&... elements) {
  Tuple out;
  (out.push(Tuple(elements)), ...);
  return out;
}

// Product of all leaves.
constexpr Result<std::int64_t> product(const Tuple& t) {
  std::int64_t n = 1;
  bool fits = true;
  for (int i = 0; i < t.leaves; ++i) {
    if (!t.leaf[i].known()) {
      return Refusal{Refusal::Rule::dynamic_leaf, static_cast<std::int8_t>(i), 0, 0, 0};
    }
    n = checked_mul(n, t.leaf[i].value, fits);
  }
  if (!fits) return Refusal{Refusal::Rule::overflow, -1, 0, 0, 0};
  return n;
}

}  // namespace tilescope
