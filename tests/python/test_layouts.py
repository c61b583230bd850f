"""Layouts: what CuTe says, in Python's notation."""

import copy
import doctest
import inspect
import itertools
import pickle

import pytest
import tilescope as ts
from tilescope import _tilescope

WIDE = ((9, (4, 8)), (59, (13, 1)))  # the 9x32 layout of CuTe's documentation


def test_made_of_tuples_text_and_layouts():
    l = ts.Layout(*WIDE)
    assert l == ts.Layout("(9,(4,8)):(59,(13,1))") == ts.Layout(l) == ts.eval("(9,(4,8)):(59,(13,1))")
    assert str(l) == "(9,(4,8)):(59,(13,1))"
    assert eval(repr(l), {"Layout": ts.Layout}) == l
    assert (l.shape, l.stride) == WIDE
    assert ts.Layout((4, 8)) == ts.Layout((4, 8), (1, 4))
    assert ts.Layout([4, [2, 2]], [1, [4, 8]]).shape == (4, (2, 2))
    assert ts.Layout(4, 2).shape == 4
    assert ts.Layout((4,), (2,)).shape == (4,)


def test_a_layout_is_the_function_that_it_says():
    l = ts.Layout(*WIDE)
    for i, j, k in itertools.product(range(9), range(4), range(8)):
        want = 59 * i + 13 * j + k
        assert l(i, j + 4 * k) == l((i, (j, k))) == l(i, (j, k)) == l(i + 9 * (j + 4 * k)) == want
    assert len(l) == 288
    assert list(l) == [l(i) for i in range(len(l))] == ts.indices(l)


def test_equal_layouts_have_one_hash():
    made = {ts.Layout(s, d): (s, d) for s in ((4, 8), (8, 4), (4, (2, 4))) for d in ((1, 4), (8, 1)) if s != (4, (2, 4))}
    assert len(made) == 4
    assert made[ts.Layout((4, 8), (8, 1))] == ((4, 8), (8, 1))
    assert ts.Layout((4,), (1,)) != ts.Layout(4, 1)
    assert ts.Layout(4, 1) != "4:1"


# Each is answered by the same function in the text and from Python.
CALLS = [
    ("composition", ((6, 2), (8, 2)), ((4, 3), (3, 1))),
    ("complement", (4, 2), 24),
    ("coalesce", ((2, (1, 6)), (1, (6, 2)))),
    ("logical_divide", (WIDE), ((3, 3), ((2, 4), (1, 8)))),
    ("zipped_divide", (WIDE), ((3, 3), ((2, 4), (1, 8)))),
    ("tiled_divide", (WIDE), ((3, 3), ((2, 4), (1, 8)))),
    ("flat_divide", (WIDE), ((3, 3), ((2, 4), (1, 8)))),
    ("logical_product", ((2, 5), (5, 1)), ((3, 5), (5, 1))),
    ("zipped_product", ((2, 5), (5, 1)), ((3, 4), (1, 3))),
    ("blocked_product", ((2, 5), (5, 1)), ((3, 4), (1, 3))),
    ("raked_product", ((2, 5), (5, 1)), ((3, 4), (1, 3))),
    ("right_inverse", ((4, 8), (8, 1))),
    ("left_inverse", ((4, 8), (8, 1))),
    ("size", (WIDE)),
    ("cosize", (WIDE)),
    ("rank", (WIDE)),
    ("depth", (WIDE)),
]


def written(argument):
    """((4,8),(8,1)) as a layout's text, and a number as itself."""
    return str(argument) if isinstance(argument, int) else str(ts.Layout(*argument))


@pytest.mark.parametrize("name, arguments", [(c[0], c[1:]) for c in CALLS], ids=[c[0] for c in CALLS])
def test_functions_answer_what_the_language_does(name, arguments):
    if name.endswith("_divide"):
        tiler = tuple(ts.Layout(*part) for part in arguments[1])
        given = (ts.Layout(*arguments[0]), tiler)
        text = f"{name}({written(arguments[0])}, <{','.join(map(str, tiler))}>)"
    else:
        given = tuple(a if isinstance(a, int) else ts.Layout(*a) for a in arguments)
        text = f"{name}({', '.join(map(written, arguments))})"
    assert getattr(ts, name)(*given) == ts.eval(text)


def test_cute_documentation():
    a = ts.Layout(*WIDE)
    tiler = (ts.Layout(3, 3), ts.Layout((2, 4), (1, 8)))
    assert str(ts.zipped_divide(a, tiler)) == "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"
    assert str(ts.complement(ts.Layout(4, 2), 24)) == "(2,3):(1,8)"
    assert ts.size(a) == 288 and ts.rank(a) == 2 and ts.depth(a) == 2


def test_shapes_are_tilers():
    a = ts.Layout((8, 8), (8, 1))
    assert ts.zipped_divide(a, (4, 4)) == ts.eval("zipped_divide((8,8):(8,1), (4,4))")
    assert ts.zipped_divide(a, (ts.Layout(4, 2), 4)) == ts.eval("zipped_divide((8,8):(8,1), <4:2,4>)")
    assert ts.zipped_divide(a, (4, ts._)) == ts.eval("zipped_divide((8,8):(8,1), <4,_>)")


def test_underscore_slices():
    a = ts.Layout((4, 8), (8, 1))
    part = a(3, ts._)
    assert part == ts.eval("((4,8):(8,1))(3,_)") and part.offset == 24 and part(5) == 29
    assert a(3, None) == part
    assert a[0] == ts.Layout(4, 8) and a[-1] == ts.Layout(8, 1)


def test_numbers_that_python_has_not():
    unknown = ts.Layout((16, ts.Int("?{div=8}")), (1, 16))
    assert unknown == ts.eval("(16,?{div=8}):(1,16)")
    assert unknown.shape == (16, ts.Int("?{div=8}"))
    assert hash(ts.Int("?")) == hash(ts.Int("?")) and ts.Int("?") != ts.Int("?{div=2}")
    axes = ts.Layout((4, 5), ("1@0", "1@1"))
    assert axes == ts.make_identity_layout((4, 5)) and axes(3, 2) == (3, 2)
    assert list(axes)[:5] == [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)]
    with pytest.raises(ts.Error):
        len(unknown)


def test_values_of_every_kind():
    assert ts.eval("7") == 7 and ts.eval("(1,(2,3))") == (1, (2, 3)) and ts.eval("()") == ()
    assert ts.composition(ts.Swizzle(3, 4, 3), ts.Layout((8, 64), (64, 1))) == ts.eval("Sw<3,4,3> o 0 o (8,64):(64,1)")
    assert ts.eval("Sw<3,4,3> o 0 o (8,64):(64,1)").swizzle == ts.Swizzle(3, 4, 3)
    mma = ts.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2))
    part = ts.partition_A(mma, 37, ts.Layout((128, 64), (64, 1)))
    assert part == ts.eval("partition_A(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)), 37, (128,64):(64,1))")
    assert ts.eval("smem<f16> o (8,64):(64,1)")(1, ts._).offset == 64
    conflicts = ts.bank_conflicts(ts.Layout(32, 64), 16)
    assert conflicts["wavefronts"] > 1
    verdict = ts.injective(ts.Layout((2, 2), (1, 1)))
    assert not verdict and verdict.because
    assert ts.eval("S[(32,16):(1@TLane,1@TCol)]")(3, 4)[0] == ts.owners("S[(32,16):(1@TLane,1@TCol)]", (3, 4))[0]
    assert ts.tma_shared_layout("f16", "128B", (64, 256)) == ts.eval("tma_shared_layout(f16, 128B, (64,256))")


def test_names_are_bound_for_an_expression():
    a = ts.Layout((4, 8))
    assert ts.eval("size(A) ", A=a) == 32 and ts.eval("B = A(3,_); B", A=a) == a(3, None)
    with pytest.raises(ts.Error, match="is a name of the language"):
        ts.eval("size", size=3)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ts.eval("composition((6,2):(8,2), (4,3):(3,2))"), "composition: "),
        (lambda: ts.eval("(4,"), "Expected"),
        (lambda: ts.eval(""), "empty expression"),
        (lambda: ts.Layout((4, 8), (1, 4, 5)), "differ in structure .2 elements against 3."),
        (lambda: ts.Layout((0, 8)), "An extent of 0 in mode 0"),
        (lambda: ts.Layout(1 << 70), "64 bits"),
        (lambda: ts.Layout(2.5), "none of the language's values"),
        (lambda: ts.Layout((1,) * 33), "32 leaves|at most 32|32"),
        (lambda: ts.Layout(True), "none of the language's values"),
        (lambda: ts.complement((4, 4), 24), "Did you mean make_layout"),
        (lambda: ts.composition(ts.Layout(4)), "was called with 1 argument"),
        (lambda: ts.zipped_divide(ts.Layout(8), (ts.Layout(2), object())), "none of the language's values"),
        (lambda: ts.Layout((4, 8))(1, 2, 3), "differ in structure .3 elements against 2."),
        (lambda: ts.Layout((4, 8))(), "coordinate is needed"),
        (lambda: ts.Layout((4, 8))[5], "There is no mode 5"),
        (lambda: ts.tma_shared_layout(3, "128B", (64, 256)), "needs a name as text"),
        (lambda: ts.Swizzle(99, 0, 0), "A swizzle of 99 bits"),
    ],
)
def test_what_is_refused_raises_with_the_sentence(call, sentence):
    with pytest.raises(ts.Error, match=sentence):
        call()
    assert issubclass(ts.Error, ValueError)


def test_layouts_of_others_are_layouts():
    class Theirs:  # pycute's Layout, and tensor-layouts'
        shape, stride = (4, 8), (8, 1)

    assert ts.size(Theirs()) == 32
    assert ts.composition(Theirs(), ts.Layout(4, 1)) == ts.Layout(4, 8)


def test_every_function_of_the_language_is_there():
    for name in ("make_layout", "zip", "slice", "partition_C", "to_tirx", "TileLayout", "nullspace"):
        assert callable(getattr(ts, name)) and name in ts.__all__


def docstrings():
    """Of everything in the module that has one, by name."""
    for name, value in vars(_tilescope).items():
        yield name, value
        if inspect.isclass(value):
            yield from ((f"{name}.{part}", each) for part, each in vars(value).items() if not part.startswith("_"))


def test_examples_in_docstrings():
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    examples = 0
    for name, value in docstrings():
        text = getattr(value, "__doc__", None) or ""
        test = parser.get_doctest(text, {}, name, None, 0)
        examples += len(test.examples)
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    assert examples > 30


def test_every_function_of_the_language_has_an_example():
    compiled = {"compile"}  # what needs a compiler: docs/manual/python.md has its example
    for name in set(ts.__all__) - compiled:
        value = getattr(ts, name)
        if callable(value) and not inspect.isclass(value):
            examples = doctest.DocTestParser().get_examples(value.__doc__)
            assert any(f"ts.{name}(" in example.source for example in examples), name


@pytest.mark.parametrize("value", [ts.Layout(4), ts.Int(3), ts._, ts.Swizzle(3, 4, 3), ts.eval("SM80_16x8x16_F32F16F16F32_TN")], ids=str)
def test_nothing_equals_none(value):
    assert value != None and not value == None and None not in [value]  # noqa: E711


@pytest.mark.parametrize("text", ["(9,(4,8)):(59,(13,1))", "4:1@0", "S<3,4,3> o 0 o (8,64):(64,1)", "(?,4):(1,?{div=16})"])
def test_copies_and_pickles(text):
    layout = ts.eval(text)
    assert copy.deepcopy(layout) == layout == copy.copy(layout) == pickle.loads(pickle.dumps(layout))


@pytest.mark.parametrize(
    "call", [ts.Layout, ts.draw, ts.Tensor, ts.TensorMap, ts.Module, lambda none: ts.launch(none, 1, 32)]
)
def test_none_is_refused_with_a_sentence(call):
    with pytest.raises(ts.Error, match=r"\w+ .*[.?]"):
        call(None)
