"""The pytest plugin, as a user has it: pytest runs a file of tests in a process of its own."""

import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tilescope as ts

ROOT = pathlib.Path(__file__).parents[2]
HEAD = f"""
import pathlib, threading
import numpy as np
import pytest
import tilescope as ts
MODULE = ts.Module({str(pathlib.Path(__file__).parent / "add.ptx")!r})
def race():
    x = np.zeros(1, np.uint32)
    MODULE.launch(1, 64, [x], entry="race")
    return x
"""
# Which block comes last stores its number. No report: atomics race with nobody, but the result depends on the order.
LAST = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry last(.param .u64 x) {
  .reg .b64 %a; .reg .b32 %b, %old;
  ld.param.u64 %a, [x];
  mov.u32 %b, %tid.x;
  shr.u32 %b, %b, 5;
  atom.global.exch.b32 %old, [%a], %b;
  ret;
}
"""
INSTALLED = any(each.value == "tilescope.pytest_plugin" for each in importlib.metadata.entry_points(group="pytest11"))


@pytest.fixture
def outcome(tmp_path):
    """Runs these tests; answers what pytest said, and ends with (passed, failed)."""

    def run(text, *words):
        (tmp_path / "test_it.py").write_text(HEAD + text)
        plugin = [] if INSTALLED else ["-p", "tilescope.pytest_plugin"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *words, "test_it.py"]
        # Where CI says so, pytest repeats each message in its summary.
        own = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=own)
        said = ended.stdout + ended.stderr
        counts = [re.search(rf"(\d+) {word}", said.splitlines()[-1]) for word in ("passed", "failed")]
        return said, tuple(int(count[1]) if count else 0 for count in counts)

    return run


def test_a_hazard_fails_only_a_marked_test(outcome):
    said, counts = outcome("""
def test_unmarked():
    race()
@pytest.mark.tilescope
def test_marked():
    race()
@pytest.mark.tilescope(strict=False)
def test_lenient():
    race()
@pytest.mark.tilescope
def test_expected():
    with pytest.raises(ts.Hazard, match="global_race"):
        race()
@pytest.mark.tilescope
def test_right():
    x = np.zeros(100, np.float32)
    ts.launch(MODULE, 4, 32, [x, 1.5, 100], entry="add")
    assert ts.run("elementwise_add", m=8, n=32).wrong == 0 and (x == 1.5).all()
def test_behind_it():
    race()
""", "--strict-markers")
    assert counts == (5, 1), said
    assert "FAILED test_it.py::test_marked" in said and "hazard (global_race)" in said and "PTX line 35" in said


def test_a_fault_fails_with_its_report(outcome):
    said, counts = outcome("""
@pytest.mark.tilescope
def test_short():
    MODULE.launch(4, 32, [np.zeros(50, np.float32), 1.5, 100], entry="add")
""")
    assert counts == (0, 1) and "fault (out_of_bounds)" in said, said


def test_other_schedules_begin_with_the_same_inputs(outcome):
    said, counts = outcome("""
@pytest.mark.tilescope(schedules=5)
def test_in_place():
    x = np.arange(100, dtype=np.float32)
    MODULE.launch(4, 32, [x, 1.5, 100], entry="add")
    assert (x == np.arange(100) + 1.5).all()
@pytest.mark.tilescope(schedules=5)
def test_variables_of_the_module():
    module, x = ts.Module(MODULE_TEXT), np.zeros(1, np.uint32)
    for n in (1, 2, 3):
        module.launch(1, 1, [x], entry="count")
        assert x[0] == n
@pytest.mark.tilescope(schedules=3)
def test_of_the_catalog():
    assert ts.run("hgemm_v3", m=128, n=128, k=64).wrong == 0
""".replace("MODULE_TEXT", repr(str(pathlib.Path(__file__).parent / "add.ptx"))))
    assert counts == (3, 0), said


def test_another_result_names_the_schedule(outcome):
    said, counts = outcome(f"""
LAST = {LAST!r}
def test_unmarked():
    ts.launch(LAST, 1, 256, [np.zeros(1, np.uint32)])
@pytest.mark.tilescope(schedules=10)
def test_marked():
    ts.launch(LAST, 1, 256, [np.zeros(1, np.uint32)])
""")
    assert counts == (1, 1), said
    found = re.search(r'Hazard: in another order, schedule="(\d+)" .\d+ of 10., the result is another one: (.*)', said)
    assert found, said
    assert re.match(r"of argument 0 .uint32 .1,.., 1 of 1 elements differ, the first at .0.: \d here, and \d in the first", found[2])
    x, y = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    ts.launch(LAST, 1, 256, [x])
    ts.launch(LAST, 1, 256, [y], schedule=found[1])
    assert x[0] != y[0]


def test_search_keeps_what_the_first_order_left():
    x, y = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    ts.launch(LAST, 1, 256, [x])
    with pytest.raises(ts.Hazard, match="in another order") as raised:
        ts.launch(LAST, 1, 256, [y], search=10)
    assert x[0] == y[0] and raised.value.run.kernel == "last"
    for wrong in (-1, "x", 2**40):
        with pytest.raises(ts.Error, match="."):
            ts.launch(LAST, 1, 256, [y], search=wrong)


def test_suppressions_are_beside_the_test_or_the_packages(outcome, tmp_path):
    (tmp_path / "known.toml").write_text('[[suppress]]\nkind = "global_race"\nreason = "all store what is right"\n')
    said, counts = outcome("""
@pytest.mark.tilescope(suppressions="known.toml")
def test_known():
    race()
@pytest.mark.tilescope(suppressions=["triton", pathlib.Path("known.toml")])
def test_both():
    race()
@pytest.mark.tilescope(suppressions="triton")
def test_not_known():
    race()
""", "--rootdir=/")
    assert counts == (2, 1) and "FAILED" in said and "test_not_known" in said, said


def test_a_compilers_rules_silence_its_hazard():
    broken = ROOT / "docs/faults/tcgen05_fence"
    sizes = dict(grid=1, block=160)
    text = (broken / "launch.toml").read_text()
    assert "grid = [1]" in text and "block = [160]" in text
    out = [np.zeros(1 << 16, np.uint8)] * len(ts.Module(broken / "broken.ptx").parameters())
    with pytest.raises(ts.Hazard, match="tcgen05_fence"):
        ts.launch(broken / "broken.ptx", args=out, strict=True, **sizes)
    for compiler in ("triton", "cutedsl"):
        run = ts.launch(broken / "broken.ptx", args=out, strict=True, suppressions=compiler, **sizes)
        assert run.hazards == []
    with pytest.raises(ts.Error, match="the package has rules for cutedsl, tirx, triton"):
        ts.launch(broken / "broken.ptx", args=out, suppressions="nobody", **sizes)


def test_the_fixture_has_the_runs(outcome):
    said, counts = outcome("""
def test_without_a_mark(tilescope_runs):
    race()
    ts.run("elementwise_add", m=8, n=32)
    assert [run.kernel for run in tilescope_runs] == ["race", "elementwise_add"]
    assert [report.kind for report in tilescope_runs[0].hazards] == ["global_race"]
@pytest.mark.tilescope
def test_raised(tilescope_runs):
    with pytest.raises(ts.Hazard):
        race()
    assert len(tilescope_runs) == 1 and tilescope_runs[0].hazards
def test_empty(tilescope_runs):
    assert tilescope_runs == []
""")
    assert counts == (3, 0), said


def test_marks_of_a_class_and_its_methods(outcome):
    said, counts = outcome("""
@pytest.mark.tilescope(schedules=2)
class TestAll:
    def test_strict(self):
        race()
    @pytest.mark.tilescope(strict=False, schedules=0)
    def test_lenient(self):
        race()
""")
    assert counts == (1, 1) and "FAILED test_it.py::TestAll::test_strict" in said, said


def test_another_threads_hazard_fails_the_test(outcome):
    said, counts = outcome("""
@pytest.mark.tilescope
@pytest.mark.filterwarnings("ignore")
def test_thread():
    thread = threading.Thread(target=race)
    thread.start()
    thread.join()
""")
    assert counts == (0, 1) and "In another thread of the test" in said and "global_race" in said, said


def test_a_hazard_that_the_test_catches_fails_it(outcome):
    said, counts = outcome("""
import contextlib
@pytest.mark.tilescope
def test_bare():
    try:
        race()
    except Exception:
        pass
@pytest.mark.tilescope
def test_by_name():
    try:
        race()
    except ts.Hazard as hazard:
        assert "global_race" in str(hazard)
@pytest.mark.tilescope(strict=False)
def test_a_fault():
    with contextlib.suppress(ts.Fault):
        MODULE.launch(4, 32, [np.zeros(50, np.float32), 1.5, 100], entry="add")
@pytest.mark.tilescope
def test_expected_once():
    with pytest.raises(ts.Hazard):
        race()
    try:
        race()
    except ts.Hazard:
        pass
def test_unmarked():
    with contextlib.suppress(ts.Error):
        ts.launch(MODULE, 1, 64, [np.zeros(1, np.uint32)], entry="race", strict=True)
@pytest.mark.tilescope
def test_refused():
    with contextlib.suppress(ts.Error):
        MODULE.launch(1, 64, [], entry="race")
""")
    assert counts == (2, 4), said
    assert said.count("Caught in the test, and no pytest.raises() expected it:") == 4 and said.count("hazard (global_race)") >= 3


def test_what_expects_a_hazard(outcome):
    said, counts = outcome("""
import concurrent.futures, unittest
@pytest.mark.tilescope
def test_called():
    pytest.raises(ts.Hazard, race)
@pytest.mark.tilescope
def test_of_its_own():
    with pytest.raises(RuntimeError, match="mine"):
        try:
            race()
        except ts.Hazard as hazard:
            raise RuntimeError("mine") from hazard
@pytest.mark.tilescope
def test_of_a_thread():
    with concurrent.futures.ThreadPoolExecutor() as pool, pytest.raises(ts.Hazard):
        pool.submit(race).result()
@pytest.mark.tilescope
class TestCase(unittest.TestCase):
    def test_unittest(self):
        with self.assertRaises(ts.Hazard):
            race()
@pytest.mark.tilescope
@pytest.mark.xfail(raises=ts.Hazard, strict=True)
def test_expected_to_fail():
    race()
def test_behind_it():
    with pytest.raises(ts.Hazard):
        ts.launch(MODULE, 1, 64, [np.zeros(1, np.uint32)], entry="race", strict=True)
""")
    assert counts == (5, 0) and "1 xfailed" in said, said


@pytest.mark.parametrize("mark, sentence", [
    ("schedules=-1", "a number of orders from 0 to 1000000 is needed"),
    ("schedules='x'", "a number of orders"),
    ("strict=1", "True or False is needed"),
    ("suppressions=3", "the path of a .toml file"),
    ("suppressions='absent.toml'", "absent.toml"),
    ("nothing=3", "has no nothing=; it takes strict=True, schedules=0, suppressions=None"),
    ("3", "takes words alone"),
])
def test_wrong_marks(outcome, mark, sentence):
    said, counts = outcome(f"""
@pytest.mark.tilescope({mark})
def test_it():
    MODULE.launch(4, 32, [np.zeros(100, np.float32), 1.5, 100], entry="add")
""")
    assert counts == (0, 1) and sentence in said, said


def test_the_manuals_example(outcome, tmp_path):
    block = re.search(r"^```py\n(@.*?)^```", (ROOT / "docs/manual/python.md").read_text(), re.M | re.S)[1]
    (tmp_path / "add.ptx").symlink_to(pathlib.Path(__file__).parent / "add.ptx")
    said, counts = outcome(block)
    assert counts == (1, 0), said
