"""Areas between given points, segments and their reductions."""

import numpy as np
import pytest

import autograd_cy as ag


def test_areas_between_points_are_sums_of_trapezoids():
    rng = np.random.default_rng(0)
    y, x = rng.standard_normal((2, 4, 3)), np.sort(rng.standard_normal((2, 4, 3)), axis=1)
    areas = (y[:, 1:] + y[:, :-1]) / 2 * np.diff(x, axis=1)
    for function, expected in (
        (ag.trapezoid, areas.sum(1)),
        (ag.trapz, areas.sum(1)),
        (ag.cumulative_trapezoid, areas.cumsum(1)),
    ):
        found = function(ag.tensor(y), ag.tensor(x), dim=1)
        np.testing.assert_allclose(found.numpy(), expected)
        found = function(ag.tensor(y), x=ag.tensor(x), dim=-2)
        np.testing.assert_allclose(found.numpy(), expected)
    points = ag.tensor([0.0, 1.0, 3.0])
    assert ag.trapz(ag.tensor([1.0, 2.0, 4.0]), points).item() == 7.5
    assert ag.trapezoid(ag.tensor([[1, 2, 4]]), ag.tensor([0, 1, 3])).tolist() == [7.5]


def test_bools_have_no_area():
    b = ag.tensor([True, False])
    for function in (ag.trapezoid, ag.cumulative_trapezoid):
        with pytest.raises(RuntimeError, match="bool input for `y`, but bool is not supported"):
            function(b)
        with pytest.raises(RuntimeError, match="bool input for `x`, but bool is not supported"):
            function(ag.ones(2), b)


# --- segments -------------------------------------------------------------------------------------

WORDS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("kind", [ag.int32, ag.int64])
def test_segments_follow_each_other(word, kind):
    x = np.random.default_rng(1).standard_normal((6, 2))
    parts = [x[:1], x[1:4], x[4:]]
    expected = np.stack([WORDS[word](part, 0) for part in parts])
    lengths, offsets = (ag.tensor(n, dtype=kind) for n in ([1, 3, 2], [0, 1, 4, 6]))
    for options in ({"lengths": lengths}, {"offsets": offsets}):
        found = ag.segment_reduce(ag.tensor(x), word, **options)
        np.testing.assert_allclose(found.numpy(), expected)
    leaf = ag.tensor(x, requires_grad=True)

    def f(x):
        return ag.segment_reduce(x, word, lengths=lengths)

    assert ag.autograd.gradcheck(f, (leaf,), check_forward_ad=True, check_batched_grad=True)
    assert ag.autograd.gradgradcheck(f, (leaf,))


@pytest.mark.parametrize(
    ("word", "empty"),
    [("sum", 0.0), ("max", -np.inf), ("min", np.inf), ("prod", 1.0), ("mean", np.nan)],
)
def test_a_segment_without_elements_has_the_first_value(word, empty):
    x, lengths = ag.tensor([1.0, 2.0, 3.0]), ag.tensor([2, 0, 1])
    found = ag.segment_reduce(x, word, lengths=lengths)
    np.testing.assert_equal(found[1].item(), empty)
    assert ag.segment_reduce(x, word, lengths=lengths, initial=4.0)[1].item() == 4.0


def test_each_row_has_segments_of_its_own():
    x = ag.arange(12.0).reshape(2, 3, 2)
    found = ag.segment_reduce(x, "sum", lengths=ag.tensor([[1, 2], [3, 0]]), axis=1)
    assert found.tolist() == [[[0, 1], [6, 8]], [[24, 27], [0, 0]]]


def test_lengths_that_do_not_fit_are_refused():
    x = ag.ones(5)
    for lengths, text in (
        ([2, 1], "Expected all rows of lengths along axis to sum to"),
        ([2, -1, 4], "lengths contains negative value"),
    ):
        with pytest.raises(RuntimeError, match=text):
            ag.segment_reduce(x, "sum", lengths=ag.tensor(lengths))
    part = ag.segment_reduce(x, "sum", lengths=ag.tensor([2, 1]), unsafe=True)
    assert part.tolist() == [2.0, 1.0]
    with pytest.raises(RuntimeError, match="last dimension of lengths but got 1"):
        ag.segment_reduce(ag.ones(2, 3), "sum", lengths=ag.tensor([1, 2]), axis=1)
    with pytest.raises(NotImplementedError, match="must be of int32 or int64"):
        ag.segment_reduce(x, "sum", lengths=ag.tensor([2.0, 3.0]))
