"""torchquad: integrals of two dimensions by grids, by Gauss, and their gradients."""

import torch
from torchquad import (
    VEGAS,
    Boole,
    GaussLegendre,
    MonteCarlo,
    Simpson,
    Trapezoid,
    set_up_backend,
)


def results():
    set_up_backend("torch", data_type="float64", torch_enable_cuda=False)
    try:
        return integrals()
    finally:
        torch.set_default_dtype(torch.float32)


def integrals():
    def integrand(x, rate=1.0):
        return torch.sin(rate * x[:, 0]) * torch.exp(x[:, 1])

    domain = torch.tensor([[0.0, 1.0], [-1.0, 1.0]], dtype=torch.float64)
    found = {}
    for rule in (Trapezoid, Simpson, Boole, GaussLegendre):
        edges = domain.clone().requires_grad_()
        rate = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        value = rule().integrate(
            lambda x, rate=rate: integrand(x, rate), dim=2, N=625, integration_domain=edges
        )
        value.backward()
        found[rule.__name__] = [value.item(), rate.grad.item(), edges.grad.tolist()]
    exact = (1 - torch.cos(torch.tensor(1.0))) * 2 * torch.sinh(torch.tensor(1.0))
    sampled = MonteCarlo().integrate(integrand, dim=2, N=40000, integration_domain=domain, seed=1)
    adapted = VEGAS().integrate(integrand, dim=2, N=20000, integration_domain=domain, seed=1)
    found["Monte Carlo is near"] = bool((sampled - exact).abs() < 0.05)
    found["VEGAS is near"] = bool((adapted - exact).abs() < 0.02)
    return found
