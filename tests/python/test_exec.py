"""`tilescope exec` with programs in Python that bring their own compilers: their kernels run, checked, with nothing found."""

import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
PROGRAM = HERE.parents[1] / "build/tilescope"


def run(program, device):
    return subprocess.run(
        [PROGRAM, "exec", "--device", device, "--strict", "--", sys.executable, HERE / "programs" / program],
        capture_output=True, text=True, timeout=300)


# CuPy's sort is CUB, of which its package has PTX for chips from 12.0 on.
@pytest.mark.skipif(not PROGRAM.exists(), reason="build/tilescope is not there: `./dev build`")
@pytest.mark.skipif(not shutil.which("nvcc"), reason="there is no CUDA toolkit, whose compilers these packages load")
@pytest.mark.parametrize("program, package, device, launches", [
    ("cuda_bindings.py", "cuda.bindings", "h200", 1),
    ("cuda_bindings.py", "cuda.bindings", "b200", 1),
    ("numba_kernels.py", "numba.cuda", "h200", 5),
    ("cupy_kernels.py", "cupy", "rtx5090", 13),
])
def test_programs_in_python(program, package, device, launches):
    pytest.importorskip(package, reason=f"{package} is not installed")
    done = run(program, device)
    assert done.returncode == 0 and done.stdout == "as it should be\n", done.stdout + done.stderr
    assert f"tilescope: {launches} launch" in done.stderr, done.stderr


@pytest.mark.skipif(not PROGRAM.exists(), reason="build/tilescope is not there: `./dev build`")
@pytest.mark.skipif(not shutil.which("nvcc"), reason="there is no CUDA toolkit, whose compilers these packages load")
def test_what_is_wrong_in_them_is_told(tmp_path):
    pytest.importorskip("cuda.bindings", reason="cuda.bindings is not installed")
    text = (HERE / "programs/cuda_bindings.py").read_text()
    wrong = tmp_path / "wrong.py"
    wrong.write_text(text.replace("if (i < n) x[i]", "x[i]"))
    done = run(wrong, "h200")
    assert done.returncode == 3 and "out_of_bounds" in done.stderr, done.stderr
