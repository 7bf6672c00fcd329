"""Mean and variance as one operation, eigenvectors, and the namespaces of special functions."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd import forward_ad, gradcheck, gradgradcheck

NAN, INF = float("nan"), float("inf")


def leaf(values, dtype=ag.float64):
    return ag.tensor(values, dtype=dtype, requires_grad=True)


# --- var_mean and std_mean --------------------------------------------------------------------

PAIRS = [(ag.var_mean, "VarMeanBackward0"), (ag.std_mean, "StdMeanBackward0")]


@pytest.mark.parametrize(("function", "name"), PAIRS)
def test_both_outputs_belong_to_one_node(function, name):
    pair = function(leaf([1.0, 2.0, 4.0]))
    assert type(pair) is tuple and pair[0].grad_fn is pair[1].grad_fn
    assert [t.output_nr for t in pair] == [0, 1]
    assert type(pair[0].grad_fn).__name__ == pair[0].grad_fn.name() == name


@pytest.mark.parametrize(("function", "name"), PAIRS)
@pytest.mark.parametrize("used", [(0,), (1,), (0, 1)])
def test_prehook_gets_a_pair_with_none_for_the_unused_one(function, name, used):
    x = leaf([1.0, 2.0, 4.0])
    pair = function(x)
    seen = []
    pair[0].grad_fn.register_prehook(seen.append)
    sum(pair[i] * 3 for i in used).backward()
    assert [[None if g is None else g.item() for g in grads] for grads in seen] == [
        [3.0 if i in used else None for i in (0, 1)]
    ]
    assert gradcheck(lambda x: sum(function(x)[i] for i in used), (x,), check_forward_ad=True)
    assert gradgradcheck(lambda x: sum(function(x)[i] for i in used), (x,))


def test_hooks_and_retained_gradients_of_each_output_survive_a_change_in_place():
    x = leaf([1.0, 2.0, 4.0])
    spread, mean = ag.var_mean(x)
    seen = {}
    spread.register_hook(lambda g: seen.update(old=g.item()))
    mean.register_hook(lambda g: seen.update(mean=g.item()))
    spread.retain_grad()
    mean.retain_grad()
    spread.mul_(2)
    spread.register_hook(lambda g: seen.update(new=g.item()))
    (spread * 5 + mean * 7).backward()
    assert seen == {"old": 10, "mean": 7, "new": 5}
    assert spread.grad.item() == 5 and mean.grad.item() == 7
    assert gradcheck(lambda x: ag.var_mean(x)[0].mul_(2), (x,))


def test_the_deviation_is_needed_unchanged_and_its_mean_is_not():
    x = leaf([1.0, 2.0, 4.0])
    assert gradcheck(lambda x: ag.std_mean(x)[1].mul_(2), (x,))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        ag.std_mean(x)[0].mul_(2).backward()


def test_the_mean_of_infinite_elements_has_a_gradient():
    x = leaf([1.0, INF, 2.0])
    for function in (ag.var_mean, ag.std_mean):
        (g,) = ag.autograd.grad(function(x)[1], x)
        np.testing.assert_allclose(g.tolist(), [1 / 3] * 3)


def test_equal_elements_have_a_zero_gradient_of_the_deviation():
    x = leaf([2.0, 2.0])
    assert ag.autograd.grad(ag.std_mean(x)[0], x)[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("args", "kwargs", "dim", "correction", "keepdim"),
    [
        ((), {}, None, 1, False),
        ((False,), {}, None, 0, False),
        ((), {"unbiased": False}, None, 0, False),
        ((1,), {"unbiased": False}, 1, 0, False),
        ((1, False, True), {}, 1, 0, True),
        (((0, 1),), {"correction": 0, "keepdim": True}, (0, 1), 0, True),
        ((None,), {"correction": None}, None, 1, False),
    ],
)
def test_ways_to_say_what_is_subtracted_from_the_count(args, kwargs, dim, correction, keepdim):
    array = np.arange(6.0).reshape(2, 3) ** 2
    for function, expected in ((ag.var_mean, np.var), (ag.std_mean, np.std)):
        spread, mean = function(ag.from_numpy(array), *args, **kwargs)
        np.testing.assert_allclose(
            spread.numpy(), expected(array, axis=dim, ddof=correction, keepdims=keepdim)
        )
        np.testing.assert_allclose(mean.numpy(), array.mean(axis=dim, keepdims=keepdim))


def test_complex_numbers_have_a_real_variance():
    z = ag.tensor([1j, 2, 3 + 1j], dtype=ag.complex128, requires_grad=True)
    spread, mean = ag.var_mean(z)
    assert spread.dtype == ag.float64 and mean.dtype == ag.complex128
    for function in (ag.var_mean, ag.std_mean):
        assert gradcheck(lambda z, f=function: f(z)[0], (z,), check_forward_ad=True)
    with pytest.raises(RuntimeError, match="only support floating point .* not Long"):
        ag.var_mean(ag.arange(3))


# --- eigenvectors -----------------------------------------------------------------------------


def symmetric(n, seed=0, dtype=ag.float64, batch=()):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((*batch, n, n))
    if dtype.is_complex:
        a = a + 1j * rng.standard_normal(a.shape)
    return ag.from_numpy(a + np.conj(np.swapaxes(a, -1, -2))).requires_grad_()


def invariant(vectors):
    """Return a value that doesn't change with the signs or phases of eigenvectors."""
    return vectors.abs() ** 2


@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_derivatives_of_eigenvalues_and_eigenvectors(dtype):
    a = symmetric(3, dtype=dtype)

    def function(a):
        values, vectors = ag.linalg.eigh((a + a.mH) / 2)
        return values, invariant(vectors)

    assert gradcheck(function, (a,), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(function, (a,))
    assert gradcheck(lambda a: ag.linalg.eigvalsh((a + a.mH) / 2), (a,))


def test_equal_eigenvalues_have_a_gradient_and_their_vectors_none():
    a = leaf([[2.0, 0.0], [0.0, 2.0]])
    (g,) = ag.autograd.grad(ag.linalg.eigvalsh(a).sum(), a)
    np.testing.assert_allclose(g.tolist(), np.eye(2), atol=1e-12)
    vectors = ag.linalg.eigh(a).eigenvectors
    (g,) = ag.autograd.grad(vectors[0, 1] + 2 * vectors[1, 0], a)
    assert not g.isfinite().all()


@pytest.mark.parametrize(
    ("shape", "args", "message"),
    [
        ((3,), (), "must have at least 2 dimensions"),
        ((2, 3), (), "batches of square matrices, but they are 2 by 3"),
        ((2, 2), ("X",), "Expected UPLO argument to be 'L' or 'U'"),
    ],
)
def test_eigh_says_what_is_wrong(shape, args, message):
    with pytest.raises(RuntimeError, match=message):
        ag.linalg.eigh(ag.ones(shape), *args)


def test_eigh_reads_one_triangle_and_runs_under_vmap():
    a = ag.tensor([[1.0, 5.0], [2.0, 3.0]])
    lower = ag.linalg.eigvalsh(ag.tensor([[1.0, 2.0], [2.0, 3.0]]))
    np.testing.assert_allclose(ag.linalg.eigvalsh(a).tolist(), lower.tolist())
    upper = ag.linalg.eigvalsh(ag.tensor([[1.0, 5.0], [5.0, 3.0]]))
    np.testing.assert_allclose(ag.linalg.eigvalsh(a, "U").tolist(), upper.tolist())
    batch = symmetric(3, batch=(4,)).detach()
    each = ag.vmap(ag.linalg.eigvalsh)(batch)
    np.testing.assert_allclose(each.numpy(), np.linalg.eigvalsh(batch.numpy()))


@pytest.mark.parametrize("largest", [True, False, None])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_lobpcg_gives_the_outermost_eigenpairs(largest, batch):
    a = symmetric(7, batch=batch)
    values, vectors = ag.lobpcg(a, 2, largest=largest)
    every = np.linalg.eigvalsh(a.detach().numpy())
    expected = every[..., :2] if largest is False else every[..., :-3:-1]
    np.testing.assert_allclose(values.tolist(), expected)
    np.testing.assert_allclose(
        (a @ vectors).tolist(), (vectors * values.unsqueeze(-2)).tolist(), atol=1e-10
    )


def test_lobpcg_solves_the_generalised_problem():
    a, b = symmetric(6), symmetric(6, 1).detach()
    b = b @ b + ag.eye(6, dtype=ag.float64)
    values, vectors = ag.lobpcg(a, 2, B=b)
    left, right = (a @ vectors).tolist(), (b @ vectors * values).tolist()
    np.testing.assert_allclose(left, right, atol=1e-9)
    gram = (vectors.mT @ b @ vectors).tolist()
    np.testing.assert_allclose(gram, np.eye(2), atol=1e-9)
    assert gradcheck(lambda a: ag.lobpcg((a + a.mT) / 2, 2, B=b)[0], (a,))
    with pytest.raises(NotImplementedError, match="the derivative for 'B' is not implemented"):
        ag.lobpcg(a, 1, B=b.requires_grad_())


def test_lobpcg_can_be_differentiated_twice_with_symmetric_gradients():
    a = symmetric(6)

    def function(a):
        values, vectors = ag.lobpcg(a, 2)
        return values, invariant(vectors)

    assert gradcheck(function, (a,), check_forward_ad=True) and gradgradcheck(function, (a,))
    (g,) = ag.autograd.grad(function(a)[1][0].sum(), a)
    assert ag.equal(g, g.mT)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((ag.ones(5, 5), 2), {}, ValueError, "smaller than 3 x the number of requested"),
        ((ag.ones(5, 4), 1), {}, AssertionError, "A must be square"),
        ((ag.ones(5), 1), {}, AssertionError, "A must be square"),
        ((ag.ones(5, 5, dtype=ag.int64), 1), {}, RuntimeError, "floating dtype"),
        ((ag.eye(5), 1), {"B": -ag.eye(5)}, RuntimeError, "B must be positive definite"),
        ((ag.eye(5), 1), {"tracker": print}, NotImplementedError, "tracker"),
        ((3,), {}, TypeError, "must be Tensor, not int"),
    ],
)
def test_lobpcg_says_what_is_wrong(args, kwargs, error, message):
    with pytest.raises(error, match=message):
        ag.lobpcg(*args, **kwargs)
    guess = ag.ones(6, 2)
    assert ag.lobpcg(ag.eye(6), X=guess)[0].shape == (2,)


# --- without derivatives ----------------------------------------------------------------------


def test_tangents_of_the_order_of_igamma_are_refused_and_those_of_the_argument_are_not():
    a, x = ag.tensor([0.5]), ag.tensor([0.3])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, ag.ones(1))
        tangent = forward_ad.unpack_dual(ag.igamma(a, dual)).tangent
    jacobian = ag.autograd.functional.jacobian(lambda x: ag.igamma(a, x), x)
    assert tangent.item() == pytest.approx(jacobian.item())


@pytest.mark.parametrize("name", ["eigh", "eigvalsh"])
def test_wrong_kinds_of_arguments_are_named_as_in_the_public_function(name):
    function = getattr(ag.linalg, name)
    with pytest.raises(
        TypeError, match=rf"^linalg_{name}\(\): argument 'A' \(position 1\) must be Te"
    ):
        function(3)
    with pytest.raises(
        TypeError, match=rf"^linalg_{name}\(\): argument 'UPLO' \(position 2\) must"
    ):
        function(ag.eye(2), 1.0)
