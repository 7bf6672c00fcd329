"""Quantiles, modes and covariances where generated tests say little."""

import numpy as np
import pytest

import autograd_cy as ag

NAN, INF = float("nan"), float("inf")


# --- modes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ag.uint8, ag.int64, ag.float32, ag.float16, ag.bool])
def test_modes_are_the_smallest_of_the_most_often(dtype):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2 if dtype is ag.bool else 4, (5, 7, 6))
    for dim in (0, 1, -1):
        values, indices = ag.mode(ag.tensor(x, dtype=dtype), dim)
        assert values.dtype is dtype and indices.dtype is ag.int64
        rows = np.moveaxis(x, dim, -1)
        for place in np.ndindex(rows.shape[:-1]):
            row = rows[place]
            most = np.bincount(row).argmax()
            assert values[place] == most
            assert indices[place] == np.flatnonzero(row == most)[-1]
    kept = ag.mode(ag.tensor(x, dtype=dtype), 1, keepdim=True)
    assert kept.values.shape == (5, 1, 6) == kept.indices.shape


def test_nan_equals_nothing_and_is_a_mode_of_nothing_else():
    assert ag.mode(ag.tensor([NAN, 1.0, NAN, 1.0])) == (ag.tensor(1.0), ag.tensor(3))
    assert ag.mode(ag.tensor([NAN, NAN])).values.isnan()
    assert ag.mode(ag.tensor(3.0)) == (ag.tensor(3.0), ag.tensor(0))
    assert ag.mode(ag.zeros(0, 3), 1).values.shape == (0,)


def test_the_gradient_goes_to_the_place_that_a_mode_names():
    x = ag.tensor([[2.0, 1.0, 2.0], [3.0, 4.0, 5.0]], requires_grad=True)
    (ag.mode(x).values * ag.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 1.0], [10.0, 0.0, 0.0]]


# --- quantiles ------------------------------------------------------------------------------------


def test_a_nan_makes_a_quantile_nan_and_is_left_out_by_nanquantile():
    x = ag.tensor([[1.0, NAN, 3.0], [1.0, 2.0, 4.0], [NAN, NAN, NAN]])
    assert ag.quantile(x, 0.5, 1).isnan().tolist() == [True, False, True]
    found = ag.nanquantile(x, 0.5, 1)
    assert found[:2].tolist() == [2.0, 2.0] and found[2].isnan()
    assert ag.nanquantile(x, ag.tensor([0.0, 1.0])).tolist() == [1.0, 4.0]


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_of_each_interpolation(name, interpolation):
    rng = np.random.default_rng(1)
    x, q = rng.standard_normal((4, 5)), np.array([0.0, 0.11, 0.5, 0.875, 1.0])
    function, reference = getattr(ag, name), getattr(np, name)
    for dim in (None, 0, 1):
        for keepdim in (False, True):
            options = {"keepdim": keepdim, "interpolation": interpolation}
            found = function(ag.tensor(x), ag.tensor(q), dim, **options)
            expected = reference(x, q, axis=dim, keepdims=keepdim, method=interpolation)
            np.testing.assert_allclose(found.numpy(), expected)
            one = function(ag.tensor(x), 0.3, dim, **options)
            expected = reference(x, 0.3, axis=dim, keepdims=keepdim, method=interpolation)
            np.testing.assert_allclose(one.numpy(), expected)


def test_quantiles_have_derivatives_in_both_arguments():
    x = ag.tensor([3.0, 1.0, 2.0, 5.0], dtype=ag.float64, requires_grad=True)
    q = ag.tensor([0.3, 0.8], dtype=ag.float64, requires_grad=True)
    assert ag.autograd.gradcheck(ag.quantile, (x, q), check_forward_ad=True)
    assert ag.autograd.gradgradcheck(ag.quantile, (x, q))


def test_examples_of_a_batch_have_quantiles_of_their_own():
    x = ag.tensor(np.random.default_rng(2).standard_normal((3, 4, 2)))
    found = ag.vmap(lambda x: ag.quantile(x, 0.4, 0))(x)
    assert ag.allclose(found, ag.stack([ag.quantile(one, 0.4, 0) for one in x]))
    q = ag.tensor([0.1, 0.5, 0.9], dtype=ag.float64)
    found = ag.vmap(lambda q: ag.quantile(x, q))(q)
    assert ag.allclose(found, ag.quantile(x, q))


def test_quantiles_refuse_what_they_cannot_take():
    x = ag.ones(3)
    for q, text in (
        (ag.tensor([0.5, 1.5]), r"q values must be in the range \[0, 1\]"),
        (ag.tensor([0.5], dtype=ag.float64), "q tensor must be same dtype as the input tensor"),
        (ag.zeros(2, 2), "q must be a scalar or 1D tensor"),
        (-0.1, r"q must be in the range \[0, 1\] but got -0.1"),
    ):
        with pytest.raises(RuntimeError, match=text):
            ag.quantile(x, q)
    with pytest.raises(RuntimeError, match="must be either float or double dtype"):
        ag.quantile(ag.arange(3), 0.5)
    with pytest.raises(RuntimeError, match="input tensor must be non-empty"):
        ag.nanquantile(ag.zeros(3, 0), 0.5, 0)


# --- covariances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_covariances_with_weights(dtype):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((3, 5)) + (1j * rng.standard_normal((3, 5)) if dtype.is_complex else 0)
    f, a = np.array([1, 3, 2, 1, 1]), rng.uniform(0.5, 1.5, 5)
    for given in ({}, {"fweights": f}, {"aweights": a}, {"fweights": f, "aweights": a}):
        for correction in (0, 1):
            tensors = {name: ag.tensor(w) for name, w in given.items()}
            found = ag.cov(ag.tensor(x), correction=correction, **tensors)
            np.testing.assert_allclose(found.numpy(), np.cov(x, ddof=correction, **given))
    np.testing.assert_allclose(ag.corrcoef(ag.tensor(x)).numpy(), np.corrcoef(x))
    leaf = ag.tensor(x, requires_grad=True)
    weights = ag.tensor(a, requires_grad=True)
    assert ag.autograd.gradcheck(
        lambda x, a: ag.cov(x, aweights=a), (leaf, weights), check_forward_ad=True
    )


def test_covariances_warn_of_too_few_observations():
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert ag.cov(ag.tensor([1.0])).isnan()
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        ag.cov(ag.ones(2, 2), aweights=ag.tensor([1.0, 0.0]))


def test_covariances_refuse_weights_that_do_not_fit():
    x = ag.ones(2, 3)
    for options, text in (
        ({"fweights": ag.tensor([1.0, 2.0, 3.0])}, "expected fweights to have integral dtype"),
        ({"fweights": ag.tensor([1, 2])}, "same numel as there are observations in the input but"),
        ({"fweights": ag.tensor([1, 2, -1])}, "fweights cannot be negative"),
        ({"fweights": ag.tensor([[1, 2, 1]])}, "one or fewer dimensions but got fweights with 2"),
        ({"aweights": ag.tensor([1, 2, 1])}, "expected aweights to have floating point dtype"),
        ({"aweights": ag.tensor([1.0, 2.0, -1.0])}, "aweights cannot be negative"),
        ({"aweights": ag.zeros(3)}, "weights sum to zero"),
    ):
        with pytest.raises(RuntimeError, match=text):
            ag.cov(x, **options)
    with pytest.raises(RuntimeError, match="bool dtype is not supported"):
        ag.cov(ag.tensor([True, False]))
