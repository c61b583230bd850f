// Four rows and 16 columns at a time stay in registers while k goes by: eight sums, so that a fused
// multiply-add need not wait for the one before it. Compiled into a namespace for each set of
// vector instructions (TILESCOPE_STEPS).
#include "core/numeric/fused_product.h"

#include <cmath>
#include <cstring>

namespace tilescope::TILESCOPE_STEPS {
namespace {

constexpr int width = 8, rows = 4;
typedef float Floats __attribute__((vector_size(4 * width)));

inline Floats load(const float* from) {
  Floats v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline Floats fused(float a, const Floats& b, const Floats& c) {
#ifdef __FMA__
  return a * b + c;  // one instruction: this file is compiled with -ffp-contract=fast
#else
  Floats out;
  for (int i = 0; i < width; ++i) out[i] = std::fmaf(a, b[i], c[i]);
  return out;
#endif
}

template <int vectors>
inline void tile(ProductShape shape, const float* a, const float* b, float* c, int stride) {
  Floats sum[rows][vectors];
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) sum[i][v] = load(c + i * stride + v * width);
  }
  for (int k = 0; k < shape.k; ++k) {
    Floats right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = load(b + k * shape.n + v * width);
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < vectors; ++v) {
        sum[i][v] = fused(a[i * shape.k + k], right[v], sum[i][v]);
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) {
      std::memcpy(c + i * stride + v * width, &sum[i][v], sizeof(Floats));
    }
  }
}

}  // namespace

void fused(ProductShape shape, const float* a, const float* b, float* c, int stride) {
  int j = 0;
  for (; j + 2 * width <= shape.n; j += 2 * width) {
    for (int i = 0; i < shape.m; i += rows) {
      tile<2>(shape, a + i * shape.k, b + j, c + i * stride + j, stride);
    }
  }
  for (int i = 0; j < shape.n && i < shape.m; i += rows) {
    tile<1>(shape, a + i * shape.k, b + j, c + i * stride + j, stride);
  }
}

}  // namespace tilescope::TILESCOPE_STEPS
