"""The memory that a call of a CuTeDSL host function reaches, as arrays by name: of tensors, and of bare addresses."""

from __future__ import annotations

import ctypes
import dataclasses
import sys

from . import _tilescope, _torch

# Types that NumPy has; others are raw bits there.
NUMPY = {"Float16": "f2", "Float32": "f4", "Float64": "f8", "Boolean": "?",
         **{f"{sign}int{8 * n}".capitalize(): f"{sign or 'i'}{n}" for sign in ("", "u") for n in (1, 2, 4, 8)}}
LIST_OF_ADDRESSES = 1 << 14  # elements of an array that are looked at
OF_ADDRESSES = ("int64", "uint64", "torch.int64", "torch.uint64")


def is_array(value):
    """NumPy's, or what has DLPack, and is no tensor of CuTeDSL's that packs itself."""
    return hasattr(type(value), "__dlpack__") and not hasattr(type(value), "__c_pointers__")


def is_tensor(value):
    """A tensor over memory, as from_dlpack() makes it. (Its __class__ says that it is a cute.Tensor.)"""
    return type(value).__name__ == "_Tensor" and type(value).__module__.startswith("cutlass.")


def is_record(value):
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def about_of(tensor):
    """What a tensor says of its memory: address, extents, and the type that it came with."""
    tensor.shape  # loads it where that was left for later
    return tensor._dltensor_wrapper


def raw_memory(begin, size, owner):
    """An array of the host's bytes, which the owner keeps for as long as somebody has it."""
    import numpy as np
    raw = (ctypes.c_ubyte * size).from_address(begin)
    raw.owner = owner
    return np.frombuffer(raw, np.uint8)


def memory_of(tensor):
    """An array of NumPy's over a tensor's memory; None where it has no elements."""
    import numpy as np
    about = about_of(tensor)
    shape, steps = tuple(about.shape), tensor.stride
    if 0 in shape:
        return None
    kind = about.dtype
    dtype = np.dtype(NUMPY.get(kind.__name__, f"u{max(kind.width, 8) // 8}"))
    strides = [step * dtype.itemsize for step in steps]
    lowest = sum(min(0, (extent - 1) * step) for extent, step in zip(shape, strides))
    beyond = sum(max(0, (extent - 1) * step) for extent, step in zip(shape, strides)) + dtype.itemsize
    raw = raw_memory(about.data_ptr + lowest, beyond - lowest, tensor)
    return np.ndarray(shape, dtype, raw, -lowest, strides)


class Reach:
    """Collects the memory of a call's arguments. `memory`: arrays by name; `given`: those that the caller names."""

    def __init__(self, given):
        self.memory = dict(given)
        self.sight = None  # arrays in sight, looked for when first needed

    def add(self, name, value):
        """Of a tensor, an array, a pointer, and of what holds these."""
        if is_tensor(value):
            self.add_array(name, memory_of(value))
        elif hasattr(value, "struct") and hasattr(value, "memory"):  # packed here
            self.add_array(name, value.memory)
        elif is_array(value):
            self.add_array(name, value)
        elif hasattr(type(value), "__tvm_ffi_opaque_ptr__"):  # of make_ptr()
            self.add_pointed(name, int(value._pointer))
        elif isinstance(value, ctypes.c_void_p):
            self.add_pointed(name, value.value or 0)
        elif isinstance(value, (tuple, list)):
            for i, each in enumerate(value):
                self.add(f"{name}[{i}]", each)
        elif is_record(value) or hasattr(value, "__c_pointers__"):
            for field, each in getattr(value, "__dict__", {}).items():
                self.add(f"{name}.{field}", each)

    def add_array(self, name, array):
        if array is None:
            return
        self.memory[name] = array
        # One of addresses reaches what they point to.
        if str(getattr(array, "dtype", "")) in OF_ADDRESSES and 0 < _count(array) <= LIST_OF_ADDRESSES:
            for address in {each for each in array.reshape(-1).tolist() if each >= 1 << 32}:
                self.add_found(address)

    def add_pointed(self, name, address):
        if address and not self.add_found(address, name):
            raise _tilescope.Error(f"{name} points to {address:#x}, and no array in sight of this call holds that "
                                   "address: memory={\"name\": array} says which does.")

    def add_found(self, address, name=None):
        """Adds the array that holds an address, if one in sight does; else answers False."""
        if self.sight is None:
            self.sight = arrays_in_sight()
        for own, (begin, size, array) in self.sight.items():
            if begin <= address < begin + size:
                if not any(array is each for each in self.memory.values()):
                    self.memory[name or own] = array
                return True
        return False


def _count(array):
    return array.numel() if _torch.is_tensor(array) else array.size


def arrays_in_sight():
    """Arrays in variables of the functions that have led here, and in lists, tuples and dicts there, by the variables'
    names: (address, bytes, the array)."""
    found, addresses, scopes = {}, set(), {}

    def look(name, value, depth):
        if isinstance(value, (list, tuple)) and depth < 3:
            for i, each in enumerate(value):
                look(f"{name}[{i}]", each, depth + 1)
        elif isinstance(value, dict) and depth < 3:
            for key, each in list(value.items()):
                look(f"{name}[{key!r}]", each, depth + 1)
        else:
            block = _block(value)
            if block and block[:2] not in addresses:
                addresses.add(block[:2])
                found.setdefault(name, block)

    frame = sys._getframe(1)
    while frame:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in ("cutlass", __package__):
            for name, value in dict(frame.f_locals).items():
                look(name, value, 0)
            scopes[id(frame.f_globals)] = frame.f_globals
        frame = frame.f_back
    for variables in scopes.values():
        for name, value in list(variables.items()):
            if not isinstance(value, dict):
                look(name, value, 0)
    return found


def _block(value):
    """The memory of an array, a torch tensor or a tensor of CuTeDSL's: (address, bytes, an array over it); or None."""
    try:
        if is_tensor(value):
            value = memory_of(value)
        if _torch.is_tensor(value) and value.device.type == "cpu":  # DLPack knows not all of its types
            storage = value.untyped_storage()
            return storage.data_ptr(), storage.nbytes(), raw_memory(storage.data_ptr(), storage.nbytes(), value)
        if type(value).__module__ == "numpy" and hasattr(value, "__array_interface__") and value.nbytes:
            while hasattr(value.base, "__array_interface__"):
                value = value.base
            return value.__array_interface__["data"][0], value.nbytes, value
    except (AttributeError, RuntimeError, TypeError, ValueError):
        pass  # no memory of its own
    return None
