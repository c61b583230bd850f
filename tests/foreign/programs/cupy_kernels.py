"""CuPy's own CUDA sources, compiled as CuPy compiles them (NVRTC, its headers) and launched here: CuPy itself wants a real
driver, since its runtime is linked statically and asks for undocumented tables. `python cupy_kernels.py NAME`."""

import ctypes
import os
import pathlib
import re
import sys

import cupy
import numpy as np
from cuda.bindings import driver, nvrtc

rng = np.random.default_rng(29)


def check(result):
    code, *values = result
    assert int(code) == 0, code
    return values[0] if values else None


def compiled(source, arch="sm_90"):
    program = check(nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []))
    include = pathlib.Path(cupy.__file__).parent / "_core/include"
    toolkit = next(p for p in pathlib.Path(cupy.__file__).parents[1].glob("nvidia/cu*/include"))
    options = [f"-arch=compute_{arch[3:]}", "-std=c++17", f"-I{include}", f"-I{include}/cupy/_cccl/libcudacxx", f"-I{toolkit}",
               f"-I{include}/cupy/_cccl/thrust", f"-I{include}/cupy/_cccl/cub", "-lineinfo",
               f"-I{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/include"]
    code, = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    if int(code):
        log = b" " * check(nvrtc.nvrtcGetProgramLogSize(program))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise SystemExit(log.decode()[-2000:])
    text = b" " * check(nvrtc.nvrtcGetPTXSize(program))
    check(nvrtc.nvrtcGetPTX(program, text))
    return text


class OnDevice:
    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        self.at = check(driver.cuMemAlloc(self.array.nbytes))
        check(driver.cuMemcpyHtoD(self.at, self.array.ctypes.data, self.array.nbytes))

    def back(self):
        check(driver.cuMemcpyDtoH(self.array.ctypes.data, self.at, self.array.nbytes))
        return self.array


def launch(source, name, grid, block, *arguments):
    """`name`: of a function, or of what a template's mangled name has in it."""
    check(driver.cuInit(0))
    text = compiled(source)
    module = check(driver.cuModuleLoadData(text))
    name = re.search(rf"\.entry (\w*{name}\w*)\(", text.decode())[1]
    function = check(driver.cuModuleGetFunction(module, name.encode()))
    kept = [ctypes.c_void_p(int(a.at)) if isinstance(a, OnDevice) else a for a in arguments]
    places = (ctypes.c_void_p * len(kept))(*map(ctypes.addressof, kept))
    check(driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, 0, ctypes.addressof(places), 0))


i32, i64 = ctypes.c_int, ctypes.c_longlong


def upfirdn():
    from cupyx.scipy.signal._upfirdn import UPFIRDN_KERNEL
    x, h, up, down = rng.standard_normal(300).astype(np.float32), rng.standard_normal(12).astype(np.float32), 3, 2
    phases = np.concatenate([h, np.zeros(-len(h) % up, np.float32)])
    flipped = phases.reshape(-1, up).T[:, ::-1].ravel()
    per_phase = len(phases) // up
    padded = len(x) + per_phase - 1
    length = ((len(x) - 1) * up + len(h) - 1) // down + 1
    out = OnDevice(np.zeros(length, np.float32))
    launch(UPFIRDN_KERNEL, "_cupy_upfirdn1D_float32", 2, 512, OnDevice(x), i64(1), OnDevice(flipped), i32(up), i32(down), i32(0),
           i32(len(x)), i32(per_phase), i32(padded), out, i32(length))
    spread = np.zeros((len(x) - 1) * up + 1)
    spread[::up] = x
    assert np.allclose(out.back(), np.convolve(spread, h.astype(np.float64))[::down][:length], rtol=1e-4, atol=1e-4)


def lombscargle(dtype, tolerance):
    from cupyx.scipy.signal._spectral_impl import LOMBSCARGLE_KERNEL
    x, freqs = np.sort(rng.uniform(0, 10, 50)).astype(dtype), np.linspace(0.5, 8, 100).astype(dtype)
    y = np.sin(3 * x).astype(dtype)
    out = OnDevice(np.zeros(100, dtype))
    launch(LOMBSCARGLE_KERNEL, f"_cupy_lombscargle_{np.dtype(dtype).name}", 1, 512, i32(50), i32(100), OnDevice(x), OnDevice(y),
           OnDevice(freqs), out, OnDevice(np.zeros(1, dtype)))
    w = freqs[:, None].astype(np.float64) * x.astype(np.float64)
    c, s = np.cos(w), np.sin(w)
    tau = np.arctan2(2 * (c * s).sum(1), (c * c - s * s).sum(1)) / 2
    a, b = np.cos(w - tau[:, None]), np.sin(w - tau[:, None])
    want = 0.5 * ((y * a).sum(1) ** 2 / (a * a).sum(1) + (y * b).sum(1) ** 2 / (b * b).sum(1))
    assert np.allclose(out.back(), want, rtol=tolerance, atol=tolerance)


def lombscargle_f32():
    lombscargle(np.float32, 2e-3)


def lombscargle_f64():
    lombscargle(np.float64, 1e-9)


# ---- What CuPy writes itself: elementwise and reduction kernels ------------------------------------

HEAD = "#include <cupy/complex.cuh>\n#include <cupy/carray.cuh>\n#include <cupy/atomics.cuh>\ntypedef int IndexT;\n"


def about(kind, of, dtype, ndim=0):
    """What CuPy's generator knows of an argument: 1 an array, 2 an indexer, 3 a number."""
    from cupy._core import _kernel
    return _kernel._ArgInfo(kind, of, dtype, ndim, True, True)


def carray(on_device):
    """cupy/carray.cuh: CArray<T, ndim, true>: data, size, shape, strides."""
    a = on_device.array
    words = [int(on_device.at), a.size, *a.shape, *a.strides]
    return (ctypes.c_longlong * len(words))(*words)


def indexer(*shape):
    """CIndexer<ndim>: size, shape, index."""
    words = [int(np.prod(shape)), *shape, *[0] * len(shape)]
    return (ctypes.c_longlong * len(words))(*words)


def parameters(*texts):
    from cupy._core import _kernel
    return sum((_kernel._get_param_info(text, const) for text, const in texts), ())


def elementwise():
    from cupy._core import _carray, _kernel
    x, y = (rng.standard_normal((37, 41)).astype(np.float32) for _ in range(2))
    array = about(1, cupy.ndarray, np.float32, 2)
    source = _kernel._get_elementwise_kernel_code(
        (array, array, array, about(2, _carray.Indexer, None, 2)), _kernel._TypeMap((("T", np.float32),)),
        parameters(("T x, T y", True), ("T z, CIndexer _ind", False)), "z = x * x + exp(y)", "mixed", "")
    out = OnDevice(np.zeros_like(x))
    launch(HEAD + source, "mixed", 3, 128, carray(OnDevice(x)), carray(OnDevice(y)), carray(out), indexer(37, 41))
    assert np.allclose(out.back(), x * x + np.exp(y), rtol=1e-4, atol=1e-5)


def reduction(rows, columns, stride):
    """The sum of each column, by a block for `stride` of them."""
    from cupy._core import _carray, _kernel, _reduction
    x = rng.standard_normal((rows, columns)).astype(np.float32)
    source = _reduction._ReductionKernel_get_cached_function_code(
        1, 1, parameters(("T x", True), ("T y, CIndexer _in_ind, CIndexer _out_ind", False), ("int32 _block_stride", True)),
        (about(1, cupy.ndarray, np.float32, 2), about(1, cupy.ndarray, np.float32, 1), about(2, _carray.Indexer, None, 2),
         about(2, _carray.Indexer, None, 1), about(3, np.int32, np.int32)),
        _kernel._TypeMap((("T", np.float32),)), "summed", 512, "T", "0", "x", "a + b", "y = a", "", ())
    out = OnDevice(np.zeros(columns, np.float32))
    launch(HEAD + source, "summed", 2, 512, carray(OnDevice(x)), carray(out), indexer(rows, columns), indexer(columns),
           i32(stride))
    assert np.allclose(out.back(), x.sum(0), rtol=1e-4, atol=1e-4)


def reduction_narrow():
    reduction(300, 5, 1)


def reduction_wide():
    reduction(40, 200, 32)


def iir():
    """y[t] = x[t] + a0 y[t-1] + a1 y[t-2], in blocks of 64 whose last two values correct those behind them."""
    from cupyx.scipy.signal._iir_utils import IIR_KERNEL
    m, k, n = 64, 2, 256
    x, a = rng.standard_normal((2, n)).astype(np.float32), np.array([0.6, -0.3], np.float32)
    want = x.astype(np.float64)
    for t in range(n):
        for i in range(min(k, t)):
            want[:, t] += a[i] * want[:, t - 1 - i]
    blocks = n // m
    factors = OnDevice(np.concatenate([np.eye(k, dtype=np.float32)[::-1], np.zeros((k, m), np.float32)], 1))
    out, carries = OnDevice(x), OnDevice(np.zeros((2, blocks, k), np.float32))
    source = IIR_KERNEL + """
template __global__ void compute_correction_factors<float, float>(int, int, const float*, float*);
template __global__ void first_pass_iir<float>(int, int, int, int, int, const float*, float*, float*);
template __global__ void correct_carries<float>(int, int, int, int, int, const float*, float*);
template __global__ void second_pass_iir<float>(int, int, int, int, int, int, const float*, float*, float*);
"""
    launch(source, "compute_correction_factors", k, 1, i32(m), i32(k), OnDevice(a), factors)
    launch(source, "first_pass_iir", 2 * blocks, m // 2, i32(m), i32(k), i32(n), i32(blocks), i32(blocks * k), factors, out, carries)
    launch(source, "correct_carries", 2, k, i32(m), i32(k), i32(blocks), i32(blocks * k), i32(1), factors, carries)
    launch(source, "second_pass_iir", 2 * (blocks - 1), m, i32(m), i32(k), i32(n), i32(blocks * k), i32(blocks - 1), i32(1),
           factors, carries, out)
    assert np.allclose(out.back(), want, rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("PASS")
