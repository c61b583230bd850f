"""Kernels in Triton's own manner, one of each kind that its tutorials have, written for this suite:
`python triton_kernels.py NAME`. Each is compared with NumPy."""

import sys

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

rng = np.random.default_rng(7)
SM = torch.cuda.get_device_capability()


def normal(*shape, dtype=torch.float32):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).to(dtype).to("cuda")


def f64(tensor):
    return tensor.to(torch.float32).numpy().astype(np.float64)


def close(got, want, rtol, atol):
    got = f64(got)
    assert got.shape == want.shape, (got.shape, want.shape)
    bad = ~(np.abs(got - want) <= atol + rtol * np.abs(want))
    assert not bad.any(), f"{bad.sum()} of {bad.size} are wrong, first at {np.argwhere(bad)[0]}: {got[bad][0]} for {want[bad][0]}"


# ---- Elementwise and rows -----------------------------------------------------------------------


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def vector_add():
    x, y = normal(1000), normal(1000)
    out = torch.empty_like(x)
    add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
    close(out, f64(x) + f64(y), 1e-6, 1e-6)


@triton.jit
def softmax_kernel(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + at, e / tl.sum(e, axis=0), mask=at < n)


def softmax():
    x = normal(24, 781)
    out = torch.empty_like(x)
    softmax_kernel[(24,)](x, out, x.stride(0), 781, BLOCK=1024, num_warps=8)
    e = np.exp(f64(x) - f64(x).max(axis=1, keepdims=True))
    close(out, e / e.sum(axis=1, keepdims=True), 1e-5, 1e-7)


@triton.jit
def online_softmax_kernel(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, v)
        total = total * tl.where(top == new, 1.0, tl.exp(top - new)) + tl.where(v == -float("inf"), 0.0, tl.exp(v - new))
        top = new
    most = tl.max(top, axis=0)
    total = tl.sum(total * tl.exp(top - most), axis=0)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf")).to(tl.float32)
        tl.store(out + row * stride + at, tl.exp(v - most) / total, mask=at < n)


def online_softmax():
    x = normal(6, 3000, dtype=torch.float16)
    out = torch.empty_like(x)
    online_softmax_kernel[(6,)](x, out, x.stride(0), 3000, BLOCK=512)
    e = np.exp(f64(x) - f64(x).max(axis=1, keepdims=True))
    close(out, e / e.sum(axis=1, keepdims=True), 2e-3, 1e-6)


@triton.jit
def layer_norm_kernel(x, w, b, out, mean, rstd, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    m = tl.sum(v, axis=0) / n
    d = tl.where(at < n, v - m, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    y = d * r * tl.load(w + at, mask=at < n) + tl.load(b + at, mask=at < n)
    tl.store(out + row * n + at, y, mask=at < n)


def layer_norm():
    x, w, b = normal(16, 500, dtype=torch.float16), normal(500), normal(500)
    out, mean, rstd = torch.empty_like(x), torch.empty(16), torch.empty(16)
    layer_norm_kernel[(16,)](x, w, b, out, mean, rstd, 500, 1e-5, BLOCK=512)
    v = f64(x)
    want = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * f64(w) + f64(b)
    close(out, want, 2e-3, 2e-3)
    close(mean, v.mean(1), 1e-4, 1e-5)


@triton.jit
def layer_norm_grad_kernel(x, dy, w, dw, lock, n, ROWS: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    group = row % GROUPS
    at = tl.arange(0, BLOCK)
    part = tl.load(x + row * n + at, mask=at < n, other=0.0) * tl.load(dy + row * n + at, mask=at < n, other=0.0)
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    first = tl.load(lock + GROUPS + group)
    if first == 0:
        tl.atomic_xchg(lock + GROUPS + group, 1)
    else:
        part += tl.load(dw + group * n + at, mask=at < n)
    tl.store(dw + group * n + at, part, mask=at < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


def locked_sums():
    x, dy = normal(16, 200), normal(16, 200)
    dw, lock = torch.zeros(4, 200), torch.zeros(8, dtype=torch.int32)
    layer_norm_grad_kernel[(16,)](x, dy, x, dw, lock, 200, ROWS=16, GROUPS=4, BLOCK=256)
    want = np.stack([(f64(x) * f64(dy))[g::4].sum(0) for g in range(4)])
    close(dw, want, 1e-5, 1e-5)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(keep, v / (1 - p), 0.0), mask=at < n)


def philox(seed, at):
    """Philox 4x32-10 (Salmon et al., 2011) as Triton's tl.rand counts it: its first word, as a number in [0, 1)."""
    c = [at.astype(np.uint64), np.zeros_like(at, np.uint64), np.zeros_like(at, np.uint64), np.zeros_like(at, np.uint64)]
    k = [np.uint64(seed & 0xffffffff), np.uint64(seed >> 32)]
    low = np.uint64(0xffffffff)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ k[0], b & low, (a >> np.uint64(32)) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    word = c[0].astype(np.uint32).view(np.int32)
    word = np.where(word < 0, -word - 1, word)
    return word.astype(np.float32) * np.float32(4.6566127342e-10)


def dropout():
    x = normal(1000)
    out = torch.empty_like(x)
    dropout_kernel[(4,)](x, out, 1000, 0.3, 123, BLOCK=256)
    keep = philox(123, np.arange(1000)) > np.float32(0.3)
    close(out, np.where(keep, f64(x) / (1 - 0.3), 0), 1e-5, 1e-6)


@triton.jit
def scan_kernel(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(out + row * BLOCK + at, tl.cumsum(tl.load(x + row * BLOCK + at), axis=0))


def cumulative_sum():
    x = normal(8, 512)
    out = torch.empty_like(x)
    scan_kernel[(8,)](x, out, 512, BLOCK=512)
    close(out, np.cumsum(f64(x), axis=1), 1e-4, 1e-4)


@triton.jit
def sort_kernel(x, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(out + row * BLOCK + at, tl.sort(tl.load(x + row * BLOCK + at)))


def sort():
    x = normal(8, 256)
    out = torch.empty_like(x)
    sort_kernel[(8,)](x, out, BLOCK=256)
    close(out, np.sort(f64(x), axis=1), 0, 0)


@triton.jit
def histogram_kernel(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.histogram(tl.load(x + at), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), h)


def histogram():
    x = torch.from_numpy(rng.integers(0, 64, 2048, dtype=np.int32)).to("cuda")
    out = torch.zeros(64, dtype=torch.int32)
    histogram_kernel[(4,)](x, out, 2048, BINS=64, BLOCK=512)
    assert np.array_equal(out.numpy(), np.bincount(x.numpy(), minlength=64))


# ---- Products -----------------------------------------------------------------------------------


@triton.jit
def matmul_kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  GROUP: tl.constexpr, LEAKY: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    in_group = GROUP * columns
    first = pid // in_group * GROUP
    height = min(rows - first, GROUP)
    pm = first + pid % in_group % height
    pn = pid % in_group // height
    om = (pm * BM + tl.arange(0, BM)) % M
    on = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    pa = a + om[:, None] * sam + ok[None, :] * sak
    pb = b + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        va = tl.load(pa, mask=ok[None, :] < K - k * BK, other=0.0)
        vb = tl.load(pb, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(va, vb, acc)
        pa += BK * sak
        pb += BK * sbk
    if LEAKY:
        acc = tl.where(acc >= 0, acc, 0.01 * acc)
    cm, cn = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    tl.store(c + cm[:, None] * scm + cn[None, :] * scn, acc.to(c.dtype.element_ty), mask=(cm[:, None] < M) & (cn[None, :] < N))


def product(dtype, m=200, n=264, k=136, bm=64, bn=64, bk=32, leaky=False, tolerance=2e-2, stages=3, warps=4):
    a, b = normal(m, k).to(dtype), normal(k, n).to(dtype)
    c = torch.empty(m, n, dtype=torch.float16 if dtype != torch.float32 else torch.float32)
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BM=bm, BN=bn, BK=bk, GROUP=2, LEAKY=leaky,
                        num_stages=stages, num_warps=warps)
    want = f64(a) @ f64(b)
    close(c, np.where(want >= 0, want, 0.01 * want) if leaky else want, tolerance, tolerance)


def matmul_f16():
    product(torch.float16, leaky=True)


def matmul_bf16():
    product(torch.bfloat16, bm=128, bn=128, bk=64, stages=4, warps=8)


def matmul_tf32():
    product(torch.float32, tolerance=5e-2)


def matmul_e4m3():
    product(torch.float8_e4m3fn, bk=64, k=144)


@triton.jit
def matmul_i8_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om, on, ok = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(a + om[:, None] * K + k + ok[None, :]), tl.load(b + (k + ok[:, None]) * N + on[None, :]))
    tl.store(c + om[:, None] * N + on[None, :], acc)


def matmul_i8():
    a = torch.from_numpy(rng.integers(-128, 128, (128, 128), dtype=np.int8)).to("cuda")
    b = torch.from_numpy(rng.integers(-128, 128, (128, 128), dtype=np.int8)).to("cuda")
    c = torch.empty(128, 128, dtype=torch.int32)
    matmul_i8_kernel[(2, 2)](a, b, c, 128, 128, 128, BM=64, BN=64, BK=64)
    assert np.array_equal(c.numpy(), a.numpy().astype(np.int32) @ b.numpy().astype(np.int32))


@triton.jit
def split_k_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    om, on = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    ok = tl.program_id(2) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK * SPLIT):
        acc = tl.dot(tl.load(a + om[:, None] * K + k + ok[None, :]), tl.load(b + (k + ok[:, None]) * N + on[None, :]), acc)
    tl.atomic_add(c + om[:, None] * N + on[None, :], acc)


def matmul_split_k():
    a, b = normal(128, 256, dtype=torch.float16), normal(256, 128, dtype=torch.float16)
    c = torch.zeros(128, 128)
    split_k_kernel[(2, 2, 4)](a, b, c, 128, 128, 256, BM=64, BN=64, BK=32, SPLIT=4)
    close(c, f64(a) @ f64(b), 1e-3, 1e-3)


@triton.jit
def tma_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr,
               FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr):
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, SMS, flatten=FLATTEN, warp_specialize=SPECIALIZE):
        m, n = tile // columns * BM, tile % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
        c.store([m, n], acc.to(tl.float16))


def tma_product(flatten, specialize, warps=4, sms=4):
    m, n, k, bm, bn, bk = 256, 384, 128, 128, 128, 64
    a, b = normal(m, k, dtype=torch.float16), normal(n, k, dtype=torch.float16)
    c = torch.empty(m, n, dtype=torch.float16)
    tma_kernel[(sms,)](TensorDescriptor.from_tensor(a, [bm, bk]), TensorDescriptor.from_tensor(b, [bn, bk]),
                       TensorDescriptor.from_tensor(c, [bm, bn]), m, n, k, BM=bm, BN=bn, BK=bk, SMS=sms, FLATTEN=flatten,
                       SPECIALIZE=specialize, num_warps=warps, num_stages=3)
    close(c, f64(a) @ f64(b).T, 1e-2, 1e-2)


def matmul_tma():
    tma_product(False, False, sms=6)


def matmul_tma_persistent():
    tma_product(SM[0] >= 10, False, warps=8)


def matmul_tma_specialized():
    tma_product(SM[0] >= 10, True)


@triton.jit
def device_map_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
    dc.store([m, n], acc.to(tl.float16))


def matmul_device_descriptors():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    a, b = normal(256, 128, dtype=torch.float16), normal(128, 128, dtype=torch.float16)
    c = torch.empty(256, 128, dtype=torch.float16)
    device_map_kernel[(2, 1)](a, b, c, 256, 128, 128, BM=128, BN=128, BK=64)
    close(c, f64(a) @ f64(b).T, 1e-2, 1e-2)


@triton.jit
def grouped_kernel(pa, pb, pc, sizes, count, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    end = 0
    for g in range(count):
        m, n, k = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        columns = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * columns
        while tile >= end and tile < end + tiles:
            a = tl.load(pa + g).to(tl.pointer_type(tl.float16))
            b = tl.load(pb + g).to(tl.pointer_type(tl.float16))
            c = tl.load(pc + g).to(tl.pointer_type(tl.float16))
            om = (tile - end) // columns * BM + tl.arange(0, BM)
            on = (tile - end) % columns * BN + tl.arange(0, BN)
            ok = tl.arange(0, BK)
            acc = tl.zeros((BM, BN), tl.float32)
            for i in range(0, k, BK):
                acc = tl.dot(tl.load(a + om[:, None] * k + i + ok[None, :]), tl.load(b + (i + ok[:, None]) * n + on[None, :]), acc)
            tl.store(c + om[:, None] * n + on[None, :], acc.to(tl.float16))
            tile += SMS
        end += tiles


def grouped_gemm():
    sizes = [(128, 128, 64), (64, 192, 128), (192, 64, 64)]
    a = [normal(m, k, dtype=torch.float16) for m, n, k in sizes]
    b = [normal(k, n, dtype=torch.float16) for m, n, k in sizes]
    c = [torch.empty(m, n, dtype=torch.float16) for m, n, k in sizes]
    lists = [torch.tensor([t.data_ptr() for t in group], dtype=torch.int64, device="cuda") for group in (a, b, c)]
    grouped_kernel[(4,)](*lists, torch.tensor(sizes, dtype=torch.int32, device="cuda"), 3, SMS=4, BM=64, BN=64, BK=32)
    for x, y, z in zip(a, b, c):
        close(z, f64(x) @ f64(y), 1e-2, 1e-2)


@triton.jit
def scaled_kernel(a, b, c, sa, sb, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr, PACK: tl.constexpr):
    om, on = tl.arange(0, M), tl.arange(0, N)
    oka, oks = tl.arange(0, K // PACK), tl.arange(0, K // 32)
    va = tl.load(a + om[:, None] * (K // PACK) + oka[None, :])
    vb = tl.load(b + on[:, None] * (K // PACK) + oka[None, :])
    xa = tl.load(sa + om[:, None] * (K // 32) + oks[None, :])
    xb = tl.load(sb + on[:, None] * (K // 32) + oks[None, :])
    acc = tl.dot_scaled(va, xa, TYPE, vb.T, xb, TYPE)
    tl.store(c + om[:, None] * N + on[None, :], acc)


E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])


def scaled(kind):
    m, n, k = 128, 128, 128
    sa, sb = (torch.from_numpy(rng.integers(125, 130, (r, k // 32), dtype=np.uint8)).to("cuda") for r in (m, n))
    if kind == "e2m1":
        a, b = (torch.from_numpy(rng.integers(0, 256, (r, k // 2), dtype=np.uint8)).to("cuda") for r in (m, n))
        va, vb = (np.stack([E2M1[t.numpy() & 15], E2M1[t.numpy() >> 4]], -1).reshape(len(t), k) for t in (a, b))
    else:
        a, b = normal(m, k).to(torch.float8_e4m3fn), normal(n, k).to(torch.float8_e4m3fn)
        va, vb = f64(a), f64(b)
    c = torch.empty(m, n)
    scaled_kernel[(1,)](a, b, c, sa, sb, M=m, N=n, K=k, TYPE=kind, PACK=2 if kind == "e2m1" else 1)
    scale = lambda s: np.repeat(2.0 ** (s.numpy().astype(np.float64) - 127), 32, axis=1)
    close(c, (va * scale(sa)) @ (vb * scale(sb)).T, 1e-3, 1e-3)


def scaled_e4m3():
    scaled("e4m3")


def scaled_e2m1():
    scaled("e2m1")


# ---- Attention ----------------------------------------------------------------------------------


@triton.jit
def attention_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0) * BM, tl.program_id(1) * N * D
    om, on, od = start + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    vq = tl.load(q + head + om[:, None] * D + od[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.full([BM], 1.0, tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = start + BM if CAUSAL else N
    for n in range(0, end, BN):
        vk = tl.load(k + head + (n + on[:, None]) * D + od[None, :])
        s = tl.dot(vq, vk.T) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(om[:, None] >= n + on[None, :], s, -1.0e6)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        shrink = tl.math.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        vv = tl.load(v + head + (n + on[:, None]) * D + od[None, :])
        acc = tl.dot(p.to(tl.float16), vv, acc)
        top = new
    tl.store(out + head + om[:, None] * D + od[None, :], (acc / total[:, None]).to(tl.float16))


def attention(causal, d=64, n=256, warps=4):
    q, k, v = (normal(2, n, d, dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    attention_kernel[(n // 64, 2)](q, k, v, out, d ** -0.5, n, D=d, BM=64, BN=64, CAUSAL=causal, num_warps=warps, num_stages=2)
    s = np.einsum("hmd,hnd->hmn", f64(q), f64(k)) * d ** -0.5
    if causal:
        s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    close(out, np.einsum("hmn,hnd->hmd", p / p.sum(-1, keepdims=True), f64(v)), 1e-2, 1e-2)


def attention_full():
    attention(False)


def attention_causal():
    attention(True, d=128, warps=8)


@triton.jit
def attention_tma_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SPECIALIZE: tl.constexpr):
    start = tl.program_id(1) * N + tl.program_id(0) * BM
    vq = q.load([start, 0])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.full([BM], 1.0, tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for n in tl.range(0, N, BN, warp_specialize=SPECIALIZE):
        s = tl.dot(vq, k.load([tl.program_id(1) * N + n, 0]).T) * (scale * 1.44269504)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        shrink = tl.math.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(tl.float16), v.load([tl.program_id(1) * N + n, 0]), acc)
        top = new
    out.store([start, 0], (acc / total[:, None]).to(tl.float16))


def attention_tma_with(specialize):
    n, d, heads = 256, 64, 2
    q, k, v = (normal(heads * n, d, dtype=torch.float16) for _ in range(3))
    out = torch.empty_like(q)
    maps = [TensorDescriptor.from_tensor(t, [128 if t is q or t is out else 64, d]) for t in (q, k, v, out)]
    attention_tma_kernel[(n // 128, heads)](*maps, d ** -0.5, n, D=d, BM=128, BN=64, SPECIALIZE=specialize, num_stages=2)
    q, k, v = (f64(t).reshape(heads, n, d) for t in (q, k, v))
    s = np.einsum("hmd,hnd->hmn", q, k) * d ** -0.5
    p = np.exp(s - s.max(-1, keepdims=True))
    close(out, np.einsum("hmn,hnd->hmd", p / p.sum(-1, keepdims=True), v).reshape(heads * n, d), 1e-2, 1e-2)


def attention_tma():
    attention_tma_with(False)


def attention_tma_specialized():
    attention_tma_with(True)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("PASS")
