"""Inplace: calls of the graph and its engine (`ext/engine`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    first_event,
    forward_over_reverse,
    gradients,
    iota,
    metadata,
    next_nodes,
    second_gradients,
    sines,
    tangents,
)


# copy_: history, edges, conversion
def next_nodes_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.copy_(sines(3, phase=2))
    return [z is y, y, metadata(y), y.grad_fn.name(), next_nodes(y.grad_fn)]

def next_nodes_grad_fn_2():
    x = sines(3).requires_grad_()
    y = sines(3)
    z = y.copy_(x)
    return [y, metadata(y), y.grad_fn.name(), next_nodes(y.grad_fn), y.grad_fn(sines(3))]

def next_nodes_grad_fn_3():
    x = sines(3).requires_grad_()
    v = sines(3, phase=1).requires_grad_()
    y = x * 1
    z = y.copy_(v)
    return [next_nodes(y.grad_fn), y.grad_fn(sines(3)), y.grad_fn(None)]

def copy_grad():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.copy_(x)
    return torch.autograd.grad(y.sum(), x)

def copy_int64():
    x = sines(3).requires_grad_()
    y = iota(3, dtype=torch.int64)
    z = y.copy_(x)
    return [y, metadata(y)]

def copy_next_nodes():
    x = iota(3, dtype=torch.int64)
    y = sines(3).requires_grad_() * 1
    z = y.copy_(x)
    return [y, metadata(y), next_nodes(y.grad_fn)]

def copy_grad_2():
    x = sines(1, 3).requires_grad_()
    y = sines(2, 3)
    z = y.copy_(x)
    return torch.autograd.grad((y * sines(2, 3)).sum(), x)

def zeros_copy():
    x = sines(3).requires_grad_()
    y = torch.zeros(3)
    z = y.copy_(x)
    return torch.autograd.grad((y * y).sum(), x)

def real_imag():
    x = sines(3).requires_grad_()
    y = complex_sines(3)
    z = y.copy_(x)
    return torch.autograd.grad((y * y).real.sum() + y.imag.sum(), x)

sines(3).requires_grad_().copy_(sines(3))

def version_copy():
    x = sines(3).requires_grad_()
    return [error_name(lambda: x.copy_(sines(3))), x._version, x, metadata(x)]

def no_grad_copy():
    x = sines(3).requires_grad_()
    with torch.no_grad():
        y = x.copy_(sines(3, phase=1))
    return [y is x, metadata(x)]

def no_grad_copy_2():
    x = sines(3).requires_grad_()
    y = sines(3)
    with torch.no_grad():
        y.copy_(x)
    return metadata(y)

sines(3).copy_(sines(2))
sines(3).copy_(sines(1, 3))
sines(2, 3).copy_(sines(3, 1))
sines(3).copy_(sines())
sines(3).copy_("a")
sines(1).expand(3).copy_(sines(3))
sines(3).expand(2, 3).copy_(sines(3))

def copy_expand():
    x = sines(3)
    return [error_name(lambda: x.expand(2, 3).copy_(sines(3))), x._version, metadata(x.copy_(x)), x]

torch.tensor([1.9, -1.9]).to(torch.int32).copy_(torch.tensor([2.9, -2.9]))
torch.zeros(2, dtype=torch.bool).copy_(torch.tensor([0.0, 0.5]))
torch.zeros(2, dtype=torch.float16).copy_(torch.tensor([1e5, 0.1]))
torch.zeros(2).copy_(complex_sines(2))
complex_sines(2).copy_(sines(2))

def copy_metadata():
    x = sines(4)
    y = x[1:]
    z = y.copy_(x[:3])
    return metadata(y)

def copy_next_nodes_2():
    x = sines(3).requires_grad_()
    y = x.clone()
    z = y[1:].copy_(sines(2, phase=1))
    return [metadata(y), next_nodes(y.grad_fn), torch.autograd.grad((y * sines(3)).sum(), x)]

def copy_next_nodes_3():
    x = sines(2).requires_grad_()
    y = sines(3)
    z = y[1:].copy_(x)
    return [metadata(y), next_nodes(y.grad_fn), metadata(z),
        torch.autograd.grad((y * sines(3)).sum(), x)]

vmap(lambda a: torch.zeros(3).copy_(a))(sines(2, 3))
vmap(lambda a, b: a.clone().copy_(b), (0, None))(sines(2, 3), sines(3))
vmap(lambda a, b: a.clone().copy_(b), (1, 0))(sines(3, 2), sines(2, 3))
vmap(lambda a, b: a.clone().copy_(b), (0, 0))(sines(2, 3), sines(2))
vmap(lambda a: torch.zeros_like(a).copy_(sines(3)))(sines(2, 3))
vmap(vmap(lambda a, b: a.clone().copy_(b), (0, None)), (0, 0))(sines(2, 3), sines(2))
vmap(vmap(lambda a, b: a.clone().copy_(b), (None, 0)), (0, None))(sines(2), sines(3))

def outer_vmap():
    outer = sines(3)
    def f(a):
        outer.clone().copy_(sines(3))
        return a
    return vmap(f)(sines(2))

def version_copy_2():
    a = sines(3)
    return [error_name(lambda: vmap(lambda x: a.copy_(x))(sines(2, 3))), a, a._version]

tangents(lambda x: x.clone().copy_(x * 2), sines(3))
tangents(lambda x: sines(3).copy_(x), sines(3))
tangents(lambda x: x.clone().copy_(sines(3)), sines(3))
tangents(lambda x, y: (x.clone()[1:].copy_(y), x), sines(3), sines(2))

def tangents_copy():
    def f(x):
        y = sines(3)
        y[1:].copy_(x)
        return y
    return tangents(f, sines(2))

def tangents_second_gradients():
    def f(x):
        y = x.clone()
        y[1:].copy_(sines(2))
        return y
    return [tangents(f, sines(3)), gradients(f, sines(3)),
        second_gradients(lambda x: f(x) ** 2, sines(3))]

tangents(lambda x: torch.zeros(2, dtype=torch.int64).copy_(x) * 1.0 + x, sines(2))

# what copy_ does to lazy bits
def complex_sines_is_conj():
    z = complex_sines(3)
    y = z.conj()
    r = y.copy_(complex_sines(3, phase=2))
    return [z, y.is_conj(), y]

def imag_is_neg():
    z = complex_sines(3)
    y = z.conj().imag
    r = y.copy_(sines(3))
    return [z, y.is_neg(), y]

# non-blocking and keywords
sines(2).copy_(sines(2, phase=1), non_blocking=True)
sines(2).copy_()
sines(2).copy_(sines(2), False, 3)

# detach and detach_
def data_ptr_zero():
    x = sines(3).requires_grad_()
    y = x * 2
    z = y.detach()
    return [metadata(z), z.data_ptr() == y.data_ptr(), y.zero_()._version, z._version, z]

metadata(sines(3)[1:].detach())
[x := sines(2, 3).t().detach(), metadata(x)]

def retain_grad_detach():
    x = sines(3).requires_grad_()
    y = x * 2
    y.retain_grad()
    z = y.detach_()
    return [z is y, metadata(y), y.grad_fn is None, y.requires_grad_().sum().backward(), y.grad,
        x.grad]

def unbind_detach():
    x = sines(4, 3).requires_grad_()
    y = x.unbind(1)[2]
    return [error_name(y.detach_), metadata(y)]

def aminmax_detach():
    x = sines(4, 3).requires_grad_()
    a, b = (x * 2).aminmax(dim=0)
    r = b.detach_()
    return [metadata(b), b.requires_grad_().sum().backward(), metadata(a), b.grad]

def requires_grad_detach():
    x = sines(3).requires_grad_()
    y = x[1:]
    return y.detach_()

sines(3)[1:].detach_()

def detach_metadata():
    x = sines(3).requires_grad_()
    r = x.detach_()
    return metadata(x)

def detach_metadata_2():
    x = sines(3) + 0
    r = x.detach_()
    return [r is x, metadata(x)]

def detach_no_grad():
    with torch.no_grad():
        y = sines(3)[1:]
    return y.detach_()

def inference_mode_detach():
    x = sines(3).requires_grad_()
    y = x * 2
    with torch.inference_mode():
        z = y.detach_()
    return [z is y, metadata(y)]

def inference_mode_detach_2():
    x = sines(3).requires_grad_()
    y = x * 2
    with torch.inference_mode():
        z = y[1:].detach_()
    return metadata(y)

def tangent_forward_ad():
    with torch.autograd.forward_ad.dual_level():
        d = torch.autograd.forward_ad.make_dual(sines(3) + 0, sines(3))
        r = d.detach_()
        found = torch.autograd.forward_ad.unpack_dual(d).tangent
    return 0

def tangents_detach():
    def f(x):
        y = x * 2
        return torch.func.jvp(lambda z: (y * z).detach_(), (x,), (x,))[1]
    return tangents(f, sines(3))

vmap(lambda x: x.detach())(sines(2, 3))
vmap(lambda x: x.detach(), 1, 1)(sines(2, 3))
vmap(vmap(lambda x, y: x.detach() + y.detach(), (0, None)), (0, 1))(sines(2, 3), sines(3, 2))
vmap(torch.func.grad(lambda x: (x.detach() * x).sum()))(sines(2, 3))
with differs("An example is no view here."):
    vmap(lambda x: x.clone().detach_() + 1)(sines(2, 3))
torch.func.grad(lambda x: (x.clone().detach_() * x).sum())(sines(3))

# fill_, zero_
def fill_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.fill_(2)
    return [z is y, y, metadata(y), y.grad_fn.name(), torch.autograd.grad(y.sum(), x)]

def fill_next_nodes():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.fill_(sines())
    return [y, metadata(y), next_nodes(y.grad_fn), torch.autograd.grad(y.sum(), x)]

def fill_next_nodes_2():
    x = sines(3).requires_grad_()
    v = sines().requires_grad_()
    y = x * 1
    z = y.fill_(v)
    return [y, metadata(y), next_nodes(y.grad_fn),
        torch.autograd.grad((y * sines(3)).sum(), (x, v))]

def fill_metadata():
    v = sines().requires_grad_()
    y = sines(3)
    z = y[1:].fill_(v)
    return [metadata(y), torch.autograd.grad((y * sines(3)).sum(), v)]

def zero_next_nodes():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.zero_()
    return [y, metadata(y), y.grad_fn.name(), next_nodes(y.grad_fn),
        torch.autograd.grad(y.sum(), x)]

def fill_zero():
    x = sines(3)
    y = x.fill_(2)
    return [y is x, metadata(x), metadata(x.zero_()), x]

sines(3).requires_grad_().zero_()
sines(3).requires_grad_().fill_(2)

def error_name_fill():
    x = sines(3).requires_grad_()
    y = x * 1
    return [error_name(lambda: y.fill_(sines(1))), error_name(lambda: y.fill_(1j)),
        error_name(lambda: y.fill_("a")), metadata(y)]

sines(3).fill_(sines(1))
sines(3).fill_(sines(3))
sines(3).fill_(1j)
complex_sines(3).fill_(1j)
sines(3).fill_(torch.tensor(2j))
sines(3).fill_("a")
(sines(3) + 0).fill_("a")
(sines(3) + 0).fill_(None)
(sines(3) + 0).fill_(1j)
(sines(3) + 0).fill_([2])
sines(3).fill_(None)
sines(3).fill_(value=2)
sines(3).fill_([1])
sines(3).fill_(torch.tensor(2))
iota(3, dtype=torch.int64).fill_(2.7)
iota(3, dtype=torch.uint8).fill_(300)
iota(3, dtype=torch.uint8).fill_(-1)
iota(3, dtype=torch.uint8).fill_(256)
iota(3, dtype=torch.int32).fill_(2**31)
torch.zeros(3, dtype=torch.int8).fill_(128)
torch.zeros(3, dtype=torch.float16).fill_(1e5)
torch.zeros(3, dtype=torch.float16).fill_(math.inf)
torch.zeros(2, dtype=torch.bool).fill_(0.5)
torch.zeros(2, dtype=torch.bool).fill_(2)
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

def zero_unsqueeze():
    x = sines(3).requires_grad_()
    y = (x * 1).unsqueeze(0).expand(2, 3)
    return [y.zero_(), metadata(y)]

def conj_fill():
    z = complex_sines(3)
    y = z.conj()
    r = y.fill_(1 + 2j)
    return [z, y]

def imag_fill():
    z = complex_sines(3)
    y = z.conj().imag
    r = y.fill_(3)
    return [z, y]

vmap(lambda x: x.clone().fill_(2))(sines(2, 3))
vmap(lambda x, y: x.clone().fill_(y))(sines(2, 3), sines(2))
vmap(lambda x: x.clone().zero_())(sines(2, 3))
vmap(lambda x: torch.zeros(3).fill_(x))(sines(2))
vmap(lambda x: x.clone()[0].fill_(2), 1)(sines(2, 3))
tangents(lambda x: x.clone().fill_(2), sines(3))
tangents(lambda x: sines(3).fill_(x), sines())
tangents(lambda x, y: x.clone().fill_(y) * x, sines(3), sines())
tangents(lambda x: x.clone().zero_() * x, sines(3))

def tangents_forward_over_reverse():
    def f(x):
        y = x.clone()
        y[1:].zero_()
        return y * x
    return [tangents(f, sines(3)), gradients(f, sines(3)), forward_over_reverse(f, sines(3))]

torch.empty(0).fill_(2)
torch.empty(0, 3).zero_()
sines().fill_(2)

# events
def first_event_zero():
    x, y = sines(3), sines(1)
    return [first_event(lambda: x.copy_(y)), first_event(lambda: x.fill_(2)),
        first_event(lambda: x.zero_()), first_event(lambda: x.detach())]

def first_event_resize_as():
    x = sines(3) + 0
    return [first_event(lambda: x.detach_()), first_event(lambda: x.resize_(2)),
        first_event(lambda: x.resize_as_(sines(1))), first_event(lambda: x.set_())]

def first_event_transpose():
    x = sines(3, 3)
    return [first_event(lambda: x.fill_diagonal_(1)), first_event(lambda: x.t_()),
        first_event(lambda: x.transpose_(0, 1))]

def first_event_as_strided():
    x = sines(3, 1)
    return [first_event(lambda: x.squeeze_()), first_event(lambda: x.unsqueeze_(0)),
        first_event(lambda: x.as_strided_((2,), (1,)))]
