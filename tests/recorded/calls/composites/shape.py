"""Shape: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, gradients, iota, sines

sines(0, 3).reshape(0, -1)
torch.ravel(sines(2, 3).t())
torch.flatten(sines(2, 3, 4), 1)
torch.movedim(sines(2, 3, 4), (0, -1), (-1, 1))
torch.movedim(sines(2, 3, 4), (0, 1), (2,))
torch.moveaxis(sines(2, 3), 0, 1)
torch.unflatten(sines(6), 0, (2, 3))
torch.unflatten(sines(2, 6), 1, (-1, 3))
torch.unflatten(sines(2, 6), -1, (2, -1, 1))
torch.unflatten(sines(6), 0, (2, 2))
torch.unflatten(sines(6), 0, ())
torch.unflatten(sines(0, 2), 0, (2, -1))
torch.unflatten(sines(0, 2), 0, (2, 0))
sines(2, 3).repeat(2)
torch.repeat_interleave(sines(2, 2), 2)
torch.repeat_interleave(sines(2, 2), 0, 0)
torch.repeat_interleave(sines(), 2)
torch.repeat_interleave(sines(2, 2), torch.tensor([1, 2, 3]), 1)
torch.repeat_interleave(sines(2, 2), torch.tensor([[1, 2]]), 1)
torch.repeat_interleave(sines(2, 2), torch.tensor([1.0, 2.0]), 1)
torch.repeat_interleave(torch.tensor([1, 0, 2]))
torch.repeat_interleave(torch.tensor([1, 0, 2]).to(torch.int32))
torch.repeat_interleave(torch.tensor([1, 0, 2]), output_size=3)
torch.repeat_interleave(torch.tensor([1, 0, 2]), output_size=4)
torch.repeat_interleave(torch.tensor(2))
vmap(lambda x: torch.repeat_interleave(x, torch.tensor([1, 2])))(sines(2, 2))
with differs("Torch answers where the sizes of all examples happen to be the same."):
    vmap(lambda x, k: torch.repeat_interleave(x, k))(sines(2, 2), torch.tensor([[1, 2], [2, 1]]))
gradients(lambda x: torch.repeat_interleave(x, 2, 1), sines(2, 2))
torch.roll(sines(), 1, 0)
torch.fliplr(sines(2, 3))
torch.flipud(sines(3))
torch.flipud(sines())
torch.rot90(sines(2, 3), 2)
torch.rot90(sines(2, 3), 4)
torch.diag_embed(sines(2, 2), 1, 2, 0)
torch.diag_embed(sines(2, 2), 0, 0, 0)
torch.diag(sines(2, 3), -1)
[x := torch.ones(3, 3, dtype=torch.float64), torch.diag(sines(2), -1, out=x) is x, x]
[x := torch.ones(0, dtype=torch.float64), torch.diag(sines(2), 1, out=x) is x, x]
[x := torch.ones(2, dtype=torch.float64), torch.diag(sines(2, 3), out=x) is x, x]
[x := torch.ones(0, dtype=torch.float64), torch.diag(sines(3, 3), 1, out=x) is x, x]
[x := torch.ones(2), y := x._version, torch.diag(iota(2, 3), out=x), x._version > y]
[x := torch.ones(2, 2), y := x._version, torch.diag(iota(2), out=x), x._version > y]
with differs("Torch grows the memory that x shows."):
    torch.diag(sines(3)[:2], out=(x := sines(3))[:0])

def diag_out():
    x = torch.ones(2, dtype=torch.float32)
    return torch.diag(sines(2, 3), out=x) is x

torch.tril(sines(3, 3)).as_strided((2, 2), (1, 3))
gradients(lambda x: x.repeat(2, 1, 2), sines(2, 3))
gradients(lambda x: torch.roll(x, 1), sines(2, 3))
gradients(lambda x: torch.diag_embed(x, -1, 0, 2), sines(2, 2))
gradients(lambda x: torch.rot90(x), sines(2, 3))
with differs("Torch can't tell what -1 stands for where there are no examples."):
    vmap(lambda x: x.reshape(-1))(sines(0, 3, 2))
    vmap(lambda x: x.view(3, -1))(sines(0, 3, 2))
vmap(lambda x: x.reshape(0, -1))(sines(0, 0, 2))
vmap(lambda x: x.flatten(), in_dims=1)(sines(2, 3, 2))
vmap(lambda x: torch.ravel(x), in_dims=1)(sines(2, 3, 2))
vmap(lambda x: torch.rot90(x), in_dims=1)(sines(2, 3, 2))
vmap(lambda x: torch.diag(x))(sines(2, 3))
vmap(lambda x: torch.roll(x, 1))(sines(2, 3))
vmap(lambda x: x.repeat(2, 2))(sines(2, 3))
