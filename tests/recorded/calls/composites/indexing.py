"""Indexing: calls of the composites (`ext/composites`)."""

import math

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

# Slices.
torch.index_select(sines(3, 4), 0, torch.tensor([[0]]))
torch.index_select(sines(3, 4), 0, torch.tensor([0.0]))
torch.index_select(sines(3, 4), 0, torch.tensor([0], dtype=torch.uint8))
sines(3, 4).index_add(0, torch.tensor([[0]]), sines(1, 4))
sines(3, 4).index_add(0, torch.tensor([0.0]), sines(1, 4))
sines(3, 4).index_add(0, torch.tensor([0]), sines(1, 4).float())
sines(3, 4).index_reduce(0, torch.tensor([0]), sines(1, 4), "other")
sines(3, 4).index_reduce(0, torch.tensor([0.0]), sines(1, 4), "amax")
sines(3, 4).index_reduce(0, torch.tensor([0]), sines(1, 4).float(), "amax")
sines(3, 4).index_reduce(1, torch.tensor([1, 1]), sines(3, 2), "prod", include_self=False)
sines(3, 4).index_copy(0, torch.tensor([[0]]), sines(1, 4))
sines(3, 4).index_copy(0, torch.tensor([0]).to(torch.int32), sines(1, 4))
sines(3, 4).index_copy(0, torch.tensor([0]), sines(1, 4).float())
sines().index_copy(0, torch.tensor([0]), sines())
sines().index_copy(0, torch.tensor(0), sines(1))
sines().index_copy(0, torch.tensor([0, 0]), sines())
sines(3, 4).index_fill(0, torch.tensor([0]).to(torch.int32), 1.0)
sines().index_fill(0, torch.tensor(0), 1.0)
gradients(lambda x, v: x.index_fill(0, torch.tensor([1]), v), sines(2, 2), sines())
gradients(lambda x, y: x.index_copy(1, torch.tensor([0, 2]), y), sines(2, 3), sines(2, 2))
gradients(lambda x, y: x.index_add(1, torch.tensor([0, 0]), y, alpha=3), sines(2, 3), sines(2, 2))

# Elements.
torch.gather(sines(3, 4), 1, torch.tensor([0]))
torch.gather(sines(3, 4), 1, torch.tensor([[0.0]]))
torch.gather(sines(3, 4), 1, torch.zeros(4, 1, dtype=torch.int64))
torch.gather(sines(3, 4), 0, torch.zeros(4, 5, dtype=torch.int64))
with differs("There are no sparse tensors here."):
    torch.gather(sines(3, 4), 1, torch.tensor([[0]]), sparse_grad=True)
sines(3, 4).scatter(0, torch.tensor([[0.0]]), sines(2, 2))
sines(3, 4).scatter(0, torch.tensor([[0]]), sines(2, 2).float())
sines(3, 4).scatter(0, torch.zeros(3, 5, dtype=torch.int64), sines(3, 5))
sines(3, 4).scatter(0, torch.tensor([[0, 1]]), sines(1, 2), reduce="add")
sines(3, 4).scatter(0, torch.tensor([[0, 1]]), 2.0, reduce="other")
iota(3, 4, dtype=torch.int64).scatter(0, torch.tensor([[0, 1]]), 2, reduce="add")
iota(3, 4).scatter(0, torch.tensor([[0, 1]]), 1j, reduce="add")
sines(3, 4).scatter_reduce(0, torch.tensor([[0, 0], [0, 0]]), sines(2, 2), "other")
sines(3, 4).scatter_reduce(0, torch.tensor([[0, 0], [0, 0]]), sines(2, 2), "sum",
    include_self=False)
sines(3, 4).scatter_reduce(0, torch.tensor([[0, 0], [0, 0]]), sines(2, 2), "mean",
    include_self=False)
iota(3, 4, dtype=torch.int64).scatter_reduce(0, torch.tensor([[0, 0], [0, 0]]),
    iota(2, 2, dtype=torch.int64) + 7, "mean")
complex_sines(3, 4).scatter_reduce(0, torch.tensor([[0]]), complex_sines(1, 1), "amin")
complex_sines(3, 4).scatter_reduce(0, torch.tensor([[0]]), complex_sines(1, 1), "amax")
complex_sines(3, 4).scatter_reduce(0, torch.tensor([[0]]), complex_sines(1, 1), "prod")
sines(3, 4).scatter_reduce(0, torch.tensor([[0]]), sines(1, 1).float(), "sum")
gradients(lambda x, y: x.scatter_reduce(0, torch.tensor([[0, 0], [0, 1]]), y, "sum",
    include_self=False), sines(3, 2), sines(2, 2))
with differs("Torch takes src for as large as index, and fails."):
    gradients(lambda x, y: x.scatter_reduce(0, torch.tensor([[0, 0], [0, 1]]), y, "mean",
        include_self=False), sines(3, 2), sines(2, 3))
gradients(lambda x, y: x.scatter_reduce(0, torch.tensor([[0, 0], [0, 1]]), y, "mean"),
    complex_sines(3, 2), complex_sines(2, 2))
gradients(lambda x, y: x.scatter_reduce(0, torch.tensor([[0, 0], [0, 1]]), y, "prod",
    include_self=False), sines(3, 2), sines(2, 2))
gradients(lambda x, y: x.index_reduce(1, torch.tensor([0, 0]), y, "mean", include_self=False),
    sines(3, 2), sines(3, 2))
gradients(lambda x, y: x.index_reduce(0, torch.tensor([0, 0]), y, "prod"), sines(3),
    torch.tensor([0.0, 0.0], dtype=torch.float64))
second_gradients(lambda x, y: x.scatter_reduce(0, torch.tensor([0, 0]), y, "prod"), sines(3),
    sines(2))
second_gradients(lambda x, y: x.scatter_reduce(0, torch.tensor([0, 0]), y, "prod"), sines(3),
    torch.tensor([0.0, 0.0], dtype=torch.float64))
second_gradients(lambda x, y: x.index_reduce(0, torch.tensor([0, 0]), y, "prod"), sines(3),
    torch.tensor([0.0, 0.0], dtype=torch.float64))
with differs("Torch takes the tangent of the product for zero."):
    tangents(lambda x, y: x.scatter_reduce(0, torch.tensor([0, 0]), y, "prod"), complex_sines(3),
        complex_sines(2))
tangents(lambda x, y: x.index_add(0, torch.tensor([0, 0]), y), sines(3, 2), sines(2, 2))

# Masks and positions.
sines(3).masked_fill(torch.tensor([True, False, True]), torch.tensor(1j))
gradients(lambda x, v: x.masked_fill(torch.tensor([True, False, True]), v), sines(3),
    sines(dtype=torch.float32))
torch.masked_select(sines(3), torch.tensor([[True, False, True], [False, False, True]]))
torch.masked_select(sines(), torch.tensor(True))
sines(2, 3).masked_scatter(torch.tensor([True, False, True]), sines(4))
sines(2, 3).masked_scatter(torch.tensor([True, False, True]), sines(3))
sines(2, 3).masked_scatter(torch.tensor([True, False, True]), sines(2, 5))
sines(2, 3).masked_scatter(torch.tensor([1, 0, 1]), sines(4))
sines(2, 3).masked_scatter(torch.tensor([True, False, True]), sines(4).float())
sines(2, 3).masked_scatter(torch.tensor([False, False, False]), sines(0))
gradients(lambda x, y: x.masked_scatter(torch.tensor([True, False, True]), y), sines(2, 3),
    sines(5))
vmap(lambda x, y: x.masked_scatter(torch.tensor([True, False, True]), y))(sines(2, 3), sines(2, 3))
vmap(lambda x, k: x.masked_scatter(k, sines(3)))(sines(2, 3), torch.ones(2, 3, dtype=torch.bool))
vmap(vmap(lambda x, y: x.masked_scatter(torch.tensor([[True], [False]]), y)))(sines(2, 2, 2, 1),
    sines(2, 2, 1))
vmap(lambda x, y: x.masked_scatter(torch.tensor([True, False, True]), y))(sines(2, 3), sines(2, 1))
vmap(lambda x, y: x.masked_scatter_(x > 0, y))(sines(2, 3), sines(2, 3, phase=1.3))
gradients(lambda x, y: vmap(lambda a, b: a.masked_scatter(a > 0, b))(x, y), sines(2, 3),
    sines(2, 3, phase=1.3))
torch.take(sines(2, 3), torch.tensor([[0, 4]]))
torch.take(sines(2, 3), torch.tensor([6]))
torch.take(sines(2, 3), torch.tensor([0]).to(torch.int32))
[x := torch.ones(2, dtype=torch.float64), torch.take(sines(2, 3), torch.tensor([0, 5]), out=x) is x,
    x]
gradients(lambda x: torch.take(x, torch.tensor([0, 0, 4])), sines(2, 3))
sines(3).index_put((torch.tensor([True, False, True]),), torch.tensor(5.0), accumulate=True)

def index_put_tensor():
    x = sines(3)
    return x.index_put_((torch.tensor([0.0]),), sines(1))

[x := sines(3), x.index_put_((torch.tensor([True, False, True]),), torch.tensor(1)), x]
with differs("Leading ones of values are dropped, as in x[i] = v; torch drops them there alone."):
    sines(2, 3).index_put((torch.tensor([0]), torch.tensor([1, 2])), sines(1, 1, 2))
    sines(2, 3).index_put((torch.tensor([0, 1]),), sines(1, 1, 3))
    sines(2, 3).index_put((torch.tensor([0, 1]),), sines(1, 2, 1))
with differs("None stands for `:`; torch's method takes tensors only."):
    sines(2, 3, 2).index_put((torch.tensor([0, 1]), None, torch.tensor([1, 0])), sines(3, 2))
sines(2, 3)[torch.tensor([True, True]), torch.tensor([0, 1, 2])]
sines(2, 3)[torch.tensor([0.0])]
sines(2, 3, 4, 2)[torch.tensor([0, 1]), :, torch.tensor([2, 0])]
sines(2, 3, 4, 2)[:, torch.tensor([[0, 1]]), :, torch.tensor([1, 0])]
[x := sines(2, 3), x.__setitem__(torch.tensor([True, False]), sines(1, 1, 3)), x]

def tensor_torch():
    x = sines(2, 3)
    return x.__setitem__(torch.tensor([True, False]), sines(2, 3))

torch.nonzero(torch.tensor(3.0), as_tuple=True)
torch.nonzero(torch.tensor(0.0), as_tuple=True)
with differs("Places lie as rows here, and by dimensions in torch."):
    torch.nonzero(torch.tensor([[0, 1], [2, 0]]), as_tuple=True)
gradients(lambda x: x[torch.tensor([0, 0]), torch.tensor([1, 2])], sines(2, 3))
gradients(lambda x, y: x.index_put((torch.tensor([0, 1]),), y), sines(2, 3), sines(3))

# Windows that are replaced.
gradients(lambda x, y: torch.diagonal_scatter(x, y, 1), sines(3, 3), sines(2))
gradients(lambda x, y: torch.select_scatter(x, y, 1, 0), sines(2, 3), sines(2))
gradients(lambda x, y: torch.slice_scatter(x, y, 1, 0, 3, 2), sines(2, 3).float(), sines(2, 2))
tangents(lambda x, y: torch.select_scatter(x, y, 1, 0), sines(2, 3), sines(2))

# Triangles and order.
torch.tril(sines(3))
torch.triu(sines(2, 3), 1)
with differs("What is sorted lies as rows here, and as the operand does in torch."):
    torch.sort(torch.tensor([[3, 1], [2, 5]]).t(), 0)
torch.median(torch.zeros(0))
with differs("Torch gives the smallest integer."):
    torch.median(torch.zeros(0, dtype=torch.int64))
torch.median(sines(2, 0), 1)
torch.median(sines(0, 2), 0)
torch.nanmedian(sines(2, 3), 1, True)
torch.kthvalue(sines(2, 4), 2, 0, True)
torch.kthvalue(sines(2, 4), 3, 1)
torch.kthvalue(sines(2, 0), 1, 1)
torch.kthvalue(complex_sines(4), 1)
torch.kthvalue(iota(4, dtype=torch.bool), 1)
torch.isin(torch.tensor([True]), torch.tensor([1]))
torch.isin(torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 3]))
torch.searchsorted(sines(3).sort()[0], sines(2), side="other")
torch.searchsorted(sines(3).sort()[0], sines(2), right=True, side="left")
torch.searchsorted(sines(3), sines(2), sorter=torch.tensor([0, 1, 2]).to(torch.int32))
torch.searchsorted(sines(3), sines(2), sorter=torch.tensor([0, 1]))
torch.searchsorted(sines(3), sines(2), sorter=sines(3).argsort())
torch.bucketize(sines(2, 2), sines(3).sort()[0], out_int32=True)
torch.bucketize(sines(2, 2), sines(3).sort()[0], right=True)
torch.bucketize(sines(), sines(3).sort()[0])
torch.zeros(2, 3, device="meta")[torch.zeros(2, dtype=torch.bool, device="meta"),
    torch.zeros(3, dtype=torch.int64, device="meta")]
with differs("A tensor has at most 64 dimensions here."):
    sines(2, 2)[torch.zeros((1,) * 64, dtype=torch.int64)]
sines(2, 3)[torch.tensor([0, 1]), torch.tensor([True, True, True])]
sines(2, 3)[torch.tensor([0, 1]), torch.tensor([1, 1, 1], dtype=torch.uint8)]
with differs("None stands for `:`; torch's method takes tensors only."):
    sines(2, 3).index_put((None,), sines(4))
    sines(2, 3).index_put((None,), sines(3))
    sines(2, 3).index_put((None,), sines(3), accumulate=True)
torch.kthvalue(complex_sines(4, dtype=torch.complex64), 1)

def take_out():
    x = torch.ones(2, dtype=torch.float32)
    return torch.take(sines(2, 3), torch.tensor([0, 5]), out=x)

with differs("Leading ones of values are dropped, as in x[i] = v; torch drops them there alone."):
    sines(2, 3).index_put((torch.tensor([0, 1]),), sines(1, 1, 1, 2, 3))

# extremes that are NaN
gradients(lambda x, s: x.scatter_reduce(0, torch.tensor([0, 0, 1]), s, "amax"), torch.ones(3),
    torch.tensor([math.nan, 1.0, 2.0]))

# Lists of truth values that don't fit.
def arange_torch():
    x = torch.arange(2.0)
    return x[..., [[True, False], [False, True]]]

# Truth values among indices.
[error_name(lambda x=x, i=i: x.index_put(i, torch.tensor(5.0)))
    for x in (torch.ones(3, 2), torch.ones(3), torch.tensor(3.0))
    for i in ((torch.tensor(True), torch.tensor([True, False, True])),
    (torch.tensor(True), torch.tensor([0, 1])), (torch.tensor([0, 1]), torch.tensor(True)),
    (torch.tensor(True),), (torch.tensor(False),), (torch.tensor(1), torch.tensor(True)))]
[error_name(lambda x=x: x.index_put_((torch.tensor(True), torch.tensor([0])), torch.tensor(5.0)))
    for x in (torch.ones(3, 2), torch.ones(3))]
