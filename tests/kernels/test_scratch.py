"""Memory that kernels work in: kept for the next call, until it is released."""

import autograd_cy as ag
from autograd_cy._C import scratch
from autograd_cy.nn import functional as F

SMALLEST = 1 << 16  # bytes of a block that is kept


def test_blocks_are_kept_until_they_are_released():
    scratch.release()
    assert scratch.release() == 0
    for _ in range(2):
        F.fold(ag.ones(1, 4, 4, dtype=ag.float16), 3, 2)
    assert scratch.release() == SMALLEST
    assert scratch.release() == 0
