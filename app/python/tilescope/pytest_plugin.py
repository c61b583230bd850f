"""pytest's side: while a test that is marked runs, its launches are checked ones.

    @pytest.mark.tilescope(strict=True, schedules=10, suppressions="triton")
    def test_my_kernel(): ...

What `ts.launch`, `Module.launch` and `ts.run` are asked for in the test's own function is asked for with
`strict=`, `search=schedules` and the suppressions besides. A test without the mark is left alone.

A fault or hazard fails the test though the test catches it: `except Exception: pass` would hide it. Where it is what a
test is about, pytest.raises says so (or unittest's assertRaises).

The manual: docs/manual/python.md.
"""

import contextlib
import inspect
import os
import pathlib
import sys
import threading

import pytest

from . import _tilescope

WORDS = "strict=True, schedules=0, suppressions=None"


class Checks:
    """What a mark asks for. Raises pytest.UsageError, with a sentence, for what it cannot ask."""

    def __init__(self, strict=True, schedules=0, suppressions=None, *, folder):
        if not isinstance(strict, bool):
            raise pytest.UsageError(f"@pytest.mark.tilescope: strict={strict!r}; True or False is needed.")
        if isinstance(schedules, bool) or not isinstance(schedules, int) or not 0 <= schedules <= 1_000_000:
            raise pytest.UsageError(
                f"@pytest.mark.tilescope: schedules={schedules!r}; a number of orders from 0 to 1000000 is needed."
            )
        if suppressions is None:
            suppressions = []
        elif not isinstance(suppressions, (list, tuple)):
            suppressions = [suppressions]
        for each in suppressions:
            if not isinstance(each, (str, os.PathLike)) or not os.fspath(each):
                raise pytest.UsageError(
                    f"@pytest.mark.tilescope: suppressions={each!r}; the path of a .toml file, or the name of a "
                    "compiler that the package has rules for, or a list of these is needed."
                )
        self.strict = strict
        self.schedules = schedules
        self.suppressions = [beside(folder, each) for each in suppressions]

    def words(self, given):
        """The words of a launch with these checks; its own are kept where they ask for more."""
        words = dict(given)
        if self.strict:
            words["strict"] = True
        own = words.get("search")
        if self.schedules and (own is None or isinstance(own, int) and own < self.schedules):
            words["search"] = self.schedules
        if self.suppressions:
            own = words.get("suppressions") or []
            words["suppressions"] = [*self.suppressions, *(own if isinstance(own, (list, tuple)) else [own])]
        return words


def beside(folder, rules):
    """A path is relative to the test's file; a compiler's name stays what it is."""
    text = os.fspath(rules)
    return text if "." not in text and "/" not in text else str(folder / text)


def checks_of(item):
    """Of all marks of a test, the nearest first; None where it has none."""
    words, marked = {}, False
    for mark in reversed(list(item.iter_markers("tilescope"))):
        marked = True
        if mark.args:
            raise pytest.UsageError(f"@pytest.mark.tilescope takes words alone: tilescope({WORDS}).")
        for word, value in mark.kwargs.items():
            if word not in inspect.signature(Checks).parameters or word == "folder":
                raise pytest.UsageError(f"@pytest.mark.tilescope has no {word}=; it takes {WORDS}.")
            words[word] = value
    return Checks(**words, folder=pathlib.Path(item.path).parent) if marked else None


class Watch:
    """Does the launches of a test, and keeps what came of them."""

    def __init__(self, checks, runs):
        self.checks = checks
        self.runs = runs
        self.thread = threading.get_ident()
        self.raised = []  # faults and hazards, and whether another thread's

    def __call__(self, function, arguments, words):
        __tracebackhide__ = True  # a test fails where it launches
        if self.checks:
            words = self.checks.words(words)
        try:
            run = function(*arguments, **words)
        except _tilescope.Error as refused:
            if hasattr(refused, "run"):
                self.runs.append(refused.run)
                self.raised.append((refused, threading.get_ident() != self.thread))
            raise
        self.runs.append(run)
        return run

    def expected(self, error):
        """pytest.raises, or the like, has caught it, or one that came of it."""
        behind = list(behind_it(error))
        self.raised = [each for each in self.raised if not any(each[0] is other for other in behind)]

    def hidden(self):
        """What was raised and nobody expected, as a text; None."""
        if not self.raised:
            return None
        here = [str(error) for error, elsewhere in self.raised if not elsewhere]
        there = [str(error) for error, elsewhere in self.raised if elsewhere]
        parts = ["In another thread of the test:", *there] if there else []
        parts += ["Caught in the test, and no pytest.raises() expected it:", *here] if here else []
        return "\n".join(parts)


def behind_it(error, seen=None):
    """An exception and those that it came of; of a group, all in it."""
    seen = set() if seen is None else seen
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    for each in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        if isinstance(each, BaseException):
            yield from behind_it(each, seen)


def expecting():
    """The classes whose objects in a `with` expect an exception: of pytest, as old as it is, and of unittest."""
    places = (("_pytest.raises", "RaisesExc"), ("_pytest.raises", "RaisesGroup"), ("_pytest.python_api", "RaisesContext"),
              ("unittest.case", "_AssertRaisesContext"))
    return [vars(sys.modules[module])[name] for module, name in places if name in vars(sys.modules.get(module, object))]


@contextlib.contextmanager
def told_what_is_expected(watch):
    """While it is open, the watch hears of each exception that pytest.raises or the like catches."""
    before = [(each, each.__exit__) for each in expecting()]

    def telling(leave):
        def left(self, kind, error, *rest):
            __tracebackhide__ = True
            caught = leave(self, kind, error, *rest)
            if caught and error is not None:
                watch.expected(error)
            return caught

        return left

    for each, leave in before:
        each.__exit__ = telling(leave)
    try:
        yield
    finally:
        for each, leave in before:
            each.__exit__ = leave


RUNS = pytest.StashKey()


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        f"tilescope({WORDS}): launches on the simulator are checked: a hazard that no suppression names fails the "
        "test, and each launch is run in so many other orders.",
    )


@pytest.fixture
def tilescope_runs(request):
    """The Runs of this test's launches so far, in their order, those that raised as well."""
    yield request.node.stash.setdefault(RUNS, [])
    del request.node.stash[RUNS]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    try:
        checks = checks_of(item)
    except pytest.UsageError as refused:
        pytest.fail(str(refused), pytrace=False)
    if checks is None and RUNS not in item.stash:
        yield
        return
    watch = Watch(checks, item.stash.get(RUNS, []))
    before = _tilescope._watch(watch)
    try:
        with told_what_is_expected(watch):
            outcome = yield
    finally:
        _tilescope._watch(before)
    hidden = watch.hidden() if checks and outcome.excinfo is None else None
    watch.raised.clear()  # their tracebacks have the test's variables
    if hidden:
        outcome.force_exception(pytest.fail.Exception(hidden, pytrace=False))
