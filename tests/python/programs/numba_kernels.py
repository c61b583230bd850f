"""Run by `tilescope exec` (test_exec.py): kernels of Numba's, with shared memory, atomics and functions."""

import math

import numpy as np
from numba import cuda, float32, vectorize


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit(device=True)
def squashed(v):
    return 1 / (1 + math.exp(-v))


@cuda.jit
def reversed_tiles(x, out):
    tile = cuda.shared.array(64, float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 64
    tile[t] = x[first + t]
    cuda.syncthreads()
    out[first + 63 - t] = squashed(tile[t])


@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


@cuda.jit
def warp_sums(x, out):
    v = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xffffffff, v, step)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = v


@vectorize(["float32(float32, float32)"], target="cuda")
def further(a, b):
    return math.sqrt(a * a + b * b)


rng = np.random.default_rng(1)
x, y = rng.standard_normal(320).astype(np.float32), rng.standard_normal(320).astype(np.float32)
out = np.zeros_like(x)
add[5, 64](x, y, out)
assert (out == x + y).all()
on_chip = cuda.to_device(x)
result = cuda.device_array(320, np.float32)
reversed_tiles[5, 64](on_chip, result)
want = 1 / (1 + np.exp(-x.astype(np.float64).reshape(5, 64)[:, ::-1].ravel()))
np.testing.assert_allclose(result.copy_to_host(), want, rtol=1e-5)
drawn, bins = rng.integers(0, 16, 320), np.zeros(16, np.int32)
histogram[5, 64](drawn, bins)
assert (bins == np.bincount(drawn, minlength=16)).all()
sums = np.zeros(10, np.float32)
warp_sums[5, 64](x, sums)
np.testing.assert_allclose(sums, x.reshape(10, 32).sum(1), rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(further(x, y), np.hypot(x, y), rtol=1e-5)
print("as it should be")
