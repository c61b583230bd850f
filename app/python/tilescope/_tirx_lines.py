"""The lines of a TIRx function, through TVM's compiler to the PTX, so that reports name the Python file.

TVM's parser gives each statement its place, and its CUDA C++ has none of them. So before each statement a call is put
in, `tilescope_line(number)`, that every pass keeps where it is; in the CUDA C++ these become `#line`.
"""

from __future__ import annotations

import re

MARK = "tilescope_line"
FILE = "kernel.cu"  # what ts.compile calls a text


def put_in(tvm, function):
    """The function with marks in its device's part, and the places, (file, line), that the marks' numbers stand for."""
    tirx = tvm.tirx
    places = _Places()
    # What declares things stands at a scope's beginning, and does nothing that a report could be about.
    silent = {"ScopeIdDefStmt", "AllocBuffer", "DeclBuffer"}

    def mark(statement):
        number = None if type(statement).__name__ in silent else places.number(statement)
        if number is None:
            return []
        return [tirx.Evaluate(tirx.call_extern("int32", MARK, tirx.IntImm("int32", number)))]

    def rebuilt(statement):
        kind = type(statement).__name__
        span = getattr(statement, "span", None)
        if kind == "SeqStmt":
            return tirx.SeqStmt([part for each in statement.seq for part in [*mark(each), rebuilt(each)]], span)
        if kind == "AttrStmt":
            return tirx.AttrStmt(statement.node, statement.attr_key, statement.value, inside(statement.body), span)
        if kind == "IfThenElse":
            other = statement.else_case
            return tirx.IfThenElse(statement.condition, inside(statement.then_case), None if other is None else inside(other),
                                   span)
        if kind == "While":
            return tirx.While(statement.condition, inside(statement.body), span)
        if kind == "For" and statement.kind != tirx.ForKind.VECTORIZED:
            return tirx.For(statement.loop_var, statement.min, statement.extent, statement.kind, inside(statement.body),
                            statement.thread_binding, statement.annotations, statement.step, span)
        return statement

    def inside(statement):
        if type(statement).__name__ == "SeqStmt":
            return rebuilt(statement)
        marks = mark(statement)
        return tirx.SeqStmt([*marks, rebuilt(statement)]) if marks else rebuilt(statement)

    def device_part(statement):
        kind = type(statement).__name__
        if kind == "SeqStmt":
            return tirx.SeqStmt([device_part(each) for each in statement.seq], statement.span)
        if kind == "AttrStmt":
            body = inside if statement.attr_key == "tirx.device_entry" else device_part
            return tirx.AttrStmt(statement.node, statement.attr_key, statement.value, body(statement.body), statement.span)
        return statement

    body = device_part(function.body)
    return function.with_body(body), places.known


class _Places:
    """A number for each place, file and line, that a statement has."""

    def __init__(self):
        self.known = []

    def number(self, statement):
        span = getattr(statement, "span", None)
        spans = [each for each in getattr(span, "spans", [span]) if each is not None]
        if not spans:
            return None
        # Of an inlined function: the innermost place in the file that the first call stands in.
        file = spans[0].source_name.name
        place = file, [each.line for each in spans if each.source_name.name == file][-1]
        if place not in self.known:
            self.known.append(place)
        return self.known.index(place)


def _fit(file):
    """A file's name, as PTX can have one: ptxas reads no escapes there."""
    return file.replace("\\", "/").replace('"', "'")


def taken_out(source, places):
    """CUDA C++ without the marks; and the same with `#line` before each line that a mark stands before."""
    clean, directed = [], []
    place = None
    for line in source.split("\n"):
        mark = re.fullmatch(rf"\s*{MARK}\((\d+)\);", line)
        if mark:
            place = places[int(mark[1])]
            continue
        clean.append(line)
        if place and line[:1].strip():  # the function's end: what follows is the text's own again
            place = None
            directed.append(f'#line {len(clean)} "{FILE}"')
        if place and line.strip():
            file, number = place
            directed.append(f'#line {number} "{_fit(file)}"')
        directed.append(line)
    return "\n".join(clean), "\n".join(directed)
