// C = A * B, one thread for each element of C and nothing kept: the product as it is first written.
//
// Neighbours in a warp stand side by side in a row of C. They read the same element of A and
// neighbouring elements of B, so each multiply-add asks L1 for two loads: these set the pace, and
// not the arithmetic. matmul_tiled shows what sharing them brings.

// a: (m,k), b: (k,n), c: (m,n), all row-major, each with fewer than 2^31 elements.
// Grid: ceil(n/32), ceil(m/8) blocks of 32 x 8 threads.
extern "C" __global__ void __launch_bounds__(256)
    matmul_naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                 int m, int n, int k) {
  const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[row * k + p] * b[p * n + column];
  c[row * n + column] = sum;
}
