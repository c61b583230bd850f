"""`python -m tilescope`: the program, where the wheel carries it; else one that PATH has."""

import os
import pathlib
import shutil
import sys


def program():
    """The program's path; None where there is none."""
    beside = pathlib.Path(__file__).parent / "bin" / "tilescope"
    return str(beside) if beside.exists() else shutil.which("tilescope")


def main():
    path = program()
    if path is None:
        sys.exit(
            "tilescope: this package carries no program, and PATH has none. `import tilescope` has layouts, "
            "pictures and the simulator; `./dev build` in the repository makes the program."
        )
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
