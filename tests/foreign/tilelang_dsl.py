"""TileLang: kernels of each kind that its examples have. It makes CUDA C++ of a kernel, and nvcc PTX of that."""

from __future__ import annotations

import pathlib
import shutil

from harness import Absent, Program


# This TileLang does not stand newer ones.
PACKAGES = ("tilelang", "apache-tvm-ffi==0.1.10")


class TileLangProgram(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        nvcc = pathlib.Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
        if not nvcc.exists():
            raise Absent("there is no nvcc to compile what TileLang makes")
        return {"HOST_TILELANG": "1", "LD_LIBRARY_PATH": str(library), "CUDA_HOME": str(nvcc.parent.parent),
                "TILELANG_CACHE_DIR": str(dumps), "TILELANG_DISABLE_CACHE": "1"}


CASES = {"gemm": (80, 90), "gemm_transposed": (80, 90), "gemm_bf16": (90,), "gemm_split_k": (80,), "gemm_dequantised_int4": (80, 90),
         "rms_norm": (90,), "elementwise_add": (80,), "attention": (80, 90), "attention_causal": (90,)}


def cases() -> list[TileLangProgram]:
    return [TileLangProgram(f"{name} sm_{sm}", "tilelang", sm, ["programs/tilelang_kernels.py", name], says="PASS", packages=PACKAGES)
            for name, chips in CASES.items() for sm in chips]
