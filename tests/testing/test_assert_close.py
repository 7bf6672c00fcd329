"""testing.assert_close and make_tensor: what passes, what is said of what doesn't, arguments."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.testing import assert_close, make_tensor

NAN, INF = float("nan"), float("inf")
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


@pytest.mark.parametrize("name", TOLERANCES)
def test_default_tolerances_follow_the_dtype(name):
    rtol, atol = TOLERANCES[name]
    zero = ag.zeros(1, dtype=getattr(ag, name))
    assert_close(zero + 0.9 * atol, zero)
    with pytest.raises(AssertionError, match=rf"up to {atol} allowed[\s\S]*up to {rtol} allowed"):
        assert_close(zero + 10 * max(atol, 1e-3), zero)
    one = zero + 1
    assert_close(one + 0.5 * rtol, one)
    with pytest.raises(AssertionError, match="not close"):
        assert_close(one + 3 * (rtol + atol), one)


def test_integers_and_truth_values_must_be_equal():
    assert_close(ag.tensor([1, 2]), ag.tensor([1, 2]))
    for a, e in ((ag.tensor([1, 2]), ag.tensor([1, 3])), (ag.tensor([True]), ag.tensor([False]))):
        with pytest.raises(AssertionError, match="Tensor-likes are not equal!"):
            assert_close(a, e)
    low, high = ag.tensor([-(2**63)]), ag.tensor([2**63 - 1])
    with pytest.raises(AssertionError, match=f"absolute difference: {2**64 - 1} at index"):
        assert_close(low, high)


def test_report_counts_and_finds_the_greatest():
    a = ag.zeros(2, 3)
    e = ag.tensor([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    with pytest.raises(AssertionError) as caught:
        assert_close(a, e)
    text = str(caught.value)
    assert "Mismatched elements: 4 / 6 (66.7%)" in text
    assert "Greatest absolute difference: 2.0 at index (0, 2)" in text
    assert "Greatest relative difference: 1.0 at index (0, 1)" in text


def test_relative_error_of_zero_is_infinite():
    with pytest.raises(AssertionError, match="relative difference: inf"):
        assert_close(ag.ones(2), ag.zeros(2))


def test_zero_dimensional_tensors_are_called_scalars():
    with pytest.raises(AssertionError, match=r"Scalars are not close!\s+Expected 2.0 but got 1.0."):
        assert_close(ag.tensor(1.0), ag.tensor(2.0))


def test_nan_and_infinity():
    assert_close(ag.tensor([INF, -INF]), ag.tensor([INF, -INF]))
    for a, e in (([INF], [-INF]), ([INF], [1.0]), ([1.0], [INF]), ([NAN], [NAN]), ([NAN], [1.0])):
        with pytest.raises(AssertionError, match="Mismatched elements: 1 / 1"):
            assert_close(ag.tensor(a), ag.tensor(e))
    assert_close(ag.tensor([NAN, 1.0]), ag.tensor([NAN, 1.0]), equal_nan=True)
    with pytest.raises(AssertionError, match=r"difference: nan at index \(1,\)"):
        assert_close(ag.tensor([9.0, NAN]), ag.tensor([1.0, 1.0]))


@pytest.mark.parametrize(
    ("a", "e", "options", "text"),
    [
        (ag.ones(3), ag.ones(2), {}, r"attribute 'shape' do not match: .*\[3\]\) != .*\[2\]"),
        (ag.ones(3), ag.ones(3).double(), {}, "attribute 'dtype' do not match: .*float32 != .*64"),
        (ag.ones(2, 3), ag.ones(3, 2).t(), {"check_stride": True}, r"stride\(\)' do not match"),
    ],
)
def test_attributes(a, e, options, text):
    with pytest.raises(AssertionError, match=text):
        assert_close(a, e, **options)


def test_attributes_that_are_not_checked():
    assert_close(ag.ones(3), ag.ones(3).double(), check_dtype=False)
    assert_close(ag.ones(3), ag.ones(3, dtype=ag.int64), check_dtype=False)
    assert_close(ag.ones(2, 3), ag.ones(3, 2).t())
    assert_close(ag.ones(2, requires_grad=True), ag.ones(2))


def test_numbers():
    assert_close(1.0, 1.0 + 1e-8)
    assert_close(1j, 1j)
    assert_close(INF, INF)
    assert_close(NAN, NAN, equal_nan=True)
    assert_close(1, 1.0, check_dtype=False)
    for a, e, text in (
        (1.0, 1.1, "Scalars are not close!"),
        (INF, -INF, "Scalars are not close!"),
        (1.0, INF, "Scalars are not close!"),
        (NAN, NAN, "Scalars are not close!"),
        (1, 2, "Scalars are not equal!"),
        (1, 1.0, r"The \(d\)types do not match"),
        (True, False, "Booleans mismatch: True is not False"),
        (None, 1.0, "None mismatch: None is not 1.0"),
    ):
        with pytest.raises(AssertionError, match=text):
            assert_close(a, e)


def test_arrays():
    assert_close(np.ones(2), np.ones(2))
    with pytest.raises(AssertionError, match="Mismatched elements: 2 / 2"):
        assert_close(np.ones(2), np.zeros(2))


@pytest.mark.parametrize(
    ("a", "e"), [("a", "a"), (ag.ones(1), 1.0), (np.ones(1), ag.ones(1)), ({1}, {1})]
)
def test_things_that_cannot_be_compared(a, e):
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close(a, e)


def test_subclasses():
    parameter = ag.nn.Parameter(ag.ones(2))
    assert_close(parameter, ag.ones(2))
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(parameter, ag.ones(2), allow_subclasses=False)


def test_containers():
    one = ag.ones(2)
    assert_close({"x": [one, (one,)], "y": None}, {"x": [one, [one]], "y": None})
    with pytest.raises(AssertionError, match=r"The failure occurred for item \['x'\]\[1\]\[0\]"):
        assert_close({"x": [one, (one,)]}, {"x": [one, (one + 1,)]})
    with pytest.raises(AssertionError, match="The length of the sequences mismatch: 2 != 1"):
        assert_close([one, one], [one])
    with pytest.raises(AssertionError, match=r"Missing keys .*\['y'\]\nAdditional keys .*\['x'\]"):
        assert_close({"x": one}, {"y": one})


def test_tolerances_come_together():
    with pytest.raises(ValueError, match="Both 'rtol' and 'atol' must .* but got no atol"):
        assert_close(1.0, 1.0, rtol=1e-3)
    with pytest.raises(ValueError, match="but got no rtol"):
        assert_close(1.0, 1.0, atol=1e-3)
    assert_close(ag.ones(2), ag.ones(2) + 0.1, rtol=0, atol=0.2)
    with pytest.raises(AssertionError, match="not equal"):
        assert_close(ag.ones(2), ag.ones(2) + 0.1, rtol=0, atol=0)


def test_messages():
    with pytest.raises(AssertionError, match="^mine$"):
        assert_close(1.0, 2.0, msg="mine")
    with pytest.raises(AssertionError, match="^mine: Scalars are not close"):
        assert_close(1.0, 2.0, msg=lambda text: "mine: " + text)


# --- make_tensor --------------------------------------------------------------------------------


def make(*shape, dtype=ag.float64, **options):
    return make_tensor(*shape, dtype=dtype, device="cpu", **options)


@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_shapes(shape):
    assert tuple(make(*shape).shape) == tuple(make(shape).shape) == shape


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("bool", 0, 2),
        ("uint8", 0, 10),
        ("int8", -9, 10),
        ("int64", -9, 10),
        ("float16", -9, 9),
        ("bfloat16", -9, 9),
        ("float32", -9, 9),
    ],
)
def test_default_ranges(name, low, high):
    t = make(2000, dtype=getattr(ag, name))
    values = t.double().numpy()
    assert t.dtype == getattr(ag, name)
    assert values.min() >= low and values.max() <= high
    assert values.max() - values.min() > 0.8 * (high - 1 - low)


def test_complex_range_is_that_of_both_parts():
    t = make(1000, dtype=ag.complex128, low=2, high=3)
    for part in (t.real, t.imag):
        assert part.min().item() >= 2 and part.max().item() < 3


def test_given_range_and_zeros():
    t = make(100, low=0.25, high=0.5)
    assert t.min().item() >= 0.25 and t.max().item() < 0.5
    with pytest.warns(FutureWarning, match="low==high"):
        assert make(3, low=1, high=1).tolist() == [1.0] * 3
    assert make(50, dtype=ag.int32, low=0, high=2, exclude_zero=True).tolist() == [1] * 50
    with pytest.warns(FutureWarning, match="low==high"):
        assert (make(5, low=0, high=0, exclude_zero=True) > 0).all()


def test_layouts():
    t = make(3, 4, noncontiguous=True)
    assert not t.is_contiguous() and tuple(t.shape) == (3, 4)
    for shape in ((), (0,), (1,), (2,), (1, 2), (2, 1), (3,)):
        t = make(*shape, noncontiguous=True)
        assert t.is_contiguous() == (t.numel() < 2), shape
    t = make(2, 3, 4, 5, memory_format=ag.channels_last)
    assert t.is_contiguous(memory_format=ag.channels_last)


def test_requires_grad():
    t = make(2, noncontiguous=True, requires_grad=True)
    assert t.requires_grad and t.is_leaf


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"low": 2, "high": 1}, "`low` must be less than `high`, but got 2 >= 1"),
        ({"low": NAN}, "cannot be NaN"),
        ({"dtype": ag.int64, "requires_grad": True}, "not supported for boolean and integral"),
        ({"noncontiguous": True, "memory_format": ag.contiguous_format}, "mutually exclusive"),
    ],
)
def test_refused_arguments(options, text):
    with pytest.raises(ValueError, match=text):
        make(3, **options)
