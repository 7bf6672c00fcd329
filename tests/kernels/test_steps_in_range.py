"""Results that a dtype holds are right, also where a number on the way to them would not fit it."""

import numpy as np
import pytest

import autograd_cy as ag

LARGE = {ag.complex64: (3.4e38, 2e38), ag.complex128: (1.7e308, 1e308)}
PLACES = [(1, 1), (1, 0.5), (-1, 1), (0.3, -1), (1, 1e-30), (-1, -1e-30), (0.1, 0.1)]


@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p"])
def test_complex_logarithms_of_the_largest_numbers(name, dtype):
    for size in LARGE[dtype]:
        for re, im in PLACES:
            z = complex(size * re, size * im)
            found = getattr(ag, name)(ag.tensor([z], dtype=dtype)).item()
            base = {"log2": np.log(2), "log10": np.log(10)}.get(name, 1.0)
            # The modulus is brought down first; 1 is nothing beside it.
            wanted = (np.log(z / 2**64) + 64 * np.log(2)) / base
            assert found == pytest.approx(wanted, rel=1e-6 if dtype is ag.complex64 else 1e-14)


@pytest.mark.parametrize("dtype", [ag.float32, ag.complex64, ag.float16])
def test_deviations_whose_squares_overflow(dtype):
    x = np.array([1.0, -3.0, 2.0, 0.5]) * (2e4 if dtype is ag.float16 else 1e38)
    z = x + 0.5j * x[::-1] if dtype is ag.complex64 else x
    t = ag.tensor(z.tolist(), dtype=dtype)
    for found in (t.std(), ag.std_mean(t)[0], t.view(2, 2).std((0, 1)), t.std(correction=1)):
        assert found.item() == pytest.approx(
            np.std(z, ddof=1), rel=1e-3 if dtype.itemsize == 2 else 1e-6
        )


def test_deviations_of_complex_numbers_know_nan_beside_infinity():
    t = ag.tensor([complex(float("inf"), float("nan")), 1.0])
    assert np.isnan(t.std().item())


@pytest.mark.parametrize("dtype", [ag.float32, ag.complex64, ag.float16, ag.bfloat16])
def test_running_products_come_back_from_beyond_the_range(dtype):
    far = 200.0 if dtype is ag.float16 else 1e30
    for factors in ([far, far, 1 / far, 1 / far], [1 / far, 1 / far, far, far]):
        for dim, t in (
            (0, ag.tensor(factors, dtype=dtype)),
            (1, ag.tensor([factors] * 3, dtype=dtype)),
        ):
            last = t.cumprod(dim).select(dim, 3)
            assert np.allclose(np.real(last.tolist()), 1.0, rtol=0.02)
    x = ag.tensor([far, far, 1 / far, 1 / far], dtype=dtype, requires_grad=True)
    (g,) = ag.autograd.grad(x.cumprod(0)[3].real, x)
    assert g.dtype is dtype
    wanted = [1 / far, 1 / far, far, far]
    assert np.allclose(np.real(g.tolist()), wanted, rtol=0.02)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_means_of_nothing_are_nan_in_both_parts(shape):
    z = ag.zeros(shape, dtype=ag.complex64)
    for found in (z.mean(), ag.std_mean(z)[1], ag.var_mean(z)[1]):
        assert np.isnan(found.item().real) and np.isnan(found.item().imag)
    along = z.mean(shape.index(0))
    assert all(np.isnan(w.real) and np.isnan(w.imag) for w in along.reshape(-1).tolist())
    assert np.isnan(z.std().item()) and not z.std().is_complex()


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_products_come_back_from_tiny_ones(dtype):
    for n in (3000, 6000, 8000):  # each of sixteen running products falls to 2 ** -1000
        rest = np.ones(5000 + n % 7)
        rest[[0, 700, -1]] = -1.5, 7, 3
        x = np.concatenate([np.full(n, 0.25), rest, np.full(n - 16, 4.0)])
        assert ag.tensor(x.tolist(), dtype=dtype).prod().item() == -31.5 * 4.0**-16


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_products_that_vanish(dtype):
    rng = np.random.default_rng(3)
    for n in (5000, 100_003):
        falling = rng.random(n) * 0.9 + 0.05
        assert ag.tensor(falling.tolist(), dtype=dtype).prod().item() == 0
        falling[n // 3] = np.nan
        assert np.isnan(ag.tensor(falling.tolist(), dtype=dtype).prod().item())
