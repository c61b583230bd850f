"""Unmodified CUDA C++ programs: built by nvcc with PTX alone, run on a recorder that stands in for
CUDA's runtime (recorder/runtime.cpp). The program's own check decides; what it launched is run
again in other orders (harness.run_program).
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass, field

import harness

HERE = pathlib.Path(__file__).resolve().parent / "recorder"
HOSTS = HERE.parent / "hosts"
ROOT = HERE.parents[2]
# Programs and the recorder, which take minutes to compile and outlive a run of the suite.
BUILT = (pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
         / "tilescope-foreign/programs")


def toolkit() -> pathlib.Path:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not pathlib.Path(nvcc).exists():
        raise harness.Absent("there is no nvcc to compile it")
    return pathlib.Path(nvcc).resolve().parents[1]


def symbols(library: pathlib.Path) -> set[str]:
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    return {line.split()[2].split("@")[0] for line in listed.splitlines() if " T " in line}


def recorder() -> pathlib.Path:
    """The folder of libcudart.so.13, which is also there by the driver's name. What the real library
    has and the recorder has not is a stub that answers cudaErrorNotSupported and is named once."""
    sources = [HERE / "runtime.cpp", ROOT / "core/run/tensor_map.cpp",
               ROOT / "core/sim/async/map_bits.cpp", ROOT / "core/run/driver_map.cpp",
               ROOT / "core/numeric/dtype.cpp"]
    seen = hashlib.sha256(b"".join(file.read_bytes() for file in [
        *sources, HERE / "arena.h", HERE / "common.h", ROOT / "core/run/tensor_map.h", pathlib.Path(__file__)]))
    folder = BUILT / f"recorder_{seen.hexdigest()[:12]}"
    driver = folder / "libcuda.so.1"  # comes last
    if driver.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libcudart.so.13"
    cuda = toolkit()
    own = set(re.findall(r"^\w[\w \*]*?(\w+)\(", (HERE / "runtime.cpp").read_text(), re.M))
    missing = sorted(name for name in symbols(cuda / "lib64/libcudart.so.13") - own
                     if re.fullmatch(r"_?_?cuda\w+", name))
    (folder / "stubs.c").write_text("int recorder_missing(const char*);\n" + "".join(
        f'int {name}() {{ return recorder_missing("{name}"); }}\n' for name in missing))
    (folder / "versions.map").write_text(
        "libcudart.so.13 { global: __cuda*; cuda*; cu*; recorder_*; local: *; };\n")
    subprocess.run(["gcc", "-c", "-fPIC", "-w", "-fno-builtin", folder / "stubs.c",
                    "-o", folder / "stubs.o"], check=True)
    subprocess.run(["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-fPIC", "-shared",
                    "-DFMT_HEADER_ONLY", f"-I{ROOT}", f"-I{cuda / 'include'}", *sources,
                    folder / "stubs.o", f"-Wl,--version-script={folder / 'versions.map'}",
                    "-Wl,-soname,libcudart.so.13", "-Wl,-z,defs", "-o", library], check=True)
    driver.unlink(missing_ok=True)
    driver.symlink_to(library.name)
    return folder


def well(done) -> bool:
    return done.returncode == 0


def texts_of(file: str, head: str) -> list[str]:
    """A host's text, and the headers beside it that it includes."""
    found: dict[str, str] = {}
    left = [file, *re.findall(r'"(\w+\.h)"', head)]
    while left:
        name = left.pop()
        if name not in found and (HOSTS / name).exists():
            found[name] = (HOSTS / name).read_text()
            left += re.findall(r'#include ["<]([\w./]+)[">]', found[name])
    return [found[name] for name in sorted(found)]


@dataclass
class Program:
    """A .cu file of a source (or of tests/foreign/hosts, where there is none), compiled for one
    architecture, and how it is run."""
    suite: str
    name: str
    source: harness.Source | None
    file: str
    arch: str
    flags: list[str] = field(default_factory=list)  # {source}: the source's folder
    args: list[str] = field(default_factory=list)
    good: object = well
    sums: str | None = None
    unordered: bool = False  # what a kernel leaves has no order: its own check decides in every order
    beside: str | None = None  # of kernels that fill inputs or compute what is expected
    needs: list[harness.Source] = field(default_factory=list)  # more sources: {NAME} in flags
    processors: int | None = None  # of the described chip; a small one for programs that fill it with blocks
    zeroed: bool = False  # device memory is given out as zeros: the program reads what it has not written
    head: str = ""  # lines before the file's first; {NAME} as in flags
    program: str | None = None  # what the built file is called, where several cases share it

    def command(self, context: harness.Context) -> tuple[list[str], str]:
        """nvcc's options, and the lines before the file's first."""
        home = self.source.folder(context) if self.source else HOSTS
        names = {"source": str(home), "hosts": str(HOSTS), **{one.name: str(one.folder(context)) for one in self.needs}}
        for cccl in context.python.parent.parent.glob("lib/python3*/site-packages/nvidia/cu13/include/cccl"):
            names["cccl"] = str(cccl)  # newer than the toolkit's

        def filled(text: str) -> str:
            return re.sub(r"\{([\w.-]+)\}", lambda found: names.get(found[1], found[0]), text)

        return ["-std=c++17", "-O1", "-cudart", "shared", "--compress-mode", "none", "-lineinfo", "-w",
                "-gencode", f"arch=compute_{self.arch},code=compute_{self.arch}", *map(filled, self.flags),
                str(home / self.file)], filled(self.head)

    def path(self, command: list[str], head: str) -> pathlib.Path:
        """Where it is built: a name for all that it is made from."""
        texts = [self.source.commit] if self.source else texts_of(self.file, head)
        texts += [one.commit for one in self.needs]
        named = command if self.source else [word.replace(f"{HOSTS}/", "").replace(str(HOSTS), "")  # in every checkout
                                             for word in command]
        key = hashlib.sha256("\0".join([*texts, head, *named]).encode()).hexdigest()[:12]
        return BUILT / f"{re.sub('[^A-Za-z0-9]+', '_', self.program or self.name)}_{key}"

    def build(self, context: harness.Context) -> pathlib.Path:
        command, head = self.command(context)
        program = self.path(command, head)
        if program.exists():
            return program
        BUILT.mkdir(parents=True, exist_ok=True)
        part, first = program.with_suffix(".part"), program.with_suffix(".h")
        if head:
            first.write_text(head)
            command = ["-include", str(first), *command]
        done = subprocess.run([toolkit() / "bin/nvcc", *command, "-lcuda", "-o", part], capture_output=True, text=True)
        if done.returncode:
            program.with_suffix(".log").write_text(done.stdout + done.stderr)
            errors = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line]
            raise harness.Absent("nvcc does not compile it: " + (errors or ["no sentence"])[0])
        part.rename(program)
        return program

    def run(self, context: harness.Context) -> harness.Outcome:
        program = self.build(context)
        environment = {"LD_LIBRARY_PATH": str(recorder())}
        if self.processors:
            environment["RECORDER_PROCESSORS"] = str(self.processors)
        if self.zeroed:
            environment["RECORDER_ZEROED"] = "1"

        def once(context: harness.Context) -> harness.Outcome:
            # Without address randomisation the simulator's addresses are free in the program.
            return harness.run_program(context, ["setarch", "-R", str(program), *self.args], environment,
                                       good=self.good, sums=self.sums, beside=self.beside)

        if not self.unordered:
            return once(context)
        outcome = None
        for number, order in enumerate(harness.ORDERS[:context.orders or None]):
            folder = context.folder / f"order{number}"
            folder.mkdir()
            one = once(dataclasses.replace(context, folder=folder, orders=1, options=[*context.options, *order]))
            if outcome is None:
                outcome = one
            outcome.seconds += one.seconds if number else 0
            outcome.hazards = sorted({*outcome.hazards, *one.hazards})
            if one.status not in (harness.RIGHT, harness.TOLD) or one.hazards:
                outcome.status = harness.TOLD if number else one.status
                if one.note:
                    outcome.note = f"{' '.join(order)}: {one.note}"
                    break
        return outcome
