"""Joining: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, differs, error_name, iota, sines

# Joining: rows of a tile and one more, parts of every width, more parts than one launch takes.
[torch.cat([sines(2, 3, 2, 2).to(memory_format=torch.channels_last),
    sines(2, 2, 2, 2, phase=2.0).to(memory_format=torch.channels_last)], d) for d in (1,)]
[checksum(torch.cat([sines(2, 3, 2, 4).to(memory_format=torch.channels_last),
    sines(2, 3, 2, 4, phase=2.0).to(memory_format=torch.channels_last),
    sines(2, 3, 2, 4, phase=4.0).to(memory_format=torch.channels_last)], d))
    for d in (0, 1, 2, 3, -1, -3)]
[torch.cat([sines(2, 3, 2, 4).to(memory_format=torch.channels_last),
    sines(2, 3, 2, 4, phase=2.0).to(memory_format=torch.channels_last)], d).stride()
    for d in (0, 1, 2, 3)]
with differs("An operand may be the result, which has another size in torch's eyes or is refused."):
    [x := sines(2, 3), error_name(lambda: torch.cat([x, x], out=x)),
        error_name(lambda: torch.stack([x[0], x[1]], out=x))]

# Triangles: every diagonal, rows of a tile and one more, widths and places.
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
[checksum(torch.isin((sines(200) * 50).to(d), (sines(40, phase=2.0) * 50).to(d), invert=v))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64) for v in (False, True)]
torch.isin(sines(6, 4)[::2].t(), sines(6, 4)[2])
torch.isin(torch.tensor([0, 1, 2]), sines(6)[::2])
[checksum(torch.searchsorted(iota(50).to(d), (sines(n) * 60 + 20).to(d), right=r))
    for n in (1, 1023, 1024, 1025, 2049) for d in (torch.int32, torch.float32)
    for r in (False, True)]
[checksum(torch.searchsorted((iota(50) // 3).to(d), (iota(70) % 20).to(d), right=r))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64) for r in (False, True)]
torch.searchsorted(torch.tensor([5, 1, 3]), torch.tensor([3, 4]), sorter=torch.tensor([1, 2, 3]))
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
[checksum(sines(3, n).scatter_reduce(0, (iota(5, n, dtype=torch.int64) * 11) % 3,
    sines(5, n, phase=2.0), r)) for n in (1, 256, 257, 1400) for r in ("mean", "amax", "prod")]
[x := sines(4, 3).t(), x.scatter_reduce_(0, torch.tensor([[2, 0, 1, 1], [2, 2, 2, 1]]),
    sines(2, 4, phase=2.0), r), x.stride(), x._version] if (r := "mean") else 0
[sines(3, 4).index_reduce(1, torch.tensor([3, 0, 3]), sines(3, 3, phase=2.0), r, include_self=s)
    for r in ("prod", "mean", "amax", "amin") for s in (True, False)]
[checksum((sines(5, 4) * 9).to(d).index_reduce(0, torch.tensor([4, 0, 4]),
    (sines(3, 4, phase=2.0) * 9).to(d), r)) for d in (torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float32, torch.float64)
    for r in ("prod", "mean", "amax", "amin")]
[x := sines(4, 3), error_name(lambda: x.scatter_reduce_(0, torch.tensor([[1, 0, 3], [1, 2, 0]]), x,
    "amax")), x]
iota(5, dtype=torch.int64).scatter_reduce(0, torch.tensor([0, 0, 1, 2, 2]),
    -iota(5, dtype=torch.int64) * 3 - 1, "mean")
iota(5, dtype=torch.uint8).scatter_reduce(0, torch.tensor([0, 0, 1]),
    torch.tensor([255, 254, 3], dtype=torch.uint8), "mean", include_self=False)
