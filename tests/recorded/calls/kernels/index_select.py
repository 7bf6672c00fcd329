"""Index select: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from tests.recorded.inputs import checksum, complex_sines, error_name, sines


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
[x := sines(4, 3), error_name(lambda: x.index_add_(0, torch.tensor([1, 2]), x[:2])), x]

# Gathering and scattering: more rows than a tile has, columns in blocks, every dimension.
[checksum((sines(5, 3) * 9).to(d).scatter_add(0, torch.tensor([[4, 0, 2], [4, 1, 1]]),
    (sines(2, 3, phase=2.0) * 9).to(d))) for d in (torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[torch.view_as_real(complex_sines(5, 3, dtype=d).scatter_add(0,
    torch.tensor([[4, 0, 2], [4, 1, 1]]), complex_sines(2, 3, dtype=d, phase=2.0)))
    for d in (torch.complex64, torch.complex128)]
[x := sines(4, 3).t(), x.scatter_add_(1, torch.tensor([[2], [0], [3]]), sines(3, 1, phase=2.0)),
    x.stride()]
sines(3, 4).scatter_add(1, torch.tensor([[0], [4]]), sines(2, 1))

def equal_scatter():
    x = sines(3, 4)
    return [error_name(lambda: x.scatter_(0, torch.tensor([[3]]), 1.0)),
        torch.equal(x, sines(3, 4)), x._version]

[x := sines(4, 3), error_name(lambda: x.scatter_add_(0, torch.tensor([[1, 0, 3], [1, 2, 0]]), x)),
    x]
[x := sines(4, 3), error_name(lambda: x.scatter_(0, torch.tensor([[1, 0, 3], [1, 2, 0]]), x)), x]
