"""Losses of single elements against NumPy: long inputs, strides, half types, threads."""

import numpy as np
import pytest
from bridge import DTYPES, FLOATS

import autograd_cy as ag
from autograd_cy._C import ops_pointwise_loss as losses
from autograd_cy._C import parallel

NONE, MEAN, SUM = range(3)
LENGTHS = (1, 7, 1023, 1024, 1025, 16384, 16385, 70_001)
FUNCTIONS = {
    "l1": (lambda x, t, r: losses._l1_loss(x, t, r), lambda x, t: np.abs(x - t)),
    "smooth l1": (
        lambda x, t, r: losses._smooth_l1_loss(x, t, 0.3, r),
        lambda x, t: np.where(
            np.abs(x - t) < 0.3, (x - t) ** 2 / 0.6, np.abs(np.abs(x - t) - 0.15)
        ),
    ),
    "huber": (
        lambda x, t, r: losses._huber_loss(x, t, 0.3, r),
        lambda x, t: np.where(
            np.abs(x - t) <= 0.3, (x - t) ** 2 / 2, 0.3 * np.abs(np.abs(x - t) - 0.15)
        ),
    ),
    "cross entropy": (
        lambda x, t, r: losses._binary_cross_entropy(x, t, None, r),
        lambda x, t: -t * np.log(x) - (1 - t) * np.log1p(-x),
    ),
    "weighted cross entropy": (
        lambda x, t, r: losses._binary_cross_entropy(x, t, t, r),
        lambda x, t: -t * (t * np.log(x) + (1 - t) * np.log1p(-x)),
    ),
    "logits": (
        lambda x, t, r: losses._logit_cross_entropy(x, t, None, None, r),
        lambda x, t: x * (1 - t) + np.logaddexp(0, -x),
    ),
    "weighted logits": (
        lambda x, t, r: losses._logit_cross_entropy(x, t, t, x, r),
        lambda x, t: t * (x * (1 - t) + (1 + (x - 1) * t) * np.logaddexp(0, -x)),
    ),
    "divergence": (
        lambda x, t, r: losses._kl_div(x, t, r, False),
        lambda x, t: t * (np.log(t) - x),
    ),
    "divergence of logarithms": (
        lambda x, t, r: losses._kl_div(x, t, r, True),
        lambda x, t: np.exp(t) * (t - x),
    ),
    "soft margin": (
        lambda x, t, r: losses._soft_margin_loss(x, t, r),
        lambda x, t: np.logaddexp(0, -t * x),
    ),
}
EPS = {"float64": 1e-12, "float32": 3e-6, "float16": 2e-3, "bfloat16": 1.5e-2}


def pair(name, *shape):
    """Two tensors, and the same numbers in float64."""
    rng = np.random.default_rng(0)
    tensors = [ag.tensor(rng.uniform(0.05, 0.95, shape)).to(getattr(ag, name)) for _ in range(2)]
    return tensors, [t.double().numpy() for t in tensors]


def reduced(values, reduction):
    return values if reduction == NONE else values.mean() if reduction == MEAN else values.sum()


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_long_inputs(name, kind):
    assert name in DTYPES
    function, formula = FUNCTIONS[kind]
    for n in LENGTHS:
        (x, t), arrays = pair(name, n)
        for reduction in (NONE, MEAN, SUM):
            found = function(x, t, reduction)
            assert found.dtype == x.dtype
            expected = reduced(formula(*arrays), reduction)
            if name == "float16" and np.max(np.abs(expected)) > 60000:
                continue
            np.testing.assert_allclose(
                found.double().numpy(), expected, rtol=EPS[name], atol=EPS[name] / 2
            )


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_strides(kind):
    function, formula = FUNCTIONS[kind]
    (x, t), (a, b) = pair("float64", 6, 8)
    views = [
        (x.t(), t.t(), a.T, b.T),
        (x[::2, 1::3], t[1::2, ::3], a[::2, 1::3], b[1::2, ::3]),
        (x[:1].expand(6, 8), t, np.broadcast_to(a[:1], (6, 8)), b),
        (x, t.t().contiguous().t(), a, b),
        (x[2, 3], t[1, 1], a[2, 3], b[1, 1]),
        (x[:0], t[:0], a[:0], b[:0]),
    ]
    for u, v, p, q in views:
        for reduction in (NONE, SUM, *([MEAN] if u.numel() else [])):
            expected = reduced(formula(p, q), reduction)
            np.testing.assert_allclose(function(u, v, reduction).numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_sums_do_not_depend_on_threads(kind):
    function, _ = FUNCTIONS[kind]
    before = parallel.get_num_threads()
    try:
        for name in ("float32", "float16"):
            (x, t), _ = pair(name, 700_001)
            found = []
            for threads in (1, 2, 3, 8):
                parallel.set_num_threads(threads)
                found.append(function(x, t, MEAN).item())
            assert len(set(found)) == 1
    finally:
        parallel.set_num_threads(before)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_probabilities_are_checked_wherever_they_are(name, reduction):
    (x, t), _ = pair(name, 40_000)
    for place in (0, 1023, 1024, 20_000, 39_999):
        for wrong in (-0.25, 1.25, float("nan"), float("inf")):
            for which in ("input", "target"):
                given = {"input": x.clone(), "target": t.clone()}
                given[which][place] = wrong
                with pytest.raises(RuntimeError, match=f"of {which} should be between 0 and 1"):
                    losses._binary_cross_entropy(*given.values(), None, reduction)
    ends = x.clone()
    ends[5], ends[7] = 0.0, 1.0
    assert losses._binary_cross_entropy(ends, t, None, SUM).item() > 0
    t[3] = float("nan")
    with pytest.raises(RuntimeError, match="of target"):
        losses._binary_cross_entropy(x, t, None, SUM)
