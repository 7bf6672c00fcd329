"""Draws of gamma, Poisson and binomial numbers, and their derivatives.

Generators are seeded, so that a statistical test fails always or never.
"""

import numpy as np
import pytest
from grouping import each
from scipy import special, stats

import autograd_cy as ag

COUNT = 10_000
LEAST = 1e-4  # of the p-values: there are about forty


def double(*x):
    return ag.tensor(x, dtype=ag.float64)


def drawn(function, *parameters, count=COUNT):
    ag.manual_seed(7)
    return function(*(double(p).expand(count) for p in parameters)).numpy()


@each("a", [1e-2, 0.3, 1.0, 2.5, 40.0, 1e5])
def test_gamma_numbers_have_their_distribution(a):
    assert stats.kstest(drawn(ag._standard_gamma, a), stats.gamma(a).cdf).pvalue > LEAST


def p_value(numbers, law):
    """The p-value of counts by a chi-squared test."""
    k = np.arange(int(numbers.max()) + 2)
    expected = len(numbers) * law.pmf(k)
    found = np.bincount(numbers.astype(int), minlength=len(k))
    many = expected > 8
    expected = np.append(expected[many], len(numbers) - expected[many].sum())
    found = np.append(found[many], len(numbers) - found[many].sum())
    if expected[-1] < 1:
        expected, found = expected[:-1], found[:-1]
    return stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue


@each("rate", [0.01, 0.7, 5.0, 9.99, 10.0, 33.3, 1e4])
def test_poisson_numbers_have_their_distribution(rate):
    assert p_value(drawn(ag.poisson, rate), stats.poisson(rate)) > LEAST


BINOMIAL = [(1, 0.3), (20, 0.2), (20, 0.9), (100, 0.09), (100, 0.5), (10**6, 0.01), (50, 0.97)]


@each("n, p", BINOMIAL)
def test_binomial_numbers_have_their_distribution(n, p):
    assert p_value(drawn(ag.binomial, float(n), p), stats.binom(n, p)) > LEAST


def test_parts_of_dirichlet_vectors_have_beta_distributions():
    ag.manual_seed(7)
    x = ag._sample_dirichlet(double(0.5, 2.0, 1.0).expand(COUNT, 3)).numpy()
    assert np.allclose(x.sum(-1), 1)
    for i, (a, b) in enumerate(((0.5, 3.0), (2.0, 1.5), (1.0, 2.5))):
        assert stats.kstest(x[:, i], stats.beta(a, b).cdf).pvalue > LEAST


def test_limits_and_special_values():
    tiny = float(np.finfo(np.float32).tiny)
    x = ag._standard_gamma(ag.tensor([0.0, 1e-10, float("inf"), float("nan")]))
    assert x[:2].tolist() == [tiny, tiny] and x[2] == float("inf") and x[3].isnan()
    assert ag.poisson(ag.tensor([0.0, float("inf")])).tolist() == [0.0, float("inf")]
    counts = ag.binomial(ag.tensor([3.0, 5.0, 0.0, -1.0]), ag.tensor([0.0, 1.0, 0.5, 0.5]))
    assert counts.tolist() == [0.0, 5.0, 0.0, 0.0]
    assert ag.binomial(ag.tensor([3.0]), ag.tensor([float("nan")])).isnan().all()
    tops = ag._sample_dirichlet(ag.tensor([1e-6, 1e-6]))
    assert sorted(tops.tolist()) == pytest.approx([0.0, 1.0])
    for function in (ag._standard_gamma, ag.poisson, ag._sample_dirichlet):
        assert function(ag.ones(2, 0)).shape == (2, 0)
        assert function(ag.tensor(1.5)).shape == ()
    assert ag.binomial(ag.ones(3, 1), ag.rand(2)).shape == (3, 2)


DRAWS = {
    "gamma": lambda g: ag._standard_gamma(ag.ones(9), g),
    "poisson": lambda g: ag.poisson(ag.arange(9) * 4.0, g),
    "binomial": lambda g: ag.binomial(ag.arange(9) * 9.0, ag.full((9,), 0.4), g),
    "dirichlet": lambda g: ag._sample_dirichlet(ag.ones(9), g),
}


@each("name", DRAWS)
def test_a_seed_gives_the_same_numbers_and_the_next_call_others(name):
    one, other = ag.Generator().manual_seed(3), ag.Generator().manual_seed(3)
    state = ag.get_rng_state()
    assert DRAWS[name](one).equal(DRAWS[name](other))
    assert not DRAWS[name](one).equal(DRAWS[name](ag.Generator().manual_seed(3)))
    assert ag.get_rng_state().equal(state)
    ag.manual_seed(3)
    assert DRAWS[name](None).equal(DRAWS[name](ag.Generator().manual_seed(3)))


REFUSED = [
    (RuntimeError, "invalid Poisson rate", lambda: ag.poisson(ag.tensor([-1.0]))),
    (RuntimeError, "invalid Poisson rate", lambda: ag.poisson(ag.tensor([float("nan")]))),
    (NotImplementedError, '"poisson_cpu" not implemented', lambda: ag.poisson(ag.ones(2).long())),
    (NotImplementedError, '"gamma_cpu"', lambda: ag._standard_gamma(ag.ones(2).half())),
    (NotImplementedError, '"dirichlet"', lambda: ag._sample_dirichlet(ag.ones(2).long())),
    (ValueError, "only supports floating", lambda: ag.binomial(ag.ones(2).long(), ag.rand(2))),
    (RuntimeError, "Found dtype", lambda: ag.binomial(ag.ones(2), ag.rand(2).double())),
    (TypeError, "must be Tensor", lambda: ag.poisson(3.0)),
    (TypeError, "'generator' must be", lambda: ag.poisson(ag.ones(2), 3)),
]


@each("kind, text, call", REFUSED)
def test_wrong_arguments_are_refused(kind, text, call):
    with pytest.raises(kind, match=text):
        call()


def test_half_types_are_drawn_where_torch_has_them():
    assert ag.poisson(ag.ones(2).half()).dtype is ag.float16
    assert ag.binomial(ag.ones(2).bfloat16(), ag.ones(2).bfloat16()).tolist() == [1.0, 1.0]


def test_vmap_draws_for_each_example():
    for draw in (ag.poisson, ag._standard_gamma):
        x = ag.vmap(draw, randomness="different")(ag.full((64,), 50.0))
        assert x.shape == (64,) and len(set(x.tolist())) > 10
        with pytest.raises(RuntimeError, match="randomness"):
            ag.vmap(draw)(ag.ones(3))


# --- derivatives ----------------------------------------------------------------------------------


def slopes(f, a):
    """The derivative of `f` by central differences of fourth order."""
    h = 1e-4 * a
    return (8 * (f(a + h) - f(a - h)) - (f(a + 2 * h) - f(a - 2 * h))) / (12 * h)


def cases(n=3000):
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-3, 4.5, n)
    return a, np.maximum(rng.gamma(a), 1e-280)


def test_derivatives_of_gamma_numbers_are_those_of_the_quantiles():
    a, z = cases()
    found = ag._standard_gamma_grad(ag.from_numpy(a), ag.from_numpy(z)).numpy()
    below = special.gammainc(a, z) < 0.5
    change = np.where(
        below,
        -slopes(lambda a: special.gammainc(a, z), a),
        slopes(lambda a: special.gammaincc(a, z), a),
    )
    density = np.exp((a - 1) * np.log(z) - z - special.gammaln(a))
    np.testing.assert_allclose(found, change / density, rtol=2e-6)


def test_derivatives_of_beta_numbers_are_those_of_the_quantiles():
    rng = np.random.default_rng(0)
    a, b = 10 ** rng.uniform(-2, 3.5, (2, 3000))
    x = rng.beta(a, b)
    kept = (x > 1e-280) & (x < 1 - 1e-9)
    a, b, x = a[kept], b[kept], x[kept]
    arrays = [ag.from_numpy(v) for v in (x, a, a + b)]
    found = ag._dirichlet_grad(*arrays).numpy() * (1 - x)
    change = np.where(
        special.betainc(a, b, x) < 0.5,
        -slopes(lambda a: special.betainc(a, b, x), a),
        slopes(lambda a: special.betaincc(a, b, x), a),
    )
    density = np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b))
    np.testing.assert_allclose(found, change / density, rtol=1e-6)


def test_derivatives_agree_with_torch_where_its_series_are_good():
    torch = pytest.importorskip("torch")
    a, z = cases()
    theirs = torch._standard_gamma_grad(torch.from_numpy(a), torch.from_numpy(z)).numpy()
    ours = ag._standard_gamma_grad(ag.from_numpy(a), ag.from_numpy(z)).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=2e-3)
    assert np.median(np.abs(ours / theirs - 1)) < 1e-6


def test_derivatives_at_the_ends():
    nan, inf = float("nan"), float("inf")
    a, z = double(0.5, 1.0, nan, 1.0, 1.0, 0.0), double(0.0, inf, 1.0, nan, 1e308, 1.0)
    found = ag._standard_gamma_grad(a, z).tolist()
    assert found[:2] == [0.0, 0.0] and np.isnan(found[2:4]).all() and np.isfinite(found[4])
    x = ag._dirichlet_grad(double(0.0, 1.0, nan), double(1.0, 1.0, 1.0), double(2.0, 2.0, 2.0))
    assert x.tolist()[:2] == [0.0, 0.0] and x[2].isnan()
    for dtype in (ag.float32, ag.float64):
        one = ag.ones(3, dtype=dtype)
        assert ag._standard_gamma_grad(one, one).dtype is dtype


def test_gradients_tangents_and_what_has_none():
    a = double(0.5, 2.0, 30.0).requires_grad_()
    z = ag._standard_gamma(a)
    (grad,) = ag.autograd.grad(z.sum(), a, create_graph=True)
    np.testing.assert_array_equal(
        grad.detach().numpy(), ag._standard_gamma_grad(a.detach(), z.detach()).numpy()
    )
    with pytest.raises(RuntimeError, match="derivative for '?_standard_gamma_grad"):
        ag.autograd.grad(grad.sum(), a)
    assert z.grad_fn.name() == "StandardGammaBackward0"
    (zero,) = ag.autograd.grad(ag.poisson(a).sum(), a)
    assert zero.tolist() == [0.0, 0.0, 0.0]
    ag.manual_seed(1)
    _, tangent = ag.func.jvp(ag._standard_gamma, (a.detach(),), (double(1.0, 0.0, 2.0),))
    ag.manual_seed(1)
    (grad,) = ag.autograd.grad(ag._standard_gamma(a).sum(), a)
    np.testing.assert_allclose(tangent.numpy(), grad.numpy() * [1.0, 0.0, 2.0])


def test_gradients_of_dirichlet_vectors_keep_the_sum():
    a = double(0.5, 2.0, 3.0).requires_grad_()
    x = ag._sample_dirichlet(a)
    (grad,) = ag.autograd.grad(x.sum(), a, retain_graph=True)
    assert np.abs(grad.numpy()).max() < 1e-12
    rows = [ag.autograd.grad(x[i], a, retain_graph=True)[0].numpy() for i in range(3)]
    ag.manual_seed(2)
    x = ag._sample_dirichlet(a)
    rows = np.array([ag.autograd.grad(x[i], a, retain_graph=True)[0].numpy() for i in range(3)])
    for j in range(3):
        ag.manual_seed(2)
        direction = ag.eye(3, dtype=ag.float64)[j]
        _, tangent = ag.func.jvp(ag._sample_dirichlet, (a.detach(),), (direction,))
        np.testing.assert_allclose(tangent.numpy(), rows[:, j], atol=1e-14)


@each("a", [0.3, 2.0, 25.0])
def test_mean_gradients_are_those_of_the_means(a):
    """E g(z) has the derivative E g'(z) dz/da: of z it is 1, of z squared 2 a + 1."""
    ag.manual_seed(5)
    x = double(a).requires_grad_()
    z = ag._standard_gamma(x.expand(COUNT))
    (one,) = ag.autograd.grad(z.mean(), x, retain_graph=True)
    (square,) = ag.autograd.grad(z.square().mean(), x)
    assert one.item() == pytest.approx(1, rel=0.08)
    assert square.item() == pytest.approx(2 * a + 1, rel=0.12)
