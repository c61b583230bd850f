// What is selected in the timeline is looked at by all other views, and what is looked at is shown
// in the timeline.
//
//     pick event 128      its block, warp, line of the PTX, mbarrier; of a copy that is on its way
//                         where the machine is, its bytes
//     look warp 4         that warp's row is opened and marked
//     look line F:91      the events of that line are marked, as by `find mark`
//     go write            the copy or the run of instructions that wrote the element is selected
#pragma once

#include <optional>
#include <string>

#include "viz/machine/machine_scene.h"
#include "viz/session/session.h"

namespace tilescope {

// What an event is about, over what was looked at before.
RunCursor spot_of(const TimelineView& view, sim::EventId event, RunCursor before);
// The row of the warp that is looked at, where the record has it.
std::optional<sim::TrackId> track_looked_at(const ViewState& state);
// What `find` takes for the line that is looked at; empty: none, or no event is of it.
std::string search_of_line(const ViewState& state);
// What `look` does to a timeline's rows.
TimelineChoice unfolded_to_spot(const ViewState& state, TimelineChoice rows);

// The selected event is looked at; with its bytes where the machine is in the middle of it.
void look_at_selected(Session& session);
// After `go`: who has come to where it happens sees it; who looks elsewhere meanwhile goes on so.
void look_on_at_selected(Session& session);
// After `look`: the timeline shows it. `line`: one was named.
void show_spot(Session& session, bool line);
// After `go write`: selects what wrote.
void select_write(Session& session, const Site& site);

// When what is selected in the timeline begins, where it is of the block that is looked at.
struct SelectedBegin {
  sim::Cycle begin = 0;
  bool timed = false;  // cycles; else instructions
};
std::optional<SelectedBegin> selected_in_block(const Session& session);
// The selected event, for views of the machine. Nothing: none is selected, or it is not of the
// block that is looked at.
std::optional<SelectedEvent> selected_event(const Session& session);

}  // namespace tilescope
