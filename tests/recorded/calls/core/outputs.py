"""Outputs: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, differs, error_name, iota

# out= of reductions, products and others: taken as it is, or filled from a fresh result
torch.all(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.uint8))
torch.all(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.bool))
torch.any(iota(2, 3), out=torch.zeros((), dtype=torch.bool))
torch.any(iota(2, 3), 0, out=torch.empty(0, dtype=torch.uint8))
torch.matmul(iota(2, 3), iota(3, 2), out=torch.zeros(2, 2, dtype=torch.float64))
torch.matmul(iota(2, 3), iota(3, 2), out=torch.zeros(2, 2, dtype=torch.int64))
torch.amax(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.float64))
torch.sort(iota(3), out=(torch.zeros(3), torch.zeros(3, dtype=torch.int32)))
with differs("torch writes where elements share memory"):
    torch.sum(iota(2, 3), 1, out=torch.zeros(1).expand(2))
torch.cumsum(iota(3), 0, out=torch.zeros(1).expand(3))
torch.sum(torch.empty(2, 3, device="meta"), 1, out=torch.empty(2, device="meta")).shape
torch.add(torch.empty(2, device="meta"), 1, out=torch.empty(0, device="meta")).shape
torch.add(torch.empty(2, device="meta"), iota(2).to("meta")).device.type
error_name(lambda: torch.empty(2, device="meta") + iota(2))
(torch.empty(2, device="meta") + torch.tensor(1.0)).shape

# In place, of what is no elementwise operator
[x := iota(3), x.cumprod_(0), x.softmax(0), x.addmv_(iota(3, 2), iota(2)), x, x._version]
iota(1, 3).addmm_(iota(2, 2), iota(2, 3))
iota(3, dtype=torch.int64).addmv_(iota(3, 2), iota(2))
with differs("Torch looks at overlaps in some of the methods."):
    [x := iota(1).expand(3), error_name(lambda: x.cumsum_(0)),
        error_name(lambda: x.addmv_(iota(3, 2), iota(2))),
        error_name(lambda: x.index_fill_(0, torch.tensor([0]), 1)), error_name(lambda: x.clamp_(0)),
        error_name(lambda: x.masked_fill_(x > 1, 2)), x]
[x := complex_sines(2, 2).conj(), x.cumsum_(0), x.is_conj(), x,
    x.conj().addmm_(complex_sines(2, 2), complex_sines(2, 2)), x]
[x := iota(5), x.index_fill_(0, torch.tensor([1]), 7),
    x.index_add_(0, torch.tensor([0, 0]), iota(2) + 1),
    x.index_copy_(0, torch.tensor([4]), iota(1) + 9), x.scatter_(0, torch.tensor([2]), 5.0),
    x.masked_fill_(x == 5, 1), x.clamp_(1, 6), x.masked_scatter_(x > 3, iota(5)), x, x._version]
[x := iota(4), x[:2].index_copy_(0, torch.tensor([0]), x[3:]), x,
    x.scatter_add_(0, torch.tensor([0, 1]), iota(2)),
    error_name(lambda: x.index_copy_(0, torch.tensor([0, 1, 2]), x[1:])),
    error_name(lambda: x.scatter_(0, torch.tensor([0, 1, 2]), x[1:]))]

# Results have the order of dimensions of the first operand
[x.stride() for x in (iota(2, 3).t().softmax(0), iota(2, 3).t().cumsum(0),
    iota(2, 3, 4).permute(2, 0, 1).cumsum(1), iota(2, 3, 4).permute(2, 0, 1)[:, ::2].cumsum(1),
    iota(2, 3).t().flip(0), iota(2, 3).t().clamp(1), iota(1, 3).expand(2, 3).cumsum(0),
    iota(2, 6)[:, ::2].cumsum(0))]
[x.stride() for x in (iota(2, 3, 4, 5).to(memory_format=torch.channels_last).relu(),
    iota(2, 3, 4, 5).to(memory_format=torch.channels_last).sum(1),
    iota(2, 3, 4, 5).to(memory_format=torch.channels_last).softmax(1),
    iota(2, 3, 4, 5).to(memory_format=torch.channels_last).cumsum(1),
    F.dropout(iota(2, 3).t(), 0.5).clone(), F.gelu(iota(2, 3).t()),
    torch.zeros_like(iota(4, 3, 2).transpose(0, 2)), torch.empty_like(iota(4, 3, 2)[:, :, :1]))]
[torch.empty_like(x).stride() for x in (iota(2, 1, 3).permute(2, 1, 0), iota(1, 2).expand(3, 2),
    iota(2, 1).expand(2, 3), iota(2, 3, 4)[:, 1:], iota(2, 3, 4)[:, :, 0],
    iota(2, 3, 4).transpose(0, 1)[1:], iota(4, 4)[::2, ::2].t(),
    iota(1, 1, 3).expand(2, 2, 3).transpose(0, 2), iota(2, 2, 2, 2, 2, 2).permute(5, 3, 1, 0, 2, 4),
    iota(3, 3, 3).permute(1, 0, 2)[:, :, ::2], iota(1).expand(2, 2),
    iota(6).as_strided((2, 3), (1, 1)), iota(6).as_strided((3, 2), (1, 1)))]

# Loops over several dimensions, beside NumPy
def product_slice():
    import itertools
    def wrong(shape, seed):
        n = np.arange(math.prod(shape)).reshape(shape)
        x = torch.from_numpy(n.copy())
        bad = []
        for cut in itertools.product(*[[slice(None), slice(1, None), slice(None, None, 2),
            slice(0, 1)]] * len(shape)):
            a, b = n.copy(), x.clone()
            a[cut] += n[cut] * 2
            b[cut] += x[cut] * 2
            a[cut] -= n[cut].sum(-1, keepdims=True)
            b[cut] -= x[cut].sum(-1, keepdim=True)
            c = (b[cut] * x[cut].sum(0)).numpy()
            if not (a == b.numpy()).all() or not (c == a[cut] * n[cut].sum(0)).all():
                bad.append(cut)
        return bad
    return repr([s for s in [(7,), (3, 4), (20, 5), (5, 3, 4), (3, 4, 45), (2, 3, 2, 3)]
        if wrong(s, 0)])
