"""Indexing in vmap: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, metadata, sines

# in vmaps
vmap(lambda x, i: x[i])(sines(2, 3), torch.tensor([0, 2]))
vmap(lambda x, i: x[:, i])(sines(2, 2, 3), torch.tensor([0, 2]))
vmap(lambda x, i: x[i, 1])(sines(2, 3, 3), torch.tensor([0, 2]))
vmap(lambda x, i: x[i, 1])(sines(2, 3, 4), torch.tensor([0, 2]))
vmap(lambda x, c: x[c])(sines(2, 3), torch.tensor([True, False]))
vmap(lambda x: metadata(x[torch.tensor([0, 1])])[0] * x)(sines(2, 3))
vmap(lambda x, i: x[1, i])(sines(2, 3, 3), torch.tensor([0, 2]))
vmap(lambda x, i: x[i], in_dims=(1, 1))(sines(3, 2), torch.tensor([[0, 2, 2], [1, 0, 0]]))
vmap(lambda x: x[torch.tensor([0, 1]), :, torch.tensor([0, 2])])(sines(2, 2, 4, 3))
vmap(lambda x: x[torch.tensor([[0, 1]]), :, torch.tensor([0, 2])])(sines(2, 2, 4, 3))
vmap(lambda x, i: x[:, i, :])(sines(2, 2, 3, 4), torch.tensor([[0, 1], [2, 2]]))
vmap(lambda x, i: x[:, i, :])(sines(2, 2, 3, 4), torch.tensor([[[0, 1], [1, 0]], [[2, 2], [1, 2]]]))
vmap(lambda x, i: x[:, i, :, i])(sines(2, 2, 3, 4, 3), torch.tensor([[0, 1], [2, 2]]))
vmap(lambda x: x[torch.tensor([True, False, True])])(sines(2, 3))
vmap(lambda x: x[:, torch.tensor([True, False, True])])(sines(2, 2, 3))
vmap(lambda x: x[torch.tensor([[True, False, True], [False, True, False]])])(sines(2, 2, 3))
vmap(lambda x: x[torch.tensor([[True, False, True], [False, True, False]]),
    torch.tensor([1, 0, 1])])(sines(2, 2, 3, 2))
vmap(lambda x: x[x > 0])(sines(2, 3))

def vmap_in_dims():
    def f(x, v):
        x = x.clone()
        x[torch.tensor([0, 2])] = v
        return x
    return [vmap(f)(sines(2, 3), sines(2, 2)), vmap(f, in_dims=(0, None))(sines(2, 3), sines(2)),
        vmap(f)(sines(2, 3), sines(2)), vmap(f, in_dims=(1, 1))(sines(3, 2), sines(2, 2))]

def vmap_in_dims_2():
    def f(x, i, v):
        x = x.clone()
        x[i] = v
        return x
    return [vmap(f)(sines(2, 3), torch.tensor([[0, 1], [2, 0]]), sines(2, 2)),
        vmap(f, in_dims=(0, 0, None))(sines(2, 3), torch.tensor([[0, 1], [2, 0]]), sines(2)),
        vmap(f, in_dims=(0, None, 0))(sines(2, 3), torch.tensor([0, 1]), sines(2, 2)),
        vmap(f)(sines(2, 3), torch.tensor([1, 2]), sines(2)),
        vmap(f, in_dims=(0, 0, None))(sines(2, 3), torch.tensor([[0, 1], [2, 0]]), sines())]

@differs("Torch's rule confuses the dimensions of values.")
def vmap_in_dims_3():
    def f(x, i, v):
        x = x.clone()
        x[:, i] = v
        return x
    return [vmap(f)(sines(2, 4, 3), torch.tensor([[0, 1], [2, 0]]), sines(2, 4, 2)),
        vmap(f, in_dims=(0, 0, None))(sines(2, 4, 3), torch.tensor([[0, 1], [2, 0]]), sines(4, 2)),
        vmap(f, in_dims=(0, 0, None))(sines(2, 4, 3), torch.tensor([[0, 1], [2, 0]]), sines(2)),
        vmap(f, in_dims=(0, None, 0))(sines(2, 4, 3), torch.tensor([0, 1]), sines(2, 4, 2))]

@differs("Torch's rule confuses the dimensions of values.")
def vmap_in_dims_4():
    def f(x, i, v):
        x = x.clone()
        x[:, :, i] = v
        return x
    return [vmap(f)(sines(2, 4, 2, 3), torch.tensor([[0, 1], [2, 0]]), sines(2, 4, 2, 2)),
        vmap(f, in_dims=(0, 0, None))(sines(2, 4, 2, 3), torch.tensor([[0, 1], [2, 0]]), sines(2))]

def index_put_in_dims():
    def f(i, v):
        return sines(3, 4).index_put((i,), v)
    return [vmap(f)(torch.tensor([[0, 1], [2, 0]]), sines(2, 2, 4)),
        vmap(f, in_dims=(None, 0))(torch.tensor([0, 1]), sines(2, 2, 4)),
        vmap(f, in_dims=(0, None))(torch.tensor([[0, 1], [2, 0]]), sines(4))]

vmap(lambda x: sines(3).index_put((torch.tensor([0]),), x))(sines(2))
vmap(lambda x: torch.zeros(3, dtype=torch.float64).index_put((x,),
    torch.tensor(5.0, dtype=torch.float64)))(torch.tensor([[True, False, True],
    [False, True, True]]))
vmap(lambda x, i: x.index_select(0, i))(sines(2, 3), torch.tensor([[0, 2], [1, 1]]))
with differs("Torch's rule takes the batch of indices for a list of them."):
    vmap(lambda x, i: x.index_select(-1, i))(sines(2, 4, 3), torch.tensor([0, 2]))
vmap(lambda x, i: x.index_select(0, i), in_dims=(0, None))(sines(2, 3), torch.tensor([0, 2]))
vmap(lambda x, i: x.index_select(0, i))(sines(2), torch.tensor([[0], [0]]))
vmap(lambda x, i: x.index_select(0, i))(sines(2), torch.tensor([0, 0]))
with differs("As without vmap."):
    vmap(lambda x, i: x.index_select(0, i))(sines(2, 3), torch.tensor([[[0, 2]], [[1, 1]]]))
vmap(lambda x, i: x.index_select(0, i.to(torch.float32)))(sines(2, 3),
    torch.tensor([[0, 2], [1, 1]]))
vmap(lambda x, i, s: x.index_add(0, i, s))(sines(2, 3), torch.tensor([[0, 0], [1, 2]]), sines(2, 2))
vmap(lambda x, i, s: x.index_add(1, i, s))(sines(2, 4, 3), torch.tensor([[0, 0], [1, 2]]),
    sines(2, 4, 2))

# One element is as good as none.
vmap(lambda x, i, s: x.index_add(0, i, s))(sines(2), torch.tensor([0, 0]), sines(2))
vmap(lambda x, i, s: x.index_add(0, i, s, alpha=2))(sines(2, 3), torch.tensor([[0, 0], [1, 2]]),
    sines(2, 2))
