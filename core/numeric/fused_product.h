// Products of f32 matrices by fused multiply-add: what `--numerics fast` takes for a tensor core's
// sum. As fast as the processor can, and not what the chip gives (core/numeric/tensor_core.h does).
//
// Law: every element is a chain of fmaf in the order of k, whatever the processor: the same bits
// with and without vector instructions.
#pragma once

#include "core/numeric/tensor_core.h"

namespace tilescope {

// c[i][j] = fma(a[i][k], b[k][j], c[i][j]) for k = 0, 1, ... A and B are row after row; the rows of
// C are `stride` apart. n is a multiple of 8, m of 4.
void multiply_fused(ProductShape shape, const float* a, const float* b, float* c, int stride);
// The same without vector instructions beyond those that every processor has: for tests.
void multiply_fused_plain(ProductShape shape, const float* a, const float* b, float* c, int stride);

namespace base {
void fused(ProductShape shape, const float* a, const float* b, float* c, int stride);
}
namespace avx2 {
void fused(ProductShape shape, const float* a, const float* b, float* c, int stride);
}

}  // namespace tilescope
