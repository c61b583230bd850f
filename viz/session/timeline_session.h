// The timeline in the window's session: what is drawn, pointed at, zoomed, and said in the
// inspector. Commands are in commands_timeline.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "viz/session/panels.h"
#include "viz/session/session.h"
#include "viz/timeline/timeline_deltas.h"
#include "viz/timeline/timeline_pair.h"

namespace tilescope {

// ViewState, pointer and moment together.
TimelineChoice timeline_choice_of(const Session& session);
// The run's frame in the last picture; in one of the usual size where there was none.
TimelineFrame timeline_frame(const Session& session);
// Draws it, with the baseline above where that was chosen and can be. What is alone has its
// title; the window's field says it already.
void draw_timeline(Session& session, Picture& picture, Size size, double pixel_scale,
                   bool stands_alone, bool legend);
sim::EventId event_at(const Session& session, const TimelineFrame& frame, Point at);
std::optional<UnitIdle> idle_at(const Session& session, const TimelineFrame& frame, Point at);
void pan_timeline(Session& session, const Picture& picture, double dx, double dy,
                  std::optional<Point> at);
// Of a picture with two runs the frame at a point: the upper one down to the end of its lanes.
const TimelineFrame& timeline_part(const Picture& picture, Point at);

// Both, where both are drawn.
std::optional<TimelinePair> timeline_pair(const Session& session);
// Why the baseline is not above the run though it is to be; empty: it is, or nobody wants it.
std::string why_apart(const ViewState& state);
// The baseline, where it is another run than the open one.
std::optional<ComparedWith> timeline_baseline(const ViewState& state);
// Cycles that can be seen: the longer of both.
double timeline_span(const Session& session);
// Where the machine has come to another moment, that is in the stretch of the run that is seen.
void bring_moment_into_view(Session& session);
// About the selected event where it is seen, else the middle.
std::string timeline_zoom(Session& session, double factor);
// Goes back one: range, selection, search; nothing where none is chosen.
std::optional<std::string> timeline_back(ViewState& state);
// Cycles, and as time: "1,200 to 3,400 cycles (1.12 us)".
std::string range_text(const TimelineView& view, CycleRange range);

// Under the pointer, selected, the range that is added up.
void inspect_timeline(const Session& session, std::vector<InspectorSection>& out);

// `pick event N`, `pick event baseline N`: it is selected, its groups are opened, and it is brought
// into view.
Outcome<std::string> pick_event(Session& session, std::string_view number);

Error no_baseline_timeline();

// What a click in a picture means, as a command: an event is selected, a second click shows it in
// full, a click on several zooms to them. Empty: nothing.
std::string timeline_click(const Session& session, const TimelineFrame& frame, Point at);
// What a drag from one point to another means: `timeline totals FROM TO`. Empty: nothing.
std::string timeline_drag(const Session& session, const TimelineFrame& frame, Point from, Point to);

// Where a drag that begins there moves the moment, or what is seen of the run.
bool drags_playhead(const Session& session, const TimelineFrame& frame, Point from);
bool drags_minimap(const TimelineFrame& frame, Point from);
// While it is dragged: the moment is there, with what the record says of it.
void drag_playhead(Session& session, const TimelineFrame& frame, double x);
// What letting go of it means: `go CYCLES`.
std::string drop_playhead(Session& session);
// `pressed`: it begins here. Outside of the frame of what is seen, that comes here first; where all
// is seen, what is dragged over is shown when it ends: drop_minimap.
void drag_minimap(Session& session, const TimelineFrame& frame, Point from, Point to, double dx,
                  bool pressed);
std::string drop_minimap(Session& session);

// `move left`: the selected event's neighbour on its row; `move down`: what the next row did then.
Outcome<std::string> move_event(Session& session, std::string_view direction);

// The commands that make the chosen timeline again, where the record is there: what is selected,
// before what is looked at, as it says that too; and all else after that.
std::vector<std::string> timeline_picks(const ViewState& state);
std::vector<std::string> timeline_lines(const ViewState& state);

}  // namespace tilescope
