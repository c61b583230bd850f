"""Numba's CUDA target: kernels of each kind that its manual has."""

from __future__ import annotations

import pathlib

from harness import Program


class NumbaProgram(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        return {"HOST_NUMBA": "1"}


NAMES = """saxpy matmul block_sum warp_sum histogram mandelbrot heat black_scholes transpose random_pi grid_sync
    scan""".split()


def cases() -> list[NumbaProgram]:
    return [NumbaProgram(name, "numba", 90, ["programs/numba_kernels.py", name], says="PASS") for name in NAMES]
