"""opt_einsum: contractions in the order that is cheapest, and a tensor network that is trained."""

import opt_einsum
import torch

from tests.packages.programs._data import fill_weights, normal, train


def results():
    left, middle, right = normal(6, 7, seed=1), normal(7, 8, 5, seed=2), normal(5, 6, 3, seed=3)
    equation = "ab,bcd,dae->ce"
    path, report = opt_einsum.contract_path(equation, left, middle, right, optimize="optimal")
    expression = opt_einsum.contract_expression(equation, (6, 7), (7, 8, 5), (5, 6, 3))
    shared = opt_einsum.contract_expression(
        equation, left, (7, 8, 5), (5, 6, 3), constants=[0], optimize="greedy"
    )

    cores = torch.nn.ParameterList(
        torch.zeros(shape, dtype=torch.float64) for shape in ((6, 2), (2, 6, 2), (2, 6))
    )
    fill_weights(cores, 0.5)
    target = normal(6, 6, 6, seed=4)
    optimizer = torch.optim.LBFGS(cores.parameters(), lr=0.5, max_iter=10)

    def loss():
        optimizer.zero_grad()
        error = (opt_einsum.contract("ai,ibj,jc->abc", *cores) - target).square().mean()
        error.backward()
        return error

    return {
        "path": [list(pair) for pair in path],
        "cost": float(report.opt_cost),
        "contracted": opt_einsum.contract(equation, left, middle, right)[0].tolist(),
        "expression": expression(left, middle, right)[1].tolist(),
        "constants": shared(middle, right)[2].tolist(),
        "losses": [optimizer.step(loss).item() for _ in range(4)],
        "trained": train(
            lambda: opt_einsum.contract("ai,ibj,jc->abc", *cores).sub(target).abs().mean(),
            torch.optim.SGD(cores.parameters(), lr=0.1),
            5,
        ),
    }
