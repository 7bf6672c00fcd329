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
[checksum(x @ y) for x, y in ((sines(2, 3, 4, 5), sines(5, 6)), (sines(2, 3, 4, 5), sines(3, 5, 6)),
    (sines(5), sines(3, 5, 6)), (sines(3, 4, 5), sines(5)), (sines(2, 1, 4, 5), sines(1, 3, 5, 2)),
    (sines(3, 1, 5), sines(5, 2)), (sines(3, 4, 1), sines(3, 1, 2)))]
[checksum(F.linear(sines(m_, k, dtype=d), sines(n, k, dtype=d), sines(n, dtype=d, phase=2.0)))
    for m_, n, k in ((1, 3, 5), (5, 1, 3), (4, 4, 4), (5, 5, 9000), (9, 130, 40), (130, 9, 300))
    for d in (torch.float32, torch.float64)]

# With addends and factors.
[torch.addmm(iota(2, 2), iota(2, 3), iota(3, 2), beta=2,
    alpha=0.5)] + [torch.view_as_real(torch.addmm(complex_sines(2, 2), complex_sines(2, 3),
    complex_sines(3, 2), beta=b, alpha=a)) for b in (0, 1, 1 + 2j) for a in (1, 2.5, 1j)]
torch.outer(sines(2), sines(3))
torch.addr(sines(2, 3), sines(2), sines(3), beta=0.5, alpha=2)
torch.dot(sines(6)[::2], sines(3))
torch.vdot(complex_sines(3), complex_sines(3)).imag
torch.linalg.multi_dot([sines(2, 3), sines(3, 4), sines(4, 1)])

# Every way to a product: by sizes and dtypes, transposed or not, factors kept.
def int16_is_complex():
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

def uint8_unsqueeze():
    def exact(d, m_, n, k):
        x, y = (iota(m_, k) * 7 % 5 - 2).to(d), (iota(k, n) * 3 % 4 - 1).to(d)
        want = (x.to(torch.float64).unsqueeze(2) * y.to(torch.float64).unsqueeze(0)).sum(1)
        return [int(torch.equal((a @ b).to(torch.float64), want))
            for a in (x, x.t().contiguous().t()) for b in (y, y.t().contiguous().t())]
    return [exact(d, *s) for d in (torch.uint8, torch.int32, torch.int64, torch.float16,
        torch.bfloat16, torch.float32, torch.float64) if d != torch.uint8
        for s in ((2, 3, 300), (6, 70, 20), (7, 5, 260), (30, 17, 9), (97, 33, 40), (100, 20, 257),
        (5, 600, 8), (9, 700, 260), (9, 2100, 20))]

def int32_int64():
    def long(d, m_, n, k):
        x, y = (iota(m_, k) % 5 - 2).to(d), (iota(k, n) % 4 - 1).to(d)
        return checksum((x @ y).to(torch.float64))
    return [long(d, *s) for d in (torch.float32, torch.float64, torch.int32, torch.int64)
        for s in ((1, 1, 8192), (5, 6, 8191), (5, 6, 8192), (5, 6, 8193), (5, 6, 10240),
        (5, 6, 66000), (3, 9, 20000), (20, 20, 8200))]

def float32_linear():
    def onto(d, m_, n, k):
        x, y = (iota(m_, k) * 7 % 5 - 2).to(d), (iota(n, k) * 3 % 4 - 1).to(d)
        b = (iota(n) % 7).to(d)
        return checksum(F.linear(x, y, b).to(torch.float64))
    return [onto(d, *s) for d in (torch.float32, torch.float64)
        for s in ((1, 9, 9), (5, 9, 9), (9, 3, 9), (5, 70, 300), (200, 200, 20), (130, 300, 260),
        (7, 7, 8200), (100, 40, 600), (97, 600, 33))]

def float16_transpose():
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
torch.addbmm(torch.ones(2, 2), torch.ones(3, 2, 2) * math.nan, torch.ones(3, 2, 2), alpha=0)

# a vector as weight
F.linear(iota(2, 3, dtype=torch.int64), iota(3, dtype=torch.int64))
gradients(F.linear, sines(3), sines(3), sines())
gradients(F.linear, complex_sines(2, 3), complex_sines(3))
second_gradients(F.linear, sines(2, 3), sines(3))
vmap(F.linear, (None, 0, 0))(sines(3), sines(4, 3), sines(4))
vmap(F.linear, (0, None, None))(sines(4, 3), sines(3), sines())
F.linear(sines(2, 3), sines(4))
with differs("PyTorch makes a product of a matrix of it, which it then refuses"):
    tangents(F.linear, sines(2, 2, 3), sines(3), sines())
