"""Out of scatter: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import iota, sines

# Where results go that are made of the first operand.
torch.index_copy(sines(2, 3), 1, torch.tensor([2]), sines(2, 1),
    out=torch.zeros(0, dtype=torch.float64))
torch.scatter(sines(2, 3), 1, torch.tensor([[2], [0]]), sines(2, 1),
    out=torch.zeros(2, 3, dtype=torch.float32))
torch.scatter_add(sines(2, 3), 1, torch.tensor([[2], [0]]), sines(2, 1),
    out=torch.zeros(3, 2, dtype=torch.float64).t())
torch.narrow_copy(sines(2, 3), 1, 1, 2, out=torch.zeros(2, 2, dtype=torch.float64))
torch.nonzero(iota(3), as_tuple=True, out=torch.zeros(0, dtype=torch.int64))
torch.linalg.vector_norm(sines(2, 3), out=torch.zeros((), dtype=torch.float64, requires_grad=True))
torch.linalg.cholesky(input=torch.eye(2) * 4).contiguous()
torch.linalg.norm(input=sines(2, 3), axis=1)
sines(3).resize_(size=(2,))
torch.zeros(2).copy_(other=torch.ones(2))
torch.isin(element=2, test_elements=torch.tensor([1, 2]))
torch.linalg.svdvals(sines(2, 2), driver="gesvd")
torch.fft.fftfreq(5, 0.5, out=torch.zeros(5))
torch.fft.rfftfreq(4, out=torch.zeros(4, dtype=torch.float64))
torch.fft.fftfreq(5, out=torch.zeros(5), dtype=torch.float64)
torch.fft.fftfreq(5, out=torch.zeros(5, dtype=torch.int64))
