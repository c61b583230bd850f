"""What Triton asks its active driver, answered by the simulator: what the chip is, a kernel's parameters, a launch.

A parameter's type is Triton's, since PTX has bits for parameters of every type.
"""

from __future__ import annotations

import operator
import struct

from . import _tilescope
from ._triton_arrays import memory_of, reached_by

active = None  # the session that ts.triton.activate() has begun, which kernels are launched in

# ---- A kernel's parameters ----------------------------------------------------------------------

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
MAP_TYPES = {0: "u8", 1: "u16", 2: "u32", 3: "i32", 4: "u64", 5: "i64", 6: "f16", 7: "f32", 9: "f64", 10: "bf16"}
SWIZZLES = ("none", "32B", "64B", "128B")


def _descriptor(value, about, name):
    """A host's tensor descriptor as the kernel's parameters: a tensor map where the chip has them, then its shape and
    strides; else (sm_80) pointer, shape, strides and flags, and these once more."""
    shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
    sizes = [*(struct.pack("<i", n) for n in shape), *(struct.pack("<q", n) for n in strides)]
    base = memory_of(value.base, name)
    if about is None:
        wide = [struct.pack("<q", n) for n in (*shape, *strides)]
        flags = [bytes([value.padding == "nan"]), bytes([bool(value.round_f32_to_tf32)])]
        return [base, *wide, *flags, *sizes]
    if about["elem_type"] not in MAP_TYPES and not about["fp4_padded"]:
        raise _tilescope.Error(f"{name} is a descriptor of the CUtensorMapDataType {about['elem_type']}, which ts.TensorMap does "
                               "not make: integers and floating types of 8 to 64 bits and padded fp4 work.")
    size, dims = about["elem_size"], shape
    words = {"dtype": MAP_TYPES.get(about["elem_type"], "u8")}
    if value.round_f32_to_tf32 and words["dtype"] == "f32":
        words["dtype"] = "tf32"
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


def parameters_of(signature, values, name, descriptors):
    """The kernel's parameters, each with its name, from Triton's types and the values; `descriptors`: an iterator over
    what the compiler says of each, or None."""
    out = []
    for kind, value, each in zip(signature, values, name):
        if kind == "constexpr":
            continue
        if isinstance(kind, tuple):
            out += parameters_of(kind, value, [f"{each}[{i}]" for i in range(len(kind))], descriptors)
        elif kind.startswith("tensordesc"):
            first, *others = _descriptor(value, next(descriptors) if descriptors else None, each)
            out += [(each, first), *(("", other) for other in others)]
        elif kind.startswith("*"):
            out.append((each, memory_of(value, each)))
        else:
            out.append((each, _scalar(kind, value, each)))
    return out


# ---- A launch -----------------------------------------------------------------------------------


class _Launcher:
    """Launches one kernel; Triton makes one for each that it has compiled."""

    def __init__(self, source, metadata):
        self.signature = list(source.signature.values())
        self.names = [name if isinstance(name, str) else f"argument {i}" for i, name in enumerate(source.signature)]
        self.metadata = metadata

    def __call__(self, x, y, z, stream, module, packed, launch_metadata, enter, leave, *values):
        if active is None:
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
        parameters = parameters_of(self.signature, values, self.names, iter(about) if about else None)
        names, arguments = [name for name, _ in parameters], [value for _, value in parameters]
        for size in (meta.global_scratch_size, meta.profile_scratch_size):
            arguments.append(bytearray(size * x * y * z * meta.num_ctas) if size else None)
        words = {"dynamic_smem": meta.shared, **active.settings}
        lists = [value for kind, value in zip(self.signature, values) if kind in ("*i64", "*u64")]
        reached = [each for value in lists for each in reached_by(value)]
        if reached:
            words["memory"] = [memory_of(each, "what a pointer points to") for each in reached]
        if meta.num_ctas != 1:
            words["cluster"] = meta.num_ctas
        if getattr(meta, "launch_cooperative_grid", False):
            words["cooperative"] = True
        if enter is not None:
            enter(launch_metadata)
        active.launch(module, (x * meta.num_ctas, y, z), 32 * meta.num_warps, arguments, names, words)
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


def driver_of(session):
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
