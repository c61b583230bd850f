"""Kernels in TileLang's own manner, one of each kind that its examples have, written for this suite:
`python tilelang_kernels.py NAME`. Compared with NumPy."""

import sys

import numpy as np
import tilelang
import tilelang.language as T
import torch

rng = np.random.default_rng(23)


def normal(*shape, dtype=torch.float16):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).to(dtype).to("cuda")


def f64(tensor):
    return tensor.detach().to(torch.float32).numpy().astype(np.float64)


def close(got, want, rtol=2e-2, atol=2e-2):
    got = f64(got)
    bad = ~(np.abs(got - want) <= atol + rtol * np.abs(want))
    assert not bad.any(), f"{bad.sum()} of {bad.size} are wrong, first at {np.argwhere(bad)[0]}: {got[bad][0]} for {want[bad][0]}"


@tilelang.jit(out_idx=[-1])
def gemm_of(m, n, k, bm, bn, bk, stages, transposed, dtype="float16", threads=128):
    @T.prim_func
    def main(a: T.Tensor((m, k), dtype), b: T.Tensor((n, k) if transposed else (k, n), dtype), c: T.Tensor((m, n), "float16")):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=threads) as (bx, by):
            sa = T.alloc_shared((bm, bk), dtype)
            sb = T.alloc_shared((bn, bk) if transposed else (bk, bn), dtype)
            acc = T.alloc_fragment((bm, bn), "float")
            T.clear(acc)
            for i in T.Pipelined(T.ceildiv(k, bk), num_stages=stages):
                T.copy(a[by * bm, i * bk], sa)
                if transposed:
                    T.copy(b[bx * bn, i * bk], sb)
                else:
                    T.copy(b[i * bk, bx * bn], sb)
                T.gemm(sa, sb, acc, transpose_B=transposed)
            T.copy(acc, c[by * bm, bx * bn])
    return main


def gemm():
    a, b = normal(256, 128), normal(128, 256)
    close(gemm_of(256, 256, 128, 128, 128, 32, 3, False)(a, b), f64(a) @ f64(b))


def gemm_transposed():
    a, b = normal(128, 256), normal(192, 256)
    close(gemm_of(128, 192, 256, 64, 64, 64, 2, True)(a, b), f64(a) @ f64(b).T)


def gemm_bf16():
    a, b = normal(128, 128, dtype=torch.bfloat16), normal(128, 128, dtype=torch.bfloat16)
    close(gemm_of(128, 128, 128, 128, 128, 32, 2, False, "bfloat16", 256)(a, b), f64(a) @ f64(b))


@tilelang.jit(out_idx=[-1])
def split_of(m, n, k, bm, bn, bk, split):
    @T.prim_func
    def main(a: T.Tensor((m, k), "float16"), b: T.Tensor((k, n), "float16"), c: T.Tensor((split, m, n), "float")):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), split, threads=128) as (bx, by, bz):
            sa = T.alloc_shared((bm, bk), "float16")
            sb = T.alloc_shared((bk, bn), "float16")
            acc = T.alloc_fragment((bm, bn), "float")
            T.clear(acc)
            for i in T.Pipelined(k // split // bk, num_stages=2):
                T.copy(a[by * bm, bz * (k // split) + i * bk], sa)
                T.copy(b[bz * (k // split) + i * bk, bx * bn], sb)
                T.gemm(sa, sb, acc)
            T.copy(acc, c[bz, by * bm, bx * bn])
    return main


def gemm_split_k():
    a, b = normal(128, 256), normal(256, 128)
    close(split_of(128, 128, 256, 64, 64, 32, 4)(a, b).sum(0), f64(a) @ f64(b))


@tilelang.jit(out_idx=[-1])
def dequant_of(m, n, k, bm, bn, bk):
    @T.prim_func
    def main(a: T.Tensor((m, k), "float16"), b: T.Tensor((n, k // 2), "uint8"), c: T.Tensor((m, n), "float16")):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=128) as (bx, by):
            sa = T.alloc_shared((bm, bk), "float16")
            sb = T.alloc_shared((bn, bk // 2), "uint8")
            packed = T.alloc_fragment((bn, bk // 2), "uint8")
            wide = T.alloc_fragment((bn, bk), "float16")
            sw = T.alloc_shared((bn, bk), "float16")
            acc = T.alloc_fragment((bm, bn), "float")
            T.clear(acc)
            for i in T.Pipelined(T.ceildiv(k, bk), num_stages=2):
                T.copy(a[by * bm, i * bk], sa)
                T.copy(b[bx * bn, i * bk // 2], sb)
                T.copy(sb, packed)
                for r, x in T.Parallel(bn, bk):
                    wide[r, x] = T.cast((packed[r, x // 2] >> ((x % 2) * 4)) & T.uint8(15), "float16") - T.float16(8)
                T.copy(wide, sw)
                T.gemm(sa, sw, acc, transpose_B=True)
            T.copy(acc, c[by * bm, bx * bn])
    return main


def gemm_dequantised_int4():
    a = normal(64, 128)
    b = torch.from_numpy(rng.integers(0, 256, (64, 64), dtype=np.uint8)).to("cuda")
    w = np.stack([b.numpy() & 15, b.numpy() >> 4], -1).reshape(64, 128).astype(np.float64) - 8
    close(dequant_of(64, 64, 128, 64, 64, 64)(a, b), f64(a) @ w.T, 2e-2, 1e-1)


@tilelang.jit(out_idx=[-1])
def rms_of(m, n, rows):
    @T.prim_func
    def main(x: T.Tensor((m, n), "float"), y: T.Tensor((m, n), "float")):
        with T.Kernel(T.ceildiv(m, rows), threads=128) as bx:
            shared = T.alloc_shared((rows, n), "float")
            square = T.alloc_fragment((rows, n), "float")
            local = T.alloc_fragment((rows, n), "float")
            total = T.alloc_fragment((rows,), "float")
            T.copy(x[bx * rows, 0], shared)
            T.copy(shared, local)
            for i, j in T.Parallel(rows, n):
                square[i, j] = local[i, j] * local[i, j]
            T.reduce_sum(square, total, dim=1)
            for i in T.Parallel(rows):
                total[i] = T.rsqrt(total[i] / n + 1e-6)
            for i, j in T.Parallel(rows, n):
                local[i, j] *= total[i]
            T.copy(local, y[bx * rows, 0])
    return main


def rms_norm():
    x = normal(16, 512, dtype=torch.float32)
    close(rms_of(16, 512, 4)(x), f64(x) / np.sqrt((f64(x) ** 2).mean(1, keepdims=True) + 1e-6), 1e-4, 1e-4)


@tilelang.jit(out_idx=[-1])
def add_of(m, n, bm, bn):
    @T.prim_func
    def main(a: T.Tensor((m, n), "float"), b: T.Tensor((m, n), "float"), c: T.Tensor((m, n), "float")):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=128) as (bx, by):
            for i, j in T.Parallel(bm, bn):
                c[by * bm + i, bx * bn + j] = a[by * bm + i, bx * bn + j] + b[by * bm + i, bx * bn + j]
    return main


def elementwise_add():
    a, b = normal(96, 160, dtype=torch.float32), normal(96, 160, dtype=torch.float32)
    close(add_of(96, 160, 32, 32)(a, b), f64(a) + f64(b), 1e-6, 1e-6)


@tilelang.jit(out_idx=[-1])
def attention_of(batch, heads, length, d, causal, bm, bn):
    scale = (1.0 / d) ** 0.5 * 1.44269504
    shape = (batch, length, heads, d)

    @T.prim_func
    def main(q: T.Tensor(shape, "float16"), k: T.Tensor(shape, "float16"), v: T.Tensor(shape, "float16"),
             out: T.Tensor(shape, "float16")):
        with T.Kernel(T.ceildiv(length, bm), heads, batch, threads=128) as (bx, by, bz):
            sq = T.alloc_shared((bm, d), "float16")
            sk = T.alloc_shared((bn, d), "float16")
            sv = T.alloc_shared((bn, d), "float16")
            s = T.alloc_fragment((bm, bn), "float")
            p = T.alloc_fragment((bm, bn), "float16")
            acc = T.alloc_fragment((bm, d), "float")
            top = T.alloc_fragment((bm,), "float")
            before = T.alloc_fragment((bm,), "float")
            shrink = T.alloc_fragment((bm,), "float")
            part = T.alloc_fragment((bm,), "float")
            total = T.alloc_fragment((bm,), "float")
            T.copy(q[bz, bx * bm:(bx + 1) * bm, by, :], sq)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float"))
            steps = T.ceildiv((bx + 1) * bm, bn) if causal else T.ceildiv(length, bn)
            for i in T.Pipelined(steps, num_stages=2):
                T.copy(k[bz, i * bn:(i + 1) * bn, by, :], sk)
                if causal:
                    for x, y in T.Parallel(bm, bn):
                        s[x, y] = T.if_then_else(bx * bm + x >= i * bn + y, 0, -T.infinity("float"))
                else:
                    T.clear(s)
                T.gemm(sq, sk, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.fill(top, -T.infinity("float"))
                T.reduce_max(s, top, dim=1, clear=False)
                for x in T.Parallel(bm):
                    top[x] = T.max(top[x], before[x])
                    shrink[x] = T.exp2(before[x] * scale - top[x] * scale)
                for x, y in T.Parallel(bm, bn):
                    s[x, y] = T.exp2(s[x, y] * scale - top[x] * scale)
                T.reduce_sum(s, part, dim=1)
                for x in T.Parallel(bm):
                    total[x] = total[x] * shrink[x] + part[x]
                T.copy(s, p)
                for x, y in T.Parallel(bm, d):
                    acc[x, y] *= shrink[x]
                T.copy(v[bz, i * bn:(i + 1) * bn, by, :], sv)
                T.gemm(p, sv, acc, policy=T.GemmWarpPolicy.FullRow)
            for x, y in T.Parallel(bm, d):
                acc[x, y] /= total[x]
            T.copy(acc, out[bz, bx * bm:(bx + 1) * bm, by, :])
    return main


def attention_with(causal):
    q, k, v = (normal(1, 128, 2, 64) for _ in range(3))
    out = attention_of(1, 2, 128, 64, causal, 64, 64)(q, k, v)
    s = np.einsum("bmhd,bnhd->bhmn", f64(q), f64(k)) / 8
    if causal:
        s = np.where(np.tri(128, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    close(out, np.einsum("bhmn,bnhd->bmhd", p / p.sum(-1, keepdims=True), f64(v)))


def attention():
    attention_with(False)


def attention_causal():
    attention_with(True)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("PASS")
