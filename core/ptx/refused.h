// What PTX has and the simulator does not: each with a sentence that says why, and what would work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilescope::ptx {

// Instructions that begin with one of the opcodes; where a word is given, only those that have it
// among their modifiers.
struct Refused {
  std::vector<std::string_view> opcodes;
  std::string_view word;  // ended by '*': that begin so
  std::string_view why;   // what it is, why not, what would work
  std::string_view section;
};
const std::vector<Refused>& refused();

// The row of an instruction, or null.
const Refused* refused_instruction(std::string_view opcode,
                                   const std::vector<std::string_view>& modifiers);

// Functions that CUDA's device runtime gives, and this simulator does not: the sentence, or empty.
std::string_view refused_function(std::string_view name);
// Special registers likewise.
std::string_view refused_register(std::string_view name);

}  // namespace tilescope::ptx
