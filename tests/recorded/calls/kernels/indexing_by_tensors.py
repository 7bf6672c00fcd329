"""Indexing by tensors: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, differs, error_name, iota, sines

# Indexing by tensors: before, between and behind other dimensions, few and many places.
[checksum(sines(5, 6, 7)[iota(n, dtype=torch.int64) % 5]) for n in (1, 63, 64, 65, 500)]
[checksum(sines(5, 6, 7)[:, iota(n, dtype=torch.int64) % 6]) for n in (1, 63, 64, 65, 500)]
[checksum(sines(5, 6, 7)[:, :, iota(n, dtype=torch.int64) % 7]) for n in (1, 64, 65)]
[checksum(sines(5, 6, 7)[iota(n, dtype=torch.int64) % 5, :, -1 - iota(n, dtype=torch.int64) % 7])
    for n in (1, 64, 65)]
[checksum(sines(5, 6, 7)[iota(n, dtype=torch.int64) % 5, iota(n, dtype=torch.int64) % 6])
    for n in (1, 64, 65)]
[checksum(sines(5, 6, 7)[iota(n, 1, dtype=torch.int64) % 5, :, iota(4, dtype=torch.int64) % 7])
    for n in (1, 16, 17)]
[checksum(sines(5, 6, 7, 8)[:, iota(n, 1, dtype=torch.int64) % 6,
    iota(1, 3, dtype=torch.int64) - 2]) for n in (1, 22, 23)]
[checksum(sines(5, 6, 7)[iota(n, dtype=torch.int64) % 5, iota(n, dtype=torch.int64) % 6,
    iota(n, dtype=torch.int64) % 7]) for n in (1, 64, 65, 20000)]
[checksum(sines(9)[iota(n, dtype=torch.int64) % 18 - 9]) for n in (1, 64, 65, 16384, 16385, 16386)]
[checksum(sines(3, n)[torch.tensor([2, 0, -1, -3])]) for n in (1, 16383, 16384, 16385, 40000)]
[checksum(sines(2, 9, n)[:, iota(30, dtype=torch.int64) % 9]) for n in (600, 1100)]
[checksum(x[torch.tensor([2, 0, -1, -3])]) for x in (sines(6, 8)[::2], sines(6, 8)[:, 1:],
    sines(8, 6).t(), sines(4, 6, 5)[:, ::2], sines(4, 6, 5)[..., ::2], sines(1, 5).expand(4, 5),
    sines(4, 1).expand(4, 5), sines(4, 5, 3).transpose(1, 2), sines(4, 5, 1, 3)[..., 1:],
    sines(4, 3, 5, 2).permute(0, 3, 1, 2))]
[checksum(x[:, torch.tensor([2, 0, -1, -3])])
    for x in (sines(6, 8)[::2], sines(8, 6).t(), sines(4, 6, 5)[:, ::2], sines(1, 5).expand(4, 5),
    sines(4, 5, 3).transpose(0, 2), sines(2, 3, 5, 4).permute(1, 3, 0, 2),
    sines(1, 5, 4)[..., ::2])]
[checksum(x[:, :, torch.tensor([1, -1]), torch.tensor([[0], [2]])])
    for x in (sines(2, 3, 4, 5), sines(3, 2, 4, 5).transpose(0, 1), sines(2, 3, 4, 10)[..., ::2],
    sines(2, 3, 5, 4).transpose(2, 3), sines(2, 1, 4, 5).expand(2, 3, 4, 5))]
[checksum((sines(5, 4) * 9).to(d)[torch.tensor([4, 0, -5]), torch.tensor([1, -1, 2])])
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[checksum((sines(5, 4) * 9).to(d)[:, torch.tensor([1, -1, 2])])
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(5, 4, dtype=d)[torch.tensor([4, -5])])
    for d in (torch.complex64, torch.complex128)]
[torch.view_as_real(complex_sines(5, 4, dtype=d)[torch.tensor([4, -5]), torch.tensor([1, 2])])
    for d in (torch.complex64, torch.complex128)]
[torch.view_as_real(complex_sines(5, 4, dtype=d)[::2, torch.tensor([1, 2])])
    for d in (torch.complex64, torch.complex128)]
sines(3, 4)[torch.tensor([], dtype=torch.int64)]
sines(3, 4)[:, torch.tensor([], dtype=torch.int64)]
sines(3, 0)[torch.tensor([1, 2])]
sines(3, 4)[torch.zeros(0, 2, dtype=torch.int64), 1]
sines(3, 4)[torch.tensor([3])]
sines(3, 4)[torch.tensor([0, 2]), torch.tensor([0, -5])]
sines(3, 4, 5)[:, torch.tensor([0, 9]), torch.tensor([0, 1])]
sines(3, 0, 5)[torch.tensor([7]), torch.tensor([], dtype=torch.int64)]
sines(3, 4, 5)[torch.tensor([0, 1]), :, torch.tensor([0, 1, 2])]
sines(*[1] * 63)[torch.tensor(True)].dim()

# More dimensions than a tensor has.
with differs("A tensor has at most 64 dimensions here."):
    sines(*[1] * 64)[torch.tensor(True)]

# Masks, also of no dimension, and what is counted.
sines(3)[torch.tensor(True)]
sines(3)[torch.tensor(False)]
sines()[torch.tensor(True)]
sines(2, 2)[:, torch.tensor(True)]
sines(2, 2)[torch.tensor([True, False]), torch.tensor(True)]
sines(2, 3)[..., torch.tensor(False), torch.tensor([1])]
[checksum(sines(5, 6)[sines(5, 6) > x]) for x in (-2, 0, 0.5)]
[checksum(sines(5, 6, 3)[sines(5, 6) > x]) for x in (-2, 0, 0.5)]
[checksum(sines(5, 6, 3)[:, sines(6, 3) > x]) for x in (-2, 0, 0.5)]
checksum(sines(5, 6, 3)[sines(5) > 0.5, :, sines(3) > 0])
sines(5, 6, 3)[sines(5) > 2, :, sines(3) > 2].shape
sines(5, 6)[sines(5, 5) > 0]
sines(5, 6)[sines(6) > 0]
[torch.nonzero(x).contiguous() for x in (sines(7) > 0, sines(2, 3) > 0,
    torch.tensor([[[0, 2], [0, 0]], [[-1, 0], [math.nan, 1]]]), torch.tensor(5.0),
    torch.tensor(0.0), torch.zeros(0), torch.zeros(3, 0), torch.tensor([0j, 1j]))]
torch.nonzero(sines(7, 6)[::2, 1:] > 0).sum(0)
torch.nonzero((sines(6, 7) > 0).t())[:5].contiguous()
torch.nonzero(torch.tensor([0.0, 1e-7]).to(torch.float16))
torch.nonzero(torch.tensor([3, 0, 256])).t()
[checksum(torch.nonzero(sines(n) > 0.3)) for n in (1, 31, 32, 33, 5000)]
[checksum(torch.nonzero(sines(*s) > 0.3)) for s in ((1, 9), (9, 1), (40, 70), (5, 6, 7),
    (2, 3, 4, 5))]
[x.masked_select(y) for x, y in ((sines(2, 3), sines(2, 3) > 0), (sines(3), sines(2, 3) > 0),
    (sines(2, 1), sines(3) > 0), (sines(), torch.tensor(True)), (sines(2, 3).t(), sines(3, 2) > 0))]
[checksum((sines(40) * 9).to(d).masked_select(sines(40) > 0.1))
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(40, dtype=d).masked_select(sines(40) > 0.8))
    for d in (torch.complex64, torch.complex128)]
[checksum(sines(n).masked_select(sines(n) > 0.3)) for n in (1, 1000, 40000)]

# Assigning and adding: columns of 64, several outer blocks, strided targets, repeated places.
[checksum(sines(5, n).index_put((torch.tensor([3, 0]),), sines(2, n, phase=2.0)))
    for n in (1, 63, 64, 65, 129, 20001)]
[checksum(sines(5, n).index_put((torch.tensor([3, 0, 3]),), sines(3, n, phase=2.0), True))
    for n in (1, 63, 64, 65, 129, 20001)]
[checksum(sines(5, 7, n).index_put((torch.tensor([3, 0, 3]),), sines(3, 7, n, phase=2.0), True))
    for n in (1, 9, 64, 65)]
[checksum(sines(3, 7, n).index_put((iota(3, 1, dtype=torch.int64), torch.tensor([3, 0, 3])),
    sines(3, 3, n, phase=2.0), True)) for n in (1, 9, 65)]

def added_index_put():
    def added(x, *ix):
        n = x[ix].shape
        return [checksum(x.index_put(ix, sines(*n, phase=2.0), True)),
            checksum(x.index_put(ix, sines(*n, phase=2.0)))]
    return [added(sines(4, 5, 6, 7), *ix) for ix in ((torch.tensor([1]),),
        (torch.tensor([1, 3]), torch.tensor([0, 4])),
        (torch.tensor([[1], [3]]), torch.tensor([0, 4])),
        (torch.tensor([1, -4]), torch.tensor([0, 4]), torch.tensor([2, 5])),
        (torch.tensor([1, 2]), torch.tensor([0, 4]), torch.tensor([2, 5]), torch.tensor([6, -7])))]

def written(x, key, v):
    x[key] = v
    return checksum(x)

[written(x, (slice(None), torch.tensor([2, 0])), sines(4, 2, phase=2.0))
    for x in (sines(4, 6), sines(8, 6)[::2], sines(6, 4).t(), sines(4, 12)[:, ::2])]
[written(sines(*s), (slice(None), torch.tensor([2, 0])), sines(s[0], 2, *s[2:], phase=2.0))
    for s in ((4, 6, 3), (4, 6, 130), (4, 6, 2, 3), (4, 6, 2, 70))]

def written_checksum():
    def written(x, v):
        x.transpose(1, 2)[:, :, torch.tensor([2, 0])] = v
        return checksum(x)
    return [written(sines(*s), 0.5) for s in ((4, 6, 3), (4, 6, 130), (4, 6, 2, 3))]

[checksum((sines(5, 4) * 9).to(torch.int8).to(d).index_put((torch.tensor([4, 0, 4]),),
    (sines(3, 4, phase=2.0) * 9).to(torch.int8).to(d), True))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64)]
[checksum((sines(5) * 9).to(d).index_put((torch.tensor([4, 0, 4]),),
    (sines(3, phase=2.0) * 9).to(d), True)) for d in (torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(4, 2, dtype=d).index_put((torch.tensor([3, 0, 3]),),
    complex_sines(3, 2, dtype=d, phase=2.0), True)) for d in (torch.complex64, torch.complex128)]
[torch.view_as_real(complex_sines(4, dtype=d).index_put((torch.tensor([3, 0, 3]),),
    complex_sines(3, dtype=d, phase=2.0), True)) for d in (torch.complex64, torch.complex128)]
(sines(3, 3) > 0).index_put((torch.tensor([0, 0]),),
    torch.tensor([[True, False, False], [False, True, False]]), True)
(sines(3) > 0).index_put((torch.tensor([1, 1]),), torch.tensor([True, False]), True)

def index_put_tensor():
    x = sines(4, 3)
    return x.index_put_((torch.tensor([1, 2]),), x[:2])

def index_put_tensor_2():
    x = sines(4, 3)
    return [error_name(lambda: x.index_put_((torch.tensor([1, 2]),), x[:2])), x]

def index_put_tensor_3():
    x = sines(4, 3)
    return x.index_put_((torch.tensor([1, 0, 3, 3]),), x, True)

def index_put_tensor_4():
    x = sines(4, 3)
    return [error_name(lambda: x.index_put_((torch.tensor([1, 0, 3, 3]),), x, True)), x]

[x := sines(2, 3).to(torch.float16), x.index_put_((torch.tensor([1, 1]),),
    sines(2, 3).to(torch.float16), True), x._version]
sines(2, 3).index_put((torch.tensor([1]), torch.tensor([2])),
    torch.tensor(5.0, dtype=torch.float64))
sines(2, 3).index_put((torch.tensor([1, 0]),), sines(3, phase=2.0))
sines(2, 3).index_put((torch.tensor([1]),), sines(2, 3))
sines(2, 3).index_put((torch.tensor([2]),), sines(3))
sines(2, 3).index_put((torch.tensor([1]),), sines(3).float())

@differs("Torch writes what it can before it says so.")
def equal_index_put():
    x = sines(2, 3)
    return [error_name(lambda: x.index_put_((torch.tensor([1, 2]),), sines(2, 3, phase=2.0))),
        torch.equal(x, sines(2, 3)), x._version]

def phase_checksum():
    x = sines(5, 3, 140)
    x[:, :, ::2][torch.tensor([2, 0])] = sines(2, 3, 70, phase=2.0)
    return checksum(x)

def transpose_checksum():
    x = sines(5, 70, 6).transpose(1, 2)
    x[torch.tensor([2, 0])] = sines(2, 6, 70, phase=2.0)
    return checksum(x)

def sines_tensor():
    x = sines(2, 3)
    x[torch.tensor(True)] = 4.0
    return x

def sines_tensor_2():
    x = sines(2, 3)
    x[torch.tensor(False)] = 4.0
    return x

def tensor_float64():
    x = sines(2, 3)
    x[sines(2, 3) > 0.4] = torch.tensor([7.0], dtype=torch.float64)
    return x

def tensor_float64_2():
    x = sines(2, 3)
    x[sines(2) < 0.4] = torch.tensor([7.0, 8.0, 9.0], dtype=torch.float64)
    return x

def tensor_float64_3():
    x = sines(2, 3)
    x[sines(2, 3) > 0.4] = torch.tensor([7.0, 8.0], dtype=torch.float64)
    return x
