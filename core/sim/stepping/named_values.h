// Variables of the source where a warp stands, by name, where the PTX has their names
// (core/ptx/debug_names.h): in registers, in a thread's local memory, among the parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ptx/debug_names.h"
#include "core/sim/stepping/inspect.h"

namespace tilescope::sim {

struct NamedValue {
  const ptx::DebugVariable* variable = nullptr;
  ptx::DebugVariable::Place place;
  std::string where;   // "%r1", "local+8", "names_param_2"
  bool known = false;  // the value is there; else its register is not kept here any more
  // Of each lane the first 16 bytes at most: its register, or as many bytes of memory.
  RegisterValue value;
  std::uint32_t bytes = 0;  // of `value` that are the variable's
};

// Those in force before the split's next instruction, in the order of the source.
std::vector<NamedValue> named_values(const Machine& machine, const Registers& registers,
                                     const ptx::DebugNames& names, std::uint64_t block,
                                     std::uint32_t warp, std::size_t split = 0);

// What a lane has, as the variable's type reads it: "7", "0.5", "true", "0x7f00"; "undefined".
std::string value_text(const NamedValue& named, std::uint32_t lane);

}  // namespace tilescope::sim
