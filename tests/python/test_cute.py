"""CuTeDSL's kernels on the simulator: ours (cute_kernels.py), compiled by nvidia-cutlass-dsl and compared with NumPy;
what host functions are given; reports with the line of the source; wrong uses."""

import ctypes
import gc
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tilescope as ts

pytest.importorskip(
    "cutlass.cute", reason="CuTeDSL is not installed: `pip install nvidia-cutlass-dsl`, and these tests run"
)
import cuda.bindings.driver as cuda  # noqa: E402
import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
import cute_kernels as kernels  # noqa: E402
from cutlass.cute.runtime import from_dlpack, make_fake_compact_tensor, make_fake_stream, make_ptr  # noqa: E402

rng = np.random.default_rng(7)
CHIPS = ("sm_80", "sm_90a", "sm_100a")
TMA = ("sm_90a", "sm_100a")
SOURCE = pathlib.Path(kernels.__file__)
DEVICES = SOURCE.parents[2] / "assets/devices"
compiled_once = {}


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def dynamic(array):
    return from_dlpack(array, assumed_align=16).mark_layout_dynamic()


def line_of(text):
    return next(i for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def compiled(name, *arguments, target="sm_90a", **words):
    """Of each kind once: compiling is what takes the time."""
    key = name, target, str(words)
    if key not in compiled_once:
        compiled_once[key] = ts.cute.compile(getattr(kernels, name), *arguments, target=target, **words)
    return compiled_once[key]


def add(n=1000, target="sm_90a"):
    x = np.zeros(n, np.float32)
    return compiled("add", x, x, x, target=target)


# ---- Kernels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", CHIPS)
def test_elements(chip):
    a, b, c = normal(1000), normal(1000), np.zeros(1000, np.float32)
    run = add(target=chip)(a, b, c, strict=True, search=2)
    assert (c == a + b).all()
    assert run.reports == [] and run.time > 0
    assert list(run.outputs) == ["a", "b", "c"] and (run.outputs["c"] == c).all()


@pytest.mark.parametrize("chip", CHIPS)
def test_a_transposition_through_shared_memory(chip):
    a, b = normal(64, 96), np.zeros((96, 64), np.float32)
    compiled("transpose", a, b, target=chip)(a, b, strict=True, search=3)
    assert (b == a.T).all()


@pytest.mark.parametrize("chip", CHIPS)
def test_a_product(chip):
    a, b, c = normal(64, 48, dtype=np.float16), normal(96, 48, dtype=np.float16), np.zeros((64, 96), np.float32)
    compiled("product", dynamic(a), dynamic(b), c, target=chip)(a, b, c, strict=True)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("chip", TMA)
def test_a_copy_by_tensor_map(chip):
    """Both maps are made by host code; the last row of tiles is partly outside of the arrays."""
    a, b = normal(100, 96), np.zeros((100, 96), np.float32)
    compiled("move", dynamic(a), dynamic(b), target=chip)(a, b, strict=True, search=3)
    assert (b == a + 1).all()


def wide(**words):
    a, b, c = normal(64, 64, dtype=np.float16), normal(64, 64, dtype=np.float16), np.zeros((64, 64), np.float32)
    return compiled("wide_product", dynamic(a), dynamic(b), c, **words), a, b, c


def test_a_product_of_warp_groups():
    one, a, b, c = wide()
    one(a, b, c, strict=True, search=3)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-5, atol=1e-5)


# ---- Mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", CHIPS)
def test_a_missing_predicate_is_told_with_its_line(chip):
    x = np.zeros(1000, np.float32)
    broken = compiled("add_all", x, x, x, target=chip)
    a, b, c = normal(1000), normal(1000), np.zeros(1000, np.float32)
    with pytest.raises(ts.Fault, match=r"end of buffer [ab] .float32 .1000,., 4000 bytes") as caught:
        broken(a, b, c)
    (report,) = caught.value.run.reports
    assert report.kind == "out_of_bounds"
    assert f"cute_kernels.py:{line_of('without a predicate')} " in str(caught.value)
    assert broken.runs == [caught.value.run]


@pytest.mark.parametrize("chip", CHIPS)
def test_a_missing_barrier_is_told_with_its_line(chip):
    a, b = normal(64, 96), np.zeros((96, 64), np.float32)
    broken = compiled("transpose", a, b, target=chip, waits=False)
    run = broken(a, b)
    assert "shared_race" in {report.kind for report in run.reports}
    with pytest.raises(ts.Hazard, match=rf"cute_kernels.py:{line_of('a race')} "):
        broken(a, b, strict=True)


def test_a_missing_wait_is_told_with_its_line():
    a, b = normal(64, 32), np.zeros((64, 32), np.float32)
    broken = compiled("move", dynamic(a), dynamic(b), waits=False)
    with pytest.raises((ts.Fault, ts.Hazard), match=rf"cute_kernels.py:{line_of('if nothing waits')} "):
        broken(a, b, strict=True, lazy=True)


def test_a_missing_fence_is_told_with_its_line():
    broken, a, b, c = wide(fences=False)
    with pytest.raises(ts.Hazard, match=rf"cute_kernels.py:{line_of('if no fence is there')} ") as caught:
        broken(a, b, c, strict=True)
    assert {report.kind for report in caught.value.run.reports} == {"missing_proxy_fence"}


# ---- What host functions are given --------------------------------------------------------------


def test_tensors_of_cutedsl_are_taken_as_they_are():
    """One whose layout is fixed, one that is dynamic, an array; at the call arrays of each."""
    a, b, c = normal(256), normal(256), np.zeros(256, np.float32)
    mixed = ts.cute.compile(kernels.add, from_dlpack(a), dynamic(b), c, target="sm_90a")
    mixed(from_dlpack(a), dynamic(b), c)
    assert (c == a + b).all()
    c[:] = 0
    mixed(a, b, c)
    assert (c == a + b).all()


MARKS = {
    "fixed": lambda tensor: tensor,
    "dynamic": lambda tensor: tensor.mark_layout_dynamic(),
    "compact, first": lambda tensor: tensor.mark_compact_shape_dynamic(0),
    "compact, last": lambda tensor: tensor.mark_compact_shape_dynamic(2, divisibility=2),
    "compact, both": lambda tensor: tensor.mark_compact_shape_dynamic(0).mark_compact_shape_dynamic(2),
}


@pytest.mark.parametrize("narrow", (False, True))
@pytest.mark.parametrize("mark", MARKS)
def test_arrays_are_packed_as_cutedsl_packs_its_tensors(mark, narrow):
    from tilescope._cute_arguments import Slot

    def numbers(struct):
        values = [getattr(struct, name) for name, _ in struct._fields_]
        return [n for each in values for n in (numbers(each) if isinstance(each, ctypes.Structure) else [each])]

    for array in (np.zeros((4, 6, 8), np.float32), np.zeros((8, 6, 4), np.float16).transpose(2, 1, 0)):
        tensor = MARKS[mark](from_dlpack(array, use_32bit_stride=narrow))
        struct = Slot("x", tensor).packed(array).struct
        wanted = type(struct).from_address(tensor.__c_pointers__()[0])
        assert numbers(struct) == numbers(wanted) and numbers(struct)[0] == array.ctypes.data


def test_outputs_outlive_the_arrays():
    one = add()
    a = normal(100)
    run = one(a, a, np.zeros(100, np.float32))
    other = one(dynamic(a), dynamic(a), dynamic(np.zeros(100, np.float32)))
    gc.collect()
    [np.full(100, 9, np.float32) for _ in range(50)]
    assert run.outputs["a"] is a
    for each in (run, other):
        assert (each.outputs["c"] == 2 * a).all()


def test_views_keep_their_strides():
    whole = normal(200, 4)
    a, b, c = whole[:, 1], whole[::-1, 2][::-1], np.zeros((200, 3), np.float32)
    strided = ts.cute.compile(kernels.add, a, b, c[:, 1], target="sm_90a")
    strided(a, b, c[:, 1])
    assert (c[:, 1] == a + b).all() and not c[:, [0, 2]].any()


def test_an_alignment_is_kept():
    whole = normal(40, 30, dtype=np.float16)
    for array in (whole, whole.T, whole[1:, 3:], np.broadcast_to(np.float16(2), (3, 4)), np.zeros(())):
        copy = ts.cute.aligned(array, 512)
        assert copy.ctypes.data % 512 == 0 and (copy == array).all() and copy.dtype == array.dtype
    assert ts.cute.aligned(whole.T).strides == whole.T.strides
    a = ts.cute.aligned(normal(256))
    strict = ts.cute.compile(kernels.add, from_dlpack(a, assumed_align=128), a, a, target="sm_90a")
    strict(a, a, a)
    with pytest.raises(ts.Error, match="alignment of 128 bytes: ts.cute.aligned.array, 128. is a copy"):
        strict(ts.cute.aligned(normal(257))[1:], a, a)
    with pytest.raises(ts.Error, match="aligned.to=3.: a power of two"):
        ts.cute.aligned(a, 3)
    with pytest.raises(ts.Error, match="aligned.. of object: an array of numbers"):
        ts.cute.aligned(None)


def test_fake_tensors_and_a_fake_stream_are_enough_to_compile():
    n = cute.sym_int()
    fake = make_fake_compact_tensor(cutlass.Float32, (n,), assumed_align=16)
    faked = ts.cute.compile(kernels.add, fake, fake, fake, target="sm_90a", options="--enable-tvm-ffi --opt-level 2")
    for size in (100, 300):
        a, c = normal(size), np.zeros(size, np.float32)
        faked(a, a, c)
        assert (c == 2 * a).all()
    few = make_fake_compact_tensor(cutlass.Float32, (32,), assumed_align=4)
    stream = make_fake_stream(use_tvm_ffi_env_stream=True)
    faked = ts.cute.compile(kernels.scale, few, 1.0, 1, 1, None, stream, target="sm_90a")
    x = np.ones(32, np.float32)
    faked(x, 2.0, 3, None)
    faked(x, 2.0, 3, None, cuda.CUstream(0))
    assert (x == 13).all()


def test_numbers_constants_none_and_a_stream():
    x, y = np.ones(32, np.float32), np.arange(32, dtype=np.float32)
    stream = cuda.CUstream(0)
    without = ts.cute.compile(kernels.scale, x, 1.0, 1, 3, None, stream, target="sm_90a")
    without(x, 2.5, -4, None, stream)
    assert (x == 3.5).all()
    both = ts.cute.compile(kernels.scale, x, 1.0, 1, 2, y, stream, target="sm_90a")
    both(x, np.float32(0.5), shift=1, y=y, stream=stream)
    assert (x == 4.5 + y).all()
    both(x, cutlass.Float32(0), cutlass.Int32(7), y, stream)
    assert (x == 7 + y).all()


def test_a_shape_of_symbols_takes_numbers():
    @cute.kernel
    def kernel(x: cute.Tensor, many: cutlass.Int64, by: cutlass.Int32):
        i = cute.arch.thread_idx()[0]
        if i < many:
            x[i] = x[i] + by

    @cute.jit
    def host(x: cute.Tensor, shape: tuple[int, int, int]):
        kernel(x, shape[0], shape[1] * shape[2]).launch(grid=[1, 1, 1], block=[32, 1, 1])

    x = np.zeros(32, np.float32)
    one = ts.cute.compile(host, x, (cute.sym_int64(), cute.sym_int32(), 2), target="sm_90a")
    for i, many in enumerate((7, 10), 1):
        one(x, (many, i, 2))
    assert (x[:7] == 6).all() and (x[7:10] == 4).all() and not x[10:].any()


def test_a_constant_may_be_a_type():
    @cute.kernel
    def kernel(x: cute.Tensor, kind: cutlass.Constexpr):
        i = cute.arch.thread_idx()[0]
        x[i] = cutlass.Float32(kind(x[i]))

    @cute.jit
    def host(x: cute.Tensor, kind: cutlass.Constexpr):
        kernel(x, kind).launch(grid=[1, 1, 1], block=[32, 1, 1])

    x = np.linspace(0, 3, 32, dtype=np.float32)
    want = x.astype(np.float16).astype(np.float32)
    ts.cute.compile(host, x, cutlass.Float16, target="sm_90a")(x)
    assert (x == want).all()

    @cute.jit
    def other(x: cute.Tensor, kind: type[cutlass.Numeric], by: cutlass.Int32):
        kernel(x, kind).launch(grid=[by, 1, 1], block=[32, 1, 1])

    x = np.linspace(0, 3, 32, dtype=np.float32)
    one = ts.cute.compile(other, x, cutlass.Float16, 1, target="sm_90a")
    one(x, cutlass.Float16, 1)
    assert (x == want).all()
    with pytest.raises(ts.Error, match="kind is the type BFloat16, and the type Float16 is what"):
        one(x, cutlass.BFloat16, 1)


def test_a_tuple_of_tensors_and_two_launches():
    x, y = normal(32), normal(32)
    want = 3 * x, 3 * y
    twice = ts.cute.compile(kernels.scale_twice, (x, y), 1.0, target="sm_90a")
    run = twice((x, y), 3.0)
    assert (x == want[0]).all() and (y == want[1]).all()
    assert len(twice.runs) == 2 and twice.runs[1] is run
    assert set(run.outputs) == {"pair[0]", "pair[1]"}


def test_a_pointer_is_into_an_array_in_sight():
    x = np.full(50, -1, np.int32)

    def pointer(array, at=0):
        return make_ptr(cutlass.Int32, array.ctypes.data + at, cute.AddressSpace.gmem)

    fill = ts.cute.compile(kernels.fill, pointer(x), 1, target="sm_90a")
    fill(pointer(x, 40), 10)
    assert (x[:10] == -1).all() and (x[10:20] == np.arange(10)).all() and (x[20:] == -1).all()
    with pytest.raises(ts.Fault, match="end of buffer x"):
        fill(pointer(x), 51)
    with pytest.raises(ts.Error, match="x points to 0x10, and no array in sight"):
        fill(make_ptr(cutlass.Int32, 16, cute.AddressSpace.gmem), 10)


def test_types_that_numpy_lacks_are_raw_bits():
    def bits(values):
        return (values.view(np.uint32) >> 16).astype(np.uint16)

    def tensor(array):
        out = dynamic(array)
        out.element_type = cutlass.BFloat16
        return out

    a, b = (rng.integers(-8, 9, (m, 48)).astype(np.float32) for m in (64, 32))
    c = np.zeros((64, 32), np.float32)
    half, other = bits(a), bits(b)
    product = ts.cute.compile(kernels.product, tensor(half), tensor(other), c, target="sm_90a")
    product(half, tensor(other), c, strict=True)
    assert (c == a @ b.T).all()


def test_maps_that_host_code_asks_the_driver_for_are_those_of_a_driver():
    """85 maps of an H100's driver, less those of im2col. Bit 21 of word 1 is the driver's own."""
    from tilescope._cute_runtime import encoded_map

    types = {"u8": 0, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
    of_f32 = {"ftz": 10, "tf32": 11, "tf32_ftz": 12}
    seen = 0
    for line in (pathlib.Path(__file__).parents[1] / "sim/h100_maps.tsv").read_text().splitlines():
        if line.startswith("#") or ";" in line:
            continue
        address, kind, f32, *lists, interleave, swizzle, promotion, outside, bits = line.split("\t")
        lists = [tuple(map(int, each.split(","))) if each != "-" else () for each in lists]
        got = encoded_map(
            of_f32.get(f32, types[kind]),
            int(address, 16),
            *lists,
            ("none", "16B", "32B").index(interleave),
            ("none", "32B", "64B", "128B").index(swizzle),
            ("none", "64", "128", "256").index(promotion),
            outside == "nan",
        )
        want = int.from_bytes(bytes.fromhex(bits)[:64], "little") & ~(1 << 64 + 21)
        assert len(got) == 128 and got[:64] == want.to_bytes(64, "little"), line
        seen += 1
    assert seen == 75


@pytest.mark.parametrize("kind, swizzle, dims, box, stride, word", [
    (7, 4, (32, 64), (32, 64), 128, 0x8000C6392),  # atoms of 32 bytes
    (7, 6, (32, 64), (32, 64), 128, 0x8001C6392),  # of 64
    (11, 0, (32, 64), (32, 64), 128, 0x800050392),  # tf32
    (13, 0, (128, 64), (128, 64), 64, 0x400040592),  # elements of 4 bits, packed
    (14, 0, (128, 64), (128, 64), 64, 0x400040612),  # 16 of them in 16 bytes of shared memory
])
def test_maps_that_no_driver_was_asked_for_are_as_cutedsl_writes_them(kind, swizzle, dims, box, stride, word):
    """Seen in what host code of CuTeDSL 4.5.3 and 4.8.1 hands to kernels; bit 1 is CuTeDSL's own."""
    from tilescope._cute_runtime import encoded_map

    bits = encoded_map(kind, 0, dims, (stride,), box, (1, 1), 0, swizzle, 2, False)
    assert int.from_bytes(bits[8:16], "little") == word & ~2
    with pytest.raises(ts.Error, match="swizzle 7: types 0 to 14"):
        encoded_map(kind, 0, dims, (stride,), box, (1, 1), 0, 7, 2, False)


def test_kernels_have_the_names_of_their_functions_where_these_are_free():
    @cute.kernel
    def add(x: cute.Tensor):  # as an instruction of PTX
        x[cute.arch.thread_idx()[0]] = 1.0

    @cute.kernel
    def add_more(x: cute.Tensor):
        i = cute.arch.thread_idx()[0]
        x[i] = x[i] + i

    @cute.jit
    def host(x: cute.Tensor):
        add(x).launch(grid=[1, 1, 1], block=[32, 1, 1])
        add_more(x).launch(grid=[1, 1, 1], block=[32, 1, 1])

    x = np.zeros(32, np.float32)
    one = ts.cute.compile(host, x, target="sm_90a")
    one(x)
    assert (x == 1 + np.arange(32)).all()
    names = [run.kernel for run in one.runs]
    assert names[0].startswith("kernel_cutlass_add_") and names[1] == "add_more"


# ---- Settings -----------------------------------------------------------------------------------


def test_what_a_kernel_prints_appears(capfd):
    @cute.kernel
    def told(n: cutlass.Int32):
        cute.printf("from {}", n)

    @cute.jit
    def tell(n: cutlass.Int32):
        told(n).launch(grid=[1, 1, 1], block=[1, 1, 1])

    run = ts.cute.compile(tell, 3, target="sm_90a")(7)
    assert run.printed == "from 7\n" and "from 7" in capfd.readouterr().out


def test_settings_are_those_of_a_launch():
    a, b, c = normal(256), normal(256), np.zeros(256, np.float32)
    one = ts.cute.compile(kernels.add, a, b, c, target="sm_90a", record=True, device="h100")
    assert "h100" in repr(one) and "add" in repr(one)
    run = one(a, b, c)
    assert run.stats() and "H100" in run.device
    assert one(a, b, c, record=False, schedule=3).time == 0  # predicted for the usual order only
    assert ".target sm_90a" in one.ptx and one.module is not None


MARKED = """
import numpy as np, pytest, tilescope as ts
import cute_kernels as kernels

@pytest.mark.tilescope(strict=True, schedules=2)
@pytest.mark.parametrize("waits", (True, False))
def test_it(waits, tilescope_runs):
    a, b = np.ones((64, 96), np.float32), np.zeros((96, 64), np.float32)
    transpose = ts.cute.compile(kernels.transpose, a, b, target="sm_90a", waits=waits)
    try:
        transpose(a, b)
    finally:
        assert len(tilescope_runs) == 1 and bool(tilescope_runs[0].reports) != waits
"""


def test_the_mark_of_pytest_sees_launches(tmp_path):
    (tmp_path / "test_it.py").write_text(MARKED)
    installed = any(each.value == "tilescope.pytest_plugin" for each in importlib.metadata.entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "tilescope.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, "test_it.py"]
    path = os.pathsep.join([str(SOURCE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert f"cute_kernels.py:{line_of('a race')} " in done.stdout and "test_it[False]" in done.stdout


def test_names_of_older_releases_are_there_only_while_it_compiles():
    @cute.kernel
    def kernel(x: cute.Tensor):
        held = cute.make_fragment((1,), cutlass.Float32)
        held[0] = 5.0
        x[cute.arch.thread_idx()[0]] = held[0]

    @cute.jit
    def host(x: cute.Tensor):
        kernel(x).launch(grid=[1, 1, 1], block=[32, 1, 1])

    had = hasattr(cute, "make_fragment")
    x = np.zeros(32, np.float32)
    ts.cute.compile(host, x, target="sm_90a")(x)
    assert (x == 5).all() and hasattr(cute, "make_fragment") == had


@pytest.mark.skipif(not importlib.util.find_spec("tvm_ffi"), reason="apache-tvm-ffi is not installed")
def test_tensors_of_tvm_are_taken():
    a, c = normal(100), np.zeros(100, np.float32)
    taken = [from_dlpack(each, enable_tvm_ffi=True).mark_layout_dynamic() for each in (a, a, c)]
    add()(*taken)
    assert (c == 2 * a).all()


def test_calls_leave_no_memory():
    one, x = add(), np.zeros(100, np.float32)
    for _ in range(20):
        one(x, x, x)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        one(x, x, x)
    gc.collect()
    assert len(gc.get_objects()) < before + 25


# ---- Wrong uses ---------------------------------------------------------------------------------


def test_wrong_uses_are_told():
    x, wide = np.zeros(100, np.float32), np.zeros(100, np.float64)
    for words, sentence in (
        ({"target": "sm_75"}, "target='sm_75': sm_80, sm_90a"),
        ({"options": 3}, "options=3: "),
        ({"options": "--gpu-arch sm_90a"}, "target= says the chip"),
        ({"device": "h900"}, "h900"),
        ({"strict": 3}, "strict"),
    ):
        with pytest.raises(ts.Error, match=sentence):
            ts.cute.compile(kernels.add, x, x, x, **words)
    closed = x.copy()
    closed.flags.writeable = False
    with pytest.raises(ts.Error, match="float32 .100,., which is read-only, cannot be a tensor"):
        ts.cute.compile(kernels.add, closed, x, x)
    one = add()
    fixed = ts.cute.compile(kernels.add, from_dlpack(x), x, x, target="sm_90a")
    for call, sentence in (
        (lambda: one(x, x), r"takes \(a, b, c\), without what is constexpr: c is missing"),
        (lambda: one(x, x, x, nothing=3), "nothing"),
        (lambda: one(x, x, 3), "c is a number, and a tensor, Float32 .\\?.:.1., is what the function is compiled for"),
        (lambda: one(x, x, wide), "c is Float64 .100.:.1., and the function is compiled for Float32"),
        (lambda: one(x.view(np.int32), x, x), "a is Int32 .100.:.1., and the function is compiled for Float32"),
        (lambda: one(x[::2], x, x), "a is Float32 .50.:.2., and the function is compiled for Float32 .\\?.:.1."),
        (lambda: fixed(x[:50], x, x), "a is Float32 .50.:.1., and the function is compiled for Float32 .100.:.1."),
        (lambda: one(x, x, x, memory=3), "memory=3: a list of arrays, or a dict"),
        (lambda: one(x, x, x, schedule="never"), "schedule"),
    ):
        with pytest.raises(ts.Error, match=sentence):
            call()


def test_arguments_of_another_kind_are_told():
    """Packed, they would be read as what they are not."""
    x, stream = np.zeros(32, np.float32), cuda.CUstream(0)
    without = ts.cute.compile(kernels.scale, x, 1.0, 1, 1, None, stream, target="sm_90a")
    twice = ts.cute.compile(kernels.scale_twice, (x, x), 1.0, target="sm_90a")
    pointer = make_ptr(cutlass.Int32, x.ctypes.data, cute.AddressSpace.gmem)
    fill = ts.cute.compile(kernels.fill, pointer, 1, target="sm_90a")
    for call, sentence in (
        (lambda: without(x, 1.0, 1, x, stream), "y is a tensor, and None is what"),
        (lambda: without(x, 1.0, 1, None, None), "stream is None, and a stream is what"),
        (lambda: without(x, "1", 1, None, stream), "by is a str, and a number is what"),
        (lambda: without(x, 1.0, 1.5, None, stream), "shift=1.5, and the function is compiled for one of type int"),
        (lambda: without(x, 1.0, float("inf"), None, stream), "shift=inf, and the function is compiled for one of type int"),
        (lambda: twice((x,), 1.0), r"pair is .a tensor., and .a tensor, a tensor. is what"),
        (lambda: twice((x, 3), 1.0), r"pair is .a tensor, a number., and .a tensor, a tensor. is what"),
        (lambda: twice(x, 1.0), "pair is a tensor, and .a tensor, a tensor. is what"),
        (lambda: fill(x, 1), "x is a tensor, and a pointer is what"),
        (lambda: fill(pointer, None), "n is None, and a number is what"),
    ):
        with pytest.raises(ts.Error, match=sentence):
            call()


# ---- Active -------------------------------------------------------------------------------------


@pytest.fixture
def active():
    yield ts.cute.activate
    ts.cute.deactivate()


def test_host_functions_run_where_they_are_called(active):
    a, b, c = normal(1000), normal(1000), np.zeros(1000, np.float32)
    with active("sm_90a", strict=True) as session:
        assert repr(session) == "<ts.cute for sm_90a on h200>"
        run = kernels.add(a, b, c)
        assert (c == a + b).all() and run is ts.cute.last and "H200" in run.device and list(run.outputs) == ["a", "b", "c"]
        kernels.add(from_dlpack(a), from_dlpack(a), from_dlpack(c))
        assert (c == a + a).all()
        x = np.ones(32, np.float32)
        kernels.scale(x, 2.0, 1, 3, None, cuda.CUstream(0))
        kernels.scale(x, by=2.0, shift=1, times=1, y=None, stream=cuda.CUstream(0))
        assert (x == 15).all()
        with pytest.raises(ts.Fault, match="end of buffer a"):
            kernels.add_all(a, b, c)
        assert ts.cute.last.reports and len(ts.cute.reports) == 1
        with active("sm_100a"):
            assert ts.cute.reports == [] and ts.cute.last is None
            assert "B200" in kernels.add(a, b, c).device
        assert "H200" in kernels.add(a, b, c).device


def test_methods_and_functions_within_functions(active):
    class Twice:
        def __init__(self, times):
            self.times = times

        @cute.jit
        def once(self, x: cute.Tensor):
            kernels.scale_kernel(x, 2.0, 0, 1, None).launch(grid=[1, 1, 1], block=[32, 1, 1])

        @cute.jit
        def __call__(self, x: cute.Tensor):
            for _ in cutlass.range_constexpr(self.times):
                self.once(x)

    x = np.ones(32, np.float32)
    with active("sm_90a"):
        Twice(3)(x)
        assert (x == 8).all()
        cute.compile(Twice(2), x)(x)
        assert (x == 32).all()


def test_what_cute_compile_makes_is_of_the_simulator(active):
    a, b, c = normal(256), normal(256), np.zeros(256, np.float32)
    with active("sm_90a"):
        add = cute.compile(kernels.add, a, b, c)
        assert isinstance(add, ts.cute.Compiled) and isinstance(cute.compile(kernels.add, a, b, c, options="--opt-level 2"),
                                                                ts.cute.Compiled)
        add(a, b, c)
        assert (c == a + b).all() and ts.cute.last is add.runs[-1]
        testing = sys.modules.get("cutlass.testing", sys.modules["cutlass.cute.testing"])
        taken = testing.benchmark(add, kernel_arguments=testing.JitArguments(a, b, c))
        assert taken == pytest.approx(ts.cute.last.time * 1e6)
        with pytest.raises(ts.Error, match="benchmark.. needs what cute.compile has made"):
            testing.benchmark(print)
    add(a, a, c)
    assert (c == a + a).all() and ts.cute.last is not add.runs[-1]


def test_the_chip_that_is_asked_for_is_the_one_simulated(active, tmp_path):
    from cutlass.utils import HardwareInfo

    @cute.kernel
    def fill(x: cute.Tensor, n: cutlass.Constexpr):
        x[cute.arch.thread_idx()[0]] = n

    @cute.jit
    def processors(x: cute.Tensor):
        fill(x, HardwareInfo().get_device_multiprocessor_count()).launch(grid=[1, 1, 1], block=[32, 1, 1])

    x = np.zeros(32, np.int32)
    ts.cute.compile(processors, x, target="sm_90a")(x)  # asked while it is traced
    assert (x == ts.device("h200")["processors"]).all()
    with active("sm_100a"):
        chip = HardwareInfo()
        assert chip.get_max_active_clusters(2) == ts.device("b200")["processors"] // 2
        assert chip.get_l2_cache_size_in_bytes() == ts.device("b200")["l2"]
        for wrong in (lambda: HardwareInfo(1), lambda: chip.get_max_active_clusters(33)):
            with pytest.raises(ValueError, match="range|between"):
                wrong()
        plain = tmp_path / "plain.toml"
        plain.write_text((DEVICES / "h200.toml").read_text().partition("[clock]")[0])
        active("sm_90a", device=str(plain))
        with pytest.raises(ts.Error, match="the L2 cache of device='.*plain.toml' is, its file does not say"):
            HardwareInfo().get_l2_cache_size_in_bytes()


def test_what_was_before_is_so_again(active):
    from cutlass.base_dsl.compiler import CompileCallable
    from cutlass.cutlass_dsl import CuTeDSL
    from cutlass.utils import HardwareInfo

    def state():
        return [dict(vars(each)) for each in (CuTeDSL, CompileCallable, HardwareInfo, cute)], CuTeDSL._get_dsl().envar.arch

    before = state()
    with active("sm_80"):
        inside = state()
        assert inside != before and inside[1] == "sm_80"
        active("sm_90a")
    ts.cute.deactivate()
    ts.cute.deactivate()
    assert state() == before


@pytest.mark.parametrize("words, sentence", [
    ({"target": "sm_75"}, "target='sm_75': sm_80"),
    ({"seed": 3}, "activate.. has no seed=; it takes strict"),
    ({"device": "zz"}, "zz"),
    ({"strict": 1}, "strict=1: True or False"),
])
def test_activations_that_cannot_be(active, words, sentence):
    with pytest.raises(ts.Error, match=sentence):
        active(**words)
    assert ts.cute._session is None


def test_without_cutedsl_there_is_a_sentence():
    program = """
import sys
sys.modules["cutlass"] = None
import tilescope as ts
try:
    ts.cute.compile(print)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install nvidia-cutlass-dsl" in done.stdout, done.stderr
