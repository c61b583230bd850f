// Shapes that nobody chose, and what a kernel makes of them beside cublasLt.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/bench/product_kind.h"

namespace tilescope::bench {

// M, N and K log-uniform from 64 to 8192, multiples of 8, or of as many elements as 16 bytes have;
// the same for the same seed, on every machine.
std::vector<Sizes> random_shapes(int count, std::uint64_t seed, const ProductKind& kind);

// One shape as a kernel multiplied it.
struct ShapeResult {
  std::string who;   // what is summed up together: "dense_gemm (model), f16"
  std::string form;  // "128x256:2x1"
  ProductKind kind;
  Sizes sizes;
  double seconds = 0, ratio = 0;  // ratio 0: nothing to compare with
  bool right = true;
};

// Of each `who` a line and its shapes with the smallest ratios:
//
//     dense_gemm (model), f16: 100 shapes, all right; geometric mean 0.93x, least 0.61x at ...
//        ratio        M      N      K        us  form
std::string summary(const std::vector<ShapeResult>& all, std::size_t worst = 10);
nlohmann::ordered_json to_json(const std::vector<ShapeResult>& all);  // an array, one of each `who`

}  // namespace tilescope::bench
