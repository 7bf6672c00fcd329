"""Long inputs together with options: loops that go by blocks must keep both in mind."""

import numpy as np
import pytest

import autograd_cy as ag

N = 5000  # more than any block of the kernels
F = ag.nn.functional


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def close(got, want, rtol=1e-10):
    np.testing.assert_allclose(got.numpy(), want, rtol=rtol, atol=rtol)


# --- indices ----------------------------------------------------------------------------------

TAKING = {
    "index_select": lambda x, k: ag.index_select(x, 0, k),
    "index_add": lambda x, k: ag.index_add(x, 0, k, ag.ones(k.numel(), dtype=x.dtype)),
    "index_copy": lambda x, k: ag.index_copy(x, 0, k, ag.ones(k.numel(), dtype=x.dtype)),
    "index_fill": lambda x, k: ag.index_fill(x, 0, k, 2.0),
    "gather": lambda x, k: ag.gather(x, 0, k),
    "scatter": lambda x, k: ag.scatter(x, 0, k, ag.ones(k.numel(), dtype=x.dtype)),
    "scatter_add": lambda x, k: ag.scatter_add(x, 0, k, ag.ones(k.numel(), dtype=x.dtype)),
    "take": ag.take,
    "[]": lambda x, k: x[k],
    "[] =": lambda x, k: x.clone().__setitem__(k, 1.0),
    "index_put": lambda x, k: x.clone().index_put_((k,), x[0], accumulate=True),
}


@pytest.mark.parametrize("name", TAKING)
@pytest.mark.parametrize("place", [1023, 1024, 1500, N - 1])
@pytest.mark.parametrize("bad", [N, -N - 1, 2**62])
def test_an_index_outside_is_found_wherever_it_stands(name, place, bad):
    x = ag.zeros(N, dtype=ag.float64)
    k = ag.arange(N)
    k[place] = bad
    with pytest.raises((IndexError, RuntimeError), match="out of (bounds|range)"):
        TAKING[name](x, k)
    assert not x.any()


@pytest.mark.parametrize("alpha", [1, -2.5])
def test_many_rows_are_added_with_a_factor(alpha):
    x, rows = numbers(7, 3), numbers(N, 3, seed=1)
    k = np.random.default_rng(2).integers(0, 7, N)
    want = x.copy()
    np.add.at(want, k, alpha * rows)
    args = ag.tensor(x), 0, ag.tensor(k), ag.tensor(rows)
    close(ag.index_add(*args, alpha=alpha), want)
    close(ag.index_add(ag.tensor(x.T.copy()), 1, args[2], args[3].t(), alpha=alpha), want.T)


# --- sums -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize(("dtype", "wide"), [("float32", "float64"), ("int8", "int64")])
def test_long_running_sums_in_a_wider_dtype(dim, dtype, wide):
    a = (100 * numbers(*[(N, 3), (3, N)][dim])).astype(dtype)
    got = ag.cumsum(ag.from_numpy(a), dim, dtype=getattr(ag, wide))
    assert str(got.dtype).endswith(wide)
    close(got, a.astype(wide).cumsum(dim))
    strided = ag.from_numpy(np.repeat(a, 2, 1 - dim))
    window = strided[:, ::2] if dim == 0 else strided[::2]
    close(ag.cumsum(window, dim, dtype=getattr(ag, wide)), a.astype(wide).cumsum(dim))


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_long_reductions_in_a_wider_dtype(name, dim, keepdim):
    a = (1 + numbers(*[(N, 3), (3, N)][dim]) / N).astype("float32")
    got = getattr(ag, name)(ag.from_numpy(a), dim, keepdim=keepdim, dtype=ag.float64)
    assert got.dtype == ag.float64
    close(got, getattr(a.astype("float64"), name)(dim, keepdims=keepdim))


@pytest.mark.parametrize("correction", [0, 1, 2.5, N - 1])
@pytest.mark.parametrize("dim", [0, 1])
def test_long_variances_with_a_correction(correction, dim):
    a = 1000 + numbers(*[(N, 3), (3, N)][dim])
    want = ((a - a.mean(dim, keepdims=True)) ** 2).sum(dim) / (N - correction)
    close(ag.var(ag.tensor(a), dim, correction=correction), want, 1e-8)
    close(ag.std(ag.tensor(a), dim, correction=correction), want**0.5, 1e-8)


# --- order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_a_long_stable_sort_keeps_equal_elements_in_order(descending, dim):
    a = np.random.default_rng(0).integers(0, 9, [(N, 2), (2, N)][dim])
    values, places = ag.sort(ag.tensor(a), dim, descending, stable=True)
    want = np.argsort(-a if descending else a, axis=dim, kind="stable")
    np.testing.assert_array_equal(places.numpy(), want)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(a, want, dim))
    places = ag.argsort(ag.tensor(a), dim, descending, stable=True)
    np.testing.assert_array_equal(places.numpy(), want)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("k", [1, 70, N - 1, N])
def test_the_first_of_a_long_row(largest, k):
    a = numbers(2, N)
    want = np.sort(a, 1)[:, ::-1][:, :k] if largest else np.sort(a, 1)[:, :k]
    values, places = ag.topk(ag.tensor(a), k, 1, largest)
    np.testing.assert_array_equal(values.numpy(), want)
    np.testing.assert_array_equal(np.take_along_axis(a, places.numpy(), 1), want)
    loose, places = ag.topk(ag.tensor(a), k, 1, largest, sorted=False)
    np.testing.assert_array_equal(np.sort(loose.numpy(), 1), np.sort(want, 1))
    np.testing.assert_array_equal(np.take_along_axis(a, places.numpy(), 1), loose.numpy())


# --- losses -----------------------------------------------------------------------------------


def expected_loss(logits, target, weight, smoothing, ignored, reduction):
    shifted = logits - logits.max(1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    keep = target != ignored
    safe = np.where(keep, target, 0)
    each = -weight[safe] * logp[np.arange(len(target)), safe]
    spread = -(weight * logp).sum(1) / logits.shape[1]
    loss = np.where(keep, (1 - smoothing) * each + smoothing * spread, 0)
    if reduction == "none":
        return loss
    return loss.sum() / (1 if reduction == "sum" else (weight[safe] * keep).sum())


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [6, N])
def test_cross_entropy_with_all_its_options(reduction, smoothing, weighted, n):
    logits, target = numbers(n, 4), np.random.default_rng(1).integers(0, 4, n)
    target[::5] = -7
    weight = np.array([0.5, 1.0, 2.0, 4.0]) if weighted else np.ones(4)
    want = expected_loss(logits, target, weight, smoothing, -7, reduction)
    got = F.cross_entropy(
        ag.tensor(logits),
        ag.tensor(target),
        ag.tensor(weight) if weighted else None,
        ignore_index=-7,
        reduction=reduction,
        label_smoothing=smoothing,
    )
    close(got, want)


# --- comparison -------------------------------------------------------------------------------


@pytest.mark.parametrize(("rtol", "atol"), [(0.0, 0.0), (0.0, 0.6), (0.3, 0.0), (0.3, 0.6)])
def test_closeness_by_either_tolerance_alone(rtol, atol):
    a, b = np.array([1.0, 1.0, 4.0, 10.0, np.inf]), np.array([1.0, 1.5, 5.0, 20.0, np.inf])
    got = ag.isclose(ag.tensor(a), ag.tensor(b), rtol, atol)
    assert got.tolist() == np.isclose(a, b, rtol, atol).tolist()
    whole = ag.isclose(ag.tensor([1, 4]), ag.tensor([1, 5]), rtol, atol)
    assert whole.tolist() == np.isclose([1, 4], [1, 5], rtol, atol).tolist()
