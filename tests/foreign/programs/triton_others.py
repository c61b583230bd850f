"""Other projects' Triton kernels, called as these projects call them: `python triton_others.py SOURCES NAME`.
Each result is compared with one calculated by NumPy, in double precision."""

import importlib.util
import os
import sys
import types

import numpy as np
import torch

SOURCES = sys.argv[1]
rng = np.random.default_rng(3)


def package(name, *place):
    """A package without its __init__, which would want what is not here."""
    module = types.ModuleType(name)
    module.__path__ = [os.path.join(SOURCES, *place)]
    sys.modules[name] = module
    return module


def load(*place):
    """One file as a module."""
    path = os.path.join(SOURCES, *place)
    spec = importlib.util.spec_from_file_location(place[-1].removesuffix(".py"), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def normal(*shape, dtype=torch.float32, scale=1.0):
    return torch.from_numpy((scale * rng.standard_normal(shape)).astype(np.float32)).to(dtype).to("cuda")


def f64(tensor):
    return tensor.detach().to(torch.float32).numpy().astype(np.float64)


def close(got, want, rtol=1e-2, atol=1e-2):
    got = f64(got)
    assert got.shape == want.shape, (got.shape, want.shape)
    bad = ~(np.abs(got - want) <= atol + rtol * np.abs(want))
    assert not bad.any(), f"{bad.sum()} of {bad.size} are wrong, first at {np.argwhere(bad)[0]}: {got[bad][0]} for {want[bad][0]}"


# ---- FlashAttention -----------------------------------------------------------------------------


def flash_attn(name):
    package("flash_attn", "flash-attention", "flash_attn")
    package("flash_attn.ops", "flash-attention", "flash_attn", "ops")
    package("flash_attn.ops.triton", "flash-attention", "flash_attn", "ops", "triton")
    import importlib
    return importlib.import_module("flash_attn." + name)


def fa_layer_norm():
    x, w, b = normal(12, 384, dtype=torch.float16), normal(384), normal(384)
    out = flash_attn("ops.triton.layer_norm").layer_norm_fn(x, w, b, eps=1e-5)
    v = f64(x)
    close(out, (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * f64(w) + f64(b))


def fa_rms_norm_residual():
    x, r, w = normal(12, 384, dtype=torch.float16), normal(12, 384, dtype=torch.float16), normal(384)
    out, total = flash_attn("ops.triton.layer_norm").rms_norm_fn(x, w, None, residual=r, prenorm=True, eps=1e-5)
    v = f64(x) + f64(r)
    close(total, v)
    close(out, v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-5) * f64(w))


def fa_layer_norm_backward():
    x, w, b = normal(12, 256).requires_grad_(), normal(256).requires_grad_(), normal(256).requires_grad_()
    dy = normal(12, 256)
    flash_attn("ops.triton.layer_norm").layer_norm_fn(x, w, b, eps=1e-5).backward(dy)
    v, d, g = f64(x), f64(dy), f64(w)
    s = np.sqrt(v.var(1, keepdims=True) + 1e-5)
    h = (v - v.mean(1, keepdims=True)) / s
    t = d * g
    close(x.grad, (t - t.mean(1, keepdims=True) - h * (t * h).mean(1, keepdims=True)) / s, 1e-3, 1e-3)
    close(w.grad, (d * h).sum(0), 1e-3, 1e-3)
    close(b.grad, d.sum(0), 1e-3, 1e-3)


def rotary(module):
    x, angle = normal(2, 20, 3, 64, dtype=torch.float16), rng.uniform(0, 6, (20, 32))
    cos, sin = (torch.from_numpy(f(angle).astype(np.float32)).to(torch.float16).to("cuda") for f in (np.cos, np.sin))
    out = module.apply_rotary(x, cos, sin)
    a, b = f64(x)[..., :32], f64(x)[..., 32:]
    c, s = f64(cos)[None, :, None], f64(sin)[None, :, None]
    close(out, np.concatenate([a * c - b * s, a * s + b * c], -1))


def fa_rotary():
    rotary(flash_attn("ops.triton.rotary"))


def tk_rotary():
    rotary(load("ThunderKittens", "kernels", "rotary", "baselines", "triton_rotary.py"))


def fa_cross_entropy():
    logits = normal(10, 700).requires_grad_()
    labels = torch.from_numpy(rng.integers(0, 700, 10)).to("cuda")
    losses, _ = flash_attn("ops.triton.cross_entropy").cross_entropy_loss(logits, labels, label_smoothing=0.1)
    losses.sum().backward()
    v, at = f64(logits), labels.numpy()
    top = v.max(1, keepdims=True)
    lse = np.log(np.exp(v - top).sum(1)) + top[:, 0]
    rows = np.arange(10)
    close(losses, lse - 0.9 * v[rows, at] - 0.1 * v.mean(1), 1e-4, 1e-4)
    grad = np.exp(v - lse[:, None]) - 0.1 / 700
    grad[rows, at] -= 0.9
    close(logits.grad, grad, 1e-3, 1e-5)


# ---- flashinfer ---------------------------------------------------------------------------------


def flashinfer(name):
    package("flashinfer", "flashinfer", "flashinfer")
    package("flashinfer.triton", "flashinfer", "flashinfer", "triton")
    package("flashinfer.triton.kernels", "flashinfer", "flashinfer", "triton", "kernels")
    utils = types.ModuleType("flashinfer.utils")
    utils.get_compute_capability = lambda device: torch.cuda.get_device_capability()
    utils.GPUArchitectureError = RuntimeError
    sys.modules["flashinfer.utils"] = utils
    import importlib
    return importlib.import_module("flashinfer.triton." + name)


def fi_silu_and_mul():
    x = normal(6, 1024, dtype=torch.float16)
    out = flashinfer("activation").silu_and_mul(x)
    a, b = f64(x)[:, :512], f64(x)[:, 512:]
    close(out, a / (1 + np.exp(-a)) * b)


def fi_rms_norm():
    x, w = normal(6, 512, dtype=torch.float16), normal(512, dtype=torch.float16)
    out = torch.empty_like(x)
    flashinfer("norm").rms_norm(x, w, out, 1e-6)
    close(out, f64(x) / np.sqrt((f64(x) ** 2).mean(1, keepdims=True) + 1e-6) * f64(w))


def fi_merge_state():
    va, vb = normal(9, 4, 64, dtype=torch.float16), normal(9, 4, 64, dtype=torch.float16)
    sa, sb = normal(9, 4), normal(9, 4)
    v, s = flashinfer("cascade").merge_state(va, sa, vb, sb)
    a, b = np.exp2(f64(sa)), np.exp2(f64(sb))  # flashinfer's log-sum-exp are to the base 2
    close(v, (f64(va) * a[..., None] + f64(vb) * b[..., None]) / (a + b)[..., None])
    close(s, np.log2(a + b))


def fi_merge_states():
    v, s = normal(5, 6, 4, 64, dtype=torch.float16), normal(5, 6, 4)
    out, total = flashinfer("cascade").merge_states(v, s)
    w = np.exp2(f64(s))
    close(out, (f64(v) * w[..., None]).sum(1) / w.sum(1)[..., None])
    close(total, np.log2(w.sum(1)))


def fi_gemm(function, **more):
    a, b = normal(200, 128, dtype=torch.float16), normal(128, 256, dtype=torch.float16)
    given = b.T.contiguous() if function == "gemm_descriptor_persistent" else b
    out = getattr(flashinfer("sm_constraint_gemm"), function)(a, given, c=torch.zeros(200, 256, dtype=torch.float16), alpha=0.5, **more)  # it reads C, also where beta is 0
    close(out, 0.5 * (f64(a) @ f64(b)), 2e-2, 2e-2)


def fi_gemm_persistent():
    fi_gemm("gemm_persistent", num_sms=4)


def fi_gemm_plain():
    fi_gemm("gemm")


def fi_gemm_descriptor_persistent():
    fi_gemm("gemm_descriptor_persistent", num_sms=4)


def mamba(name):
    package("triton_reference", "flashinfer", "tests", "mamba", "triton_reference")
    import importlib
    return importlib.import_module("triton_reference." + name)


def mamba_bmm_chunk():
    a, b = normal(1, 128, 2, 64, dtype=torch.float16), normal(1, 128, 2, 64, dtype=torch.float16)
    out = mamba("ssd_bmm")._bmm_chunk_fwd(a, b, 64, output_dtype=torch.float32)
    x, y = (f64(t).reshape(1, 2, 64, 2, 64) for t in (a, b))
    close(out, np.einsum("bcmgk,bcngk->bcgmn", x, y), 1e-3, 1e-3)


def mamba_state_update():
    state, x, z = normal(2, 4, 64, 16), normal(2, 4, 64), normal(2, 4, 64)
    dt, a, b, c, d, bias = normal(2, 4, 64), -normal(4, 64, 16).abs(), normal(2, 1, 16), normal(2, 1, 16), normal(4, 64), normal(4, 64)
    before = f64(state)
    out = torch.empty_like(x)
    mamba("selective_state_update").selective_state_update_triton(
        state, x, dt, a, b, c, D=d, z=z, dt_bias=bias, dt_softplus=True, out=out)
    step = np.log1p(np.exp(f64(dt) + f64(bias)))
    after = before * np.exp(step[..., None] * f64(a)) + (step * f64(x))[..., None] * f64(b)[:, :, None, :]
    y = (after * f64(c)[:, :, None, :]).sum(-1) + f64(d) * f64(x)
    close(state, after, 1e-3, 1e-3)
    close(out, y * f64(z) / (1 + np.exp(-f64(z))), 1e-3, 1e-3)


def mamba_chunk_cumsum_state():
    module = mamba("ssd_chunk_state")
    b, x, dt, a = normal(1, 128, 1, 32, dtype=torch.float16), normal(1, 128, 2, 64, dtype=torch.float16), normal(1, 128, 2).abs(), -normal(2).abs()
    sums, dt_out = module._chunk_cumsum_fwd(dt, a, 64)
    want = f64(dt).reshape(1, 2, 64, 2).transpose(0, 3, 1, 2)
    total = np.cumsum(want * f64(a)[None, :, None, None], -1)
    close(dt_out, want, 1e-5, 1e-5)
    close(sums, total, 1e-4, 1e-4)
    states = module._chunk_state_fwd(b, x, dt_out, sums)
    scale = want * np.exp(total[..., -1:] - total)
    xs, bs = f64(x).reshape(1, 2, 64, 2, 64), f64(b).reshape(1, 2, 64, 32)
    close(states, np.einsum("bhcl,bclhp,bcln->bchpn", scale, xs, bs), 2e-2, 2e-2)


# ---- learn-cuda, DeepGEMM -----------------------------------------------------------------------


def lc_gemv():
    a, b = normal(1, 1024, dtype=torch.bfloat16), normal(96, 1024, dtype=torch.bfloat16).T
    close(load("learn-cuda", "11_gemv", "triton_v1.py").triton_v1(a, b), f64(a) @ f64(b), 2e-2, 2e-1)


def lc_matmul():
    a, b = normal(70, 50), normal(50, 90)
    close(load("learn-cuda", "02a_matmul_simt", "matmul_triton.py").matmul(a, b), f64(a) @ f64(b), 1e-4, 1e-4)


def lc_matmul_grouped():
    a, b = normal(128, 64, dtype=torch.float16), normal(64, 256, dtype=torch.float16)
    close(load("learn-cuda", "02a_matmul_simt", "matmul_triton.py").matmul_ref(a, b), f64(a) @ f64(b))


def deepgemm(name):
    package("deep_gemm", "DeepGEMM", "deep_gemm")
    package("deep_gemm.legacy", "DeepGEMM", "deep_gemm", "legacy")
    native = types.ModuleType("deep_gemm._C")
    native.get_num_sms = lambda: 4
    native.set_num_sms = lambda count: None
    native.get_tc_util = lambda: 100
    native.get_mk_alignment_for_contiguous_layout = lambda: 128
    sys.modules["deep_gemm._C"] = native
    import importlib
    return importlib.import_module("deep_gemm.legacy." + name)


def dg_m_grouped():
    a, b = normal(512, 128, dtype=torch.bfloat16), normal(2, 192, 128, dtype=torch.bfloat16)
    d = torch.empty(512, 192, dtype=torch.bfloat16)
    groups = torch.from_numpy(np.repeat([0, 1], 256).astype(np.int32)).to("cuda")
    deepgemm("m_grouped_gemm").m_grouped_bf16_gemm_nt_contiguous_tl(a, b, d, groups)
    close(d, np.concatenate([f64(a)[:256] @ f64(b)[0].T, f64(a)[256:] @ f64(b)[1].T]), 2e-2, 1e-1)


if __name__ == "__main__":
    globals()[sys.argv[2]]()
    print("PASS")
