// What became of a line of the source in the whole run, all its instructions together: how often it
// was issued, what it waited for, what it moved.
#pragma once

#include <string>

#include "core/record/record.h"
#include "viz/machine/live_run.h"
#include "viz/scene/describe.h"

namespace tilescope {

// The counters of its instructions, added up; of a line of the PTX (no file) those of its own.
sim::LineCounters counters_of(const sim::Record& record, const LiveRun& run,
                              const RunCursor::SourceLine& line);
// "16 bytes a lane": of all loads and stores of the line; empty: it has none.
std::string accesses_of(const LiveRun& run, const RunCursor::SourceLine& line);
// Every number of it with its name; without those that are 0. Stalls: the causes, most first.
Lines inspect(const sim::LineCounters& counters, bool known_time);

// The line that is looked at, else that where the warp is that is looked at.
std::optional<RunCursor::SourceLine> line_looked_at(const LiveRun& run, const RunCursor& spot);

}  // namespace tilescope
