"""What the host code of CuTeDSL calls: functions of CUDA's runtime, here those of a machine that is simulated.

CuTeDSL compiles a host function to code of the CPU. It calls _cudaLaunchKernelEx and the like, which a library of
CuTeDSL's own leads on to the driver; Program has that code call the methods of Driver instead, by the same names.
"""

from __future__ import annotations

import ctypes
import threading

from . import _settings, _tilescope

Pointer, Int, Unsigned, Size = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t

# Numbers of CUDA's headers (driver_types.h).
SUCCESS, LAUNCH_FAILED, NOT_SUPPORTED = 0, 719, 801
CLUSTER_DIMENSION = 4  # cudaLaunchAttributeClusterDimension
COOPERATIVE = 2  # cudaLaunchAttributeCooperative
# cudaDeviceAttr: its number, and what ts.device() calls it or a number that all chips have.
ATTRIBUTES = {1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2147483647, 6: 65535, 7: 65535, 8: 49152, 10: 32, 16: "processors",
              39: "threads", 81: "shared", 82: "registers", 95: 1, 97: "block_shared", 106: 32, 111: 1024, 120: 1}


class Attribute(ctypes.Structure):  # cudaLaunchAttribute
    _fields_ = [("kind", Int), ("_", ctypes.c_char * 4), ("value", Unsigned * 16)]


class Configuration(ctypes.Structure):  # cudaLaunchConfig_t
    _fields_ = [("grid", Unsigned * 3), ("block", Unsigned * 3), ("shared", Size), ("stream", Pointer),
                ("attributes", ctypes.POINTER(Attribute)), ("count", Unsigned)]


# CUtensorMapDataType as in a map's bits: 11 and 12 are 7 and 8 with a bit that rounds to tf32 (core/run/driver_map.h);
# 13 and 14, elements of 4 bits in 8 bytes and in 16, are as CuTeDSL 4.5 to 4.8 write them.
MAP_TYPES = {**{n: n for n in range(8)}, 8: 9, 9: 10, 10: 8, 11: 7, 12: 8, 13: 11, 14: 12}


def encoded_map(kind, address, dims, strides, box, steps, interleave, swizzle, promotion, oob):
    """A tensor map as the CUDA driver makes one, 128 bytes, of which the first 64 say all and the others are 0 here;
    core/run/driver_map.h says what is where.

    The numbers are those of cuTensorMapEncodeTiled: extents, strides in bytes, box and element strides innermost first.
    Error: a type or swizzle whose bits are not known.
    """
    if kind not in MAP_TYPES or swizzle > 6:
        raise _tilescope.Error(f"cuTensorMapEncodeTiled of the CUtensorMapDataType {kind} with swizzle {swizzle}: types 0 "
                               "to 14 and swizzles 0 to 6 are those that ts.cute encodes.")
    swizzle, atom = min(swizzle, 3), max(swizzle - 3, 0)  # of 128 bytes: atoms of 16, 32, 32 with halves changed, 64
    wide = [stride >> 4 for stride in strides] + [0] * (5 - len(dims))
    words = [0] * 16
    words[0] = address or 0
    words[1] = (len(dims) - 1 << 4 | MAP_TYPES[kind] << 7 | interleave << 11 | swizzle << 13 | oob << 15
                | (kind in (11, 12)) << 16 | promotion << 17 | atom << 19)
    for i, stride in enumerate(wide):
        words[(3 + i) // 2] |= (stride & 0xFFFFFFFF) << 32 * ((3 + i) % 2)
        words[3] |= (stride >> 32 & 15) << 32 + 4 * i
    for i, (extent, width, step) in enumerate(zip(dims, box, steps)):
        words[(8 + i) // 2] |= (extent - 1 & 0xFFFFFFFF) << 32 * ((8 + i) % 2)
        words[6] |= (step - 1) << 32 + 3 * i
        words[6 + (56 + 8 * i) // 64] |= (width - 1) << (56 + 8 * i) % 64
    return b"".join(word.to_bytes(8, "little") for word in words)


def _store(kind, address, value):
    if address:
        kind.from_address(address).value = value


class Driver:
    """One call of a host function: what it launches, on a module, with arrays by name. `runs`: what came of it."""

    def __init__(self, module, device, memory, settings):
        self.module, self.device, self.settings = module, device, settings
        self.names = {}  # of the kernels in the module, by what the host code calls them
        self.memory = memory
        self.kernels = []  # by handle - 1
        self.runs = []
        self.failed = None  # the exception that ends the call

    # -- The code of the kernels: all of it is one module's.

    def _cudaLibraryLoadData(self, library, *other):  # noqa: N802 (CUDA's names, here and below)
        _store(Pointer, library, 1)

    def _cudaLibraryUnload(self, library):
        pass

    def _cudaLibraryGetKernel(self, kernel, library, name):
        name = ctypes.string_at(name).decode()
        self.kernels.append(self.names.get(name, name))
        _store(Pointer, kernel, len(self.kernels))

    def _cuKernelGetAttribute(self, value, which, kernel, device):
        _store(Int, value, 0)

    def _cudaFuncSetAttribute(self, kernel, which, value):
        pass

    def _cudaKernelSetAttributeForDevice(self, kernel, which, value, device):
        pass

    # -- The chip

    def _cudaGetDevice(self, device):
        _store(Int, device, 0)

    def _cudaGetDeviceCount(self, count):
        _store(Int, count, 1)

    def _cudaDeviceGetAttribute(self, value, which, device):
        about = ATTRIBUTES.get(which, 0)
        if which in (75, 76):  # cudaDevAttrComputeCapabilityMajor, ...Minor
            about = self.chip()["capability"][which - 75]
        _store(Int, value, self.chip()[about] if isinstance(about, str) else about)

    def _cudaOccupancyMaxActiveBlocksPerMultiprocessor(self, count, kernel, threads, shared):
        chip = self.chip()
        room = [chip["threads"] // max(threads, 1), 32]
        if shared:
            room.append(chip["shared"] // (shared + 1024))  # each block has 1024 bytes more, which CUDA keeps
        _store(Int, count, min(room))

    def chip(self):
        return _tilescope.device(self.device)

    # -- Tensor maps, where host code does not write them itself

    def _cuTensorMapEncodeTiled(self, to, kind, rank, address, dims, strides, box, steps, *how):
        def numbers(type, at, count):
            return tuple((type * count).from_address(at)) if count else ()

        bits = encoded_map(kind, address, numbers(Size, dims, rank), numbers(Size, strides, rank - 1),
                           numbers(Unsigned, box, rank), numbers(Unsigned, steps, rank), *how)
        ctypes.memmove(to, bits, len(bits))

    def cuda_dialect_assert_success(self, error):
        if error:
            raise _tilescope.Error(f"The host function asserts success of a call that answers CUDA's error {error}.")

    # -- Launches

    def _cudaLaunchKernelEx(self, configuration, kernel, arguments):
        __tracebackhide__ = True  # a test fails where it calls the host function
        about = Configuration.from_address(configuration)
        cluster, cooperative = None, False
        for attribute in about.attributes[: about.count]:
            if attribute.kind == CLUSTER_DIMENSION:
                cluster = tuple(attribute.value[:3])
            elif attribute.kind == COOPERATIVE:
                cooperative = bool(attribute.value[0])
        self.launch(kernel, tuple(about.grid), tuple(about.block), about.shared, cluster, arguments, cooperative)

    def _cudaLaunchKernel(self, kernel, x, y, z, bx, by, bz, arguments, shared, stream):
        __tracebackhide__ = True
        self.launch(kernel, (x, y, z), (bx, by, bz), shared, None, arguments)

    def launch(self, kernel, grid, block, shared, cluster, arguments, cooperative=False):
        __tracebackhide__ = True
        name = self.kernels[kernel - 1]
        sizes = [size for _, _, size in self.module.parameters(name)]
        places = (Pointer * len(sizes)).from_address(arguments) if sizes else []
        values = [ctypes.string_at(place, size) for place, size in zip(places, sizes)]
        words = {"dynamic_smem": shared, "memory": self.memory, "device": self.device, **self.settings}
        if cluster is not None:
            words["cluster"] = cluster
        if cooperative:
            words["cooperative"] = True
        try:
            run = self.module.launch(grid, block, values, entry=name, **words)
        except _tilescope.Error as error:
            if hasattr(error, "run"):
                self._launched(error.run)
            raise
        self._launched(run)

    def _launched(self, run):
        self.runs.append(run)
        _settings.show_printed(run)


# Argument types of the functions; what they answer is an error's number.
TYPES = {
    "_cudaLibraryLoadData": (Pointer, Pointer, Pointer, Pointer, Int, Pointer, Pointer, Int),
    "_cudaLibraryUnload": (Pointer,), "_cudaLibraryGetKernel": (Pointer, Pointer, Pointer),
    "_cuKernelGetAttribute": (Pointer, Int, Pointer, Int), "_cudaFuncSetAttribute": (Pointer, Int, Int),
    "_cudaKernelSetAttributeForDevice": (Pointer, Int, Int, Int), "_cudaGetDevice": (Pointer,),
    "_cudaGetDeviceCount": (Pointer,), "_cudaDeviceGetAttribute": (Pointer, Int, Int),
    "_cudaOccupancyMaxActiveBlocksPerMultiprocessor": (Pointer, Pointer, Int, Size),
    "cuda_dialect_assert_success": (Int,),
    "_cuTensorMapEncodeTiled": (Pointer, Int, Int, Pointer, Pointer, Pointer, Pointer, Pointer, Int, Int, Int, Int),
    "_cudaLaunchKernelEx": (Pointer, Pointer, Pointer),
    "_cudaLaunchKernel": (Pointer, Unsigned, Unsigned, Unsigned, Unsigned, Unsigned, Unsigned, Pointer, Size, Pointer),
}

_now = threading.local()  # .driver: whose call this thread is in


def _callback(name):
    """A function of C's that has the method of the driver at hand called, and keeps the exception for behind the host
    code, through which none can go."""

    def called(*arguments):
        __tracebackhide__ = True
        driver = _now.driver
        if driver.failed is not None:
            return LAUNCH_FAILED
        try:
            if name not in TYPES:
                raise _tilescope.Error(f"The host function calls {name.lstrip('_')}, which ts.cute has not: launches, "
                                       "tensor maps and what a chip is are there.")
            getattr(driver, name)(*arguments)
        except BaseException as error:  # Ctrl-C too
            driver.failed = error
            return LAUNCH_FAILED
        return SUCCESS

    return ctypes.CFUNCTYPE(Int, *TYPES.get(name, ()))(called)


_callbacks = {}  # they must outlive every program


class Program:
    """The host code of what cute.compile() has made, ready to be called. `names`: of its kernels, in the module."""

    def __init__(self, made, names):
        from cutlass._mlir.execution_engine import ExecutionEngine
        self.made, self.names = made, names
        functions = self._functions(made.ir_module)
        self.has_kernels = functions.get("cuda_init") is not None
        self.engine = made.engine = ExecutionEngine(made.ir_module, 2, [])
        for name, count in functions.items():
            if count is None and name.startswith(("_cu", "cuda_dialect_")):
                if name not in _callbacks:
                    _callbacks[name] = _callback(name)
                self.engine.raw_register_runtime(name, ctypes.cast(_callbacks[name], Pointer))
        self.entry = self._function("_mlir_ciface_" + made.function_name)
        self.takes = functions[made.function_name]

    @staticmethod
    def _functions(module):
        """How many arguments each function of the module has, by name; None of one that is only declared there."""
        found = {}
        for op in module.body.operations:
            if op.operation.name == "llvm.func":
                blocks = op.operation.regions[0].blocks
                found[op.attributes["sym_name"].value] = len(blocks[0].arguments) if len(blocks) else None
        return found

    def _function(self, name):
        address = self.engine.raw_lookup(name)
        if not address:
            raise _tilescope.Error(f"CuTeDSL's host code has no {name}: nvidia-cutlass-dsl 4.5 to 4.8 are what ts.cute knows.")
        return ctypes.CFUNCTYPE(None, Pointer)(address)

    def _call(self, function, pointers):
        """Functions of MLIR's take pointers to their arguments, then one to their result."""
        result = Int(0)
        packed = (Pointer * (len(pointers) + 1))(*pointers, ctypes.addressof(result))
        function(ctypes.addressof(packed))
        return result.value

    def run(self, pointers, driver):
        """The host function, with pointers to its packed arguments. What its launches raise is raised."""
        __tracebackhide__ = True
        if len(pointers) != self.takes:
            raise _tilescope.Error(f"The host function takes {self.takes} packed arguments, and {len(pointers)} are given: "
                                   "each argument is to be of the kind that it was compiled for.")
        before = getattr(_now, "driver", None)
        _now.driver, driver.names = driver, self.names
        try:
            result = self._load() if self.has_kernels else 0
            result = result or self._call(self.entry, pointers)
        finally:
            _now.driver = before
        failed = driver.failed
        if failed is not None:
            try:
                raise failed
            finally:
                driver.failed = failed = None  # its traceback has this frame
        if result:
            raise _tilescope.Error(f"The host function answers CUDA's error {result}, with no launch that failed.")

    def _load(self):
        """Loads the kernels into the driver, as the code's own functions do."""
        library = Pointer()
        place, device = Pointer(ctypes.addressof(library)), Int(0)
        at = ctypes.addressof(place)
        return self._call(self._function("cuda_init"), [at]) or \
            self._call(self._function("cuda_load_to_device"), [at, ctypes.addressof(device)])
