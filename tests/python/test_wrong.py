"""Anything at all may be given to every function: the answer is a value, or an exception with a sentence."""

import inspect
import math
import os
import pathlib

import numpy as np
import tilescope as ts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

small = st.integers(-3, 40)
numbers = st.one_of(small, st.integers(-(2**70), 2**70))
tuples = st.recursive(numbers, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=6)
shapes = st.recursive(st.integers(1, 6), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=5)
texts = st.sampled_from(
    ["(4,8):(8,1)", "<4,4>", "Sw<3,4,3>", "?{div=4}", "1@0", "smem<f16> o (8,64):(64,1)", "((", "", "_", "X", "f16",
     "128B", "SM80_16x8x16_F32F16F16F32_TN", "UniversalCopy<f32,f32>", "S[(32,16):(1@TLane,1@TCol)]", "a\0b", "é", "\ud800"]
)
layouts = shapes.map(ts.Layout)
values = st.sampled_from(
    [ts._, ts.Int("?"), ts.Swizzle(2, 1, 3), ts.eval("<4,2:1>"), ts.eval("smem<f16> o (8,64):(64,1)"),
     ts.Layout((4, 8))(3, ts._), ts.make_layout_tv(ts.Layout((4, 8), (8, 1)), ts.Layout((2, 2), (2, 1))),
     ts.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2)), ts.eval("S[(32,16):(1@TLane,1@TCol)]"),
     ts.injective(ts.Layout(4)), ts.eval("UniversalCopy<f32,f32>"), ts.Tensor(np.arange(32.0).reshape(4, 8)),
     ts.Tensor(np.zeros(64, np.int8), "Sw<1,0,3> o 0 o (8,8):(8,1)")]
)
others = st.one_of(st.none(), st.booleans(), st.floats(), st.binary(max_size=3), st.just(object()), st.just(object),
                   st.just(np.zeros((2, 3))), st.just(np.int16(3)), st.just({}), st.just({1: 2}))
anything = st.one_of(tuples, layouts, values, texts, others, st.tuples(layouts, tuples))
MODULE = ts.Module(pathlib.Path(__file__).parent / "add.ptx")
# The same examples each time; others where more are asked for.
EXAMPLES = os.environ.get("TILESCOPE_FUZZ_EXAMPLES")
patient = settings(max_examples=int(EXAMPLES or "150"), derandomize=not EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

# What begins a run or writes a file has tests of its own.
APART = {"launch", "run", "draw"}
FUNCTIONS = [name for name in ts.__all__ if callable(getattr(ts, name)) and not inspect.isclass(getattr(ts, name))]


def answer(call, *arguments, **words):
    """What it answers; None where it raises as it may."""
    try:
        return call(*arguments, **words)
    except (ts.Error, TypeError) as refused:
        assert str(refused)


@patient
@given(st.sampled_from(sorted(set(FUNCTIONS) - APART)), st.lists(anything, max_size=4))
def test_functions(name, arguments):
    repr(answer(getattr(ts, name), *arguments))


@patient
@given(st.sampled_from([name for name in ts.__all__ if inspect.isclass(getattr(ts, name))]), st.lists(anything, max_size=3))
def test_classes(name, arguments):
    made = getattr(ts, name)
    if not issubclass(made, BaseException) and made is not ts.Module:
        repr(answer(made, *arguments))


@patient
@given(st.one_of(layouts, values), st.lists(anything, max_size=3))
def test_coordinates_and_methods(value, arguments):
    if callable(value):
        answer(value, *arguments)
    assert value == value and hash(value) == hash(value) and str(value)
    assert (value == arguments) is False
    if isinstance(value, ts.Layout):
        for argument in arguments:
            answer(value.__getitem__, argument)


@patient
@given(anything, anything, anything, st.one_of(texts, others), st.one_of(texts, others))
def test_tensors(layout, key, value, kind, place):
    array = np.zeros((6, 8), np.int16)
    made = answer(ts.Tensor, array, layout, type=kind, memory=place)
    for tensor in (ts.Tensor(array), made, answer(ts.make_tensor, array[::-1], layout), answer(ts.Tensor, value, layout)):
        if tensor is None:
            continue
        answer(tensor.__getitem__, key)
        answer(tensor.numpy, copy=value)
        try:
            tensor[key] = value
        except (ValueError, TypeError, OverflowError) as refused:  # NumPy's own, too
            assert str(refused)


@patient
@given(anything, anything, anything, st.one_of(texts, others), st.one_of(texts, others))
def test_pictures(what, colour, size, theme, form):
    answer(ts.draw, what, colour, size, theme=theme, format=form)


@patient
@given(anything, anything, st.one_of(st.lists(anything, max_size=4), anything),
       st.dictionaries(st.sampled_from(["cluster", "cooperative", "dynamic_smem", "entry", "strict", "device", "schedule", "lazy",
                                        "numerics", "threads", "suppressions", "record", "nothing"]), anything, max_size=2))
def test_launches(grid, block, args, words):
    entry = words.pop("entry", "add")
    answer(MODULE.launch, grid, block, args, entry=entry, max_instructions=1000, **words)


@patient
@given(st.one_of(st.sampled_from(["elementwise_add", "hgemm_v3"]), anything),
       st.dictionaries(st.sampled_from(["m", "n", "a", "seed", "grid", "dtype", "ptx", "device", "check"]), anything, max_size=3))
def test_kernels_of_the_catalog(name, options):
    for size in ("m", "n"):
        if isinstance(options.get(size), int) and options[size] > 64:
            options[size] = 64
    answer(ts.run, name, **{"m": 16, "n": 16, "max_instructions": 100000, **options})


RECORDED = ts.run("elementwise_add", m=16, n=32, record=True)


def words_of(*names):
    return st.dictionaries(st.sampled_from(names), anything, max_size=3)


@patient
@given(st.sampled_from(["diff", "memory", "step", "timeline"]), st.lists(anything, max_size=3),
       words_of("output", "rtol", "atol", "dtype", "tile", "nan_equal", "theme", "height", "events", "block", "at", "warp"))
def test_what_a_run_has(name, arguments, words):
    repr(answer(getattr(RECORDED, name), *arguments, **words))


@patient
@given(st.lists(st.tuples(st.sampled_from(["forward", "back", "to", "look"]), st.lists(anything, max_size=2),
                          words_of("by", "block", "warp")), max_size=4))
def test_steps(ways):
    steps = RECORDED.step()
    for name, arguments, words in ways:
        if not any(isinstance(each, int) and abs(each) > 1000 for each in arguments):
            answer(getattr(steps, name), *arguments, **words)
        answer(lambda: steps.registers)
    assert steps.where.warp >= 0


@patient
@given(anything, anything, words_of("dims", "strides", "dtype", "swizzle", "interleave", "oob", "element_strides", "packing",
                                    "lower", "upper", "channels", "pixels"))
def test_tensor_maps(array, box, words):
    for of in (array, np.zeros((16, 16), np.float32)):
        repr(answer(ts.TensorMap, of, box, **words))


@patient
@given(anything, anything, words_of("output", "rtol", "atol", "dtype", "tile", "nan_equal"))
def test_differences(got, want, words):
    repr(answer(ts.diff, got, want, **words))
    repr(answer(ts.diff, np.ones((4, 4), np.float32), want, **words))


# --- and what is right is right ---


@patient
@given(shapes, st.data())
def test_a_layout_is_the_sum_of_its_steps(shape, data):
    l = ts.Layout(shape)
    index = data.draw(st.integers(0, len(l) - 1))
    assert l(index) == index == l(ts.idx2crd(index, shape)) and len(l) == math.prod(leaves(shape))
    assert list(l) == list(range(len(l)))


def leaves(shape):
    return [shape] if isinstance(shape, int) else [n for part in shape for n in leaves(part)]


@patient
@given(shapes, shapes)
def test_composition_is_one_after_the_other(a, b):
    a, b = ts.Layout(a), ts.Layout(b)
    both = answer(ts.composition, a, b)
    if both is not None:
        assert list(both) == [a(offset) for offset in b]
