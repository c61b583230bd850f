// The theatre in the window's session: which time of the run it shows, and whether time goes on.
// Commands are in commands_theatre.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/session/panels.h"
#include "viz/session/session.h"
#include "viz/session/views.h"
#include "viz/theatre/theatre_scene.h"

namespace tilescope {

// The theatre of the block that is looked at, made where it is not yet. Null: there is no record,
// or none of this block's events.
std::shared_ptr<const TheatreView> theatre_of(const Session& session);
// Why there is none, where there is a record.
std::optional<Emptiness> no_cluster(const Session& session);
// Of the CTA that is looked at, in its cluster.
std::uint8_t theatre_rank(const Session& session, const TheatreView& view);
// The time that is shown: as chosen; else where the machine stands in the run; else one with
// something to see.
double theatre_time(const Session& session, const TheatreView& view);
// What is drawn. The theatre and what goes on in it have to live as long.
TheatreShown theatre_shown(const Session& session, const TheatreView& view, const TheatreNow& now);

// Time goes on by so many seconds of the reader's; true if the picture changed.
bool play_theatre(Session& session, double seconds);
// Does a drag that begins there move through time?
bool drags_time(const Picture& picture, Point from);

// The whole run, drawn at this size; `most` frames.
Film theatre_film(const Session& session, const TheatreView& view, Size size, std::size_t most);

void inspect_theatre(const Session& session, std::vector<InspectorSection>& out);
Strip theatre_strip(const Session& session);
// The commands that choose the same again.
std::vector<std::string> theatre_lines(const ViewState& state);

}  // namespace tilescope
