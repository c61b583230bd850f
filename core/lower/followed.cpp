#include "core/lower/followed.h"

#include <fmt/format.h>

#include "core/layout/text.h"

namespace tilescope::lowering {
namespace {

// A stride that is not known becomes 1 on an axis of its leaf's number. The algebra carries axes
// along as it does unknown numbers, and what is left on an axis is how many times that stride.
Layout with_axes(const Layout& layout) {
  Layout out = layout;
  for (int i = 0; i < out.leaves(); ++i) {
    Int& stride = out.modes.leaf[i].stride;
    if (!stride.known()) stride = Int(1, Axis{static_cast<std::uint32_t>(i + 1)});
  }
  return out;
}

int leaf_of(Axis axis) {
  return static_cast<int>(axis.path) - 1;
}

// The numbers of unknown leaves, through the shape, then the stride; -1 for a known one.
struct Sources {
  std::array<int, max_leaves> shape{}, stride{};

  explicit Sources(const Layout& layout) {
    int next = 0;
    for (int i = 0; i < layout.leaves(); ++i) {
      shape[static_cast<std::size_t>(i)] = layout.modes.leaf[i].shape.known() ? -1 : next++;
    }
    for (int i = 0; i < layout.leaves(); ++i) {
      stride[static_cast<std::size_t>(i)] = layout.modes.leaf[i].stride.known() ? -1 : next++;
    }
  }
};

Origin known(std::int64_t number) {
  Origin out;
  out.number = number;
  return out;
}

Origin from(int source, std::int64_t factor = 1, bool divided = false) {
  return {false, 0, source, factor, divided && factor != 1};
}

Error lost(const Layout& layout, const char* what) {
  return refused(fmt::format(
      "{}: {} of the partition that is not known cannot be followed to a number of this layout. "
      "Modes of one extent each can be, and extents that are known.",
      text(layout), what));
}

// The mode of the rest that a leaf of (Thr,Frg,(RestM,RestN,...)) lies in; -1 before the rest.
int rest_mode_of(const Layout& held, int leaf) {
  const Tree<Mode> rest = held.modes.mode(2);
  int begin = held.leaves() - rest.leaves;
  if (leaf < begin) return -1;
  for (int m = 0; m < rest.rank(); ++m) {
    begin += rest.mode(m).leaves;
    if (leaf < begin) return m;
  }
  return -1;
}

// An unknown extent of the rest: one of the layout's, divided by what the tile takes of it.
Outcome<Origin> extent_of(const Layout& layout, const TiledCopy& copy, const Layout& held,
                          const Int& on_axis, int leaf) {
  const Sources sources(layout);
  const int mode = rest_mode_of(held, leaf);
  if (mode < 0 || held.modes.mode(2).rank() != layout.rank()) return lost(layout, "an extent");
  int begin = 0;
  for (int m = 0; m < mode; ++m) begin += layout.modes.mode(m).leaves;
  const int end = begin + layout.modes.mode(mode).leaves;
  const Int& extent = held.modes.leaf[leaf].shape;
  std::optional<Origin> found;
  for (int j = begin; j < end; ++j) {
    const Mode& m = layout.modes.leaf[j];
    std::int64_t factor = 0;
    if (m.shape.known()) continue;
    if (end - begin == 1) {
      const Result<std::int64_t> tile =
          mode < copy.tiler.rank() ? product(copy.tiler.mode(mode)) : Result<std::int64_t>(1);
      factor = tile ? *tile : 0;
    } else if (!on_axis.axis.none()) {
      factor = leaf_of(on_axis.axis) == j ? on_axis.value : 0;
    } else if (m.stride.known() && m.stride.value != 0) {
      factor = on_axis.value % m.stride.value == 0 ? on_axis.value / m.stride.value : 0;
    }
    if (factor <= 0 || !(ceil_div(m.shape, Int(factor)) == extent)) continue;
    if (found) return lost(layout, "an extent");
    found = from(sources.shape[static_cast<std::size_t>(j)], factor, true);
  }
  if (!found) return lost(layout, "an extent");
  return *found;
}

Outcome<Layout> held_by_threads(const TiledCopy& copy, Side side, const Layout& layout) {
  const Result<Layout> tiled = zipped_divide(layout, Tiler(copy.tiler));
  if (!tiled) return refused(sentence(tiled.refusal));
  PartitionSilent silent;
  const Result<Layout> held =
      detail::tile_to_threads(copy, *tiled, detail::values_of(copy, side), silent);
  if (!held) return refused(sentence(held.refusal));
  return *held;
}

// The leaves [begin, end) of `all` as those of `layout`.
Followed some_of(const Followed& all, const Layout& layout, int begin, int end) {
  Followed out;
  out.layout = layout;
  out.shape.assign(all.shape.begin() + begin, all.shape.begin() + end);
  out.stride.assign(all.stride.begin() + begin, all.stride.begin() + end);
  return out;
}

// The leaves that a coordinate keeps.
void kept_leaves(const Tuple& coordinate, const Tree<Mode>& modes, int begin,
                 std::vector<int>& out) {
  if (coordinate.scalar()) {
    if (coordinate.leaf[0].kind != Int::Kind::all) return;
    for (int i = 0; i < modes.leaves; ++i) out.push_back(begin + i);
    return;
  }
  for (int m = 0; m < coordinate.rank() && m < modes.rank(); ++m) {
    const Tree<Mode> mode = modes.mode(m);
    kept_leaves(coordinate.mode(m), mode, begin, out);
    begin += mode.leaves;
  }
}

}  // namespace

Followed follow(const Layout& layout) {
  const Sources sources(layout);
  Followed out;
  out.layout = layout;
  for (int i = 0; i < layout.leaves(); ++i) {
    const Mode& m = layout.modes.leaf[i];
    const auto at = static_cast<std::size_t>(i);
    out.shape.push_back(m.shape.known() ? known(m.shape.value) : from(sources.shape[at]));
    out.stride.push_back(m.stride.known() ? known(m.stride.value) : from(sources.stride[at]));
  }
  return out;
}

Outcome<FollowedPartition> follow_partition(const TiledCopy& copy, Side side, const Int& thread,
                                            const Layout& layout) {
  const Result<Slice> part = partition(copy, side, thread, layout);
  if (!part) return refused(sentence(part.refusal));
  const Outcome<Layout> held = held_by_threads(copy, side, layout);
  const Outcome<Layout> axes = held_by_threads(copy, side, with_axes(layout));
  if (!held) return held.error();
  if (!axes) return axes.error();
  if (!held->modes.congruent(axes->modes)) return lost(layout, "a stride");
  const Sources sources(layout);
  Followed all;
  all.layout = *held;
  for (int i = 0; i < held->leaves(); ++i) {
    const Mode &m = held->modes.leaf[i], &axis = axes->modes.leaf[i];
    if (m.stride.known()) {
      all.stride.push_back(known(m.stride.value));
    } else {
      const int leaf = leaf_of(axis.stride.axis);
      if (!axis.stride.known() || leaf < 0 || leaf >= layout.leaves()) {
        return lost(layout, "a stride");
      }
      all.stride.push_back(from(sources.stride[static_cast<std::size_t>(leaf)], axis.stride.value));
    }
    if (m.shape.known()) {
      all.shape.push_back(known(m.shape.value));
    } else {
      const Outcome<Origin> extent = extent_of(layout, copy, *held, axis.stride, i);
      if (!extent) return extent.error();
      all.shape.push_back(*extent);
    }
  }
  const int threads = held->modes.mode(0).leaves;
  if (part->layout.leaves() != held->leaves() - threads) return lost(layout, "a number");
  return FollowedPartition{some_of(all, Layout(held->modes.mode(0)), 0, threads),
                           some_of(all, part->layout, threads, held->leaves()), part->offset};
}

Outcome<Followed> follow_slice(const Tuple& coordinate, const Layout& layout) {
  const Result<Slice> part = slice(coordinate, layout);
  if (!part) return refused(sentence(part.refusal));
  const Followed all = follow(layout);
  std::vector<int> kept;
  kept_leaves(coordinate, layout.modes, 0, kept);
  Followed out;
  out.layout = part->layout;
  for (const int leaf : kept) {
    out.shape.push_back(all.shape[static_cast<std::size_t>(leaf)]);
    out.stride.push_back(all.stride[static_cast<std::size_t>(leaf)]);
  }
  return out;
}

}  // namespace tilescope::lowering
