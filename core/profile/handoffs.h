// The table that engineers write by hand beside a pipelined kernel: roles, stages and accumulators,
// who fills them, which barrier says so, who reads, which barrier gives them back; then the ledger
// of bytes; and what is missing. As Markdown, whose tables are aligned to be read as they are.
#pragma once

#include <string>

#include "core/profile/pipeline.h"

namespace tilescope::sim {

// `uses`: how many uses of each ring the ledger shows.
std::string handoffs_text(const Record& record, const Pipeline& pipeline, std::size_t uses = 12);

// Stages that are filled again though no barrier was seen to complete between the last read and the
// next copies: a sentence for each, naming the stage. By the times of this run alone.
std::vector<std::string> absent_handoffs(const Record& record, const Pipeline& pipeline);

}  // namespace tilescope::sim
