#include "core/layout/analysis.h"

#include <algorithm>
#include <optional>

namespace tilescope {
namespace {

using Rule = Refusal::Rule;
using Because = Truth::Because;

// The offsets in the order of the coordinates, if they can be counted out.
Result<std::vector<std::int64_t>> offsets_of(const Layout& layout) {
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (!m.shape.known() || !m.stride.known()) return detail::refuse(Rule::dynamic_leaf, i);
    if (!m.stride.axis.none()) return detail::on_axis(Rule::axis_stride, m.stride, i);
  }
  if (layout.modes.empty()) return detail::refuse(Rule::empty);
  if (!layout.offset.known()) return detail::refuse(Rule::dynamic_leaf);
  const Result<std::int64_t> n = size(layout);
  if (!n) return n.refusal;
  if (*n > countable) return detail::refuse(Rule::too_large_to_list, -1, *n, countable);
  std::vector<std::int64_t> out(static_cast<std::size_t>(*n));
  for (std::int64_t i = 0; i < *n; ++i) out[static_cast<std::size_t>(i)] = layout(i);
  return out;
}

// Offset and coordinate, sorted: owners of an offset stand together, the first one first.
struct Owned {
  std::int64_t offset, index;
};
std::vector<Owned> sorted(const std::vector<std::int64_t>& offsets) {
  std::vector<Owned> out(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    out[i] = {offsets[i], static_cast<std::int64_t>(i)};
  }
  std::sort(out.begin(), out.end(), [](const Owned& x, const Owned& y) {
    return x.offset != y.offset ? x.offset < y.offset : x.index < y.index;
  });
  return out;
}

Truth yes(Because because) {
  Truth out;
  out.value = true;
  out.because = because;
  return out;
}

// What the strides alone tell of injectivity: a swizzle permutes offsets and changes nothing.
// Counting is for what is left: strides that interleave, such as (2,2,2):(2,3,4).
std::optional<Truth> injective_by_strides(const Layout& layout) {
  if (detail::needs_concrete(layout, 0, {.swizzle = true})) return std::nullopt;
  Truth no;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (!m.stride.is(0) || m.shape.value < 2) continue;
    no.because = Because::broadcast;
    no.mode = i;
    return no;
  }
  Tree<Mode> modes = coalesce(layout)->modes;
  detail::sort_by_stride(modes);
  std::int64_t highest = 0;
  bool apart = true, fits = true;
  for (int i = 0; i < modes.leaves; ++i) {
    const Mode& m = modes.leaf[i];
    apart = apart && (m.shape.is(1) || m.stride.value > highest);
    highest = checked_add(highest, checked_mul(m.shape.value - 1, m.stride.value, fits), fits);
  }
  if (apart && fits) return yes(Because::strides);
  const Result<std::int64_t> n = size(layout);
  if (!n || *n <= highest + 1) return std::nullopt;
  no.because = Because::pigeonhole;
  no.a = *n;
  no.b = highest + 1;
  return no;
}

bool on_axes(const Layout& layout) {
  for (int i = 0; i < layout.leaves(); ++i) {
    if (!layout.modes.leaf[i].stride.axis.none()) return true;
  }
  return false;
}

}  // namespace

Result<Layout> over_box(const Layout& layout) {
  if (!on_axes(layout)) return layout;
  if (const Refusal r = detail::needs_concrete(layout, 0, {.axes = true})) return r;
  const Result<Place> box = coshape(layout);
  if (!box) return box.refusal;
  Layout out = layout;
  bool fits = true;
  std::int64_t below = 1;  // places of the axes before
  for (int k = 0; k < box->parts; ++k) {
    for (int i = 0; i < layout.leaves(); ++i) {
      if (!(layout.modes.leaf[i].stride.axis == box->part[k].axis)) continue;
      out.modes.leaf[i].stride = checked_mul(layout.modes.leaf[i].stride.value, below, fits);
    }
    below = checked_mul(below, box->part[k].value, fits);
  }
  if (!fits) return detail::refuse(Rule::overflow);
  return out;
}

Place place_in_box(const Layout& layout, std::int64_t offset) {
  const Result<Place> box = coshape(layout);
  if (!on_axes(layout) || !box) return Place(Int(offset));
  Place out = *box;
  for (int k = 0; k < out.parts; ++k) {
    const std::int64_t size = out.part[k].value;
    out.part[k].value = offset % size;
    offset /= size;
  }
  return out;
}

Result<Truth> injective(const Layout& of) {
  const Result<Layout> counted = over_box(of);
  if (!counted) return counted.refusal;
  const Layout& layout = *counted;
  if (const std::optional<Truth> known = injective_by_strides(layout)) return *known;
  const Result<std::vector<std::int64_t>> offsets = offsets_of(layout);
  if (!offsets) return offsets.refusal;
  const std::vector<Owned> by_offset = sorted(*offsets);
  for (std::size_t i = 0; i + 1 < by_offset.size(); ++i) {
    if (by_offset[i].offset != by_offset[i + 1].offset) continue;
    return Truth{false,
                 Because::shared,
                 -1,
                 by_offset[i].index,
                 by_offset[i + 1].index,
                 by_offset[i].offset};
  }
  return yes(Because::counted);
}

Result<Truth> surjective(const Layout& of) {
  const Result<Layout> counted = over_box(of);
  if (!counted) return counted.refusal;
  const Layout& layout = *counted;
  const Result<std::vector<std::int64_t>> offsets = offsets_of(layout);
  if (!offsets) return offsets.refusal;
  std::int64_t next = 0;  // every offset below is reached
  for (const Owned& each : sorted(*offsets)) {
    if (each.offset > next || each.offset < 0) {
      return Truth{false, Because::hole, -1, 0, 0, each.offset < 0 ? each.offset : next};
    }
    next = each.offset + 1;
  }
  return yes(Because::counted);
}

Result<Truth> compact(const Layout& layout) {
  const Result<Truth> apart = injective(layout);
  return !apart || !apart->value ? apart : surjective(layout);
}

Result<Truth> contiguous(const Layout& layout) {
  const Result<std::vector<std::int64_t>> offsets = offsets_of(layout);
  if (!offsets) return offsets.refusal;
  for (std::size_t i = 0; i + 1 < offsets->size(); ++i) {
    bool fits = true;
    if ((*offsets)[i + 1] == checked_add((*offsets)[i], 1, fits) && fits) continue;
    return Truth{false, Because::step, -1, static_cast<std::int64_t>(i + 1), 0, (*offsets)[i + 1]};
  }
  return yes(Because::counted);
}

Result<Broadcast> broadcast(const Layout& of) {
  const Result<Layout> counted = over_box(of);
  if (!counted) return counted.refusal;
  const Layout& layout = *counted;
  const Result<std::vector<std::int64_t>> offsets = offsets_of(layout);
  if (!offsets) return offsets.refusal;
  const std::vector<Owned> by_offset = sorted(*offsets);
  Broadcast out;
  out.coordinates = static_cast<std::int64_t>(by_offset.size());
  for (std::size_t i = 0; i < by_offset.size();) {
    std::size_t end = i;
    while (end < by_offset.size() && by_offset[end].offset == by_offset[i].offset) ++end;
    const std::int64_t owners = static_cast<std::int64_t>(end - i);
    out.least = out.offsets == 0 ? owners : std::min(out.least, owners);
    out.most = std::max(out.most, owners);
    ++out.offsets;
    i = end;
  }
  return out;
}

Result<std::vector<std::int64_t>> owners(const Layout& layout, std::int64_t offset) {
  const Result<std::vector<std::int64_t>> offsets = offsets_of(layout);
  if (!offsets) return offsets;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < offsets->size(); ++i) {
    if ((*offsets)[i] == offset) out.push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

Result<VectorAccess> widest_vector(const Layout& layout, std::int64_t element_bits) {
  constexpr std::int64_t widest_access = 128;
  if (!detail::power_of_two(element_bits) || element_bits > widest_access) {
    return detail::refuse(Rule::not_power_of_two, -1, element_bits, widest_access);
  }
  const Result<std::vector<std::int64_t>> offsets = offsets_of(layout);
  if (!offsets) return offsets.refusal;
  const std::int64_t n = static_cast<std::int64_t>(offsets->size());
  Layout forwards(layout.modes);  // elements that lie side by side follow each other
  for (int i = 0; i < forwards.leaves(); ++i) {
    Int& stride = forwards.modes.leaf[i].stride;
    if (stride.value < 0) stride = 0;
  }
  const Result<Layout> order = detail::right_inverse_of(forwards);
  VectorAccess out{1, element_bits, Layout(1, 0)};
  if (!order || !layout.offset.known()) return out;
  // Below a swizzle's base the offsets are the plain ones, so its order is the plain layout's.
  for (std::int64_t v = widest_access / element_bits; v > 1; v /= 2) {
    if (n % v != 0 || *size(*order) % v != 0) continue;
    std::int64_t whole = 0;
    for (std::int64_t c = 0; c < n; ++c) {
      if ((*offsets)[static_cast<std::size_t>(c)] % v != 0) continue;
      bool runs = true;
      for (std::int64_t j = 0; j < v && runs; ++j) {
        const std::int64_t at = c + (*order)(j);
        runs = at < n && (*offsets)[static_cast<std::size_t>(at)] ==
                             (*offsets)[static_cast<std::size_t>(c)] + j;
      }
      whole += runs ? v : 0;
    }
    if (whole != n) continue;
    const Result<Layout> along = composition(*order, Layout(v, 1));
    return VectorAccess{v, v * element_bits, along ? *along : Layout(v, 1)};
  }
  return out;
}

}  // namespace tilescope
