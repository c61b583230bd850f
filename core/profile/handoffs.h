// The table that engineers write by hand beside a pipelined kernel: roles, stages and accumulators,
// who fills them, which barrier says so, who reads, which barrier gives them back; then the ledger
// of bytes; and what is missing. As Markdown, whose tables are aligned to be read as they are.
#pragma once

#include <string>

#include "core/profile/pipeline.h"

namespace tilescope::sim {

// `uses`: how many uses of each ring the ledger shows.
std::string handoffs_text(const Record& record, const Pipeline& pipeline, std::size_t uses = 12);

// Stages that are filled again though no barrier of the cluster completed between the last read of
// a use and the next copies: a sentence for each, with the times. Where who fills reads too, its
// wait for its own products may be all that is needed, and nothing is said.
std::vector<std::string> absent_handoffs(const Record& record, const Pipeline& pipeline);

}  // namespace tilescope::sim
