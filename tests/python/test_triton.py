"""Triton's kernels on the simulator: its tutorials adapted to NumPy, each compared with NumPy's own result; and what is
around them: autotuning, descriptors, reports with the line of the source, wrong uses."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tilescope as ts

triton = pytest.importorskip("triton", reason="Triton is not installed: `pip install triton`, and these tests run")
tl = pytest.importorskip("triton.language")
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

rng = np.random.default_rng(7)
CHIPS = ("sm_80", "sm_90a", "sm_100a")
TMA = ("sm_90a", "sm_100a")


checked = []


def activate(chip):
    """With every hazard a failure, but one: Triton emits no tcgen05.fence for Blackwell's tensor cores."""
    ts.triton.activate(chip, strict=chip != "sm_100a")
    checked.append(chip)


@pytest.fixture(autouse=True)
def driver():
    checked.clear()
    yield
    if checked:
        assert {r.kind for r in ts.triton.reports if r.weight == "hazard"} <= {"tcgen05_fence"}
    ts.triton.deactivate()


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def wide(x):
    return x.astype(np.float64)


def close(got, want, tolerance):
    np.testing.assert_allclose(wide(got), want, rtol=tolerance, atol=tolerance)


# ---- Tutorials ----------------------------------------------------------------------------------


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@pytest.mark.parametrize("chip", CHIPS)
def test_vector_add(chip):
    activate(chip)
    x, y = normal(1000), normal(1000)
    out = np.zeros(1000, np.float32)
    add_kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, out, 1000, BLOCK=256)
    assert (out == x + y).all()
    assert ts.triton.last.time > 0 and ts.triton.last.blocks == 4 and ts.triton.reports == []


@triton.jit
def softmax_kernel(x, out, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        at = tl.arange(0, BLOCK)
        v = tl.load(x + row * x_stride + at, mask=at < columns, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * out_stride + at, e / tl.sum(e, axis=0), mask=at < columns)


@pytest.mark.parametrize("chip", CHIPS)
def test_fused_softmax(chip):
    activate(chip)
    x = normal(23, 781)[:, :700]  # its rows do not lie close together
    out = np.empty((23, 700), np.float32)
    softmax_kernel[(8,)](x, out, x.strides[0] // 4, 700, 23, 700, BLOCK=1024, num_warps=8)
    e = np.exp(wide(x) - wide(x).max(1, keepdims=True))
    close(out, e / e.sum(1, keepdims=True), 1e-5)


@triton.autotune(
    configs=[
        triton.Config({"BM": 32, "BN": 32, "BK": 16, "GROUP": 2}, num_stages=1, num_warps=1),
        triton.Config({"BM": 64, "BN": 64, "BK": 32, "GROUP": 2}, num_stages=3, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    m = first + pid % (GROUP * columns) % height
    n = pid % (GROUP * columns) // height
    om = (m * BM + tl.arange(0, BM)) % M
    on = (n * BN + tl.arange(0, BN)) % N
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
    cm, cn = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    inside = (cm[:, None] < M) & (cn[None, :] < N)
    tl.store(c + cm[:, None] * scm + cn[None, :] * scn, acc.to(c.dtype.element_ty), mask=inside)


def matmul(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = np.empty((m, n), np.float16)
    strides = [step // x.itemsize for x in (a, b, c) for step in x.strides]
    matmul_kernel[lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)](a, b, c, m, n, k, *strides)
    return c


@pytest.mark.parametrize("chip", CHIPS)
def test_matmul_is_autotuned_by_predicted_time(chip):
    activate(chip)
    a, b = normal(200, 136, dtype=np.float16), normal(264, 136, dtype=np.float16).T
    close(matmul(a, b), wide(a) @ wide(b), 2e-2)
    times = {config.kwargs["BM"]: time[0] for config, time in matmul_kernel.configs_timings.items()}
    assert 0 < min(times.values()) and len(set(times.values())) == 2
    assert times[matmul_kernel.best_config.kwargs["BM"]] == min(times.values())
    assert ts.triton.last.time * 1e3 == pytest.approx(min(times.values()), rel=0.1)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


def philox(seed, at):
    """Philox 4x32-10 (Salmon et al., 2011) as tl.rand counts it: its first word as a number in [0, 1)."""
    c = [at.astype(np.uint64)] + [np.zeros_like(at, np.uint64)] * 3
    k, low, half = [np.uint64(seed), np.uint64(0)], np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> half) ^ c[1] ^ k[0], b & low, (a >> half) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    word = c[0].astype(np.uint32).view(np.int32)
    return np.where(word < 0, -word - 1, word).astype(np.float32) * np.float32(4.6566127342e-10)


def test_dropout():
    ts.triton.activate("sm_80", strict=True)
    x, out = normal(1000), np.empty(1000, np.float32)
    dropout_kernel[(4,)](x, out, 1000, 0.3, 123, BLOCK=256)
    keep = philox(123, np.arange(1000)) > np.float32(0.3)
    assert 600 < keep.sum() < 800
    close(out, np.where(keep, wide(x) / 0.7, 0), 1e-5)


@triton.jit
def layer_norm_kernel(x, w, b, out, mean, rstd, n, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    m = tl.sum(v, axis=0) / n
    d = tl.where(at < n, v - m, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    y = d * r * tl.load(w + at, mask=at < n) + tl.load(b + at, mask=at < n)
    tl.store(out + row * n + at, y, mask=at < n)


@triton.jit
def layer_norm_weights_kernel(x, dy, mean, rstd, dw, lock, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    group = row % GROUPS
    v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    part = tl.load(dy + row * n + at, mask=at < n, other=0.0) * (v - tl.load(mean + row)) * tl.load(rstd + row)
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    tl.store(dw + group * n + at, part + tl.load(dw + group * n + at, mask=at < n), mask=at < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@pytest.mark.parametrize("chip", ("sm_80", "sm_90a"))
def test_layer_norm(chip):
    activate(chip)
    x, w, b, dy = normal(16, 500, dtype=np.float16), normal(500), normal(500), normal(16, 500)
    out, mean, rstd = np.empty_like(x), np.empty(16, np.float32), np.empty(16, np.float32)
    layer_norm_kernel[(16,)](x, w, b, out, mean, rstd, 500, 1e-5, BLOCK=512)
    v = wide(x)
    deviation = np.sqrt(v.var(1, keepdims=True) + 1e-5)
    close(out, (v - v.mean(1, keepdims=True)) / deviation * w + b, 4e-3)
    dw, lock = np.zeros((4, 500), np.float32), np.zeros(4, np.int32)
    layer_norm_weights_kernel[(16,)](x, dy, mean, rstd, dw, lock, 500, GROUPS=4, BLOCK=512)
    close(dw.sum(0), (dy * (v - v.mean(1, keepdims=True)) / deviation).sum(0), 1e-3)
    assert (lock == 0).all()


@triton.jit
def attention_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0) * BM, tl.program_id(1) * N * D
    om, on, od = start + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    vq = tl.load(q + head + om[:, None] * D + od[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for n in range(0, start + BM if CAUSAL else N, BN):
        s = tl.dot(vq, tl.load(k + head + (n + on[:, None]) * D + od[None, :]).T) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(om[:, None] >= n + on[None, :], s, -1.0e6)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        shrink = tl.math.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + head + (n + on[:, None]) * D + od[None, :]), acc * shrink[:, None])
        top = new
    tl.store(out + head + om[:, None] * D + od[None, :], (acc / total[:, None]).to(tl.float16))


def attended(q, k, v, causal):
    s = np.einsum("hmd,hnd->hmn", wide(q), wide(k)) * q.shape[-1] ** -0.5
    if causal:
        s = np.where(np.tri(q.shape[1], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hmn,hnd->hmd", p / p.sum(-1, keepdims=True), wide(v))


@pytest.mark.parametrize("chip, causal", [("sm_80", True), ("sm_90a", False), ("sm_90a", True), ("sm_100a", True)])
def test_attention(chip, causal):
    activate(chip)
    q, k, v = (normal(2, 128, 64, dtype=np.float16) for _ in range(3))
    out = np.empty_like(q)
    attention_kernel[(2, 2)](q, k, v, out, 64**-0.5, 128, D=64, BM=64, BN=32, CAUSAL=causal, num_stages=2)
    close(out, attended(q, k, v, causal), 1e-2)


@triton.jit
def attention_descriptor_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                                SPECIALIZE: tl.constexpr):
    head = tl.program_id(1) * N
    start = head + tl.program_id(0) * BM
    vq = q.load([start, 0])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for n in tl.range(0, N, BN, warp_specialize=SPECIALIZE):
        s = tl.dot(vq, k.load([head + n, 0]).T) * (scale * 1.44269504)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        shrink = tl.math.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), v.load([head + n, 0]), acc * shrink[:, None])
        top = new
    out.store([start, 0], (acc / total[:, None]).to(tl.float16))


@pytest.mark.parametrize("chip, specialize", [("sm_90a", False), ("sm_100a", False), ("sm_100a", True)])
def test_attention_with_descriptors(chip, specialize):
    activate(chip)
    q, k, v = (normal(2, 256, 64, dtype=np.float16) for _ in range(3))
    out = np.empty_like(q)
    maps = [TensorDescriptor.from_tensor(t.reshape(512, 64), [rows, 64]) for t, rows in ((q, 128), (k, 64), (v, 64), (out, 128))]
    attention_descriptor_kernel[(2, 2)](*maps, 64**-0.5, 256, D=64, BM=128, BN=64, SPECIALIZE=specialize, num_stages=2)
    close(out, attended(q, k, v, False), 1e-2)


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
                va = tl.load(a + om[:, None] * k + i + ok[None, :])
                acc = tl.dot(va, tl.load(b + (i + ok[:, None]) * n + on[None, :]), acc)
            tl.store(c + om[:, None] * n + on[None, :], acc.to(tl.float16))
            tile += SMS
        end += tiles


@pytest.mark.parametrize("chip, listed", [("sm_80", ts.triton.pointers), ("sm_100a", lambda group: np.array([x.ctypes.data for x in group]))])
def test_grouped_gemm(chip, listed):
    activate(chip)
    sizes = np.array([(128, 128, 64), (64, 192, 128), (192, 64, 64)], np.int32)
    a = [normal(m, k, dtype=np.float16) for m, n, k in sizes]
    b = [normal(k, n, dtype=np.float16) for m, n, k in sizes]
    c = [np.empty((m, n), np.float16) for m, n, k in sizes]
    lists = [listed(each) for each in (a, b, c)]
    grouped_kernel[(4,)](*lists, sizes, len(sizes), SMS=4, BM=64, BN=64, BK=32)
    for x, y, z in zip(a, b, c):
        close(z, wide(x) @ wide(y), 1e-2)


@triton.jit
def persistent_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                      FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr):
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0), flatten=FLATTEN,
                         warp_specialize=SPECIALIZE):
        m, n = tile // columns * BM, tile % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
        c.store([m, n], acc.to(tl.float16))


@pytest.mark.parametrize("chip, specialize", [("sm_80", False), ("sm_90a", False), ("sm_100a", False), ("sm_100a", True)])
def test_persistent_matmul_with_descriptors(chip, specialize):
    activate(chip)
    a, b, c = normal(200, 128, dtype=np.float16), normal(264, 128, dtype=np.float16), np.empty((200, 264), np.float16)
    size = 64 if chip == "sm_80" else 128
    a_map, b_map = (TensorDescriptor.from_tensor(x, [size, 64]) for x in (a, b))
    c_map = TensorDescriptor(c, c.shape, [264, 1], [size, size])
    persistent_kernel[(4,)](a_map, b_map, c_map, 200, 264, 128, BM=size, BN=size, BK=64, FLATTEN=chip == "sm_100a",
                            SPECIALIZE=specialize, num_stages=3)
    close(c, wide(a) @ wide(b).T, 1e-2)


@triton.jit
def device_descriptor_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
    dc.store([m, n], acc.to(tl.float16))


@pytest.mark.parametrize("chip", TMA)
def test_descriptors_made_by_the_kernel(chip):
    activate(chip)
    a, b, c = normal(256, 128, dtype=np.float16), normal(128, 128, dtype=np.float16), np.empty((256, 128), np.float16)
    device_descriptor_kernel[(2, 1)](a, b, c, 256, 128, 128, BM=128, BN=128, BK=64)  # its scratch needs no allocator
    close(c, wide(a) @ wide(b).T, 1e-2)


@triton.jit
def scaled_kernel(a, b, c, sa, sb, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr, PACK: tl.constexpr):
    om, on = tl.arange(0, M), tl.arange(0, N)
    ok, os = tl.arange(0, K // PACK), tl.arange(0, K // 32)
    va = tl.load(a + om[:, None] * (K // PACK) + ok[None, :])
    vb = tl.load(b + on[:, None] * (K // PACK) + ok[None, :])
    xa = tl.load(sa + om[:, None] * (K // 32) + os[None, :])
    xb = tl.load(sb + on[:, None] * (K // 32) + os[None, :])
    tl.store(c + om[:, None] * N + on[None, :], tl.dot_scaled(va, xa, TYPE, vb.T, xb, TYPE))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
E4M3 = np.array([(-1) ** (i >> 7) * (2.0**-6 * (i & 7) / 8 if i >> 3 & 15 == 0 else 2.0 ** ((i >> 3 & 15) - 7) * (1 + (i & 7) / 8))
                 for i in range(256)])


@pytest.mark.parametrize("chip, kind", [("sm_90a", "e2m1"), ("sm_100a", "e2m1"), ("sm_100a", "e4m3")])
def test_block_scaled_matmul(chip, kind):
    activate(chip)
    m, n, k = 128, 128, 128
    sa, sb = (rng.integers(125, 130, (rows, k // 32), dtype=np.uint8) for rows in (m, n))
    if kind == "e2m1":  # two in a byte
        a, b = (rng.integers(0, 256, (rows, k // 2), dtype=np.uint8) for rows in (m, n))
        va, vb = (np.stack([E2M1[x & 15], E2M1[x >> 4]], -1).reshape(-1, k) for x in (a, b))
    else:
        a, b = (rng.integers(0, 2, (rows, k), dtype=np.uint8) << 7 | rng.integers(0, 80, (rows, k), dtype=np.uint8) for rows in (m, n))
        va, vb = E4M3[a], E4M3[b]
    c = np.empty((m, n), np.float32)
    scaled_kernel[(1,)](a, b, c, sa, sb, M=m, N=n, K=k, TYPE=kind, PACK=2 if kind == "e2m1" else 1)
    scaled = [x * np.repeat(2.0 ** (wide(s) - 127), 32, axis=1) for x, s in ((va, sa), (vb, sb))]
    close(c, scaled[0] @ scaled[1].T, 1e-3)


@triton.jit
def scaled_descriptor_kernel(a, sa, b, sb, c, K, TYPE_A: tl.constexpr, TYPE_B: tl.constexpr, PACK_A: tl.constexpr,
                             PACK_B: tl.constexpr, VECTOR: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    columns: tl.constexpr = BK // VECTOR // 4
    for k in tl.range(0, tl.cdiv(K, BK), num_stages=2):
        va, vb = a.load([m * BM, k * (BK // PACK_A)]), b.load([n * BN, k * (BK // PACK_B)])
        xa = sa.load([0, m * (BM // 128), k * columns, 0, 0]).reshape(BM // 128, columns, 32, 4, 4).trans(0, 3, 2, 1, 4)
        xb = sb.load([0, n * (BN // 128), k * columns, 0, 0]).reshape(BN // 128, columns, 32, 4, 4).trans(0, 3, 2, 1, 4)
        acc = tl.dot_scaled(va, xa.reshape(BM, BK // VECTOR), TYPE_A, vb.T, xb.reshape(BN, BK // VECTOR), TYPE_B, acc)
    c.store([m * BM, n * BN], acc.to(tl.float16))


def in_tiles(scales):
    """Scale factors as tensor cores read them: tiles of 128 x 4, in each rows i, i + 32, i + 64, i + 96 side by side."""
    rows, columns = scales.shape
    tiles = scales.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(tiles).reshape(1, rows // 128, columns // 4, 2, 256)


@pytest.mark.parametrize("kinds, vector", [(("e4m3", "e4m3"), 32), (("e2m1", "e2m1"), 16), (("e4m3", "e2m1"), 32)])
def test_block_scaled_matmul_with_descriptors(kinds, vector):
    activate("sm_100a")
    m, n, k, bm, bn, bk = 128, 256, 256, 128, 128, 128
    operands, scales, wanted, maps = [], [], [], []
    for kind, rows, block in zip(kinds, (m, n), (bm, bn)):
        if kind == "e2m1":
            x = rng.integers(0, 256, (rows, k // 2), dtype=np.uint8)
            value = np.stack([E2M1[x & 15], E2M1[x >> 4]], -1).reshape(-1, k)
        else:
            x = rng.integers(0, 2, (rows, k), dtype=np.uint8) << 7 | rng.integers(0, 80, (rows, k), dtype=np.uint8)
            value = E4M3[x]
        if vector == 16:  # nvfp4: scale factors are e4m3
            s = rng.integers(40, 64, (rows, k // vector), dtype=np.uint8)
            scale = E4M3[s]
        else:
            s = rng.integers(124, 128, (rows, k // vector), dtype=np.uint8)
            scale = 2.0 ** (wide(s) - 127)
        wanted.append(value * np.repeat(scale, vector, axis=1))
        tiles = in_tiles(s)
        if vector == 16:
            tiles = triton.reinterpret(tiles, tl.float8e4nv)
        operands.append(TensorDescriptor.from_tensor(x, [block, x.shape[1] * bk // k]))
        scales.append(TensorDescriptor.from_tensor(tiles, [1, block // 128, bk // vector // 4, 2, 256]))
    c = np.empty((m, n), np.float16)
    pack = [2 if kind == "e2m1" else 1 for kind in kinds]
    scaled_descriptor_kernel[(m // bm, n // bn)](
        operands[0], scales[0], operands[1], scales[1], TensorDescriptor.from_tensor(c, [bm, bn]), k, TYPE_A=kinds[0],
        TYPE_B=kinds[1], PACK_A=pack[0], PACK_B=pack[1], VECTOR=vector, BM=bm, BN=bn, BK=bk)
    want = wanted[0] @ wanted[1].T
    assert np.abs(want).max() < 60000
    np.testing.assert_allclose(wide(c), want, rtol=2e-3, atol=1e-3 * np.abs(want).max())


@triton.jit
def rounded_kernel(a, b, c):
    c.store([0, 0], tl.dot(a.load([0, 0]), b.load([0, 0]).T))


def rounded(x):
    """To tf32, to nearest and even."""
    bits = x.view(np.uint32)
    return wide((bits + 0xFFF + (bits >> 13 & 1) & 0xFFFFE000).view(np.float32))


@pytest.mark.parametrize("chip", CHIPS)
def test_descriptors_that_round_to_tf32(chip):
    activate(chip)
    a, b, c = normal(64, 64), normal(64, 64), np.empty((64, 64), np.float32)
    maps = [TensorDescriptor.from_tensor(x, [64, 64], round_f32_to_tf32=x is not c) for x in (a, b, c)]
    rounded_kernel[(1,)](*maps)
    close(c, rounded(a) @ rounded(b).T, 1e-4)


def block_of(arguments):
    """A configuration's own block for each descriptor, as the tutorial's attention has it."""
    arguments["x"].block_shape = arguments["out"].block_shape = [arguments["BM"], 64]


@triton.autotune([triton.Config({"BM": m}, pre_hook=block_of) for m in (16, 64)], key=["rows"])
@triton.jit
def tuned_descriptor_kernel(x, out, rows, BM: tl.constexpr):
    at = tl.program_id(0) * BM
    out.store([at, 0], x.load([at, 0]) + 1)


@pytest.mark.parametrize("chip", CHIPS)
def test_autotuned_descriptors(chip):
    activate(chip)
    x, out = normal(128, 64), np.zeros((128, 64), np.float32)
    maps = [TensorDescriptor(t, list(t.shape), [64, 1], [1, 1]) for t in (x, out)]
    tuned_descriptor_kernel[lambda meta: (128 // meta["BM"],)](*maps, 128)
    assert (out == x + 1).all() and len(tuned_descriptor_kernel.configs_timings) == 2


# ---- More of Triton -----------------------------------------------------------------------------


@triton.jit
def matmul_in_cluster_kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
    c.store([m, n], acc.to(tl.float16))


@pytest.mark.parametrize("chip", TMA)
def test_clusters(chip):
    activate(chip)
    a, b, c = normal(128, 64, dtype=np.float16), normal(64, 128, dtype=np.float16), np.empty((128, 128), np.float16)
    maps = [TensorDescriptor.from_tensor(x, list(box)) for x, box in ((a, (128, 32)), (b, (32, 128)), (c, (128, 128)))]
    kernel = matmul_in_cluster_kernel[(1, 1)](*maps, 64, BM=128, BN=128, BK=32, num_ctas=2)
    assert kernel.metadata.num_ctas == 2 and ts.triton.last.blocks == 2
    close(c, wide(a) @ wide(b), 1e-2)


def test_what_a_kernel_needs_is_known_before_it_is_launched():
    """As the tutorial's softmax chooses its grid: by how many blocks a processor has room for."""
    ts.triton.activate("sm_90a")
    chip = triton.runtime.driver.active.utils.get_device_properties(triton.runtime.driver.active.get_current_device())
    x, out = normal(300, 781), np.empty((300, 781), np.float32)
    kernel = softmax_kernel.warmup(x, out, 781, 781, 300, 781, BLOCK=1024, num_warps=8, grid=(1,))
    kernel._init_handles()
    blocks = chip["max_num_regs"] // (kernel.n_regs * chip["warpSize"] * 8)
    blocks = min(blocks, chip["max_shared_mem"] // max(kernel.metadata.shared, 1))
    programs = min(chip["multiprocessor_count"] * blocks, 300)
    assert 16 <= kernel.n_regs <= 255 and chip["multiprocessor_count"] == 132 and programs > 132
    kernel[(programs, 1, 1)](x, out, 781, 781, 300, 781, 1024)
    e = np.exp(wide(x) - wide(x).max(1, keepdims=True))
    close(out, e / e.sum(1, keepdims=True), 1e-5)


@triton.jit
def types_kernel(out, flag, byte: tl.int8, short: tl.int16, number, long, half: tl.float16, single, double: tl.float64,
                 BLOCK: tl.constexpr):
    tl.store(out + 0, flag.to(tl.float64))
    tl.store(out + 1, byte.to(tl.float64))
    tl.store(out + 2, short.to(tl.float64))
    tl.store(out + 3, number.to(tl.float64))
    tl.store(out + 4, long.to(tl.float64))
    tl.store(out + 5, half.to(tl.float64))
    tl.store(out + 6, single.to(tl.float64))
    tl.store(out + 7, double.to(tl.float64))


def test_numbers_of_every_type():
    ts.triton.activate("sm_80")
    out = np.empty(8)
    types_kernel[(1,)](out, True, -3, np.int16(-300), -70000, 1 << 40, 0.333, np.float32(0.1), 1 / 3, BLOCK=1)
    assert out.tolist() == [1, -3, -300, -70000, 1 << 40, np.float16(0.333), np.float32(0.1), 1 / 3]


@triton.jit
def twice_kernel(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def test_raw_bits_are_bf16_where_triton_is_told():
    ts.triton.activate("sm_90a")
    x = np.array([1.5, -3, 0.25, 8], np.float32)
    bits = (x.view(np.uint32) >> 16).astype(np.uint16)
    twice_kernel[(1,)](triton.reinterpret(bits, tl.bfloat16), 4, BLOCK=4)
    assert ((bits.astype(np.uint32) << 16).view(np.float32) == 2 * x).all()


def test_arrays_are_written_in_place_through_views():
    ts.triton.activate("sm_80")
    whole = np.ones((4, 8), np.float32)
    twice_kernel[(1,)](whole[2], 8, BLOCK=8)
    assert whole.sum() == 40 and (whole[2] == 2).all()
    part = whole.reshape(-1)[1:4]  # begins on no multiple of 16 bytes: Triton may not assume one
    twice_kernel[(1,)](part, 3, BLOCK=4)
    assert whole[0].tolist() == [1, 2, 2, 2, 1, 1, 1, 1]


def test_each_kernel_is_parsed_once(monkeypatch):
    ts.triton.activate("sm_80")
    parsed = []
    real = ts._tilescope.Module
    monkeypatch.setattr(ts._tilescope, "Module", lambda ptx: parsed.append(ptx) or real(ptx))
    x = np.ones(8, np.float32)
    for _ in range(5):
        twice_kernel[(1,)](x, 8, BLOCK=8)
    assert (x == 32).all() and len(parsed) == 1


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"], restore_value=["x"])
@triton.jit
def tuned_twice_kernel(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"], reset_to_zero=["out"])
@triton.jit
def tuned_sum_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0), axis=0))


def test_autotuning_restores_and_resets_arrays():
    ts.triton.activate("sm_90a")
    x, out = np.arange(500, dtype=np.float32), np.zeros(1, np.float32)
    grid = lambda meta: (triton.cdiv(500, meta["BLOCK"]),)  # noqa: E731
    tuned_sum_kernel[grid](x, out, 500)
    assert out[0] == x.sum()
    tuned_twice_kernel[grid](x, 500)
    assert (x == 2 * np.arange(500)).all()


@triton.autotune([triton.Config({"BLOCK": 64}, num_stages=2), triton.Config({"BLOCK": 128}, num_stages=3)], key=[])
@triton.jit
def tuned_again_kernel(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.program_id(0))


def test_autotuning_chooses_for_each_chip():
    x, times = np.zeros(128, np.int32), {}
    for chip in (*CHIPS, "sm_80"):
        with ts.triton.activate(chip):
            tuned_again_kernel.configs_timings = None
            tuned_again_kernel[(1,)](x)
            assert len(tuned_again_kernel.cache) == 1
            if chip in times:
                assert tuned_again_kernel.configs_timings is None  # it is known already
            else:
                times[chip] = tuned_again_kernel.configs_timings
        assert tuned_again_kernel.cache == {} and "do_bench" not in tuned_again_kernel.__dict__
    assert len({min(each.values())[0] for each in times.values()}) == 3


def test_outputs_have_the_names_of_the_source():
    ts.triton.activate("sm_80")
    x, y, out = np.ones(8, np.float32), np.ones(8, np.float32), np.zeros(8, np.float32)
    add_kernel[(1,)](x, y, out, 8, BLOCK=8)
    assert list(ts.triton.last.outputs) == ["x", "y", "out"] and (ts.triton.last.outputs["out"] == 2).all()
    assert ts.triton.last.diff(x + y, "out").wrong == ts.triton.last.diff(x, "x").wrong == 0
    with pytest.raises(ts.Fault):
        add_kernel[(2,)](x, y, out, 1000, BLOCK=8)
    assert list(ts.triton.last.outputs) == ["x", "y", "out"]


@triton.jit
def printing_kernel(x, BLOCK: tl.constexpr):
    tl.device_print("value", tl.load(x + tl.arange(0, BLOCK)))
    tl.device_assert(tl.load(x) < 5, "too large")


def test_what_a_kernel_prints_appears(capsys):
    ts.triton.activate("sm_80")
    printing_kernel[(1,)](np.array([3, 4], np.int32), BLOCK=2, num_warps=1)
    said = capsys.readouterr().out
    assert "value: 3" in said and "value: 4" in said and ts.triton.last.printed == said
    with pytest.raises(ts.Fault, match="assertion `too large` failed"):
        printing_kernel[(1,)](np.array([7, 8], np.int32), BLOCK=2, num_warps=1, debug=True)
    assert "value: 7" in capsys.readouterr().out


def test_do_bench_is_predicted_time():
    ts.triton.activate("sm_100a")
    x = np.ones(1 << 20, np.float32)
    small, large = (triton.testing.do_bench(lambda: twice_kernel[(n // 256,)](x, n, BLOCK=256)) for n in (256, 1 << 20))
    assert 0 < small < large
    assert large == pytest.approx(ts.triton.last.time * 1e3)
    assert triton.testing.do_bench(lambda: twice_kernel[(1,)](x, 256, BLOCK=256), quantiles=[0.5, 0.2]) == pytest.approx([small, small])


# ---- What is told -------------------------------------------------------------------------------


@triton.jit
def unmasked_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)  # the planted mistake: no mask
    tl.store(out + at, v, mask=at < n)


def line_of(text):
    lines = pathlib.Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("chip", CHIPS)
def test_a_missing_mask_is_told_with_its_line(chip):
    ts.triton.activate(chip)
    x, out = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    with pytest.raises(ts.Fault, match="after the end of buffer argument 0 .float32 .1000,."):
        unmasked_kernel[(4,)](x, out, 1000, BLOCK=256)
    report = ts.triton.reports[-1]
    assert report is not None and report.kind == "out_of_bounds" and ts.triton.last.reports
    assert pathlib.Path(report.file).name == pathlib.Path(__file__).name
    assert report.line == line_of("# the planted mistake: no mask")


@triton.jit
def racing_kernel(x):
    tl.store(x, tl.load(x) + tl.program_id(0))  # the planted race


def test_hazards_raise_where_strict():
    x = np.zeros(1, np.int32)
    ts.triton.activate("sm_80")
    racing_kernel[(4,)](x)
    assert "global_race" in {report.kind for report in ts.triton.reports}
    assert {r.line for r in ts.triton.reports} == {line_of("# the planted race")}
    ts.triton.activate("sm_80", strict=True)
    assert ts.triton.reports == [] and ts.triton.last is None
    with pytest.raises(ts.Hazard, match="global_race"):
        racing_kernel[(4,)](x)
    assert ts.triton.last.hazards


@triton.jit
def grow_in_place_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(x + at, tl.exp(v) + v * 0.5, mask=at < n)
    tl.store(y + at, tl.where(v > 0, v, 0.0), mask=at < n)


@triton.jit
def turn_in_place_kernel(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + BLOCK - 1 - at))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("elements, warps", [(16, 1), (8, 2), (32, 4), (64, 4), (64, 8)])
def test_threads_that_load_for_nothing(chip, elements, warps):
    """Of the threads that load an element one stores it; what the others load goes nowhere."""
    ts.triton.activate(chip, strict=True, search=3)
    x, y = normal(elements), np.zeros(elements, np.float32)
    want = np.exp(wide(x)) + wide(x) * 0.5
    relu = np.where(x[:elements - 3] > 0, x[:elements - 3], 0)
    grow_in_place_kernel[(1,)](x, y, elements - 3, BLOCK=elements, num_warps=warps)
    close(x[:-3], want[:-3], 1e-5)
    assert (y[:-3] == relu).all() and ts.triton.reports == []


def test_loads_in_place_that_others_overwrite_are_told():
    ts.triton.activate("sm_90a")
    turn_in_place_kernel[(1,)](normal(128), BLOCK=128, num_warps=4)
    assert {r.kind for r in ts.triton.reports} == {"global_race"}


@triton.jit
def dot_product_kernel(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + at) * tl.load(y + at), 0))


@pytest.mark.parametrize("chip", CHIPS)
def test_sums_of_fewer_elements_than_threads(chip):
    """Warps with the same elements store the same, though lanes of one may differ by a rounding (fma)."""
    ts.triton.activate(chip, strict=True, search=3)
    x, y, out = normal(64), normal(64), np.zeros(1, np.float32)
    dot_product_kernel[(1,)](x, y, out, BLOCK=64, num_warps=4)
    close(out, [wide(x) @ wide(y)], 1e-5)


@triton.jit
def ranks_kernel(ids, counts, out, n):
    for i in range(n):
        x = tl.load(ids + i)
        at = tl.load(counts + x)
        tl.store(out + at, i)
        tl.store(counts + x, at + 1)


@pytest.mark.parametrize("warps", [1, 4])
def test_loads_that_say_where_to_store(warps):
    ts.triton.activate("sm_90a", strict=True, search=3)
    counts, out = np.array([0, 3], np.int32), np.zeros(6, np.int32)
    ranks_kernel[(1,)](np.array([0, 1, 0, 1, 1, 0], np.int32), counts, out, 6, num_warps=warps)
    assert out.tolist() == [0, 2, 5, 1, 3, 4] and counts.tolist() == [3, 6]


@triton.jit
def total_kernel(x, out, BLOCK: tl.constexpr):
    tl.atomic_add(out, tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 0))


@triton.jit
def last_one_kernel(out):
    tl.atomic_xchg(out, tl.program_id(0) + 1.0)


def test_orders_that_round_otherwise_are_no_other_result():
    ts.triton.activate("sm_90a", search=5)
    x, out = normal(8, 128), np.zeros(1, np.float32)
    total_kernel[(8,)](x, out, BLOCK=128)
    close(out, [wide(x).sum()], 1e-4)
    with pytest.raises(ts.Hazard, match="the result is another one"):
        last_one_kernel[(8,)](np.zeros(1, np.float32))


@triton.jit
def lost_lock_kernel(lock):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.program_id(0) != 1:
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0)


def test_a_lock_that_is_not_given_back_ends():
    """Triton has a barrier in each round of a spin."""
    ts.triton.activate("sm_90a")
    with pytest.raises(ts.Fault, match="endless_loop"):
        lost_lock_kernel[(3,)](np.zeros(1, np.int32))


@triton.jit
def rotate_kernel(d, n):
    p = tl.program_id(0)
    d.store([p * 16, 0], d.load([(p + 1) % n * 16, 0]))


@triton.jit
def read_written_kernel(out, back):
    at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    made = tl.make_tensor_descriptor(out, [32, 32], [32, 1], [32, 32])
    if tl.program_id(0) == 0:
        made.store([0, 0], tl.full((32, 32), 1.0, tl.float32))
    else:
        tl.store(back + at, tl.load(out + at))


@pytest.mark.parametrize("chip", TMA)
def test_what_tensor_maps_write_is_watched(chip):
    ts.triton.activate(chip)
    rotate_kernel[(4,)](TensorDescriptor.from_tensor(normal(64, 32), [16, 32]), 4)
    assert "global_race" in {r.kind for r in ts.triton.reports}
    ts.triton.activate(chip)
    read_written_kernel[(2,)](np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32))
    assert "global_race" in {r.kind for r in ts.triton.reports}


def test_what_the_compiler_leaves_out_may_be_suppressed(tmp_path):
    a, b, c = normal(128, 64, dtype=np.float16), normal(128, 64, dtype=np.float16), np.empty((128, 128), np.float16)
    words = {"BM": 128, "BN": 128, "BK": 64, "FLATTEN": False, "SPECIALIZE": False}
    ts.triton.activate("sm_100a", strict=True)
    maps = [TensorDescriptor.from_tensor(x, [128, x.shape[1]]) for x in (a, b, c)]
    with pytest.raises(ts.Hazard, match="tcgen05_fence"):
        persistent_kernel[(1,)](*maps, 128, 128, 64, **words)
    rules = tmp_path / "triton.toml"
    rules.write_text('[[suppress]]\nkind = "tcgen05_fence"\nkernel = "persistent_kernel"\nreason = "Triton emits none"\n')
    ts.triton.activate("sm_100a", strict=True, suppressions=rules)
    persistent_kernel[(1,)](*maps, 128, 128, 64, **words)
    close(c, wide(a) @ wide(b).T, 1e-2)


def test_settings_are_those_of_a_launch():
    x = np.ones(8, np.float32)
    for settings, timed in (({"record": True}, True), ({"schedule": 3}, False), ({"lazy": True}, False)):
        ts.triton.activate("sm_80", **settings)
        twice_kernel[(1,)](x, 8, BLOCK=8)
        assert (ts.triton.last.time > 0) == timed
        if "record" in settings:
            assert ts.triton.last.stats()["kernel"] == "twice_kernel"
    ts.triton.activate("sm_80", strict=True, search=3)
    add_kernel[(1,)](x, x, out := np.zeros(8, np.float32), 8, BLOCK=8)
    assert (out == 2 * x).all() and ts.triton.last.time > 0
    ts.triton.activate("sm_80", device="h200")
    assert triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"] == ts.device("h200")["processors"]
    twice_kernel[(1,)](x, 8, BLOCK=8)
    assert "H200" in ts.triton.last.device


def test_what_was_before_is_so_again():
    from triton import knobs, testing
    from triton.runtime import autotuner, jit
    def state():
        return (triton.runtime.driver._active, jit.JITFunction.run, autotuner.Autotuner.run, triton.reinterpret, testing.do_bench,
                TensorDescriptor.__post_init__, TensorDescriptor.from_tensor, knobs.runtime.add_stages_inspection_hook)
    before = state()
    with ts.triton.activate("sm_80"):
        inside = state()
        assert all(a is not b for a, b in zip(inside, before))
        ts.triton.activate("sm_90a")
    ts.triton.deactivate()
    ts.triton.deactivate()
    assert state() == before


# ---- Wrong uses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ts.triton.activate("sm_75"), "target='sm_75': sm_80, sm_90a, sm_100a"),
        (lambda: ts.triton.activate(80), "target=80: sm_80"),
        (lambda: ts.triton.activate("sm_80", seed=3), "activate.. has no seed=; it takes strict"),
        (lambda: ts.triton.activate("sm_80", device="zz"), "zz"),
        (lambda: ts.triton.activate("sm_80", strict=1), "strict=1: True or False"),
        (lambda: ts.triton.activate("sm_80", schedule="x"), "schedule"),
        (lambda: ts.triton.activate("sm_100a", device="h200"), "sm_100a"),
        (lambda: ts.triton.pointers([3]), "pointers.. of 3"),
        (lambda: ts.triton.pointers(3), "pointers.. of 3"),
    ],
)
def test_activations_that_cannot_be(call, sentence):
    before = triton.runtime.driver._active
    with pytest.raises(ts.Error, match=sentence):
        call()
    assert triton.runtime.driver._active is before


def launched(kernel, *arguments, target="sm_80", **words):
    ts.triton.activate(target, **words)
    kernel[(1,)](*arguments, BLOCK=8)


class Odd:
    dtype = np.dtype(np.float32)

    def data_ptr(self):
        return 16


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: launched(twice_kernel, np.zeros(4, complex), 4), "complex128"),
        (lambda: launched(twice_kernel, [1.0, 2.0], 2), "twice_kernel takes no argument of type list: NumPy's arrays"),
        (lambda: launched(twice_kernel, "x", 2), "twice_kernel takes no argument of type str: NumPy's arrays"),
        (lambda: launched(twice_kernel, Odd(), 4), "x is a Odd: a pointer is one of NumPy's arrays"),
        (lambda: TensorDescriptor(ts.triton.activate("sm_90a") and np.zeros((16, 16), np.int32), [16, 16], [16, 1], [8, 8],
                                  padding="nan"), "only floating types have a NaN"),
        (lambda: ts.triton.activate("sm_80") and triton.testing.do_bench(lambda: None), "nothing was launched"),
        (lambda: ts.triton.activate("sm_80", lazy=True) and triton.testing.do_bench(
            lambda: twice_kernel[(1,)](np.zeros(8, np.float32), 8, BLOCK=8)), "do_bench needs predicted time"),
    ],
)
def test_launches_that_cannot_be(call, sentence):
    with pytest.raises(ts.Error, match=sentence):
        call()


def test_grids_that_cannot_be():
    ts.triton.activate("sm_80")
    x = np.ones(8, np.float32)
    with pytest.raises(ts.Error, match="grid=.1.5, 1, 1.: whole numbers of programs"):
        twice_kernel[(1.5,)](x, 8, BLOCK=8)
    for grid in (8, None, (), (1, 1, 1, 1)):
        with pytest.raises(ts.Error, match="one to three numbers of programs are needed, as in twice_kernel"):
            twice_kernel[grid](x, 8, BLOCK=8)
    kernel = twice_kernel[(0,)](x, 8, BLOCK=8)  # nothing to do
    assert (x == 1).all() and ts.triton.last is None
    twice_kernel[(np.int64(1),)](x, np.int32(8), BLOCK=8)
    assert (x == 2).all()
    kernel._init_handles()
    ts.triton.deactivate()
    with pytest.raises(ts.Error, match="compiled for the simulator, which is not active"):
        kernel.run(1, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, x, 8, 8)


def test_types_of_other_packages():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: its arrays are not tried")
    ts.triton.activate("sm_90a")
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        x, out = np.array([1, -2, 0.5, 6], dtype), np.zeros(4, dtype)
        copy_kernel[(1,)](x, out, BLOCK=4)
        assert (out == x).all()


def test_many_launches_need_no_more_memory():
    ts.triton.activate("sm_80")
    x = np.zeros(64, np.float32)

    def launch(times):
        for _ in range(times):
            twice_kernel[(1,)](x, 64, BLOCK=64)
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    before = launch(300)
    assert launch(2000) - before < 4 << 20


def test_a_read_only_array_stays():
    ts.triton.activate("sm_80")
    x = np.ones(8, np.float32)
    x.flags.writeable = False
    with pytest.raises(ts.Error, match="read-only"):
        twice_kernel[(1,)](x, 8, BLOCK=8)
    assert (x == 1).all()


# ---- With and without torch ---------------------------------------------------------------------


def test_tensors_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed: its tensors are not tried")
    ts.triton.activate("sm_90a", strict=True)
    x, y = torch.rand(1000), torch.rand(1000)
    out = torch.empty_like(x)
    add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
    assert torch.equal(out, x + y)
    for dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.int64):
        z = torch.tensor([1.0, -2, 3, 4]).to(dtype)
        copied = torch.zeros(4).to(dtype)
        copy_kernel[(1,)](z, copied, BLOCK=4)
        assert torch.equal(copied.to(torch.float32), z.to(torch.float32))
    a, b = torch.randn(128, 64, dtype=torch.float16), torch.randn(128, 64, dtype=torch.float16)
    c = torch.empty(128, 128, dtype=torch.float16)
    maps = [TensorDescriptor.from_tensor(t, [128, 64 if t is not c else 128]) for t in (a, b, c)]
    ts.triton.activate("sm_90a")
    persistent_kernel[(1,)](*maps, 128, 128, 64, BM=128, BN=128, BK=64, FLATTEN=False, SPECIALIZE=False)
    torch.testing.assert_close(c.float(), a.float() @ b.float().T, atol=2e-2, rtol=2e-2)
    assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cpu")


@triton.jit
def copy_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import tilescope as ts
assert not {"numpy", "triton"} & set(sys.modules)
sys.path.insert(0, sys.argv[1])
import test_triton
test_triton.test_vector_add("sm_80")
test_triton.test_matmul_is_autotuned_by_predicted_time("sm_90a")
test_triton.test_persistent_matmul_with_descriptors("sm_100a", False)
test_triton.test_do_bench_is_predicted_time()
assert sys.modules["torch"] is None
print("right")
"""


def test_torch_is_not_needed():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, str(pathlib.Path(__file__).parent)], capture_output=True, text=True)
    assert done.stdout == "right\n", done.stderr


def test_a_recorded_launch_has_a_timeline_and_steps():
    ts.triton.activate("sm_90a", record=True)
    x, y = normal(1000), normal(1000)
    out = np.zeros(1000, np.float32)
    add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
    run = ts.triton.last
    assert "add_kernel" in run.timeline().html
    lines = add_kernel.fn.__code__.co_firstlineno, add_kernel.fn.__code__.co_firstlineno + 4
    steps = run.step(block=3).forward(by="line")
    assert steps.where.file == __file__ and lines[0] <= steps.where.line <= lines[1]
    while not steps.where.instruction.startswith("@%p") or "st.global" not in steps.where.instruction:
        steps.forward()
    assert any(array.dtype == np.uint64 for array in steps.registers.values())  # addresses
    assert steps.back().where.line <= lines[1] and (out == x + y).all()


@triton.jit
def copied_by_descriptors(a, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    from_a = tl.make_tensor_descriptor(a, [M, N], [N, 1], [BM, BN])
    to_o = tl.make_tensor_descriptor(o, [M, N], [N, 1], [BM, BN])
    to_o.store([0, 0], from_a.load([0, 0]))


def test_descriptors_of_bytes_on_the_device():
    a = np.arange(32 * 64, dtype=np.uint8).reshape(32, 64)
    o = np.zeros_like(a)
    with ts.triton.activate("sm_90a"):
        copied_by_descriptors[(1,)](a, o, 32, 64, BM=32, BN=64)
    assert (a == o).all()


@triton.jit
def product_in_f16(a, b, o):
    r = tl.arange(0, 64)
    at = r[:, None] * 64 + r[None, :]
    tl.store(o + at, tl.dot(tl.load(a + at), tl.load(b + at), out_dtype=tl.float16))


def test_half_an_accumulator_in_tensor_memory():
    a = np.eye(64, dtype=np.float16)
    o = np.zeros_like(a)
    with ts.triton.activate("sm_100a"):
        product_in_f16[(1,)](a, a, o)
    assert (o == a).all()


@triton.jit
def ones_of_eight_bits(x):
    tl.store(x + tl.arange(0, 16), tl.full([16], 1.0, tl.float32).to(tl.float8e4nv))


def test_a_pair_of_which_one_is_nobodys():
    x = np.zeros(16, np.uint8)
    with ts.triton.activate("sm_100a"):
        ones_of_eight_bits[(1,)](triton.reinterpret(x, tl.float8e4nv))
        assert (x == 56).all() and not ts.triton.reports
