"""Versions: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch


# Counters of changes that memory shares
def data_add():
    x, y = torch.zeros(2), torch.zeros(2)
    v = x.detach()
    x.data = y
    x.add_(1)
    v.add_(1)
    v.add_(1)
    return [x._version, v._version, y._version, x.data._version]
