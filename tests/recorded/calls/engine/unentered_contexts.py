"""Unentered contexts: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksum, differs, error_name, sines, small_integers

# A context left that was not entered, or whose __init__ was not called
with differs("Torch asks for an attribute that isn't there."):
    error_name(torch.autocast.__new__(torch.autocast).__exit__, None, None, None)
    error_name(torch.autocast.__new__(torch.autocast).__enter__)
    error_name(torch.autocast("cpu").__exit__, None, None, None)

# Nodes made by nobody, called as they can't be, and called
def grad_fn_ones():
    x = sines(3).requires_grad_()
    n = (x * sines(3)).grad_fn
    return [n(torch.ones(3, dtype=torch.float64)), error_name(n),
        error_name(n, torch.ones(3), torch.ones(3)), error_name(n, 3.0)]

@differs("torch makes none")
def grad_fn_type():
    n = (sines(3).requires_grad_() * sines(3)).grad_fn
    return type(n)()(torch.ones(3))

def grad_fn_addmm():
    x = sines(2, 3).requires_grad_()
    n = torch.addmm(sines(3), x, sines(3, 3).requires_grad_()).grad_fn
    return n(torch.ones(2, 3, dtype=torch.float64))

# Gradients of tables that several threads add, each its rows
def set_num_threads_scale_grad_by_freq():
    def of(n, scale, padding):
        before = torch.get_num_threads()
        torch.set_num_threads(n)
        try:
            k = (torch.arange(20000) * 7919) % 1201
            x = small_integers(1201, 16, dtype=torch.float64).requires_grad_()
            y = F.embedding(k, x, padding, scale_grad_by_freq=scale)
            return torch.autograd.grad(y, x, small_integers(20000, 16, dtype=torch.float64))[0]
        finally:
            torch.set_num_threads(before)
    return [checksum(of(4, s, p)) for s in (False, True) for p in (None, 700)]
