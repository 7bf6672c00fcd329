"""Convolution: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, gradients, iota, sines, tangents

# What does not fit.
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding=(1, 1, 1))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding=-1)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding=(0, -1))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), groups=0)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), groups=-1)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2).float())
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), sines(1).float())
F.conv2d(sines(1, 4, 4).to(torch.bool), sines(1, 1, 2, 2).to(torch.bool))
F.conv2d(iota(1, 3, 3, dtype=torch.int32), iota(1, 1, 2, 2, dtype=torch.int32))
F.conv2d(iota(1, 3, 3, dtype=torch.int64), iota(1, 1, 2, 2, dtype=torch.int64))
F.conv2d(iota(1, 3, 3, dtype=torch.int64), iota(1, 1, 2, 2, dtype=torch.int64), dilation=2)
F.conv_transpose2d(iota(1, 2, 2, dtype=torch.int64), iota(1, 1, 2, 2, dtype=torch.int64))
F.conv_transpose2d(iota(1, 2, 2, dtype=torch.int32), iota(1, 1, 2, 2, dtype=torch.int32))
F.conv2d(iota(1, 4, 4, dtype=torch.int32), iota(1, 1, 2, 2, dtype=torch.int32), dilation=(1, 2))
F.conv1d(sines(1, 2, 4), sines(3, 2, 2), sines(2))
F.conv1d(sines(1, 1, 4), sines(1, 1, 2), dilation=2**60)
F.conv1d(sines(1, 1, 4), sines(1, 1, 2), padding=2**61)
F.conv_transpose1d(sines(1, 1, 4), sines(1, 1, 2), stride=2**60)
F.conv_transpose1d(sines(1, 1, 4), sines(1, 1, 2), stride=2, output_padding=2**61)
F.conv_transpose1d(sines(1, 1, 3), sines(1, 1, 2), dilation=3, output_padding=2)
F.conv1d(sines(1, 1, 0), sines(1, 1, 2), padding=1)

# Padding by a word.
F.conv1d(sines(1, 4), sines(1, 1, 2), padding="same")
F.conv1d(sines(1, 4), sines(1, 1, 3), padding="same", dilation=2)
F.conv1d(sines(1, 4), sines(1, 1, 2), padding="same", stride=2)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding="same", stride=(1, 2))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding="other")

# With one number for all, batched or not.
F.conv3d(sines(2, 3, 4, 3), sines(1, 2, 2, 2, 2), None, 1, 1, (1, 2, 1))
F.conv_transpose1d(sines(2, 4), sines(2, 3, 3), sines(3), 2, 1, 1, 1, 2)
F.conv_transpose3d(sines(1, 2, 3, 2), sines(1, 2, 2, 1, 2), sines(2), 2, 0, 1)

# Derivatives.
gradients(lambda x, k, b: F.conv1d(x, k, b, 2, 1, 1, 2), sines(2, 2, 5), sines(4, 1, 2), sines(4))
gradients(lambda x, k, b: F.conv2d(x, k, b, (1, 2), (1, 0), 2), sines(1, 4, 5), sines(2, 1, 2, 2),
    sines(2))
gradients(lambda x, k, b: F.conv_transpose2d(x, k, b, 2, 1, 1, 1, 2), sines(1, 2, 2),
    sines(1, 2, 2, 2), sines(2))
gradients(lambda x, k, b: F.conv_transpose1d(x, k, b, 2, groups=2), sines(1, 2, 3), sines(2, 2, 2),
    sines(4))
tangents(lambda x, k, b: F.conv1d(x, k, b, 2, 1), sines(2, 2, 4), sines(3, 2, 2), sines(3))
tangents(lambda x, k, b: F.conv_transpose2d(x, k, b, 2, output_padding=1), sines(1, 2, 2),
    sines(1, 2, 2, 2), sines(2))
vmap(lambda x, k, b: F.conv1d(x, k, b), in_dims=(None, 1, None))(sines(1, 3, 4), sines(2, 2, 3, 2),
    sines(2))

# Windows as columns, and back.
F.unfold(sines(1, 2, 2), 2, 2**60)
F.fold(sines(4, 1), 2, 2, 1, -1)
F.fold(sines(4, 1), 2, 2, 2**60)
with differs("This never ends in torch."):
    F.fold(sines(4, 1), 2, 2, 1, 2**61)
gradients(lambda x: F.unfold(x, 2, 1, 1, (1, 2)), sines(2, 3, 3))
gradients(lambda x: F.fold(x, (3, 3), 2, 1, 0, (1, 1)), sines(4, 4))
tangents(lambda x: F.unfold(x, 2), sines(1, 3, 3))
vmap(lambda x: F.unfold(x, 2))(sines(2, 3, 3, 3))
vmap(lambda x: F.fold(x, (3, 3), 2))(sines(2, 4, 4))
with differs("Torch asks for all the memory."):
    F.unfold(sines(1, 2, 2), 2, 1, 2**40)
F.fold(sines(4, 1), (2**40, 2**40), 2)
with differs("Torch goes around the largest integer."):
    F.unfold(sines(1, 2, 2), (2**40, 2**40), 1, 2**40)

# as much taken away as there is
[error_name(lambda: F.conv_transpose1d(sines(1, 1, 1), sines(1, 1, 2), padding=p)) for p in (1, 2)]
[error_name(lambda: F.conv_transpose2d(sines(1, 1, 2, 1), sines(1, 1, 3, 2), padding=p))
    for p in ((1, 1), (2, 0), (1, 2))]
