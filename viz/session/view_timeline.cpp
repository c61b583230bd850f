// What the run did over time.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/session/look.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"
#include "viz/session/timeline_session.h"
#include "viz/session/value_table.h"
#include "viz/session/view_rows.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

// Why there is no timeline to show.
std::optional<Emptiness> no_timeline(const Session& session) {
  const ViewState& state = session.state;
  if (state.timeline) return {};
  const std::string& name = state.kernel->name;
  if (session.running) {
    return Emptiness{fmt::format("{} is running. Its timeline comes here when it has ended.", name),
                     "", ""};
  }
  const std::string what = "what every warp, unit and barrier did, and who waited for whom";
  const sim::Machine* machine = machine_of(session);
  if (machine && machine->position() > 0) {
    const sim::Stepper& stepper = state.live->stepper;
    const bool faults = machine->state() == RunState::fault || stepper.fault();
    return Emptiness{fmt::format("{} is at {}{}. Steps keep no record: a run records {}{}.", name,
                                 moment_text(*state.live), faults ? ", where it faults" : "", what,
                                 faults ? ", up to the fault" : ""),
                     "run", "Run"};
  }
  return Emptiness{fmt::format("The timeline of {} comes here when it has run: {}.", name, what),
                   "run", "Run"};
}

void draw_timeline_view(Session& session, Picture& out, const Drawing& how) {
  draw_timeline(session, out, how.size, how.pixel_scale, how.stands_alone, how.legend);
}

// The stretch that is looked at, twice as fine as a screen's.
Scene timeline_for_file(Session& quiet, const Session& session) {
  quiet.timeline_viewport = session.timeline_viewport;
  quiet.baseline_scroll = session.baseline_scroll;
  return picture(quiet, {1280, 800}, 2, true).scene;
}

void timeline_point(const Session& session, const Picture& picture, Point at, Hovered& out) {
  if (picture.timeline) {
    out.event = event_at(session, *picture.timeline, at);
    out.idle = idle_at(session, *picture.timeline, at);
  }
  if (picture.timeline_above) out.baseline = event_at(session, *picture.timeline_above, at);
}

void timeline_zoom(Session& session, const Picture& picture, Point at, double factor) {
  if (!picture.timeline) return;
  const TimelineFrame& frame = *picture.timeline;
  // Over all of the run: about the time there.
  if (frame.minimap.contains(at)) at.x = frame.x_of(frame.minimap_cycle_of(at.x));
  session.timeline_viewport = zoomed(*session.state.timeline, frame, at, factor);
}

void timeline_pan(Session& session, const Picture& picture, double dx, double dy,
                  std::optional<Point> at) {
  if (picture.timeline) pan_timeline(session, picture, dx, dy, at);
}

Json timeline_json(const Session& session, const Picture& picture) {
  if (!picture.timeline) return describe(picture.scene);
  Json out = describe(*session.state.timeline, timeline_choice_of(session), *picture.timeline,
                      picture.scene);
  const auto pair = timeline_pair(session);
  if (!pair || !picture.timeline_above) return out;
  Json above = describe(*pair->above.view, pair->above.choice, *picture.timeline_above, Scene{});
  above.erase("picture");  // it is in the other one's
  out["baseline"] = std::move(above);
  return out;
}

}  // namespace

const View timeline_view = {
    .id = ViewName::timeline,
    .name = "timeline",
    .tab = "Timeline",
    .legend = true,
    .empty = no_timeline,
    .draw = draw_timeline_view,
    .for_file = timeline_for_file,
    .point = timeline_point,
    .zoom = timeline_zoom,
    .pan = timeline_pan,
    .values = event_values,
    .json = timeline_json,
};

}  // namespace tilescope
