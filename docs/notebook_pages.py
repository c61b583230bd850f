#!/usr/bin/env python3
"""The notebooks of docs/notebooks: executed, and made pages of the manual.

  docs/notebook_pages.py FOLDER [NAME...]   executes them, or those named, with this Python and writes
                                            FOLDER/NAME.ipynb with what each cell gave

A notebook stands in the repository without outputs. Its metadata say which packages it needs besides
tilescope (`"tilescope": {"needs": ["triton"]}`); one whose packages are not here is not executed, which
is said. A cell that raises ends it, and the script with 1.
"""
import importlib.util
import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "docs/notebooks"
# In the order of the manual.
ORDER = ["layouts", "triton", "cutedsl", "tirx"]
SECONDS = 600  # of one cell


def names():
    return [name for name in ORDER if (NOTEBOOKS / f"{name}.ipynb").exists()]


def missing(notebook):
    needs = notebook.get("metadata", {}).get("tilescope", {}).get("needs", [])
    return [name for name in needs if importlib.util.find_spec(name) is None]


def execute(name, folder):
    """Writes folder/NAME.ipynb; answers what went wrong, or nothing."""
    import nbformat
    from jupyter_client import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    # By files: ports that are free when they are chosen may be another's when the kernel takes them.
    with tempfile.TemporaryDirectory() as place:
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{place}/kernel")
        try:
            NotebookClient(notebook, timeout=SECONDS, km=kernel,
                           resources={"metadata": {"path": str(ROOT)}}).execute()
        except CellExecutionError as error:
            return str(error)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            tidy(output)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    return ""


def tidy(output):
    """Says of a cell's code that it is that, and not the file of this one execution that ipykernel calls it by."""
    texts = output.get("data", {})
    for holder, key in [(texts, kind) for kind in texts] + [(output, "text")] * ("text" in output):
        if isinstance(holder[key], str):
            holder[key] = re.sub(r"[^\s\"';&]*/ipykernel_\d+/\d+\.py", "cell", holder[key])


# ---- as pages --------------------------------------------------------------------------------------


def fenced(text, language):
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}\n"


def output_of(output, stem, folder):
    """One output of a cell as Markdown; pictures and timelines become files beside the page."""
    if output["output_type"] == "stream":
        return fenced("".join(output["text"]), "text")
    data = {kind: text if isinstance(text, str) else "".join(text) for kind, text in output.get("data", {}).items()}
    if "image/svg+xml" in data:
        (folder / f"{stem}.svg").write_text(data["image/svg+xml"])
        return f"![{data.get('text/plain', 'a picture').splitlines()[0]}]({stem}.svg)\n"
    if "text/html" in data:
        return data["text/html"] + "\n"
    return fenced(data["text/plain"], "text") if "text/plain" in data else ""


def page(name, notebook, folder):
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text + "\n")
            continue
        parts.append(fenced(text, "python"))
        outputs = cell.get("outputs", [])
        parts += [output_of(output, f"{name}_{len(parts)}_{n}", folder) for n, output in enumerate(outputs)]
    first, rest = parts[0].split("\n", 1)
    about = f"`docs/notebooks/{name}.ipynb`, to be opened in Jupyter from a clone.\n"
    return "\n".join([first + "\n", about, rest, *parts[1:]])


def write(manual, executed):
    """A page for each notebook in manual/notebooks, with outputs where `executed` has them; titles and names."""
    folder, out = manual / "notebooks", []
    folder.mkdir(exist_ok=True)
    for name in names():
        file = executed / f"{name}.ipynb"
        notebook = json.loads((file if file.exists() else NOTEBOOKS / f"{name}.ipynb").read_text())
        (folder / f"{name}.md").write_text(page(name, notebook, folder))
        title = re.match(r"# (.*)", "".join(notebook["cells"][0]["source"]))[1]
        out.append((title, name))
    return out


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, chosen = Path(sys.argv[1]), sys.argv[2:] or names()
    failed = 0
    for name in chosen:
        absent = missing(json.loads((NOTEBOOKS / f"{name}.ipynb").read_text()))
        if absent:
            print(f"{name}: not executed, without {', '.join(absent)}")
            continue
        wrong = execute(name, folder)
        print(f"{name}: {wrong or 'executed'}")
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
