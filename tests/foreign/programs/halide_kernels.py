"""Pipelines that Halide makes kernels of, written for this suite: `python halide_kernels.py NAME`. Each is
compared with NumPy."""

import os
import sys

import halide as hl
import numpy as np

rng = np.random.default_rng(9)
TARGET = hl.Target(f"host-cuda-cuda_capability_{os.environ.get('RECORDER_SM', '80')}")
for name, feature in hl.TargetFeature.__members__.items():
    if name.startswith("AVX512"):  # of the host alone, and virtual machines name it that do not execute it
        TARGET = TARGET.without_feature(feature)
x, y, xo, yo, xi, yi = (hl.Var(name) for name in ("x", "y", "xo", "yo", "xi", "yi"))


def realize(func, shape):
    out = func.realize(list(reversed(shape)), TARGET)
    out.copy_to_host()
    return np.array(out)


def buffer(array):
    held = hl.Buffer(array)
    held.set_host_dirty()
    return held


def product():
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((64, 48), (48, 96)))
    left, right = buffer(a), buffer(b)
    r = hl.RDom([(0, 48)])
    total, out = hl.Func("total"), hl.Func("out")
    total[x, y] = 0.0
    total[x, y] += left[r.x, y] * right[x, r.x]
    out[x, y] = total[x, y]
    out.gpu_tile(x, y, xo, yo, xi, yi, 16, 8)
    total.compute_at(out, xi)
    np.testing.assert_allclose(realize(out, (64, 96)), a @ b, rtol=1e-4, atol=1e-4)


def blur():
    a = rng.standard_normal(514).astype(np.float32)
    given = buffer(a)
    sines, out = hl.Func("sines"), hl.Func("out")
    sines[x] = hl.sin(given[x] + 1)
    out[x] = sines[x] + sines[x + 1] + sines[x + 2]
    out.gpu_tile(x, xo, xi, 32)
    sines.compute_at(out, xo).gpu_threads(x)
    s = np.sin(a + 1)
    np.testing.assert_allclose(realize(out, (512,)), s[:-2] + s[1:-1] + s[2:], rtol=1e-4, atol=1e-5)


def histogram():
    a = rng.integers(0, 16, 400).astype(np.uint8)
    given = buffer(a)
    r = hl.RDom([(0, 400)])
    counts = hl.Func("counts")
    counts[x] = hl.i32(0)
    counts[hl.i32(given[r.x])] += 1
    counts.gpu_tile(x, xo, xi, 16)
    counts.update(0).atomic().gpu_tile(r.x, hl.RVar("ro"), hl.RVar("ri"), 32)
    np.testing.assert_array_equal(realize(counts, (16,)), np.bincount(a, minlength=16))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("PASS")
