"""Layouts of other packages as Tilescope's: CuTeDSL's, tensor-layouts', Triton's, TVM's.

The extension asks value() about an object that it does not know and whose class comes from one of these packages;
so the package is loaded already, and nothing here imports one that is not.
"""

import re
import sys

from . import _tilescope
from ._tilescope import Error

# --- CuTeDSL (cutlass.cute) ---------------------------------------------------------------------
#
# Its layouts are values of the MLIR module that a @cute.jit function is traced into, and what is known of them is in
# their type, which prints as CuTe's notation: !cute.layout<"(4,8):(8,1)">. Behind the trace the module is gone, and
# to touch one of its values then would end the process.

_ELEMENTS = {
    "Float16": "f16", "BFloat16": "bf16", "Float32": "f32", "TFloat32": "tf32", "Float64": "f64",
    "Float8E4M3FN": "e4m3", "Float8E5M2": "e5m2", "Float4E2M1FN": "e2m1", "Float6E3M2FN": "e3m2", "Float6E2M3FN": "e2m3",
    "Int8": "s8", "Uint8": "u8", "Int16": "s16", "Uint16": "u16", "Int32": "s32", "Uint32": "u32", "Int64": "s64",
    "Uint64": "u64", "Boolean": "u8",
}  # fmt: skip


def _cute(thing):
    name = type(thing).__name__
    if name in ("Int8", "Int16", "Int32", "Int64", "Uint8", "Uint16", "Uint32", "Uint64"):
        return thing.value if isinstance(thing.value, int) else _tilescope.Int("?")
    if name == "_Tensor" and isinstance(getattr(thing, "shape", None), tuple) and not hasattr(thing, "value"):
        return None  # from_dlpack's, which is an array of the host: shape and stride are numbers
    if name not in ("_Layout", "_ComposedLayout", "Swizzle", "_Tensor"):
        return None
    value = thing if name in ("_Layout", "Swizzle") else thing.value
    if not _is_traced(value):
        raise Error(
            f"A {name.strip('_')} of cutlass.cute is there only while its @cute.jit function is traced. "
            "Inside the function ts.Layout(l) takes it over, and stays."
        )
    kind = str(value.type)
    text = re.findall(r'"([^"]*)"', kind)[-1]
    if name != "_Tensor":
        return _tilescope.eval(text)
    memory = re.search(r"\b(gmem|smem|rmem|tmem)\b", kind)
    element = _ELEMENTS.get(getattr(thing.element_type, "__name__", "")) if memory else None
    return _tilescope.eval(f"{memory[0]}<{element}> o {text}" if element else text)


def _is_traced(value):
    """Whether the value is of the function that is traced now."""
    current = sys.modules["cutlass._mlir.ir"].Context.current
    if current is None:
        return False
    try:
        return value.context == current
    except TypeError:  # CuTeDSL 4.5 does not tell
        return True


# --- tensor-layouts ------------------------------------------------------------------------------


def _tensor_layouts(thing):
    name = type(thing).__name__
    if name == "Swizzle":
        return _tilescope.Swizzle(thing.bits, thing.base, thing.shift)
    if name == "ComposedLayout":
        inner = value(thing.inner) or _tilescope.Layout(thing.inner.shape, thing.inner.stride)
        return _composed(thing.outer, thing.offset, inner)
    if name == "Tensor":
        layout = value(thing.layout) or _tilescope.Layout(thing.layout.shape, thing.layout.stride)
        return _tilescope.composition(thing.offset, layout) if thing.offset else layout
    return None


def _composed(outer, offset, inner):
    """outer(offset + inner(c))"""
    if type(outer).__name__ == "Swizzle":
        moved = _tilescope.composition(offset, inner) if offset else inner
        return _tilescope.composition(value(outer), moved)
    if offset:
        raise Error(
            f"A ComposedLayout of tensor-layouts' with an offset of {offset} in front of a layout: "
            "here only a swizzle is behind an offset."
        )
    return _tilescope.composition(value(outer) or _tilescope.Layout(outer.shape, outer.stride), inner)


# --- Triton --------------------------------------------------------------------------------------
#
# A distributed layout is a ThreadValue, as the language reads #ttg.blocked and #ttg.linear; one of shared memory a
# Layout from the tensor's coordinate to the element of its memory. Both are linear over bits, and what each bit leads to
# is read from what Triton's own compiler prints of the layout.

_INPUTS = ("register", "lane", "warp", "block")
_DISTRIBUTED = ("BlockedLayout", "SliceLayout", "DotOperandLayout", "NVMMADistributedLayout", "DistributedLinearLayout")
_SHARED = ("SwizzledSharedLayout", "NVMMASharedLayout", "SharedLinearLayout", "PaddedSharedLayout")
_TENSOR_MEMORY = ("TensorMemoryLayout", "TensorMemoryScalesLayout", "_TensorMemoryLinearLayout")


def triton_layout(layout, shape=None):
    """A layout of Gluon's, or a LinearLayout of Triton's or its text, for a tensor of `shape`.

    Distributed ones (BlockedLayout, NVMMADistributedLayout, DotOperandLayout, SliceLayout, DistributedLinearLayout)
    are a ThreadValue: a thread is lane + 32 * warp, a value is a register. Shared ones (SwizzledSharedLayout,
    NVMMASharedLayout, SharedLinearLayout, PaddedSharedLayout) are a Layout from the tensor's coordinate to an offset in
    elements, of one CTA. Those of tensor memory (TensorMemoryLayout, TensorMemoryScalesLayout) are a TileLayout to TLane
    and TCol, which counts elements. Without a shape: what the layout itself covers, where it says so.

    Error: the layout does not fit the shape, or needs one; there is no such layout here.
    """
    if isinstance(layout, str):
        return linear_text(layout, shape)
    name = type(layout).__name__
    if name == "LinearLayout":
        return linear_text(str(layout), shape)
    if ".amd" in type(layout).__module__ or name in ("AMDMFMALayout", "AMDWMMALayout", "PartitionedSharedLayout"):
        raise Error(f"{name} is of AMD's chips: those that are known here are NVIDIA's.")
    if name not in _DISTRIBUTED + _SHARED + _TENSOR_MEMORY:
        known = [each for each in _DISTRIBUTED + _SHARED + _TENSOR_MEMORY if each[0] != "_"]
        raise Error(f"{name} is none of Triton's layouts that are known here: LinearLayout, {', '.join(known)}.")
    if name == "BlockedLayout" and not layout.cga_layout:
        return _blocked(layout, shape)
    if shape is None:
        shape = getattr(layout, "shape", None)
    if shape is None:
        raise Error(f"{name} has no shape of its own: ts.triton.layout(layout, shape) says which tensor is meant.")
    shape = _checked_shape(layout, shape)
    if name in _TENSOR_MEMORY:
        return _tensor_memory(layout, shape)
    if name == "PaddedSharedLayout":
        return _padded(layout, shape)
    if name in _SHARED:
        return _shared(layout.offset_bases if name == "SharedLinearLayout" else _offsets_in(_view(layout, shape)), shape)
    if name == "DistributedLinearLayout":
        bases = (layout.reg_bases, layout.lane_bases, layout.warp_bases, layout.block_bases)
        return _distributed(dict(zip(_INPUTS, bases)), shape)
    return _distributed(_owners_in(_view(layout, shape)), shape)


def _checked_shape(layout, shape):
    memory = type(layout).__name__ in _SHARED + _TENSOR_MEMORY
    if memory and (getattr(layout, "cga_layout", None) or getattr(layout, "block_bases", None)):
        raise Error(
            f"{type(layout).__name__} is spread over a cluster's CTAs; here is one of a CTA: "
            "its part of the shape, without cga_layout or block_bases."
        )
    shape = [shape] if isinstance(shape, int) else [int(extent) for extent in shape]
    name = type(layout).__name__
    rank = _rank(layout)
    if len(shape) != rank:
        raise Error(f"{name} has {rank} dimensions and the shape {tuple(shape)} {len(shape)}.")
    if any(extent < 1 or extent & (extent - 1) for extent in shape):
        raise Error(f"The shape {tuple(shape)}: extents of Triton's tensors are powers of two.")
    # What Triton's compiler ends the process for.
    if name == "NVMMASharedLayout" and layout.swizzle_byte_width:
        if rank < 2:
            raise Error("NVMMASharedLayout is of two dimensions or more.")
        inner, outer = (shape[0], shape[1:]) if layout.transposed else (shape[-1], shape[:-1])
        rows = 1
        for extent in outer:
            rows *= extent
        row = inner * layout.element_bitwidth // 8 * (2 if layout.fp4_padded else 1)
        if row < layout.swizzle_byte_width or rows < 8:
            raise Error(
                f"NVMMASharedLayout swizzles 8 rows of {layout.swizzle_byte_width} bytes and more; "
                f"of the shape {tuple(shape)} there are {rows} of {row} bytes."
            )
    elif name == "NVMMASharedLayout" and rank < 2:
        raise Error("NVMMASharedLayout is of two dimensions or more.")
    return shape


def _rank(layout):
    name = type(layout).__name__
    if name in _TENSOR_MEMORY:
        return 2
    if name == "PaddedSharedLayout":
        return len(layout.shape)
    if name == "SharedLinearLayout":
        return len(layout.offset_bases[0])
    return len(layout.order) if name == "SwizzledSharedLayout" else layout.rank


def _view(layout, shape):
    """What Triton's compiler prints of the layout: the coordinate of every register, or of every offset."""
    if not hasattr(layout, "format_hardware_view"):
        raise Error("This Triton does not print its layouts (format_hardware_view); 3.9 does.")
    try:
        return layout.format_hardware_view(shape)
    except RuntimeError as refused:
        raise Error(f"{type(layout).__name__}: {refused}") from None


def _numbers(text):
    return [int(number) for number in text.split(",")]


def _steps(places):
    """The bases of an input: what its bits lead to, places[1], places[2], places[4] and so on."""
    return [places[1 << bit] for bit in range(len(places).bit_length() - 1)]


def _offsets_in(view):
    """Offset: 0 -> (0, 0) ..."""
    return _steps([_numbers(numbers) for numbers in re.findall(r"Offset: \d+ -> \(([^()]*)\)", view)])


def _owners_in(view):
    """Block0: Warp0: a line for each register, in which each lane has a coordinate."""
    blocks = []
    for line in view.splitlines():
        if line.startswith("Block"):
            blocks.append([])
        elif line.startswith("Warp"):
            blocks = blocks or [[]]  # one alone has no line of its own
            blocks[-1].append([])
        elif line.startswith("("):
            blocks[-1][-1].append([_numbers(numbers) for numbers in re.findall(r"\(([^()]*)\)", line)])
    warps = [warp[0][0] for warp in blocks[0]]
    registers = [lanes[0] for lanes in blocks[0][0]]
    return dict(zip(_INPUTS, map(_steps, (registers, blocks[0][0][0], warps, [block[0][0][0] for block in blocks]))))


def _blocked(layout, shape):
    fields = {
        "sizePerThread": layout.size_per_thread,
        "threadsPerWarp": layout.threads_per_warp,
        "warpsPerCTA": layout.warps_per_cta,
        "order": layout.order,
    }
    text = ", ".join(f"{name} = {list(numbers)}" for name, numbers in fields.items())
    return _tilescope.eval(f"#ttg.blocked<{{{text}}}>{_on(shape)}")


def _on(shape):
    if shape is None:
        return ""
    shape = (shape,) if isinstance(shape, int) else shape
    return f" on ({','.join(str(int(extent)) for extent in shape)})"


def _distributed(bases, shape):
    text = ", ".join(f"{name} = {[list(basis) for basis in bases.get(name, ())]}" for name in _INPUTS)
    return _tilescope.eval(f"#ttg.linear<{{{text}}}>{_on(shape)}")


def _shared(offset_bases, shape):
    """The layout whose bit k of an offset is the coordinate offset_bases[k]: these turned round."""
    begin, bits = [], 0
    for extent in shape:
        begin.append(bits)
        bits += extent.bit_length() - 1
    rows = []  # (coordinate's bits, offset's bits): which offset gives which coordinate
    for k, basis in enumerate(offset_bases):
        coordinate = 0
        for place, number in zip(begin, basis):
            coordinate ^= number << place
        rows.append([coordinate, 1 << k])
    if len(rows) != bits:
        raise Error(f"The layout has {2 ** len(rows)} offsets for a tensor of {2**bits} elements; as many are needed.")
    for bit in range(bits):
        pivot = next((row for row in range(bit, bits) if rows[row][0] >> bit & 1), None)
        if pivot is None:
            raise Error("Two offsets of the layout have the same coordinate: it is no layout of a tensor.")
        rows[bit], rows[pivot] = rows[pivot], rows[bit]
        for row in range(bits):
            if row != bit and rows[row][0] >> bit & 1:
                rows[row] = [rows[row][0] ^ rows[bit][0], rows[row][1] ^ rows[bit][1]]
    whole = _tilescope.Layout(tuple(shape))
    if bits == 0:
        return whole
    return _tilescope.composition(_tilescope.from_matrix(tuple(offset for _, offset in rows)), whole)


def _padded(layout, shape):
    """So many elements stay free behind each interval: offset i is at i + padding * (i / interval), for each pair."""
    if list(layout.shape) != list(shape):
        raise Error(f"The PaddedSharedLayout is of the shape {tuple(layout.shape)}, and {tuple(shape)} is asked for.")
    pairs = sorted((int(interval), int(padding)) for interval, padding in layout.interval_padding_pairs)
    begins = [1, *(interval for interval, _ in pairs)]
    ends = [*begins[1:], max(2 ** len(layout.offset_bases), begins[-1])]
    strides = [begin + sum(padding * (begin // interval) for interval, padding in pairs) for begin in begins]
    line = _tilescope.Layout(tuple(end // begin for begin, end in zip(begins, ends)), tuple(strides))
    return _tilescope.composition(line, _shared(layout.offset_bases, shape))


def _tensor_memory(layout, shape):
    """The lane and the column of each element, which Triton's own compiler says bit by bit."""
    if type(layout).__name__ != "_TensorMemoryLinearLayout":
        from triton._C.libtriton import gluon_ir, ir, nvidia
        context = ir.context()
        ir.load_dialects(context)
        nvidia.load_dialects(context)
        builder = gluon_ir.GluonOpBuilder(context)
        try:
            linear = builder.to_linear_layout(layout._to_ir(builder), shape)
        except (RuntimeError, ValueError) as refused:
            raise Error(f"{type(layout).__name__}: {refused}") from None
    else:
        linear = layout
    strides = {}  # of each bit of a coordinate
    copies = []
    for axis, bases in (("TLane", linear.rows), ("TCol", linear.cols)):
        for bit, basis in enumerate(bases):
            if any(basis):
                strides[tuple(basis)] = 1 << bit, axis
            elif axis == "TLane" and type(layout).__name__ == "TensorMemoryScalesLayout":
                copies.append(1 << bit)  # each quarter of the lanes has the scale factors
    digits = []
    for dimension, extent in enumerate(shape):
        for bit in reversed(range(extent.bit_length() - 1)):
            place = strides.pop(tuple(1 << bit if i == dimension else 0 for i in range(len(shape))), None)
            if place is None:
                raise Error(f"{type(layout).__name__} does not say where each element of the shape {tuple(shape)} is.")
            extent_before, stride, axis = digits[-1] if digits else (0, 0, "")
            if axis == place[1] and stride == 2 * place[0]:
                digits[-1] = 2 * extent_before, *place
            else:
                digits.append((2, *place))
    text = _digits_text("S", digits or [(1, 0, "TCol")])
    return _tilescope.eval(text + "".join(f" + {_digits_text('R', [(2, copy, 'TLane')])}" for copy in copies))


def _digits_text(letter, digits):
    extents, strides = ",".join(str(each[0]) for each in digits), ",".join(f"{each[1]}@{each[2]}" for each in digits)
    return f"{letter}[{extents}:{strides}]" if len(digits) == 1 else f"{letter}[({extents}):({strides})]"


_BASIS = re.compile(r"(\w+)=(\d+) -> \(([^()]*)\)")
_DIMENSION = re.compile(r"(\w+) \(size (\d+)\)")


def linear_text(text, shape=None):
    """A LinearLayout as Triton prints it, "- register=1 -> (0, 1) ... where out dims are: [dim0 (size 16)...]"."""
    head, _, tail = text.partition("where out dims are:")
    dimensions = _DIMENSION.findall(tail)
    if not dimensions:
        raise Error('A LinearLayout\'s text ends with "where out dims are: [dim0 (size 16), ...]", and here no dimension is named.')
    # By their names, as a tensor has them; Triton prints them in the order in which the layout was made.
    order = sorted(range(len(dimensions)), key=lambda i: dimensions[i][0])
    bases = {}
    for name, bit, numbers in _BASIS.findall(head):
        numbers = [int(number) for number in numbers.split(",") if number.strip()]
        if len(numbers) != len(dimensions):
            raise Error(f"The basis {name}={bit} has {len(numbers)} numbers, and there are {len(dimensions)} dimensions.")
        if int(bit) != 1 << len(bases.setdefault(name, [])):
            raise Error(f"The basis {name}={bit} is not the next one of {name}: they are 1, 2, 4 and so on.")
        bases[name].append([numbers[i] for i in order])
    own = [int(dimensions[i][1]) for i in order]
    if set(bases) <= set(_INPUTS):
        return _distributed(bases, own if shape is None else shape)
    if "offset" in bases and set(bases) <= {"offset", "block"}:
        if bases.get("block"):
            raise Error("The layout is spread over a cluster's CTAs; a layout is of one.")
        return _shared(bases["offset"], own)
    raise Error(f"The layout is from {', '.join(bases)}; here are those from register, lane, warp and block, and from offset.")


def _triton(thing):
    name = type(thing).__name__
    known = name == "LinearLayout" or name in _DISTRIBUTED + _SHARED + _TENSOR_MEMORY or name.startswith("AMD")
    return triton_layout(thing) if known else None


# --- TVM (tvm.tirx.layout) -----------------------------------------------------------------------
#
# The language reads TIRx's notation, S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane]; numbers are expressions of TVM's, and
# one that is no constant is not known.


def _tvm(thing):
    name = type(thing).__name__
    if name == "IntImm":
        return int(thing.value)
    if name == "_LayoutSpec":  # S[...] + R[...], before it is one
        return _tvm(sys.modules[type(thing).__module__].TileLayout(thing))
    if name == "TileLayout":
        return _tilescope.eval(_tile_text(thing))
    if name == "ComposeLayout":
        # Without swizzle_inner it is the outer bits that change.
        atom = int(thing.atom_len) if thing.swizzle_inner else -int(thing.atom_len)
        numbers = f"{int(thing.per_element)}, {int(thing.swizzle_len)}, {atom}"
        return _tilescope.eval(f"ComposeLayout({numbers}, {_tile_text(thing.tile_layout)})")
    return None


def _tile_text(tile):
    parts = [f"{letter}[{_grouped(_tvm_number(each.extent) for each in iters)}:"
             f"{_grouped(_on_axis(each.stride, each.axis) for each in iters)}]"
             for letter, iters in (("S", tile.shard), ("R", tile.replica)) if len(iters)]
    parts += [_on_axis(number, axis) for axis, number in tile.offset.items()]
    return " + ".join(parts if len(tile.shard) else ["S[1:0]", *parts])


def _grouped(numbers):
    first, *others = numbers
    return f"({','.join([first, *others])})" if others else first


def _on_axis(number, axis):
    return f"{_tvm_number(number)}@{axis.name}"


def _tvm_number(number):
    number = getattr(number, "value", number)
    return str(int(number)) if isinstance(number, int) else "?"


def tirx_layout(layout):
    """A layout of TVM's (tvm.tirx.layout: TileLayout, ComposeLayout) as a TileLayout, as the language has TIRx's.

    Error: it is none; it has an axis or a form that the language does not have.
    """
    made = _tvm(layout) if type(layout).__module__.partition(".")[0] == "tvm" else None
    if not isinstance(made, _tilescope.TileLayout):
        raise Error(f"{layout!r} is no layout of TVM's: a TileLayout or a ComposeLayout is needed.")
    return made


_PACKAGES = {"cutlass": _cute, "tensor_layouts": _tensor_layouts, "triton": _triton, "tvm": _tvm}


def value(thing):
    """The object as one of ours; None: it is nothing that is known here."""
    package = type(thing).__module__.partition(".")[0]
    return _PACKAGES[package](thing) if package in _PACKAGES else None
