// Why a run took as long as it did: the chain of events that each began when the one before ended,
// from the end of the run back to its start. Read out of a record: a wait leads to the phase that
// ended it, that to the arrival or operation that completed it, an operation to the one that its
// unit was busy with before, or to the warp that issued it.
//
// Shortening anything that is not on the path does not make the run shorter; shortening a step
// does, until another chain becomes the longest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/timeline.h"

namespace tilescope::sim {

enum class PathKind : std::uint8_t {
  start,      // before the CTA's first instruction
  runs,       // a warp executes instructions
  memory,     // a warp waits for what it loads itself: global or shared memory, TMEM
  other,      // any other wait that no event is known to have ended
  queued,     // an operation is issued, and its unit has not begun it: busy, or on the way
  copies_in,  // TMA and bulk copies into shared memory, cp.async
  copies_out,
  products,  // tensor cores
  moves,     // tcgen05.cp, ld, st
  commit,    // tcgen05.commit
  wakes,     // a phase is complete, and who waits for it has not gone on yet
  drains,    // the last warp has exited, and what it stored is on its way
  count_
};
std::string_view name_of(PathKind kind);  // "copies in"

struct PathStep {
  PathKind kind = PathKind::runs;
  Cycle from = 0, to = 0;
  EventId event = no_event;  // that takes the time; of `wakes` the phase
};

// Cycles of each kind.
std::array<Cycle, static_cast<std::size_t>(PathKind::count_)> totals_of(
    const std::vector<PathStep>& path);

// A line that tells a step, or steps of the same kind and place behind each other as one.
struct PathLine {
  PathKind kind = PathKind::runs;
  std::string what;           // name_of(kind); of other waits what for
  std::string where, line;    // "CTA 0 warp 7", "hgemm_v7.cu:77"; empty: not known
  EventId event = no_event;   // of the first step
  Cycle from = 0, takes = 0;  // of lines that repeat: of the first time; each time, on average
  // Lines that follow one another again and again in the same order are told once: the first has
  // how many they are, all of them how often.
  std::size_t period = 0, times = 1;
};
// "7 times these 9 lines, on average:", of the first of them.
std::string times_text(const PathLine& line);
std::vector<PathLine> lines_of(const Record& record, const std::vector<PathStep>& path);

// Why nothing can be told of a record's time. Empty: it can.
std::string without_time(const Record& record);
// What is to be known before its time is read: it ended in a fault, or not all events were kept.
// Empty: nothing.
std::string caveat(const Record& record);

// As text: totals, then the path.
std::string path_text(const Record& record, const std::vector<PathStep>& path,
                      std::size_t most_lines = 40);
// Of kinds that took time, those that took most first.
std::vector<PathKind> kinds_of(const std::vector<PathStep>& path);

}  // namespace tilescope::sim
