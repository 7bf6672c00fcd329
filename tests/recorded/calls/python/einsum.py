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
torch.einsum()
torch.einsum("ij")
torch.einsum(sines(2))
torch.einsum(sines(2), [0])
torch.einsum(sines(2, 3), [0, 1], [1])
torch.einsum(sines(2, 3), [0, 1], sines(3, 2), [1, 2])
torch.einsum(sines(2, 3), [0, 1], sines(3, 2), [1, 0])
torch.einsum(sines(2, 3), [0, 1], sines(3, 2), [1, 2], [2, 0]).contiguous()
torch.einsum(sines(2, 3), [Ellipsis, 51], sines(3), [51])
torch.einsum(sines(2, 3), [Ellipsis, 51], sines(3), [51], [Ellipsis])
torch.einsum(sines(2, 3), [26, 0])
torch.einsum(sines(2, 3), [52, 0])
torch.einsum(sines(2, 3), [-1, 0])
torch.einsum(sines(2, 3), (0, 1), sines(3), (1,), (0,))
torch.einsum("ij,j", sines(2, 3), sines(3))
torch.einsum("ij,j", [sines(2, 3), sines(3)])
torch.einsum("ij,j", (sines(2, 3), sines(3)))
torch.einsum("ij", [sines(2, 3)])
torch.einsum("ij,jk", sines(2, 3))
torch.einsum("ij", sines(2, 3), sines(3))
torch.einsum("ij", 3)
torch.einsum("i j -> j i", sines(2, 3))
torch.einsum("ij->", sines(2, 3))
torch.einsum(",->", sines(), sines())
torch.einsum(",", sines(), sines(2))
torch.einsum("->", sines())
torch.einsum("i->i", sines(2))
torch.einsum("i.j", sines(2, 3))
torch.einsum("...i...", sines(2, 3))
torch.einsum("ij->i.", sines(2, 3))
torch.einsum("ij->......", sines(2, 3))
torch.einsum("i1", sines(2, 3))
torch.einsum("ij->1", sines(2, 3))
torch.einsum("ij->k", sines(2, 3))
torch.einsum("ij->ii", sines(2, 3))
torch.einsum("i", sines(2, 3))
torch.einsum("ijk", sines(2, 3))
torch.einsum("...ijk", sines(2, 3))
torch.einsum("...ij", sines(2, 3))
torch.einsum("bA,aB", sines(2, 3), sines(2, 2)).contiguous()
torch.einsum("zB", sines(2, 3))

# diagonals
torch.einsum("ii", sines(3, 3))
torch.einsum("ii->i", sines(3, 3))
torch.einsum("iii->i", sines(3, 3, 3))
torch.einsum("iij->ij", sines(2, 2, 3))
torch.einsum("iji->ij", sines(2, 3, 2))
torch.einsum("jii->ij", sines(3, 2, 2))
torch.einsum("ii", sines(2, 3))
torch.einsum("ii", sines(3, 2))
torch.einsum("ii,ij", sines(2, 2), sines(2, 3))
torch.einsum("iijj->ij", sines(2, 2, 3, 3))

# sizes of one
torch.einsum("ij,ij->ij", sines(2, 3), sines(1, 3))
torch.einsum("ij,ij->ij", sines(1, 3), sines(2, 3))
torch.einsum("ij,jk", sines(2, 1), sines(3, 2))
torch.einsum("ij,jk", sines(2, 3), sines(1, 2))
torch.einsum("ij,jk", sines(2, 1), sines(1, 2))
torch.einsum("ij,jk", sines(2, 3), sines(2, 3))
torch.einsum("ij,ji->", sines(2, 3), sines(3, 2))
torch.einsum("i,i,i->i", sines(1), sines(3), sines(1))
with differs("it is torch's type without opt_einsum"):
    torch.einsum("i,i,i->i", sines(3), sines(1), sines(2))
torch.einsum("i,i->", sines(0), sines(0))
torch.einsum("ij,jk->ik", sines(2, 0), sines(0, 3))
torch.einsum("ij,jk->ik", sines(0, 2), sines(2, 3))

# ellipses
torch.einsum("...i,...i->...", sines(2, 3), sines(2, 3))
torch.einsum("...i,...i->...", sines(2, 3), sines(3))
torch.einsum("...i,i...->...", sines(2, 3), sines(3, 4, 2))
torch.einsum("...ij,...jk->...ik", sines(2, 1, 2, 3), sines(2, 3, 2))
torch.einsum("...ij,...jk", sines(2, 2, 3), sines(2, 3, 2))
torch.einsum("i...->...", sines(2, 3))
torch.einsum("i...->...i", sines(2, 3, 2))
torch.einsum("i...", sines(2, 3))
torch.einsum("...->", sines(2, 3))
torch.einsum("...a->a", sines(2, 3))
torch.einsum("...,...", sines(2, 3), sines(4, 3))
torch.einsum("a...,b...->ab...", sines(2, 3), sines(2, 1)).contiguous()
torch.einsum("...ii->...i", sines(2, 3, 3))

# several operands, batches, outer products
torch.einsum("i,j->ij", sines(2), sines(3))
torch.einsum("i,j->ji", sines(2), sines(3)).contiguous()
torch.einsum("i,j->", sines(2), sines(3))
torch.einsum("bi,bj->bij", sines(2, 2), sines(2, 3))
torch.einsum("bi,bj->jbi", sines(2, 2), sines(2, 3)).contiguous()
torch.einsum("bij,bjk->bik", sines(2, 2, 3), sines(2, 3, 2))
torch.einsum("bij,bjk->kbi", sines(2, 2, 3), sines(2, 3, 2)).contiguous()
torch.einsum("bij,bj->bi", sines(2, 2, 3), sines(2, 3))
torch.einsum("bcij,bcjk->bcik", sines(2, 2, 2, 3), sines(2, 2, 3, 2))
torch.einsum("bcij,cbjk->bcik", sines(2, 3, 2, 3), sines(3, 2, 3, 2))
torch.einsum("ijkl,klm->ijm", sines(2, 3, 2, 2), sines(2, 2, 3))
torch.einsum("ijkl,lkm->jim", sines(2, 3, 2, 2), sines(2, 2, 3)).contiguous()
torch.einsum("ijkl,jlm->imk", sines(2, 3, 2, 2), sines(3, 2, 3))
torch.einsum("ij,jk,kl->il", sines(2, 3), sines(3, 2), sines(2, 4)).contiguous()

# Of more than two operands opt_einsum, where it is installed, chooses the order, and so the strides.
torch.einsum("ij,jk,kl,lm->im", sines(2, 3), sines(3, 2), sines(2, 4), sines(4, 2)).contiguous()
torch.einsum("i,j,k->kji", sines(2), sines(3), sines(2)).contiguous()
torch.einsum("ij,ik,jk->i", sines(2, 3), sines(2, 4), sines(3, 4))
torch.einsum("ab,cd,ef,ac,be->df", sines(2, 3), sines(2, 2), sines(2, 3), sines(2, 2),
    sines(3, 2)).contiguous()
torch.einsum("i,i,i,i,i->", sines(2), sines(2), sines(2), sines(2), sines(2))
torch.einsum("ij,kj->ik", iota(2, 3, dtype=torch.int64), iota(2, 3, dtype=torch.int64))
torch.einsum("ij,j->i", sines(2, 3), iota(3, dtype=torch.float32))
torch.einsum("i,i->", complex_sines(3), complex_sines(3, phase=1.0))
gradients(lambda a, b: torch.einsum("bij,bjk->bik", a, b), sines(2, 2, 3), sines(2, 3, 2))
gradients(lambda a: torch.einsum("ii->i", a), sines(3, 3))
gradients(lambda a, b: torch.einsum("i,j->ij", a, b), sines(2), sines(3))
second_gradients(lambda a, b: torch.einsum("ij,jk->ik", a, b), sines(2, 3), sines(3, 2))
vmap(lambda a, b: torch.einsum("ij,j->i", a, b))(sines(2, 2, 3), sines(2, 3))
tangents(lambda a, b: torch.einsum("ij,ij->j", a, b), sines(2, 3), sines(2, 3))

# tensordot
with differs("what isn't a tensor is a TypeError that says so"):
    torch.tensordot(3, sines(2))
    torch.tensordot(sines(2), 3)
torch.tensordot(sines(2, 3), sines(3, 2), 1)
torch.tensordot(sines(2, 3), sines(2, 3))
torch.tensordot(sines(2, 3), sines(3, 2))
torch.tensordot(sines(2, 3), sines(2, 3), 0)
torch.tensordot(sines(2, 3), sines(2, 3), -1)
torch.tensordot(sines(2, 3), sines(2, 3), 3)
torch.tensordot(sines(2, 3), sines(3), 2)
torch.tensordot(sines(3), sines(3, 2), 2)
torch.tensordot(sines(2, 3, 4), sines(4, 3), ([1, 2], [1, 0]))
torch.tensordot(sines(2, 3, 4), sines(4, 3), ([2, 1], [0, 1]))
torch.tensordot(sines(2, 3, 4), sines(4, 3), ((-1,), (-2,)))
torch.tensordot(sines(2, 3), sines(4, 3), ([1], [1]))
with differs("one dimension of each needs no list"):
    torch.tensordot(sines(2, 3), sines(4, 3), (1, 1))
    torch.tensordot(sines(2, 3), sines(4, 3), [1, 1])
    torch.tensordot(sines(2, 3), sines(3, 4), (1,))
torch.tensordot(sines(2, 3), sines(3, 4), [[1], [0]])
with differs("One dimension of each needs no list."):
    torch.tensordot(sines(2, 3), sines(4, 3), torch.tensor([1, 1]))
torch.tensordot(sines(2, 3), sines(4, 3), torch.tensor([[1], [1]]))
torch.tensordot(sines(2, 3), sines(3, 4), torch.tensor(1))
with differs("torch's own words say what dims may be"):
    torch.tensordot(sines(2, 3), sines(4, 3), (1, 1, 1))
torch.tensordot(sines(2, 3), sines(4, 3), "a")
torch.tensordot(sines(2, 3), sines(4, 3), ([0, 1], [1]))
torch.tensordot(sines(2, 3), sines(4, 3), ([2], [1]))
torch.tensordot(sines(2, 3), sines(4, 3), ([-3], [1]))
torch.tensordot(sines(2, 3), sines(4, 3), ([1], [-3]))
torch.tensordot(sines(2, 3), sines(4, 3), ([0], [0]))
torch.tensordot(sines(2, 1), sines(3, 4), 1)
torch.tensordot(sines(2, 3), sines(1, 4), 1)
torch.tensordot(sines(2, 1), sines(1, 4), 1)
torch.tensordot(sines(2, 3), iota(3, 2), 1)
torch.tensordot(sines(), sines(), 0)
torch.tensordot(sines(0, 3), sines(3, 2), 1)
torch.tensordot(sines(2, 0), sines(0, 2), 1)
torch.tensordot(sines(2, 3), sines(3, 2), 1, out=torch.zeros(2, 2, dtype=torch.float64))
torch.tensordot(sines(2, 3), sines(3, 2), 1, out=torch.empty(0, dtype=torch.float64))
torch.tensordot(sines(2, 3), sines(3, 2), 1, out=torch.zeros(2, 2))

def empty_tensordot():
    o = torch.empty(0, dtype=torch.float64)
    r = torch.tensordot(sines(2, 3), sines(3, 2), 1, out=o)
    return r is o, o

gradients(lambda a, b: torch.tensordot(a, b, ([1, 2], [1, 0])), sines(2, 3, 2), sines(2, 3))
torch.tensordot(iota(2, 3, dtype=torch.int64), iota(3, 2, dtype=torch.int64), 1)

# rarer ways
with differs("the words say what subscripts may be"):
    torch.einsum(sines(2), "a")
    torch.einsum(sines(2), 3)
torch.einsum(3, [0])
torch.einsum("i,j", [sines(2)])
torch.einsum("i", [sines(2), sines(3)])
torch.einsum("ij,ij->ij", sines(1, 1), sines(2, 3))
torch.einsum("ij,ij,ij->ij", sines(1, 3), sines(2, 1), sines(1, 1)).contiguous()
torch.einsum("ij,ij,ij->ij", sines(1, 1), sines(2, 3), sines(2, 3))
torch.einsum("ij,jk,kl,lm,mn->in", sines(2, 5), sines(5, 2), sines(2, 7), sines(7, 2),
    sines(2, 3)).contiguous()
torch.einsum("ab,bc,cd,de,ef,fa->", sines(2, 3), sines(3, 2), sines(2, 4), sines(4, 2), sines(2, 3),
    sines(3, 2))
torch.einsum("ai,bi,ci,di,i->abcd", sines(2, 3), sines(2, 3), sines(2, 3), sines(1, 3),
    sines(3)).contiguous()

# powers of matrices, and where they go
def matrix_power_float16():
    a = sines(2, 2, dtype=torch.float32)
    return [torch.linalg.matrix_power(a, n, out=torch.zeros(2, 2, dtype=d)) for n in (0, 1)
        for d in (torch.float64, torch.float16, torch.float32,
        torch.complex64)], [error_name(lambda n=n,
        d=d: torch.matrix_power(a, n, out=torch.zeros(2, 2, dtype=d))) for n in (0, 1, 2, 3, -1)
        for d in (torch.int64, torch.bool, torch.float64, torch.float16)]

[torch.matrix_power(iota(2, 2, dtype=torch.int64), n, out=torch.zeros(0, dtype=d)) for n in (0, 1)
    for d in (torch.int64, torch.float32)]
[error_name(lambda n=n: torch.matrix_power(complex_sines(2, 2), n,
    out=torch.zeros(2, 2, dtype=torch.float64))) for n in (0, 1, 2)]
torch.matrix_power(torch.ones(2, 2), 1, out=torch.zeros(2, 2, dtype=torch.int64))
