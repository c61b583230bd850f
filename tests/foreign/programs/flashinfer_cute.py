"""flashinfer's kernels in CuTeDSL: `python flashinfer_cute.py SOURCES NAME`. Compared with NumPy."""

import importlib
import os
import sys
import types

import numpy as np
import torch

SOURCES = sys.argv[1]
rng = np.random.default_rng(17)


def package(name, *place):
    """A package without its __init__, which wants the compiled extension."""
    module = types.ModuleType(name)
    module.__path__ = [os.path.join(SOURCES, "flashinfer", "flashinfer", *place)]
    sys.modules[name] = module
    return module


package("flashinfer")
for part in ("norm", "quantization", "gemm", "cute_dsl", "jit", "trace", "trace.templates"):
    package(f"flashinfer.{part}", *part.split("."))
utils = types.ModuleType("flashinfer.utils")
utils.device_support_pdl = lambda device: False
utils.get_compute_capability = lambda device: torch.cuda.get_device_capability()
utils.supported_compute_capability = lambda *a, **k: lambda function: function
utils.round_up = lambda x, y: (x + y - 1) // y * y
utils.ceil_div = lambda x, y: (x + y - 1) // y
utils.get_device_sm_count = lambda device: torch.cuda.get_device_properties(device).multi_processor_count
sys.modules["flashinfer.utils"] = utils
jit = types.ModuleType("flashinfer.jit.cute_dsl_core")
jit.build_and_load_cute_dsl_kernel = lambda module_name, kernel_name, compile_fn, extra_key_files=(): compile_fn()
sys.modules["flashinfer.jit.cute_dsl_core"] = jit
logging = types.ModuleType("flashinfer.api_logging")
logging.flashinfer_api = lambda function=None, **more: function if callable(function) else (lambda f: f)
sys.modules["flashinfer.api_logging"] = logging


class Traces(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


for part in ("norm", "quantize", "gemm", "activation", "attention"):
    sys.modules[f"flashinfer.trace.templates.{part}"] = Traces(part)


def module(name):
    return importlib.import_module("flashinfer." + name)


def normal(*shape, dtype=torch.bfloat16):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).to(dtype).to("cuda")


def f64(tensor):
    return tensor.detach().to(torch.float32).numpy().astype(np.float64)


def close(got, want, rtol=2e-2, atol=2e-2):
    got = f64(got) if isinstance(got, torch.Tensor) else got
    assert got.shape == want.shape, (got.shape, want.shape)
    bad = ~(np.abs(got - want) <= atol + rtol * np.abs(want))
    assert not bad.any(), f"{bad.sum()} of {bad.size} are wrong, first at {np.argwhere(bad)[0]}: {got[bad][0]} for {want[bad][0]}"


def rms(x, w, eps=1e-6):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


# ---- Norms --------------------------------------------------------------------------------------


def rmsnorm():
    x, w = normal(5, 2048), normal(2048)
    out = torch.empty_like(x)
    module("norm.kernels.rmsnorm").rmsnorm_cute(x, w, out)
    close(out, rms(f64(x), f64(w)))


def rmsnorm_strided():
    x, w = normal(5, 2, 1024)[:, 0], normal(1024)
    out = torch.empty(5, 1024, dtype=torch.bfloat16)
    module("norm.kernels.rmsnorm").rmsnorm_cute(x, w, out)
    close(out, rms(f64(x), f64(w)))


def rmsnorm_large():
    x, w = normal(4, 16384), normal(16384)
    out = torch.empty_like(x)
    module("norm.kernels.rmsnorm").rmsnorm_cute(x, w, out)
    close(out, rms(f64(x), f64(w)))


def qk_rmsnorm():
    x, w = normal(5, 4, 128), normal(128)
    out = torch.empty_like(x)
    module("norm.kernels.rmsnorm").qk_rmsnorm_cute(x, w, out)
    close(out, rms(f64(x), f64(w)))


def rmsnorm_quant():
    x, w, scale = normal(5, 1024), normal(1024), torch.tensor([0.25])
    out = torch.empty(5, 1024, dtype=torch.float8_e4m3fn)
    module("norm.kernels.rmsnorm").rmsnorm_quant_cute(out, x, w, scale)
    close(out, np.clip(rms(f64(x), f64(w)) / 0.25, -448, 448), 7e-2, 2e-2)


def fused_add_rmsnorm():
    x, r, w = normal(5, 1024), normal(5, 1024), normal(1024)
    total = f64(x) + f64(r)
    module("norm.kernels.fused_add_rmsnorm").fused_add_rmsnorm_cute(x, r, w)
    close(r, total)
    close(x, rms(total, f64(w)))


def layernorm():
    x, g, b = normal(5, 1024), normal(1024, dtype=torch.float32), normal(1024, dtype=torch.float32)
    out = torch.empty_like(x)
    module("norm.kernels.layernorm").layernorm_cute(out, x, g, b)
    v = f64(x)
    close(out, (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-6) * f64(g) + f64(b))


# ---- Quantisation -------------------------------------------------------------------------------

E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])


def nibbles(tensor):
    packed = tensor.view(torch.uint8).numpy()
    return E2M1[np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)]


def check_blocks(x, values, scales, block, relative):
    """What it is with its scale is near x: within the type's step, of what the block's largest allows."""
    got = values * np.repeat(scales, block, axis=1)
    most = np.repeat(np.abs(x).reshape(len(x), -1, block).max(-1), block, axis=1)
    off = np.abs(got - x)
    assert (off <= relative * most + 1e-6).all(), f"off by {(off / most).max()} of the block's largest"


def mxfp8_quantize():
    x = normal(32, 512)
    values, scales = module("quantization.kernels.mxfp8_quantize").mxfp8_quantize_cute_dsl(x, is_sf_swizzled_layout=False)
    exponents = scales.view(torch.uint8).numpy().reshape(32, 16).astype(np.float64)
    check_blocks(f64(x), f64(values.view(torch.float8_e4m3fn)), 2.0 ** (exponents - 127), 32, 2 ** -4)


def unswizzle(scales, rows, columns):
    """Scale factors of 128x4 tiles: (32, 4, 4) within one (PTX ISA 9.7.16.10.7.3)."""
    t = scales.view(torch.uint8).numpy().reshape(-1)[:((rows + 127) // 128) * ((columns + 3) // 4) * 512]
    t = t.reshape((rows + 127) // 128, (columns + 3) // 4, 32, 4, 4)
    return t.transpose(0, 3, 2, 1, 4).reshape(-1, (columns + 3) // 4 * 4)[:rows, :columns]


def mxfp8_quantize_swizzled():
    x = normal(128, 256)
    values, scales = module("quantization.kernels.mxfp8_quantize").mxfp8_quantize_cute_dsl(x)
    exponents = unswizzle(scales, 128, 8).astype(np.float64)
    check_blocks(f64(x), f64(values.view(torch.float8_e4m3fn)), 2.0 ** (exponents - 127), 32, 2 ** -4)


def mxfp4_quantize():
    x = normal(128, 256)
    values, scales = module("quantization.kernels.mxfp4_quantize").mxfp4_quantize_cute_dsl(x)
    exponents = unswizzle(scales, 128, 8).astype(np.float64)
    check_blocks(f64(x), nibbles(values), 2.0 ** (exponents - 127), 32, 0.35)


def nvfp4_quantize():
    x = normal(128, 256)
    scale = torch.tensor([448 * 6 / float(np.abs(f64(x)).max())], dtype=torch.float32, device="cuda")
    values, scales = module("quantization.kernels.nvfp4_quantize").nvfp4_quantize_cute_dsl(x, scale)
    blocks = torch.from_numpy(unswizzle(scales, 128, 16).copy()).view(torch.float8_e4m3fn)
    check_blocks(f64(x), nibbles(values), f64(blocks) / float(scale[0]), 16, 0.2)


if __name__ == "__main__":
    globals()[sys.argv[2]]()
    print("PASS")
