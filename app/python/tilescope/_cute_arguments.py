"""Arguments of a CuTeDSL host function: examples to compile for, and what a call packs.

A tensor goes to host code as a struct: its address, the extents and the strides that are not known to the compiler
(cutlass/cute/runtime.py: _Tensor). Tensors of CuTeDSL's pack themselves; for an array of NumPy's or another with DLPack
it is done here, as the example of that argument was marked.
"""

from __future__ import annotations

import ctypes
import dataclasses
import sys

from . import _tilescope


def is_array(value):
    """NumPy's, or what has DLPack, and is no tensor of CuTeDSL's that packs itself."""
    return hasattr(type(value), "__dlpack__") and not hasattr(type(value), "__c_pointers__")


def is_tensor(value):
    """A tensor over memory, as from_dlpack() makes it. (Its __class__ says that it is a cute.Tensor.)"""
    return type(value).__name__ == "_Tensor" and type(value).__module__.startswith("cutlass.")


def example(value):
    """An argument to compile for; an array as CuTeDSL has it by itself: all of its layout dynamic but a stride of 1."""
    if is_array(value):
        return tensor_of(value).mark_layout_dynamic()
    return value.item() if is_number(value) else value


def is_number(value):
    """One of NumPy's numbers."""
    return hasattr(value, "item") and hasattr(value, "dtype") and not getattr(value, "shape", None) and not is_array(value)


def tensor_of(array, **words):
    """from_dlpack of an array; with a sentence where it cannot be."""
    from cutlass.cute.runtime import from_dlpack
    try:
        tensor = from_dlpack(array, **words)
        about_of(tensor)
    except Exception as error:
        raise _tilescope.Error(f"{described(array)} cannot be a tensor of CuTeDSL's: {str(error).strip()}. Raw bits of a type "
                               "that NumPy lacks are an array of integers, whose tensor is given an element_type.") from None
    return tensor


def about_of(tensor):
    """What a tensor says of its memory: address, extents, and the type that it came with."""
    tensor.shape  # loads it where that was left for later
    return tensor._dltensor_wrapper


def described(value):
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return f"A {type(value).__name__}"
    closed = getattr(getattr(value, "flags", None), "writeable", True) is False
    return f"An array, {value.dtype} {tuple(value.shape)}{', which is read-only,' if closed else ','}"


# ---- Memory -------------------------------------------------------------------------------------


def memory_of(tensor):
    """An array of NumPy's over a tensor's memory; None where it has no elements."""
    import numpy as np
    about = about_of(tensor)
    shape, steps = tuple(about.shape), tensor.stride
    if 0 in shape:
        return None
    kind, width = about.dtype, max(about.dtype.width, 8)
    name = {"Float16": "f2", "Float32": "f4", "Float64": "f8"}.get(kind.__name__)
    if name is None:
        name = ("i" if kind.__name__.startswith("Int") else "u") + str(width // 8)
    dtype = np.dtype(name)
    strides = [step * dtype.itemsize for step in steps]
    lowest = sum(min(0, (extent - 1) * step) for extent, step in zip(shape, strides))
    beyond = sum(max(0, (extent - 1) * step) for extent, step in zip(shape, strides)) + dtype.itemsize
    raw = (ctypes.c_ubyte * (beyond - lowest)).from_address(about.data_ptr + lowest)
    return np.ndarray(shape, dtype, raw, -lowest, strides)


def reached(name, value, found):
    """Puts the memory of an argument into `found`, by name: of tensors, arrays, pointers, and of what holds these."""
    if is_tensor(value):
        array = memory_of(value)
        if array is not None:
            found[name] = array
    elif isinstance(value, Packed):
        if value.memory is not None:
            found[name] = value.memory
    elif is_array(value):
        found[name] = value
    elif hasattr(type(value), "__tvm_ffi_opaque_ptr__"):  # of make_ptr()
        array = _array_at(int(value._pointer), name)
        if array is not None:
            found[name] = array
    elif isinstance(value, (tuple, list)):
        for i, each in enumerate(value):
            reached(f"{name}[{i}]", each, found)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) or hasattr(value, "__c_pointers__"):
        for field, each in getattr(value, "__dict__", {}).items():
            reached(f"{name}.{field}", each, found)


def _array_at(address, name):
    """The array that a bare pointer points into, among the variables of the functions that have led here."""
    if address == 0:
        return None
    frame, seen = sys._getframe(1), set()
    best = None

    def look(value, depth):
        nonlocal best
        if isinstance(value, (list, tuple)) and depth < 3:
            for each in value:
                look(each, depth + 1)
        elif isinstance(value, dict) and depth < 3:
            for each in list(value.values()):
                look(each, depth + 1)
        elif hasattr(value, "__array_interface__") and hasattr(value, "nbytes"):
            while getattr(value, "base", None) is not None and hasattr(value.base, "__array_interface__"):
                value = value.base
            begin = value.__array_interface__["data"][0]
            if begin <= address < begin + value.nbytes:
                best = value

    while frame and best is None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in ("cutlass", __package__):
            for variables in (dict(frame.f_locals), frame.f_globals):
                if id(variables) not in seen:
                    seen.add(id(variables))
                    look([each for each in list(variables.values()) if not isinstance(each, dict)], 0)
        frame = frame.f_back
    if best is None:
        raise _tilescope.Error(f"{name} points to {address:#x}, and no array in sight of this call holds that address: "
                               "memory={\"name\": array} says which does.")
    return best


# ---- Packing ------------------------------------------------------------------------------------


class Packed:
    """An array as host code takes it."""

    def __init__(self, struct, memory, kept):
        self.struct, self.memory, self.kept = struct, memory, kept

    def __c_pointers__(self):
        return [ctypes.addressof(self.struct)]


class Slot:
    """What the compiler knows of a tensor argument: its element type, and which extents and strides are fixed."""

    def __init__(self, name, example):
        self.name = name
        self.kind = example.element_type
        self.align = example._assumed_align or max(self.kind.width // 8, 1)
        self.free = list(zip(example.shape, example.dynamic_shapes_mask)), list(zip(example.stride, example.dynamic_strides_mask))
        narrow = example._use_32bit_stride
        self.widths = ([getattr(n, "width", 32) for n in example.shape],
                       [getattr(n, "width", 32 if narrow else 64) for n in example.stride])
        self.stored = about_of(example).dtype if is_tensor(example) else self.kind

    def __str__(self):
        shape, stride = (",".join("?" if free else str(n) for n, free in part) for part in self.free)
        return f"{self.kind.__name__} ({shape}):({stride})"

    def check(self, what, kind, shape, stride, address):
        """Error: a tensor is not what was compiled for."""
        if kind.width != self.stored.width and kind.width != self.kind.width:
            fits = False
        else:
            fits = len(shape) == len(self.free[0]) and all(
                free or int(fixed) == n for part, have in zip(self.free, (shape, stride)) for (fixed, free), n in zip(part, have))
        if not fits:
            raise _tilescope.Error(f"{self.name} is {kind.__name__} ({','.join(map(str, shape))}):({','.join(map(str, stride))}), "
                                   f"and the function is compiled for {self}: one like that is needed, or another ts.cute.compile.")
        if address % self.align:
            raise _tilescope.Error(f"{self.name} begins at {address:#x}, and the function is compiled for an alignment of "
                                   f"{self.align} bytes.")

    def checked(self, tensor):
        about = about_of(tensor)
        self.check("tensor", tensor.element_type, tuple(about.shape), tuple(tensor.stride), about.data_ptr)
        return tensor

    def packed(self, array):
        tensor = tensor_of(array)
        about = about_of(tensor)
        shape, stride = tuple(about.shape), tuple(tensor.stride)
        self.check("array", about.dtype, shape, stride, about.data_ptr)
        parts = []
        for part, have, widths in zip(self.free, (shape, stride), self.widths):
            numbers = [(n, ctypes.c_int32 if width == 32 else ctypes.c_int64)
                       for (_, free), n, width in zip(part, have, widths) if free]
            parts.append(_struct([kind for _, kind in numbers])(*(n for n, _ in numbers)))
        layout = _struct([type(part) for part in parts])(*parts)
        struct = _struct([ctypes.c_void_p, type(layout)])(about.data_ptr, layout)
        return Packed(struct, memory_of(tensor), tensor)


def _struct(kinds):
    return type("Struct", (ctypes.Structure,), {"_fields_": [(f"f{i}", kind) for i, kind in enumerate(kinds)]})


class Call:
    def __init__(self, pointers, memory, kept):
        self.pointers, self.memory, self.kept = pointers, memory, kept


class Slots:
    """The arguments of a compiled host function."""

    def __init__(self, made, args, words):
        self.execution = made.execution_args
        self.signature = self.execution.signature
        self.names = list(self.signature.parameters)
        given = self.execution.original_signature.bind_partial(*args, **words).arguments
        self.slots, self.defaults = {}, {}
        for name in self.names:
            value = given.get(name)
            if is_tensor(value) or hasattr(type(value), "_typed_tensor") or type(value).__name__ == "_FakeTensor":
                self.slots[name] = Slot(name, value)
            elif type(value).__name__ == "_FakeStream":
                self.defaults[name] = _stream()

    def bound(self, args, words):
        """A call: pointers to each packed argument, and the memory that they reach. Error: they do not fit."""
        words = {**{name: value for name, value in self.defaults.items() if name not in words}, **words}
        try:
            bound = self.signature.bind(*args, **words)
        except TypeError as error:
            again = {name: value for name, value in words.items() if name not in self.defaults}
            try:
                bound = self.signature.bind(*args, **again)
            except TypeError:
                raise _tilescope.Error(f"The host function takes ({', '.join(self.names)}), without what is constexpr: "
                                       f"{error}.") from None
        bound.apply_defaults()
        values = [self.taken(name, bound.arguments[name]) for name in self.names]
        memory = {}
        for name, value in zip(self.names, values):
            reached(name, value, memory)
        pointers, adapted = self.execution.generate_execution_args(tuple(values), {})
        return Call(pointers, memory, (values, adapted))

    def taken(self, name, value):
        slot = self.slots.get(name)
        if slot is None:
            return value.item() if is_number(value) else value
        if is_array(value):
            return slot.packed(value)
        if is_tensor(value):
            return slot.checked(value)
        raise _tilescope.Error(f"{name} is a {type(value).__name__}, and a tensor, {slot}, is compiled for: NumPy's arrays, "
                               "what has DLPack on the CPU, or from_dlpack of it is one.")


def _stream():
    import cuda.bindings.driver as cuda
    return cuda.CUstream(0)
