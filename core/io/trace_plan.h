// What is in a trace (core/io/trace_file.h), before it is written: threads and their names,
// which event is on which, and in which order all is written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/record.h"

namespace tilescope {

// A row of the viewer.
struct TraceThread {
  std::uint32_t process = 0;
  std::string name;
};

// A value that changes: of a block, or of the grid.
struct TraceCounter {
  std::uint32_t process = 0;
  std::string_view name;                   // "copies in flight"
  std::array<std::string_view, 2> series;  // the second may be empty
};

// In the order in which they are written where they are at one time.
enum class TraceKind : std::uint8_t { slice, instant, flow, counter };

struct TraceItem {
  sim::Cycle at = 0;
  TraceKind kind = TraceKind::slice;
  // Of a flow: it begins at `event`, or ends there where `ends`; `flow` is its number.
  bool ends = false;
  sim::EventId event = 0;  // of a counter: its number
  std::uint32_t flow = 0;  // of a counter: which series
  std::int32_t value = 0;  // of a counter: its new value
};

struct TracePlan {
  std::vector<std::string> processes;
  std::vector<TraceThread> threads;
  std::vector<std::uint32_t> thread_of;  // by event: index into threads
  std::vector<TraceCounter> counters;
  std::vector<TraceItem> items;  // in the order of the file
  std::vector<bool> arrives;     // by flow: it comes from an arrival or the end of an operation
  sim::Cycle last = 0;           // what has no end, ends here
};

// An event with a begin and an end (an operation's issue is in its args).
bool is_slice(const sim::Event& event);
// Its end in a trace, as `last` is the record's.
sim::Cycle end_in_trace(const sim::Event& event, sim::Cycle last);
// A cycle as nanoseconds.
std::uint64_t nanoseconds(const sim::Record& record, sim::Cycle cycle);

TracePlan plan_trace(const sim::Record& record);

}  // namespace tilescope
