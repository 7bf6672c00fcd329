"""Softmax: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksum, gradients, sines

# Rows turned or one by one, pieces of long rows, columns side by side; forward and backward.
[checksum(gradients(lambda x: f(x, k), sines(*s) * 4)[0])
    for s in ((9, 24), (9, 25), (7, 24), (8, 3), (65, 24), (3, 1024), (3, 1025), (2, 2500),
    (5, 700), (4, 5, 60), (300, 5), (30, 64), (30, 65), (129, 1), (33, 3), (86, 3))
    for k in (0, -1) for f in (F.softmax, F.log_softmax)]
[checksum(gradients(lambda x: f(x, k), sines(*s).float() * 4)[0])
    for s in ((9, 24), (9, 25), (3, 1025), (300, 5), (33, 3)) for k in (0, -1)
    for f in (F.softmax, F.log_softmax)]
[gradients(lambda x: f(x, k), sines(2, 5).to(d))[0] for d in (torch.float16,) for k in (0, 1)
    for f in (F.softmax, F.log_softmax)]
F.softmax(torch.tensor([1, 2]), 0, dtype=torch.float32)
F.softmax(sines(2, 3).float(), 1, dtype=torch.float64)
F.log_softmax(sines(3).to(torch.float16), 0, dtype=torch.float32)
F.softmax(torch.tensor([True, False]), 0, dtype=torch.float64)
gradients(lambda x: F.softmax(x, 0, dtype=torch.float64), sines(3).float())
[x := torch.empty(2, 3), torch.softmax(sines(2, 3).float(), 1, out=x) is x, x,
    y := torch.empty(3, 2).t(), torch.log_softmax(sines(2, 3).float(), 0, out=y), y]
