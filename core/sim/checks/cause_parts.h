// How cause_of() (cause.h) finds the cause of a deadlock, part by part: what is waited for, what in
// the program could have brought it, and why that did not come.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/sim/checks/cause.h"
#include "core/sim/checks/derive.h"
#include "core/sim/checks/signallers.h"
#include "core/sim/checks/ways.h"
#include "core/sim/machine/waits.h"
#include "core/sim/time/what_if.h"

namespace tilescope::sim::causes {

using Cause = DeadlockCause;
using Why = DeadlockCause::Why;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Lanes that go together, or that have exited.
struct Party {
  Block* block = nullptr;
  Warp* warp = nullptr;
  const Split* split = nullptr;  // null: exited
  Mask lanes = 0;
  u32 next = Ways::exited;
  std::size_t waits_for = Cause::none;
  std::shared_ptr<Ways> ways;
};

// Of an instruction that lanes of a warp, or warps of a warpgroup, execute together: who is not
// there.
struct Missing {
  u64 warps = 0;
  Mask lanes = ~Mask{0};
  bool products = false;
};

struct Search {
  Model& machine;
  const Block& last;  // of the cluster where nobody goes on
  const std::vector<WaitingSplit>& waiting;
  const std::set<u32>& helpful;
  Derivation derive;
  std::map<std::tuple<u32, u32, std::string>, Missing> missing;  // by rank, object, name
  std::vector<Party> parties;
  std::vector<Brought> brought;  // if each mbarrier that is waited for were complete
  Cause out;

  Site site(const Block& block, const Warp& warp, Mask lanes, u32 pc) const;
  // Null: none, or none any more.
  const Mbarrier* mbarrier_of(const Cause::WaitedFor& b) const;
};

// cause_waits.cpp: out.waiting, out.barriers, parties, brought.
void find_waits(Search& search);
// cause_sources.cpp: the sources of each barrier.
void find_sources(Search& search);

// cause_reasons.cpp: why these lanes do not execute it on `b` now. Nothing: it is none of theirs.
// `sure`: it is, or was, theirs to do; else it may be.
std::optional<Cause::NotCome> why_not(Search& search, const Cause::WaitedFor& b, const Party& a,
                                      const Signaller& s, bool& sure);

// ---- what instructions have done so far (cause_before.cpp) ----

// What a warp's instruction did on an mbarrier. Null: nothing, or no mbarrier.
const Visits* visits_of(const Mbarrier* b, const Party& a, u32 pc);
// What lanes did when they last came to an instruction. `known`: it would have been noted.
struct Stood {
  bool known = false;
  Mask executed = 0, kept_out = 0;
};
Stood stood_at(const Search& search, const Party& a, u32 pc);
// Those of its lanes that did this. An operation that several started is noted as one lane's.
Mask took_part(const Search& search, const Visits& v, const Party& a);
// Other mbarriers that an instruction was on, or would be next.
struct Others {
  std::vector<std::string> own;   // by this warp
  std::vector<std::string> been;  // of these, those that it was on
  std::vector<std::string> all;   // by any, or by what has the same line of the source
};
Others others(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc);
// Would it come to `b`, if something else that is waited for were complete?
bool would_bring(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc);
// An instruction that may go to any CTA of the cluster, and went to the same place of another one.
std::optional<Cause::NotCome> on_another_cta(const Search& search, const Cause::WaitedFor& b,
                                             const Party& a, const Signaller& s, bool& sure);
// The others that this warp executed it on, where it may be on `b` as well: those of one array, as
// far as names say so. `none_of_these`: it is of another.
constexpr const char* none_of_these = "-";
std::string elsewhere(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc,
                      bool sure);
// Of an instruction that goes round several mbarriers, and left `b` out the last time: those that
// it was on since, "full[3], full[0]". Empty: it did not, as far as is known.
std::string left_out_for(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc);

}  // namespace tilescope::sim::causes
