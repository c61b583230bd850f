"""flashinfer's kernels for norms, positions, activations, sampling and the largest elements."""

from cpp import Program
from harness import Source

FLASHINFER = Source("flashinfer", "https://github.com/flashinfer-ai/flashinfer", "fb28d7242b3506a2348265962041acc1fb56cca4")
GROUPS = {1: ["rms_norm", "gemma_rms_norm", "fused_add_rms_norm", "layer_norm", "silu_and_mul", "pack_bits", "rope"],
          2: ["filtered_top_k", "radix_top_k", "top_k_sampling", "top_p_renorm", "online_softmax"]}


ATTENTION = ["single_decode", "single_prefill", "single_prefill_causal"]


def program(host, group, name, names):
    return Program("flashinfer", name, None, host, "90a",
                   ["-I{cccl}", "-I{flashinfer}/include", "--expt-relaxed-constexpr",
                    "-DFLASHINFER_ENABLE_BF16", "-DENABLE_BF16"],
                   [name], needs=[FLASHINFER], program=f"flashinfer_{group}", unordered=name.endswith("top_k"),
                   head=f"#define GROUP {group}\n#define EACH(x) {' '.join(f'x({one})' for one in names)}\n")


def cases():
    return [*[program("flashinfer.cu", group, name, names) for group, names in GROUPS.items() for name in names],
            *[program("flashinfer_attention.cu", 3, name, ATTENTION) for name in ATTENTION]]
