#!/usr/bin/env python3
"""Programs of others, as they are, under `tilescope exec`: fetched with git at a fixed commit, built
by nvcc with PTX, run on the simulator, and what came of it as a table.

  tests/exec/programs.py [NAME...]            all of them, or those that are called NAME, or contain it
      --tilescope FILE   which one (default build/tilescope)
      --work DIR         where sources, programs and results lie (default build/exec-programs)
      --sources DIR      a folder with checkouts that are there already, by name (cuda-samples, ...)
      --build-only       builds, and runs nothing
      --again            also those that have a result in DIR
      --table FILE       writes the table (docs/manual/exec-programs.md)

Nothing that is fetched is part of this project. Each program has the sources, flags and arguments
that its own makefile or manual names, where an argument can, with a small problem; sources are not
changed. `check` is what a program prints when its own check has passed; where it has none, that it
ends with 0. `until` ends a program that measures itself for hours once its check has passed.
"""

import argparse
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

REPOSITORIES = {
    "cuda-samples": ("https://github.com/NVIDIA/cuda-samples",
                     "c94ff366aed18c797b8a85dfaac7817b0228b420"),
    "llm.c": ("https://github.com/karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a"),
    "SGEMM_CUDA": ("https://github.com/siboehm/SGEMM_CUDA",
                   "60cba6f9b20a198116c76f18de8047f44df8c8b8"),
    "fast.cu": ("https://github.com/pranjalssh/fast.cu",
                "38eb642e0c081231d6f695978be63604bd7c689b"),
    "learn-cuda": ("https://github.com/gau-nernst/learn-cuda",
                   "1454f8b71499a68eacdbf44c08e36a7003d8ab99"),
    "cutlass": ("https://github.com/NVIDIA/cutlass", "7107b05535f8977f5ecb9d01ee203205b1fd9bc4"),
}


@dataclass
class Program:
    name: str
    repository: str
    folder: str
    sources: list
    flags: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    check: str = ""                              # a regular expression; BY_EXIT; "": it has none, and ends with 0
    until: str = ""                              # ends it there
    ends_with: int = 0                           # its own exit code
    images: list = field(default_factory=list)   # (file, source, kind): what it loads itself
    beside: list = field(default_factory=list)   # files that it looks for where it runs
    chip: str = "compute_80"
    options: list = field(default_factory=list)  # of tilescope exec
    seconds: int = 60                            # of computing, no longer
    planted: bool = False                        # has a mistake on purpose
    why: str = ""                                # why it fails, where that is known


BY_EXIT = "its exit code"                        # says whether its own check has passed
PASSED = r"(?i)test passed|result = pass|: pass\b|passed!|\bpass(ed)?\b|success|succeeded|OK\b"
ALL: list[Program] = []


def sample(path, sources=None, **more):
    """One of NVIDIA's samples: a folder of Samples, by default with the one .cu of its name."""
    name = path.split("/")[-1]
    more.setdefault("check", PASSED)
    ALL.append(Program(name, "cuda-samples", "Samples/" + path, sources or [name + ".cu"], **more))


INTRO, TECHNIQUE, FEATURE = ("0_Introduction/", "2_Concepts_and_Techniques/", "3_CUDA_Features/")
DOMAIN, SPEED, LIBRARY = "5_Domain_Specific/", "6_Performance/", "4_CUDA_Libraries/"

sample(INTRO + "vectorAdd")
sample(INTRO + "matrixMul", arguments=["-wA=64", "-hA=64", "-wB=64", "-hB=64"])
sample(INTRO + "asyncAPI", check="")
sample(INTRO + "clock", check="Average clocks")
sample(INTRO + "fp16ScalarProduct", check="")
sample(INTRO + "mergeSort", ["main.cpp", "bitonic.cu", "mergeSort.cu", "mergeSort_host.cpp",
                             "mergeSort_validate.cpp"], check="inverse relation|validated|OK")
sample(INTRO + "simpleAWBarrier")
sample(INTRO + "simpleAssert", check="device-side assert", ends_with=3, planted=True)
sample(INTRO + "simpleAtomicIntrinsics",
       ["simpleAtomicIntrinsics.cu", "simpleAtomicIntrinsics_cpu.cpp"], check="returned OK",
       why="atomics of all threads on one word are slow")
sample(INTRO + "simpleAttributes", check="", why="720,895 rounds of each thread")
sample(INTRO + "simpleCallback", ["simpleCallback.cu", "multithreading.cpp"])
sample(INTRO + "simpleCooperativeGroups", check="Sum of all ranks")
sample(INTRO + "simpleHyperQ", check="Measured time", why="waits for 10 ms by the clock, 64 times")
sample(INTRO + "simpleMultiCopy", check=BY_EXIT)
sample(INTRO + "simpleMultiGPU", check="")
sample(INTRO + "simpleOccupancy")
sample(INTRO + "simplePrintf", check=r"Value is:10")
sample(INTRO + "simpleStreams", check="")
sample(INTRO + "simpleTemplates", check="OK|success")
sample(INTRO + "simpleVoteIntrinsics", check="OK")
sample(INTRO + "simpleZeroCopy", check=BY_EXIT)
sample(INTRO + "systemWideAtomics", check="returned OK",
       why="atomics of all threads on one word are slow")
sample(INTRO + "template", ["template.cu", "template_cpu.cpp"], check="")
sample(INTRO + "UnifiedMemoryStreams", flags=["-Xcompiler", "-fopenmp", "-lcublas"], check="All Done",
       options=["--device", "rtx5090"], why="its cublasDgemv is machine code alone")
sample(INTRO + "cudaOpenMP", flags=["-Xcompiler", "-fopenmp"], check="")
sample(INTRO + "vectorAddDrv", ["vectorAddDrv.cpp"], flags=["-lcuda"],
       images=[("vectorAdd_kernel64.fatbin", "vectorAdd_kernel.cu", "-fatbin")])
sample(INTRO + "matrixMulDrv", ["matrixMulDrv.cpp"], flags=["-lcuda"],
       images=[("matrixMul_kernel64.fatbin", "matrixMul_kernel.cu", "-fatbin")])
sample(INTRO + "simpleDrvRuntime", ["simpleDrvRuntime.cpp"], flags=["-lcuda"],
       images=[("vectorAdd_kernel64.fatbin", "vectorAdd_kernel.cu", "-fatbin")])
sample(INTRO + "vectorAddMMAP", ["vectorAddMMAP.cpp", "multidevicealloc_memmap.cpp"],
       flags=["-lcuda"], images=[("vectorAdd_kernel64.fatbin", "vectorAdd_kernel.cu", "-fatbin")])
sample(INTRO + "vectorAdd_nvrtc", ["vectorAdd.cpp"], flags=["-lcuda", "-lnvrtc"], beside=["*.cu*"])
sample(INTRO + "clock_nvrtc", ["clock.cpp"], flags=["-lcuda", "-lnvrtc"], beside=["*.cu*"], check="Average clocks")
sample(INTRO + "simpleAtomicIntrinsics_nvrtc",
       ["simpleAtomicIntrinsics.cpp", "simpleAtomicIntrinsics_cpu.cpp"],
       flags=["-lcuda", "-lnvrtc"], beside=["*.cu*"], check="returned OK")

sample(INTRO + "matrixMulDynlinkJIT",
       ["matrixMulDynlinkJIT.cpp", "cuda_drvapi_dynlink.c", "matrixMul_gold.cpp",
        "matrixMul_kernel_64_ptxdump.c"], why="its PTX is for sm_10, of 2009")
sample(INTRO + "simpleAssert_nvrtc", ["simpleAssert.cpp"], flags=["-lcuda", "-lnvrtc"],
       beside=["*.cu*"], check="device-side assert|assert", ends_with=3, planted=True)
sample(INTRO + "simpleTexture")
sample(INTRO + "simpleTextureDrv", ["simpleTextureDrv.cpp"], flags=["-lcuda"],
       images=[("simpleTexture_kernel64.fatbin", "simpleTexture_kernel.cu", "-fatbin")], check=BY_EXIT)
sample(INTRO + "simplePitchLinearTexture")
sample(INTRO + "simpleSurfaceWrite")
sample(INTRO + "simpleLayeredTexture", check=BY_EXIT)
sample(INTRO + "simpleCubemapTexture", check=BY_EXIT)

sample("1_Utilities/deviceQuery", ["deviceQuery.cpp"])
sample("1_Utilities/deviceQueryDrv", ["deviceQueryDrv.cpp"], flags=["-lcuda"])
sample("1_Utilities/topologyQuery", check="")

for kind in ("InlineP", "InlineQ", "P", "Q"):
    sample(TECHNIQUE + "MC_EstimatePi" + kind, ["src/main.cpp", "src/piestimator.cu",
                                                "src/test.cpp"],
           flags=["-I", "inc", "-lcurand"], arguments=["--sims=100000"], check=BY_EXIT,
       why="" if "Inline" in kind else "cuRAND has PTX for sm_121 alone")
sample(TECHNIQUE + "MC_SingleAsianOptionP", ["src/main.cpp", "src/pricingengine.cu",
                                             "src/test.cpp"],
       flags=["-I", "inc", "-lcurand"], arguments=["--sims=100000"], check=BY_EXIT)
sample(TECHNIQUE + "convolutionSeparable", ["main.cpp", "convolutionSeparable.cu",
                                            "convolutionSeparable_gold.cpp"])
sample(TECHNIQUE + "convolutionTexture", ["main.cpp", "convolutionTexture.cu",
                                          "convolutionTexture_gold.cpp"])
sample(TECHNIQUE + "dct8x8", ["dct8x8.cu", "BmpUtil.cpp", "DCT8x8_Gold.cpp"])
sample(TECHNIQUE + "eigenvalues", ["main.cu", "bisect_large.cu", "bisect_small.cu",
                                   "bisect_util.cu", "gerschgorin.cpp", "matlab.cpp"],
       arguments=["--matrix-size=256", "--iters-timing=1"])
sample(TECHNIQUE + "histogram", ["main.cpp", "histogram64.cu", "histogram256.cu",
                                 "histogram_gold.cpp"])
sample(TECHNIQUE + "inlinePTX")
sample(TECHNIQUE + "inlinePTX_nvrtc", ["inlinePTX.cpp"], flags=["-lcuda", "-lnvrtc"], beside=["*.cu*"])
sample(TECHNIQUE + "interval", check="", flags=["-I", "."])
sample(TECHNIQUE + "radixSortThrust", arguments=["-n=20000", "-iterations=1"])
sample(TECHNIQUE + "reduction", ["reduction.cpp", "reduction_kernel.cu"],
       arguments=["-n=32768", "-kernel=6"])
sample(TECHNIQUE + "reductionMultiBlockCG", arguments=["-n=16384"])
sample(TECHNIQUE + "scalarProd", ["scalarProd.cu", "scalarProd_cpu.cpp"])
sample(TECHNIQUE + "scan", ["main.cpp", "scan.cu", "scan_gold.cpp"])
sample(TECHNIQUE + "segmentationTreeThrust", ["segmentationTree.cu"], check="")
sample(TECHNIQUE + "shfl_scan")
sample(TECHNIQUE + "sortingNetworks", ["main.cpp", "bitonicSort.cu", "oddEvenMergeSort.cu",
                                       "sortingNetworks_validate.cpp"])
sample(TECHNIQUE + "streamOrderedAllocation")
sample(TECHNIQUE + "threadFenceReduction", arguments=["-n=65536"], check=BY_EXIT,
       why="the last CTA resets the counter with a plain store, line 202 of its header")
sample(TECHNIQUE + "threadMigration", ["threadMigration.cpp"], flags=["-lcuda"],
       images=[("threadMigration_kernel64.fatbin", "threadMigration_kernel.cu", "-fatbin")], check="")

sample(FEATURE + "StreamPriorities", check="")
sample(FEATURE + "bf16TensorCoreGemm", check="")
sample(FEATURE + "binaryPartitionCG", check="")
sample(FEATURE + "cdpSimplePrint", flags=["-rdc=true", "-lcudadevrt"], check="",
       why="kernels launch kernels")
sample(FEATURE + "cudaTensorCoreGemm", check="TFLOPS")
sample(FEATURE + "dmmaTensorCoreGemm", check="TFLOPS")
sample(FEATURE + "globalToShmemAsyncCopy",
       arguments=["-wA=128", "-hA=128", "-wB=128", "-hB=128"],
       why="five stages are loaded ahead into four buffers: `<=` in line 131")
sample(FEATURE + "graphConditionalNodes", check="", why="conditional nodes are not there")
sample(FEATURE + "graphMemoryFootprint", check="")
sample(FEATURE + "graphMemoryNodes", check="")
sample(FEATURE + "immaTensorCoreGemm", check="TOPS")
sample(FEATURE + "jacobiCudaGraphs", ["main.cpp", "jacobi.cu"])
sample(FEATURE + "newdelete", why="its stack reads its top plainly beside atomics, container.hpp:92")
sample(FEATURE + "ptxjit", ["ptxjit.cpp"], flags=["-lcuda"],
       images=[("ptxjit_kernel64.ptx", "ptxjit_kernel.cu", "-ptx")], check="")
sample(FEATURE + "simpleCudaGraphs", check="")
sample(FEATURE + "tf32TensorCoreGemm", check="")
sample(FEATURE + "warpAggregatedAtomicsCG")
sample(FEATURE + "cudaCompressibleMemory", ["saxpy.cu", "compMalloc.cpp"], flags=["-lcuda"],
       check="", ends_with=2, why="gives up: no compressible memory, as on many a chip")

sample(LIBRARY + "lineOfSight")
sample(LIBRARY + "conjugateGradientMultiBlockCG")
sample(LIBRARY + "conjugateGradientMultiDeviceCG", check="", ends_with=2,
       why="gives up: asks for two GPUs")

sample(DOMAIN + "BlackScholes", ["BlackScholes.cu", "BlackScholes_gold.cpp"])
sample(DOMAIN + "BlackScholes_nvrtc", ["BlackScholes.cpp", "BlackScholes_gold.cpp"],
       flags=["-lcuda", "-lnvrtc"], beside=["*.cu*"])
sample(DOMAIN + "binomialOptions_nvrtc",
       ["binomialOptions.cpp", "binomialOptions_gold.cpp", "binomialOptions_gpu.cpp"],
       flags=["-lcuda", "-lnvrtc"], beside=["*.cu*", "*.h"])
# They print how far off they are.
TWICE_NEAR = r"(?s)L1 norm: \S+E-(0[6-9]|1\d).*L1 norm: \S+E-(0[6-9]|1\d)"
sample(DOMAIN + "quasirandomGenerator_nvrtc",
       ["quasirandomGenerator.cpp", "quasirandomGenerator_gold.cpp"],
       flags=["-lcuda", "-lnvrtc"], beside=["*.cu*", "*.h"], check=TWICE_NEAR)
sample(DOMAIN + "HSOpticalFlow", ["main.cpp", "flowCUDA.cu", "flowGold.cpp"], check="L1 error : 0.0")
sample(DOMAIN + "NV12toBGRandResize",
       ["resize_convert_main.cpp", "bgr_resize.cu", "nv12_resize.cu", "nv12_to_bgr_planar.cu",
        "utils.cu"], check="")
sample(DOMAIN + "stereoDisparity", check="")
sample(DOMAIN + "FDTD3d", ["src/FDTD3d.cpp", "src/FDTD3dGPU.cu", "src/FDTD3dReference.cpp"],
       flags=["-I", "inc"], arguments=["--dimx=96", "--dimy=96", "--dimz=96", "--timesteps=2"], check=BY_EXIT)
sample(DOMAIN + "SobolQRNG", ["sobol.cpp", "sobol_gold.cpp", "sobol_gpu.cu",
                              "sobol_primitives.cpp"],
       arguments=["--vectors=2048", "--dimensions=32"], check="L1-Error: 0")
sample(DOMAIN + "binomialOptions", ["binomialOptions.cpp", "binomialOptions_gold.cpp",
                                    "binomialOptions_kernel.cu"])
sample(DOMAIN + "dwtHaar1D")
sample(DOMAIN + "dxtc", check="RMS",
       why="lanes of a warp read what others wrote, and have not met")
sample(DOMAIN + "fastWalshTransform", ["fastWalshTransform.cu", "fastWalshTransform_gold.cpp"])
sample(DOMAIN + "quasirandomGenerator", ["quasirandomGenerator.cpp",
                                         "quasirandomGenerator_gold.cpp",
                                         "quasirandomGenerator_kernel.cu"],
       check=TWICE_NEAR)
sample(DOMAIN + "MonteCarloMultiGPU", ["MonteCarloMultiGPU.cpp", "MonteCarlo_gold.cpp",
                                       "MonteCarlo_kernel.cu", "multithreading.cpp"],
       flags=["-lcurand"])
sample(DOMAIN + "p2pBandwidthLatencyTest", check="")

sample(SPEED + "transpose", arguments=["-dimX=64", "-dimY=64"])
sample(SPEED + "alignedTypes")
sample(SPEED + "LargeKernelParameter", check="")
sample(SPEED + "UnifiedMemoryPerf", ["commonKernels.cu", "helperFunctions.cpp",
                                     "matrixMultiplyPerf.cu"], check="")
sample(SPEED + "cudaGraphsPerfScaling", ["cudaGraphPerfScaling.cu"], check="",
       why="its kernel waits for what the host writes while it runs")


def llm(name, *arguments, **more):
    ALL.append(Program("llm.c " + name, "llm.c", "dev/cuda", [name + ".cu"],
                       flags=["-O3", "--use_fast_math", "-lcublas", "-lcublasLt"],
                       options=["--device", "rtx5090"],  # for which cuBLAS has PTX
                       arguments=list(arguments), check="All results match",
                       until="All results match", **more))


llm("adamw", "1")
llm("attention_forward", "1")
llm("encoder_backward", "1")
llm("encoder_forward", "2")
llm("crossentropy_forward", "1")
llm("fused_residual_forward", "1")
llm("gelu_backward", "1")
llm("gelu_forward", "1")
llm("global_norm", "1")
llm("layernorm_forward", "3")
llm("layernorm_forward", "5")
llm("matmul_backward_bias", "1")
llm("permute")
llm("residual_forward", "1")
llm("softmax_forward", "3")
llm("trimat_forward", "1")

ALL.append(Program("SGEMM_CUDA simplest_kernel", "SGEMM_CUDA", ".", ["simplest_kernel.cu"]))
ALL.append(Program("SGEMM_CUDA sgemm", "SGEMM_CUDA", ".", ["sgemm.cu", "src/runner.cu"],
                   flags=["-I", "src", "-lcublas"], arguments=["1"],
                   options=["--device", "rtx5090"],
                   why="compares with cuBLAS's product, which is machine code"))
ALL.append(Program("fast.cu sum", "fast.cu", ".", ["sum.cu"], chip="compute_90a",
                   flags=["-std=c++17", "-O3", "-DNDEBUG", "-w", "--expt-relaxed-constexpr",
                          "--expt-extended-lambda", "--use_fast_math", "-lcublas", "-lcuda"],
                   options=["--device", "h100"], why="asks for 4 GiB and more"))
ALL.append(Program("fast.cu matmul", "fast.cu", ".", ["matmul.cu"], chip="compute_90a",
                   flags=["-std=c++17", "-O3", "-DNDEBUG", "-w", "--expt-relaxed-constexpr",
                          "--expt-extended-lambda", "--use_fast_math", "-lcublas", "-lcuda"],
                   options=["--device", "h100"],
                   why="begins with a kernel of cuBLAS's, machine code, and ends there"))
ALL.append(Program("learn-cuda matmul_simt", "learn-cuda", "02a_matmul_simt",
                   ["main.cu", "matmul.cu"], arguments=["1"]))


def unit(path, chip="compute_90a", **more):
    """One of CUTLASS's unit tests with a program of its own, by GoogleTest (Debian: libgtest-dev)."""
    ALL.append(Program(f"cutlass {path}", "cutlass", "test/unit",
                       [path + ".cu", "test_unit.cpp", "common/filter_architecture.cpp"], chip=chip,
                       flags=["-std=c++17", "-O2", "-w", "-DNDEBUG", "--expt-relaxed-constexpr",
                              "--expt-extended-lambda", "-I", "../../include", "-I",
                              "../../tools/util/include", "-I", "common", "-I", ".", "-lgtest", "-lcuda"],
                       arguments=["--gtest_color=no", "--gtest_filter=*"],
                       options=["--device", "h200" if chip == "compute_90a" else "b200"],
                       check=r"\[  PASSED  \] [1-9]", **more))


for of_ampere in ("cp_sync", "ldsm", "tiled_cp_async"):
    unit("cute/ampere/" + of_ampere, "compute_80")
unit("cute/turing/movm", "compute_80")
# tma_load and tma_store take nvcc more than ten minutes each; the first writes a tile of 256 elements
# into 128 (tma_load_testbed.hpp:157), which is a fault here.
unit("cute/hopper/bulk_load")
unit("cute/hopper/bulk_store", why="no fence.proxy.async between its stores and the bulk copy, line 76")
unit("cute/hopper/stsm", why="lanes of a warp read what others wrote, and have not met")
unit("cluster_launch/cluster_launch")
# In a kernel wgmma, for which all four warps have to come, stands where these have nothing.
ONE_FOR_ALL = "one thread arrives for warps that nothing says are through with their wait"
unit("pipeline/pipeline_async")
unit("pipeline/pipeline_tma_async", why=ONE_FOR_ALL)
unit("pipeline/pipeline_tma_async_warp_specialized", why=ONE_FOR_ALL)
unit("pipeline/sequence_barrier")


def run_quietly(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **more)


def fetch(name, folder):
    """The repository's files at its commit, in `folder`."""
    if folder.exists():
        return
    url, commit = REPOSITORIES[name]
    folder.mkdir(parents=True)
    for command in (["git", "init", "-q"], ["git", "fetch", "-q", "--depth", "1", url, commit],
                    ["git", "checkout", "-q", "FETCH_HEAD"]):
        done = run_quietly(command, cwd=folder)
        if done.returncode:
            shutil.rmtree(folder)
            sys.exit(f"{url} at {commit} could not be fetched: {done.stdout.strip()}")


def safe(name):
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)


def build(program, source, folder):
    """Nothing, or what the compiler said."""
    executable = folder / safe(program.name.split()[-1].split("/")[-1])
    stamp = folder / "built"
    if stamp.exists():
        return executable, ""
    folder.mkdir(parents=True, exist_ok=True)
    here = source / program.folder
    chip = ["-gencode", f"arch={program.chip},code={program.chip}"]
    common = ["-I", str(source / "Common"), "-I", str(here), "-lineinfo"]
    for file, from_file, kind in program.images:
        done = run_quietly(["nvcc", *chip, *common, kind, "-o", str(folder / file),
                            str(here / from_file)])
        if done.returncode:
            return executable, done.stdout
    done = run_quietly(["nvcc", "-o", str(executable), *chip, *common, *program.sources,
                        *program.flags], cwd=here)
    if done.returncode:
        return executable, done.stdout
    if (here / "data").is_dir():
        shutil.copytree(here / "data", folder / "data", dirs_exist_ok=True)
    for pattern in program.beside:
        for file in here.glob(pattern):
            shutil.copy(file, folder)
    stamp.write_text("")
    return executable, ""


def cpu_seconds(pid):
    """How long this process has computed: what others do on the machine does not count."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(program, executable, folder, tilescope, longest=3600):
    """What came of it. Its stdout is a terminal's, so that each line is there when it is printed."""
    results = folder / "exec.json"
    command = [tilescope, "exec", *program.options, "--", str(executable), *program.arguments]
    begin, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    controller, terminal = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal,
                               stderr=subprocess.PIPE, cwd=folder, start_new_session=True)
    os.close(terminal)
    said, told = [], []
    reached = threading.Event()

    def read_stdout():
        while True:
            try:
                piece = os.read(controller, 65536)
            except OSError:
                break
            if not piece:
                break
            said.append(piece.decode(errors="replace"))
            if program.until and re.search(program.until, "".join(said)):
                reached.set()

    def read_stderr():
        for line in process.stderr:
            told.append(line.decode(errors="replace"))

    readers = [threading.Thread(target=read_stdout), threading.Thread(target=read_stderr)]
    for reader in readers:
        reader.start()
    ended = "ended"
    while process.poll() is None:
        if reached.is_set():
            ended = "stopped after its check"
        elif cpu_seconds(process.pid) > program.seconds or time.time() - begin > longest:
            ended = "too long"
        if ended != "ended":
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            break
        time.sleep(0.05)
    process.wait()
    for reader in readers:
        reader.join(5)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    text, report = "".join(said).replace("\r\n", "\n"), "".join(told)
    (folder / "stdout.txt").write_text(text)
    (folder / "stderr.txt").write_text(report)
    ok = ended != "too long"
    if ended == "ended":
        ok = process.returncode == program.ends_with
    if program.check not in ("", BY_EXIT) and not re.search(program.check, text):
        ok = False
    numbers = [int(n) for n in re.findall(r"^tilescope: launch (\d+):", report, re.M)]
    counts = re.findall(r"^tilescope: launch \d+:.*?, ([^,]*\d+ (?:fault|hazard).*)$", report, re.M)
    out = {"name": program.name, "ended": ended, "code": process.returncode, "ok": ok,
           "seconds": round(used, 1), "launches": max(numbers, default=0),
           "told": len(counts), "absent": sorted(set(re.findall(r"asks for (\S+?),", report)))}
    results.write_text(json.dumps(out))
    return out


def verdict(program, out):
    """What the table says of its own check."""
    if out["ok"]:
        said = "passes" if program.check else f"none; ends with {program.ends_with}"
        if out["ended"] == "stopped after its check":
            said += ", then stopped"
    else:
        said = "**too long**" if out["ended"] == "too long" else "**fails**"
    if out["told"] and not program.planted:
        said += f", {out['told']} launches with findings"
    return said + (f" ({program.why})" if program.why else "")


def table(results):
    lines = ["| program | arguments | launches | its own check | seconds |", "|---|---|--:|---|--:|"]
    for program, out in results:
        arguments = "`" + " ".join(program.arguments) + "`" if program.arguments else ""
        lines.append(f"| {program.name} | {arguments} | {out['launches']} | "
                     f"{verdict(program, out)} | {out['seconds']} |")
    return "\n".join(lines) + "\n"


def write_table(file, work):
    """The page of the manual: what has a result in `work`, in the order of the list."""
    results = []
    for program in ALL:
        result = work / folder_of(program) / "exec.json"
        if result.exists():
            out = json.loads(result.read_text())
            if "told" in out:
                results.append((program, out))
    checked = sum(out["ok"] and bool(p.check) for p, out in results)
    ended = sum(out["ok"] and not p.check for p, out in results)
    lines = ["# Programs of others under exec", "",
             "`tests/exec/programs.py` fetches programs with git at a fixed commit, builds them as they"
             " are with PTX, runs them under `tilescope exec`, and writes this table. Seconds are of"
             " computing, the program's own included; **too long** is 60 of them.", "",
             f"{len(results)} were tried: {checked} pass their own check, {ended} have none and end"
             " as they should. Those without launches show that the device is found.", ""]
    for name, (url, commit) in REPOSITORIES.items():
        if any(p.repository == name for p, _ in results):
            lines.append(f"- [{name}]({url}) at `{commit[:12]}`")
    file.write_text("\n".join(lines) + "\n\n" + table(results))


def folder_of(program):
    return safe(" ".join([program.name, *program.arguments])
                if program.repository == "llm.c" else program.name)


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*")
    options.add_argument("--tilescope", default=str(ROOT / "build/tilescope"))
    options.add_argument("--work", type=Path, default=ROOT / "build/exec-programs")
    options.add_argument("--sources", type=Path)
    options.add_argument("--build-only", action="store_true")
    options.add_argument("--again", action="store_true")
    options.add_argument("--table", type=Path)
    options = options.parse_args()
    exact = {p.name for p in ALL}
    chosen = [p for p in ALL if not options.names or any(
        n == p.name if n in exact else n in p.name for n in options.names)]
    if not chosen:
        sys.exit(f"no program is called so: {' '.join(options.names)}; those there are: {', '.join(sorted(exact))}")
    failed = []
    for program in chosen:
        source = (options.sources or options.work / "sources") / program.repository
        if not options.sources:
            fetch(program.repository, source)
        folder = options.work / folder_of(program)
        if (folder / "exec.json").exists() and not options.again and not options.build_only:
            if not json.loads((folder / "exec.json").read_text()).get("ok"):
                failed.append(program.name)
            continue
        executable, wrong = build(program, source, folder)
        if wrong:
            print(f"{program.name}: not built: {wrong.strip()[-600:]}", flush=True)
            failed.append(program.name)
            continue
        if options.build_only:
            print(f"{program.name}: built", flush=True)
            continue
        out = run(program, executable, folder, options.tilescope)
        print(f"{program.name:30} {'ok' if out['ok'] else 'FAILED':7} {out['ended']}, "
              f"{out['code']}, {out['seconds']} s", flush=True)
        if not out["ok"]:
            failed.append(program.name)
    if options.table:
        write_table(options.table, options.work)
    if failed:
        sys.exit(f"{len(failed)} of {len(chosen)} failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
