"""Reduction: calls of the composites (`ext/composites`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, gradients, iota, second_gradients, sines, tangents

sines(4, 2, 3).sum_to_size(2, 1)
sines(4, 2, 3).sum_to_size()
torch.trace(sines(3))
torch.trace(sines(2, 3, 3))
torch.trace(iota(2, 2, dtype=torch.int32))
torch.cumprod(sines(5), 0, dtype=torch.complex64)
torch.cumprod(complex_sines(5, dtype=torch.complex64), 0)
[x := torch.ones(5, dtype=torch.float64), torch.cumprod(sines(5), 0, out=x) is x, x]
[x := torch.zeros(1, dtype=torch.float64), torch.cumprod(sines(1), 0, out=x) is x, x]
[x := torch.zeros(0, dtype=torch.int64), torch.cumprod(iota(4, dtype=torch.int32) + 1, 0, out=x), x]
gradients(lambda x: x.prod(), torch.tensor([0.0, 0.0, math.inf]))
gradients(lambda x: torch.cumprod(x, 0), torch.tensor([0.0, 3.0, 0.0, 2.0]))
gradients(lambda x: torch.cumprod(x, 1), sines(2, 3))
second_gradients(lambda x: x.prod(0), sines(3, 2))
second_gradients(lambda x: x.prod(), torch.tensor([0.0, 3.0, 2.0]))
tangents(lambda x: x.prod(0), torch.tensor([[0.0, 2.0], [1.0, 3.0]]))
tangents(lambda x: torch.cumprod(x, 1), sines(2, 3))

# Gradients of sums come back to their places.
gradients(lambda x: x.mean((-1, 0)), sines(2, 3, 2))
gradients(lambda x: x.logsumexp((0, 1)), sines(2, 3))
gradients(lambda x: x.amax((0, 1)), sines(2, 3))

# Norms.
torch.norm(torch.tensor([0.0, 2.0, math.nan]), 0)
torch.norm(sines(2, 3), -1.5)
torch.norm(torch.tensor([0.0, 2.0]), -2)
torch.norm(iota(4, dtype=torch.int64))
torch.norm(complex_sines(4), dtype=torch.complex64)
torch.norm(complex_sines(4), dtype=torch.float64)
torch.norm(iota(4, dtype=torch.bool), 1)
torch.linalg.vector_norm(complex_sines(4), dtype=torch.float64)
torch.linalg.vector_norm(sines(4), 3, dtype=torch.float32)
torch.linalg.vector_norm(sines(2, 3), 1, 0, dtype=torch.complex64)
torch.norm(sines(2, 3), "nuc")
torch.norm(sines(2, 2, 3), "nuc")
torch.norm(sines(4), "nuc")
torch.norm(sines(2, 3), "other")
gradients(lambda x: torch.norm(x), torch.tensor([0.0, 0.0]))
second_gradients(lambda x: torch.norm(x, 3, 1), sines(2, 3))
tangents(lambda x: torch.norm(x), torch.tensor([0.0, 0.0]))
vmap(lambda x: torch.norm(x, 3))(sines(2, 3))

# Differences.
torch.diff(sines(4), -1)
torch.diff(sines(4), 0)
torch.diff(sines(4), 2)
torch.diff(sines(4), 4)
torch.diff(sines(4), 5)
torch.diff(sines(2, 3), 1, 1, sines(3, 1))
gradients(lambda x, y: torch.diff(x, 2, 0, y), sines(3, 2), sines(1, 2))

# Shapes and dtypes of what is reduced.
iota(2, 3, dtype=torch.int64).prod(1)
iota(2, 3, dtype=torch.uint8).all(0)
sines(2, 3).any(())
sines(2, 3).any((0, 0))
sines(0, 3).amax(0)
sines(0, 3).amax(1)
sines(0, 3).max(0)
sines(0, 3).argmin(1)
sines(2, 3).argmax(keepdim=True)
sines(2, 3).argmax(1, keepdim=True)
sines(2, 3).amin((1, 0), keepdim=True)
iota(2, 3, dtype=torch.int64).logsumexp(0)
complex_sines(2, 3).var(1)
torch.var_mean(complex_sines(2, 3), 1)
torch.std_mean(sines(2, 3), (0, 1), keepdim=True)
torch.cummax(sines(2, 3), 1)
F.softmax(iota(2, 3, dtype=torch.int64), 1)

# Moments, differentiated.
gradients(lambda x: torch.var(x, 0, correction=3), sines(3, 2))
gradients(lambda x: torch.var_mean(x, 1), sines(3, 2))
gradients(lambda x: torch.var_mean(x, 1)[1], sines(3, 2))
gradients(lambda x: torch.std_mean(x, (0, 1)), sines(3, 2))
gradients(lambda x: torch.std_mean(x, 1)[1], sines(3, 2))
gradients(lambda x: torch.std(x, 0), torch.tensor([[1.0, 2.0], [1.0, 5.0]]))
gradients(lambda x: torch.var(x, 0), complex_sines(3, 2))
tangents(lambda x: torch.std(x, 0), torch.tensor([[1.0, 2.0], [1.0, 5.0]]))
tangents(lambda x: torch.var_mean(x, (0, 1), keepdim=True), sines(3, 2))
tangents(lambda x: torch.std_mean(x, 1), sines(3, 2))
tangents(lambda x: torch.var(x, 0), complex_sines(3, 2))
second_gradients(lambda x: torch.var(x, 0), sines(3, 2))
second_gradients(lambda x: torch.std(x, 0), sines(3, 2))

# Logarithms of running sums.
gradients(lambda x: torch.logcumsumexp(x, 0), sines(4))
gradients(lambda x: torch.logcumsumexp(x, 1), sines(2, 3))
gradients(lambda x: torch.logcumsumexp(x, 1), complex_sines(2, 3))
gradients(lambda x: torch.logcumsumexp(x, 0), sines(4).float() * 50)
second_gradients(lambda x: torch.logcumsumexp(x, 0), sines(4))
tangents(lambda x: torch.logcumsumexp(x, 1), sines(2, 3))
tangents(lambda x: torch.logcumsumexp(x, 0), complex_sines(3))

def norm_float():
    x = torch.ones(3, dtype=torch.float64)
    return torch.norm(sines(2, 3).float(), 1, 0, out=x)

# Permutations, and dims that are left out.
gradients(lambda x: x.permute(2, 0, 1), sines(2, 3, 4))
iota(2, 3).amax((0, 0))
[torch.autograd.grad(torch.cumprod(x, 0).real.sum() if x.is_complex()
    else torch.cumprod(x, 0).sum(), x)[0] for x in (
    complex_sines(4).to(torch.complex64).requires_grad_(), sines(4).float().requires_grad_(),
    sines(4).requires_grad_(), complex_sines(4).requires_grad_())]
[torch.cumprod(x.requires_grad_(), 1) for x in (complex_sines(2, 3).to(torch.complex64),
    sines(2, 3).float(), complex_sines(2, 3))]
torch.cumprod((sines(3).float() * 1e30).requires_grad_(), 0)
