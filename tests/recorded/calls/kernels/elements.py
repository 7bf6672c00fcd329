"""Elements: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import gradients, sines

# Powers with kernels of their own, quotients that are rounded.
torch.pow(torch.tensor([2]), -1)
[x := sines(3), y := torch.pow(x, 1), y.data_ptr() == x.data_ptr(), x.pow_(1) is x, x.pow_(2), x,
    z := torch.empty(3, dtype=torch.float64), torch.pow(sines(3), 1, out=z) is z, z,
    torch.pow(sines(3), 0.5, out=z), torch.pow(sines(3), 3, out=z)]
torch.div(torch.tensor([1]), 0, rounding_mode="trunc")
torch.div(torch.tensor([1]), 0, rounding_mode="floor")
torch.logit(torch.tensor([0.2, 0.5, 1.0, 0.0, 1.5]))
torch.logit(torch.tensor([0.2, 0.0, 1.0]), 0.1)
torch.logit(torch.tensor([0.2, 0.0]), eps=0.0)
torch.logit(torch.tensor([1, 0]))
torch.logit(torch.tensor([0.3]).to(torch.float16), 1e-3)

# Functions that SciPy computes.
[torch.polygamma(n, torch.tensor([0.5, 1.0, 2.5, 7.0], dtype=torch.float64))
    for n in (0, 1, 2, 3)] + [torch.polygamma(1,
    torch.tensor([-0.5, -1.5, -2.25, 0.3], dtype=torch.float64))]
torch.lgamma(torch.tensor([0.0, -1.0, math.inf, -math.inf, math.nan, 1e-40, -1e-40, 1e-31, 1e-29]))
torch.digamma(torch.tensor([0.0, -1.0, math.inf, math.nan]))
torch.lgamma(torch.tensor([3, 5]))
torch.digamma(torch.tensor([3, 5]))
[torch.polygamma(n, torch.tensor([0.5, 1.0, 2.5, 7.0], dtype=d)) for n in (0, 1, 2, 3)
    for d in (torch.float32, torch.float64)] + [torch.polygamma(1,
    torch.tensor([-0.5, -1.5, -2.25, 0.3], dtype=torch.float64)),
    torch.polygamma(2, torch.tensor([2.0]).to(torch.bfloat16)),
    torch.polygamma(1, torch.tensor([2]))]
[x := torch.empty(2), torch.lgamma(torch.tensor([0.5, 3.0]), out=x) is x, x,
    y := torch.tensor([0.5, 3.0]), y.lgamma_(), y, y.digamma_(), z := torch.tensor([2.0, 3.0]),
    z.igamma_(torch.tensor([1.0, 2.0])), z]

# Thresholds and masks.
gradients(lambda x: F.threshold(x, 0.3, 5.0), sines(2, 3))
gradients(lambda x: F.relu(x), torch.tensor([0.0, -0.0, 1.0, math.nan]))
gradients(lambda x: F.threshold(x, 0.1, 1.0), torch.tensor([0.1, 0.2]).to(torch.float16))
F.threshold(torch.tensor([1.0]), 1j, 0)
F.threshold(torch.tensor([1], dtype=torch.uint8), 300, 1)
torch.tensor([1]).masked_fill(torch.tensor([True]), 1j)

# Activations with numbers: bends, bounds, gates, what numbers may be.
[f(x) for x in (torch.tensor([-3.0, -0.5, 0.0, 0.5, 3.0, math.nan, -math.inf, math.inf],
    dtype=torch.float64),) for f in (F.elu, F.celu, F.selu, F.leaky_relu, F.hardtanh, F.softshrink,
    F.hardshrink, F.softplus, F.relu6, F.hardswish, F.hardsigmoid)]
F.elu(sines(5), 0.3)
F.elu(sines(5), -2.0)
F.celu(sines(5), 0.3)
F.celu(sines(5), -0.5)
F.leaky_relu(sines(5), -0.4)
F.leaky_relu(sines(5), 2)
F.hardtanh(sines(5), -0.2, 0.6)
F.softshrink(sines(5), 0.0)
F.softshrink(sines(5), 0.7)
F.hardshrink(sines(5), 0.7)
F.softplus(sines(5) * 30, 2.0, 10.0)
F.softplus(sines(5), -1.0)
F.softplus(sines(5) * 9, threshold=-3)
[gradients(f, torch.tensor([-3.0, -0.5, 0.0, 0.5, 3.0], dtype=torch.float64))[0]
    for f in (lambda x: F.elu(x, 0.3), lambda x: F.celu(x, 0.3), lambda x: F.leaky_relu(x, 0.4),
    lambda x: F.hardtanh(x, -0.5, 0.5), lambda x: F.softshrink(x, 0.5),
    lambda x: F.hardshrink(x, 0.5), lambda x: F.softplus(x, 2.0, 3.0), F.relu6, F.hardswish,
    F.hardsigmoid, lambda x: F.rrelu(x, 0.1, 0.5), lambda x: F.rrelu(x, 0.25, 0.25, True))]
F.rrelu(sines(5), 0.1, 0.5)
F.rrelu(sines(5), 0.25, 0.25, True)
F.rrelu(sines(5))
F.rrelu(torch.tensor([-2.0, 4.0]), -0.5, 1.5)
(F.rrelu(-torch.ones(500), 0.1, 0.3, True) < -0.0999).all()
(F.rrelu(-torch.ones(500), 0.1, 0.3, True) > -0.3001).all()
F.rrelu(torch.ones(3), 0.1, 0.3, True)
F.rrelu(torch.zeros(2), 0.5, 0.6, True)
[f(x.to(d)) for d in (torch.float16, torch.bfloat16, torch.float32)
    for x in (torch.tensor([-3.0, -0.5, 0.5, 3.0]),)
    for f in (lambda x: F.elu(x, 0.3), lambda x: F.celu(x, 0.3), lambda x: F.softshrink(x, 0.3),
    lambda x: F.hardtanh(x, -0.3, 0.3), F.softplus)]
F.celu(sines(2), 0)
F.celu(sines(2), 1j)
F.elu(sines(2), 1j)
F.rrelu(sines(2), 1j, 1.0)
F.hardtanh(sines(2), 1j, 2.0)
F.softshrink(sines(2), 1j)
F.leaky_relu(sines(2), 1j)
F.rrelu(sines(2), 0.5, 0.1)
F.rrelu(sines(2), 0.1, math.inf)
F.rrelu(sines(2), math.nan, 0.5)
F.softshrink(sines(2), -1)
F.softshrink(sines(2), math.nan)
F.softshrink(sines(2).to(torch.float16), 65505.0)
F.softshrink(sines(2), 60000.0)
F.softshrink(sines(2), 1e30)
F.softshrink(sines(2).to(torch.float16), 65504.0)
F.softshrink(sines(2), 60001)
F.softplus(sines(2), 1j)
[x := sines(3), F.elu_(x, 0.3), F.leaky_relu_(x, 0.1), F.hardtanh_(x, -0.2, 0.2), x,
    F.threshold_(x, 0.1, 7.0), F.celu_(x, 2.0), F.rrelu_(x, 0.5, 0.5), x._version]

# Random numbers: grids of the dtype, ends, elements that nobody asked for.
[[float(torch.empty(n, dtype=d).bernoulli_(p).to(torch.float64).sum())
    for n in (1, 63, 64, 65, 130) for p in (0.0, 1.0)]
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[[(b := torch.zeros(200, dtype=d), b[10:80].bernoulli_(1.0), float(b.to(torch.float64).sum()),
    b[100:170].random_(1, 2) if d != torch.bool else b[100:170].bernoulli_(1.0),
    float(b.to(torch.float64).sum()))[2::2]] for d in (torch.bool, torch.uint8, torch.int8,
    torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
    torch.float64)]

# Masks of dropout.
F.dropout(sines(3), 0.0)
F.dropout(sines(3), 1.0)
F.dropout(sines(3), 0.5, False)
F.alpha_dropout(sines(3), 0.0)
F.feature_alpha_dropout(sines(2, 3), 0.0)
F.dropout2d(sines(2, 3, 2, 2), 1.0).sum()
F.dropout(torch.zeros(0), 0.5)

def dropout2d_flatten():
    x = F.dropout2d(torch.ones(30, 20, 3, 2), 0.5)
    return [x.flatten(2).std(2).max(), sorted(set(x.flatten().tolist())),
        bool(200 < (x[:, :, 0, 0] > 0).sum() < 400)]

def dropout1d_bool():
    x = F.dropout1d(torch.ones(20, 30, 4), 0.5)
    return [x.std(2).max(), bool(200 < (x[:, :, 0] > 0).sum() < 400)]

F.dropout2d(torch.ones(2, 3, 0, 2), 0.5).shape
F.dropout3d(torch.ones(2, 3, 1, 2, 0), 0.5).shape
F.feature_alpha_dropout(torch.ones(3, 2, 4), 0.5, True).std(2).max()
F.dropout(sines(3), 1.5)
F.feature_alpha_dropout(sines(3), 0.5, True)
