"""torchdiffeq: a neural ODE learns a spiral, with the adjoint; a bouncing ball finds its event."""

import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

from tests.packages.programs._data import fill_weights, train

TOLERANCE = 1e-5  # adaptive steps: their sizes depend on the last bits


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y**3)


def results():
    start = torch.tensor([[2.0, 0.0]], dtype=torch.float64)
    times = torch.linspace(0.0, 2.0, 12, dtype=torch.float64)
    matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]], dtype=torch.float64)
    with torch.no_grad():
        spiral = odeint(lambda t, y: y**3 @ matrix, start, times, method="dopri8")

    field = fill_weights(Field().double(), 0.2)
    optimizer = torch.optim.RMSprop(field.parameters(), lr=0.01)
    losses = train(
        lambda: (odeint_adjoint(field, start, times, rtol=1e-7, atol=1e-9) - spiral).abs().mean(),
        optimizer,
        8,
    )
    others = {
        method: odeint(field, start, times, method=method, rtol=1e-7, atol=1e-9)[-1, 0].tolist()
        for method in ("euler", "rk4", "bosh3", "explicit_adams", "adaptive_heun")
    }

    height = torch.tensor(10.0, dtype=torch.float64, requires_grad=True)
    gravity = torch.tensor(9.8, dtype=torch.float64, requires_grad=True)
    state = (height, torch.zeros((), dtype=torch.float64))
    when, _ = odeint_event(
        lambda t, y: (y[1], -gravity),
        state,
        torch.tensor(0.0, dtype=torch.float64),
        event_fn=lambda t, y: y[0],
        odeint_interface=odeint,
        atol=1e-9,
        rtol=1e-9,
    )
    when.backward()
    return {
        "losses": losses,
        "ends": others,
        "the ball falls": [when.item(), height.grad.item(), gravity.grad.item()],
    }
