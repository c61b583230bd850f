"""learn-cuda's and fast.cu's kernels: products, attention, softmax, sums. Their hosts need PyTorch
or cuBLAS; those in hosts/ do not."""

from cpp import Program
from harness import Source

LEARN_CUDA = Source("learn-cuda", "https://github.com/gau-nernst/learn-cuda", "1454f8b71499a68eacdbf44c08e36a7003d8ab99")
FAST_CU = Source("fast.cu", "https://github.com/pranjalssh/fast.cu", "38eb642e0c081231d6f695978be63604bd7c689b")


def hosted(suite, source, file, host, arch, functions, args=(), names=None, sums=None, **defines):
    """A case for each function of a file: one program has them all."""
    flags = ["-I{source}", f"-I{{{source.name}}}/{file.rsplit('/', 1)[0]}", "-lcuda", "--expt-relaxed-constexpr"]
    defines = {"SOURCE": f'"{{{source.name}}}/{file}"', "EACH(x)": " ".join(f"x({f})" for f in functions), **defines}
    head = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    return [Program(suite, (names or {}).get(function, function), None, host, arch, flags, [function, *args],
                    needs=[source], head=head, sums=sums, program=file.rsplit("/", 1)[1].rsplit(".", 1)[0])
            for function in functions]


def cases():
    found = []

    def learn(file, host, arch, functions, args=(), label="", **defines):
        names = {f: f"{file.split('/')[0]}: {f}{label}" for f in functions}
        sums = "float32" if host == "sum.cu" else None  # by atomics: in any order
        found.extend(hosted("learn-cuda", LEARN_CUDA, file, host, arch, functions, args, names, sums, **defines))

    bf16 = {"IN": "nv_bfloat16", "OUT": "nv_bfloat16"}
    learn("02a_matmul_simt/matmul.cu", "matmul.cu", "80", [f"matmul_{v}" for v in ("v1", "v2", "v3", "v4", "v5", "v6a", "v6b")],
          ["256", "128", "128"], IN="float", OUT="float", B_ROWS=1)
    for file, functions in (("v1", ["v1", "v2", "v3", "v4"]), ("v5", ["v5"]), ("v6", ["v6", "v6b"])):
        learn(f"02b_matmul_sm80/matmul_{file}.cu", "matmul.cu", "80", [f"matmul_{v}" for v in functions],
              ["256", "256", "256"], **bf16)
    for file, functions in (("v1", ["v1a", "v1b"]), ("v2", ["v2a", "v2b"]), ("v3", ["v3"]), ("v4", ["v4"]), ("v5", ["v5"]),
                            ("v6", ["v6"]), ("v7", ["v7a", "v7b", "v7c"])):
        learn(f"02e_matmul_sm100/matmul_{file}.cu", "matmul.cu", "100a", [f"matmul_{v}" for v in functions],
              ["512", "512", "256"], PRELUDE="<tuple>", **bf16)
    learn("03_sum/sum.cu", "sum.cu", "80", [f"sum_{v}" for v in ("v1", "v2", "v3", "v4a", "v4b", "v4c", "v5", "v6")])
    learn("04_softmax/softmax.cu", "softmax.cu", "80", [f"softmax_{v}" for v in ("naive", "naive_split", "online", "online_split")])
    for number in range(1, 13):
        more = {"DEBUG_BUFFER": 1} if number > 2 else {}
        if number > 10:  # an assertion names what is not there
            more["NDEBUG"] = 1
        found.extend(hosted("fast.cu", FAST_CU, f"examples/matmul/matmul_{number}.cuh", "matmul.cu", "90a", [f"runKernel{number}"],
                            ["512", "512", "256"] if number < 6 else ["2048", "2048", "128"], PRELUDE='"fast_cu.h"', **({"C_COLUMNS": 1} if number > 1 else {"B_ROWS": 1}),
                            **more, **bf16))
    for version in ("v1", "v2", "v3", "v4", "v5"):
        learn(f"07_attention/attention_{version}.cu", "attention.cu", "80", [f"attention_{version}"])
    for kind in ("int8_t", "__nv_fp8_e4m3"):
        learn("08_row_scaled_mm/row_scaled_mm_v1.cu", "row_scaled.cu", "120a", ["row_scaled_mm_v1"], label=f" {kind}", IN=kind)
    for version, order in (("v1", 0), ("v2", 1), ("v2b", 1)):
        learn(f"09a_block_scaled_mm_sm120/mxfp8_mm_{version}.cu", "mxfp8.cu", "120a", [f"mxfp8_mm_{version}"], ORDER=order)
    for version in ("cuda_v1", "cuda_persistent_v1"):
        learn(f"11_gemv/{version}.cu", "matmul.cu", "100a", [version], ["1", "512", "1024"], CALL_WITH="(da, db, dc, n, k)", **bf16)
    for version in ("v0", "v1", "v2", "v3"):
        learn(f"02c_matmul_sm120/matmul_{version}.cu", "matmul.cu", "120a", [f"matmul_{version}_bf16"], ["256", "256", "256"], PRELUDE="<tuple>", **bf16)
        learn(f"02c_matmul_sm120/matmul_{version}.cu", "matmul.cu", "120a", [f"matmul_{version}_int8"], ["256", "256", "256"],
              PRELUDE="<tuple>", IN="int8_t", OUT="int")
    return found
