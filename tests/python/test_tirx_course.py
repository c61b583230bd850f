"""The TIRx course: our ten steps compared with NumPy, frames that compute nothing yet, and mistakes that are named."""

import importlib
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tilescope as ts

pytest.importorskip("tvm.script.tirx", reason="apache-tvm is not installed: `pip install apache-tvm`, and these tests run")
try:
    ts.compile("__global__ void nothing() {}")
except ts.Error as refused:
    assert "neither is here" in str(refused)
    pytest.skip("no nvcc and no NVRTC here", allow_module_level=True)

course = ts.tirx_course
SOURCES = pathlib.Path(course.__file__).parent


def test_there_are_ten_steps():
    assert course.STEPS == tuple(f"hgemm_v{n}" for n in range(1, 11))


def test_mistakes_are_of_known_kinds():
    from tilescope.tirx_course.mistakes import MISTAKES

    kinds = pathlib.Path(__file__).parents[2] / "docs/faults/kinds.tsv"
    known = {line.split("\t")[0] for line in kinds.read_text().splitlines()}
    assert set(MISTAKES) - known == {"unbuilt", "different", "slow", "too_long"}


@pytest.mark.parametrize("step", course.STEPS)
def test_our_step_is_right_in_every_order(step):
    module = importlib.import_module(f"tilescope.tirx_course.{step}")
    rng = np.random.default_rng(3)
    for shape in module.SHAPES:
        m, n, k = shape
        kernel = ts.tirx.compile(getattr(module, step)(*shape), strict=True, suppressions="tirx")
        a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((n, k)).astype(np.float16)
        want = a.astype(np.float64) @ b.astype(np.float64).T
        for settings in ({}, {"lazy": True}, {"search": 10}):
            d = np.full((m, n), np.nan, np.float16)
            kernel(a, b, d, **settings)
            np.testing.assert_allclose(d.astype(np.float64), want, rtol=1e-3, atol=1e-2)
        assert kernel.launches[0].cluster[0] == (2 if step in ("hgemm_v9", "hgemm_v10") else 1)


def test_our_step_passes_the_judge(tmp_path):
    verdict = course.check(SOURCES / "hgemm_v5.py")
    assert verdict and verdict.right and verdict.safe and verdict.fast, verdict
    assert verdict.seconds == verdict.ours > 0


@pytest.mark.parametrize("step", course.STEPS)
def test_a_frame_compiles_and_is_not_right(step, tmp_path):
    path = course.start(step, tmp_path)
    text = path.read_text()
    assert "# TODO" in text and "[exercise" not in text and "exercise]" not in text and "HINTS" not in text
    assert f"def {step}(M, N, K):" in text and "gemm_async" not in "".join(
        line for line in text.splitlines() if not line.lstrip().startswith("#"))
    verdict = course.check(path)
    assert not verdict and verdict.right is False and verdict.safe is None
    assert verdict.kind in ("different", "undefined_copied"), verdict  # step 5 stores what is not computed yet
    assert verdict.told
    with pytest.raises(ts.Error, match="is there already"):
        course.start(step, tmp_path)
    assert path.read_text() == text


FENCE = "        T.ptx.fence.proxy.async_.shared__cta()\n"
MISTAKES = [  # the step, what is there, what stands in its place, what is named
    (1, FENCE, "", "missing_proxy_fence"),
    (1, "        T.ptx.tcgen05.wait__ld.sync.aligned()\n", "", "tmem_not_awaited"),
    (1, "        T.cuda.mbarrier_wait(done.ptr_to([0]), 0)\n", "", "tmem_in_use"),
    (1, "mbarrier_wait(done.ptr_to([0]), 0)", "mbarrier_wait(done.ptr_to([0]), 1)", "tmem_in_use"),
    (1, "accum=False", "accum=True", "undefined_copied"),
    (2, "accum=k != 0", "accum=False", "different"),
    (2, "            phase = phase ^ 1\n", "", "operand_overwritten"),
    (3, "row = T.meta_var(bx * BLK_M)", "row = T.meta_var(by * BLK_M)", "different"),
    (4, "BYTES = (BLK_M + BLK_N)", "BYTES = (BLK_M)", "operand_overwritten"),
    (4, "BYTES = (BLK_M + BLK_N)", "BYTES = 2 * (BLK_M + BLK_N)", "deadlock"),
    (4, FENCE, "", "missing_proxy_fence"),
    (5, "PipelineState(DEPTH, 1)", "PipelineState(DEPTH, 0)", "deadlock"),
    (5, "                T.cuda.mbarrier_wait(full.ptr_to([used.stage]), used.phase)\n", "", "operand_overwritten"),
    (7, "given = PipelineState(1, 1)", "given = PipelineState(1, 0)", "deadlock"),
    (5, "            T.cuda.mbarrier_wait(empty.ptr_to([filled.stage]), filled.phase)\n", "", "operand_overwritten"),
    (6, "            T.cuda.cta_sync()\n            T.ptx.tcgen05.fence__after", "            T.ptx.tcgen05.fence__after", "shared_race"),
    (6, "            tiles.next_tile()\n", "", "too_long"),
    (7, "ld2mma.init(128)", "ld2mma.init(1)", "too_many_arrivals"),
    (7, "ld2mma.init(128)", "ld2mma.init(64)", "waiter_left_behind"),
    (7, "                        ld2mma.wait(0, given.phase)\n", "", "tmem_in_use"),
    (7, "                        T.ptx.cp.async_.bulk.wait_group.read(0)\n", "", "operand_overwritten"),
    (7, "                        T.ptx.tcgen05.fence__before_thread_sync()\n", "", "tcgen05_fence"),
    (8, "T.ptx.tcgen05.wait__ld.sync.aligned()", "T.ptx.tcgen05.wait__st.sync.aligned()", "tmem_not_awaited"),
    (7, "                        mma2ld.arrive(0)\n", "", "deadlock"),
    (9, "T.ptx.mbarrier.arrive.release.cluster.shared__cluster.b64(ld2mma_of_0.ptr_to([0]))", "ld2mma.arrive(0, remote=0)",
     "tmem_race"),
    (9, "cta_mask=3", "cta_mask=1", "deadlock"),
    (9, "        T.cuda.cluster_sync()\n        # exercise]", "        # exercise]", "peer_exited"),
    (10, "T.cuda.warpgroup_sync(1 + group)", "T.cuda.warpgroup_sync(1)", "barrier_partners"),
    (10, "mma2tma.init(CONSUMERS)", "mma2tma.init(1)", "operand_overwritten"),
]


@pytest.mark.parametrize("number, there, instead, kind", MISTAKES)
def test_a_mistake_is_named(number, there, instead, kind, tmp_path):
    head, function, code = (SOURCES / f"hgemm_v{number}.py").read_text().partition("\ndef ")
    assert there in code
    path = tmp_path / f"hgemm_v{number}.py"
    path.write_text(head + function + code.replace(there, instead, 1))
    verdict = course.check(path)
    assert not verdict and verdict.kind == kind, verdict
    assert verdict.told


def test_fewer_stages_are_slower(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "PERCENT", 110)
    path = tmp_path / "hgemm_v8.py"
    path.write_text((SOURCES / "hgemm_v8.py").read_text().replace("    DEPTH = 4\n", "    DEPTH = 2\n"))
    verdict = course.check(path)
    assert verdict.right and verdict.safe and verdict.fast is False and verdict.kind == "slow", verdict
    assert verdict.seconds > 1.1 * verdict.ours


def test_a_hazard_has_the_line_of_the_readers_file(tmp_path):
    text = (SOURCES / "hgemm_v1.py").read_text().replace(FENCE, "", 1)
    path = tmp_path / "mine.py"
    path.write_text(text)
    verdict = course.check(path, "hgemm_v1")
    line = 1 + next(i for i, each in enumerate(text.splitlines()) if each.startswith("            Tx.gemm_async("))
    assert f"mine.py:{line}" in verdict.sentence, verdict


def test_wrong_uses(tmp_path):
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "hgemm_v1.py").write_text("def hgemm_v1(M, N, K):\n    raise ValueError('not yet')\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    for arguments, match in [((tmp_path / "none.py", "hgemm_v1"), "is no file"), ((tmp_path / "empty.py",), "no step 'empty'"),
                             ((tmp_path / "empty.py", "hgemm_v1"), "no function hgemm_v1"),
                             ((tmp_path / "broken.py", "hgemm_v1"), "division by zero")]:
        with pytest.raises(ts.Error, match=match):
            course.check(*arguments)
    verdict = course.check(tmp_path / "hgemm_v1.py")
    assert verdict.kind == "unbuilt" and "not yet" in verdict.sentence
    with pytest.raises(ts.Error, match="no step 'hgemm_v11'"):
        course.start("hgemm_v11", tmp_path)
    with pytest.raises(ts.Error, match="cannot be written"):
        course.start("hgemm_v2", tmp_path / "nowhere")


def test_the_terminal(tmp_path):
    def say(*words):
        return subprocess.run([sys.executable, "-m", "tilescope.tirx_course", *words], cwd=tmp_path, capture_output=True, text=True)

    listed = say()
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == 10 and "one tile" in listed.stdout
    assert say("start", "hgemm_v2").returncode == 0 and (tmp_path / "hgemm_v2.py").exists()
    assert say("hints", "hgemm_v2").stdout.startswith("1. ")
    checked = say("check", "hgemm_v2.py")
    assert checked.returncode == 1 and checked.stdout.startswith("right: no"), checked
    assert say("check", "hgemm_v3.py").returncode == 2 and say("walk").returncode == 2
