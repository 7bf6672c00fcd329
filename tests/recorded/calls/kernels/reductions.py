"""Reductions: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, differs, gradients, iota, sines

# Sums: vectors and what is left of them, blocks, tiles, rows and columns, axes in any order.
[(sines(n) * 99).to(d).sum().item() for n in (1, 3, 4, 5, 63, 2048, 2049, 70000)
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
[checksum((sines(*s) + 1.5).prod(k).log()) for s in ((200, 3), (64, 2), (43, 3), (10, 65))
    for k in (0, -1)]
[checksum((sines(*s) * 9).to(d).sum(k)) for s in ((200, 3), (130, 5), (5, 300)) for k in (0, 1)
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
[torch.view_as_real(complex_sines(*s, dtype=d).prod(k)) for s in ((20, 3), (3, 2), (7, 1))
    for k in (0, 1) for d in (torch.complex64, torch.complex128)]
[torch.sum(iota(3, 4), dtype=d) for d in (torch.float64, torch.int64, torch.int32, torch.float16,
    torch.complex64, torch.bool)] + [(sines(5) * 9).to(torch.int32).sum(dtype=torch.int8),
    (sines(3) > 0).sum(), (sines(3) > 0).prod(),
    torch.prod(torch.tensor([2, 3]), dtype=torch.float64)]

# Nothing is written beside the result.
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

def argmax_out():
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
[[f(x).item() for k in range(40) for x in [torch.tensor([float(j == k) for j in range(40)]).to(d)]]
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32,
    torch.float64) for f in (torch.argmax,)]
sines(2, 0).amax(1)

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
[int(torch.argmax((iota(n) == k).float())) for n in (33, 64, 100, 1024)
    for k in (0, 31, 32)] + [int(torch.argmin(torch.zeros(n))) for n in (1, 32, 5000)]

# Variances: pieces of rows and tiles, corrections, what overflows in between.
[f(sines(2, 1500).to(d), 1) for d in (torch.float16, torch.bfloat16)
    for f in (torch.var, torch.std, torch.var_mean)]
[torch.var(torch.tensor([5.0] + [0.0] * n).to(d), 0) for n in (9, 1500)
    for d in (torch.float16, torch.bfloat16)]
[f(complex_sines(3, 4, dtype=d), 1) for d in (torch.complex64, torch.complex128)
    for f in (torch.var, torch.std)] + [torch.view_as_real(torch.var_mean(complex_sines(3, 4),
    0)[1]), torch.std_mean(sines(3, 4), (0, 1)),
    torch.var_mean(sines(3, 4), 1, correction=0, keepdim=True)]
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
[x := sines(9, 5), x.cumsum_(1) is x, checksum(x), y := sines(3, 20), y.cumsum_(0), checksum(y),
    z := sines(4, 3).t(), z.cumsum_(1), z]
[torch.cumsum(-sines(4), 0), torch.cumsum(complex_sines(4).conj(), 0).imag]

# squares too small for float32 over nothing
torch.tensor([1e-30 + 1e-30j, 2e-30], dtype=torch.complex64).var(correction=2)

# Variances of few and of tiny numbers.
[torch.var(torch.tensor(v, dtype=d), 0, correction=c)
    for v in ([1e-30, 2e-30], [0.0, 0.0], [1e-4, 2e-4, 1e-4])
    for d in (torch.bfloat16, torch.float32, torch.float64, torch.float16) for c in (0, 1, 2, 3)]
[torch.std(torch.tensor([1e-30, 2e-30, v], dtype=d), 0, correction=c) for v in (0.0, 1e-30, 1e30)
    for d in (torch.bfloat16, torch.float32, torch.float64) for c in (0, 1, 3)]
torch.std_mean(torch.tensor([[1e-30, 3e-30]] * 3, dtype=torch.bfloat16), 1)
torch.var_mean(torch.tensor([[1e-30, 3e-30]] * 3, dtype=torch.bfloat16).t(), 0, correction=2)
iota(300, dtype=torch.bfloat16).div(1e25).std()
