"""Texts and error messages of distributions and constraints: as in torch."""

import pytest

import autograd_cy as ag

CONSTRAINTS = [
    lambda t, c: c.interval(0, 1),
    lambda t, c: c.interval(t.tensor(0.0), t.tensor([1.0, 2.0])),
    lambda t, c: c.half_open_interval(0.0, 1),
    lambda t, c: c.integer_interval(0, t.tensor(3)),
    lambda t, c: c.less_than(t.tensor(3)),
    lambda t, c: c.greater_than(t.tensor([1.0])),
    lambda t, c: c.greater_than_eq(1),
    lambda t, c: c.positive_integer,
    lambda t, c: c.independent(c.unit_interval, 1),
    lambda t, c: t.distributions.Uniform(0.0, 1.0).support,
    lambda t, c: t.distributions.Uniform(0.0, 1.0).arg_constraints,
]
REFUSED = [
    lambda t, d: d.Uniform(1.0, 0.0),
    lambda t, d: d.Uniform(0.0, 0.0),
    lambda t, d: d.Uniform(0.0, float("nan")),
    lambda t, d: d.Uniform(t.tensor([0.0, 1.0]), 1.0),
    lambda t, d: d.Uniform(0.0, 1.0).log_prob(t.tensor(3.0)),
    lambda t, d: d.Normal(0.0, -1.0),
    *[
        lambda t, d, name=name: getattr(d, name)()
        for name in ("Normal", "Laplace", "Cauchy", "Gumbel", "HalfNormal", "HalfCauchy", "Uniform")
    ],
]


def name_of_library(text):
    return text.replace("autograd_cy", "torch")


def error_of(call, library):
    with pytest.raises((ValueError, TypeError)) as refused:
        call(library, library.distributions)
    return type(refused.value), name_of_library(str(refused.value))


@pytest.mark.parametrize("made", CONSTRAINTS)
def test_constraints_are_shown_as_in_torch(made):
    torch = pytest.importorskip("torch")
    ours, theirs = (made(t, t.distributions.constraints) for t in (ag, torch))
    assert name_of_library(repr(ours)) == repr(theirs)


@pytest.mark.parametrize("call", REFUSED)
def test_errors_are_those_of_torch(call):
    torch = pytest.importorskip("torch")
    assert error_of(call, ag) == error_of(call, torch)


def test_uniform_checks_nothing_if_told_so():
    assert ag.distributions.Uniform(1.0, 0.0, validate_args=False).low == 1


@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 2), (2, 3), (4, 2, 3), (0, 2, 2)])
def test_square_matrices(shape):
    truth = ag.distributions.constraints.square.check(ag.ones(shape))
    assert truth.shape == shape[:-2] and truth.dtype == ag.bool
    assert truth.all() == (shape[-1] == shape[-2] or truth.numel() == 0)
    assert ag.distributions.constraints.square.check(ag.ones(shape, device="meta")).is_meta


def test_the_older_name_of_sample_warns():
    with pytest.warns(FutureWarning, match=r"`sample_n\(n\)` will be deprecated"):
        drawn = ag.distributions.Normal(ag.zeros(2), 1.0).sample_n(3)
    assert drawn.shape == (3, 2)
