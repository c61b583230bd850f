// What the window knows of the open kernel's run, as the exercises of lessons ask it.
#pragma once

#include "viz/session/session.h"

namespace tilescope {

// The compared result, what went on in CTA 0, and what the backend would run or read for a task: it
// has to live as long as the evidence.
RunEvidence evidence_of(const Session& session, Backend& backend);

// Judges the answer that was given, and keeps that the step is solved. The sentence says too if
// that could not be kept.
std::string judge_answer(Session& session, Backend& backend);
// The same of an answer that waited for the run which has ended now; empty where none did.
std::string judge_kept_answer(Session& session, Backend& backend);

// What was done is handed over to be kept. The first time that it cannot be: why, to be put behind
// what else there is to say.
std::string keep_progress(Session& session, Backend& backend);

}  // namespace tilescope
