// Where the machine of the open kernel is, and its way to where it is to be.
//
//   begin_seek(session, backend, "step barrier 3", [](sim::Stepper& s) { s.step(...); });
//   while (seeking(session)) seek_on(session, backend, 10);    // milliseconds
//
// ViewState::moment says where it is to be. A way that a command began has a place that is not
// known before the machine is there; it becomes a choice then, and a step of undo. Another choice
// of the moment meanwhile (undo) ends that way, and the machine goes there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

// The machine where it is to be. Null: no kernel is open, nobody has asked for its machine yet,
// or it is on its way.
const sim::Machine* machine_of(const Session& session);

// The machine of the open kernel, made where there is none. Refused: no kernel is open, or it
// cannot be loaded.
Outcome<std::shared_ptr<LiveRun>> live_run(Session& session, Backend& backend);

bool seeking(const Session& session);
// A run or a compilation is in progress, or the machine is on its way: scripts wait.
bool busy(const Session& session);

// Goes as far as a few frames allow. Answers what happened, or that it is still going; `line` is
// the name of the step of undo. `then`: a second way, from where the first one leads to.
Outcome<std::string> begin_seek(Session& session, Backend& backend, std::string line,
                                const std::function<void(sim::Stepper&)>& begin,
                                std::function<void(sim::Stepper&)> then = {});
// After a run that nobody has gone through the machine stands at its end, where no CTA is left to
// be seen. A view of the machine that opens then is led to the event that is selected in the
// timeline, else to the time that the theatre shows, else to the middle of the run. `line` as
// above. Nothing: it stands where it was sent to.
std::optional<Outcome<std::string>> leave_end(Session& session, Backend& backend, std::string line);
// Goes on for about so long; true if the picture may have changed.
bool seek_on(Session& session, Backend& backend, double milliseconds);
// It stays where it is, and that is where it is to be.
std::string stop_seek(Session& session);
// 0 to 1; nothing: how far it is, is not known.
std::optional<double> seek_share(const Session& session);

// Machines of what was open before are let go, but for the last few: they are large, and can be
// brought back to where they stood.
void let_old_machines_go(Session& session);

}  // namespace tilescope
