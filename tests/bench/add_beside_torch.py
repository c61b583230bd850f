#!/usr/bin/env python3
"""elementwise_add beside torch.add and a copy on the GPU here, in one process.

    tests/bench/add_beside_torch.py [ROUNDS [COLUMNS]]

The shipped PTX, both forms; matrices of 8192 rows and as many columns, two sets in turn, uniform numbers in [-1, 1];
rows of 120 launches between two events, in an order of their own each round; medians, and the
median of each round's ratio to torch.add. A result is compared with torch's before it is timed.
Wants PyTorch and an NVIDIA GPU of sm_90 or later.
"""
import ctypes
import pathlib
import random
import statistics
import sys

try:
    import torch
except ModuleNotFoundError:
    sys.exit("PyTorch is not here, whose torch.add this compares with: `pip install torch`.")

PTX = pathlib.Path(__file__).resolve().parents[2] / "assets" / "ptx"
FORMS = {"apart": "elementwise_add.ptx", "overlapping": "elementwise_add_sm_90.ptx"}
TYPES = {
    "f32": (torch.float32, "elementwise_add"),
    "f16": (torch.float16, "elementwise_add_f16"),
    "bf16": (torch.bfloat16, "elementwise_add_bf16"),
    "i32": (torch.int32, "elementwise_add_i32"),
}
TILE_ROWS, TILE_COLUMNS, THREADS, IN_A_ROW = 16, 128, 128, 120
ROUNDS, COLUMNS = (list(map(int, sys.argv[1:])) + [15, 8192][len(sys.argv) - 1 :])[:2]
ROWS = 8192
PROGRAMMATIC_STREAM_SERIALIZATION = 6  # CUlaunchAttributeID

if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0):
    sys.exit("There is no NVIDIA GPU of sm_90 or later here, which this times its kernels on.")
cuda = ctypes.CDLL("libcuda.so.1")


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_char * 64)]


class Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]


def entry_of(form, name):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    text = (PTX / FORMS[form]).read_bytes() + b"\0"
    if cuda.cuModuleLoadData(ctypes.byref(module), text):
        sys.exit(f"{FORMS[form]} does not load on this GPU.")
    if cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()):
        sys.exit(f"{FORMS[form]} has no {name}.")
    return function


def launcher(form, name, sets, stream):
    """A function of a set's number that enqueues one launch."""
    function = entry_of(form, name)
    attribute = Attribute(PROGRAMMATIC_STREAM_SERIALIZATION, b"", b"\1")
    per_access = 16 // sets[0][0].element_size()
    reach = COLUMNS if COLUMNS % per_access == 0 else COLUMNS + per_access - 1
    tiles = ROWS // TILE_ROWS * -(-reach // TILE_COLUMNS)
    launch = Launch(
        (tiles, 1, 1), (THREADS, 1, 1), 0, stream, ctypes.addressof(attribute), form == "overlapping"
    )
    ready = []
    for matrices in sets:
        values = [ctypes.c_uint64(m.data_ptr()) for m in matrices]
        values += [ctypes.c_int(ROWS), ctypes.c_int(COLUMNS)]
        places = [ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values]
        ready.append(((ctypes.c_void_p * len(places))(*places), values))

    def enqueue(i, keep=attribute):
        if cuda.cuLaunchKernelEx(ctypes.byref(launch), function, ready[i % len(sets)][0], None):
            sys.exit(f"{name} does not start.")

    return enqueue


def microseconds(enqueue):
    for i in range(10):
        enqueue(i)
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for i in range(IN_A_ROW):
        enqueue(i)
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / IN_A_ROW * 1e3


def compare(name):
    dtype, entry = TYPES[name]
    stream = torch.cuda.Stream()

    def matrix():
        if dtype == torch.int32:
            return torch.randint(-(2**31), 2**31, (ROWS, COLUMNS), device="cuda", dtype=dtype)
        return torch.empty(ROWS, COLUMNS, device="cuda", dtype=dtype).uniform_(-1, 1)

    sets = [[matrix() for _ in "abc"] for _ in range(2)]

    def torch_add(i):
        a, b, c = sets[i % 2]
        torch.add(a, b, out=c)

    def copy(i):
        a, _, c = sets[i % 2]
        c.copy_(a)

    contenders = {f: launcher(f, entry, sets, stream.cuda_stream) for f in FORMS}
    with torch.cuda.stream(stream):
        for form, enqueue in contenders.items():
            a, b, c = sets[0]
            c.zero_()
            enqueue(0)
            if not torch.equal(c, a + b):
                sys.exit(f"elementwise_add, {form}, of {name} is wrong.")
        contenders |= {"torch.add": torch_add, "copy": copy}
        takes = {who: [] for who in contenders}
        for _ in range(ROUNDS):
            for who in random.sample(list(contenders), len(contenders)):
                takes[who].append(microseconds(contenders[who]))
    size = sets[0][0].nbytes
    for who, each in takes.items():
        median = statistics.median(each)
        speed = size * (2 if who == "copy" else 3) / median * 1e-3
        ratio = statistics.median(t / e for t, e in zip(takes["torch.add"], each))
        beside = "" if who == "copy" else f"{ratio:7.4f}x"
        print(f"{name:4}  {who:11}  {median:8.2f} us  {speed:6.0f} GB/s  {beside}", flush=True)


if __name__ == "__main__":
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {ROWS} x {COLUMNS}")
    for each in TYPES:
        compare(each)
        torch.cuda.empty_cache()
