"""learn-cuda's and fast.cu's kernels: products, attention, softmax, sums. Their hosts need PyTorch
or cuBLAS; those in hosts/ do not."""

from cpp import Program
from harness import Source

LEARN_CUDA = Source("learn-cuda", "https://github.com/gau-nernst/learn-cuda", "1454f8b71499a68eacdbf44c08e36a7003d8ab99")
FAST_CU = Source("fast.cu", "https://github.com/pranjalssh/fast.cu", "38eb642e0c081231d6f695978be63604bd7c689b")


def host(suite, name, source, file, host_file, arch, args=(), flags=(), folder="", **defines):
    return Program(suite, name, None, host_file, arch,
                   [f'-DSOURCE="{{{source.name}}}/{file}"', "-I{source}", f"-I{{{source.name}}}/{folder}", "-lcuda", "--expt-relaxed-constexpr",
                    *(f"-D{key}={value}" for key, value in defines.items()), *flags],
                   list(args), needs=[source])


def cases():
    found = []

    def learn(name, file, host_file, arch, args=(), **defines):
        found.append(host("learn-cuda", name, LEARN_CUDA, file, host_file, arch, args,
                          folder=file.split("/")[0], **defines))

    for version in ("v1", "v2", "v3", "v4", "v5", "v6a", "v6b"):
        learn(f"matmul_simt {version}", "02a_matmul_simt/matmul.cu", "matmul.cu", "80", ["256", "128", "128"],
              FUNCTION=f"matmul_{version}", IN="float", OUT="float", B_ROWS=1)
    for version, file in (("v1", "v1"), ("v2", "v1"), ("v3", "v1"), ("v4", "v1"), ("v5", "v5"), ("v6", "v6"), ("v6b", "v6")):
        learn(f"matmul_sm80 {version}", f"02b_matmul_sm80/matmul_{file}.cu", "matmul.cu", "80", ["256", "256", "256"],
              FUNCTION=f"matmul_{version}", IN="nv_bfloat16", OUT="nv_bfloat16")
    for version in ("v0", "v1", "v2", "v3"):
        for kind, of, to in (("bf16", "nv_bfloat16", "nv_bfloat16"), ("int8", "int8_t", "int")):
            learn(f"matmul_sm120 {version} {kind}", f"02c_matmul_sm120/matmul_{version}.cu", "matmul.cu", "120a",
                  ["256", "256", "256"], FUNCTION=f"matmul_{version}_{kind}", IN=of, OUT=to)
    for version in ("v1a", "v1b", "v2a", "v2b", "v3", "v4", "v5", "v6", "v7a", "v7b", "v7c"):
        learn(f"matmul_sm100 {version}", f"02e_matmul_sm100/matmul_{version[:2]}.cu", "matmul.cu", "100a",
              ["512", "512", "256"], FUNCTION=f"matmul_{version}", IN="nv_bfloat16", OUT="nv_bfloat16")
    for version in ("v1", "v2", "v3", "v4", "v5"):
        learn(f"attention {version}", f"07_attention/attention_{version}.cu", "attention.cu", "80",
              FUNCTION=f"attention_{version}")
    for version in ("naive", "naive_split", "online", "online_split"):
        learn(f"softmax {version}", "04_softmax/softmax.cu", "softmax.cu", "80", FUNCTION=f"softmax_{version}")
    for version, rest in (("v1", "m, n, 128"), ("v2", "m, n, 128"), ("v3", "m, n, 1024, 128"), ("v4a", "m, n, 1024, 128"),
                          ("v4b", "m, n, 1024, 128"), ("v4c", "m, n, 1024, 128"), ("v5", "m, n, 1024, 128"),
                          ("v6", "m, n, 1024, 128")):
        learn(f"sum {version}", "03_sum/sum.cu", "sum.cu", "80", CALL=f"sum_{version}(in, out, {rest})")
    for kind in ("int8_t", "__nv_fp8_e4m3"):
        learn(f"row_scaled_mm {kind}", "08_row_scaled_mm/row_scaled_mm_v1.cu", "row_scaled.cu", "120a", IN=kind)
    for version, order in (("v1", 0), ("v2", 1), ("v2b", 1), ("v3", 2)):
        learn(f"mxfp8_mm {version}", f"09a_block_scaled_mm_sm120/mxfp8_mm_{version}.cu", "mxfp8.cu", "120a",
              FUNCTION=f"mxfp8_mm_{version}", ORDER=order)
    for version in ("cuda_v1", "cuda_persistent_v1"):
        for arch in ("90a", "100a"):
            learn(f"gemv {version} sm_{arch}", f"11_gemv/{version}.cu", "matmul.cu", arch, ["1", "512", "1024"],
                  FUNCTION=version, CALL=f"{version}(da, db, dc, n, k)", IN="nv_bfloat16", OUT="nv_bfloat16")
    for number in range(1, 13):
        more = "" if number < 3 else ", check::upload(std::vector<int>(1 << 16, -1))"
        found.append(host("fast.cu", f"matmul_{number}", FAST_CU, f"examples/matmul/matmul_{number}.cuh", "matmul.cu",
                          "90a", ["512", "512", "256"], PRELUDE='"fast_cu.h"', FUNCTION=f"runKernel{number}",
                          CALL=f"FUNCTION(m, n, k, da, db, dc{more})", IN="nv_bfloat16", OUT="nv_bfloat16", C_COLUMNS=1))
    return found
