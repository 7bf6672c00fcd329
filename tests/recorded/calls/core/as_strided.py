"""As strided: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    gradients,
    iota,
    metadata,
    operator,
    second_gradients,
    sines,
    tangents,
)

# as_strided
iota(6).as_strided((2, 2), (3, 1))
iota(6).as_strided((2, 2), (3, 1), 1)
iota(6).as_strided((2, 2), (1, 1))
iota(6).as_strided((2, 2), (3, 2))
iota(6).as_strided((2, 2), (3, 2), 1)
iota(6).as_strided((2, 2), (4, 1))
iota(6).as_strided((2, 2), (4, 2))
iota(6)[2:].as_strided((2,), (1,))
iota(6)[2:].as_strided((2,), (1,), 0)
iota(6)[2:].as_strided((2,), (3,)).storage_offset()
iota(6)[2:].as_strided((2,), (1,), 5)
iota(6).as_strided((0,), (1,), 6).storage_offset()
iota(6).as_strided((0, 4), (9, 9), 3).storage_offset()
iota(6).as_strided((), (), 5)
iota(6).as_strided((), (), 6)
iota(6).as_strided((2,), (1, 1))
iota(6).as_strided((2,), (-1,))
iota(6).as_strided((-2,), (1,))
iota(6).as_strided((2,), (1,), -1)
iota(6).as_strided((1,), (1,), 5)
iota(6).as_strided((1,), (1,), 6)
iota(6).as_strided((3,), (0,), 5)
iota(6, dtype=torch.uint8).as_strided((2,), (4,), 2)
iota(6, dtype=torch.float64).as_strided((2,), (4,), 2)
iota(6).as_strided((1 << 40,), (1 << 40,))

# diagonal
iota(3, 4).diagonal()
iota(3, 4).diagonal(1)
iota(3, 4).diagonal(3)
iota(3, 4).diagonal(4)
iota(3, 4).diagonal(5)
iota(3, 4).diagonal(-1)
iota(3, 4).diagonal(-2)
iota(3, 4).diagonal(-3)
iota(3, 4).diagonal(-4)
iota(4, 3).diagonal(1)
iota(4, 3).diagonal(-1)
iota(4, 3).diagonal(-2).storage_offset()
iota(4, 3).diagonal(2).storage_offset()
iota(4, 3).diagonal(3).storage_offset()
iota(4, 3).diagonal(-4).storage_offset()
iota(2, 3, 4).diagonal()
iota(2, 3, 4).diagonal(0, 1, 2)
iota(2, 3, 4).diagonal(1, 1, 2)
iota(2, 3, 4).diagonal(-1, -1, 0)
iota(2, 3, 4).diagonal(1, 0, 2).stride()
iota(2, 3, 4).diagonal(0, 1, 1)
iota(2, 3, 4).diagonal(0, -1, 2)
iota(2, 3, 4).diagonal(0, 3, 0)
iota(3).diagonal()
iota(3).diagonal(0, 0, 0)
iota(3).diagonal(0, 1, 0)
iota().diagonal()
iota(0, 3).diagonal()
iota(0, 3).diagonal(1).storage_offset()

# unbind and splits
iota(2, 3).unbind()
iota(2, 3).unbind(1)
iota(2, 3).unbind(-1)
[x.storage_offset() for x in iota(2, 3).unbind()]
iota(2, 3).unbind(2)
iota().unbind()
len(iota(0, 3).unbind())
iota(7).split(3)
iota(7).split(7)
iota(7).split(8)
iota(7).split(1)
iota(7).split(0)
iota(7).split(-1)
iota(0).split(2)
iota(0).split(0)
iota(7).split((2, 5))
iota(7).split((2, 0, 5))
iota(7).split((2, 4))
iota(7).split((2, 6))
iota(7).split((8, -1))
iota(3, 4).split((1, 3), 1)
iota(3, 4).split((1, 3), -1)
iota(3, 4).split(2, 1)
iota(3, 4).split((1, 3), 2)
iota(3, 4).split(2, 2)
iota().split(1)
iota().split((1,))
len(iota(0).split(()))
iota(3).split(())
[x.storage_offset() for x in iota(7).split((2, 0, 5))]
torch.split_with_sizes(iota(7), (3, 4))
torch.split_with_sizes(iota(7), (3, 3))
torch.split_with_sizes(iota(7), (8, -1))
torch.split_with_sizes(iota(), (1,))
torch.unsafe_split(iota(7), 3)
torch.unsafe_split_with_sizes(iota(7), (3, 4))
torch.unsafe_split_with_sizes(iota(7), (3, 3))
[x := iota(4), y := torch.unsafe_split(x, 2), y[0].add_(1), y[0]._version, y[1]._version,
    x._version, x]
[x := iota(4), y := torch.split(x, 2), y[0].add_(1), y[0]._version, y[1]._version, x._version, x]
[x := iota(4), y := torch.unsafe_split_with_sizes(x, (1, 3)), y[1].add_(1), [z._version for z in y],
    x._version]
torch.unsafe_chunk(iota(7), 3)
torch.chunk(iota(7), 3)
torch.tensor_split(iota(7), 3)

# conjugates and negatives that are views
[x := complex_sines(2), x.conj().is_conj(), x.conj().conj().is_conj(),
    x.conj().data_ptr() == x.data_ptr()]
iota(2).conj().is_conj()

# what torch has without documenting it
with differs("This package alone has it."):
    operator("_neg_view")(iota(2))
    operator("_neg_view")(iota(2)).is_neg()
    operator("_neg_view")(operator("_neg_view")(iota(2))).is_neg()
    operator("_neg_view")(iota(2, dtype=torch.bool))
    operator("_neg_view")(complex_sines(2))
complex_sines(3).conj()[1:].is_conj()
complex_sines(2, 3).conj().t()
complex_sines(2, 3).conj().permute(1, 0).is_conj()
complex_sines(2, 3).conj().view(6)
complex_sines(2, 3).conj().imag
complex_sines(2, 3).conj().imag.is_neg()
complex_sines(2, 3).conj().real.is_neg()

# views of parts and of bytes
torch.view_as_real(complex_sines(2))
torch.view_as_real(complex_sines(2, 3).t())
torch.view_as_real(complex_sines(2, 3).t()).stride()
torch.view_as_real(complex_sines(4)[2:]).storage_offset()
torch.view_as_real(complex_sines(2, dtype=torch.complex64))
torch.view_as_real(complex_sines())
torch.view_as_real(sines(2))
torch.view_as_real(complex_sines(2).conj())
with differs("This package alone has it."):
    torch.view_as_real(operator("_neg_view")(complex_sines(2)))
    torch.view_as_real(operator("_neg_view")(complex_sines(2))).is_neg()
torch.view_as_complex(sines(3, 2))
torch.view_as_complex(sines(3, 2, dtype=torch.float32))
torch.view_as_complex(sines(2))
torch.view_as_complex(sines(3, 2)[1:]).storage_offset()
torch.view_as_complex(sines(2, 3, 2).transpose(0, 1))
torch.view_as_complex(sines(2, 3, 2).transpose(0, 1)).stride()
torch.view_as_complex(sines(3, 4)[:, :2]).stride()
torch.view_as_complex(sines(3, 3)[:, :2])
torch.view_as_complex(sines(3, 3)[:1, :2])
torch.view_as_complex(sines(3, 3)[:, 1:])
torch.view_as_complex(sines(3, 4)[:, 1:3])
torch.view_as_complex(sines(3, 4)[:, 2:])
torch.view_as_complex(sines(3, 4)[:, ::2])
torch.view_as_complex(sines(2, 3).t())
torch.view_as_complex(sines(3, 3))
torch.view_as_complex(sines(3, 1))
torch.view_as_complex(sines())
torch.view_as_complex(iota(2, dtype=torch.int64))
with differs("This package alone has it."):
    torch.view_as_complex(operator("_neg_view")(sines(3, 2)))
iota(4, dtype=torch.int32).view(torch.float32).view(torch.int32)
iota(4, dtype=torch.int32).view(torch.int64)
iota(4, dtype=torch.int64).view(torch.int32)
iota(2, 4, dtype=torch.int32).view(torch.int64).stride()
iota(2, 4, dtype=torch.int64).view(torch.int32).stride()
iota(2, 4, dtype=torch.int64).view(torch.uint8).shape
iota(2, 4, dtype=torch.int64)[:, 1:3].view(torch.int32)
iota(2, 4, dtype=torch.int64)[:, 1:3].view(torch.int32).stride()
iota(2, 4, dtype=torch.int64)[:, 1:3].view(torch.int32).storage_offset()
iota(2, 4, dtype=torch.int32)[:, 2:].view(torch.int64)
iota(2, 4, dtype=torch.int32)[:, 2:].view(torch.int64).storage_offset()
iota(2, 4, dtype=torch.int32)[:, 2:].view(torch.int64).stride()
iota(2, 4, dtype=torch.int32)[:, 1:3].view(torch.int64)
iota(2, 3, dtype=torch.int32).view(torch.int64)
iota(2, 3, dtype=torch.int32)[:, :2].view(torch.int64)
with differs("The stride of a single row doesn't matter."):
    iota(1, 3, dtype=torch.int32)[:, :2].view(torch.int64)
iota(2, 4, dtype=torch.int32).t().view(torch.int64)
iota(2, 4, dtype=torch.int64).t().view(torch.int32)
iota(2, 4, dtype=torch.int32).t().view(torch.float32)
iota(4, 1, dtype=torch.int64)[::2].view(torch.int32)
iota(4, 1, dtype=torch.int64)[::2].view(torch.int32).stride()
iota(2, 2, dtype=torch.int64)[:, :1].view(torch.int32)
iota(2, 3, 4, dtype=torch.int32).view(torch.int64)
iota(2, 3, 4, dtype=torch.int64).view(torch.int32).stride()
iota(2, 3, 4, dtype=torch.int32)[:, ::2].view(torch.int64)
iota(2, 3, 4, dtype=torch.int32)[:, ::2].view(torch.int64).stride()
iota(3, 2, dtype=torch.uint8).view(torch.float16)
iota(3, 4, dtype=torch.uint8).view(torch.int32)
iota(dtype=torch.int32).view(torch.int64)
iota(dtype=torch.int64).view(torch.int32)
iota(dtype=torch.int32).view(torch.float32)
complex_sines(2).view(torch.float64)
complex_sines(2).view(torch.complex64)
complex_sines(2).view(torch.int64).shape
complex_sines(2).conj().view(torch.float64)
with differs("This package alone has it."):
    operator("_neg_view")(iota(2)).view(torch.int32)
iota(2).view(None)
iota(4).view(dtype=torch.int32)
metadata(iota(4).view(torch.int32))

# unfold
iota(7).unfold(0, 3, 2)
iota(7).unfold(0, 3, 1)
iota(7).unfold(0, 7, 1)
iota(7).unfold(0, 1, 3)
iota(7).unfold(0, 0, 2)
iota(7).unfold(0, 8, 1)
iota(7).unfold(0, -1, 1)
iota(7).unfold(0, 2, 0)
iota(7).unfold(0, 2, -1)
iota(7).unfold(1, 2, 1)
iota(2, 5).unfold(1, 2, 2)
iota(2, 5).unfold(-2, 2, 1)
iota(2, 5).unfold(-2, 2, 1).stride()
iota(2, 5).unfold(1, 2, 3).stride()
iota(2, 5)[1:].unfold(1, 2, 3).storage_offset()
iota().unfold(0, 1, 1)
iota().unfold(0, 1, 1).stride()
iota().unfold(0, 0, 1)
iota().unfold(0, 2, 1)
iota(0).unfold(0, 0, 1)
iota(0).unfold(0, 1, 1)
gradients(lambda x: x.unfold(0, 3, 2), sines(8))
gradients(lambda x: x.unfold(0, 3, 1), sines(8))
gradients(lambda x: x.unfold(1, 3, 1).unfold(1, 2, 1), sines(2, 6))
gradients(lambda x: x.unfold(0, 2, 3), sines(7))
gradients(lambda x: x.unfold(1, 2, 1), sines(2, 5).t())

# their gradients
gradients(lambda x: x[1:5:2], sines(7))
gradients(lambda x: x[:, -2:], sines(3, 4))
gradients(lambda x: x[:, 9:], sines(3, 4))
gradients(lambda x: x.select(1, -1), sines(3, 4))
gradients(lambda x: x.select(0, 1), sines(3, 4, dtype=torch.float32))
gradients(lambda x: x.diagonal(1), sines(3, 4))
gradients(lambda x: x.diagonal(-1, 0, 2), sines(3, 2, 4))
gradients(lambda x: x.as_strided((2, 2), (1, 1)), sines(6))
gradients(lambda x: x.as_strided((2, 2), (3, 1), 1), sines(6))
gradients(lambda x: x.as_strided((3, 3, 2), (1, 1, 0)), sines(6))
gradients(lambda x: x.as_strided((2, 3, 2), (0, 1, 1), 1), sines(6))
gradients(lambda x: x.as_strided((3, 2, 2), (2, 1, 1)), sines(2, 4))
gradients(lambda x: x.as_strided((4,), (0,), 2), sines(6))
gradients(lambda x: x[2:].as_strided((2, 2), (1, 2)), sines(8))
gradients(lambda x: x[2:].as_strided((3,), (1,), 0), sines(8))
gradients(lambda x: x[2:6].as_strided((3,), (2,), 1), sines(8))
gradients(lambda x: x.expand(3, 4).as_strided((2, 2), (0, 1), 1), sines(4))
gradients(lambda x: x.expand(3, 4).as_strided((3, 4), (0, 1)), sines(4))
gradients(lambda x: x.expand(3, 2, 2).as_strided((2, 2), (2, 1)), sines(2, 2))
gradients(lambda x: x.t().as_strided((3, 2), (1, 3)), sines(2, 3))
gradients(lambda x: x.as_strided((0, 2), (1, 1)), sines(6))
gradients(lambda x: x.as_strided((), (), 3), sines(6))
gradients(lambda x: x[:, 1:].as_strided((2, 2), (4, 1)), sines(2, 4))
gradients(lambda x: x[:, ::2].as_strided((2, 2), (4, 1)), sines(2, 4))
second_gradients(lambda x: x.as_strided((3, 2), (1, 1)) ** 3, sines(6))
second_gradients(lambda x: x.as_strided((3, 2), (1, 1), 2) ** 3, sines(6))
second_gradients(lambda x: x.expand(3, 4).as_strided((2, 2), (0, 1), 1) ** 3, sines(4))
second_gradients(lambda x: x[2:6].as_strided((3,), (2,), 1) ** 3, sines(8))
second_gradients(lambda x: x[2:6].as_strided((3,), (1,), 0) ** 3, sines(8))
tangents(lambda x: x.as_strided((3, 2), (1, 1), 2), sines(6))
tangents(lambda x: x[2:6].as_strided((2,), (1,)), sines(8))
second_gradients(lambda x: x.select(1, -1) ** 3, sines(3, 4))
second_gradients(lambda x: x.diagonal(1) ** 3, sines(3, 4))
second_gradients(lambda x: x.unfold(0, 3, 2) ** 3, sines(8))
second_gradients(lambda x: x[1:5:2] ** 3, sines(7))

# flip, and copies with another window
iota(2, 3).flip(0)
iota(2, 3).flip(1)
iota(2, 3).flip(0, 1)
iota(2, 3).flip(-1)
iota(2, 3).flip((0, -2))
iota(2, 3).flip(2)
iota(2, 3).flip(())
iota(2, 3).t().flip(0)
iota(2, 3)[:, ::2].flip(1)
iota(0, 3).flip(0)
iota(0, 3).flip(1)
iota().flip(())
iota().flip(0)
iota(3).expand(2, 3).flip(1)
complex_sines(3).flip(0)
iota(2, 3, 2).flip(0, 2)
torch.as_strided_scatter(iota(6), iota(2, 2) + 10, (2, 2), (3, 1))
torch.as_strided_scatter(iota(6), iota(2, 2) + 10, (2, 2), (3, 1), 1)
torch.as_strided_scatter(iota(6), iota(2) + 10, (2,), (2,), 3)
torch.as_strided_scatter(iota(6)[2:], iota(2) + 10, (2,), (1,))
torch.as_strided_scatter(iota(2, 3).t(), iota(2) + 10, (2,), (1,))
torch.as_strided_scatter(iota(2, 3).t(), iota(2) + 10, (2,), (1,)).stride()
torch.as_strided_scatter(iota(6), iota(3), (2,), (1,))
torch.as_strided_scatter(iota(6), iota(2), (2,), (9,))

# at most 64 dimensions here, more in torch
iota(1).view(*[1] * 64).dim()
with differs("A tensor has at most 64 dimensions here."):
    iota(1).view(*[1] * 65)
    iota(1).view(*[1] * 64).unsqueeze(0)
    iota(1).view(*[1] * 64).unfold(0, 1, 1)
    torch.view_as_real(complex_sines(1).view(*[1] * 64))
    iota(1).reshape([1] * 65)
    iota(1).expand([1] * 65)
    iota(1).as_strided([1] * 65, [1] * 65)
    iota(2, 2).t().reshape([1] * 64 + [4])

def is_neg_view():
    x = complex_sines(2).conj().imag
    return x.view(torch.float64).is_neg()

def is_neg_view_2():
    x = complex_sines(2).conj().imag
    return [x.is_neg(), error_name(lambda: x.view(torch.float64).is_neg()), x]

complex_sines(4).conj().imag.view(torch.int64)
[x := complex_sines(4, 2).conj().imag, torch.view_as_complex(x.contiguous())]

# The gradient of a window has a storage that holds what the base and the window span, no more.
def bytes_of_window():
    def bytes_of(x, *window):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(x.as_strided(*window).sum(), x)[0].untyped_storage().nbytes()
    return [bytes_of(torch.ones(10)[4:8], (2,), (1,)), bytes_of(torch.ones(4), (1, 4), (4, 1)),
        bytes_of(torch.ones(10)[:4], (2,), (1,), 6)]
