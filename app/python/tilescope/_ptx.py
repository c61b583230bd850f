"""PTX of other compilers, made fit for reports: lines of the source, and kernels' names."""

import linecache
import re


def _plain(name):
    """A name of a file, in which LLVM writes bytes that are no ASCII as \\303."""
    written = name.encode("utf-8", "surrogateescape")
    return re.sub(rb"\\([0-3][0-7]{2})", lambda each: bytes([int(each[1], 8)]), written).decode("utf-8", "replace")


def with_plain_names(ptx):
    """PTX that names its files as they are called."""
    return re.sub(r'^(\s*\.file\s+\d+\s+")([^"]*)"', lambda each: f'{each[1]}{_plain(each[2])}"', ptx, flags=re.M)


def with_own_lines(ptx):
    """The names of files are plain. Inside inline assembly LLVM counts the source's line on with each line of PTX; all
    of it is of the one line that stands before. The PTX keeps its own lines."""
    ptx = with_plain_names(ptx)
    lines, inside = ptx.split("\n"), False
    for i, line in enumerate(lines):
        if "// begin inline asm" in line:
            inside = True
        elif "// end inline asm" in line:
            inside = False
        elif inside and line.lstrip().startswith(".loc"):
            lines[i] = ""
    return "\n".join(lines)


def with_short_names(ptx, prefix):
    """PTX whose kernels are called as the functions of the source are, and what each was called, as a dict.

    A compiler makes of `def add_kernel` the name `prefix + "add_kernel_" + types`: the functions are looked for in the
    files that the PTX names. One that is not found, or whose name is another's too, keeps the compiler's.
    """
    defined = set()
    for path in re.findall(r'^\s*\.file\s+\d+\s+"([^"]+)"', ptx, re.M):
        try:
            with open(path, encoding="utf-8", errors="replace") as source:
                text = source.read()
        except OSError:
            text = "".join(linecache.getlines(path))  # of a notebook's cell; "" on another machine
        defined.update(re.findall(r"^\s*def\s+(\w+)", text, re.M))
    long = re.findall(r"\.entry\s+([\w$]+)", ptx)
    short = {name: max((each for each in defined if name.startswith(f"{prefix}{each}_")), key=len, default=None)
             for name in long}
    taken = set(re.findall(r"[\w$]+", re.sub(r'"[^"]*"', "", ptx)))
    chosen = list(short.values())
    short = {name: each if each and chosen.count(each) == 1 and each not in taken else name
             for name, each in short.items()}
    for name in sorted(long, key=len, reverse=True):
        ptx = ptx.replace(name, short[name])
    return ptx, short
