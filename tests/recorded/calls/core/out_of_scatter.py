"""Out of scatter: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import iota, sines


# Where results go that are made of the first operand.
def index_add_alpha():
    out = torch.zeros(2, 3, dtype=torch.float64)
    return torch.index_add(sines(2, 3), 0, torch.tensor([1, 0]), sines(2, 3), alpha=2,
        out=out) is out, out

torch.index_copy(sines(2, 3), 1, torch.tensor([2]), sines(2, 1),
    out=torch.zeros(0, dtype=torch.float64))
torch.scatter(sines(2, 3), 1, torch.tensor([[2], [0]]), 5.0, reduce="multiply",
    out=torch.zeros(0, dtype=torch.float64))
torch.scatter(sines(2, 3), 1, torch.tensor([[2], [0]]), sines(2, 1),
    out=torch.zeros(2, 3, dtype=torch.float32))
torch.scatter_add(sines(2, 3), 1, torch.tensor([[2], [0]]), sines(2, 1),
    out=torch.zeros(3, 2, dtype=torch.float64).t())
torch.narrow_copy(sines(2, 3), 1, 1, 2, out=torch.zeros(2, 2, dtype=torch.float64))
torch.slice_scatter(sines(2, 3), sines(2, 1), 1, 0, 1, out=torch.zeros(0, dtype=torch.float64))
torch.nonzero(iota(3), as_tuple=True, out=torch.zeros(0, dtype=torch.int64))
torch.linalg.vector_norm(sines(2, 3), out=torch.zeros((), dtype=torch.float64, requires_grad=True))
torch.linalg.cholesky(input=torch.eye(2) * 4).contiguous()
torch.linalg.norm(input=sines(2, 3), axis=1)
torch.hsplit(sines(2, 4), sections=2)
torch.tensor_split(sines(2, 4), indices=(1,))
torch.split(tensor=sines(2, 4), split_size_or_sections=1)
sines(3).resize_(size=(2,))
torch.zeros(2).copy_(other=torch.ones(2))
torch.isin(element=2, test_elements=torch.tensor([1, 2]))
torch.linalg.svdvals(sines(2, 2), driver="gesvd")
torch.histc(torch.tensor([[0.3, 0.5, 0.7], [0.2, 0.4, 0.6], [0.1, 0.9, 0.8]],
    dtype=torch.float64)).nonzero().view(-1)
torch.range(1.5, 3.5, dtype=torch.int64)
torch.range(3, 1, -0.5)
torch.range(1, 3, out=torch.zeros(0, dtype=torch.int32))
torch.range(1, 3, out=torch.zeros(0), dtype=torch.float64)
torch.fft.fftfreq(5, 0.5, out=torch.zeros(5))
torch.fft.rfftfreq(4, out=torch.zeros(4, dtype=torch.float64))
torch.fft.fftfreq(5, out=torch.zeros(5), dtype=torch.float64)
torch.fft.fftfreq(5, out=torch.zeros(5, dtype=torch.int64))
