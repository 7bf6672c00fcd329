"""Einsum: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
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

# einsum: what it reads
torch.einsum(sines(2))
torch.einsum(sines(2, 3), [52, 0])
torch.einsum(sines(2, 3), [-1, 0])
torch.einsum("ij", 3)
torch.einsum("i->i", sines(2))
torch.einsum("i.j", sines(2, 3))
torch.einsum("...i...", sines(2, 3))
torch.einsum("ij->i.", sines(2, 3))
torch.einsum("ij->......", sines(2, 3))
torch.einsum("i1", sines(2, 3))
torch.einsum("ij->k", sines(2, 3))
torch.einsum("ij->ii", sines(2, 3))
torch.einsum("i", sines(2, 3))
torch.einsum("...ijk", sines(2, 3))

# diagonals
torch.einsum("ii", sines(2, 3))

# sizes of one
torch.einsum("ij,jk", sines(2, 3), sines(2, 3))
with differs("it is torch's type without opt_einsum"):
    torch.einsum("i,i,i->i", sines(3), sines(1), sines(2))
torch.einsum("i,i->", sines(0), sines(0))
torch.einsum("ij,jk->ik", sines(2, 0), sines(0, 3))
torch.einsum("ij,jk->ik", sines(0, 2), sines(2, 3))

# ellipses
torch.einsum("...,...", sines(2, 3), sines(4, 3))

# Of more than two operands opt_einsum, where it is installed, chooses the order, and so the strides.
torch.einsum("ij,j->i", sines(2, 3), iota(3, dtype=torch.float32))
torch.einsum("i,i->", complex_sines(3), complex_sines(3, phase=1.0))
gradients(lambda a: torch.einsum("ii->i", a), sines(3, 3))
second_gradients(lambda a, b: torch.einsum("ij,jk->ik", a, b), sines(2, 3), sines(3, 2))
vmap(lambda a, b: torch.einsum("ij,j->i", a, b))(sines(2, 2, 3), sines(2, 3))
tangents(lambda a, b: torch.einsum("ij,ij->j", a, b), sines(2, 3), sines(2, 3))

# tensordot
with differs("what isn't a tensor is a TypeError that says so"):
    torch.tensordot(3, sines(2))
torch.tensordot(sines(2, 3), sines(3, 2))
torch.tensordot(sines(2, 3), sines(2, 3), -1)
torch.tensordot(sines(2, 3), sines(2, 3), 3)
torch.tensordot(sines(2, 3), sines(3), 2)
torch.tensordot(sines(3), sines(3, 2), 2)
with differs("torch's own words say what dims may be"):
    torch.tensordot(sines(2, 3), sines(4, 3), (1, 1, 1))
torch.tensordot(sines(2, 3), sines(4, 3), "a")
torch.tensordot(sines(2, 3), sines(4, 3), ([0, 1], [1]))
torch.tensordot(sines(2, 3), iota(3, 2), 1)
torch.tensordot(sines(2, 0), sines(0, 2), 1)
torch.tensordot(sines(2, 3), sines(3, 2), 1, out=torch.zeros(2, 2))
gradients(lambda a, b: torch.tensordot(a, b, ([1, 2], [1, 0])), sines(2, 3, 2), sines(2, 3))
torch.tensordot(iota(2, 3, dtype=torch.int64), iota(3, 2, dtype=torch.int64), 1)

# rarer ways
torch.einsum("i,j", [sines(2)])
torch.einsum("i", [sines(2), sines(3)])

# powers of matrices, and where they go
[torch.matrix_power(iota(2, 2, dtype=torch.int64), n, out=torch.zeros(0, dtype=d)) for n in (0, 1)
    for d in (torch.int64, torch.float32)]
[error_name(lambda n=n: torch.matrix_power(complex_sines(2, 2), n,
    out=torch.zeros(2, 2, dtype=torch.float64))) for n in (0, 1, 2)]
torch.matrix_power(torch.ones(2, 2), 1, out=torch.zeros(2, 2, dtype=torch.int64))
