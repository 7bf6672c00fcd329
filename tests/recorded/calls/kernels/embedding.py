"""Embedding: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    checksums,
    checksums_with_gradients,
    differs,
    error_name,
    exact_checksums,
    iota,
    second_gradients,
    sines,
    small_integers,
)

# Rows and their gradients; more than a tile, by two threads.
[checksums_with_gradients(lambda k: F.embedding((torch.arange(n) * 7) % r, k),
    sines(r, c, dtype=dt)) for dt in (torch.float32, torch.float64)
    for n, r, c in [(1, 1, 1), (5, 3, 2), (20, 7, 3), (9, 11, 1)]]
with differs("Torch has none of complex tables."):
    [exact_checksums(lambda k: F.embedding(torch.tensor([0, 3, 1, 1]), k, p, scale_grad_by_freq=s),
        (small_integers(4, 3) * 2j + small_integers(4, 3, phase=0.8)).to(dt))
        for dt in (torch.complex64, torch.complex128) for p in (None, 1) for s in (False, True)]
[checksums_with_gradients(lambda k: F.embedding((torch.arange(n) * 7) % r, k), sines(r, c))
    for n, r, c in [(900, 40, 30), (30, 900, 40), (20000, 3, 1), (3, 2, 20000), (0, 4, 3),
    (5, 4, 0)]]
[checksums_with_gradients(lambda k: F.embedding((torch.arange(20) * 7) % 6, k, padding_idx=p,
    scale_grad_by_freq=s), sines(6, 3, dtype=dt)) for dt in (torch.float32, torch.float64)
    for p in (None, 0, 5, -1) for s in (False, True)]
[exact_checksums(lambda k: F.embedding((torch.arange(12) * 7) % 6, k, padding_idx=2),
    small_integers(6, 3, dtype=dt)) for dt in (torch.float16, torch.bfloat16)]
[g.float() for dt in (torch.float16, torch.bfloat16) for s in (False, True)
    for k in [small_integers(4, 3, dtype=dt).requires_grad_()]
    for g in torch.autograd.grad(F.embedding(torch.tensor([0, 1, 1, 3, 1, 1]), k,
    scale_grad_by_freq=s), k, small_integers(6, 3, dtype=dt) * 4)]
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
[F.embedding(i, sines(4, 3)) for i in (torch.tensor([1, 3], dtype=torch.int32), torch.tensor(2),
    torch.tensor([[0], [3]]), torch.tensor([0, 1, 2, 3])[::2], torch.zeros(0, dtype=torch.int64))]
[F.embedding(torch.tensor([1, 0]), iota(3, 2, dtype=d))
    for d in (torch.bool, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16)]
[error_name(F.embedding, torch.tensor([0, i]), sines(r, 2))
    for r, i in [(3, 3), (3, -1), (3, 2), (1, 1)]]
F.embedding(torch.tensor([0, 2, 5, -1]), sines(4, 2))

# Bags.
[checksums_with_gradients(lambda k: F.embedding_bag(torch.tensor([0, 3, 1, 1, 2, 3, 0]), k,
    torch.tensor(o), mode=mode, padding_idx=p), sines(4, c, dtype=dt))
    for dt in (torch.float32, torch.float64) for mode in ("sum", "mean", "max") for c in (1, 5)
    for o, p in [([0], None), ([0, 2, 5], None), ([0, 0, 3, 7, 7], None), ([0, 2, 5], 1),
    ([0, 1, 2, 4], 0), ([0, 2, 5], -1), ([0, 7], 3)]]
[checksums_with_gradients(lambda k, s: F.embedding_bag(torch.tensor([0, 3, 1, 1, 2, 3, 0]), k,
    torch.tensor(o), mode="sum", per_sample_weights=s, padding_idx=p), sines(4, 5, dtype=dt),
    sines(7, dtype=dt)) for dt in (torch.float32, torch.float64)
    for o, p in [([0], None), ([0, 2, 5], None), ([0, 0, 3, 7], None), ([0, 2, 5], 1)]]
[checksums_with_gradients(lambda k: F.embedding_bag(torch.tensor([[0, 3, 1], [1, 2, 3]]), k,
    mode=mode), sines(4, 3)) for mode in ("sum", "mean", "max")]
[F.embedding_bag(torch.tensor([0, 3, 1, 1]), sines(4, 2), torch.tensor([0, 1, 4]), mode=mode,
    include_last_offset=True) for mode in ("sum", "mean", "max")]
with differs(
    "Torch counts only what it needs later: what is behind the first result does not say more there."):
    [torch.embedding_bag(sines(4, 2), torch.tensor([0, 3, 1, 1]), torch.tensor([0, 1, 3]), False,
        mode)[1:] for mode in (0, 1, 2)]
    [torch.embedding_bag(sines(4, 2), torch.tensor([0, 3, 1, 1]), torch.tensor([0, 1, 3]), False,
        mode, False, None, False, 1)[1:3] for mode in (0, 1)]
[F.embedding_bag(torch.tensor([0, 3, 1, 1]), small_integers(4, 2, dtype=dt),
    torch.tensor([0, 1, 3]), mode=mode).float() for dt in (torch.float16, torch.bfloat16)
    for mode in ("sum", "mean", "max")]
[F.embedding_bag(torch.tensor([0, 3, 1, 1]), small_integers(4, 2, dtype=dt),
    torch.tensor([0, 1, 3]), mode="sum", per_sample_weights=small_integers(4, dtype=dt)).float()
    for dt in (torch.float16, torch.bfloat16)]
[F.embedding_bag(torch.tensor([0, 3, 1, 1]), f(sines(8, 8)), torch.tensor([0, 1]), mode="sum",
    per_sample_weights=sines(8)[::2]) for f in (lambda k: k.t(), lambda k: k[::2, ::2])]
[checksums(F.embedding_bag((torch.arange(n) * 7) % r, sines(r, c), torch.arange(0, n, b),
    mode=mode)) for mode in ("sum", "mean", "max")
    for n, r, c, b in [(3000, 40, 17, 3), (300, 9, 200, 50), (5000, 3, 1, 1)]]
[F.embedding_bag(torch.tensor([], dtype=torch.int64), sines(4, 2),
    torch.tensor(o, dtype=torch.int64), mode=mode) for o in ([], [0], [0, 0])
    for mode in ("sum", "mean", "max")]
[F.embedding_bag(torch.tensor([1, 0]), torch.tensor([[math.nan, 1.0], [2.0, math.nan]]),
    torch.tensor([0]), mode=mode) for mode in ("sum", "mean", "max")]
F.embedding_bag(torch.tensor([1, 0]), torch.tensor([[-math.inf, 1.0], [-math.inf, -2.0]]),
    torch.tensor([0]), mode="max")
[error_name(F.embedding_bag, torch.tensor([0, i]), sines(3, 2), torch.tensor(o))
    for i, o in [(3, [0]), (-1, [0]), (2, [0]), (0, [1]), (0, [0, 3]), (0, [0, 2]), (0, [0, 1])]]
F.embedding_bag(torch.tensor([0, 3]), sines(3, 2), torch.tensor([0]))
F.embedding_bag(torch.tensor([0, 1]), sines(3, 2), torch.tensor([1]))
F.embedding_bag(torch.tensor([0, 1]), sines(3, 2), torch.tensor([0, 3]))
with differs("Torch looks at the first and the last offset only."):
    F.embedding_bag(torch.tensor([0, 1]), sines(3, 2), torch.tensor([0, 2, 1]))
with differs("Torch leaves out what is behind the last offset."):
    F.embedding_bag(torch.tensor([0, 1, 1]), sines(3, 2), torch.tensor([0, 2]),
        include_last_offset=True)
F.embedding_bag(torch.tensor([0, 1, 1]), sines(3, 2), torch.tensor([0, 3]),
    include_last_offset=True)
with differs("This ends the process in torch."):
    F.embedding_bag(torch.tensor([0, 1, 1]), sines(3, 2), torch.tensor([], dtype=torch.int64))
