// The values that an execution's reads give, and whether it makes any up.
#pragma once

#include <optional>
#include <vector>

#include "tests/litmus/execution.h"

namespace tilescope::litmus {

struct Valuation {
  std::vector<std::uint32_t> written;                 // by event: what it writes
  std::vector<std::vector<std::uint32_t>> registers;  // by thread, at its end
};

// Nothing: a condition or an atom.cas goes another way than was chosen, or values come out of thin
// air (8.10.4).
std::optional<Valuation> values_of(const Test& test, const Program& program, const Choice& choice);

}  // namespace tilescope::litmus
