"""Accumulation: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from tests.recorded.inputs import sines


# gradients that meet, one of which has a graph or a conjugate flag
def requires_grad_create_graph():
    x = sines(3).requires_grad_()
    (x * 2).sum().backward()
    g = x.grad
    (x * x * x).sum().backward(create_graph=True)
    return x.grad is g, g._version, g.requires_grad, x.grad.requires_grad, x.grad, g

def requires_grad_double():
    x = sines(3).requires_grad_()
    x.grad = 2 * torch.ones(3).double().requires_grad_()
    g = x.grad
    (x * x).sum().backward()
    return x.grad is g, g._version, x.grad.requires_grad, x.grad, g
