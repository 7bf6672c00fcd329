"""Indexing by tensors: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, error_name, sines

# Indexing by tensors: before, between and behind other dimensions, few and many places.
sines(3, 4)[torch.tensor([3])]
sines(3, 4, 5)[torch.tensor([0, 1]), :, torch.tensor([0, 1, 2])]

# Masks, also of no dimension, and what is counted.
[checksum(sines(5, 6, 3)[sines(5, 6) > x]) for x in (-2, 0, 0.5)]
[checksum(sines(5, 6, 3)[:, sines(6, 3) > x]) for x in (-2, 0, 0.5)]
[checksum(torch.nonzero(sines(n) > 0.3)) for n in (1, 31, 32, 33, 5000)]
[x.masked_select(y) for x, y in ((sines(2, 3), sines(2, 3) > 0), (sines(3), sines(2, 3) > 0),
    (sines(2, 1), sines(3) > 0), (sines(), torch.tensor(True)), (sines(2, 3).t(), sines(3, 2) > 0))]
[checksum(sines(n).masked_select(sines(n) > 0.3)) for n in (1, 1000, 40000)]

# Assigning and adding: columns of 64, several outer blocks, strided targets, repeated places.
def phase_slice():
    def written(x, key, v):
        x[key] = v
        return checksum(x)
    return [written(x, (slice(None), torch.tensor([2, 0])), sines(4, 2, phase=2.0))
        for x in (sines(4, 6), sines(8, 6)[::2], sines(6, 4).t(), sines(4, 12)[:, ::2])]

[checksum((sines(5) * 9).to(d).index_put((torch.tensor([4, 0, 4]),),
    (sines(3, phase=2.0) * 9).to(d), True)) for d in (torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(4, dtype=d).index_put((torch.tensor([3, 0, 3]),),
    complex_sines(3, dtype=d, phase=2.0), True)) for d in (torch.complex64, torch.complex128)]

def index_put_tensor():
    x = sines(4, 3)
    return x.index_put_((torch.tensor([1, 2]),), x[:2])

def index_put_tensor_2():
    x = sines(4, 3)
    return [error_name(lambda: x.index_put_((torch.tensor([1, 2]),), x[:2])), x]

def transpose_phase():
    x = sines(5, 70, 6).transpose(1, 2)
    x[torch.tensor([2, 0])] = sines(2, 6, 70, phase=2.0)
    return checksum(x)

def tensor_torch():
    x = sines(2, 3)
    x[torch.tensor(True)] = 4.0
    return x

def tensor_float64():
    x = sines(2, 3)
    x[sines(2, 3) > 0.4] = torch.tensor([7.0, 8.0], dtype=torch.float64)
    return x
