// An example for each function of the language, as Python's doctests have them: those of
// core/layout/README.md and core/tensor/README.md in Python's words.
#pragma once

#include <string_view>

namespace tilescope::python {

// ">>> ts.size(...)" and what it answers; empty: none is known.
std::string_view example_of(std::string_view function);

}  // namespace tilescope::python
