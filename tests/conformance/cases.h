// Every spelling of the opcode table with its kernel.
#pragma once

#include <optional>
#include <string>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

struct Case {
  Spelling spelling;
  std::optional<Kernel> kernel;  // nothing: there is no generator
};

// Those whose key contains `part`, in the order of the table.
template <class Visit>
void each_case(const std::string& part, Visit visit) {
  for (const ptx::Opcode& opcode : ptx::opcodes()) {
    for (const Spelling& spelling : spellings(opcode)) {
      if (spelling.key().find(part) == std::string::npos) continue;
      visit(Case{spelling, kernel_for(spelling)});
    }
  }
}

}  // namespace tilescope::conformance
