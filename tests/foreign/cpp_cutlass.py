"""CUTLASS's examples for Hopper and Blackwell, each with its own check."""

from cpp import Program
from cpp_cute import CUTLASS, FLAGS


def passed(done):
    said = done.stdout + done.stderr
    return done.returncode == 0 and ("assed" in said or "[OK]" in said) and "ailed" not in said


SMALL = ["--m=256", "--n=256", "--k=256", "--iterations=0"]
ODD = ["--m=264", "--n=136", "--k=200", "--iterations=0"]
GROUPS = ["--m=256", "--n=256", "--k=128", "--groups=2", "--iterations=0"]

# Folder and file, architecture, arguments. What comes first is compiled first.
EXAMPLES = [
    ("48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm", "90a", SMALL),
    ("70_blackwell_gemm/70_blackwell_fp16_gemm", "100a", SMALL),
    ("88_hopper_fmha/88_hopper_fmha", "90a", ["--b=1", "--h=2", "--q=256", "--k=256", "--d=128", "--iterations=0", "--verify"]),
    ("72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm", "100a", SMALL),
    ("57_hopper_grouped_gemm/57_hopper_grouped_gemm", "90a", GROUPS),
    ("75_blackwell_grouped_gemm/75_blackwell_grouped_gemm", "100a", GROUPS),
    ("77_blackwell_fmha/77_blackwell_fmha", "100a", ["--b=1", "--h=2", "--q=256", "--k=256", "--d=128", "--iterations=0", "--verify"]),
    ("79_blackwell_geforce_gemm/79a_blackwell_geforce_nvfp4_bf16_gemm", "120a", SMALL),
    ("54_hopper_fp8_warp_specialized_gemm/54_hopper_fp8_warp_specialized_gemm", "90a", SMALL),
    ("72_blackwell_narrow_precision_gemm/72c_blackwell_mixed_mxfp8_bf16_gemm", "100a", SMALL),
    ("74_blackwell_gemm_streamk/blackwell_gemm_streamk", "100a", SMALL),
    ("81_blackwell_gemm_blockwise/81_blackwell_gemm_blockwise", "100a", SMALL),
    ("67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling/67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling", "90a", SMALL),
    ("86_blackwell_mixed_dtype_gemm/86_blackwell_mixed_dtype", "100a", [*SMALL, "--verify"]),
    ("50_hopper_gemm_with_epilogue_swizzle/50_hopper_gemm_with_epilogue_swizzle", "90a", SMALL),
    ("56_hopper_ptr_array_batched_gemm/56_hopper_ptr_array_batched_gemm", "90a", [*SMALL, "--l=2"]),
    ("52_hopper_gather_scatter_fusion/52_hopper_gather_scatter_fusion", "90a", ["--m=256", "--n=256", "--k=128", "--index_size=128", "--iterations=1", "--check"]),
    ("70_blackwell_gemm/70_blackwell_fp8_gemm", "100a", [*SMALL, "--l=1"]),
    ("72_blackwell_narrow_precision_gemm/72b_blackwell_nvfp4_nvfp4_gemm", "100a", SMALL),
    ("75_blackwell_grouped_gemm/75_blackwell_grouped_gemm_block_scaled", "100a", GROUPS),
    ("62_hopper_sparse_gemm/62_hopper_sparse_gemm", "90a", [*SMALL, "--warmup=0"]),
    ("83_blackwell_sparse_gemm/83_blackwell_sparse_gemm", "100a", SMALL),
    ("73_blackwell_gemm_preferred_cluster/blackwell_gemm_preferred_cluster", "100a", ["--m=512", "--n=512", "--k=256", "--iterations=0"]),
    ("55_hopper_mixed_dtype_gemm/55_hopper_int4_bf16_gemm", "90a", SMALL),
    ("61_hopper_gemm_with_topk_and_softmax/61_hopper_gemm_with_topk_and_softmax", "90a", ["--m=256", "--n=8", "--k=32", "--l=1", "--iterations=0"]),
    ("63_hopper_gemm_with_weight_prefetch/63_hopper_gemm_with_weight_prefetch", "90a", SMALL),
    ("78_blackwell_emulated_bf16x9_gemm/78_blackwell_emulated_bf16x9_gemm", "100a", SMALL),
    ("79_blackwell_geforce_gemm/79b_blackwell_geforce_nvfp4_nvfp4_gemm", "120a", SMALL),
    ("79_blackwell_geforce_gemm/79c_blackwell_geforce_mixed_mxfp8_mxfp6_bf16_gemm", "120a", SMALL),
    ("81_blackwell_gemm_blockwise/81_blackwell_gemm_groupwise", "100a", SMALL),
    ("87_blackwell_geforce_gemm_blockwise/87a_blackwell_geforce_fp8_bf16_gemm_blockwise", "120a", SMALL),
    ("77_blackwell_fmha/77_blackwell_mla", "100a", ["--b=1", "--k=256", "--iterations=0", "--verify"]),
    ("84_blackwell_narrow_precision_sparse_gemm/84a_blackwell_nvfp4_bf16_sparse_gemm", "100a", SMALL),
    ("80_blackwell_geforce_sparse_gemm/80a_blackwell_geforce_mxfp8_bf16_sparse_gemm", "120a", SMALL),
    ("53_hopper_gemm_permute/53_hopper_gemm_permute", "90a", ["--m=512", "--n=512", "--k=512", "--batch_size=8", "--iterations=1", "--check"]),
    ("71_blackwell_gemm_with_collective_builder/71_blackwell_gemm_with_collective_builder", "100a", ["--m=256", "--n=256", "--k=128"]),
    ("49_hopper_gemm_with_collective_builder/49_collective_builder", "90a", ["--m=256", "--n=256", "--k=128"]),
    ("76_blackwell_conv/76_blackwell_conv_fprop", "100a", ["--n=1", "--d=1", "--h=8", "--w=8", "--c=64", "--k=128", "--iterations=0"]),
]

DEFINES = {"77_blackwell_fmha": ["-DFP16"], "77_blackwell_mla": ["-DFP16"]}


# They fill elements of 4 bits by compare-and-swap of the bytes, whose other half nobody has written yet.
NIBBLES = {"86_blackwell_mixed_dtype", "55_hopper_int4_bf16_gemm"}
# 86 asks whether the minor version is 8 or more, whatever the major one is.
HEADS = {"86_blackwell_mixed_dtype": "#include <cute/tensor.hpp>\n#undef __CUDACC_VER_MINOR__\n#define __CUDACC_VER_MINOR__ 8\n"}


def cases():
    found = []
    for path, arch, args in EXAMPLES:
        folder, name = path.split("/")
        flags = [*FLAGS, f"-I{{source}}/examples/{folder}", *DEFINES.get(name, [])]
        found.append(Program("CUTLASS", name, CUTLASS, f"examples/{path}.cu", arch, flags, args, good=passed,
                             beside="reference", processors=8, head=HEADS.get(name, ""), zeroed=name in NIBBLES))
    return found
