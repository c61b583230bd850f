"""Triton: kernels of each kind that its tutorials have, for four chips; and other projects' kernels."""

from __future__ import annotations

import pathlib

from harness import Program


class TritonProgram(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        return {"TRITON_CACHE_DIR": str(dumps), "TRITON_LIBCUDA_PATH": str(library), "TRITON_DEFAULT_FP_FUSION": "1"}


# Name, and the chips that it is compiled for.
ALL = (80, 90, 100, 120)
TMA = (90, 100, 120)
KERNELS = {
    "vector_add": (80,), "softmax": (90,), "online_softmax": (100,), "layer_norm": (90,), "locked_sums": (80,),
    "dropout": (80,), "cumulative_sum": (90,), "sort": (80,), "histogram": (90,),
    "matmul_f16": ALL, "matmul_bf16": ALL, "matmul_tf32": (80, 90, 100), "matmul_e4m3": TMA, "matmul_i8": (80, 90),
    "matmul_split_k": (80, 90), "matmul_tma": TMA, "matmul_tma_persistent": TMA, "matmul_tma_specialized": (90, 100),
    "matmul_device_descriptors": TMA, "grouped_gemm": (80, 100), "scaled_e4m3": (90, 100, 120),
    "scaled_e2m1": (90, 100, 120), "attention_full": ALL, "attention_causal": ALL, "attention_tma": TMA,
    "attention_tma_specialized": (100,),
}


def cases() -> list[TritonProgram]:
    return [TritonProgram(f"{name} sm_{sm}", "triton", sm, ["programs/triton_kernels.py", name], says="PASS",
                          sums="float32" if name in ("matmul_split_k",) else None)
            for name, chips in KERNELS.items() for sm in chips]
