// What a CTA's memory and a warp's registers held, as NumPy's masked arrays: what nobody has
// written is masked.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "app/python/walks.h"

namespace tilescope::python {

struct BlockMemory {
  nb::object block, shared, parts;
  nb::object tensor = nb::none();
  std::string when;
};

// Refused: the CTA is not there now. `run`: knows when it was; null: nobody does.
BlockMemory memory_of(const Walk& walk, std::uint64_t block, const Run* run);

// Of the warp looked at, by name, those that are still wanted where it stands. Refused: it is not
// there.
nb::object registers_of(const Walk& walk);

// The split of the warp that its first lane is in.
const sim::SplitState* split_at(const std::vector<sim::WarpState>& warps, std::uint32_t warp);

// The class BlockMemory.
void define_memory(nb::module_& module);

}  // namespace tilescope::python
