"""Complex operands of operators that reduce or replace, and numbers that a dtype can't hold."""

import numpy as np
import pytest

import autograd_cy as torch

INF, NAN = float("inf"), float("nan")


def moved(values):
    return torch.tensor(values, dtype=torch.complex128, requires_grad=True)


def test_nan_to_num_goes_by_parts():
    x = [complex(NAN, INF), complex(-INF, 1), complex(2, NAN), complex(3, 4)]
    z = torch.tensor(x, dtype=torch.complex128)
    assert torch.nan_to_num(z, 1.0, 2.0, 3.0).tolist() == [1 + 2j, 3 + 1j, 2 + 1j, 3 + 4j]
    assert np.array_equal(torch.nan_to_num(z).numpy(), np.nan_to_num(z.numpy()))
    largest = torch.finfo(torch.float32).max
    assert torch.nan_to_num(z.to(torch.complex64)).real.tolist() == [0, -largest, 2, 3]
    out = torch.empty(0, dtype=torch.complex128)
    assert torch.nan_to_num(z.conj(), 5, out=out) is out
    assert out[2] == 2 + 5j and out[1] == complex(-torch.finfo(torch.float64).max, -1)
    assert z.nan_to_num_(0, 0, 0).tolist() == [0, 1j, 2, 3 + 4j]


def test_gradients_of_nan_to_num_belong_to_finite_elements():
    z = moved([complex(NAN, 1), complex(1, INF), 1 + 2j])
    torch.nan_to_num(z).abs().square().sum().backward()
    assert z.grad.tolist() == [0, 0, 2 + 4j]


@pytest.mark.parametrize(
    ("shape", "dim"), [((5,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 2), 1), ((), 0)]
)
def test_logcumsumexp_of_complex_tensors(shape, dim):
    generator = np.random.default_rng(3)
    values = generator.normal(size=shape) + 1j * generator.normal(size=shape)
    z = torch.tensor(values, dtype=torch.complex128, requires_grad=True)
    expected = np.log(np.cumsum(np.exp(values), dim)) if shape else values
    result = torch.logcumsumexp(z, dim)
    np.testing.assert_allclose(np.exp(result.detach().numpy()), np.exp(expected), rtol=1e-13)
    single = torch.logcumsumexp(z.detach().to(torch.complex64), dim)
    np.testing.assert_allclose(np.exp(single.numpy()), np.exp(expected), rtol=3e-6)
    check = {"check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(lambda z: torch.logcumsumexp(z, dim), z, **check)
    assert torch.autograd.gradgradcheck(lambda z: torch.logcumsumexp(z, dim), z)


def test_logcumsumexp_of_large_and_of_no_complex_terms():
    z = torch.tensor([1000 + 1j, 1001 + 0j, -INF, 1000 + 1j], dtype=torch.complex128)
    result = torch.logcumsumexp(z, 0)
    assert np.isfinite(result.numpy()).all() and result[2] == result[1]
    rest = np.exp(z.numpy() - 1000)
    np.testing.assert_allclose(np.exp(result.numpy() - 1000), np.cumsum(rest), rtol=1e-12)
    grad = torch.autograd.functional.jacobian(
        lambda z: torch.logcumsumexp(z, 0).real, z, create_graph=False
    )
    assert torch.isfinite(grad.abs()).all() and (grad[0, 1:] == 0).all()
    nothing = torch.logcumsumexp(torch.tensor([complex(-INF, 0), 1j]), 0)
    assert nothing.tolist() == [complex(-INF, 0), 1j]


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce_of_complex_tensors(reduce, include_self):
    x, src = moved([1 + 2j, 2 - 1j, 0.5j]), moved([2 + 1j, 1j, 3.0, -1j])
    index, kept = torch.tensor([0, 0, 1, 0]), {"include_self": include_self}
    result = torch.scatter_reduce(x, 0, index, src, reduce, **kept)
    for slot in range(3):
        parts = [src[k].item() for k in range(4) if index[k] == slot]
        parts += [x[slot].item()] if include_self or not parts else []
        wanted = np.prod(parts) if reduce == "prod" else np.sum(parts)
        wanted /= len(parts) if reduce == "mean" else 1
        assert result[slot].item() == pytest.approx(wanted, rel=1e-14)
    single = x.detach().to(torch.complex64).expand(2, 3).t()
    others = src.detach().to(torch.complex64)[:, None].expand(4, 2)
    single = torch.scatter_reduce(single, 0, index[:, None].expand(4, 2), others, reduce, **kept)
    np.testing.assert_allclose(single[:, 1].numpy(), result.detach().numpy(), rtol=1e-6)

    def function(x, src):
        return torch.scatter_reduce(x, 0, index, src, reduce, **kept)

    assert torch.autograd.gradcheck(function, (x, src), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x, src))
    in_place = x.detach().clone().scatter_reduce_(0, index, src.detach(), reduce, **kept)
    assert torch.equal(in_place, result.detach())


def test_a_single_zero_among_complex_factors_has_a_gradient():
    x, src = moved([1 + 1j]), moved([0.0, 2j])
    torch.scatter_reduce(x, 0, torch.tensor([0, 0]), src, "prod").real.sum().backward()
    assert src.grad[0] == ((1 + 1j) * 2j).conjugate() and src.grad[1] == 0


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_complex_tensors_have_no_extremes(reduce):
    z = torch.ones(2, dtype=torch.complex64)
    with pytest.raises(NotImplementedError, match=f"scatter_reduce_?: {reduce}"):
        z.scatter_reduce(0, torch.tensor([0]), z, reduce)


@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_derivatives_of_scattered_extremes(reduce, include_self):
    values = torch.arange(12.0, dtype=torch.float64).sin().reshape(3, 4)
    x, src = values.clone().requires_grad_(), (values * 1.3 + 0.1)[:2].clone().requires_grad_()
    index = torch.tensor([[0, 1, 1, 0], [1, 0, 1, 0]])

    def function(x, src):
        return x.scatter_reduce(0, index, src, reduce, include_self=include_self)

    assert torch.autograd.gradcheck(function, (x, src), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x, src))


@pytest.mark.parametrize("keepdim", [False, True])
def test_aminmax_has_no_gradient_number_where_a_nan_is_the_extreme(keepdim):
    x = torch.tensor([[1.0, NAN, 3.0], [2.0, 4.0, 3.0]], requires_grad=True)
    low, high = torch.aminmax(x, dim=0, keepdim=keepdim)
    (low + 2 * high).sum().backward()
    assert x.grad[:, 0].tolist() == [1, 2] and x.grad[:, 2].tolist() == [1.5, 1.5]
    assert x.grad[:, 1].isnan().all()
    y = torch.tensor([1.0, NAN], requires_grad=True)
    torch.aminmax(y)[1].backward()
    assert y.grad.isnan().all()


@pytest.mark.parametrize("dtype", ["bool", "uint8"])
def test_copysign_of_truth_values_and_integers(dtype):
    x = torch.tensor([0, 1, 1], dtype=getattr(torch, dtype))
    assert torch.copysign(x, torch.tensor([-1.0, -1.0, 1.0])).tolist() == [-0.0, -1, 1]
    assert torch.copysign(x, x).dtype == torch.float32


WINDOWS = {
    "all": lambda x: x,
    "every second": lambda x: x[:, ::2],
    "turned": lambda x: x.t(),
    "one row": lambda x: x[1],
    "one": lambda x: x[1, 1],
}
TOO_LARGE = [
    ("uint8", 300),
    ("int8", -129),
    ("int16", 1e5),
    ("float16", 1e6),
    ("int64", INF),
    ("float32", 1j),
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("dtype", "number"), TOO_LARGE)
def test_windows_are_not_filled_with_what_their_dtype_lacks(window, dtype, number):
    x = torch.zeros(4, 4, dtype=getattr(torch, dtype))
    version = x._version
    calls = [
        lambda: WINDOWS[window](x).fill_(number),
        *([] if dtype == "float16" else [lambda: x.__setitem__(slice(1, 3), number)]),  # as torch
        lambda: x.fill_diagonal_(number),
        lambda: x.t()[1:].fill_diagonal_(number, wrap=True),
        lambda: torch.full_like(WINDOWS[window](x), number),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="cannot be converted to type"):
            call()
    assert (x == 0).all() and x._version == version


def test_windows_are_filled_with_what_fits():
    x = torch.zeros(4, 4, dtype=torch.uint8)
    assert x[:, ::2].fill_(-1).tolist() == [[255, 255]] * 4  # as torch wraps it
    assert torch.zeros(4, dtype=torch.float16)[::2].fill_(INF).tolist() == [INF, INF]
    y = torch.zeros(3, 3, requires_grad=True) * 1
    y[:, ::2].fill_(2.5)
    assert y.tolist() == [[2.5, 0, 2.5]] * 3


@pytest.mark.parametrize(("threshold", "value"), [(300, 1), (1, 300), (1, -300)])
def test_threshold_takes_numbers_of_the_dtype(threshold, value):
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8_t"):
        torch.threshold(torch.zeros(2, dtype=torch.uint8), threshold, value)


def test_complex_tensors_have_no_bounds():
    with pytest.raises(NotImplementedError, match="clamp"):
        torch.ones(2, dtype=torch.complex64).clamp(0, 1)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_into_memory_that_is_there(name):
    x = torch.arange(6.0).reshape(2, 3)
    out = torch.empty(2, 3)
    assert getattr(torch, name)(x, 1, out=out) is out
    assert torch.equal(out, getattr(torch, name)(x, 1))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        getattr(torch, name)(x, 1, out=torch.empty(2, 3, dtype=torch.float64))


def test_sums_without_nan_keep_the_precision_of_their_memory():
    x = torch.tensor([1.01, 2.003, 0.33, 0.7] * 25).bfloat16()
    out = torch.nansum(x, out=torch.empty((), dtype=torch.float32))
    assert out.item() == pytest.approx(x.double().sum().item(), rel=1e-6)


def test_dimensions_one_by_one():
    x = torch.ones(1, 3, 1)
    assert x.squeeze(0, 2).shape == (3,) and x.squeeze(0).shape == (3, 1)
    assert x.count_nonzero(0, 1).tolist() == [3] and x.count_nonzero().item() == 3
    assert x.count_nonzero((0, 1)).tolist() == [3] and x.count_nonzero(dim=1).tolist() == [[3]]
