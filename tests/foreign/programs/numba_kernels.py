"""Kernels for Numba's CUDA target, one of each kind that its manual has, written for this suite:
`python numba_kernels.py NAME`. Each is compared with NumPy."""

import math
import sys

import numpy as np
from numba import cuda, float32, int32
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

rng = np.random.default_rng(5)


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


@cuda.jit
def saxpy_kernel(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def saxpy():
    x, y = normal(1000), normal(1000)
    device = cuda.to_device(y)
    saxpy_kernel[8, 128](np.float32(2), cuda.to_device(x), device)
    assert np.allclose(device.copy_to_host(), 2 * x + y, rtol=1e-6, atol=1e-6)


TILE = 16


@cuda.jit
def matmul_kernel(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range((a.shape[1] + TILE - 1) // TILE):
        sa[ty, tx] = a[y, tx + i * TILE] if y < a.shape[0] and tx + i * TILE < a.shape[1] else 0
        sb[ty, tx] = b[ty + i * TILE, x] if x < b.shape[1] and ty + i * TILE < b.shape[0] else 0
        cuda.syncthreads()
        for j in range(TILE):
            total += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def matmul():
    a, b = normal(50, 37), normal(37, 61)
    c = cuda.device_array((50, 61), np.float32)
    matmul_kernel[(4, 4), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
    assert np.allclose(c.copy_to_host(), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@cuda.jit
def block_sum_kernel(x, out):
    shared = cuda.shared.array(256, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    s = 128
    while s > 0:
        if t < s:
            shared[t] += shared[t + s]
        cuda.syncthreads()
        s //= 2
    if t == 0:
        out[cuda.blockIdx.x] = shared[0]


def block_sum():
    x = normal(1000)
    out = cuda.device_array(4, np.float32)
    block_sum_kernel[4, 256](cuda.to_device(x), out)
    want = [x[i:i + 256].astype(np.float64).sum() for i in range(0, 1000, 256)]
    assert np.allclose(out.copy_to_host(), want, rtol=1e-5, atol=1e-4)


@cuda.jit
def warp_sum_kernel(x, out):
    value = x[cuda.grid(1)]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xffffffff, value, step)
        step //= 2
    if cuda.threadIdx.x % 32 == 0:
        out[cuda.grid(1) // 32] = value


def warp_sum():
    x = normal(512)
    out = cuda.device_array(16, np.float32)
    warp_sum_kernel[2, 256](cuda.to_device(x), out)
    assert np.allclose(out.copy_to_host(), x.reshape(16, 32).astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


@cuda.jit
def histogram_kernel(x, low, width, out):
    i = cuda.grid(1)
    while i < x.size:
        bin = int32((x[i] - low) / width)
        if 0 <= bin < out.size:
            cuda.atomic.add(out, bin, 1)
        i += cuda.gridsize(1)


def histogram():
    x = normal(3000)
    out = cuda.to_device(np.zeros(32, np.int32))
    histogram_kernel[4, 128](cuda.to_device(x), np.float32(-4), np.float32(0.25), out)
    bins = ((x - np.float32(-4)) / np.float32(0.25)).astype(np.int32)
    assert np.array_equal(out.copy_to_host(), np.bincount(bins[(bins >= 0) & (bins < 32)], minlength=32))


@cuda.jit
def mandelbrot_kernel(image, most):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        c = complex(-2 + 3 * x / image.shape[1], -1 + 2 * y / image.shape[0])
        z = 0j
        count = 0
        while count < most and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + c
            count += 1
        image[y, x] = count


def mandelbrot():
    device = cuda.device_array((40, 60), np.int32)
    mandelbrot_kernel[(4, 3), (16, 16)](device, 30)
    got = device.copy_to_host()
    c = (-2 + 3 * np.arange(60) / 60)[None, :] + 1j * (-1 + 2 * np.arange(40) / 40)[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(30):
        alive = z.real ** 2 + z.imag ** 2 < 4
        z = np.where(alive, z * z + c, z)
        count += alive
    assert (got != count).mean() < 0.005, (got != count).sum()


@cuda.jit
def heat_kernel(old, new):
    i, j = cuda.grid(2)
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


def heat():
    grid = normal(34, 40, dtype=np.float64)
    a, b = cuda.to_device(grid), cuda.to_device(grid)
    for _ in range(2):
        heat_kernel[(3, 3), (16, 16)](a, b)
        a, b = b, a
    want, other = grid.copy(), grid.copy()
    for _ in range(2):
        other[1:-1, 1:-1] = 0.25 * (want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:])
        want, other = other, want
    assert np.allclose(a.copy_to_host(), want, rtol=1e-12, atol=1e-12)


@cuda.jit
def black_scholes_kernel(call, put, s, x, t, r, v):
    i = cuda.grid(1)
    if i < s.size:
        root = math.sqrt(t[i])
        d1 = (math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / (v * root)
        d2 = d1 - v * root
        n1, n2 = 0.5 * math.erfc(-d1 / math.sqrt(2.0)), 0.5 * math.erfc(-d2 / math.sqrt(2.0))
        e = math.exp(-r * t[i])
        call[i] = s[i] * n1 - x[i] * e * n2
        put[i] = x[i] * e * (1 - n2) - s[i] * (1 - n1)


def black_scholes():
    s, x, t = rng.uniform(5, 30, 500), rng.uniform(1, 100, 500), rng.uniform(0.25, 10, 500)
    call, put = cuda.device_array(500), cuda.device_array(500)
    black_scholes_kernel[4, 128](call, put, cuda.to_device(s), cuda.to_device(x), cuda.to_device(t), 0.02, 0.3)
    d1 = (np.log(s / x) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    d2 = d1 - 0.3 * np.sqrt(t)
    normal_cdf = lambda d: 0.5 * np.array([math.erfc(-v / math.sqrt(2)) for v in d])
    assert np.allclose(call.copy_to_host(), s * normal_cdf(d1) - x * np.exp(-0.02 * t) * normal_cdf(d2), rtol=1e-9, atol=1e-9)
    assert np.allclose(put.copy_to_host(), x * np.exp(-0.02 * t) * (1 - normal_cdf(d2)) - s * (1 - normal_cdf(d1)), rtol=1e-9, atol=1e-9)


@cuda.jit
def transpose_kernel(a, out):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.blockIdx.x * 32 + cuda.threadIdx.x, cuda.blockIdx.y * 32 + cuda.threadIdx.y
    for j in range(0, 32, 8):
        if x < a.shape[1] and y + j < a.shape[0]:
            tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = a[y + j, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * 32 + cuda.threadIdx.x, cuda.blockIdx.x * 32 + cuda.threadIdx.y
    for j in range(0, 32, 8):
        if x < a.shape[0] and y + j < a.shape[1]:
            out[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]


def transpose():
    a = normal(70, 50)
    out = cuda.device_array((50, 70), np.float32)
    transpose_kernel[(2, 3), (32, 8)](cuda.to_device(a), out)
    assert np.array_equal(out.copy_to_host(), a.T)


@cuda.jit
def pi_kernel(states, hits):
    i = cuda.grid(1)
    inside = 0
    for _ in range(20):
        x, y = xoroshiro128p_uniform_float32(states, i), xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1:
            inside += 1
    hits[i] = inside


def random_pi():
    states = create_xoroshiro128p_states(128, seed=1)
    hits = cuda.device_array(128, np.int32)
    words = states.copy_to_host().view(np.uint64).reshape(128, 2)
    pi_kernel[2, 64](states, hits)
    want = []
    mask = (1 << 64) - 1
    rotate = lambda v, k: ((v << k) | (v >> (64 - k))) & mask
    for s0, s1 in words.tolist():  # xoroshiro128+ (Blackman and Vigna), as Numba's: 55, 14, 36
        inside = 0
        for _ in range(20):
            pair = []
            for _ in range(2):
                result = (s0 + s1) & mask
                s1 ^= s0
                s0, s1 = rotate(s0, 55) ^ s1 ^ ((s1 << 14) & mask), rotate(s1, 36)
                pair.append(np.float32((result >> 11) * (1.0 / (1 << 53))))
            inside += pair[0] * pair[0] + pair[1] * pair[1] <= 1
        want.append(inside)
    assert np.array_equal(hits.copy_to_host(), want)


@cuda.jit(device=True)
def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


@cuda.jit
def cooperative_kernel(x):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for step in range(3):
        value = x[(i + 1) % x.size]
        grid.sync()
        x[i] = value + 1
        grid.sync()


def grid_sync():
    x = np.arange(256, dtype=np.int32)
    device = cuda.to_device(x)
    cooperative_kernel[4, 64](device)
    assert np.array_equal(device.copy_to_host(), np.roll(x, -3) + 3)


@cuda.jit
def scan_kernel(x, out):
    shared = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    shared[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 256:
        value = shared[t - step] if t >= step else 0
        cuda.syncthreads()
        shared[t] += value
        cuda.syncthreads()
        step *= 2
    out[t] = shared[t]


def scan():
    x = rng.integers(0, 100, 256, dtype=np.int32)
    out = cuda.device_array(256, np.int32)
    scan_kernel[1, 256](cuda.to_device(x), out)
    assert np.array_equal(out.copy_to_host(), np.cumsum(x))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("PASS")
