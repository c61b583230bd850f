"""Triton: kernels of each kind that its tutorials have, for four chips; the tutorials, and Gluon's; other projects'."""

from __future__ import annotations

import pathlib

from harness import Context, Outcome, Program, Source


class TritonProgram(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        return {"TRITON_CACHE_DIR": str(dumps), "TRITON_LIBCUDA_PATH": str(library), "TRITON_DEFAULT_FP_FUSION": "1"}


FLASH_ATTENTION = Source("flash-attention", "https://github.com/Dao-AILab/flash-attention", "0251105a2fb19d2957484b7f023cd8c115286ced")
FLASHINFER = Source("flashinfer", "https://github.com/flashinfer-ai/flashinfer", "fb28d7242b3506a2348265962041acc1fb56cca4")
LEARN_CUDA = Source("learn-cuda", "https://github.com/gau-nernst/learn-cuda", "1454f8b71499a68eacdbf44c08e36a7003d8ab99")
KITTENS = Source("ThunderKittens", "https://github.com/HazyResearch/ThunderKittens", "0b55588d2769dde0c7a9a606ffc015b0ca7a9551")
DEEPGEMM = Source("DeepGEMM", "https://github.com/deepseek-ai/DeepGEMM", "54e22612409371d6364144b69086735beb54e98b")


class OtherKernel(TritonProgram):
    """One of programs/triton_others.py, of a project that is fetched."""

    origin: Source

    def run(self, context: Context) -> Outcome:
        self.origin.folder(context)
        self.command = [self.command[0], str(context.sources), self.command[1]]
        return super().run(context)


# Name, and the chips that it is compiled for.
ALL = (80, 90, 100, 120)
TMA = (90, 100, 120)
KERNELS = {
    "vector_add": (80,), "softmax": (90,), "online_softmax": (100,), "layer_norm": (90,), "locked_sums": (80,),
    "dropout": (80,), "cumulative_sum": (90,), "sort": (80,), "histogram": (90,),
    "matmul_f16": ALL, "matmul_bf16": ALL, "matmul_tf32": (80, 90, 100), "matmul_e4m3": TMA, "matmul_i8": (80, 90),
    "matmul_split_k": (80, 90), "matmul_tma": TMA, "matmul_tma_persistent": TMA, "matmul_tma_specialized": (100,),
    "matmul_device_descriptors": TMA, "grouped_gemm": (80, 100), "scaled_e4m3": (90, 100, 120),
    "scaled_e2m1": (90, 100, 120), "attention_full": ALL, "attention_causal": ALL, "attention_tma": TMA,
    "attention_tma_specialized": (100,),
}


OTHERS = {
    FLASH_ATTENTION: """fa_layer_norm fa_rms_norm_residual fa_layer_norm_backward fa_rotary fa_cross_entropy""",
    FLASHINFER: """fi_silu_and_mul fi_rms_norm fi_merge_state fi_merge_states fi_gemm_persistent fi_gemm_plain
        fi_gemm_descriptor_persistent mamba_bmm_chunk mamba_state_update mamba_chunk_cumsum_state""",
    LEARN_CUDA: "lc_gemv lc_matmul lc_matmul_grouped",
    KITTENS: "tk_rotary",
    DEEPGEMM: "dg_m_grouped",
}


def others() -> list[OtherKernel]:
    found = []
    for source, names in OTHERS.items():
        for name in names.split():
            case = OtherKernel(f"{source.name} {name.partition('_')[2]}", "triton", 90,
                               ["programs/triton_others.py", name], says="PASS")
            case.origin = source
            found.append(case)
    return found


# Tutorials and examples of programs/triton_tutorials.py, and the chips that they are for.
TRITON = Source("triton", "https://github.com/triton-lang/triton", "9d9a2d7ac0b8b22d1888cb95056c94a64a4beed4")
HOPPER, BLACKWELL = (90,), (100,)
PYTEST = ("tutorials", "pytest==9.2.0", "iniconfig", "pluggy", "pygments", "tabulate")
TUTORIALS = {
    "01-vector-add": (90,), "02-fused-softmax": (90,), "03-matrix-multiplication": (80, 90, 100),
    "04-low-memory-dropout": (90,), "05-layer-norm": (80, 90),
    "06-fused-attention": {"backward": (80, 90, 100), "causal backward": (90, 100), "fp8": (90, 100),
                           "specialized": BLACKWELL},
    "07-extern-functions": (90,), "08-grouped-gemm": (90, 100),
    "09-persistent-matmul": {"naive": (90, 100), "persistent": (90, 100), "tma": (90, 100), "tma specialized": BLACKWELL,
                             "tma_persistent": (90, 100), "tma_persistent specialized": BLACKWELL,
                             "descriptor": (90, 100), "descriptor specialized": (90, 100)},
    "10-block-scaled-matmul": {kind: BLACKWELL for kind in ("nvfp4", "mxfp8")},
    "11-programmatic-dependent-launch": (90,),
    "gluon/01-intro": (90,), "gluon/02-layouts": {kind: (90,) for kind in ("1d", "2d", "inout")},
    "gluon/03-async-copy": {kind: (80, 90) for kind in ("1d", "add", "pipelined")},
    "gluon/04-tma": {kind: (90, 100) for kind in ("1d", "pipelined")},
    "gluon/05-wgmma": {kind: HOPPER for kind in ("small", "blocked", "pipelined")},
    "gluon/06-tcgen05": {kind: BLACKWELL for kind in ("tmem", "blocked", "pipelined")},
    "gluon/07-persistence": {kind: (90, 100) for kind in ("pipelined", "persistent", "persistent_pipelined")},
    "gluon/08-warp-specialization": {"add": (90, 100), "matmul": BLACKWELL},
    "gluon/09-tma-gather-scatter": {kind: BLACKWELL for kind in ("gather", "scatter", "fused")},
    "gluon/10-tcgen05-copy": {kind: BLACKWELL for kind in ("copy", "accumulate")},
    "gluon/11-tcgen05-mma-scaled": {kind: BLACKWELL for kind in ("simple", "contig", "packed", "copy", "pipelined",
                                                                 "specialized")},
    "gluon/12-cluster-launch-control": BLACKWELL,
    "gluon/13-conv-im2col": {kind: (90, 100) for kind in ("simple", "padded", "offset", "batch", "convolution")},
    "gluon/14-multicta": {"softmax": (90, 100), "two_cta": BLACKWELL, "multicast": (90, 100), "tma_tcgen05": BLACKWELL,
                          "matmul": BLACKWELL},
    "examples/02-conv-fprop": BLACKWELL, "examples/02-conv-dgrad": BLACKWELL, "examples/02-conv-wgrad": BLACKWELL,
    "examples/03-matmul-multicta": {kind: BLACKWELL for kind in ("one", "two", "four")},
    "examples/04-2cta-block-scale-matmul": {kind: BLACKWELL for kind in ("one", "two")},
}


def tutorials() -> list[OtherKernel]:
    found = []
    for file, kinds in TUTORIALS.items():
        named = {f"{file} {kind}": chips for kind, chips in kinds.items()} if isinstance(kinds, dict) else {file: kinds}
        for name, chips in named.items():
            for sm in chips:
                case = OtherKernel(f"{name} sm_{sm}", "triton tutorials", sm, ["programs/triton_tutorials.py", name],
                                   says="PASS", packages=PYTEST)
                case.origin = TRITON
                found.append(case)
    return found


def cases() -> list[TritonProgram]:
    own = [TritonProgram(f"{name} sm_{sm}", "triton", sm, ["programs/triton_kernels.py", name], says="PASS",
                         sums="float32" if name in ("matmul_split_k", "locked_sums") else None)
           for name, chips in KERNELS.items() for sm in chips]
    return [*own, *others(), *tutorials()]
