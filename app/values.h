// Values of the language as JSON data and as text for a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/language/language.h"

namespace tilescope {

// Numbers are numbers and tuples nested arrays, as far as JSON has them; `?`, `_` and strides on
// axes are their text.
//     layout    {"shape": [9, [4, 8]], "stride": [59, [13, 1]]}, composed also "swizzle", "offset"
//     verdict   {"value": false, "because": "..."}
//     findings  {"wavefronts": 8, "ideal": 4, ...}
nlohmann::ordered_json data_of(const Value& value);
nlohmann::ordered_json data_of(const Derivation& steps);

// One line a step, indented by level: operation operands = result, and the sentence after it.
std::string derivation_text(const Derivation& steps);

}  // namespace tilescope
