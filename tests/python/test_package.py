"""What is installed: stubs, the time of an import, the program's door."""

import ast
import os
import pathlib
import subprocess
import sys

import tilescope as ts

FOLDER = pathlib.Path(ts.__file__).parent


def test_the_stub_has_every_name():
    tree = ast.parse((FOLDER / "_tilescope.pyi").read_text())
    named = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(ts.__all__) <= named
    assert (FOLDER / "py.typed").exists()


def test_import_is_quick_and_needs_no_numpy():
    code = (
        "import sys, time; t = time.perf_counter(); import tilescope; t = time.perf_counter() - t; "
        "print(t, 'numpy' in sys.modules)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() for _ in range(3)]
    assert min(float(seconds) for seconds, _ in runs) < 0.1
    assert {numpy for _, numpy in runs} == {"False"}


def program(tmp_path, *words):
    environment = dict(os.environ, PATH=str(tmp_path))
    return subprocess.run([sys.executable, "-m", "tilescope", *words], capture_output=True, text=True, env=environment)


def test_the_program_is_found(tmp_path):
    if (FOLDER / "bin/tilescope").exists():
        assert program(tmp_path, "eval", "size((4,8):(8,1))").stdout == "32\n"
        return
    nothing = program(tmp_path)
    assert nothing.returncode == 1 and "carries no program" in nothing.stderr
    (tmp_path / "tilescope").write_text("#!/bin/sh\necho it is $1\n")
    (tmp_path / "tilescope").chmod(0o755)
    assert program(tmp_path, "here").stdout == "it is here\n"
