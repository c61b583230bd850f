// What becomes of a changed kernel: each change runs in a process of its own, so that a crash is
// seen as one and an endless run ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/mutate/cases.h"

namespace tilescope::test {

enum class Verdict : std::uint8_t {
  named,      // a fault or hazard that the kernel does not have unchanged
  refused,    // when it was loaded: PTX has no such instruction
  wrong,      // another result, and nothing told
  noted,      // the right result in all orders, and a note that was not there
  unchanged,  // the right result in all orders, and nothing told
  idle,       // the same, and the changed value is what it was, or is not used, in this launch
  endless,    // twenty times as many instructions, or a minute, and nothing told
  crashed,    // the simulator itself
  count_
};
std::string name_of(Verdict verdict);

// How far from the change the blame is: on a changed line; with no other kind of instruction that
// synchronises or moves data between; farther.
enum class Where : std::uint8_t { here, near, elsewhere, nowhere };
std::string name_of(Where where);

struct Trial {
  Verdict verdict = Verdict::crashed;
  std::string report;                 // "hazard shared_race"
  std::string sentence;               // what was told first
  std::string order;                  // in which it was told, or came out wrong
  std::uint32_t line = 0;             // at whom it was told
  std::vector<std::uint32_t> others;  // who else has a part in it, or is in its sentences
  Where at = Where::nowhere;          // of `line` alone
  Where told = Where::nowhere;        // of `line` and the others, the nearest
};

// Instructions that a changed kernel may take beyond twenty times its own. Whoever waits by asking
// in turns for what another CTA brings takes more.
constexpr std::uint64_t usual_patience = 100'000, long_patience = 20'000'000;

Trial try_here(const Case& c, const Mutation& change, const std::vector<sim::Options>& orders,
               std::uint64_t patience = usual_patience);

// Each in a process of its own, `jobs` at a time.
std::vector<Trial> try_apart(const Case& c, const std::vector<const Mutation*>& changes,
                             const std::vector<sim::Options>& orders, std::size_t jobs,
                             std::uint64_t patience = usual_patience);

}  // namespace tilescope::test
