"""Keyword arguments that make an operator another one: rounding, decimals, eps, tuples."""

import numpy as np
import pytest

import autograd_cy as ag

X = np.array([-7.5, -2.0, -0.3, 0.0, 1.2, 5.0, 8.8])


def floating(requires_grad=False):
    return ag.tensor(X, requires_grad=requires_grad)


@pytest.mark.parametrize("mode", ["trunc", "floor"])
def test_quotients_are_rounded(mode):
    rounded = {"trunc": np.trunc, "floor": np.floor}[mode]
    for other in (2.0, -0.7, ag.tensor([1.0, -3.0, 0.2, 2.0, 5.0, -1.5, 4.0], dtype=ag.float64)):
        array = other.numpy() if isinstance(other, ag.Tensor) else other
        y = ag.div(floating(), other, rounding_mode=mode)
        np.testing.assert_array_equal(y.numpy(), rounded(X / array))
        x = floating()
        assert x.div_(other, rounding_mode=mode) is x
        np.testing.assert_array_equal(x.numpy(), y.numpy())
        out = ag.empty(7, dtype=ag.float64)
        assert ag.divide(floating(), other, rounding_mode=mode, out=out) is out
        np.testing.assert_array_equal(out.numpy(), y.numpy())


def test_rounded_quotients_of_integers_are_integers():
    x = ag.arange(-7, 8)
    for other in (2, -3):
        for mode, rounded in (("trunc", np.trunc), ("floor", np.floor)):
            y = x.div(other, rounding_mode=mode)
            assert y.dtype == ag.int64
            np.testing.assert_array_equal(y.numpy(), rounded(x.numpy() / other))
    assert ag.div(7, ag.tensor([2]), rounding_mode="floor").tolist() == [3]
    assert x.div(2, rounding_mode=None).dtype == ag.float32
    least = ag.tensor([-(2**63), 2**63 - 1])
    assert least.div(3, rounding_mode="trunc").tolist() == [-(2**63 // 3), (2**63 - 1) // 3]
    with pytest.raises(RuntimeError, match="by zero"):
        x.div(0, rounding_mode="trunc")


def test_rounded_quotients_have_zero_gradients():
    x, y = floating(True), ag.ones(7, dtype=ag.float64, requires_grad=True)
    ag.div(x, y, rounding_mode="floor").sum().backward()
    assert x.grad.abs().sum() == 0
    assert y.grad.abs().sum() == 0


def test_other_modes_are_refused():
    x = floating()
    with pytest.raises(RuntimeError, match="one of None, 'trunc', or 'floor' but found 'up'"):
        x.div(2, rounding_mode="up")
    for wrong in (1, True, b"floor"):
        with pytest.raises(TypeError, match="argument 'rounding_mode' must be str"):
            x.div_(2, rounding_mode=wrong)
    with pytest.raises(TypeError):
        x.div(2, "floor")
    np.testing.assert_array_equal(x.numpy(), X)


@pytest.mark.parametrize("decimals", [0, 1, 3, -1, -2])
def test_decimals_of_round(decimals):
    values = np.array([123.456, -98.7654, 0.05, 0.15, 1e-4, 55.0])
    x = ag.tensor(values, requires_grad=True)
    y = ag.round(x, decimals=decimals)
    np.testing.assert_allclose(y.detach().numpy(), np.round(values, decimals), rtol=1e-14)
    y.sum().backward()
    assert x.grad.abs().sum() == 0
    z = ag.tensor(values)
    assert z.round_(decimals=decimals) is z
    assert z.tolist() == y.tolist()
    out = ag.empty(0, dtype=ag.float64)
    assert ag.round(z, decimals=decimals, out=out).tolist() == z.tolist()


def test_decimals_are_ints_given_by_name_for_floating_tensors():
    for wrong in (1.0, True, None, "1"):
        with pytest.raises(TypeError, match="argument 'decimals' must be int"):
            floating().round(decimals=wrong)
    with pytest.raises(TypeError):
        floating().round(1)
    with pytest.raises(NotImplementedError, match="decimals .* dtype Long"):
        ag.arange(3).round(decimals=1)
    half = ag.tensor([1234.5], dtype=ag.float16)
    assert half.round(decimals=2).tolist() == half.tolist()


def test_eps_of_logit_bounds_the_argument():
    values = np.array([-1.0, 0.0, 0.2, 0.5, 0.9, 1.0, 3.0])
    x = ag.tensor(values, requires_grad=True)
    moved = np.clip(values, 0.25, 0.75)
    for y in (ag.logit(x, 0.25), x.logit(eps=0.25)):
        np.testing.assert_allclose(y.detach().numpy(), np.log(moved / (1 - moved)), atol=1e-12)
    y.sum().backward()
    inside = (values >= 0.25) & (values <= 0.75)
    np.testing.assert_allclose(x.grad.numpy(), np.where(inside, 1 / (moved * (1 - moved)), 0))
    z = ag.tensor(values)
    assert z.logit_(0.25).tolist() == y.tolist()
    assert ag.logit(ag.tensor(0.3), eps=None).item() == ag.logit(ag.tensor(0.3)).item()
    with pytest.raises(TypeError, match="'eps' .position 1. must be float, not str"):
        z.logit("a")


@pytest.mark.parametrize("dtype", [ag.uint8, ag.int8, ag.int64, ag.bool])
def test_logit_of_integers_computes_in_floats(dtype):
    y = ag.logit(ag.tensor([0, 1, 5, 120]).to(dtype))
    wanted = ag.logit(ag.tensor([0, 1, 5, 120]).to(dtype).float())
    np.testing.assert_array_equal(y.numpy(), wanted.numpy())


def test_gather_takes_sparse_grad_false_and_says_why_not_true():
    x, index = floating(True), ag.tensor([0, 2])
    y = ag.gather(x, 0, index, sparse_grad=False)
    assert y.tolist() == [X[0], X[2]]
    y.sum().backward()
    assert x.grad.tolist() == [1, 0, 1, 0, 0, 0, 0]
    with pytest.raises(NotImplementedError, match="sparse_grad=True needs sparse tensors"):
        x.gather(0, index, sparse_grad=True)
    with pytest.raises(TypeError, match="argument 'sparse_grad' must be bool, not int"):
        x.gather(0, index, sparse_grad=1)


@pytest.mark.parametrize("shape", [(), (4,), (3, 4), (2, 3, 2)])
def test_nonzero_as_tuple_indexes(shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3
    x = ag.tensor(array)
    places = x.nonzero(as_tuple=True)
    assert isinstance(places, tuple)
    wanted = np.nonzero(np.atleast_1d(array))
    assert [p.tolist() for p in places] == [w.tolist() for w in wanted]
    assert ag.nonzero(x, as_tuple=False).tolist() == x.nonzero().tolist()
    with pytest.raises(TypeError, match="argument 'as_tuple' must be bool"):
        ag.nonzero(x, as_tuple=1)


def test_take_counts_negative_indices_from_the_end():
    x = ag.arange(6.0).reshape(2, 3).requires_grad_()
    y = ag.take(x, ag.tensor([[-1, 0], [-6, 5]]))
    assert y.tolist() == [[5.0, 0.0], [0.0, 5.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    for wrong in (6, -7):
        with pytest.raises(IndexError, match="out of bounds"):
            x.take(ag.tensor(wrong))
    with pytest.raises(TypeError, match="'index' .* must be Tensor, not int"):
        x.take(-1)


def test_dropout_in_place():
    x = ag.ones(1000)
    functional = ag.nn.functional
    assert functional.dropout(x, 0.5, True, inplace=True) is x
    assert set(x.tolist()) == {0.0, 2.0}
    assert functional.dropout(x, 1.0, True, True).abs().sum() == 0
    y = ag.ones(3)
    assert ag.dropout_(y, 0.5, False) is y
    assert y.tolist() == [1.0, 1.0, 1.0]
    z = ag.ones(50, requires_grad=True) * 1
    ag.nn.functional.dropout(z, 0.5, True, inplace=True).sum().backward()
    assert not hasattr(ag.Tensor, "dropout_")


TAKE_A_DTYPE = {
    "sum": (),
    "prod": (),
    "mean": (),
    "cumsum": (0,),
    "cumprod": (0,),
    "softmax": (0,),
    "log_softmax": (0,),
}
DTYPES = [
    ag.bool, ag.uint8, ag.int8, ag.int16, ag.int32, ag.int64,
    ag.float16, ag.bfloat16, ag.float32, ag.float64, ag.complex64, ag.complex128,
]  # fmt: skip


def outcome(call):
    """The dtype and values of a result, or which error it was."""
    try:
        result = call()
    except (RuntimeError, TypeError) as error:
        return type(error), str(error).partition("\n")[0]
    return result.dtype, result.tolist()


@pytest.mark.parametrize("name", TAKE_A_DTYPE)
def test_a_dtype_given_is_that_of_the_computation(name):
    """The result is that of an input of the dtype; each dtype has a loop of its own, and bool is
    refused."""
    operate, args = getattr(ag, name), TAKE_A_DTYPE[name]
    for source in (ag.bool, ag.uint8, ag.int32, ag.int64, ag.float32, ag.float64):
        x = ag.tensor([1, 0, 3, 2, 1, 1, 2]).to(source)
        for dtype in DTYPES:
            wanted = outcome(lambda: operate(x.to(dtype), *args))
            found = outcome(lambda: operate(x, *args, dtype=dtype))
            if dtype in DTYPES[:6] and name in ("sum", "prod", "cumsum", "cumprod"):
                # Without dtype= these have int64.
                array = getattr(np, name)(x.to(dtype).numpy().astype(np.int64))
                wanted = dtype, ag.tensor(array).to(dtype).tolist()
            assert found == wanted, (source, dtype)
        if name not in ("sum", "prod", "cumsum", "cumprod"):
            assert issubclass(outcome(lambda: operate(x, *args, dtype=ag.bool))[0], RuntimeError)


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums_in_place_keep_every_dtype(name, dtype):
    array = np.array([[1, 2, 3], [2, 1, 1], [1, 3, 1]])
    for dim in (0, 1, -1):
        x = ag.tensor(array).to(dtype)
        assert getattr(x, name + "_")(dim) is x
        assert x.dtype == dtype
        np.testing.assert_array_equal(
            x.to(ag.complex128).numpy(), getattr(np, name)(array, axis=dim)
        )


@pytest.mark.parametrize("rtol", [0, 0.25])
@pytest.mark.parametrize("atol", [0, 0.25, 1])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.complex128, ag.int64], ids=str)
def test_isclose_is_that_of_numpy(dtype, rtol, atol):
    """Also where one tolerance is zero or both are."""
    a = ag.tensor([1.0, 1.0, 1.0, 4.0, 4.0, 0.0, -3.0]).to(dtype)
    b = ag.tensor([1.0, 2.0, 3.0, 5.0, 6.0, 1.0, 3.0]).to(dtype)
    if dtype.is_floating_point:
        a[-1] = b[-1] = float("inf")
    expected = np.isclose(a.numpy(), b.numpy(), rtol=rtol, atol=atol)
    assert ag.isclose(a, b, rtol=rtol, atol=atol).tolist() == expected.tolist()
    assert ag.allclose(a, b, rtol=rtol, atol=atol) == expected.all()


def test_addr_of_truth_is_truth_only_if_all_are():
    truth, rows = ag.ones(2, 3, dtype=ag.bool), ag.ones(2, dtype=ag.bool)
    columns = ag.tensor([True, False, True])
    assert ag.addr(~truth, rows, columns).tolist() == [[True, False, True]] * 2
    found = ag.addr(truth, rows.float(), columns.float())
    assert found.dtype == ag.float32 and found.tolist() == [[2.0, 1.0, 2.0]] * 2
    assert ag.addr(truth.int(), rows, columns).tolist() == [[2, 1, 2]] * 2
