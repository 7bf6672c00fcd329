"""Unentered contexts: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, sines

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
