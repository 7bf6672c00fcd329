"""Channels last: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import iota

# channels last
[(y := F.conv2d(x := iota(1, 2, 3, 3).to(memory_format=torch.channels_last),
    iota(3, 2, 2, 2))).stride(), y.sum()]
F.conv2d(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last),
    iota(1, 3, 1, 1)).is_contiguous(memory_format=torch.channels_last)
F.max_pool2d(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last), 2).stride()
F.avg_pool2d(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last), 2).stride()
F.max_pool2d(iota(2, 1, 4, 4).contiguous(memory_format=torch.channels_last),
    2).is_contiguous(memory_format=torch.channels_last)
F.batch_norm(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last), torch.zeros(3),
    torch.ones(3)).stride()
F.interpolate(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last),
    scale_factor=2).stride()
F.max_pool3d(iota(1, 2, 2, 4, 4).contiguous(memory_format=torch.channels_last_3d), 2).stride()

# channels last, of what operands say
[F.avg_pool2d(x, 2).stride() for x in (iota(1, 1, 4, 4).expand(1, 3, 4, 4),
    iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)[:, :1],
    iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)[:1],
    iota(2, 4, 4, 3).permute(0, 3, 1, 2)[:, :, ::2, ::2], iota(4, 2, 4, 3).permute(1, 3, 0, 2))]
[F.relu(x).stride() for x in (iota(1, 1, 4, 4).expand(1, 3, 4, 4),
    iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)[:, :1])]
[F.interpolate(x, scale_factor=2).stride() for x in (iota(2, 3, 2,
    2).contiguous(memory_format=torch.channels_last), iota(2, 3, 2, 2), iota(1, 1, 2, 2))]
[F.interpolate(x, scale_factor=2).stride() for x in (iota(1, 2, 2, 2,
    2).contiguous(memory_format=torch.channels_last_3d), iota(2, 2, 2, 2, 2))]
[F.batch_norm(x, torch.zeros(3), torch.ones(3)).stride()
    for x in (iota(2, 3, 2, 2).contiguous(memory_format=torch.channels_last), iota(2, 3, 2, 2),
    iota(2, 3))]
[F.conv2d(iota(1, 2, 3, 3), x).stride() for x in (iota(3, 2, 2,
    2).contiguous(memory_format=torch.channels_last), iota(3, 2, 2, 2))]
