// What a report is about, made from what the simulator has available when it tells it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

Evidence::Place place_of(const Block& block, const Range& bytes);
Evidence::Place place_of(const Block& block, const CellRange& cells);
Evidence::Place place_of(const GlobalRange& addresses);
Evidence::Place mbarrier_at(const Block& block, std::uint32_t offset);

// Lane 0 of a warp, where only the warp is known.
Evidence::Party thread_at(const Model& machine, const Block& home, std::uint32_t thread,
                          std::uint32_t pc, std::string does, Evidence::Place place = {});
// The current lane, which does so now.
Evidence::Party lane_at(const Core& x, int lane, std::string does, Evidence::Place place = {});
// An operation in flight in `block`: "tcgen05.mma reads".
Evidence::Party operation_in(const Model& machine, const Block& block, const AsyncOperation& o,
                             std::string_view verb, Evidence::Place place = {});
// One that is refused as it is issued: "tcgen05.mma would read". `verb` as above.
Evidence::Party operation_at_issue(const Model& machine, const Block& block,
                                   const AsyncOperation& o, std::string_view verb,
                                   Evidence::Place place = {});

// All that it uses of shared memory.
void add_pieces(Evidence::Party& party, const std::vector<Range>& ranges);

// What two of a kind have in common; nothing, where they do not meet.
Evidence::Place meeting_place(const Evidence::Place& a, const Evidence::Place& b);
// Two that meet.
Evidence collision(Evidence::Party first, Evidence::Party second);
// One alone.
Evidence evidence_at(Evidence::Place place);

}  // namespace tilescope::sim
