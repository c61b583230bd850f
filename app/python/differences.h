// Arrays beside what they should be: ts.diff, Run.diff and the Difference that they answer.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diff/diff.h"
#include "core/diff/patterns.h"

namespace tilescope::python {

namespace nb = nanobind;

struct Difference {
  DiffReport report;
  std::vector<Pattern> patterns;  // of what is wrong
};
// As `tilescope run` prints it.
std::string text(const Difference& difference);

// How two arrays are compared; what is not said is the type's.
struct DiffHow {
  std::string name = "result";
  std::optional<DType> dtype;  // of raw bits, where NumPy has none
  std::optional<Tolerance> tolerance;
  std::vector<std::int64_t> tile;  // what one CTA computes
  bool nan_equal = true;
};
// What the words rtol=, atol=, dtype=, tile= and nan_equal= say; words that are none of them are
// refused in the name of `function`. `how`: what holds where they say nothing.
DiffHow diff_how(nb::dict words, DiffHow how, const char* function);
Difference difference_of(nb::handle got, nb::handle want, const DiffHow& how);
inline constexpr const char* diff_signature =
    "rtol: float | None = None, atol: float | None = None, dtype: str | None = None, "
    "tile: tuple | None = None, nan_equal: bool = True";

void define_differences(nb::module_& module);

}  // namespace tilescope::python
