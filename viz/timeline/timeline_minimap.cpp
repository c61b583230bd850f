// All of the run in a strip above a timeline's axis, and which part of it is seen.
#include <algorithm>
#include <array>
#include <cmath>

#include "viz/timeline/timeline_paint.h"

namespace tilescope {
namespace {

constexpr double lane_height = 6, least_room = 360;
constexpr std::size_t most_lanes = 5;

// What has a lane, in their order. Copies with cp.async are copies in.
constexpr std::array<sim::Unit, most_lanes> kLanes = {sim::Unit::warp, sim::Unit::copy_in,
                                                      sim::Unit::tensor, sim::Unit::tensor_load,
                                                      sim::Unit::copy_out};

std::size_t lane_of_unit(sim::Unit unit) {
  if (unit == sim::Unit::async_copy) unit = sim::Unit::copy_in;
  return static_cast<std::size_t>(std::find(kLanes.begin(), kLanes.end(), unit) - kLanes.begin());
}

}  // namespace

void TimelineView::look_over() {
  std::array<std::vector<double>, most_lanes> sums;
  const double piece = std::max(end(), 1.0) / static_cast<double>(OverviewLane::pieces);
  for (sim::TrackId t = 0; t < densities_.size(); ++t) {
    const std::size_t lane = lane_of_unit(record_->tracks[t].unit);
    if (lane >= most_lanes) continue;
    const Density& density = densities_[t];
    for (std::size_t i = 0; i < density.doings().size(); ++i) {
      if (density.doings()[i].waits()) continue;
      std::vector<double>& sum = sums[lane];
      sum.resize(OverviewLane::pieces);
      double before = 0;
      for (std::size_t p = 0; p < OverviewLane::pieces; ++p) {
        const double now = density.before(i, piece * static_cast<double>(p + 1));
        sum[p] += now - before;
        before = now;
      }
    }
  }
  for (std::size_t lane = 0; lane < most_lanes; ++lane) {
    const std::vector<double>& sum = sums[lane];
    if (sum.empty()) continue;
    const double most = *std::max_element(sum.begin(), sum.end());
    if (!(most > 0)) continue;
    OverviewLane out;
    out.doing = {kLanes[lane], sim::Stall::none};
    for (std::size_t p = 0; p < OverviewLane::pieces; ++p) {
      out.share[p] = static_cast<float>(sum[p] / most);
    }
    overview_.push_back(out);
  }
}

double minimap_height(Size size) {
  return size.height < least_room ? 0 : most_lanes * lane_height + 6 + inside;
}

namespace {

std::shared_ptr<const Image> overview_image(const TimelineView& view, const Theme& theme,
                                            RasterStore* store) {
  const std::vector<double> key{
      -1, theme.dark ? 1.0 : 0.0,
      static_cast<double>(reinterpret_cast<std::uintptr_t>(&view.record()))};
  if (store != nullptr) {
    for (const RasterStore::Entry& entry : store->entries) {
      if (entry.key == key) return entry.image;
    }
  }
  auto out = std::make_shared<Image>();
  out->columns = static_cast<int>(OverviewLane::pieces);
  for (const OverviewLane& lane : view.overview()) {
    const Rgba colour = colour_of(lane.doing, theme);
    std::vector<Rgba> line;
    for (const float share : lane.share) {
      // What is there at all is seen.
      const double strength = share > 0 ? 0.3 + 0.7 * static_cast<double>(share) : 0;
      line.push_back(mix(theme.panel, colour, strength));
    }
    for (int row = 0; row + 1 < static_cast<int>(lane_height); ++row) {
      out->rgba.insert(out->rgba.end(), line.begin(), line.end());
    }
    out->rgba.insert(out->rgba.end(), line.size(), theme.panel);
  }
  out->rows = static_cast<int>(out->rgba.size()) / out->columns;
  out->version = new_image_version();
  if (store != nullptr) store->entries.push_back({key, out});
  return out;
}

}  // namespace

void draw_minimap(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                  const TimelineChoice& choice, RasterStore* store) {
  const Box& box = frame.minimap;
  if (box.empty()) return;
  scene.begin("all of the run");
  scene.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 2});
  Text name;
  name.text = "all of the run";
  name.at = {box.x - inside, box.centre().y};
  name.across = Across::right;
  name.ink = Role::quiet;
  scene.add(std::move(name));
  const double run = frame.minimap_x_of(view.end()) - box.x;
  const double high = static_cast<double>(view.overview().size()) * lane_height;
  if (high > 0) {
    scene.add(Raster{{box.x, box.y + (box.height - high) / 2, run, high},
                     overview_image(view, scene.theme, store)});
  }
  const CycleRange& seen = frame.viewport.range;
  const double left = frame.minimap_x_of(seen.from);
  const double right = std::max(frame.minimap_x_of(seen.to), left + 3);
  if (!frame.shows_all()) {
    for (const Box& hidden : {Box{box.x, box.y, left - box.x, box.height},
                              Box{right, box.y, box.right() - right, box.height}}) {
      if (!hidden.empty()) scene.add(Rectangle{hidden, Ink(Role::paper, 0.65), {}, 0});
    }
    scene.add(Rectangle{{left, box.y, right - left, box.height}, {}, {Role::text, 1, false}, 2});
  }
  if (choice.moment && *choice.moment <= frame.whole) {
    const double x = frame.minimap_x_of(*choice.moment);
    scene.add(straight({x, box.y}, {x, box.bottom()}, Role::accent, 2));
  }
  scene.hints.push_back({box, frame.shows_all()
                                  ? "all of the run: drag over a part of it to see that"
                                  : "all of the run: drag the frame to another time"});
  scene.end();
}

}  // namespace tilescope
