// Arrows on a timeline: from what brought something about to that.
#include <algorithm>
#include <cmath>
#include <set>

#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventId;
using sim::EventKind;

constexpr std::size_t most_arrows = 150;

// The moment at which an event was brought about: a wait and a phase end by it, an operation is
// issued, and one that waited for another, as a commit does for a product, begins.
double moment_of(const TimelineView& view, const Event& event, const Event& cause) {
  switch (event.kind) {
    case EventKind::wait:
    case EventKind::phase:
      return view.end_of(event);
    case EventKind::operation:
      return static_cast<double>(cause.kind == EventKind::operation ? event.begin : event.issue);
    default:
      return static_cast<double>(event.begin);
  }
}

class Painter {
 public:
  Painter(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
          const TimelineFrame& frame)
      : scene_(scene), view_(view), choice_(choice), frame_(frame) {}

  // `labelled`: with what it carries, where that has room.
  void draw(EventId cause_id, EventId effect_id, const Stroke& stroke, bool labelled = false) {
    const std::size_t events = view_.record().events.size();
    if (cause_id >= events || effect_id >= events) return;
    const Event cause = view_.record().events[cause_id];
    const Event effect = view_.record().events[effect_id];
    const double to = moment_of(view_, effect, cause);
    // A run that goes on behind what it brought about did it then.
    const double from = std::clamp(to, static_cast<double>(cause.begin),
                                   std::max(view_.end_of(cause), static_cast<double>(cause.begin)));
    const Point a{frame_.x_of(from), y_of(cause, cause_id)};
    const Point b{frame_.x_of(to), y_of(effect, effect_id)};
    if (std::max(a.x, b.x) < frame_.lanes.x || std::min(a.x, b.x) > frame_.lanes.right()) return;
    if (a.x == b.x && a.y == b.y) return;
    Line line;
    line.points = {a, b};
    line.stroke = stroke;
    line.arrow = true;
    Line under = line;  // a rim of paper, so that it is seen on any colour
    under.arrow = false;
    under.stroke = {Ink(Role::paper, 0.85), stroke.width + 2, false};
    scene_.add(std::move(under));
    scene_.add(std::move(line));
    if (labelled) wanted_.push_back({a, b, carried_text(view_, cause_id, effect_id)});
  }

  // After all arrows, so that none goes through a label.
  void draw_labels() {
    for (const Wanted& each : wanted_) {
      if (!each.text.empty()) draw_label(each);
    }
  }

 private:
  struct Wanted {
    Point from, to;
    std::string text;
  };
  // On the arrow where no other label is; nowhere else, since it would seem another one's.
  void draw_label(const Wanted& wanted) {
    const double wide = text_width(wanted.text, small_text, Family::sans) + 10, high = 18;
    for (const double share : {0.5, 0.35, 0.65, 0.2, 0.8}) {
      const Point middle{wanted.from.x + (wanted.to.x - wanted.from.x) * share,
                         wanted.from.y + (wanted.to.y - wanted.from.y) * share};
      // A steep arrow is seen on both sides of its label, or beside it.
      Box box{middle.x - wide / 2, middle.y - high / 2, wide, high};
      box.x =
          std::clamp(box.x, frame_.lanes.x, std::max(frame_.lanes.x, frame_.lanes.right() - wide));
      if (box.y < frame_.lanes.y || box.bottom() > frame_.lanes.bottom()) continue;
      const bool free = std::none_of(labels_.begin(), labels_.end(),
                                     [&](const Box& other) { return !other.cut(box).empty(); });
      if (!free) continue;
      labels_.push_back(box);
      scene_.add(Rectangle{box, Ink(Role::paper), {Role::accent, 1, false}, 3});
      scene_.add(words(box.centre(), wanted.text, Across::centre));
      return;
    }
  }

  // The middle of its box; of what is folded, of the row that it is folded into; of what is
  // scrolled away, the edge.
  double y_of(const Event& event, EventId id) const {
    const sim::TrackId track = event.track;
    const TimelinePlace place = view_.shown_as(choice_, track);
    for (const TimelineFrame::Place& row : frame_.rows) {
      if (row.row.place == TimelinePlace{false, track}) {
        return box_of(view_, frame_, row, event, id).centre().y;
      }
      if (row.row.place == place) return body_of(view_, frame_, row).centre().y;
    }
    // Above or below: rows are in the order of places.
    bool above = true;
    const TimelinePlace first = first_scrolled();
    for (const TimelineRow& row : view_.rows(choice_)) {
      if (row.place == first) above = false;
      if (row.place == place) break;
    }
    return above ? frame_.scrolled_from : frame_.lanes.bottom();
  }
  TimelinePlace first_scrolled() const {
    for (const TimelineFrame::Place& row : frame_.rows) {
      if (!row.pinned) return row.row.place;
    }
    return {};
  }

  Scene& scene_;
  const TimelineView& view_;
  const TimelineChoice& choice_;
  const TimelineFrame& frame_;
  std::vector<Wanted> wanted_;
  std::vector<Box> labels_;
};

}  // namespace

void draw_arrows(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                 const TimelineFrame& frame) {
  scene.begin("arrows");
  Painter arrows(scene, view, choice, frame);
  const auto from = static_cast<sim::Cycle>(std::max(0.0, frame.viewport.range.from));
  const auto to = static_cast<sim::Cycle>(std::ceil(frame.viewport.range.to)) + 1;
  std::set<std::pair<EventId, EventId>> chosen;
  if (choice.selected < view.record().events.size()) {
    EventId effect = choice.selected;
    for (const EventId cause : causes_of(view, choice.selected)) {
      chosen.insert({cause, effect});
      effect = cause;
    }
    for (const EventId each : effects_of(view, choice.selected)) {
      chosen.insert({choice.selected, each});
    }
  }
  if (choice.arrows) {
    std::vector<sim::TrackId> tracks;
    for (const TimelineFrame::Place& row : frame.rows) {
      if (!row.row.place.group) tracks.push_back(row.row.place.index);
    }
    const sim::Arrows all = view.timeline().arrows(tracks, from, to, most_arrows);
    if (all.more) {
      Text text;
      text.text = "too many arrows: zoom in to see them";
      text.at = {frame.lanes.right() - inside, frame.lanes.y + 12};
      text.across = Across::right;
      text.ink = Role::quiet;
      const double wide = text_width(text.text, small_text, Family::sans) + 2 * inside;
      Rectangle plate;
      plate.box = {frame.lanes.right() - wide, frame.lanes.y + 2, wide, 20};
      plate.fill = Ink(Role::panel);
      scene.add(plate);
      scene.add(std::move(text));
    } else {
      for (const sim::Arrow& arrow : all.arrows) {
        if (!chosen.count({arrow.cause, arrow.effect})) {
          arrows.draw(arrow.cause, arrow.effect, {Ink(Role::quiet, 0.9), 1, false});
        }
      }
    }
  }
  for (const auto& [cause, effect] : chosen) {
    // What led to it is stronger than what came of it.
    const double width = cause == choice.selected ? 1 : 2;
    arrows.draw(cause, effect, {Ink(Role::accent), width, false}, true);
  }
  arrows.draw_labels();
  scene.end();
}

}  // namespace tilescope
