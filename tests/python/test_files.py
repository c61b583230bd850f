"""ts.run() of a folder, a launch file, a PTX file: as `tilescope run F.ptx --launch F.toml`."""

import os
import pathlib
import re
import shutil

import numpy as np
import pytest
import tilescope as ts

HERE = pathlib.Path(__file__).parent
LAUNCH = """
entry = "add"
grid = [4]
block = [32]
[[buffer]]
name = "x"
dtype = "f32"
file = "x.npy"
{more}
[[arg]]
buffer = "x"
[[arg]]
f32 = 1.5
[[arg]]
u32 = 100
"""


@pytest.fixture
def folder(tmp_path):
    """As a capture has it: kernel.ptx, launch.toml and what memory held."""
    tmp_path = tmp_path / "0001-add"
    tmp_path.mkdir()
    shutil.copy(HERE / "add.ptx", tmp_path / "kernel.ptx")
    np.save(tmp_path / "x.npy", np.arange(100, dtype=np.float32))
    (tmp_path / "launch.toml").write_text(LAUNCH.format(more='out = "y.npy"'))
    return tmp_path


def test_a_folder_a_launch_file_and_a_ptx_file(folder, monkeypatch):
    ways = [
        lambda: ts.run(folder),
        lambda: ts.run(str(folder)),
        lambda: ts.run(folder / "launch.toml"),
        lambda: ts.run(folder / "launch.toml", ptx=HERE / "add.ptx"),
        lambda: ts.run(folder / "kernel.ptx", launch=folder / "launch.toml"),
    ]
    monkeypatch.chdir(folder)
    for way in [*ways, lambda: ts.run("launch.toml"), lambda: ts.run("./kernel.ptx", launch="launch.toml")]:
        run = way()
        assert list(run.outputs) == ["x"] and (run.outputs["x"] == np.arange(100) + 1.5).all()
        assert run.kernel == "add" and run.reports == [] and run.wrong is None and run.time > 0
    assert sorted(os.listdir(folder)) == ["kernel.ptx", "launch.toml", "x.npy"]  # outputs are arrays alone


def test_what_a_launch_file_expects(folder):
    (folder / "launch.toml").write_text(LAUNCH.format(more='expect = "want.npy"'))
    want = np.arange(100, dtype=np.float32) + 1.5
    np.save(folder / "want.npy", want)
    assert ts.run(folder).wrong == 0
    want[17] = 3
    np.save(folder / "want.npy", want)
    run = ts.run(folder)
    assert run.wrong == 1 and "(17)" in run.difference and "1 of 100 elements wrong" in repr(run)
    assert ts.run(folder, check=False).wrong is None
    os.remove(folder / "want.npy")
    with pytest.raises(ts.Error, match="want.npy"):
        ts.run(folder)


def test_words_of_a_run(folder):
    (folder / "launch.toml").write_text('device = "h200"' + LAUNCH.format(more=""))
    assert ts.run(folder).device == "NVIDIA H200"
    assert ts.run(folder, device="a100").device.startswith("NVIDIA A100")
    assert ts.run(folder, record=True).stats()["kernel"]
    assert ts.run(folder, search=3, strict=True).reports == []
    (folder / "launch.toml").write_text(LAUNCH.format(more="").replace('"add"', '"race"').replace("block = [32]", "block = [64]").split("[[arg]]\nf32")[0])
    assert [report.kind for report in ts.run(folder).reports] == ["global_race"]
    with pytest.raises(ts.Hazard, match="global_race"):
        ts.run(folder, strict=True)
    (folder / "launch.toml").write_text(LAUNCH.format(more="").replace("u32 = 100", "u32 = 120"))
    with pytest.raises(ts.Fault, match="buffer x") as raised:
        ts.run(folder)
    assert raised.value.run.outputs["x"].shape == (100,)


def test_which_files_are_meant(folder):
    shutil.move(folder / "kernel.ptx", folder / "mine.ptx")
    assert ts.run(folder).reports == []
    shutil.copy(folder / "mine.ptx", folder / "other.ptx")
    with pytest.raises(ts.Error, match="ptx= names one of mine.ptx, other.ptx"):
        ts.run(folder)
    assert ts.run(folder, ptx=folder / "mine.ptx").reports == []
    shutil.move(folder / "launch.toml", folder / "other.toml")
    assert ts.run(folder).reports == []
    shutil.copy(folder / "other.toml", folder / "more.toml")
    with pytest.raises(ts.Error, match="name one of more.toml, other.toml"):
        ts.run(folder)
    with pytest.raises(ts.Error, match="name one of 0001-add"):
        (folder / "launch.toml").write_text("")
        ts.run(folder.parent)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda f: ts.run(f / "absent"), "There is no"),
        (lambda f: ts.run(f / "absent.toml"), "There is no"),
        (lambda f: ts.run(f / "x.npy"), "is no launch file, F.toml, nor a folder with one"),
        (lambda f: ts.run(f / "kernel.ptx"), "needs a launch file that says grid"),
        (lambda f: ts.run(f / "kernel.ptx", ptx="b.ptx", launch="c.toml"), "one PTX is needed"),
        (lambda f: ts.run(f, launch="c.toml"), "goes with a .ptx file"),
        (lambda f: ts.run(f, m=3), "has no m=: sizes and inputs are the launch file's"),
        (lambda f: ts.run(f, device="a9000"), "no such chip"),
        (lambda f: ts.run(3), "."),
        (lambda f: ts.run("hgemm_v0815"), "hgemm_v0815"),
    ],
)
def test_runs_that_cannot_be(folder, call, sentence):
    with pytest.raises((ts.Error, TypeError), match=re.escape(sentence)):
        call(folder)
