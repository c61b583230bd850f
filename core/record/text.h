// A record as lines of text, for people and for goldens.
//
//     with times       every event, by when it begins:
//                          412      650  block 0 warp 1  waits for mbarrier full[0] phase 0
//     without          what does not depend on how long things take: of each warp, in the order of
//                      its program, the operations that it issues and the arrivals that it makes;
//                      of each barrier, how many phases it went through, and of an mbarrier, what
//                      came to them: arrivals and bytes, by whom. Whether a warp had to wait, where
//                      its runs are cut, and in which order warps came are a matter of times, so
//                      none of that is told. Equal neighbours are one line with their number, and
//                      warps that do the same are reported once.
//
// Phases are counted from 0: the parity of phase p is p % 2. What came to a complete phase is what
// it expected, arrivals and bytes: it would not be complete otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/record/record.h"

namespace tilescope::sim {

struct TextChoice {
  bool times = true;
  std::optional<std::uint64_t> block{};
  std::optional<Unit> unit{};
  std::map<std::uint32_t, std::string> barriers{};  // names of mbarriers, by offset
};

std::string text(const Record& record, const TextChoice& choice);

// "waits for mbarrier full[0] phase 0", "copies in 16384 bytes for mbarrier full[0] phase 0"
std::string description(const Record& record, const Event& event, const TextChoice& choice);

}  // namespace tilescope::sim
