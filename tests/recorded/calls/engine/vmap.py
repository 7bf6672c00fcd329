"""Vmap: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, iota, sines

# promotion: an example without dimensions gives way, a batch of them too
vmap(lambda x, y: x & y)(iota(2) > 0, iota(2, 3) > 2)
with differs("As for one example, where a number gives way."):
    vmap(lambda c, x, y: torch.where(c, x, y))(iota(2) > 0, iota(2, 3),
        iota(2, dtype=torch.float64))
vmap(lambda x, y, z: torch.addcmul(x, y, z))(iota(2), iota(2, 3), iota(2, 1))
vmap(lambda x: torch.clamp(x, torch.tensor(1.0), torch.tensor(3.0)))(iota(2, 3))
vmap(lambda x: x * 2, in_dims=2)(iota(2, 3))
vmap(lambda x, y: x * y)(iota(2, 3), iota(3, 3))

# operators with dimensions
vmap(lambda x: x.sum(0, keepdim=True))(iota(2))
vmap(lambda x: x.mean(0))(iota(2))
vmap(lambda x: x.max(0))(iota(2))
vmap(lambda x: x.sort(0))(iota(2))
vmap(lambda x: x.topk(1, 0))(iota(2))
vmap(lambda x: x.cumsum(0))(iota(2))
vmap(lambda x: x.softmax(0))(sines(2))
vmap(lambda x: torch.logsumexp(x, 0))(sines(2))
vmap(lambda x: x.squeeze())(iota(1, 1))
vmap(lambda x: x.unsqueeze(0))(iota(2))
vmap(lambda x: x.transpose(0, 0))(iota(2))
vmap(lambda x: x.unbind(0))(iota(2, 3))
vmap(lambda x: x.unbind(0))(iota(2))
vmap(lambda x: x.split(1))(iota(2, 3))
vmap(lambda x: x.narrow(1, 1, 2), in_dims=2)(iota(2, 3, 2))
vmap(lambda x: x.all(0))(iota(2))
vmap(lambda x: torch.amax(x, 0))(iota(2))
vmap(lambda x: torch.var(x, 0))(iota(2, 3))
vmap(lambda x: torch.var_mean(x, 0, correction=0))(iota(2))
vmap(lambda x: x.median(0))(iota(2))
vmap(lambda x: x.permute(1, 0), in_dims=1)(iota(2, 3, 4))
vmap(lambda x: x.diagonal(), in_dims=1)(iota(2, 3, 4))
vmap(lambda x: x.expand(3))(iota(2))
vmap(lambda x: torch.cat([x, iota(2)]))(iota(2, 3))
vmap(lambda x: torch.stack([x, iota(3), x], 1))(iota(2, 3))

# one call for each example
vmap(lambda x: torch.searchsorted(torch.tensor([0.0, 1.0, 2.0]), x))(iota(2, 3))
vmap(lambda x: torch.isin(x, torch.tensor([1.0, 4.0])))(iota(2, 3))
vmap(lambda x: torch.histc(x, 3, 0, 6))(iota(2, 3))
vmap(lambda x: torch.searchsorted(torch.tensor([0.0, 1.0, 2.0]), x))(iota(0, 3))
vmap(lambda x: torch.aminmax(x))(iota(0, 3))
with differs("Torch has no rule, and goes through no examples one by one."):
    vmap(lambda x: x.put(torch.tensor([0]), x[:1]))(iota(0, 3))
    vmap(lambda x: torch.isin(x, torch.tensor([1.0, 4.0])))(iota(0, 2, 3))

def vmap_aminmax():
    x = sines(2, 3).requires_grad_()
    y = vmap(lambda x: torch.aminmax(x)[1])(x)
    return [y, torch.autograd.grad(y.sum(), x)]

vmap(lambda x: torch.nonzero(x))(iota(2, 3))
vmap(lambda x: torch.unique(x))(iota(2, 3))
vmap(lambda x: x.item())(iota(2))
vmap(lambda x: float(x))(iota(2))
vmap(lambda x: x if x > 0 else -x)(iota(2))
with differs("Torch has no rule."):
    vmap(lambda x: x.as_strided_scatter(x.new_zeros(()), (), ()))(sines(2, 3))
[vmap(lambda x: f(x, (0,)))(iota(2)) for f in (torch.sum, torch.mean, torch.logsumexp, torch.amax,
    torch.amin, torch.any, torch.all, torch.squeeze)]

# convolutions
vmap(lambda x: F.conv2d(sines(1, 3, 4, 4), sines(2, 3, 2, 2)) + x)(sines(2))
vmap(lambda x, k: F.conv_transpose2d(x, k, groups=2, stride=2))(sines(3, 2, 4, 3, 3),
    sines(3, 4, 1, 2, 2))
vmap(lambda x: F.conv_transpose1d(x, sines(3, 2, 2), sines(2)))(sines(3, 2, 3, 4))
vmap(lambda x, k: F.conv3d(x, k))(sines(2, 1, 2, 3, 3, 3), sines(2, 1, 2, 2, 2, 2))
with differs("Torch makes groups of no examples."):
    vmap(lambda x, k: F.conv2d(x, k))(sines(0, 2, 3, 4, 4), sines(0, 2, 3, 2, 2)).shape

def vmap_in_dims():
    f = torch.func.grad(lambda k, x: (F.conv2d(x, k) ** 2).sum())
    return [vmap(f)(sines(2, 2, 3, 2, 2), sines(2, 2, 3, 4, 4)),
        vmap(f, in_dims=(None, 0))(sines(2, 3, 2, 2), sines(2, 2, 3, 4, 4)),
        vmap(f, in_dims=(0, None))(sines(2, 2, 3, 2, 2), sines(2, 3, 4, 4))]

def vmap_in_dims_2():
    f = torch.func.grad(lambda x, k: (F.conv2d(x, k) ** 2).sum())
    return [vmap(f)(sines(2, 2, 3, 4, 4), sines(2, 2, 3, 2, 2)),
        vmap(f, in_dims=(None, 0))(sines(2, 3, 4, 4), sines(2, 2, 3, 2, 2)),
        vmap(f, in_dims=(0, None))(sines(3, 2, 3, 4, 4), sines(2, 3, 2, 2))]

def in_dims_groups():
    f = torch.func.grad(lambda x, k: (F.conv2d(x, k, groups=3, stride=2) ** 2).sum())
    return [vmap(f)(sines(2, 2, 3, 4, 4), sines(2, 3, 1, 2, 2)),
        vmap(f, in_dims=(None, 0))(sines(2, 3, 4, 4), sines(2, 3, 1, 2, 2)),
        vmap(f, in_dims=(0, None))(sines(3, 2, 3, 4, 4), sines(3, 1, 2, 2))]

def in_dims_groups_2():
    f = torch.func.grad(lambda k, x: (F.conv2d(x, k, groups=3, stride=2) ** 2).sum())
    return [vmap(f)(sines(2, 3, 1, 2, 2), sines(2, 2, 3, 4, 4)),
        vmap(f, in_dims=(None, 0))(sines(3, 1, 2, 2), sines(3, 2, 3, 4, 4))]

@differs("Torch makes groups of no examples.")
def argnums_conv2d():
    f = torch.func.grad(lambda x, k: (F.conv2d(x, k) ** 2).sum(), argnums=(0, 1))
    return [x.shape for x in vmap(f)(sines(0, 2, 3, 4, 4), sines(0, 2, 3, 2, 2))]

def conv1d_vmap():
    c = torch.nn.functional.conv1d
    x, k = sines(2, 3, 5), sines(4, 3, 2)
    y, back = torch.func.vjp(c, x, k)
    return vmap(back)(sines(3, *y.shape))

# negative log-likelihood
def nll_loss_reduction():
    def losses(x, y, **more):
        return [vmap(lambda x, y: F.nll_loss(x, y, reduction=r, **more))(x, y)
            for r in ("none", "mean", "sum")]
    return [losses(sines(2, 4, 3), torch.tensor([[0, 1, 2, 1], [2, 2, 0, 0]])),
        losses(sines(2, 3), torch.tensor([0, 2])),
        losses(sines(2, 4, 3, 2), torch.tensor([[[0, 1], [2, 1], [0, 0], [1, 2]]] * 2))]

def ignore_index_weight():
    def losses(x, y, **more):
        return [vmap(lambda x, y: F.nll_loss(x, y, reduction=r, **more))(x, y)
            for r in ("none", "mean", "sum")]
    return [losses(sines(2, 4, 3), torch.tensor([[0, 1, 2, 1], [2, 2, 0, 0]]), ignore_index=1),
        losses(sines(2, 4, 3), torch.tensor([[0, 1, 2, 1], [2, 2, 0, 0]]), weight=sines(3).abs(),
        ignore_index=0), losses(sines(2, 3), torch.tensor([0, 2]), weight=sines(3).abs()),
        losses(sines(2, 4, 3), torch.tensor([[0, 1, 2, -9], [2, -9, 0, 0]]), weight=sines(3).abs(),
        ignore_index=-9)]

vmap(lambda x, y: F.nll_loss(x, y))(sines(0, 4, 3), torch.zeros(0, 4, dtype=torch.int64))

def ignore_index_nll_loss():
    def slopes(x, y, in_dims=0, **more):
        return [vmap(torch.func.grad(lambda x, y: (F.nll_loss(x, y, reduction=r,
            **more) ** 2).sum()), in_dims=in_dims)(x, y) for r in ("none", "mean", "sum")]
    return [slopes(sines(2, 4, 3), torch.tensor([[0, 1, 2, 1], [2, 2, 0, 0]])),
        slopes(sines(2, 3), torch.tensor([0, 2])),
        slopes(sines(2, 4, 3, 2), torch.tensor([[[0, 1], [2, 1], [0, 0], [1, 2]]] * 2)),
        slopes(sines(2, 4, 3), torch.tensor([[0, 1, 2, 1], [2, 2, 0, 0]]), weight=sines(3).abs(),
        ignore_index=0), slopes(sines(4, 3), torch.tensor([[0, 1, 2, 1], [2, 2, 0, 0]]),
        in_dims=(None, 0)), slopes(sines(2, 4, 3), torch.tensor([0, 1, 2, 1]), in_dims=(0, None))]

def nll_loss_reduction_2():
    x = sines(4, 3)
    y, back = torch.func.vjp(lambda x: F.nll_loss(x, torch.tensor([0, 1, 2, 1]), reduction="none"),
        x)
    return vmap(back)(sines(3, 4))

def vmap_nll_loss():
    y, back = torch.func.vjp(lambda x: F.nll_loss(x, torch.tensor([0, 1, 2, 1])), sines(4, 3))
    return vmap(back)(sines(3))

def nll_loss_reduction_3():
    y, back = torch.func.vjp(lambda x: F.nll_loss(x, torch.tensor(1), reduction="sum"), sines(3))
    return vmap(back)(sines(3))

vmap(lambda z: torch.func.grad(lambda x: F.nll_loss(x, torch.tensor([0, 1])))(sines(2, 3))
    * z)(sines(2))

# windows of memory
vmap(lambda x: x.as_strided((2,), (2,), 0))(sines(2, 3))
vmap(torch.func.grad(lambda x: (x.as_strided((2,), (2,), 0) ** 2).sum()))(sines(2, 3))

def contiguous_as_strided():
    y, back = torch.func.vjp(lambda x: x.as_strided((2, 0), (2, 1)), sines(3))
    return vmap(back)(sines(3, 2, 0))[0].contiguous()

def vmap_as_strided():
    y, back = torch.func.vjp(lambda x: x.as_strided((2,), (3,), 1), sines(2, 3).t())
    return vmap(back)(sines(3, 2))

vmap(lambda z: torch.func.jvp(torch.func.grad(lambda x: (x.as_strided((2,), (1,), 1) ** 2).sum()),
    (sines(3),), (sines(3),))[1] * z)(sines(2))

# vmaps within vmaps
vmap(lambda x: vmap(lambda y: x @ y)(iota(2, 3)))(iota(2, 3))
vmap(lambda x: vmap(lambda i: x[i])(torch.tensor([0, 2])))(iota(2, 3))
vmap(lambda x: vmap(lambda y: F.nll_loss(x, y))(torch.tensor([[0, 1], [1, 2]])))(sines(2, 2, 3))

# what changes
def add_vmap():
    z = torch.zeros(3)
    def f(x):
        z.add_(x)
        return z
    return [error_name(vmap(f), iota(2, 3)), z, z._version]

def vmap_put():
    z = torch.zeros(3)
    return [error_name(vmap(lambda x: z.copy_(x)), iota(2, 3)),
        error_name(vmap(lambda x: z.put_(torch.tensor([0]), x[:1])), iota(2, 3)), z._version]

with differs("windows are those of each example; PyTorch has no rule for them"):
    vmap(lambda x, y: torch.as_strided_scatter(x, y, (2,), (1,), 1))(iota(3, 4), -torch.ones(3, 2))
    vmap(lambda x, y: torch.as_strided_scatter(x, y, (2,), (1,)))(iota(3, 4), -torch.ones(3, 2))
    vmap(lambda x, y: torch.as_strided_scatter(x, y, (2,), (2,), 1), (1, None))(iota(4, 3),
        -torch.ones(2))
    vmap(lambda x, y: torch.as_strided_scatter(x, y, (2,), (2,), 1), (None, 0))(iota(4),
        -torch.ones(3, 2))
    vmap(lambda x, y: torch.as_strided_scatter(x, y, (2,), (1,), 1))(iota(0, 4), -torch.ones(0, 2))
