"""Launches: arrays in place, arguments by the kernel's parameters, faults and hazards as exceptions."""

import array
import ctypes
import gc
import pathlib
import pickle
import resource
import signal
import threading
import time

import numpy as np
import pytest
import tilescope as ts


def test_text_a_path_and_a_module_are_kernels(module, path):
    for kernel in (module, str(path), path, path.read_text()):
        x = np.arange(100, dtype=np.float32)
        run = ts.launch(kernel, 4, 32, [x, 1.5, 100], entry="add")
        assert (x == np.arange(100) + 1.5).all()
        assert run.reports == [] and run.kernel == "add" and run.blocks == 4 and run.time > 0
    assert module.entries == ["add", "race", "spin", "undefined", "count", "types"]
    assert module.parameters("add") == [("x", "u64", 8), ("by", "f32", 4), ("n", "u32", 4)]


def test_every_array_of_the_host(module):
    for x in (array.array("f", range(8)), np.arange(8, dtype=np.float32), bytearray(np.arange(8, dtype=np.float32))):
        module.launch(1, 32, [x, 1, 8], entry="add")
        assert list(np.frombuffer(x, np.float32)) == list(range(1, 9))


def test_dlpack(module):
    class Tensor:  # with DLPack and nothing else
        def __init__(self, values):
            self.values = values

        def __dlpack__(self, **words):
            return self.values.__dlpack__(**words)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    x = np.zeros(8, np.float32)
    module.launch(1, 32, [Tensor(x), 2, 8], entry="add")
    assert (x == 2).all()


def test_views_share_memory_and_keep_their_strides(module):
    whole = np.zeros((4, 8), np.float32)
    module.launch(1, 32, [whole[1:], 1, 8], entry="add")
    assert (whole[1] == 1).all() and whole.sum() == 8
    module.launch(1, 32, [whole[:, 3][2:], 5, 1], entry="add")  # strided: its first element
    assert whole[2, 3] == 5 and whole.sum() == 13
    backwards = whole[::-1]
    module.launch(1, 32, [backwards, 7, 8], entry="add")  # begins in the last row
    assert (whole[3] == 7).all()


def test_parameters_have_their_own_types(module):
    out = np.zeros(6, np.uint64)
    module.launch(1, 1, [out, -3, 65535, np.int32(-7), 1 << 40, np.float64(2.5), b"abcdefgh\x01\x02\x00\x00"], entry="types")
    assert out[0] == 2**64 - 3 and out[1] == 65535 and out[2] == 2**64 - 7 and out[3] == 1 << 40
    assert out.view(np.float64)[4] == 2.5 and out[5] == 0x201


WRONG = [
    ([1.5], "add has 3 parameters .u64 x, f32 by, u32 n., but the launch gives 1 argument"),
    (["x", 1.5, 100.5], "100.5 is no whole number, as argument 2 .n, u32. is"),
    (["x", "a", 1], "'a' cannot be argument 1 .by, f32.: an array, a number"),
    (["x", 1, 1 << 40], "1099511627776 does not fit into argument 2"),
    (["x", 1, -(1 << 31) - 1], "does not fit into argument 2"),
    (["x", None, 1], "None is a null pointer, and argument 1 .by, f32. has 4 bytes"),
    (["x", 1, "x"], "An array is a pointer of 8 bytes"),
    ([b"abc", 1, 1], "has 8 bytes, but is given 3"),
    ([object(), 1, 1], "cannot be argument 0"),
    (7, "a list or tuple is needed"),
]


@pytest.mark.parametrize("args, sentence", WRONG, ids=[s[:20] for _, s in WRONG])
def test_arguments_that_do_not_fit(module, args, sentence):
    x = np.zeros(4, np.float32)
    if isinstance(args, list):
        args = [x if a == "x" else a for a in args]
    with pytest.raises(ts.Error, match=sentence):
        module.launch(1, 32, args, entry="add")
    assert (x == 0).all()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda m: m.launch(0, 1, [], entry="add"), "grid=0: a number of 1 or more"),
        (lambda m: m.launch((1, 1, 1, 1), 1, [], entry="add"), "grid="),
        (lambda m: m.launch(1, 5000, [None, 1, 1], entry="add"), "a CTA of 5000 threads"),
        (lambda m: m.launch(1, 1, [], entry="nothing"), "nothing"),
        (lambda m: m.launch(1, 1, [None, 1, 1]), "entr"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", foo=2), "launch.. has no foo="),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", device="zz"), "no such chip"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", numerics="x"), "exact .as the chip adds. or fast"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", threads=0), "a number from 1 to"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", strict=1), "True or False"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", dynamic_smem=-1), "0 or more"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", dynamic_smem=1 << 20), "shared memory"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", schedule="x"), "x"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add", suppressions="/nothing"), "/nothing"),
        (lambda m: ts.launch("add", 1, 1), "neither PTX nor the path"),
        (lambda m: ts.launch("nothing.ptx", 1, 1), "nothing.ptx"),
        (lambda m: ts.launch(3, 1, 1), "is no kernel"),
        (lambda m: ts.launch(".version 8.0\n.target sm_80\n.entry a() { foo; }", 1, 1), "foo"),
        (lambda m: m.launch(1, 1, [None, 1, 1], entry="add").stats(), "is no record of this run|Fault|null pointer"),
    ],
)
def test_launches_that_cannot_be(module, call, sentence):
    with pytest.raises(ts.Error, match=sentence):
        call(module)


def test_a_fault_raises_with_the_run(module):
    x = np.zeros(50, np.float32)
    with pytest.raises(ts.Fault, match="past the end of buffer argument 0 .float32 .50,., 200 bytes.") as raised:
        module.launch(4, 32, [x, 1, 100], entry="add")
    report = raised.value.run.reports[-1]
    assert (report.weight, report.kind) == ("fault", "out_of_bounds") and report.ptx_line > 0
    assert x[0] == 1  # as it was at that moment
    sent = pickle.loads(pickle.dumps(raised.value))
    assert type(sent) is ts.Fault and str(sent) == str(raised.value) and not hasattr(sent, "run")
    with pytest.raises(ts.Fault, match="null pointer"):
        module.launch(1, 32, [None, 1, 100], entry="add")


def test_hazards_raise_where_strict(module, tmp_path):
    x = np.zeros(1, np.uint32)
    run = module.launch(1, 64, [x], entry="race")
    assert [r.weight for r in run.hazards] == ["hazard"] * len(run.hazards) and run.hazards
    assert run.hazards[0].kind in str(run)
    with pytest.raises(ts.Hazard) as raised:
        module.launch(1, 64, [x], entry="race", strict=True)
    assert raised.value.run.hazards[0].sentence in str(raised.value)
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[suppress]]\nkind = "{run.hazards[0].kind}"\nkernel = "race"\nreason = "it is the test"\n')
    assert not module.launch(1, 64, [x], entry="race", strict=True, suppressions=rules).hazards


def test_what_nobody_wrote_is_told(module):
    x = np.zeros(1, np.uint32)
    with pytest.raises(ts.Hazard, match="that nobody had written"):
        module.launch(1, 1, [x], entry="undefined", strict=True)


def test_variables_stay_from_launch_to_launch(path):
    module, x = ts.Module(path), np.zeros(1, np.uint32)
    for count in (1, 2, 3):
        module.launch(1, 1, [x], entry="count")
        assert x[0] == count
    ts.launch(path, 1, 1, [x], entry="count")
    assert x[0] == 1


FOLLOW = """.version 8.0
.target sm_80
.address_size 64
.visible .entry follow(.param .u64 list) {  // list[i][0] += i + 1
  .reg .b64 %l, %p; .reg .b32 %t, %v;
  ld.param.u64 %l, [list];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %l, %t, 8, %l;
  ld.global.u64 %p, [%l];
  ld.global.u32 %v, [%p];
  add.u32 %v, %v, %t;
  add.u32 %v, %v, 1;
  st.global.u32 [%p], %v;
  ret;
}"""


def test_an_array_of_ctypes_has_no_strides(module):
    x = (ctypes.c_float * 100)()
    module.launch(4, 32, [x, 1.5, 100], entry="add")
    assert list(x) == [1.5] * 100
    rows = (ctypes.c_float * 10 * 10)()
    module.launch(4, 32, [rows, 2.0, 100], entry="add")
    assert all(list(row) == [2.0] * 10 for row in rows)


def test_pointers_in_memory():
    arrays = [np.full(4, 10 * i, np.uint32) for i in range(3)]
    addresses = np.array([a.ctypes.data for a in arrays], np.uint64)
    follow = ts.Module(FOLLOW)
    for times in (1, 2):
        run = follow.launch(1, 3, [addresses], memory=arrays, strict=True)
        assert run.reports == [] and [a[0] for a in arrays] == [times, 10 + 2 * times, 20 + 3 * times]
    assert all((a[1:] == 10 * i).all() for i, a in enumerate(arrays))
    named = follow.launch(1, 3, [addresses], memory={"first": arrays[0], "second": arrays[1], "last": arrays[2]})
    assert named.outputs["first"] is arrays[0] and arrays[0][0] == 3
    with pytest.raises(ts.Fault, match="out_of_bounds|outside|no buffer"):
        follow.launch(1, 3, [addresses], memory={"first": arrays[0], "last": arrays[2]})
    with pytest.raises(ts.Fault, match="out_of_bounds|outside|no buffer"):
        follow.launch(1, 3, [addresses])
    for memory, sentence in ((3, "memory=3: a list or tuple of arrays"), ([3], "memory.0.=3: an array is needed"),
                             ({"x": 3}, "x=3: an array is needed"), ({3: arrays[0]}, "3: ...}: an array's name is a text")):
        with pytest.raises(ts.Error, match=sentence):
            follow.launch(1, 3, [addresses], memory=memory)


def test_chips_are_described():
    assert ts.device("b200")["capability"] == (10, 0) and ts.device("h200")["block_shared"] <= ts.device("h200")["shared"]
    assert ts.device("a100")["l2"] == 40 << 20 and ts.device("a100")["cluster"] == ts.device("a100")["most_cluster"] == 1
    assert (ts.device("h100")["cluster"], ts.device("h100")["most_cluster"]) == (8, 16)
    with pytest.raises(ts.Error, match="^device=zz: no such chip is described; there are a100, .*, or a file: device=F.toml.$"):
        ts.device("zz")


def test_a_read_only_array_stays(module):
    x = np.zeros(8, np.float32)
    x.flags.writeable = False
    with pytest.raises(ts.Error, match="argument 0 is read-only, and the kernel has written into it"):
        module.launch(1, 32, [x, 1, 8], entry="add")
    assert (x == 0).all()
    module.launch(1, 32, [x, 0, 8], entry="add")


def test_a_limit_ends_a_run(module):
    with pytest.raises(ts.Error, match="max_instructions allows 1000"):
        module.launch(1, 1, [0], entry="spin", max_instructions=1000)


@pytest.fixture
def interruptible():
    """Python's own answer to Ctrl-C: a shell's background job, as CI may be, begins with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_interrupts(module, interruptible):
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        module.launch(1, 1, [0], entry="spin", max_instructions=2_000_000_000)
    assert time.monotonic() - begun < 5


def test_other_threads_go_on_while_it_simulates(path):
    module, counted, done = ts.Module(path), 0, threading.Event()

    def spin():
        module.launch(1, 1, [10_000_000], entry="spin")
        done.set()

    worker = threading.Thread(target=spin)
    worker.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    worker.join()
    assert counted > 10


def test_threads_launch_one_module(path):
    module, arrays = ts.Module(path), [np.zeros(64, np.float32) for _ in range(8)]

    def add(x, by):
        for _ in range(20):
            module.launch(2, 32, [x, by, 64], entry="add")

    workers = [threading.Thread(target=add, args=(x, i)) for i, x in enumerate(arrays)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert all((x == 20 * i).all() for i, x in enumerate(arrays))


def test_stats_of_a_recorded_run(module):
    x = np.zeros(64, np.float32)
    run = module.launch(2, 32, [x, 1, 64], entry="add", record=True)
    stats = run.stats()
    assert stats["kernel"] == "add" and stats["timed"] and stats["seconds"] == pytest.approx(run.time, rel=1e-6)
    assert "predicted" in run.stats_text()
    with pytest.raises(ts.Error, match="no record of this run"):
        module.launch(2, 32, [x, 1, 64], entry="add").stats()


def test_the_order_may_be_another(module):
    x = np.zeros(64, np.float32)
    for words in ({"schedule": 3}, {"lazy": True}, {"device": "h200"}, {"threads": 1}, {"numerics": "fast"}):
        run = module.launch(2, 32, [x, 1, 64], entry="add", **words)
        assert (run.time == 0) == ("schedule" in words or "lazy" in words)
        assert ("H200" in run.device) == ("device" in words)
    assert (x == 5).all()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_many_launches_need_no_more_memory(module):
    x = np.zeros(32, np.float32)

    def launch(times):
        for _ in range(times):
            module.launch(1, 32, [x, 1, 32], entry="add")
            with pytest.raises(ts.Fault):
                module.launch(1, 32, [None, 1, 32], entry="add")
        gc.collect()

    launch(200)
    before = resident()
    launch(2000)
    assert resident() - before < 4 << 20


def test_kernels_of_the_catalog():
    run = ts.run("elementwise_add", m=32, n=128)
    assert run.wrong == 0 and (run.outputs["C"] == run.outputs["A"] + run.outputs["B"]).all()
    a, b = np.ones((40, 24), np.float32), np.arange(960, dtype=np.float32).reshape(24, 40).T
    run = ts.run("elementwise_add", a=a, b=b)
    assert run.wrong == 0 and (run.outputs["C"] == a + b).all()
    run = ts.run("hgemm_v3", m=256, n=256, k=128, strict=True, record=True)
    want = run.outputs["A"].astype(np.float32) @ run.outputs["B"].astype(np.float32).T
    assert run.wrong == 0 and np.allclose(run.outputs["D"], want, atol=0.05) and run.stats()["kernel"] == "hgemm_v3"
    with pytest.raises(ts.Hazard, match="fence"):
        ts.run("hgemm_v7", ptx="ptx/hgemm_unfenced.ptx", m=256, n=256, k=256, grid=1, strict=True)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ts.run("nope"), "There is no kernel 'nope' in the catalog"),
        (lambda: ts.run("hgemm_v3", q=3), "hgemm_v3 has no option q=; it takes m=, n=, "),
        (lambda: ts.run("hgemm_v3", schedule="zz"), "^schedule=zz: 'zz' is no order"),
        (lambda: ts.run("dense_gemm", a_dtype="zz"), "dense_gemm was asked for a_dtype=zz; it takes f16, "),
        (lambda: ts.run("hgemm_v3", m=-1), "m = -1 was asked for"),
        (lambda: ts.run("elementwise_add", a=np.zeros((3, 4), complex)), "complex128"),
        (lambda: ts.run("elementwise_add", a=np.zeros((3, 4), "f4"), b=np.zeros((4, 4), "f4")), "4"),
    ],
)
def test_kernels_that_cannot_be(call, sentence):
    with pytest.raises(ts.Error, match=sentence):
        call()


FAULTS = pathlib.Path(__file__).parents[2] / "docs/faults"


def test_what_a_faults_text_leaves_out_is_said_in_pythons_words():
    with pytest.raises(ts.Fault, match=r"all of it: print\(run.reports\[-1\]\)") as raised:
        ts.run(FAULTS / "deadlock/broken.ptx", launch=FAULTS / "deadlock/launch.toml")
    assert "--verbose" not in str(raised.value)
    assert len(str(raised.value.run.reports[-1])) > len(str(raised.value))


def test_tensor_maps():
    stored = np.arange(32, dtype=np.uint32).reshape(4, 8)  # what the kernel has in its tile
    copy = FAULTS / "bad_coordinate/mended.ptx"
    x = np.zeros((16, 16), np.uint32)
    ts.launch(copy, 1, 32, [ts.TensorMap(x, box=(8, 4))], strict=True)
    assert (x[:4, :8] == stored).all() and x.sum() == stored.sum()
    part = np.zeros((16, 32), np.uint32)
    ts.launch(copy, 1, 32, [ts.TensorMap(part[4:, 8:24], box=(8, 4))])
    assert (part[4:8, 8:16] == stored).all() and part.sum() == stored.sum()
    flat = np.zeros(256, np.uint32)
    ts.launch(copy, 1, 32, [ts.TensorMap(flat, box=(8, 4), dims=(16, 16), strides=(64,), dtype="u32")])
    assert (flat.reshape(16, 16) == x).all()


def test_tensor_maps_that_round():
    program = (FAULTS.parents[1] / "tests/sim/programs/tensor_tf32.ptx").read_text()
    x, tiny = np.full(16, 1 + 2**-12 + 2**-11, "f4"), np.full(16, 2**-130, "f4")
    out, stored = np.zeros((2, 16), "f4")

    def sums(kind, source):
        total = np.zeros(16, "f4")
        maps = [ts.TensorMap(x, box=(16,), dtype="tf32"), ts.TensorMap(stored, box=(16,), dtype="tf32"),
                ts.TensorMap(total, box=(16,), dtype=kind)]
        ts.launch(program, 1, 32, [*maps, source, out])
        return total

    assert (sums("tf32_ftz", x) == x).all()
    assert (out == 1 + 2**-10).all() and (stored == x).all()
    assert (sums("f32_ftz", tiny) == 0).all() and (sums("f32", tiny) == tiny).all()


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda x: ts.TensorMap(x, box=(8, 4), swizzle="7B"), "none, 32B, 64B, 128B"),
        (lambda x: ts.TensorMap(x, box=(8, 4), interleave="7B"), "none, 16B or 32B"),
        (lambda x: ts.TensorMap(x, box=(8, 4), oob="one"), "zero or nan"),
        (lambda x: ts.TensorMap(x, box=(8, 4), dtype="f16"), "has 2 bytes, and elements of uint32 .16, 16. have 4"),
        (lambda x: ts.TensorMap(x, box=(-8, 4)), "numbers from 0 to"),
        (lambda x: ts.TensorMap(x[:, ::2], box=(8, 4)), "needs neighbours there"),
        (lambda x: ts.TensorMap(x[::-1], box=(8, 4)), "negative stride"),
        (lambda x: ts.TensorMap(3, box=(8, 4)), "is no array"),
        (lambda x: ts.TensorMap(x, box=(8,)), "box"),
        (lambda x: ts.TensorMap(x, box=(8, 4), packing="b3"), "none, b4x16_p64, b6x16_p32 or b4x16"),
        (lambda x: ts.TensorMap(x, lower=(1 << 20,), upper=(0,), channels=8, pixels=8), "lower=.1048576,.: numbers from"),
        (lambda x: ts.TensorMap(x, lower=(0,), upper=(0,), channels=8, pixels=8), "its corners .0. and .0. have 1 and 1 numbers"),
        (lambda x: ts.TensorMap(x[:, :15], box=(8, 300)), "box"),
    ],
)
def test_tensor_maps_that_cannot_be(make, sentence):
    with pytest.raises(ts.Error, match=sentence):
        ts.launch(FAULTS / "bad_coordinate/mended.ptx", 1, 32, [make(np.zeros((16, 16), np.uint32))])


def test_a_tensor_map_needs_its_parameter(module):
    with pytest.raises(ts.Error, match="has 8 bytes, and a tensor map needs 128"):
        module.launch(1, 1, [ts.TensorMap(np.zeros((16, 16), np.float32), box=(8, 4)), 1, 1], entry="add")


def test_arrays_of_objects_are_refused(module):
    with pytest.raises(ts.Error, match="An array of object holds addresses of Python's objects"):
        module.launch(1, 32, [np.array([object()] * 32, dtype=object), 1, 32], entry="add")
    with pytest.raises(ts.Error, match="holds addresses of Python's objects"):
        module.launch(1, 32, [np.zeros(32, np.float32), 1, 32], entry="add", memory=[np.array([None], dtype=object)])


def test_names_of_files_are_plain():
    from tilescope import _ptx

    text = '.file 1 "/a/\\303\\274_add.py"\n.loc 1 2 3\n'
    assert _ptx.with_own_lines(text) == '.file 1 "/a/ü_add.py"\n.loc 1 2 3\n'


def test_a_run_writes_the_rules_that_silence_it(module, tmp_path):
    shared = np.zeros(1, np.uint32)
    run = module.launch(1, 64, [shared], entry="race")
    rules = tmp_path / "known.toml"
    rules.write_text(run.suppressions().replace('reason = ""', 'reason = "known"'))
    with pytest.raises(ts.Hazard):
        module.launch(1, 64, [shared], entry="race", strict=True)
    module.launch(1, 64, [shared], entry="race", strict=True, suppressions=str(rules))
