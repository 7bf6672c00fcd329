"""Memory formats: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import iota, metadata

# results, and how operands lie
metadata(iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last) * iota(5))
metadata(iota(2, 6)[:, ::2] + 1)
torch.addcmul(iota(2, 3).t(), iota(3, 2), iota(3, 2)).stride()
iota(3).to(torch.float16) * 0.1
iota(3).to(torch.float16) + 1e-4
iota(3).to(torch.bfloat16).div_(torch.tensor(3.0))
iota(3).to(torch.float16).mul_(iota(2, 3).to(torch.float16) * 0.1)
iota(3).to(torch.float16).add_(iota(2, 3).to(torch.float16), alpha=0.1)
torch.result_type(iota(2, dtype=torch.uint8), -1)
torch.result_type(iota(2), torch.tensor(1j))
torch.result_type(torch.tensor(1.0, dtype=torch.float64), torch.tensor([1.0], dtype=torch.float16))
torch.polar(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64))
torch.complex(iota(2), iota(2, dtype=torch.float64))

# many dtypes, sizes and strides beside plain formulas
[n for n in (1, 3, 8, 9, 31, 32, 33, 63, 64, 65) for k in (7, 8, 65)
    for x in [iota(n, k)] if not torch.equal((x.t() + iota(k, n)).t(), x + iota(k, n).t())]
[(n, k) for n in (3, 64, 100) for k in (1, 2, 65)
    for x in [iota(k).expand(n, k)] if not torch.equal(torch.exp(x),
    torch.exp(iota(k)).expand(n, k))]
