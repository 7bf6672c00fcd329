"""Memory formats: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import iota, metadata

# results, and how operands lie
metadata(iota(2, 3).t() + 1)
metadata(iota(3, 2) + iota(2, 3).t())
metadata(iota(2, 3).t() + iota(3, 2))
metadata(iota(3).expand(2, 3) + iota(2, 3))
metadata(iota(2).expand(3, 2).t() + iota(3, 2).t().contiguous().t())
metadata(iota(2, 1).expand(2, 3) + iota(3, 2).t())
metadata(iota(1, 3).expand(2, 3) + iota(2, 1).expand(2, 3))
metadata(iota(2, 3, 4).permute(2, 0, 1) * iota(4, 2, 3))
metadata(iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last) * iota(5))
metadata(iota(5) * iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last))
metadata(iota(2, 6)[:, ::2] + 1)
metadata(iota(6, 4)[::2, 1:3].t() * 2)
metadata(iota(2, 1, 3).transpose(0, 2) + 1)
(iota(2, 3).t() == 1).stride()
torch.where(iota(2, 3).t() > 1, iota(3, 2), iota(3, 2)).stride()
torch.addcmul(iota(2, 3).t(), iota(3, 2), iota(3, 2)).stride()
torch.lerp(iota(2, 3).t(), iota(3, 2), 0.5).stride()
(iota(3, 2) + iota(2)).stride(), (iota(3, 2).t() + iota(3)).stride()
iota(2, 3) + iota(2)
iota(2, 3).add_(iota(2, 1, 3))
iota(3).add_(iota(2, 3))
iota(2, 3).mul_(iota(4, 2, 3))
iota(0, 3) + iota(1, 3)
(iota(0, 3) + iota(2, 1, 3)).shape
iota(0, 3) + iota(2, 3)
iota(3).to(torch.float16) * 0.1
iota(3).to(torch.bfloat16) * torch.tensor(0.1)
iota(3).to(torch.float16) + 1e-4
iota(3).to(torch.float16) / 3
iota(3).to(torch.float16).mul_(0.1)
iota(1, 3).to(torch.float16).mul_(0.1).add_(0.3)
iota(3).to(torch.bfloat16).div_(torch.tensor(3.0))
torch.tensor(2.0, dtype=torch.float16) * torch.tensor(0.1)
torch.tensor(2.0, dtype=torch.float16) * torch.tensor([0.1])
iota(3, dtype=torch.int64) * torch.tensor(0.5, dtype=torch.float16)
iota(3).to(torch.float16) * math.nan
iota(3).to(torch.bfloat16) - 0.1
torch.add(iota(3).to(torch.float16), iota(3).to(torch.float16), alpha=0.1)
torch.mul(iota(3).to(torch.float16), 0.1, out=torch.zeros(1, dtype=torch.float16))
torch.mul(iota(3).to(torch.float16), 0.1, out=torch.zeros(3))
iota(3).to(torch.float16).mul_(iota(2, 3).to(torch.float16) * 0.1)
iota(3).to(torch.float16).add_(iota(2, 3).to(torch.float16), alpha=0.1)
iota(2, dtype=torch.bool) + iota(2, dtype=torch.bool)
iota(2, dtype=torch.bool) * 2.5
iota(2, dtype=torch.uint8) + iota(2, dtype=torch.int8)
iota(2, dtype=torch.uint8) * -1
iota(2, dtype=torch.int8) + 300
iota(2, dtype=torch.int64) + 2j
iota(2, dtype=torch.int64) / 2
iota(2, dtype=torch.int64).div_(2)
iota(2, dtype=torch.int64).add_(0.5)
iota(2, dtype=torch.bool).add_(1)
iota(2).add_(1j)
iota(2) + torch.tensor(1, dtype=torch.float64), iota(2) + torch.tensor([1], dtype=torch.float64)
torch.tensor(1) + torch.tensor(1.5)
torch.tensor(1) + torch.tensor(2, dtype=torch.int8)
torch.tensor(1.0) + torch.tensor(1, dtype=torch.int64)
torch.tensor(1, dtype=torch.uint8) + 1.5
torch.tensor(1, dtype=torch.uint8) + torch.tensor(1.5, dtype=torch.float16)
torch.result_type(torch.tensor(1), 1.5)
torch.result_type(torch.tensor([1]), torch.tensor(1.5))
torch.result_type(1, True)
torch.result_type(1j, torch.tensor(1.0, dtype=torch.float64))
torch.result_type(1, 2.5)
torch.result_type(iota(2, dtype=torch.uint8), -1)
torch.result_type(iota(2), torch.tensor(1j))
torch.result_type(torch.tensor(1.0, dtype=torch.float64), torch.tensor([1.0], dtype=torch.float16))
torch.polar(iota(2, dtype=torch.float64), iota(2, dtype=torch.float64)).dtype
torch.complex(iota(2), iota(2)).dtype
torch.polar(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64))
torch.complex(iota(2), iota(2, dtype=torch.float64))

# many dtypes, sizes and strides beside plain formulas
[(n, s) for n in (1, 2, 63, 64, 65, 127, 128, 129) for s in (1, 2, 3)
    for x in [iota(n * s, 5)[::s]] if not torch.equal(x + x, x.contiguous() * 2)]
[n for n in (1, 7, 39, 40, 41, 127, 128, 129, 300)
    for x in [iota(9, n)] if not torch.equal((x.t() * iota(9)).t(), x * iota(9, 1))]
[n for n in (1, 3, 39, 40, 41, 128) for x in [iota(70, n, 3)]
    if not torch.equal(x + iota(n, 3), (x.reshape(70, -1) + iota(n * 3)).reshape(70, n, 3))]
[n for n in (1, 3, 8, 9, 31, 32, 33, 63, 64, 65) for k in (7, 8, 65)
    for x in [iota(n, k)] if not torch.equal((x.t() + iota(k, n)).t(), x + iota(k, n).t())]
[d for d in (torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128)
    for x in [iota(9, 33).to(d)] if not torch.equal((x.t() + x.t()).t(), x + x)]
[d for d in (torch.bool, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
    for x in [iota(33, 9).to(d)] if x.t().contiguous().t().tolist() != x.tolist()]
[d for d in (torch.bool, torch.uint8, torch.int16, torch.float16, torch.float32, torch.float64,
    torch.complex64, torch.complex128) for x in [iota(5, 7, 6).to(d)]
    for p in ((2, 1, 0), (1, 2, 0), (0, 2, 1), (2, 0, 1))
    if x.permute(p).clone(memory_format=torch.contiguous_format).tolist() != x.permute(p).tolist()]
[d for d in (torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128)
    for n in (1, 15, 16, 17, 4096, 5000) if not bool((torch.full((n,), 3).to(d) == torch.full((n,),
    3, dtype=d)).all())]
[(d, n) for d in (torch.int64, torch.float64, torch.complex128, torch.float16)
    for n in (1, 31, 257, 4097) if torch.full((n,), 259,
    dtype=d).sum().to(torch.complex128).real.item() != (n * 259 if d != torch.float16
    else torch.full((n,), 259.0).sum().to(torch.float16).item())]
[(n, k) for n in (3, 64, 100) for k in (1, 2, 65)
    for x in [iota(k).expand(n, k)] if not torch.equal(torch.exp(x),
    torch.exp(iota(k)).expand(n, k))]
[n for n in (16, 17, 8191, 8192, 8193, 16385, 40000)
    for _ in range(2) if not torch.equal((iota(n) + 1)[-3:], iota(n)[-3:] + 1)
    or (iota(n) + 1)[0] != 1]
[n for n in (90, 91, 130, 200) for _ in range(2)
    for x in [iota(n, 2 * n)[:, ::2]] if not torch.equal(x * 2, x.contiguous() * 2)]
