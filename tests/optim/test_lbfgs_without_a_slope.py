"""LBFGS where the gradient is zero and no tolerance ends the step before it is divided by."""

import autograd_cy as ag


def test_a_gradient_of_zero_moves_nothing():
    p = ag.zeros(2, requires_grad=True)
    optimizer = ag.optim.LBFGS([p], tolerance_grad=-1.0)

    def closure():
        optimizer.zero_grad()
        loss = (p**2).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 0.0
    assert p.tolist() == [0.0, 0.0]
