// The workspace that is kept from one day to the next, without being asked:
// $XDG_STATE_HOME/tilescope/workspace.json, or ~/.local/state/... (XDG Base Directory
// Specification 0.8). Only the window on a display has one; pictures without a display never do.
#pragma once

#include <optional>
#include <string>

#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

class WorkspaceFile {
 public:
  // Nothing is kept where the environment names no home.
  WorkspaceFile();

  // As it was yesterday; where a part cannot be done (a file has moved) the rest is, and the
  // session's message says what is missing. What is no workspace is put aside as
  // workspace.broken.json, and the message says so. False on the first day.
  bool restore(Session& session, Backend& backend);
  // Yesterday's settings and what is remembered, without the view: where another was asked for.
  void remember(Session& session, Backend& backend);
  // Writes what has changed since. Where nothing can be kept that is said once: true then, since
  // there is something to read.
  bool keep(Session& session, const Backend& backend);

 private:
  std::string path_, kept_;
  bool told_ = false;
};

}  // namespace tilescope
