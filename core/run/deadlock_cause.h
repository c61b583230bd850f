// Why nobody goes on: of a launch whose threads all wait, what they wait for, who could have
// brought it, and why they did not. Made by the simulator where it reports the deadlock
// (core/sim/checks/cause.cpp), and carried by the report; a plain value, told as text here.
//
//   WaitedFor   an mbarrier, a barrier of the CTA (bar), or the cluster's, that somebody waits for
//   Waiting     lanes of a warp that wait, and which of those it is that they wait for
//   Source      an instruction of the program that could have completed it
//   NotCome     why it has not come (again), warp by warp
//
// What is not known for certain is left out, or said to be unknown: `could_not_be_told`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run/job.h"

namespace tilescope {

struct DeadlockCause {
  static constexpr std::size_t none = ~std::size_t{0};

  // Warps of a CTA, a bit each.
  struct Warps {
    std::uint32_t rank = 0;  // of the CTA in its cluster
    std::uint64_t mask = 0;
    bool operator==(const Warps&) const = default;
  };

  enum class Why : std::uint8_t {
    waits,      // these warps wait themselves, and come to it only behind that
    branch,     // a branch took them another way
    predicate,  // its own predicate was false the last time that they came to it, or always is
    left,       // they have gone past it, or have exited: it is not ahead of them
    elsewhere,  // they executed it on other barriers only
    skipped,    // they executed it on others of its array in its turn, and left this one out
    came,       // they have done it in this phase already
    could_not_be_told,
    count_
  };

  // Why some warps do not execute a source (again), on this barrier.
  struct NotCome {
    Why why = Why::could_not_be_told;
    Warps warps;
    std::uint32_t lanes = ~std::uint32_t{0};  // of each, where others of the warp differ
    bool others_came = false;                 // others of the warp came, and these lanes did not
    bool been = false;         // of branch, left: at it before; of predicate: not false for good
    bool is_ahead = false;     // of predicate: they have not come to it yet
    std::uint64_t phases = 0;  // of this barrier, in which they executed it
    std::uint32_t pc = 0;      // where they wait; the branch; else 0
    Site site;                 // the same
    std::size_t waits_for = none;  // WaitedFor for which they wait now
    // "%p3 is false: %r5 (2) is not 1"; "empty[0], empty[1]" where elsewhere or skipped. May be
    // empty.
    std::string detail;
  };

  // Somebody arrives, expects bytes, brings bytes, or all of these in one instruction.
  struct Source {
    std::uint32_t pc = 0;
    std::string opcode;  // "mbarrier.arrive.expect_tx"
    Site site;           // with lane and warp of the first who would
    bool arrives = false, expects = false, brings = false;
    bool certain = false;            // it is on this barrier; else it may be on another
    std::uint64_t bytes = 0;         // in this phase, expected or brought
    std::uint64_t bytes_before = 0;  // the same in the phase before that it came in
    std::uint64_t times = 0;         // in this phase: lanes or operations
    std::vector<NotCome> not_come;   // the most telling first
  };

  struct WaitedFor {
    // `together`: an instruction that all lanes of a warp, or warps of a warpgroup, execute
    // together, and some are not there.
    enum class Of : std::uint8_t { mbarrier, barrier, cluster, together, count_ };
    Of of = Of::mbarrier;
    std::uint32_t rank = 0;     // of the CTA whose it is
    std::uint64_t block = 0;    // that CTA, counted in the grid
    std::uint32_t object = 0;   // offset in shared memory; number; instruction
    std::string name;           // "full[1]", "mbarrier 98312", "bar 0", "barrier.cluster"
    std::uint64_t phase = 0;    // the current one, which is not complete
    std::uint32_t count = 0;    // arrivals of a phase (mbarrier.init); threads
    bool everyone = false;      // all that have not exited are to come
    std::uint32_t pending = 0;  // of these, that are missing
    std::int64_t bytes = 0;     // still to come; below 0: more came than were expected
    Site made;                  // mbarrier.init
    std::vector<Source> sources;
    // If it were complete: would others go on besides who waits here, and without using what nobody
    // wrote? As the simulator finds by trying.
    bool would_help = false;
  };

  struct Waiting {
    Warps warps;              // one warp; or several that wait at the same instruction for the same
    std::uint32_t lanes = 0;  // of each
    std::uint32_t pc = 0;
    Site site;
    std::string opcode;
    std::size_t waits_for = none;  // of `barriers`
    std::uint64_t phase = 0;       // of an mbarrier
    std::string words;             // else, what it waits for: ", for its bulk groups"
  };

  std::uint64_t cluster_size = 1;
  std::vector<Waiting> waiting;     // the one that explains most first
  std::vector<WaitedFor> barriers;  // likewise
  // Who waits for whom comes round: barriers[cycle[0]] is brought only by warps that wait for
  // barriers[cycle[1]], and so on, the last only by those who wait for the first. Empty: none.
  std::vector<std::size_t> cycle;
  // The first cause in two or three sentences.
  std::string sentence;
};

// "warp 4", "warps 4-7", of a cluster "warps 4-7 of CTA 1".
std::string warps_text(const DeadlockCause& cause, const DeadlockCause::Warps& warps);
// The same with the lanes, where not all of them are meant: "warp 4 lanes 0-7".
std::string warps_text(const DeadlockCause& cause, const DeadlockCause::NotCome& why);
// Is it one warp, or one lane of it, that is told of: "has", not "have"?
bool is_one(const DeadlockCause::NotCome& why);
// "waits itself at add.cu:40 for full[1]", "has gone past it, by the branch at ...": without who.
std::string why_text(const DeadlockCause& cause, const DeadlockCause::NotCome& why);
// All of it, a line for each waiter, barrier, source and reason.
std::string text_of(const DeadlockCause& cause);
// "empty[0] -> full[0] -> empty[0]", in words.
std::string cycle_text(const DeadlockCause& cause);
// The sentence of a cause whose other fields are there.
std::string first_cause_text(const DeadlockCause& cause);

}  // namespace tilescope
