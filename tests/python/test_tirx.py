"""TIRx's kernels on the simulator: compiled by apache-tvm, each compared with NumPy's own result; and what is around
them: tensor maps of the host's code, reports with the line of the source, wrong uses. The course: test_tirx_course.py."""

import pathlib

import numpy as np
import pytest
import tilescope as ts

tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed: `pip install apache-tvm`, and these tests run")
T = pytest.importorskip("tvm.script.tirx", reason="this apache-tvm has no TIRx: 0.27 has")
from tvm.script.tirx import tile as Tx  # noqa: E402

rng = np.random.default_rng(7)
CHIPS = ("sm_80", "sm_90a", "sm_100a")


def is_compiled_here():
    try:
        return bool(ts.compile("__global__ void nothing() {}"))
    except ts.Error as refused:
        assert "neither is here" in str(refused)
        return False


if not is_compiled_here():
    pytest.skip("no nvcc and no NVRTC here", allow_module_level=True)


def line_of(words):
    lines = pathlib.Path(__file__).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if words in line)


# ---- Arrays and numbers -------------------------------------------------------------------------


@T.prim_func
def add(x: T.handle, y: T.handle, out: T.handle):
    n = T.int32()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    O = T.match_buffer(out, (n,), "float32")
    T.device_entry()
    block = T.cta_id([(n + 127) // 128])
    thread = T.thread_id([128])
    if block * 128 + thread < n:
        O[block * 128 + thread] = X[block * 128 + thread] + Y[block * 128 + thread]


@pytest.mark.parametrize("chip", CHIPS)
def test_vector_add(chip):
    kernel = ts.tirx.compile(add, chip, strict=True)
    for n in (1000, 128, 1):
        x, y, out = (rng.standard_normal(n).astype(np.float32) for _ in range(3))
        run = kernel(x, y, out)
        assert (out == x + y).all() and list(run.outputs) == ["X", "Y", "O"] and run.outputs["O"] is out
        assert run.blocks == -(-n // 128) and run.time > 0 and run.reports == [] and run is kernel.last
    assert "add_kernel" in kernel.source and "tilescope" not in kernel.source
    assert run.device == {"sm_80": "NVIDIA A100", "sm_90a": "NVIDIA H200", "sm_100a": "NVIDIA B200"}[chip]


def numbers():
    @T.prim_func
    def numbers(out: T.Buffer((5,), "float64"), a: T.int32, b: T.int64, c: T.float32, d: T.float64, e: T.bool):
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([32])
        if thread == 0:
            out[0] = T.cast(a, "float64")
            out[1] = T.cast(b, "float64")
            out[2] = T.cast(c, "float64")
            out[3] = d
            out[4] = T.cast(e, "float64")

    return numbers


def test_numbers_of_every_type():
    kernel, out = ts.tirx.compile(numbers()), np.zeros(5)
    kernel(out, -3, -(2**40), 1.5, 1e300, True)
    assert list(out) == [-3, -(2**40), 1.5, 1e300, 1]
    kernel(out, np.int32(7), np.int64(8), np.float32(0.25), np.float64(2), np.bool_(False))
    assert list(out) == [7, 8, 0.25, 2, 0]


def copy_of(declared):
    @T.prim_func
    def copy(x: T.Buffer((64,), declared), y: T.Buffer((64,), declared)):
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([64])
        y[thread] = x[thread]

    return copy


@pytest.mark.parametrize("declared", ["float16", "bfloat16", "float8_e4m3fn", "int8", "uint32", "int64"])
def test_arrays_of_types_that_numpy_has_and_lacks(declared):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kernel = ts.tirx.compile(copy_of(declared))
    dtype = np.dtype(getattr(ml_dtypes, declared, None) or declared)
    x = rng.standard_normal(64).astype(np.float32).astype(dtype)
    y = np.zeros(64, dtype)
    kernel(x, y)
    raw = f"u{dtype.itemsize}"
    assert (x.view(raw) == y.view(raw)).all()
    if declared.startswith(("bfloat", "float8")):  # as raw bits, too
        bits, copied = x.view(raw).copy(), np.zeros(64, raw)
        kernel(bits, copied)
        assert (copied == bits).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_tensors_of_tvm(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")

    @T.prim_func
    def copy(x: T.Buffer((8, 16), dtype), y: T.Buffer((8, 16), dtype)):
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([16])
        for row in range(8):
            y[row, thread] = x[row, thread]

    x = rng.standard_normal((8, 16)).astype(np.float32).astype(getattr(ml_dtypes, dtype, dtype))
    y = tvm.runtime.tensor(np.zeros((8, 16), x.dtype))
    ts.tirx.compile(copy)(tvm.runtime.tensor(x), y)
    assert (y.numpy() == x).all()


def test_marks_of_lines_change_nothing():
    from tilescope import tirx

    for function in (add, past_the_end, ranks, tiles(128, 128)):
        name, _, function = tirx._function_of(tvm, function)
        _, source, with_lines, _ = tirx._built_with_lines(tvm, name, function, "sm_100a")
        _, plain, _ = tirx._built(tvm, tvm.IRModule({name: function}), "sm_100a")
        assert source == plain and with_lines != source and "#line" in with_lines


def test_views_and_torch():
    kernel = ts.tirx.compile(add)
    whole = np.zeros(300, np.float32)
    x, y = (rng.standard_normal(200).astype(np.float32) for _ in range(2))
    kernel(x, y, whole[50:250])
    assert (whole[50:250] == x + y).all() and not whole[:50].any() and not whole[250:].any()
    torch = pytest.importorskip("torch", reason="torch is not installed: its tensors are not tried")
    out = torch.zeros(200)
    kernel(torch.from_numpy(x), torch.from_numpy(y), out)
    assert (out.numpy() == x + y).all()


# ---- Tensor maps --------------------------------------------------------------------------------


def tiles(rows, columns, dtype="float16"):
    """Tiles of 64 x 128 bytes, by TMA to shared memory and back."""
    wide = 128 // (tvm.DataType(dtype).bits // 8)

    @T.prim_func
    def tiles(a: T.Buffer((rows, columns), dtype), b: T.Buffer((rows, columns), dtype)):
        T.device_entry()
        row, column = T.cta_id([rows // 64, columns // wide])
        thread = T.thread_id([32])
        pool = T.SMEMPool()
        bar = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        tile = pool.alloc_tcgen05_mma_AB((64, wide), dtype)
        pool.commit()
        if thread == 0:
            T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), T.uint32(1))
            T.ptx.fence.mbarrier_init.release.cluster()
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), T.uint32(64 * 128))
            Tx.copy_async(tile[:, :], a[row * 64 : row * 64 + 64, column * wide : (column + 1) * wide],
                          dispatch="tma_auto", mbar=bar.ptr_to([0]))
            T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
            Tx.copy_async(b[row * 64 : row * 64 + 64, column * wide : (column + 1) * wide], tile[:, :],
                          dispatch="tma_auto")
            T.ptx.cp.async_.bulk.commit_group()
            T.ptx.cp.async_.bulk.wait_group(0)

    return tiles


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
def test_tensor_maps_of_the_hosts_code(chip, dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kernel = ts.tirx.compile(tiles(128, 256, dtype), chip, strict=True)
    numpys = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    a, b = rng.standard_normal((128, 256)).astype(numpys), np.zeros((128, 256), numpys)
    kernel(a, b)
    assert (a.view(f"u{numpys.itemsize}") == b.view(f"u{numpys.itemsize}")).all()
    [launch] = kernel.launches
    assert launch.grid == (2, 256 * numpys.itemsize // 128, 1) and launch.block == (32, 1, 1)
    assert launch.dynamic_smem == 1024 + 64 * 128
    assert all(isinstance(each, ts.TensorMap) for each in launch.arguments)


def test_tensor_maps_as_tf32():
    """TVM's own word for it: what is loaded is rounded, to nearest and even."""

    @T.prim_func
    def rounded(a: T.Buffer((64, 32), "float32"), b: T.Buffer((64, 32), "float32")):
        T.device_entry()
        T.cta_id([1])
        thread = T.thread_id([32])
        pool = T.SMEMPool()
        bar = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        tile = pool.alloc_tcgen05_mma_AB((64, 32), "float32")
        pool.commit()
        if thread == 0:
            T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), T.uint32(1))
            T.ptx.fence.mbarrier_init.release.cluster()
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), T.uint32(64 * 128))
            Tx.copy_async(tile[:, :], a[:, :], dispatch="tma_auto", mbar=bar.ptr_to([0]), tma_dtype="tf32")
            T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
            Tx.copy_async(b[:, :], tile[:, :], dispatch="tma_auto")
            T.ptx.cp.async_.bulk.commit_group()
            T.ptx.cp.async_.bulk.wait_group(0)

    a, b = rng.standard_normal((64, 32)).astype(np.float32), np.zeros((64, 32), np.float32)
    ts.tirx.compile(rounded, "sm_90a", strict=True)(a, b)
    bits = a.view(np.uint32)
    assert (b.view(np.uint32) == (bits + 0xFFF + (bits >> 13 & 1) & 0xFFFFE000)).all()


@pytest.mark.parametrize("dtype, bits, asked, swizzle", [
    ("float4_e2m1fn", 4, -1, 3), ("uint8", 4, 13, 3), ("uint8", 4, 14, 4), ("uint8", 6, 15, 0), ("float32", 32, -1, 4),
    ("float32", 32, 11, 6), ("float16", 16, -1, 5), ("float64", 64, -1, 1),
])
def test_tensor_maps_of_every_type_and_swizzle(dtype, bits, asked, swizzle):
    """As host code may ask the driver for them, behind what TVM's own copies do."""
    from tilescope import tirx

    arrays = tirx._Arrays()
    array = np.zeros((64, 128 * bits // 8), np.uint8).view(dtype if bits >= 8 else np.uint8)
    arrays.taken(array, "a", None, "argument 0")
    box = (128 if bits < 8 else 32 // (bits // 8), 8)
    numbers = [2, array.ctypes.data, 128, 64, array.strides[0], *box, 1, 1, 0, swizzle, 0, 0, asked]
    assert isinstance(tirx._tensor_map(numbers, dtype, "a", arrays), ts.TensorMap)
    for wrong in ([*numbers[:-1], 99], [*numbers[:10], 9, *numbers[11:]]):
        with pytest.raises(ts.Error, match="a is a tensor map of .* which ts.TensorMap does not make"):
            tirx._tensor_map(wrong, dtype, "a", arrays)


def test_two_elements_of_four_bits_are_in_a_byte():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kernel = ts.tirx.compile(copy_of("float4_e2m1fn"))
    run = kernel(np.zeros(32, np.uint8), np.zeros(32, np.uint8))
    assert [array.nbytes for array in run.outputs.values()] == [32, 32]
    with pytest.raises(ts.Error, match="Invalid x.shape"):
        kernel(np.zeros(30, np.uint8), np.zeros(32, np.uint8))
    with pytest.raises(ts.Error, match="two elements are in a byte: an array of uint8"):
        kernel(np.zeros(64, ml_dtypes.float4_e2m1fn), np.zeros(32, np.uint8))


@T.prim_func
def ranks(out: T.Buffer((8,), "int32")):
    T.device_entry()
    rank = T.cta_id_in_cluster([4])
    block = T.cta_id([8])
    thread = T.thread_id([32])
    if thread == 0:
        out[block] = rank * 10 + block


def test_clusters():
    kernel, out = ts.tirx.compile(ranks, "sm_90a"), np.zeros(8, np.int32)
    kernel(out)
    assert list(out) == [0, 11, 22, 33, 4, 15, 26, 37]
    assert kernel.launches[0].cluster == (4, 1, 1)


# ---- Reports ------------------------------------------------------------------------------------


PAST = """
from tvm.script import tirx as T


@T.prim_func
def past(x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32")):
    T.device_entry()
    T.cta_id([1])
    thread = T.thread_id([64])
    y[thread] = x[thread + 1]
"""


@pytest.mark.parametrize("name, shown", [("größe.py", "größe.py"), ("日本.py", "日本.py"), ("a'b.py", "a'b.py"),
                                         ('a"b.py', "a'b.py"), ("a\\b.py", "b.py")])
def test_files_of_every_name(tmp_path, name, shown):
    """Compilers write a name's other letters as numbers; quotes and backslashes PTX cannot have."""
    import importlib.util

    (tmp_path / name).write_text(PAST)
    spec = importlib.util.spec_from_file_location("past_of_a_name", tmp_path / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        kernel = ts.tirx.compile(module.past)
    except ts.Error as refused:
        assert "NVRTC" in str(refused)
        pytest.skip("no nvcc and no NVRTC here")
    with pytest.raises(ts.Fault) as raised:
        kernel(np.zeros(64, np.float32), np.zeros(64, np.float32))
    report = raised.value.run.reports[-1]
    assert pathlib.Path(report.file).name == shown and report.line == 10


@T.prim_func
def past_the_end(x: T.handle, y: T.handle):
    n = T.int32()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    T.device_entry()
    block = T.cta_id([(n + 255) // 256])
    thread = T.thread_id([256])
    if thread < 256:
        Y[block * 256 + thread] = X[block * 256 + thread] * T.float32(2)


def test_a_fault_has_the_line_of_the_python_file():
    kernel = ts.tirx.compile(past_the_end)
    with pytest.raises(ts.Fault, match="out_of_bounds.*argument 0 .float32 .1000,., 4000 bytes") as raised:
        kernel(np.ones(1000, np.float32), np.zeros(1000, np.float32))
    report = raised.value.run.reports[-1]
    assert (report.kind, report.block, report.line) == ("out_of_bounds", (3, 0, 0), line_of("* T.float32(2)"))
    assert report.file.endswith("test_tirx.py") and kernel.last is raised.value.run


@pytest.mark.tilescope(schedules=3)
def test_the_mark_sees_these_launches(tilescope_runs):
    x = np.ones(100, np.float32)
    run = ts.tirx.compile(add)(x, x, np.zeros(100, np.float32))
    assert len(tilescope_runs) == 1 and tilescope_runs[0].kernel == run.kernel == "add_kernel"


def test_settings_of_a_call_come_first():
    kernel = ts.tirx.compile(add, "sm_80", device="h200")
    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    assert kernel(x, x, out).device == "NVIDIA H200"
    assert kernel(x, x, out, device="b200", search=3).device == "NVIDIA B200"
    assert kernel(x, x, out, schedule=5).time == 0  # predicted for the usual order only


# ---- Wrong uses ---------------------------------------------------------------------------------


@T.prim_func
def host_only(x: T.Buffer((4,), "float32")):
    x[0] = T.float32(1)


def test_compile_refuses_with_a_sentence():
    for wrong, match in [
        ((add, "sm_70"), "target='sm_70': sm_80, sm_90a, sm_100a are"),
        ((add, ["sm_80"]), "are what TIRx's kernels"),
        ((print,), "T.prim_func"),
        ((None,), "T.prim_func"),
        ((tvm.IRModule({}),), "0 functions"),
        ((tvm.IRModule({"a": add, "b": ranks}),), "2 functions"),
        ((host_only,), "T.device_entry"),
    ]:
        with pytest.raises(ts.Error, match=match):
            ts.tirx.compile(*wrong)
    with pytest.raises(ts.Error, match="has no grid=; it takes strict"):
        ts.tirx.compile(add, grid=3)
    with pytest.raises(ts.Error, match="a list of the compiler's own words"):
        ts.tirx.compile(add, options="-DN")
    with pytest.raises(ts.Error, match="does not compile"):
        ts.tirx.compile(add, options=["-DfOo(=1"])
    assert ts.tirx.compile(tvm.IRModule({"main": add})).name == "add"


def test_a_call_refuses_with_tvms_sentence():
    kernel = ts.tirx.compile(add)
    x = np.ones(100, np.float32)
    for arguments, match in [
        ((x, x), "Expected 3 arguments"),
        ((x, x, x, x), "Expected 3 arguments"),
        ((x, x, x[:50]), r"Mismatched O.shape\[0\]"),
        ((x, x, x.astype(np.float64)), "Mismatched O.dtype"),
        ((x, x, x.reshape(10, 10)), "Mismatched O.ndim"),
        ((x, x, 3), "Mismatched type on argument #2"),
        ((x, x, None), "argument #2"),
        ((x, x, np.ones(200, np.float32)[::2]), "O.strides"),
        ((x, x, "text"), "is a str"),
        ((x, x, object()), "is a object"),
        ((x, x, np.array(["a"] * 100)), "no type for"),
    ]:
        with pytest.raises(ts.Error, match=match):
            kernel(*arguments)
    with pytest.raises(ts.Error, match="has no grid="):
        kernel(x, x, x, grid=1)
    assert (x == 1).all()


def test_tvms_own_runtime_is_left_as_it_is():
    import tvm_ffi

    ts.tirx.compile(add)
    with pytest.raises(Exception, match="compiled for the simulator"):
        tvm_ffi.get_global_func("add_kernel")()
    from tvm.script import ir as I  # noqa: F401

    @T.prim_func(s_tir=True)
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * T.float32(2)

    built = tvm.compile(tvm.IRModule({"double": double}), target="llvm")
    x, y = tvm.runtime.tensor(np.arange(4, dtype=np.float32)), tvm.runtime.tensor(np.zeros(4, np.float32))
    built["double"](x, y)
    assert list(y.numpy()) == [0, 2, 4, 6]
