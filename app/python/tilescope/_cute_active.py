"""What of CuTeDSL's is replaced while ts.cute.activate() holds, or while ts.cute compiles: what asks a GPU, and what would
launch on one. A host function (@cute.jit) that is called, cute.compile, HardwareInfo, cute.testing.benchmark.
"""

from __future__ import annotations

import inspect
import sys

from . import _tilescope

ABSENT = object()


class Replaced:
    """Attributes that are others for a while."""

    def __init__(self):
        self.before = []

    def __call__(self, owner, name, value):
        self.before.append((owner, name, vars(owner).get(name, ABSENT)))
        setattr(owner, name, value)

    def put_back(self):
        for owner, name, value in reversed(self.before):
            delattr(owner, name) if value is ABSENT else setattr(owner, name, value)
        self.before.clear()


# ---- The chip -----------------------------------------------------------------------------------


def answer_as(replace, device):
    """cutlass.utils.HardwareInfo answers as the chip that is simulated."""
    from cutlass.utils import HardwareInfo

    def chip():
        return _tilescope.device(device)

    def init(self, device_id=0):
        if device_id != 0:
            raise ValueError(f"Device ID {device_id} is out of range for device count 1")
        self.device_id = self.device = device_id

    def get_max_active_clusters(self, cluster_size, stream=None):
        if not 0 < cluster_size <= 32:
            raise ValueError(f"Cluster size must be between 1 and 32, {cluster_size} is not supported")
        return chip()["processors"] // cluster_size

    def get_l2_cache_size_in_bytes(self):
        if "l2" not in chip():
            raise _tilescope.Error(f"How large the L2 cache of device={device!r} is, its file does not say: l2_size is what "
                                   "tells it, beside a chip's other times.")
        return chip()["l2"]

    def get_device_multiprocessor_count(self):
        return chip()["processors"]

    replace(HardwareInfo, "__init__", init)
    for each in (get_max_active_clusters, get_l2_cache_size_in_bytes, get_device_multiprocessor_count):
        replace(HardwareInfo, each.__name__, each)


# ---- Launches -----------------------------------------------------------------------------------


def lead_here(replace, compile, is_own):
    """Has host functions that are called, and cute.compile, come to `compile(function, *args, options=, **words)`, but
    where ts.cute itself calls these: is_own() tells."""
    from cutlass._mlir import ir
    from cutlass.base_dsl.compiler import CompileCallable
    from cutlass.cutlass_dsl import CuTeDSL
    func, compiles = CuTeDSL._func, CompileCallable._compile

    def traced():
        return ir.Context.current is not None and ir.InsertionPoint.current is not None

    def called(dsl, function, *args, **words):
        if is_own() or words.get("compile_only") or traced():
            return func(dsl, function, *args, **words)
        return directly(compile, function, args, words)

    def compiled(how, function, *args, **words):
        if is_own() or words.get("compile_to_precompiled_mlir"):
            return compiles(how, function, *args, **words)
        return compile(function, *args, **words)

    replace(CuTeDSL, "_func", called)
    replace(CompileCallable, "_compile", compiled)
    for module in map(sys.modules.get, ("cutlass.testing", "cutlass.cute.testing")):
        if hasattr(module, "benchmark"):
            replace(module, "benchmark", benchmark)


def directly(compile, function, args, words):
    """A host function that is called is compiled for the arguments that it is called with, at each call."""
    compiled = compile(function, *args, **words)
    bound = inspect.signature(function).bind(*args, **words)
    bound.apply_defaults()
    return compiled(**{name: bound.arguments[name] for name in compiled.parameters})


def benchmark(callable, *, workspace_generator=None, kernel_arguments=None, **how):
    """CuTeDSL's benchmark: microseconds of one call, as predicted."""
    arguments = workspace_generator() if workspace_generator else kernel_arguments
    if arguments is None or not hasattr(callable, "runs"):
        raise _tilescope.Error("benchmark() needs what cute.compile has made, and kernel_arguments= or workspace_generator=.")
    callable(*arguments.args, **arguments.kwargs)
    if not callable.runs or not all(run.time for run in callable.runs):
        raise _tilescope.Error("benchmark() needs predicted time, which there is for launches in the usual order only: without "
                               "schedule= and lazy=.")
    return sum(run.time for run in callable.runs) * 1e6
