"""Single elements: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    checksum,
    checksums_with_gradients,
    differs,
    gradients,
    iota,
    operator,
    optimizer_steps,
    sines,
)

# Results of one element, and of none, in every kernel that asks how many there are.
[checksums_with_gradients(f, sines(1, 1, 1, dtype=d)) for d in (torch.float32, torch.float64)
    for f in (lambda x: F.avg_pool1d(x, 1), lambda x: F.max_pool1d(x, 1),
    lambda x: F.adaptive_avg_pool1d(x, 1), lambda x: F.adaptive_max_pool1d(x, 1),
    lambda x: F.pad(x, (1, 0)), lambda x: F.pad(x, (0, 0)), lambda x: F.pad(x, (1, 1), "replicate"),
    lambda x: F.interpolate(x, 1), lambda x: F.interpolate(x, 1, mode="linear"))]
[checksums_with_gradients(f, sines(1, 1, 1, 1, dtype=d))
    for d in (torch.float32, torch.float64, torch.float16)
    for f in (lambda x: F.avg_pool2d(x, 1), lambda x: F.max_pool2d(x, 1),
    lambda x: F.adaptive_avg_pool2d(x, 1), lambda x: F.adaptive_max_pool2d(x, 1),
    lambda x: F.pad(x, (1, 1, 1, 1), "replicate"), lambda x: F.interpolate(x, (1, 1)),
    lambda x: F.interpolate(x, (1, 1), mode="bilinear"), lambda x: F.unfold(x, 1),
    lambda x: F.fold(x[0], (1, 1), 1))]
[f(sines(1, dtype=d)) for d in (torch.float16, torch.float32, torch.float64)
    for f in (lambda x: x.index_select(0, torch.tensor([0])),
    lambda x: x.index_add(0, torch.tensor([0]), x), lambda x: x.gather(0, torch.tensor([0])),
    lambda x: x.scatter(0, torch.tensor([0]), x + 1),
    lambda x: x.scatter_add(0, torch.tensor([0]), x),
    lambda x: x.scatter_reduce(0, torch.tensor([0]), x, "prod"),
    lambda x: x.index_reduce(0, torch.tensor([0]), x, "amin"), lambda x: x[torch.tensor([0])],
    lambda x: x.index_put((torch.tensor([0]),), x + 1), lambda x: torch.cat([x]),
    lambda x: torch.stack([x]), lambda x: x.sort()[0], lambda x: x.topk(1)[0],
    lambda x: x.kthvalue(1)[0], lambda x: x.median(0)[0], lambda x: x.cumsum(0),
    lambda x: x.cummax(0)[0], lambda x: x.logcumsumexp(0), lambda x: F.softmax(x, 0),
    lambda x: F.log_softmax(x, 0), lambda x: x.logsumexp(0), lambda x: x.sum(0),
    lambda x: x.amax(0), lambda x: x.argmax(0), lambda x: x.var(0, correction=0),
    lambda x: x.nonzero(),)]
[gradients(f, sines(1, dtype=d)) for d in (torch.float16, torch.float32, torch.float64)
    for f in (lambda x: x.index_select(0, torch.tensor([0])),
    lambda x: x.index_add(0, torch.tensor([0]), x), lambda x: x.gather(0, torch.tensor([0])),
    lambda x: x.scatter_add(0, torch.tensor([0]), x), lambda x: x[torch.tensor([0])],
    lambda x: x.cumsum(0), lambda x: x.logcumsumexp(0), lambda x: F.softmax(x, 0),
    lambda x: F.log_softmax(x, 0), lambda x: x.logsumexp(0), lambda x: x[None].tril(),
    lambda x: F.embedding(torch.tensor([0]), x[None]),
    lambda x: F.nll_loss(x[None], torch.tensor([0])), lambda x: F.mse_loss(x, x + 2 * x))]
F.embedding(torch.tensor([0, 0]), sines(1, 0))
F.embedding(torch.zeros(0, dtype=torch.int64), sines(0, 3))
sines(0).index_add(0, torch.zeros(0, dtype=torch.int64), sines(0))
sines(0, 2).scatter(0, torch.zeros(0, 2, dtype=torch.int64), sines(0, 2))
sines(0).sort()[1]
sines(0).cumsum(0)
sines(0).tril() if 0 else sines(0, 0).tril()
sines(0, 2).cummin(0)[1]
torch.isin(sines(0), sines(3))
torch.isin(sines(2), sines(0))
torch.searchsorted(sines(0), sines(2))
torch.searchsorted(sines(2), sines(0))
F.pad(sines(1, 0), (0, 1), value=4.0)
F.pad(sines(1, 2), (-1, -1))

# Which of many equal ones the median is, over blocks that are looked through at once.
with differs("Which of equal ones it is torch doesn't say."):
    [[int(torch.median((iota(n) % q).to(d), 0)[1]) for n in (33, 64, 65, 100, 200, 321)]
        for q in (1, 2, 3) for d in (torch.uint8, torch.int32, torch.int64, torch.float16,
        torch.float32, torch.float64)]
    [[int(torch.median(f(torch.zeros(n)), 0)[1]) for n in (33, 64, 65, 200)]
        for f in (lambda x: x, lambda x: x * math.nan,
        lambda x: torch.where(iota(len(x)) % 3 == 0, math.nan, x))]
    [[int(torch.nanmedian(torch.where(iota(n) % 3 == 0, math.nan, torch.zeros(n)), 0)[1])
        for n in (33, 64, 65, 200)]]

# Keys that are the largest of all, where the sample says otherwise.
def int32_iinfo():
    def apart(n, d, low, high):
        step = n // 32
        x = torch.full((n,), high, dtype=d)
        x[[i * step + step // 2 for i in range(32)]] = low
        return int(torch.median(x))
    return [apart(n, d, low, high(torch.iinfo(d))) for d in (torch.int32, torch.int64)
        for n in (65, 97, 200, 3000) for low in (0, 1)
        for high in (lambda i: i.max, lambda i: i.min)]

# Bounds and slopes that are no real numbers, or none of the dtype.
F.rrelu(sines(3), 0.5, 0.25)
F.rrelu(sines(3), -math.inf, 0.5)
F.glu(sines(2, 4), 0)
with differs("This package alone has it."):
    operator("_hardtanh")(sines(3), 1j, 1.0)
    operator("_hardtanh")(sines(3), -1.0, 1j)
F.elu(sines(3).to(torch.float16), 70000.0)

# A bound that a sample finds and that is the answer itself.
def median_int32():
    def beside(n, at):
        x = torch.ones(n)
        x[at::2] = 0
        return x
    return [torch.median(beside(n, at).to(d)) for n, at in ((65, 2), (129, 1))
        for d in (torch.uint8, torch.int32, torch.float32, torch.float64)]

# The gradient by windows and by places, after windows that are cut at the edge.
[checksum(gradients(lambda x: F.avg_pool2d(x.contiguous(memory_format=f), k, s, p, c, i),
    sines(2, 3, 7, 9))[0]) for f in (torch.contiguous_format, torch.channels_last)
    for k, s, p, c, i in ((3, 2, 1, True, False), ((3, 1), 2, (1, 0), True, False),
    (4, 3, 2, True, True), ((1, 5), (2, 4), (0, 2), False, False))]

# Parameters of one memory, a small one before one that takes more than a tile.
[optimizer_steps("SGD", (x := sines(40000), x[:5], x[3:30003])[1:], momentum=0.9), checksum(x),
    optimizer_steps("Adam", (x := sines(40000), x[:5], x[3:30003])[1:]), checksum(x)]
