"""The checks of the compiled package."""

import downstream

import autograd_cy as torch

t = downstream.make(3, 4)
assert downstream.describe(t) == (2, 12, 3, 4, True)
assert downstream.recognises(t)
assert not downstream.recognises(1.0)

# Recorded: the slope of sum(x**k / k) is sum(x**(k - 1)).
x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
y = downstream.polynomial(x, 4)
assert type(y.grad_fn).__name__ == "MulBackward0", y.grad_fn
(gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
expected = 1 + x + x**2 + x**3
assert torch.allclose(gradient, expected), (gradient, expected)

# And once more.
(curvature,) = torch.autograd.grad(gradient.sum(), x)
assert torch.allclose(curvature, 1 + 2 * x + 3 * x**2), curvature

# Nothing is recorded where nothing is asked for, and errors arrive as exceptions.
assert downstream.polynomial(x.detach(), 3).grad_fn is None
with torch.no_grad():
    assert downstream.polynomial(x, 3).grad_fn is None
    assert downstream.twice_in_place(x) is x
assert torch.equal(x, torch.tensor([1.0, -2.0, 4.0], dtype=torch.float64))
try:
    downstream.twice_in_place(x)
except RuntimeError as error:
    assert "leaf" in str(error), error
else:
    raise AssertionError("an in-place operation on a leaf was not refused")
