"""Expressions that tinygrad makes kernels of, written for this suite: `python tinygrad_kernels.py NAME`,
with DEV=CUDA:PTX. Each is compared with NumPy."""

import math
import sys

import numpy as np
from tinygrad import Tensor

rng = np.random.default_rng(5)


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def close(got, want, rtol=1e-4, atol=1e-4):
    np.testing.assert_allclose(got.numpy(), want, rtol=rtol, atol=atol)


def matmul_f16():
    a, b = normal(64, 96, dtype=np.float16), normal(96, 128, dtype=np.float16)
    close(Tensor(a) @ Tensor(b), a.astype(np.float64) @ b.astype(np.float64), 2e-3, 2e-2)


def matmul_f32():
    a, b = normal(96, 64), normal(64, 160)
    close(Tensor(a) @ Tensor(b), a @ b)


def softmax():
    a = normal(48, 200)
    e = np.exp(a - a.max(1, keepdims=True))
    close(Tensor(a).softmax(), e / e.sum(1, keepdims=True))


def layer_norm():
    a = normal(48, 128)
    close(Tensor(a).layernorm(), (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5))


def running_sum():
    a = normal(16, 200)
    close(Tensor(a).cumsum(1), a.astype(np.float64).cumsum(1))


def sort():
    a = rng.integers(-99, 99, 100).astype(np.int32)
    np.testing.assert_array_equal(Tensor(a).sort()[0].numpy(), np.sort(a))


def convolution():
    x, w = normal(1, 4, 12, 12), normal(8, 4, 3, 3)
    want = sum(np.einsum("oi,nihw->nohw", w[:, :, i, j], x[:, :, i:i + 10, j:j + 10]) for i in range(3) for j in range(3))
    close(Tensor(x).conv2d(Tensor(w)), want)


def attention():
    q, k, v = (normal(2, 2, 32, 16) for _ in range(3))
    s = q @ k.transpose(0, 1, 3, 2) / 4
    e = np.exp(s - s.max(-1, keepdims=True))
    close(Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v)), e / e.sum(-1, keepdims=True) @ v)


def elementwise():
    a = normal(500)
    t = Tensor(a)
    got = t.exp() + t.sin() + t.abs().log() + t.tanh() + t.erf()
    close(got, np.exp(a) + np.sin(a) + np.log(np.abs(a)) + np.tanh(a) + np.vectorize(math.erf)(a))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("PASS")
