// A record as a trace that Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) open: JSON in
// the Trace Event Format.
//
//   a process   a block; the first one is the grid
//   a thread    a warp, a barrier, a unit as the block uses it; copies in have one for each
//   mbarrier
//               that they complete on, which is a stage of the pipeline. Where operations overlap
//               there is another thread for each that is in flight beside
//   X           what was done, from ts for dur; args say where in the source, bytes, barrier, phase
//   i           arrivals at a barrier, and reports
//   s, f        arrows: from the instruction to the operation that it issued; from the copy, the
//               product or the arrival that completed a phase to the warp that waited for it
//   C           blocks resident, copies in flight, stages that are being filled or not yet used
//
// The rules that viewers have, which tests/sim/trace_test.cpp checks:
// - Slices of one thread nest or follow one another ("Why are overlapping events in JSON traces not
//   displayed correctly?", perfetto.dev/docs/faq). Here they follow one another.
// - Perfetto keeps whole nanoseconds, and takes ts and dur to them one by one; so both are written
//   in whole nanoseconds, as microseconds with three digits: what touches, touches there too. The
//   cycles themselves are in args. Of a record without time an instruction is a nanosecond.
// - A thread's number is its own in the whole trace: Perfetto names threads by it alone
//   (src/trace_processor/importers/json, thread_name).
// - s and f bind to the slice on their thread that has begun last before them in time and, at one
//   time, in the file (flow_tracker, GetTopmostSliceOnTrack); f with "bp":"e". So all is written
//   in order of time, and arrows after the slices that they belong to.
// The format: "Trace Event Format", Google, docs.google.com/document/d/
// 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/record/record.h"

namespace tilescope {

// Takes the file piece by piece; false: no more, please.
using Sink = std::function<bool(std::string_view)>;

// False where the sink did not want all.
bool write_trace(const sim::Record& record, const Sink& sink);

// Where a record stands in a trace of several launches, which somebody else begins and ends.
struct TracePlace {
  std::uint64_t begin = 0;    // nanoseconds: of the record's first cycle
  std::uint32_t numbers = 0;  // of processes and threads that are taken, from 1 on
  std::uint32_t flows = 0;    // arrows that there are
  std::string name;           // before those of its processes: "launch 3: "
};
// The record's events, each with a comma and the end of a line before it; what it takes is added to
// `place`.
bool write_trace_events(const sim::Record& record, TracePlace& place, const Sink& sink);

// A JSON string of any bytes, with its quotes.
std::string quoted_for_trace(std::string_view text);

}  // namespace tilescope
