"""flashinfer's kernels in CuTeDSL: norms and quantisation."""

from __future__ import annotations

from cutedsl import Example
from harness import Context, Outcome, Source

FLASHINFER = Source("flashinfer", "https://github.com/flashinfer-ai/flashinfer", "fb28d7242b3506a2348265962041acc1fb56cca4")


class Kernel(Example):
    def run(self, context: Context) -> Outcome:
        FLASHINFER.folder(context)
        self.command = [self.command[0], str(context.sources), self.command[1]]
        return super().run(context)


CASES = {"rmsnorm": (90, 100), "rmsnorm_strided": (100,), "rmsnorm_large": (90,), "qk_rmsnorm": (100,), "rmsnorm_quant": (90, 100),
         "fused_add_rmsnorm": (90,), "layernorm": (100,), "mxfp8_quantize": (100,), "mxfp8_quantize_swizzled": (100,),
         "mxfp4_quantize": (100,), "nvfp4_quantize": (100,)}


def cases() -> list[Kernel]:
    return [Kernel(f"{name} sm_{sm}", "flashinfer cute", sm, ["programs/flashinfer_cute.py", name], says="PASS")
            for name, chips in CASES.items() for sm in chips]
