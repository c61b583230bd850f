"""The course in a terminal: `python -m tilescope.tirx_course [start STEP | check FILE [STEP] | hints STEP]`.

Exit code: 0 passed; 1 wrong elements, or too slow; 2 it does not compile, or cannot be done; 3 a fault or a hazard.
"""

import sys

from .. import _tilescope
from . import _said, STEPS, check, hints, start


def main(words):
    try:
        if not words:
            for step in STEPS:
                print(f"{step:<11}{_said(step)[0][''].partition(': ')[2]}")
            return 0
        if words[0] == "start" and len(words) in (2, 3):
            path = start(*words[1:])
            print(f"{path} is written. To have it judged: python -m tilescope.tirx_course check {path}")
            return 0
        if words[0] == "hints" and len(words) == 2:
            print("\n".join(f"{n}. {hint}" for n, hint in enumerate(hints(words[1]), 1)))
            return 0
        if words[0] == "check" and len(words) in (2, 3):
            verdict = check(*words[1:])
            print(verdict)
            return {"": 0, "different": 1, "slow": 1, "unbuilt": 2}.get(verdict.kind, 3)
    except (_tilescope.Error, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    print(__doc__.partition("\n")[0], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
