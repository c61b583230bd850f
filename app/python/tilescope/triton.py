"""Triton's kernels on the simulator: compiled by Triton itself, run without a GPU.

    ts.triton.activate("sm_90a")
    kernel[grid](x, y, out, n, BLOCK=256)
    print(ts.triton.last, ts.triton.reports)

Arrays are NumPy's (or torch's on the CPU) and are written in place. How it works: Triton asks its active driver
what the chip is, has it load what was compiled and launch it; the driver here says what activate() was told, parses
the PTX as a ts.Module and launches that. ptxas is not run: PTX is what the simulator executes.

The manual: docs/manual/python.md, "Triton".
"""

from __future__ import annotations

import functools
import sys

from . import _ptx, _settings, _tilescope, _triton_driver
from ._foreign import triton_layout as layout
from ._triton_arrays import array_type, numpy_for, taken

__all__ = ["activate", "deactivate", "last", "layout", "pointers", "reports"]

last = None  # the Run of the last launch, one that faulted too
reports = []  # of all launches since activate()

# What Triton compiles for, and the chip that is simulated where `device` names no other.
TARGETS = {"sm_80": "a100", "sm_90a": "h200", "sm_100a": "b200"}
SETTINGS = ("strict", "device", "schedule", "lazy", "numerics", "threads", "max_instructions", "suppressions", "record",
            "search")


def activate(target="sm_100a", **settings):
    """From now on Triton compiles for `target` (sm_80, sm_90a or sm_100a), and its kernels run on the simulator.

    settings: as ts.launch has them: strict, device, schedule, lazy, numerics, threads, max_instructions,
    suppressions, record, search. Called again, it changes target and settings, and `reports` begin anew.
    Answers an object for `with`: at its end, what was active before is so again.

    ImportError: Triton is not installed. Error: there is no such target or setting.
    """
    global last
    if target not in TARGETS:
        raise _tilescope.Error(f"target={target!r}: {', '.join(TARGETS)} are what Triton's kernels are compiled for here.")
    _settings.known(settings, SETTINGS)
    # What is wrong with them is said before anything ends.
    session = _Session(target, settings)
    outer, _triton_driver.active = _triton_driver.active, None
    if outer:
        outer.end()
        if not outer.entered:
            outer.outer = None
    last = None
    reports.clear()
    session.outer = outer
    session.begin()
    _triton_driver.active = session
    return session


def deactivate():
    """Triton has the driver again that it had before activate(); nothing where none was activated."""
    if _triton_driver.active:
        _triton_driver.active.end()
    _triton_driver.active = None


def pointers(arrays):
    """An int64 array of the arrays' addresses, for a kernel that loads pointers from memory, as in a grouped GEMM.

    Of NumPy's arrays or torch's. What the kernel reaches through them is written in place, too. An array of addresses
    that is made otherwise (`x.ctypes.data`) works where those arrays are in variables of the code that launches.
    """
    if not isinstance(arrays, (list, tuple)):
        raise _tilescope.Error(f"pointers() of {arrays!r}: a list of arrays is needed.")
    arrays = [taken(each) for each in arrays]
    for each in arrays:
        if not hasattr(each, "data_ptr"):
            raise _tilescope.Error(f"pointers() of {each!r}: NumPy's arrays and torch's tensors have an address.")
    np = numpy_for("ts.triton.pointers makes an array")
    out = np.array([each.data_ptr() for each in arrays], np.int64).view(array_type())
    out.reached = arrays
    return out


# ---- A session ----------------------------------------------------------------------------------


class _Session:
    """From activate() to deactivate(): the settings, the modules that were loaded, and what of Triton was replaced."""

    numbers = {}  # a device number for each target and chip

    def __init__(self, target, settings):
        try:
            import triton
        except ImportError as error:
            raise ImportError(f"ts.triton compiles with Triton, which cannot be imported ({error}): "
                              "`pip install triton`.") from None
        chip = settings.get("device") or TARGETS[target]
        self.target, self.settings = target, {**settings, "device": chip}
        self.arch = int(target.strip("sm_a"))
        about = _tilescope.device(chip)
        self.properties = {"multiprocessor_count": about["processors"], "max_shared_mem": about["block_shared"],
                           "max_num_regs": about["registers"], "warpSize": 32}
        self.number = self.numbers.setdefault((target, chip), 1000 + len(self.numbers))
        self.modules = {}
        self.clock, self.launches, self.untimed = 0.0, 0, 0
        self.file = ""  # of the kernel that Triton may be about to compile
        self.replaced = []
        self.tuners = []  # those of triton.autotune that were used
        self.outer, self.entered = None, False  # what was active before, where this one is of a `with`
        _settings.tried(target, self.settings)

    def __enter__(self):
        self.entered = True
        return self

    def __repr__(self):
        return f"<ts.triton for {self.target} on {self.settings['device']}>"

    def __exit__(self, *error):
        if _triton_driver.active is self:
            deactivate()
            if self.outer:
                self.outer.begin()
                _triton_driver.active = self.outer

    # -- Launches

    def module(self, ptx):
        if ptx not in self.modules:
            module = _tilescope.Module(_ptx.with_own_lines(ptx.decode()))
            self.modules[ptx] = module, module.registers()
        return self.modules[ptx]

    def launch(self, module, grid, block, arguments, names, words):
        global last
        try:
            run = module.launch(grid, block, arguments, **words)
        except (_tilescope.Fault, _tilescope.Hazard) as error:
            run = error.run
            raise
        finally:
            if "run" in locals():
                last = run
                _settings.name_outputs(run, names)
                _settings.show_printed(run)
                reports.extend(run.reports)
                self.launches += 1
                self.clock += run.time
                self.untimed += run.time == 0
        return run

    def bench(self, call, warmup=None, rep=None, grad_to_none=None, quantiles=None, return_mode="mean", **other):
        """Triton's do_bench: milliseconds, of one call, as predicted; they vary no more than the prediction does."""
        clock, launches, untimed = self.clock, self.launches, self.untimed
        call()
        if self.launches == launches:
            raise _tilescope.Error("do_bench: nothing was launched on the simulator, so there is no time to predict: a function "
                                   "that launches one of Triton's kernels is needed.")
        if self.untimed != untimed:
            raise _tilescope.Error("do_bench needs predicted time, which there is for the usual order only: without schedule= and "
                                   "lazy= in ts.triton.activate() it works.")
        time = (self.clock - clock) * 1e3
        if quantiles is not None:
            return time if len(quantiles) == 1 else [time] * len(quantiles)
        return [time] if return_mode == "all" else time

    # -- What of Triton is replaced

    def replace(self, owner, name, value):
        self.replaced.append((owner, name, owner.__dict__[name] if isinstance(owner, type) else getattr(owner, name)))
        setattr(owner, name, value)

    def begin(self):
        import triton
        from triton import knobs, testing
        _look_for_torch()
        from triton.runtime import autotuner, jit
        from triton.tools import tensor_descriptor
        self.config = triton.runtime.driver
        self.before = self.config._active
        self.replace(jit.JITFunction, "run", _explaining(_taking(jit.JITFunction.run)))
        self.replace(autotuner.Autotuner, "run", _choosing(_taking(autotuner.Autotuner.run)))
        self.replace(autotuner.Heuristics, "run", _taking(autotuner.Heuristics.run))
        owners = [tensor_descriptor.TensorDescriptor]
        try:
            from triton.experimental.gluon.nvidia import hopper
            owners += [hopper.TensorDescriptor, hopper.TensorDescriptorIm2Col]
        except ImportError:
            pass
        for owner in owners:
            self.replace(owner, "__post_init__", _checking(owner.__post_init__))
            self.replace(owner, "from_tensor", staticmethod(_taking(owner.from_tensor)))
        for owner in (jit, triton):
            self.replace(owner, "reinterpret", _taking(owner.reinterpret))
        for name in ("do_bench", "do_bench_cudagraph"):
            self.replace(testing, name, self.bench)
        self.replace(knobs.runtime, "add_stages_inspection_hook", self.without_ptxas(knobs.runtime.add_stages_inspection_hook))
        self.config.set_active(_triton_driver.driver_of(self))

    def without_ptxas(self, hook):
        """A hook into Triton's compiler: where a cubin is to be made, the PTX stays. Triton keeps what was compiled so
        apart from what has a real one; and apart by file, which it does not by itself: reports name the file."""

        def without_ptxas(*given):
            if not given:
                key, number = hook() if hook else ("", "")
                return f"{key}-tilescope-{self.file}", f"{number}-tilescope-{self.file}"
            if hook:
                hook(*given)
            given[1]["cubin"] = lambda ptx, metadata: ptx.encode()

        return without_ptxas

    def choose_for_this_chip(self, tuner):
        """What triton.autotune chose for another chip, or a real one, is kept apart from what it chooses here."""
        if any(tuner is each for each in self.tuners):
            return
        self.tuners.append(tuner)
        chosen = tuner.__dict__.setdefault("_tilescope_chosen", {})
        self.replace(tuner, "cache", chosen.setdefault(self.number, {}))
        self.replace(tuner, "cache_results", False)  # on disk nothing says that times were predicted
        if tuner.use_cuda_graph:
            self.replace(tuner, "_do_bench", None)
        tuner.__dict__.pop("do_bench", None)  # which it keeps of the driver that it was used with first

    def end(self):
        for owner, name, value in reversed(self.replaced):
            setattr(owner, name, value)
        self.replaced.clear()
        for tuner in self.tuners:
            tuner.__dict__.pop("do_bench", None)
        self.tuners.clear()
        self.config.set_active(self.before)


def _look_for_torch():
    """Triton's C part looks once for torch among the modules, and None, which forbids an import, is none that it
    knows: it looks while nothing is there."""
    from triton._C.libtriton import native_specialize_impl
    from triton.backends.compiler import BaseBackend
    forbidden = "torch" in sys.modules and sys.modules["torch"] is None
    if forbidden:
        del sys.modules["torch"]
    try:
        native_specialize_impl(BaseBackend, 2, False, True, True)
    finally:
        if forbidden:
            sys.modules["torch"] = None


def _taking(function):
    """The function with arrays of NumPy's as arguments."""

    @functools.wraps(function)
    def taking(*arguments, **words):
        return function(*map(taken, arguments), **{name: taken(value) for name, value in words.items()})

    return taking


def _choosing(run):
    """triton.autotune's launch."""

    @functools.wraps(run)
    def choosing(tuner, *arguments, **words):
        _triton_driver.active.choose_for_this_chip(tuner)
        return run(tuner, *arguments, **words)

    return choosing


def _explaining(run):
    """Triton's launch, with a sentence where an argument is of no type that it knows."""

    @functools.wraps(run)
    def explaining(kernel, *arguments, **words):
        _triton_driver.active.file = kernel.fn.__code__.co_filename
        grid = words.get("grid")
        if not (words.get("warmup") or callable(grid) or hasattr(grid, "__len__") and 1 <= len(grid) <= 3):
            raise _tilescope.Error(f"grid={grid!r}: one to three numbers of programs are needed, as in {kernel.__name__}[(4,)](...), "
                                   "or a function that answers them.")
        try:
            return run(kernel, *arguments, **words)
        except TypeError as error:
            known, _, kind = str(error).partition("failed to specialize argument of type: ")
            if known or not kind:
                raise
            raise _tilescope.Error(f"{kernel.__name__} takes no argument of type {kind}: NumPy's arrays, tensors of torch's on the "
                                   "CPU, numbers, None, tensor descriptors and tuples of them can be a kernel's arguments, and "
                                   "whatever Triton takes for a tl.constexpr.") from None

    return explaining


def _checking(post_init):
    """A descriptor's own check, with an array of NumPy's as its base."""

    @functools.wraps(post_init)
    def checking(self):
        self.base = taken(self.base)
        if not hasattr(self.base, "__array_interface__") or self.padding != "nan":
            return post_init(self)
        # It asks a type of torch's whether it is a floating one.
        if self.base.dtype.kind not in "fV":
            raise _tilescope.Error(f"padding=\"nan\" of a descriptor over {self.base.dtype}: only floating types have a NaN; "
                                   "padding=\"zero\" works.")
        self.padding = "zero"
        post_init(self)
        self.padding = "nan"

    return checking
