"""CuPy: its CUDA sources, and what it writes itself, compiled by NVRTC."""

from __future__ import annotations

from harness import Program


def cases() -> list[Program]:
    return [Program(name, "cupy", 90, ["programs/cupy_kernels.py", name], says="PASS")
            for name in ("upfirdn", "lombscargle_f32", "lombscargle_f64", "elementwise", "reduction_narrow", "reduction_wide", "iir")]
