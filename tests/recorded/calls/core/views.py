"""Views: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    differs,
    gradients,
    iota,
    metadata,
    second_gradients,
    sines,
    tangents,
)

# view and reshape
iota(6).view(2, 3)
iota(6).view(3, -1)
iota(6).view(-1)
iota(6).view(1, 6, 1)
iota(6).view((6,))
iota(1).view(())
iota(6).view(2, 4)
iota(6).view(2, 2)
iota(6).view(7)
iota(6).view(2, -2)
iota(6).view(-1, -1)
iota(6).view(4, -1)
iota(6).view(0, -1)
iota(0).view(0, -1)
iota(0).view(3, -1)
iota(0).view(3, 0)
iota(0).view(0)
iota(0, 3).t().view(3, 0, 5)
iota(0, 3).t().view(0)
iota(0, 3).t().view(3)
iota(6).view(0)
iota(6).view(*[1] * 12, 6)
iota(2, 3).t().view(6)
iota(2, 3).t().view(3, 2)
iota(2, 3).t().view(3, 1, 2, 1)
iota(2, 3).t().view(1, 3, 2)
iota(4, 6)[:, ::2].view(4, 3, 1)
iota(4, 6)[:, ::2].view(12)
iota(4, 6)[:, ::2].view(2, 2, 3)
iota(4, 6)[:, ::2].view(2, -1, 3)
iota(4, 6)[:, :3].view(4, 3)
iota(4, 6)[::2].view(2, 2, 3)
iota(4, 6)[::2].view(2, 6, 1)
iota(4, 6)[::2].view(3, 4)
iota(4, 6)[::2].view(12)
iota(2, 3, 4).transpose(0, 1).view(3, 2, 2, 2)
iota(2, 3, 4).transpose(0, 1).view(3, 8)
iota(2, 3, 4).transpose(0, 1).view(6, 4)
iota(2, 3, 4).permute(2, 0, 1).view(4, 6)
iota(2, 3, 4).permute(2, 0, 1).view(4, 3, 2)
iota(2, 3, 4).permute(2, 0, 1).view(8, 3)
iota(2, 1, 4).permute(1, 2, 0).view(4, 2)
iota(2, 1, 4).permute(2, 1, 0).view(4, 2)
iota(2, 1, 4).permute(2, 1, 0).view(4, 1, 1, 2)
iota(2, 1, 4)[:, :, ::2].view(2, 2)
iota(2, 1, 4)[:, :, ::2].view(4)
iota(3).expand(2, 3).view(2, 3)
iota(3).expand(2, 3).view(6)
iota(1).expand(2, 3).view(6)
iota(1).expand(2, 3).view(3, 2)
iota(3, 1).expand(3, 2).view(6)
iota(5)[1:4].view(3, 1).storage_offset()
iota(2, 5)[1, 2:4].view(1, 2).storage_offset()
iota(2, 5)[:, 2:4].view(2, 2, 1).storage_offset()
iota(5)[4:].t().view(1, 1).stride()
iota(5)[::4].view(1, 2, 1).stride()
iota(8)[::2].view(2, 2).stride()
iota(6).view(2, 3).stride()
iota(6).view(1, 6, 1).stride()
iota(6).view(6, 1, 1).stride()
iota(2, 3).t().view(3, 1, 2).stride()
iota(2, 3).t().view(3, 2, 1).stride()
iota(2, 3).t().view(1, 3, 2).stride()
iota(1, 1).t().view(1, 1, 1).stride()
iota(2, 3, 4)[:, :1].view(2, 4).stride()
iota(2, 3, 4)[:, :1].view(2, 1, 1, 4).stride()
iota(2, 3, 4)[:, :1].view(1, 2, 4).stride()
iota(2, 3, 4)[:1].view(12).stride()
iota(0, 3).view(3, 0).stride()
iota(0, 3).t().view(0, 3).stride()
with differs("dimensions of one element: the strides are nobody's concern"):
    iota(4)[::2][:1].view(1, 1).stride()
iota(6).view(2, 3)._is_view()
metadata(iota(6).view(2, 3))
metadata(iota(6).requires_grad_().view(2, 3))
iota(2, 3).view_as(iota(3, 2))
iota(2, 3).view_as(iota(3, 3))
iota(6).view("x")
iota(6).view(2.0, 3)
iota(6).view()
iota(6).view(2, 3, 4)
iota(6).view(1 << 62, 4)
iota(6).view(1 << 40, 1 << 40)
iota(6).view(1 << 64)
iota(6).view(-1, 1 << 62, 4)
iota(2, 2).reshape(1 << 62, 4, 1)
iota(4, 6)[:, ::2].reshape(12)
iota(4, 6)[:, ::2].reshape(4, 3, 1)
[x := iota(2, 3).t(), x.reshape(6).stride(), x.reshape(3, 2).data_ptr() == x.data_ptr()]
[x := iota(2, 3).t(), x.reshape(3, 2, 1).data_ptr() == x.data_ptr(),
    x.reshape(2, 3).data_ptr() == x.data_ptr()]
[x := iota(1).expand(4), x.reshape(2, 2).stride(), x.reshape(2, 2).data_ptr() == x.data_ptr()]
iota(6).reshape(-1, 4)
iota(6).reshape(5)
iota(6).reshape(2, -3)

# expand
iota(3).expand(2, 3)
iota(3).expand(2, -1)
iota(3).expand(-1, 3)
iota(3, 1).expand(3, 4)
iota(3, 1).expand(-1, 4)
iota(3, 1).expand(2, 3, 4)
iota(3, 1).expand(3, 0)
iota(3).expand(4)
iota(3).expand(0)
iota(2, 3).expand(3)
iota(1).expand(-2)
iota(3, 1).expand(2, 3, 4).stride()
with differs("Dimensions of one element: the strides are nobody's concern."):
    iota(3, 1).expand(1, 3, 1).stride()
iota().expand(2)
iota().expand(())
iota(3, 1).expand_as(iota(3, 2))

# t, transpose and permute
iota(2, 3).t()
iota(3).t()
iota().t()
iota(2, 3, 4).t()
[iota(3).t().data_ptr() != 0, iota(3).t()._is_view(), iota().t()._is_view()]
iota(2, 3, 4).transpose(0, 2)
iota(2, 3, 4).transpose(1, -1)
iota(2, 3, 4).transpose(1, 1)
iota(2, 3, 4).transpose(0, 2).stride()
iota(2, 3)[1:].transpose(0, 1).storage_offset()
iota(2, 3).transpose(0, 2)
iota(2, 3).transpose(-3, 0)
iota().transpose(0, 0)
iota().transpose(0, -1)
iota().transpose(0, 1)
iota().transpose(1, 0)
iota(2, 3, 4).permute(2, 0, 1)
iota(2, 3, 4).permute(-1, 0, -2)
iota(2, 3, 4).permute((1, 2, 0))
iota(2, 3, 4)[1:].permute(1, 2, 0).storage_offset()
iota(2, 3, 4).permute(0, 1)
iota(2, 3, 4).permute(0, 1, 2, 3)
iota(2, 3, 4).permute(0, 1, 1)
iota(2, 3, 4).permute(0, 1, -2)
iota(2, 3, 4).permute(0, 1, 3)
iota().permute(())
iota().permute(0)
torch.permute(iota(2, 3), (1, 0))

# slice, narrow and select
iota(7)[1:6:2]
iota(7)[1:5:2]
iota(7)[1:2:2]
iota(7)[1:1:2]
iota(7)[6:1]
iota(7)[-3:]
iota(7)[-9:2]
iota(7)[:-9]
iota(7)[:-6]
iota(7)[:9]
iota(7)[9:]
iota(7)[7:]
iota(7)[6:]
iota(7)[::7]
iota(7)[::6]
iota(7)[::8]
iota(7)[1::3]
iota(7)[0:7:0]
iota(7)[::-1]
iota(0)[1:]
iota(0)[:]
iota(3, 4)[:, 1:3].stride()
iota(3, 4)[1:, ::3].stride()
iota(7)[2::2].storage_offset()
iota(7)[7:].storage_offset()
iota(7)[9:].storage_offset()
iota(7)[-2:].storage_offset()
iota(3, 4)[:, 5:].storage_offset()
iota()[0:1]
iota().narrow(0, 0, 1)
iota(5).narrow(0, 1, 3)
iota(5).narrow(0, -2, 2)
iota(5).narrow(0, -5, 5)
iota(5).narrow(0, 5, 0)
iota(5).narrow(0, 0, 5)
iota(5).narrow(0, 5, 1)
iota(5).narrow(0, 6, 0)
iota(5).narrow(0, -6, 1)
iota(5).narrow(0, 3, 3)
iota(5).narrow(0, 3, -1)
iota(5).narrow(0, 0, 0)
iota(3, 4).narrow(-1, 1, 2)
iota(3, 4).narrow(2, 0, 1)
iota(3, 4).narrow(0, torch.tensor(1), 2)
iota(3, 4).narrow(0, torch.tensor(1.0), 2)
iota(3, 4).narrow(0, torch.tensor([1]), 2)
iota(3, 4).narrow(0, torch.tensor(True), 2)
iota(3, 4).narrow(0, torch.tensor([True]), 2)
iota(3, 4).select(0, 1)
iota(3, 4).select(1, -1)
iota(3, 4).select(-1, -4)
iota(3, 4).select(1, 0).stride()
iota(3, 4).select(1, 3).storage_offset()
iota(3, 4).select(0, -1).storage_offset()
iota(3, 4).select(1, 4)
iota(3, 4).select(1, -5)
iota(3, 4).select(2, 0)
iota().select(0, 0)
iota(0, 3).select(0, 0)
iota(0, 3).select(1, 2)

# squeeze and unsqueeze
iota(1, 3, 1).squeeze()
iota(1, 3, 1).squeeze(0)
iota(1, 3, 1).squeeze(1)
iota(1, 3, 1).squeeze(-1)
iota(1, 3, 1).squeeze((0, 2))
iota(1, 3, 1).squeeze((0, 1))
iota(1, 3, 1).squeeze(())
iota(1, 3, 1).squeeze((0, 0))
iota(1, 3, 1).squeeze((0, -3))
iota(1, 3, 1).squeeze(3)
iota(1, 1).squeeze().dim()
iota(0, 1).squeeze().shape
iota(4, 1, 6)[::2, :, ::3].squeeze().stride()
iota(4, 1, 6)[::2, :, ::3].squeeze(1).stride()
iota(3, 1)[1:].squeeze(1).storage_offset()
iota(3, 1)[1:].squeeze().storage_offset()
iota().squeeze(0)
iota().squeeze(-1)
iota().squeeze(1)
iota().squeeze((0, -1))
iota(2, 3).unsqueeze(0).stride()
iota(2, 3).unsqueeze(1).stride()
iota(2, 3).unsqueeze(2).stride()
iota(2, 3).unsqueeze(-1).stride()
iota(2, 3).t().unsqueeze(0).stride()
iota(2, 3).t().unsqueeze(1).stride()
iota(2, 3).t().unsqueeze(2).stride()
iota(2, 3).unsqueeze(-3)
iota(2, 3).unsqueeze(3)
iota(2, 3).unsqueeze(-4)
iota(2, 3)[1:].unsqueeze(0).storage_offset()
iota().unsqueeze(0).stride()
iota().unsqueeze(-1)
iota().unsqueeze(1)
iota(2, 0).unsqueeze(0).stride()
iota(2, 0).unsqueeze(1).stride()

# one dimension below the most that there may be, and the most
iota(1).expand([1] * 64).dim()
iota(1).as_strided([1] * 64, [1] * 64).dim()
iota(1).reshape([1] * 64).dim()
torch.empty([1] * 64).dim()
[x := iota(2, 2).t(), (y := x.reshape([1] * 62 + [2, 2])).dim(), y.data_ptr() == x.data_ptr()]
iota(1).view([1] * 63).unsqueeze(0).dim()
iota(1).view([1] * 63).unfold(0, 1, 1).dim()
torch.view_as_real(complex_sines(1).view([1] * 63)).dim()
with differs("A tensor has at most 64 dimensions here."):
    vmap(lambda x: x.new_zeros([1] * 64))(iota(2))
vmap(lambda x: x.new_zeros([1] * 63))(iota(2)).dim()

# views where they are possible
[x := iota(6), x.reshape(-1, 2).data_ptr() == x.data_ptr(),
    x.reshape(2, 3).data_ptr() == x.data_ptr(), x.flatten().data_ptr() == x.data_ptr(),
    x.unflatten(0, (2, -1)).data_ptr() == x.data_ptr(),
    x.reshape_as(iota(2, 3)).data_ptr() == x.data_ptr()]
[x := iota(2, 3, 4), x.flatten(1).data_ptr() == x.data_ptr(),
    x.flatten(0, 1).data_ptr() == x.data_ptr(), x.transpose(0,
    1).flatten(1).data_ptr() == x.data_ptr(), x.permute(1, 2, 0).flatten(0,
    1).data_ptr() == x.data_ptr()]
[x := iota(2, 3).t(), x.reshape(-1, 2).data_ptr() == x.data_ptr(),
    x.reshape(1, 3, -1).data_ptr() == x.data_ptr(), x.reshape(-1).data_ptr() == x.data_ptr()]
iota(0, 3).t().reshape(0).shape
iota(0, 3).t().view(3, 0, 5).stride()
iota(0, 4)[:, ::2].view(2, 0, 1).stride()
iota(2, 3, dtype=torch.uint8).view(torch.bool)
iota(2, 3, dtype=torch.bool).view(torch.uint8)
with differs("A view of what lies so is possible; torch asks for rows."):
    iota(2, 3, dtype=torch.int64)[:, ::3].view(torch.int32)
    iota(2, 3, dtype=torch.int64)[:, ::3].view(torch.int32).stride()
    iota(2, 3, dtype=torch.int32)[:, ::3].view(torch.uint8).shape
str(torch.view_as_real(torch.zeros(2, dtype=torch.complex64, device="meta")).device)
str(torch.zeros(2, device="meta").view(torch.int32).device)
str(torch.view_as_complex(torch.zeros(2, 2, device="meta")).device)

def view_as_real_is_inference():
    with torch.inference_mode():
        x = complex_sines(2)
        y = torch.view_as_real(x)
        z = y.view(torch.int64)
        v = torch.view_as_complex(y)
        u = torch.view_as_real(v)
    return [k.is_inference() for k in (y, z, v, u)]

with differs("This package alone has it."):
    [x := iota(4), y := torch.unsafe_split(x, 2), y := None,
        __import__("autograd_cy._C.exchange")._C.exchange._memory_users(x)]
    [x := iota(4), y := torch.unsafe_split(x, 2),
        __import__("autograd_cy._C.exchange")._C.exchange._memory_users(x)]
torch.as_strided_scatter(iota(6)[2:], iota(2) + 10, (2,), (1,), 3)
torch.as_strided_scatter(iota(8)[2:], iota(2) + 10, (2,), (2,), 4)
gradients(lambda x: x[:2].as_strided((3,), (2,)), sines(8))
gradients(lambda x: x[2:4].as_strided((3,), (2,), 1), sines(8))
gradients(lambda x: x[2:4].as_strided((2, 2), (3, 1), 4), sines(8))
gradients(lambda x: x[6:].as_strided((3,), (1,), 0), sines(8))
second_gradients(lambda x: x[:2].as_strided((3,), (2,)) ** 3, sines(8))
second_gradients(lambda x: x[2:4].as_strided((3,), (2,), 1) ** 3, sines(8))
second_gradients(lambda x: x[6:].as_strided((3,), (1,), 0) ** 3, sines(8))
tangents(lambda x: x.as_strided((2, 2), (0, 1), 3), sines(6))

# slices of an operator
torch.narrow(iota(3, 4), 1, 1, 2)
torch.split(iota(4, 3), 2)[1].storage_offset()
torch.slice_scatter(iota(6), iota(2) + 10, 0, 1, 6, 3)
torch.slice_scatter(iota(6), iota(6) + 10)
torch.slice_scatter(iota(6), iota(2), 0, 1, 6, 0)
torch.slice_scatter(iota(6), iota(2), 0, 1, 6, -1)
torch.slice_scatter(iota(), iota(), 0)
torch.slice_scatter(iota(2, 3), iota(2, 1) + 10, 1, -1)
torch.slice_scatter(iota(2, 3), iota(2, 2) + 10, 1, None, 2)
torch.slice_scatter(iota(2, 3), iota(2, 3), 1, 1)
torch.select_scatter(iota(2, 3), iota(2) + 10, 1, -1)
torch.select_scatter(iota(2, 3), iota(2), 1, 3)
torch.diagonal_scatter(iota(2, 3), iota(2) + 10, 1)
torch.diagonal_scatter(iota(2, 3), iota(3), 1)

# shapes of too few elements
iota(6).view(3)
iota(6).view(3, -1, 4)
[torch.zeros(0, 3).reshape(3, 0)._is_view(), torch.zeros(0, 3).view(3, 0).shape]

# conjugates and empty tensors that are resized
def empty_complex64():
    x = torch.empty(0, dtype=torch.complex64).conj()
    return x.resize_(2).shape, x.is_conj(), torch.ones(2,
        dtype=torch.complex64).conj().resize_(3).shape, torch.empty(0,
        dtype=torch.complex64).conj().imag.resize_(2).shape, torch.empty(0).view(0).resize_(2,
        2).shape, torch.ones(2).expand(2).resize_(1)

torch.tensor([1 + 2j, 3 - 1j]).conj().resize_(3)[:2]
