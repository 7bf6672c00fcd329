"""Gradcheck operands: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, sines, with_warnings

G = torch.autograd

# What gradcheck and gradgradcheck say of operands whose elements share memory, and of results that don't count.
def gradgradcheck_gen_non_contig_grad_outputs():
    x = sines(3).requires_grad_()
    return [G.gradgradcheck(lambda x: (x**3, sines(2)), (x,)),
        G.gradgradcheck(lambda x: (x**3, torch.tensor([1])), (x,)),
        G.gradgradcheck(lambda x: (x**3).sum(), (x,), gen_non_contig_grad_outputs=True),
        G.gradgradcheck(lambda x: x**3, (x,), gen_non_contig_grad_outputs=True),
        G.gradgradcheck(lambda x: x**3, (x,), (sines(3),)),
        G.gradcheck(lambda x: (x**3, sines(2)), (x,)),
        G.gradcheck(lambda x: [x**3, torch.tensor([1])], [x]),]

@differs("Torch takes more gradients than there are outputs.")
def gradcheck_float32():
    x = sines(3).requires_grad_()
    return [error_name(G.gradgradcheck, lambda x: x**3, (x,), (sines(3), sines(3))),
        error_name(G.gradcheck, lambda x: x, (sines(2),)),
        error_name(G.gradcheck, lambda x: x, (sines(0).requires_grad_(),)),
        with_warnings(lambda: error_name(G.gradcheck, lambda x: x * 2,
        (sines(2, dtype=torch.float32).requires_grad_(),)))]
