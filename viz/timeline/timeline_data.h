// A timeline as data, for a page that draws it by itself (assets/page/timeline.js): rows, events,
// what caused what, and all words and colours, so that the page says what the window says.
//
// One JSON document. Events are columns of numbers, the events of a track one after the other and
// in the order of their begins; what is said of one is a place in a table of texts:
//
//   tracks   in the record's order, each with how many events it has, and the names of its row
//   groups   what a row is that folds; rows: all of them from top to bottom, [group or track,
//   level] events   begin (from the event before it on its track), length (-1: not over), kind,
//   doing (its
//            colour), text, amount, pc, until, a, b, cause, carried, issue (cycles before begin),
//            lane, on (its barrier), step (of K, from 1 on; 0: not known)
//
// `a` and `b` are, of a run, cycles that it was stalled in short and those of them for what `until`
// of the table of doings says; of a phase, wait or operation, the phase in `a`; of a report its
// number; of folded events, cycles that they worked and waited. A cause is 0 for none, else one
// more than its distance from the cause before it in the column, or less than 0 where it is before
// that.
#pragma once

#include <cstddef>
#include <string>

#include "viz/timeline/timeline_view.h"

namespace tilescope {

constexpr std::size_t most_data_events = 1'000'000;

// Of a record with more events than `most`, tracks stay whole from the first CTA on as long as half
// of that has room for them; of the others what is short is taken together (sim::Timeline::spans).
std::string timeline_data(const TimelineView& view, std::size_t most = most_data_events);

}  // namespace tilescope
