"""CuTeDSL: CUTLASS's own examples in Python, as they are, on the inputs that they make; each compares its
result with PyTorch on the CPU. Sizes are small where the program takes them."""

from __future__ import annotations

import pathlib

from harness import Program, Source

CUTLASS = Source("cutlass", "https://github.com/NVIDIA/cutlass", "7107b05535f8977f5ecb9d01ee203205b1fd9bc4")
EXAMPLES = "examples/python/CuTeDSL/"
TARGETS = {80: "sm_80", 90: "sm_90a", 100: "sm_100a", 103: "sm_103a", 120: "sm_120a"}


class Example(Program):
    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        settings = {"ARCH": TARGETS[self.sm], "KEEP": "ptx,cubin", "DUMP_DIR": str(dumps), "DISABLE_FILE_CACHING": "1"}
        return {f"{prefix}_{key}": value for prefix in ("CUTE_DSL", "CUTE_EXPERIMENTAL_DSL")
                for key, value in settings.items()}


def example(sm: int, path: str, arguments: str = "", how: str = "", **more) -> Example:
    """`how`: what the name says of the arguments."""
    name = path.removeprefix("cute/").removeprefix("experimental/").removesuffix(".py").replace("kernel/", "")
    return Example(name + (f" ({how})" if how else ""), "cutedsl", sm, [EXAMPLES + path, *arguments.split()], CUTLASS, **more)


def ampere() -> list[Example]:
    at = "cute/ampere/kernel/"
    return [
        example(80, at + "elementwise/elementwise_add.py", "--M 256 --N 512"),
        example(80, at + "elementwise/elementwise_apply.py", "--M 128 --N 256 --op mul"),
        example(80, at + "dense_gemm/sgemm.py", "--mnk 256,128,32"),
        example(80, at + "dense_gemm/tensorop_gemm.py", "--mnkl 128,128,64,1"),
        example(80, at + "attention/flash_attention_v2.py",
                "--batch_size 1 --seqlen_q 128 --seqlen_k 192 --num_head 2 --head_dim 64 --is_causal"),
        example(80, at + "attention/hstu_attention.py",
                "--batch_size 1 --seqlen_q 64 --seqlen_kv 64 --num_head 1 --head_dim 64 --is_causal"),
        example(80, "cute_ext/ampere/memcpy_simt_universal_copy.py",
                packages=("pytest", "pytest==9.2.0", "iniconfig", "pluggy", "pygments")),
    ]


def hopper() -> list[Example]:
    at = "cute/hopper/kernel/"
    gemm = at + "dense_gemm/"
    size = "--mnkl 256,256,128,1"
    return [
        example(90, gemm + "dense_gemm.py", size),
        example(90, gemm + "dense_gemm.py", size + " --a_dtype Float8E4M3FN --b_dtype Float8E4M3FN --cluster_shape_mn 2,1",
                "e4m3, cluster"),
        example(90, gemm + "dense_gemm_persistent.py", size, sms=4),
        example(90, gemm + "dense_gemm_fp8_2xacc.py", size),
        example(90, gemm + "dense_gemm_fp8_gelu_persistent.py", size, sms=4),
        example(90, at + "cta_norm/cta_norm.py", "--M 16 --N 1024 --norm_type layer", "layer"),
        example(90, at + "cta_norm/cta_norm.py", "--M 16 --N 1024 --norm_type rms", "rms"),
        example(90, at + "grouped_gemm/grouped_gemm.py", "--num_groups 2 --problem_sizes_mnkl (128,128,64,1),(256,128,128,1)",
                sms=4),
        example(90, at + "attention/fmha.py", "--q_shape 1,256,2,64 --k_shape 1,256,2,64"),
        example(90, at + "attention/fmha.py", "--q_shape 1,256,2,128 --k_shape 1,256,2,128 --is_causal", "causal"),
    ]


def geforce() -> list[Example]:
    at = "cute/blackwell_geforce/kernel/"
    return [
        example(120, at + "dense_gemm/dense_gemm.py", "--mnkl 256,256,128,1", sms=4),
        example(120, at + "blockscaled_gemm/dense_blockscaled_gemm_persistent_pingpong.py", "--mnkl 256,256,256,1", sms=4),
        example(120, at + "blockscaled_gemm/dense_blockscaled_gemm_persistent_cooperative.py", "--mnkl 256,256,256,1", sms=4),
    ]


def blackwell() -> list[Example]:
    at = "cute/blackwell/kernel/"
    gemm = at + "dense_gemm/"
    size = "--mnkl 256,256,128,1 --ab_dtype Float16 --c_dtype Float16"
    pair = size + " --mma_tiler_mn 256,128 --cluster_shape_mn 2,1 --use_2cta_instrs --use_tma_store"
    attention = at + "attention/"
    return [
        example(100, gemm + "dense_gemm.py", "--mnkl 256,256,128,1"),
        example(100, gemm + "dense_gemm.py", pair, "pair"),
        example(100, gemm + "dense_gemm_persistent.py", size + " --use_tma_store", sms=4),
        example(100, gemm + "dense_gemm_persistent.py", pair, "pair", sms=4),
        example(100, gemm + "dense_gemm_persistent_prefetch.py", size, sms=4),
        example(100, gemm + "dense_gemm_persistent_dynamic.py", size, sms=4),
        example(100, gemm + "dense_gemm_software_pipeline.py", size),
        example(100, gemm + "dense_gemm_alpha_beta_persistent.py", size, sms=4),
        example(100, at + "blockscaled_gemm/dense_blockscaled_gemm_persistent.py", "--mnkl 256,256,256,1", sms=4),
        example(100, at + "blockscaled_gemm/dense_blockscaled_gemm_persistent_amax.py", "--mnkl 256,256,256,1", sms=4),
        example(100, at + "blockscaled_gemm/dense_blockscaled_gemm_persistent_prefetch.py", "--mnkl 256,256,256,1", sms=4),
        example(103, at + "blockscaled_gemm/sm103_dense_blockscaled_gemm_persistent.py",
                "--mnkl 256,256,768,1 --mma_tiler_mn 128,128 --cluster_shape_mn 1,1", sms=4),
        example(100, at + "blockscaled_grouped_gemm/grouped_blockscaled_gemm.py", "", sms=4),
        example(103, at + "blockscaled_grouped_gemm/sm103_grouped_blockscaled_gemm.py", "", sms=4),
        example(100, at + "blockwise_gemm/blockwise_gemm.py", "--mnkl 256,256,256,1", sms=4),
        example(100, at + "blockwise_gemm/contiguous_grouped_gemm.py", "--mnkl 128,256,256,2", sms=4),
        example(100, at + "blockwise_gemm/masked_grouped_gemm.py", "--mnkl 128,256,256,2", sms=4),
        example(100, at + "grouped_gemm/grouped_gemm.py", "", sms=4),
        example(100, at + "mixed_input_gemm/mixed_input_gemm.py", "", sms=4),
        example(100, at + "mixed_input_gemm/grouped_mixed_input_gemm.py", "", sms=4),
        example(100, at + "mixed_input_gemm/grouped_mixed_input_gemm_acc_scale.py", "", sms=4),
        example(100, at + "moe/torch_grouped_mm.py",
                "--tokens 64 --experts 4 --top_k_select 2 --hidden 256 --intermediate 256", sms=4),
        example(100, at + "moe/torch_scaled_grouped_mm.py", "", sms=4),
        example(100, at + "rmsnorm/rmsnorm.py", "--M 16 --N 1024"),
        example(100, attention + "fmha/fmha.py", "--q_shape 1,256,2,64 --k_shape 1,256,2,64"),
        example(100, attention + "fmha/fmha.py", "--q_shape 1,256,2,128 --k_shape 1,256,2,128 --is_causal --is_persistent",
                "causal, persistent", sms=4),
        example(100, attention + "fmha/fmha_bwd.py", "--s_q 128 --s_k 128 --h_q 1 --h_k 1 --d 64"),
        example(100, attention + "mla/mla_decode_fp16.py"),
        example(100, attention + "mla/mla_decode_fp8.py"),
        example(100, attention + "mamba2_ssd/mamba2_ssd.py", "--gbehcdln 2,2,2,2,2,64,128,128", sms=4),
        example(100, attention + "mixed_input_fmha/mixed_input_fmha_decode.py", "--seqlen 256 --heads_q 8", sms=4),
        example(100, attention + "mixed_input_fmha/mixed_input_fmha_prefill_d256.py",
                "--q_shape 1,1,256,256 --k_shape 1,1,256,256"),
        example(100, attention + "mixed_input_fmha/mixed_input_fmha_prefill_d512.py",
                "--q_shape 1,1,256,512 --k_shape 1,1,256,512"),
        example(100, "cute/blackwell/efc/custom_epilogue_dense_gemm.py", sms=4),
        example(100, "cute/blackwell/efc/synthetic_custom_epilogue_dense_gemm.py", sms=4),
        example(100, "cute/blackwell/efc/activation_custom_epilogue_dense_gemm.py", sms=4),
        example(100, "cute_ext/blackwell/dense_gemm.py", "--mnkl 256,256,128,1"),
        example(100, "cute_ext/blackwell/dense_gemm_2sm.py"),
        example(100, "cute_ext/blackwell/dense_gemm_ptr_array.py", "--mnkl 256,256,128,2"),
        example(100, "cute_ext/blackwell/dense_gemm_cute_pipeline.py", "--mnkl 256,256,128,1", sms=4),
        example(100, "cute_ext/blackwell/dense_block_scaled_gemm.py", "--mnkl 256,256,256,1"),
    ]


def tutorials() -> list[Example]:
    gemm = "cute/blackwell/tutorial/tutorial_gemm/"
    tma = "cute/blackwell/tutorial/tutorial_tma/"
    steps = "experimental/task_scheduling/blackwell/tutorial/"
    return [
        *[example(100, gemm + f"fp16_gemm_{n}.py", "--mnk 256,256,128", sms=4) for n in ("0", "1", "2", "3", "3_1", "4", "5", "6")],
        example(100, gemm + "nvfp4_gemm_0.py", "--mnkl 256,256,256,1", sms=4),
        example(100, gemm + "nvfp4_gemm_1.py", "--mnkl 256,256,256,1", sms=4),
        *[example(100, tma + f"tma_v{n}.py", "--M 128 --N 128") for n in (0, 1, 2)],
        *[example(100, "dsl_tutorials/" + name) for name in (
            "call_bypass_dlpack.py", "call_from_jit.py", "cooperative_launch.py", "inline_ptx.py", "smem_allocator.py",
            "programmatic_dependent_launch.py")],
        *[example(100, steps + name, sms=4) for name in (
            "01_copy_basics_ts/01_copy_grid_stride.py", "01_copy_basics_ts/02_copy_tma.py",
            "02_gemm_simple_ts/01_fp16_bf16_gemm_3.py",
            "03_persistent_scheduling_dynamic_domain_ts/01_copy_persistent_skip_tile.py",
            "03_persistent_scheduling_dynamic_domain_ts/02_copy_varlen_dynamic_domain.py",
            "04_gemm_bf16_advanced_ts/01_fp16_bf16_gemm_3_cluster.py",
            "04_gemm_bf16_advanced_ts/02_fp16_bf16_gemm_3_cute_cluster.py",
            "05_gemm_nvfp4_ts/01_gemm_nvfp4.py", "06_gemm_split_k_fp16_ts/01_gemm_split_k_fp16.py",
            "07_group_pipeline_ts/01_merge_copy.py", "07_group_pipeline_ts/02_merge_gemm.py",
            "07_group_pipeline_ts/03_merge_gemm_resadd.py", "07_group_pipeline_ts/04_fork_load_gemm_act.py")],
    ]


def primitives() -> list[Example]:
    at = "experimental/primitives/"
    names = """async_pipeline bar_warp_sync barrier_cta_red barrier_cta_sync basic_types cp_async_bulk cp_async_bulk_prefetch
        cp_async_mbarrier_arrive_cluster cp_async_mbarrier_arrive_cta cp_async_shared_global
        cp_async_shared_global_swizzled elect_sync ldmatrix_stmatrix mapa mbarrier mbarrier_lifecycle
        pipeline_software_fill red redux_sync shfl_sync vote_sync warp_named_barrier
        reduction/block_smem_reduce reduction/cluster_smem_reduce reduction/cluster_tmem_reduce
        reduction/thread_vector_reduce reduction/warp_vector_reduce
        tcgen05/1cta_mma_a_from_tmem tcgen05/1cta_mma_basic tcgen05/1cta_mma_mn_major tcgen05/1cta_mma_pipeline
        tcgen05/2cta_mma_basic tcgen05/2cta_mma_blockscale_m128 tcgen05/2cta_mma_tma_store tcgen05/clusterMxN_2cta_mma
        tcgen05/cp_narrow_a_to_tmem_mma tcgen05/mcast_clusterMxN_1cta_mma tcgen05/mcast_clusterMxN_2cta_mma
        tcgen05/slicek_m32n8k128 tcgen05/tmem_ld_st tcgen05/tmem_ld_to_stmatrix_transpose
        tma/tma_1cta_mbarrier tma/tma_load_store tma/tma_load_to_ldmatrix tma/tma_multicast tma/tma_pipeline_count2
        tma/tma_pipeline_pingpong tma/tma_pipeline_single_warp tma/tma_pipeline_warpspec tma/tma_store
        tma/tma_swizzle_modes tma/tma_tensormap_replace tutorial/02_naive_gemm tutorial/03_gemm_tiled_smem
        tutorial/05_minimal_tensor_mma tutorial/06_softmax tutorial/07_vectorized_array
        tutorial/10_minimal_tensor_mma_fp8 tutorial/gemm_M128_N128_Kany_TN_warpspec_multistage""".split()
    return [example(100, at + name + ".py") for name in names]


def cases() -> list[Example]:
    return [*ampere(), *hopper(), *blackwell(), *geforce(), *tutorials(), *primitives()]
