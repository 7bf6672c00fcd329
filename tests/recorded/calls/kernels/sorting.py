"""Sorting: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, iota, sines

# Sorting: as it is, by insertion, by merging and by bytes; each dtype and direction.
[checksum(f) for n in (2, 17, 32, 33, 65, 255, 256, 257, 2000)
    for f in torch.sort((sines(n) * 3).to(torch.int8), descending=True, stable=True)]
[checksum(f) for n in (33, 100, 255, 300) for f in torch.sort((iota(n) * 7 % 5).to(torch.float64),
    stable=True)]
[checksum(f) for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for f in torch.sort((sines(300) * 100).to(d), stable=True)]
[checksum(f) for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for f in torch.sort((sines(40) * 100).to(d), descending=True, stable=True)]
[checksum(f) for f in torch.sort(sines(300) > 0.2, stable=True)] + [checksum(f)
    for f in torch.sort(sines(40) > 0.2, descending=True, stable=True)]
[checksum(f) for s in ((3, 40, 5), (300, 2), (2, 300)) for d in range(len(s))
    for f in torch.sort(sines(*s), d)]

# The largest: by keeping few, by sorting all.
[checksum(f) for n, k in ((1, 1), (8, 1), (9, 1), (256, 32), (255, 32), (264, 33), (300, 7),
    (300, 299), (300, 300), (40, 0)) for f in torch.topk(sines(n), k)]
[checksum(f) for n, k in ((8, 1), (256, 32), (264, 33), (300, 7))
    for f in torch.topk(sines(n), k, largest=False)]
[checksum(f) for s in ((3, 40, 5), (300, 2)) for d in range(len(s))
    for f in torch.topk(sines(*s), 2, d)]
[checksum(torch.topk((sines(300) * 100).to(d), 5)[0])
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64)]
[checksum(f) for n, k in ((1, 1), (8, 1), (256, 32), (264, 33), (300, 7), (300, 299), (300, 300))
    for f in torch.kthvalue(sines(n), k)]
[checksum(f) for s in ((3, 40, 5), (300, 2)) for d in range(len(s)) for keep in (False, True)
    for f in torch.kthvalue(sines(*s), 2, d, keep)]
[checksum(torch.kthvalue((sines(300) * 100).to(d), 5)[0])
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64)]
torch.topk((iota(40, dtype=torch.int64) * 7) % 40, 5)
torch.topk((iota(40, dtype=torch.int64) * 7) % 40, 5, largest=False)
checksum(torch.kthvalue(sines(60, 400), 9, 1)[0])
checksum(torch.topk(sines(60, 400), 9, 1)[0])
checksum(torch.median(sines(60, 400), 1)[0])
checksum(torch.median(sines(400, 60), 0)[1])

# Medians: lanes of rows, samples, ties, what is no number.
[checksum(f) for s in ((3, 40, 5), (300, 2), (2, 3000)) for d in range(len(s))
    for keep in (False, True) for f in torch.median(sines(*s), d, keep)]
[float(torch.median((sines(n) * 100).to(d))) for n in (5, 400, 33000)
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64)]
[float(torch.median((iota(n) ** 3 % q).to(d))) for n in (5, 64, 400, 33000)
    for q in (2, 3, 17, 1000) for d in (torch.uint8, torch.int32, torch.int64, torch.float16,
    torch.float32, torch.float64)]
torch.median(torch.tensor([1.0, math.nan, 3.0]))
torch.median(torch.tensor([1.0, math.nan, 3.0, math.nan]), 0)
torch.nanmedian(torch.tensor([math.nan, 1.0, math.nan, 3.0]))
torch.nanmedian(torch.tensor([math.nan, 1.0, math.nan, 3.0]), 0)
torch.nanmedian(torch.tensor([math.nan, math.nan]), 0)
torch.nanmedian(torch.tensor([math.nan, math.nan]))
torch.median(torch.zeros(0))
torch.median(sines(), 0)
torch.nanmedian(sines())
[torch.nanmedian(torch.tensor([[math.nan, 1.0, 5.0], [2.0, math.nan, 4.0]]), d, k) for d in (0, 1)
    for k in (False, True)]
[float(torch.nanmedian(torch.where(sines(n) > 0.5, math.nan, sines(n).float()).to(d)))
    for n in (5, 40, 400, 33000) for d in (torch.float16, torch.bfloat16, torch.float32,
    torch.float64)]
torch.median(torch.zeros(2, 0), 1)
[[int(torch.median(torch.cat([torch.zeros(a), torch.ones(b) * 255, iota(c)]).to(d)))
    for d in (torch.uint8, torch.int32, torch.int64)]
    for a, b, c in ((30, 30, 41), (100, 3, 100), (3, 200, 100), (500, 501, 1), (40000, 3, 3),
    (3, 40000, 3))]

# Running extremes and logarithms of sums.
[checksum(f) for s in ((7,), (1,), (3, 4), (2, 5, 3), (40, 300)) for d in range(len(s))
    for g in (torch.cummax, torch.cummin) for f in g(sines(*s), d)]
[checksum(f) for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for g in (torch.cummax, torch.cummin) for f in g((sines(2, 20) * 5).to(d), 1)]
[g(torch.tensor([[True, False], [False, True], [True, True]]), 0)
    for g in (torch.cummax, torch.cummin)]
[g(torch.tensor([2.0, 2.0, math.nan, 5.0, math.nan, -1.0]), 0)
    for g in (torch.cummax, torch.cummin)]
[g(torch.tensor([[2.0, math.nan], [2.0, 1.0], [1.0, math.nan]]), 0)
    for g in (torch.cummax, torch.cummin)]
[g(x, d) for g in (torch.cummax, torch.cummin)
    for x, d in ((sines(), 0), (torch.zeros(0), 0), (sines(4, 3).t(), 1), (sines(6)[::2], -1))]
[x := torch.empty(5), y := torch.empty(5, dtype=torch.int64),
    torch.cummin(sines(5).float(), 0, out=(x, y)), x, y]
[checksum(torch.logcumsumexp(sines(*s) * 9, d)) for s in ((7,), (1,), (3, 4), (2, 5, 3), (40, 300))
    for d in range(len(s))]
[torch.view_as_real(torch.logcumsumexp(complex_sines(*s, dtype=d), k))
    for d in (torch.complex64, torch.complex128)
    for s, k in (((5,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 2, 2), 1))]
[torch.view_as_real(torch.logcumsumexp(torch.complex(torch.tensor(a, dtype=torch.float64),
    torch.tensor(b, dtype=torch.float64)), 0)) for a,
    b in (([-math.inf, 1.0, 2.0], [0.0, 1.0, 3.0]), ([1.0, -math.inf, 2.0], [0.5, 0.0, 3.0]),
    ([3.0, 1.0, 5.0], [3.0, 0.0, 1.0]), ([0.0, 0.0, 0.0], [0.0, 3.0, 1.5]))]
[torch.logcumsumexp(x, d) for x, d in ((sines(), 0), (torch.zeros(0), 0), (sines(4, 3).t(), 1),
    (sines(6)[::2], -1))]
[x := torch.empty(5, dtype=torch.float64), torch.logcumsumexp(sines(5), 0, out=x) is x, x]
[x := sines(5), torch.logcumsumexp(x, 0, out=x) is x, x]

# A sample of every eighth element sees neither the numbers above it nor what is no number.
def where_nanmedian():
    p = torch.arange(256)
    x = torch.where(p % 8 == 4, p // 8, torch.where(p % 8 < 2, math.nan, p + 100.0))
    return [x.to(dtype).median(0) for dtype in (torch.float32, torch.float64)], x.nanmedian(0)
