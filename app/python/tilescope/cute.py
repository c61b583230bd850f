"""CuTeDSL's kernels on the simulator: compiled by nvidia-cutlass-dsl itself, run without a GPU.

    add = ts.cute.compile(elementwise_add, a, b, c, target="sm_90a")
    run = add(a, b, c)

Arrays are NumPy's (or what has DLPack on the CPU) and are written in place. How it works: CuTeDSL compiles the host
function as ever, to PTX and to code of the CPU that packs arguments, makes tensor maps and calls CUDA's runtime. That
code runs here; the functions of CUDA's that it calls are those of _cute_runtime.py, and a launch is Module.launch.

    with ts.cute.activate("sm_90a"):
        elementwise_add(a, b, c)
        print(ts.cute.last)

The manual: docs/manual/python.md, "CuTeDSL".
"""

from __future__ import annotations

import contextlib
import inspect
import tempfile
import threading

from . import _cute_active, _cute_arguments, _cute_runtime, _ptx, _settings, _tilescope, _torch

__all__ = ["activate", "aligned", "compile", "Compiled", "deactivate", "last", "reports", "TARGETS"]

last = None  # the Run of the last launch since activate(), one that faulted too
reports = []  # of all launches since activate()

# What is compiled for, and the chip that is simulated where `device` names no other.
TARGETS = {"sm_80": "a100", "sm_90a": "h200", "sm_100a": "b200", "sm_103a": "gb300", "sm_120a": "rtx5090"}
SETTINGS = ("strict", "device", "schedule", "lazy", "numerics", "threads", "max_instructions", "suppressions", "record",
            "search", "memory")

_session = None
_here = threading.local()  # .compiling: how deep in compile() this thread is

# Names of cutlass.cute that later releases no longer have, and what they are called there.
RENAMED = {"make_fragment": "make_rmem_tensor"}


def compile(function, *args, target="sm_100a", options="", **words):
    """A host function of CuTeDSL's (@cute.jit, or an object whose __call__ is one) for the simulator: a Compiled.

    args, words: as cute.compile takes them: one example of each argument; arrays may be NumPy's (their layout is
    dynamic then), tensors of from_dlpack, fake tensors. Further words are settings, as ts.launch has them: strict,
    device, schedule, lazy, numerics, threads, max_instructions, suppressions, record, search, memory.
    target: sm_80, sm_90a, sm_100a, sm_103a or sm_120a. options: more of CuTeDSL's compiler options, as a text.

    ImportError: nvidia-cutlass-dsl is not installed. Error: there is no such target or setting. What CuTeDSL refuses it
    says itself.
    """
    cute = _imported()
    _check_target(target)
    options = options or ""
    if not isinstance(options, str):
        raise _tilescope.Error(f"options={options!r}: CuTeDSL's options as a text are needed, \"--opt-level 2\" say.")
    if "--gpu-arch" in options:
        raise _tilescope.Error(f"options={options!r}: target= says the chip, such as target=\"sm_90a\".")
    settings, words = _told_apart(function, words)
    settings.setdefault("device", TARGETS[target])
    _settings.tried(target, settings)
    args = [_cute_arguments.example(each) for each in args]
    words = {name: _cute_arguments.example(each) for name, each in words.items()}
    # TVM's way to pass arguments is for tensors on a GPU; what is compiled is the same.
    options = " ".join(word for word in options.split() if word != "--enable-tvm-ffi")
    with tempfile.TemporaryDirectory(prefix="tilescope-cute-") as folder, _prepared(cute, settings["device"]):
        kept = options if "--dump-dir" in options else f"{options} --dump-dir {folder}"
        options = f"--gpu-arch {target} --generate-line-info --keep-ptx {kept}"
        made = cute.compile(function, *args, options=options, **words)
        if not hasattr(made, "execution_args"):
            raise _tilescope.Error("ts.cute needs nvidia-cutlass-dsl 4.5 or later, and an older one is installed: "
                                   "`pip install -U nvidia-cutlass-dsl`.")
        return Compiled(made, [*_receiver(function), *args], words, target, settings)


def activate(target="sm_100a", **settings):
    """From now on CuTeDSL's host functions run on the simulator where they are called, and so does what cute.compile
    makes; cutlass.utils.HardwareInfo answers as the chip, and cute.testing.benchmark with predicted time.

    target, settings: as compile() has them. Called again, it changes these, and `reports` begin anew. Answers an object
    for `with`: at its end, what was active before is so again.

    ImportError: nvidia-cutlass-dsl is not installed. Error: there is no such target or setting.
    """
    global _session, last
    _imported()
    _check_target(target)
    _settings.known(settings, SETTINGS)
    settings = {"device": TARGETS[target], **settings}
    _settings.tried(target, {name: settings[name] for name in settings if name != "memory"})
    outer, _session = _session, None
    if outer:
        outer.end()
        if not outer.entered:
            outer.outer = None
    last = None
    reports.clear()
    _session = _Session(target, settings, outer)
    _session.begin()
    return _session


def deactivate():
    """CuTeDSL launches on a GPU again, as before activate(); nothing where none was activated."""
    global _session
    if _session:
        _session.end()
    _session = None


class _Session:
    """From activate() to deactivate()."""

    def __init__(self, target, settings, outer):
        self.target, self.settings, self.outer, self.entered = target, settings, outer, False
        self.replace = _cute_active.Replaced()

    def __enter__(self):
        self.entered = True
        return self

    def __exit__(self, *error):
        global _session
        if _session is self:
            deactivate()
            if self.outer:
                self.outer.begin()
                _session = self.outer

    def __repr__(self):
        return f"<ts.cute for {self.target} on {self.settings['device']}>"

    def begin(self):
        import cutlass.cute as cute
        import cutlass.cute.testing  # noqa: F401 (its benchmark is one of what is replaced)
        from cutlass.cutlass_dsl import CuTeDSL
        for name, now in RENAMED.items():
            if not hasattr(cute, name) and hasattr(cute, now):
                self.replace(cute, name, getattr(cute, now))
        environment = CuTeDSL._get_dsl().envar
        self.arch, environment.arch = environment.arch, self.target
        _cute_active.answer_as(self.replace, self.settings["device"])
        _cute_active.lead_here(self.replace, self.compile, lambda: getattr(_here, "compiling", 0) > 0)

    def end(self):
        from cutlass.cutlass_dsl import CuTeDSL
        CuTeDSL._get_dsl().envar.arch = self.arch
        self.replace.put_back()

    def compile(self, function, *args, options="", **words):
        own, _ = _told_apart(function, {name: words[name] for name in words if name in SETTINGS})
        return compile(function, *args, target=self.target, options=options, **{**self.settings, **own, **words})


def _note(runs):
    """What was launched, where activate() holds."""
    global last
    if _session and runs:
        last = runs[-1]
        for run in runs:
            reports.extend(run.reports)


def aligned(array, to=256):
    """A copy of one of NumPy's arrays, or of a tensor of torch's, in the same order, whose first element's address is a
    multiple of `to` bytes, as memory of a GPU's begins; on the CPU it is one of 16 or 64. For tensors whose assumed_align
    is more."""
    import numpy as np
    if _torch.is_tensor(array):
        return _aligned_tensor(array.detach(), to)
    array = np.asarray(array)
    if isinstance(to, bool) or not isinstance(to, int) or to < 1 or to & to - 1:
        raise _tilescope.Error(f"aligned(to={to!r}): a power of two is needed.")
    if array.dtype.hasobject:
        raise _tilescope.Error(f"aligned() of {array.dtype}: an array of numbers is needed.")
    room = np.empty(array.nbytes + to, np.uint8)
    begin = -room.ctypes.data % to
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    packed = room[begin:begin + array.nbytes].view(array.dtype).reshape([array.shape[axis] for axis in order])
    out = packed.transpose([order.index(axis) for axis in range(array.ndim)])
    out[...] = array
    return out


def _aligned_tensor(tensor, to):
    """The same of torch's: as bytes it goes through NumPy's, which lacks some of its types."""
    import torch
    order = sorted(range(tensor.dim()), key=lambda axis: -abs(tensor.stride(axis)))
    packed = tensor.permute(order).contiguous()
    raw = aligned(packed.reshape(-1).view(torch.uint8).numpy(), to)
    out = torch.from_numpy(raw).view(tensor.dtype).reshape(packed.shape)
    return out.permute([order.index(axis) for axis in range(tensor.dim())])


class Compiled:
    """What compile() has made: called, it runs the host function, and its kernels on the simulator.

    runs: the Run of each launch of the last call, one that faulted too.
    ptx: the kernels' PTX. module: the same as a ts.Module; None where the host function has no kernel.
    """

    def __init__(self, made, args, words, target, settings):
        self.target, self.settings = target, settings
        self.runs = []
        self.ptx = made.__ptx__ or ""
        if ".version" not in self.ptx:
            self.ptx = ""
        text, names = _ptx.with_short_names(_ptx.with_own_lines(self.ptx), "kernel_cutlass_")
        self.module = _tilescope.Module(text) if text else None
        self.name = made.function_name
        self._slots = _cute_arguments.Slots(made, args, words)
        self._program = _cute_runtime.Program(made, names)

    def __repr__(self):
        return f"<ts.cute.Compiled {self.name} for {self.target} on {self.settings['device']}>"

    def __call__(self, *args, **words):
        """Runs the host function with these arguments, those without the constexpr ones. Answers the Run of its last
        launch; None where it launched nothing. Words that are none of its parameters are settings of this call.

        Fault, Hazard: as ts.launch has them; what was launched behind that is not. Error: an argument does not fit.
        """
        __tracebackhide__ = True
        own = {name: words.pop(name) for name in list(words) if name in SETTINGS and name not in self._slots.names}
        settings = {**self.settings, **own}
        call = self._slots.bound(args, words, _memory(settings.pop("memory", None)))
        driver = _cute_runtime.Driver(self.module, settings.pop("device"), call.memory, settings)
        self.runs = driver.runs
        try:
            self._program.run(call.pointers, driver)
        finally:
            _note(self.runs)
        return self.runs[-1] if self.runs else None

    @property
    def parameters(self):
        """The names of what a call takes: without what is constexpr."""
        return list(self._slots.names)

    def get_aux_func(self, *args, **words):
        """CuTeDSL's own: a function beside the host function, such as the one that tells how large its workspace is."""
        return self._program.made.get_aux_func(*args, **words)


def _imported():
    try:
        import cutlass.cute as cute
    except ImportError as error:
        raise ImportError(f"ts.cute compiles with CuTeDSL, which cannot be imported ({error}): "
                          "`pip install nvidia-cutlass-dsl`.") from None
    return cute


def _check_target(target):
    if target not in TARGETS:
        raise _tilescope.Error(f"target={target!r}: {', '.join(TARGETS)} are what CuTeDSL's kernels are compiled for.")


def _receiver(function):
    """What `self` is, in a list, where the host function is a method, or an object's __call__."""
    if inspect.ismethod(function):
        return [function.__self__]
    return [] if inspect.isfunction(function) else [function]


def _told_apart(function, words):
    """Words of a call as settings and the function's own; a parameter of that name is the function's."""
    try:
        own = inspect.signature(function).parameters
    except (TypeError, ValueError):
        own = {}
    settings = {name: words[name] for name in words if name in SETTINGS and name not in own}
    anything = any(each.kind is each.VAR_KEYWORD for each in own.values()) if own else True
    for name in words:
        if not anything and name not in own and name not in settings:
            raise _tilescope.Error(f"{name}= is no argument of {getattr(function, '__name__', 'the function')}, and no setting: those "
                                   f"are {', '.join(SETTINGS)}.")
    return settings, {name: words[name] for name in words if name not in settings}


def _memory(given):
    """What memory= says, by name."""
    if given is None:
        return {}
    if isinstance(given, (list, tuple)):
        return {f"memory[{i}]": each for i, each in enumerate(given)}
    if not isinstance(given, dict):
        raise _tilescope.Error(f"memory={given!r}: a list of arrays, or a dict of names and arrays, is needed.")
    return given


@contextlib.contextmanager
def _prepared(cute, device):
    """While CuTeDSL compiles: names that older programs use are there, a host function that asks what the chip is hears
    of the simulated one, and TVM's way to pass arguments is off."""
    from cutlass.cutlass_dsl import CuTeDSL
    replace = _cute_active.Replaced()
    for name, now in RENAMED.items():
        if not hasattr(cute, name) and hasattr(cute, now):
            replace(cute, name, getattr(cute, now))
    _cute_active.answer_as(replace, device)
    environment = CuTeDSL._get_dsl().envar
    before, environment.enable_tvm_ffi = environment.enable_tvm_ffi, False
    _here.compiling = getattr(_here, "compiling", 0) + 1
    try:
        yield
    finally:
        _here.compiling -= 1
        environment.enable_tvm_ffi = before
        replace.put_back()
