"""CuTe's tutorials (CUTLASS, examples/cute/tutorial)."""

from cpp import Program
from harness import Source

CUTLASS = Source("cutlass", "https://github.com/NVIDIA/cutlass", "7107b05535f8977f5ecb9d01ee203205b1fd9bc4")
FLAGS = ["-I{source}/include", "-I{source}/tools/util/include", "-I{source}/examples/common",
         "--expt-relaxed-constexpr"]


def cases():
    tutorial = "examples/cute/tutorial"

    def program(file, arch, args, **more):
        name = file.rsplit("/", 1)[-1].removesuffix(".cu")
        return Program("CuTe tutorials", name, CUTLASS, f"{tutorial}/{file}", arch, FLAGS, args, **more)

    blackwell = ["512", "1024", "256"]
    return [
        program("tiled_copy.cu", "80", []),
        program("hopper/wgmma_sm90.cu", "90a", ["256", "256", "256"]),
        program("hopper/wgmma_tma_sm90.cu", "90a", ["256", "256", "256"]),
        program("blackwell/01_mma_sm100.cu", "100a", blackwell),
        program("blackwell/02_mma_tma_sm100.cu", "100a", blackwell),
        program("blackwell/03_mma_tma_multicast_sm100.cu", "100a", blackwell),
        program("blackwell/04_mma_tma_2sm_sm100.cu", "100a", blackwell),
        program("blackwell/05_mma_tma_epi_sm100.cu", "100a", blackwell),
    ]
