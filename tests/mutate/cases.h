// The kernels whose changes make the score: the ladders, forms of dense_gemm, and kernels in the
// style of other compilers; each at a size at which every stage is filled twice, with what it
// computes and what is told of it unchanged.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/run/job.h"
#include "core/run/suppressions.h"
#include "core/sim/machine/options.h"
#include "tests/mutate/changes.h"

namespace tilescope::test {

struct Case {
  std::string name;
  std::string entry;  // which is changed; empty: the first of its PTX
  Job job;
  std::vector<Buffer> results;      // bit for bit, of what is written
  std::uint64_t instructions = 0;   // that it takes
  std::vector<Suppression> rules;   // of a kernel of the catalog: what is known of it
  std::set<std::string> known;      // key_of what is told of it unchanged, in any of the orders
  std::vector<std::string> lines;   // of its PTX
  std::vector<Instruction> places;  // that synchronise or move data
  std::vector<Mutation> changes;    // of what is executed
};

const std::vector<std::string>& case_names();
// Runs it unchanged in every order; an error where that is not right.
Outcome<Case> case_named(const std::string& name);

// The orders in which a change is tried, the default one first: in turns, --lazy, and three
// schedules, one of which is lazy too.
const std::vector<sim::Options>& tried_orders();
// Sixteen more schedules, of which every other is lazy, for a change that nothing came of and that
// no rule allows.
const std::vector<sim::Options>& more_orders();
std::string order_text(const sim::Options& order);

// Kind and lines: a report that a kernel has anyway says nothing of a change.
std::string key_of(const Report& report);
// Whether what the kernel writes is, bit for bit, what it writes unchanged.
bool is_right(const Case& c, const std::vector<Buffer>& buffers);
// The text with a change in it.
std::string changed_text(const Case& c, const Mutation& change);

}  // namespace tilescope::test
