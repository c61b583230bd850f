// Text into values: a recursive-descent evaluator of the grammar in parser.cpp.
#pragma once

#include "core/language/language.h"

namespace tilescope::language {

using Names = std::map<std::string, Value, std::less<>>;

// The value of the last statement, and what the statements bind put into `names`; nothing is
// answered where the text is blank. The first problem stops everything, and `names` is then not to
// be used. `steps`, where there is one, is told how each operation came to its answer.
std::optional<Evaluated> run(std::string_view text, Names& names, Derivation* steps);

}  // namespace tilescope::language
