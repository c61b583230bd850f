"""What the suites of foreign kernels share: cases and outcomes, sources, launch files, running them.

A suite is a file beside this one with `cases()`: a list of objects with `.name`, `.suite` and
`.run(context) -> Outcome`. Whatever compiles a kernel, in the end there is a folder with its PTX, a
launch file, inputs and outputs as .npy files (docs/manual/launch-files.md): either `Launch` wrote it,
or a recorder, which stood in for the CUDA driver or runtime while the kernel's own host program ran
(recorder/). That folder is run again under other schedules by `judge`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field

# Outcomes, best first.
RIGHT = "right"      # the expected result, in every order tried; nothing told
TOLD = "told"        # the expected result, and hazards told
REFUSED = "refused"  # the simulator refuses the PTX, or stops the kernel with a fault
WRONG = "wrong"      # another result
LOADS = "loads"      # each form that it has is one that is executed; it is not run
ABSENT = "absent"    # the source, the compiler or the package is not here, or does not compile it

# How each launch is run: as it is, asynchronous work as late as PTX allows, other schedules.
ORDERS = [[], ["--lazy"]] + [["--schedule", str(seed)] for seed in (1, 2, 3, 4, 5)]


@dataclass
class Outcome:
    status: str
    seconds: float = 0.0                              # of the simulator, all orders together
    hazards: list[str] = field(default_factory=list)  # kinds of reports, each once
    note: str = ""                                    # one sentence, where it is not right


@dataclass
class Context:
    tilescope: pathlib.Path  # the program
    sources: pathlib.Path    # where fetched sources are
    folder: pathlib.Path     # an empty folder for this case
    python: pathlib.Path     # a Python that has the compilers' packages
    cache: pathlib.Path | None = None                 # where packages of one suite go
    options: list[str] = field(default_factory=list)  # more options of every `tilescope run`
    fetch: bool = True       # whether missing sources are cloned
    orders: int = 0          # how many orders are tried; 0: all of ORDERS
    limit: float = 600.0     # seconds for one program; a fourth of it for all other orders of its launches


class Absent(Exception):
    """What a case needs is not here; the text says what."""


# ---- Sources ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    name: str  # of its folder
    url: str
    commit: str

    def folder(self, context: Context) -> pathlib.Path:
        """Its folder; cloned at the commit where it is missing."""
        place = context.sources / self.name
        if place.is_dir():
            return place
        if not context.fetch:
            raise Absent(f"{self.name} is not in {context.sources}")
        place.mkdir(parents=True)
        commands = [["git", "init", "-q"], ["git", "fetch", "-q", "--depth", "1", self.url, self.commit],
                    ["git", "checkout", "-q", "FETCH_HEAD"]]
        for command in commands:
            done = subprocess.run(command, cwd=place, capture_output=True, text=True)
            if done.returncode:
                subprocess.run(["rm", "-rf", str(place)], check=True)
                said = done.stderr.strip().splitlines()
                raise Absent(f"{self.name} could not be cloned from {self.url} at {self.commit[:12]}: "
                             f"{said[-1] if said else 'git failed'}")
        return place


def packages(context: Context, name: str, wanted: list[str]) -> pathlib.Path:
    """A folder with Python packages for one suite alone, for PYTHONPATH: those that others have no use for,
    or would not stand. Installed where it is missing."""
    place = context.cache / f"packages-{name}"
    if place.is_dir():
        return place
    if not context.fetch:
        raise Absent(f"{place} is not there")
    fresh = place.with_name(f"{place.name}-{os.getpid()}")
    done = subprocess.run([str(context.python), "-m", "pip", "install", "-q", "--no-deps", "--target", str(fresh), *wanted],
                          capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise Absent(f"{' '.join(wanted)} could not be installed: {said[-1] if said else 'pip failed'}")
    fresh.rename(place)
    return place


# ---- Launch files -------------------------------------------------------------------------------


def save(path: pathlib.Path, array) -> None:
    import numpy
    numpy.save(path, array)


class Launch:
    """Writes a launch file: buffers first, then arguments in the kernel's order."""

    def __init__(self, folder: pathlib.Path, ptx: str, entry: str, grid, block, cluster=None, smem=0):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernel.ptx").write_text(ptx)
        self.head = [f'entry = "{entry}"', f"grid = {list(grid)}", f"block = {list(block)}"]
        if cluster:
            self.head.append(f"cluster = {list(cluster)}")
        if smem:
            self.head.append(f"dynamic_smem = {smem}")
        self.body: list[str] = []

    def buffer(self, name: str, array, dtype: str, out: bool = False, expect=None, rtol=0.0, atol=0.0):
        """An array as a buffer; `expect`: what it has to hold after the run."""
        save(self.folder / f"{name}.npy", array)
        lines = ["[[buffer]]", f'name = "{name}"', f'dtype = "{dtype}"', f'file = "{name}.npy"']
        if out or expect is not None:
            lines.append(f'out = "{name}_after.npy"')
        if expect is not None:
            save(self.folder / f"{name}_expect.npy", expect)
            lines += [f'expect = "{name}_expect.npy"', f"rtol = {rtol!r}", f"atol = {atol!r}"]
        self.body.append("\n".join(lines))
        return self

    def arg(self, text: str):
        """One argument, as in a launch file: 'buffer = "A"', 'i32 = 5'."""
        self.body.append("[[arg]]\n" + text)
        return self

    def write(self) -> pathlib.Path:
        (self.folder / "launch.toml").write_text("\n\n".join(["\n".join(self.head), *self.body]) + "\n")
        return self.folder


# ---- Running ------------------------------------------------------------------------------------


@dataclass
class Ran:
    code: int          # exit code of `tilescope run` (docs/manual/exit-codes.md); None: out of time
    reports: list[dict]
    sentence: str      # what went wrong, or ""
    seconds: float


def command_output(command: list[str], cwd: pathlib.Path, limit: float, environment: dict[str, str] | None = None):
    """Runs a command in a session of its own, and ends all of it when it is out of time: None then."""
    process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def run_launch(context: Context, folder: pathlib.Path, options: list[str], limit: float) -> Ran:
    """`tilescope run kernel.ptx --launch launch.toml` in a folder."""
    command = [str(context.tilescope), "run", "kernel.ptx", "--launch", "launch.toml", "--json",
               *context.options, *options]
    start = time.monotonic()
    done = command_output(command, folder, limit)
    if done is None:
        return Ran(None, [], f"is not done after {limit:.0f} s", time.monotonic() - start)
    seconds = time.monotonic() - start
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return Ran(done.returncode, [], lines[-1] if lines else f"exit {done.returncode}", seconds)
    sentence = ""
    if not document.get("ok", True):
        error = document.get("error") or {}
        sentence = error.get("sentence", "") + (f" ({error['where']})" if error.get("where") else "")
        if not sentence and done.returncode == 1:
            sentence = "the result differs from what is expected"
    return Ran(done.returncode, document.get("reports", []), sentence, seconds)


def hazards_of(reports: list[dict]) -> list[str]:
    return sorted({report["kind"] for report in reports if report["weight"] == "hazard"})


def outputs_of(folder: pathlib.Path) -> list[str]:
    """The files that a launch writes."""
    return [line.split('"')[1] for line in (folder / "launch.toml").read_text().splitlines()
            if line.startswith("out = ")]


def same(folder: pathlib.Path, first: dict[str, bytes], sums: str | None, rtol: float) -> str:
    """Whether the outputs are those of the first order; else which differs. Sums whose order is the
    schedule's (atomics of floating point) are of the type `sums` and compared within rtol."""
    import numpy
    for name, before in first.items():
        after = (folder / name).read_bytes()
        if after == before or without_maps(after, before) == without_maps(before, after):
            continue
        if sums:
            import io
            a, b = (numpy.load(io.BytesIO(x)).view(sums).astype(numpy.float64) for x in (before, after))
            scale = numpy.maximum(numpy.abs(a), numpy.abs(a).max() * 1e-2)
            if numpy.all((numpy.abs(a - b) <= rtol * scale) | (numpy.isnan(a) & numpy.isnan(b))):
                continue
        return name
    return ""


def without_maps(array: bytes, other: bytes) -> bytes:
    """The bytes of an .npy file without tensor maps that a kernel makes in either, of 128 bytes each (they
    begin as core/sim/async/map_bits.cpp says): CTAs keep theirs where the schedule puts them."""
    begin = array.index(b"\n") + 1
    body, beside = array[begin:], other[begin:]
    units = range(0, len(body), 128)
    return b"".join(body[at:at + 128] for at in units
                    if not (body.startswith(b"map-", at) or beside.startswith(b"map-", at)))


def judge(context: Context, folders: list[pathlib.Path], sums: str | None = None,
          rtol: float = 1e-2, first_done: bool = False) -> Outcome:
    """Runs launch folders in every order. With `first_done` a recorder has run them as they are
    (its report is report.json, its outputs are there), and their results have been found right.
    What goes wrong in another order alone is told: what the kernel counts on, PTX does not promise."""
    outcome = Outcome(RIGHT)
    hazards: set[str] = set()
    left_out = 0
    for folder in folders:
        first: dict[str, bytes] = {}
        orders = ORDERS[:context.orders or None]
        if first_done:
            document = json.loads((folder / "report.json").read_text())
            hazards.update(hazards_of(document.get("reports", [])))
            first = {name: (folder / name).read_bytes() for name in outputs_of(folder)}
            orders = orders[1:]
        for order in orders:
            if outcome.seconds > context.limit / 4:  # all orders together
                left_out += 1
                continue
            ran = run_launch(context, folder, order, context.limit)
            outcome.seconds += ran.seconds
            hazards.update(hazards_of(ran.reports))
            outcome.hazards = sorted(hazards)
            how = " ".join(order) or "default order"
            if ran.code is None and order:
                left_out += 1
                continue
            if ran.code != 0:
                bad = WRONG if ran.code == 1 else REFUSED
                outcome.status, outcome.note = TOLD if order else bad, f"{how}: {ran.sentence}"
                return outcome
            if not first:
                first = {name: (folder / name).read_bytes() for name in outputs_of(folder)}
            else:
                other = same(folder, first, sums, rtol)
                if other:
                    outcome.status, outcome.note = TOLD, f"{how}: {other} is not that of the default order"
                    return outcome
    if hazards:
        outcome.status, outcome.hazards = TOLD, sorted(hazards)
    if left_out:
        outcome.note = f"{left_out} runs in other orders left out for time"
    return outcome


# ---- Programs under a recorder ------------------------------------------------------------------


def launches_in(folder: pathlib.Path) -> list[pathlib.Path]:
    """The launch folders that a recorder wrote below a folder, in their order."""
    return sorted(path.parent for path in folder.glob("*/launch.toml"))


def what_it_said(done) -> str:
    """The line of a program's output that says why it ended: the last that names an error, or the last."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in (done.stdout + "\n" + done.stderr).splitlines()]
    lines = [line.removeprefix("E   ") for line in lines if line]
    errors = [line for line in lines if re.match(r"(error\b|[\w.]*Error\b).*: *\S", line)]
    return (errors or lines or [f"exit {done.returncode}"])[-1]


def run_program(context: Context, command: list[str], environment: dict[str, str],
                cwd: pathlib.Path | None = None, good=lambda done: done.returncode == 0,
                sums: str | None = None, rtol: float = 1e-2, beside: str | None = None) -> Outcome:
    """Runs a host program whose launches a recorder turns into launch folders in context.folder and
    runs at once, so that the program goes on with their results. `good(done)`: whether it found its
    results right. Then its launches are run in other orders, but for those whose folder's name has
    `beside`: kernels that fill inputs or compute what is expected."""
    environment = {**os.environ, **environment, "TILESCOPE": str(context.tilescope),
                   "RECORDER_FOLDER": str(context.folder), "RECORDER_OPTIONS": " ".join(context.options)}
    start = time.monotonic()
    done = command_output(command, cwd or context.folder, context.limit, environment)
    if done is None:
        return Outcome(REFUSED, context.limit, [], f"the program is not done after {context.limit:.0f} s")
    (context.folder / "program.log").write_text(done.stdout + "\n" + done.stderr)
    folders = launches_in(context.folder)
    seconds = 0.0
    hazards: set[str] = set()
    for folder in folders:
        try:
            document = json.loads((folder / "report.json").read_text())
        except (OSError, json.JSONDecodeError):
            return Outcome(REFUSED, time.monotonic() - start, [], f"{folder.name} has no report")
        seconds += document.get("seconds") or 0
        hazards.update(hazards_of(document.get("reports", [])))
        if not document.get("ok", True):
            error = document.get("error") or {}
            where = f" ({error['where']})" if error.get("where") else ""
            return Outcome(REFUSED, seconds, sorted(hazards),
                           f"{error.get('sentence', '')}{where}")
    if done.returncode == 77:  # host.py: not_here(), pytest_one.py
        return Outcome(ABSENT, seconds, [], done.stdout.strip().splitlines()[-1].removeprefix("host.py: "))
    if not folders:
        return Outcome(ABSENT, 0, [], f"it launched nothing: {what_it_said(done)}")
    if not good(done):
        lines = (done.stderr or done.stdout).strip().splitlines()
        return Outcome(WRONG, seconds, sorted(hazards), "the program says: " + (lines[-1] if lines else str(done.returncode)))
    tried = [folder for folder in folders if not beside or not re.search(beside, folder.name)]
    outcome = judge(context, tried, sums, rtol, first_done=True)
    return dataclasses.replace(outcome, seconds=outcome.seconds + seconds)


def recorder(context: Context) -> pathlib.Path:
    """The stand-in for the CUDA driver, compiled where it is not yet: a folder with libcuda.so.1, which is
    the runtime's library too."""
    import hashlib
    import tempfile
    here = pathlib.Path(__file__).resolve().parent / "recorder"
    files = [here / "driver.cpp", here / "cuda_runtime.cpp"]
    include = next((folder for folder in cuda_includes(context) if (folder / "cuda.h").exists()
                    and (folder / "cuda_runtime_api.h").exists()), None)
    if include is None:
        raise Absent("cuda.h is not here: the CUDA Toolkit or the Python package nvidia-cuda-runtime has it")
    rest = functions_left(include / "cuda.h", files)
    text = b"".join(path.read_bytes() for path in [*files, here / "common.h"]) + rest.encode()
    seen = hashlib.sha256(text).hexdigest()[:16]
    folder = pathlib.Path(tempfile.gettempdir()) / f"tilescope-recorder-{os.getuid()}-{seen}"
    library = folder / "libcuda.so.1"
    if not library.exists():
        folder.mkdir(exist_ok=True)
        fresh = folder / f"fresh-{os.getpid()}"
        (folder / "rest.cpp").write_text(rest)
        files.append(folder / "rest.cpp")
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{include}", *map(str, files), "-o", str(fresh),
                        "-Wl,-soname,libcuda.so.1"], check=True)
        fresh.rename(library)
        for name in ("libcuda.so", "libcudart.so.13", "libcudart.so"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to("libcuda.so.1")
    return folder


def functions_left(header: pathlib.Path, files: list[pathlib.Path]) -> str:
    """C++: every function of the driver that the recorder does not have answers that it is not supported, and
    is named once. Programs look all of theirs up when they start, and call few. Of what it has in another
    version there is that version alone: who finds none of a newer one takes it."""
    import re
    text = header.read_text(errors="replace")
    names = set(re.findall(r"CUDAAPI\s+(cu[A-Z]\w*)\s*\(", text)) | set(re.findall(r"#define\s+cu[A-Z]\w*\s+(cu[A-Z]\w*)\s", text))
    there = {re.sub(r"_v\d+$", "", name) for file in files for name in re.findall(r"\b(cu[A-Z]\w*)\(", file.read_text())}
    head = ("#include <cstdio>\n#define LEFT(name) extern \"C\" __attribute__((weak)) int name() { \\\n"
            "  static int told = std::fprintf(stderr, \"recorder: \" #name \" is not there\\n\"); \\\n"
            "  return told ? 801 : 801; }\n")
    return head + "".join(f"LEFT({name})\n" for name in sorted(names) if re.sub(r"_v\d+$", "", name) not in there)


def cuda_includes(context: Context) -> list[pathlib.Path]:
    home = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    packages = sorted(context.python.parent.parent.glob("lib/python3*/site-packages"))
    return [home / "include", *[p / "nvidia/cu13/include" for p in packages]]


@dataclass
class Program:
    """A Python program that launches kernels by itself and ends with 0 where it finds them right."""

    name: str
    suite: str
    sm: int                   # the chip that it is told it has
    command: list[str]        # the program, below the source's folder or this one, and its arguments
    source: Source | None = None
    environment: dict[str, str] = field(default_factory=dict)
    sms: int = 0              # multiprocessors; 0: as many as the chip has
    sums: str | None = None   # as in judge()
    says: str = ""            # what its output has where it finds its results right
    packages: tuple[str, ...] = ()  # a name, and the packages it needs besides (packages())

    def run(self, context: Context) -> Outcome:
        base = self.source.folder(context) if self.source else pathlib.Path(__file__).resolve().parent
        program = base / self.command[0]
        if not program.exists():
            raise Absent(f"{self.command[0]} is not in {base}")
        library = recorder(context)
        dumps = context.folder / "dumps"
        dumps.mkdir()
        environment = {"LD_PRELOAD": str(library / "libcuda.so.1"), "RECORDER_SM": str(self.sm),
                       "RECORDER_SMS": str(self.sms or ""), "RECORDER_PTX": str(dumps),
                       "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "NO_COLOR": "1",
                       **self.environment_of(dumps, library), **self.environment}
        if self.packages:
            environment["PYTHONPATH"] = str(packages(context, self.packages[0], list(self.packages[1:])))
        host = pathlib.Path(__file__).resolve().parent / "host.py"
        return run_program(context, [str(context.python), str(host), str(program), *self.command[1:]], environment,
                           good=lambda done: done.returncode == 0 and self.says in done.stdout, sums=self.sums)

    def environment_of(self, dumps: pathlib.Path, library: pathlib.Path) -> dict[str, str]:
        return {}
