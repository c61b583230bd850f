// Workspaces: all that should be there again tomorrow, in one JSON file.
//
//     {"tilescope": "workspace", "version": 1,
//      "view": ["open preset 9x32", "colour offset"],   the commands that make it (rebuild.h)
//      "settings": ["font 125", "panel outline 240"],   of the window
//      "tour": "seen",
//      "kept": {"expressions": ["(8,8):(8,1)"]}}        Session::kept
//
// Version 0 had the view as a share string, and nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

inline constexpr int workspace_version = 1;

// Files by their whole paths.
std::string workspace_text(const Session& session, const Backend& backend);

// The session becomes what the text says, as one step. Refused, and nothing changes: no workspace,
// a broken or newer one, a view whose commands are refused.
Outcome<std::string> open_workspace_text(Session& session, Backend& backend, std::string_view text);

// Our own of yesterday: what can be done of it is done, and the sentence says what could not
// (empty: all could). Refused, and nothing changes: what is no workspace at all.
Outcome<std::string> restore_workspace_text(Session& session, Backend& backend,
                                            std::string_view text);

// The same without the view: settings, and what is remembered from day to day.
std::optional<Error> remember_workspace_text(Session& session, Backend& backend,
                                             std::string_view text);

}  // namespace tilescope
