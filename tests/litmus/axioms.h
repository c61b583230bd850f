// What PTX's memory model allows of a litmus test: every candidate execution is made (who reads
// from whom, coherence order, Fence-SC order, which phase an arrival belongs to) and kept if no
// axiom of the PTX ISA, chapter 8.10, forbids it.
//
// Where the ISA's axioms say nothing, what is done here, and from which words of it, is in
// README.md beside this ("How the model is read").
#pragma once

#include <set>
#include <string>

#include "tests/litmus/reader.h"

namespace tilescope::litmus {

struct Verdict {
  std::set<Values> allowed;  // outcomes of the executions that were kept
  std::set<Race> races;      // of any of them (8.7.1)
  std::string mistake;       // why nothing could be said
};

Verdict judge(const Test& test);

}  // namespace tilescope::litmus
