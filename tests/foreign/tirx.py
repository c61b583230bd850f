"""TVM's TIRx: its own tests that run kernels, of each the first form; they compare with NumPy or PyTorch. TVM
makes CUDA C++ of a kernel, and nvcc PTX of that."""

from __future__ import annotations

import pathlib
import shutil

from harness import Absent, Context, Outcome, Program, Source

TVM = Source("tvm", "https://github.com/apache/tvm", "5d4dc8721307cf9677becacf0395c19be130e206")
PACKAGES = ("pytest", "pytest==9.2.0", "iniconfig", "pluggy", "pygments")
TESTS = "tests/python/tirx/"


class TirxTest(Program):
    def run(self, context: Context) -> Outcome:
        folder = TVM.folder(context)
        file, test = self.command[1].split("::")
        if not (folder / TESTS / file).exists():
            raise Absent(f"{TESTS}{file} is not in {folder}")
        self.command = [self.command[0], f"{folder / TESTS / file}::{test}", *self.command[2:]]
        return super().run(context)

    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not pathlib.Path(nvcc).exists():
            raise Absent("there is no nvcc to compile what TVM makes")
        return {"HOST_NVCC": nvcc, "LD_LIBRARY_PATH": str(library)}


OPERATORS = "operator/tile_primitive/cuda/"
# Those that the TVM of the Python package compiles: the tests are newer.
CASES = {
    "codegen/test_codegen_ampere.py": "test_ptx_mma_m16n8k16 test_ptx_mma_m16n8k8",
    "codegen/test_cuda_cta_reduce.py": "test_cta_sum_4_warps test_cta_sum_8_warps test_cta_max_4_warps",
    "codegen/test_cuda_warp_reduce.py": "test_warp_sum_full test_warp_sum_partial_8 test_warp_max_partial_4",
    "codegen/test_codegen_hopper.py": """
        test_stmatrix_sync_aligned test_ptx_stmatrix test_ptx_stmatrix_noncontiguous
        test_cp_async_bulk_tensor_global_to_shared_unicast
        test_cp_async_bulk_tensor_global_to_shared_swizzle
        test_cp_async_bulk_tensor_global_to_shared_multicast1
        test_cp_async_bulk_tensor_global_to_shared_multicast2 test_cp_async_bulk_tensor_shared_to_global""",
    "codegen/test_codegen_blackwell.py": """
        test_tcgen05_ld_st_roundtrip test_tcgen05_cp_ld_roundtrip test_tcgen05_mma_ss_no_tma""",
    OPERATORS + "copy/test_gmem_smem.py": "test_copy_g2s_s2g test_gmem_smem_roundtrip",
    OPERATORS + "copy/test_ld_stmatrix.py": "test_ldstmatrix test_ldstmatrix_swizzle",
    OPERATORS + "copy/test_reg.py": """
        test_copy_g2l_l2g_vec_load test_reg_roundtrip test_reg_copy_tcgen05_d_epilogue_deposit_gpu""",
    OPERATORS + "copy_async/test_ldgsts.py": "test_copy_g2s_s2g_cta_vec_load",
    OPERATORS + "gemm/test_gemm_mma_m16n8k_.py": """
        test_cuda_gemm_mma_numerical test_cuda_gemm_mma_numerical_tiled
        test_cuda_gemm_mma_numerical_transpose""",
    OPERATORS + "reduction/test_reduction.py": "test_reduction_op_warp_shuffle test_reduction_local_thread_wise",
    OPERATORS + "elementwise/test_unary.py": "test_unary_op_shared test_unary_op_vectorized test_cast_thread_local[float32-float16-shape0]",
    OPERATORS + "elementwise/test_binary.py": "test_binary_op_shared test_binary_op_packed_f32x2_auto_dispatch",
    OPERATORS + "elementwise/test_fma.py": "test_fma_buffer_scale_scalar_bias",
}
# The tests for one chip alone, which another condition, for all tests, keeps from running there (conftest.py).
HOPPER = "test_wgmma_ss_nt test_wgmma_rs_nt".split()


def cases() -> list[TirxTest]:
    found = [(100, file, test) for file, tests in CASES.items() for test in tests.split()]
    found += [(90, "codegen/test_codegen_hopper.py", test) for test in HOPPER]
    return [TirxTest(f"{pathlib.Path(file).stem.removeprefix('test_')} {test.removeprefix('test_')}", "tirx", sm,
                     ["programs/pytest_one.py", f"{file}::{test}", *(["--noconftest"] if sm == 90 else [])],
                     says="PASS", packages=PACKAGES) for sm, file, test in found]
