"""Products: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    checksum,
    complex_sines,
    differs,
    gradients,
    iota,
    second_gradients,
    sines,
    tangents,
)

# Operands as they lie: rows, columns, windows, single rows and columns, what must be copied.
[checksum(x @ y) for x in (sines(4, 5), sines(5, 4).t(), sines(4, 7)[:, 1:6], sines(4, 10)[:, ::2],
    sines(8, 5)[::2], sines(1, 5).expand(4, 5), sines(4, 1).expand(4, 5),
    torch.as_strided(sines(20), (4, 5), (2, 1)), torch.as_strided(sines(20), (4, 5), (1, 2)),
    torch.as_strided(sines(20), (4, 5), (0, 0)))
    for y in (sines(5, 3), sines(3, 5).t(), sines(5, 5)[:, 1:4], sines(10, 3)[::2],
    sines(5, 6)[:, ::2], torch.as_strided(sines(20), (5, 3), (1, 1)))]
[checksum(x @ y) for x in (sines(4, 1), sines(4, 3)[:, 1:2], sines(1, 4).t(),
    sines(9)[::2].reshape(5, 1)[:4], torch.as_strided(sines(9), (4, 1), (1, 7)),
    torch.as_strided(sines(9), (4, 1), (0, 1)), torch.as_strided(sines(9), (4, 1), (2, 5)))
    for y in (sines(1, 3), sines(3, 1).t(), sines(2, 3)[1:], sines(1, 6)[:, ::2],
    torch.as_strided(sines(9), (1, 3), (5, 2)), torch.as_strided(sines(9), (1, 3), (0, 1)))]
[checksum(x @ y) for x in (sines(1, 5), sines(5, 1).t(), sines(3, 5)[1:2], sines(1, 10)[:, ::2])
    for y in (sines(5, 3), sines(5, 1), sines(1, 5).t(), sines(3, 5).t(), sines(5, 3)[:, 1:2])]
(sines(0, 3) @ sines(3, 2)).shape
sines(2, 0) @ sines(0, 3)
(sines(2, 3) @ sines(3, 0)).shape
sines(0) @ sines(0)
sines(2, 0) @ sines(0)
torch.bmm(sines(0, 2, 3), sines(0, 3, 4)).shape
torch.bmm(sines(2, 2, 0), sines(2, 0, 2))
(sines(0, 1, 3) @ sines(3, 2)).shape
[x @ y for x in (sines(5), sines(10)[::2], sines(1).expand(5))
    for y in (sines(5, phase=2.0), sines(10, phase=2.0)[::2], sines(5, 2), sines(2, 5).t(),
    sines(1).expand(5))]
[x @ y for x in (sines(3, 5), sines(5, 3).t(), sines(1, 5), sines(3, 10)[:, ::2])
    for y in (sines(5, phase=2.0), sines(10, phase=2.0)[::2], sines(1).expand(5))] + [sines(3,
    1) @ sines(1), sines(1, 1) @ sines(1), sines(1) @ sines(1), sines(4, 3)[:, 1:2] @ sines(1)]
[checksum(torch.bmm(x, y)) for x in (sines(3, 4, 5), sines(3, 5, 4).transpose(1, 2),
    sines(4, 3, 5).transpose(0, 1), sines(1, 4, 5).expand(3, 4, 5), sines(6, 4, 5)[::2],
    sines(3, 4, 10)[..., ::2], sines(4, 5, 3).permute(2, 0, 1))
    for y in (sines(3, 5, 2), sines(3, 2, 5).transpose(1, 2), sines(1, 5, 2).expand(3, 5, 2),
    sines(5, 3, 2).transpose(0, 1))]
[checksum(x @ y) for x, y in ((sines(2, 3, 4, 5), sines(5, 6)), (sines(2, 3, 4, 5), sines(3, 5, 6)),
    (sines(5), sines(3, 5, 6)), (sines(3, 4, 5), sines(5)), (sines(2, 1, 4, 5), sines(1, 3, 5, 2)),
    (sines(3, 1, 5), sines(5, 2)), (sines(3, 4, 1), sines(3, 1, 2)))]
[checksum(F.linear(x, y, b)) for x in (sines(4, 5), sines(5), sines(2, 3, 5), sines(5, 4).t(),
    sines(2, 5, 3).transpose(1, 2), sines(1, 1, 5), sines(4, 10)[:, ::2])
    for y in (sines(3, 5), sines(5, 3).t(), sines(3, 10)[:, ::2], sines(7, 10)[:, ::2],
    sines(1, 5)) for b in (None, sines(y.shape[0], phase=2.0),
    sines(2 * y.shape[0], phase=2.0)[::2])]
[checksum(F.linear(x, y, b)) for x in (sines(4, 1), sines(2, 3, 1), sines(1), sines(1, 1, 1),
    sines(1, 4).t()) for y in (sines(3, 1), sines(1, 1), sines(1, 3).t())
    for b in (None, sines(y.shape[0], phase=2.0))] + [F.linear(sines(2, 0), sines(3, 0), sines(3)),
    F.linear(sines(0, 2), sines(3, 2), sines(3)).shape, F.linear(sines(2, 0, 3), sines(2, 3)).shape]
[checksum(F.linear(sines(m_, k, dtype=d), sines(n, k, dtype=d), sines(n, dtype=d, phase=2.0)))
    for m_, n, k in ((1, 3, 5), (5, 1, 3), (4, 4, 4), (5, 5, 9000), (9, 130, 40), (130, 9, 300))
    for d in (torch.float32, torch.float64)]

# With addends and factors.
[torch.addmm(sines(2, 2), sines(2, 3), sines(3, 2), beta=b, alpha=a) for b in (0, 1, 0.5, -2)
    for a in (0, 1, 2.5)]
[torch.addmm(c, sines(2, 3), sines(3, 2)) for c in (sines(2), sines(1, 2), sines(2, 1), sines(),
    sines(4, 2)[::2], sines(2, 2).t(), torch.tensor([[math.nan, 1.0], [1.0, 1.0]],
    dtype=torch.float64))] + [torch.addmm(torch.tensor([[math.nan, math.inf]] * 2),
    sines(2, 3).float(), sines(3, 2).float(), beta=0),
    torch.addmm(sines(2, 2), sines(2, 0), sines(0, 2), beta=3)]
[torch.addmm(iota(2, 2, dtype=d), iota(2, 3, dtype=d), iota(3, 2, dtype=d), beta=b, alpha=a)
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64) for b in (0, 1, 3)
    for a in (1, 2)]
[torch.addmm(iota(2, 2), iota(2, 3), iota(3, 2), beta=2,
    alpha=0.5)] + [torch.view_as_real(torch.addmm(complex_sines(2, 2), complex_sines(2, 3),
    complex_sines(3, 2), beta=b, alpha=a)) for b in (0, 1, 1 + 2j) for a in (1, 2.5, 1j)]
[torch.baddbmm(sines(2, 2, 2), sines(2, 2, 3), sines(2, 3, 2), beta=b, alpha=a)
    for b in (0, 1, 0.5) for a in (1, 2.5)] + [torch.baddbmm(sines(2), sines(2, 2, 3),
    sines(2, 2, 3).transpose(1, 2))]
[torch.addbmm(sines(2, 2), sines(3, 2, 4), sines(3, 4, 2), beta=b, alpha=a) for b in (0, 1, 0.5)
    for a in (1, 2.5)] + [torch.addbmm(sines(2), sines(3, 4, 2).transpose(1, 2),
    sines(3, 2, 4).transpose(1, 2)), torch.addbmm(sines(2, 2), sines(0, 2, 4), sines(0, 4, 2)),
    torch.addbmm(sines(2, 2), sines(3, 2, 0), sines(3, 0, 2)),
    torch.addbmm(sines(1, 1), sines(3, 1, 1), sines(3, 1, 1))]
[torch.addmv(sines(2), sines(2, 3), sines(3), beta=b, alpha=a) for b in (0, 1, 0.5)
    for a in (1, 2.5)] + [torch.addmv(sines(), sines(2, 3), sines(3)),
    torch.addmv(sines(2), sines(3, 2).t(), sines(6)[::2]),
    torch.addmv(sines(2), sines(2, 1), sines(1)),
    torch.addmv(sines(2), sines(2, 0), sines(0), beta=2)]
[x := sines(2, 2), x.addmm_(sines(2, 3), sines(3, 2), beta=2), x, y := sines(2, 2).t(),
    y.addmm_(sines(2, 3), sines(3, 2)), y.stride(), z := torch.empty(2, 2, dtype=torch.float64),
    torch.addmm(sines(2), sines(2, 3), sines(3, 2), out=z), z]
[x := torch.empty(2, 2, dtype=torch.float64), torch.mm(sines(2, 3), sines(3, 2), out=x) is x, x,
    y := torch.empty(2, 2, dtype=torch.float64).t(), torch.mm(sines(2, 3), sines(3, 2), out=y), y,
    z := torch.empty(2, dtype=torch.float64), torch.mv(sines(2, 3), sines(3), out=z), z,
    v := torch.empty(0, dtype=torch.float64), torch.bmm(sines(2, 1, 3), sines(2, 3, 1), out=v), v]
torch.outer(sines(2), sines(3))
torch.addr(sines(2, 3), sines(2), sines(3), beta=0.5, alpha=2)
torch.dot(sines(6)[::2], sines(3))
torch.vdot(complex_sines(3), complex_sines(3)).imag
torch.linalg.multi_dot([sines(2, 3), sines(3, 4), sines(4, 1)])
sines(2, 3) @ sines(2, 3)
sines(3) @ sines(2)
torch.mm(sines(2, 3), sines(3, 2).float())
torch.bmm(sines(2, 2, 3), sines(3, 3, 2))
torch.addmm(sines(3), sines(2, 3), sines(3, 2))
torch.addmm(iota(2, 2, dtype=torch.int64), iota(2, 3, dtype=torch.int64),
    iota(3, 2, dtype=torch.int64), alpha=0.5)
torch.mv(sines(2, 3), sines(2))
torch.dot(sines(2), sines(3))

# Every way to a product: by sizes and dtypes, transposed or not, factors kept.
def ways_is_complex():
    def ways(d, *sizes):
        whole = d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
        made = lambda *s: (sines(*s) * 9).to(d) if whole else (complex_sines(*s, dtype=d)
            if d.is_complex else sines(*s, dtype=d))
        found = []
        for m_, n, k in sizes:
            for x in (made(m_, k), made(k, m_).t()):
                for y in (made(k, n), made(n, k).t()):
                    r = torch.addmm(made(m_, n), x, y, beta=2, alpha=3)
                    found.append(checksum(r.real) + 2 * checksum(r.imag) if d.is_complex
                        else checksum(r.to(torch.float64) / k))
        return [f.to(d if d in (torch.float32, torch.complex64) and not d.is_complex
            else torch.float64) for f in found]
    return [ways(d, (1, 3, 5), (2, 9, 33), (3, 4, 5), (4, 70, 20), (5, 5, 5), (9, 1, 7),
        (70, 2, 40), (70, 5, 4), (12, 33, 9), (13, 40, 260))
        for d in (torch.float64, torch.complex128, torch.int64, torch.int32, torch.int16,
        torch.int8, torch.uint8)]

def exact_want():
    def exact(d, m_, n, k):
        x, y = (iota(m_, k) * 7 % 5 - 2).to(d), (iota(k, n) * 3 % 4 - 1).to(d)
        want = (x.to(torch.float64).unsqueeze(2) * y.to(torch.float64).unsqueeze(0)).sum(1)
        return [int(torch.equal((a @ b).to(torch.float64), want))
            for a in (x, x.t().contiguous().t()) for b in (y, y.t().contiguous().t())]
    return [exact(d, *s) for d in (torch.uint8, torch.int32, torch.int64, torch.float16,
        torch.bfloat16, torch.float32, torch.float64) if d != torch.uint8
        for s in ((2, 3, 300), (6, 70, 20), (7, 5, 260), (30, 17, 9), (97, 33, 40), (100, 20, 257),
        (5, 600, 8), (9, 700, 260), (9, 2100, 20))]

def long_int32():
    def long(d, m_, n, k):
        x, y = (iota(m_, k) % 5 - 2).to(d), (iota(k, n) % 4 - 1).to(d)
        return checksum((x @ y).to(torch.float64))
    return [long(d, *s) for d in (torch.float32, torch.float64, torch.int32, torch.int64)
        for s in ((1, 1, 8192), (5, 6, 8191), (5, 6, 8192), (5, 6, 8193), (5, 6, 10240),
        (5, 6, 66000), (3, 9, 20000), (20, 20, 8200))]

def onto_linear():
    def onto(d, m_, n, k):
        x, y = (iota(m_, k) * 7 % 5 - 2).to(d), (iota(n, k) * 3 % 4 - 1).to(d)
        b = (iota(n) % 7).to(d)
        return checksum(F.linear(x, y, b).to(torch.float64))
    return [onto(d, *s) for d in (torch.float32, torch.float64)
        for s in ((1, 9, 9), (5, 9, 9), (9, 3, 9), (5, 70, 300), (200, 200, 20), (130, 300, 260),
        (7, 7, 8200), (100, 40, 600), (97, 600, 33))]

def batched_transpose():
    def batched(d, *s):
        b, m_, n, k = s
        x, y = (iota(b, m_, k) * 7 % 5 - 2).to(d), (iota(b, k, n) * 3 % 4 - 1).to(d)
        return [checksum((u @ v).to(torch.float64))
            for u in (x, x[:1].expand(b, m_, k), x.transpose(1, 2).contiguous().transpose(1, 2))
            for v in (y, y[:1].expand(b, k, n))]
    return [batched(d, *s) for d in (torch.float32, torch.float64, torch.int64, torch.float16)
        for s in ((3, 2, 4, 5), (3, 4, 5, 4), (3, 5, 6, 5), (7, 9, 5, 3), (2, 30, 40, 50),
        (1, 5, 6, 7), (40, 1, 1, 3))]

# where alpha is 0, nobody looks at the product
torch.addmm(torch.ones(2, 2), torch.ones(2, 2) * math.nan, torch.ones(2, 2), alpha=0, beta=3)
torch.addmm(torch.ones(2, 2) * math.inf, torch.ones(2, 2) * math.nan, torch.ones(2, 2), alpha=0,
    beta=0)
torch.addmm(torch.ones(2, 2) * math.inf, torch.ones(2, 2), torch.ones(2, 2) * math.inf, alpha=0)
torch.addmm(torch.ones(2, 2, dtype=torch.complex64),
    torch.ones(2, 2, dtype=torch.complex64) * math.nan, torch.ones(2, 2, dtype=torch.complex64),
    alpha=0j)
torch.addmv(torch.ones(40), torch.ones(40, 40) * math.nan, torch.ones(40), alpha=0)[:2]
torch.addbmm(torch.ones(2, 2), torch.ones(3, 2, 2) * math.nan, torch.ones(3, 2, 2), alpha=0)
torch.baddbmm(torch.ones(2, 9, 9), torch.ones(2, 9, 9) * math.nan, torch.ones(2, 9, 9), alpha=0)[0,
    0, :2]
torch.addmm(torch.ones(2, 2, dtype=torch.float16), torch.ones(2, 2, dtype=torch.float16) * math.nan,
    torch.ones(2, 2, dtype=torch.float16), alpha=0)
with differs("small ones, which PyTorch multiplies by itself"):
    torch.baddbmm(torch.ones(2, 2, 2), torch.ones(2, 2, 2) * math.nan, torch.ones(2, 2, 2),
        alpha=0)[0, 0]

# a vector as weight
F.linear(sines(2, 3), sines(3))
F.linear(sines(3), sines(3), sines())
F.linear(sines(2, 2, 3), sines(3), sines())
F.linear(sines(0, 3), sines(3))
F.linear(iota(2, 3, dtype=torch.int64), iota(3, dtype=torch.int64))
gradients(F.linear, sines(2, 3), sines(3))
gradients(F.linear, sines(3), sines(3), sines())
gradients(F.linear, sines(2, 2, 3), sines(3), sines())
gradients(F.linear, complex_sines(2, 3), complex_sines(3))
second_gradients(F.linear, sines(2, 3), sines(3))
tangents(F.linear, sines(2, 2, 3), sines(3))
vmap(F.linear)(sines(4, 2, 3), sines(4, 3))
vmap(F.linear, (None, 0, 0))(sines(3), sines(4, 3), sines(4))
vmap(F.linear, (0, None, None))(sines(4, 3), sines(3), sines())
F.linear(sines(2, 3), sines(4))
F.linear(sines(2, 3), sines(3), sines(1))
F.linear(sines(2, 3), sines(1, 2, 3))
with differs("PyTorch makes a product of a matrix of it, which it then refuses"):
    tangents(F.linear, sines(2, 2, 3), sines(3), sines())
    F.linear(sines(2, 3), sines(3), sines())
