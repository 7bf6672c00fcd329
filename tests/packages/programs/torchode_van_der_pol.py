"""torchode: a batch of oscillators, each with its own steps, and gradients of their ends."""

import torch
import torchode

from tests.packages.programs._data import normal

TOLERANCE = 1e-6


def results():
    stiffness = torch.tensor([0.5, 1.0, 2.0, 5.0], dtype=torch.float64, requires_grad=True)

    def van_der_pol(t, y, stiffness):
        x, v = y[..., 0], y[..., 1]
        return torch.stack((v, stiffness * (1 - x**2) * v - x), dim=-1)

    start = normal(4, 2)
    times = torch.linspace(0.0, 4.0, 9, dtype=torch.float64).repeat(4, 1)
    found = {}
    for method in (torchode.Dopri5, torchode.Tsit5, torchode.Heun):
        term = torchode.ODETerm(van_der_pol, with_args=True)
        controller = torchode.IntegralController(atol=1e-7, rtol=1e-5, term=term)
        solver = torchode.AutoDiffAdjoint(method(term=term), controller)
        problem = torchode.InitialValueProblem(y0=start, t_eval=times)
        solution = solver.solve(problem, args=stiffness)
        (gradient,) = torch.autograd.grad(solution.ys[:, -1].sum(), stiffness)
        found[method.__name__] = {
            "ends": solution.ys[:, -1].tolist(),
            "steps": solution.stats["n_steps"].tolist(),
            "gradient": gradient.tolist(),
            "status": solution.status.tolist(),
        }
    return found
