"""TIRx's kernels on the simulator: compiled by apache-tvm, run without a GPU.

    scale = ts.tirx.compile(prim_func, "sm_100a")
    run = scale(x, y, 2.0)

Arrays are NumPy's (or torch's on the CPU) and are written in place. How it works: TVM lowers the function and splits
it into a host's and a device's part. Of the device's it writes CUDA C++, which nvcc or NVRTC compiles to the PTX that
is simulated. The host's part is run as it is, on this CPU: it checks the arguments, encodes tensor maps and launches,
and what it calls of the CUDA runtime for that is written down here and done on the simulator.

The manual: docs/manual/python.md, "TIRx".
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import struct
import sys
import threading

from . import _settings, _tilescope, _tirx_lines as _lines, _torch
from ._foreign import tirx_layout as layout

__all__ = ["Kernel", "compile", "layout"]

# What kernels are compiled for, and the chip that is simulated where `device` names no other.
TARGETS = {"sm_80": "a100", "sm_90a": "h200", "sm_100a": "b200"}
SETTINGS = ("strict", "device", "schedule", "lazy", "numerics", "threads", "max_instructions", "suppressions", "record",
            "search")


def compile(function, target="sm_100a", *, options=(), compiler=None, **settings):
    """A TIRx function (`T.prim_func`, or an IRModule with one) as a Kernel, to be called with arrays.

    target: sm_80, sm_90a or sm_100a.
    options, compiler: of the compiler of CUDA C++, as ts.compile has them.
    settings: as ts.launch has them, for each call: strict, device, schedule, lazy, numerics, threads,
    max_instructions, suppressions, record, search.

    ImportError: apache-tvm is not installed. Error: there is no such target or setting; TVM or the compiler refuses
    the function, in their words.
    """
    if not isinstance(target, str) or target not in TARGETS:
        raise _tilescope.Error(f"target={target!r}: {', '.join(TARGETS)} are what TIRx's kernels are compiled for here.")
    _check_settings(settings, "compile()")
    if not isinstance(options, (list, tuple)):
        raise _tilescope.Error(f"options={options!r}: a list of the compiler's own words is needed, [\"-DN=4\"].")
    tvm = _tvm()
    entry, parameters, function = _function_of(tvm, function)
    host, source, with_lines, devices = _built_with_lines(tvm, entry, function, target)
    loaded = _tilescope.compile(with_lines, arch=target, options=[*_options(), *options], compiler=compiler)
    settings = {**settings, "device": settings.get("device") or TARGETS[target]}
    return Kernel(entry, target, source, loaded, settings, host[entry], parameters, devices)


class Kernel:
    """A compiled TIRx function. Calling it runs its host's part here and its kernels on the simulator."""

    def __init__(self, name, target, source, module, settings, host, parameters, devices):
        self.name = name
        self.target = target
        self.source = source  # the CUDA C++ that TVM made
        self.module = module  # its PTX, a ts.Module
        self.settings = settings
        self.launches = []  # what the host's part launched in the last call
        self.last = None  # the Run of the last launch, one that faulted too
        self._host = host
        self._parameters = parameters  # name of each, and the type that the function says of an array, "float16"; or None
        self._devices = devices  # of each kernel: what its parameters are, and the launch's

    def __repr__(self):
        return f"<ts.tirx {self.name} for {self.target} on {self.settings['device']}>"

    def __call__(self, *arguments, **settings):
        """Arrays and numbers in the function's order; settings are those of this call.

        Answers the Run of the launch, the last one where the host's part launches several (`launches` has them all).
        Fault, Hazard: as ts.launch has them. Error: an argument is not what the function says, in TVM's words.
        """
        _check_settings(settings, f"{self.name}()")
        arrays = _Arrays()
        known = [*self._parameters, *[("", None)] * len(arguments)]
        given = [arrays.taken(each, name, kind, f"argument {i} of {self.name}")
                 for i, (each, (name, kind)) in enumerate(zip(arguments, known))]
        with _Call(self._devices) as call:
            try:
                self._host(*given)
            except Exception as error:
                raise _tilescope.Error(_sentence(error)) from None
        self.launches = [_Launch(self._devices[name], values, call.maps, arrays) for name, values in call.launches]
        words = {**self.settings, **settings}
        for launch in self.launches:
            self._launch(launch, words)
        return self.last

    def _launch(self, launch, words):
        failed = None
        try:
            run = self.module.launch(launch.grid, launch.block, launch.arguments, entry=launch.entry,
                                     cluster=launch.cluster, dynamic_smem=launch.dynamic_smem, **words)
        except (_tilescope.Fault, _tilescope.Hazard) as error:
            run, failed = error.run, error
        _settings.name_outputs(run, launch.names, [name for name, _ in self._parameters])
        _settings.show_printed(run)
        self.last = run
        if failed:
            raise failed


def _check_settings(settings, where):
    for name in settings:
        if name not in SETTINGS:
            raise _tilescope.Error(f"{where} has no {name}=; it takes {', '.join(SETTINGS)}.")


# ---- TVM ----------------------------------------------------------------------------------------


def _tvm():
    try:
        import tvm
        import tvm.tirx
    except (ImportError, OSError) as error:  # OSError: its libraries and apache-tvm-ffi's are not of one version
        raise ImportError(f"ts.tirx compiles with apache-tvm, which cannot be imported ({error}): `pip install apache-tvm`, "
                          "0.26 or newer.") from None
    return tvm


def _function_of(tvm, function):
    """Name, parameters and PrimFunc of what is to be called."""
    functions = {}
    if isinstance(function, tvm.tirx.PrimFunc):
        functions["main"] = function
    elif isinstance(function, tvm.IRModule):
        functions = {var.name_hint: each for var, each in function.functions.items() if isinstance(each, tvm.tirx.PrimFunc)}
    else:
        raise _tilescope.Error(f"compile() of {function!r}: a function that T.prim_func has made, or an IRModule with it, is "
                               "needed.")
    if len(functions) != 1:
        raise _tilescope.Error(f"compile() of an IRModule with {len(functions)} functions ({', '.join(functions)}): it has to have "
                               "one, which is called.")
    [one] = functions.values()
    name = str(one.attrs["global_symbol"]) if one.attrs and "global_symbol" in one.attrs else next(iter(functions))
    return name, [_declared(each, one) for each in one.params], one


def _declared(parameter, function):
    """What a function calls a parameter, and the element type that it says of an array, "bfloat16"; None of what is no
    array."""
    kind = getattr(parameter, "ty", None)
    return parameter.name, str(kind.dtype) if hasattr(kind, "shape") and hasattr(kind, "dtype") else None


def _built_with_lines(tvm, name, function, target):
    """The host's part as a module that can be called, the CUDA source, the same with the lines of the Python file, and
    what its kernels are."""
    try:
        marked, places = _lines.put_in(tvm, function)
        host, source, kernels = _built(tvm, tvm.IRModule({name: marked}), target)
        return host, *_lines.taken_out(source, places), kernels
    except Exception:  # of what TVM does not take with the marks, it is said without them whether it takes it
        host, source, kernels = _built(tvm, tvm.IRModule({name: function}), target)
        return host, source, source, kernels


def _built(tvm, module, target):
    """The host's part as a module that can be called, the CUDA source, and what its kernels are."""
    build = importlib.import_module("tvm.tirx.build")
    on = tvm.target.Target({"kind": "cuda", "arch": target})
    host_target = tvm.target.Target("llvm")
    try:
        with on:
            module = tvm.tirx.transform.BindTarget(on.with_host(host_target))(module)
            pipeline, finish_host, finish_device = tvm.tirx.get_tir_pipeline("tirx")
            host, devices = build.split_host_device_mods(pipeline(module))
            if len(devices) != 1:
                raise _tilescope.Error("The function has no part that runs on the device: `T.device_entry()` begins it.")
            [(on, device)] = devices.items()
            device = finish_device()(device)
            source = _source(build, device, on)
            code = build.codegen_build(finish_host()(host), host_target)
    except _tilescope.Error:
        raise
    except Exception as error:
        raise _tilescope.Error(f"TVM does not compile this: {_sentence(error)}") from None
    kernels = {}
    for variable, each in device.functions.items():
        if "tirx.kernel_launch_params" in each.attrs:
            kernels[variable.name_hint] = _Device(variable.name_hint, each)
    for name in kernels:
        _Call.know(name)
    return code, source, kernels


def _source(build, device, target):
    """CUDA C++. Where TVM finds a driver it would compile it at once for the chip that is there."""
    name = "TVM_COMPILE_FORCE_FALLBACK"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        source = build.codegen_build(device, target).inspect_source()
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
    # Without cuda.h, which NVRTC does not read, this type is missing.
    if "CUtensorMap" in source:
        source = ("#ifdef __CUDACC_RTC__\nstruct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };\n"
                  "typedef struct CUtensorMap_st CUtensorMap;\n#endif\n") + source
    return source


def _options():
    """What TVM gives nvcc that a result may depend on (tvm/support/nvcc.py)."""
    out = ["-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__", "-U__CUDA_NO_BFLOAT16_OPERATORS__",
           "-U__CUDA_NO_BFLOAT16_CONVERSIONS__", "-U__CUDA_NO_BFLOAT162_OPERATORS__", "-U__CUDA_NO_BFLOAT162_CONVERSIONS__"]
    return out if os.environ.get("TVM_CUDA_NVCC_NO_FAST_MATH") else [*out, "--use_fast_math"]


def _sentence(error):
    """An error of TVM's without its stack of C++ calls, and its tables without their width."""
    text = str(error).split("\nStack trace")[0].strip() or type(error).__name__
    return re.sub(r" {3,}(?=\|)", " ", re.sub("-{4,}", "---", text))


# ---- Arguments ----------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


CUDA = 2  # kDLCUDA: the host's part wants arrays of the device


class _Arrays:
    """The arrays of one call: as TVM's host code takes them, and by their addresses again."""

    def __init__(self):
        self.arrays = []
        self.tensors = {}  # torch's, by their addresses
        self.names = {}  # what the function calls the arrays, by their addresses
        self.kept = []

    def taken(self, value, own, declared, name):
        """An argument as the host's part takes it. `own`: what the function calls it."""
        if value is None or isinstance(value, (bool, int, float)):
            return value
        import numpy as np
        if isinstance(value, np.generic):
            return value.item()
        array = _array(value, name)
        packed = declared == "float4_e2m1fn"
        if packed and (array.dtype.kind not in "iuV" or array.itemsize != 1 or str(array.dtype) == declared):
            raise _tilescope.Error(f"{name} is an array of {array.dtype}, and of {declared} two elements are in a byte: an array of "
                                   "uint8, half as wide, is needed.")
        if _torch.is_tensor(value):
            self.tensors[array.ctypes.data] = value
        self.names.setdefault(array.ctypes.data, own)
        import tvm_ffi
        kind = str(array.dtype)
        # Types that NumPy lacks may come as raw bits: the function says what they are.
        if declared and array.dtype.kind in "iuV" and tvm_ffi.dtype(declared).bits == 8 * array.itemsize:
            kind = declared if declared.startswith(("bfloat", "float8")) or array.dtype.kind == "V" else kind
        try:
            kind = tvm_ffi.dtype(declared if packed else kind)
        except ValueError:
            raise _tilescope.Error(f"{name} is an array of {array.dtype}, which TVM has no type for.") from None
        if any(step % array.itemsize for step in array.strides):
            raise _tilescope.Error(f"{name} has strides of {array.strides} bytes, which are no whole elements of {array.dtype}.")
        shape, strides = array.shape, [step // array.itemsize for step in array.strides]
        if packed:
            shape, strides = (*shape[:-1], 2 * shape[-1]), [*(2 * step for step in strides[:-1]), strides[-1]]
        numbers = ctypes.c_int64 * max(array.ndim, 1)
        tensor = _Tensor(array.ctypes.data, CUDA, 0, array.ndim, kind.type_code, kind.bits, kind.lanes, numbers(*shape),
                         numbers(*strides), 0)
        self.arrays.append(array)
        self.kept.append(tensor)
        return ctypes.c_void_p(ctypes.addressof(tensor))

    def at(self, address, what):
        """What ts.launch takes for an address: the array that begins there, or one's bytes from there on."""
        if address in self.tensors:
            return self.tensors[address]
        for array in self.arrays:
            if array.ctypes.data == address:
                return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.itemsize}")
        for array in self.arrays:
            begin = array.ctypes.data
            if begin < address < begin + array.nbytes and array.flags.c_contiguous:
                return array.reshape(-1).view("u1")[address - begin:]
        raise _tilescope.Error(f"{what} is the address {address:#x}, which lies in none of the arrays that were given.")


def _array(value, name):
    """NumPy's view of an array's memory on the CPU."""
    import numpy as np
    if isinstance(value, np.ndarray):
        return value
    if _torch.is_tensor(value):
        return _array_of_torch(value, name)
    if type(value).__module__.partition(".")[0] in ("tvm", "tvm_ffi") and hasattr(value, "data_ptr"):
        return _array_of_tvm(value, name)
    try:
        return np.asarray(memoryview(value)) if not hasattr(value, "__dlpack__") else np.from_dlpack(value)
    except (TypeError, ValueError, BufferError, RuntimeError):
        raise _tilescope.Error(f"{name} is a {type(value).__name__}: one of NumPy's arrays, a tensor of torch's on the CPU, a "
                               "number or None is needed.") from None


def _array_of_torch(value, name):
    """Of a tensor of torch's; of a type that NumPy lacks it is ml_dtypes', or raw bits."""
    torch = sys.modules["torch"]
    value = value.detach()
    if value.device.type != "cpu" or value.layout != torch.strided:
        kind = value.device if value.layout == torch.strided else f"{value.device}, {value.layout}"
        raise _tilescope.Error(f"{name} is a tensor on {kind}: the simulator takes those on the CPU, with strides.")
    try:
        return value.numpy()
    except TypeError:
        import ml_dtypes
        bits = value.view({1: torch.uint8, 2: torch.int16}[value.element_size()]).numpy()
        return bits.view(getattr(ml_dtypes, str(value.dtype).removeprefix("torch."), bits.dtype))


def _array_of_tvm(value, name):
    """Of a tensor of TVM's; NumPy's import knows not all of its types."""
    import ml_dtypes
    import numpy as np
    if str(value.device).partition(":")[0] != "cpu":
        raise _tilescope.Error(f"{name} is a tensor on {value.device}: the simulator takes those on the CPU.")
    kind = str(value.dtype)
    dtype = np.dtype(getattr(ml_dtypes, kind, None) or kind)
    strides = [int(step) * dtype.itemsize for step in value.strides]
    count = 1 + sum((int(n) - 1) * step for n, step in zip(value.shape, value.strides))
    bytes_there = (ctypes.c_uint8 * (max(count, 0) * dtype.itemsize)).from_address(value.data_ptr() or 1)
    bytes_there.kept = value
    return np.ndarray(tuple(map(int, value.shape)), dtype, bytes_there, 0, strides)


# ---- What the host's part calls -----------------------------------------------------------------


class _Device:
    """A kernel: what its parameters are, and what the host's part gives behind them for the launch."""

    def __init__(self, name, function):
        self.name = name
        self.parameters = [(each.name, each.ty) for each in function.params]
        self.launch = [str(each) for each in function.attrs["tirx.kernel_launch_params"]]


class _Call:
    """While it is open, in this thread, the host's part of a kernel is running: what it asks of the CUDA runtime is
    written down. Functions of the runtime that are known by one name to the whole process are replaced by ones that,
    outside such a call, do what they did before."""

    here = threading.local()
    known = set()
    lock = threading.Lock()

    def __init__(self, devices):
        self.devices = devices
        self.maps = {}  # by the number that stands in the 128 bytes
        self.launches = []

    def __enter__(self):
        self.outer = getattr(self.here, "call", None)
        self.here.call = self
        return self

    def __exit__(self, *error):
        self.here.call = self.outer

    @classmethod
    def know(cls, kernel):
        """Has TVM find a kernel, and what is called before its launch, by their names."""
        with cls.lock:
            for name, do in (("__tvm_set_device", lambda call, name, given: None), ("runtime.cuTensorMapEncodeTiled", cls.encode),
                             (kernel, cls.launch)):
                if name not in cls.known:
                    cls.replace(name, do)
                    cls.known.add(name)

    @classmethod
    def replace(cls, name, do):
        import tvm_ffi
        before = tvm_ffi.get_global_func(name, allow_missing=True)

        def called(*given):
            call = getattr(cls.here, "call", None)
            if call is not None:
                return do(call, name, given)
            if before is None:
                raise RuntimeError(f"{name} was compiled for the simulator, and is called from elsewhere.")
            return before(*given)

        tvm_ffi.register_global_func(name, called, override=True)

    def encode(self, name, given):
        """cuTensorMapEncodeTiled: a number stands for the map until the launch."""
        number = len(self.maps) + 1
        self.maps[number] = [_number(each) for each in given[2:]], str(given[1])
        ctypes.memmove(_number(given[0]), struct.pack("<Q", number).ljust(128, b"\0"), 128)

    def launch(self, name, given):
        values = [_number(each) for each in given]
        # The maps are the host's, on its stack.
        for i, (_, kind) in enumerate(self.devices[name].parameters):
            if _is_map(kind):
                values[i] = struct.unpack("<Q", ctypes.string_at(values[i], 8))[0]
        self.launches.append((name, values))


def _number(value):
    """A value of TVM's as a number: what is a pointer has its address."""
    if isinstance(value, ctypes.c_void_p):
        return value.value or 0
    return 0 if value is None else value


def _is_map(kind):
    return "tensormap" in str(kind).lower()


# ---- A launch -----------------------------------------------------------------------------------

SWIZZLES = ("none", "32B", "64B", "128B", "128B_atom32B", "128B_atom32B_flip8B", "128B_atom64B")
INTERLEAVES = ("none", "16B", "32B")
# Types of TVM's as ts.TensorMap has them: those of cuTensorMapEncodeTiled in TVM's runtime (cuda_device_api.cc).
MAP_TYPES = {"int8": "u8", "uint8": "u8", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64",
             "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "float8_e4m3fn": "u8",
             "float8_e5m2": "u8"}
# Those of elements of 4 and 6 bits, and what the numbers of CUtensorMapDataType are that host code may ask for instead.
PACKINGS = {"float4_e2m1fn": "b4x16_p64", 13: "b4x16", 14: "b4x16_p64", 15: "b6x16_p32"}
ROUNDED = {10: "f32_ftz", 11: "tf32", 12: "tf32_ftz"}  # and of f32


class _Launch:
    """What the host's part has launched: entry, grid, block, cluster, dynamic_smem (bytes), arguments."""

    def __init__(self, device, values, maps, arrays):
        self.entry = device.name
        own, behind = values[:len(device.parameters)], iter(values[len(device.parameters):])
        sizes = {"blockIdx": [1, 1, 1], "threadIdx": [1, 1, 1], "clusterCtaIdx": [1, 1, 1]}
        self.dynamic_smem = 0
        for tag in device.launch:
            kind, _, axis = tag.partition(".")
            if tag == "tirx.use_dyn_shared_memory":
                self.dynamic_smem = next(behind)
            elif kind in sizes:
                sizes[kind]["xyz".index(axis)] = max(next(behind), 1)
            elif kind == "preferredClusterCtaIdx":
                next(behind)  # a wish; the chip may launch without
        self.grid, self.block, self.cluster = map(tuple, sizes.values())
        self.arguments = [_parameter(kind, value, f"{name} of {device.name}", maps, arrays)
                          for (name, kind), value in zip(device.parameters, own)]
        # What the host's function calls the arrays; others are called what TVM does.
        self.names = [arrays.names.get(maps[value][0][1] if _is_map(kind) else value) or name
                      for (name, kind), value in zip(device.parameters, own)]

    def __repr__(self):
        cluster = "" if self.cluster == (1, 1, 1) else f", clusters of {self.cluster}"
        return f"<launch of {self.entry}: grid {self.grid}, block {self.block}{cluster}, {self.dynamic_smem} bytes of shared memory>"


def _parameter(kind, value, name, maps, arrays):
    """What ts.launch takes for a kernel's parameter."""
    if _is_map(kind):
        if value not in maps:
            raise _tilescope.Error(f"{name} is a tensor map that the host's part has not encoded.")
        return _tensor_map(*maps[value], name, arrays)
    if not hasattr(kind, "dtype"):
        return arrays.at(value, name) if value else None
    return _scalar(str(kind.dtype), value, name)


def _tensor_map(numbers, dtype, name, arrays):
    """Of what cuTensorMapEncodeTiled was given behind the type, innermost dimension first."""
    rank, address = numbers[:2]
    rest = iter(numbers[2:])
    dims, strides, box, steps = (tuple(next(rest) for _ in range(n)) for n in (rank, rank - 1, rank, rank))
    interleave, swizzle, _, oob, *other = rest
    asked = other[0] if other and other[0] >= 0 else None
    words = {"dtype": MAP_TYPES.get(dtype)}
    if asked in ROUNDED and dtype == "float32":
        words = {"dtype": ROUNDED[asked]}
    elif asked is not None or dtype in PACKINGS:
        words = {"dtype": "u8", "packing": PACKINGS.get(dtype if asked is None else asked)}
    if not all(words.values()) or swizzle >= len(SWIZZLES):
        asked = "" if asked is None else f" as the CUtensorMapDataType {asked}"
        raise _tilescope.Error(f"{name} is a tensor map of {dtype}{asked} with swizzle {swizzle}, which ts.TensorMap does not make: "
                               "types of 4 to 64 bits and swizzles 0 to 6 work.")
    array = arrays.at(address, name)
    return _tilescope.TensorMap(_bytes_of(array) if "packing" in words else array, box=box, dims=dims, strides=strides,
                                swizzle=SWIZZLES[swizzle], interleave=INTERLEAVES[interleave], oob="nan" if oob else "zero",
                                element_strides=steps, **words)


def _bytes_of(array):
    """The array's memory as raw bytes, of which a packed tensor map is."""
    if _torch.is_tensor(array):
        return array.view(sys.modules["torch"].uint8)
    return array.view("u1")


FLOATS = {"float16": "<e", "float32": "<f", "float64": "<d"}


def _scalar(dtype, value, name):
    """A number's bytes: PTX's own types do not tell floats from integers."""
    if dtype in FLOATS:
        return struct.pack(FLOATS[dtype], value)
    if dtype == "bfloat16":
        return struct.pack("<f", value)[2:]
    whole = re.fullmatch("u?int(8|16|32|64)", "uint8" if dtype == "bool" else dtype)
    if not whole:
        raise _tilescope.Error(f"{name} has TVM's type {dtype}, which no parameter has here: pointers, integers up to 64 bits, "
                               "float16, bfloat16, float32, float64 and tensor maps do.")
    bits = int(whole[1])
    return (int(value) & (1 << bits) - 1).to_bytes(bits // 8, "little")
