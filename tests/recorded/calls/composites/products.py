"""Products: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    gradients,
    iota,
    sines,
    tangents,
)

torch.mm(sines(2, 3), sines(3, 2).float())
torch.mm(iota(2, 3, dtype=torch.bool), iota(3, 2, dtype=torch.bool))
torch.bmm(sines(2, 1, 3), sines(2, 3, 2).float())
torch.bmm(iota(1, 1, 1, dtype=torch.bool), iota(1, 1, 1, dtype=torch.bool))
torch.dot(sines(2), iota(2))
torch.mv(sines(2, 3), iota(3))
torch.mv(sines(2, 3), sines(3))
torch.addmm(sines(2, 2), sines(2, 3), iota(3, 2))
torch.addmm(iota(2, 2), sines(2, 3), sines(3, 2))
torch.addmv(iota(2), sines(2, 3), sines(3))
torch.addbmm(iota(2, 2), sines(1, 2, 3), sines(1, 3, 2))
torch.baddbmm(sines(2, 2), sines(2, 3), sines(1, 3, 2))
torch.baddbmm(iota(2, 2), sines(1, 2, 3), sines(1, 3, 2))
torch.addr(iota(2, 3, dtype=torch.int64), iota(2, dtype=torch.int64), iota(3, dtype=torch.int64),
    beta=0.5)
torch.addr(iota(2, 3, dtype=torch.int64), iota(2, dtype=torch.int64), iota(3, dtype=torch.int64),
    alpha=0.5)
torch.addr(iota(2, 3, dtype=torch.bool), iota(2, dtype=torch.bool), iota(3, dtype=torch.bool))
torch.addr(iota(2, 3, dtype=torch.bool), iota(2, dtype=torch.bool), iota(3, dtype=torch.bool),
    beta=0)
torch.addr(iota(2, 3, dtype=torch.bool), iota(2, dtype=torch.bool), iota(3, dtype=torch.bool),
    alpha=0)

def addr():
    x = sines(3)
    return x.addr_(sines(2), sines(3))

[x := iota(2, 3), x.addr_(sines(2), sines(3))]
gradients(lambda a, b, c: torch.addr(a, b, c, beta=2, alpha=3), sines(2, 3), sines(2), sines(3))
[x := torch.ones(6, 4, dtype=torch.float64).t(), torch.kron(sines(2, 2), sines(2, 3), out=x) is x,
    x]
torch.cross(sines(2, 2), sines(2, 2))
torch.cross(sines(2, 3), sines(2, 3), dim=0)
torch.cross(sines(), sines())

def cross_phase():
    x = torch.ones(3, dtype=torch.float32)
    return torch.cross(sines(3), sines(3, phase=1), out=x)

gradients(lambda a, b: torch.cross(a, b, dim=0), sines(3, 2), sines(3, 2, phase=1))
torch.matmul(sines(), sines(2))
torch.matmul(sines(2, 2, 3), sines(3))
torch.matmul(sines(2, 2, 3), sines(3, 3, 2))
torch.matmul(sines(0, 2, 3), sines(3))
torch.matmul(sines(2, 2, 0), sines(2, 0, 2))
torch.matmul(sines(2, 2, 3), iota(3, 2))
[x := torch.ones(2, 2, 2, dtype=torch.float64).transpose(0, 1),
    torch.matmul(sines(2, 2, 3), sines(2, 3, 2), out=x) is x, x]
gradients(lambda a, b: torch.matmul(a, b), sines(2), sines(2, 2, 3))
vmap(lambda a, b, c: torch.addmm(a, b, c, beta=2, alpha=3))(sines(2, 2), sines(2, 2, 3),
    sines(2, 3, 2))
vmap(lambda a, b, c: torch.addmv(a, b, c, beta=2, alpha=3))(sines(2, 2), sines(2, 2, 3),
    sines(2, 3))
vmap(lambda a, b, c: torch.addmv(a, b, c))(sines(2), sines(2, 2, 3), sines(2, 3))
vmap(lambda a, b, c: torch.addbmm(a, b, c, beta=0.5))(sines(2, 2, 4), sines(2, 2, 2, 3),
    sines(2, 2, 3, 4))
vmap(lambda a, b: torch.matmul(a, b), in_dims=(1, 0))(sines(2, 3, 2), sines(3, 2))
F.linear(sines(), sines(4, 3))
F.linear(sines(2, 3), iota(4, 3))
F.linear(sines(2, 3), sines(4, 3), iota(4))
F.linear(sines(2, 3), sines(4, 3), sines(3))
F.linear(sines(2, 3), sines(4, 3), sines(4, 1))

# A bias of several dimensions is added to the results, or to their rows.
F.linear(iota(2, 3).long(), iota(4, 3).long(), iota(2, 1).long())
F.linear(sines(2, 3).to(torch.bfloat16), sines(4, 3).to(torch.bfloat16),
    sines(2, 4).to(torch.bfloat16))
F.linear(sines(0, 3), sines(4, 3), sines(1, 4))
F.linear(sines(2, 0, 3), sines(4, 3), sines(2, 1, 4))
F.linear(sines(2, 2, 3), sines(4, 3), sines(3, 4))
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
    vmap(F.linear)(sines(5, 2, 2, 3), sines(5, 4, 3), sines(5, 2, 1, 4))
    vmap(lambda x: F.linear(x, sines(4, 3), sines(2, 1, 4)))(sines(5, 2, 2, 3))
    torch.func.jvp(lambda b: F.linear(sines(3), sines(4, 3), b), (sines(1, 4),), (sines(1, 4),))
    vmap(F.linear)(sines(5, 2, 2, 3), sines(5, 4, 3), sines(5, 4, 1))
    vmap(lambda x: F.linear(x, sines(4, 3), sines(4, 1)))(sines(5, 2, 2, 3))
F.linear(sines(2, 3), sines(3), sines(1))
tangents(lambda x, a, b: F.linear(x, a, b), sines(2, 1, 3), sines(4, 3), sines(4))
vmap(lambda x, a, b: F.linear(x, a, b))(sines(2, 3), sines(2, 4, 3), sines(2, 4))
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
