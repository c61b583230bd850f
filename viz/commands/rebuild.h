// A view as the commands that make it again: what share strings, workspaces and command lines are
// made of.
//
//     rebuilding(choices)  ->  "open preset 9x32", "colour offset", "isolate tile 3"
//
// Law: rebuild() of rebuilding() gives the same choices in any session, where the files that the
// commands name are the same (tests/viz/ui_share_test.cpp tries random ones). Who adds a field to
// ViewState adds its command here.
//
// Zoom and pan are no choices, but the same view is also the same part of it: what goes elsewhere
// has them (lines_of_session). Not in it: what passes (pointer, what is over the view) and the
// settings of the window, which settings_of() tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

std::vector<std::string> rebuilding(const ViewState& state);
// All of it, with whole paths and zoom: a workspace. `view`: what the open view needs and no more,
// so that who shares a layout does not share the kernel that is open behind it.
enum class Extent : std::uint8_t { all, view };
std::vector<std::string> rebuilding(const Session& session, const Backend& backend, Extent extent);

// The choices with every file by its whole path: what is read tomorrow, or from another folder.
ViewState with_whole_paths(ViewState state, const Backend& backend);

// The session's choices become those that the lines make, as one step. Refused, and nothing
// changes: a line that is refused, and one that does more than choose (`export`, `save`), since the
// lines may come from a stranger. What is behind a run is done when its result is there.
Outcome<std::string> rebuild(Session& session, Backend& backend,
                             const std::vector<std::string>& lines);

// The same with what can be done of the lines, for a view of our own: a file may have moved since.
// Answers a sentence for each line that could not be done.
std::vector<std::string> rebuild_what_can_be(Session& session, Backend& backend,
                                             const std::vector<std::string>& lines);

// The lines as one that split_commands() takes apart again.
std::string joined(const std::vector<std::string>& lines);

// The line for a shell that makes this view: `tilescope draw`, where that can tell all of it, else
// `tilescope gui`.
std::string command_line(const Session& session, const Backend& backend);

}  // namespace tilescope
