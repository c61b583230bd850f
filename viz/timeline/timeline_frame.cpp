// Where a timeline's rows and times stand; zoom, drag, and what is under a point.
#include <algorithm>
#include <cmath>

#include "viz/timeline/timeline_paint.h"

namespace tilescope {
namespace {

constexpr double title_height = 64, notice_height = 24, padding = 2, lane_height = 14,
                 folded_height = 34;
constexpr double margin = timeline_margin;
constexpr double least_range = 8;  // cycles

double sane(double value, double otherwise) {
  return std::isfinite(value) ? value : otherwise;
}

// What can be seen: the run, and another on the same scale.
double span_of(const TimelineView& view, const TimelineViewport& viewport) {
  return std::max({view.end(), viewport.span, least_range});
}

}  // namespace

CycleRange range_within(const TimelineView& view, const TimelineViewport& viewport,
                        CycleRange range) {
  const double end = span_of(view, viewport);
  double from = sane(range.from, 0), to = sane(range.to, end);
  if (!(to > from)) return {0, end};
  const double length = std::clamp(to - from, least_range, end);
  from = std::clamp((from + to - length) / 2, 0.0, end - length);
  return {from, from + length};
}

double labels_width(Size size) {
  return std::clamp(std::round(size.width * 0.2), std::min(188.0, size.width / 3), 256.0);
}

double height_of(const TimelineView& view, const TimelineRow& row) {
  if (row.place.group)
    return !row.open && view.has_stripes(row.place.index) ? folded_height : timeline_row_height;
  const int lanes = view.lanes_of(row.place.index);
  return lanes > 1 ? 2 * padding + lanes * lane_height : timeline_row_height;
}

TimelineFrame arrange(const TimelineView& view, const TimelineChoice& choice,
                      const TimelineViewport& viewport) {
  TimelineFrame out;
  out.viewport = viewport;
  out.by_step = choice.steps && viewport.steps && !viewport.steps->empty();
  out.viewport.reveal.reset();  // whoever looks elsewhere from this frame wants to be there
  out.viewport.range = range_within(view, viewport, viewport.range);
  const Size size = viewport.size;
  const bool title = viewport.title && size.height >= 480;
  out.viewport.title = title;
  const double left = labels_width(size);
  const double axis = view.known_time() ? 2 * axis_line : axis_line;
  const double legend = viewport.legend ? legend_height({&view}, size) : 0;
  const double above =
      (title ? title_height : inside) + (viewport.notice.empty() ? 0 : notice_height);
  const double map = minimap_height(size);
  const double top = above + map;
  const double bottom = std::max(size.height - legend - margin - inside, top + axis + 1);
  out.title = {margin, 28};
  out.legend = {margin, bottom + margin + legend_line / 2 - inside / 2};
  out.axis = {left, top, std::max(size.width - left - margin, 1.0), axis};
  out.whole = span_of(view, viewport);
  if (map > 0) out.minimap = {left, above, out.axis.width, map - inside};
  out.lanes = {left, top + axis, out.axis.width, bottom - top - axis};
  place_rows(view, choice, out);
  return out;
}

void place_rows(const TimelineView& view, const TimelineChoice& choice, TimelineFrame& out) {
  out.labels = {0, out.lanes.y, out.lanes.x, out.lanes.height};
  double y = out.lanes.y;
  // Pinned rows keep half of the room at most.
  for (const TimelinePlace& place : choice.pinned) {
    const TimelineRow row{place, 0, place.group && view.is_open(choice, place.index)};
    const double height = height_of(view, row);
    if (y + height > out.lanes.y + out.lanes.height / 2) break;
    out.rows.push_back({row, y, true});
    y += height;
  }
  out.scrolled_from = y;
  const std::vector<TimelineRow> rows = view.rows(choice);
  for (const TimelineRow& row : rows) out.all_rows += height_of(view, row);
  const double room = out.lanes.bottom() - y;
  out.viewport.scroll =
      std::clamp(sane(out.viewport.scroll, 0), 0.0, std::max(0.0, out.all_rows - room));
  y -= out.viewport.scroll;
  for (const TimelineRow& row : rows) {
    const double height = height_of(view, row);
    if (y >= out.lanes.bottom()) break;
    if (y + height > out.scrolled_from) out.rows.push_back({row, y, false});
    y += height;
  }
}

Box body_of(const TimelineView& view, const TimelineFrame& frame, const TimelineFrame::Place& row) {
  return {frame.lanes.x, row.y + padding, frame.lanes.width,
          height_of(view, row.row) - 2 * padding};
}

Box box_of(const TimelineView& view, const TimelineFrame& frame, const TimelineFrame::Place& row,
           const sim::Event& event, sim::EventId id) {
  Box box = body_of(view, frame, row);
  if (event.kind == sim::EventKind::operation) {
    box.height /= view.lanes_of(event.track);
    box.y += box.height * view.lane_of(id);
  }
  const double end = event.end == sim::never_ends ? view.end() : static_cast<double>(event.end);
  const double begin = static_cast<double>(event.begin);
  box.x = frame.x_of(begin);
  box.width = std::max(frame.x_of(std::max(end, begin)) - box.x, 1.0);
  return box;
}

SeenTime seen_of(const TimelineView& view, const TimelineFrame& frame, sim::TrackId track,
                 double pixel) {
  SeenTime out;
  const CycleRange& range = frame.viewport.range;
  out.from = static_cast<sim::Cycle>(std::max(0.0, std::floor(range.from)));
  const double queue = std::min(static_cast<double>(view.longest_queue(track)), range.length());
  out.to = static_cast<sim::Cycle>(std::ceil(range.to + queue)) + 1;
  const double cycles = static_cast<double>(out.to - out.from);
  out.pixels =
      static_cast<std::uint32_t>(std::max(1.0, cycles / (frame.cycles_of_pixel() * pixel)));
  return out;
}

std::optional<Box> box_of(const TimelineView& view, const TimelineFrame& frame, sim::EventId id) {
  if (id >= view.record().events.size()) return std::nullopt;
  const sim::Event event = view.record().events[id];
  for (const TimelineFrame::Place& row : frame.rows) {
    if (row.row.place.group || row.row.place.index != event.track) continue;
    const Box box = box_of(view, frame, row, event, id);
    if (box.right() <= frame.lanes.x || box.x >= frame.lanes.right()) return std::nullopt;
    const double left = std::max(box.x, frame.lanes.x);
    return Box{left, box.y, std::min(box.right(), frame.lanes.right()) - left, box.height};
  }
  return std::nullopt;
}

namespace {

// What of a track is drawn at a point: the box it is in, those in front first.
void look_at(const TimelineView& view, const TimelineFrame& frame, const TimelineFrame::Place& row,
             Point at, TimelineHit& out) {
  const sim::TrackId track = row.row.place.index;
  const SeenTime seen = seen_of(view, frame, track, 1 / frame.viewport.pixel_scale);
  double nearest = 3;  // pixels that a pointer may be beside what it means
  const auto better = [&](double distance, double width, bool in_lane) {
    const double miss = distance + (in_lane ? 0 : 1.5) + std::min(width, 1e6) * 1e-7;
    if (!(miss < nearest)) return false;
    nearest = miss;
    return true;
  };
  for (const sim::Span& span : view.timeline().spans(track, seen.from, seen.to, seen.pixels)) {
    Box box = body_of(view, frame, row);
    sim::Event event;
    bool flies = false;
    if (span.event != sim::no_event) {
      event = view.record().events[span.event];
      box = box_of(view, frame, row, event, span.event);
      const double issue = frame.x_of(static_cast<double>(std::min(event.issue, event.begin)));
      flies = at.x >= issue && at.x < box.x;
    } else {
      box.x = frame.x_of(static_cast<double>(span.begin));
      box.width = std::max(frame.x_of(static_cast<double>(span.end)) - box.x, 1.0);
    }
    const double distance = flies ? 0.5 : std::max({0.0, box.x - at.x, at.x - box.right()});
    // Arrivals and reports stand before the phase or run around them.
    const bool instant = span.event != sim::no_event && (event.kind == sim::EventKind::arrival ||
                                                         event.kind == sim::EventKind::report);
    const bool in_lane = at.y >= box.y && at.y < box.bottom();
    if (!better(instant ? distance / 4 - 0.1 : distance, box.width, in_lane)) continue;
    out.event = span.event;
    out.span.reset();
    if (span.event == sim::no_event) out.span = span;
  }
}

}  // namespace

TimelineHit hit(const TimelineView& view, const TimelineChoice&, const TimelineFrame& frame,
                Point at) {
  TimelineHit out;
  out.cycle = std::clamp(frame.cycle_of(at.x), 0.0, view.end());
  if (frame.axis.contains(at)) out.on = TimelineHit::On::axis;
  if (frame.minimap.contains(at)) {
    out.on = TimelineHit::On::minimap;
    out.cycle = std::clamp(frame.minimap_cycle_of(at.x), 0.0, frame.whole);
  }
  if (at.y < frame.lanes.y || at.y >= frame.lanes.bottom()) return out;
  const bool pinned = at.y < frame.scrolled_from;
  for (const TimelineFrame::Place& row : frame.rows) {
    const double bottom = row.y + height_of(view, row.row);
    if (row.pinned != pinned || at.y < row.y || at.y >= bottom) continue;
    out.row = row.row;
    if (at.x < frame.lanes.x) {
      out.on = TimelineHit::On::label;
    } else if (at.x < frame.lanes.right()) {
      out.on = TimelineHit::On::lane;
      if (row.row.place.group) return out;
      look_at(view, frame, row, at, out);
      if (out.event == sim::no_event && !out.span) {
        out.idle = idle_at(view, row.row.place.index, out.cycle);
      }
    }
    return out;
  }
  return out;
}

TimelineViewport zoomed(const TimelineView& view, const TimelineFrame& frame, Point at,
                        double factor) {
  TimelineViewport viewport = frame.viewport;
  if (!(factor > 0) || !std::isfinite(factor)) return viewport;
  const double x = std::clamp(at.x, frame.lanes.x, frame.lanes.right());
  const double cycle = frame.cycle_of(x), share = (x - frame.lanes.x) / frame.lanes.width;
  const double end = span_of(view, viewport);
  const double length = std::clamp(viewport.range.length() / factor, least_range, end);
  // What stands at the ends may pull it aside; lengths are kept.
  const double from = std::clamp(cycle - share * length, 0.0, end - length);
  viewport.range = {from, from + length};
  return viewport;
}

TimelineViewport panned(const TimelineView& view, const TimelineFrame& frame, double dx,
                        double dy) {
  TimelineViewport viewport = frame.viewport;
  const double length = viewport.range.length();
  const double from = std::clamp(viewport.range.from - dx * frame.cycles_of_pixel(), 0.0,
                                 std::max(0.0, span_of(view, viewport) - length));
  viewport.range = {from, from + length};
  const double room = frame.lanes.bottom() - frame.scrolled_from;
  viewport.scroll = std::clamp(viewport.scroll - dy, 0.0, std::max(0.0, frame.all_rows - room));
  return viewport;
}

TimelineViewport centred(const TimelineView& view, const TimelineFrame& frame, double cycle) {
  TimelineViewport viewport = frame.viewport;
  const double length = viewport.range.length();
  const double from =
      std::clamp(cycle - length / 2, 0.0, std::max(0.0, span_of(view, viewport) - length));
  viewport.range = {from, from + length};
  return viewport;
}

TimelineViewport showing(const TimelineView& view, const TimelineFrame& frame, CycleRange range) {
  TimelineViewport viewport = frame.viewport;
  viewport.range = range_within(view, viewport, range);
  return viewport;
}

TimelineViewport showing(const TimelineView& view, const TimelineChoice& choice,
                         const TimelineFrame& frame, sim::EventId id) {
  TimelineViewport viewport = frame.viewport;
  if (id >= view.record().events.size()) return viewport;
  const sim::Event event = view.record().events[id];
  const double begin = static_cast<double>(std::min(event.issue, event.begin));
  const double end = event.end == sim::never_ends ? view.end() : static_cast<double>(event.end);
  const double length = std::max(end - begin, 0.0);
  // In view, it stays where it is; too small to be seen or too large, it gets a third of the width.
  const double share = length / viewport.range.length();
  if (begin < viewport.range.from || end > viewport.range.to || (length > 0 && share < 0.01)) {
    const double want =
        share < 0.01 || share > 0.5 ? std::max(length * 3, 200.0) : viewport.range.length();
    viewport.range =
        range_within(view, viewport, {(begin + end - want) / 2, (begin + end + want) / 2});
  }
  viewport.scroll = showing_row(view, choice, frame, event.track).scroll;
  return viewport;
}

TimelineViewport showing_row(const TimelineView& view, const TimelineChoice& choice,
                             const TimelineFrame& frame, sim::TrackId track) {
  TimelineViewport viewport = frame.viewport;
  const TimelinePlace place = view.shown_as(choice, track);
  double y = 0;
  for (const TimelineRow& row : view.rows(choice)) {
    const double height = height_of(view, row);
    if (row.place == place) {
      const double room = frame.lanes.bottom() - frame.scrolled_from;
      if (y < viewport.scroll) viewport.scroll = std::max(0.0, y - timeline_row_height);
      if (y + height > viewport.scroll + room)
        viewport.scroll = y + height - room + timeline_row_height;
      break;
    }
    y += height;
  }
  return viewport;
}

}  // namespace tilescope
