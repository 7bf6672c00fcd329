"""Products with a long sum and few results, which is cut into parts that are added at the end."""

import numpy as np
import pytest

from autograd_cy._C import gemm
from ext.codegen.dtypes import ELEMENT_TYPES

CODES = {t.name: code for code, t in enumerate(ELEMENT_TYPES) if t.letter in "fc"}
LONG = 4 * 2048


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("beta", [0.0, 1.0, -2.5])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, LONG), (3, 2, LONG + 5), (2, 5, LONG - 1)])
def test_what_was_there_counts_with_beta(name, beta, m, n, k):
    rng = np.random.default_rng(0)

    def numbers(*shape):
        x = rng.standard_normal(shape)
        return (x + 1j * rng.standard_normal(shape) if "complex" in name else x).astype(name)

    a, b, c = numbers(m, k), numbers(k, n), numbers(m, n)
    want = 0.5 * (a.astype("c16") @ b.astype("c16")) + beta * c.astype("c16")
    got = c.copy()
    gemm.gemm_numpy(CODES[name], a, b, got, alpha=0.5, beta=beta)
    scale = 2e-4 if name in ("float32", "complex64") else 1e-11
    np.testing.assert_allclose(got.astype("c16"), want, atol=scale * k**0.5, rtol=0)


@pytest.mark.parametrize("name", CODES)
def test_rows_of_the_result_may_lie_apart(name):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(name) for shape in ((3, LONG), (LONG, 2)))
    room = np.full((3, 9), 77).astype(name)
    gemm.gemm_numpy(CODES[name], a, b, room[:, 4:6])
    np.testing.assert_array_equal(room[:, 4:6], a @ b)
    assert (room[:, :4] == 77).all() and (room[:, 6:] == 77).all()


def test_unused_results_need_not_be_numbers():
    a, b = np.ones((2, LONG)), np.ones((LONG, 3))
    c = np.full((2, 3), np.nan)
    gemm.gemm_numpy(CODES["float64"], a, b, c, beta=0.0)
    assert (c == LONG).all()
