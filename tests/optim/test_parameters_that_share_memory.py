"""Parameters in the same memory: a step takes one after the other."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import optim


@pytest.mark.parametrize("first", [0, 1])
def test_a_step_of_parameters_that_share_memory_goes_one_by_one(first):
    windows = [slice(0, 100), slice(60, 160, 2)][:: 1 - 2 * first]
    numbers = np.arange(200.0)
    memory = ag.from_numpy(numbers.copy())
    params = [memory[window].requires_grad_(True) for window in windows]
    for p in params:
        p.grad = ag.ones_like(p)
    optim.SGD(params, lr=0.5, weight_decay=0.5).step()
    for window in windows:
        numbers[window] -= 0.5 * (1 + 0.5 * numbers[window])
    np.testing.assert_allclose(memory.detach().numpy(), numbers)
