#include "viz/session/look.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/session/session.h"

namespace tilescope {
namespace {

bool sized(const Viewport& viewport) {
  return viewport.cell > 0 && viewport.size.width > 0 && viewport.size.height > 0;
}

// Where everything of it is when nothing is moved.
template <class View>
auto unmoved(const View& view, Viewport& viewport, const ViewportPlace& look) {
  viewport.cell = look.cell;
  viewport.pan = {};
  viewport.look.reset();
  return arrange(view, viewport);
}

}  // namespace

std::optional<ViewportPlace> look_of(const LayoutView& view, const Viewport& viewport) {
  if (!sized(viewport)) return {};
  const Frame frame = arrange(view, viewport);
  const Point at = frame.body.centre();
  ViewportPlace out;
  double least = 1e300;
  for (std::size_t p = 0; p < frame.places.size(); ++p) {
    const Box& box = frame.places[p].box;
    const double away = std::max({box.x - at.x, 0.0, at.x - box.right()}) +
                        std::max({box.y - at.y, 0.0, at.y - box.bottom()});
    if (away >= least) continue;
    least = away;
    out.grid = static_cast<int>(p);
  }
  const Frame::Place& place = frame.places[static_cast<std::size_t>(out.grid)];
  const Panel& panel = view.panels()[static_cast<std::size_t>(out.grid)];
  // The slice in whose room the middle is, or the nearest.
  const auto nth = [](double from, double step, std::int64_t count) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(from / step)), 0,
                                    std::max<std::int64_t>(count - 1, 0));
  };
  const std::int64_t across =
      nth(at.x - place.first.x, place.slice_step.width, place.slices_across);
  const std::int64_t down = nth(at.y - place.first.y, place.slice_step.height,
                                ceil_div(panel.slices, place.slices_across));
  const std::int64_t shown = std::min(down * place.slices_across + across, panel.slices - 1);
  const Box grid = slice_box(place, shown);
  out.slice = panel.first_slice + shown;
  out.cell = viewport.cell;
  out.row = (at.y - grid.y) / place.cell.height;
  out.column = (at.x - grid.x) / place.cell.width;
  return out;
}

Viewport looking(const LayoutView& view, Viewport viewport, const ViewportPlace& look) {
  const Frame frame = unmoved(view, viewport, look);
  const bool there = look.grid >= 0 && look.grid < static_cast<int>(frame.places.size());
  const auto p = static_cast<std::size_t>(there ? look.grid : 0);
  const Panel& panel = view.panels()[p];
  const Box grid =
      slice_box(frame.places[p],
                std::clamp<std::int64_t>(look.slice - panel.first_slice, 0, panel.slices - 1));
  const Point middle = frame.body.centre();
  viewport.pan = {grid.x + look.column * frame.places[p].cell.width - middle.x,
                  grid.y + look.row * frame.places[p].cell.height - middle.y};
  return panned(view, arrange(view, viewport), 0, 0);
}

std::optional<ViewportPlace> look_of(const MatricesView& view, const Viewport& viewport) {
  if (!sized(viewport)) return {};
  const MatricesFrame frame = arrange(view, viewport);
  if (frame.slots.empty() || frame.viewport.cell <= frame.fit) return {};
  ViewportPlace out;
  out.cell = frame.viewport.cell;
  out.row = (frame.viewport.pan.y + frame.slots[0].height / 2) / out.cell;
  out.column = (frame.viewport.pan.x + frame.slots[0].width / 2) / out.cell;
  return out;
}

Viewport looking(const MatricesView& view, Viewport viewport, const ViewportPlace& look) {
  const MatricesFrame frame = unmoved(view, viewport, look);
  if (frame.slots.empty()) return viewport;
  viewport.pan = {look.column * frame.viewport.cell - frame.slots[0].width / 2,
                  look.row * frame.viewport.cell - frame.slots[0].height / 2};
  return arrange(view, viewport).viewport;
}

std::optional<ViewportPlace> look_of(const DiffView& view, const Viewport& viewport) {
  if (!sized(viewport)) return {};
  const DiffFrame frame = arrange(view, viewport);
  const Point at = frame.body.centre();
  ViewportPlace out;
  out.cell = viewport.cell;
  out.row = (at.y - frame.map.y) / frame.cell.height;
  out.column = (at.x - frame.map.x) / frame.cell.width;
  return out;
}

Viewport looking(const DiffView& view, Viewport viewport, const ViewportPlace& look) {
  const DiffFrame frame = unmoved(view, viewport, look);
  const Point middle = frame.body.centre();
  viewport.pan = {frame.map.x + look.column * frame.cell.width - middle.x,
                  frame.map.y + look.row * frame.cell.height - middle.y};
  return panned(view, arrange(view, viewport), 0, 0);
}

std::string zoom_line(const Session& session) {
  std::string out;
  const View& view = view_of(session.state.view);
  if (const auto look = view.look ? view.look(session) : std::nullopt) {
    out = fmt::format("zoom at {:.6g} {:.8g} {:.8g}", look->cell, look->row, look->column);
    if (look->grid > 0 || look->slice > 0) out += fmt::format(" {} {}", look->grid, look->slice);
  }
  // Asked for, and not yet seen in a picture.
  if (session.pending_zoom == 1) return out;
  const std::string by = fmt::format("zoom by {:.6g}", session.pending_zoom);
  return out.empty() ? by : fmt::format("{} by {:.6g}", out, session.pending_zoom);
}

}  // namespace tilescope
