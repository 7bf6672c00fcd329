"""Long loops turn round and write past the caches: results stay the same, bit for bit."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C.iterate import _past_caches

_CHUNK = 16384  # TURN_CHUNK of ext/core/iterate/orders.pxi

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


@pytest.fixture
def past_caches():
    """Results of 8192 bytes and more are written past the caches."""
    before = _past_caches(8192)
    yield
    assert _past_caches(before) == 8192


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
def test_results_past_the_caches(dtype, past_caches):
    kind = getattr(ag, dtype)
    least = 8192 // ag.empty(0, dtype=kind).itemsize
    sizes = [least + k for k in (-1, 0, 1, least // 4, least // 4 + 1, 6 * least + 77)]
    before = ag.get_num_threads()
    try:
        for n, threads in [*((n, 1) for n in sizes), (200_003, 2)]:
            ag.set_num_threads(threads)
            a = ag.tensor(np.arange(n) % 100, dtype=kind)
            b = ag.tensor(np.arange(n)[::-1] % 50, dtype=kind)
            total = a.numpy() + b.numpy()
            same = np.array_equal
            place = ag.empty(n + 128, dtype=kind).fill_(7)
            at = -place.data_ptr() % 64 // place.itemsize  # of the first element on a line
            for _ in range(2):
                assert same((a + b).numpy(), total), n
                assert same((a == b).numpy(), a.numpy() == b.numpy()), n
                assert same(a.clone().numpy(), a.numpy()), n
                assert same((a + 1).numpy(), a.numpy() + 1), n
                assert same(a.to(ag.float64 if a.is_complex() else ag.complex64).numpy(), a.numpy())
                assert same(ag.where(a == b, a, b).numpy(), b.numpy()), n
                # A result that is an input, one on lines and one that isn't.
                for start in (at, at + 1):
                    ag.add(a, b, out=place[start : start + n])
                    assert same(place[start : start + n].numpy(), total), (n, start)
                    assert (place[:start] == 7).all() and (place[start + n :] == 7).all()
                    place.fill_(7)
                place[at : at + n].copy_(a).add_(b)
                assert same(place[at : at + n].numpy(), total), n
                place.fill_(7)
                ag.neg(b)  # the other direction
    finally:
        ag.set_num_threads(before)


def test_a_repeated_element_is_no_long_result():
    place = ag.zeros(1)
    with pytest.raises(RuntimeError):
        place.expand(100_000).add_(ag.ones(100_000))
    assert float(place) == 0.0
