"""Outputs: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, differs, error_name, iota, with_warnings

# out= of reductions, products and others: taken as it is, or filled from a fresh result
torch.sum(iota(2, 3), 1, out=torch.zeros(2))
torch.sum(iota(2, 3), 1, out=torch.empty(0))
torch.sum(iota(2, 3), 1, True, out=torch.empty(0))
torch.sum(iota(2, 3), 1, out=torch.zeros(4)[::2])
[o := torch.zeros(4), torch.sum(iota(2, 3), 1, out=o[::2]), o,
    torch.cumsum(iota(2, 2), 0, out=o.view(2, 2).t()), o, torch.cumsum(iota(4), 0, out=o), o]
with_warnings(lambda: torch.sum(iota(2, 3), 1, out=torch.zeros(3)))
with_warnings(lambda: torch.sum(iota(2, 3), 1, out=torch.zeros(2)))[1]
with_warnings(lambda: torch.cumsum(iota(3), 0, out=torch.zeros(1, 3)))
with_warnings(lambda: torch.amax(iota(2, 3), 1, out=torch.zeros(2, 1)))
[x := iota(3, 3), torch.cumsum(x, 0, out=x), x]
[x := iota(3, 3), torch.sum(x.clone(), 1, out=x[0]), x]
with differs("Torch writes over what it has yet to read."):
    [x := iota(3, 3), torch.sum(x, 1, out=x[0]), x, torch.matmul(x, x, out=x)]
torch.matmul(iota(2, 3), iota(3, 2), out=torch.zeros(2, 2))
torch.matmul(iota(2, 3), iota(3, 2), out=torch.zeros(2, 2).t()).stride()
torch.matmul(iota(2, 3), iota(3), out=torch.empty(0))
torch.mm(iota(2, 3), iota(3, 2), out=torch.zeros(4, 2)[::2])
torch.all(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.uint8))
torch.all(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.bool))
torch.any(iota(2, 3), out=torch.zeros((), dtype=torch.bool))
torch.any(iota(2, 3), 0, out=torch.empty(0, dtype=torch.uint8))
torch.all(iota(2, 3), 1, out=torch.zeros(2))
torch.any(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.int64))
torch.sum(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.int64))
torch.cumsum(iota(3), 0, out=torch.zeros(3, dtype=torch.int64))
torch.matmul(iota(2, 3), iota(3, 2), out=torch.zeros(2, 2, dtype=torch.float64))
torch.matmul(iota(2, 3), iota(3, 2), out=torch.zeros(2, 2, dtype=torch.int64))
torch.amax(iota(2, 3), 1, out=torch.zeros(2, dtype=torch.float64))
torch.argmax(iota(2, 3), 1, out=torch.zeros(2))
torch.max(iota(2, 3), 1, out=(torch.zeros(2), torch.zeros(2)))
torch.max(iota(2, 3), 1, out=(torch.zeros(2, dtype=torch.float64),
    torch.zeros(2, dtype=torch.int64)))
torch.sort(iota(3), out=(torch.zeros(3), torch.zeros(3, dtype=torch.int32)))
[*torch.max(iota(2, 3), 1, out=(torch.empty(0), torch.empty(0, dtype=torch.int64))),
    *torch.sort(-iota(3), out=(torch.zeros(6)[::2], torch.zeros(3, dtype=torch.int64))),
    *torch.topk(iota(4), 2, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))]
[v := torch.zeros(2), i := torch.zeros(2, dtype=torch.int64),
    (f := torch.min(iota(2, 3).flip(1), 1, out=(v, i)))[0] is v, f[1] is i, v, i]
torch.cat([iota(2), iota(1)], out=torch.empty(0))
torch.cat([iota(2), iota(1)], out=torch.zeros(6)[::2])
torch.stack([iota(2), iota(2)], out=torch.zeros(2, 2).t())
torch.cat([iota(2), iota(1)], out=torch.zeros(3, dtype=torch.float64))
with differs("torch refuses what shares memory"):
    [x := iota(4), error_name(lambda: torch.cat([x[:2], x[2:]], out=x)),
        error_name(lambda: torch.cat([iota(2), x[2:]], out=x)), x]
torch.index_select(iota(3), 0, torch.tensor([2, 0]), out=torch.empty(0))
torch.gather(iota(2, 2), 1, torch.tensor([[1], [0]]), out=torch.empty(0))
torch.bmm(iota(1, 2, 2), iota(1, 2, 2), out=torch.empty(0))
[torch.sum(complex_sines(2, 2), 0, out=torch.zeros(2, dtype=torch.complex128).conj()),
    o := torch.zeros(2, dtype=torch.complex128).conj(), torch.sum(complex_sines(2, 2), 0, out=o),
    o.is_conj(), torch.matmul(complex_sines(2, 2), complex_sines(2), out=o), o.is_conj(), o.conj()]
with differs("torch writes where elements share memory"):
    error_name(lambda: torch.sum(iota(2, 3), 1, out=torch.zeros(1).expand(2)))
    error_name(lambda: torch.cumsum(iota(3), 0, out=torch.zeros(1).expand(3)))
    error_name(lambda: torch.matmul(iota(2, 2), iota(2, 2), out=torch.zeros(2, 1).expand(2, 2)))
    torch.sum(iota(2, 3), 1, out=torch.zeros(1).expand(2))
torch.cumsum(iota(3), 0, out=torch.zeros(1).expand(3))
error_name(lambda: torch.sum(iota(2, 3), 1, out=torch.empty(2, device="meta")))
error_name(lambda: torch.add(iota(2), 1, out=torch.empty(2, device="meta")))
error_name(lambda: torch.cumsum(torch.empty(2, device="meta"), 0, out=torch.zeros(2)))
error_name(lambda: torch.add(torch.empty(2, device="meta"), 1, out=torch.zeros(2)))
torch.sum(torch.empty(2, 3, device="meta"), 1, out=torch.empty(2, device="meta")).shape
torch.add(torch.empty(2, device="meta"), 1, out=torch.empty(0, device="meta")).shape
torch.add(torch.empty(2, device="meta"), iota(2).to("meta")).device.type
error_name(lambda: torch.empty(2, device="meta") + iota(2))
(torch.empty(2, device="meta") + torch.tensor(1.0)).shape
[x := iota(3).requires_grad_(True), error_name(lambda: torch.sum(x.view(1, 3), 1,
    out=torch.zeros(1))), error_name(lambda: torch.add(x, 1, out=torch.zeros(3))),
    error_name(lambda: torch.add(iota(3), 1, out=x)), x]

# In place, of what is no elementwise operator
[x := iota(2, 2), x.cumsum_(0), x.cumsum_(1), x, x.t().cumsum_(0), x, x[:, :1].cumsum_(0), x]
[x := iota(3), x.cumprod_(0), x.softmax(0), x.addmv_(iota(3, 2), iota(2)), x, x._version]
[x := iota(3, 3), x.addmm_(iota(3, 2), iota(2, 3)), x.t().addmm_(iota(3, 2), iota(2, 3)),
    x[:, ::2].addmm_(iota(3, 1), iota(1, 2)), x]
iota(3).addmv_(iota(2, 2), iota(2))
iota(1, 3).addmm_(iota(2, 2), iota(2, 3))
iota(3, dtype=torch.int64).addmv_(iota(3, 2), iota(2))
iota(2).cumsum_(1)
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
def wrong_permutations():
    import itertools
    def wrong(shape, f, dtype=torch.float32):
        bad = []
        for p in itertools.permutations(range(len(shape))):
            x, n = iota(*shape, dtype=dtype), np.arange(math.prod(shape)).astype(
                str(dtype).rpartition(".")[2]).reshape(shape)
            if not np.array_equal(f(x.permute(p)).numpy(), f(n.transpose(p))):
                bad.append((shape, p))
        return bad
    return repr([wrong(s, f) for s in [(2, 3, 4), (3, 1, 2), (1, 5, 1, 3), (2, 2, 2, 2),
        (2, 2, 3, 3), (4, 130), (9, 3, 131), (3, 2, 70)]
        for f in (lambda x: x + 1, lambda x: x * x.max() + x[:1],
        lambda x: x[..., ::2] - x[..., :1], lambda x: x[1:] + x[0],
        lambda x: (x < 5) & (x[..., :1] > 1)) if wrong(s, f)])

def wrong_slice():
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
