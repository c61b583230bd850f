"""DeepGEMM's kernels for sm_90 and sm_100, through a host of our own."""

from cpp import Program
from cpp_cute import CUTLASS
from harness import Source

DEEP_GEMM = Source("DeepGEMM", "https://github.com/deepseek-ai/DeepGEMM", "54e22612409371d6364144b69086735beb54e98b")
KERNELS = ["SM90_BF16", "SM90_FP8", "SM90_FP8_CONTIGUOUS", "SM90_FP8_MASKED", "SM100_BF16", "SM100_FP8"]


def cases():
    return [Program("DeepGEMM", name.lower(), None, "deep_gemm.cu", "90a" if "90" in name else "100a",
                    ["-std=c++20", "-I{DeepGEMM}/deep_gemm/include", "-I{cutlass}/include", "--expt-relaxed-constexpr", "-lcuda"],
                    needs=[DEEP_GEMM, CUTLASS], head=f"#define KERNEL {name}\n", program=name)
            for name in KERNELS]
