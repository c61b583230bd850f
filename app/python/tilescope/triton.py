"""Triton's kernels on the simulator: compiled by Triton itself, run without a GPU.

    ts.triton.activate("sm_90a")
    kernel[grid](x, y, out, n, BLOCK=256)
    print(ts.triton.last, ts.triton.reports)

Arrays are NumPy's (or torch's on the CPU) and are written in place. How it works: Triton asks its active driver
what the chip is, has it load what was compiled and launch it; the driver here says what activate() was told, parses
the PTX as a ts.Module and launches that. ptxas is not run: PTX is what the simulator executes.

The manual: docs/manual/python.md, "Triton".
"""

from __future__ import annotations

import functools
import operator
import struct
import sys

from . import _ptx, _settings, _tilescope, _torch
from ._foreign import triton_layout as layout

__all__ = ["activate", "deactivate", "last", "layout", "pointers", "reports"]

last = None  # the Run of the last launch, one that faulted too
reports = []  # of all launches since activate()

# What Triton compiles for, and the chip that is simulated where `device` names no other.
TARGETS = {"sm_80": "a100", "sm_90a": "h200", "sm_100a": "b200"}
SETTINGS = ("strict", "device", "schedule", "lazy", "numerics", "threads", "max_instructions", "suppressions", "record")

_session = None


def activate(target="sm_100a", **settings):
    """From now on Triton compiles for `target` (sm_80, sm_90a or sm_100a), and its kernels run on the simulator.

    settings: as ts.launch has them: strict, device, schedule, lazy, numerics, threads, max_instructions,
    suppressions, record. Called again, it changes target and settings, and `reports` begin anew.
    Answers an object for `with`: at its end, what was active before is so again.

    ImportError: Triton is not installed. Error: there is no such target or setting.
    """
    global _session, last
    if target not in TARGETS:
        raise _tilescope.Error(f"target={target!r}: {', '.join(TARGETS)} are what Triton's kernels are compiled for here.")
    for name in settings:
        if name not in SETTINGS:
            raise _tilescope.Error(f"activate() has no {name}=; it takes {', '.join(SETTINGS)}.")
    # What is wrong with them is said before anything ends.
    session = _Session(target, settings)
    outer, _session = _session, None
    if outer:
        outer.end()
        if not outer.entered:
            outer.outer = None
    last = None
    reports.clear()
    session.outer = outer
    session.begin()
    _session = session
    return _session


def deactivate():
    """Triton has the driver again that it had before activate(); nothing where none was activated."""
    global _session
    if _session:
        _session.end()
    _session = None


def pointers(arrays):
    """An int64 array of the arrays' addresses, for a kernel that loads pointers from memory, as in a grouped GEMM.

    Of NumPy's arrays or torch's. What the kernel reaches through them is written in place, too. An array of addresses
    that is made otherwise (`x.ctypes.data`) works where those arrays are in variables of the code that launches.
    """
    if not isinstance(arrays, (list, tuple)):
        raise _tilescope.Error(f"pointers() of {arrays!r}: a list of arrays is needed.")
    arrays = [_taken(each) for each in arrays]
    for each in arrays:
        if not hasattr(each, "data_ptr"):
            raise _tilescope.Error(f"pointers() of {each!r}: NumPy's arrays and torch's tensors have an address.")
    np = _numpy("ts.triton.pointers makes an array")
    out = np.array([each.data_ptr() for each in arrays], np.int64).view(_array_type())
    out.reached = arrays
    return out


# ---- Arrays -------------------------------------------------------------------------------------


def _numpy(why):
    try:
        import numpy
    except ImportError:
        raise ImportError(f"{why}, and NumPy is not installed: `pip install numpy`.") from None
    return numpy


@functools.cache
def _array_type():
    """NumPy's array with the methods of a tensor that Triton calls. A view of the user's array: nothing is copied."""
    np = _numpy("Arrays are NumPy's")

    class Array(np.ndarray):
        reached = ()  # of pointers(): what its elements point to

        def data_ptr(self):
            return self.__array_interface__["data"][0]

        def stride(self, dim=None):
            steps = tuple(step // self.itemsize for step in self.strides)
            return steps if dim is None else steps[dim]

        def element_size(self):
            return self.itemsize

        def numel(self):
            return self.size

        def clone(self):
            return self.copy()

        def copy_(self, other):
            self[...] = other
            return self

        def zero_(self):
            self[...] = 0
            return self

        def cpu(self):
            return self

        @property
        def device(self):
            return "cpu"

    return Array


def _taken(value):
    """An argument as Triton takes it: arrays, in tuples too, have the methods that it calls."""
    np = sys.modules.get("numpy")
    if np is None:
        return value
    if isinstance(value, np.ndarray):
        if isinstance(value, _array_type()):
            return value
        _check_type(value)
        return value.view(_array_type())
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is tuple:
        return tuple(map(_taken, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_taken, value))
    return value


def _check_type(array):
    from triton._utils import type_canonicalisation_dict
    if str(array.dtype) not in type_canonicalisation_dict:
        raise _tilescope.Error(f"An array of {array.dtype} is no kernel's argument: Triton has integers of 8 to 64 bits, bool, "
                               "float16, float32, float64 and bfloat16; raw bits become another type by triton.reinterpret(x, "
                               "tl.float8e4nv).")


def _memory(value, name):
    """What ts.launch takes for a pointer: an array that gives its memory away, or None."""
    if value is None or isinstance(value, int):
        return value
    base = getattr(value, "base", None)
    if type(value).__name__ == "TensorWrapper" and base is not None:  # triton.reinterpret()
        return _memory(base, name)
    if _torch.is_tensor(value):
        return value
    if hasattr(value, "__array_interface__"):
        # Of types that NumPy has from elsewhere (ml_dtypes) the buffer protocol knows none.
        return value if value.dtype.isbuiltin == 1 else value.view(f"u{value.itemsize}")
    raise _tilescope.Error(f"{name} is a {type(value).__name__}: a pointer is one of NumPy's arrays, a tensor of torch's "
                           "on the CPU, or None.")


# ---- A launch -----------------------------------------------------------------------------------


LIST_OF_ADDRESSES = 1 << 14  # elements that are looked at


def _reached(array):
    """Arrays that the elements of an int64 array point to: those that pointers() was given, else those in sight."""
    if array is None or isinstance(array, int):
        return []
    explicit = getattr(array, "reached", ())
    if len(explicit):
        return list(explicit)
    count = array.numel() if hasattr(array, "numel") else 0
    if not 0 < count <= LIST_OF_ADDRESSES:
        return []
    addresses = {each for each in array.reshape(-1).tolist() if each >= 1 << 32}
    found = []
    if addresses:
        for each in _arrays_in_sight():
            begin = each.data_ptr()
            if any(begin <= at < begin + each.nbytes for at in addresses):
                found.append(each)
    return found


def _arrays_in_sight():
    """Arrays in variables of the functions that have led here, and in lists, tuples and dicts there. By address once."""
    frame, seen = sys._getframe(1), {}

    def look(value, depth):
        if isinstance(value, (list, tuple)) and depth < 3:
            for each in value:
                look(each, depth + 1)
        elif isinstance(value, dict) and depth < 3:
            for each in list(value.values()):
                look(each, depth + 1)
        else:
            module = type(value).__module__.partition(".")[0]
            if (module in ("numpy", __package__) or _torch.is_tensor(value)) and hasattr(value, "nbytes") and hasattr(value, "dtype"):
                try:
                    value = _taken(value)
                    if hasattr(value, "data_ptr"):
                        seen[value.data_ptr(), value.nbytes] = value
                except (RuntimeError, _tilescope.Error):
                    pass  # a tensor without memory, a type that is no kernel's

    scopes = {}
    while frame:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in ("triton", __package__):
            look(dict(frame.f_locals), 0)
            scopes[id(frame.f_globals)] = frame.f_globals
        frame = frame.f_back
    for variables in scopes.values():
        look([each for each in list(variables.values()) if not isinstance(each, dict)], 0)
    return list(seen.values())


INTEGERS = {"i1": 1, "u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


def _scalar(kind, value, name):
    """A number's bytes. PTX has bits for parameters of every type, so that only Triton's type tells which."""
    if kind in INTEGERS:
        size = INTEGERS[kind]
        return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")
    if kind == "bf16":  # as Triton's launcher does: the upper half of an f32
        return struct.pack("<f", value)[2:]
    if kind in FLOATS:
        return struct.pack(FLOATS[kind], value)
    raise _tilescope.Error(f"{name} has Triton's type {kind}, which no parameter has here: pointers, integers up to 64 bits, "
                           "fp16, bf16, fp32, fp64, tensor descriptors and tuples of them do.")


# Numbers of CUtensorMapDataType as Triton's compiler gives them (TMA_DTYPE_DEVICE_TO_HOST in its driver).
# With round_f32_to_tf32 f32 is copied as it is: the tensor core takes its part of the bits.
MAP_TYPES = {0: "u8", 1: "u16", 2: "u32", 3: "i32", 4: "u64", 5: "i64", 6: "f16", 7: "f32", 9: "f64", 10: "bf16"}
SWIZZLES = ("none", "32B", "64B", "128B")


def _descriptor(value, about, name):
    """A host's tensor descriptor as the kernel's parameters: a tensor map where the chip has them, then its shape and
    strides; else (sm_80) pointer, shape, strides and flags, and these once more."""
    shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
    sizes = [*(struct.pack("<i", n) for n in shape), *(struct.pack("<q", n) for n in strides)]
    base = _memory(value.base, name)
    if about is None:
        wide = [struct.pack("<q", n) for n in (*shape, *strides)]
        flags = [bytes([value.padding == "nan"]), bytes([bool(value.round_f32_to_tf32)])]
        return [base, *wide, *flags, *sizes]
    if about["elem_type"] not in MAP_TYPES and not about["fp4_padded"]:
        raise _tilescope.Error(f"{name} is a descriptor of the CUtensorMapDataType {about['elem_type']}, which ts.TensorMap does "
                               "not make: integers and floating types of 8 to 64 bits and padded fp4 work.")
    size, dims = about["elem_size"], shape
    words = {"dtype": MAP_TYPES.get(about["elem_type"], "u8")}
    if about["fp4_padded"]:
        dims = [*shape[:-1], 2 * shape[-1]]
        words = {"dtype": "u8", "packing": "b4x16_p64"}
    block = [int(n) for n in about["block_size"]]
    if about.get("is_im2col"):
        words.update(pixels=block[0], channels=block[1], lower=tuple(reversed(value.pixel_box_lower_corner)),
                     upper=tuple(reversed(value.pixel_box_upper_corner)))
        if value.element_strides is not None:
            words["element_strides"] = tuple(reversed(value.element_strides))
    else:
        words["box"] = tuple(reversed(block))
    tensor_map = _tilescope.TensorMap(
        base, dims=tuple(reversed(dims)), strides=tuple(size * n for n in reversed(strides[:-1])),
        swizzle=SWIZZLES[about["swizzle"]], oob="nan" if value.padding == "nan" else "zero", **words)
    return [tensor_map, *sizes]


def _parameters(signature, values, name, descriptors):
    """The kernel's parameters, each with its name, from Triton's types and the values; `descriptors`: an iterator over
    what the compiler says of each, or None."""
    out = []
    for kind, value, each in zip(signature, values, name):
        if kind == "constexpr":
            continue
        if isinstance(kind, tuple):
            out += _parameters(kind, value, [f"{each}[{i}]" for i in range(len(kind))], descriptors)
        elif kind.startswith("tensordesc"):
            first, *others = _descriptor(value, next(descriptors) if descriptors else None, each)
            out += [(each, first), *(("", other) for other in others)]
        elif kind.startswith("*"):
            out.append((each, _memory(value, each)))
        else:
            out.append((each, _scalar(kind, value, each)))
    return out


class _Launcher:
    """Launches one kernel; Triton makes one for each that it has compiled."""

    def __init__(self, source, metadata):
        self.signature = list(source.signature.values())
        self.names = [name if isinstance(name, str) else f"argument {i}" for i, name in enumerate(source.signature)]
        self.metadata = metadata

    def __call__(self, x, y, z, stream, module, packed, launch_metadata, enter, leave, *values):
        if _session is None:
            raise _tilescope.Error("This kernel was compiled for the simulator, which is not active: after ts.triton.activate() "
                                   "it runs there.")
        try:
            x, y, z = map(operator.index, (x, y, z))
        except TypeError:
            raise _tilescope.Error(f"grid=({x!r}, {y!r}, {z!r}): whole numbers of programs are needed.") from None
        if min(x, y, z) < 1:
            return  # as Triton does
        meta = self.metadata
        about = getattr(meta, "tensordesc_meta", None)
        parameters = _parameters(self.signature, values, self.names, iter(about) if about else None)
        names, arguments = [name for name, _ in parameters], [value for _, value in parameters]
        for size in (meta.global_scratch_size, meta.profile_scratch_size):
            arguments.append(bytearray(size * x * y * z * meta.num_ctas) if size else None)
        words = {"dynamic_smem": meta.shared, **_session.settings}
        lists = [value for kind, value in zip(self.signature, values) if kind in ("*i64", "*u64")]
        reached = [each for value in lists for each in _reached(value)]
        if reached:
            words["memory"] = [_memory(each, "what a pointer points to") for each in reached]
        if meta.num_ctas != 1:
            words["cluster"] = meta.num_ctas
        if enter is not None:
            enter(launch_metadata)
        _session.launch(module, (x * meta.num_ctas, y, z), 32 * meta.num_warps, arguments, names, words)
        if leave is not None:
            leave(launch_metadata)


# ---- The driver ---------------------------------------------------------------------------------


class _Utils:
    """What Triton asks of a driver's C part."""

    def __init__(self, session):
        self.session = session

    def load_binary(self, name, kernel, shared, device):
        # No handle of a module: what would have one is unloaded by whatever driver is active then. Triton asks again
        # at each launch.
        module, registers = self.session.module(kernel)
        return None, module, registers, 0, 1024

    def unload_module(self, module):
        pass

    def get_device_properties(self, device=None):
        return self.session.properties

    def is_stream_capturing(self, stream):
        return False


def _driver(session):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class Driver(DriverBase):
        launcher_cls = _Launcher
        utils = _Utils(session)

        @classmethod
        def is_active(cls):
            return True

        def get_current_target(self):
            return GPUTarget("cuda", session.arch, 32)

        # Triton keeps what it compiled by this number.
        def get_current_device(self):
            return session.number

        def set_current_device(self, device):
            pass

        def get_current_stream(self, device=None):
            return 0

        def get_device_capability(self, device=None):
            return session.arch // 10, session.arch % 10

        def get_active_torch_device(self):
            import torch
            return torch.device("cpu")

        def get_device_interface(self):
            return _Interface(session)

        def map_python_to_cpp_type(self, kind):
            from triton.backends.nvidia.driver import ty_to_cpp
            return ty_to_cpp(kind)

        def get_benchmarker(self):
            return session.bench

        def get_empty_cache_for_benchmark(self):
            return None

        def clear_cache(self, cache):
            pass

    return Driver()


class _Interface:
    """What Triton's benchmarks call torch.cuda for: its clock is predicted time."""

    def __init__(self, session):
        self.session = session

    def synchronize(self, device=None):
        pass

    def current_device(self):
        return self.session.number

    def Event(self, enable_timing=True):  # noqa: N802 (torch's name)
        session = self.session

        class Event:
            def record(self, stream=None):
                self.at = session.clock

            def synchronize(self):
                pass

            def elapsed_time(self, end):
                return (end.at - self.at) * 1e3

        return Event()


class _Session:
    """From activate() to deactivate(): the settings, the modules that were loaded, and what of Triton was replaced."""

    numbers = {}  # a device number for each target and chip

    def __init__(self, target, settings):
        try:
            import triton
        except ImportError as error:
            raise ImportError(f"ts.triton compiles with Triton, which cannot be imported ({error}): "
                              "`pip install triton`.") from None
        chip = settings.get("device") or TARGETS[target]
        self.target, self.settings = target, {**settings, "device": chip}
        self.arch = int(target.strip("sm_a"))
        about = _tilescope.device(chip)
        self.properties = {"multiprocessor_count": about["processors"], "max_shared_mem": about["block_shared"],
                           "max_num_regs": about["registers"], "warpSize": 32}
        self.number = self.numbers.setdefault((target, chip), 1000 + len(self.numbers))
        self.modules = {}
        self.clock, self.launches, self.untimed = 0.0, 0, 0
        self.file = ""  # of the kernel that Triton may be about to compile
        self.replaced = []
        self.tuners = []  # those of triton.autotune that were used
        self.outer, self.entered = None, False  # what was active before, where this one is of a `with`
        _settings.tried(target, self.settings)

    def __enter__(self):
        self.entered = True
        return self

    def __repr__(self):
        return f"<ts.triton for {self.target} on {self.settings['device']}>"

    def __exit__(self, *error):
        global _session
        if _session is self:
            deactivate()
            if self.outer:
                self.outer.begin()
                _session = self.outer

    # -- Launches

    def module(self, ptx):
        if ptx not in self.modules:
            module = _tilescope.Module(_ptx.with_own_lines(ptx.decode()))
            self.modules[ptx] = module, module.registers()
        return self.modules[ptx]

    def launch(self, module, grid, block, arguments, names, words):
        global last
        try:
            run = module.launch(grid, block, arguments, **words)
        except (_tilescope.Fault, _tilescope.Hazard) as error:
            run = error.run
            raise
        finally:
            if "run" in locals():
                last = run
                _settings.name_outputs(run, names)
                reports.extend(run.reports)
                self.launches += 1
                self.clock += run.time
                self.untimed += run.time == 0
        return run

    def bench(self, call, warmup=None, rep=None, grad_to_none=None, quantiles=None, return_mode="mean", **other):
        """Triton's do_bench: milliseconds, of one call, as predicted; they vary no more than the prediction does."""
        clock, launches, untimed = self.clock, self.launches, self.untimed
        call()
        if self.launches == launches:
            raise _tilescope.Error("do_bench: nothing was launched on the simulator, so there is no time to predict: a function "
                                   "that launches one of Triton's kernels is needed.")
        if self.untimed != untimed:
            raise _tilescope.Error("do_bench needs predicted time, which there is for the usual order only: without schedule= and "
                                   "lazy= in ts.triton.activate() it works.")
        time = (self.clock - clock) * 1e3
        if quantiles is not None:
            return time if len(quantiles) == 1 else [time] * len(quantiles)
        return [time] if return_mode == "all" else time

    # -- What of Triton is replaced

    def replace(self, owner, name, value):
        self.replaced.append((owner, name, owner.__dict__[name] if isinstance(owner, type) else getattr(owner, name)))
        setattr(owner, name, value)

    def begin(self):
        import triton
        from triton import knobs, testing
        _look_for_torch()
        from triton.runtime import autotuner, jit
        from triton.tools import tensor_descriptor
        self.config = triton.runtime.driver
        self.before = self.config._active
        self.replace(jit.JITFunction, "run", _explaining(_taking(jit.JITFunction.run)))
        self.replace(autotuner.Autotuner, "run", _choosing(_taking(autotuner.Autotuner.run)))
        self.replace(autotuner.Heuristics, "run", _taking(autotuner.Heuristics.run))
        owners = [tensor_descriptor.TensorDescriptor]
        try:
            from triton.experimental.gluon.nvidia import hopper
            owners += [hopper.TensorDescriptor, hopper.TensorDescriptorIm2Col]
        except ImportError:
            pass
        for owner in owners:
            self.replace(owner, "__post_init__", _checking(owner.__post_init__))
            self.replace(owner, "from_tensor", staticmethod(_taking(owner.from_tensor)))
        for owner in (jit, triton):
            self.replace(owner, "reinterpret", _taking(owner.reinterpret))
        for name in ("do_bench", "do_bench_cudagraph"):
            self.replace(testing, name, self.bench)
        self.replace(knobs.runtime, "add_stages_inspection_hook", self.without_ptxas(knobs.runtime.add_stages_inspection_hook))
        self.config.set_active(_driver(self))

    def without_ptxas(self, hook):
        """A hook into Triton's compiler: where a cubin is to be made, the PTX stays. Triton keeps what was compiled so
        apart from what has a real one; and apart by file, which it does not by itself: reports name the file."""

        def without_ptxas(*given):
            if not given:
                key, number = hook() if hook else ("", "")
                return f"{key}-tilescope-{self.file}", f"{number}-tilescope-{self.file}"
            if hook:
                hook(*given)
            given[1]["cubin"] = lambda ptx, metadata: ptx.encode()

        return without_ptxas

    def choose_for_this_chip(self, tuner):
        """What triton.autotune chose for another chip, or a real one, is kept apart from what it chooses here."""
        if any(tuner is each for each in self.tuners):
            return
        self.tuners.append(tuner)
        chosen = tuner.__dict__.setdefault("_tilescope_chosen", {})
        self.replace(tuner, "cache", chosen.setdefault(self.number, {}))
        self.replace(tuner, "cache_results", False)  # on disk nothing says that times were predicted
        if tuner.use_cuda_graph:
            self.replace(tuner, "_do_bench", None)
        tuner.__dict__.pop("do_bench", None)  # which it keeps of the driver that it was used with first

    def end(self):
        for owner, name, value in reversed(self.replaced):
            setattr(owner, name, value)
        self.replaced.clear()
        for tuner in self.tuners:
            tuner.__dict__.pop("do_bench", None)
        self.tuners.clear()
        self.config.set_active(self.before)


def _look_for_torch():
    """Triton's C part looks once for torch among the modules, and None, which forbids an import, is none that it
    knows: it looks while nothing is there."""
    from triton._C.libtriton import native_specialize_impl
    from triton.backends.compiler import BaseBackend
    forbidden = "torch" in sys.modules and sys.modules["torch"] is None
    if forbidden:
        del sys.modules["torch"]
    try:
        native_specialize_impl(BaseBackend, 2, False, True, True)
    finally:
        if forbidden:
            sys.modules["torch"] = None


def _taking(function):
    """The function with arrays of NumPy's as arguments."""

    @functools.wraps(function)
    def taking(*arguments, **words):
        return function(*map(_taken, arguments), **{name: _taken(value) for name, value in words.items()})

    return taking


def _choosing(run):
    """triton.autotune's launch."""

    @functools.wraps(run)
    def choosing(tuner, *arguments, **words):
        _session.choose_for_this_chip(tuner)
        return run(tuner, *arguments, **words)

    return choosing


def _explaining(run):
    """Triton's launch, with a sentence where an argument is of no type that it knows."""

    @functools.wraps(run)
    def explaining(kernel, *arguments, **words):
        _session.file = kernel.fn.__code__.co_filename
        try:
            return run(kernel, *arguments, **words)
        except TypeError as error:
            known, _, kind = str(error).partition("failed to specialize argument of type: ")
            if known or not kind:
                raise
            raise _tilescope.Error(f"{kernel.__name__} takes no argument of type {kind}: NumPy's arrays, tensors of torch's on the "
                                   "CPU, numbers, None, tensor descriptors and tuples of them can be a kernel's arguments, and "
                                   "whatever Triton takes for a tl.constexpr.") from None

    return explaining


def _checking(post_init):
    """A descriptor's own check, with an array of NumPy's as its base."""

    @functools.wraps(post_init)
    def checking(self):
        self.base = _taken(self.base)
        if not hasattr(self.base, "__array_interface__") or self.padding != "nan":
            return post_init(self)
        # It asks a type of torch's whether it is a floating one.
        if self.base.dtype.kind not in "fV":
            raise _tilescope.Error(f"padding=\"nan\" of a descriptor over {self.base.dtype}: only floating types have a NaN; "
                                   "padding=\"zero\" works.")
        self.padding = "zero"
        post_init(self)
        self.padding = "nan"

    return checking
