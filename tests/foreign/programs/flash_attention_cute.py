"""FlashAttention's kernels in CuTeDSL, called as a user calls them: `python flash_attention_cute.py SOURCES NAME`. The
results are compared with attention calculated by NumPy in double precision."""

import os
import sys
import types

import numpy as np
import torch

SOURCES = sys.argv[1]
package = types.ModuleType("flash_attn")  # without its __init__, which wants the compiled extension
package.__path__ = [os.path.join(SOURCES, "flash-attention", "flash_attn")]
sys.modules["flash_attn"] = package
from flash_attn.cute import interface  # noqa: E402

rng = np.random.default_rng(11)


def normal(*shape, dtype=torch.bfloat16):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).to(dtype).to("cuda")


def f64(tensor):
    return tensor.detach().to(torch.float32).numpy().astype(np.float64)


def close(got, want, atol):
    got = f64(got)
    assert got.shape == want.shape, (got.shape, want.shape)
    off = np.abs(got - want)
    assert np.isfinite(got).all() and off.max() <= atol, f"off by {off.max()} at {np.unravel_index(off.argmax(), off.shape)}"


def attention(q, k, v, causal, window=None):
    """Output and probabilities, of (batch, length, heads, d)."""
    heads = q.shape[2] // k.shape[2]
    k, v = (np.repeat(t, heads, axis=2) for t in (k, v))
    s = np.einsum("bmhd,bnhd->bhmn", q, k) / np.sqrt(q.shape[-1])
    m, n = s.shape[-2:]
    i, j = np.arange(m)[:, None] + n - m, np.arange(n)[None, :]
    if causal:
        s = np.where(j <= i, s, -np.inf)
    if window is not None:
        s = np.where((j >= i - window) & (j <= i), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.einsum("bhmn,bnhd->bmhd", p, v), p


def forward(d=128, m=256, n=256, heads=2, kv_heads=2, causal=False, dtype=torch.bfloat16, **more):
    q, k, v = normal(1, m, heads, d, dtype=dtype), normal(1, n, kv_heads, d, dtype=dtype), normal(1, n, kv_heads, d, dtype=dtype)
    out, *_ = interface.flash_attn_func(q, k, v, causal=causal, **more)
    window = more.get("window_size")
    close(out, attention(f64(q), f64(k), f64(v), causal, window[0] if window else None)[0], 2e-2)


def full():
    forward()


def causal():
    forward(causal=True)


def d64_f16():
    forward(d=64, dtype=torch.float16)


def grouped_heads():
    forward(heads=4, kv_heads=1, causal=True, m=128)


def uneven():
    forward(m=113, n=203, causal=True)


def window():
    forward(causal=True, window_size=(100, 0))


def split():
    forward(m=128, n=512, num_splits=2)


def d256():
    forward(d=256)


def varlen():
    lengths = [100, 156]
    starts = torch.tensor([0, 100, 256], dtype=torch.int32, device="cuda")
    q, k, v = (normal(256, 2, 128) for _ in range(3))
    out, *_ = interface.flash_attn_varlen_func(q, k, v, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=156,
                                               max_seqlen_k=156, causal=True)
    parts = [attention(*(f64(t)[None, a:a + n] for t in (q, k, v)), True)[0][0] for a, n in zip((0, 100), lengths)]
    close(out, np.concatenate(parts), 2e-2)


def backward():
    q, k, v = (normal(1, 128, 1, 64).requires_grad_() for _ in range(3))
    out, *_ = interface.flash_attn_func(q, k, v, causal=True)
    do = normal(1, 128, 1, 64)
    out.backward(do)
    a, b, c, d = (f64(t) for t in (q, k, v, do))
    o, p = attention(a, b, c, True)
    dp = np.einsum("bmhd,bnhd->bhmn", d, c)
    ds = p * (dp - np.einsum("bmhd,bmhd->bhm", d, o)[..., None]) / 8
    close(v.grad, np.einsum("bhmn,bmhd->bnhd", p, d), 5e-2)
    close(q.grad, np.einsum("bhmn,bnhd->bmhd", ds, b), 5e-2)
    close(k.grad, np.einsum("bhmn,bmhd->bnhd", ds, a), 5e-2)


if __name__ == "__main__":
    globals()[sys.argv[2]]()
    print("PASS")
