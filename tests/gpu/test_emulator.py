"""What the emulated driver finds, under the unmodified PyCUDA."""

import numpy as np
import pytest
from emulator import control
from small import Small, arrays, empty, free, read, upload

pytestmark = pytest.mark.emulated


@pytest.fixture(scope="module")
def small(context):
    return Small()


def test_kernels_compute(small):
    x, y = arrays(2)
    px, py, out = upload(x), upload(y), empty()
    small.launch("add", out, px, py)
    np.testing.assert_array_equal(read(out), x + y)
    free(px, py, out)


@pytest.mark.parametrize("seed", range(4))
def test_barriers_and_shuffles(small, seed):
    (x,) = arrays(1)
    px, sums, turned = upload(x), empty(4), empty(512)
    with control.ordered("random", seed):
        small.launch("sum_of_blocks", sums, px, grid=4)
        small.launch("turn", turned, px, grid=2, shared=4 * 256)
        parts = [x[i * 256 : (i + 1) * 256] for i in range(4)]
        np.testing.assert_allclose(read(sums, 4), [p.sum() for p in parts], rtol=1e-4)
        np.testing.assert_array_equal(
            read(turned, 512), np.concatenate([x[255::-1], x[511:255:-1]])
        )
    free(px, sums, turned)
