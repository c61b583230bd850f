"""Writes cutedsl.tsv: what CuTeDSL's own compiler prints for the kernels below, pass by pass. No GPU is needed.

    CUTE_DSL_ARCH=sm_100a CUTE_DSL_DISABLE_FILE_CACHING=1 python cutedsl_rows.py > cutedsl.tsv     (nvidia-cutlass-dsl)

A row is: case, what of it, text. `expression` is the same kernel in Tilescope's language. Of arithmetic the rows have
the expression that an address is computed by: add(mul(rem(tid,32),4),...), with ?N for the N-th unknown number that
get_scalars takes out of the layout, and [1,1,0] for what extractvalue takes out of LLVM's struct.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys

# CuTeDSL keeps the classes it calls when it is imported: the pass manager is replaced before.
import cutlass._mlir.passmanager as passmanager

Whole = passmanager.PassManager
stages: dict[str, str] = {}  # pass -> module after it


def passes(pipeline: str) -> list[str]:
    out, depth, current = [], 0, ""
    for c in pipeline:
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            out.append(current)
            current = ""
        else:
            current += c
    return [*out, current]


class ByPass:
    """Runs a pipeline pass by pass, as far as its passes can be run alone, and keeps the module after each."""

    def __init__(self, pipeline: str) -> None:
        self.pipeline = pipeline

    @staticmethod
    def parse(pipeline: str) -> ByPass:
        return ByPass(pipeline)

    def enable_verifier(self, _: bool) -> None:
        pass

    def run(self, module) -> None:
        stages.clear()
        for one in passes(str(Whole.parse(self.pipeline))[len("builtin.module("):-1]):
            one = re.sub(r"[a-z-]+=(?=[ }])", "", one)  # options without a value
            try:
                Whole.parse(f"builtin.module({one})").run(module)
            except Exception as error:
                if "does not refer to a registered pass" not in str(error):
                    raise
            stages[re.split(r"[({]", one)[0]] = str(module)


passmanager.PassManager = ByPass

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass.cute import sym_int  # noqa: E402
from cutlass.cute.runtime import make_fake_tensor  # noqa: E402

F32, F16 = cutlass.Float32, cutlass.Float16


def filled(coordinate, x, y):
    if isinstance(coordinate, tuple):
        return tuple(filled(c, x, y) for c in coordinate)
    return {"x": x, "y": y}.get(coordinate, coordinate)


@cute.kernel
def kernel(g: cute.Tensor, out: cute.Tensor, tv: cute.Layout, tiler: cute.Shape, coordinate: cutlass.Constexpr,
           bits: cutlass.Constexpr, destination: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    x, y, _ = cute.arch.block_idx()
    tile = g[filled(coordinate, x, y)] if cutlass.const_expr(coordinate is not None) else g
    if cutlass.const_expr(bits is None):
        atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), g.element_type)
    else:
        atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), g.element_type, num_bits_per_copy=bits)
    mine = cute.make_tiled_copy(atom, tv, tiler).get_slice(thread)
    part = mine.partition_D(tile) if cutlass.const_expr(destination) else mine.partition_S(tile)
    if cutlass.const_expr(cute.is_static(part.shape)):
        fragment = cute.make_fragment_like(part)
        cute.copy(atom, part, fragment)
        out[thread] = fragment[0]
    else:
        out[thread] = part[0]


class Case:
    def __init__(self, shape, stride, threads, values, coordinate=((None, None), "x"), *, element=F32, align=16, bits=None,
                 divides=True, more=(), destination=False):
        self.__dict__.update(locals())

    def compile(self) -> None:
        def host():
            @cute.jit
            def go(m: cute.Tensor, out: cute.Tensor):
                tiler, tv = cute.make_layout_tv(cute.make_layout(self.threads[0], stride=self.threads[1]),
                                                cute.make_layout(self.values[0], stride=self.values[1]))
                g = cute.zipped_divide(m, (*tiler, *self.more)) if cutlass.const_expr(self.divides) else m
                kernel(g, out, tv, tiler, self.coordinate, self.bits, self.destination).launch(grid=[4, 1, 1],
                                                                                              block=[128, 1, 1])
            return go

        def numbers(leaves):
            return tuple(sym_int() if n == "?" else sym_int(divisibility=int(n[1:])) if isinstance(n, str) else n
                         for n in leaves)

        cute.compile(host(), make_fake_tensor(self.element, numbers(self.shape), numbers(self.stride),
                                              assumed_align=self.align), make_fake_tensor(self.element, (128,), (1,)))

    def expression(self) -> str:
        def text(t):
            if isinstance(t, tuple):
                return "(" + ",".join(text(x) for x in t) + ")"
            if t is None:
                return "_"
            if t in ("x", "y", "?"):
                return "?"
            return f"?{{div={t[1:]}}}" if isinstance(t, str) else str(t)

        def pair(p):
            return f"{text(p[0])}:{text(p[1])}"

        name = "f32" if self.element is F32 else "f16"
        atom = f"UniversalCopy<u{self.bits},{name}>" if self.bits else f"UniversalCopy<{name}>"
        layout = f"{text(self.shape)}:{text(self.stride)}"
        if self.divides:
            tile = [int(n) for n in re.findall(r"(\d+):1", self.tiler)] + list(self.more)
            layout = f"zipped_divide({layout}, <{','.join(map(str, tile))}>)"
        tensor = f"gmem<{name}> o {layout}"
        if self.coordinate is not None:
            tensor = f"slice({text(self.coordinate)}, {tensor})"
        side = "D" if self.destination else "S"
        return f"partition_{side}(make_tiled_copy({atom}, {pair(self.threads)}, {pair(self.values)}), ?, {tensor})"


T, V = ((4, 32), (32, 1)), ((4, 4), (4, 1))
CASES = {
    "notes": Case("??", ("?", 1), T, V),
    "all known": Case((256, 512), (512, 1), T, V),
    "columns": Case("??", (1, "?"), T, V),
    "multiples of 8": Case(("?", "/8"), ("/8", 1), T, V),
    "both strides unknown": Case("??", "??", T, V, align=4),
    "f16, 16 bytes": Case("??", ("/8", 1), ((16, 8), (8, 1)), ((2, 8), (8, 1)), element=F16, bits=128),
    "threads down columns": Case("??", ("?", 1), ((16, 8), (1, 16)), ((2, 4), (4, 1))),
    "columns, 16 bytes": Case("??", (1, "/4"), ((32, 4), (1, 32)), ((4, 2), (1, 4)), bits=128),
    "nested threads": Case("??", ("?", 1), (((4, 2), (4, 4)), ((1, 16), (4, 32))), V),
    "two block numbers": Case("??", ("?", 1), T, V, ((None, None), ("x", "y"))),
    "a known row of tiles": Case("??", ("?", 1), T, V, ((None, None), (3, "x"))),
    "not divided": Case("??", ("?", 1), T, V, None, divides=False),
    "shape known": Case((256, 512), ("?", 1), T, V),
    "strides known": Case(("?", 512), (512, 1), T, V),
    "a batch": Case("???", ("?", 1, "?"), T, V, ((None, None, 0), ("x", "y", 3)), more=(1,)),
    "a row of tiles kept": Case("??", ("?", 1), T, V, ((None, None), (None, "x"))),
    "a broadcast": Case("??", (0, "?"), T, V, align=4),
    "one row of threads": Case("??", ("?", 1), ((1, 128), (128, 1)), ((4, 1), (1, 1))),
    "destination": Case("??", ("?", 1), T, V, destination=True),
    "f16, align 8": Case("??", ("/4", 1), ((8, 16), (16, 1)), ((4, 4), (4, 1)), element=F16, bits=64, align=8),
}
for case in CASES.values():
    case.shape = tuple(case.shape)
    case.stride = tuple(case.stride)


def kernel_of(stage: str) -> tuple[dict[str, str], str, list[str]]:
    lines = stage.split("\n")
    names = dict(m.groups() for line in lines if (m := re.match(r"(!\w+) = (.*)$", line)))
    at = next(i for i, line in enumerate(lines) if re.search(r"(cuda\.kernel|llvm\.func) @kernel_cutlass", line))
    end = next(i for i in range(at, len(lines)) if "return" in lines[i])
    return names, lines[at], lines[at + 1:end]


SHORT = {"arith.muli": "mul", "arith.addi": "add", "arith.divsi": "div", "arith.remsi": "rem", "llvm.mul": "mul",
         "llvm.add": "add", "llvm.sdiv": "div", "llvm.srem": "rem"}


class Values:
    def __init__(self, lines: list[str]) -> None:
        self.of = {}
        for line in lines:
            if m := re.match(r"\s*((?:%[\w#:]+(?:, )?)+) = ([\w.]+)(.*)$", line):
                for name in m[1].split(", "):
                    self.of[name.split(":")[0]] = (m[2], m[3])

    def expression(self, name: str) -> str:
        op, rest = self.of[name.split("#")[0]]
        operands = re.findall(r"%[\w#]+", rest.split(" : ")[0])
        if op in ("arith.constant", "llvm.mlir.constant"):
            return re.match(r"\W*(-?\d+)", rest)[1]
        if op in SHORT:
            return f"{SHORT[op]}({','.join(map(self.expression, operands))})"
        if op == "cute.assume":
            return self.expression(operands[0])
        if op == "llvm.extractvalue":
            return re.search(r"\[[\d, ]+\]", rest)[0].replace(" ", "")
        if op == "cute.get_scalars":
            maker, what = self.of.get(operands[0], ("", ""))
            if maker == "cute.make_coord":
                return self.expression(re.findall(r"%[\w#]+", what)[0])
            return "?" + (name.split("#")[1] if "#" in name else "0")
        return re.sub(r"nvvm.read.ptx.sreg.", "", op)


def rows(case: Case) -> list[tuple[str, str]]:
    case.compile()
    names, head, lines = kernel_of(stages["cute-expand-ops"])
    case.tiler = names["!copy_simt"]
    values = Values(lines)
    tensors = [names[re.search(r"%arg0: (!\w+)", head)[1]]]
    out = []
    for line in lines:
        if "alloca" in line or "load" in line or len(tensors) == (2 if case.coordinate is None else 3):
            break
        if m := re.search(r"cute.make_view\(.*\) : (!\w+)", line):
            tensors.append(names[m[1]])
        if m := re.search(r"cute.crd2idx.* -> (.*)$", line):
            out.append(("crd2idx", m[1]))
        if m := re.search(r"cute.make_int_tuple\((%\w+)\) : .* -> (.*)$", line):
            out += [("offset", values.expression(m[1])), ("int_tuple", m[2])]
    out = [("expression", case.expression()), ("align", str(case.align)), ("tiled copy", names["!copy_simt"]),
           *[("tensor", t) for t in tensors], *out]
    _, head, lines = kernel_of(stages["one-shot-convert-to-llvm"])
    values = Values(lines)
    out.append(("struct", re.search(r"%arg0: (!llvm.*?), %arg1", head)[1]))
    addresses = {next(n for n, (op, rest) in values.of.items()
                      if op == "llvm.extractvalue" and rest.startswith(" %arg0[0]"))}
    for line in lines:
        m = re.search(r"(%\w+) = llvm.getelementptr (%\w+)\[(.*?)\]", line)
        if m and m[2] in addresses and len([o for o in out if o[0] == "address"]) < len(tensors) - 1:
            out.append(("address", values.expression(m[3]) if "%" in m[3] else m[3]))
            addresses = {m[1]}
    return out


if __name__ == "__main__":
    print(f"# nvidia-cutlass-dsl {importlib.metadata.version('nvidia-cutlass-dsl')}, {os.environ['CUTE_DSL_ARCH']}; "
          "written by cutedsl_rows.py")
    for label, case in CASES.items():
        for key, value in rows(case):
            print(f"{label}\t{key}\t{value}")
        print(label, file=sys.stderr)
