// What type checkers are told of the language's functions: a signature for the stub.
#pragma once

#include <string>

#include "core/language/functions.h"

namespace tilescope::python {

// "def size(L: Value, I: int = ..., /) -> int", of "(L[, I...])" and "Vnnn". Of a function that
// answers another kind for another kind of argument there are several lines with @overload.
std::string signature_of(const language::Function& function);

}  // namespace tilescope::python
