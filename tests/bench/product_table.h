// Comparisons as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tests/bench/comparison.h"

namespace tilescope::bench {

// Rows, each with its time, spread, rate, share of cublasLt's speed, and what the chip did:
//
//     f16 4096 x 4096 x 4096, 3 sets of matrices
//       wgmma_v8                          206.9 us  (205.1 to 208.0)   664.3 TFLOP/s  1.013x  1410
//       MHz ...
std::string text(const Comparison& comparison);
nlohmann::ordered_json to_json(const Comparison& comparison);  // an array of rows
// How many were wrong.
int wrong_in(const Comparison& comparison);

}  // namespace tilescope::bench
