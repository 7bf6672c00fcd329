"""Functions of tensors that no family of records tests by itself."""

import numpy as np
import pytest

import autograd_cy as ag

inf, nan = float("inf"), float("nan")


def test_logarithms_of_determinants():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(4, 3, 3))
    a = root @ root.swapaxes(-1, -2) + np.eye(3)
    x = ag.tensor(a, requires_grad=True)
    np.testing.assert_allclose(ag.logdet(x).tolist(), np.log(np.linalg.det(a)))
    assert ag.autograd.gradcheck(ag.logdet, (x,), check_forward_ad=True)
    assert ag.autograd.gradgradcheck(ag.logdet, (x,))
    z = ag.tensor(rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2)), requires_grad=True)
    np.testing.assert_allclose(z.logdet().item(), np.log(np.linalg.det(z.detach().numpy())))
    assert ag.autograd.gradcheck(ag.logdet, (z,))
    assert ag.logdet(ag.zeros(2, 2)).item() == -inf
    assert np.isnan(ag.logdet(-ag.eye(3)).item())
    batched = ag.vmap(ag.logdet)(x.detach())
    np.testing.assert_allclose(batched.tolist(), ag.logdet(x).tolist())
    with pytest.raises(RuntimeError, match="must be batches of square matrices"):
        ag.logdet(ag.ones(2, 3))


def test_running_extremes_take_the_last_of_equal_ones_and_nan():
    for function in (ag.cummax, ag.cummin):
        values, indices = function(ag.tensor([1.0, nan, 3.0, nan, 2.0]), 0)
        assert np.isnan(values[1:].numpy()).all() and indices.tolist() == [0, 1, 1, 3, 3]
        assert function(ag.tensor([2, 2, 2]), 0)[1].tolist() == [0, 1, 2]
        assert function(ag.tensor([True, False]), -1)[0].dtype is ag.bool
    with pytest.raises(IndexError, match="out of range"):
        ag.cummax(ag.ones(2), 1)


def test_running_sums_of_exponentials_of_infinities():
    x = ag.tensor([-inf, -inf, 1.0, inf, 2.0])
    assert ag.logcumsumexp(x, 0).tolist() == [-inf, -inf, 1.0, inf, inf]
    y = ag.tensor([1000.0, 1000.0, -1000.0], dtype=ag.float64, requires_grad=True)
    found = ag.logcumsumexp(y, 0)
    np.testing.assert_allclose(found.tolist(), [1000, 1000 + np.log(2), 1000 + np.log(2)])
    found.backward(ag.tensor([1.0, -2.0, 3.0], dtype=ag.float64))
    np.testing.assert_allclose(y.grad.tolist(), [1.5, 0.5, 0.0])


def test_sums_and_means_leave_nan_out():
    x = ag.tensor([[1.0, nan], [3.0, 5.0]], requires_grad=True)
    assert ag.nansum(x).item() == 9 and ag.nanmean(x).item() == 3
    assert ag.nansum(x, 0).tolist() == [4, 5] and x.nanmean(1, True).tolist() == [[1], [4]]
    assert ag.nansum(x, dtype=ag.float64).dtype is ag.float64
    ag.nanmean(x, 1).sum().backward()
    assert x.grad.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert np.isnan(ag.nanmean(ag.tensor([nan])).item())
    for function in (ag.nansum, ag.nanmean):
        with pytest.raises(RuntimeError, match=function.__name__):
            function(ag.ones(2, dtype=ag.complex64))
    with pytest.raises(RuntimeError, match="nanmean"):
        ag.nanmean(ag.ones(2).long())


def test_elements_at_indices_that_wrap():
    x = ag.tensor([[10.0, 30.0, 20.0], [60.0, 40.0, 50.0]], requires_grad=True)
    order = x.detach().argsort(dim=1)
    assert ag.equal(ag.take_along_dim(x, order, 1), x.detach().sort(1)[0])
    assert ag.take_along_dim(x, ag.tensor([[-1], [0]]), 1).tolist() == [[20], [60]]
    assert ag.take_along_dim(x, ag.tensor([5, 0])).tolist() == [50, 10]
    for outside in (-1, 6):  # along a dimension they are counted on, in the whole they aren't
        with pytest.raises(RuntimeError, match=f"index {outside} is out of bounds"):
            ag.take_along_dim(x, ag.tensor([outside]))
    ag.take_along_dim(x, ag.tensor([[1]]), 1).sum().backward()
    assert x.grad.tolist() == [[0, 1, 0], [0, 1, 0]]
    for dtype in (ag.float32, ag.int32, ag.uint8):
        with pytest.raises(RuntimeError, match="dtype of indices should be Long"):
            ag.take_along_dim(x, ag.ones(2, 3, dtype=dtype), 1)
    with pytest.raises(RuntimeError, match="same number of dimensions, but got 2"):
        ag.take_along_dim(x, ag.tensor([1]), 1)
    with pytest.raises(IndexError, match="out of range"):
        ag.take_along_dim(x, order, 2)


def test_infinities_by_their_sign():
    x = ag.tensor([inf, -inf, nan, 0.0])
    assert x.isposinf().tolist() == [True, False, False, False]
    assert ag.isneginf(x).tolist() == [False, True, False, False]
    assert ag.isneginf(ag.tensor([1, 2])).tolist() == [False, False]
    with pytest.raises(RuntimeError, match="does not support complex inputs"):
        ag.isposinf(ag.ones(1, dtype=ag.complex64))


def test_values_that_fill():
    x = ag.ones(2, 3, requires_grad=True)
    value = ag.tensor(2.0, requires_grad=True)
    ag.fill(x, value).sum().backward()
    assert x.grad.abs().sum() == 0 and value.grad.item() == 6
    assert ag.fill(ag.tensor([1, 2]), 2.7).tolist() == [2, 2]
    y = ag.ones(2)
    assert ag.zero_(y) is y and y.tolist() == [0, 0]
    assert ag.tensor([3, 1]).__rdiv__(6).tolist() == [2, 6]
    with pytest.raises(RuntimeError, match="without overflow"):
        ag.fill(y, 1j)


@pytest.mark.parametrize("shape", ["stepped", "turned"])
def test_diagonal_matrices_are_written_to_memory_of_any_strides(shape):
    around = ag.ones(8, 8)
    out = around[::2, 1::2] if shape == "stepped" else around[:4, :4].t()
    kept = around.sum() - out.sum()
    ag.diag(ag.tensor([2.0, 3.0, 4.0]), 1, out=out)
    expected = np.diag([2.0, 3.0, 4.0], 1)
    np.testing.assert_array_equal(out.numpy(), expected)
    assert around.sum() == kept + expected.sum()
