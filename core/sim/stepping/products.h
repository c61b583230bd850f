// Products of a run, seen again: a copy of the machine, from a moment before them, runs on until
// they have been added (core/sim/matrix/product_watch.h). The run is the same, bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/record/record.h"
#include "core/sim/machine/machine.h"
#include "core/sim/matrix/product_watch.h"
#include "core/sim/stepping/stepper.h"

namespace tilescope::sim {

// The unit tensor's operations of a record: which machine's products they are, by their times where
// the record has some, else by their order, which counts from the beginning of the run.
struct WantedProducts {
  const Record* record = nullptr;
  std::vector<EventId> events;
  std::uint64_t block = 0;  // whose part of D: of a pair either has one
};

// The machine from which these are seen soonest.
const Machine& machine_before(const Stepper& stepper, const WantedProducts& wanted);

// In the order in which they were added; those that were not come to are missing. `keep_on` is
// asked now and then.
std::vector<ProductSeen> seen_products(Machine from, const WantedProducts& wanted,
                                       const std::function<bool()>& keep_on = {});

// The mma.sync and wmma.mma of a warp, from the machine on: the first so many.
constexpr std::size_t most_of_warp = 16384;
std::vector<ProductSeen> seen_products(Machine from, std::uint64_t block, std::uint32_t warp,
                                       std::size_t most = most_of_warp,
                                       const std::function<bool()>& keep_on = {});
// What it runs, for those who outlive the machine.
std::shared_ptr<const ptx::Program> program_of(const Machine& machine);
// Does the program have any of these?
bool multiplies_in_warps(const ptx::Program& program);

// Of all that were seen those that add to the same sum as one of them, that one included: each
// takes as it is, bit for bit, what the one before it has left in the same place.
std::vector<std::size_t> sum_of(const std::vector<ProductSeen>& all, std::size_t one);

}  // namespace tilescope::sim
