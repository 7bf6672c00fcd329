"""Results of `sort` lie in memory as the operand does, and have the values of NumPy."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag

RNG = np.random.default_rng(5)


def operands(lib, dtype):
    """Tensors of all orders of dimensions, dense or not."""
    for shape in ((3, 4), (2, 3, 4), (4, 1, 3)):
        data = RNG.integers(0, 5, shape).astype(dtype)
        for order in itertools.permutations(range(len(shape))):
            yield lib.from_numpy(data.copy()).permute(order)
            yield lib.from_numpy(np.repeat(data, 2, -1)).permute(order)[..., ::2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
def test_values_are_those_of_numpy_in_any_layout(dtype):
    for x in operands(ag, dtype):
        for dim in range(-x.dim(), x.dim()):
            order = np.argsort(x.numpy(), axis=dim, kind="stable")
            for values, indices in (
                ag.sort(x, dim=dim, stable=True),
                ag.sort(x, dim=dim, out=(ag.empty(0, dtype=x.dtype), ag.empty(0, dtype=ag.int64))),
            ):
                assert np.array_equal(indices.numpy(), order)
                assert np.array_equal(values.numpy(), np.sort(x.numpy(), axis=dim))
                assert values.stride() == indices.stride()


def test_strides_follow_the_operand():
    x = ag.rand(2, 3, 4).permute(2, 0, 1)
    assert ag.sort(x, 0).values.stride() == ag.argsort(x, 1).stride() == x.stride() == (1, 12, 4)
    assert ag.msort(x, out=ag.empty(0)).stride() == x.stride()
    assert ag.sort(ag.rand(6, 4).t()[::2], 0).values.stride() == (1, 2)
    images = ag.rand(2, 3, 4, 5).to(memory_format=ag.channels_last)
    assert ag.sort(images, 1).values.is_contiguous(memory_format=ag.channels_last)
    assert ag.sort(x.to("meta"), 0).indices.stride() == x.stride()


def test_strides_are_those_of_torch():
    torch = pytest.importorskip("torch")
    for x, y in zip(operands(ag, "float32"), operands(torch, "float32"), strict=True):
        if not x.is_contiguous():
            assert ag.sort(x, 0).values.stride() == torch.sort(y, 0).values.stride()


def test_gradients_of_a_transposed_operand():
    x = ag.rand(3, 4, dtype=ag.float64, requires_grad=True)
    weight = ag.rand(4, 3, dtype=ag.float64)
    (ag.sort(x.t(), 0).values * weight).sum().backward()
    again = x.detach().t().contiguous().requires_grad_()
    (ag.sort(again, 0).values * weight).sum().backward()
    assert ag.equal(x.grad, again.grad.t())


@pytest.mark.parametrize("dtype", [ag.float16, ag.float32, ag.float64, ag.int64])
@pytest.mark.parametrize("arguments", [(2,), (3, 1, 1), (3, 2, 0, 1, True)])
def test_one_volume_with_its_channels_innermost(dtype, arguments):
    x = ag.from_numpy(RNG.permutation(384)).to(dtype).reshape(1, 2, 4, 6, 8)
    x = x.contiguous(memory_format=ag.channels_last_3d)[0]
    plain = x.contiguous()
    if dtype.is_floating_point:
        x.requires_grad_()
        plain.requires_grad_()
    found = ag.nn.functional.max_pool3d(x, *arguments, return_indices=True)
    wanted = ag.nn.functional.max_pool3d(plain, *arguments, return_indices=True)
    for a, b in zip(found, wanted, strict=True):
        assert ag.equal(a, b)
        assert a.unsqueeze(0).is_contiguous(memory_format=ag.channels_last_3d)
        assert b.is_contiguous()
    if dtype.is_floating_point:
        found[0].sum().backward()
        wanted[0].sum().backward()
        assert ag.equal(x.grad, plain.grad)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_members_of_unsigned_dtypes(dtype):
    most = np.iinfo(dtype).max
    x = np.array([0, 1, most, most - 1, 7], dtype)
    for tests in ([most, 7], [most, 7] * 500, []):
        tests = np.array(tests, dtype)
        found = ag.isin(ag.from_numpy(np.tile(x, 900)), ag.from_numpy(tests))
        assert np.array_equal(found.numpy(), np.isin(np.tile(x, 900), tests))
    assert ag.isin(ag.from_numpy(x), 7).tolist() == [False, False, False, False, True]
