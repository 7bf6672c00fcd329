"""The line search of L-BFGS as programs import it (`autograd_cy.optim.lbfgs`)."""

from importlib import import_module

import autograd_cy as torch
from tests.recorded.inputs import sines


def lbfgs(library):
    return import_module(f"{library.__name__}.optim.lbfgs")

def search(seed, **options):
    def evaluate(x, t, d):
        y = (x + t * d).detach().requires_grad_()
        loss = ((3 * y).sin() * (1 + seed) + (y - 0.3) ** 2 + 0.1 * y**4).sum()
        return loss.item(), torch.autograd.grad(loss, y)[0]
    x = sines(3).double() * (seed + 1)
    loss, gradient = evaluate(x, 0.0, x * 0)
    d = gradient * -0.7
    found = lbfgs(torch)._strong_wolfe(evaluate, x, 10.0 ** (seed - 1), d, loss, gradient, gradient.dot(d), **options)
    return [float(found[0]), found[1], round(float(found[2]), 9), found[3]]

def searches():
    return [search(seed, **options) for seed in range(4) for options in ({}, {"max_ls": 2}, {"c1": 0.1, "c2": 0.2})]

def cubics():
    x = sines(40).double() * 2
    return [round(float(lbfgs(torch)._cubic_interpolate(*(v.item() for v in x[i:i + 2]), x[i + 2], *(v.item() for v in x[i + 3:i + 5]),
        x[i + 5], bounds=bounds)), 9) for i in range(0, 34, 3) for bounds in (None, (-0.5, 0.7))]
