// The record of a run as a file, F.tsr: bytes in, bytes out. What is written is read as the same
// record, bit for bit, on any machine; nothing here opens a file.
//
//     89 'T' 'S' 'R' 0d 0a 1a 0a        as PNG's first bytes: a file mangled as text is known
//     u32 version, u32 sections
//     per section:  u32 name (four letters), u64 length, u64 checksum, then so many bytes
//
// Numbers are little endian; inside sections most are varints (bytes.h). Sections, in this order:
//
//     "RUN "  what ran, on which device    "TRAK"  tracks      "CNTR"  counters by instruction
//     "CODE"  instructions and sources     "EVNT"  events      "PIPE"  how long units were busy
//     "RPRT"  reports                      "USES"  what operations read and write
//     "LANE"  what lanes access            "CAUS"  why nobody could go on, of reports of deadlocks
//     "L2  "  what L2 had when, and of what copies asked it for
//
// An event takes 8 to 11 bytes (record_events.h says how). Earlier versions are read too: 3 ends
// with "PIPE", 4 with "USES", 5 with "LANE". A file of another version, one that is cut short,
// damaged or no record at all is refused with a sentence: unreadable, with the byte where it is
// wrong. Nothing is allocated that the file's own size does not warrant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/record/record.h"

namespace tilescope {

constexpr std::uint32_t record_version = 6, oldest_record_version = 3;

std::vector<std::byte> write_record(const sim::Record& record);

// `name` is what sentences call the file.
Outcome<sim::Record> read_record(std::span<const std::byte> file, std::string_view name);

// Of a section's bytes.
std::uint64_t record_checksum(std::span<const std::byte> bytes);

}  // namespace tilescope
