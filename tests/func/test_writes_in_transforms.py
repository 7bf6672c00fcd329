"""Views and writes in functions that are transformed: derivatives see what values see."""

import pytest

import autograd_cy as ag
from autograd_cy.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = ag.tensor([[0.5, 2.0], [1.5, 1.0]], dtype=ag.float64)
x = X[0]


def squares_in_place(as_view):
    """x -> sum(x * sin(x)), with the product written through a view."""

    def f(x):
        y = x.sin()
        as_view(y).mul_(as_view(x.clone()))
        return y.sum()

    return f


def plain(x):
    return (x * x.sin()).sum()


WAYS = [
    lambda y: y.reshape(2, 1),
    lambda y: y.flatten(),
    lambda y: y.ravel(),
    lambda y: y.reshape_as(ag.ones(2, 1)),
    lambda y: ag.nn.Flatten(0)(y),
    lambda y: y.view(2, 1),
    lambda y: y.reshape(1, 2).t().flatten(0, 1),
]


@pytest.mark.parametrize("as_view", WAYS)
def test_writes_through_reshaped_tensors_have_derivatives(as_view):
    f = squares_in_place(as_view)
    for transformation in (
        lambda f: vmap(grad(f))(X),
        lambda f: vmap(vmap(grad(f)))(ag.stack([X, X])),
        lambda f: jacfwd(f)(x),
        lambda f: hessian(f)(x),
        lambda f: jacfwd(jacfwd(f))(x),
        lambda f: vmap(lambda x: jvp(f, (x,), (x,))[1])(X),
        lambda f: vmap(lambda u: jvp(f, (x,), (u,))[1])(X),
        lambda f: ag.autograd.functional.jacobian(f, x, vectorize=True, strategy="forward-mode"),
    ):
        ag.testing.assert_close(transformation(f), transformation(plain))


@pytest.mark.parametrize("as_view", WAYS)
def test_views_taken_before_a_write_are_read_with_its_derivatives(as_view):
    def f(x):
        y = x.sin()
        v = as_view(y)
        y.mul_(x)
        return v.sum()

    first = vmap(grad(plain))(X)
    for transformation in (grad, jacfwd, jacrev):
        ag.testing.assert_close(vmap(transformation(f))(X), first)
    second = vmap(hessian(plain))(X)
    for outer in (jacfwd, jacrev):
        for inner in (grad, jacfwd, jacrev):
            ag.testing.assert_close(vmap(outer(inner(f)))(X), second)


def test_reshaped_examples_that_need_a_copy_are_copies():
    def f(x):
        y = x * 1
        y.t().reshape(-1).mul_(2)
        return y

    batch = ag.arange(12.0).view(2, 2, 3)
    assert vmap(f)(batch).equal(batch)


def test_third_derivatives_of_writes_within_a_vmap():
    def f(x):
        y = x.clone()
        y.mul_(x)
        return y.sin().sum()

    def same(x):
        return (x * x).sin().sum()

    def along_ones(f):
        return jvp(jacfwd(jacfwd(f)), (x,), (ag.ones(2, dtype=ag.float64),))[1]

    ag.testing.assert_close(along_ones(f), along_ones(same))


def test_backward_through_tangents_that_were_written_in_a_vmap():
    def f(x):
        y = x * x.sum()
        y.sin_()
        z = ag.complex(y, y * 0.5)
        return ag.cat([((z * 1.3).real + (z * 1.3).imag).sin(), (z.real + z.imag).sin()])

    def same(x):
        y = (x * x.sum()).sin()
        return ag.cat([(1.95 * y).sin(), (1.5 * y).sin()])

    u = ag.tensor([1.0, -0.5], dtype=ag.float64)

    def total(f):
        leaf = x.clone().requires_grad_()
        jacfwd(lambda x: jvp(f, (x,), (u,))[1])(leaf).sum().backward()
        return leaf.grad

    ag.testing.assert_close(total(f), total(same))


def test_writes_of_what_all_examples_share_keep_outer_derivatives():
    """A tensor that all share is written with one that the inner transformation has lifted."""

    def inner(x):
        y = ag.zeros(2, dtype=ag.float64)
        y.copy_(x * x)
        return y.sum()

    def f(x):
        return vmap(lambda c: jvp(inner, (x,), (x,))[0] * c)(ag.ones(3, dtype=ag.float64)).sum()

    def same(x):
        return 3 * (x * x).sum()

    ag.testing.assert_close(jvp(f, (x,), (x,))[1], jvp(same, (x,), (x,))[1])


@pytest.mark.parametrize(
    "second",
    [
        hessian,
        lambda f: jacrev(jacfwd(f)),
        lambda f: jacfwd(jacfwd(f)),
        lambda f: lambda x: vmap(lambda u: jvp(grad(f), (x,), (u,))[1])(ag.eye(2).double()),
        lambda f: lambda x: vmap(lambda c: hessian(f)(x) * c)(ag.ones(2)),
    ],
)
@pytest.mark.parametrize("through", [lambda out: out, lambda out: out.view(2, 1).t()[0]])
def test_second_derivatives_of_what_is_put_together_in_place_can_be_trained(second, through):
    """Zeros that no vmap has made are written with what is differentiated inside and outside."""
    w = ag.tensor([2.0, 3.0], dtype=ag.float64, requires_grad=True)

    def written(x):
        out = ag.zeros(2, dtype=ag.float64)
        rows = through(out)
        rows[0] = x[0] ** 2 * w[0]
        rows[1] = x[1] ** 3 * w[1] * x[0]
        return out.sin().sum()

    def apart(x):
        return ag.stack([x[0] ** 2 * w[0], x[1] ** 3 * w[1] * x[0]]).sin().sum()

    found, wanted = (ag.autograd.grad(second(f)(x).pow(2).sum(), w) for f in (written, apart))
    ag.testing.assert_close(found, wanted)


# --- complex views ----------------------------------------------------------------------------


def test_view_as_complex_is_a_view_under_two_vmaps():
    def f(x):
        r = x.view(2, 2) * 1
        ag.view_as_complex(r).mul_(2)
        return r.sum()

    batch = ag.arange(24.0).view(2, 3, 4)
    assert vmap(vmap(f))(batch).equal(batch.sum(-1) * 2)
    u = ag.ones(4)
    found = vmap(vmap(lambda x: jvp(f, (x,), (u,))[1]))(batch)
    assert found.equal(ag.full((2, 3), 8.0))


def test_tangents_of_odd_size_are_seen_as_complex_numbers():
    def f(x):
        y = x.sin()
        z = ag.view_as_complex(y[:2])
        z.mul_(z.clone())
        return y.sum()

    def same(x):
        a, b, c = x.sin().unbind()
        return a * a - b * b + 2 * a * b + c

    point = ag.tensor([0.5, 1.0, -0.3], dtype=ag.float64)
    ag.testing.assert_close(jacfwd(f)(point), jacfwd(same)(point))
    ag.testing.assert_close(jacfwd(jacfwd(f))(point), jacfwd(jacfwd(same))(point))
    ag.testing.assert_close(hessian(f)(point), hessian(same)(point))


def test_examples_that_are_no_complex_numbers_are_refused():
    with pytest.raises(RuntimeError, match="stride divisible by 2"):
        vmap(lambda x: ag.view_as_complex(x[:2]))(ag.ones(2, 3))
    with pytest.raises(RuntimeError, match="last dimension with stride 1"):
        vmap(ag.view_as_complex, in_dims=1)(ag.ones(2, 3))
    with pytest.raises(RuntimeError, match="one or more dimensions"):
        vmap(ag.view_as_complex)(ag.ones(2))


# --- products that are scattered --------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda s: ag.ones(2, dtype=ag.float64).scatter_reduce(0, ag.tensor([0, 0]), s, "prod"),
        lambda s: ag.ones(2, dtype=ag.float64).index_reduce(0, ag.tensor([0, 0]), s, "prod"),
        lambda s: ag.ones(2, dtype=ag.float64).scatter(0, ag.tensor([0, 0]), s, reduce="multiply"),
    ],
)
@pytest.mark.filterwarnings("ignore:The reduce argument")
def test_second_derivatives_of_scattered_products_of_examples(f):
    def number(s):
        return f(s).sum()

    crossed = ag.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=ag.float64).expand(2, 2, 2)
    assert vmap(hessian(number))(X).equal(crossed)
    assert vmap(vmap(hessian(number)))(X[None]).equal(crossed[None])
    assert vmap(lambda s: jvp(grad(number), (s,), (s,))[1])(X).equal(X.flip(1))
    one = ag.ones((), dtype=ag.float64)

    def over_forward(s):
        return vjp(lambda s: jvp(number, (s,), (s,))[1], s)[1](one)[0]

    assert vmap(over_forward)(X).equal(2 * X.flip(1))


def test_second_derivatives_of_several_zeros_in_a_product_are_refused_under_vmap():
    def number(s):
        return ag.ones(1, dtype=ag.float64).scatter_reduce(
            0, ag.zeros(2, dtype=ag.int64), s, "prod"
        ).sum()  # fmt: skip

    with pytest.raises(RuntimeError, match="Double backward is unsupported"):
        vmap(hessian(number))(X * 0)
