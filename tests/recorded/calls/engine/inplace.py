"""Inplace: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    first_event,
    iota,
    metadata,
    next_nodes,
    sines,
    tangents,
)


# copy_: history, edges, conversion
def copy_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.copy_(sines(3, phase=2))
    return [z is y, y, metadata(y), y.grad_fn.name(), next_nodes(y.grad_fn)]

def copy_grad_fn_2():
    x = sines(3).requires_grad_()
    v = sines(3, phase=1).requires_grad_()
    y = x * 1
    z = y.copy_(v)
    return [next_nodes(y.grad_fn), y.grad_fn(sines(3)), y.grad_fn(None)]

def real_imag():
    x = sines(3).requires_grad_()
    y = complex_sines(3)
    z = y.copy_(x)
    return torch.autograd.grad((y * y).real.sum() + y.imag.sum(), x)

sines(3).requires_grad_().copy_(sines(3))
sines(3).copy_("a")

def copy_2():
    x = sines(4)
    y = x[1:]
    z = y.copy_(x[:3])
    return metadata(y)

vmap(vmap(lambda a, b: a.clone().copy_(b), (None, 0)), (0, None))(sines(2), sines(3))

def vmap_copy():
    a = sines(3)
    return [error_name(lambda: vmap(lambda x: a.copy_(x))(sines(2, 3))), a, a._version]

tangents(lambda x: x.clone().copy_(sines(3)), sines(3))

def copy_3():
    def f(x):
        y = sines(3)
        y[1:].copy_(x)
        return y
    return tangents(f, sines(2))

# non-blocking and keywords
sines(2).copy_()
sines(2).copy_(sines(2), False, 3)

# detach and detach_
[x := sines(2, 3).t().detach(), metadata(x)]

def requires_grad_detach():
    x = sines(3).requires_grad_()
    y = x[1:]
    return y.detach_()

sines(3)[1:].detach_()

def requires_grad_detach_2():
    x = sines(3).requires_grad_()
    r = x.detach_()
    return metadata(x)

def tangent_forward_ad():
    with torch.autograd.forward_ad.dual_level():
        d = torch.autograd.forward_ad.make_dual(sines(3) + 0, sines(3))
        r = d.detach_()
        found = torch.autograd.forward_ad.unpack_dual(d).tangent
    return 0

def jvp_detach():
    def f(x):
        y = x * 2
        return torch.func.jvp(lambda z: (y * z).detach_(), (x,), (x,))[1]
    return tangents(f, sines(3))

vmap(lambda x: x.detach())(sines(2, 3))

# fill_, zero_
def fill_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.fill_(2)
    return [z is y, y, metadata(y), y.grad_fn.name(), torch.autograd.grad(y.sum(), x)]

def zero_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.zero_()
    return [y, metadata(y), y.grad_fn.name(), next_nodes(y.grad_fn),
        torch.autograd.grad(y.sum(), x)]

sines(3).requires_grad_().zero_()
sines(3).requires_grad_().fill_(2)
sines(3).fill_(torch.tensor(2j))
sines(3).fill_("a")
(sines(3) + 0).fill_("a")
(sines(3) + 0).fill_(None)
(sines(3) + 0).fill_([2])
sines(3).fill_(None)
sines(3).fill_([1])
sines(3).fill_(torch.tensor(2))
iota(3, dtype=torch.int32).fill_(2**31)
sines(1).expand(3).fill_(2)
with differs("As with a number: all copies of an element get the same."):
    sines(3, 1).expand(3, 2).fill_(sines())
sines(3).expand(2, 3).zero_()

def fill_unsqueeze():
    x = sines(3).requires_grad_()
    y = (x * 1).unsqueeze(0).expand(2, 3)
    return y.fill_(2)

def expand_fill():
    v = sines().requires_grad_()
    y = sines(1).expand(3)
    return y.fill_(v)

vmap(lambda x: x.clone().zero_())(sines(2, 3))
vmap(lambda x: torch.zeros(3).fill_(x))(sines(2))
vmap(lambda x: x.clone()[0].fill_(2), 1)(sines(2, 3))
tangents(lambda x: x.clone().fill_(2), sines(3))
tangents(lambda x: x.clone().zero_() * x, sines(3))

# events
def fill_zero():
    x, y = sines(3), sines(1)
    return [first_event(lambda: x.copy_(y)), first_event(lambda: x.fill_(2)),
        first_event(lambda: x.zero_()), first_event(lambda: x.detach())]

def resize_as_set():
    x = sines(3) + 0
    return [first_event(lambda: x.detach_()), first_event(lambda: x.resize_(2)),
        first_event(lambda: x.resize_as_(sines(1))), first_event(lambda: x.set_())]

def fill_diagonal_transpose():
    x = sines(3, 3)
    return [first_event(lambda: x.fill_diagonal_(1)), first_event(lambda: x.t_()),
        first_event(lambda: x.transpose_(0, 1))]

def squeeze_as_strided():
    x = sines(3, 1)
    return [first_event(lambda: x.squeeze_()), first_event(lambda: x.unsqueeze_(0)),
        first_event(lambda: x.as_strided_((2,), (1,)))]
