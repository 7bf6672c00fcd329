"""Pooling: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksums_with_gradients, sines, small_integers

# Largest elements by rows, by windows, by pairs; whole numbers have many that are equal.
[checksums_with_gradients(lambda x: F.max_pool1d(x, k, s, p, return_indices=True),
    f(1, 2, n, dtype=dt)) for f, dt in ((sines, torch.float64), (small_integers, torch.float32))
    for n, k, s, p in [(256, 1, 1, 0), (257, 1, 1, 0), (260, 3, 1, 1), (513, 3, 1, 0),
    (520, 2, 2, 0), (1040, 3, 2, 1), (800, 4, 3, 2), (255, 2, 1, 1)]]
[checksums_with_gradients(lambda x: F.max_pool2d(x, k, s, p, d, c, return_indices=True),
    f(2, 2, h, v, dtype=dt)) for f, dt in ((sines, torch.float64), (small_integers, torch.float32))
    for h, v, k, s, p, d, c in [(4, 6, 2, 2, 0, 1, False), (5, 6, 2, 2, 0, 1, False),
    (4, 7, 2, 2, 0, 1, False), (5, 7, 2, 2, 0, 1, True), (6, 9, 3, 1, 1, 1, False),
    (7, 8, 3, 2, 1, 1, False), (7, 8, (1, 3), (2, 1), (0, 1), (1, 2), False),
    (9, 9, 3, 3, 1, 2, True), (6, 20, (2, 3), (1, 3), (1, 0), (3, 1), False),
    (8, 8, 8, 1, 4, 1, False), (3, 3, 2, 1, 1, 2, False), (10, 12, 2, 3, 1, 5, True)]]
[checksums_with_gradients(lambda x: F.max_pool2d(x, k, s, p, d, return_indices=True),
    f(2, 2, h, v, dtype=dt)) for f, dt in ((sines, torch.float64), (small_integers, torch.float32))
    for h, v, k, s, p, d in [(4, 34, 2, 2, 0, 1), (6, 32, 2, 2, 0, 1), (7, 30, 2, 2, 0, 1),
    (2, 1024, 2, 2, 0, 1), (2, 1026, 2, 2, 0, 1), (6, 512, 2, 2, 0, 1), (3, 344, 2, 2, 0, 1),
    (8, 16, 2, 2, 1, 1), (8, 16, 2, 2, (0, 1), 1), (8, 16, 2, 2, 0, (1, 2)),
    (8, 16, 2, 2, 0, (2, 1)), (8, 16, 2, (2, 1), 0, 1), (8, 16, 2, (1, 2), 0, 1),
    (8, 16, (2, 3), 2, 0, 1), (8, 16, (3, 2), 2, 0, 1), (66, 34, 2, 2, 0, 1)]]

# Nothing larger than any, numbers that are none, and windows of nothing.
def max_pool2d_return_indices():
    def spoilt(x, at, v):
        x[at] = v
        return x
    return [checksums_with_gradients(lambda x: f(spoilt(x * 1, at, v)), x)
        for v in (math.nan, -math.inf, math.inf) for x in (small_integers(1, 2, 6, 8),
        sines(1, 2, 6, 8)) for at in ((..., 0), (0, 1, 2), (0, 0, 5, 7), (0, 0),
        (0, 1, slice(1, 3), slice(2, 6))) for f in (lambda x: F.max_pool2d(x, 2,
        return_indices=True)[1] * (F.max_pool2d(x, 2).sum() * 0 + 1).nan_to_num(1),
        lambda x: F.max_pool2d(x, 3, 1, 1, return_indices=True)[1].to(x.dtype) + 0
        * x.sum().nan_to_num(0), lambda x: F.max_pool2d(x, (5, 8), 1, (2, 4),
        return_indices=True)[1] + 0 * x.sum().nan_to_num(0))], [F.max_pool2d(spoilt(f(1, 2, 4, 6),
        at, v).contiguous(memory_format=y), k, s, p, return_indices=True)
        for f in (small_integers, sines) for y in (torch.contiguous_format, torch.channels_last)
        for v in (math.nan, -math.inf) for at in ((0, 1, 2), (..., 3))
        for k, s, p in ((2, 2, 0), (3, 2, 1), ((4, 6), 1, 0))]

[checksums_with_gradients(lambda x: F.adaptive_max_pool1d(x, k, return_indices=True),
    sines(2, 3, n)) for n, k in [(8, 4), (9, 4), (20, 10), (300, 290), (5, 5)]]
[checksums_with_gradients(lambda x: F.adaptive_max_pool3d(x, k, return_indices=True),
    sines(2, 3, 4, 5, 6)) for k in [(2, 5, 3), (3, 2, 4), (4, 5, 6), 1]]

# Averages.
[checksums_with_gradients(lambda x: F.avg_pool1d(x, k, s, p, c, i), sines(2, 3, n, dtype=dt))
    for dt in (torch.float32, torch.float64) for n, k, s, p, c,
    i in [(7, 2, 2, 0, False, True), (7, 3, 2, 1, True, True), (7, 3, 2, 1, True, False),
    (20, 3, 1, 1, False, False), (20, 3, 1, 1, False, True), (33, 32, 1, 0, False, True),
    (32, 32, 1, 0, False, True), (40, 31, 2, 3, False, True), (41, 34, 3, 8, True, True),
    (70, 17, 8, 8, False, False), (70, 17, 9, 8, False, True), (80, 64, 1, 0, False, True),
    (80, 65, 1, 0, False, True), (66, 64, 1, 32, False, True), (67, 65, 1, 30, False, False),
    (300, 3, 1, 1, False, False), (600, 3, 2, 1, False, False), (257, 1, 1, 0, False, True),
    (2100, 9, 8, 4, True, False), (2060, 11, 7, 5, False, True), (9, 9, 1, 0, False, True),
    (11, 2, 4, 1, True, False)]]
[checksums_with_gradients(lambda x: F.avg_pool2d(x, k, s, p, c, i, q), sines(2, 3, h, v, dtype=dt))
    for dt in (torch.float32, torch.float64) for h, v, k, s, p, c, i,
    q in [(4, 6, 2, 2, 0, False, True, None), (5, 7, 2, 2, 0, False, True, None),
    (5, 7, 2, 2, 0, True, True, None), (5, 7, 3, 2, 1, True, False, None),
    (6, 9, 3, 1, 1, False, True, None), (6, 9, 3, 1, 1, False, False, None),
    (6, 9, 3, 1, 1, False, True, 5), (7, 20, (2, 3), (3, 2), (1, 0), False, False, None),
    (7, 20, (3, 2), (1, 3), (0, 1), True, True, -3), (8, 8, 8, 1, 4, False, False, None),
    (8, 8, 8, 1, 4, False, False, 7), (3, 40, (3, 36), 1, 0, False, True, None),
    (5, 40, (2, 40), 1, 0, False, True, None), (40, 5, (36, 2), 1, 0, False, True, None),
    (4, 18, 2, 9, 1, False, True, None), (9, 17, (4, 2), (5, 2), (2, 0), True, True, None),
    (9, 17, (4, 2), (5, 2), (0, 1), True, False, None), (2, 520, 2, 2, 0, False, True, None),
    (2, 521, 2, 2, 0, False, True, None), (3, 270, 2, 1, 1, False, False, None)]]
[checksums_with_gradients(lambda x: F.avg_pool3d(x, k, s, p, c, i, q),
    sines(2, 2, 5, 6, v, dtype=dt)) for dt in (torch.float32, torch.float64)
    for v, k, s, p, c, i, q in [(7, 2, 2, 0, False, True, None),
    (8, (1, 2, 2), (1, 2, 2), 0, True, True, None), (9, 3, 1, 1, False, True, None),
    (9, 3, 1, 1, False, False, None), (6, 3, 2, 1, True, False, None),
    (12, (3, 1, 2), (1, 2, 1), (1, 0, 1), False, True, 4),
    (5, (5, 2, 5), 1, (2, 1, 2), False, False, None),
    (5, (5, 2, 5), 1, (2, 1, 2), False, True, None), (20, 4, 3, 2, True, True, None),
    (34, (2, 2, 33), 1, 0, False, True, None)]]
F.avg_pool1d((small_integers(1, 2, 40) * 9).to(torch.int64), 33, 1)
[checksums_with_gradients(lambda x: F.adaptive_avg_pool1d(x, k), sines(2, 3, n, dtype=dt))
    for dt in (torch.float32, torch.float64, torch.bfloat16)[:2]
    for n, k in [(8, 4), (9, 4), (20, 10), (300, 290), (5, 5), (40, 1), (3, 8), (64, 63)]]
[checksums_with_gradients(lambda x: F.adaptive_avg_pool2d(x.contiguous(memory_format=y), k),
    sines(2, 3, h, v, dtype=dt)) for y in (torch.contiguous_format, torch.channels_last)
    for dt in (torch.float32, torch.float64) for h, v,
    k in [(4, 6, 2), (5, 7, (2, 3)), (6, 20, (3, 10)), (6, 20, (4, 9)), (3, 3, 5), (9, 16, (9, 1)),
    (4, 40, 1), (7, 7, (1, 7)), (12, 12, (5, 4)), (6, 8, (6, 3)), (2, 9, (4, 3))]]
[checksums_with_gradients(lambda x: F.adaptive_avg_pool3d(x, k), sines(2, 3, 4, 5, 6, dtype=dt))
    for dt in (torch.float32, torch.float64) for k in [(2, 5, 3), (3, 2, 4), (4, 5, 6), 1,
    (2, 1, 3)]]
checksums_with_gradients(lambda x: F.adaptive_avg_pool2d(x, 2),
    small_integers(1, 3, 4, 6, dtype=torch.float16))

# Channels last: windows of at most 64 elements and of more, blocks of channels, other directions.
[checksums_with_gradients(lambda x: F.max_pool2d(x.contiguous(memory_format=torch.channels_last), k,
    s, p, d, c, return_indices=True), f(2, q, h, v, dtype=dt))
    for f, dt in ((sines, torch.float64), (small_integers, torch.float32))
    for q, h, v, k, s, p, d, c in [(3, 4, 6, 2, 2, 0, 1, False), (3, 5, 7, 3, 2, 1, 1, True),
    (5, 9, 10, (8, 8), 1, 0, 1, False), (5, 9, 10, (5, 8), 1, (2, 4), 1, False),
    (5, 12, 12, (9, 8), 2, 1, 1, False), (2, 13, 13, 12, 1, 0, 1, False),
    (7, 9, 9, 3, 1, 1, 3, False), (4, 6, 5, 2, 3, 1, 2, True), (65, 3, 4, 2, 1, 1, 1, False),
    (130, 2, 3, 2, 1, 0, 1, False), (64, 4, 4, 2, 2, 0, 1, False), (300, 2, 2, 2, 1, 1, 1, False)]]
[checksums_with_gradients(lambda x: F.avg_pool2d(x.contiguous(memory_format=torch.channels_last), k,
    s, p, c, i, z), sines(2, q, h, v, dtype=dt)) for dt in (torch.float32, torch.float64)
    for q, h, v, k, s, p, c, i, z in [(3, 4, 6, 2, 2, 0, False, True, None),
    (3, 5, 7, 3, 2, 1, True, True, None), (3, 5, 7, 3, 2, 1, True, False, None),
    (3, 5, 7, 3, 2, 1, True, False, 5), (3, 5, 7, 3, 1, 1, False, True, None),
    (5, 9, 10, 8, 1, 0, False, True, None), (5, 9, 10, (1, 9), 1, 0, False, True, None),
    (5, 12, 12, (9, 8), 1, 1, False, False, None), (2, 3, 70, (1, 65), 1, 0, False, True, None),
    (2, 3, 70, (2, 64), 1, 0, False, True, None), (2, 70, 3, (65, 1), 1, 0, False, True, None),
    (260, 12, 11, (10, 9), 2, 0, False, True, None), (65, 3, 4, 2, 1, 1, False, True, None),
    (4, 9, 9, 2, 4, 0, False, True, None), (4, 9, 9, 2, 4, 1, True, False, None),
    (2, 10, 10, 3, 3, 1, False, False, None), (3, 12, 4, (2, 1), (2, 2), 0, False, True, None)]]
[checksums_with_gradients(lambda x: F.max_pool3d(x.contiguous(memory_format=torch.channels_last_3d),
    k, s, p, return_indices=True), sines(2, 3, 4, 5, 6, dtype=torch.float32))
    for k, s, p in [(2, 2, 0), (3, 1, 1), ((2, 1, 3), (1, 2, 2), (1, 0, 1)), ((4, 5, 6), 1, 0)]]
[torch.autograd.grad(y, x, sines(*y.shape).contiguous(memory_format=torch.channels_last))[
    0].stride() for f in (F.avg_pool2d, F.max_pool2d, F.adaptive_avg_pool2d, F.adaptive_max_pool2d)
    for x in [sines(2, 3, 4, 6).contiguous(memory_format=torch.channels_last).requires_grad_()]
    for y in [f(x, 2)]]
[checksums_with_gradients(lambda x: f(x.contiguous(memory_format=torch.channels_last),
    2).transpose(2, 3).contiguous(), sines(2, 3, 4, 6))
    for f in (F.avg_pool2d, F.max_pool2d, F.adaptive_avg_pool2d, F.adaptive_max_pool2d)]
[checksums_with_gradients(lambda x: f(x, 2).contiguous(memory_format=torch.channels_last),
    sines(2, 3, 4, 6)) for f in (F.avg_pool2d, F.max_pool2d, F.adaptive_avg_pool2d,
    F.adaptive_max_pool2d)]

# More than a tile, and elements beside windows.
[checksums_with_gradients(lambda x: f(x.contiguous(memory_format=torch.channels_last)),
    sines(5, 7, 41, 43, dtype=torch.float32)) for f in (lambda x: F.max_pool2d(x, 2,
    return_indices=True), lambda x: F.max_pool2d(x, 3, 2, 1), lambda x: F.avg_pool2d(x, 2),
    lambda x: F.avg_pool2d(x, 3, 1, 1), lambda x: F.avg_pool2d(x, 9, 9),
    lambda x: F.adaptive_avg_pool2d(x, (5, 6)), lambda x: F.adaptive_max_pool2d(x, (7, 6)))]
