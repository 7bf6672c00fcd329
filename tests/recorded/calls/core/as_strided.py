"""As strided: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import (
    complex_sines,
    differs,
    gradients,
    iota,
    operator,
    second_gradients,
    sines,
)

# as_strided
iota(6).as_strided((2,), (1,), -1)
iota(6).as_strided((1 << 40,), (1 << 40,))

# diagonal
iota(2, 3, 4).diagonal(-1, -1, 0)

# unbind and splits
iota().unbind()
iota(3).split(())
torch.unsafe_chunk(iota(7), 3)

# what torch has without documenting it
with differs("This package alone has it."):
    operator("_neg_view")(iota(2, dtype=torch.bool))
complex_sines(3).conj()[1:].is_conj()
complex_sines(2, 3).conj().real.is_neg()

# views of parts and of bytes
torch.view_as_real(complex_sines(4)[2:]).storage_offset()
torch.view_as_real(sines(2))
torch.view_as_complex(sines(3, 4)[:, 1:3])
torch.view_as_complex(sines(3, 4)[:, 2:])
torch.view_as_complex(sines(3, 4)[:, ::2])
torch.view_as_complex(sines())
iota(2, 4, dtype=torch.int32).view(torch.int64).stride()
iota(2, 4, dtype=torch.int32)[:, 2:].view(torch.int64).stride()
iota(2, 4, dtype=torch.int32)[:, 1:3].view(torch.int64)
iota(2, 3, dtype=torch.int32).view(torch.int64)
iota(2, 3, dtype=torch.int32)[:, :2].view(torch.int64)
iota(2, 4, dtype=torch.int32).t().view(torch.int64)
iota(2, 4, dtype=torch.int64).t().view(torch.int32)
iota(dtype=torch.int32).view(torch.int64)
iota(dtype=torch.int64).view(torch.int32)
iota(2).view(None)

# unfold
iota(7).unfold(0, 2, 0)
iota(7).unfold(0, 2, -1)
gradients(lambda x: x.unfold(0, 3, 2), sines(8))

# their gradients
gradients(lambda x: x.expand(3, 4).as_strided((2, 2), (0, 1), 1), sines(4))
second_gradients(lambda x: x.unfold(0, 3, 2) ** 3, sines(8))

# flip, and copies with another window
iota(2, 3)[:, ::2].flip(1)

# at most 64 dimensions here, more in torch
with differs("A tensor has at most 64 dimensions here."):
    iota(1).view(*[1] * 65)
    iota(1).view(*[1] * 64).unfold(0, 1, 1)
    iota(1).reshape([1] * 65)
    iota(1).expand([1] * 65)

def is_neg_view():
    x = complex_sines(2).conj().imag
    return x.view(torch.float64).is_neg()
