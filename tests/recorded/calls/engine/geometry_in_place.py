"""Geometry in place: calls of the graph and its engine (`ext/engine`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    differs,
    error_name,
    forward_over_reverse,
    gradients,
    iota,
    metadata,
    next_nodes,
    second_gradients,
    sines,
    tangents,
)


# changes of geometry in place
@differs("Nodes have the names of the views.")
def transpose_grad_fn():
    x = sines(2, 3).requires_grad_()
    y = x * 1
    z = y.transpose_(0, 1)
    return [z is y, y, metadata(y), next_nodes(y.grad_fn),
        torch.autograd.grad((y * sines(3, 2)).sum(), x)]

(sines(2, 3) + 0).transpose_(0)
(sines(2, 3) + 0).transpose_(0, "a")
(sines(2, 3) + 0).transpose_(1.0, 0)
(sines(2, 3) + 0).transpose_(dim0=0, dim1=1)
(sines(2, 3) + 0).swapaxes_(axis0=0, axis1=1)
(sines(2, 3) + 0).swapdims_(dim0=0, dim1=1)
sines(2, 3).requires_grad_().transpose_(0, 1)
(sines(2, 3, 1) + 0).t_()

def squeeze():
    x = sines(1, 3, 1) + 0
    y = x.squeeze_()
    return [y is x, x, metadata(x)]

(sines(1, 3) + 0).squeeze_("a")
(sines(3) + 0).unsqueeze_()
(sines(3) + 0).unsqueeze_(dim=0)
(sines(6) + 0).as_strided_((3,), (2,), 1)
(sines(6) + 0).as_strided_((2,), "a")

@differs("Nodes have the names of the views.")
def as_strided_grad_fn():
    x = sines(6).requires_grad_()
    y = x * 1
    z = y.as_strided_((2, 2), (3, 1), 1)
    return [y, metadata(y), next_nodes(y.grad_fn), torch.autograd.grad((y * sines(2, 2)).sum(), x)]

# of views: the base keeps its history
@differs("Nodes have the names of the views.")
def grad_fn_sum():
    x = sines(2, 3).requires_grad_()
    b = x * 1
    y = b[1:]
    z = y.t_()
    return [y, metadata(y), metadata(b), next_nodes(y.grad_fn),
        torch.autograd.grad((y * sines(3, 1)).sum(), x)]

def mul_grad_fn():
    x = sines(2, 3).requires_grad_()
    b = x * 1
    y = b[1:]
    z = y.t_()
    r = y.mul_(2)
    return [y, metadata(y), metadata(b), next_nodes(y.grad_fn),
        torch.autograd.grad((b * sines(2, 3)).sum(), x)]

@differs("Nodes have the names of the views.")
def unsqueeze_grad_fn():
    x = sines(2, 3).requires_grad_()
    b = x * 1
    y = b[1]
    r = b.mul_(3)
    z = y.unsqueeze_(0)
    return [y, metadata(y), next_nodes(y.grad_fn), torch.autograd.grad((y * sines(1, 3)).sum(), x)]

def unsqueeze_grad_fn_2():
    x = sines(2, 3).requires_grad_()
    b = x * 1
    y = b[1]
    z = y.unsqueeze_(0)
    r = b.mul_(3)
    return [y, metadata(y), next_nodes(y.grad_fn), torch.autograd.grad((y * sines(1, 3)).sum(), x)]

def requires_grad_unsqueeze():
    x = sines(3).requires_grad_()
    y = x[1:]
    return y.unsqueeze_(0)

def unsqueeze_unbind():
    x = sines(3, 2).requires_grad_()
    y = (x * 1).unbind(0)[1]
    return y.unsqueeze_(0)

def shape_no_grad():
    x = sines(2, 3).requires_grad_()
    y = x * 1
    with torch.no_grad():
        z = y.t_()
    return [y.shape, metadata(y)[:2], metadata(y)[3:]]

def no_grad_backward():
    x = sines(2, 2).requires_grad_()
    with torch.no_grad():
        z = x.t_()
    return [(x * sines(2, 2)).sum().backward(), x.grad, metadata(x)]

@differs("It has the shape of the tensor.")
def retain_grad_backward():
    x = sines(2, 3).requires_grad_()
    y = x * 1
    y.retain_grad()
    z = y.t_()
    return [(y * sines(3, 2)).sum().backward(), y.grad, x.grad]

# under transformations
vmap(lambda x: x.clone().t_(), 1, 2)(sines(2, 3, 4))
vmap(lambda x: x.clone().transpose_(0, -1))(sines(2, 3, 4))
vmap(lambda x: x.clone().squeeze_(1))(sines(2, 1, 1))
vmap(lambda x: x.clone().unsqueeze_(0), 1)(sines(2, 3))
tangents(lambda x: x.clone().t_(), sines(2, 3))
tangents(lambda x: x.clone()[0].unsqueeze_(1), sines(2, 3))
forward_over_reverse(lambda x: x.clone().t_() ** 2, sines(2, 3))

def unsqueeze_mul():
    def f(x):
        y = x.clone()
        z = y[0].unsqueeze_(1)
        z.mul_(z.clone())
        return y
    return [tangents(f, sines(2, 3)), gradients(f, sines(2, 3)), second_gradients(f, sines(2, 3))]

# fill_diagonal_
torch.zeros(7, 3).fill_diagonal_(5, wrap=True)
torch.zeros(5, 3).fill_diagonal_(5, True).nonzero().tolist()
torch.zeros(8, 3).fill_diagonal_(5, True).nonzero().tolist()
torch.zeros(5, 1).fill_diagonal_(5, True).nonzero().tolist()
torch.zeros(2, 2, 2, 2).fill_diagonal_(5).nonzero().tolist()
torch.zeros(3, 3, 2).fill_diagonal_(5)
torch.zeros(()).fill_diagonal_(5)
torch.zeros(3, 3).fill_diagonal_("a")
torch.zeros(3, 3).fill_diagonal_(1j)
torch.zeros(3, 3).fill_diagonal_()
torch.zeros(3, 3).fill_diagonal_(torch.tensor(2.0))
[x := torch.zeros(3, 7).t(), x.fill_diagonal_(5, True).nonzero().tolist()]
torch.zeros(3, 3).requires_grad_().fill_diagonal_(2)

def fill_diagonal_zeros():
    x = torch.zeros(5, 2).requires_grad_()
    y = x * 1
    z = y.fill_diagonal_(2, True)
    return [y, torch.autograd.grad((y * sines(5, 2)).sum(), x)]

vmap(lambda x: x.clone().fill_diagonal_(2))(sines(2, 2, 2))
tangents(lambda x: x.clone().fill_diagonal_(2), sines(2, 2))

# resize_
def nbytes_untyped_storage():
    x = iota(6) + 0
    y = x.resize_(4, 3)
    z = x[2:].fill_(7)
    return [y is x, x, metadata(x), x.untyped_storage().nbytes()]

def resize():
    x = (iota(6) + 0)[4:]
    y = x.resize_(2)
    return [x, metadata(x)]

# Memory of others doesn't move.
def shape_resize():
    x = (iota(6) + 0)[4:]
    return x.resize_(3)[:2], x.shape

(iota(6) + 0).resize_(-1)
(iota(6) + 0).resize_(2, -1)
(iota(6) + 0).resize_("a")
(iota(6) + 0).resize_(2.0)
(iota(6) + 0).resize_()
(iota(6) + 0).resize_(2**62, 4)
(iota(6) + 0).resize_(2**61)
with differs("A tensor has at most 64 dimensions here."):
    (iota(6) + 0).resize_([1] * 65)
(iota(4) + 0).resize_(1, 2, 2, 3, memory_format=torch.channels_last).stride()
(iota(4) + 0).resize_(2, 3).stride()
sines(3).requires_grad_().resize_(2)
(sines(3).requires_grad_() * 1).resize_(2)

def requires_grad_resize():
    x = sines(3).requires_grad_() * 1
    return [error_name(lambda: x.resize_(2)), metadata(x)]

def no_grad_resize():
    x = sines(3).requires_grad_()
    with torch.no_grad():
        r = error_name(lambda: x.resize_(2))
    return r

torch.from_numpy(np.ones(3)).resize_(4)

def complex_is_neg():
    x = torch.complex(iota(2), iota(2)).imag
    y = x.resize_(1)
    return [x, x.is_neg()]

with differs("The rows of a batch don't lie together."):
    vmap(lambda x: x.clone().resize_(2))(sines(2, 3))
(iota(6) + 0).resize_as_(iota(2, 2).t())
(iota(16) + 0).resize_as_(torch.zeros(1, 2, 2, 2).to(memory_format=torch.channels_last),
    memory_format=torch.preserve_format).stride()
(iota(6) + 0).resize_as_((2, 2))
(iota(6) + 0).resize_as_()
sines(3).requires_grad_().resize_as_(sines(2))
(iota(6) + 0).resize_as_(sines(2).requires_grad_()).requires_grad

@differs("Torch doesn't know which memory is read-only.")
def setflags_write():
    a = np.ones(3)
    a.setflags(write=False)
    x = torch.from_numpy(a)
    return x.resize_(2)

# memory of another shape
@differs("A node of its own knows the new shape.")
def retain_grad_retains_grad():
    x = sines(3).requires_grad_()
    y = x * 2
    y.retain_grad()
    u = (y * 3).sum()
    y.data = sines(2, 2)
    return [y.retains_grad, metadata(y), next_nodes(y.grad_fn), u.backward(), y.grad, x.grad]

def data_backward():
    x = sines(3).requires_grad_()
    y = x * 2
    y.data = sines(2, 2)
    return (y * 2).sum().backward()

# set_
def set_fill():
    x = sines(3) + 0
    v = sines(6)
    y = x.set_(v, 1, (2, 2), (2, 1))
    return [x, metadata(x), x.fill_(7), v]

def set_untyped_storage():
    x = sines(3) + 0
    v = sines(6)
    y = x.set_(v.untyped_storage(), 2, (2,))
    return [x, metadata(x), x.set_(v.untyped_storage()),
        x.set_(v.untyped_storage(), 0, (2, 0, 3)).stride(),
        x.set_(v.untyped_storage(), 1, (1, 2, 2)).stride(), x.set_(v, 0, (2, 1, 3)).stride()]

def set_float32():
    x = sines(3) + 0
    return [error_name(lambda: x.set_(sines(3, dtype=torch.float32))),
        error_name(lambda: x.set_(sines(2), 0, (3,))),
        error_name(lambda: x.set_(sines(3), -1, (2,))), error_name(lambda: x.set_(3)),
        error_name(lambda: x.set_(sines(3), 1)), error_name(lambda: x.set_(sines(3), 0, 3)),
        metadata(x), x]

(sines(3) + 0).set_(sines(3, dtype=torch.float32))
(sines(3) + 0).set_(sines(4), 1)
(sines(3) + 0).set_(sines(4), 0, 3)
(sines(3) + 0).set_(sines(2), 0, (3,))
sines(3).requires_grad_().set_(sines(3))

def set_grad_fn():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.set_(sines(3) + 0)
    return [metadata(y)[:2], metadata(y)[3:], next_nodes(y.grad_fn),
        error_name(lambda: y.sum().backward())]

def set_grad_fn_2():
    v = sines(3).requires_grad_()
    y = sines(3) + 0
    z = y.set_(v * 1)
    return [metadata(y)[:2], metadata(y)[3:], next_nodes(y.grad_fn),
        error_name(lambda: y.sum().backward())]

def complex_is_conj():
    x = torch.complex(iota(2), iota(2)).conj()
    y = x.set_(torch.complex(iota(3), iota(3) + 1))
    return [x.is_conj(), x]

with differs("The rows of a batch don't lie together."):
    vmap(lambda x: x.clone().set_(sines(2)))(sines(2, 3))
with differs("No rule is lacking: what had a tangent would show memory that has none."):
    tangents(lambda x: x.clone().set_(sines(3)), sines(3))
