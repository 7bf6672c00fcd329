"""Norms: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    checksums,
    checksums_with_gradients,
    differs,
    sines,
    small_integers,
)

# Rows with a weight for each element: one block of a run and more, one tile and more.
[checksums_with_gradients(lambda x, k, b: F.layer_norm(f(x), f(x).shape[-1:], k[::2], b[1::2]),
    sines(6, 4, 8), sines(2 * n), sines(2 * n))
    for n, f in [(6, lambda x: x.transpose(0, 2)), (4, lambda x: x.transpose(1, 2)),
    (4, lambda x: x[..., ::2]), (8, lambda x: x[::2])]]

# What is wanted alone, and numbers of other dtypes.
def only(f, x, k, b, *which):
    leaves = [z.requires_grad_(i in which) for i, z in enumerate((x, k, b))]
    y = f(*leaves)
    return checksums(*torch.autograd.grad(y, [leaves[i] for i in which],
        small_integers(*y.shape, dtype=y.dtype)))

[only(lambda x, k, b: f(x, k, b), sines(4, 6, 5), sines(n), sines(n), *which)
    for n, f in [(5, lambda x, k, b: F.layer_norm(x, (5,), k, b)),
    (6, lambda x, k, b: F.group_norm(x, 2, k, b)),
    (6, lambda x, k, b: F.batch_norm(x, None, None, k, b, True)),
    (6, lambda x, k, b: F.batch_norm(x, sines(6), sines(6) + 2, k, b)),
    (6, lambda x, k, b: F.instance_norm(x, None, None, k, b))]
    for which in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]]
with differs("Torch crashes where only the weight's gradient is wanted."):
    [(only(lambda x, k, b: f(x.contiguous(memory_format=torch.channels_last), k, b),
        sines(4, 6, 5, 3), sines(6), sines(6), *which) - only(f, sines(4, 6, 5, 3), sines(6),
        sines(6), *which)).mul(1e5).round() for f in [lambda x, k, b: F.group_norm(x, 2, k, b),
        lambda x, k, b: F.batch_norm(x, None, None, k, b, True), lambda x, k,
        b: F.batch_norm(x, sines(6), sines(6) + 2, k, b)]
        for which in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]]
[g.dtype == dt for dt in (torch.float16, torch.bfloat16)
    for f in [lambda x, k, b: F.layer_norm(x, (6,), k, b), lambda x, k, b: F.group_norm(x, 2, k, b),
    lambda x, k, b: F.batch_norm(x, None, None, k, b, True)]
    for leaves in [[small_integers(3, 6, dtype=dt).requires_grad_(),
    torch.ones(6, dtype=dt).requires_grad_(), torch.zeros(6, dtype=dt).requires_grad_()]]
    for g in torch.autograd.grad(f(*leaves).sum(), leaves)]
[g.float().mul(4).round() for dt in (torch.float16, torch.bfloat16)
    for f in [lambda x, k, b: F.layer_norm(x, (6,), k, b), lambda x, k, b: F.group_norm(x, 2, k, b),
    lambda x, k, b: F.batch_norm(x, None, None, k, b, True)]
    for leaves in [[small_integers(3, 6, dtype=dt).requires_grad_(),
    torch.ones(6, dtype=dt).requires_grad_(), torch.zeros(6, dtype=dt).requires_grad_()]]
    for y in [f(*leaves)] for g in torch.autograd.grad(y, leaves, small_integers(3, 6, dtype=dt))]
[(F.layer_norm(torch.zeros(n, s), (s,), torch.ones(s), torch.zeros(s)).shape,
    [g.abs().sum() for g in torch.autograd.grad(F.layer_norm(torch.zeros(n, s), (s,), k, b).sum(),
    [k, b])]) for n, s in [(0, 3), (3, 0), (0, 0)]
    for k, b in [(torch.ones(s, requires_grad=True), torch.zeros(s, requires_grad=True))] if s]
[[g for g in torch.autograd.grad(f(torch.zeros(0, 4, 3).double(), k, b).sum(), [k, b])]
    for f in [lambda x, k, b: F.group_norm(x, 2, k, b), lambda x, k,
    b: F.batch_norm(x, sines(4), sines(4) + 2, k, b)]
    for k, b in [(torch.ones(4, dtype=torch.float64, requires_grad=True),
    torch.zeros(4, dtype=torch.float64, requires_grad=True))]]

# Groups: with weights, without, single elements of a channel, and side by side.
[checksums_with_gradients(lambda x, k, b: F.group_norm(
    x.contiguous(memory_format=torch.channels_last), g, k, b, e), sines(n, c, *s, dtype=dt),
    sines(c, dtype=dt, phase=0.8), sines(c, dtype=dt))
    for dt, e in ((torch.float32, 0.25), (torch.float64, 0.5))
    for n, c, s, g in [(2, 6, (3, 2), 3), (1, 4, (5, 7), 1), (3, 4, (2, 3), 4), (2, 6, (1, 2), 2),
    (1, 2, (65, 3), 2), (2, 260, (9, 8), 2), (2, 512, (2, 1), 256), (3, 300, (3, 3), 3),
    (5, 8, (40, 41), 2)]]
[checksums_with_gradients(lambda x: f(x.contiguous(memory_format=torch.channels_last)),
    sines(3, 6, 2, 3)) for f in (lambda x: F.group_norm(x, 2),
    lambda x: F.group_norm(x, 3, torch.arange(6.0).double()),
    lambda x: F.group_norm(x, 2, None, torch.arange(6.0).double()))]
[F.group_norm(x.contiguous(memory_format=torch.channels_last), 2, eps=1.0).mul(8).round().stride()
    for x in (sines(2, 4, 3, 5), sines(2, 4, 3, 5, dtype=torch.float32),
    small_integers(2, 4, 3, 5, dtype=torch.bfloat16))]
[checksums(F.group_norm(x.contiguous(memory_format=torch.channels_last), 2, k, k,
    eps=1.0).float().mul(8).round()) for dt in (torch.float16, torch.bfloat16)
    for x in [small_integers(2, 4, 3, 5, dtype=dt)] for k in [small_integers(4, dtype=dt)]]
checksums_with_gradients(lambda x, k: F.group_norm(x.contiguous(memory_format=torch.channels_last),
    2, k).transpose(1, 3).contiguous(), sines(2, 4, 3, 5), sines(4))
checksums_with_gradients(lambda x, k: F.group_norm(x, 2,
    k).contiguous(memory_format=torch.channels_last), sines(2, 4, 3, 5), sines(4))
checksums_with_gradients(lambda x, k: F.group_norm(x.transpose(1, 2)[..., ::2], 3, k),
    sines(2, 4, 6, 5), sines(6))

# Channels: sums of tiles, one block and more; in training and not; apart, together, in any order.
[checksums_with_gradients(lambda x, k, b: F.batch_norm(
    x.contiguous(memory_format=torch.channels_last), None, None, k, b, True, 0.1, e),
    sines(n, c, *s, dtype=dt), sines(c, dtype=dt, phase=0.8), sines(c, dtype=dt))
    for dt, e in ((torch.float32, 0.25), (torch.float64, 0.5))
    for n, c, s in [(2, 3, (3, 2)), (1, 2, (65, 3)), (2, 260, (9, 8)), (3, 2, (40, 70)),
    (2, 17, (31, 33)), (1, 5, (2, 2)), (1, 5, (1, 3))]]
[checksums_with_gradients(lambda x: F.batch_norm(f(x), *g), sines(3, 4, 2, 5))
    for f in (lambda x: x, lambda x: x.contiguous(memory_format=torch.channels_last),
    lambda x: x[:, :, 0, 0]) for g in ((None, None, None, None, True), (sines(4), sines(4) + 2),
    (sines(4), sines(4) + 2, sines(4), None), (sines(4), sines(4) + 2, None, sines(4), True))]
[(F.batch_norm(f(x), m, v, None, None, True, 0.5).sum().round(), m, v)
    for x in (torch.tensor([[1e8, 1.0], [1e8 + 1, 3.0]], dtype=torch.float64),
    torch.tensor([[7.0, math.nan], [7.0, 1.0]]))
    for f in (lambda x: x, lambda x: x[..., None].expand(2, 2, 3).contiguous(),
    lambda x: x[..., None, None].expand(2, 2, 2, 3).contiguous(memory_format=torch.channels_last))
    for m, v in [(torch.zeros(2, dtype=x.dtype), torch.ones(2, dtype=x.dtype))]]
[torch.autograd.grad(F.batch_norm(x, torch.zeros(2), torch.ones(2), eps=0).sum(), x)[0]
    for x in (torch.tensor([[math.nan, 1.0], [math.inf, 2.0]], requires_grad=True),
    torch.tensor([[[[math.nan]], [[1.0]]], [[[math.inf]], [[2.0]]]]).expand(2, 2, 1,
    2).contiguous(memory_format=torch.channels_last).requires_grad_())]
[checksums_with_gradients(lambda x: F.instance_norm(x, use_input_stats=u, running_mean=m,
    running_var=v), sines(3, 4, 5)) for u, m, v in [(True, None, None),
    (False, sines(4), sines(4) + 2)]]

# Steps between neighbours, among them as many elements as there are channels.
[checksums_with_gradients(lambda x, k, b: f(x.contiguous(memory_format=torch.channels_last)[:,
    a:z:s], k, b), sines(n, 6, 2, 3), sines((z - a + s - 1) // s, phase=0.8),
    sines((z - a + s - 1) // s)) for f in (lambda x, k, b: F.batch_norm(x, None, None, k, b, True),
    lambda x, k, b: F.group_norm(x, 1, k, b), lambda x, k, b: F.instance_norm(x, None, None, k, b))
    for n in (1, 2) for a, z, s in ((0, 2, 1), (0, 6, 2), (1, 2, 1), (0, 6, 1), (0, 6, 3))]
