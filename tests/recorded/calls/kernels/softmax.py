"""Softmax: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksum, gradients, sines

# Rows turned or one by one, pieces of long rows, columns side by side; forward and backward.
[checksum(f(sines(*s).to(d) * 4, k)) for s in ((9, 24), (9, 25), (7, 24), (7, 3), (8, 3), (64, 5),
    (65, 24), (3, 1024), (3, 1025), (2, 2500), (5, 700), (4, 5, 60), (300, 5), (30, 64), (30, 65),
    (7, 63), (3, 128), (129, 1), (2, 1), (1, 9), (33, 3), (86, 3)) for k in (0, -1)
    for d in (torch.float64,) for f in (F.softmax, F.log_softmax)]
[checksum(f(sines(*s).to(d) * 4, k)) for s in ((9, 24), (9, 25), (65, 5), (3, 1025), (5, 700),
    (300, 5), (33, 3)) for k in (0, -1) for d in (torch.float32,)
    for f in (F.softmax, F.log_softmax)]
[checksum(gradients(lambda x: f(x, k), sines(*s) * 4)[0])
    for s in ((9, 24), (9, 25), (7, 24), (8, 3), (65, 24), (3, 1024), (3, 1025), (2, 2500),
    (5, 700), (4, 5, 60), (300, 5), (30, 64), (30, 65), (129, 1), (33, 3), (86, 3))
    for k in (0, -1) for f in (F.softmax, F.log_softmax)]
[checksum(gradients(lambda x: f(x, k), sines(*s).float() * 4)[0])
    for s in ((9, 24), (9, 25), (3, 1025), (300, 5), (33, 3)) for k in (0, -1)
    for f in (F.softmax, F.log_softmax)]
[f(sines(2, 5).to(d), k) for d in (torch.float16, torch.bfloat16) for k in (0, 1)
    for f in (F.softmax, F.log_softmax)]
[gradients(lambda x: f(x, k), sines(2, 5).to(d))[0] for d in (torch.float16,) for k in (0, 1)
    for f in (F.softmax, F.log_softmax)]
[f(sines(2, 3, 4).permute(*p), 1) for p in ((2, 0, 1), (1, 2, 0))
    for f in (F.softmax, F.log_softmax)] + [F.softmax(sines(6, 4)[::2], 0),
    F.softmax(sines(1, 4).expand(3, 4), 0), F.softmax(sines(3, 1).expand(3, 4), 1)]
[checksum(f(sines(n, k), 1)) for n, k in ((4096, 1), (4097, 1), (170, 24), (171, 24), (341, 12),
    (2, 4096), (2, 4097), (5, 5000)) for f in (F.softmax, F.log_softmax)]
[checksum(f(sines(*s), 1)) for s in ((3, 4, 511), (3, 4, 512), (3, 4, 513), (3, 4, 1025),
    (2, 3, 4000)) for f in (F.softmax, F.log_softmax)]
F.softmax(sines(), 0)
F.log_softmax(sines(), -1)
F.softmax(sines(0), 0)
F.softmax(sines(2, 0), 1)
F.softmax(sines(0, 3), 1)
F.log_softmax(sines(1, 1), 1)
gradients(lambda x: F.softmax(x, 0), sines())
gradients(lambda x: F.log_softmax(x, 0), sines())
gradients(lambda x: F.softmax(x, 1), sines(0, 3))
F.softmax(torch.tensor([1, 2]), 0, dtype=torch.float32)
F.softmax(sines(2, 3).float(), 1, dtype=torch.float64)
F.log_softmax(sines(3).to(torch.float16), 0, dtype=torch.float32)
F.softmax(torch.tensor([True, False]), 0, dtype=torch.float64)
gradients(lambda x: F.softmax(x, 0, dtype=torch.float64), sines(3).float())
[f(torch.tensor([[math.inf, 1.0, 2.0], [-math.inf, -math.inf, -math.inf], [math.nan, 0.0, 1.0],
    [-math.inf, 0.0, 1.0], [1000.0, 1000.0, -1000.0]] * n), k) for n in (1, 2) for k in (0, 1)
    for f in (F.softmax, F.log_softmax)]
[x := torch.empty(2, 3), torch.softmax(sines(2, 3).float(), 1, out=x) is x, x,
    y := torch.empty(3, 2).t(), torch.log_softmax(sines(2, 3).float(), 0, out=y), y]
F.softmax(sines(3), 1)
F.softmax(torch.tensor([1, 2]), 0)
