"""ts.diff and Run.diff: what is wrong, the first of it, and the name of the mistake."""

import re

import numpy as np
import pytest
import tilescope as ts

@pytest.fixture
def want():
    return np.random.default_rng(1).standard_normal((64, 96)).astype(np.float32)


def names(difference):
    return [pattern.name for pattern in difference.patterns]


def test_equal_arrays(want):
    same = ts.diff(want.copy(), want)
    assert same.ok and (same.wrong, same.compared, same.exact) == (0, 64 * 96, 64 * 96)
    assert same.first == [] and same.patterns == [] and same.max_ulp == 0
    assert repr(same) == "<Difference: 0 of 6144 elements wrong>"
    with pytest.raises(ts.Error, match="neither true nor false"):
        assert same


def test_one_wrong_element(want):
    got = want.copy()
    got[3, 17] += 4
    one = ts.diff(got, want)
    assert not one.ok and one.wrong == 1 and one.first == one.worst == [((3, 17), got[3, 17], want[3, 17])]
    assert one.max_absolute == abs(float(got[3, 17]) - float(want[3, 17])) and one.patterns == []
    assert "(3, 17)" in str(one)


def test_the_names_of_mistakes(want):
    square = want[:, :64]
    assert "transposed" in names(ts.diff(square.T, square))
    assert any("shifted" in name for name in names(ts.diff(np.roll(want, 2, axis=1), want)))
    got = want.copy()
    got[16:32, 32:64] = 0
    zeros = ts.diff(got, want, tile=(16, 32))
    assert {"tile", "value"} <= {pattern.kind for pattern in zeros.patterns}
    assert all(pattern.evidence and pattern.name in str(zeros) for pattern in zeros.patterns)
    assert any("factor" in name or "times" in name for name in names(ts.diff(want * 3, want))), names(ts.diff(want * 3, want))
    noise = want + np.random.default_rng(2).standard_normal(want.shape).astype(np.float32)
    assert {pattern.kind for pattern in ts.diff(noise, want).patterns} <= {"everything"}


def test_tolerances(want):
    got = want + np.float32(0.01)
    assert ts.diff(got, want).wrong > 6000 and ts.diff(got, want, atol=0.011).ok
    assert ts.diff(want * np.float32(1.001), want, rtol=0.002).ok
    assert not ts.diff(want * np.float32(1.001), want, rtol=0.0005).ok
    exact = ts.diff(np.nextafter(want, np.float32(9)), want, rtol=0)
    assert exact.wrong == want.size and exact.max_ulp == 1 and (exact.rtol, exact.atol) == (0, 0)
    nan = np.full(9, np.nan, np.float32)
    assert ts.diff(nan, nan).ok and ts.diff(nan, nan, nan_equal=False).wrong == 9


def test_types():
    want = np.arange(32) / 7
    assert ts.diff(want.astype(np.float16), want).exact == 32  # rounded to f16
    assert ts.diff(np.arange(32, dtype=np.uint8), np.arange(32)).ok
    assert ts.diff(np.arange(-3, 29, dtype=np.int8), np.arange(-3, 29)).ok
    assert ts.diff(np.array([2**60 + 1]), np.array([2**60])).wrong == 1
    bf16 = (want.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    assert ts.diff(bf16, want, dtype="bf16", rtol=0.01).ok and ts.diff(bf16, bf16, dtype="bf16").exact == 32
    assert ts.diff(np.arange(64).reshape(8, 8)[::2, ::-1], np.arange(64).reshape(8, 8)[::2, ::-1].copy()).ok


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ts.diff([1, 2], np.zeros(2)), "is no array"),
        (lambda: ts.diff(np.zeros(2), 3), "is no array"),
        (lambda: ts.diff(np.zeros(2), np.zeros(3)), "(3,)"),
        (lambda: ts.diff(np.zeros(2, complex), np.zeros(2)), "an array of floats or integers"),
        (lambda: ts.diff(np.zeros(2, np.int32), np.zeros(2)), "round it, as .astype() does"),
        (lambda: ts.diff(np.zeros(2, np.uint8), np.array([3, 300])), "Element (1) of the reference is 300, which is no u8"),
        (lambda: ts.diff(np.zeros(2, np.uint64), np.array([-1, 3])), "is -1, which is no u64"),
        (lambda: ts.diff(np.zeros(2), np.zeros(2), dtype="bf16"), "is for raw bits of 2 bytes"),
        (lambda: ts.diff(np.zeros(2), np.zeros(2), dtype="float"), "dtype='float'"),
        (lambda: ts.diff(np.zeros(2), np.zeros(2), rtol="x"), "a number is needed"),
        (lambda: ts.diff(np.zeros(2), np.zeros(2), rtol=-1), "."),
        (lambda: ts.diff(np.zeros(2), np.zeros(2), tile=0), "numbers of 1 or more"),
        (lambda: ts.diff(np.zeros(2), np.zeros(2), foo=1), "diff() has no foo="),
    ],
)
def test_what_cannot_be_compared(call, sentence):
    with pytest.raises(ts.Error, match=re.escape(sentence)):
        call()


def test_of_a_launch(module):
    x = np.arange(100, dtype=np.float32)
    run = module.launch(4, 32, [x, 1.5, 100], entry="add")
    assert list(run.outputs) == ["x"] and run.outputs["x"] is x and run.wrong is None
    assert run.diff(np.arange(100) + 1.5).ok and run.diff(np.arange(100) + 1.5, "x").ok and run.diff(x, 0).ok
    assert run.diff(np.arange(100) + 2, output="x", rtol=0).wrong == 100
    for wrong in ("y", 1, -1):
        with pytest.raises(ts.Error, match="x are its outputs, by name or place"):
            run.diff(x, wrong)


def test_of_a_kernel_of_the_catalog():
    run = ts.run("hgemm_v4", m=128, n=128, k=64)
    want = run.outputs["A"].astype(np.float32) @ run.outputs["B"].astype(np.float32).T
    assert run.diff(want).ok and run.diff(want, "D").ok  # its own result, with the kernel's tolerance
    assert "transposed" in names(run.diff(want.T))
    assert not run.diff(run.outputs["B"], "A").ok
    assert run.wrong == 0
