"""Ways that only some sizes and values take, against NumPy: small samples don't reach them."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag

RNG = np.random.default_rng(0)
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "float32", "float64")
BOUNDS = {name: (np.iinfo(name).min, np.iinfo(name).max) for name in INTEGERS}


def drawn(name, *shape, low=-40, high=40):
    """Numbers of a dtype, many of them equal; floats with NaN, infinities and both zeros."""
    if name in INTEGERS:
        low, high = max(low, BOUNDS[name][0]), min(high, BOUNDS[name][1])
        return RNG.integers(low, high, shape, dtype=name, endpoint=True)
    x = (RNG.integers(low, high, shape, endpoint=True) / 4).astype(name)
    for value in (np.nan, np.inf, -np.inf, -0.0):
        x[RNG.random(shape) < 0.02] = value
    return x


def by_rank(x, largest):
    """Places of the elements of rows in order, NaN last or first, equal ones as they were."""
    keys = x.astype(np.float64)
    keys = np.where(np.isnan(keys), np.inf, keys) if largest else keys
    # NaN is above infinity: a second key says so.
    return np.stack(
        [
            np.lexsort(
                (-k if largest else k, ~np.isnan(r.astype(float)) if largest else np.isnan(k))
            )
            for k, r in zip(keys, x)
        ]
    )


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("size", [1023, 1024, 1025, 3001])
def test_topk_of_long_rows_is_the_beginning_of_sorted_ones(name, size):
    x = drawn(name, 3, size)
    for largest, transposed in itertools.product((False, True), repeat=2):
        order = by_rank(x, largest)
        for k in (0, 1, 2, 31, 33, 100, size // 2, size // 2 + 1, size):
            t = ag.tensor(x.T.copy()).T if transposed else ag.tensor(x)
            values, places = ag.topk(t, k, 1, largest=largest)
            np.testing.assert_array_equal(places.numpy(), order[:, :k])
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order[:, :k], 1))
            values, places = ag.topk(t.T, k, 0, largest=largest)
            np.testing.assert_array_equal(places.numpy().T, order[:, :k])


@pytest.mark.parametrize("name", ["float32", "int64"])
def test_topk_of_equal_and_of_sorted_elements_keeps_the_first_ones(name):
    n = 2500
    for x in (np.zeros(n), np.arange(n) // 2, np.arange(n)[::-1] // 2):
        x = x.astype(name)
        for largest in (False, True):
            order = np.argsort(-x if largest else x, kind="stable")
            for k in (1, 40, n // 2):
                found = ag.topk(ag.tensor(x), k, largest=largest).indices
                np.testing.assert_array_equal(found.numpy(), order[:k])


@pytest.mark.parametrize("name", [*INTEGERS, "bool"])
def test_unique_whole_numbers_near_each_other_and_far_apart(name):
    low, high = (0, 1) if name == "bool" else BOUNDS[name]
    for n, (first, last) in itertools.product(
        (1, 2, 5, 700, 3000), ((low, high), (max(low, -50), min(high, 60)), (high, high))
    ):
        x = RNG.integers(first, last, n, endpoint=True, dtype=np.int64).astype(name)
        x = x[: n // 2 * 2].reshape(2, -1) if n > 1 else x
        values, places, counts = np.unique(x, return_inverse=True, return_counts=True)
        t = ag.tensor(x)
        found = ag.unique(t, return_inverse=True, return_counts=True)
        assert found[0].dtype == t.dtype and found[1].dtype == found[2].dtype == ag.int64
        assert found[1].shape == t.shape
        np.testing.assert_array_equal(found[0].numpy(), values)
        np.testing.assert_array_equal(found[1].numpy(), places.reshape(x.shape))
        np.testing.assert_array_equal(found[2].numpy(), counts)
        np.testing.assert_array_equal(ag.unique(t).numpy(), values)
        np.testing.assert_array_equal(ag.unique(t.flip(0)).numpy(), values)
        if n > 1:
            np.testing.assert_array_equal(ag.unique(t.mT).numpy(), values)
        assert ag.unique(t, return_counts=True)[1].tolist() == counts.tolist()
        assert ag.unique(t, return_inverse=True)[1].tolist() == found[1].tolist()
    nothing = ag.unique(ag.tensor(np.zeros((0, 2), name)), return_inverse=True, return_counts=True)
    assert [tuple(t.shape) for t in nothing] == [(0,), (0, 2), (0,)]


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "bool", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("size", [0, 1, 2, 31, 33, 34, 65, 1000, 4096, 4097, 9000])
def test_runs_of_equal_elements_short_and_long(name, size):
    drawn_as = name if name in INTEGERS + FLOATS else "uint8"
    short = drawn(drawn_as, size, low=-1, high=1)
    long = np.repeat(drawn(drawn_as, size // 70 + 1, low=-2, high=2), 70)[:size]
    mixed = np.concatenate((short[: size // 2], long[size // 2 :]))
    for x in (short, long, mixed, mixed[::-1], drawn(drawn_as, size), np.zeros(size)):
        x = np.ascontiguousarray(x.astype(name))
        first = np.ones(size, bool)
        first[1:] = x[1:] != x[:-1]
        sizes = np.diff(np.append(np.flatnonzero(first), size))
        for a in (ag.tensor(x), ag.tensor(np.repeat(x, 2))[::2]):
            values, inverse, counts = ag.unique_consecutive(a, True, True)
            np.testing.assert_array_equal(values.numpy(), x[first])
            np.testing.assert_array_equal(inverse.numpy(), np.cumsum(first) - 1)
            np.testing.assert_array_equal(counts.numpy(), sizes)
            alone = ag.unique_consecutive(a)
            np.testing.assert_array_equal(alone.numpy(), x[first])
            if name in FLOATS:
                np.testing.assert_array_equal(np.signbit(alone.numpy()), np.signbit(x[first]))
            assert ag.equal(ag.unique_consecutive(a, return_inverse=True)[1], inverse)
            assert ag.equal(ag.unique_consecutive(a, return_counts=True)[1], counts)
        if name == "float32":
            half = ag.unique_consecutive(ag.tensor(x).bfloat16())
            np.testing.assert_array_equal(half.float().numpy(), x[first])
    square = ag.unique_consecutive(ag.tensor(x[: size // 2 * 2].reshape(2, -1)), True)
    assert square[1].shape == (2, size // 2)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("tests", [0, 1, 2, 7, 300])
def test_members_of_few_and_of_many_near_each_other_and_far_apart(name, tests):
    for spread in (1, 40, 10**9):
        spread = min(spread, 2000) if name in FLOATS else spread
        x = drawn(name, 500, low=-spread, high=spread)
        y = drawn(name, tests, low=-spread, high=spread)
        y[: tests // 2] = x[: tests // 2]
        for invert in (False, True):
            found = ag.isin(ag.tensor(x), ag.tensor(y), invert=invert)
            np.testing.assert_array_equal(found.numpy(), np.isin(x, y, invert=invert))
    ends = ag.tensor([np.iinfo(np.int64).min, -1, 0, np.iinfo(np.int64).max])
    assert ag.isin(ends, ends[::3]).tolist() == [True, False, False, True]
    assert ag.isin(ends, ends[:1]).tolist() == [True, False, False, False]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 100, 1025])
@pytest.mark.parametrize("right", [False, True])
def test_places_in_sorted_rows_of_all_lengths(size, right):
    side = "right" if right else "left"
    for name in ("float32", "float64", "int64", "int16"):
        edges = np.sort(np.nan_to_num(drawn(name, size), posinf=np.inf, neginf=-np.inf))
        x = drawn(name, 1500, low=-45, high=45)
        for narrow in (False, True):
            found = ag.bucketize(ag.tensor(x), ag.tensor(edges), right=right, out_int32=narrow)
            assert found.dtype == (ag.int32 if narrow else ag.int64)
            np.testing.assert_array_equal(found.numpy(), np.searchsorted(edges, x, side))
        rows = np.sort(np.nan_to_num(drawn(name, 3, size), posinf=np.inf, neginf=-np.inf), 1)
        values = drawn(name, 3, 700)
        wanted = [np.searchsorted(row, v, side) for row, v in zip(rows, values)]
        found = ag.searchsorted(ag.tensor(rows), ag.tensor(values), side=side)
        np.testing.assert_array_equal(found.numpy(), wanted)
        order = np.argsort(rows[:, ::-1], 1, kind="stable")
        found = ag.searchsorted(
            ag.tensor(rows[:, ::-1].copy()), ag.tensor(values), side=side, sorter=ag.tensor(order)
        )
        np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("right", [False, True])
def test_places_in_rows_that_end_with_nan_are_those_of_halving(right):
    def halved(row, x):
        low, high = 0, len(row)
        while low < high:
            middle = (low + high) // 2
            if not (row[middle] > x if right else row[middle] >= x):
                low = middle + 1
            else:
                high = middle
        return low

    for size, numbers in itertools.product(range(1, 12), range(5)):
        row = np.full(size, np.nan)
        row[: min(numbers, size)] = np.arange(min(numbers, size))
        x = np.array([-1.0, 0.0, 1.0, 2.5, 4.0, np.nan])
        found = ag.bucketize(ag.tensor(x), ag.tensor(row), right=right)
        assert found.tolist() == [halved(row, v) for v in x]


@pytest.mark.parametrize("n", [1, 2, 3, 1023, 1024, 1025, 4001])
@pytest.mark.parametrize("high", [0, 5, 1022, 1023, 1024, 5000])
def test_counts_of_few_and_of_many_bins(n, high):
    x = RNG.integers(0, high, n, endpoint=True)
    x[n // 2] = high
    np.testing.assert_array_equal(ag.bincount(ag.tensor(x)).numpy(), np.bincount(x))
    np.testing.assert_array_equal(
        ag.bincount(ag.tensor(x), minlength=1024).numpy(), np.bincount(x, minlength=1024)
    )
    x[-1] = -1
    with pytest.raises(RuntimeError, match="non-negative integral inputs, got -1"):
        ag.bincount(ag.tensor(x))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("bins", [1, 7, 100])
def test_histograms_of_all_elements_are_those_between_their_bounds(name, bins):
    x = ag.tensor(RNG.normal(size=(30, 40)).astype(name))
    bounds = x.min().item(), x.max().item()
    found = ag.histc(x.T, bins)
    assert found.shape == (bins,) and found.sum() == x.numel()
    assert ag.equal(found, ag.histc(x, bins, *bounds))
    beyond = ag.cat((x.flatten(), x.new_tensor([50.0, -50.0, float("inf"), float("nan")])))
    assert ag.equal(found, ag.histc(beyond, bins, *bounds))


@pytest.mark.parametrize("name", INTEGERS)
@np.errstate(over="ignore")  # NumPy, too, gives the lowest number divided by -1 back
def test_whole_quotients_of_near_and_of_far_numbers(name):
    low, high = BOUNDS[name]
    ends = [low, low + 1, high - 1, high, 2**30 - 1, 2**30, -(2**30), -(2**30) - 1, 2**53 + 1]
    edges = np.array([e for e in (*ends, -3, -2, -1, 0, 1, 2, 3, 7) if low <= e <= high], name)
    near = drawn(name, 1000, low=-(2**30), high=2**30 - 1)
    small = drawn(name, 1000, low=-9, high=9)
    for x, y in (
        (np.repeat(edges, len(edges)), np.tile(edges, len(edges))),
        (near, small),
        (near, near[::-1].copy()),
        (small, near),
        (near // np.where(small == 0, 1, small) * small, small),
        (RNG.integers(low, high, 1000, name, endpoint=True), near),
    ):
        x, y = x[y != 0], y[y != 0]
        wanted = np.floor_divide(x, y), np.remainder(x, y), np.fmod(x, y)
        for step in (1, 3):
            a, b = ag.tensor(x)[::step], ag.tensor(y)[::step]
            found = ag.floor_divide(a, b), ag.remainder(a, b), ag.fmod(a, b)
            for left, right in zip(found, wanted):
                np.testing.assert_array_equal(left.numpy(), right[::step])
    for number in (3, -3 if low else 5):
        a = ag.tensor(near)
        np.testing.assert_array_equal((a // number).numpy(), near // np.array(number, name))
        np.testing.assert_array_equal((a % number).numpy(), near % np.array(number, name))
    with pytest.raises((RuntimeError, ZeroDivisionError)):
        ag.tensor(near) // ag.zeros(1000, dtype=getattr(ag, name))


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "complex64"])
def test_columns_selected_of_many_short_rows(name):
    x = drawn(name if name != "complex64" else "float32", 301, 7, 5).astype(name)
    for dim, size in enumerate(x.shape):
        index = RNG.integers(0, size, 11)
        t = ag.tensor(x)
        wanted = np.take(x, index, dim)
        np.testing.assert_array_equal(ag.index_select(t, dim, ag.tensor(index)).numpy(), wanted)
        found = ag.index_select(t.transpose(0, 2), 2 - dim, ag.tensor(index))
        np.testing.assert_array_equal(found.numpy(), wanted.transpose(2, 1, 0))
    index = RNG.integers(0, 5, 40_000)  # longer than a tile
    found = ag.index_select(ag.tensor(x[:6, 0]), 1, ag.tensor(index))
    np.testing.assert_array_equal(found.numpy(), x[:6, 0, index])


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.int64, ag.int16, ag.complex64])
def test_scattered_sums_with_steps_of_one_and_others(dtype):
    x = RNG.integers(-9, 9, (20, 30))
    index = RNG.integers(0, 30, (20, 25))
    y = RNG.integers(-9, 9, (20, 25))
    wanted = x.copy()
    np.add.at(wanted, (np.arange(20)[:, None], index), y)
    a, b, k = ag.tensor(x).to(dtype), ag.tensor(y).to(dtype), ag.tensor(index)
    assert ag.equal(ag.scatter_add(a, 1, k, b), ag.tensor(wanted).to(dtype))
    turned = b.T.contiguous().T
    assert ag.equal(ag.scatter_add(a, 1, k, turned), ag.tensor(wanted).to(dtype))
    a = a.T.contiguous()
    assert ag.equal(ag.scatter_add(a, 0, k.T, b.T), ag.tensor(wanted.T.copy()).to(dtype))


@pytest.mark.parametrize("name", [*INTEGERS, "float32", "float64", "complex64"])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 17])
def test_running_sums_of_single_rows_and_of_groups(name, rows):
    x = RNG.integers(0, 3, (rows, 333)).astype(name)
    t = ag.tensor(x)
    for dtype in (None, t.dtype):
        found = ag.cumsum(t, 1, dtype=dtype)
        np.testing.assert_array_equal(
            found.numpy(), np.cumsum(x, 1, dtype=str(found.dtype).split(".")[1])
        )
        assert ag.equal(t, ag.tensor(x))
    x = RNG.choice([1, -1, 2], (rows, 5)).astype("int64")
    np.testing.assert_array_equal(ag.cumprod(ag.tensor(x), 1).numpy(), np.cumprod(x, 1))
    t = ag.tensor(x)
    t.cumsum_(1)
    np.testing.assert_array_equal(t.numpy(), np.cumsum(x, 1))


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 3, 4, 15, 16, 17, 31, 32, 33, 100])
def test_products_of_columns(name, columns):
    x = RNG.uniform(0.9, 1.1, (150, columns)).astype(name)
    x[3, columns // 2] = -0.0
    x[5, 0] = np.nan
    found = ag.prod(ag.tensor(x), 0)
    wanted = np.multiply.reduce(x.astype(np.float64), 0).astype(name)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=64 * np.finfo(name).eps)
    assert (np.signbit(found.numpy()) == np.signbit(wanted))[1:].all()


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize(("kernel", "step"), [(3, 3), (2, 3), (5, 3), (4, 4), (3, 4), (7, 5)])
def test_largest_of_windows_with_long_steps(name, kernel, step):
    for size in (kernel, 40, 781):
        x = drawn(name, 2, 3, size)
        starts = np.arange(0, size - kernel + 1, step)
        windows = np.stack([x[..., s : s + kernel] for s in starts], -2)
        found, places = ag.nn.functional.max_pool1d(ag.tensor(x), kernel, step, return_indices=True)
        np.testing.assert_array_equal(found.numpy(), windows.max(-1))
        plain = ag.nn.functional.max_pool1d(ag.tensor(x), kernel, step)
        np.testing.assert_array_equal(plain.numpy(), windows.max(-1))
        taken = np.take_along_axis(x, places.numpy(), -1)
        np.testing.assert_array_equal(taken, windows.max(-1))


@pytest.mark.parametrize("name", ["uint8", "int16", "float32", "float64", "complex128"])
def test_constants_around_rows_of_all_widths(name):
    x = RNG.integers(1, 9, (3, 4, 5)).astype(name)
    for left, right, top in itertools.product((-2, 0, 1, 2, 3, 9), (-1, 0, 1, 2, 5), (0, 2)):
        inside = x[..., max(-left, 0) : 5 + min(right, 0)]
        wanted = np.pad(
            inside,
            ((0, 0), (top, 0), (max(left, 0), max(right, 0))),
            constant_values=7,
        )
        found = ag.nn.functional.pad(ag.tensor(x), (left, right, top, 0), value=7)
        np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16, ag.float32, ag.float64])
def test_what_is_no_number_is_found_among_numbers_whose_sum_overflows(dtype):
    largest = ag.finfo(dtype).max
    for n in (1, 2, 33):
        x = ag.full((n,), largest, dtype=dtype)
        assert ag.equal(ag.nan_to_num(x), x) and ag.nan_to_num(x).data_ptr() != x.data_ptr()
        for value, wanted in ((NAN, 0.0), (INF, largest), (-INF, -largest)):
            y = x.clone()
            y[n // 2] = value
            found = ag.nan_to_num(y)
            assert found[n // 2].item() == wanted
            y[n // 2] = wanted
            assert ag.equal(found, y)
    both = ag.tensor([INF, -INF, 1.0], dtype=dtype)
    assert ag.nan_to_num(both).tolist() == [largest, -largest, 1.0]


NAN = float("nan")
INF = float("inf")


def test_blocks_of_no_rows_and_of_no_columns():
    a, b, c = ag.ones(2, 0), ag.full((0, 3), 2.0), ag.full((1, 2), 3.0)
    assert ag.block_diag(a, b, c).tolist() == [[0.0] * 5] * 2 + [[0.0, 0.0, 0.0, 3.0, 3.0]]
    single = ag.block_diag(c)
    assert single.tolist() == [[3.0, 3.0]] and single.data_ptr() != c.data_ptr()
    x = ag.ones(3, 2, 2)
    found = ag.vmap(lambda t: ag.block_diag(t, c))(x)
    assert found.shape == (3, 3, 4) and found[1].tolist() == ag.block_diag(x[1], c).tolist()


def test_blocks_on_the_diagonal_with_and_without_a_graph():
    a, b = ag.tensor(drawn("int16", 3, 2)).float(), ag.tensor(drawn("int16", 4)).float()
    wanted = np.zeros((4, 6))
    wanted[:3, :2], wanted[3:, 2:] = a.numpy(), b.numpy()
    np.testing.assert_array_equal(ag.block_diag(a, b).numpy(), wanted)
    leaf = a.clone().requires_grad_()
    found = ag.block_diag(leaf, b)
    np.testing.assert_array_equal(found.detach().numpy(), wanted)
    (found * ag.arange(24.0).view(4, 6)).sum().backward()
    assert leaf.grad.tolist() == [[0, 1], [6, 7], [12, 13]]
    with ag.no_grad():
        assert ag.equal(ag.block_diag(leaf, b), found) and not ag.block_diag(leaf, b).requires_grad
    with ag.inference_mode():
        np.testing.assert_array_equal(ag.block_diag(a * 1, b).numpy(), wanted)
    tangent = ag.func.jvp(lambda x: ag.block_diag(b, x), (a,), (ag.ones_like(a),))[1]
    assert tangent.sum() == 6 and tangent[1:, 4:].eq(1).all()
    z = ag.complex(a, a)
    assert ag.equal(ag.block_diag(z.conj(), z)[:3, :2], z.conj())


@pytest.mark.parametrize("threads", [1, 2])
def test_results_of_long_rows_for_any_number_of_threads(threads):
    x = ag.tensor(drawn("float32", 40, 4000))
    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        found = ag.topk(x, 50, 1).indices, ag.kthvalue(x, 1234, 1).indices
        picked = ag.index_select(x, 1, ag.arange(0, 4000, 3))
    finally:
        ag.set_num_threads(before)
    np.testing.assert_array_equal(found[0].numpy(), by_rank(x.numpy(), True)[:, :50])
    np.testing.assert_array_equal(found[1].numpy(), by_rank(x.numpy(), False)[:, 1233])
    np.testing.assert_array_equal(picked.numpy(), x.numpy()[:, ::3])
