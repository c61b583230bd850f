// One candidate execution of a litmus test, and the relations that PTX defines over it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/litmus/events.h"
#include "tests/litmus/relation.h"

namespace tilescope::litmus {

// What is chosen for an execution; the rest follows.
struct Choice {
  std::vector<char> executed;           // by event: an instruction with a condition may be left out
  std::vector<char> written;            // an atom.cas that fails reads only
  std::vector<int> from;                // by event that reads: which one it reads from
  std::vector<int> phase;               // by event of an mbarrier
  std::vector<std::pair<int, int>> sc;  // Fence-SC order
};

// Morally strong (8.7).
bool morally_strong(const Test& test, const Event& a, const Event& b);
// Of mbarriers their operations are memory operations, too: races with mbarrier.init are told.
bool of_memory(const Event& e);

struct Orders {
  explicit Orders(int events)
      : base(events), observed(events), before(events), cause(events), phases(events) {}
  Relation base;      // base causality order (8.9.5)
  Relation observed;  // observation order (8.9.2)
  Relation before;  // base, and what comes before an asynchronous operation's issue; not transitive
  Relation cause;   // causality order (8.9.5), of memory operations
  Relation phases;  // base, and the order in which mbarriers' phases go
};

Orders orders_of(const Test& test, const Program& program, const Choice& choice);

}  // namespace tilescope::litmus
