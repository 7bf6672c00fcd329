"""Attention: calls of the loops below the operators (`ext/kernels`)."""

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
    (torch.arange(n) % 3 != 1)[:, None] & (torch.arange(m) < m - 1)), sines(1, 2, n, 4, dtype=dt),
    sines(1, 2, m, 4, dtype=dt, phase=0.8), sines(1, 2, m, 8, dtype=dt, phase=1.4))
    for dt in (torch.float64, torch.float32) for n, m in [(4, 5), (50, 5), (50, 270)]]
[F.scaled_dot_product_attention(q, k, v, ~torch.ones(n, 3).bool()).abs().sum() for n in (2, 7)
    for q, k, v in [(sines(1, 1, n, 4), sines(1, 1, 3, 4), sines(1, 1, 3, 4))]]

# Heads that share keys, other strides, halves, nothing.
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
