"""CUDA C++: compiled by nvcc or NVRTC, whichever of them this machine has; launched; its lines in reports."""

import doctest
import pathlib
import re

import numpy as np
import pytest
import tilescope as ts

SOURCE = """#ifndef N
#define N 1
#endif
__device__ float times(float x, float by) { return x * by * N; }
__global__ void scale(float* x, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = times(x[i], by);
}
__global__ void fill(float* x) { x[threadIdx.x] = 7; }
"""


def is_here(compiler):
    try:
        return bool(ts.compile(SOURCE, compiler=compiler))
    except ts.Error as refused:
        assert "which is not here" in str(refused) or "neither is here" in str(refused)
        return False


HERE = [compiler for compiler in ("nvcc", "nvrtc") if is_here(compiler)]
needed = pytest.mark.skipif(not HERE, reason="no nvcc and no NVRTC here")
each = pytest.mark.parametrize("compiler", HERE)


@each
def test_a_text_runs_and_its_lines_are_told(compiler):
    module = ts.compile(SOURCE, "sm_90a", "scale", compiler=compiler)
    assert sorted(module.entries) == ["_Z4fillPf", "_Z5scalePff"]
    x = np.arange(64, dtype=np.float32)
    run = module.launch(2, 32, [x, 3.0])
    assert (x == np.arange(64) * 3).all() and run.kernel == "_Z5scalePff" and run.device == "NVIDIA H200"
    module.launch(1, 64, [x], entry="fill")
    assert (x == 7).all()
    with pytest.raises(ts.Fault) as raised:
        module.launch(3, 32, [x, 3.0])
    report = raised.value.run.reports[-1]
    assert (report.kind, report.file, report.line) == ("out_of_bounds", "kernel.cu", 7)


@each
def test_architectures_and_options(compiler):
    for arch, device in (("sm_80", "NVIDIA B200"), ("sm_100a", "NVIDIA B200"), ("compute_90a", "NVIDIA H200")):
        x = np.ones(32, np.float32)
        run = ts.compile(SOURCE, arch, "scale", ["-DN=5"], compiler=compiler).launch(1, 32, [x, 2.0])
        assert (x == 10).all() and run.device == device


@each
def test_what_does_not_compile_says_where(compiler):
    with pytest.raises(ts.Error, match=r"does not compile") as raised:
        ts.compile(SOURCE.replace("* by", "* bye"), compiler=compiler)
    assert re.search(r"kernel.cu.4.*bye", str(raised.value))
    with pytest.raises(ts.Error, match="."):
        ts.compile(SOURCE, "sm_999", compiler=compiler)


@each
def test_a_file_and_headers_beside_it(compiler, tmp_path):
    (tmp_path / "by.h").write_text("#define BY 4\n")
    path = tmp_path / "my kernel.cu"
    path.write_text('#include <cuda_fp16.h>\n#include "by.h"\n__global__ void k(__half* x) { x[threadIdx.x] = BY; }\n')
    for kernel in (path, str(path)):
        x = np.zeros(8, np.float16)
        with pytest.raises(ts.Fault) as raised:
            ts.compile(kernel, compiler=compiler).launch(1, 16, [x])
        assert (raised.value.run.reports[-1].file, raised.value.run.reports[-1].line) == ("my_kernel.cu", 3)
        ts.compile(kernel, compiler=compiler).launch(1, 8, [x])
        assert (x == 4).all()
    (tmp_path / "by.h").write_text("#define BY 5\n")
    ts.compile(path, compiler=compiler).launch(1, 8, [x])
    assert (x == 5).all()


@needed
def test_launch_compiles_for_the_device(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    for kernel in (SOURCE, path, str(path)):
        for device, name in ((None, "NVIDIA H200"), ("a100", "NVIDIA A100"), ("b200", "NVIDIA B200")):
            x = np.ones(32, np.float32)
            run = ts.launch(kernel, 1, 32, [x, 2.0], entry="scale", device=device)
            assert (x == 2).all() and run.device.startswith(name)


@needed
def test_the_manuals_example():
    page = (pathlib.Path(__file__).parents[2] / "docs/manual/python.md").read_text()
    block = re.search(r"^```py\n(>>> source.*?)^```", page, re.M | re.S)[1]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(doctest.DocTestParser().get_doctest(block, {"ts": ts, "np": np}, "python.md", None, 0))
    assert runner.summarize(verbose=False) == (0, 6)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ts.compile("int x;"), "a text with a __global__ function or the path of a .cu file"),
        (lambda: ts.compile(3), "is no CUDA source"),
        (lambda: ts.compile("absent.cu"), "absent.cu"),
        (lambda: ts.compile(pathlib.Path("x.ptx")), "ts.Module takes PTX"),
        (lambda: ts.compile(SOURCE, "hopper"), "sm_80, sm_90a, sm_100a"),
        (lambda: ts.compile(SOURCE, options="-DN=1"), "a list of the compiler's own words"),
        (lambda: ts.compile(SOURCE, options=[3]), "3 is no text"),
        (lambda: ts.compile(SOURCE, compiler="gcc"), "nvcc, nvrtc, or None"),
    ],
)
def test_wrong_arguments(call, sentence):
    with pytest.raises(ts.Error, match=re.escape(sentence)):
        call()


@needed
def test_an_entry_that_is_not_there():
    with pytest.raises(ts.Error, match="nothing"):
        ts.compile(SOURCE, entry="nothing")


def test_without_a_compiler_the_sentence_says_what_would_work(monkeypatch):
    from tilescope import _nvrtc

    monkeypatch.setattr(_nvrtc, "places", lambda: [])
    with pytest.raises(ts.Error, match="pip install nvidia-cuda-nvrtc"):
        ts.compile(SOURCE, compiler="nvrtc")
