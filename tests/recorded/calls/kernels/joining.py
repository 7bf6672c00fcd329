"""Joining: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, differs, error_name, iota, sines

# Joining: rows of a tile and one more, parts of every width, more parts than one launch takes.
[checksum(torch.cat([sines(n, 60), sines(n, 40, phase=2.0)], 1))
    for n in (163, 164, 165, 166, 329, 330)]
[checksum(torch.cat([sines(n, k), sines(n, 3, phase=2.0), sines(n, k, phase=5.0)], 1))
    for n in (1, 7) for k in (1, 2, 7, 8, 9, 16, 17, 20)]
[checksum(torch.cat([(sines(9, k) * 9).to(d), (sines(9, 3, phase=2.0) * 9).to(d)], 1))
    for k in (1, 2, 4, 16, 32, 33, 64, 65, 68) for d in (torch.bool, torch.uint8, torch.int16,
    torch.float16, torch.float32)]
[torch.view_as_real(torch.cat([complex_sines(2, 1, dtype=d),
    complex_sines(2, 2, dtype=d, phase=2.0)], 1)) for d in (torch.complex64, torch.complex128)]
[checksum(torch.cat([sines(3, k % 4, 2, phase=k) for k in range(n)], 1))
    for n in (2, 10, 11, 12, 13, 22, 23, 30)]
[checksum(torch.cat([sines(k % 4, 3, phase=k) for k in range(n)])) for n in (2, 11, 12, 23)]
[checksum(torch.stack([sines(3, 2, phase=k) for k in range(n)], d)) for n in (1, 10, 11, 12, 23)
    for d in (0, 1, 2, -1)]
[checksum(torch.cat([sines(n), sines(3, phase=2.0), sines(n, phase=3.0)]))
    for n in (16381, 16383, 16384, 16385, 70000)]
[checksum(torch.cat([sines(2, 3), x, sines(2, 3, phase=4.0)], d)) for d in (0, 1)
    for x in (sines(3, 2, phase=2.0).t(), sines(2, 3, phase=2.0).float(),
    sines(4, 3, phase=2.0)[::2], sines(2, 1, phase=2.0).expand(2, 3),
    sines(2, 3, phase=2.0).to(torch.float16), sines(2, 6)[:, 1::2])]
[checksum(torch.stack([sines(2, 3), x, sines(2, 3, phase=4.0)], d)) for d in (0, 1, 2)
    for x in (sines(3, 2, phase=2.0).t(), sines(2, 3, phase=2.0).float(),
    sines(4, 3, phase=2.0)[::2], sines(2, 1, phase=2.0).expand(2, 3))]
[torch.cat([sines(0), sines(2, 3), torch.zeros(0)], d).shape
    for d in (0, 1)] + [torch.cat([sines(2, 0), sines(2, 3), sines(2, 0)], 1).shape,
    torch.cat([sines(2, 0), sines(2, 0)]).shape, torch.stack([sines(2, 0)] * 3, 1).shape]
[torch.cat([sines(2, 3, 2, 2).to(memory_format=torch.channels_last),
    sines(2, 2, 2, 2, phase=2.0).to(memory_format=torch.channels_last)], d) for d in (1,)]
[checksum(torch.cat([sines(2, 3, 2, 4).to(memory_format=torch.channels_last),
    sines(2, 3, 2, 4, phase=2.0).to(memory_format=torch.channels_last),
    sines(2, 3, 2, 4, phase=4.0).to(memory_format=torch.channels_last)], d))
    for d in (0, 1, 2, 3, -1, -3)]
[torch.cat([sines(2, 3, 2, 4).to(memory_format=torch.channels_last),
    sines(2, 3, 2, 4, phase=2.0).to(memory_format=torch.channels_last)], d).stride()
    for d in (0, 1, 2, 3)]
[x := torch.empty(4, 3), torch.cat([sines(1, 3).float(), sines(3, 3).float()], out=x) is x, x]
[x := torch.empty(3, 4).t(), torch.cat([sines(1, 3).float(), sines(3, 3).float()], out=x) is x, x]
[x := torch.empty(5, dtype=torch.float64), torch.cat([sines(2).float(), torch.tensor([1, 2, 3])],
    out=x) is x, x]
with differs("An operand may be the result, which has another size in torch's eyes or is refused."):
    [x := sines(2, 3), error_name(lambda: torch.cat([x, x], out=x)),
        error_name(lambda: torch.stack([x[0], x[1]], out=x))]
torch.cat([sines(2, 3), sines(3, 2)])
torch.stack([sines(2, 3), sines(3, 2)])
torch.stack([sines(2)], 3)

# Triangles: every diagonal, rows of a tile and one more, widths and places.
[checksum(f(sines(*s), k)) for f in (torch.tril, torch.triu)
    for s in ((4, 4), (3, 5), (5, 3), (1, 4), (4, 1)) for k in range(-6, 7)]
[checksum(f(sines(4, 4), k)) for f in (torch.tril, torch.triu)
    for k in (-(2**62), 2**62, -(2**63), 2**63 - 1)]
[checksum(f(sines(n, 7, 500))) for f in (torch.tril, torch.triu) for n in (1, 4, 5, 10)]
[checksum(f(sines(n, 500), -n // 2)) for f in (torch.tril, torch.triu)
    for n in (32, 33, 34, 35, 66, 67)]
[checksum(f((sines(5, 4) * 9).to(d), -1)) for f in (torch.tril, torch.triu)
    for d in (torch.bool, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(f(complex_sines(2, 3, dtype=d), 1)) for f in (torch.tril, torch.triu)
    for d in (torch.complex64, torch.complex128)]
[x := sines(3, 3), x.tril_(), x, x._version, y := sines(3, 3), y.triu_(1), y]
[x := sines(3, 4).t(), x.tril_(1), x.stride(), sines(3, 6)[:, ::2].triu(),
    sines(2, 3, 4).transpose(0, 2).tril()]
[x := torch.empty(3, 3, dtype=torch.float64), torch.triu(sines(3, 3), -1, out=x) is x, x,
    torch.tril(sines(3, 3), -1, out=x)]
[sines(0, 3).tril(), sines(3, 0).triu(), sines(2, 0, 3).tril()]
torch.tril(sines(3))

# Unique elements, members, places in sorted rows.
torch.unique(torch.tensor([3, 1, 3, 2, 1]))
torch.unique(torch.tensor([3, 1, 3, 2, 1]), return_inverse=True, return_counts=True)
torch.unique(torch.tensor([[3, 1], [3, 2]]), return_inverse=True)
torch.unique(torch.zeros(0))
torch.unique(sines() > 0)
torch.unique(torch.tensor([2.0, math.nan, 1.0, math.nan, 2.0]), return_counts=True)
torch.unique(torch.tensor([1.5, -0.0, 0.0]).to(torch.bfloat16))
torch.unique(torch.zeros(0), return_inverse=True, return_counts=True)
[[y.contiguous() for y in torch.unique(x, dim=d, return_inverse=True, return_counts=True)]
    for x, d in ((torch.tensor([[1, 2], [1, 2], [0, 5]]), 0),
    (torch.tensor([[1, 1, 0], [2, 2, 5]]), 1), (torch.tensor([[1, 1, 0], [2, 2, 5]]), -1),
    (torch.zeros(0, 2), 0), (torch.tensor([[1, 2], [1, 1], [0, 9]]), 0))]
torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1]))
torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True)
torch.unique_consecutive(torch.tensor([[1, 1], [2, 2]]), return_inverse=True)
torch.unique_consecutive(torch.zeros(0))
torch.unique_consecutive(torch.tensor([[1, 2], [1, 2], [0, 5], [1, 2]]), dim=0, return_counts=True)
torch.unique_consecutive(torch.tensor([[1, 1, 2]]), dim=1, return_inverse=True)
torch.unique(torch.zeros(2, 0), dim=0)
torch.unique(sines(2), dim=1)
[checksum(torch.isin((iota(n) * 7 % 100).to(d), (iota(k) * 13 % 90).to(d)))
    for n in (1, 127, 128, 129, 257) for k in (1, 5, 33, 300)
    for d in (torch.uint8, torch.int64, torch.float32)]
[checksum(torch.isin((sines(200) * 50).to(d), (sines(40, phase=2.0) * 50).to(d), invert=v))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64) for v in (False, True)]
torch.isin(torch.tensor([1.0, math.nan, -0.0, math.inf]), torch.tensor([math.nan, 0.0, math.inf]))
torch.isin(torch.tensor([1, 2]), torch.tensor([], dtype=torch.int64))
torch.isin(torch.zeros(0), torch.tensor([1.0]))
torch.isin(torch.tensor([1, 2]), torch.tensor([1.5, 2.0]))
torch.isin(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[4], [1]]), invert=True)
torch.isin(torch.tensor(3), torch.tensor([3]))
torch.isin(torch.tensor([1, 3]), 3)
torch.isin(3, torch.tensor([1, 3]))
torch.isin(sines(6, 4)[::2].t(), sines(6, 4)[2])
torch.isin(torch.tensor([0, 1, 2]), sines(6)[::2])
[checksum(torch.searchsorted(iota(50).to(d), (sines(n) * 60 + 20).to(d), right=r))
    for n in (1, 1023, 1024, 1025, 2049) for d in (torch.int32, torch.float32)
    for r in (False, True)]
[checksum(torch.searchsorted((iota(50) // 3).to(d), (iota(70) % 20).to(d), right=r))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64) for r in (False, True)]
torch.searchsorted(torch.tensor([[1, 3, 5], [2, 4, 6]]), torch.tensor([[3, 9], [2, 3]]))
torch.searchsorted(torch.tensor([[1, 3, 5], [2, 4, 6]]), torch.tensor([[3, 9], [2, 3]]),
    out_int32=True, right=True)
torch.searchsorted(torch.tensor([1, 3, 5]), 3)
torch.searchsorted(torch.tensor([1, 3, 5]), 3, side="right")
torch.searchsorted(torch.tensor([5, 1, 3]), torch.tensor([3, 4]), sorter=torch.tensor([1, 2, 0]))
torch.searchsorted(torch.tensor([[5, 1], [2, 9]]), torch.tensor([[3], [4]]),
    sorter=torch.tensor([[1, 0], [0, 1]]))
torch.searchsorted(torch.tensor([]), torch.tensor([1.0]))
torch.searchsorted(torch.tensor([1.0]), torch.tensor([]))
torch.searchsorted(torch.tensor([1.0, 2.0, math.nan]),
    torch.tensor([math.nan, 3.0, math.inf, -math.inf]))
torch.searchsorted(torch.tensor([1.0, 2.0, math.nan]), torch.tensor([math.nan, 2.0]), right=True)
torch.searchsorted(torch.tensor([1, 3]), torch.tensor([1.5, 3.0]))
torch.bucketize(torch.tensor([[3, 6], [0, 5]]), torch.tensor([1, 3, 5]))
torch.bucketize(torch.tensor([3, 6]), torch.tensor([1, 3, 5]), right=True, out_int32=True)
torch.bucketize(3, torch.tensor([1, 3]))
torch.searchsorted(sines(6, 4).sort(0)[0].t(), sines(4, 2))
torch.searchsorted(iota(6).to(torch.float64)[::2], sines(4, 3).t() * 9)
[x := torch.empty(2, dtype=torch.int64), torch.searchsorted(torch.tensor([1, 3, 5]),
    torch.tensor([3, 9]), out=x) is x, x]
torch.searchsorted(torch.tensor([5, 1, 3]), torch.tensor([3, 4]), sorter=torch.tensor([1, 2, 3]))
torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3]), right=True, side="left")
torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3]), side="up")

# Reductions at places: each kind, dtype and start; means of what came together.
[checksum((sines(5, 4) * 9).to(d).scatter_reduce(0,
    torch.tensor([[4, 0, 4, 1], [4, 0, 0, 1], [4, 2, 0, 3]]), (sines(3, 4, phase=2.0) * 9).to(d), r,
    include_self=s)) for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float32, torch.float64) for r in ("sum", "prod", "mean", "amax", "amin")
    for s in (True, False)]
[(sines(3, 2) * 9).to(d).scatter_reduce(0, torch.tensor([[2, 0], [2, 0]]),
    (sines(2, 2, phase=2.0) * 9).to(d), r, include_self=s) for d in (torch.float16, torch.bfloat16)
    for r in ("sum", "prod", "mean", "amax", "amin") for s in (True, False)]
[torch.view_as_real(complex_sines(3, 2, dtype=d).scatter_reduce(0, torch.tensor([[2, 0], [2, 0]]),
    complex_sines(2, 2, dtype=d, phase=2.0), r, include_self=s))
    for d in (torch.complex64, torch.complex128) for r in ("sum", "prod", "mean")
    for s in (True, False)]
[x.scatter_reduce(0, torch.tensor([1, 1]), torch.tensor([True, False]), r, include_self=s)
    for x in (torch.tensor([False, False, True]),) for r in ("prod", "amax", "amin")
    for s in (True, False)]
[torch.tensor([1.0, math.nan, 3.0]).scatter_reduce(0, torch.tensor([0, 1, 2, 2]),
    torch.tensor([math.nan, 5.0, math.nan, 9.0]), r) for r in ("amax", "amin")]
[checksum(sines(3, n).scatter_reduce(0, (iota(5, n, dtype=torch.int64) * 11) % 3,
    sines(5, n, phase=2.0), r)) for n in (1, 256, 257, 1400) for r in ("mean", "amax", "prod")]
[x := sines(4, 3).t(), x.scatter_reduce_(0, torch.tensor([[2, 0, 1, 1], [2, 2, 2, 1]]),
    sines(2, 4, phase=2.0), r), x.stride(), x._version] if (r := "mean") else 0
[sines(4, 3).t().contiguous().t().scatter_reduce(1, torch.tensor([[2], [0], [1]]), sines(3, 1),
    r).sum(0) for r in ("amax", "mean")]
[sines(3, 4).to(d).scatter_reduce(0, torch.zeros(s, dtype=torch.int64), sines(*s).to(d),
    "mean").shape for d in (torch.float16, torch.float32) for s in ((0, 4), (2, 0))]
[sines(3, 4).index_reduce(1, torch.tensor([3, 0, 3]), sines(3, 3, phase=2.0), r, include_self=s)
    for r in ("prod", "mean", "amax", "amin") for s in (True, False)]
[checksum((sines(5, 4) * 9).to(d).index_reduce(0, torch.tensor([4, 0, 4]),
    (sines(3, 4, phase=2.0) * 9).to(d), r)) for d in (torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float32, torch.float64)
    for r in ("prod", "mean", "amax", "amin")]
[checksum(sines(2, 5, 3).index_reduce(1, torch.tensor([4, 0, 4]), sines(2, 3, 3, phase=2.0), r))
    for r in ("prod", "mean", "amax", "amin")]
[x := sines(4, 3), error_name(lambda: x.scatter_reduce_(0, torch.tensor([[1, 0, 3], [1, 2, 0]]), x,
    "amax")), x]
sines(3, 4).scatter_reduce(0, torch.tensor([[3]]), sines(1, 1), "amax")
sines(3, 4).index_reduce(0, torch.tensor([3]), sines(1, 4), "amax")
iota(5, dtype=torch.int64).scatter_reduce(0, torch.tensor([0, 0, 1, 2, 2]),
    -iota(5, dtype=torch.int64) * 3 - 1, "mean")
iota(5, dtype=torch.uint8).scatter_reduce(0, torch.tensor([0, 0, 1]),
    torch.tensor([255, 254, 3], dtype=torch.uint8), "mean", include_self=False)
