// The approximate instructions: what they approximate, and how far off the PTX ISA lets them be.
// Chip and simulator must both be within the bound; they need not have the same bits. For operands
// that the ISA's tables name (zeros, infinities, NaN) they must agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/spellings.h"

namespace tilescope::conformance {

struct Bound {
  double (*exact)(double a, double b);
  // How large the error of `got` may be, for these operands and their exact result; infinite where
  // nothing is promised.
  double (*allowed)(double a, double b, double exact, const ptx::Modifiers& m);
  std::string_view text;     // "2 ulp for |b| in [2^-126, 2^126]"
  std::string_view section;  // of the PTX ISA
};

// Nothing for an instruction whose bits are fixed.
const Bound* bound_of(const Spelling& spelling);

// What is wrong with one lane's result by the bound; empty where nothing is.
std::string outside(const Bound& bound, const Spelling& spelling,
                    const std::vector<std::uint64_t>& operands, std::uint64_t got);
// What is wrong between a chip's result and the simulator's, where the ISA's tables say the result.
std::string disagree(const Spelling& spelling, const std::vector<std::uint64_t>& operands,
                     std::uint64_t chip, std::uint64_t simulator);

}  // namespace tilescope::conformance
