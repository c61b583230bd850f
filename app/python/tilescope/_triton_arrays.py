"""Arrays as Triton takes them, and the memory that a kernel reaches through them."""

from __future__ import annotations

import functools
import sys

from . import _tilescope, _torch


def numpy_for(why):
    try:
        import numpy
    except ImportError:
        raise ImportError(f"{why}, and NumPy is not installed: `pip install numpy`.") from None
    return numpy


@functools.cache
def array_type():
    """NumPy's array with the methods of a tensor that Triton calls. A view of the user's array: nothing is copied."""
    np = numpy_for("Arrays are NumPy's")

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


def taken(value):
    """An argument as Triton takes it: arrays, in tuples too, have the methods that it calls."""
    np = sys.modules.get("numpy")
    if np is None:
        return value
    if isinstance(value, np.ndarray):
        if isinstance(value, array_type()):
            return value
        _check_type(value)
        return value.view(array_type())
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is tuple:
        return tuple(map(taken, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(taken, value))
    return value


def _check_type(array):
    from triton._utils import type_canonicalisation_dict
    if str(array.dtype) not in type_canonicalisation_dict:
        raise _tilescope.Error(f"An array of {array.dtype} is no kernel's argument: Triton has integers of 8 to 64 bits, bool, "
                               "float16, float32, float64 and bfloat16; raw bits become another type by triton.reinterpret(x, "
                               "tl.float8e4nv).")


def memory_of(value, name):
    """What ts.launch takes for a pointer: an array that gives its memory away, or None."""
    if value is None or isinstance(value, int):
        return value
    base = getattr(value, "base", None)
    if type(value).__name__ == "TensorWrapper" and base is not None:  # triton.reinterpret()
        return memory_of(base, name)
    if _torch.is_tensor(value):
        return value
    if hasattr(value, "__array_interface__"):
        # Of types that NumPy has from elsewhere (ml_dtypes) the buffer protocol knows none.
        return value if value.dtype.isbuiltin == 1 else value.view(f"u{value.itemsize}")
    raise _tilescope.Error(f"{name} is a {type(value).__name__}: a pointer is one of NumPy's arrays, a tensor of torch's "
                           "on the CPU, or None.")

LIST_OF_ADDRESSES = 1 << 14  # elements that are looked at


def reached_by(array):
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
                    value = taken(value)
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
