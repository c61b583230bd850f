// The events of a record as bytes: one after the other, each as it differs from what the one before
// it on its track lets one expect.
//
//     byte   kind + 8 * stall
//     byte   which of these differ: bits as in record_events.cpp
//     varint track - the last event's track (zigzag)
//     varint begin - the end of the track's last event (zigzag); length, unless it never ends
//     then what differs: begin - issue, amount, object and phase, pc, until, id - cause
#pragma once

#include <string>

#include "core/io/bytes.h"
#include "core/record/record.h"

namespace tilescope {

void write_events(ByteWriter& out, const sim::EventList& events, std::size_t tracks);

// Into record.events; its tracks, lines and reports are there. What is wrong, as the end of a
// sentence; empty: nothing.
std::string read_events(ByteReader& in, sim::Record& record);

}  // namespace tilescope
