"""einsum, tensordot, inner, vdot and distances, against NumPy and by differences."""

import itertools
import sys
import types

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._interpreted import _contraction_kernels
from autograd_cy._tensors import contraction as _contraction

RNG = np.random.default_rng(5)
EQUATIONS = [
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ij,jk->", (2, 3), (3, 4)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ij", (3, 3, 2)),
    ("iii", (2, 2, 2)),
    ("...ij->...ji", (2, 3, 4)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("i...,i...->...", (3, 4, 2), (3, 2)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
    ("bij,bjk->bik", (1, 2, 3), (5, 3, 4)),
    ("i,j->ij", (2,), (3,)),
    ("i,i->i", (3,), (3,)),
    ("ij->i", (2, 3)),
    ("ij,kl->", (2, 3), (4, 5)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("a,ab,b,bc->ac", (2,), (2, 3), (3,), (3, 4)),
    ("bA", (2, 3)),
    (" i j , j k ", (2, 3), (3, 4)),
    ("ij,jk", (0, 3), (3, 4)),
    ("ij,jk", (2, 0), (0, 4)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("i,ij,j", (3,), (3, 3), (3,)),
    ("...,...", (2, 3), (2, 3)),
]


def arrays(shapes, complex=False):
    found = [RNG.normal(size=s) for s in shapes]
    return [a + 1j * RNG.normal(size=a.shape) for a in found] if complex else found


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda c: f"{c[0].strip()} {c[1:]}")
def test_einsum_is_numpys(case):
    equation, *shapes = case
    for kind in (False, True):
        given = arrays(shapes, kind)
        found = ag.einsum(equation, *[ag.tensor(a) for a in given])
        ones = [np.broadcast_to(a, a.shape) for a in given]
        np.testing.assert_allclose(found.numpy(), np.einsum(equation, *ones), atol=1e-12)
    as_list = ag.einsum(equation, [ag.tensor(a) for a in given])
    assert ag.equal(as_list, found)


@pytest.mark.parametrize("case", EQUATIONS[:20], ids=lambda c: f"{c[0].strip()} {c[1:]}")
def test_einsum_is_differentiable_twice(case):
    equation, *shapes = case
    tensors = [ag.tensor(a, requires_grad=True) for a in arrays(shapes)]
    assert ag.autograd.gradcheck(lambda *x: ag.einsum(equation, *x), tensors)
    assert ag.autograd.gradgradcheck(lambda *x: ag.einsum(equation, *x), tensors)


def test_einsum_takes_lists_of_subscripts():
    a, b = arrays([(2, 3, 3), (3, 4)])
    x, y = ag.tensor(a), ag.tensor(b)
    np.testing.assert_allclose(
        ag.einsum(x, [0, 1, 2], y, [2, 3], [3, 0]).numpy(), np.einsum("abc,cd->da", a, b)
    )
    np.testing.assert_allclose(
        ag.einsum(x, [..., 1, 1], y, [1, 51]).numpy(), np.einsum("...bb,bz->...z", a, b)
    )
    with pytest.raises(ValueError, match="from 0 to 51"):
        ag.einsum(x, [0, 1, 52])


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        (
            ("ij,jk", (2, 3), (4, 4)),
            RuntimeError,
            "subscript j has size 4 for operand 1 which",
        ),
        (("ij,jk", (2, 3)), RuntimeError, "fewer operands were provided"),
        (("ij", (2, 3), (2, 3)), RuntimeError, "more operands were provided"),
        (("ij->k", (2, 3)), RuntimeError, "output subscript k does not appear in the equation"),
        (("ij->ii", (2, 3)), RuntimeError, "output subscript i appears more than once"),
        (("i1j", (2, 3)), RuntimeError, "invalid subscript given at index 1 in the equation"),
        (("ijk", (2, 3)), RuntimeError, r"equation \(3\) does not match the number of dimensions"),
        (("i..j", (2, 3)), RuntimeError, "found '.' for operand 0 that is not part of any"),
        (("", (2,)), RuntimeError, r"in the equation \(0\) does not match"),
        (("ii", (2, 3)), RuntimeError, "is repeated for operand 0 but the sizes don't match, 3"),
        (("i",), ValueError, "must specify the equation string and at least one operand"),
        ((), ValueError, "must specify the equation string"),
    ],
)
def test_einsum_says_what_is_wrong(args, error, text):
    given = [ag.ones(x) if isinstance(x, tuple) else x for x in args]
    with pytest.raises(error, match=text):
        ag.einsum(*given)


def test_einsum_under_vmap_and_in_other_dtypes():
    a, b = (ag.tensor(x) for x in arrays([(5, 2, 3), (5, 3, 4)]))
    found = ag.vmap(lambda x, y: ag.einsum("ij,jk->ik", x, y))(a, b)
    np.testing.assert_allclose(found.numpy(), a.numpy() @ b.numpy())
    whole = ag.arange(6).reshape(2, 3)
    assert ag.einsum("ij,kj->ik", whole, whole).tolist() == [[5, 14], [14, 50]]
    half = ag.ones(2, 3, dtype=ag.bfloat16)
    assert ag.einsum("ij,kj->ik", half, half).dtype is ag.bfloat16


@pytest.fixture
def no_plans():
    _contraction._plan.cache_clear()
    yield
    _contraction._plan.cache_clear()


def test_einsum_asks_opt_einsum_for_the_order(monkeypatch, no_plans):
    asked = []

    def contract_path(equation, *shapes, **kwargs):
        asked.append((equation, shapes, kwargs))
        return [(1, 2), (0, 1)], None

    module = types.ModuleType("opt_einsum")
    module.contract_path = contract_path
    monkeypatch.setitem(sys.modules, "opt_einsum", module)
    given = arrays([(2, 3), (3, 4), (4, 5)])
    found = ag.einsum("ab,bc,cd->ad", *[ag.tensor(x) for x in given])
    np.testing.assert_allclose(found.numpy(), given[0] @ given[1] @ given[2])
    assert asked[0][1] == ((2, 3), (3, 4), (4, 5)) and asked[0][2] == {"shapes": True}
    ag.einsum("ab,bc,cd->ad", *[ag.tensor(x) for x in given])
    assert len(asked) == 1  # for these shapes the order is known
    _contraction._plan.cache_clear()
    module.contract_path = lambda *args, **kwargs: ([(0, 1, 2)], None)
    again = ag.einsum("ab,bc,cd->ad", *[ag.tensor(x) for x in given])
    np.testing.assert_allclose(again.numpy(), found.numpy())


def test_einsum_plans_for_shapes_not_for_tensors():
    for dtype in (ag.float64, ag.float32):
        for a in (ag.ones(2, 3, dtype=dtype), 2 * ag.ones(3, 2, dtype=dtype).T):
            for b in (ag.ones(3, 4, dtype=dtype), ag.ones(3, 1, dtype=dtype)):
                found = ag.einsum("ij,jk->ik", a, b)
                assert found.dtype is dtype and found.tolist() == (a @ b).tolist()


@pytest.mark.parametrize("equation", ["ij", "ij->ij", "...", "...->..."])
def test_einsum_of_one_operand_is_another_tensor(equation):
    a = ag.ones(2, 3, requires_grad=True)
    found = ag.einsum(equation, a)
    assert found is not a and found.shape == a.shape and found.data_ptr() == a.data_ptr()
    (grad,) = ag.autograd.grad(found.sum(), a)
    assert grad.tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    ("shapes", "dims"),
    [
        (((2, 3, 4), (3, 4, 5)), 2),
        (((2, 3), (3, 2)), ([0, 1], [1, 0])),
        (((3,), (3,)), 0),
        (((2, 3, 4), (4, 2)), ([-1, 0], [0, 1])),
        (((2, 3), (3, 4)), 1),
        (((2, 3), (5, 3)), (1, 1)),
    ],
)
def test_tensordot_is_numpys(shapes, dims):
    a, b = arrays(shapes)
    x, y = ag.tensor(a, requires_grad=True), ag.tensor(b, requires_grad=True)
    expected = np.tensordot(a, b, dims)
    np.testing.assert_allclose(ag.tensordot(x, y, dims).detach().numpy(), expected)
    assert ag.autograd.gradcheck(lambda p, q: ag.tensordot(p, q, dims), (x, y))
    out = ag.empty(0, dtype=ag.float64)
    assert ag.tensordot(x.detach(), y.detach(), dims, out=out) is out
    np.testing.assert_allclose(out.numpy(), expected)


@pytest.mark.parametrize(
    ("shapes", "dims", "text"),
    [
        (((3,), (3,)), -1, "dims >= 0, but got dims=-1"),
        (((3,), (3,)), 2, "dims < ndim_a or ndim_b, but got dims=2"),
        (((2, 3), (2, 3)), ([0], [1]), "first has size 2 in dim 0 and second has size 3 in dim 1"),
        (((2, 3), (3, 3)), ([0, 1], [1]), "should have same length"),
    ],
)
def test_tensordot_says_what_is_wrong(shapes, dims, text):
    with pytest.raises(RuntimeError, match=text):
        ag.tensordot(*[ag.ones(s) for s in shapes], dims)
    with pytest.raises(RuntimeError, match="same dtype"):
        ag.tensordot(ag.ones(2), ag.ones(2).long(), 1)


SETS = (
    ((3, 2), (4, 2)),
    ((2, 3, 2), (4, 2)),
    ((2, 1, 3, 2), (3, 4, 2)),
    ((40, 3), (30, 3)),
)


def distances(a, b, p):
    gap = np.abs(a[..., :, None, :] - b[..., None, :, :])
    return np.linalg.norm(gap, p, -1) if p != 0.5 else (gap**p).sum(-1) ** 2


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, np.inf])
def test_distances_are_norms_of_differences(p):
    for shapes in SETS:
        a, b = arrays(shapes)
        x, y = ag.tensor(a, requires_grad=True), ag.tensor(b, requires_grad=True)
        expected = distances(a, b, p)
        np.testing.assert_allclose(ag.cdist(x, y, p).detach().numpy(), expected, 1e-7)
        if p >= 1 and x.numel() < 20:
            assert ag.autograd.gradcheck(
                lambda s, t, p=p: ag.cdist(s, t, p), (x, y), check_forward_ad=True
            )
    if p > 1:
        x, y = (t.detach()[:4, :2].clone().requires_grad_() for t in (x, y))
        assert ag.autograd.gradgradcheck(lambda s, t: ag.cdist(s, t, p), (x, y))


def test_equal_points_have_gradients_of_zero():
    x = ag.ones(2, 3, requires_grad=True)
    for p in (1.0, 1.5, 2.0, 3.0, float("inf")):
        x.grad = None
        ag.cdist(x, ag.ones(2, 3), p).sum().backward()
        assert x.grad.abs().sum() == 0
        x.grad = None
        ag.pdist(x, p).sum().backward()
        assert x.grad.abs().sum() == 0
    assert ag.cdist(ag.ones(0, 2), ag.ones(4, 2)).shape == (0, 4)
    assert ag.cdist(ag.ones(3, 0), ag.ones(4, 0)).tolist() == [[0.0] * 4] * 3


def test_distances_of_pairs_are_those_of_both_sets():
    x = ag.tensor(RNG.normal(size=(6, 3)))
    whole = ag.cdist(x, x)
    rows, columns = np.triu_indices(6, 1)
    np.testing.assert_allclose(ag.pdist(x).numpy(), whole.numpy()[rows, columns])
    assert ag.nn.functional.pdist is ag.pdist or ag.equal(ag.nn.functional.pdist(x), ag.pdist(x))


ORDERS = {0.0: lambda x: (x != 0).sum(-1), 1.0: lambda x: x.sum(-1), np.inf: lambda x: x.max(-1)}
ORDERS[2.0] = lambda x: np.sqrt((x * x).sum(-1))


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distances_of_every_number_of_points_and_coordinates(p, dtype):
    # Around the sizes of vectors and blocks; a point of both sets is in no distance of itself.
    for rows, columns, size in itertools.product((1, 3, 4, 9), (1, 15, 33, 64, 65), (1, 64, 129)):
        x, y = (RNG.standard_normal((2, n, size)).astype(dtype) for n in (rows, columns))
        y[:, 0] = x[:, 0]
        found = ag.cdist(ag.tensor(x), ag.tensor(y), p)
        exact = ORDERS[p](np.abs(x[:, :, None].astype(float) - y[:, None].astype(float)))
        np.testing.assert_allclose(found.numpy(), exact, rtol=2e-6 if dtype == "float32" else 1e-14)
        assert found[:, 0, 0].tolist() == [0, 0]


@pytest.mark.parametrize("p", ORDERS)
def test_distances_from_points_that_are_not_finite(p):
    x = np.array([[np.nan, 1], [np.inf, 0], [1, 2], [-np.inf, 0]])
    with np.errstate(invalid="ignore"):
        expected = ORDERS[p](np.abs(x[:, None] - x[None]))
    np.testing.assert_array_equal(ag.cdist(ag.tensor(x), ag.tensor(x), p).numpy(), expected)


def test_distances_are_the_same_bits_for_any_layout_and_number_of_threads(monkeypatch):
    x, y = ag.randn(70, 65), ag.randn(65, 90)
    expected = ag.cdist(x, y.T)
    assert ag.equal(ag.cdist(x.T.contiguous().T, y.T.contiguous()), expected)
    monkeypatch.setattr(_contraction_kernels, "AT_ONCE", 1000)  # rows one by one
    assert ag.equal(ag.cdist(x, y.T), expected)
    before = ag.get_num_threads()
    try:
        for threads in (1, 3):
            ag.set_num_threads(threads)
            assert ag.equal(ag.cdist(x.repeat(30, 1), y.T), expected.repeat(30, 1))
    finally:
        ag.set_num_threads(before)
