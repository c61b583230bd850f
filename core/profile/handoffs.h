// The table that engineers write by hand beside a pipelined kernel: roles, stages and accumulators,
// who fills them, which barrier says so, who reads, which barrier gives them back; then the ledger
// of bytes; and what is missing. As tables, and as Markdown whose tables are aligned to be read as
// they are.
#pragma once

#include <string>
#include <vector>

#include "core/profile/pipeline.h"

namespace tilescope::sim {

struct HandoffsTable {
  std::string title;  // "Shared memory: A, B, 2 stages of 32768 bytes"
  std::vector<std::string> columns;
  std::vector<bool> right;  // of a column: numbers
  std::vector<std::vector<std::string>> rows;
  std::vector<EventId> events;  // of each row, one that shows it; no_event: there is none
  std::string below;            // a sentence; empty: none
};

struct Handoffs {
  std::string about;  // size, CTAs, unit of the times
  std::vector<HandoffsTable> tables;
  std::string nothing;              // why there are roles alone
  std::vector<std::string> absent;  // absent_handoffs()
};
// `uses`: how many uses of each ring the ledger shows.
Handoffs handoffs_of(const Record& record, const Pipeline& pipeline, std::size_t uses = 12);

// As Markdown. `uses`: how many uses of each ring the ledger shows.
std::string handoffs_text(const Record& record, const Pipeline& pipeline, std::size_t uses = 12);

// Stages that are filled again though no barrier of the cluster completed between the last read of
// a use and the next copies: a sentence for each, with the times. Where who fills reads too, its
// wait for its own products may be all that is needed, and nothing is said; nor of cp.async, whose
// threads fill a part each and may know by themselves when that is free.
std::vector<std::string> absent_handoffs(const Record& record, const Pipeline& pipeline);

}  // namespace tilescope::sim
