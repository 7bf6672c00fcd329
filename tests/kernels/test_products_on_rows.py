"""Products whose rows begin with a bias: blocks write it, no pass fills the result before."""

import numpy as np
import pytest

import autograd_cy as torch

# Rows, length of the sums, columns: blocks, sums of several parts, narrow ones, long sums for few
# results, empty ones.
SHAPES = [
    (16, 128, 512), (1, 64, 64), (5, 300, 7), (13, 256, 33), (25, 600, 70), (200, 257, 96),
    (3, 64, 64), (100, 9000, 16), (64, 0, 8), (0, 4, 4), (4, 4, 0),
]  # fmt: skip


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turned", [False, True])
def test_linear_is_the_product_added_to_its_bias(shape, dtype, turned, threads):
    m, k, n = shape
    rng = np.random.default_rng(m + k + n)

    def some(*sizes):
        return torch.tensor(rng.standard_normal(sizes)).to(getattr(torch, dtype))

    x, bias = some(m, k), some(n)
    weight = some(k, n).t() if turned else some(n, k)
    threads(1)
    result = torch.nn.functional.linear(x, weight, bias)
    added = torch.addmm(bias.expand(m, n), x, weight.t())
    assert torch.equal(result, added)
    threads(3)
    assert torch.equal(torch.nn.functional.linear(x, weight, bias), result)
    wide = torch.complex128 if dtype == "complex64" else torch.float64
    a, b, row = x.to(wide).numpy(), weight.to(wide).numpy().T, bias.to(wide).numpy()
    # Rounding errors go with the sums of magnitudes; in float64 NumPy has them as well.
    allowed = {"bfloat16": 2.0**-8, "float64": 2.0**-49}.get(dtype, 2.0**-22) * (
        np.abs(a) @ np.abs(b) + np.abs(row)
    )
    found = result.to(wide).numpy()
    assert found.shape == (m, n)
    assert np.all(np.abs(found - (a @ b + row)) <= allowed)
