"""Embedding: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    checksums_with_gradients,
    differs,
    error_name,
    exact_checksums,
    second_gradients,
    sines,
    small_integers,
)

# Rows and their gradients; more than a tile, by two threads.
[exact_checksums(lambda k: F.embedding((torch.arange(12) * 7) % 6, k, padding_idx=2),
    small_integers(6, 3, dtype=dt)) for dt in (torch.float16, torch.bfloat16)]
with differs(
    "The gradient of a gradient divides by how often an index is there, too, which torch forgets."):
    [second_gradients(lambda k: F.embedding(torch.tensor([0, 1, 1, 3, 1, 2]), k, p,
        scale_grad_by_freq=s) ** 2, sines(4, 3, dtype=dt)) for dt in (torch.float32, torch.float64)
        for p in (None, 0, 1) for s in (False, True)]
    [torch.autograd.grad(g, v, sines(4, 3))[0] for p in (None, 1, 3) for s in (False, True)
        for v in [sines(6, 3, phase=0.8).requires_grad_()] for k in [sines(4, 3).requires_grad_()]
        for g in torch.autograd.grad(F.embedding(torch.tensor([0, 1, 1, 3, 1, 2]), k, p,
        scale_grad_by_freq=s), k, v, create_graph=True)]
    [torch.autograd.grad(g, v, small_integers(4, 3, dtype=dt))[0].float()
        for dt in (torch.float16, torch.bfloat16) for s in (False, True)
        for v in [small_integers(6, 3, dtype=dt).requires_grad_()]
        for k in [small_integers(4, 3, dtype=dt).requires_grad_()]
        for g in torch.autograd.grad(F.embedding(torch.tensor([0, 1, 1, 3, 1, 1]), k, 3,
        scale_grad_by_freq=s), k, v, create_graph=True)]
[checksums_with_gradients(lambda k: F.embedding(torch.tensor([[0, 2], [1, 1]]), f(k)), sines(8, 8))
    for f in (lambda k: k.t(), lambda k: k[::2], lambda k: k[:, ::2], lambda k: k[:, 3:4],
    lambda k: k[0].expand(5, 8), lambda k: k[:, :1].t().reshape(8, 1), lambda k: k.flip(0))]
[error_name(F.embedding, torch.tensor([0, i]), sines(r, 2))
    for r, i in [(3, 3), (3, -1), (3, 2), (1, 1)]]

# Bags.
[checksums_with_gradients(lambda k: F.embedding_bag(torch.tensor([[0, 3, 1], [1, 2, 3]]), k,
    mode=mode), sines(4, 3)) for mode in ("sum", "mean", "max")]
[F.embedding_bag(torch.tensor([0, 3, 1, 1]), small_integers(4, 2, dtype=dt),
    torch.tensor([0, 1, 3]), mode=mode).float() for dt in (torch.float16, torch.bfloat16)
    for mode in ("sum", "mean", "max")]
[F.embedding_bag(torch.tensor([0, 3, 1, 1]), small_integers(4, 2, dtype=dt),
    torch.tensor([0, 1, 3]), mode="sum", per_sample_weights=small_integers(4, dtype=dt)).float()
    for dt in (torch.float16, torch.bfloat16)]
F.embedding_bag(torch.tensor([1, 0]), torch.tensor([[-math.inf, 1.0], [-math.inf, -2.0]]),
    torch.tensor([0]), mode="max")
[error_name(F.embedding_bag, torch.tensor([0, i]), sines(3, 2), torch.tensor(o))
    for i, o in [(3, [0]), (-1, [0]), (2, [0]), (0, [1]), (0, [0, 3]), (0, [0, 2]), (0, [0, 1])]]
F.embedding_bag(torch.tensor([0, 1]), sines(3, 2), torch.tensor([1]))
F.embedding_bag(torch.tensor([0, 1]), sines(3, 2), torch.tensor([0, 3]))
with differs("Torch looks at the first and the last offset only."):
    F.embedding_bag(torch.tensor([0, 1]), sines(3, 2), torch.tensor([0, 2, 1]))
with differs("Torch leaves out what is behind the last offset."):
    F.embedding_bag(torch.tensor([0, 1, 1]), sines(3, 2), torch.tensor([0, 2]),
        include_last_offset=True)
with differs("This ends the process in torch."):
    F.embedding_bag(torch.tensor([0, 1, 1]), sines(3, 2), torch.tensor([], dtype=torch.int64))
