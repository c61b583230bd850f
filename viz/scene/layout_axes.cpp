// Pictures of layouts whose strides stand on axes: a grid of places.
#include "viz/scene/layout_axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/scene/layout_view.h"

namespace tilescope {
namespace {

Error refused(std::string sentence) {
  return {ErrorKind::refused, std::move(sentence), {}};
}

}  // namespace

std::vector<Axis> axes_in(const Layout& layout) {
  std::vector<Axis> out;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Axis axis = layout.modes.leaf[i].stride.axis;
    const bool still = layout.modes.leaf[i].stride.zero();
    if (!still && std::find(out.begin(), out.end(), axis) == out.end()) out.push_back(axis);
  }
  return out;
}

Layout along(const Layout& layout, Axis axis) {
  Layout out(layout.modes);
  for (int i = 0; i < out.modes.leaves; ++i) {
    Mode& m = out.modes.leaf[i];
    m.stride = m.stride.axis == axis ? Int(m.stride.value) : Int(0);
  }
  if (layout.offset.axis == axis) out.offset = layout.offset.value;
  return out;
}

bool all_known(const Layout& layout) {
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    if (!m.shape.known() || !m.stride.known()) return false;
  }
  return layout.offset.known();
}

// Every place has a row of its own in one table; a cell's offset is its index there.
Outcome<LayoutView> LayoutView::on_axes(const Layout& layout, std::string title,
                                        const Place& begin) {
  if (!all_known(layout)) {
    return refused(
        fmt::format("{} has numbers that are not known; a picture needs known extents "
                    "and strides, such as (4,8):(1@0,1@1).",
                    text(layout)));
  }
  Layout grid(layout.modes);
  std::int64_t step = 1;
  bool fits = true;
  for (int i = 0; i < grid.modes.leaves; ++i) {
    grid.modes.leaf[i].stride = step;
    step = checked_mul(step, grid.modes.leaf[i].shape.value, fits);
  }
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (!fits || step > most) {
    return refused(fmt::format("{} has more than {} places; a picture of places shows up to that.",
                               text(layout), most));
  }
  Outcome<LayoutView> view = plain(grid, std::move(title));
  if (!view) return view;
  Panel& panel = view->panels_[0];
  panel.formula = text(layout);
  panel.again.reset();
  view->threads_ = view->values_ = view->tiles_ = 0;
  view->kind_ = Kind::places;
  auto places = std::make_shared<std::vector<std::string>>();
  const std::vector<Axis> axes = axes_in(layout);
  std::vector<Layout> parts;
  auto numbers = std::make_shared<std::vector<OnAxis>>();
  for (const Axis axis : axes) {
    parts.push_back(along(layout, axis));
    numbers->push_back({axis, 0, 0, {}});
  }
  for (std::int64_t i = 0; i < step; ++i) {
    Place place = begin;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      place.add(Int(parts[k](i), axes[k]));
      (*numbers)[k].numbers.push_back(place.on(axes[k]).value);
    }
    places->push_back(text(place));
    view->longest_place_ = std::max(view->longest_place_, places->back().size());
  }
  view->places_ = std::move(places);
  for (OnAxis& on : *numbers) {
    const auto [low, high] = std::minmax_element(on.numbers.begin(), on.numbers.end());
    on.lowest = *low, on.highest = *high;
  }
  view->on_axes_ = std::move(numbers);
  return view;
}

// TIRx's layouts in their own order: the first extent of the logical shape down, its second across.
// Where the shape cuts through the shard, the shard's extents are shown.
Outcome<LayoutView> LayoutView::of_tiles(const TileLayout& layout, std::string title) {
  if (const auto region = region_of_tiles({}, layout)) return tensor_memory({*region}, title);
  Result<Slice> cute = to_cute(layout, logical_shape(layout));
  if (!cute) cute = to_cute(layout, layout.shard.shape());
  if (cute && cute->layout.concrete()) return of_value(*cute, std::move(title));
  if (layout.shard.modes.empty() || !layout.swizzle.identity()) {
    return refused(
        fmt::format("{} has no grid to draw; S[(8,4):(1@laneid,1)] has one.", text(layout)));
  }
  Outcome<LayoutView> view = on_axes(layout.shard, std::move(title), layout.offset);
  if (view && !layout.replica.modes.empty()) {
    view->remark("Each element stands at the places of the replicas R as well.");
  }
  return view;
}

}  // namespace tilescope
