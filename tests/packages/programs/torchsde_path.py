"""torchsde: solvers and the adjoint along a Brownian path from NumPy; means of its own paths."""

import numpy as np
import torch
import torchsde
from torch import nn

from tests.packages.programs._data import fill_weights, train


class Path(torchsde.BaseBrownian):
    """A path that is known at 257 times and interpolated between them."""

    levy_area_approximation = "none"
    dtype, device, shape = torch.float64, torch.device("cpu"), (6, 2)

    def __init__(self):
        steps = np.random.RandomState(3).standard_normal((256, *self.shape)) / 16.0
        walk = np.concatenate([np.zeros((1, *self.shape)), steps.cumsum(0)])
        self.walk = torch.from_numpy(walk)

    def __call__(self, ta, tb=None, return_U=False, return_A=False):
        return self.at(ta) if tb is None else self.at(tb) - self.at(ta)

    def at(self, time):
        place = float(time) * 256
        low = min(int(place), 255)
        return torch.lerp(self.walk[low], self.walk[low + 1], place - low)

    def __repr__(self):
        return "Path()"


class Drifting(nn.Module):
    noise_type = "diagonal"

    def __init__(self, sde_type):
        super().__init__()
        self.sde_type = sde_type
        self.drift = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
        self.volatility = nn.Parameter(torch.zeros(2))

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return 0.2 * torch.sigmoid(self.volatility + y)


def results():
    start = torch.ones(6, 2, dtype=torch.float64)
    times = torch.linspace(0.0, 1.0, 5, dtype=torch.float64)
    found = {}
    for sde_type, method in (("ito", "euler"), ("ito", "milstein"), ("stratonovich", "midpoint")):
        sde = fill_weights(Drifting(sde_type).double())
        optimizer = torch.optim.Adam(sde.parameters(), lr=0.02)
        found[method] = train(
            lambda sde=sde, method=method: (
                torchsde.sdeint(sde, start, times, bm=Path(), method=method, dt=1 / 32)[-1]
                .square()
                .mean()
            ),
            optimizer,
            4,
        )
    sde = fill_weights(Drifting("stratonovich").double())
    end = torchsde.sdeint_adjoint(sde, start, times, bm=Path(), method="midpoint", dt=1 / 32)[-1]
    end.square().mean().backward()
    found["gradients by the adjoint"] = [p.grad.sum().item() for p in sde.parameters()]

    own = torchsde.BrownianInterval(0.0, 1.0, size=(20000,), entropy=5, dtype=torch.float64)
    first, second = own(0.0, 0.25), own(0.25, 1.0)
    found["the interval adds up"] = bool(torch.allclose(first + second, own(0.0, 1.0)))
    found["its variances are near"] = [
        abs(first.var().item() - 0.25) < 0.02,
        abs(second.var().item() - 0.75) < 0.06,
    ]
    return found
