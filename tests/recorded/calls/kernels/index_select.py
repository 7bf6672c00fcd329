"""Index select: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, differs, error_name, iota, sines

# Rows of the indexed tensor: as long as a tile, one tile and a row, elements of every width.
[checksum(sines(n, 40000).index_select(0, torch.tensor([n - 1, 0, n // 2]))) for n in (1, 3)]
[checksum(sines(9, 4096).index_select(0, iota(n, dtype=torch.int64) % 9))
    for n in (4, 5, 6, 10, 11)]
[checksum(sines(3, 9, 2048).index_select(1, iota(n, dtype=torch.int64) % 9))
    for n in (8, 9, 10, 18, 19)]
[checksum(sines(5).index_select(0, iota(n, dtype=torch.int64) % 5))
    for n in (16384, 16385, 16386, 32771)]
[checksum((sines(7) * 9).to(d).index_select(0, torch.tensor([6, 0, 3, 3])))
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(7, dtype=d).index_select(0, torch.tensor([6, 0, 3])))
    for d in (torch.complex64, torch.complex128)]
[checksum((sines(2, 7, 3) * 9).to(d).index_select(1, torch.tensor([6, 0, 3, 3])))
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]

# Rows that are dense though the tensor isn't, and those that aren't.
[checksum(x.index_select(0, torch.tensor([2, 0, 1, 2])))
    for x in (sines(6, 8)[::2], sines(6, 8)[:, 1:], sines(6, 8)[3:, ::2], sines(8, 6).t(),
    sines(4, 6, 5)[:, ::2], sines(6, 4, 5)[::2, :, 1:], sines(1, 5).expand(4, 5),
    sines(4, 1).expand(4, 5), sines(4, 5, 3).transpose(1, 2))]
[checksum(torch.as_strided(sines(90), s, k).index_select(0, torch.tensor([2, 0, 1, 2])))
    for s, k in (((4, 1, 5), (10, 7, 1)), ((4, 5, 1), (7, 1, 33)), ((4, 1, 1), (1, 9, 9)),
    ((4, 5), (20, 4)), ((3, 2, 2), (1, 2, 4)), ((3, 2, 2), (4, 1, 2)))]
[checksum(x.index_select(1, torch.tensor([2, 0, 1, 2])))
    for x in (sines(6, 8)[::2], sines(8, 6).t(), sines(4, 6, 5)[:, ::2], sines(1, 5).expand(4, 5),
    sines(4, 5, 3).transpose(0, 2))]
checksum(sines(6, 8)[:, ::2].index_select(-1, torch.tensor([3, 0])))
sines(2, 0).index_select(0, torch.tensor([1, 1, 0]))
sines(0, 2).index_select(0, torch.tensor([], dtype=torch.int64))
with differs("torch's type depends on the way it takes."):
    sines(2, 0).index_select(0, torch.tensor([2]))
    sines(2, 3).index_select(1, torch.tensor([0, -1]))
sines(2, 3).index_select(0, torch.tensor([2]))
torch.index_select(sines(6, 8), 1, torch.tensor([7, 0]), out=torch.empty(0, dtype=torch.float64))
[x := torch.empty(3, 2).t(), torch.index_select(sines(2, 4).float(), 1, torch.tensor([3, 0, 0]),
    out=x), x.stride(), x]

# A result that is an operand too.
def scatter_reduce_out():
    s = sines(2, 3)
    return torch.scatter_reduce(torch.zeros(2, 3, dtype=torch.float64), 0,
        torch.tensor([[1, 1, 1], [0, 0, 1]]), s, "sum", out=s)

def index_reduce_out():
    s = sines(2, 3)
    return torch.index_reduce(torch.ones(2, 3, dtype=torch.float64), 0, torch.tensor([1, 0]), s,
        "amin", out=s)

# Sums at places: columns that threads share, every width, half types once rounded.
[checksum(sines(4, n).index_add(0, torch.tensor([1, 3, 1]), sines(3, n, phase=2.0)))
    for n in (1, 7, 70001)]
[checksum(sines(3, 4, n).index_add(1, torch.tensor([1, 3, 1]), sines(3, 3, n, phase=2.0)))
    for n in (1, 7, 9000)]
[checksum((sines(7, 2) * 9).to(d).index_add(0, torch.tensor([6, 0, 6]),
    (sines(3, 2, phase=2.0) * 9).to(d))) for d in (torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(7, 2, dtype=d).index_add(0, torch.tensor([6, 0, 6]),
    complex_sines(3, 2, dtype=d, phase=2.0))) for d in (torch.complex64, torch.complex128)]
torch.tensor([True, False, False]).index_add(0, torch.tensor([1, 1, 2]),
    torch.tensor([True, True, False]))
[x := sines(2, 3).t(), x.index_add_(0, torch.tensor([2, 0, 2]), sines(3, 2, phase=2.0)), x.stride(),
    x]
[x := sines(3, 4).to(torch.float16), x.index_add_(1, torch.tensor([2, 0, 2]),
    sines(3, 3).to(torch.float16)), x._version]
sines(3, 4).index_add_(0, torch.tensor([3]), sines(1, 4))
sines(3, 4).index_add(1, torch.tensor([], dtype=torch.int64), sines(3, 0))

def equal_index_add():
    x = sines(3, 4)
    y = x.clone()
    return [error_name(lambda: x.index_add_(0, torch.tensor([3]), sines(1, 4))), torch.equal(x, y),
        x._version]

[x := sines(4, 3), error_name(lambda: x.index_add_(0, torch.tensor([1, 0, 3, 3]), x)), x]
[x := sines(4, 3), error_name(lambda: x.index_add_(0, torch.tensor([1, 2]), x[:2])), x]

# Gathering and scattering: more rows than a tile has, columns in blocks, every dimension.
[checksum(sines(9, 70).gather(0, (iota(n, 70, dtype=torch.int64) * 7) % 9))
    for n in (234, 235, 236, 471)]
[checksum(sines(n, 70).gather(1, (iota(n, 70, dtype=torch.int64) * 11) % 70))
    for n in (235, 236, 471)]
[checksum(sines(8, 9, 10, 70).gather(d, (iota(7, 9, 10, 70, dtype=torch.int64) * 11) % (8, 9, 10,
    70)[d])) for d in range(4)]
[checksum(sines(7, 9, 10, 70).scatter(3, (iota(7, 9, 10, 70, dtype=torch.int64) * 11) % 70,
    sines(7, 9, 10, 70, phase=2.0))) for _ in range(1)]
[checksum(sines(7, 9, 10, 70).scatter_add(d, (iota(6, 9, 10, 70, dtype=torch.int64) * 11) % (7, 9,
    10, 70)[d], sines(7, 9, 11, 70, phase=2.0))) for d in range(4)]
[checksum(sines(3, n).scatter_add(0, (iota(5, n, dtype=torch.int64) * 11) % 3,
    sines(5, n, phase=2.0))) for n in (1, 255, 256, 257, 512, 513)]
[checksum(sines(3, n).scatter(0, (iota(1, n, dtype=torch.int64) * 11) % 3, 2.5))
    for n in (1, 255, 256, 257, 513)]
checksum(sines(600, 70).scatter(1, (iota(600, 2, dtype=torch.int64) * 11) % 70, -3.0))
checksum(sines(3, 20001).scatter(1, iota(3, 20000, dtype=torch.int64) % 20001, 0.5))
[checksum((sines(5, 3) * 9).to(d).gather(0, torch.tensor([[4, 0, 2], [1, 1, 1]])))
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[checksum((sines(5) * 9).to(d).gather(0, torch.tensor([4, 0, 2, 2])))
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[checksum((sines(5, 3) * 9).to(d).scatter(0, torch.tensor([[4, 0, 2], [1, 1, 1]]),
    (sines(2, 3, phase=2.0) * 9).to(d))) for d in (torch.bool, torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[checksum((sines(5, 3) * 9).to(d).scatter_add(0, torch.tensor([[4, 0, 2], [4, 1, 1]]),
    (sines(2, 3, phase=2.0) * 9).to(d))) for d in (torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(5, 3, dtype=d).scatter_add(0,
    torch.tensor([[4, 0, 2], [4, 1, 1]]), complex_sines(2, 3, dtype=d, phase=2.0)))
    for d in (torch.complex64, torch.complex128)]
[torch.view_as_real(complex_sines(5, 3, dtype=d).gather(1, torch.tensor([[2, 0], [1, 1]])))
    for d in (torch.complex64, torch.complex128)]
[torch.view_as_real(complex_sines(5, 3, dtype=d).scatter(1, torch.tensor([[2, 0], [1, 2]]),
    complex_sines(2, 3, dtype=d, phase=2.0))) for d in (torch.complex64, torch.complex128)]
torch.tensor([True, False, False]).scatter_add(0, torch.tensor([1, 1, 2]),
    torch.tensor([True, True, False]))
[sines(3, 4).to(d).scatter_add(0, torch.zeros(s, dtype=torch.int64), sines(*s).to(d)).shape
    for d in (torch.float16, torch.float32) for s in ((0, 4), (2, 0))]
[sines(3, 4).to(d).scatter(1, torch.zeros(s, dtype=torch.int64), sines(*s).to(d)).shape
    for d in (torch.float16, torch.float32) for s in ((0, 4), (2, 0))]
torch.gather(sines(3, 4).t(), 0, torch.tensor([[3, 0, 1]]))
torch.gather(sines(6, 4)[::2], 0, torch.tensor([[2, 0, 1, 1]]))
torch.gather(sines(1, 4).expand(3, 4), 0, torch.tensor([[2, 0, 1, 1]]))
torch.gather(sines(3, 8)[:, ::2], 1, torch.tensor([[3, 0]]))
[x := sines(4, 3).t(), x.scatter_(0, torch.tensor([[2, 0, 1, 1]]), sines(1, 4, phase=2.0)),
    x.stride()]
[x := sines(4, 3).t(), x.scatter_add_(1, torch.tensor([[2], [0], [3]]), sines(3, 1, phase=2.0)),
    x.stride()]
[x := sines(8, 3)[::2], x.scatter_(0, torch.tensor([[2, 0, 1]]), 5.0), x._base]
sines(3, 4).gather(1, torch.tensor([[4]]))
sines(3, 4).gather(0, torch.tensor([[-1]]))
sines(3, 4).scatter(0, torch.tensor([[3]]), 1.0)
sines(3, 4).scatter_add(1, torch.tensor([[0], [4]]), sines(2, 1))
sines(3, 0).gather(1, torch.zeros(2, 0, dtype=torch.int64))

def equal_scatter():
    x = sines(3, 4)
    return [error_name(lambda: x.scatter_(0, torch.tensor([[3]]), 1.0)),
        torch.equal(x, sines(3, 4)), x._version]

[x := sines(4, 3), error_name(lambda: x.scatter_add_(0, torch.tensor([[1, 0, 3], [1, 2, 0]]), x)),
    x]
[x := sines(4, 3), error_name(lambda: x.scatter_(0, torch.tensor([[1, 0, 3], [1, 2, 0]]), x)), x]
[x := sines(2, 3), y := torch.empty(1, 2, dtype=torch.float64),
    torch.gather(x, 1, torch.tensor([[2, 0]]), out=y) is y, y]
