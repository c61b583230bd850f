"""A page for each lesson: its steps with the pictures that they set, terms, questions, hints.

Read from the lessons themselves (assets/lessons/NAME.md, whose form core/lesson/lesson.h tells) and
from `tilescope lesson NAME --json`, which has the numbers drawn. The pictures are what the window
shows, written by `export`.
"""
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = "900x600"
# Of a picture: up to so many pixels it is readable at the width of a phone; of a wider one this share is.
NARROW, READABLE = 640, 0.75


def run(program, words):
    return subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL)


def pictures(program, name, count, folder):
    """What each step shows, as folder/NAME_N.svg; answers what went wrong, or nothing."""
    words = ["gui", "--headless", "--size", SIZE]
    for step in range(1, count + 1):
        words += ["--do", f"lesson {name} {step}", "--do", f"export {folder}/{name}_{step}.svg"]
    done = run(program, words)
    missing = [s for s in range(1, count + 1) if not (folder / f"{name}_{s}.svg").exists()]
    return f"lesson {name}: no picture of steps {missing}: {done.stderr.strip()[-300:]}" if missing else ""


def drawn(program, each, file, folder, problem):
    """An expression of the step's text, as a picture of its own."""
    words = ["draw", each["picture"], "-o", str(folder / file)]
    done = run(program, words + (["--colour", each["colour"]] if "colour" in each else []))
    if done.returncode:
        problem(f"{file}: {done.stderr.strip()}")
    return picture(file, folder, each["picture"])


def block(each):
    if each["kind"] == "term":
        word, _, meaning = each["text"].partition(":")
        return f"\n**{word}**\n:   {meaning.strip()}\n"
    return f"- {each['text']}" if each["kind"] == "item" else f"\n{each['text']}\n"


def exercise(asked, name, number):
    out = [f'\n!!! question "{asked["form"][0].upper()}{asked["form"][1:]}"\n', f'    {asked["question"]}\n']
    out += [f"    - `{choice}`" for choice in asked.get("choices", [])]
    for place, hint in zip(("A hint", "More"), asked["hints"]):
        out.append(f'\n??? tip "{place}"\n\n    {hint}\n')
    out.append(f"\nAnswer it, with numbers of your own:\n\n```\ntilescope lesson {name} --step {number}\n```\n")
    return "\n".join(out)


# Once a page; what such a link can open is told in window.md.
LINKS = """!!! tip "Open it while you read"

    *Open this step* opens Tilescope's window at the step, with its view and its exercise. An installed
    package has registered these [links](../window.md#links); for a build of your own `./dev link` does
    that. The line beside each does the same from a terminal.
"""


def picture(file, folder, said="What the step shows"):
    """It leads to itself, alone, where it can be enlarged; narrow.css says how wide it is on a phone."""
    if not (folder / file).exists():
        return ""
    width = re.search(r'<svg[^>]* width="([\d.]+)"', (folder / file).read_text()[:1000])
    wide = width and float(width[1]) > NARROW
    size = f'{{ style="--readable: {float(width[1]) * READABLE:.0f}px" }}' if wide else ""
    shown = f"../pictures/lessons/{file}"
    return f"\n[![{said}]({shown}){size}]({shown}){{ .picture }}\n"


def page(program, lesson, above, below, exercises, folder, problem):
    name = lesson["name"]
    out = [f"# {lesson['title']}\n", f"{lesson['about'][0].upper()}{lesson['about'][1:]}.\n", LINKS]
    for number, step in enumerate(lesson["steps"], 1):
        out.append(f"\n## {step['title']}\n")
        blocks = [drawn(program, each, f"{name}_{number}_{i}.svg", folder, problem) if "picture" in each
                  else block(each) for i, each in enumerate(step["blocks"], 1)]
        out.append("\n".join(blocks))
        out.append(picture(f"{name}_{number}.svg", folder))
        out.append(f"[Open this step](tilescope://lesson/{name}/{number}){{ .md-button }}\n")
        out.append(f"```\ntilescope gui --do 'lesson {name} {number}'\n```\n")
        if "exercise" in step:
            out.append(exercise(step["exercise"], name, number))
    if exercises:
        out.append("\n## Write it yourself\n\n[The course](../course.md) has, each without its new part:\n")
        out += [f"- {each['title']}: [open the exercise](tilescope://course/{each['name']}), or "
                f"`tilescope course start {each['name']}`" for each in exercises]
    ends = [f"[Before: {above['title']}]({above['name']}.md)"] if above else []
    ends += [f"[Next: {below['title']}]({below['name']}.md)"] if below else []
    out.append("\n---\n\n" + " · ".join(ends) + "\n")
    # An empty line before a list, and none twice.
    text = re.sub(r"\n(?=- )(?<!\n\n)", "\n\n", "\n".join(out), count=0)
    text = re.sub(r"(?m)^(- .*)\n\n(?=- )", r"\1\n", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def write(program, folder, problem):
    """All pages, in folder/lessons, with their pictures; answers (title, name) in their order."""
    listed = json.loads(run(program, ["lesson", "--json"]).stdout)["lessons"]
    lessons = [json.loads(run(program, ["lesson", each["name"], "--json"]).stdout) for each in listed]
    course = json.loads(run(program, ["course", "--json"]).stdout)["exercises"]
    (folder / "lessons").mkdir()
    shown = folder / "pictures/lessons"
    shown.mkdir(parents=True)
    for i, lesson in enumerate(lessons):
        if text := pictures(program, lesson["name"], len(lesson["steps"]), shown):
            problem(text)
        text = page(program, lesson, lessons[i - 1] if i else None,
                    lessons[i + 1] if i + 1 < len(lessons) else None,
                    [each for each in course if each["lesson"] == lesson["name"]], shown, problem)
        (folder / "lessons" / f"{lesson['name']}.md").write_text(text)
    return [(lesson["title"], lesson["name"]) for lesson in lessons]
