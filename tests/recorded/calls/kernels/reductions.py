"""Reductions: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, differs, gradients, iota, sines

# Sums: vectors and what is left of them, blocks, tiles, rows and columns, axes in any order.
[checksum(sines(n).to(d).sum().reshape(1)) for n in (1, 3, 4, 5, 7, 8, 9, 12, 16, 31, 33, 64, 511,
    512, 513, 1023, 1025, 1537, 2048, 2049, 5000) for d in (torch.float32, torch.float64)]
[(sines(n) * 99).to(d).sum().item() for n in (1, 3, 4, 5, 63, 2048, 2049, 70000)
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
[torch.view_as_real(complex_sines(n, dtype=d).sum()) for n in (1, 2, 3, 4, 5, 255, 257, 600, 2049)
    for d in (torch.complex64, torch.complex128)]
[checksum(sines(*s).to(d).sum(k)) for s in ((9, 5), (70, 7), (130, 8), (7, 9), (8, 3), (64, 7),
    (65, 7)) for k in (0, 1) for d in (torch.float32, torch.float64)]
[checksum(sines(*s).sum(k)) for s in ((200, 3), (127, 1), (128, 1), (300, 2), (64, 2), (63, 2),
    (43, 3), (10, 64), (10, 65), (2, 64), (4, 4, 40), (50000, 2)) for k in (0, -1)]
[checksum(sines(*s).amax(k)) for s in ((200, 3), (300, 2), (64, 2), (63, 2), (43, 3), (10, 64),
    (10, 65), (3001, 2)) for k in (0, -1)]
[checksum((sines(*s) + 1.5).prod(k).log()) for s in ((200, 3), (64, 2), (43, 3), (10, 65))
    for k in (0, -1)]
[checksum((sines(*s) * 9).to(d).sum(k)) for s in ((200, 3), (130, 5), (5, 300)) for k in (0, 1)
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
[torch.view_as_real(complex_sines(*s, dtype=d).sum(k)) for s in ((200, 3), (5, 3)) for k in (0, 1)
    for d in (torch.complex64, torch.complex128)]
[torch.view_as_real(complex_sines(*s, dtype=d).prod(k)) for s in ((20, 3), (3, 2), (7, 1))
    for k in (0, 1) for d in (torch.complex64, torch.complex128)]
[checksum(sines(3, 4, 5, 6).sum(k)) for k in (0, 1, 2, 3, (0, 1), (0, 2), (0, 3), (1, 2), (1, 3),
    (2, 3), (0, 1, 2), (0, 2, 3), (1, 2, 3), (0, 1, 3))]
[checksum(sines(3, 4, 5, 6).permute(*p).sum(k)) for p in ((3, 1, 0, 2), (2, 0, 3, 1), (1, 0, 3, 2))
    for k in (0, 2, 3, (0, 2), (1, 3), (0, 1, 3), (1, 2))]
[checksum(x.sum(k)) for x in (sines(6, 8)[::2], sines(6, 8)[:, ::2], sines(6, 8).t(),
    sines(1, 8).expand(5, 8), sines(6, 1).expand(6, 5), sines(1, 4, 1).expand(3, 4, 5),
    sines(4, 1, 5)[:, :, 1:]) for k in (0, 1, (0, 1), -1)]
[checksum(sines(2, 40, 3, 900).sum(k)) for k in ((0, 2), (1, 3), (0, 3), 1,
    3)] + [checksum(sines(300, 2, 100).sum(k)) for k in (0, (0, 2), 2)]
checksum(sines(70000, 2).sum(0))
checksum(sines(2, 70000).sum(1))
checksum(sines(70000, 3).amax(0))
checksum(sines(3, 70001).amin(1))
checksum(sines(1100, 64).sum(0))
checksum(sines(65, 33000).sum(1))
checksum(sines(40, 2, 1700).sum((0, 2)))
[checksum(sines(*s).to(d).sum(k).to(torch.float64) / 10) for d in (torch.float16, torch.bfloat16)
    for s in ((5, 1023), (5, 1024), (5, 1025), (17, 3), (33, 3), (2, 2050)) for k in (0,)]
[sines(*s).to(d).sum(k) for d in (torch.float16, torch.bfloat16)
    for s in ((2, 1023), (2, 1024), (2, 1025), (2, 3000)) for k in (1,)]
[f(sines(2, n).to(d), 1) for d in (torch.float16, torch.bfloat16) for n in (3, 1024, 1025, 3000)
    for f in (torch.amax, torch.amin)] + [torch.prod(1 + sines(2, 40).to(torch.float16) / 64, 1)]
[torch.sum(iota(3, 4), dtype=d) for d in (torch.float64, torch.int64, torch.int32, torch.float16,
    torch.complex64, torch.bool)] + [(sines(5) * 9).to(torch.int32).sum(dtype=torch.int8),
    (sines(3) > 0).sum(), (sines(3) > 0).prod(),
    torch.prod(torch.tensor([2, 3]), dtype=torch.float64)]
[x := torch.empty(3, dtype=torch.float64), torch.sum(sines(2, 3), 0, out=x) is x, x,
    y := torch.empty(2, 1), torch.mean(sines(2, 3).float(), 1, True, out=y), y]
torch.tensor([1e30, 1e30]).mean()
torch.tensor([65504.0, 65504.0]).to(torch.float16).mean()
torch.tensor([3e38, 3e38]).sum()
sines(2, 0).mean()
complex_sines(0).mean()
sines(2, 0).sum(1)
sines(2, 0).prod(1)
torch.zeros(0).prod()
[checksum(sines(*s).to(d).mean(k)) for s in ((5, 7), (3, 3000), (200, 3)) for k in (0, 1, (0, 1))
    for d in (torch.float32, torch.float64)] + [torch.view_as_real(complex_sines(3, 5).mean(1)),
    complex_sines(3, 5).mean()]

# Nothing is written beside the result.
def amax_checksum():
    big = torch.zeros(2000)
    a = [torch.sum(sines(300, 700).float(), 0, out=big[:700]),
        torch.amax(sines(300, 700).float(), 0, out=big[800:1500])]
    return [checksum(a[0]), checksum(a[1]), big[700:800].abs().sum(), big[1500:].abs().sum()]

def logsumexp_softmax():
    big = torch.zeros(9000)
    f = lambda r, *s: r.abs().sum()
    a = [f(torch.logsumexp(sines(70, 500).float(), 1, out=big[:70])),
        f(torch.logsumexp(sines(500, 700).float(), 0, out=big[100:800])),
        f(torch.var(sines(70, 500).float(), 1, out=big[900:970])),
        f(torch.cumsum(sines(9, 50).float(), 1, out=big[1000:1450].view(9, 50))),
        f(torch.softmax(sines(9, 50).float(), 1, out=big[1500:1950].view(9, 50))),
        f(torch.softmax(sines(5, 300).float(), 0, out=big[2000:3500].view(5, 300))),
        f(torch.argmax(sines(9, 50), 0).float()), f(torch.sum(sines(77, 500).float(), 1,
        out=big[4000:4077])), f(torch.index_select(sines(9, 50).float(), 0,
        iota(9, dtype=torch.int64), out=big[5000:5450].view(9, 50))),
        f(torch.tril(sines(9, 50).float(), out=big[6000:6450].view(9, 50))),
        f(torch.mm(sines(9, 30).float(), sines(30, 50).float(), out=big[7000:7450].view(9, 50)))]
    return [*a, *(big[i:j].abs().sum() for i, j in ((70, 100), (800, 900), (970, 1000),
        (1450, 1500), (1950, 2000), (3500, 4000), (4077, 5000), (5450, 6000), (6450, 7000),
        (7450, 9000)))]

def argmax_checksum():
    big = torch.zeros(900, dtype=torch.int64)
    a = [torch.argmax(sines(70, 500), 1, out=big[:70]),
        torch.argmax(sines(5, 700), 0, out=big[100:800])]
    return [checksum(a[0]), checksum(a[1]), big[70:100].sum(), big[800:].sum()]

# Broadcasting undone.
[checksum(gradients(lambda a, b: a * b, x, y)[0])
    + checksum(gradients(lambda a, b: a * b, x, y)[1])
    for x, y in ((sines(3), sines(2, 3)), (sines(2, 1), sines(1, 3)), (sines(), sines(2, 3)),
    (sines(1, 1, 3), sines(2, 3)), (sines(4, 1, 3), sines(2, 1)), (sines(1, 1, 1), sines(1)),
    (sines(3, 1), sines(0)), (sines(1, 3), sines(0, 3)))]
gradients(lambda a: a.expand(0, 3), sines(3))
gradients(lambda a: a.expand(2, 0), sines(1))
gradients(lambda a: a[None, None], sines(3))

# Largest, smallest, all, any: vectors of each width and what is left, NaN, no element.
[[f((sines(n) * 99).to(d)).item() for n in (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65,
    100, 2049)] for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float32, torch.float64) for f in (torch.amax, torch.amin)]
[[f(x).item() for k in range(40) for x in [torch.tensor([float(j == k) for j in range(40)]).to(d)]]
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32,
    torch.float64) for f in (torch.argmax,)]
[[int(f(torch.tensor([s * float(j == k) for j in range(n)], dtype=d)) == s) for n in (3, 9, 17, 35)
    for k in range(n)] for d in (torch.int8, torch.int16, torch.int32, torch.int64, torch.float32,
    torch.float64) for f, s in ((torch.amax, 1), (torch.amin, -1))]
[checksum(f((sines(*s) * 99).to(d), k)) for s in ((9, 8), (9, 9), (8, 3), (7, 3), (70, 5), (130, 8),
    (5, 130), (3, 4, 5)) for k in (0, 1) for d in (torch.uint8, torch.int64, torch.float32)
    for f in (torch.amax, torch.amin)]
[f(torch.tensor([[1.0, math.nan, 3.0], [4.0, 5.0, 6.0]]), k) for f in (torch.amax, torch.amin)
    for k in (0, 1, (0, 1), ())]
[f(torch.tensor([True, False, True])) for f in (torch.amax, torch.amin, torch.max,
    torch.min)] + [torch.amax(torch.tensor([[True, False]]), 0),
    torch.amin(torch.tensor([[True, False], [True, True]]), 0)]
[f(x, k) for f in (torch.all, torch.any) for x in (torch.tensor([[1.0, 0.0], [math.nan, 2.0]]),
    torch.tensor([[0, 0], [3, 0]]), torch.tensor([[1, 2], [0, 4]], dtype=torch.uint8),
    torch.tensor([[0j, 1j]]), torch.zeros(2, 0), torch.zeros(0, 2)) for k in (0, 1, (0, 1))]
[f(x) for f in (torch.all, torch.any) for x in (torch.tensor([1.0, 0.0]), torch.tensor([1, 2]),
    torch.tensor([0, 0]), torch.tensor([], dtype=torch.bool), torch.tensor(3), sines(3000) > -2,
    sines(3000) > 0.99999)]
torch.all(sines(2, 3) > -2, ())
torch.any(sines(2, 3) > 0, ())
torch.aminmax(sines(2, 3))
torch.aminmax(sines(2, 3), dim=1)
torch.aminmax(torch.tensor([1.0, math.nan]))
sines(2, 0).amax(1)
[sines(2, 0).amax(0), sines(0, 2).amin(1), torch.zeros(0, 3).max(1)[0]]

# Positions: narrow rows side by side, long rows in pieces, columns, the first of equals.
[checksum(f) for s in ((9, 24), (9, 25), (7, 24), (8, 3), (65, 24), (130, 5), (3, 1024), (3, 1025),
    (2, 3000), (2, 32768), (2, 32769), (1, 70000), (5, 700), (4, 5, 300), (300, 5))
    for k in (0, -1) for f in torch.max(sines(*s), k)]
[checksum(f) for s in ((9, 24), (9, 25), (65, 24), (2, 1025), (2, 32769), (5, 700))
    for k in (0, -1) for f in torch.min((sines(*s) * 3).to(torch.int8), k)]
[checksum(f) for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for s in ((9, 5), (3, 40), (2, 1100), (2, 2049)) for k in (0, 1)
    for f in torch.max((sines(*s) * 99).to(d), k)]
[checksum(f) for d in (torch.float16, torch.bfloat16)
    for s in ((9, 5), (3, 40), (2, 1100), (2, 2049)) for k in (0, 1)
    for f in torch.min((sines(*s) * 99).to(d), k)]
[f(x.to(d), k) for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for f in (torch.max, torch.min) for x in (torch.tensor([[1.0, math.nan, 3.0, math.nan],
    [4.0, 4.0, 2.0, 2.0]]),) for k in (0, 1)]
[int(f(torch.where(iota(n) == k, v, sines(n).float()).to(d)))
    for d in (torch.float16, torch.float32) for f in (torch.argmax, torch.argmin)
    for n in (1500, 3000) for k in (0, 700, 1030, 1499) for v in (math.nan, 9.0, -9.0)]
torch.argmax(sines(3, 4))
torch.argmax(sines(3, 4), 0)
torch.argmin(sines(3, 4), 1, True)
torch.argmax(sines(3, 4), keepdim=True)
torch.argmax(sines())
torch.argmin(sines(4, 3).t(), 0)
torch.argmax(sines(6, 4)[::2])
torch.max(torch.tensor([5, 7, 7, 5]), 0)
torch.min(torch.tensor([5, 7, 7, 5]), 0)
torch.max(torch.tensor([[True, False], [True, True]]), 1)
torch.max(torch.zeros(3, 4), 1)
torch.max(torch.tensor([0.0, -0.0]), 0)
torch.max(torch.tensor([-0.0, 0.0]), 0)
[int(torch.argmax((iota(n) == k).float())) for n in (33, 64, 100, 1024)
    for k in (0, 31, 32)] + [int(torch.argmin(torch.zeros(n))) for n in (1, 32, 5000)]
torch.max(torch.zeros(2, 0), 1)
torch.argmax(torch.zeros(0))

# Variances: pieces of rows and tiles, corrections, what overflows in between.
[checksum(f(sines(*s).to(d), k)) for s in ((5, 7), (2, 1024), (2, 1025), (3, 2500), (2, 33000),
    (9, 3)) for k in (0, 1, (0, 1)) for d in (torch.float32, torch.float64)
    for f in (torch.var, torch.std)]
[f(sines(2, 9), 1, correction=c, keepdim=True) for c in (0, 1, 2, 8, 9, 10, 2.5)
    for f in (torch.var, torch.std)]
[f(sines(2, 1500).to(d), 1) for d in (torch.float16, torch.bfloat16)
    for f in (torch.var, torch.std, torch.var_mean)]
[torch.var(torch.tensor([5.0] + [0.0] * n).to(d), 0) for n in (9, 1500)
    for d in (torch.float16, torch.bfloat16)]
[f(complex_sines(3, 4, dtype=d), 1) for d in (torch.complex64, torch.complex128)
    for f in (torch.var, torch.std)] + [torch.view_as_real(torch.var_mean(complex_sines(3, 4),
    0)[1]), torch.std_mean(sines(3, 4), (0, 1)),
    torch.var_mean(sines(3, 4), 1, correction=0, keepdim=True)]
torch.std(torch.tensor([1e25, -1e25, 3e25]))
torch.std(torch.tensor([1e38, -1e38]))
torch.var(torch.tensor([1e25, -1e25]))
torch.std(torch.tensor([3e-30, 1e-30])) * 1e30
torch.std(torch.tensor([[3e-20, 1e-20, 2.5e-20], [1.0, 1.0, 1.0]]), 1) * 1e20
torch.std(torch.tensor([1e200, -1e200], dtype=torch.float64))
torch.std(torch.tensor([1e155, -1e155], dtype=torch.float64))
torch.std(torch.tensor([[1e25, 2e25], [1.0, 3.0]]), 1)
torch.std(torch.tensor([math.inf, 1.0]))
torch.std(torch.tensor([math.nan, 1.0]))
torch.var(torch.tensor([5.0]))
torch.var(torch.tensor([5.0]), correction=0)
torch.std(torch.zeros(2, 0), 1)
torch.var(torch.zeros(0, 3), 0)
torch.var(sines(4, 3).t(), 1)
torch.var(sines(2, 3, 4), (0, 2))
torch.std(sines(2, 3, 4).permute(2, 0, 1), (0, 1))
torch.var(1e8 + sines(5))
torch.var(torch.tensor(3.0), correction=0)
with differs("The sum of two variances may be out of range where the root is not."):
    torch.std(torch.tensor([1e25 + 0j, -1e25 + 0j]))
    torch.std(complex_sines(9, dtype=torch.complex64) * 1e25) / 1e25
torch.std(torch.tensor([1e25] * 600 + [-1e25] * 600))
torch.std(torch.tensor([1e25, -1e25] * 20000)) / 1e25
[x := torch.empty(2, dtype=torch.float64), torch.var(sines(2, 3), 1, out=x) is x, x,
    y := torch.empty(2), torch.std(sines(2, 3).float(), 1, out=y), y]

# Logarithms of sums.
[checksum(torch.logsumexp(sines(*s).to(d) * 5, k))
    for s in ((5, 7), (9, 24), (9, 25), (65, 3), (3, 1024), (2, 1025), (2, 2500), (5, 700),
    (4, 5, 60), (300, 5)) for k in (0, -1, (0, 1)) for d in (torch.float32, torch.float64)]
[torch.logsumexp(x, 0) for x in (sines(5).to(torch.float16), sines(5).to(torch.bfloat16),
    torch.tensor([1, 2, 3]), torch.tensor([math.inf, 1.0]), torch.tensor([-math.inf, -math.inf]),
    torch.tensor([math.nan, math.inf]), torch.tensor([800.0, 800.0]), sines(0), sines(),
    torch.tensor([True, False]))]
torch.logsumexp(torch.tensor([[math.inf, -math.inf, math.nan, 800.0],
    [1.0, -math.inf, 1.0, 800.0]] * 9), 0)
torch.logsumexp(torch.tensor([[math.inf, -math.inf, math.nan, 800.0],
    [1.0, -math.inf, 1.0, 800.0]] * 9), 1)
[torch.view_as_real(torch.logsumexp(x, k)) for x in (complex_sines(3, 4),
    complex_sines(3, 4, dtype=torch.complex64) * 50, complex_sines(4, 3).t())
    for k in (0, 1, (0, 1))]
[torch.view_as_real(torch.logsumexp(torch.complex(torch.tensor([a, 1.0]), torch.tensor([0.0, 2.0])),
    0)) for a in (-math.inf, 1.0)]
torch.logsumexp(sines(2, 3, 2), 1)
checksum(torch.logsumexp(sines(3, 4, 2), 1))
torch.logsumexp(sines(2, 3, 4), (0, 2), True)
torch.logsumexp(sines(4, 3).t(), 1)
torch.logsumexp(sines(6, 4)[::2], 0)
torch.logsumexp(sines(2, 0), 0)
torch.logsumexp(sines(2, 0), 1)
torch.logsumexp(sines(1, 4).expand(3, 4), 0)
[x := torch.empty(2, dtype=torch.float64), torch.logsumexp(sines(2, 3), 1, out=x) is x, x]

# Running sums: rows side by side, strips of columns, from here to there.
[checksum(torch.cumsum(sines(*s).to(d), k)) for s in ((7,), (1,), (8, 5), (9, 5), (16, 3), (17, 3),
    (3, 15), (3, 16), (3, 17), (4, 33), (2, 5, 16), (2, 5, 40), (3, 2, 7), (2000, 17), (3000, 16),
    (2, 40000)) for k in range(len(s)) for d in (torch.float64,)]
[checksum(torch.cumsum(sines(*s).to(torch.float32), k) / 10)
    for s in ((7,), (8, 5), (9, 5), (17, 3), (4, 33), (2, 5, 40), (300, 16)) for k in range(len(s))]
[checksum(torch.cumsum((sines(*s) * 99).to(d), k))
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    for s in ((9, 20), (3, 5, 18)) for k in (0, 1)]
[checksum(torch.cumsum((sines(9, 20) * 9).to(torch.int32), 1, dtype=d))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.float32, torch.float64)]
[torch.cumsum(sines(5).to(d), 0) for d in (torch.float16,
    torch.bfloat16)] + [torch.view_as_real(torch.cumsum(complex_sines(*s, dtype=d), k))
    for d in (torch.complex64, torch.complex128)
    for s, k in (((5,), 0), ((3, 7), 0), ((3, 8), 0), ((3, 9), 0), ((3, 9), 1), ((2, 3, 9), 1),
    ((1300, 8), 0))]
[torch.cumsum(x, k) for x, k in ((sines(), 0), (sines(0), 0), (sines(2, 0), 1),
    (sines(4, 3).t(), 1), (sines(4, 3).t(), 0), (sines(12)[::2], 0), (sines(1, 3).expand(4, 3), 1),
    (sines(1, 3).expand(4, 3), 0), (torch.tensor([-0.0, -0.0]), 0),
    (torch.tensor([True, True]), 0))]
[x := sines(9, 5), x.cumsum_(1) is x, checksum(x), y := sines(3, 20), y.cumsum_(0), checksum(y),
    z := sines(4, 3).t(), z.cumsum_(1), z]
[x := torch.empty(3, 2, dtype=torch.float64), torch.cumsum(sines(3, 2), 1, out=x) is x, x,
    y := sines(3, 2), torch.cumsum(y, 1, out=y), y]
[torch.cumsum(-sines(4), 0), torch.cumsum(complex_sines(4).conj(), 0).imag]

# squares too small for float32 over nothing
torch.tensor([1e-30, 2e-30]).var(correction=2)
torch.tensor([1e-30, 2e-30]).std(correction=3)
torch.tensor([2.0, 2.0]).var(correction=2)
torch.tensor([[1e-30, 2e-30], [2e-30, 2e-30]]).var(0, correction=2)
torch.tensor([1e-30 + 1e-30j, 2e-30], dtype=torch.complex64).var(correction=2)

# one row has no deviation, others have theirs
torch.tensor([[3e-30, -3e-30, 1e-30], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0], [3e30, -3e30, 1e30]]).std(1)
[x == y for x, y in zip(torch.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 4.0]]).std(1).tolist(),
    [0.0, torch.tensor([[1.0, 2.0, 4.0]]).std(1).item()])]
torch.tensor([[3e-30, -3e-30, 1e-30] * 9000, [1.0, 2.0, 4.0] * 9000]).std(1)
torch.tensor([[3e-30, 1.0], [-3e-30, 1.0], [1e-30, 1.0]]).std(0)
torch.tensor([[3e25, -3e25, 1e-30], [1.0, 2.0, 4.0]]).var(1)

# Variances of few and of tiny numbers.
[torch.var(torch.tensor(v, dtype=d), 0, correction=c)
    for v in ([1e-30, 2e-30], [0.0, 0.0], [1e-4, 2e-4, 1e-4])
    for d in (torch.bfloat16, torch.float32, torch.float64, torch.float16) for c in (0, 1, 2, 3)]
[torch.std(torch.tensor([1e-30, 2e-30, v], dtype=d), 0, correction=c) for v in (0.0, 1e-30, 1e30)
    for d in (torch.bfloat16, torch.float32, torch.float64) for c in (0, 1, 3)]
torch.std_mean(torch.tensor([[1e-30, 3e-30]] * 3, dtype=torch.bfloat16), 1)
torch.var_mean(torch.tensor([[1e-30, 3e-30]] * 3, dtype=torch.bfloat16).t(), 0, correction=2)
iota(300, dtype=torch.bfloat16).div(1e25).std()
