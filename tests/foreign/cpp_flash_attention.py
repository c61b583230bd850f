"""FlashAttention 2 and 3: the forward kernels of CUDA C++, through a host of our own."""

from cpp import Program
from cpp_cute import CUTLASS
from flash_attention import FLASH_ATTENTION

OFF = ["DROPOUT", "ALIBI", "LOCAL", "SOFTCAP", "UNEVEN_K", "PAGEDKV", "SPLIT", "APPENDKV", "PACKGQA", "VARLEN", "BACKWARD"]


def case(version, name, **defines):
    folder, arch = {2: ("csrc/flash_attn/src", "80"), 3: ("hopper", "90a")}[version]
    defines = {"VERSION": version, "TYPE": "half_t", "CAUSAL": "false", "HEADS": 2, "KV_HEADS": 1, **defines}
    head = "".join(f"#define {key} {value}\n" for key, value in defines.items())
    head += "".join(f"#define FLASHATTENTION_DISABLE_{key}\n" for key in OFF)
    return Program("FlashAttention", f"{version} {name}", None, "flash_attention.cu", arch,
                   ["-I{hosts}", f"-I{{flash-attention}}/{folder}", "-I{cutlass}/include", "--expt-relaxed-constexpr",
                    "--expt-extended-lambda", "--use_fast_math"],
                   needs=[FLASH_ATTENTION, CUTLASS], head=head, processors=8)


def cases():
    return [
        case(2, "f16 d64", DIM=64, LEN_Q=256, LEN_KV=256),
        case(2, "bf16 d128 causal uneven", DIM=128, LEN_Q=200, LEN_KV=232, CAUSAL="true", TYPE="bfloat16_t"),
        case(3, "f16 d64 causal uneven", DIM=64, LEN_Q=200, LEN_KV=232, CAUSAL="true"),
        case(3, "f16 d128", DIM=128, LEN_Q=256, LEN_KV=352),
    ]
