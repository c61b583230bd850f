// Which chips a file is written for (.target, PTX ISA 11.1.2), and which instructions these have
// (Opcode::targets).
//
//   sm_90     this chip and all later ones
//   sm_100f   also what its family has: chips 10.x from 10.0 on
//   sm_90a    also what this chip has, and no other
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/opcodes.h"

namespace tilescope::ptx {

struct Target {
  int capability = 0;  // 90
  char suffix = 0;     // 'a', 'f' or none
};
// "sm_90a", or "compute_90a", which is the same; nothing where it is neither. sm_101 is called
// sm_110 from PTX ISA 9.0 on.
std::optional<Target> target_named(std::string_view name);

// Why a file of this .target and .version cannot have the instruction; nothing where it can. "this
// needs sm_90a, or sm_100f or later of its family (PTX ISA 9.7.19.5), and the file is for sm_80"
std::string missing_on(std::string_view target, std::string_view version, Op op,
                       const Modifiers& modifiers, std::size_t operands);
// The chips (90: compute capability 9.0) that a file for this target runs on; and those that have
// an instruction, if a file is made for them alone.
std::vector<int> chips_of(std::string_view target);
std::vector<int> chips_with(Op op, const Modifiers& modifiers, std::size_t operands);
// Why a file of this .version cannot have the .target; nothing where it can.
std::string missing_target(std::string_view target, std::string_view version);

}  // namespace tilescope::ptx
