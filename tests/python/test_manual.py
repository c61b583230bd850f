"""The manual's examples: docs/manual/python.md says what happens."""

import doctest
import importlib.util
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs/manual/python.md"


def test_examples_of_the_page(tmp_path, monkeypatch):
    for folder in ("tests", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names, examples = {}, 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for block in re.finditer(r"^```python(?: (\S+))?\n(.*?)^```", PAGE.read_text(), re.M | re.S):
        kind, text = block[1], block[2]
        if kind and kind.endswith(".py"):  # a file that a later example imports
            (tmp_path / kind).write_text(text)
            continue
        if kind and not importlib.util.find_spec(kind):  # what the example needs
            continue
        line = PAGE.read_text()[: block.start()].count("\n")
        test = doctest.DocTestParser().get_doctest(text, names, PAGE.name, str(PAGE), line)
        examples += len(test.examples)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0
    assert examples > 20
    assert (tmp_path / "a.svg").read_text().startswith("<svg") and (tmp_path / "tiles.png").exists()
