"""pytorch-minimize: Rosenbrock's function by every method, least squares, and constraints."""

import torch
from torchmin import least_squares, minimize, minimize_constr

from tests.packages.programs._data import normal

TOLERANCE = 1e-5


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def results():
    start = torch.tensor([1.3, 0.7, 0.8, 1.9, 1.2], dtype=torch.float64)
    found = {}
    for method in (
        "bfgs",
        "l-bfgs",
        "cg",
        "newton-cg",
        "newton-exact",
        "trust-ncg",
        "trust-krylov",
        "dogleg",
    ):
        try:
            result = minimize(rosenbrock, start, method=method, max_iter=8)
        except (RuntimeError, ValueError) as error:
            found[method] = type(error).__name__.removeprefix("_")
            continue
        found[method] = {"x": result.x.tolist(), "f": float(result.fun), "steps": int(result.nit)}

    design, noise = normal(20, 3, seed=1), 0.01 * normal(20, seed=2)
    target = torch.exp(design @ torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)) + noise
    fit = least_squares(
        lambda w: torch.exp(design @ w) - target, torch.zeros(3, dtype=torch.float64)
    )
    bounded = minimize_constr(
        rosenbrock,
        start,
        constr={"fun": lambda x: x.square().sum(), "lb": 3.0, "ub": 3.0},
        max_iter=30,
    )
    found["least squares"] = fit.x.tolist()
    found["on a sphere"] = [round(float(bounded.x.square().sum()), 3), round(float(bounded.fun), 2)]
    return found
