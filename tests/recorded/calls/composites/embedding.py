"""Embedding: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    differs,
    gradients,
    iota,
    operator,
    second_gradients,
    sines,
    tangents,
)

F.embedding(torch.tensor([0.0]), sines(3, 2))
F.embedding(torch.tensor([0], dtype=torch.uint8), sines(3, 2))
with differs("There are no sparse tensors here."):
    F.embedding(torch.tensor([0]), sines(3, 2), sparse=True)
with differs("A tensor has at most 64 dimensions here."):
    F.embedding(torch.zeros((1,) * 64, dtype=torch.int64), sines(3, 2))
second_gradients(lambda x: F.embedding(torch.tensor([[0, 2], [1, 1]]), x) ** 3, sines(3, 2))
tangents(lambda x: F.embedding(torch.tensor([[0, 2], [1, 1]]), x), sines(3, 2))
vmap(lambda i, x: F.embedding(i, x, padding_idx=0), in_dims=(0, 1))(torch.tensor([[0, 2], [1, 1]]),
    sines(3, 2, 2))
vmap(torch.func.grad(lambda x, i: (F.embedding(i, x) ** 2).sum()))(sines(2, 3, 2),
    torch.tensor([[0, 2], [1, 1]]))
vmap(torch.func.grad(lambda x, i: (F.embedding(i, x, padding_idx=0) ** 2).sum()))(sines(2, 3, 2),
    torch.tensor([[0, 2], [1, 1]]))
vmap(torch.func.grad(lambda x, i: (F.embedding(i, x, padding_idx=1) ** 2).sum()),
    in_dims=(None, 0))(sines(3, 2), torch.tensor([[0, 2], [1, 1]]))
with differs("This package alone has it."):
    operator("embedding_dense_backward")(sines(2, 2), torch.tensor([0.0, 1.0]), 3, -1, False)
    operator("embedding_dense_backward")(sines(2), torch.tensor([0, 1]), 3, -1, False)
    operator("embedding_dense_backward")(iota(2, 2, dtype=torch.int64), torch.tensor([0, 1]), 3, -1,
        False)
    operator("embedding_dense_backward")(sines(2, 2), torch.tensor([0, 1]), -1, -1, False)
    operator("embedding_dense_backward")(sines(0, 2), torch.zeros(0, dtype=torch.int64), 0, -1,
        False)
F.embedding_bag(torch.tensor([0, 2, 1, 1]), sines(3, 2), torch.tensor([0, 1, 1]), mode="max")
F.embedding_bag(torch.tensor([0, 2, 1, 1]), sines(3, 2), torch.zeros(0, dtype=torch.int64),
    include_last_offset=True)
F.embedding_bag(torch.tensor([0, 2, 1, 1]), sines(3, 2), torch.tensor([0, 2]),
    per_sample_weights=sines(4), mode="mean")
F.embedding_bag(torch.tensor([0, 2, 1, 1]), sines(3, 2), torch.tensor([0, 2]),
    per_sample_weights=sines(4).float(), mode="sum")
F.embedding_bag(torch.tensor([0, 2, 1, 1]), sines(3, 2), torch.tensor([0, 2]),
    per_sample_weights=sines(3), mode="sum")
F.embedding_bag(torch.tensor([0, 2, 1, 1]), sines(3, 2), torch.tensor([0, 2]), padding_idx=2,
    mode="max")
with differs("There are no sparse tensors here."):
    F.embedding_bag(torch.tensor([0, 2, 1, 1]), sines(3, 2), torch.tensor([0, 2]), sparse=True)
torch.embedding_bag(sines(3), torch.tensor([0, 2]), torch.tensor([0]))
with differs(
    "NotImplementedError, a RuntimeError as well: no kernel has the dtype, and the words say the way out."):
    torch.embedding_bag(iota(3, 2, dtype=torch.int64), torch.tensor([0, 2]), torch.tensor([0]))
torch.embedding_bag(sines(3, 2), torch.tensor([0, 2]), torch.tensor([0.0]))
torch.embedding_bag(sines(3, 2), torch.tensor([0, 2]), torch.tensor([0]), False, 1, False, sines(2))
gradients(lambda x, s: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
    per_sample_weights=s, mode="sum"), sines(3, 2), sines(4))
gradients(lambda x, s: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
    per_sample_weights=s, mode="sum", padding_idx=1), sines(3, 2), sines(4))
gradients(lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
    mode="mean", padding_idx=0), sines(3, 2))
gradients(lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
    mode="max"), sines(3, 2))
with differs("Torch has no tangents of it."):
    tangents(lambda x, s: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
        per_sample_weights=s, mode="sum"), sines(3, 2), sines(4))
    tangents(lambda x, s: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
        per_sample_weights=s, mode="sum", padding_idx=1), sines(3, 2), sines(4))
    tangents(lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
        mode="mean", padding_idx=0), sines(3, 2))
    tangents(lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x, torch.tensor([0, 1, 1]),
        mode="max"), sines(3, 2))
with differs("Torch has no second derivative of it."):
    second_gradients(lambda x, s: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x,
        torch.tensor([0, 1, 1]), per_sample_weights=s, mode="sum", padding_idx=1) ** 2, sines(3, 2),
        sines(4))
    second_gradients(lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x,
        torch.tensor([0, 1, 1]), mode="mean", padding_idx=0) ** 2, sines(3, 2))
    second_gradients(lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x,
        torch.tensor([0, 1, 1]), mode="mean") ** 2, sines(3, 2))
    second_gradients(lambda x: F.embedding_bag(torch.tensor([0, 2, 1, 1]), x,
        torch.tensor([0, 1, 1]), mode="max") ** 2, sines(3, 2))
F.embedding_bag(torch.tensor([0, 2, 1]), sines(3, 2).to(torch.float16), torch.tensor([0, 2]))
gradients(lambda x: F.embedding(torch.tensor([0, 1, 1]), x), sines(3, 2).to(torch.float16))
gradients(lambda x: vmap(lambda x: F.embedding(torch.tensor([0, 1, 1]), x))(x), sines(2, 4, 3))
