"""Run by `tilescope exec` (test_exec.py): CuPy's arrays, its own kernels and raw ones."""

import cupy as cp
import numpy as np

x = cp.arange(1000, dtype=cp.float32)
assert float((x * 2 + 1).sum()) == 1000 * 1000
assert cp.asnumpy(cp.sort(x[::-1]))[3] == 3

axpy = cp.RawKernel(r"""
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}""", "axpy")
y = cp.ones(1000, dtype=cp.float32)
axpy((8,), (128,), (cp.float32(3), x, y, np.int32(1000)))
assert (cp.asnumpy(y) == 3 * np.arange(1000) + 1).all()

squares = cp.ElementwiseKernel("T x", "T y", "y = x * x", "squares")
assert int(squares(cp.arange(10)).sum()) == 285
longest = cp.ReductionKernel("T x", "T y", "abs(x)", "max(a, b)", "y = a", "0", "longest")
assert float(longest(cp.asarray([1.0, -7.0, 3.0]))) == 7

with cp.cuda.Stream() as stream:
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record(stream)
    z = x + y
    end.record(stream)
    stream.synchronize()
assert cp.cuda.get_elapsed_time(begin, end) > 0
assert float(z[10]) == 10 + 31
print("as it should be")
