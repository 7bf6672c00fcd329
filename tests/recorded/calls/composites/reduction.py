"""Reduction: calls of the composites (`ext/composites`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    gradients,
    iota,
    operator,
    second_gradients,
    sines,
    tangents,
)

sines(2, 3).sum_to_size(3)
sines(2, 3).sum_to_size(1, 3)
sines(2, 3).sum_to_size(2, 3)
sines(2, 3).sum_to_size(2, 1, 3)
sines(2, 3).sum_to_size(2, 2)
sines(2, 3).sum_to_size(2)
sines(4, 2, 3).sum_to_size(2, 1)
sines(4, 2, 3).sum_to_size()
torch.trace(sines(3))
torch.trace(sines(2, 3, 3))
torch.trace(sines(2, 3))
torch.trace(iota(2, 2, dtype=torch.int32))
torch.cumprod(sines(5), 0)
torch.cumprod(sines(2, 3), 1)
torch.cumprod(sines(2, 3), -2)
torch.cumprod(sines(2, 3), 2)
torch.cumprod(sines(), 0)
torch.cumprod(sines(), 1)
torch.cumprod(sines(0), 0)
torch.cumprod(iota(2, 3, dtype=torch.int32) + 1, 1)
torch.cumprod(iota(2, 3, dtype=torch.bool), 0)
torch.cumprod(iota(3, dtype=torch.int32) + 1, 0, dtype=torch.float32)
torch.cumprod(sines(5), 0, dtype=torch.float32)
torch.cumprod(sines(5), 0, dtype=torch.complex64)
torch.cumprod(complex_sines(5, dtype=torch.complex64), 0)
torch.cumprod(torch.tensor([1e30, 1e30, 1e-30, 1e-30]), 0)
torch.cumprod(torch.tensor([300.0, 300.0, 1e-3, 1e-2]).to(torch.float16), 0)
torch.cumprod(sines(5).to(torch.bfloat16), 0)
[x := torch.ones(5, dtype=torch.float32), torch.cumprod(sines(5).float(), 0, out=x) is x, x]
[x := torch.ones(5, dtype=torch.float64), torch.cumprod(sines(5), 0, out=x) is x, x]
[x := torch.ones(5, dtype=torch.float64), torch.cumprod(sines(5).float(), 0, out=x) is x, x]
[x := torch.ones(0), torch.cumprod(sines(2, 3).float(), 0, out=x) is x, x]
[x := torch.ones(2, 3).t(), torch.cumprod(sines(3, 2).float(), 0, out=x) is x, x]
[x := torch.zeros(1, dtype=torch.float64), torch.cumprod(sines(1), 0, out=x) is x, x]
[x := torch.zeros(0, dtype=torch.int64), torch.cumprod(iota(4, dtype=torch.int32) + 1, 0, out=x), x]
[x := torch.ones(5), y := x._version, torch.cumprod(sines(5).float(), 0, out=x), x._version > y]
[x := sines(5), x.cumprod_(0) is x, x]
gradients(lambda x: x.prod(), sines(4))
gradients(lambda x: x.prod(), sines())
gradients(lambda x: x.prod(0), torch.tensor([[0.0, 2.0], [0.0, 3.0], [4.0, 0.0]]))
gradients(lambda x: x.prod(1, True), sines(2, 3))
gradients(lambda x: x.prod(0), sines(0, 2))
gradients(lambda x: x.prod(0), sines(1, 2))
gradients(lambda x: x.prod(), torch.tensor([0.0, 0.0, math.inf]))
gradients(lambda x: x.prod(), torch.tensor([0.0, math.inf, 2.0]))
gradients(lambda x: x.prod(), torch.tensor([0.0, 3.0, 2.0]))
gradients(lambda x: torch.cumprod(x, 0), torch.tensor([0.0, 3.0, 0.0, 2.0]))
gradients(lambda x: torch.cumprod(x, 1), sines(2, 3))
second_gradients(lambda x: x.prod(0), sines(3, 2))
second_gradients(lambda x: x.prod(), torch.tensor([0.0, 3.0, 2.0]))
tangents(lambda x: x.prod(0), torch.tensor([[0.0, 2.0], [1.0, 3.0]]))
tangents(lambda x: torch.cumprod(x, 1), sines(2, 3))

# Gradients of sums come back to their places.
gradients(lambda x: x.sum(1), sines(2, 3))
gradients(lambda x: x.sum((0, 2)), sines(2, 3, 2))
gradients(lambda x: x.sum((2, 0), True), sines(2, 3, 2))
gradients(lambda x: x.sum(()), sines(2, 3))
gradients(lambda x: x.sum(-1), sines(2, 3))
gradients(lambda x: x.mean((-1, 0)), sines(2, 3, 2))
gradients(lambda x: x.sum(0), sines())
gradients(lambda x: x.logsumexp((0, 1)), sines(2, 3))
gradients(lambda x: x.var((0, -1)), sines(2, 3, 2))
gradients(lambda x: x.std(1, keepdim=True), sines(2, 3))
gradients(lambda x: x.amax((0, 1)), sines(2, 3))

# Norms.
torch.norm(sines(2, 3))
torch.norm(sines(2, 3), 2, 0, True)
torch.norm(sines(2, 3), 1)
torch.norm(sines(2, 3), 1, 1)
torch.norm(sines(2, 3), 0)
torch.norm(torch.tensor([0.0, 2.0, math.nan]), 0)
torch.norm(sines(2, 3), math.inf, 0)
torch.norm(sines(2, 3), -math.inf, 0, True)
with differs("So high a power is that of infinity here; torch's vanish."):
    torch.norm(sines(2, 3), 1e18)
    torch.norm(sines(2, 3), -1e18)
torch.norm(sines(2, 3), 3, (0, 1))
torch.norm(sines(2, 3), 0.5, 1, True)
torch.norm(sines(2, 3), -2, 1)
torch.norm(sines(2, 3), -1.5)
torch.norm(torch.tensor([0.0, 2.0]), -2)
torch.norm(torch.tensor([0.0, 0.0]), 3)
torch.norm(complex_sines(2, 3), 2)
torch.norm(complex_sines(2, 3), 3, 1)
torch.norm(complex_sines(2, 3), 0)
torch.norm(sines(4).to(torch.float16) * 300, 2)
torch.norm(sines(4).to(torch.float16), 1)
torch.norm(sines(4).to(torch.float16), math.inf)
torch.norm(sines(4).to(torch.float16), -math.inf)
torch.norm(sines(4).to(torch.float16) * 60, 3)
torch.norm(sines(4).to(torch.bfloat16), 2)
torch.norm(iota(4, dtype=torch.int64))
with differs("dtype= says in what to compute; torch refuses integers all the same."):
    torch.norm(iota(4, dtype=torch.int64), dtype=torch.float64)
torch.norm(sines(4), dtype=torch.float32)
torch.norm(complex_sines(4), dtype=torch.complex64)
torch.norm(complex_sines(4), dtype=torch.float64)
torch.norm(iota(4, dtype=torch.bool), 1)
torch.linalg.vector_norm(complex_sines(4), dtype=torch.float64)
torch.linalg.vector_norm(sines(4), 3, dtype=torch.float32)
torch.linalg.vector_norm(sines(2, 3), 2, (0, 1), True)
torch.linalg.vector_norm(sines(2, 3), 1, 0, dtype=torch.complex64)
torch.norm(sines(2, 3), "fro")
torch.norm(sines(2, 3), "nuc")
torch.norm(sines(2, 2, 3), "fro", (1, 2))
torch.norm(sines(2, 2, 3), "nuc", (1, 2), True)
torch.norm(sines(2, 2, 3), "nuc")
torch.norm(sines(4), "nuc")
torch.norm(sines(2, 3), "other")
[x := torch.ones(3, dtype=torch.float64), torch.norm(sines(2, 3), 1, 0, out=x) is x, x]
[x := torch.ones(3, dtype=torch.float64), torch.norm(sines(2, 3), 2, 0, out=x) is x, x]
[x := torch.ones(3, dtype=torch.float64), torch.norm(sines(2, 3), 0, 0, out=x) is x, x]
[x := torch.ones(3, dtype=torch.float64), torch.norm(sines(2, 3), math.inf, 0, out=x) is x, x]
[x := torch.ones(3, dtype=torch.float64), torch.norm(sines(2, 3), -math.inf, 0, out=x) is x, x]
[x := torch.ones(3, dtype=torch.float64), torch.norm(sines(2, 3), 3, 0, out=x) is x, x]
[x := torch.ones(3, dtype=torch.float64), torch.norm(sines(2, 3), -3, 0, out=x) is x, x]
gradients(lambda x: torch.norm(x), torch.tensor([0.0, 0.0]))
gradients(lambda x: torch.norm(x), sines(2, 3))
gradients(lambda x: torch.norm(x, 3, 1), sines(2, 3))
gradients(lambda x: torch.norm(x, 3), torch.tensor([0.0, 2.0, -1.0]))
gradients(lambda x: torch.norm(x, 3), torch.tensor([0.0, 0.0]))
with differs("The gradient is zero, which torch leaves out."):
    gradients(lambda x: torch.norm(x, 0), torch.tensor([0.0, 2.0]))
gradients(lambda x: torch.norm(x, 1), torch.tensor([0.0, 2.0, -3.0]))
gradients(lambda x: torch.norm(x, -2), torch.tensor([1.0, 2.0, -3.0]))
gradients(lambda x: torch.norm(x, math.inf), torch.tensor([3.0, 2.0, -3.0]))
gradients(lambda x: torch.norm(x, 2, 0), complex_sines(2, 3))
gradients(lambda x: torch.norm(x, 3, 0), complex_sines(2, 3))
second_gradients(lambda x: torch.norm(x, 3, 1), sines(2, 3))
tangents(lambda x: torch.norm(x), sines(3))
tangents(lambda x: torch.norm(x), torch.tensor([0.0, 0.0]))
vmap(lambda x: torch.norm(x))(sines(2, 3))
vmap(lambda x: torch.norm(x, 3))(sines(2, 3))

# Differences.
torch.diff(sines())
torch.diff(sines(4), -1)
torch.diff(sines(4), 0)
torch.diff(sines(4), 0, prepend=sines(1))
torch.diff(sines(4), 1)
torch.diff(sines(4), 2)
torch.diff(sines(4), 4)
torch.diff(sines(4), 5)
torch.diff(sines(2, 3), 1, 0)
torch.diff(sines(2, 3), 1, 2)
torch.diff(sines(2, 3), 1, 1, sines(3))
torch.diff(sines(2, 3), 1, 1, None, sines(3))
torch.diff(sines(2, 3), 1, 1, sines(3, 1))
torch.diff(sines(2, 3), 1, 1, None, sines(1, 1))
torch.diff(sines(2, 3), 1, 0, sines(1, 2))
torch.diff(sines(2, 3), 1, 1, sines(2, 1), sines(2, 2))
torch.diff(sines(2, 3), 2, 0, sines(1, 3), sines(2, 3))
torch.diff(torch.tensor([True, False, False, True]))
torch.diff(torch.tensor([True, False, False, True]), 2)
[x := torch.ones(3, dtype=torch.float64), torch.diff(sines(4), out=x) is x, x]
[x := torch.ones(2, dtype=torch.float64), torch.diff(sines(4), 2, out=x) is x, x]
[x := torch.ones(3, dtype=torch.bool), torch.diff(torch.tensor([True, False, False, True]),
    out=x) is x, x]
[x := torch.ones(3, dtype=torch.float32), torch.diff(sines(4), out=x) is x, x]
with differs(
    "The result is made before it is written; torch refuses operands that share memory with it."):
    [x := sines(4), torch.diff(x, out=x[:3]), x]
gradients(lambda x, y: torch.diff(x, 2, 0, y), sines(3, 2), sines(1, 2))

# Shapes and dtypes of what is reduced.
sines(2, 3, 4).sum((0, 2))
sines(2, 3, 4).sum((0, 2), True)
sines(2, 3, 4).sum((0, -3))
sines(2, 3, 4).sum(3)
sines(2, 3).sum((0, 2))
iota(2, 3, dtype=torch.uint8).sum(1)
iota(2, 3, dtype=torch.bool).sum()
iota(2, 3, dtype=torch.int32).sum(dtype=torch.int32)
iota(2, 3).to(torch.float16).sum(0, dtype=torch.float32)
iota(2, 3, dtype=torch.int64).prod(1)
sines(2, 3).mean(())
sines(2, 3).mean(0, dtype=torch.float32)
iota(2, 3, dtype=torch.uint8).all(0)
iota(2, 3, dtype=torch.uint8).any()
iota(2, 3, dtype=torch.int32).all(1, True)
sines(2, 3).any(())
sines(2, 3).all((0, 1))
sines(2, 3).any((0, 0))
sines(0, 3).amax()
sines(0, 3).amax(())
sines(0, 3).amax(0)
sines(0, 3).amax(1)
sines(0, 3).max()
sines(0, 3).max(0)
sines(0, 3).min(1)
sines(0, 3).argmax()
sines(0, 3).argmax(0)
sines(0, 3).argmin(1)
sines(2, 3).argmax(keepdim=True)
sines(2, 3).argmax(1, keepdim=True)
sines(2, 3).amax(keepdim=True)
sines(2, 3).amin((1, 0), keepdim=True)
sines(2, 3).aminmax(dim=1, keepdim=True)
sines(2, 3).max(1, keepdim=True)
sines(2, 3).max(2)
iota(2, 3, dtype=torch.int64).logsumexp(0)
sines(2, 3).logsumexp((0, 1), True)
sines(2, 3).logsumexp((0, 0))
complex_sines(2, 3).var(1)
torch.var_mean(complex_sines(2, 3), 1)
torch.std_mean(sines(2, 3), (0, 1), keepdim=True)
torch.var_mean(sines(2, 3), 0, correction=0)
torch.cumsum(iota(2, 3, dtype=torch.uint8), 0)
torch.cumsum(sines(2, 3), 2)
torch.cumsum(sines(2, 3), 0, dtype=torch.float32)
torch.logcumsumexp(sines(2, 3), 2)
torch.cummax(sines(2, 3), 1)
torch.cummin(sines(2, 3), 2)
F.softmax(sines(2, 3), 2)
F.softmax(sines(2, 3), 0, dtype=torch.float32)
F.log_softmax(sines(2, 3), -1)
F.softmax(iota(2, 3, dtype=torch.int64), 1)
F.softmax(iota(2, 3, dtype=torch.int64), 1, dtype=torch.float32)
with differs("This package alone has it."):
    operator("softmax_backward")(sines(3, 2), sines(2, 3), 1)
    operator("log_softmax_backward")(sines(3, 2), sines(2, 3), 1)

# Moments, differentiated.
gradients(lambda x: torch.var(x, 0), sines(3, 2))
gradients(lambda x: torch.var(x, 0, correction=3), sines(3, 2))
gradients(lambda x: torch.var(x, correction=2), sines(3, 2))
gradients(lambda x: torch.var(x, 0, correction=4), sines(3, 2))
gradients(lambda x: torch.var_mean(x, 1), sines(3, 2))
gradients(lambda x: torch.var_mean(x, 1)[1], sines(3, 2))
gradients(lambda x: torch.std_mean(x, (0, 1)), sines(3, 2))
gradients(lambda x: torch.std_mean(x, 1)[1], sines(3, 2))
gradients(lambda x: torch.std(x, 0), torch.tensor([[1.0, 2.0], [1.0, 5.0]]))
gradients(lambda x: torch.var(x, 0), complex_sines(3, 2))
tangents(lambda x: torch.var(x, 0), sines(3, 2))
with differs("Torch multiplies infinity by zero."):
    tangents(lambda x: torch.var(x, 1, correction=2), sines(2, 2))
tangents(lambda x: torch.var(x, 1, correction=3), sines(2, 2))
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
with differs("This package alone has it."):
    operator("softmax_backward")(sines(2, 3), sines(2, 3), 2)
    operator("log_softmax_backward")(sines(2, 3), sines(2, 3), 2)
torch.sum(sines(3), dtype=torch.bool)
with differs("Torch has no running sums of truth values."):
    torch.cumsum(sines(3), 0, dtype=torch.bool)
sines(2, 3).mean(1, dtype=torch.complex128)

def norm_float():
    x = torch.ones(3, dtype=torch.float64)
    return torch.norm(sines(2, 3).float(), 1, 0, out=x)

def norm_float_2():
    x = torch.ones(3, dtype=torch.float64)
    return [error_name(lambda: torch.norm(sines(2, 3).float(), 1, 0, out=x)), x]

# Nothing is joined where nothing was put before or after.
def node_diff():
    x = sines(4).requires_grad_()
    node = torch.diff(x).grad_fn
    return [type(f[0].next_functions[0][0]).__name__ for f in node.next_functions]

# Permutations, and dims that are left out.
gradients(lambda x: x.permute(2, 0, 1), sines(2, 3, 4))
gradients(lambda x: x.permute(-1, 0, -2), sines(2, 3, 4))
iota(2, 3).sum(()), iota(2, 3).sum((-1, 0)), iota(2, 3).mean((0, 1), keepdim=True)
iota(2, 3).sum((0, -2))
iota(2, 3).mean(2)
iota(2, 3).amax((0, 0))
torch.tensor(3.0).sum(0), torch.tensor(3.0).sum(-1), torch.tensor(3.0).mean((0,))
torch.tensor(3.0).sum(1)
[torch.var(iota(2, 3), d, keepdim=True).shape for d in (0, -1, (0, 1), None)]
[torch.autograd.grad(torch.cumprod(x, 0).real.sum() if x.is_complex()
    else torch.cumprod(x, 0).sum(), x)[0] for x in (
    complex_sines(4).to(torch.complex64).requires_grad_(), sines(4).float().requires_grad_(),
    sines(4).requires_grad_(), complex_sines(4).requires_grad_())]
[torch.cumprod(x.requires_grad_(), 1) for x in (complex_sines(2, 3).to(torch.complex64),
    sines(2, 3).float(), complex_sines(2, 3))]
torch.cumprod((sines(3).float() * 1e30).requires_grad_(), 0)
