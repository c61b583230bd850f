"""ThunderKittens: its two ladders of products and its GEMMs, with their own checks, and its attention, with ours."""

import dataclasses
import re

from cpp import Program, well
from harness import Source

KITTENS = Source("ThunderKittens", "https://github.com/HazyResearch/ThunderKittens",
                 "0b55588d2769dde0c7a9a606ffc015b0ca7a9551")


def no_errors(done):
    return done.returncode == 0 and re.search(r"Error count: 0\b", done.stdout) is not None


def small_errors(done):
    """The largest error of its check is small beside the largest value."""
    found = re.search(r"abs max: +(\S+)\s+err mean: +\S+\s+err max: +(\S+)", done.stdout)
    return done.returncode == 0 and found is not None and float(found[2]) <= 0.01 * float(found[1])


def program(name, file, chip, call, good):
    arch = {"H100": "90a", "B200": "100a", "B300": "103a"}[chip]
    flags = ["-std=c++20", "--use_fast_math", "--expt-extended-lambda", "--expt-relaxed-constexpr", "-DNDEBUG",
             f"-DKITTENS_{'HOPPER' if chip == 'H100' else 'BLACKWELL'}", "-I{ThunderKittens}/include", "-I{ThunderKittens}/prototype", f"-I{{ThunderKittens}}/{file.rsplit('/', 1)[0]}",
             "-lcuda", "-diag-suppress", "3189"]
    head = f'#define SOURCE "{{ThunderKittens}}/{file}"\n#define CALL {call}\n'
    return Program("ThunderKittens", name, None, "kittens.cu", arch, flags, [], good=good, needs=[KITTENS], head=head,
                   program=f"kittens_{name}", beside="reference|fill", processors=8)


def attention(name, file, chip, kind, **defines):
    one = program(name, f"kernels/attention/{file}", chip, "", well)
    defines = {"KIND": kind, "DIM": 128, "CAUSAL": "false", **defines}
    head = "".join(f"#define {key} {value}\n" for key, value in defines.items() if key != "LENGTH")
    return dataclasses.replace(one, file="kittens_attention.cu", good=well,
                               flags=["-I{hosts}", *one.flags], beside=None,
                               head=f'#define SOURCE "{{ThunderKittens}}/kernels/attention/{file}"\n{head}'
                                    f"constexpr int LENGTH = {defines['LENGTH']};\n")


def cases():
    found = []
    for level in range(1, 9):
        found.append(program(f"educational_h100 level {level}", f"kernels/gemm/educational_h100/level_{level:02}.cu", "H100",
                             "run_benchmark(256, 256, 256)", no_errors))
    for level in range(1, 10):
        found.append(program(f"educational_b200 level {level}", f"kernels/gemm/educational_b200/level_{level:02}.cu", "B200",
                             "run_benchmark(512)", no_errors))
    found += [
        program("bf16_h100_gemm", "kernels/gemm/bf16_h100/bf16_h100_gemm.cu", "H100",
                "run_benchmark<matmul_template<2, 4, 8>>(512, 512, 256)", small_errors),
        program("fp8_h100_gemm", "kernels/gemm/fp8_h100/fp8_h100_gemm.cu", "H100",
                "run_benchmark<matmul_template<8>>(512, 512, 512)", no_errors),
        program("bf16_b200_gemm", "kernels/gemm/bf16_b200/bf16_b200_gemm.cu", "B200",
                "run_benchmark<config<256, 256, 64, 4, false, 4, 8>>(512, 512, 512, true) < 0", small_errors),
        program("fp8_b200_gemm", "kernels/gemm/fp8_b200/fp8_b200_gemm.cu", "B200",
                "run_benchmark<config<256, 256, 128, 4, true, 6, 4>>(512, 512, 512, true) < 0", small_errors),
        program("mxfp8_b200_gemm", "kernels/gemm/mxfp8_b200/mxfp8_b200_gemm.cu", "B200",
                "run_benchmark<mxfp8_gemm::config<256, 5, 8, 8, 2, false>>(512, 512, 512, true) < 0", small_errors),
        program("nvfp4_b200_gemm", "kernels/gemm/nvfp4_b200/nvfp4_b200_gemm.cu", "B200",
                "run_benchmark<nvfp4_gemm::config<256, 5, 8, 4, 2, true>>(512, 512, 512, true) < 0", small_errors),
    ]
    mha = "mha_h100/mha_h100.cu"
    found += [
        attention("mha_h100 d128", mha, "H100", 1, LENGTH=384),
        attention("mha_h100 d64 causal", mha, "H100", 1, LENGTH=384, DIM=64, CAUSAL="true"),
        attention("mha_h100_lcf d128", "mha_h100_lcf/mha_h100_lcf.cu", "H100", 2, LENGTH=384),
        attention("bf16_b300_mha_noncausal", "bf16_b300_mha_noncausal/bf16_b300_mha_noncausal.cu", "B300", 3, LENGTH=512, CALL="dispatch"),
        attention("bf16_b300_mha_causal", "bf16_b300_mha_causal/bf16_b300_mha_causal.cu", "B300", 3, LENGTH=512, CAUSAL="true",
                  CALL="dispatch<false>"),
    ]
    return found
