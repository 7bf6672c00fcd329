"""Transformations inside each other, against loops and against each other."""

from itertools import product

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

JACOBIANS = {"jacrev": jacrev, "jacfwd": jacfwd}
ALL = {"grad": grad, **JACOBIANS}


def randn(*shape, seed=0):
    return ag.tensor(np.random.default_rng(seed).standard_normal(shape))


W = randn(2, seed=9)


def f(a):
    """Save arguments, results and broadcast operands; every third derivative is different."""
    return (a.sin() * W).sum() * (a.exp() * a).sum() + (a.tanh() / (1 + a * a)).sum()


def f_with_views(a):
    """Compute with views, in-place operations and indexing."""
    y = a.new_zeros(3)
    y[:2] = a * a
    y[2] = a.prod() if hasattr(a, "prod") else a[0] * a[1]
    y = y.mul_(y.flip(0) if hasattr(y, "flip") else y[[2, 1, 0]])
    return (y * ag.cat([a, a.sum().unsqueeze(0)])).sum()


def close(x, y, tolerance=1e-10):
    np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), tolerance, tolerance)


def loop(function, *xs):
    return ag.stack([function(*[x[i] for x in xs]) for i in range(len(xs[0]))])


def differences(function, x, h=1e-5):
    """Central differences of a function with a tensor as result; last dimensions those of x."""
    columns = []
    for i in range(x.numel()):
        step = ag.zeros(x.numel(), dtype=x.dtype)
        step[i] = h
        step = step.reshape(x.shape)
        columns.append((function(x + step) - function(x - step)) / (2 * h))
    out = ag.stack(columns, -1)
    return out.reshape(*out.shape[:-1], *x.shape)


@pytest.mark.parametrize("function", [f, f_with_views])
def test_first_derivatives(function):
    x = randn(2)
    expected = differences(function, x)
    for name, transform in ALL.items():
        close(transform(function)(x), expected, 1e-7)
        assert not transform(function)(x).requires_grad, name


@pytest.mark.parametrize("function", [f, f_with_views])
@pytest.mark.parametrize(("outer", "inner"), list(product(JACOBIANS, ALL)))
def test_second_derivatives(outer, inner, function):
    x = randn(2)
    expected = differences(grad(function), x)
    found = JACOBIANS[outer](ALL[inner](function))(x)
    close(found, expected, 1e-7)
    close(found, hessian(function)(x))
    assert not found.requires_grad


@pytest.mark.parametrize(("one", "two", "three"), list(product(JACOBIANS, JACOBIANS, ALL)))
def test_third_derivatives(one, two, three):
    x = randn(2)
    found = JACOBIANS[one](JACOBIANS[two](ALL[three](f)))(x)
    close(found, differences(hessian(f), x), 1e-6)


@pytest.mark.parametrize("function", [f, f_with_views])
@pytest.mark.parametrize(("outer", "inner"), list(product(JACOBIANS, ALL)))
def test_batched_second_derivatives(outer, inner, function):
    xs = randn(3, 2)
    transform = JACOBIANS[outer](ALL[inner](function))
    close(vmap(transform)(xs), loop(transform, xs))
    # The batch along the last dimension, and chunks.
    close(vmap(transform, in_dims=1, chunk_size=2)(xs.t()), loop(transform, xs))


@pytest.mark.parametrize(("outer", "inner"), list(product(JACOBIANS, ALL)))
def test_derivatives_of_batched_functions(outer, inner):
    xs = randn(3, 2)

    def total(xs):
        return vmap(f)(xs).sum()

    found = JACOBIANS[outer](ALL[inner](total))(xs)
    expected = loop(hessian(f), xs)
    for i, j in product(range(3), range(3)):
        block = found[i, :, j, :]
        close(block, expected[i] if i == j else ag.zeros(2, 2, dtype=ag.float64))


def test_batches_of_batches_of_gradients():
    xs = randn(4, 3, 2)
    close(vmap(vmap(grad(f)))(xs), ag.stack([loop(grad(f), x) for x in xs]))
    close(vmap(grad(lambda x: vmap(f)(x).sum()))(xs), vmap(vmap(grad(f)))(xs))


@pytest.mark.parametrize("inner", ["grad", "jvp", "vjp", "jacrev", "jacfwd"])
@pytest.mark.parametrize("outer", ["backward", "jacrev", "jacfwd", "jvp"])
def test_captured_tensors_get_their_derivatives(inner, outer):
    """The tensors are used by an inner transformation that doesn't take them as arguments, batched
    and not."""
    xs, w = randn(3, 2), randn(2, seed=1)

    def result(w, batched):
        def scaled(x):
            return ((x * w).sin().sum() * (x * x).sum() * w).sum()

        made = {
            "grad": grad(scaled),
            "jvp": lambda x: jvp(scaled, (x,), (w,))[1],
            "vjp": lambda x: vjp(scaled, x)[1](w[0])[0],
            "jacrev": jacrev(scaled),
            "jacfwd": jacfwd(scaled),
        }[inner]
        found = vmap(made)(xs) if batched else loop(made, xs)
        return (found * found).sum()

    expected = differences(lambda w: result(w, False), w)
    for batched in (False, True):
        if outer == "backward":
            leaf = w.clone().requires_grad_()
            result(leaf, batched).backward()
            found = leaf.grad
        elif outer == "jvp":
            rows = ag.eye(2, dtype=ag.float64)
            found = ag.stack([jvp(lambda w: result(w, batched), (w,), (r,))[1] for r in rows])
        else:
            found = JACOBIANS[outer](lambda w: result(w, batched))(w)
        close(found, expected, 1e-6)


def test_arguments_that_require_grad_are_followed():
    xs = randn(3, 2).requires_grad_()
    for transform in (vmap(grad(f)), vmap(jacfwd(f)), vmap(jacrev(f))):
        (g,) = ag.autograd.grad(transform(xs).sum(), xs)
        close(g, loop(lambda x: hessian(f)(x).sum(0), xs.detach()))


@pytest.mark.parametrize("a", [grad, lambda f: lambda x: jvp(f, (x,), (ag.ones_like(x),))[1]])
@pytest.mark.parametrize("b", [grad, lambda f: lambda x: jvp(f, (x,), (ag.ones_like(x),))[1]])
def test_perturbations_are_not_confused(a, b):
    one, two = ag.tensor(1.0, dtype=ag.float64), ag.tensor(2.0, dtype=ag.float64)
    assert a(lambda x: x * b(lambda y: x + y)(one))(two).item() == 1.0
    assert a(lambda x: x * b(lambda y: x * y * y)(x))(two).item() == 24.0, "d/dx 2 x**3"
    assert b(a(lambda x: x**4))(two).item() == 48.0
    # The inner function ignores its argument, or hands the outer one through.
    assert a(lambda x: x * b(lambda y: x * x)(one))(two).item() == 0.0
    assert a(lambda x: b(lambda y: y * x.detach() * x)(one))(two).item() == 2.0


def test_perturbations_are_not_confused_in_batches():
    xs = ag.tensor([1.0, 2.0, 3.0])
    found = vmap(grad(lambda x: x * grad(lambda y: x * y * y)(x)))(xs)
    assert found.tolist() == [6.0, 24.0, 54.0]
    found = vmap(
        lambda x: jvp(lambda x: x * jvp(lambda y: x * y * y, (x,), (xs[0],))[1], (x,), (xs[0],))[1]
    )(xs)
    assert found.tolist() == [6.0, 24.0, 54.0]


def test_an_inner_batch_of_an_outer_variable():
    xs, ys = randn(3, 2), randn(4, 2, seed=1)

    def kernel(x, y):
        return (-(x - y) * (x - y)).sum().exp()

    found = vmap(grad(lambda x: vmap(lambda y: kernel(x, y))(ys).sum()))(xs)
    expected = loop(grad(lambda x: sum(kernel(x, y) for y in ys)), xs)
    close(found, expected)
    cross = vmap(lambda x: vmap(lambda y: jacfwd(grad(kernel), argnums=1)(x, y))(ys))(xs)
    assert cross.shape == (3, 4, 2, 2)
    close(cross[1, 2], jacrev(jacrev(kernel), argnums=1)(xs[1], ys[2]))


def test_hessian_vector_products_in_four_ways():
    x, v = randn(2), randn(2, seed=3)
    expected = hessian(f)(x) @ v
    close(jvp(grad(f), (x,), (v,))[1], expected)
    close(vjp(grad(f), x)[1](v)[0], expected)
    close(grad(lambda x: jvp(f, (x,), (v,))[1])(x), expected)
    close(linearize(grad(f), x)[1](v), expected)
    vs = randn(5, 2, seed=4)
    close(vmap(lambda v: jvp(grad(f), (x,), (v,))[1])(vs), vs @ hessian(f)(x))
    close(vmap(linearize(grad(f), x)[1])(vs), vs @ hessian(f)(x))


def test_no_grad_outside_and_inside():
    x = randn(2).requires_grad_()
    with ag.no_grad():
        found = grad(f)(x)
        assert not found.requires_grad and not ag.is_grad_enabled()
        close(hessian(f)(x), hessian(f)(x.detach()))
    close(found, grad(f)(x))
    assert grad(f)(x).requires_grad

    def partly(x):
        with ag.no_grad():
            c = x * x
        return (x - c).sum()

    assert grad(partly)(x.detach()).tolist() == [1.0, 1.0]


def test_inference_mode_outside():
    with ag.inference_mode():
        x = randn(2)
        found = [grad(f)(x), jacfwd(f)(x), hessian(f)(x), jvp(f, (x,), (x,))[1]]
    x = randn(2)
    for g, e in zip(found, [grad(f)(x), grad(f)(x), hessian(f)(x), grad(f)(x) @ x]):
        close(g, e)


def test_modes_and_levels_come_back_after_an_error():
    def fail(x):
        raise KeyError

    for transform in (
        grad(fail),
        vmap(fail),
        jacfwd(fail),
        jacrev(fail),
        vmap(grad(fail)),
        hessian(fail),
        lambda x: jvp(fail, (x,), (x,)),
    ):
        with ag.no_grad(), pytest.raises(KeyError):
            transform(ag.ones(2))
        assert ag.is_grad_enabled()
        close(vmap(hessian(f))(randn(2, 2)), loop(hessian(f), randn(2, 2)))


def test_complex_functions():
    z = ag.tensor([1 + 2j, 0.5 - 1j], dtype=ag.complex128)
    holomorphic = jacfwd(lambda z: z * z * z)(z)
    np.testing.assert_allclose(holomorphic.numpy(), np.diag((3 * z * z).numpy()))
    # Reverse mode gives the conjugate Wirtinger convention: vjp conjugates.
    _, pull = vjp(lambda z: z * z * z, z)
    np.testing.assert_allclose(
        pull(ag.ones(2, dtype=ag.complex128))[0].numpy(), (3 * z * z).conj_physical().numpy()
    )
    _, push = linearize(lambda z: (z * z).real, z)
    t = ag.tensor([1j, 1 + 1j], dtype=ag.complex128)
    np.testing.assert_allclose(push(t).numpy(), (2 * z * t).real.numpy())


def test_gradients_of_gradients_of_what_needs_none_have_no_history():
    a, b = ag.tensor([0.5, 1.5]), ag.tensor([2.0, -1.0])

    def mixed(b):
        return ag.func.grad(lambda q: ag.func.grad(lambda p: (p * p * q).sum())(a).sum())(b)

    assert not mixed(b).requires_grad and mixed(b).numpy().tolist() == [1, 3]
    inner = ag.func.grad_and_value(lambda p: (p * p * b).sum())
    assert not any(t.requires_grad for t in inner(a))
    needed = b.clone().requires_grad_()
    (g,) = ag.autograd.grad((mixed(needed) * needed).sum(), needed)
    assert mixed(needed).tolist() == [1, 3] and g.tolist() == [1, 3]
    captured = a.clone().requires_grad_()
    found = ag.func.grad(lambda q: ag.func.grad(lambda p: (p * p * q).sum())(captured).sum())(b)
    (g,) = ag.autograd.grad(found.sum(), captured)
    assert g.tolist() == [2, 2]
