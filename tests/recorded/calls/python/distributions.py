"""Distributions, their transforms, constraints and divergences (`autograd_cy.distributions`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name, sines

D = torch.distributions
C = D.constraints

def continuous(_=None):
    loc, scale = sines(3), sines(3).abs() + 0.5
    return (D.Normal(loc, scale), D.Uniform(loc, loc + 3), D.Exponential(scale), D.Laplace(loc, scale),
        D.Cauchy(loc, scale), D.Gumbel(loc, scale), D.HalfNormal(scale), D.HalfCauchy(scale),
        D.LogNormal(loc, scale))

def discrete(_=None):
    x = sines(2, 4)
    return (D.Bernoulli(x.sigmoid()), D.Bernoulli(logits=x), D.Geometric(x.sigmoid()), D.Categorical(x.abs()),
        D.Categorical(logits=x), D.OneHotCategorical(logits=x), D.OneHotCategoricalStraightThrough(x.abs()))

def multivariate(_=None):
    m = torch.eye(3).double() * 2 + 0.5
    return (D.MultivariateNormal(sines(2, 3), m), D.MultivariateNormal(sines(3), precision_matrix=m),
        D.MultivariateNormal(sines(3), scale_tril=m.tril()))

def composed(_=None):
    x = sines(2, 4, 3)
    return (D.Independent(D.Normal(x, x.abs() + 1), 2), D.MixtureSameFamily(D.Categorical(sines(2, 4).abs()),
        D.Independent(D.Normal(x, x.abs() + 1), 1)), D.MixtureSameFamily(D.Categorical(logits=sines(4)),
        D.Normal(sines(4), 1.0)), D.TransformedDistribution(D.Normal(sines(3), 1.0), [D.AffineTransform(1.0, -2.0),
        D.SigmoidTransform()]), D.TransformedDistribution(D.Normal(sines(3), 1.0), D.StickBreakingTransform()))

def attempt(function, *args):
    try:
        return function(*args)
    except (ValueError, NotImplementedError, RuntimeError, TypeError) as error:
        return type(error).__name__

def values_of(d):
    sizes = [tuple(d.batch_shape), tuple(d.event_shape), d.has_rsample, d.has_enumerate_support]
    found = [attempt(getattr, d, name) for name in ("mean", "mode", "variance", "stddev")]
    return [sizes, found, attempt(d.entropy), attempt(d.enumerate_support, False),
        tuple(d.sample((5, 2)).shape), tuple(d.expand((3, *d.batch_shape)).sample().shape)]

def properties_of_continuous(): return [values_of(d) for d in continuous()]
def properties_of_discrete(): return [values_of(d) for d in discrete()]
def properties_of_multivariate(): return [values_of(d) for d in multivariate()]
def properties_of_composed(): return [values_of(d) for d in composed()]

def densities_of_continuous():
    x = torch.tensor([0.9, 1.2, 0.7])
    return [[d.log_prob(x), d.cdf(x), attempt(d.log_prob, x - 9)] for d in continuous()]

def inverses_of_continuous():
    x = torch.tensor([0.2, 0.5, 0.7])
    return [d.icdf(x) for d in (*continuous()[1:6], continuous()[7])]

def densities_of_discrete():
    bits, classes = torch.tensor([0.0, 1.0, 1.0, 0.0]), torch.tensor([[1, 3], [0, 2]])
    hot = torch.eye(4)[classes]
    given = (bits, bits, bits * 3, classes, classes, hot, hot)
    return [[d.log_prob(x), attempt(d.log_prob, x + 7)] for d, x in zip(discrete(), given)]

def densities_of_vectors():
    return [d.log_prob(torch.tensor([0.1, 0.5, 0.9]).double()) for d in (*multivariate(), composed()[3], composed()[1])]

def densities_of_composed():
    a, b, c, d, e = composed()
    return [a.log_prob(torch.ones(4, 3)), c.log_prob(torch.ones(5)), c.cdf(torch.ones(5)), d.cdf(torch.ones(3) / 3),
        e.log_prob(torch.tensor([0.1, 0.2, 0.3, 0.4]))]

def gradients_of_densities():
    loc, scale = sines(3).requires_grad_(), (sines(3).abs() + 0.5).requires_grad_()
    both = [D.Normal(loc, scale), D.Laplace(loc, scale), D.Cauchy(loc, scale), D.Gumbel(loc, scale), D.LogNormal(loc, scale)]
    return [torch.autograd.grad(d.log_prob(torch.tensor([0.9, 1.2, 0.7])).sum(), (loc, scale)) for d in both]

def gradients_of_logits():
    logits = sines(2, 4).requires_grad_()
    return [torch.autograd.grad(x.sum(), logits) for x in (D.Categorical(logits=logits).entropy(),
        D.Categorical(logits=logits).log_prob(torch.tensor([1, 2])), D.Bernoulli(logits=logits).log_prob(torch.ones(4)),
        D.OneHotCategoricalStraightThrough(logits=logits).rsample() * torch.arange(4.0))]

def divergences():
    every = [*continuous(), *discrete()[:5], *multivariate()[:1], composed()[0]]
    return [D.kl_divergence(d, type(d)(*(getattr(d, n) for n in NAMES[type(d).__name__]))) for d in every
        if type(d).__name__ in NAMES]

NAMES = {"Normal": ("scale", "scale"), "Laplace": ("scale", "scale"), "Cauchy": ("scale", "scale"),
    "Gumbel": ("scale", "scale"), "HalfNormal": ("scale",), "LogNormal": ("scale", "scale"), "Bernoulli": ("probs",),
    "Geometric": ("probs",), "Categorical": ("probs",)}

def divergences_of_two_classes():
    normal, uniform, exponential, laplace, _, gumbel, *_ = continuous()
    pairs = [(normal, laplace), (laplace, normal), (uniform, normal), (exponential, normal), (uniform, exponential),
        (normal, uniform), (gumbel, exponential), (exponential, uniform)]
    return [D.kl_divergence(p, q) for p, q in pairs] + [attempt(D.kl_divergence, normal, discrete()[0])]

def divergences_of_vectors():
    a, b, c = multivariate()
    one, other = composed()[0], D.Independent(D.Normal(sines(2, 4, 3), 2.0), 2)
    return [D.kl_divergence(a, b), D.kl_divergence(b, c), D.kl_divergence(one, other)]

def transforms():
    x = sines(2, 3)
    made = (D.ExpTransform(), D.AffineTransform(torch.tensor([1.0, 2.0, 3.0]), 2.0), D.AffineTransform(0.0, 3.0, event_dim=1),
        D.SigmoidTransform(), D.SoftplusTransform(), D.TanhTransform(cache_size=1), D.StickBreakingTransform(),
        D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0), D.PowerTransform(torch.tensor(0.5))]),
        D.IndependentTransform(D.ExpTransform(), 1), D.ReshapeTransform((3,), (3, 1)), D.CorrCholeskyTransform(),
        D.CatTransform([D.ExpTransform(), D.AffineTransform(0.0, 2.0)], dim=1, lengths=[1, 2]),
        D.StackTransform([D.ExpTransform(), D.SigmoidTransform()]), D.identity_transform,
        D.ComposeTransform([D.AffineTransform(0.0, 2.0), D.StickBreakingTransform()]))
    return [[t(x), t.inv(t(x)), t.log_abs_det_jacobian(x, t(x)), t.inv.log_abs_det_jacobian(t(x), x), t.bijective,
        t.domain.event_dim, t.codomain.event_dim, tuple(t.forward_shape((2, 3))), t.inv.inv is t] for t in made]

def transforms_without_determinants():
    x = sines(2, 2, 2)
    return [[t(x), t.inv(t(x))] for t in (D.AbsTransform(), D.SoftmaxTransform(), D.LowerCholeskyTransform(),
        D.PositiveDefiniteTransform())]

def constraints():
    names = ("boolean one_hot nonnegative_integer positive_integer real real_vector positive nonnegative unit_interval "
        "simplex lower_triangular lower_cholesky corr_cholesky square symmetric positive_semidefinite positive_definite")
    made = [getattr(C, name) for name in names.split()] + [C.integer_interval(0, 2), C.greater_than(1.0),
        C.less_than(1.0), C.half_open_interval(0.0, 1.0), C.multinomial(3), C.independent(C.positive, 1)]
    given = (torch.eye(2), torch.tensor([[0.5, 0.5], [1.0, 2.0]]), torch.tensor([[2.0, -1.0], [-1.0, 2.0]]))
    return [[repr(c), c.event_dim, c.is_discrete, [c.check(x) for x in given]] for c in made]

def constraints_without_objects():
    return [C.is_dependent(D.Uniform.support), C.is_dependent(C.real), attempt(C.dependent.check, sines(2)),
        C.cat([C.positive, C.real], lengths=[1, 2]).check(sines(3) - 1), C.stack([C.positive, C.real]).check(sines(2) - 1)]

def registered_transforms():
    made = [C.real, C.positive, C.less_than(2.0), C.unit_interval, C.interval(1.0, 3.0), C.simplex, C.real_vector,
        C.corr_cholesky, C.lower_cholesky, C.square]
    return [[attempt(lambda: find(c)(sines(3)) if c is not C.lower_cholesky else find(c)(sines(2, 2))) for c in made]
        for find in (D.biject_to, D.transform_to)]

def refused_arguments():
    return [error_name(lambda: f()) for f in (lambda: D.Normal(0.0, -1.0), lambda: D.Uniform(1.0, 1.0), lambda: D.Bernoulli(),
        lambda: D.Bernoulli(0.5, 0.5), lambda: D.Bernoulli(1.5), lambda: D.Categorical(torch.tensor(1.0)),
        lambda: D.MultivariateNormal(torch.zeros(2)), lambda: D.MultivariateNormal(torch.zeros(2), -torch.eye(2)),
        lambda: D.Independent(D.Normal(0.0, 1.0), 1), lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()), lambda: D.Normal("a", 1.0),
        lambda: D.Normal(0.0, 1.0).log_prob(1.0), lambda: D.Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2)))]

def arguments_that_are_not_checked():
    return [D.Normal(0.0, -1.0, validate_args=False).scale, D.Uniform(0.0, 1.0, validate_args=False).log_prob(torch.tensor(2.0))]

def matrices_and_vectors():
    u = D.utils
    return [u.vec_to_tril_matrix(torch.arange(6.0)), u.vec_to_tril_matrix(torch.arange(6.0), -1),
        u.tril_matrix_to_vec(torch.arange(9.0).reshape(3, 3), -1), u.broadcast_all(1, torch.zeros(2)),
        u.logits_to_probs(sines(3)), u.probs_to_logits(torch.tensor([0.0, 0.3]), is_binary=True)]

def shown_distributions():
    return [repr(d).replace("torch.", "autograd_cy.") for d in (D.Normal(0.0, 1.0), D.HalfNormal(1.0), D.Bernoulli(0.5),
        D.Independent(D.Normal(torch.zeros(2), 1.0), 1))]

def windows():
    return [getattr(torch, f"{name}_window")(length, periodic, dtype=torch.float64)
        for name in ("hann", "hamming", "blackman", "bartlett", "kaiser") for length in (0, 1, 2, 5, 8) for periodic in (True, False)]

def options_of_windows():
    return [torch.hann_window(4).dtype, torch.hann_window(4, dtype=torch.float64, requires_grad=True), torch.hamming_window(4, True, 0.5, 0.5),
        torch.kaiser_window(4, False, 2.0), error_name(lambda: torch.hann_window(-1)), error_name(lambda: torch.hann_window(3, dtype=torch.int64))]

def solutions_by_factors():
    a = (torch.eye(3).double() * 2 + 0.5).requires_grad_()
    L, b = torch.linalg.cholesky(a), sines(3, 2)
    found = [torch.cholesky_solve(b, L), torch.cholesky_solve(b, L.mT, upper=True), torch.cholesky_solve(sines(4, 3, 2), L)]
    found = [x.contiguous() for x in found]
    return found + [torch.autograd.grad(found[0].sum() + found[1].square().sum(), a)[0].contiguous(), error_name(lambda: torch.cholesky_solve(3, L))]
