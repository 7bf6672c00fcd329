"""Long loops turn round and write past the caches: results stay the same, bit for bit."""

import numpy as np
import pytest

import autograd_cy as ag

_CHUNK = 16384  # TURN_CHUNK of ext/core/iterate/orders.pxi
_PAST = 32 << 20  # PAST_BYTES there

_OPERATIONS = {
    "add": lambda a, b: a + b,
    "exp": lambda a, b: ag.exp(a),
    "sin of far and near": lambda a, b: ag.sin(a * 1e4 * b),
    "pow": lambda a, b: ag.pow(a.abs(), b),
    "where": lambda a, b: ag.where(a > 0, a, b),
    "compare": lambda a, b: a < b,
    "by a number": lambda a, b: a * 3,
    "convert": lambda a, b: a.half(),
    "in place": lambda a, b: a.clone().mul_(b),
    "clone": lambda a, b: a.clone(),
    "strided": lambda a, b: a[::2] - b[::2],
    "strided, by blocks": lambda a, b: ag.exp(a[::2]),
    "halves, by blocks": lambda a, b: a.half() * b.half(),
    "halves by a number": lambda a, b: ag.tanh(a.bfloat16()) * 3,
}


def _bytes(t):
    return t.contiguous().view(ag.uint8).numpy().tobytes()


def _normal(n, dtype, seed=0):
    values = np.random.default_rng(seed).standard_normal(n)
    return ag.tensor(values.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [6000, _CHUNK + 1, 3 * _CHUNK - 2, 9 * _CHUNK + 517])
@pytest.mark.parametrize("name", _OPERATIONS)
def test_both_orders_give_what_pieces_give(name, n, dtype):
    a, b = _normal(n, dtype), _normal(n, dtype, 1)
    operation = _OPERATIONS[name]
    wanted = b"".join(
        _bytes(operation(a[i : i + 512].clone(), b[i : i + 512].clone())) for i in range(0, n, 512)
    )
    before = ag.get_num_threads()
    try:
        for threads in (1, 2):
            ag.set_num_threads(threads)
            # An odd number of loops in between, so that each order has its turn.
            for _ in range(4):
                assert _bytes(operation(a, b)) == wanted, threads
                ag.neg(a)
    finally:
        ag.set_num_threads(before)


@pytest.mark.parametrize("shape", [(600, 30), (2000, 17), (40, 450)])
def test_rows_in_both_orders(shape):
    a = _normal(shape[0] * shape[1], np.float64).reshape(shape)
    row, column = a[0].clone(), a[:, :1].clone()
    left, right = a.numpy() - row.numpy(), a.numpy() * column.numpy()
    for _ in range(3):
        assert np.array_equal((a - row).numpy(), left)
        assert np.array_equal((a * column).numpy(), right)
        ag.neg(a)
        assert np.array_equal(a[:, 1:].clone().numpy(), a.numpy()[:, 1:])


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_results_past_the_caches(dtype):
    n = _PAST // np.dtype(dtype).itemsize + 3333
    a = np.arange(n).astype(dtype)
    b = a[::-1].copy()
    total, less = a + b, a < b
    before = ag.get_num_threads()
    try:
        for threads in (2,) if dtype is np.uint8 else (1, 2):
            ag.set_num_threads(threads)
            one, other = ag.tensor(a), ag.from_numpy(b)
            assert np.array_equal((one + other).numpy(), total), threads
            if dtype is not np.uint8:
                assert np.array_equal((one < other).numpy(), less), threads
                assert np.array_equal(one.clone().numpy(), a), threads
                # A result that is an input, and one that doesn't begin on a line.
                place = ag.empty(n + 1, dtype=one.dtype)
                ag.add(one, other, out=place[1:])
                assert np.array_equal(place[1:].numpy(), total), threads
                one.sub_(other)
                assert np.array_equal(one.numpy(), a - b), threads
    finally:
        ag.set_num_threads(before)


def test_a_repeated_element_is_no_long_result():
    place = ag.zeros(1)
    with pytest.raises(RuntimeError):
        place.expand(100_000).add_(ag.ones(100_000))
    assert float(place) == 0.0
