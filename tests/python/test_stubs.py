"""The stub's types: those that the examples' values have, and those that a type checker reads."""

import ast
import doctest
import importlib.util
import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import tilescope as ts
from tilescope import _tilescope

FOLDER = pathlib.Path(ts.__file__).parent
USAGE = pathlib.Path(__file__).parent / "typed_usage.py"
TREE = ast.parse((FOLDER / "_tilescope.pyi").read_text())
ALIASES = {"Shape": (int, ts.Int, tuple), "Any": (object,), "Answer": (object,)}


def classes_of(annotation):
    """The classes that an annotation allows, elements of lists aside."""
    if isinstance(annotation, ast.BinOp):
        return classes_of(annotation.left) + classes_of(annotation.right)
    if isinstance(annotation, ast.Subscript):
        return classes_of(annotation.value)
    if isinstance(annotation, ast.Constant):
        return (type(None),) if annotation.value is None else classes_of(ast.parse(annotation.value, mode="eval").body)
    builtin = {"int": int, "str": str, "dict": dict, "list": list, "tuple": tuple, "bytes": bytes, "bool": bool}
    return ALIASES.get(annotation.id) or (builtin.get(annotation.id) or getattr(_tilescope, annotation.id),)


def returned():
    """By function: what all its signatures may answer."""
    out = {}
    for node in TREE.body:
        if isinstance(node, ast.FunctionDef):
            out.setdefault(node.name, []).extend(classes_of(node.returns))
    return out


def test_examples_answer_what_the_stub_says():
    types, seen = returned(), set()
    for name in ts.__all__:
        function = getattr(ts, name)
        if inspect.isclass(function) or name in ("eval", "launch", "run", "compile"):
            continue
        names = {"ts": ts}
        for example in doctest.DocTestParser().get_examples(function.__doc__):
            try:
                code = compile(example.source, name, "eval")
            except SyntaxError:
                exec(example.source, names)
                continue
            value = eval(code, names) if example.exc_msg is None else None
            if example.source.startswith(f"ts.{name}(") and example.exc_msg is None and example.source.count("ts.") > 0:
                if example.source.rstrip().endswith(")"):  # the function's own value
                    assert isinstance(value, tuple(types[name])), (name, type(value))
                    seen.add(name)
    assert len(seen) > 90


def test_every_function_of_the_language_says_what_it_answers():
    assert {name for name, classes in returned().items() if object in classes} <= {"eval"}


def checked(*command):
    environment = dict(os.environ)
    if FOLDER.parent.name != "site-packages":  # where a type checker looks by itself
        environment["MYPYPATH"] = str(FOLDER.parent)
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=USAGE.parent)


def test_mypy_reads_it(tmp_path):
    if not importlib.util.find_spec("mypy"):
        pytest.skip("mypy is not installed")
    words = ["--strict", "--warn-unused-ignores", "--cache-dir", str(tmp_path)]
    ran = checked(sys.executable, "-m", "mypy", *words, USAGE.name)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_mypy_finds_nothing_wrong_in_the_stub(tmp_path):
    if not importlib.util.find_spec("mypy"):
        pytest.skip("mypy is not installed")
    copy = shutil.copy(FOLDER / "_tilescope.pyi", tmp_path)  # of what is installed it checks nothing
    ran = checked(sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), copy)
    assert ran.returncode == 0, ran.stdout + ran.stderr
