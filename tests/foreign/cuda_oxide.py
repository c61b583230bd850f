"""cuda-oxide, which compiles Rust. Its kernels need its own compiler: a nightly of rustc with rustc-dev, and
packages from GitHub. Its repository has, as LLVM IR, one function for each instruction of its catalogue: LLVM
makes PTX of these, and what is asked is whether each is executed here."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import dataclass

import harness
from harness import Context, Outcome, Source

CUDA_OXIDE = Source("cuda-oxide", "https://github.com/NVlabs/cuda-oxide", "a105afd522b73a6712a802e30bd900cd04cc8019")
PACKAGES = ("oxide", "llvmlite==0.50.0")
CHIPS = ("sm_100a", "sm_120a", "sm_90a")

# LLVM ends the process where it cannot select an instruction: some files have none of a chip.
COMPILE = """
import sys, llvmlite.binding as llvm
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
chip, folder, files = sys.argv[1], sys.argv[2], sys.argv[3:]
machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu=chip, features="+ptx88", opt=2)
for file in files:
    text = machine.emit_assembly(llvm.parse_assembly(open(file).read()))
    open(f"{folder}/{file.rsplit('/', 1)[1][:-3]}.{chip}.ptx", "w").write(text)
"""


def caller(ptx: str) -> str:
    """An entry that calls the function of a PTX text."""
    found = re.search(r"\.visible \.func\s*(?:\(([^)]*)\))?\s*(\w+)\s*\(([^)]*)\)", ptx)
    result = (found[1] or "").strip()
    arguments = [one.strip() for one in found[3].split(",") if one.strip()]

    def name(declared: str) -> str:
        return declared.split()[-1].split("[")[0]

    lines = [*([result] if result else []), *arguments]
    call = (f"call.uni {f'({name(result)}), ' if result else ''}{found[2]}, "
            f"({', '.join(name(one) for one in arguments)})")
    return "\n.visible .entry probe() {\n" + "".join(f"  {line};\n" for line in [*lines, call, "ret"]) + "}\n"


@dataclass
class Intrinsics:
    name: str = "the instructions of its catalogue"
    suite: str = "cuda-oxide"

    def compiled(self, context: Context, files: list, chip: str) -> list:
        """The PTX of those that LLVM compiles for a chip."""
        place = harness.packages(context, PACKAGES[0], list(PACKAGES[1:]))
        made, left = [], list(files)
        while left:
            subprocess.run([str(context.python), "-c", COMPILE, chip, str(context.folder), *map(str, left)],
                           env={"PYTHONPATH": str(place)}, capture_output=True)
            while left and (ptx := context.folder / f"{left[0].stem}.{chip}.ptx").exists():
                made.append(ptx)
                left.pop(0)
            left = left[1:]  # where it ended
        return made

    def run(self, context: Context) -> Outcome:
        files = {file.stem: file for file in (CUDA_OXIDE.folder(context) / "intrinsics/probes").glob("*.ll")}
        left = {name: "LLVM does not compile it" for name in sorted(files)}
        start = time.monotonic()
        for chip in CHIPS:
            for ptx in self.compiled(context, [files[name] for name in left], chip):
                ptx.write_text(ptx.read_text() + caller(ptx.read_text()))
                checked = subprocess.run([str(context.tilescope), "check", ptx.name], cwd=context.folder,
                                         capture_output=True, text=True)
                name = ptx.stem.removesuffix(f".{chip}")
                if checked.returncode == 0:
                    del left[name]
                else:
                    left[name] = next((line.strip() for line in checked.stdout.splitlines() if "refused" in line),
                                      checked.stderr.strip())
        seconds = time.monotonic() - start
        if left:
            name, why = next(iter(left.items()))
            return Outcome(harness.REFUSED, seconds, [], f"{len(left)} of {len(files)}, the first is {name}: {why}")
        return Outcome(harness.LOADS, seconds, [], f"all {len(files)}")


def cases() -> list:
    return [Intrinsics()]
