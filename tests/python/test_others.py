"""Layouts of other packages, where these are installed: each is what its own package says of it."""

import itertools
import re
import subprocess
import sys

import pytest
import tilescope as ts


def test_nothing_is_imported_that_is_not_there_already():
    code = (
        "import sys, tilescope as ts\n"
        "class Theirs:\n    shape, stride = (4, 8), (8, 1)\n"
        "ts.size(Theirs()), ts.size((4, 8))\n"
        "print([name for name in ('triton', 'cutlass', 'tensor_layouts', 'numpy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- tensor-layouts ---


def test_tensor_layouts():
    tl = pytest.importorskip("tensor_layouts", reason="tensor-layouts is not installed")
    theirs = tl.Layout((4, (2, 4)), (8, (1, 2)))
    assert ts.Layout(theirs) == ts.Layout((4, (2, 4)), (8, (1, 2)))
    assert [ts.Layout(theirs)(i) for i in range(32)] == [theirs(i) for i in range(32)]
    assert ts.Layout(tl.logical_divide(theirs, tl.Layout(4, 1))) == ts.logical_divide(theirs, tl.Layout(4, 1))
    swizzle = tl.Swizzle(3, 3, 3)
    assert ts.eval("s", s=swizzle) == ts.Swizzle(3, 3, 3)
    composed = tl.compose(swizzle, tl.Layout((8, 64), (64, 1)))
    ours = ts.Layout(composed)
    assert all(ours(i, j) == composed(i, j) for i in range(8) for j in range(64))
    moved = tl.ComposedLayout(swizzle, tl.Layout((8, 64), (64, 1)), offset=72)
    assert all(ts.Layout(moved)(i, j) == moved(i, j) for i in range(8) for j in range(64))
    assert ts.zipped_divide(ts.Layout((8, 8), (8, 1)), tl.Tile(tl.Layout(4, 2), tl.Layout(2, 1))) == ts.eval(
        "zipped_divide((8,8):(8,1), <4:2,2:1>)"
    )


# --- CuTeDSL ---

CUTE = """
import cutlass, cutlass.cute as cute, tilescope as ts
kept = []

@cute.jit
def host(n: cutlass.Int32):
    l = cute.make_layout((4, (2, 4)), stride=(8, (1, 2)))
    print(ts.Layout(l), ts.Layout(l) == ts.Layout(l.shape, l.stride))
    print(ts.zipped_divide(l, (2, 4)) == ts.Layout(cute.zipped_divide(l, (2, 4))))
    s = cute.make_swizzle(3, 4, 3)
    print(ts.eval("s", s=s), ts.Layout(cute.make_composed_layout(s, 0, cute.make_layout((8, 64), stride=(64, 1)))))
    print(ts.Layout(cute.make_layout((4, n), stride=(n, 1))), ts.Layout((4, n)))
    print(ts.Layout(cute.make_identity_layout((4, 5))))
    pointer = cute.make_ptr(cutlass.Float16, 0, cute.AddressSpace.smem, assumed_align=128)
    print(ts.eval("t", t=cute.make_tensor(pointer, l)))
    mma = cute.make_tiled_mma(cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)), (2, 2, 1))
    print(ts.Layout(mma.tv_layout_A_tiled) == ts.layout_A_TV(ts.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2))))
    kept.append(l)
    kept.append(cute.make_composed_layout(s, 0, l))
    kept.append(ts.Layout(l))

host(5)
print(kept[2])
for dead in kept[:2]:
    try:
        ts.Layout(dead)
    except ts.Error as refused:
        print(refused)
"""


def test_cutedsl_while_a_function_is_traced(tmp_path):
    # Objects that outlive their trace end the process where they are touched: one of its own.
    if subprocess.run([sys.executable, "-c", "import cutlass.cute"], capture_output=True).returncode:
        pytest.skip("nvidia-cutlass-dsl is not installed")
    (tmp_path / "traced.py").write_text(CUTE)  # CuTeDSL reads its functions' source
    ran = subprocess.run([sys.executable, tmp_path / "traced.py"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "(4,(2,4)):(8,(1,2)) True",
        "True",
        "Sw<3,4,3> Sw<3,4,3> o 0 o (8,64):(64,1)",
        "(4,?):(?,1) (4,?):(1,4)",
        "(4,5):(1@0,1@1)",
        "smem<f16> o (4,(2,4)):(8,(1,2))",
        "True",
        "(4,(2,4)):(8,(1,2))",
        "A Layout of cutlass.cute is there only while its @cute.jit function is traced. "
        "Inside the function ts.Layout(l) takes it over, and stays.",
        "A ComposedLayout of cutlass.cute is there only while its @cute.jit function is traced. "
        "Inside the function ts.Layout(l) takes it over, and stays.",
    ]


# --- Triton ---


@pytest.fixture(scope="module")
def gl():
    pytest.importorskip("triton", reason="Triton is not installed")
    return pytest.importorskip("triton.experimental.gluon.language", reason="this Triton has no Gluon")


def printed_owners(layout, shape):
    """Element -> {(thread, register)}, as Triton's own picture of the layout has it."""
    cells = re.findall(r"[\[,]([^\[\],]+)", layout.format_tensor_view(list(shape)))
    owners = [{tuple(map(int, one)) for one in re.findall(r"T\s*(\d+):\s*(\d+)", cell)} for cell in cells]
    return dict(zip(itertools.product(*map(range, shape)), owners, strict=True))


def our_owners(made, shape):
    threads, values = (ts.size(made.layout[mode]) for mode in (0, 1))
    owners = {}
    for thread, value in itertools.product(range(threads), range(values)):
        owners.setdefault(ts.idx2crd(made.layout(thread, value), tuple(shape)), set()).add((thread, value))
    return owners


def distributed(gl):
    blocked = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    mma = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    return [
        (blocked, (64, 32)),
        (blocked, (8, 8)),
        (gl.SliceLayout(1, blocked), (64,)),
        (mma, (64, 32)),
        (gl.DotOperandLayout(0, mma, 2), (32, 32)),
        (gl.DotOperandLayout(1, mma, 2), (32, 32)),
        (gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]), (64, 64)),
        (gl.DistributedLinearLayout([[0, 1], [8, 0]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [], [], [16, 8]), (16, 8)),
    ]


def test_gluons_distributed_layouts_are_as_triton_prints_them(gl):
    for layout, shape in distributed(gl):
        made = ts.triton.layout(layout, shape)
        assert isinstance(made, ts.ThreadValue)
        assert our_owners(made, shape) == printed_owners(layout, shape), layout


def test_a_clusters_blocks_are_further_threads(gl):
    split = gl.BlockedLayout([1, 4], [8, 4], [2, 1], [1, 0], [[1, 0]])  # two CTAs of 64 threads, by rows
    ours = our_owners(ts.triton.layout(split, (32, 16)), (32, 16))
    assert {at: {(t % 64, v) for t, v in owners} for at, owners in ours.items()} == printed_owners(split, (32, 16))
    assert all({t // 64 for t, _ in owners} == {row // 16} for (row, _), owners in ours.items())


def test_gluons_layouts_stand_where_a_value_stands(gl):
    blocked = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    text = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"
    assert ts.eval("x", x=blocked) == ts.eval(text) and ts.draw(blocked) == ts.eval(text).draw()
    assert ts.triton.layout(blocked, (64, 32)) == ts.eval(text + " on (64,32)")
    shared = gl.SharedLinearLayout([[0, 1], [0, 2], [1, 0]])
    assert ts.size(shared) == 8 and ts.Layout(shared)(1, 3) == 7


def shared(gl):
    return [
        (gl.SwizzledSharedLayout(8, 2, 4, [1, 0]), (16, 32)),
        (gl.SwizzledSharedLayout(1, 1, 1, [0, 1]), (8, 4)),
        (gl.NVMMASharedLayout(128, 16, 2), (16, 128)),
        (gl.NVMMASharedLayout(64, 16, 2, transposed=True), (64, 16)),
        (gl.NVMMASharedLayout(32, 8, 2), (8, 64)),
        (gl.NVMMASharedLayout(0, 32, 2), (16, 8)),
        (gl.SharedLinearLayout([[0, 1], [1, 0], [0, 2], [2, 2]]), (4, 4)),
    ]


def test_gluons_shared_layouts_are_as_triton_prints_them(gl):
    for layout, shape in shared(gl):
        ours = ts.triton.layout(layout, shape)
        view = layout.format_hardware_view(list(shape))
        places = re.findall(r"Offset: (\d+) -> \(([^)]*)\)", view)
        assert len(places) == ts.size(ours) == shape[0] * shape[1]
        for offset, coordinate in places:
            assert ours(*map(int, coordinate.split(","))) == int(offset), layout


@pytest.mark.parametrize("pairs, order", [([[32, 4]], [1, 0]), ([[32, 4], [128, 8]], [1, 0]), ([[64, 2]], [0, 1]), ([[512, 1]], [1, 0])])
def test_gluons_padded_layouts(gl, pairs, order):
    ours = ts.Layout(gl.PaddedSharedLayout.with_identity_for(pairs, [16, 32], order))
    for row, column in itertools.product(range(16), range(32)):
        i = 32 * row + column if order == [1, 0] else 16 * column + row
        assert ours(row, column) == i + sum(padding * (i // interval) for interval, padding in pairs)


def blackwell():
    return pytest.importorskip("triton.experimental.gluon.language.nvidia.blackwell")


@pytest.mark.parametrize("block, stride, shape, text", [
    ((128, 64), 1, (128, 64), "S[(128,64):(1@TLane,1@TCol)]"),
    ((128, 64), 2, (128, 64), "S[(128,64):(1@TLane,2@TCol)]"),  # unpacked: of 16 bits, in columns of 32
    ((64, 64), 1, (64, 64), "S[(4,16,64):(32@TLane,1@TLane,1@TCol)]"),  # 16 lanes of each quarter
    ((64, 64), 1, (128, 64), "S[(2,4,16,64):(16@TLane,32@TLane,1@TLane,1@TCol)]"),
    ((128, 128), 1, (256, 128), "S[(2,128,128):(128@TCol,1@TLane,1@TCol)]"),
])
def test_gluons_tensor_memory(block, stride, shape, text):
    assert ts.triton.layout(blackwell().TensorMemoryLayout(block, stride), shape) == ts.eval(text)


def test_gluons_scale_factors_are_in_each_quarter_of_the_lanes():
    made = ts.triton.layout(blackwell().TensorMemoryScalesLayout(), (128, 4))
    assert made == ts.eval("S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[(2,2):(32@TLane,64@TLane)]")
    assert ts.eval("size(X)", X=made) == 512 and len(made(0)) == 4


def test_linear_layouts_of_triton_and_their_text(gl):
    from triton._C.libtriton.linear_layout import LinearLayout

    bases = [("register", [[0, 1], [8, 0]]), ("lane", [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]), ("warp", []), ("block", [])]
    linear = LinearLayout.from_bases(bases, ["dim0", "dim1"])
    want = ts.triton.layout(gl.DistributedLinearLayout(*(b for _, b in bases), [16, 8]))
    assert ts.eval("x", x=linear) == ts.eval(str(linear)) == ts.triton.layout(linear) == want
    turned = LinearLayout.from_bases([(name, [b[::-1] for b in basis]) for name, basis in bases], ["dim1", "dim0"])
    assert ts.eval(str(turned)) == want
    offsets = LinearLayout.from_bases([("offset", [[0, 1], [0, 2], [1, 0], [2, 1]])], ["dim0", "dim1"])
    memory = ts.Layout(str(offsets))
    for offset in range(16):
        at = offsets.apply({"offset": offset})
        assert memory(at["dim0"], at["dim1"]) == offset


def test_the_text_needs_no_triton():
    text = """
 - register=1 -> (0, 1)
   register=2 -> (8, 0)
 - lane=1 -> (0, 2)
   lane=2 -> (0, 4)
   lane=4 -> (1, 0)
   lane=8 -> (2, 0)
   lane=16 -> (4, 0)
 - warp is a size 1 dimension
where out dims are: [dim0 (size 16), dim1 (size 8)]
"""
    assert str(ts.eval(text)) == "((16,8),((4,8),(2,2)):((32,1),(16,8)))"


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda gl: ts.triton.layout(gl.SwizzledSharedLayout(8, 2, 4, [1, 0])), "has no shape of its own"),
        (lambda gl: ts.size(gl.NVMMASharedLayout(128, 16, 2)), "has no shape of its own"),
        (lambda gl: ts.triton.layout(gl.NVMMASharedLayout(128, 16, 2), (64,)), "has 2 dimensions and the shape"),
        (lambda gl: ts.triton.layout(gl.NVMMASharedLayout(128, 16, 2), (16, 32)), "16 of 64 bytes"),
        (lambda gl: ts.triton.layout(gl.NVMMASharedLayout(128, 16, 2), (4, 64)), "4 of 128 bytes"),
        (lambda gl: ts.triton.layout(gl.SwizzledSharedLayout(8, 2, 4, [1, 0]), (16, 24)), "powers of two"),
        (lambda gl: ts.triton.layout(gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]), (3, 5)), "powers of two"),
        (lambda gl: ts.triton.layout(gl.BlockedLayout([1, 3], [8, 4], [4, 1], [1, 0])), "powers of two"),
        (lambda gl: ts.triton.layout(gl.NVMMADistributedLayout([7, 0], [4, 1], [16, 64, 16]), (64, 64)), "versionMajor"),
        (lambda gl: ts.triton.layout(gl.AutoLayout(), (4, 4)), "none of Triton's layouts that are known"),
        (lambda gl: ts.triton.layout(gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 32], [1, 0]), (32, 32)), "of the shape .16, 32., and .32, 32."),
        (lambda gl: ts.triton.layout(blackwell().TensorMemoryLayout((128, 64), 1), (100, 64)), "powers of two"),
        (lambda gl: ts.triton.layout(blackwell().TensorMemoryLayout((128, 64), 1, [[1, 0]], True), (256, 64)), "a cluster's CTAs"),
        (lambda gl: ts.triton.layout(blackwell().TensorMemoryLayout((128, 64), 1)), "has no shape of its own"),
        (lambda gl: ts.triton.layout(gl.amd.AMDMFMALayout(3, [32, 32, 8], False, [4, 1]), (32, 32)), "AMDMFMALayout is of AMD's chips"),
        (lambda gl: ts.size(gl.amd.AMDWMMALayout(2, False, [[0, 1]])), "AMDWMMALayout is of AMD's chips"),
        (lambda gl: ts.triton.layout(gl.NVMMASharedLayout(128, 16, 2, cga_layout=[[1, 0]]), (32, 64)), "a cluster's CTAs"),
        (lambda gl: ts.triton.layout(gl.SharedLinearLayout([[0, 1], [0, 1]]), (2, 2)), "same coordinate"),
        (lambda gl: ts.triton.layout(gl.SharedLinearLayout([[0, 1]]), (2, 2)), "2 offsets for a tensor of 4"),
        (lambda gl: ts.eval("x=1 -> (2)\nwhere out dims are: [y (size 4)]"), "is from x"),
        (lambda gl: ts.eval("where out dims are: nothing"), "no dimension is named"),
        (lambda gl: ts.eval("lane=2 -> (1)\nwhere out dims are: [y (size 4)]"), "is not the next one"),
    ],
)
def test_what_is_refused(gl, call, sentence):
    with pytest.raises(ts.Error, match=sentence):
        call(gl)


# ---- TVM ----------------------------------------------------------------------------------------


@pytest.fixture
def tvm_layout():
    return pytest.importorskip("tvm.tirx.layout", reason="apache-tvm with TIRx is not installed: its layouts are not tried")


def tvm_places(layout, number):
    """Where TVM itself has an element: by axis, without those that are 0."""
    found = {axis: int(getattr(value, "value", value)) for axis, value in layout.apply(number).items()}
    return {axis: place for axis, place in found.items() if place}


def tvm_layouts(of):
    S, R, axis = of.S, of.R, of.Axis
    return [
        of.TileLayout(S[8, 64]),
        of.TileLayout(S[(128, 64) : (1 @ axis.tid_in_wg, 1)] + 3),
        of.TileLayout(S[(4, 8, 2) : (8 @ axis.laneid, 1 @ axis.laneid, 1)] + 2 @ axis.warpid + 5),
        of.TileLayout.trainium("FP", (128, 512)),
        of.tmem_datapath_layout("D", 128, 64),
        of.tcgen05_atom_layout("16x64b", (64, 64), "float32"),
        of.wg_local_layout(64),
        of.ComposeLayout(3, 3, 3, of.TileLayout(S[8, 64])),
        of.ComposeLayout(3, 3, 3, of.TileLayout(S[8, 64]), False),
        of.ComposeLayout(0, 2, 4, of.TileLayout(S[(8, 64) : (1, 8)])),
    ]


def test_tvms_layouts_have_each_element_where_tvm_has_it(tvm_layout):
    for layout in tvm_layouts(tvm_layout):
        ours = ts.tirx.layout(layout)
        assert isinstance(ours, ts.TileLayout)
        for number in {0, 1, 2, 3, 7, 64, 77, 130, 200, int(layout.size()) - 1}:
            if number < int(layout.size()):
                [place] = ours(number)
                want = "+".join(f"{n}@{axis}" if axis != "m" else str(n) for axis, n in tvm_places(layout, number).items())
                assert sorted(part for part in str(place).split("+") if part.partition("@")[0] != "0") == sorted(
                    want.split("+") if want else []), layout


def test_tvms_replicas_and_numbers_that_are_not_known(tvm_layout):
    from tvm import tirx

    S, R, axis = tvm_layout.S, tvm_layout.R, tvm_layout.Axis
    copied = tvm_layout.TileLayout(S[(32, 16) : (1 @ axis.TLane, 1 @ axis.TCol)] + R[4 : 32 @ axis.TLane] + 4 @ axis.TCol)
    assert ts.tirx.layout(copied) == ts.eval("S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane] + 4@TCol")
    assert ts.tirx.layout(S[4:2] + R[2:16]) == ts.eval("S[4:2] + R[2:16]")
    assert str(ts.tirx.layout(tvm_layout.TileLayout(S[(tirx.Var("n", "int32"), 8) : (8, 1)]))) == "S[(?,8):(8,1)]"
    with pytest.raises(ts.Error, match="an axis: a number below 127 or a name such as TLane, found `mine`"):
        ts.tirx.layout(tvm_layout.TileLayout(S[4 : 1 @ axis.get("mine")]))
    for wrong in (axis.bx, 3, "S[4:1]"):
        with pytest.raises(ts.Error, match="is no layout of TVM's"):
            ts.tirx.layout(wrong)
