"""Compilers with a kernel or two each: tinygrad, Halide, Warp, IREE, Mojo.

tinygrad and Halide launch by the driver, under the recorder. Warp and IREE want more of a runtime than it
has, and Mojo's prints PTX alone: theirs are launched by launch files made here.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
from dataclasses import dataclass
from typing import Callable

from harness import Absent, Context, Launch, Outcome, Program, judge


class Tinygrad(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        return {"DEV": "CUDA:PTX", "CACHELEVEL": "0", "LD_LIBRARY_PATH": str(library)}


class Halide(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": str(library)}


# ---- PTX from a command, launched here -------------------------------------------------------------


@dataclass
class Made:
    """`make(context)` runs a compiler and writes a launch folder."""

    name: str
    suite: str
    make: Callable[[Context], pathlib.Path]

    def run(self, context: Context) -> Outcome:
        return judge(context, [self.make(context)])


def output(context: Context, command: list[str], needs: str) -> str:
    try:
        done = subprocess.run(command, cwd=context.folder, capture_output=True, text=True, timeout=context.limit)
    except FileNotFoundError:
        raise Absent(f"the Python package {needs} is not here") from None
    if done.returncode:
        raise Absent(f"{needs}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return done.stdout


def program(name: str) -> str:
    return str(pathlib.Path(__file__).resolve().parent / "programs" / name)


def rng():
    import numpy
    return numpy.random.default_rng(17)



# Warp: warp_kernels.py writes the PTX of all its kernels and, for each, entry and shared memory.
def warp(kernel: str, sm: int):
    def array(launch: Launch, name: str, shape, size: int):
        """An argument of type wp::array_t: data, grad, shape[4], strides[4], ndim, flags."""
        strides = [size]
        for extent in reversed(shape[1:]):
            strides.insert(0, strides[0] * extent)
        at = [f'{{ offset = 0, buffer = "{name}" }}']
        at += [f"{{ offset = {16 + 4 * i}, i32 = {extent} }}" for i, extent in enumerate(shape)]
        at += [f"{{ offset = {32 + 4 * i}, i32 = {stride} }}" for i, stride in enumerate(strides)]
        at.append(f"{{ offset = 48, i32 = {len(shape)} }}")
        launch.arg("size = 56\nat = [" + ", ".join(at) + "]")

    def bounds(launch: Launch, shape, threads: int):
        """wp::launch_bounds_t<N>: shape[N], size, threads that share a coordinate."""
        import math
        head = (4 * len(shape) + 7) // 8 * 8
        at = [f"{{ offset = {4 * i}, u32 = {extent} }}" for i, extent in enumerate(shape)]
        at += [f"{{ offset = {head}, u64 = {math.prod(shape) * threads} }}", f"{{ offset = {head + 8}, u64 = {threads} }}"]
        launch.arg(f"size = {head + 16}\nat = [" + ", ".join(at) + "]")

    def make(context: Context) -> pathlib.Path:
        import numpy
        about = json.loads(output(context, [str(context.python), program("warp_kernels.py"), kernel, str(sm)],
                                  "warp-lang").splitlines()[-1])
        ptx = pathlib.Path(about["ptx"]).read_text().rstrip("\0")
        r = rng()
        if kernel == "saxpy":
            x, y = (r.standard_normal(1000).astype("f4") for _ in range(2))
            launch = Launch(context.folder / "launch", ptx, about["entry"], [8], [128], smem=about["shared"])
            launch.buffer("X", x, "f32").buffer("Y", y, "f32", expect=2 * x + numpy.sin(y), rtol=1e-5, atol=1e-5)
            bounds(launch, [1000], 1)
            launch.arg("f32 = 2.0")
            array(launch, "X", [1000], 4)
            array(launch, "Y", [1000], 4)
        elif kernel == "atomic_sum":
            x = r.integers(-50, 50, 3000).astype("f4")  # whole numbers: exact in any order
            launch = Launch(context.folder / "launch", ptx, about["entry"], [24], [128], smem=about["shared"])
            launch.buffer("X", x, "f32")
            launch.buffer("S", numpy.zeros(1, "f4"), "f32", expect=numpy.array([x.sum()], "f4"))
            bounds(launch, [3000], 1)
            array(launch, "X", [3000], 4)
            array(launch, "S", [1], 4)
        elif kernel == "inverse":
            m = r.standard_normal((300, 3, 3)).astype("f4") + 4 * numpy.eye(3, dtype="f4")
            launch = Launch(context.folder / "launch", ptx, about["entry"], [3], [128], smem=about["shared"])
            launch.buffer("M", m, "f32", expect=numpy.linalg.inv(m.astype("f8")).astype("f4"), rtol=1e-3, atol=1e-4)
            bounds(launch, [300], 1)
            array(launch, "M", [300], 36)
        elif kernel == "tile_product":
            a, b = r.standard_normal((48, 192)).astype("f2"), r.standard_normal((192, 64)).astype("f2")
            launch = Launch(context.folder / "launch", ptx, about["entry"], [12], [64], smem=about["shared"])
            launch.buffer("A", a, "f16").buffer("B", b, "f16")
            launch.buffer("C", numpy.full((48, 64), numpy.nan, "f4"), "f32", expect=a.astype("f4") @ b.astype("f4"),
                          rtol=1e-3, atol=1e-3)
            bounds(launch, [3, 4], 64)
            for name, shape, size in (("A", [48, 192], 2), ("B", [192, 64], 2), ("C", [48, 64], 4)):
                array(launch, name, shape, size)
        else:  # tile_sum
            x = r.standard_normal((20, 512)).astype("f4")
            launch = Launch(context.folder / "launch", ptx, about["entry"], [20], [64], smem=about["shared"])
            launch.buffer("X", x, "f32")
            launch.buffer("S", numpy.full(20, numpy.nan, "f4"), "f32", expect=(x.astype("f8")**2).sum(1).astype("f4"), rtol=1e-4)
            bounds(launch, [20], 64)
            array(launch, "X", [20, 512], 4)
            array(launch, "S", [20], 4)
        return launch.write()

    return make


IREE = {
    "matmul_f16": """
func.func @f(%a: tensor<128x256xf16>, %b: tensor<256x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x128xf16>) outs(%z : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}""",
    "softmax": """
func.func @f(%a: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %e = tensor.empty() : tensor<64x1024xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<64x1024xf32>) outs(%e : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %r : tensor<64x1024xf32>
}""",
}


def iree(kernel: str, sm: int):
    def make(context: Context) -> pathlib.Path:
        import numpy
        (context.folder / "f.mlir").write_text(IREE[kernel])
        compiler = context.python.parent / "iree-compile"
        output(context, [str(compiler), "f.mlir", "--iree-hal-target-device=cuda", f"--iree-cuda-target=sm_{sm}",
                         "--iree-hal-dump-executable-files-to=dump", "-o", "f.vmfb"], "iree-base-compiler")
        ptx = next((context.folder / "dump").glob("*.ptx")).read_text()
        r = rng()
        if kernel == "matmul_f16":
            a, b = r.standard_normal((128, 256)).astype("f2"), r.standard_normal((256, 128)).astype("f2")
            launch = Launch(context.folder / "launch", ptx, "matmul", [4], [128], smem=48 << 10)
            launch.buffer("A", a, "f16").buffer("B", b, "f16")
            want = a.astype("f4") @ b.astype("f4")
        else:
            a = r.standard_normal((64, 1024)).astype("f4")
            launch = Launch(context.folder / "launch", ptx, "softmax", [64], [256], smem=16 << 10)
            launch.buffer("A", a, "f32")
            e = numpy.exp(a - a.max(1, keepdims=True))
            want = (e / e.sum(1, keepdims=True)).astype("f4")
        launch.buffer("C", numpy.full(want.shape, numpy.nan, "f4"), "f32", expect=want, rtol=1e-3, atol=1e-3)
        for name in ("A", "B", "C") if kernel == "matmul_f16" else ("A", "C"):
            launch.arg(f'buffer = "{name}"')
        return launch.write()

    return make


def mojo(sm: str):
    def make(context: Context) -> pathlib.Path:
        import numpy
        source = pathlib.Path(program("softmax.mojo")).read_text().replace("SM_TARGET", sm)
        (context.folder / "softmax.mojo").write_text(source)
        said = output(context, [str(context.python.parent / "mojo"), "run", "softmax.mojo"], "max")
        a = rng().standard_normal((8, 1000)).astype("f4")
        e = numpy.exp(a)
        launch = Launch(context.folder / "launch", said[said.index(".version"):], "softmax", [8], [256])
        launch.buffer("A", a, "f32")
        launch.buffer("C", numpy.full(a.shape, numpy.nan, "f4"), "f32", expect=(e / e.sum(1, keepdims=True)).astype("f4"),
                      rtol=1e-4, atol=1e-6)
        launch.arg('buffer = "A"').arg('buffer = "C"').arg("i64 = 1000")
        return launch.write()

    return make


def cases() -> list:
    out: list = [Tinygrad(name, "tinygrad", 80, ["programs/tinygrad_kernels.py", name], says="PASS")
                 for name in ("matmul_f16", "matmul_f32", "softmax", "layer_norm", "running_sum", "sort", "convolution",
                              "attention", "elementwise")]
    out += [Halide(name, "halide", 80, ["programs/halide_kernels.py", name], says="PASS")
            for name in ("product", "blur", "histogram")]
    out += [Made(f"{name} sm_{sm}", "warp", warp(name, sm)) for name, sm in
            (("saxpy", 80), ("atomic_sum", 90), ("inverse", 90), ("tile_product", 90), ("tile_sum", 100))]
    out += [Made(f"{name} sm_{sm}", "iree", iree(name, sm)) for name, sm in
            (("matmul_f16", 80), ("softmax", 80), ("matmul_f16", 89))]
    out += [Made(f"softmax {sm}", "mojo", mojo(sm)) for sm in ("sm_90a", "sm_100a")]
    return out
