"""Attention: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksums, checksums_with_gradients, sines, small_integers

# Tiles of queries and of keys: few, as many as a tile has, one more; none at all.
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=c),
    sines(2, 3, n, e, dtype=dt) * 3, sines(2, 3, m, e, dtype=dt, phase=0.8) * 3,
    sines(2, 3, m, d, dtype=dt, phase=1.4)) for dt, c, n, m, e,
    d in [(torch.float64, False, 1, 1, 1, 1), (torch.float64, False, 4, 7, 3, 5),
    (torch.float64, False, 5, 7, 3, 5), (torch.float64, False, 48, 9, 8, 8),
    (torch.float64, False, 49, 9, 8, 16), (torch.float64, False, 97, 5, 2, 8),
    (torch.float64, False, 3, 256, 2, 3), (torch.float64, False, 5, 257, 2, 3),
    (torch.float64, False, 50, 300, 3, 8), (torch.float64, False, 50, 514, 2, 3),
    (torch.float64, True, 7, 7, 3, 4), (torch.float64, True, 60, 60, 3, 4),
    (torch.float64, True, 100, 30, 3, 9), (torch.float64, True, 30, 100, 3, 9),
    (torch.float64, True, 4, 270, 2, 3), (torch.float64, True, 300, 300, 2, 8),
    (torch.float64, True, 270, 600, 2, 3), (torch.float32, False, 5, 7, 3, 5),
    (torch.float32, False, 60, 20, 4, 16), (torch.float32, True, 52, 50, 4, 17),
    (torch.float32, False, 4, 20, 4, 16)]]
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=c,
    scale=s), sines(1, 2, n, 4) * 3, sines(1, 2, m, 4, phase=0.8) * 3,
    sines(1, 2, m, d, phase=1.4)) for s in (0.25, -2.0, 0.0)
    for c, n, m, d in [(False, 3, 9, 2), (False, 60, 61, 8), (True, 60, 61, 8)]]

# Masks: of truths and of numbers, of all shapes, rows that see nothing or nothing in their first tile.
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v,
    g(sines(*s).sin())), sines(2, 3, n, 4), sines(2, 3, m, 4, phase=0.8),
    sines(2, 3, m, 8, phase=1.4)) for g in (lambda x: x, lambda x: x > -0.5)
    for n, m, s in [(5, 7, (5, 7)), (5, 7, (1, 7)), (50, 7, (2, 1, 50, 7)), (5, 7, (3, 5, 7)),
    (5, 7, (2, 3, 1, 7)), (50, 270, (50, 270)), (3, 270, (2, 1, 1, 270)), (50, 7, (50, 1)),
    (50, 20, (2, 3, 50, 20))]]
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v,
    g(sines(*s).sin())), sines(2, 3, n, 4), sines(2, 3, m, 4, phase=0.8),
    sines(2, 3, m, 8, phase=1.4)) for n, m, s, g in [(50, 7, (7, 50), lambda x: x.t()),
    (50, 7, (7, 50), lambda x: x.t() > 0), (5, 9, (5, 18), lambda x: x[:, ::2]),
    (5, 9, (5, 18), lambda x: x[:, ::2] > -0.9), (50, 9, (100, 9), lambda x: x[::2] > -0.9),
    (5, 9, (2, 3, 10, 9), lambda x: x[:, :, ::2])]]
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v,
    g(torch.arange(m))[None]), sines(1, 2, n, 4), sines(1, 2, m, 4, phase=0.8),
    sines(1, 2, m, 8, phase=1.4)) for n in (3, 50)
    for m, g in [(9, lambda i: i != 3), (300, lambda i: i > 260), (300, lambda i: i < 20),
    (600, lambda i: (i > 300) & (i < 500)), (300, lambda i: (i > 260).double().log()),
    (300, lambda i: i.double() / 100), (300, lambda i: -i.double() / 100)]]
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v,
    (torch.arange(n) % 3 != 1)[:, None] & (torch.arange(m) < m - 1)), sines(1, 2, n, 4, dtype=dt),
    sines(1, 2, m, 4, dtype=dt, phase=0.8), sines(1, 2, m, 8, dtype=dt, phase=1.4))
    for dt in (torch.float64, torch.float32) for n, m in [(4, 5), (50, 5), (50, 270)]]
[F.scaled_dot_product_attention(q, k, v, ~torch.ones(n, 3).bool()).abs().sum() for n in (2, 7)
    for q, k, v in [(sines(1, 1, n, 4), sines(1, 1, 3, 4), sines(1, 1, 3, 4))]]

# Numbers that are none, and large ones.
def spoilt_math():
    def spoilt(n, m, which, at, value, **more):
        xs = [sines(1, 1, n, 2), sines(1, 1, m, 2, phase=0.8), sines(1, 1, m, 3, phase=1.4)]
        xs[which][0, 0, at, 0] = value
        y = F.scaled_dot_product_attention(*xs, **more)
        return [int(y.isnan().sum()), int(y.isinf().sum()), checksums(y.nan_to_num(0, 0, 0))]
    return [spoilt(n, m, i, at, v) for n, m in [(3, 5), (7, 9), (6, 300)]
        for i, at, v in [(0, 1, math.nan), (1, 2, math.nan), (2, 0, math.nan), (2, 1, math.inf),
        (0, 2, 1e200), (1, 4, -1e200)]]

[F.scaled_dot_product_attention(sines(1, 1, 2, 2) * s, sines(1, 1, 300, 2), sines(1, 1, 300, 3))
    for s in (1e3, 1e6, 1e-9)]

# Heads that share keys, other strides, halves, nothing.
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=c,
    enable_gqa=True), sines(2, h, n, 4), sines(2, g, m, 4, phase=0.8),
    sines(2, g, m, 8, phase=1.4)) for h, g in [(4, 2), (6, 1), (3, 3)]
    for c, n, m in [(False, 3, 9), (True, 60, 60), (False, 50, 7)]]
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(f(q), f(k), f(v)),
    sines(2, 8, 6, 8), sines(2, 8, 6, 8, phase=0.8), sines(2, 8, 6, 8, phase=1.4))
    for f in (lambda x: x.transpose(1, 2), lambda x: x.transpose(2, 3), lambda x: x[:, :, ::2],
    lambda x: x[..., ::2], lambda x: x[:, ::2], lambda x: x[::2], lambda x: x.transpose(1, 3),
    lambda x: x.flip(2))]
[checksums_with_gradients(lambda q, k, v: F.scaled_dot_product_attention(f(q), f(k), f(v)),
    sines(2, 60, 8, 6), sines(2, 60, 8, 6, phase=0.8), sines(2, 60, 8, 6, phase=1.4))
    for f in (lambda x: x.transpose(1, 2), lambda x: x.permute(0, 3, 1, 2),
    lambda x: x.permute(2, 3, 1, 0))]
[checksums_with_gradients(lambda q, k, v: f(F.scaled_dot_product_attention(q, k, v)),
    sines(2, 3, 6, 5), sines(2, 3, 7, 5, phase=0.8), sines(2, 3, 7, 4, phase=1.4))
    for f in (lambda y: y.transpose(1, 2), lambda y: y[..., ::2], lambda y: y.expand(2, 2, 3, 6, 4),
    lambda y: y.sum(-1))]
[(y.dtype == d, checksums(y.double().mul(16).round())) for d in (torch.float16, torch.bfloat16)
    for c in (False, True) for n, m in [(3, 5), (50, 9)]
    for y in [F.scaled_dot_product_attention(small_integers(1, 2, n, 4, dtype=d),
    small_integers(1, 2, m, 4, dtype=d), small_integers(1, 2, m, 8, dtype=d), is_causal=c)]]
[checksums(*(g.double().mul(2).round() for g in torch.autograd.grad(
    F.scaled_dot_product_attention(*xs, mask), xs, small_integers(1, 2, 3, 8, dtype=d))))
    for d in (torch.float16, torch.bfloat16) for mask in (None, torch.zeros(3, 5, dtype=d),
    torch.ones(3, 5, dtype=torch.bool)) for xs in [[small_integers(1, 2, 3, 4,
    dtype=d).requires_grad_(), small_integers(1, 2, 5, 4, dtype=d).requires_grad_(),
    small_integers(1, 2, 5, 8, dtype=d).requires_grad_()]]]
[(F.scaled_dot_product_attention(sines(b, 2, n, 4), sines(b, 2, m, 4), sines(b, 2, m, d)).shape)
    for b, n, m, d in [(0, 3, 5, 4), (1, 0, 5, 4), (1, 3, 5, 0)]]
[[g.abs().sum() for g in torch.autograd.grad(F.scaled_dot_product_attention(*xs).sum(), xs)]
    for b, n, m, d in [(0, 3, 5, 4), (1, 0, 5, 4), (1, 3, 5, 0)]
    for xs in [[sines(b, 2, n, 4).requires_grad_(), sines(b, 2, m, 4).requires_grad_(),
    sines(b, 2, m, d).requires_grad_()]]]

# Heads in pieces, by two threads.
def shared_is_causal():
    def shared(n, f):
        before = torch.get_num_threads()
        torch.set_num_threads(n)
        try:
            return f()
        finally:
            torch.set_num_threads(before)
    return [shared(k, lambda: checksums_with_gradients(lambda q, k,
        v: F.scaled_dot_product_attention(q, k, v, is_causal=c), sines(1, h, n, 8),
        sines(1, h, m, 8, phase=0.8), sines(1, h, m, 8, phase=1.4))) for k in (1, 2)
        for c, h, n, m in [(False, 1, 200, 300), (True, 1, 290, 290), (True, 1, 300, 600),
        (False, 3, 100, 270), (False, 5, 60, 260), (True, 1, 600, 200)]]
