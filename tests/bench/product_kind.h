// What a product of the GPU bench is made of: C (m,n) = alpha A (m,k) B (n,k)^T + beta C, its types
// as dense_gemm's options have them.
//
//     f16   bf16   tf32   e4m3           both operands; C as dense_gemm has it by default
//     e4m3xe5m2                          A's and B's
//     e4m3:f32   e4m3xe5m2:bf16          and C's
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/numeric/dtype.h"
#include "core/run/catalog_entry.h"

namespace tilescope::bench {

struct ProductKind {
  std::string a = "f16", b = "f16", c = "f16";
  bool a_across = false, b_across = false;  // m-major A, n-major B
  float alpha = 1, beta = 0;

  bool eight_bits() const { return a[0] == 'e'; }
  // What the ladders multiply: f16 or bf16, K contiguous, nothing but the product.
  bool is_plain() const;
  std::string name() const;            // "f16", "e4m3 x e5m2 -> f16, A m-major"
  Choices choices() const;             // of dense_gemm
  std::int64_t step() const;           // elements of 16 bytes of an operand
  double bytes(const Sizes& s) const;  // of A, B and C
  bool operator==(const ProductKind&) const = default;
};

Outcome<ProductKind> product_kind(std::string_view text);
// "f16,e4m3:f32"
Outcome<std::vector<ProductKind>> product_kinds(std::string_view text);

// Why cublasLt has nothing to compare with; nothing where it has (cuBLAS documentation,
// cublasLtMatmul: its tables of types; FP8 products are of k-major operands).
std::optional<std::string> no_baseline(const ProductKind& kind);

}  // namespace tilescope::bench
