"""Tensors over arrays: elements, slices, tiles and partitions are the array's memory."""

import array
import gc
import itertools
import weakref

import numpy as np
import pytest
import tilescope as ts
from hypothesis import given, settings
from hypothesis import strategies as st

GRID = np.arange(32, dtype=np.float32).reshape(4, 8)


def test_elements_are_where_the_layout_says():
    memory = np.arange(300)
    layout = ts.Layout((9, (4, 8)), (59 // 2, (5, 1)))
    t = ts.Tensor(memory, layout)
    for i, j in itertools.product(range(9), range(32)):
        assert t[i, j] == memory[layout(i, j)]
    assert t[3, (2, 5)] == memory[layout(3, (2, 5))] and t[7] == memory[layout(7)]
    assert list(t) == [memory[offset] for offset in layout] and len(t) == 288
    assert isinstance(t[0, 0], np.int64)
    assert (t.shape, t.stride, t.layout, t.type, t.memory) == (layout.shape, layout.stride, layout, "s64", "gmem")
    assert t.array is memory


def test_an_array_has_a_layout_of_its_own():
    assert ts.Tensor(GRID).layout == ts.Layout((4, 8), (8, 1))
    assert ts.Tensor(GRID.T).layout == ts.Layout((8, 4), (1, 8))
    assert ts.Tensor(GRID[::2, 1::3]).layout == ts.Layout((2, 3), (16, 3))
    assert ts.Tensor(GRID[0]).layout == ts.Layout((8,), (1,))
    assert ts.Tensor(np.broadcast_to(np.float32(3), (4, 8))).layout == ts.Layout((4, 8), (0, 0))
    assert ts.make_tensor(GRID) == ts.Tensor(GRID)
    assert ts.Tensor(GRID, (4, 8)).layout == ts.Layout((4, 8), (1, 4))  # CuTe's: the first mode fastest
    assert ts.Tensor(GRID, "(4,8):(8,1)").numpy().tolist() == GRID.tolist()


@pytest.mark.parametrize(
    "view",
    [GRID, GRID.T, GRID[::-1], GRID[1::2, ::-3], GRID[:, 3], GRID[2:3], np.broadcast_to(GRID[:, :1], (4, 5)), np.zeros((), int)],
    ids=["C", "F", "backwards", "steps", "column", "row", "broadcast", "scalar"],
)
def test_every_view_of_numpy_is_itself(view):
    t = ts.Tensor(view)
    back = t.numpy(copy=False)
    assert np.array_equal(back.ravel(), view.ravel()) and np.shares_memory(back, view)
    for at in np.ndindex(view.shape):
        if at:
            assert t[at] == view[at]


def test_what_is_written_is_in_the_array():
    a = np.zeros((4, 8), np.float16)
    t = ts.Tensor(a)
    t[3, 5] = 7
    t[ts._, 2] = [1, 2, 3, 4]
    t[0, :] = 9
    assert a[3, 5] == 7 and a[1:, 2].tolist() == [2, 3, 4] and set(a[0]) == {9}
    ts.local_tile(t, (2, 4), (1, 1))[...] = 5
    assert (a[2:, 4:] == 5).all() and a[2, 3] == 0
    swizzled = ts.Tensor(a, ts.composition(ts.Swizzle(1, 0, 3), ts.Layout((4, 8), (8, 1))))
    swizzled[...] = np.arange(32).reshape(4, 8)
    assert np.array_equal(swizzled.numpy(), np.arange(32).reshape(4, 8)) and a[1].tolist() != list(range(8, 16))
    assert [swizzled[1, j] for j in range(8)] == list(range(8, 16))
    with pytest.raises(ValueError, match="could not convert"):
        t[0, 0] = "much"
    with pytest.raises(ValueError, match="broadcast"):
        t[0, :] = [1, 2, 3]


def test_slices_and_tiles_keep_the_array():
    a = GRID.copy()
    t = ts.Tensor(a)
    made = [
        (t[ts._, 3], a[:, 3]),
        (t[2, None], a[2]),
        (t[:, 3], a[:, 3]),
        (t(2, ts._), a[2]),
        (t[...], a),
        (ts.local_tile(t, (2, 4), (1, 0)), a[2:, :4]),
        (ts.zipped_divide(t, (2, 4))[ts._, (1, 1)], np.array([20, 28, 21, 29, 22, 30, 23, 31])),
        (ts.local_partition(t, ts.Layout((2, 2)), 3), a[1::2, 1::2]),
        (ts.coalesce(t), a.T.ravel()),
        (ts.composition(t, (2, 2)), a[:2, :2]),
        (ts.slice_and_offset((1, ts._), t), a[1]),
        (ts.eval("local_tile(T, <2,4>, (0,1))", T=t), a[:2, 4:]),
        (ts.eval("T(_,5)", T=t, U=ts.Tensor(np.zeros(3))), a[:, 5]),
    ]
    for part, want in made:
        assert isinstance(part, ts.Tensor) and part.array is a
        assert list(part) == want.T.ravel().tolist()
    made[0][0][1] = -5
    assert a[1, 3] == -5 == t[1, 3]


def test_partitions_of_an_mma_cover_the_matrix_once():
    a = np.zeros((32, 16), np.float16)
    mma = ts.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 1))
    for thread in range(64):
        part = ts.partition_A(mma, thread, ts.Tensor(a))
        assert part.array is a
        part[...] = part.numpy() + 1
    assert (a == 1).all()
    fragment = ts.make_fragment_like(ts.partition_A(mma, 0, ts.Tensor(a)))
    assert fragment.memory == "rmem" and fragment.array is None
    with pytest.raises(ts.Error, match="over no array"):
        fragment[0]


def test_numpy_is_a_view_where_modes_have_one_stride():
    a = np.arange(64)
    t = ts.Tensor(a, ts.Layout((8, 8), (8, 1)))
    view = t.numpy()
    view[1, 2] = -1
    assert a[10] == -1 and view.flags.writeable and np.asarray(t).base is not None
    tiles = ts.zipped_divide(t, (2, 4))
    copy = tiles.numpy()
    assert copy.shape == (8, 8) and not np.shares_memory(copy, a)
    assert all(copy[i, j] == tiles[i, j] for i in range(8) for j in range(8))
    with pytest.raises(ts.Error, match="no view of it"):
        tiles.numpy(copy=False)
    assert not np.shares_memory(t.numpy(copy=True), a)
    assert np.asarray(t, dtype=np.float32).dtype == np.float32
    assert (np.asarray(t) + 1)[0, 0] == 1
    read = a.view()
    read.flags.writeable = False
    assert not ts.Tensor(read).numpy().flags.writeable


def test_types():
    for name, dtype in (("f16", np.float16), ("f32", np.float32), ("f64", np.float64), ("s8", np.int8), ("u16", np.uint16),
                        ("s32", np.int32), ("u64", np.uint64), ("u8", bool), ("c64", np.complex128)):  # fmt: skip
        assert ts.Tensor(np.zeros(4, dtype)).type == name
    bits = ts.Tensor(np.full(4, 0x3F80, np.uint16), type="bf16", memory="smem")
    assert (bits.type, bits.memory, bits[2]) == ("bf16", "smem", 0x3F80)
    pairs = np.zeros(4, [("x", np.float32), ("y", np.float32)])
    assert ts.Tensor(pairs["y"]).stride == (2,)
    assert ts.Tensor(pairs, type="u64")[1].tolist() == (0, 0)


def test_other_arrays():
    numbers = array.array("f", [1, 2, 3, 4])
    t = ts.Tensor(numbers, (2, 2))
    t[1, 1] = 9
    assert numbers[3] == 9 and t.type == "f32" and t[0, 1] == 3
    assert ts.Tensor(memoryview(numbers))[3] == 9

    class OnlyDlpack:
        def __init__(self, inner):
            self.inner, self.dtype = inner, inner.dtype

        def __dlpack__(self, **words):
            return self.inner.__dlpack__(**words)

        def __dlpack_device__(self):
            return self.inner.__dlpack_device__()

    a = GRID.copy()
    t = ts.Tensor(OnlyDlpack(a))
    t[1, 1] = 70
    assert a[1, 1] == 70 and t.type == "f32" and np.shares_memory(t.numpy(), a)


def test_memory_lives_as_long_as_a_view():
    class Owned(np.ndarray):
        pass

    a = np.arange(8).view(Owned)
    gone = weakref.ref(a)
    view = ts.Tensor(a)[ts._].numpy()
    del a
    gc.collect()
    assert gone() is not None and view.tolist() == list(range(8))
    del view
    gc.collect()
    assert gone() is None


def test_equality_is_of_layout_and_array():
    a, b = np.zeros(8), np.zeros(8)
    assert ts.Tensor(a) == ts.Tensor(a) and hash(ts.Tensor(a)) == hash(ts.Tensor(a))
    assert ts.Tensor(a) != ts.Tensor(b) and ts.Tensor(a) != ts.Tensor(a, (2, 4))
    assert ts.Tensor(a) != ts.eval("gmem<f64> o (8):(1)")


def test_a_launch_takes_a_strided_tensor(module):
    x = np.zeros(100, np.float32)
    module.launch(1, 32, [ts.Tensor(x)[ts._], 1.5, 100], entry="add")
    assert (x[:32] == 1.5).all() and (x[32:] == 0).all()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ts.Tensor(GRID, ts.Layout((4, 8), (9, 1))), r"reaches offset 34, and the array .float32 \(4, 8\). has 0 to 31"),
        (lambda: ts.Tensor(GRID, "1 o (4,8):(8,1)"), "reaches offset 32"),
        (lambda: ts.Tensor(GRID, ts.Layout(2, -1)), "reaches offset -1"),
        (lambda: ts.Tensor(GRID, "Sw<2,0,3> o 0 o (8,8):(8,1)"), "reaches offset 63"),
        (lambda: ts.Tensor(GRID, "(4,8):(1@0,1@1)"), "no known numbers"),
        (lambda: ts.Tensor(GRID, "(4,?):(8,1)"), "no known numbers"),
        (lambda: ts.Tensor(np.zeros((0, 3))), "has no elements"),
        (lambda: ts.Tensor(3), "is no array"),
        (lambda: ts.Tensor([1, 2]), "is no array"),
        (lambda: ts.Tensor(GRID, type="f16"), "type='f16' has 16 bits, and float32 has 32"),
        (lambda: ts.Tensor(GRID, type="f17"), "there is no such type"),
        (lambda: ts.Tensor(GRID, memory="disk"), "gmem, smem, rmem and tmem are"),
        (lambda: ts.Tensor(np.zeros(2, np.complex64)), "have no name in the language; type="),
        (lambda: ts.Tensor(np.zeros(3, [("x", "i1"), ("y", "i4")])["y"]), "no whole number of elements"),
        (lambda: ts.Tensor(GRID)[4, 0], "A coordinate of 4 in an extent of 4"),
        (lambda: ts.Tensor(GRID)[-1, 0], "A coordinate of -1"),
        (lambda: ts.Tensor(GRID)[32], "A coordinate of 32 in an extent of 32"),
        (lambda: ts.Tensor(GRID)[1, 2, 3], "differ in structure"),
        (lambda: ts.Tensor(GRID)[1:3, 0], "takes a whole mode"),
        (lambda: ts.Tensor(GRID)["x"], "x"),
        (lambda: ts.zipped_divide(ts.Tensor(np.arange(9)), 4)[3, 2], "reaches offset 11"),
        (lambda: ts.zipped_divide(ts.Tensor(np.arange(9)), 4).numpy(), "reaches offset 11"),
        (lambda: ts.Tensor(GRID).numpy(copy=3), "copy=3: True, False and None are"),
        (lambda: ts.eval("smem<f16> o (8,64):(64,1)").numpy(), "over no array"),
        (lambda: ts.eval("T + 4611686018427387904", T=ts.Tensor(GRID))[0], "reaches offset"),
        (lambda: ts.Tensor(np.broadcast_to(GRID, (2, 4, 8)))[0, 0, :].__setitem__(0, 1), "read-only"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ts.Error, match=sentence):
        call()


shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@settings(deadline=None, derandomize=True)
@given(shapes, st.data())
def test_a_tensor_is_numpys_array(shape, data):
    a = np.arange(int(np.prod(shape))).reshape(shape).transpose(data.draw(st.permutations(range(len(shape)))))
    a = a[tuple(data.draw(st.sampled_from([slice(None), slice(None, None, -1), slice(0, 1), slice(None, None, 2)])) for _ in shape)]
    t = ts.Tensor(a)
    assert np.array_equal(t.numpy(copy=False), a)
    fixed = data.draw(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=a.ndim, max_size=a.ndim))
    fixed = tuple(None if n is None else n % extent for n, extent in zip(fixed, a.shape))
    want = a[tuple(slice(None) if n is None else n for n in fixed)]
    got = t[fixed]
    assert np.array_equal(got.numpy() if isinstance(got, ts.Tensor) else got, want)
