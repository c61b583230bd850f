"""Stepping through a run from Python, and what memory held at a time."""

import numpy as np
import pytest
import tilescope as ts

SUM = """.version 8.0
.target sm_80
.address_size 64
.visible .entry turn(.param .u64 x) {
  .shared .align 4 .b32 tile[64];
  .reg .b64 %a, %o; .reg .b32 %t, %s, %v, %r;
  ld.param.u64 %a, [x];
  mov.u32 %t, %tid.x;
  mov.u32 %s, tile;
  shl.b32 %r, %t, 2;
  add.u32 %s, %s, %r;
  mul.lo.u32 %v, %t, 3;
  st.shared.u32 [%s], %v;
  bar.sync 0;
  ld.shared.u32 %v, [%s];
  cvt.u64.u32 %o, %r;
  add.s64 %a, %a, %o;
  st.global.u32 [%a], %v;
  ret;
}"""
STORE, WAIT, LOAD, OUT = (next(n for n, line in enumerate(SUM.splitlines(), 1) if word in line)
                          for word in ("st.shared", "bar.sync", "ld.shared", "st.global"))


@pytest.fixture
def run():
    x = np.zeros(64, np.uint32)
    out = ts.launch(SUM, 3, 32, [x], record=True)
    assert (x[:32] == 3 * np.arange(32)).all()
    return out


def to_line(steps, line):
    while steps.where.ptx_line != line:
        steps.forward()
    return steps


def test_forward_and_back_by_lines_of_the_ptx(run):
    steps = run.step()
    begin = steps.where
    assert (begin.block, begin.warp, begin.state, begin.instructions) == ((0, 0, 0), 0, "running", 0)
    lines = [steps.where.ptx_line]
    for _ in range(8):
        lines.append(steps.forward().where.ptx_line)
    assert lines == list(range(lines[0], lines[0] + 9))
    assert [steps.back().where.ptx_line for _ in range(8)] == lines[-2::-1]
    assert steps.where.instructions == 0
    assert steps.forward(5).where.ptx_line == lines[5] and steps.back(2).where.ptx_line == lines[3]


def test_registers(run):
    steps = to_line(run.step(), STORE)
    registers = steps.registers
    assert (registers["%v"] == 3 * np.arange(32)).all() and registers["%v"].dtype == np.uint32
    assert registers["%v"].count() == 32  # none is masked
    assert registers["%a"].dtype == np.uint64 and len(set(registers["%a"].data)) == 1
    assert "%o" not in registers  # nobody has written it yet
    steps.back(1)
    assert "%v" not in steps.registers  # its mul.lo comes next


def test_shared_memory_before_and_behind_the_store(run):
    steps = to_line(run.step(), STORE)
    memory = steps.memory
    assert memory.block == (0, 0, 0) and memory.tensor is None
    assert memory.shared.dtype == np.uint8 and len(memory.shared) == 256
    assert memory.shared.mask.all()
    behind = steps.forward().memory.shared
    assert not behind.mask[:128].any() and behind.mask[128:].all()
    assert (behind.data[:128].view(np.uint32) == 3 * np.arange(32)).all()
    assert steps.back().memory.shared.mask.all()


def test_memory_at_a_time(run):
    steps = to_line(run.step(block=2), OUT)
    when = f"position {steps.where.position}"
    memory = run.memory(2, when)
    assert (memory.shared.data[:128].view(np.uint32) == 3 * np.arange(32)).all()
    assert memory.block == (2, 0, 0)
    # Back again, by another question; and by cycles, as the timeline counts them.
    assert run.memory((2, 0, 0), "instruction 1").shared.mask.all()
    late = to_line(run.step(block=1), OUT).where.time
    assert not run.memory(1, late).shared.mask[:128].any()
    with pytest.raises(ts.Error, match="CTA 1 has not begun"):
        run.memory(1, 0)
    with pytest.raises(ts.Error, match="CTA 1 has exited.*events are from"):
        run.memory(1, "end")


def test_to(run):
    steps = run.step()
    steps.to("end")
    assert steps.where.state == "done" and steps.where.ptx_line is None and steps.where.instruction is None
    assert steps.where.instructions == run.instructions
    steps.to("instruction 7")
    assert steps.where.instructions == 7
    steps.to("start")
    assert steps.where.position == 0
    clock = steps.to("0.01us").where.time
    assert 0 < clock < 1000
    steps.to(0)
    assert steps.to("end").forward().where.state == "done"
    assert "no later" in str(steps.where) or "end" in str(steps.where)


def test_looking_at_another_warp(run):
    steps = run.step().to("instruction 20")
    steps.look(2)
    assert steps.where.block == (2, 0, 0)
    line = steps.where.ptx_line
    assert steps.forward().where.ptx_line == line + 1  # it goes on for the warp that is looked at
    assert steps.look((1, 0, 0)).where.block == (1, 0, 0)


def test_it_is_the_run_that_was(run):
    """A launch's arrays are as they were before it, whatever became of them since."""
    steps = run.step()
    assert run.outputs["x"][5] == 15
    to_line(steps, OUT)
    assert (steps.registers["%v"] == 3 * np.arange(32)).all()
    assert run.outputs["x"][5] == 15  # and stepping writes nothing into them


def test_pipelines_and_tensor_memory():
    run = ts.run("hgemm_v7", m=128, n=128, k=128, record=True)
    third = run.step(warp=4).forward(3)
    assert third.where.warp == 4 and third.back(2).where.warp == 4
    assert third.back().where.ptx_line == run.step(warp=4).where.ptx_line
    steps = run.step()
    steps.forward(by="copy")
    assert steps.where.warp == 7  # the one that copies in
    steps.forward(by="barrier").forward(by="mma")
    assert steps.where.warp == 4  # the one of the MMAs
    steps.to("end").back(by="mma")
    memory = steps.memory
    assert memory.tensor.shape == (128, 512) and memory.tensor.dtype == np.uint32
    names = [part["name"] for part in memory.parts]
    assert any(name.startswith("A [") for name in names) and any(name.startswith("B [") for name in names)
    tile = next(part for part in memory.parts if part["name"] == "A [0:128, 64:128]")
    assert (tile["array"] == run.outputs["A"][:128, 64:128]).all() and tile["array"].count() == 128 * 64
    # It lies there swizzled.
    assert tile["end"] - tile["begin"] == 128 * 64 * 2
    assert (memory.shared[tile["begin"]:tile["end"]].data.view(np.float16).reshape(128, 64) != tile["array"].data).any()
    # The accumulator is the product of the inputs, f32 in 128 columns.
    column = int(np.flatnonzero(~memory.tensor.mask.all(axis=0))[0])
    found = memory.tensor[:, column:column + 128].data.view(np.float32)
    a, b = (run.outputs[name].astype(np.float64) for name in "AB")
    assert np.allclose(found, a @ b.T, rtol=1e-3, atol=1e-3)


def test_lines_of_a_source():
    steps = ts.run("elementwise_add", m=32, n=128, record=True).step()
    seen = [(where.file, where.line) for where in (steps.forward(by="line").where for _ in range(4))]
    assert all(file == "kernels/elementwise/elementwise_add.cu" for file, _ in seen)
    assert len({line for _, line in seen}) > 1


def test_before_a_fault(module):
    with pytest.raises(ts.Fault) as fault:
        module.launch(4, 32, [np.zeros(50, np.float32), 1.5, 100], entry="add", record=True)
    steps = fault.value.run.step().forward(by="fault")
    assert steps.where.ptx_line == fault.value.run.reports[-1].ptx_line and steps.where.state == "running"
    assert steps.forward().where.state == "fault"


def test_wrong_words(run):
    steps = run.step()
    for at in ("", "soon", "1.2 parsecs", "instruction", "instruction x", -1, None, True, float("nan"), [], "1us2"):
        with pytest.raises(ts.Error, match="at="):
            steps.to(at)
    for call in (lambda: steps.forward(0), lambda: steps.forward(by="year"), lambda: steps.look(3), lambda: steps.look((0, 1)),
                 lambda: steps.look(0, 1), lambda: steps.look(()), lambda: run.memory(-1, 0), lambda: run.step(warp=9)):
        with pytest.raises(ts.Error):
            call()
    for call in (lambda: steps.forward("two"), lambda: steps.look(None), lambda: run.memory(0, object())):
        with pytest.raises((ts.Error, TypeError)):
            call()
    assert steps.where.position == 0


def test_no_window_where_there_is_none(run, monkeypatch, tmp_path):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("tilescope._window.program", lambda: None)
    with pytest.raises(ts.Error, match="no program"):
        run.window()
    monkeypatch.setattr("tilescope._window.program", lambda: "tilescope")
    with pytest.raises(ts.Error, match="no display"):
        run.window()


def test_the_window_is_told_what_to_open(run, monkeypatch, tmp_path):
    program = tmp_path / "tilescope"
    program.write_text(
        f"""#!/bin/sh
        echo "$@" > {tmp_path}/asked
        cp -r "$(echo "$3" | cut -d\\" -f2 | xargs dirname)" {tmp_path}/copying
        mv {tmp_path}/copying {tmp_path}/seen  # whole, once it is there
        """
    )
    program.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("tilescope._window.program", lambda: str(program))
    run.window()
    for _ in range(500):
        if (tmp_path / "seen").exists():
            break
        __import__("time").sleep(0.01)
    assert (tmp_path / "asked").read_text().startswith('gui --do open "')
    again = ts.run(tmp_path / "seen")  # what it was given is the launch
    (out,) = [array for array in again.outputs.values()]
    assert (out.view(np.uint32)[:32] == 3 * np.arange(32)).all()
