"""Runs a Python program that wants a GPU where there is none: `python host.py PROGRAM ARGUMENTS`.

To be started with a recorder preloaded (recorder/driver.cpp). Then what is left is Python's own view: in
PyTorch, which is one for CPUs here, "cuda" is the CPU, whose memory the recorder takes for the device's;
of cuda-python the runtime, which needs a real driver, answers by itself.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import sys
import time
import types

SM = int(os.environ.get("RECORDER_SM", "100"))
MULTIPROCESSORS = int(os.environ.get("RECORDER_SMS") or {80: 108, 90: 132, 120: 170}.get(SM, 148))
SHARED = {80: 166912, 120: 101376}.get(SM, 232448)


# ---- cuda-python's runtime ----------------------------------------------------------------------


def stand_in_for_runtime() -> None:
    try:
        import cuda.bindings.runtime as runtime
    except ImportError:
        return
    good = runtime.cudaError_t.cudaSuccess

    def answers(*values):
        return lambda *arguments, **keywords: (good, *values)

    for name in ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaSetDevice", "cudaLibraryUnload",
                 "cudaEventRecord", "cudaEventSynchronize", "cudaEventDestroy", "cudaStreamDestroy", "cudaFree",
                 "cudaProfilerStart", "cudaProfilerStop", "cudaStreamWaitEvent"):
        setattr(runtime, name, answers())
    def malloc(size):
        at = ctypes.c_void_p()
        ctypes.CDLL(None).posix_memalign(ctypes.byref(at), ctypes.c_size_t(256), ctypes.c_size_t(size))
        return good, at.value

    def memset(at, value, size):
        ctypes.memset(int(at), value, size)
        return (good,)

    def memcpy(to, at, size, kind=None, stream=None):
        ctypes.memmove(int(to), int(at), size)
        return (good,)

    runtime.cudaMalloc, runtime.cudaMemset = malloc, memset
    runtime.cudaMemcpy = runtime.cudaMemcpyAsync = memcpy
    runtime.cudaGetDeviceCount = answers(1)
    runtime.cudaGetDevice = answers(0)
    runtime.cudaRuntimeGetVersion = answers(13000)
    runtime.cudaDriverGetVersion = answers(13000)
    runtime.cudaStreamCreate = answers(runtime.cudaStream_t(0))
    runtime.cudaEventCreate = answers(runtime.cudaEvent_t(0))
    runtime.cudaEventElapsedTime = answers(1.0)
    runtime.cudaGetLastError = answers()
    runtime.cudaGetErrorName = lambda error: (good, str(error).encode())
    runtime.cudaGetErrorString = lambda error: (good, str(error).encode())


# ---- Numba --------------------------------------------------------------------------------------


def stand_in_for_linker() -> None:
    """Numba links PTX to a cubin by nvJitLink: keeps both, side by side, where the recorder looks."""
    if os.environ.get("HOST_NUMBA") != "1":
        return
    from numba.cuda.cudadrv import driver
    complete = driver._Linker.complete
    count = iter(range(1 << 30))

    def keep(self):
        texts = [code.code for code in self._object_codes if code.code_type == "ptx"]
        if not texts:  # what is optimised while it is linked has its PTX only then
            codes = [code for code in self._object_codes if code.code_type != "library"]  # libcudadevrt has no PTX
            linker = driver.Linker(*codes, options=self._get_linker_options(ptx=True))
            texts = [linker.link("ptx").code]
        result = complete(self)
        place = os.path.join(os.environ["RECORDER_PTX"], f"numba_{next(count)}")
        for suffix, content in ((".ptx", texts[0]), (".cubin", result.code)):
            with open(place + suffix, "wb") as file:
                file.write(content.rstrip(b"\0") if suffix == ".ptx" else content)
        return result

    driver._Linker.complete = keep


# ---- Triton -------------------------------------------------------------------------------------


def stand_in_for_autotuner() -> None:
    """Triton's autotuner measures each configuration: here the first is as good as any."""
    if "TRITON_CACHE_DIR" not in os.environ:
        return
    from triton.runtime.autotuner import Autotuner
    Autotuner._bench = lambda self, *arguments, config, **meta: [1.0, 1.0, 1.0]


# ---- CuTeDSL ------------------------------------------------------------------------------------


def stand_in_for_cutlass() -> None:
    """Its examples measure their kernels on arguments of their own after they have checked them: that is left
    out. Some have nothing but the measurement: then it runs once."""
    if "CUTE_DSL_ARCH" not in os.environ:
        return
    import cutlass.cute.testing
    import cutlass.testing

    def benchmark(function, *, kernel_arguments=None, workspace_generator=None, **keywords):
        if kernel_arguments is not None and workspace_generator is None:
            function(*kernel_arguments.args, **kernel_arguments.kwargs)
        return 1.0

    for module in (cutlass.testing, cutlass.cute.testing):
        module.benchmark = benchmark


# ---- TVM, TileLang ------------------------------------------------------------------------------


def stand_in_for_cubin() -> None:
    """TileLang has nvcc make a cubin: here it is PTX."""
    if os.environ.get("HOST_TILELANG") != "1":
        return
    from tilelang.contrib import nvcc
    compile_cuda = nvcc.compile_cuda
    nvcc.compile_cuda = lambda code, target_format="ptx", *arguments, **keywords: bytearray(
        bytes(compile_cuda(code, "ptx", *arguments, **keywords)) + b"\0")


def stand_in_for_nvcc() -> None:
    """TVM has nvcc make a cubin: here it is PTX."""
    if "HOST_NVCC" not in os.environ:
        return
    import subprocess
    import tempfile
    import tvm  # noqa: F401  (registers its own)
    import tvm_ffi

    def compile_cuda(code, *target):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "kernel.cu")
            with open(source, "w") as file:
                file.write(code)
            target = {80: "sm_80", 90: "sm_90a", 100: "sm_100a", 120: "sm_120a"}[SM]
            subprocess.run([os.environ["HOST_NVCC"], "-ptx", "-std=c++17", "-lineinfo", f"-arch={target}", "-include", "cuda.h",
                            "-O3", "--expt-relaxed-constexpr", "-o", source + ".ptx", source], check=True)
            with open(source + ".ptx", "rb") as file:
                return bytearray(file.read() + b"\0")

    tvm_ffi.register_global_func("tvm_callback_cuda_compile", compile_cuda, override=True)


# ---- PyTorch ------------------------------------------------------------------------------------


class Stream:
    def __init__(self, *arguments, **keywords):
        self.cuda_stream = 0
        self.stream_id = 0
        self.device_index = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def synchronize(self):
        pass

    def wait_stream(self, other):
        pass

    wait_event = record_event = query = wait_stream

    # As a profiler: nothing was timed.
    def key_averages(self, *arguments, **keywords):
        return self

    def table(self, *arguments, **keywords):
        return ""


class Event:
    def __init__(self, *arguments, **keywords):
        self.time = 0.0
        self.cuda_event = 0

    def record(self, stream=None):
        self.time = time.monotonic()

    def synchronize(self):
        pass

    def query(self):
        return True

    def wait(self, stream=None):
        pass

    def elapsed_time(self, end):
        return max((end.time - self.time) * 1e3, 1e-3)


class Graph:
    """What is captured runs at once; to replay it has no effect but on time."""

    def replay(self):
        pass

    reset = enable_debug_mode = replay


class CapsuleOnDevice:
    """A DLPack capsule whose tensor is said to be on a CUDA device."""

    CUDA = 2  # DLPack's kDLCUDA

    @staticmethod
    def move(capsule):
        api = ctypes.pythonapi
        api.PyCapsule_GetName.restype = ctypes.c_char_p
        api.PyCapsule_GetName.argtypes = [ctypes.py_object]
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        name = api.PyCapsule_GetName(capsule)
        at = api.PyCapsule_GetPointer(capsule, name)
        # DLManagedTensor begins with the tensor, DLManagedTensorVersioned has 32 bytes before it; a tensor
        # is its data's address, then the device's type.
        begin = 32 if name == b"dltensor_versioned" else 0
        ctypes.c_int32.from_address(at + begin + 8).value = CapsuleOnDevice.CUDA
        return capsule


def not_here(why: str):
    """Ends the program, which has no fault in it: the harness says why it is absent."""
    print(f"host.py: {why}")
    sys.exit(77)


def stand_in_for_torch() -> None:
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        return

    def on_cpu(device):
        if isinstance(device, torch.device) and device.type == "cuda":
            return torch.device("cpu")
        if isinstance(device, str) and device.startswith("cuda"):
            return torch.device("cpu")
        if isinstance(device, int) and not isinstance(device, bool):
            return torch.device("cpu")
        return device

    def wants_cuda(device):
        return (isinstance(device, torch.device) and device.type == "cuda") or (
            isinstance(device, str) and device.startswith("cuda"))

    products = {torch.matmul, torch.mm, torch.bmm, torch.einsum, torch.nn.functional.linear, torch.Tensor.matmul,
                torch.Tensor.__matmul__, torch.Tensor.mm, torch.Tensor.bmm}
    halves = (torch.float16, torch.bfloat16)

    class OnCpu(TorchFunctionMode):
        """Every "cuda" that a function of PyTorch is given is the CPU; moving there and back copies. Products of
        f16 and bf16 are summed in f32, as cuBLAS sums them, and not rounded in between."""

        def __torch_function__(self, function, types, arguments=(), keywords=None):
            keywords = dict(keywords or {})
            if function is torch.device:
                return on_cpu(function(*arguments, **keywords))
            if function in products:
                given = [a for a in arguments if isinstance(a, torch.Tensor)]
                if given and all(a.dtype in halves for a in given) and not keywords:
                    wide = [a.to(torch.float32) if isinstance(a, torch.Tensor) else a for a in arguments]
                    return function(*wide).to(given[0].dtype)
            if function is torch.Tensor.to:
                target = keywords.get("device", arguments[1] if len(arguments) > 1 else None)
                if wants_cuda(target) or target == "cpu" or target == torch.device("cpu"):
                    keywords["copy"] = True
            if "device" in keywords:
                keywords["device"] = on_cpu(keywords["device"])
            keywords.pop("pin_memory", None)
            arguments = tuple(on_cpu(a) if isinstance(a, (str, torch.device)) and wants_cuda(a) else a
                              for a in arguments)
            return function(*arguments, **keywords)

    torch.Tensor.cuda = lambda self, *a, **k: self.clone(memory_format=torch.preserve_format)
    torch.Tensor.cpu = lambda self, *a, **k: self.clone(memory_format=torch.preserve_format)
    torch.Tensor.pin_memory = lambda self, *a, **k: self
    torch.Tensor.record_stream = lambda self, stream: None
    torch.Tensor.is_cuda = property(lambda self: True)
    torch.Tensor.get_device = lambda self: 0
    pack = torch.Tensor.__dlpack__
    torch.Tensor.__dlpack__ = lambda self, **k: CapsuleOnDevice.move(
        pack(self.detach(), **{key: value for key, value in k.items() if key == "max_version"}))
    torch.Tensor.__dlpack_device__ = lambda self: (CapsuleOnDevice.CUDA, 0)
    torch.utils.dlpack.to_dlpack = lambda tensor: tensor.__dlpack__()
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):  # PyTorch's own way to TVM's FFI, past these two
        del torch.Tensor.__dlpack_c_exchange_api__
    os.environ["TVM_FFI_DISABLE_TORCH_C_DLPACK"] = "1"

    properties = types.SimpleNamespace(
        name="recorder", major=SM // 10, minor=SM % 10, multi_processor_count=MULTIPROCESSORS, warp_size=32,
        total_memory=1 << 36, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048,
        shared_memory_per_block=49152, shared_memory_per_block_optin=SHARED, shared_memory_per_multiprocessor=SHARED + 1024,
        L2_cache_size=50 << 20, is_integrated=False)
    cuda = torch.cuda
    cuda.is_available = lambda: True
    cuda.is_initialized = lambda: True
    cuda.init = cuda._lazy_init = lambda: None
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.set_device = lambda device: None
    cuda.get_device_capability = lambda device=None: (SM // 10, SM % 10)
    cuda.get_device_name = lambda device=None: "recorder"
    cuda.get_device_properties = lambda device=None: properties
    cuda.synchronize = lambda device=None: None
    cuda.empty_cache = lambda: None
    cuda.manual_seed = cuda.manual_seed_all = lambda seed: None
    cuda.is_current_stream_capturing = lambda: False
    cuda.current_stream = cuda.default_stream = lambda device=None: Stream()
    cuda.stream = lambda stream: stream if isinstance(stream, Stream) else Stream()
    cuda.device = lambda device=None: Stream()
    cuda.Stream = Stream
    cuda.CUDAGraph = Graph
    cuda.graph = lambda graph, *arguments, **keywords: Stream()
    cuda.Event = Event
    cuda.max_memory_allocated = cuda.memory_allocated = lambda device=None: 0
    cuda.reset_peak_memory_stats = lambda device=None: None
    cuda.mem_get_info = lambda device=None: (1 << 36, 1 << 36)
    cuda.OutOfMemoryError = MemoryError
    torch.version.cuda = "13.0"
    for name, value in {"_cuda_getCurrentRawStream": lambda device: 0, "_cuda_getDevice": lambda: 0,
                        "_cuda_setDevice": lambda device: None, "_cuda_exchangeDevice": lambda device: 0,
                        "_cuda_isCurrentStreamCapturing": lambda: False}.items():
        setattr(torch._C, name, value)
    # Sums in another order than cuBLAS's differ in the last bit: what examples compare exactly with it is
    # compared within one step of the type.
    strict = torch.testing.assert_close

    def assert_close(actual, expected, *arguments, rtol=None, atol=None, **keywords):
        if rtol is not None and getattr(actual, "dtype", None) in halves:
            rtol = max(rtol, torch.finfo(actual.dtype).eps)
        return strict(actual, expected, *arguments, rtol=rtol, atol=atol, **keywords)

    torch.testing.assert_close = assert_close
    torch.profiler.profile = torch.autograd.profiler.profile = lambda *a, **k: Stream()
    torch._scaled_mm, torch._scaled_grouped_mm_v2 = block_scaled_product, block_scaled_grouped_product
    torch.manual_seed(0)
    OnCpu().__enter__()


def block_scaled_product(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """torch._scaled_mm, which PyTorch for CPUs has not with blocks: (M, K) by (K, N), of e4m3 or two e2m1 in a byte;
    a scale factor for 32 of a row (e8m0) or 16 (e4m3), in the order that the tensor core reads: tiles of 128 x 4, in
    each rows i, i + 32, i + 64, i + 96 side by side (PTX ISA 9.7.16.10.7.2)."""
    import torch
    if scale_a.dtype not in (torch.float8_e8m0fnu, torch.float8_e4m3fn) or bias is not None:
        not_here("PyTorch for CPUs has no such scaled product to compare with")
    block = 16 if scale_a.dtype == torch.float8_e4m3fn else 32

    def numbers(x):
        if x.dtype != torch.float4_e2m1fn_x2:
            return x.to(torch.float32)
        values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
        pairs = x.contiguous().view(torch.uint8).to(torch.int64)
        return values[torch.stack((pairs & 15, pairs >> 4), -1)].flatten(-2)

    def scaled(x, scales):
        rows, columns = x.shape
        tall, wide = (rows + 127) // 128, (columns // block + 3) // 4
        tiles = scales.to(torch.float32).reshape(-1, 32, 4, 4).transpose(1, 2).reshape(tall, wide, 128, 4)
        by_row = tiles.permute(0, 2, 1, 3).reshape(tall * 128, wide * 4)[:rows, :columns // block]
        return x * by_row.repeat_interleave(block, 1)

    product = scaled(numbers(a), scale_a) @ scaled(numbers(b.transpose(0, 1)), scale_b).transpose(0, 1)
    return product.to(out_dtype or torch.bfloat16)


def block_scaled_grouped_product(a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, offs, bias=None,
                                 out_dtype=None, *arguments):
    """torch._scaled_grouped_mm_v2 where rows of A are of one matrix of B or another: they end at `offs`, and the scale
    factors of each group of rows begin with a tile of their own."""
    import torch
    if a.dim() != 2 or b.dim() != 3 or len(scale_a) != 1:
        not_here("PyTorch for CPUs has no such scaled product to compare with")
    parts, begin, tile = [], 0, 0
    for group, end in enumerate(offs.tolist()):
        tiles = (end - begin + 127) // 128 * 128
        parts.append(block_scaled_product(a[begin:end], b[group], scale_a[0][tile:tile + tiles], scale_b[0][group],
                                          out_dtype=out_dtype))
        begin, tile = end, tile + tiles
    return torch.cat(parts)


def main() -> None:
    os.environ.pop("LD_PRELOAD", None)  # it is loaded here; compilers that are started do without
    stand_in_for_torch()
    stand_in_for_runtime()
    stand_in_for_cutlass()
    stand_in_for_linker()
    stand_in_for_autotuner()
    stand_in_for_nvcc()
    stand_in_for_cubin()
    program = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
