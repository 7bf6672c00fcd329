"""Operands of several dimensions whose last one is short, repeated or turned, beside NumPy.

A walk over rows that begins at a wrong one may have no end.
"""

import numpy as np
import pytest
from endless import soon
from grouping import each

import autograd_cy as ag

DTYPES = ("bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex128")


def values(shape, dtype, seed):
    whole = np.random.default_rng(seed).integers(-5, 6, shape)
    return (whole > 0) if dtype == "bool" else whole.astype(dtype)


def layouts(shape, dtype, seed):
    """Arrays of that shape: dense, repeated along dimensions, turned, cut out."""
    found = [values(shape, dtype, seed)]
    for dims in ((-1,), (0,), (0, 1), tuple(range(len(shape)))):
        sizes = list(shape)
        for d in dims:
            sizes[d] = 1
        found.append(np.broadcast_to(values(sizes, dtype, seed + 1), shape))
    found.append(values(shape[::-1], dtype, seed + 2).T)
    found.append(np.moveaxis(values((shape[-1], *shape[:-1]), dtype, seed + 3), 0, -1))
    found.append(np.swapaxes(values((*shape[:-2], shape[-1], shape[-2]), dtype, seed + 4), -1, -2))
    wide = values((*shape[:-1], shape[-1] + 3), dtype, seed + 5)
    found.append(wide[..., 1 : shape[-1] + 1])
    found.append(values((*shape[:-1], 2 * shape[-1]), dtype, seed + 6)[..., ::2])
    found.append(values((2 * shape[0], *shape[1:]), dtype, seed + 7)[::2])
    return found


SHAPES = (
    (40, 1), (33, 2), (50, 3), (700, 3), (300, 5), (40, 8), (17, 33), (9, 70), (70, 9), (35, 130),
    (130, 35), (6, 10, 8), (30, 10, 8), (200, 10, 8), (5, 40, 36), (3, 4, 5, 6), (4, 1, 9, 64),
    (2, 33, 67),
)  # fmt: skip


def check(made, expected):
    assert made.shape == expected.shape and made.dtype == expected.dtype
    np.testing.assert_array_equal(made, expected)


@each(
    "shape, dtype", [(s, d) for s in SHAPES for d in DTYPES], group=lambda name: name.split("-")[-1]
)
@soon()
def test_layouts_beside_numpy(shape, dtype):
    first = layouts(shape, dtype, 1)
    second = layouts(shape, dtype, 20)
    for i, a in enumerate(first):
        x = ag.from_numpy(a)
        check(x.contiguous().numpy(), np.ascontiguousarray(a))
        check(x.clone().numpy(), a)
        wide = np.dtype("complex128" if dtype == "complex128" else "float64")
        check(x.to(getattr(ag, wide.name)).numpy(), a.astype(wide))
        # with each layout at least once, dense ones more often
        for b in (second[0], second[(3 * i + 1) % len(second)], second[(5 * i + 2) % len(second)]):
            y = ag.from_numpy(b)
            check(ag.eq(x, y).numpy(), a == b)
            check(ag.where(y != 0, x, y).numpy(), np.where(b != 0, a, b))
            if dtype != "bool":
                check((x + y).numpy(), a + b)
                check(ag.addcmul(x, y, x).numpy(), a + b * a)


@each("shape, dtype", [(s, d) for s in SHAPES for d in ("uint8", "float32", "complex128")])
@soon()
def test_results_go_where_they_belong(shape, dtype):
    """Elements between the rows of a window stay as they were."""
    for cut in (np.s_[..., 1:], np.s_[..., ::2], np.s_[1:], np.s_[::2, ..., : shape[-1] // 2 + 1]):
        whole = values(shape, dtype, 3)
        window = whole[cut]
        for other in layouts(window.shape, dtype, 7) if window.size else ():
            expected, made = whole.copy(), ag.tensor(whole)
            expected[cut] += other
            made[cut] += ag.from_numpy(other)
            check(made.numpy(), expected)
            expected[cut] = other
            made[cut] = ag.from_numpy(other)
            check(made.numpy(), expected)


@each("shape", SHAPES)
@soon()
def test_bit_equal_for_any_number_of_threads(shape):
    # repeated so often that a launch is worth two threads
    shape = (-(-70_000 // int(np.prod(shape[1:]))), *shape[1:])
    pairs = list(zip(layouts(shape, "float32", 5), layouts(shape, "float32", 9)[::-1], strict=True))
    before = ag.get_num_threads()
    results = []
    try:
        for threads in (1, 3):
            ag.set_num_threads(threads)
            results.append(
                [
                    made.numpy().tobytes()
                    for a, b in pairs
                    for x, y in [(ag.from_numpy(a), ag.from_numpy(b))]
                    for made in (ag.tanh(x) / (y + 9), x.contiguous(), ag.where(x > y, x, y))
                ]
            )
    finally:
        ag.set_num_threads(before)
    assert results[0] == results[1]


@soon()
def test_the_same_bits_as_elements_alone():
    """Functions see an element in a block as they see it alone."""
    x = np.linspace(-4, 4, 3000, dtype="float32").reshape(1000, 3)
    dense = ag.exp(ag.tensor(x)).numpy()
    check(ag.exp(ag.from_numpy(np.hstack([x, x]))[:, 3:]).numpy(), dense)
    check(ag.exp(ag.from_numpy(x.T.copy()).T).contiguous().numpy(), dense)
    one = ag.exp(ag.tensor(x[:1, :1]).expand(500, 7)).numpy()
    check(one, np.broadcast_to(dense[:1, :1], (500, 7)))
    rows = ag.exp(ag.tensor(x[:, :1]).expand(1000, 70)).numpy()
    check(rows, np.broadcast_to(dense[:, :1], (1000, 70)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16"])
@soon()
def test_rows_shorter_than_a_vector(dtype):
    for n in range(1, 9):
        a = values((101, n), dtype, n)
        x = ag.tensor(a)
        check(ag.amax(x, 1).numpy(), a.max(1))
        check(ag.amin(x, 1).numpy(), a.min(1))
        alone = np.array([ag.sum(row).item() for row in x])
        check(x.sum(1).numpy().astype("f8"), alone.astype("f8"))
        if a.dtype.kind == "f":
            a[7, n - 1] = np.nan
            check(np.isnan(ag.amax(ag.tensor(a), 1).numpy()), np.isnan(a).any(1))
            check(np.isnan(ag.amin(ag.tensor(a), 1).numpy()), np.isnan(a).any(1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@soon()
def test_short_sums_have_the_bits_of_one_row(dtype):
    """However many rows lie side by side."""
    a = np.random.default_rng(3).standard_normal((70, 7)).astype(dtype) * 1e3
    for n in range(1, 8):
        x = ag.tensor(a[:, :n])
        together = x.sum(1).numpy()
        check(together, np.concatenate([x[i : i + 1].sum(1).numpy() for i in range(70)]))
        check(x[3:6].sum(1).numpy(), together[3:6])


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "int32", "int64", "float32", "float64"]
)
@pytest.mark.parametrize("n", [1, 2, 5, 32, 33, 257, 9001, 40_003])
@soon()
def test_median_is_the_lower_middle_one_and_says_where(dtype, n):
    for seed in range(3):
        a = values((n,), dtype, seed)
        if a.dtype.kind == "f" and seed:
            a = (np.random.default_rng(seed).standard_normal(n) * 10.0**seed).astype(dtype)
        made, place = ag.median(ag.tensor(a), 0)
        assert made.item() == np.sort(a)[(n - 1) // 2] == a[place.item()]
        assert ag.tensor(a).median().item() == made.item()
        if a.dtype.kind == "f" and n > 2:
            a[n // 2] = np.nan
            made, place = ag.median(ag.tensor(a), 0)
            assert np.isnan(made.item()) and place.item() == n // 2
            rest = np.sort(np.delete(a, n // 2))
            assert ag.nanmedian(ag.tensor(a)).item() == rest[(n - 2) // 2]


def _sequences(n):
    """Return sequences of which samples of the elements say too little, or nothing."""
    k = np.arange(n)
    yield "rising", k
    yield "falling", -k
    yield "equal", np.zeros(n)
    yield "two values", k % 2
    yield "periodic", np.where(k % 2, 100, -100) * (1 + k % 3)
    yield "high where samples are taken", np.where(k % max(n // 32, 1) == max(n // 64, 0), 9, k % 5)
    yield "one apart", np.where(k == n // 2, -1, 1)


@pytest.mark.parametrize("n", [31, 40, 64, 1000, 1024, 32_768, 50_000])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "float16"])
@soon()
def test_median_of_ordered_and_repeated_elements(dtype, n):
    for name, a in _sequences(n):
        a = (a % 100).astype(dtype)
        value, place = ag.median(ag.tensor(a), 0)
        assert value.item() == np.sort(a)[(n - 1) // 2] == a[place.item()], name
        if a.dtype.kind == "f":
            a[n // 3 :] = np.nan
            value, place = ag.nanmedian(ag.tensor(a), 0)
            assert value.item() == np.sort(a[: n // 3])[(n // 3 - 1) // 2] == a[place.item()], name
            _, place = ag.median(ag.tensor(a), 0)
            assert place.item() == n // 3, name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@soon()
def test_running_sums_of_four_rows_have_the_bits_of_one(dtype):
    a = np.random.default_rng(5).standard_normal((11, 37)).astype(dtype)
    a[3] = -0.0
    together = ag.tensor(a).cumsum(1).numpy()
    alone = np.stack([ag.tensor(row).cumsum(0).numpy() for row in a])
    assert together.tobytes() == alone.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@soon()
def test_euclidean_norms_beside_numpy(dtype):
    a = np.random.default_rng(6).standard_normal((33, 5, 70)).astype(dtype)
    x = ag.tensor(a)
    for dim in (None, 0, 1, 2, (0, 2), (0, 1, 2)):
        exact = np.sqrt(np.square(a, dtype="f8").sum(axis=dim))
        for keepdim in (False, True):
            made = ag.linalg.vector_norm(x, dim=dim, keepdim=keepdim)
            taped = ag.linalg.vector_norm(x.clone().requires_grad_(), dim=dim, keepdim=keepdim)
            assert made.shape == taped.shape and not made.requires_grad and taped.requires_grad
            np.testing.assert_allclose(made.numpy().reshape(exact.shape), exact, rtol=3e-7)
            np.testing.assert_allclose(taped.detach().numpy(), made.numpy(), rtol=3e-6)
    assert ag.linalg.vector_norm(ag.zeros(0)).item() == 0
    assert ag.linalg.vector_norm(x[:0], dim=0).tolist() == ag.zeros(5, 70).tolist()
    assert np.isnan(ag.linalg.vector_norm(ag.tensor([1.0, float("nan")])).item())


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize(
    ("dtype", "real"), [(ag.complex64, ag.float32), (ag.complex128, ag.float64)]
)
@pytest.mark.parametrize(
    "view", [lambda x: x[:, ::2], lambda x: x[:, :, 1:4], lambda x: x.permute(2, 0, 1)]
)
def test_casts_of_complex_numbers_to_real_ones_in_short_rows(dtype, real, view):
    a = np.arange(6 * 40 * 40).reshape(6, 40, 40) * (1 + 2j)
    x = ag.tensor(a.tolist(), dtype=dtype)
    assert np.array_equal(view(x).to(real).numpy(), view(x).numpy().real)
    out = ag.zeros(view(x).shape, dtype=real)
    out.copy_(view(x))
    assert np.array_equal(out.numpy(), view(x).numpy().real)
