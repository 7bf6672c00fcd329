"""Derivatives of cross entropies of logits by their weights, in transformed functions."""

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F

X = [[0.2, 0.7, 0.4], [0.9, 0.3, 0.6]]
Y = [[0.0, 1.0, 0.3], [1.0, 0.0, 0.5]]
WEIGHTS = {"all": [[1.0, 2.0, 3.0], [0.5, 1.5, 2.5]], "columns": [1.0, 2.0, 3.0], "one": 2.0}
REDUCTIONS = ["none", "mean", "sum"]


def weighted(t, which, reduction):
    """The loss as a function of a weight, of inputs, and of targets."""

    def loss(w, x, y):
        other = t.tensor([0.5, 2.0, 1.5], dtype=t.float64)
        given = {"weight": w, "pos_weight": other}
        if which == "pos_weight":
            given = {"weight": other, "pos_weight": w}
        return t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction=reduction, **given)

    return loss


def derivatives(t, which, shape, reduction):
    loss = weighted(t, which, reduction)
    w, x, y = (t.tensor(v, dtype=t.float64) for v in (WEIGHTS[shape], X, Y))
    ws, xs, ys = (t.stack([v, v * 0.5]) for v in (w, x, y))
    fn = t.func

    def value(w, x=x, y=y):
        return loss(w, x, y).sum()

    def square(w, x=x, y=y):
        return loss(w, x, y).pow(2).sum()

    return {
        "grad": fn.grad(value)(w),
        "vjp": fn.vjp(value, w)[1](t.ones((), dtype=t.float64))[0],
        "jacrev": fn.jacrev(lambda w: loss(w, x, y))(w),
        "jacfwd": fn.jacfwd(lambda w: loss(w, x, y))(w),
        "hessian": fn.hessian(square)(w),
        "jvp": fn.jvp(lambda w: loss(w, x, y), (w,), (t.ones_like(w),))[1],
        "vmap of grad": fn.vmap(fn.grad(value))(ws, xs, ys),
        "vmap of grad of all": t.cat(
            [v.flatten() for v in fn.vmap(fn.grad(value, argnums=(0, 1, 2)))(ws, xs, ys)]
        ),
        "grad of vmap": fn.grad(lambda w: fn.vmap(value, in_dims=(None, 0, 0))(w, xs, ys).sum())(w),
        "grad by inputs": fn.grad(lambda x: fn.grad(value)(w, x).pow(2).sum())(x),
        "jvp of grad": fn.jvp(fn.grad(square), (w,), (t.ones_like(w),))[1],
        "grad of jvp": fn.grad(
            lambda w: fn.jvp(lambda w: loss(w, x, y), (w,), (t.ones_like(w),))[1].pow(2).sum()
        )(w),
    }


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("which", ["weight", "pos_weight"])
def test_transformed_functions_differentiate_by_weights_as_in_torch(which, reduction):
    torch = pytest.importorskip("torch")
    for shape in WEIGHTS:
        ours = derivatives(ag, which, shape, reduction)
        theirs = derivatives(torch, which, shape, reduction)
        for name, found in ours.items():
            known = torch.zeros(theirs[name].shape, dtype=torch.float64)
            known.copy_(theirs[name])  # which may be of zeros without memory
            expected = ag.tensor(known.tolist(), dtype=ag.float64)
            assert found.shape == expected.shape, (shape, name)
            assert ag.allclose(found, expected), (shape, name)


def test_derivatives_by_weights_are_the_losses():
    x, y = ag.tensor(X, dtype=ag.float64), ag.tensor(Y, dtype=ag.float64)
    plain = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    w = ag.full((2, 3), 2.0, dtype=ag.float64)
    gradient = ag.func.grad(
        lambda w: F.binary_cross_entropy_with_logits(x, y, weight=w, reduction="sum")
    )(w)
    assert ag.allclose(gradient, plain)
    gradient = ag.func.grad(
        lambda p: F.binary_cross_entropy_with_logits(x, y, pos_weight=p, reduction="sum")
    )(w)
    assert ag.allclose(gradient, y * F.softplus(-x))


@pytest.mark.parametrize("name", ["weight", "pos_weight"])
def test_outside_of_transforms_they_are_refused(name):
    x, y = ag.tensor(X), ag.tensor(Y)
    w = ag.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"not differentiable with respect to argument '{name}'"):
        F.binary_cross_entropy_with_logits(x, y, **{name: w})
    with ag.no_grad():
        F.binary_cross_entropy_with_logits(x, y, **{name: w})
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'weight'"):
        ag.func.grad(lambda w: F.binary_cross_entropy(y, y, weight=w))(w.detach())
