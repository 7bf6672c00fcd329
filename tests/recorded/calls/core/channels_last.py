"""Channels last: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import iota

# channels last
F.conv2d(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last),
    iota(1, 3, 1, 1)).is_contiguous(memory_format=torch.channels_last)
F.max_pool2d(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last), 2).stride()
F.avg_pool2d(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last), 2).stride()
F.batch_norm(iota(2, 3, 4, 4).contiguous(memory_format=torch.channels_last), torch.zeros(3),
    torch.ones(3)).stride()
F.max_pool3d(iota(1, 2, 2, 4, 4).contiguous(memory_format=torch.channels_last_3d), 2).stride()
