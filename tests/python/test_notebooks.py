"""The notebooks of docs/notebooks: their form, and that those execute whose packages are here."""

import json
import pathlib
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import notebook_pages  # noqa: E402

NAMES = sorted(file.stem for file in (DOCS / "notebooks").glob("*.ipynb"))


def read(name):
    return json.loads((DOCS / f"notebooks/{name}.ipynb").read_text())


def test_all_have_a_place_in_the_manual():
    assert sorted(notebook_pages.names()) == NAMES and "layouts" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_stands_in_the_repository_without_outputs(name):
    cells = read(name)["cells"]
    assert "".join(cells[0]["source"]).startswith("# ")
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("name", NAMES)
def test_executes(name, tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    absent = notebook_pages.missing(read(name))
    if absent:
        pytest.skip(f"without {', '.join(absent)}")
    assert notebook_pages.execute(name, tmp_path) == ""
    manual = tmp_path / "manual"
    manual.mkdir()
    pages = dict((each, title) for title, each in notebook_pages.write(manual, tmp_path))
    assert name in pages
    text = (manual / f"notebooks/{name}.md").read_text()
    shown = [line for line in text.splitlines() if line.startswith("![")]
    assert all((manual / "notebooks" / line.split("](")[1].rstrip(")")).stat().st_size > 500 for line in shown)
    if name == "layouts":
        assert len(shown) >= 8 and "({1}, {8})" in text


def test_a_cell_that_raises_is_told(tmp_path, monkeypatch):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = read("layouts")
    notebook["cells"] = [notebook["cells"][0], dict(notebook["cells"][1], source=["raise ValueError('so it is')"])]
    (tmp_path / "one.ipynb").write_text(json.dumps(notebook))
    monkeypatch.setattr(notebook_pages, "NOTEBOOKS", tmp_path)
    assert "so it is" in notebook_pages.execute("one", tmp_path / "out")
    assert not (tmp_path / "out/one.ipynb").exists()
