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
[checksums_with_gradients(lambda x, k, b: F.layer_norm(x, x.shape[1:], k, b, e),
    sines(r, n, dtype=dt), sines(n, dtype=dt, phase=0.8), sines(n, dtype=dt))
    for dt, e, r, n in [(torch.float32, 0.5, 3, 2), (torch.float32, 0.25, 2, 17),
    (torch.float32, 0.5, 5, 64)] + [(torch.float64, 0.5, *s)
    for s in [(1, 1), (3, 2), (2, 17), (5, 64), (1, 1023), (2, 1024), (3, 1025), (2, 2049),
    (1, 20000), (40, 900), (17, 4100)]]]
[checksums_with_gradients(lambda x, k: f(x, k), sines(5, 33, dtype=dt), sines(33, dtype=dt))
    for dt in (torch.float32, torch.float64) for f in (lambda x, k: F.layer_norm(x, (33,), k),
    lambda x, k: F.layer_norm(x, (33,), None, k), lambda x, k: F.layer_norm(x, (33,)) * k, lambda x,
    k: F.rms_norm(x, (33,), k), lambda x, k: F.rms_norm(x, (33,), k, 0.5), lambda x,
    k: F.rms_norm(x, (33,), None, 0.25) * k)]
[checksums_with_gradients(lambda x, k: F.rms_norm(x, (n,), k, e), sines(r, n, dtype=dt),
    sines(n, dtype=dt)) for dt, e, r, n in [(torch.float32, 0.5, 3, 2),
    (torch.float32, 0.25, 2, 17), (torch.float32, 0.5, 5, 64)] + [(torch.float64, 0.5, *s)
    for s in [(1, 1), (3, 2), (2, 1024), (3, 1025), (2, 2050), (40, 900), (17, 4100)]]]
[checksums_with_gradients(lambda x, k, b: F.layer_norm(x, s, k, b), sines(2, 3, 4, 5), sines(*s),
    sines(*s)) for s in [(5,), (4, 5), (3, 4, 5), (2, 3, 4, 5)]]
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
[(y.dtype == dt, checksums(y.float().mul(2).round())) for dt in (torch.float16, torch.bfloat16)
    for x in [small_integers(3, 6, 4, dtype=dt)]
    for y in [F.layer_norm(x, (4,), small_integers(4, dtype=dt), small_integers(4, dtype=dt), 1.0),
    F.rms_norm(x, (4,), small_integers(4, dtype=dt), 1.0),
    F.group_norm(x, 2, small_integers(6, dtype=dt), small_integers(6, dtype=dt), 1.0),
    F.batch_norm(x, None, None, small_integers(6, dtype=dt), small_integers(6, dtype=dt), True,
    eps=1.0),]]
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
[checksums_with_gradients(lambda x, k, b: F.group_norm(x, g, k, b, e), sines(n, c, *s, dtype=dt),
    sines(c, dtype=dt, phase=0.8), sines(c, dtype=dt))
    for dt, e in ((torch.float32, 0.25), (torch.float64, 0.5))
    for n, c, s, g in [(2, 6, (3,), 3), (1, 4, (5, 7), 1), (3, 4, (2, 3), 4), (2, 6, (), 2),
    (2, 6, (1, 1), 3), (1, 2, (1030,), 2), (5, 8, (40, 41), 2), (2, 4, (9, 1000), 2),
    (9, 12, (3, 3, 3), 4)]]
[checksums_with_gradients(lambda x: f(x), sines(3, 6, *s)) for s in [(), (4,), (2, 3)]
    for f in (lambda x: F.group_norm(x, 2), lambda x: F.group_norm(x, 3,
    torch.arange(6.0).double()), lambda x: F.group_norm(x, 2, None, torch.arange(6.0).double()))]
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
[checksums_with_gradients(lambda x, k, b: F.batch_norm(x, None, None, k, b, True, 0.1, e),
    sines(n, c, *s, dtype=dt), sines(c, dtype=dt, phase=0.8), sines(c, dtype=dt))
    for dt, e in ((torch.float32, 0.25), (torch.float64, 0.5))
    for n, c, s in [(2, 3, ()), (5, 1, ()), (3, 4, (1,)), (70, 5, ()), (300, 3, ()), (66, 300, ()),
    (131, 257, ()), (2, 3, (5,)), (1, 2, (1030,)), (3, 2, (40, 30)), (2, 3, (4, 1, 3)), (64, 2, ()),
    (65, 2, ()), (6000, 3, ()), (8200, 2, ())]]
[checksums_with_gradients(lambda x, k, b: F.batch_norm(
    x.contiguous(memory_format=torch.channels_last), None, None, k, b, True, 0.1, e),
    sines(n, c, *s, dtype=dt), sines(c, dtype=dt, phase=0.8), sines(c, dtype=dt))
    for dt, e in ((torch.float32, 0.25), (torch.float64, 0.5))
    for n, c, s in [(2, 3, (3, 2)), (1, 2, (65, 3)), (2, 260, (9, 8)), (3, 2, (40, 70)),
    (2, 17, (31, 33)), (1, 5, (2, 2)), (1, 5, (1, 3))]]
[checksums_with_gradients(lambda x, k, b: F.batch_norm(f(x), sines(4), sines(4) + 2, k, b,
    eps=0.25), sines(6, 4, 3, 5, dtype=torch.float64), sines(4), sines(4))
    for f in (lambda x: x, lambda x: x.contiguous(memory_format=torch.channels_last),
    lambda x: x[:, :, 0, 0], lambda x: x[..., ::2], lambda x: x[:, :, :, 0],
    lambda x: x.transpose(2, 3), lambda x: x.transpose(0, 2)[..., 0].expand(3, 4, 6)[:, :4])]
[checksums_with_gradients(lambda x, k, b: F.batch_norm(f(x), None, None, k, b, True),
    sines(6, 4, 3, 5, dtype=torch.float64), sines(4), sines(4))
    for f in (lambda x: x[:, :, 0, 0], lambda x: x[..., ::2], lambda x: x[:, :, :, 0],
    lambda x: x.transpose(2, 3), lambda x: x.permute(3, 1, 0, 2))]
[checksums_with_gradients(lambda x: F.batch_norm(f(x), *g), sines(3, 4, 2, 5))
    for f in (lambda x: x, lambda x: x.contiguous(memory_format=torch.channels_last),
    lambda x: x[:, :, 0, 0]) for g in ((None, None, None, None, True), (sines(4), sines(4) + 2),
    (sines(4), sines(4) + 2, sines(4), None), (sines(4), sines(4) + 2, None, sines(4), True))]
[(checksums_with_gradients(lambda x: F.batch_norm(f(x), m, v, None, None, True, o, 1e-3),
    sines(3, 4, 2, 5, dtype=dt)), m, v) for dt in (torch.float64, torch.float32)
    for o in (0.1, 1.0, 0.0, 0.75) for f in (lambda x: x,
    lambda x: x.contiguous(memory_format=torch.channels_last), lambda x: x[:, :, 0, 0])
    for m, v in [(sines(4, dtype=dt), sines(4, dtype=dt) + 2)]]
[(F.batch_norm(sines(3, 4, 2), m, v, None, None, True).sum().round(), m, v, base)
    for base in [sines(8)] for m, v in [(base[::2], base[1::2])]]
[(F.batch_norm(x, m, v, None, None, True, 0.5).dtype == dt, m.float().mul(64).round(),
    v.float().mul(64).round()) for dt, of in ((torch.float16, torch.float16),
    (torch.bfloat16, torch.bfloat16), (torch.float16, torch.float32),
    (torch.bfloat16, torch.float32)) for x in [small_integers(3, 4, 2, dtype=dt)]
    for m, v in [(torch.zeros(4, dtype=of), torch.ones(4, dtype=of))]]
[(F.batch_norm(f(x), m, v, None, None, True, 0.5).sum().round(), m, v)
    for x in (torch.tensor([[1e8, 1.0], [1e8 + 1, 3.0]], dtype=torch.float64),
    torch.tensor([[7.0, math.nan], [7.0, 1.0]]))
    for f in (lambda x: x, lambda x: x[..., None].expand(2, 2, 3).contiguous(),
    lambda x: x[..., None, None].expand(2, 2, 2, 3).contiguous(memory_format=torch.channels_last))
    for m, v in [(torch.zeros(2, dtype=x.dtype), torch.ones(2, dtype=x.dtype))]]
[F.batch_norm(f(x), None, None, None, None, True, eps=1e-3)
    for x in (small_integers(4, 2) * 0 + 7, small_integers(4, 2) * 0 + 1e-3)
    for f in (lambda x: x, lambda x: x.reshape(2, 2, 1,
    2).contiguous(memory_format=torch.channels_last))]
[torch.autograd.grad(F.batch_norm(x, torch.zeros(2), torch.ones(2), eps=0).sum(), x)[0]
    for x in (torch.tensor([[math.nan, 1.0], [math.inf, 2.0]], requires_grad=True),
    torch.tensor([[[[math.nan]], [[1.0]]], [[[math.inf]], [[2.0]]]]).expand(2, 2, 1,
    2).contiguous(memory_format=torch.channels_last).requires_grad_())]
[F.batch_norm(sines(2, 4, 3, 5, dtype=dt).contiguous(memory_format=torch.channels_last), None, None,
    training=True).stride() for dt in (torch.float32, torch.float64, torch.bfloat16)]
[torch.autograd.grad(y, x, small_integers(2, 4, 3, 5,
    dtype=dt).contiguous(memory_format=torch.channels_last))[0].stride()
    for dt in (torch.float32, torch.float64, torch.bfloat16)
    for x in [small_integers(2, 4, 3, 5, dtype=dt).contiguous(
    memory_format=torch.channels_last).requires_grad_()]
    for y in [F.batch_norm(x, None, None, training=True)]]
checksums_with_gradients(lambda x: F.batch_norm(x, None, None,
    training=True).contiguous(memory_format=torch.channels_last), sines(2, 4, 3, 5))
checksums_with_gradients(lambda x: F.batch_norm(x.contiguous(memory_format=torch.channels_last),
    None, None, training=True).transpose(2, 3).contiguous(), sines(2, 4, 3, 5))
[checksums_with_gradients(lambda x: F.instance_norm(x, use_input_stats=u, running_mean=m,
    running_var=v), sines(3, 4, 5)) for u, m, v in [(True, None, None),
    (False, sines(4), sines(4) + 2)]]
[checksums_with_gradients(lambda x, k, b: F.group_norm(x, g, k, b), sines(2, 6, *s), sines(6),
    sines(6)) for s in [(2,), (1, 2), (1,)] for g in (1, 2, 6)]

# Steps between neighbours, among them as many elements as there are channels.
[checksums_with_gradients(lambda x, k, b: f(x[..., ::s], k, b), sines(n, c, *z, 3 * s),
    sines(c, phase=0.8), sines(c)) for f in (lambda x, k,
    b: F.batch_norm(x, None, None, k, b, True), lambda x, k, b: F.group_norm(x, 1, k, b), lambda x,
    k, b: F.instance_norm(x, None, None, k, b)) for z in ((2,), (2, 2)) for n in (1, 2)
    for c in (1, 2, 3) for s in (1, 2, 3)]
[checksums_with_gradients(lambda x, k, b: f(x.contiguous(memory_format=torch.channels_last)[:,
    a:z:s], k, b), sines(n, 6, 2, 3), sines((z - a + s - 1) // s, phase=0.8),
    sines((z - a + s - 1) // s)) for f in (lambda x, k, b: F.batch_norm(x, None, None, k, b, True),
    lambda x, k, b: F.group_norm(x, 1, k, b), lambda x, k, b: F.instance_norm(x, None, None, k, b))
    for n in (1, 2) for a, z, s in ((0, 2, 1), (0, 6, 2), (1, 2, 1), (0, 6, 1), (0, 6, 3))]
