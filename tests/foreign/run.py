"""`./dev foreign`: kernels of other compilers and libraries on the simulator, as a table.

Not in CI: it needs sources from elsewhere, compilers and much time. Each case compiles a kernel
without a GPU, runs it on generated inputs, compares with a result computed without it, and runs it
again in other orders. A suite is a file beside this one; harness.py says what a case is.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import importlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import harness
from harness import Context, Outcome

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NOT_SUITES = {"cpp", "harness", "host", "run"}

# What suites need in the environment that is made where none is given, besides NumPy, which all do. Those of
# CUDA C++ need nothing but nvcc, and flashinfer a CCCL newer than the toolkit's.
TORCH = "torch==2.15.0"
DSL = "nvidia-cutlass-dsl==4.8.1"
PACKAGES = {
    "cupy": ["cupy-cuda13x==14.2.0", TORCH], "cutedsl": [DSL, TORCH], "flash-attention cute": [DSL, TORCH],
    "flashinfer": ["nvidia-cuda-cccl==13.3.5.0.6"], "flashinfer cute": [DSL, TORCH], "halide": ["halide==21.0.0"],
    "iree": ["iree-base-compiler==3.13.0"], "mojo": ["max==26.7.0"], "numba": ["numba-cuda==0.30.4", TORCH],
    "tilelang": ["apache-tvm==0.27.0.post1", "tilelang==0.1.11", TORCH], "tinygrad": ["tinygrad==0.14.0", TORCH],
    "tirx": ["apache-tvm==0.27.0.post1", TORCH], "triton": ["triton==3.9.0", TORCH], "triton tutorials": ["triton==3.9.0", TORCH],
    "warp": ["warp-lang==1.19.0"],
}
NUMPY = "numpy==2.4.6"
ALL_PACKAGES = sorted({NUMPY, *(package for wanted in PACKAGES.values() for package in wanted)})


def suites() -> list:
    """The suites, in the order in which the table has them."""
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_SUITES)
    return [importlib.import_module(name) for name in names]


def environment(folder: pathlib.Path, suites_chosen: set[str]) -> pathlib.Path:
    """The Python of the environment in `folder`, which is made where it is missing, with what the suites need."""
    python = folder / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    wanted = [NUMPY, *{package: 0 for suite in sorted(suites_chosen) for package in PACKAGES.get(suite, [])}]
    there = installed(python)
    missing = [package for package in wanted if package.split("==")[0] not in there]
    if missing:
        print(f"Installing into {folder}: {', '.join(missing)}", file=sys.stderr)
        for package in missing:  # one at a time: one that is not to be had leaves the others
            if subprocess.run([str(python), "-m", "pip", "install", "-q", package]).returncode:
                print(f"{package} could not be installed: cases that need it are absent.", file=sys.stderr)
    return python


def installed(python: pathlib.Path) -> dict[str, str]:
    """Those of ALL_PACKAGES that a Python has, and their versions."""
    names = [package.split("==")[0] for package in ALL_PACKAGES]
    code = ("import importlib.metadata as m\nfor n in %r:\n try: print(n, m.version(n))\n"
            " except m.PackageNotFoundError: pass" % names)
    said = subprocess.run([str(python), "-c", code], capture_output=True, text=True).stdout
    return dict(line.split() for line in said.splitlines())


def run_case(case, context: Context) -> Outcome:
    shutil.rmtree(context.folder, ignore_errors=True)
    context.folder.mkdir(parents=True)
    try:
        return case.run(context)
    except harness.Absent as absent:
        return Outcome(harness.ABSENT, note=str(absent))
    except Exception as error:  # a mistake of the suite is a row of the table, not the end of it
        (context.folder / "suite.log").write_text(traceback.format_exc())
        return Outcome(harness.ABSENT, note=f"the suite failed: {type(error).__name__}: {error}")


def load(path: pathlib.Path) -> dict[str, dict]:
    return json.loads(path.read_text()) if path.exists() else {}


def version_of(tilescope: pathlib.Path) -> str:
    said = subprocess.run([str(tilescope), "--version"], capture_output=True, text=True).stdout.strip()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return f"{said}, commit {commit.stdout.strip()}"


def cell(text: str, most: int = 220) -> str:
    """Text for a table's cell: in one line, without paths of this machine, or names of CuTeDSL's length."""
    text = re.sub(r"\x1b\[[0-9;]*m|[^\x20-\x7e]+", " ", text)
    text = re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+([\w.+-]+)", r"\1", text)
    text = re.sub(r"\w{60,}", lambda name: name[0][:30] + "...", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = text if len(text) <= most else text[:most] + " ..."
    return text.replace("|", "\\|").replace("<", "&lt;").replace("_", "\\_").replace("*", "\\*").replace("[", "\\[")


def table(rows: dict[str, dict], order: list[tuple[str, str]]) -> str:
    """Markdown: a section for each suite, a row for each kernel."""
    out = []
    suite_now = None
    for suite, name in order:
        row = rows.get(f"{suite}/{name}")
        if row is None:
            continue
        if suite != suite_now:
            out += ["", f"### {suite}", "", "| kernel | outcome | seconds | hazards, or why |", "|---|---|---|---|"]
            suite_now = suite
        why = ", ".join(f"`{kind}`" for kind in row["hazards"])
        if row["note"]:
            why += (": " if why else "") + cell(row["note"])
        out.append(f"| {cell(name)} | {row['status']} | {row['seconds']:.1f} | {why} |")
    return "\n".join(out)


def write_page(page: pathlib.Path, rows: dict[str, dict], order, about: str) -> None:
    """Puts table and totals between the page's two marks; the rest is written by hand."""
    counts = {}
    for key in (f"{suite}/{name}" for suite, name in order):
        if key in rows:
            counts[rows[key]["status"]] = counts.get(rows[key]["status"], 0) + 1
    totals = ", ".join(f"{counts[s]} {s}" for s in
                       (harness.RIGHT, harness.TOLD, harness.LOADS, harness.REFUSED, harness.WRONG, harness.ABSENT) if s in counts)
    begin, end = "<!-- foreign -->", "<!-- end of foreign -->"
    text = page.read_text()
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    page.write_text(f"{before}{begin}\n{sum(counts.values())} kernels: {totals}. {about}\n"
                    f"{table(rows, order)}\n{end}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev foreign", description=__doc__.split("\n\n")[0])
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tilescope-foreign"
    parser.add_argument("--cache", type=pathlib.Path, default=cache, help="where packages of one suite go")
    parser.add_argument("filter", nargs="?", default="", help="a regular expression of suite/kernel")
    parser.add_argument("--sources", type=pathlib.Path, default=cache / "sources",
                        help="fetched sources; what is missing is cloned there")
    parser.add_argument("--no-fetch", action="store_true", help="clones nothing")
    parser.add_argument("--python", type=pathlib.Path,
                        help="a Python that has the packages (default: an environment that is made)")
    parser.add_argument("--tilescope", type=pathlib.Path, default=ROOT / "build/tilescope")
    parser.add_argument("--option", action="append", default=[], help="one more option of `tilescope run`")
    parser.add_argument("--work", type=pathlib.Path, help="keeps launches and logs there (default: a temporary folder)")
    parser.add_argument("--results", type=pathlib.Path, default=cache / "results.json",
                        help="outcomes of all runs so far, which the table is made of")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one kernel")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--first", action="store_true", help="only the default order")
    parser.add_argument("--list", action="store_true", help="only the names")
    parser.add_argument("--again", help="only those whose last outcome is one of these: wrong,refused")
    parser.add_argument("--write", action="store_true", help="writes the table into docs/manual/foreign.md")
    given = parser.parse_args()

    cases = [case for suite in suites() for case in suite.cases()]
    order = [(case.suite, case.name) for case in cases]
    results = load(given.results)
    chosen = [case for case in cases if re.search(given.filter, f"{case.suite}/{case.name}")]
    if given.again:
        wanted = given.again.split(",")
        chosen = [case for case in chosen if results.get(f"{case.suite}/{case.name}", {}).get("status") in wanted]
    if given.list:
        print("\n".join(f"{case.suite}/{case.name}" for case in chosen))
        return 0
    if not chosen and not given.write:
        print(f"No kernel's name has {given.filter!r}; `./dev foreign --list` has them all.", file=sys.stderr)
        return 2
    if not given.tilescope.exists():
        print(f"{given.tilescope} is not there: ./dev build, or --tilescope PATH.", file=sys.stderr)
        return 2
    python = (given.python or environment(cache / "python", {case.suite for case in chosen})).absolute()
    if python.is_dir():
        python = python / "bin/python"
    if pathlib.Path(sys.executable).parent != python.parent:  # the suites use its NumPy
        os.execv(python, [str(python), str(HERE / "run.py"), *sys.argv[1:]])
    work = (given.work or pathlib.Path(tempfile.mkdtemp(prefix="foreign-"))).absolute()

    def one(case):
        folder = work / case.suite / re.sub(r"[^A-Za-z0-9_.-]+", "_", case.name)
        context = Context(given.tilescope.absolute(), given.sources.absolute(), folder, python, given.cache.absolute(),
                          given.option, not given.no_fetch, 1 if given.first else 0, given.limit)
        return case, run_case(case, context)

    bad = 0
    given.results.parent.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for case, outcome in pool.map(one, chosen):
            key = f"{case.suite}/{case.name}"
            results = load(given.results)
            results[key] = {**vars(outcome), "date": datetime.date.today().isoformat()}
            given.results.write_text(json.dumps(results, indent=1))
            bad += outcome.status not in (harness.RIGHT, harness.TOLD, harness.LOADS)
            print(f"{outcome.status:8} {outcome.seconds:7.1f} s  {key}  {' '.join(outcome.hazards)} {outcome.note}"[:300],
                  flush=True)
    if given.write:
        about = (f"{datetime.date.today().isoformat()}, {version_of(given.tilescope)}; "
                 f"{', '.join(f'{name} {version}' for name, version in installed(python).items())}; {platform.machine()}, {os.cpu_count()} processors.")
        write_page(ROOT / "docs/manual/foreign.md", results, order, about)
    if not given.work:
        shutil.rmtree(work, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
