#!/usr/bin/env python3
"""Builds the manual: docs/site.py [PROGRAM]; with --check only the links of the README files.

docs/manual is copied to build/site, and there
    <!-- kernel KIND -->    becomes the listing of docs/faults/KIND, and what PROGRAM says of it
    <!-- kinds -->          becomes the table of docs/faults/kinds.tsv
    <!-- museum -->         becomes the table and the stories of tests/museum
    <!-- include FILE -->   becomes a file of the repository without its title
    <!-- output LINE -->    becomes what a line of `tilescope ...` prints
    <!-- lessons -->        becomes the list of the lessons, which have a page each (lesson_pages.py)
MkDocs makes out/docs from it. Then every link and anchor of the built pages is followed, and a page
that would load anything from another site fails.
"""
import difflib
import html.parser
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import lesson_pages
import notebook_pages

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/manual"
FAULTS = ROOT / "docs/faults"
MUSEUM = ROOT / "tests/museum"
PICTURES = ROOT / "assets/pictures"
STAGE = ROOT / "build/site"
SITE = ROOT / "out/docs"
# Where `./dev docs` has executed them.
NOTEBOOKS = ROOT / "build/notebooks"
# What stands in the manual as a page of its own.
INCLUDED = {
    ROOT / "core/layout/README.md": "layout-reference.md",
    ROOT / "core/tensor/README.md": "tensor-reference.md",
    ROOT / "kernels/blackwell/README.md": "ladder.md",
    ROOT / "kernels/hopper/README.md": "hopper.md",
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)((?:\s+\"[^\n]*?\")?)\)")
REMOTE = re.compile(r"^[a-z]+:", re.I)

problems = []


def problem(text):
    problems.append(text)


# ---- the copy --------------------------------------------------------------------------------------


def run_program(program, words):
    done = subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    return done.returncode, (done.stdout + done.stderr).rstrip()


def fenced(text, language="", title=""):
    head = language + (f' title="{title}"' if title else "")
    return f"```{head}\n{text.rstrip()}\n```\n"


def indented(text):
    return "".join(f"    {line}\n" if line else "\n" for line in text.rstrip().split("\n"))


def kernel(kind, program):
    folder = FAULTS / kind
    broken, mended = ((folder / name).read_text() for name in ("broken.ptx", "mended.ptx"))
    change = "\n".join(list(difflib.unified_diff(broken.splitlines(), mended.splitlines(), lineterm="",
                                                 n=1))[2:])
    out = [fenced(broken, "ptx", f"docs/faults/{kind}/broken.ptx")]
    if program:
        words = ["run", f"docs/faults/{kind}/broken.ptx", "--launch", f"docs/faults/{kind}/launch.toml"]
        said = run_program(program, words)[1].split("\n")
        report = [line for line in said if not re.match(r"\S+ on sim: |\d+ PTX instructions", line)]
        out.append('!!! quote "What is told"\n\n' + indented(fenced("\n".join(report), "text")))
    out.append('??? success "Mended"\n\n' + indented(fenced(change, "diff")))
    out.append('??? abstract "launch.toml"\n\n' + indented(fenced((folder / "launch.toml").read_text(), "toml")))
    return "\n".join(out)


def kinds_table():
    where = {}
    for page in sorted((PAGES / "faults").glob("*.md")):
        for kind, headline in re.findall(r"^### (\w+)\n\n\*\*(.+?)\*\*", page.read_text(), re.M):
            where[kind] = (page.name, headline)
    rows = ["| kind | weight | means |", "|---|---|---|"]
    for line in (FAULTS / "kinds.tsv").read_text().splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) > 4:
            continue
        kind = fields[0]
        if kind not in where:
            problem(f"docs/faults/kinds.tsv: {kind} has no section in docs/manual/faults")
            continue
        page, headline = where[kind]
        rows.append(f"| [`{kind}`]({page}#{kind}) | {fields[1]} | {headline} |")
    return "\n".join(rows) + "\n"


def told_in(orders):
    """When it is told, of the orders that the test of the museum tries."""
    if orders == "all":
        return "in every order tried"
    names = ["as usual" if word == "default" else "`--lazy`" if word == "lazy" else f"`--schedule {word}`"
             for word in orders.split()]
    return "in some orders: " + ", ".join(names)


def museum(page):
    """A table of all, then each story with what was changed."""
    rows, stories = ["| bug | where it was | what tells it |", "|---|---|---|"], []
    for line in (MUSEUM / "museum.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, weight, told, orders = line.split("\t")
        folder = MUSEUM / name
        story = (folder / "story.md").read_text()
        title = re.match(r"# (.*)", story)[1]
        threads = re.findall(r"<(https://github\.com/([^/>]+/[^/>]+)/(?:issues|pull)/(\d+))>", story)
        where = ", ".join(f"[{repository} #{number}]({address})" for address, repository, number in threads)
        kinds = list(dict.fromkeys(place.partition("@")[0] for place in told.split()))
        tells = "nothing: missed" if weight == "missed" else ", ".join(f"`{kind}`" for kind in kinds)
        if weight not in ("missed", "hazard", "fault"):
            tells += f" ({weight})"
        if weight != "missed" and orders != "all":
            tells += " (" + told_in(orders) + ")"
        rows.append(f"| [{title}](#{anchor_of(title)}) | {where} | {tells} |")
        broken, mended = ((folder / side).read_text().splitlines() for side in ("broken.ptx", "mended.ptx"))
        change = "\n".join(list(difflib.unified_diff(broken, mended, lineterm="", n=3))[2:])
        stories.append(f"### {title}\n\n{included(folder / 'story.md', page)}\n"
                       f'??? success "tests/museum/{name}: what was changed"\n\n' + indented(fenced(change, "diff")))
    return "\n".join(rows) + "\n\n## Their stories\n\n" + "\n".join(stories)


def depth_of(page):
    return "../" * (len(page.relative_to(STAGE / "manual").parts) - 1)


def placed_link(match, source, page):
    """A link of a file of the repository, as the page has it: to a page, a picture, or no link."""
    mark, text, target, title = match.groups()
    if REMOTE.match(target) or target.startswith("#"):
        return match.group(0)
    path, _, anchor = target.partition("#")
    there = (source.parent / path).resolve()
    anchor = "#" + anchor if anchor else ""
    if not there.exists():
        problem(f"{source.relative_to(ROOT)}: there is no {target}")
        return match.group(0)
    if PICTURES in there.parents:
        return f"{mark}[{text}]({depth_of(page)}pictures/{there.relative_to(PICTURES)}{title})"
    if there in INCLUDED:
        return f"[{text}]({depth_of(page)}{INCLUDED[there]}{anchor})"
    if PAGES in there.parents:
        return f"[{text}]({os.path.relpath(STAGE / 'manual' / there.relative_to(PAGES), page.parent)}{anchor})"
    name = str(there.relative_to(ROOT))
    return f"{text} (`{name}`)" if text.strip("`") != name else f"`{name}`"


def outside_code(text, change):
    """Applies `change` to what is neither a fenced block nor code in a line."""
    parts = re.split(r"(^ *```.*?^ *```[^\n]*$|`[^`\n]+`)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def included(path, page):
    text = re.sub(r"\A# .*\n+", "", path.read_text())
    # A list or a table begins behind an empty line; a picture in a line of its own is a paragraph.
    text = re.sub(r"(?m)^(!\[.*\]\(.*\))$", r"\n\1\n", text)
    text = re.sub(r"(?m)^```\n(?=.*->)", "```text\n", text)
    return outside_code(text, lambda part: LINK.sub(lambda m: placed_link(m, path, page), part))


def expand(page, source, program):
    text = page.read_text()

    def output(match):
        words = shlex.split(match[1])
        if words[0] != "tilescope":
            problem(f"{source.relative_to(ROOT)}: {match[1]} is no line of tilescope")
        if not program:
            return "*`./dev docs` puts here what this prints.*\n"
        code, text = run_program(program, words[1:])
        if code not in (0, 1, 3):
            problem(f"{source.relative_to(ROOT)}: `{match[1]}` ends with {code}: {text}")
        return fenced(text, "text")

    text = outside_code(text, lambda part: LINK.sub(lambda m: placed_link(m, source, page), part))
    text = re.sub(r"^<!-- kernel (\w+) -->$", lambda m: kernel(m[1], program), text, flags=re.M)
    text = re.sub(r"^<!-- kinds -->$", lambda m: kinds_table(), text, flags=re.M)
    text = re.sub(r"^<!-- museum -->$", lambda m: museum(page), text, flags=re.M)
    # A word behind the language is for the tests of the page (tests/python/test_manual.py).
    text = re.sub(r"^```python [\w.]+$", "```python", text, flags=re.M)
    text = re.sub(r"^<!-- include (\S+) -->$", lambda m: included(ROOT / m[1], page), text, flags=re.M)
    text = re.sub(r"^<!-- output (.+) -->$", output, text, flags=re.M)
    page.write_text(text)


def stage(program):
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(PAGES, STAGE / "manual")
    shutil.copy(ROOT / "docs/mkdocs.yml", STAGE / "mkdocs.yml")
    shutil.copytree(PICTURES, STAGE / "manual/pictures")
    for page in sorted((STAGE / "manual").rglob("*.md")):
        expand(page, PAGES / page.relative_to(STAGE / "manual"), program)
    add_notebooks(notebook_pages.write(STAGE / "manual", NOTEBOOKS))
    if program:
        add_lessons(lesson_pages.write(program, STAGE / "manual", problem))


def add_to_navigation(here, group, folder, pages):
    """In place of the line `here`: `group`, and below it the pages, each with its title and name."""
    config = STAGE / "mkdocs.yml"
    text, line = config.read_text(), f"      - {here}\n"
    if line not in text:
        problem(f"docs/mkdocs.yml has no `{here}`")
    rows = "".join(f'          - "{title}": {folder}/{name}.md\n' for title, name in pages)
    config.write_text(text.replace(line, group + rows))


def add_notebooks(notebooks):
    """Behind the page on Python, in the navigation."""
    here = "Python: python.md"
    add_to_navigation(here, f"      - {here}\n      - Notebooks:\n", "notebooks", notebooks)


def add_lessons(lessons):
    """Behind the page on lessons, in the navigation; and there, as a list."""
    add_to_navigation("Lessons: lessons.md", "      - Lessons:\n          - About: lessons.md\n", "lessons", lessons)
    about = STAGE / "manual/lessons.md"
    links = "".join(f"{i}. [{title}](lessons/{name}.md)\n" for i, (title, name) in enumerate(lessons, 1))
    about.write_text(about.read_text().replace("<!-- lessons -->\n", links))


# ---- what was built --------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loads = path, set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        for name in ("id", "name"):
            if given.get(name):
                self.ids.add(given[name])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        for name in ("src", "href", "data", "poster"):
            if tag in ("link", "script", "img", "iframe", "source", "video", "object") and given.get(name):
                self.loads.append(given[name])


def check_site():
    pages = {path: Page(path) for path in sorted(SITE.rglob("*.html")) if path.name != "404.html"}
    for path, page in pages.items():
        name = path.relative_to(ROOT)
        for target in page.loads:
            if REMOTE.match(target) and not target.startswith("data:") or target.startswith("//"):
                problem(f"{name} loads {target} from elsewhere")
            elif not REMOTE.match(target) and not (path.parent / target.split("?")[0].split("#")[0]).exists():
                problem(f"{name} loads {target}, which is not there")
        for target in page.links:
            if REMOTE.match(target):
                continue
            file, _, anchor = target.partition("#")
            there = (path.parent / file).resolve() if file else path
            if there.is_dir():
                there = there / "index.html"
            if not there.exists():
                problem(f"{name} leads to {target}, which is not there")
            elif anchor and there in pages and anchor not in pages[there].ids:
                problem(f"{name} leads to {target}, and there is no such anchor")
    return len(pages)


# ---- README files ----------------------------------------------------------------------------------


def anchor_of(heading):
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda m: m[1] or "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def check_readmes():
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in ("core", "kernels", "viz", "app", "tests", "assets"):
        files += sorted((ROOT / folder).rglob("README.md"))
    for file in files:
        links = []
        outside_code(file.read_text(), lambda part: links.extend(LINK.findall(part)) or part)
        for _, _, target, _ in links:
            if REMOTE.match(target):
                continue
            path, _, anchor = target.partition("#")
            there = (file.parent / path).resolve() if path else file
            if not there.exists():
                problem(f"{file.relative_to(ROOT)}: there is no {target}")
            elif anchor and there.suffix == ".md":
                headings = re.findall(r"^#+ +(.*)$", there.read_text(), re.M)
                if anchor not in map(anchor_of, headings):
                    problem(f"{file.relative_to(ROOT)}: {target} has no such heading")
    return len(files)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    program = str(Path(arguments[0]).resolve()) if arguments else ""
    readmes = check_readmes()
    if "--check" not in sys.argv:
        stage(program)
        if not problems:
            done = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file",
                                   str(STAGE / "mkdocs.yml"), "--site-dir", str(SITE)])
            if done.returncode:
                problem("mkdocs build --strict failed")
            else:
                print(f"{check_site()} pages in {SITE.relative_to(ROOT)}")
    print(f"{readmes} README files looked through")
    for text in problems:
        print(text, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
