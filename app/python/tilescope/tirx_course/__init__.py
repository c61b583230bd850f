"""A Blackwell GEMM in ten steps, written in TIRx by you: a part of each is left out, and judged here without a GPU.

    python -m tilescope.tirx_course                        # the steps
    python -m tilescope.tirx_course start hgemm_v1         # writes hgemm_v1.py
    python -m tilescope.tirx_course check hgemm_v1.py

hgemm_v1.py to hgemm_v10.py beside this file are ours, with what is left out between `# [exercise` and
`# exercise]`; TASK says what it has to do. The contract of each: D (M,N) = A (M,K) * B (N,K)^T, halves in and out,
f32 sums. The manual: docs/manual/course.md, "In TIRx".
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import pathlib
import textwrap

from .. import _tilescope
from .mistakes import MISTAKES

__all__ = ["STEPS", "Verdict", "check", "frame", "hints", "start", "task"]

STEPS = tuple(f"hgemm_v{n}" for n in range(1, 11))
TARGET = "sm_100a"
RTOL, ATOL = 1e-3, 1e-2  # as the course compares
ORDERS = 10  # other schedules that a kernel has to be right in
PERCENT = 120  # of our kernel's predicted time
INSTRUCTIONS = 1_000_000  # of warps, that a run may take: ours take less than 30,000

_HERE = pathlib.Path(__file__).parent


# ---- The frame ----------------------------------------------------------------------------------


def _known(step):
    if step not in STEPS:
        raise _tilescope.Error(f"The course has no step {step!r}: {STEPS[0]} to {STEPS[-1]} are its steps.")
    return (_HERE / f"{step}.py").read_text()


@functools.cache
def _said(step):
    """The values that a step's file says of itself: TASK, HINTS; and the lines that say it, which a frame has not."""
    values, lines = {"": ast.get_docstring(ast.parse(_known(step)))}, set()
    for node in ast.parse(_known(step)).body:
        if isinstance(node, ast.Assign) and node.targets[0].id in ("TASK", "HINTS", "SHAPES"):
            values[node.targets[0].id] = ast.literal_eval(node.value)
            if node.targets[0].id != "SHAPES":
                lines.update(range(node.lineno, node.end_lineno + 1))
    return values, lines


def task(step):
    """What the part that is left out has to do."""
    return _said(step)[0]["TASK"].strip()


def hints(step):
    """From a question to the line."""
    return list(_said(step)[0]["HINTS"])


def frame(step):
    """The text of a step without its new part; what that has to do stands in its place."""
    _, skipped = _said(step)
    out, inside, told = [], False, False
    for number, line in enumerate(_known(step).splitlines(), 1):
        mark = line.strip()
        if mark == "# [exercise":
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            if told:
                out.append(f"{indent}# TODO: and here.")
            else:
                out += [f"{indent}# {each}".rstrip() for each in f"TODO\n{task(step)}".splitlines()]
            told = True
        elif mark == "# exercise]":
            inside = False
        elif not inside and number not in skipped:
            out.append(line)
    return "\n".join(out) + "\n"


def start(step, folder="."):
    """Writes `folder`/STEP.py, which is to be filled in, and answers its path. Error: there is such a file already."""
    path = pathlib.Path(folder) / f"{step}.py"
    text = frame(step)
    try:
        with open(path, "x") as file:
            file.write(text)
    except FileExistsError:
        raise _tilescope.Error(f"{path} is there already, and is left as it is: another folder, or another name for it, makes "
                               "room.") from None
    except OSError as error:
        raise _tilescope.Error(f"{path} cannot be written: {error.strerror}.") from None
    return path


# ---- The judge ----------------------------------------------------------------------------------


class Verdict:
    """What is said of a text: true where it passed.

    right, safe, fast: True, False, or None where it was not asked, since something before was wrong.
    kind: of the fault or hazard, or "unbuilt", "different", "slow", "too_long"; "" where it passed.
    sentence: what was found, and where. told: what that means here.
    seconds, ours: predicted, of the last shape. run: the Run that showed it, or the last one.
    """

    def __init__(self, step):
        self.step = step
        self.right = self.safe = self.fast = None
        self.kind = self.sentence = self.told = ""
        self.seconds = self.ours = None
        self.run = None

    def __bool__(self):
        return not self.kind

    def __repr__(self):
        return f"<{self.step}: {'passed' if self else self.kind}>"

    def __str__(self):
        words = {True: "yes", False: "no", None: "not asked, since something before was wrong"}
        lines = [f"{name + ':':<7}{words[value]}" for name, value in
                 (("right", self.right), ("safe", self.safe), ("fast", self.fast))]
        if self.seconds and self.ours:
            lines[2] += f"; {self.seconds * 1e6:.2f} us, ours {self.ours * 1e6:.2f} us"
        if self.sentence:
            lines += ["", self.sentence]
        if self.told:
            lines += ["", *textwrap.wrap(self.told, 100)]
        return "\n".join(lines)


class _Wrong(Exception):
    def __init__(self, kind, sentence, run=None):
        super().__init__(kind)
        self.kind, self.sentence, self.run = kind, sentence, run


def check(file, step=None):
    """Judges a Python file that has a function STEP(M, N, K); `step` where the file's name does not say which.

    right: it compiles, and at each shape D agrees with NumPy, without a fault or a hazard. safe: also where
    asynchronous work comes as late as is allowed, and in ten other orders. fast: its predicted time at the last shape
    is at most 120 percent of ours. Answers a Verdict. Error: there is no such file, function or step.
    """
    path = pathlib.Path(file)
    step = step or path.stem
    shapes = _said(step)[0]["SHAPES"] if step in STEPS else _known(step)
    make = getattr(_loaded(path), step, None)
    if not callable(make):
        raise _tilescope.Error(f"{path} has no function {step}(M, N, K).")
    verdict = Verdict(step)
    try:
        verdict.right = False
        cases = []
        for shape in shapes:
            cases.append(_Case(make, shape))
            verdict.run = cases[-1].run()
        verdict.right, verdict.safe = True, False
        for case in cases:
            case.run(lazy=True)
            case.run(search=ORDERS)
        verdict.safe, verdict.fast = True, False
        verdict.seconds, verdict.ours = verdict.run.time, _time_of_ours(step)
        if verdict.seconds > verdict.ours * PERCENT / 100:
            raise _Wrong("slow", f"{verdict.seconds / verdict.ours * 100:.0f} percent of our kernel's predicted time at "
                                 f"{cases[-1]}; at most {PERCENT} are wanted", verdict.run)
        verdict.fast = True
    except _Wrong as wrong:
        verdict.kind, verdict.run = wrong.kind, wrong.run
        verdict.sentence = f"{step} {wrong.sentence}" if wrong.run else wrong.sentence
        verdict.told = MISTAKES.get(wrong.kind, "")
    return verdict


def _loaded(path):
    """The file as a module, anew each time."""
    if not path.is_file():
        raise _tilescope.Error(f"{path} is no file.")
    spec = importlib.util.spec_from_file_location(f"tirx_course_of_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError:
        raise
    except (Exception, SystemExit) as error:  # sys.exit() would end the judge, and with 0 say that all is well
        raise _tilescope.Error(f"{path} cannot be imported: {type(error).__name__}: {error}") from None
    return module


def _compiled(make, shape):
    from .. import tirx
    return tirx.compile(make(*shape), TARGET)


@functools.cache
def _time_of_ours(step):
    module = importlib.import_module(f".{step}", __name__)
    return _Case(getattr(module, step), module.SHAPES[-1]).run().time


class _Case:
    """A kernel for one shape, with its inputs and what NumPy makes of them."""

    def __init__(self, make, shape):
        import numpy as np
        self.shape = shape
        m, n, k = shape
        rng = np.random.default_rng(m * n + k)
        self.a, self.b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
        self.want = (self.a.astype(np.float64) @ self.b.astype(np.float64).T).astype(np.float16)
        try:
            self.kernel = _compiled(make, shape)
        except ImportError:
            raise
        except _tilescope.Error as error:
            raise _Wrong("unbuilt", f"{self} does not compile: {error}") from None
        except (Exception, SystemExit) as error:  # TVM's parser raises what it likes, and so does the function
            raise _Wrong("unbuilt", f"{self} does not compile: {type(error).__name__}: {error}") from None

    def __str__(self):
        return "M {}, N {}, K {}".format(*self.shape)

    def run(self, **settings):
        import numpy as np
        how = "" if not settings else " in another order" if "search" in settings else " with asynchronous work as late as allowed"
        d = np.full(self.want.shape, np.nan, np.float16)
        try:
            run = self.kernel(self.a, self.b, d, strict=True, suppressions="tirx", max_instructions=INSTRUCTIONS,
                              **settings)
        except (_tilescope.Fault, _tilescope.Hazard) as error:
            weight = "fault" if isinstance(error, _tilescope.Fault) else "hazard"
            kinds = [each.kind for each in error.run.reports if each.weight == weight]
            raise _Wrong((kinds or ["different"])[-1], f"at {self}{how}: {error}", error.run) from None
        except _tilescope.Error as error:
            kind = "too_long" if "max_instructions" in str(error) else "unbuilt"
            raise _Wrong(kind, f"{self}: {error}") from None
        found = _tilescope.diff(d, self.want, rtol=RTOL, atol=ATOL)
        if found.wrong:
            pattern = f": {found.patterns[-1]}" if found.patterns else ""
            raise _Wrong("different", f"at {self}{how}: {found.wrong} of {d.size} elements of D are wrong{pattern}", run)
        return run
