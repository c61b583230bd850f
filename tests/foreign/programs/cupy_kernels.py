"""CuPy's own CUDA sources, compiled as CuPy compiles them (NVRTC, its headers) and launched here: CuPy itself wants a real
driver, since its runtime is linked statically and asks for undocumented tables. `python cupy_kernels.py NAME`."""

import ctypes
import pathlib
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
               f"-I{include}/cupy/_cccl/thrust", f"-I{include}/cupy/_cccl/cub", "-lineinfo"]
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
    check(driver.cuInit(0))
    module = check(driver.cuModuleLoadData(compiled(source)))
    function = check(driver.cuModuleGetFunction(module, name.encode()))
    values, types = [], []
    for argument in arguments:
        if isinstance(argument, OnDevice):
            values.append(int(argument.at)), types.append(ctypes.c_void_p)
        else:
            values.append(argument.value), types.append(type(argument))
    check(driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, 0, (tuple(values), tuple(types)), 0))


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


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("PASS")
