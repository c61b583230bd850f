// Pictures of layouts whose strides stand on axes: a grid of places, and tensor memory, which two
// axes (or the addresses of an accumulator) speak of.
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/scene/layout_view.h"

namespace tilescope {
namespace {

constexpr std::int64_t lanes = 128, columns = 512;  // of tensor memory (PTX ISA, tcgen05)
constexpr std::int64_t quarter = 32;                // lanes that one warp reaches

Error refused(std::string sentence) {
  return {ErrorKind::refused, std::move(sentence), {}};
}

// The axes of a layout in the order in which its strides name them; none first.
std::vector<Axis> axes_in(const Layout& layout) {
  std::vector<Axis> out;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Axis axis = layout.modes.leaf[i].stride.axis;
    const bool still = layout.modes.leaf[i].stride.zero();
    if (!still && std::find(out.begin(), out.end(), axis) == out.end()) out.push_back(axis);
  }
  return out;
}

// What a layout gives to one axis, as a plain layout.
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

std::optional<Axis> named(std::string_view name) {
  const std::optional<std::uint8_t> step = axis_named(name);
  return step ? std::optional<Axis>(Axis{}.then(*step)) : std::nullopt;
}

}  // namespace

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
  for (const Axis axis : axes) parts.push_back(along(layout, axis));
  for (std::int64_t i = 0; i < step; ++i) {
    Place place = begin;
    for (std::size_t k = 0; k < axes.size(); ++k) place.add(Int(parts[k](i), axes[k]));
    places->push_back(text(place));
    view->longest_place_ = std::max(view->longest_place_, places->back().size());
  }
  view->places_ = std::move(places);
  return view;
}

bool LayoutView::speaks_of_tensor_memory(const Layout& layout) {
  const std::vector<Axis> axes = axes_in(layout);
  return all_known(layout) && axes.size() <= 2 && named("TLane") && named("TCol") &&
         std::find(axes.begin(), axes.end(), *named("TLane")) != axes.end() &&
         std::all_of(axes.begin(), axes.end(),
                     [](Axis axis) { return axis == *named("TLane") || axis == *named("TCol"); });
}

// Lanes down and columns across; the owner of a cell is its lane, whose warp is the only one of a
// warpgroup that may touch it (PTX ISA, tcgen05.ld and .st: access restrictions), and the value is
// the number of the region that holds it.
Outcome<LayoutView> LayoutView::tensor_memory(const std::vector<Region>& regions,
                                              std::string title) {
  Owners owners;
  std::vector<std::vector<Owner>> by_cell(static_cast<std::size_t>(lanes * columns));
  LayoutView view;
  view.kind_ = Kind::thread_value;
  view.title_ = std::move(title);
  view.thread_mark_ = "L";
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const Layout& lane = regions[r].lane;
    const Layout& column = regions[r].column;
    std::int64_t first = columns, last = -1, lowest = lanes, highest = -1;
    for (std::int64_t i = 0; i < *size(lane); ++i) {
      const std::int64_t l = lane(i), c = column(i);
      if (l < 0 || l >= lanes || c < 0 || c >= columns) {
        return refused(
            fmt::format("{} reaches lane {}, column {}; tensor memory has {} lanes and {} columns.",
                        regions[r].name, l, c, lanes, columns));
      }
      first = std::min(first, c), last = std::max(last, c);
      lowest = std::min(lowest, l), highest = std::max(highest, l);
      const Owner owner{static_cast<std::int32_t>(l), static_cast<std::int32_t>(r)};
      std::vector<Owner>& cell = by_cell[static_cast<std::size_t>(l + lanes * c)];
      if (std::find(cell.begin(), cell.end(), owner) == cell.end()) cell.push_back(owner);
    }
    view.notes_.push_back(fmt::format("{}: lanes {} to {}, columns {} to {}.", regions[r].name,
                                      lowest, highest, first, last));
    view.value_names_.push_back(regions[r].name);
  }
  owners.threads = lanes;
  owners.values = static_cast<std::int64_t>(regions.size());
  owners.begin.push_back(0);
  for (const std::vector<Owner>& cell : by_cell) {
    owners.pairs.insert(owners.pairs.end(), cell.begin(), cell.end());
    owners.begin.push_back(static_cast<std::uint32_t>(owners.pairs.size()));
    owners.most = std::max<std::int64_t>(owners.most, static_cast<std::int64_t>(cell.size()));
    owners.unowned += cell.empty();
  }
  view.notes_.push_back(
      "Warp w of a warpgroup reaches lanes 32 w to 32 w + 31 alone, in all columns.");
  Layout grid;
  grid.modes.push(make_layout_of(Layout(quarter, 1), Layout(lanes / quarter, quarter)).modes);
  grid.modes.push(Tree<Mode>(Mode{columns, lanes}));
  view.add_panel("Tensor memory", "lanes down, columns of 32 bits across", grid);
  view.panels_[0].formula = fmt::format("{} lanes x {} columns", lanes, columns);
  view.threads_ = lanes;
  view.values_ = owners.values;
  view.most_owners_ = owners.most;
  view.highest_ = lanes * columns - 1;
  view.panels_[0].owners = std::make_shared<const Owners>(std::move(owners));
  return view;
}

// A shard and its replicas as one set of places: what of memory is taken. Nothing where it is not
// tensor memory alone.
std::optional<LayoutView::Region> LayoutView::region_of_tiles(std::string name,
                                                              const TileLayout& layout) {
  Layout all;
  for (const Layout* part : {&layout.shard, &layout.replica}) {
    for (int i = 0; i < part->modes.leaves; ++i) {
      all.modes.push(Tree<Mode>(part->modes.leaf[i]));
    }
  }
  const bool fits = !all.modes.capacity() && layout.swizzle.identity();
  if (!fits || all.modes.empty() || !speaks_of_tensor_memory(all)) return std::nullopt;
  return region_on_axes(std::move(name), all, layout.offset);
}

// TIRx's layouts in their own order: the shard's first extent down, its second across.
Outcome<LayoutView> LayoutView::of_tiles(const TileLayout& layout, std::string title) {
  if (const auto region = region_of_tiles("data", layout)) return tensor_memory({*region}, title);
  if (const Result<Slice> cute = to_cute(layout); cute && cute->layout.concrete()) {
    return of_value(*cute, std::move(title));
  }
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

LayoutView::Region LayoutView::region_on_axes(std::string name, const Layout& layout,
                                              const Place& begin) {
  Region out{std::move(name), along(layout, *named("TLane")), along(layout, *named("TCol"))};
  out.lane.offset = out.lane.offset.value + begin.on(*named("TLane")).value;
  out.column.offset = out.column.offset.value + begin.on(*named("TCol")).value;
  return out;
}

// CuTe's addresses of tensor memory: a lane is 2^16 times 32 bits, counted in elements, so that
// elements of half the width have lanes of twice as many (core/tensor/fragment.h).
std::optional<LayoutView::Region> LayoutView::region_of_addresses(std::string name,
                                                                  const Layout& layout) {
  constexpr std::int64_t lane_step = 1 << 16;
  if (!layout.concrete() || !layout.plain()) return std::nullopt;
  std::int64_t least = 0;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const std::int64_t stride = layout.modes.leaf[i].stride.value;
    if (stride >= lane_step && (least == 0 || stride < least)) least = stride;
  }
  if (least == 0 || least % lane_step != 0) return std::nullopt;
  const std::int64_t packed = least / lane_step;
  if (packed != 1 && packed != 2 && packed != 4) return std::nullopt;
  Region out{std::move(name), Layout(layout.modes), Layout(layout.modes)};
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const std::int64_t stride = layout.modes.leaf[i].stride.value;
    out.lane.modes.leaf[i].stride = stride / least;
    out.column.modes.leaf[i].stride = stride % least / packed;
  }
  return out;
}

}  // namespace tilescope
