// What an access of memory is unordered with, and how that is said.
#pragma once

#include <string>
#include <string_view>

#include "core/sim/checks/around.h"
#include "core/sim/machine/code.h"

namespace tilescope::sim {

// What is accessed: the shared memory of a block, or a region of global memory.
struct Accessed {
  const Block* owner = nullptr;
  const Region* region = nullptr;
};

struct Conflict {
  std::uint32_t lane = 0;    // of the access
  std::uint64_t offset = 0;  // in the memory
  Shadow::Touch other;
  bool pending = false;          // a cp.async that is not waited for
  bool fenced_too_late = false;  // by fence.proxy.async
  bool fenced_by_lane = false;   // by another lane than the one that issues, which have not met
  const Doubtful* by = nullptr;  // what orders the two on chips, and is too weak
  bool is_likely = false;        // likewise, where it is not known by what
  std::uint32_t size = 0;        // both are strong, but this one has elements of so many bytes and
                                 // the other one of another size
};

// What `other` did at `offset`, for one who has seen as much as `who`.
Conflict conflict_of(const Model& machine, const Observer& who, const Shadow::Touch& other,
                     std::uint64_t offset);

std::string_view verb_of(Shadow::Kind kind);  // "reads", "updates", "writes"
// "byte 16 of shared memory", "byte 16 of buffer C"; of a block other than the current one
// "byte 16 of CTA 1's shared memory".
std::string byte_text(const Core& x, const Accessed& memory, std::uint64_t offset);
Evidence::Place place_of(const Accessed& memory, std::uint64_t begin, std::uint64_t end);
// Where the other one did it: "a.cu:12 (PTX line 40)".
std::string place_text(const Model& machine, const Shadow::Touch& touch);
// Who, seen from the current block: "warp 3", "CTA 1 of the cluster", "warp 3 of CTA (2,0,0)".
std::string who_text(const Core& x, const Shadow::Touch& touch);
// What a warp did to tell or to hear: "the mbarrier.arrive of warp 1 at a.cu:12".
std::string deed_text(const Core& x, const Deed& by);
// What tells or hears in a way that PTX does not promise: what it lacks, as "the st.relaxed of warp
// 1 at a.cu:12 releases nothing", and what it needs.
const Deed& too_weak(const Doubtful& by);
std::string weakness(const Core& x, const Doubtful& by);
std::string remedy(const Core& x, const Doubtful& by);
// Between which instructions of the two warps an order is missing: gap_text() (around.h), for what
// is resident.
std::string gap_text(const Core& x, const Conflict& conflict);
// What touched the memory before, and its bytes.
Evidence::Party earlier(const Core& x, const Accessed& memory, const Conflict& conflict,
                        std::string_view verb);

}  // namespace tilescope::sim
