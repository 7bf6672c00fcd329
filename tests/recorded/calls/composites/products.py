"""Products: calls of the composites (`ext/composites`)."""

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
    second_gradients,
    sines,
    tangents,
)

torch.mm(sines(3), sines(3, 2))
torch.mm(sines(2, 3), sines(3))
torch.mm(sines(2, 3), sines(2, 3))
torch.mm(sines(2, 3), sines(3, 2).float())
torch.mm(iota(2, 3, dtype=torch.bool), iota(3, 2, dtype=torch.bool))
torch.mm(sines(2, 3), sines(3, 1))
torch.bmm(sines(2, 3), sines(2, 3, 2))
torch.bmm(sines(2, 2, 3), sines(3, 2))
torch.bmm(sines(2, 2, 3), sines(1, 3, 2))
torch.bmm(sines(2, 2, 3), sines(2, 2, 2))
torch.bmm(sines(2, 1, 3), sines(2, 3, 2))
torch.bmm(sines(2, 1, 3), sines(2, 3, 2).float())
torch.bmm(iota(1, 1, 1, dtype=torch.bool), iota(1, 1, 1, dtype=torch.bool))
torch.dot(sines(2, 1), sines(2))
torch.dot(sines(2), sines(2, 1))
torch.dot(sines(2), sines(3))
torch.dot(sines(2), iota(2))
torch.dot(sines(2), sines(2))
torch.mv(sines(2), sines(2))
torch.mv(sines(2, 3), sines(3, 1))
torch.mv(sines(2, 3), sines(2))
with differs(
    "A RuntimeError, as of all shapes that don't fit; torch's IndexError is that of a step inside."):
    torch.mv(sines(), sines(2))
torch.mv(sines(2, 3), iota(3))
torch.mv(sines(2, 3), sines(3))
torch.addmm(sines(2, 2), sines(3), sines(3, 2))
torch.addmm(sines(2, 2), sines(2, 3), sines(3))
torch.addmm(sines(2, 2), sines(2, 3), sines(2, 2))
torch.addmm(sines(2, 2), sines(2, 3), iota(3, 2))
torch.addmm(iota(2, 2), sines(2, 3), sines(3, 2))
torch.addmm(sines(3, 2), sines(2, 3), sines(3, 2))
torch.addmm(sines(1, 2, 2), sines(2, 3), sines(3, 2))
torch.addmm(sines(2, 3), sines(2, 3), sines(3, 2))
torch.addmm(sines(2), sines(2, 3), sines(3, 2), beta=2, alpha=0.5)
torch.addmm(sines(2, 1), sines(2, 3), sines(3, 2), beta=0)
torch.addmm(sines(), sines(2, 3), sines(3, 4))
torch.addmv(sines(2), sines(3), sines(3))
torch.addmv(sines(2), sines(2, 3), sines(3, 1))
torch.addmv(sines(2), sines(2, 3), sines(2))
torch.addmv(iota(2), sines(2, 3), sines(3))
torch.addmv(sines(3), sines(2, 3), sines(3))
torch.addmv(sines(1, 2), sines(2, 3), sines(3))
torch.addmv(sines(1), sines(2, 3), sines(3), beta=2, alpha=3)
torch.addbmm(sines(2, 2), sines(2, 3), sines(1, 3, 2))
with differs(
    "A RuntimeError, as of all shapes that don't fit; torch's IndexError is that of a step inside."):
    torch.addbmm(sines(2, 2), sines(1, 2, 3), sines(3, 2))
torch.addbmm(sines(2, 2), sines(1, 2, 3), sines(2, 3, 2))
torch.addbmm(iota(2, 2), sines(1, 2, 3), sines(1, 3, 2))
torch.addbmm(sines(3, 2), sines(1, 2, 3), sines(1, 3, 2))
torch.addbmm(sines(4), sines(2, 2, 3), sines(2, 3, 4), beta=0.5, alpha=2)
torch.addbmm(sines(2, 1), sines(2, 2, 3), sines(2, 3, 4))
torch.baddbmm(sines(2, 2), sines(2, 3), sines(1, 3, 2))
with differs(
    "A RuntimeError, as of all shapes that don't fit; torch's IndexError is that of a step inside."):
    torch.baddbmm(sines(2, 2), sines(1, 2, 3), sines(3, 2))
torch.baddbmm(sines(2, 2), sines(1, 2, 3), sines(1, 2, 2))
torch.baddbmm(iota(2, 2), sines(1, 2, 3), sines(1, 3, 2))
torch.baddbmm(sines(3, 2), sines(1, 2, 3), sines(1, 3, 2))
torch.baddbmm(sines(2, 1, 4), sines(2, 2, 3), sines(2, 3, 4), beta=0.5, alpha=2)
torch.baddbmm(sines(4), sines(2, 2, 3), sines(2, 3, 4))
torch.addr(sines(2, 3), sines(2), sines(3))
torch.addr(sines(2, 3), sines(2, 1), sines(3))
torch.addr(sines(2, 3), sines(2), sines(3, 1))
torch.addr(sines(3), sines(2), sines(3), beta=2, alpha=0.5)
torch.addr(iota(2, 3).to(torch.float16), iota(2).to(torch.float16), iota(3).to(torch.float16),
    beta=0.5)
torch.addr(iota(2, 3).to(torch.bfloat16), iota(2).to(torch.bfloat16), iota(3).to(torch.bfloat16),
    alpha=2)
torch.addr(iota(2, 3), iota(2).to(torch.float16), iota(3).to(torch.float16))
torch.addr(iota(2, 3).to(torch.float16), iota(2), iota(3).to(torch.float16))
torch.addr(iota(2, 3, dtype=torch.int64), iota(2, dtype=torch.int64), iota(3, dtype=torch.int64),
    beta=2, alpha=3)
torch.addr(iota(2, 3, dtype=torch.int64), iota(2, dtype=torch.int64), iota(3, dtype=torch.int64),
    beta=0.5)
torch.addr(iota(2, 3, dtype=torch.int64), iota(2, dtype=torch.int64), iota(3, dtype=torch.int64),
    alpha=0.5)
torch.addr(iota(2, 3, dtype=torch.bool), iota(2, dtype=torch.bool), iota(3, dtype=torch.bool))
torch.addr(iota(2, 3, dtype=torch.bool), iota(2, dtype=torch.bool), iota(3, dtype=torch.bool),
    beta=0)
torch.addr(iota(2, 3, dtype=torch.bool), iota(2, dtype=torch.bool), iota(3, dtype=torch.bool),
    alpha=0)
torch.addr(sines(2, 3), iota(2, dtype=torch.bool), iota(3, dtype=torch.bool))
torch.addr(sines(2, 3), sines(2), sines(3), beta=0)
torch.addr(sines(2, 3) * math.nan, sines(2), sines(3), beta=0)
torch.addr(sines(2, 3), sines(2), sines(3), alpha=1j)
[x := torch.ones(2, 3, dtype=torch.float64), torch.addr(sines(2, 3), sines(2), sines(3),
    out=x) is x, x]
[x := sines(2, 3), x.addr_(sines(2), sines(3), beta=2) is x, x]

def sines_addr():
    x = sines(3)
    return x.addr_(sines(2), sines(3))

[x := iota(2, 3), x.addr_(sines(2), sines(3))]
gradients(lambda a, b, c: torch.addr(a, b, c, beta=2, alpha=3), sines(2, 3), sines(2), sines(3))
torch.outer(sines(2), sines(3))
torch.outer(sines(2, 1), sines(3))
torch.outer(sines(2), sines(3, 1))
torch.outer(sines(), sines(3))
[x := torch.ones(2, 3, dtype=torch.float64), torch.outer(sines(2), sines(3), out=x) is x, x]
torch.kron(sines(2), sines(3))
torch.kron(sines(2, 2), sines(3))
torch.kron(sines(2), sines(2, 3))
torch.kron(sines(), sines(2))
torch.kron(sines(2, 1, 2), sines(1, 2))
torch.kron(sines(2), iota(3, dtype=torch.int64))
[x := torch.ones(6, dtype=torch.float64), torch.kron(sines(2), sines(3), out=x) is x, x]
[x := torch.ones(4, 6, dtype=torch.float64), torch.kron(sines(2, 2), sines(2, 3), out=x) is x, x]
[x := torch.ones(6, 4, dtype=torch.float64).t(), torch.kron(sines(2, 2), sines(2, 3), out=x) is x,
    x]
with differs(
    "The result is made before it is written; torch refuses operands that share memory with it."):
    [x := sines(6), torch.kron(x[:2], sines(3), out=x), x]
    [x := sines(6), torch.kron(sines(2), x[:3], out=x), x]
torch.cross(sines(2, 3), sines(2, 3, phase=1), dim=1)
torch.cross(sines(3, 2), sines(3, 2, phase=1))
torch.cross(sines(2, 2), sines(2, 2))
torch.cross(sines(2, 3), sines(2, 3), dim=0)
torch.cross(sines(2, 3), sines(2, 3), dim=2)
torch.cross(sines(), sines())
with differs("Dimensions that lack are added, as everywhere; torch wants as many of both."):
    torch.cross(sines(3), sines(2, 3, phase=1))
torch.cross(sines(3, 3), sines(3, 3, phase=1))
torch.linalg.cross(sines(3), sines(2, 3, phase=1))
[x := torch.ones(3, dtype=torch.float64), torch.cross(sines(3), sines(3, phase=1), out=x) is x, x]

def cross_phase():
    x = torch.ones(3, dtype=torch.float32)
    return torch.cross(sines(3), sines(3, phase=1), out=x)

def cross_phase_2():
    x = torch.ones(3, dtype=torch.float32)
    return [error_name(lambda: torch.cross(sines(3), sines(3, phase=1), out=x)), x]

gradients(lambda a, b: torch.cross(a, b, dim=0), sines(3, 2), sines(3, 2, phase=1))
torch.matmul(sines(), sines(2))
torch.matmul(sines(2), sines())
torch.matmul(sines(2), sines(2))
torch.matmul(sines(2), sines(2, 3))
torch.matmul(sines(2, 3), sines(3))
torch.matmul(sines(3), sines(2, 3, 2))
torch.matmul(sines(2, 2, 3), sines(3))
torch.matmul(sines(2, 2, 3), sines(2))
torch.matmul(sines(2, 2, 3), sines(3, 2))
torch.matmul(sines(2, 2, 3), sines(2, 3))
torch.matmul(sines(2, 3), sines(2, 3, 2))
torch.matmul(sines(2, 3), sines(2, 2, 2))
torch.matmul(sines(2, 1, 2, 3), sines(3, 3, 2))
torch.matmul(sines(2, 2, 3), sines(3, 3, 2))
torch.matmul(sines(1, 2, 3), sines(2, 3, 2))
torch.matmul(sines(2, 2, 3), sines(1, 3, 2))
torch.matmul(sines(0, 2, 3), sines(3, 2))
torch.matmul(sines(0, 2, 3), sines(3))
torch.matmul(sines(2, 0, 3), sines(2, 3, 2))
torch.matmul(sines(2, 2, 0), sines(2, 0, 2))
torch.matmul(sines(2, 2, 3), iota(3, 2))
[x := torch.ones((), dtype=torch.float64), torch.matmul(sines(2), sines(2), out=x) is x, x]
[x := torch.ones(3, dtype=torch.float64), torch.matmul(sines(2), sines(2, 3), out=x) is x, x]
[x := torch.ones(2, 2, dtype=torch.float64), torch.matmul(sines(3), sines(2, 3, 2), out=x) is x, x]
[x := torch.ones(2, dtype=torch.float64), torch.matmul(sines(2, 3), sines(3), out=x) is x, x]
[x := torch.ones(2, 2, dtype=torch.float64), torch.matmul(sines(2, 2, 3), sines(3), out=x) is x, x]
with differs("Torch takes a result that lies by columns for one of another size."):
    [x := torch.ones(2, 2, dtype=torch.float64).t(),
        torch.matmul(sines(2, 2, 3), sines(3), out=x) is x, x]
[x := torch.ones(2, 2, dtype=torch.float64), torch.matmul(sines(2, 3), sines(3, 2), out=x) is x, x]
[x := torch.ones(2, 2, 2, dtype=torch.float64),
    torch.matmul(sines(2, 2, 3), sines(3, 2), out=x) is x, x]
[x := torch.ones(2, 2, 2, dtype=torch.float64),
    torch.matmul(sines(2, 2, 3), sines(2, 3, 2), out=x) is x, x]
[x := torch.ones(2, 2, 2, dtype=torch.float64).transpose(0, 1),
    torch.matmul(sines(2, 2, 3), sines(2, 3, 2), out=x) is x, x]
[x := torch.ones(0, dtype=torch.float64), torch.matmul(sines(2, 2, 3), sines(2, 3, 2), out=x) is x,
    x]
[x := torch.ones(2, 1, 2, 2, dtype=torch.float64),
    torch.matmul(sines(2, 1, 2, 3), sines(1, 3, 2), out=x) is x, x]
gradients(lambda a, b: torch.matmul(a, b), sines(2), sines(2, 2, 3))
gradients(lambda a, b: torch.matmul(a, b), sines(2, 1, 2, 3), sines(3, 3, 2))
vmap(lambda a, b, c: torch.addmm(a, b, c, beta=2, alpha=3))(sines(2, 2), sines(2, 2, 3),
    sines(2, 3, 2))
vmap(lambda a, b, c: torch.addmm(a, b, c))(sines(2, 2, 2), sines(2, 2, 3), sines(2, 3, 2))
vmap(lambda a, b, c: torch.addmv(a, b, c, beta=2, alpha=3))(sines(2, 2), sines(2, 2, 3),
    sines(2, 3))
vmap(lambda a, b, c: torch.addmv(a, b, c))(sines(2), sines(2, 2, 3), sines(2, 3))
vmap(lambda a, b, c: torch.addbmm(a, b, c, beta=0.5))(sines(2, 2, 4), sines(2, 2, 2, 3),
    sines(2, 2, 3, 4))
vmap(lambda a, b, c: torch.baddbmm(a, b, c, beta=0.5))(sines(2, 4), sines(2, 2, 2, 3),
    sines(2, 2, 3, 4))
vmap(lambda a, b, c: torch.baddbmm(a, b, c, alpha=0.5))(sines(2, 2, 2, 4), sines(2, 2, 2, 3),
    sines(2, 2, 3, 4))
vmap(lambda a, b: torch.matmul(a, b))(sines(2, 3), sines(2, 3))
vmap(lambda a, b: torch.matmul(a, b), in_dims=(1, 0))(sines(2, 3, 2), sines(3, 2))
F.linear(sines(2, 3), sines(3))
F.linear(sines(2, 3), sines(4, 3, 1))
F.linear(sines(), sines(4, 3))
F.linear(sines(2, 2), sines(4, 3))
F.linear(sines(2, 3), iota(4, 3))
F.linear(sines(2, 3), sines(4, 3), iota(4))
F.linear(sines(2, 3), sines(4, 3), sines(3))
F.linear(sines(2, 3), sines(4, 3), sines(4, 1))

# A bias of several dimensions is added to the results, or to their rows.
F.linear(sines(2, 3), sines(4, 3), sines(2, 4))
F.linear(sines(2, 3), sines(4, 3), sines(2, 1))
F.linear(sines(2, 3), sines(4, 3), sines(1, 4))
F.linear(sines(2, 3), sines(4, 3), sines(1, 1))
F.linear(sines(3), sines(4, 3), sines(1, 4))
F.linear(sines(2, 2, 3), sines(4, 3), sines(2, 4))
F.linear(sines(2, 2, 3), sines(4, 3), sines(4, 1))
F.linear(sines(2, 2, 3), sines(4, 3), sines(2, 1, 4))
F.linear(sines(2, 2, 3), sines(4, 3), sines(1, 1))
F.linear(iota(2, 3).long(), iota(4, 3).long(), iota(2, 1).long())
F.linear(sines(2, 3).to(torch.bfloat16), sines(4, 3).to(torch.bfloat16),
    sines(2, 4).to(torch.bfloat16))
F.linear(sines(0, 3), sines(4, 3), sines(1, 4))
F.linear(sines(2, 0, 3), sines(4, 3), sines(2, 1, 4))
F.linear(sines(2, 3), sines(4, 3), sines(1, 1, 4))
F.linear(sines(2, 2, 3), sines(4, 3), sines(3, 4))
F.linear(sines(2, 2, 3), sines(4, 3), sines(8, 1))
F.linear(sines(3), sines(4, 3), sines(1, 1))
F.linear(sines(3), sines(4, 3), sines(2, 4))
F.linear(sines(2, 3), sines(3), sines(1, 1))
gradients(lambda b, x, a: F.linear(x, a, b), sines(2, 4), sines(2, 3), sines(4, 3))
gradients(lambda b, x, a: F.linear(x, a, b), sines(4, 1), sines(2, 2, 3), sines(4, 3))
gradients(lambda b, x, a: F.linear(x, a, b), sines(2, 1, 4), sines(2, 2, 3), sines(4, 3))
gradients(lambda b: F.linear(sines(3), sines(4, 3), b), sines(1, 4))
torch.func.jvp(F.linear, (sines(2, 3), sines(4, 3), sines(2, 1)),
    (sines(2, 3), sines(4, 3), sines(2, 1)))
torch.func.jvp(lambda b: F.linear(sines(2, 2, 3), sines(4, 3), b), (sines(4, 1),), (sines(4, 1),))
vmap(lambda x: F.linear(x, sines(4, 3), sines(2, 1)))(sines(5, 2, 3))
vmap(F.linear)(sines(5, 2, 3), sines(5, 4, 3), sines(5, 2, 4))
vmap(lambda b: F.linear(sines(2, 3), sines(4, 3), b))(sines(5, 2, 1))
vmap(lambda a: F.linear(sines(2, 3), a, sines(1, 4)))(sines(5, 4, 3))
vmap(F.linear)(sines(5, 3), sines(5, 4, 3), sines(5, 4))
with differs(
    "Torch takes one of two ways, by how the input lies and under which transform, and refuses here what the other would take."):
    F.linear(sines(2, 2, 3), sines(4, 3), sines(2, 1))
    F.linear(sines(2, 2, 3), sines(4, 3), sines(1, 1, 4))
    F.linear(sines(2, 2, 3), sines(4, 3), sines(2, 1, 1))
    vmap(F.linear)(sines(5, 2, 2, 3), sines(5, 4, 3), sines(5, 2, 1, 4))
    vmap(lambda x: F.linear(x, sines(4, 3), sines(2, 1, 4)))(sines(5, 2, 2, 3))
    torch.func.jvp(lambda b: F.linear(sines(3), sines(4, 3), b), (sines(1, 4),), (sines(1, 4),))
    vmap(F.linear)(sines(5, 2, 2, 3), sines(5, 4, 3), sines(5, 4, 1))
    vmap(lambda x: F.linear(x, sines(4, 3), sines(4, 1)))(sines(5, 2, 2, 3))
F.linear(sines(2, 3), sines(4, 3), sines(4))
F.linear(sines(3), sines(4, 3), sines(4))
F.linear(sines(2, 1, 3), sines(4, 3))
F.linear(sines(2, 0, 3), sines(4, 3))
F.linear(sines(2, 0), sines(4, 0), sines(4))
F.linear(sines(2, 3), sines(3), sines(1))
gradients(lambda x, a, b: F.linear(x, a, b), sines(2, 1, 3), sines(4, 3), sines(4))
gradients(lambda x, a, b: F.linear(x, a, b), sines(3), sines(4, 3), sines(4))
second_gradients(lambda x, a, b: F.linear(x, a, b) ** 2, sines(2, 3), sines(4, 3), sines(4))
tangents(lambda x, a, b: F.linear(x, a, b), sines(2, 1, 3), sines(4, 3), sines(4))
vmap(lambda x, a: F.linear(x, a))(sines(2, 3), sines(2, 4, 3))
vmap(lambda x, a, b: F.linear(x, a, b))(sines(2, 3), sines(2, 4, 3), sines(2, 4))
vmap(lambda x, a, b: F.linear(x, a, b))(sines(2, 2, 3), sines(2, 4, 3), sines(2, 4))
vmap(lambda x, a, b: F.linear(x, a, b))(sines(2, 2, 1, 3), sines(2, 4, 3), sines(2, 4))
vmap(lambda x, a: F.linear(x, a))(sines(0, 2, 3), sines(0, 4, 3))
vmap(lambda x, a: F.linear(x, a))(sines(2, 2, 0), sines(2, 4, 0))
vmap(lambda x, a: F.linear(x, a), in_dims=(0, None))(sines(2, 3), sines(4, 3))
vmap(lambda x, a: F.linear(x, a), in_dims=(None, 0))(sines(3), sines(2, 4, 3))
torch.linalg.eigh(sines(2, 2) + sines(2, 2).t())[0]
gradients(lambda x: torch.linalg.eigh(x)[0], sines(3, 3) + sines(3, 3).t())
gradients(lambda x: torch.linalg.eigh(x)[1].abs(), sines(3, 3) + sines(3, 3).t())
gradients(lambda x: [y.abs() for y in torch.linalg.eigh(x)], sines(2, 3, 3) + sines(2, 3, 3).mT)
gradients(lambda x: torch.linalg.eigvalsh(x), complex_sines(3, 3) + complex_sines(3, 3).mH)
gradients(lambda x: torch.linalg.eigh(x)[1].abs(), complex_sines(3, 3) + complex_sines(3, 3).mH)
gradients(lambda x: torch.linalg.eigh(x)[1][:, :1].abs(), torch.diag(torch.tensor([1.0, 2.0, 4.0])))
tangents(lambda x: torch.linalg.eigh(x)[0], sines(3, 3) + sines(3, 3).t())
tangents(lambda x: torch.linalg.eigh(x + x.t())[1].abs(), sines(3, 3))
vmap(lambda a, b, c: torch.addbmm(a, b, c))(sines(3, 2, 4), sines(3, 2, 2, 3), sines(3, 2, 3, 4))
vmap(lambda a, b, c: torch.baddbmm(a, b, c))(sines(3, 2, 2, 4), sines(3, 2, 2, 3),
    sines(3, 2, 3, 4))
torch.addr(sines(2, 3), sines(2), sines(3), beta=1j)
torch.addmm(sines(2, 2), sines(2, 3), sines(3, 2), beta=1j)

# Nothing before the sizes of a result is read as one of them.
[error_name(lambda: torch.addmm(sines(n), sines(3, 4), sines(4, 5))) for n in (2, 3, 4)]
[error_name(lambda: torch.baddbmm(sines(*s), sines(4, 3, 2), sines(4, 2, 5)))
    for s in ((2, 4), (3, 4), (3, 3), (2,), (3,), (4,))]
