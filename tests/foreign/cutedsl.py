"""CuTeDSL: CUTLASS's own examples in Python, as they are, on generated inputs; each compares its result with
PyTorch on the CPU."""

from __future__ import annotations

import pathlib

from harness import Program, Source

CUTLASS = Source("cutlass", "https://github.com/NVIDIA/cutlass", "7107b05535f8977f5ecb9d01ee203205b1fd9bc4")
EXAMPLES = "examples/python/CuTeDSL/"


class Example(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        return {"CUTE_DSL_ARCH": {80: "sm_80", 90: "sm_90a", 100: "sm_100a", 103: "sm_103a", 120: "sm_120a"}[self.sm],
                "CUTE_DSL_KEEP": "ptx,cubin", "CUTE_DSL_DUMP_DIR": str(dumps), "CUTE_DSL_DISABLE_FILE_CACHING": "1"}


def example(sm: int, path: str, arguments: str = "", name: str = "", **more) -> Example:
    name = name or path.removeprefix("cute/").removesuffix(".py").replace("kernel/", "")
    return Example(name, "cutedsl", sm, [EXAMPLES + path, *arguments.split()], CUTLASS, **more)


def cases() -> list[Example]:
    once = "--warmup_iterations 0 --iterations 1"
    return [
        example(80, "cute/ampere/kernel/elementwise/elementwise_add.py", "--M 256 --N 512"),
        example(80, "cute/ampere/kernel/dense_gemm/tensorop_gemm.py", f"--mnkl 128,128,64,1 {once}"),
        example(90, "cute/hopper/kernel/dense_gemm/dense_gemm.py", f"--mnkl 256,256,128,1 {once}"),
        example(100, "cute/blackwell/kernel/dense_gemm/dense_gemm.py", f"--mnkl 256,256,128,1 {once}"),
    ]
