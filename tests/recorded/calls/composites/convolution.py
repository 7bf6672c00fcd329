"""Convolution: calls of the composites (`ext/composites`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    differs,
    error_name,
    gradients,
    iota,
    second_gradients,
    sines,
    tangents,
)

# What does not fit.
F.conv1d(sines(4), sines(1, 1, 2))
F.conv1d(sines(1, 1, 1, 4), sines(1, 1, 2))
F.conv2d(sines(4, 4), sines(1, 1, 2, 2))
F.conv2d(sines(1, 1, 1, 4, 4), sines(1, 1, 2, 2))
F.conv3d(sines(4, 4, 4), sines(1, 1, 2, 2, 2))
F.conv3d(sines(1, 1, 1, 4, 4, 4), sines(1, 1, 2, 2, 2))
F.conv_transpose1d(sines(4), sines(1, 1, 2))
F.conv_transpose1d(sines(1, 1, 1, 4), sines(1, 1, 2))
F.conv_transpose2d(sines(4, 4), sines(1, 1, 2, 2))
F.conv_transpose3d(sines(4, 4, 4), sines(1, 1, 2, 2, 2))
F.conv1d(sines(1, 4), sines(1, 1, 2, 2))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2))
F.conv3d(sines(1, 4, 4, 4), sines(1, 1, 2, 2))
F.conv_transpose1d(sines(1, 4), sines(1, 1, 2, 2))
F.conv_transpose2d(sines(1, 4, 4), sines(1, 1, 2))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), stride=(1, 1, 1))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding=(1, 1, 1))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), dilation=(1, 1, 1))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding="same", dilation=(1, 1, 1))
F.conv_transpose2d(sines(1, 4, 4), sines(1, 1, 2, 2), output_padding=(0, 0, 0))
F.conv_transpose2d(sines(1, 4, 4), sines(1, 1, 2, 2), stride=2, output_padding=-1)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding=-1)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding=(0, -1))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), stride=0)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), stride=(1, 0))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), dilation=0)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), dilation=(1, 0))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), dilation=(1, -1))
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
F.conv2d(iota(1, 4, 4, dtype=torch.int32), iota(1, 1, 2, 2, dtype=torch.int32), dilation=(2, 1))
torch.convolution(sines(1, 4), sines(1, 1), None, (1,), (0,), (1,), False, (0,), 1)
torch.convolution(sines(1, 1, 4, 4), sines(1, 1, 2), None, (1,), (0,), (1,), False, (0,), 1)
torch.convolution(sines(1, 1, 2, 2, 2, 2), sines(1, 1, 1, 1, 1, 1), None, (1,), (0,), (1,), False,
    (0,), 1)
torch.convolution(sines(1, 1, 4), sines(1, 1, 2), None, (1,), (0,), (1,), False, (-1,), 1)
F.conv1d(sines(1, 4, 4), sines(1, 2, 2), groups=2)
F.conv1d(sines(1, 4, 4), sines(3, 2, 2), groups=2)
F.conv1d(sines(1, 4, 4), sines(2, 2, 2), groups=2)
F.conv1d(sines(1, 3, 4), sines(2, 2, 2))
F.conv1d(sines(1, 3, 4), sines(2, 2, 2), groups=2)
F.conv_transpose1d(sines(1, 3, 4), sines(2, 2, 2))
F.conv_transpose1d(sines(1, 4, 3), sines(4, 2, 2), groups=2)
F.conv_transpose1d(sines(1, 4, 3), sines(4, 2, 2), sines(4), groups=2)
F.conv_transpose1d(sines(1, 4, 3), sines(4, 2, 2), sines(2), groups=2)
F.conv1d(sines(1, 2, 4), sines(3, 2, 2), sines(2))
F.conv1d(sines(1, 2, 4), sines(3, 2, 2), sines(3, 1))
F.conv1d(sines(1, 2, 4), sines(3, 2, 2), sines(3))
F.conv1d(sines(1, 1, 4), sines(1, 1, 0))
F.conv1d(sines(1, 1, 4), sines(1, 1, 2), dilation=2**60)
F.conv1d(sines(1, 1, 4), sines(1, 1, 2), padding=2**61)
F.conv_transpose1d(sines(1, 1, 4), sines(1, 1, 2), stride=2**60)
F.conv_transpose1d(sines(1, 1, 4), sines(1, 1, 2), stride=2, output_padding=2**61)
F.conv_transpose1d(sines(1, 1, 0), sines(1, 1, 2))
F.conv_transpose1d(sines(1, 1, 3), sines(1, 1, 2), stride=2, output_padding=2)
F.conv_transpose1d(sines(1, 1, 3), sines(1, 1, 2), dilation=3, output_padding=3)
F.conv_transpose1d(sines(1, 1, 3), sines(1, 1, 2), stride=2, output_padding=1)
F.conv_transpose1d(sines(1, 1, 3), sines(1, 1, 2), dilation=3, output_padding=2)
F.conv_transpose1d(sines(1, 1, 1), sines(1, 1, 2), padding=2)
F.conv_transpose2d(sines(1, 1, 3, 2), sines(1, 1, 2, 2), padding=(0, 2))
F.conv1d(sines(1, 1, 0), sines(1, 1, 2))
F.conv1d(sines(1, 1, 0), sines(1, 1, 2), padding=1)
F.conv1d(sines(1, 1, 3), sines(1, 1, 4))
F.conv1d(sines(1, 1, 3), sines(1, 1, 3))
F.conv1d(sines(1, 1, 3), sines(1, 1, 2), dilation=2)
F.conv1d(sines(1, 1, 3), sines(1, 1, 2), dilation=3)
F.conv2d(sines(1, 1, 3, 5), sines(1, 1, 2, 3), padding=(1, 0), dilation=(2, 3))
F.conv2d(sines(0, 1, 3, 3), sines(1, 1, 2, 2))
F.conv2d(sines(1, 2, 3, 3), sines(0, 2, 2, 2))

# Padding by a word.
F.conv1d(sines(1, 4), sines(1, 1, 2), padding="valid")
F.conv1d(sines(2, 1, 4), sines(1, 1, 2), padding="valid", stride=2)
F.conv1d(sines(1, 4), sines(1, 1, 2), padding="same")
F.conv1d(sines(1, 4), sines(1, 1, 3), padding="same", dilation=2)
F.conv2d(sines(1, 3, 4), sines(1, 1, 2, 3), padding="same")
F.conv2d(sines(1, 4, 3), sines(1, 1, 3, 2), padding="same", dilation=(1, 3))
F.conv2d(sines(1, 4, 3), sines(1, 1, 2, 4), padding="same")
F.conv3d(sines(1, 2, 3, 3), sines(1, 1, 2, 1, 2), padding="same")
F.conv3d(sines(1, 2, 3, 3), sines(1, 1, 1, 2, 2), padding="valid", dilation=(1, 2, 1))
F.conv1d(sines(1, 4), sines(1, 1, 2), padding="same", stride=2)
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding="same", stride=(1, 2))
F.conv2d(sines(1, 4, 4), sines(1, 1, 2, 2), padding="other")
F.conv2d(sines(2, 1, 3, 3).to(memory_format=torch.channels_last),
    sines(2, 1, 2, 2).to(memory_format=torch.channels_last))

# With one number for all, batched or not.
F.conv2d(sines(2, 4, 5), sines(2, 2, 2, 2), sines(2), [2], [1], [2])
F.conv2d(sines(1, 2, 4, 5), sines(2, 2, 2, 2), None, (2, 1), (1, 0), (1, 2))
F.conv3d(sines(2, 3, 4, 3), sines(1, 2, 2, 2, 2), None, 1, 1, (1, 2, 1))
F.conv_transpose1d(sines(2, 4), sines(2, 3, 3), sines(3), 2, 1, 1, 1, 2)
F.conv_transpose2d(sines(2, 3, 4), sines(2, 1, 3, 2), sines(2), (2, 3), (1, 0), (1, 2), 2, (1, 2))
F.conv_transpose2d(sines(1, 2, 3, 4), sines(2, 1, 3, 2), None, [2], [1], [1], 1, [2])
F.conv_transpose3d(sines(1, 2, 3, 2), sines(1, 2, 2, 1, 2), sines(2), 2, 0, 1)
F.conv_transpose3d(sines(1, 1, 2, 2, 2), sines(1, 1, 2, 2, 2), None, (1, 2, 1), (1, 0, 0),
    (0, 1, 0))

# Derivatives.
gradients(lambda x, k, b: F.conv1d(x, k, b, 2, 1, 1, 2), sines(2, 2, 5), sines(4, 1, 2), sines(4))
gradients(lambda x, k, b: F.conv2d(x, k, b, (1, 2), (1, 0), 2), sines(1, 4, 5), sines(2, 1, 2, 2),
    sines(2))
gradients(lambda x, k, b: F.conv_transpose2d(x, k, b, 2, 1, 1, 1, 2), sines(1, 2, 2),
    sines(1, 2, 2, 2), sines(2))
gradients(lambda x, k, b: F.conv_transpose1d(x, k, b, 2, groups=2), sines(1, 2, 3), sines(2, 2, 2),
    sines(4))
second_gradients(lambda x, k, b: F.conv1d(x, k, b, 2) ** 2, sines(2, 2, 4), sines(3, 2, 2),
    sines(3))
second_gradients(lambda x, k, b: F.conv_transpose1d(x, k, b, 2) ** 2, sines(2, 2, 2),
    sines(2, 3, 2), sines(3))
second_gradients(lambda x, k, b: F.conv2d(x, k, b, padding=1) ** 2, sines(1, 2, 3),
    sines(2, 1, 2, 2), sines(2))
tangents(lambda x, k, b: F.conv1d(x, k, b, 2, 1), sines(2, 2, 4), sines(3, 2, 2), sines(3))
tangents(lambda x, k, b: F.conv_transpose2d(x, k, b, 2, output_padding=1), sines(1, 2, 2),
    sines(1, 2, 2, 2), sines(2))
vmap(lambda x, k, b: F.conv1d(x, k, b, 2))(sines(2, 3, 5), sines(2, 4, 3, 2), sines(2, 4))
vmap(lambda x, k: F.conv1d(x, k), in_dims=(0, None))(sines(2, 1, 3, 4), sines(2, 3, 2))
vmap(lambda x, k, b: F.conv1d(x, k, b), in_dims=(None, 1, None))(sines(1, 3, 4), sines(2, 2, 3, 2),
    sines(2))
vmap(lambda x, k: F.conv_transpose1d(x, k, stride=2), in_dims=(1, 0))(sines(3, 2, 4),
    sines(2, 3, 1, 2))

# Windows as columns, and back.
F.unfold(sines(1, 4, 4), 0)
F.unfold(sines(1, 4, 4), (2, 0))
F.unfold(sines(1, 4, 4), 2, 0)
F.unfold(sines(1, 4, 4), 2, 1, -1)
F.unfold(sines(1, 4, 4), 2, 1, 0, 0)
with differs(
    "A RuntimeError, as of all shapes that don't fit; torch's IndexError is that of a step inside."):
    F.unfold(sines(4, 4), 2)
F.unfold(sines(1, 1, 1, 4, 4), 2)
F.unfold(sines(0, 4, 4), 2)
F.unfold(sines(1, 0, 4), 2)
F.unfold(sines(1, 4, 0), 2)
F.unfold(sines(0, 1, 4, 4), 2)
F.unfold(sines(2, 0, 4, 4), 2)
F.unfold(sines(1, 3, 4), (4, 2))
F.unfold(sines(1, 3, 4), (2, 5))
F.unfold(sines(1, 3, 4), (3, 4))
F.unfold(sines(2, 3, 4), (2, 3), (1, 1), (1, 0), (2, 1))
F.unfold(sines(1, 2, 3, 4), (2, 3), (2, 1), (1, 1), (1, 2))
F.unfold(sines(1, 3, 5), (2, 3), 1, (1, 0), (1, 2))
F.unfold(sines(1, 2, 2), 2, 2**60)
F.unfold(sines(1, 2, 2), 2, 1, 2**61)
F.fold(sines(4, 1), 0, 2)
F.fold(sines(4, 1), 2, 0)
F.fold(sines(4, 1), 2, 2, 0)
F.fold(sines(4, 1), 2, 2, 1, -1)
F.fold(sines(4, 1), 2, 2, 1, 0, 0)
F.fold(sines(4), 2, 2)
F.fold(sines(1, 1, 4, 1), 2, 2)
F.fold(sines(0, 1), 2, 2)
F.fold(sines(4, 0), 2, 2)
F.fold(sines(0, 4, 1), 2, 2)
F.fold(sines(1, 4, 0), 2, 2)
F.fold(sines(5, 1), 2, 2)
F.fold(sines(4, 2), 2, 2)
F.fold(sines(4, 1), (2, 1), 2)
F.fold(sines(4, 1), (1, 2), 2)
F.fold(sines(4, 1), (1, 1), 2)
F.fold(sines(4, 6), (3, 4), 2)
F.fold(sines(1, 12, 4), (3, 4), (2, 3), (1, 1), (1, 0), (2, 1))
F.fold(sines(8, 6), (4, 3), 2, 1, (1, 1), (2, 2))
F.fold(sines(1, 6, 5), (1, 5), (2, 3), 1, (1, 1), (3, 1))
F.fold(sines(4, 1), 2, 2, 2**60)
with differs("This never ends in torch."):
    F.fold(sines(4, 1), 2, 2, 1, 2**61)
F.fold(sines(4, 1), (2**62, 2), 2)
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
F.conv1d(sines(1, 1, 4), sines(1, 1, 2), padding=10**18)
F.conv1d(sines(1, 4), sines(2, 1, 2), padding="valid")
F.conv1d(sines(1, 4), sines(2, 1, 2), padding="same")
F.conv1d(sines(1, 4), sines(2, 1, 2))
F.conv1d(sines(2, 4), sines(1, 2, 2), padding="valid")
F.conv_transpose1d(sines(1, 4), sines(1, 2, 2))

# as much taken away as there is
[error_name(lambda: F.conv_transpose1d(sines(1, 1, 1), sines(1, 1, 2), padding=p)) for p in (1, 2)]
F.conv_transpose1d(sines(1, 1, 1), sines(1, 1, 2), padding=1)
[error_name(lambda: F.conv_transpose2d(sines(1, 1, 2, 1), sines(1, 1, 3, 2), padding=p))
    for p in ((1, 1), (2, 0), (1, 2))]
