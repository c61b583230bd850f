"""Arguments of a CuTeDSL host function: examples to compile for, and what a call packs.

A tensor goes to host code as a struct: its address, the extents and the strides that are not known to the compiler
(cutlass/cute/runtime.py: _Tensor). Tensors of CuTeDSL's pack themselves; for an array of NumPy's or another with DLPack
it is done here, as the example of that argument was marked.
"""

from __future__ import annotations

import ctypes

from . import _tilescope, _torch
from ._cute_memory import NUMPY, Reach, about_of, is_array, is_record, is_tensor, memory_of


def example(value):
    """An argument to compile for. Tensors are said to be in a GPU's memory, as the kernels have them; of an array all
    of the layout is dynamic but a stride of 1, as CuTeDSL has it by itself."""
    if is_array(value):
        return on_device(tensor_of(value).mark_layout_dynamic(), described(value))
    if is_tensor(value):
        return on_device(value, f"A tensor, {value},")
    if type(value) in (tuple, list):
        return type(value)(map(example, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(example, value))
    for each in getattr(value, "__dict__", {}).values() if hasattr(value, "__c_pointers__") or is_record(value) else ():
        if is_tensor(each):
            example(each)
    return value.item() if is_number(value) else value


def is_number(value):
    """One of NumPy's numbers."""
    return type(value).__module__ == "numpy" and hasattr(value, "item") and not is_array(value)


def tensor_of(array):
    """from_dlpack of an array; with a sentence where it cannot be."""
    from cutlass.cute.runtime import from_dlpack
    try:
        if array.__dlpack_device__()[0] not in ON_CPU:
            raise ValueError("it is in a GPU's memory, and the simulator has the CPU's")
        # DLPack gives away no tensor of torch's that gathers gradients.
        tensor = from_dlpack(array.detach() if _torch.is_tensor(array) else array)
        about_of(tensor)
    except Exception as error:
        why = str(error).strip().rstrip(".")
        raise _tilescope.Error(f"{described(array)} cannot be a tensor of CuTeDSL's: {why}. Raw bits of a type that NumPy "
                               "lacks are an array of integers, whose tensor is given an element_type.") from None
    return tensor


# DLPack's kinds of memory (dlpack.h): kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged.
ON_CPU, ON_GPU = (1, 3, 13), 2


def on_device(tensor, name):
    """The tensor, whose memory is said to be a GPU's: to the compiler it is global memory then (cp.async takes no
    other). Where it really is one it is refused."""
    kind = _kind_of_memory(tensor)
    if kind is not None and not getattr(tensor, "_tilescope_device", False):
        if kind.value not in ON_CPU:
            raise _tilescope.Error(f"{name} is in a GPU's memory, and the simulator has the CPU's: an array there is "
                                   "needed.")
        kind.value = ON_GPU
        tensor._tilescope_device = True
    return tensor


def _kind_of_memory(tensor):
    """Where DLPack's tensor says what its memory is; None where it is in no capsule."""
    about_of(tensor)
    capsule = tensor._dlpack_data
    if type(capsule).__name__ != "PyCapsule":
        return None
    name = _capsule_name(capsule)
    # A DLManagedTensor begins with the tensor, a DLManagedTensorVersioned with 32 bytes before it; the tensor with the
    # address of its memory.
    begin = 32 if name.endswith(b"_versioned") else 0
    return ctypes.c_int32.from_address(_capsule_pointer(capsule, name) + begin + 8)


_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def described(value):
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return f"A {type(value).__name__}"
    closed = getattr(getattr(value, "flags", None), "writeable", True) is False
    return f"An array, {value.dtype} {tuple(value.shape)}{', which is read-only,' if closed else ','}"


# ---- Packing ------------------------------------------------------------------------------------


class Packed:
    """An array as host code takes it: a struct of ctypes; and the memory that a kernel reaches through it."""

    def __init__(self, struct, memory):
        self.struct, self.memory = struct, memory

    def __c_pointers__(self):
        return [ctypes.addressof(self.struct)]


class Slot:
    """What the compiler knows of a tensor argument: its element type, and which extents and strides are free."""

    def __init__(self, name, example):
        self.name = name
        self.kind = example.element_type
        self.stored = about_of(example).dtype if is_tensor(example) else self.kind
        self.align = example._assumed_align or max(self.kind.width // 8, 1)
        self.shape = list(zip(example.shape, example.dynamic_shapes_mask))
        self.stride = list(zip(example.stride, example.dynamic_strides_mask))
        usual = 32, 32 if example._use_32bit_stride else 64  # bits; a symbol of a fake tensor says its own
        parts = [_struct([INTEGERS[getattr(n, "width", bits)] for n, free in part if free])
                 for part, bits in zip((self.shape, self.stride), usual)]
        self.layout = _struct(parts)
        self.struct = _struct([ctypes.c_void_p, self.layout])

    def __str__(self):
        shape, stride = (",".join("?" if free else str(n) for n, free in part) for part in (self.shape, self.stride))
        return f"{self.kind.__name__} ({shape}):({stride})"

    def check(self, kind, shape, stride, address):
        """Error: a tensor is not what was compiled for."""
        raw = kind.is_integer and kind.width == self.kind.width and self.kind.__name__ not in NUMPY
        fits = (kind in (self.stored, self.kind) or raw) and len(shape) == len(self.shape)
        for part, have in ((self.shape, shape), (self.stride, () if 0 in shape else stride)):
            fits = fits and all(free or int(fixed) == n for (fixed, free), n in zip(part, have))
        if not fits:
            numbers = "):(".join(",".join(map(str, part)) for part in (shape, stride))
            raise _tilescope.Error(f"{self.name} is {kind.__name__} ({numbers}), and the function is compiled for "
                                   f"{self}: one like that is needed, or another ts.cute.compile.")
        if address % self.align:
            raise _tilescope.Error(f"{self.name} begins at {address:#x}, and the function is compiled for an alignment "
                                   f"of {self.align} bytes: ts.cute.aligned(array, {self.align}) is a copy that has it.")

    def checked(self, tensor):
        about = about_of(on_device(tensor, self.name))
        self.check(tensor.element_type, tuple(about.shape), tuple(tensor.stride), about.data_ptr)
        return tensor

    def packed(self, array):
        tensor = tensor_of(array)
        about = about_of(tensor)
        shape, stride = tuple(about.shape), tuple(tensor.stride)
        self.check(about.dtype, shape, stride, about.data_ptr)
        parts = [kind(*(n for (_, free), n in zip(part, have) if free))
                 for (_, kind), part, have in zip(self.layout._fields_, (self.shape, self.stride), (shape, stride))]
        own = hasattr(array, "__array_interface__") or _torch.is_tensor(array)
        return Packed(self.struct(about.data_ptr, self.layout(*parts)), array if own and 0 not in shape else memory_of(tensor))


INTEGERS = {32: ctypes.c_int32, 64: ctypes.c_int64}


def _struct(kinds):
    return type("Struct", (ctypes.Structure,), {"_fields_": [(f"f{i}", kind) for i, kind in enumerate(kinds)]})


class Call:
    """A call: pointers to its packed arguments, the arrays that they reach, by name, and what must live meanwhile."""

    def __init__(self, pointers, memory, kept):
        self.pointers, self.memory, self.kept = pointers, memory, kept


NUMBERS = {"Numeric", "SymInt"}  # CuTeDSL's: with a value, and one that an example of a shape leaves open


def kind_of(value):
    """What a host function takes a value for, in words; of a tuple, a tuple of these."""
    if value is None:
        return "None"
    if isinstance(value, (tuple, list)):
        return tuple(map(kind_of, value))
    name = type(value).__name__
    if isinstance(value, type):
        return f"the type {value.__name__}"
    if is_array(value) or is_tensor(value) or name == "_FakeTensor":
        return "a tensor"
    if hasattr(type(value), "__tvm_ffi_opaque_ptr__") or hasattr(value, "_python_pointer_address_arg"):
        return "a pointer"
    if name in ("CUstream", "_FakeStream"):
        return "a stream"
    if isinstance(value, (int, float)) or is_number(value) or not NUMBERS.isdisjoint(
            each.__name__ for each in type(value).__mro__):
        return "a number"
    return f"a {name}"


class Slots:
    """The arguments of a compiled host function."""

    def __init__(self, made, args, words):
        self.execution = made.execution_args
        self.workspaces = getattr(made, "total_added_arguments", 0)  # which CuTe's extension adds behind the others
        self.signature = self.execution.signature
        self.names = list(self.signature.parameters)
        examples = self.execution.original_signature.bind_partial(*args, **words)
        examples.apply_defaults()
        self.examples = {name: kind_of(examples.arguments[name]) for name in self.names if name in examples.arguments}
        self.slots, self.defaults, self.numbers, self.symbols = {}, {}, {}, {}
        for name in self.names:
            value = examples.arguments.get(name)
            if is_tensor(value) or type(value).__name__ == "_FakeTensor":
                self.slots[name] = Slot(name, value)
            elif type(value).__name__ == "_FakeStream":  # TVM's calls leave it out
                self.defaults[name] = _stream()
            elif type(value) in (bool, int, float):
                self.numbers[name] = type(value)
            elif isinstance(value, (tuple, list)) or type(value).__name__ == "SymInt":
                self.symbols[name] = symbols_of(value)

    def bound(self, args, words, given_memory):
        """A Call; `given_memory`: arrays by name that it reaches, too. Error: the arguments do not fit."""
        takes = f"The host function takes ({', '.join(self.names)}), without what is constexpr"
        added = tuple(map(example, args[len(self.names):] if self.workspaces else ()))
        if len(added) != self.workspaces:
            raise _tilescope.Error(f"{takes}, and {self.workspaces} workspaces behind these: {len(added)} of them are "
                                   "given.")
        args = args[:len(args) - len(added)]
        try:
            bound = self.signature.bind_partial(*args, **words)
        except TypeError as error:
            raise _tilescope.Error(f"{takes}: {error}.") from None
        bound.apply_defaults()
        given = {**self.defaults, **bound.arguments}
        missing = [name for name in self.names if name not in given]
        if missing:
            raise _tilescope.Error(f"{takes}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing.")
        values = [self.taken(name, given[name]) for name in self.names]
        reach = Reach(given_memory)
        for name, value in zip(self.names, values):
            reach.add(name, value)
        for i, value in enumerate(added):
            reach.add(f"workspace {i}", value)
        pointers, adapted = self.execution.generate_execution_args((*values, *added), {})
        return Call(pointers, reach.memory, (values, added, adapted))

    def taken(self, name, value):
        if is_number(value):
            value = value.item()
        given, wanted = kind_of(value), self.examples.get(name)
        slot = self.slots.get(name)
        if given != wanted and not (wanted == "a pointer" and isinstance(value, (int, ctypes.c_void_p))):
            wanted = f"a tensor, {slot}," if slot else _said(wanted)
            raise _tilescope.Error(f"{name} is {_said(given)}, and {wanted} is what the function is compiled for.")
        if slot is not None:
            return slot.packed(value) if is_array(value) else slot.checked(value)
        if isinstance(value, type):
            return None  # as a constant: nothing is packed
        number = self.numbers.get(name)
        # A type is what CuTeDSL makes of the number where none is annotated: another type would be other bits.
        if number and type(value) is not number and type(value) in (bool, int, float):
            try:
                cast = number(value)
            except (OverflowError, ValueError):  # infinity, NaN
                cast = None
            if cast != value:
                raise _tilescope.Error(f"{name}={value!r}, and the function is compiled for one of type "
                                       f"{number.__name__}.")
            value = cast
        return with_symbols(value, self.symbols.get(name))


def symbols_of(value):
    """The bits of each symbol in an example of a shape: in tuples as that is, None where none is."""
    if isinstance(value, (tuple, list)):
        return [symbols_of(each) for each in value]
    return value.width if type(value).__name__ == "SymInt" else None


def with_symbols(value, bits):
    """A shape whose numbers are of the symbols' types; CuTeDSL takes every int of Python's for an Int32."""
    if isinstance(bits, list):
        return tuple(map(with_symbols, value, bits)) if any(bits) else value
    if bits is None or not isinstance(value, int):
        return value
    import cutlass
    return (cutlass.Int64 if bits == 64 else cutlass.Int32)(value)


def _said(kind):
    return f"({', '.join(map(_said, kind))})" if isinstance(kind, tuple) else str(kind)


def _stream():
    import cuda.bindings.driver as cuda
    return cuda.CUstream(0)
