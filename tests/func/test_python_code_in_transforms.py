"""Custom Functions, hooks on saved tensors and checkpoints in functions that are transformed."""

import pytest

import autograd_cy as ag
from autograd_cy.autograd import Function
from autograd_cy.func import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)
from autograd_cy.utils.checkpoint import checkpoint

X = ag.tensor([0.1, 0.2, 0.3])


class Square(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return 2 * tangent * X


def plain(x):
    return (x.sin() * x.exp() * 2).sin()


def hooked(x):
    with ag.autograd.graph.saved_tensors_hooks(lambda t: (t,), lambda packed: packed[0]):
        return plain(x)


def again(function):
    return lambda *args: checkpoint(function, *args, use_reentrant=False)


FUNCTIONS = {
    "checkpoint": (again(plain), plain),
    "checkpoint in checkpoint": (again(again(plain)), plain),
    "hooks": (hooked, plain),
    "Function": (Square.apply, lambda x: x * x),
    "Function in checkpoint": (again(Square.apply), lambda x: x * x),
}
TRANSFORMS = {
    "call": lambda f: f(X),
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "grad_and_value": lambda f: grad_and_value(lambda x: f(x).sum())(X),
    "aux": lambda f: grad(lambda x: (f(x).sum(), f(x)), has_aux=True)(X),
    "grad of grad": lambda f: grad(lambda x: grad(lambda x: f(x).sum())(x).sum())(X),
    "vjp": lambda f: (vjp(f, X)[0], vjp(f, X)[1](X)),
    "jacrev": lambda f: jacrev(f)(X),
    "jacrev in chunks": lambda f: jacrev(f, chunk_size=2)(X),
    "linearize": lambda f: linearize(f, X)[1](X),
    "vmap": lambda f: vmap(f)(ag.stack((X, X + 1))),
    "grad of vmap": lambda f: grad(lambda x: vmap(f)(x).sum())(ag.stack((X, X + 1))),
    "vmap of grad": lambda f: vmap(grad(lambda x: f(x).sum()))(ag.stack((X, X + 1))),
    "vmap of jacrev": lambda f: vmap(jacrev(f))(ag.stack((X, X + 1))),
}
FORWARD = {
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jacfwd": lambda f: jacfwd(f)(X),
    "hessian": lambda f: hessian(lambda x: f(x).sum())(X),
}


def leaves(found):
    return [t for x in found for t in leaves(x)] if isinstance(found, tuple) else [found]


def check(transform, function, without):
    found, wanted = (leaves(transform(f)) for f in (function, without))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert ag.allclose(a, b)
        assert not a.requires_grad and a.grad_fn is None


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_without_it_and_have_no_history(name, transform):
    check(TRANSFORMS[transform], *FUNCTIONS[name])


@pytest.mark.parametrize("transform", FORWARD)
@pytest.mark.parametrize("name", ["checkpoint", "checkpoint in checkpoint", "hooks"])
def test_the_same_in_forward_mode(name, transform):
    check(FORWARD[transform], *FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_outside_is_followed_all_the_same(name):
    w = ag.tensor([0.5, 0.6, 0.7], requires_grad=True)
    ours, without = [], []
    for f, found in zip(FUNCTIONS[name], (ours, without)):
        made, value = grad_and_value(lambda x: (f(x * w)).sum())(X)
        found += [made, value, *ag.autograd.grad(made.sum() + value, w)]
        inner = grad(lambda x: (w * grad(lambda y: f(y * x).sum())(X)).sum())(X)
        found += [inner, *ag.autograd.grad(inner.sum(), w)]
    assert all(t.requires_grad for t in ours[:2])
    for a, b in zip(ours, without):
        assert ag.allclose(a, b)


def test_a_tensor_that_backward_finds_by_itself_is_followed():
    w = ag.tensor(3.0, requires_grad=True)

    class Hidden(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * w

    made = grad(Hidden.apply)(ag.tensor(1.0))
    assert made.requires_grad and ag.autograd.grad(made, w)[0].item() == 1.0


def test_a_leaf_that_backward_returns_is_followed():
    w = ag.tensor(3.0, requires_grad=True)

    class Given(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return w

    made = grad(Given.apply)(ag.tensor(1.0))
    assert made.requires_grad and ag.autograd.grad(2 * made, w)[0].item() == 2.0


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_backward_of_a_checkpoint_after_its_vmap_has_ended(randomness):
    def noisy(x):
        return ag.nn.functional.dropout(Square.apply(x).sin(), 0.5)

    kept = []
    for f in (again(noisy), noisy):
        ag.manual_seed(0)
        x = ag.stack((X, X + 1)).requires_grad_()
        vmap(f, randomness=randomness)(x).sum().backward()
        kept.append(x.grad)
    assert ag.equal(*kept) and kept[0].count_nonzero() > 0
    assert ag._C.tensor._get_modes() == 0


def test_a_checkpoint_in_reverse_over_forward_mode():
    assert ag.allclose(jacrev(jacfwd(again(plain)))(X), jacrev(jacfwd(plain))(X))


def test_a_reentrant_checkpoint_says_that_it_cannot():
    for f in (vmap, lambda f: vmap(grad(lambda x: f(x).sum()))):
        with pytest.raises(RuntimeError, match=r"use_reentrant=True can't be called.*under vmap"):
            f(lambda x: checkpoint(ag.sin, x, use_reentrant=True))(ag.ones(2, 3))
    with pytest.raises(RuntimeError, match="use_reentrant=True, torch.utils.checkpoint is incomp"):
        grad(lambda x: checkpoint(ag.sin, x, use_reentrant=True).sum())(X)


# --- outputs without a derivative -----------------------------------------------------------------


@pytest.mark.parametrize("output", [lambda x: (x > 0).to(ag.int64), lambda x: (x, x > 0)])
def test_outputs_without_a_derivative_are_refused(output):
    for call in (
        lambda: vjp(output, X),
        lambda: jacrev(output)(X),
        lambda: vmap(jacrev(output))(ag.ones(2, 3)),
    ):
        with pytest.raises(RuntimeError, match=r"vjp\(f, ...\): All outputs of f must be floating"):
            call()


def test_forward_mode_gives_zeros_for_them():
    values, tangents = jvp(lambda x: (x, x.to(ag.int64)), (X,), (X,))
    assert tangents[0].tolist() == X.tolist() and tangents[1].tolist() == [0, 0, 0]
    assert tangents[1].dtype == ag.int64 and jacfwd(lambda x: x > 0)(X).dtype == ag.bool
    values, push = linearize(lambda x: (x * 2, x > 0), X)
    assert values[1].tolist() == [True] * 3
    assert ag.equal(push(X)[0], X * 2) and push(X)[1].tolist() == [False] * 3
    assert grad(lambda x: (x > 0).sum())(X).tolist() == [0.0] * 3
    # Beside the derivative anything may come.
    assert vjp(lambda x: (x, x > 0), X, has_aux=True)[2].tolist() == [True] * 3
