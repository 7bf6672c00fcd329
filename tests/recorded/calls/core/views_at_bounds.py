"""Views at bounds: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, gradients, iota, metadata, sines, tangents

# views at their bounds
metadata(iota(3).t())
metadata(iota(2, 3).transpose(1, 0))

# narrow, select, diagonal, unbind, split
iota(5).narrow(0, 1, -1)
metadata(iota(4, 5).narrow(1, 2, 2))
metadata(iota(4, 5).select(1, -1))
torch.tensor(1.0).unbind()
torch.unsafe_chunk(iota(5), 2)
torch.split_with_sizes(iota(2, 4), (1, 3), -1)
iota(4).chunk(0)

# as_strided and its gradients
iota(6).as_strided((2,), (1,), -1)
metadata(iota(6)[2:].as_strided((2,), (1,)))
gradients(lambda x: x.expand(3, 2).as_strided((3, 2), (0, 1)), sines(2))
gradients(lambda x: x.expand(3, 2).as_strided((2,), (1,)), sines(2))
tangents(lambda x: x[1:].as_strided((2,), (2,), 1), sines(4))
with differs("torch gives the elements of the window to x"):
    gradients(lambda x, y: torch.as_strided_scatter(x, y, (2, 2), (2, 1), 1), sines(6), sines(2, 2))
torch.as_strided_scatter(iota(8)[2:], iota(2) * 10, (2,), (2,), 3)
gradients(lambda x: x.unfold(0, 3, 1), sines(6))
iota(5).unfold(0, 2, 0)
gradients(lambda x: x.diagonal(-1, 2, 0), sines(3, 2, 4))
gradients(lambda x: x.select(1, -1), sines(2, 3))

# the same bytes as other elements
iota(3).view(torch.int64)
iota(4)[1:].view(torch.int64)
iota(5)[1:].view(torch.int64)
iota(2, 3)[:, :2].view(torch.int64)
with differs("the stride of a single row doesn't matter"):
    iota(1, 3)[:, :2].view(torch.int64)
iota(4)[::2].view(torch.int64)
torch.tensor(1.0).view(torch.int64)
torch.tensor(1.0, dtype=torch.float64).view(torch.float32)
complex_sines(2).conj().view(torch.float64)
complex_sines(2).conj().imag.view(torch.int64)
complex_sines(2).conj().imag.view(torch.float64).is_neg()
iota(2).view(dtype=None)
torch.view_as_real(iota(2))
torch.view_as_real(complex_sines(2).conj())
torch.view_as_complex(iota(2, dtype=torch.int64))
with differs("there is no complex32"):
    torch.view_as_complex(iota(2, dtype=torch.float16))
torch.view_as_complex(torch.tensor(1.0))
