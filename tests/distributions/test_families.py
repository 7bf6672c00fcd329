"""Densities, moments, divergences and samples of distributions, beside SciPy and torch."""

import copy
import itertools
import pickle
import warnings

import numpy as np
import pytest
from families import families
from grouping import each
from scipy import stats

import autograd_cy as ag
from autograd_cy import distributions as D
from autograd_cy.distributions.kl_by_moments import _exponential_family

OURS = families(ag)
NAMES = list(OURS)
PARAMETERS = (np.array([0.5, 2.0, 3.7]), np.array([1.5, 0.7, 2.0]))
a, b = PARAMETERS


def attempt(function, *args):
    try:
        return function(*args)
    except (ValueError, NotImplementedError, RuntimeError) as error:
        return type(error).__name__


def values(x):
    return x.detach().numpy() if hasattr(x, "detach") else x


def assert_same(ours, theirs, rtol=1e-7):
    ours, theirs = values(ours), values(theirs)
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, np.ndarray):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-10)
    else:
        assert ours == theirs


SCIPY = {
    "gamma": (stats.gamma(a, scale=1 / b), [0.3, 1.0, 4.0]),
    "chi2": (stats.chi2(a), [0.3, 1.0, 4.0]),
    "beta": (stats.beta(a, b), [0.2, 0.5, 0.9]),
    "inverse gamma": (stats.invgamma(a + 2, scale=b), [0.3, 1.0, 4.0]),
    "student": (stats.t(a + 2, b, b), [-0.3, 1.0, 4.0]),
    "fisher": (stats.f(a * 2, b * 3 + 4), [0.3, 1.0, 4.0]),
    "poisson": (stats.poisson(a), [0.0, 1.0, 4.0]),
    "binomial": (stats.binom(5, [0.1, 0.5, 0.9]), [0.0, 1.0, 5.0]),
    "negative binomial": (stats.nbinom(a, 1 - np.array([0.1, 0.5, 0.8])), [0.0, 1.0, 5.0]),
    "pareto": (stats.pareto(a + 2, scale=b), [1.6, 1.0, 4.0]),
    "weibull": (stats.weibull_min(a + 1, scale=b), [0.3, 1.0, 4.0]),
    "von Mises": (stats.vonmises(b, loc=a), [0.3, 1.0, 4.0]),
}
ALL = OURS | {"von Mises": D.VonMises(ag.from_numpy(a), ag.from_numpy(b))}


@each("name", SCIPY)
def test_densities_and_moments_are_those_of_scipy(name):
    law, at = SCIPY[name]
    d, x = ALL[name], ag.tensor(at, dtype=ag.float64)
    discrete = not hasattr(law.dist, "pdf")
    assert_same(d.log_prob(x), (law.logpmf if discrete else law.logpdf)(np.array(at)))
    if name != "von Mises":  # whose variance is the circular one
        assert_same(d.mean, law.mean())
        assert_same(d.variance, law.var())
    if isinstance(attempt(d.entropy), ag.Tensor):
        assert_same(d.entropy(), law.entropy())
    if isinstance(attempt(d.cdf, x), ag.Tensor):
        assert_same(d.cdf(x), law.cdf(np.array(at)))


@each("k", [-0.3, 0.0, 0.3])
def test_generalized_pareto_is_that_of_scipy(k):
    d, law = D.GeneralizedPareto(*(ag.tensor(v).double() for v in (0.5, 1.5, k))), stats.genpareto
    law, x = law(k, 0.5, 1.5), np.linspace(0.6, 4.0, 7)
    given = ag.from_numpy(x)
    assert_same(d.log_prob(given), law.logpdf(x), 1e-6)
    assert_same(d.cdf(given), law.cdf(x), 1e-6)
    assert_same(d.icdf(d.cdf(given)), x, 1e-6)
    np.testing.assert_allclose(
        [float(d.mean), float(d.variance), float(d.entropy())],
        [law.mean(), law.var(), law.entropy()],
        rtol=1e-6,
    )


def test_matrices_and_vectors_are_those_of_scipy():
    matrix = np.array([[2.0, 0.3], [0.3, 1.0]])
    x = np.array([[1.5, 0.2], [0.2, 0.7]])
    law = stats.wishart(3.5, matrix)
    d = OURS["wishart"]
    assert float(d.log_prob(ag.from_numpy(x))) == pytest.approx(law.logpdf(x))
    assert float(d.entropy()) == pytest.approx(law.entropy())
    d = D.Dirichlet(ag.from_numpy(a))
    law, x = stats.dirichlet(a), np.array([0.2, 0.3, 0.5])
    assert float(d.log_prob(ag.from_numpy(x))) == pytest.approx(law.logpdf(x))
    assert float(d.entropy()) == pytest.approx(law.entropy())
    d = D.Multinomial(4, ag.from_numpy(a))
    law, x = stats.multinomial(4, a / a.sum()), np.array([1.0, 0.0, 3.0])
    assert float(d.log_prob(ag.from_numpy(x))) == pytest.approx(law.logpmf(x))
    assert float(d.entropy()) == pytest.approx(law.entropy())


# --- beside torch ---------------------------------------------------------------------------------

# PyTorch's formula of the mode is NaN everywhere.
OTHER_MODE = {"kumaraswamy"}


@each("name", NAMES)
def test_properties_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    ours, theirs = families(ag)[name], families(torch)[name]  # new: they store what they compute
    for what in ("mean", "mode", "variance", "stddev"):
        if what != "mode" or name not in OTHER_MODE:
            assert_same(attempt(getattr, ours, what), attempt(getattr, theirs, what))
    for what in ("batch_shape", "event_shape"):
        assert tuple(getattr(ours, what)) == tuple(getattr(theirs, what))
    for what in ("has_rsample", "has_enumerate_support"):
        assert getattr(ours, what) is getattr(theirs, what)
    assert repr(ours).replace("autograd_cy", "torch") == repr(theirs)
    assert_same(attempt(ours.entropy), attempt(theirs.entropy))
    assert_same(attempt(ours.enumerate_support), attempt(theirs.enumerate_support))
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about Wishart's
        x = theirs.sample((4,))
    given = ag.from_numpy(x.numpy())
    assert_same(ours.log_prob(given), theirs.log_prob(x))
    for what in ("cdf", "icdf"):
        assert_same(attempt(getattr(ours, what), given), attempt(getattr(theirs, what), x))
    assert_same(attempt(ours.log_prob, given - 100.5), attempt(theirs.log_prob, x - 100.5))


def test_divergences_are_those_of_torch():
    torch = pytest.importorskip("torch")
    others = families(torch)
    pairs = 0
    for p, q in itertools.product(NAMES, NAMES):
        theirs = attempt(torch.distributions.kl_divergence, others[p], others[q])
        pairs += not isinstance(theirs, str)
        assert_same(attempt(D.kl_divergence, OURS[p], OURS[q]), theirs)
    assert pairs > 150


def test_divergences_of_batches_of_wishart_are_means_of_log_ratios():
    """PyTorch sums over the batch, and gives -1.1 for one of these."""
    matrix = ag.tensor([[2.0, 0.3], [0.3, 1.0]], dtype=ag.float64)
    p = D.Wishart(ag.tensor([3.5, 3.0]).double(), scale_tril=ag.linalg.cholesky(matrix))
    q = D.Wishart(ag.tensor([2.0, 5.5]).double(), covariance_matrix=matrix)
    ag.manual_seed(0)
    x = p.sample((4000,))
    found = (p.log_prob(x) - q.log_prob(x)).mean(0)
    np.testing.assert_allclose(values(D.kl_divergence(p, q)), found.numpy(), rtol=0.08)


# --- samples --------------------------------------------------------------------------------------


@each("name", [name for name in ALL if isinstance(attempt(getattr, ALL[name], "mean"), ag.Tensor)])
def test_samples_have_mean_and_variance(name):
    if name in ("von Mises", "inverse gamma", "fisher", "pareto"):
        return  # circular, or with fourth moments that are infinite
    d, count = ALL[name], 20_000
    ag.manual_seed(11)
    x = d.sample((count,)).numpy()
    mean, variance = values(d.mean), values(d.variance)
    assert np.abs((x.mean(0) - mean) / np.sqrt(variance / count)).max() < 4.5
    np.testing.assert_allclose(x.var(0), variance, rtol=0.3 if name == "student" else 0.12)


def test_angles_have_mean_and_circular_variance():
    d = ALL["von Mises"]
    ag.manual_seed(11)
    x = d.sample((20_000,)).numpy()
    mean = np.exp(1j * x).mean(0)
    np.testing.assert_allclose(mean / np.abs(mean), np.exp(1j * a), atol=0.05)
    np.testing.assert_allclose(1 - np.abs(mean), d.variance.numpy(), atol=0.02)
    assert np.abs(x).max() <= np.pi
    small = D.VonMises(ag.zeros(2000).double(), ag.tensor(1e-8).double()).sample().numpy()
    assert stats.kstest(small / (2 * np.pi) + 0.5, "uniform").pvalue > 1e-4


def test_correlations_of_lkj_have_beta_distributions():
    d = OURS["lkj"]
    ag.manual_seed(11)
    L = d.sample((5000,)).numpy()
    np.testing.assert_allclose(np.square(L).sum(-1), 1)
    correlations = L @ L.swapaxes(-1, -2)
    for j, eta in enumerate(a):
        for i, k in ((1, 0), (2, 0), (2, 1)):
            law = stats.beta(eta + 0.5, eta + 0.5)
            assert stats.kstest((correlations[:, j, i, k] + 1) / 2, law.cdf).pvalue > 1e-4


@each("name", ALL)
def test_samples_are_in_the_support_and_expand_keeps_what_there_is(name):
    d = ALL[name]
    wide = d.expand((2, *d.batch_shape))
    assert type(wide) is type(d) and tuple(wide.batch_shape) == (2, *d.batch_shape)
    x = wide.sample((3,))
    assert tuple(x.shape) == (3, 2, *d.batch_shape, *d.event_shape) and x.dtype is ag.float64
    assert wide.log_prob(x).isfinite().all()
    other = wide.log_prob(d.sample())
    assert tuple(other.shape) == (2, *d.batch_shape)
    ag.manual_seed(0)
    once = d.sample((2,))
    ag.manual_seed(0)
    again = pickle.loads(pickle.dumps(copy.deepcopy(d)))
    assert once.equal(again.sample((2,)))


@each("name", NAMES)
def test_float32_stays_float32(name):
    d = families(ag, ag.float32)[name]
    x = d.sample((5,))
    assert x.dtype is ag.float32 and d.log_prob(x).isfinite().all()


# --- gradients of samples -------------------------------------------------------------------------

# The derivative of a sample by a parameter is that of the quantile with the probability fixed.
QUANTILES = {
    "gamma": (D.Gamma, lambda a, b: stats.gamma(a, scale=1 / b)),
    "inverse gamma": (D.InverseGamma, lambda a, b: stats.invgamma(a, scale=b)),
    "beta": (D.Beta, stats.beta),
    "weibull": (D.Weibull, lambda a, b: stats.weibull_min(b, scale=a)),
    "pareto": (D.Pareto, lambda a, b: stats.pareto(b, scale=a)),
}


@each("name", QUANTILES)
def test_gradients_of_samples_are_those_of_quantiles(name):
    make, law = QUANTILES[name]
    given = [ag.full((50,), v, dtype=ag.float64).requires_grad_() for v in (2.3, 1.7)]
    ag.manual_seed(3)
    x = make(*given).rsample()
    grads = ag.autograd.grad(x.sum(), given)
    probability, h = law(2.3, 1.7).cdf(x.detach().numpy()), 1e-5
    for i, grad in enumerate(grads):
        step = [h * (i == j) for j in range(2)]
        above = law(2.3 + step[0], 1.7 + step[1]).ppf(probability)
        below = law(2.3 - step[0], 1.7 - step[1]).ppf(probability)
        np.testing.assert_allclose(grad.numpy(), (above - below) / (2 * h), rtol=2e-5, atol=1e-7)


@each("name", [name for name, d in ALL.items() if d.has_rsample])
def test_gradients_reach_every_parameter(name):
    d = ALL[name]
    leaves = [v for v in vars(d).values() if isinstance(v, ag.Tensor) and v.is_floating_point()]
    if not leaves:
        return
    build = families(_Leaves(found := []))[name]
    build.rsample((3,)).square().sum().backward()
    used = [x.grad for x in found if x.grad is not None]
    assert used and all(g.isfinite().all() for g in used)


class _Leaves:
    """This library, whose tensors are leaves that want gradients."""

    def __init__(self, found):
        self._found = found

    def tensor(self, *args, **kwargs):
        self._found.append(ag.tensor(*args, **kwargs).requires_grad_())
        return self._found[-1]

    def __getattr__(self, name):
        return getattr(ag, name)


# --- exponential families, refusals ---------------------------------------------------------------


@each("name", ["gamma", "normal", "exponential", "bernoulli", "wishart", "continuous bernoulli"])
def test_the_general_entropy_is_that_of_the_class(name):
    d = OURS[name]
    assert_same(D.ExponentialFamily.entropy(d), d.entropy(), 1e-5)


def test_the_general_divergence_is_that_of_the_class():
    one, other = OURS["beta"], OURS["beta of others"]
    assert_same(_exponential_family(one, other), D.kl_divergence(one, other))
    for name in ("gamma", "dirichlet", "normal", "exponential", "bernoulli", "poisson"):
        assert _exponential_family(OURS[name], OURS[name]).abs().max() < 1e-12
    with pytest.raises(NotImplementedError, match="different exponential families"):
        _exponential_family(OURS["gamma"], OURS["poisson"])


REFUSED = [
    (ValueError, "concentration", lambda: D.Gamma(-1.0, 1.0)),
    (ValueError, "at least one-dimensional", lambda: D.Dirichlet(ag.tensor(1.0))),
    (ValueError, "Either `probs` or `logits`", lambda: D.Binomial(3)),
    (ValueError, "Either `probs` or `logits`", lambda: D.NegativeBinomial(3.0, 0.5, 0.5)),
    (NotImplementedError, "inhomogeneous", lambda: D.Multinomial(ag.ones(2), ag.ones(2))),
    (
        NotImplementedError,
        "Inhomogeneous total count not supported by `entropy`",
        lambda: D.Binomial(ag.tensor([1.0, 2.0]), ag.tensor(0.5)).entropy(),
    ),
    (ValueError, "greater than or equal to 2", lambda: D.LKJCholesky(1)),
    (ValueError, "Exactly one of covariance_matrix", lambda: D.Wishart(3.0)),
    (ValueError, "greater than ndim - 1", lambda: D.Wishart(0.5, ag.eye(2))),
    (ValueError, "at least two-dimensional", lambda: D.Wishart(3.0, ag.ones(2))),
    (
        ValueError,
        "cov_factor must be",
        lambda: D.LowRankMultivariateNormal(ag.ones(2), ag.ones(3, 1), ag.ones(2)),
    ),
    (
        ValueError,
        "cov_diag must be",
        lambda: D.LowRankMultivariateNormal(ag.ones(2), ag.ones(2, 1), ag.ones(3)),
    ),
    (NotImplementedError, "_mean_carrier_measure", lambda: D.Poisson(1.0).entropy()),
    (
        NotImplementedError,
        "q.total_count > p.total_count",
        lambda: D.kl_divergence(D.Binomial(1, ag.ones(1) / 2), D.Binomial(2, ag.ones(1) / 2)),
    ),
]


@each("kind, text, call", REFUSED)
def test_wrong_parameters_are_refused(kind, text, call):
    with pytest.raises(kind, match=text):
        call()


def test_bounds_of_constraints_are_named_or_placed():
    C = D.constraints
    assert C.interval(0, upper_bound=2).upper_bound == 2
    assert C.greater_than(lower_bound=1.0).check(ag.tensor(2.0))
    for call in (lambda: C.interval(0), lambda: C.interval(0, 1, 2), lambda: C.less_than(lower=1)):
        with pytest.raises(TypeError, match=r"upper_bound"):
            call()
