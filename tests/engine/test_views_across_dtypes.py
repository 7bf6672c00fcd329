"""Views whose dtype isn't that of their base: parts of complex tensors, and reinterpreted bytes."""

import numpy as np
import pytest

import autograd_cy as torch

STEP = 1e-6


def leaf(*shape, dtype=torch.complex128, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.2, 0.7, shape)
    if dtype.is_complex:
        x = x + 1j * rng.uniform(-0.5, 0.5, shape)
    return torch.tensor(x, dtype=dtype).requires_grad_()


def by_differences(function, x):
    """
    The gradient of a real function of an array (complex: as torch's convention has it), and what
    rounding of the function's values may change in it.
    """
    g = np.zeros_like(x)
    noise = 16 * np.finfo(float).eps * abs(function(x)) / STEP
    for i in np.ndindex(x.shape):
        for unit in (1.0, 1.0j) if np.iscomplexobj(x) else (1.0,):
            up, down = x.copy(), x.copy()
            up[i] += STEP * unit
            down[i] -= STEP * unit
            g[i] += unit * (function(up) - function(down)) / (2 * STEP)
    return g, noise


def check(program, x, second=True):
    """Gradient of the real scalar `program(leaf)`, and that of its squared gradient."""

    def value(array):
        return program(torch.tensor(array).requires_grad_()).item()

    def gradient(array, create_graph=False):
        t = torch.tensor(array).requires_grad_()
        (g,) = torch.autograd.grad(program(t), t, create_graph=create_graph)
        return t, (g * g.conj()).real.sum(), g

    array = x.detach().numpy().copy()
    _, _, g = gradient(array)
    expected, noise = by_differences(value, array)
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-6, atol=1e-7 + noise)
    if second:
        t, size, _ = gradient(array, create_graph=True)
        (h,) = torch.autograd.grad(size, t)
        expected, noise = by_differences(lambda a: float(gradient(a)[1]), array)
        np.testing.assert_allclose(h.numpy(), expected, rtol=1e-6, atol=1e-6 + noise)


def norm(z):
    w = torch.arange(1, z.numel() + 1, dtype=torch.float64).reshape(z.shape)
    return (w / z.numel() * (z * z.conj()).real).sum()


def test_real_and_imag_show_the_memory_of_the_tensor():
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert x.real.data_ptr() == x.data_ptr()
    assert x.real._base is x and x.imag._base is x
    assert x.real.stride() == (2,) and x.imag.storage_offset() == 1
    x.real.mul_(10)
    x.imag = torch.tensor([7.0, 8.0])
    assert x.tolist() == [10 + 7j, 30 + 8j]
    assert x._version == x.real._version == 2


def test_real_of_a_real_tensor_is_the_tensor():
    x = torch.ones(2)
    assert x.real is x and torch.real(x) is x
    for part in (lambda: x.imag, lambda: torch.imag(x)):
        with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-comp"):
            part()


def test_view_as_real_and_back():
    x = leaf(2, 3)
    pairs = torch.view_as_real(x)
    assert tuple(pairs.shape) == (2, 3, 2) and pairs.dtype == torch.float64
    assert pairs.grad_fn.name() == "ViewAsRealBackward0"
    again = torch.view_as_complex(pairs)
    assert again.data_ptr() == x.data_ptr() and again.tolist() == x.tolist()
    check(lambda t: norm(torch.view_as_complex(torch.view_as_real(t) * 2) * t), x)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.ones(3), "last dimension of size 2"),
        (lambda: torch.tensor(1.0), "one or more dimensions"),
        (lambda: torch.ones(2, 3).t(), "last dimension with stride 1"),
        (lambda: torch.ones(4)[1:3], "storage_offset divisible by 2"),
        (lambda: torch.ones(6).as_strided((2, 2), (3, 1)), "stride divisible by 2 for all but"),
        (lambda: torch.ones(2, 2, dtype=torch.int32), "only supported for float and double"),
        (lambda: torch.ones(2, 2, dtype=torch.float16), "only supported for float and double"),
    ],
)
def test_view_as_complex_says_what_is_wrong(make, text):
    with pytest.raises(RuntimeError, match=text):
        torch.view_as_complex(make())


@pytest.mark.parametrize(
    ("make", "shares"),
    [
        (lambda: torch.zeros(2, 4, 2)[:, ::2], True),
        (lambda: torch.zeros(4, 2, 2).transpose(0, 1), True),
        (lambda: torch.zeros(2, 2, 2, 2)[1], True),
        (lambda: torch.zeros(2, 2, 3)[..., :2], False),
        (lambda: torch.zeros(9)[1:].view(2, 2, 2), False),
        (lambda: torch.zeros(2, 2, 2).transpose(1, 2), False),
    ],
)
def test_gradients_of_pairs_are_read_where_they_lie_if_they_can(make, shares):
    seed, seen = make(), []
    seed[1, 1, 0] = 3.0
    x = torch.zeros(*seed.shape[:2], dtype=torch.complex64, requires_grad=True)
    pairs = torch.view_as_real(x)
    pairs.grad_fn.register_hook(lambda into, out: seen.extend(into))
    pairs.backward(seed)
    assert (seen[0].data_ptr() == seed.data_ptr()) is shares
    assert x.grad[1, 1] == 3 and x.grad.sum() == 3


def test_view_as_real_needs_a_complex_tensor():
    with pytest.raises(RuntimeError, match="view_as_real is only supported for complex tensors"):
        torch.view_as_real(torch.ones(2))


REAL_VIEWS = {
    "real": lambda y: y.real,
    "imag of a slice": lambda y: y[1:].imag,
    "real of the transpose": lambda y: y.t().real,
    "column of real": lambda y: y.real[:, 1],
    "view_as_real": torch.view_as_real,
    "one pair": lambda y: torch.view_as_real(y)[1, 2],
}
CHANGES = {
    "mul_": lambda v, w: v.mul_(w),
    "add_": lambda v, w: v.add_(w, alpha=3),
    "exp_": lambda v, w: v.exp_(),
    "copy_": lambda v, w: v.copy_(w),
    "fill_": lambda v, w: v.fill_(0.5),
    "square_": lambda v, w: v.square_(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("view", REAL_VIEWS.values(), ids=REAL_VIEWS)
def test_inplace_on_a_real_view_of_a_complex_base(view, change):
    def program(t):
        y = t * (1 + 0.5j)
        v = view(y)
        change(v, t.real.sum() * 0.3)
        assert y.grad_fn.name() == "torch::autograd::CopySlices"
        return norm(y * y) + (v * v).sum()

    check(program, leaf(2, 3))


COMPLEX_VIEWS = {
    "whole": torch.view_as_complex,
    "slice": lambda y: torch.view_as_complex(y)[1:],
    "of a slice": lambda y: torch.view_as_complex(y[1:]),
    "transposed": lambda y: torch.view_as_complex(y.transpose(0, 1)),
    "and back": lambda y: torch.view_as_complex(y).real,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("view", COMPLEX_VIEWS.values(), ids=COMPLEX_VIEWS)
def test_inplace_on_a_complex_view_of_a_real_base(view, change):
    def program(t):
        y = t * 1.5
        v = view(y)
        factor = t.sum() * 0.3
        change(v, torch.complex(factor, factor * factor) if v.is_complex() else factor)
        return (y * y * y).sum() + norm(v)

    check(program, leaf(3, 2, 2, dtype=torch.float64))


def test_views_of_other_dtypes_see_the_new_history_of_the_base():
    x = leaf(3)
    y = x * 1
    part, pairs = y.imag, torch.view_as_real(y)
    y.mul_(2j)
    assert part.grad_fn.name() == "AsStridedBackward0"
    np.testing.assert_allclose(part.detach().numpy(), (x.detach().numpy() * 2j).imag)
    (g,) = torch.autograd.grad(part.sum(), x, retain_graph=True)
    assert g.tolist() == [2.0] * 3  # imag(2j * (a + bj)) is 2a
    (g,) = torch.autograd.grad(pairs.sum(), x)
    assert g.tolist() == [2 - 2j] * 3


def test_setting_parts_goes_into_the_history():
    x, w = leaf(3), leaf(3, dtype=torch.float64, seed=1)
    y = x * 1
    y.real = w * w
    y.imag = 3
    assert y.detach().imag.tolist() == [3.0] * 3
    gx, gw = torch.autograd.grad(norm(y), (x, w), allow_unused=True)
    assert not gx.numpy().any()
    k = np.arange(1, 4)
    np.testing.assert_allclose(gw.numpy(), 4 * k / 3 * w.detach().numpy() ** 3)


def test_inplace_on_parts_of_a_leaf_is_refused():
    x = leaf(2)
    before = x.tolist()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x.real.mul_(2)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x.imag = 1.0
    assert x.tolist() == before and x._version == 0
    with torch.no_grad():
        x.real.mul_(2)
    assert x.detach().real.tolist() == [2 * z.real for z in before]


def test_pending_conjugation_and_negation_are_asked_of_tensors():
    x = leaf(2)
    assert x.conj().is_conj() == x.is_complex() and not (-x).is_neg()
    assert x.resolve_conj() is x and x.resolve_neg() is x
    assert not torch.is_conj(x) and torch.resolve_conj(x) is x
    with pytest.raises(TypeError, match="must be Tensor"):
        torch.is_conj(1.0)


# --- view(dtype) ----------------------------------------------------------------------------


def test_view_of_another_dtype_shares_memory_and_version_but_no_history():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    bits = y.view(torch.int32)
    assert bits.tolist() == np.array([1.0, 2.0], np.float32).view(np.int32).tolist()
    assert bits.data_ptr() == y.data_ptr() and not bits._is_view()
    assert not y.view(torch.float32).requires_grad
    z = y * y
    bits.zero_()
    assert y.tolist() == [0.0, 0.0] and y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


@pytest.mark.parametrize(
    ("shape", "old", "new"),
    [
        ((2, 4), "float32", "float64"),
        ((2, 3), "float64", "int16"),
        ((2, 2), "float32", "complex64"),
        ((3,), "int64", "uint8"),
        ((0, 2), "int32", "int64"),
    ],
)
def test_view_changes_the_last_dimension_with_the_width(shape, old, new):
    array = np.arange(np.prod(shape), dtype=old).reshape(shape)
    found = torch.tensor(array).view(getattr(torch, new))
    np.testing.assert_array_equal(found.numpy(), array.view(new))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.ones(3), r"self.size\(-1\) must be divisible by 2"),
        (lambda: torch.tensor(1.0), r"self.dim\(\) cannot be 0"),
        (lambda: torch.ones(4, 4).t(), r"self.stride\(-1\) must be 1"),
        (lambda: torch.ones(4, 3)[:, :2], r"self.stride\(0\) must be divisible by 2"),
        (lambda: torch.ones(5)[1:], r"self.storage_offset\(\) must be divisible by 2"),
    ],
)
def test_view_of_another_width_says_what_is_wrong(make, text):
    with pytest.raises(RuntimeError, match=text):
        make().view(torch.float64)
