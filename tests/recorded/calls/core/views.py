"""Views: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, iota, metadata

# view and reshape
iota(0).view(0, -1)
iota(4, 6)[::2].view(12)
metadata(iota(6).requires_grad_().view(2, 3))
iota(2, 3).view_as(iota(3, 2))
iota(2, 3).view_as(iota(3, 3))
iota(6).view("x")
iota(6).view(2.0, 3)
iota(6).view(1 << 64)

# expand
iota(3, 1).expand_as(iota(3, 2))

# t, transpose and permute
iota(2, 3, 4).permute(-1, 0, -2)

# slice, narrow and select
iota(5).narrow(0, 3, -1)
iota(3, 4).narrow(0, torch.tensor(1), 2)
iota(3, 4).narrow(0, torch.tensor([True]), 2)

# squeeze and unsqueeze
iota(4, 1, 6)[::2, :, ::3].squeeze(1).stride()

# one dimension below the most that there may be, and the most
iota(1).view([1] * 63).unsqueeze(0).dim()
iota(1).view([1] * 63).unfold(0, 1, 1).dim()
torch.view_as_real(complex_sines(1).view([1] * 63)).dim()
with differs("A tensor has at most 64 dimensions here."):
    vmap(lambda x: x.new_zeros([1] * 64))(iota(2))
vmap(lambda x: x.new_zeros([1] * 63))(iota(2)).dim()

# slices of an operator
torch.slice_scatter(iota(6), iota(2), 0, 1, 6, 0)
torch.slice_scatter(iota(6), iota(2), 0, 1, 6, -1)
torch.slice_scatter(iota(2, 3), iota(2, 1) + 10, 1, -1)
torch.select_scatter(iota(2, 3), iota(2) + 10, 1, -1)
torch.diagonal_scatter(iota(2, 3), iota(2) + 10, 1)

# shapes of too few elements
iota(6).view(3)

# conjugates and empty tensors that are resized
def empty_complex64():
    x = torch.empty(0, dtype=torch.complex64).conj()
    return x.resize_(2).shape, x.is_conj(), torch.ones(2,
        dtype=torch.complex64).conj().resize_(3).shape, torch.empty(0,
        dtype=torch.complex64).conj().imag.resize_(2).shape, torch.empty(0).view(0).resize_(2,
        2).shape, torch.ones(2).expand(2).resize_(1)

torch.tensor([1 + 2j, 3 - 1j]).conj().resize_(3)[:2]
