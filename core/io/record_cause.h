// Why nobody could go on (core/run/deadlock_cause.h), as bytes of a record: its section "CAUS".
#pragma once

#include <string>

#include "core/io/bytes.h"
#include "core/record/record.h"

namespace tilescope {

// How many there are, and for each the number of its report and the cause.
void write_causes(ByteWriter& out, const std::vector<Report>& reports);
// Fills Report::deadlock of reports that are there. What is wrong with the bytes; empty: nothing.
std::string read_causes(ByteReader& in, std::vector<Report>& reports);

}  // namespace tilescope
