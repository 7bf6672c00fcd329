"""LBFGS where the gradient is zero and no tolerance ends the step before it is divided by."""

import itertools

import pytest

import autograd_cy as ag

# A minimum; a loss that doesn't depend on the parameter; one that follows it.
LOSSES = {
    "minimum": lambda p: (p**2).sum(),
    "constant": lambda p: (p * 0).sum() + 3,
    "follows": lambda p: ((p - p.detach()) ** 2).sum(),
}


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_gradient_of_zero_moves_nothing(loss, search):
    start = [0.0, 0.0] if loss == "minimum" else [1.0, -2.0]
    for grad, change, lr in itertools.product((-1.0, -1e-9), (0.0, 1e-9), (0.0, 0.5, 1.0)):
        p = ag.tensor(start, requires_grad=True)
        optimizer = ag.optim.LBFGS(
            [p], lr, tolerance_grad=grad, tolerance_change=change, line_search_fn=search
        )

        def closure(p=p, optimizer=optimizer):
            optimizer.zero_grad()
            value = LOSSES[loss](p)
            value.backward()
            return value

        for _ in range(3):  # with the history of the one before
            assert optimizer.step(closure).item() == (3.0 if loss == "constant" else 0.0)
        assert p.tolist() == start
