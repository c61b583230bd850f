"""FlashAttention's kernels in CuTeDSL (flash_attn/cute), for three chips."""

from __future__ import annotations

from cutedsl import Example
from harness import Context, Outcome, Source

FLASH_ATTENTION = Source("flash-attention", "https://github.com/Dao-AILab/flash-attention",
                         "0251105a2fb19d2957484b7f023cd8c115286ced")


PACKAGES = ("attention", "quack-kernels==0.6.5", "einops==0.8.2")


class Attention(Example):
    def run(self, context: Context) -> Outcome:
        FLASH_ATTENTION.folder(context)
        self.command = [self.command[0], str(context.sources), self.command[1]]
        return super().run(context)


CASES = {"full": (80, 90, 100, 120), "causal": (80, 90, 100, 120), "d64_f16": (90, 100), "grouped_heads": (90, 100), "uneven": (90, 100),
         "window": (90, 100), "split": (100,), "d256": (100,), "varlen": (90, 100), "backward": (90, 100)}


def cases() -> list[Attention]:
    return [Attention(f"{name} sm_{sm}", "flash-attention cute", sm, ["programs/flash_attention_cute.py", name], says="PASS", packages=PACKAGES,
                      sums="float32" if name == "backward" else None)
            for name, chips in CASES.items() for sm in chips]
