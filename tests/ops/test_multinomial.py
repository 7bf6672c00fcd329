"""Categories drawn by their weights."""

import numpy as np
import pytest

import autograd_cy as ag


@pytest.fixture(autouse=True)
def fixed():
    ag.manual_seed(0)


WEIGHTS = np.array([0.5, 0.0, 2.0, 1.0, 0.25])


def test_frequencies_with_replacement_are_the_weights():
    drawn = ag.multinomial(ag.tensor(WEIGHTS), 40_000, True)
    assert drawn.dtype == ag.int64 and drawn.shape == (40_000,)
    found = np.bincount(drawn.numpy(), minlength=5) / 40_000
    np.testing.assert_allclose(found, WEIGHTS / WEIGHTS.sum(), atol=0.01)
    assert found[1] == 0


def test_without_replacement_the_order_is_that_of_drawing_one_after_the_other():
    rows = ag.tensor(WEIGHTS, dtype=ag.float32).expand(20_000, 5)
    drawn = rows.multinomial(4).numpy()
    assert drawn.shape == (20_000, 4)
    assert (np.sort(drawn) == [0, 2, 3, 4]).all()
    chances = WEIGHTS / WEIGHTS.sum()
    for first in (0, 2, 3, 4):
        begun = drawn[drawn[:, 0] == first]
        assert abs(len(begun) / len(drawn) - chances[first]) < 0.015
        rest = np.where(np.arange(5) == first, 0, chances)
        second = np.bincount(begun[:, 1], minlength=5) / len(begun)
        np.testing.assert_allclose(second, rest / rest.sum(), atol=0.04)


@pytest.mark.parametrize("replacement", [False, True])
def test_a_generator_repeats_and_leaves_the_others_alone(replacement):
    state = ag.get_rng_state()
    draws = [
        ag.multinomial(ag.ones(50), 20, replacement, generator=ag.Generator().manual_seed(7))
        for _ in range(2)
    ]
    assert ag.equal(*draws) and ag.equal(state, ag.get_rng_state())


def test_out_is_written_and_has_to_hold_indices():
    out = ag.empty(2, 3, dtype=ag.int64)
    assert ag.multinomial(ag.ones(2, 3), 3, out=out) is out
    assert out.sort(1)[0].tolist() == [[0, 1, 2]] * 2
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int"):
        ag.multinomial(ag.ones(3), 2, out=ag.empty(2))


def test_results_have_no_history():
    assert not ag.multinomial(ag.ones(3, requires_grad=True), 1).requires_grad


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16, ag.float64])
def test_all_floating_dtypes(dtype):
    assert ag.multinomial(ag.tensor([0.0, 1.0], dtype=dtype), 1).tolist() == [1]


def test_no_rows_and_meta():
    assert ag.multinomial(ag.empty(0, 3), 2).shape == (0, 2)
    assert ag.multinomial(ag.empty(4, 3, device="meta"), 2, True).shape == (4, 2)


REFUSED = {
    "ints": (lambda m: (m.tensor([1, 2]), 1), RuntimeError, "floating-point"),
    "three dims": (lambda m: (m.ones(2, 2, 2), 1), RuntimeError, "1 or 2 dim"),
    "none": (lambda m: (m.ones(3), 0), RuntimeError, "n_sample <= 0"),
    "too many": (lambda m: (m.ones(3), 4), RuntimeError, "without replacement"),
    "negative": (lambda m: (m.tensor([1.0, -1.0]), 1), RuntimeError, "element < 0"),
    "nan": (lambda m: (m.tensor([1.0, float("nan")]), 1), RuntimeError, "element < 0"),
    "inf": (lambda m: (m.tensor([1.0, float("inf")]), 1), RuntimeError, "element < 0"),
    "zeros": (lambda m: (m.zeros(2), 1, True), RuntimeError, "sum of probabilities <= 0"),
    "float": (lambda m: (m.ones(2), 2.0), TypeError, "num_samples"),
    "bool": (lambda m: (m.ones(2), True), TypeError, "num_samples"),
}


@pytest.mark.parametrize(("make", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(make, error, text):
    state = ag.get_rng_state()
    with pytest.raises(error, match=text):
        ag.multinomial(*make(ag))
    assert ag.equal(state, ag.get_rng_state())
    torch = pytest.importorskip("torch")
    with pytest.raises(error, match=text):
        torch.multinomial(*make(torch))
