// Pictures of layouts whose strides stand on axes: a grid of places.
#include "viz/layout/layout_axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {}  // namespace

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

namespace {

// Each element its own number.
Layout counted(Layout grid) {
  std::int64_t step = 1;
  for (int i = 0; i < grid.modes.leaves; ++i) {
    grid.modes.leaf[i].stride = step;
    step *= grid.modes.leaf[i].shape.value;
  }
  return grid;
}

}  // namespace

// Every element has a row of its own in one table; a cell's offset is its index there.
void LayoutView::show_places(Places places) {
  for (const std::vector<std::string>& each : places.texts) {
    const std::int64_t count = static_cast<std::int64_t>(each.size());
    places_.most = std::max(places_.most, count);
    for (const std::string& place : each) places_.longest = std::max(places_.longest, place.size());
  }
  for (OnAxis& on : places.scales) {
    const auto [low, high] = std::minmax_element(on.numbers.begin(), on.numbers.end());
    on.lowest = *low, on.highest = *high;
  }
  for (Panel& panel : panels_) {
    panel.again.reset();
    panel.overlaps.reset();
  }
  for (std::string& note : places.notes) remark(std::move(note));
  places_.texts =
      std::make_shared<const std::vector<std::vector<std::string>>>(std::move(places.texts));
  places_.on_axes = std::make_shared<const std::vector<OnAxis>>(std::move(places.scales));
}

Outcome<LayoutView> LayoutView::of_places(Places places, std::string title) {
  Outcome<LayoutView> view = plain(counted(places.grid), std::move(title));
  if (!view) return view;
  view->panels_[0].formula = places.formula;
  view->owned_.threads = view->owned_.values = view->division_.tiles = 0;
  view->kind_ = Kind::places;
  view->show_places(std::move(places));
  return view;
}

Outcome<LayoutView> LayoutView::divided_places(const Layout& input, const Place& begin,
                                               const Tiler& tiler, DivideForm form) {
  Outcome<Places> places =
      all_known(input) ? places_on_axes(input, begin, {}) : places_with_unknowns(input, &tiler);
  if (!places) return places.error();
  Outcome<LayoutView> view = divided(counted(places->grid), tiler, form);
  if (!view) return view;
  // The forms of what was asked, not of what was drawn for it.
  std::vector<Result<Layout>> forms{input};
  if (tiler.by_mode()) forms.push_back(logical_divide(input, tiler));
  forms.push_back(form == DivideForm::tiled  ? tiled_divide(input, tiler)
                  : form == DivideForm::flat ? flat_divide(input, tiler)
                                             : zipped_divide(input, tiler));
  for (std::size_t p = 0; p < forms.size(); ++p) {
    if (!forms[p]) return refused(sentence(forms[p].refusal));
    view->panels_[p].formula = text(*forms[p]);
  }
  view->show_places(std::move(*places));
  return view;
}

Outcome<LayoutView::Places> LayoutView::places_on_axes(const Layout& layout, const Place& begin,
                                                       const Layout& replica) {
  if (!all_known(layout) || !all_known(replica)) {
    return refused(
        fmt::format("{} has numbers that are not known; a picture needs known extents "
                    "and strides, such as (4,8):(1@0,1@1).",
                    text(layout)));
  }
  constexpr std::int64_t most = std::int64_t{1} << 20;
  bool fits = true;
  std::int64_t copies = 1, all = 1;
  for (int i = 0; i < replica.modes.leaves; ++i) {
    copies = checked_mul(copies, replica.modes.leaf[i].shape.value, fits);
  }
  for (int i = 0; i < layout.modes.leaves; ++i) {
    all = checked_mul(all, layout.modes.leaf[i].shape.value, fits);
  }
  if (!fits || checked_mul(all, copies, fits) > most || !fits) {
    return refused(fmt::format("{} has more than {} places; a picture of places shows up to that.",
                               text(layout), most));
  }
  std::vector<Axis> axes = axes_in(layout);
  std::vector<OnAxis> scales;
  for (const Axis axis : axes) {
    scales.push_back({axis.none() ? "offset" : "axis " + text(axis).substr(1), 0, 0, {}});
  }
  for (const Axis axis : axes_in(replica)) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  std::vector<Layout> parts, copied;
  for (const Axis axis : axes) {
    parts.push_back(along(layout, axis));
    copied.push_back(replica.modes.empty() ? Layout(1, 0) : along(replica, axis));
  }
  std::vector<std::vector<std::string>> places(static_cast<std::size_t>(all));
  for (std::int64_t i = 0; i < all; ++i) {
    for (std::int64_t r = 0; r < copies; ++r) {
      Place place = begin;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        place.add(Int(parts[k](i) + copied[k](r), axes[k]));
        if (r == 0 && k < scales.size()) scales[k].numbers.push_back(place.on(axes[k]).value);
      }
      places[static_cast<std::size_t>(i)].push_back(text(place));
    }
  }
  return Places{Layout(layout.modes), text(layout), std::move(places), std::move(scales), {}};
}

Outcome<LayoutView> LayoutView::on_axes(const Layout& layout, std::string title, const Place& begin,
                                        const Layout& replica) {
  Outcome<Places> places = places_on_axes(layout, begin, replica);
  if (!places) return places.error();
  return of_places(std::move(*places), std::move(title));
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
  Outcome<LayoutView> view = on_axes(layout.shard, std::move(title), layout.offset, layout.replica);
  if (view && view->most_places() > 1) {
    view->remark(
        fmt::format("R puts each element at {} places: those without room are counted "
                    "as +n.",
                    view->most_places()));
  }
  return view;
}

}  // namespace tilescope
