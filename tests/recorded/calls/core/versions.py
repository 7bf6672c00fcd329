"""Versions: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch


# Counters of changes that memory shares
def add_version():
    x, y, z = torch.zeros(2), torch.zeros(2), torch.zeros(2)
    old = x.view(2)
    x.add_(1)
    x.data = y
    x.add_(1)
    return [x._version, y._version, old._version]

def add_version_2():
    x, y, z = torch.zeros(2), torch.zeros(2), torch.zeros(2)
    old = x.view(2)
    x.add_(1)
    x.data = y
    x.add_(1)
    x.data = z
    z.add_(1)
    x.add_(1)
    return [x._version, y._version, z._version, old._version]

def version_add():
    x, y, z = torch.zeros(2), torch.zeros(2), torch.zeros(2)
    old = x.view(2)
    x.add_(1)
    x.data = y
    x.data = z
    del y, old
    x.add_(1)
    w = x.detach()
    del x, z
    w.add_(1)
    return w._version

def add_version_3():
    x, y = torch.zeros(2), torch.zeros(2)
    v = x.detach()
    x.data = y
    x.add_(1)
    v.add_(1)
    v.add_(1)
    return [x._version, v._version, y._version, x.data._version]

def add_version_4():
    x, y, z = torch.zeros(2), torch.zeros(2), torch.zeros(2)
    x.data = y
    z.data = x
    y.add_(1)
    x.add_(1)
    z.add_(1)
    return [x._version, y._version, z._version, x, y, z]

def add_version_5():
    x = torch.zeros(2)
    x.data = x
    x.add_(1)
    x.data = x.data
    x.add_(1)
    return [x._version, x]

def version_zero():
    x = torch.zeros(500)
    x.add_(1)
    del x
    y = torch.empty(500)
    return [y._version, y.zero_()._version, y.data._version, y.data.zero_()._version, y._version]

def device_nbytes():
    x = torch.empty(500, device="meta")
    x.add_(1)
    return [x._version, x.data._version, x.data.device == x.device, x.untyped_storage().nbytes()]
