"""Functions: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, iota, metadata, sines, with_warnings

# functions of a tensor, and what is none
torch.is_tensor(3), torch.is_tensor(sines(1))
torch.is_floating_point(3)
torch.is_floating_point(iota(2))
torch.is_floating_point(iota(2, dtype=torch.int64))
torch.is_floating_point(complex_sines(2))
torch.is_complex("a")
torch.is_complex(complex_sines(2)), torch.is_complex(sines(2))
torch.is_inference(3)
torch.is_nonzero(3)
torch.is_nonzero(iota(2))
torch.is_nonzero(iota(1)), torch.is_nonzero(torch.ones(1, 1))
torch.is_conj(3)
torch.is_neg(3)
torch.numel(3)
torch.zero_(3)

# isclose
torch.isclose(3, sines(1))
torch.isclose(sines(1), iota(1))
torch.isclose(sines(1), sines(1), rtol=-1e-9)
torch.isclose(sines(1), sines(1), atol=-1e-9)
torch.isclose(sines(1), sines(1), "a")
torch.isclose(sines(1), sines(1), equal_nan=1)
torch.isclose(torch.tensor([math.nan, math.nan, 1.0]), torch.tensor([math.nan, 1.0, math.nan]),
    equal_nan=True)
torch.isclose(torch.tensor([1, 2]), torch.tensor([1, 2]), equal_nan=True)
torch.isclose(torch.tensor([True, False]), torch.tensor([True, True]), equal_nan=True)
torch.allclose(sines(2), 3)
torch.allclose(sines(2), sines(2) + 0.25, atol=0.5)
torch.allclose(sines(2), sines(2) + 0.25, rtol=0.01)
torch.equal(3, sines(2))

# to
iota(2).to("cpu", torch.float64)
iota(2).to("cpu", torch.float64, dtype=torch.float64)

def memory_format_contiguous_format():
    x = iota(1, 2, 2, 2)
    y = x.to(memory_format=torch.channels_last)
    return y, y is x, x.to(memory_format=torch.contiguous_format) is x, y.to(
        memory_format=torch.channels_last) is y, y.to(torch.float64)

iota(2).to(memory_format=3)
iota(2).to(memory_format=torch.channels_last)
iota(1, 2, 2, 2).double(memory_format=torch.channels_last)
iota(2).type_as(sines(1))
iota(2).type_as(3)
iota(2).type(torch.float64)
iota(2).type(dict)
sines(2).imag

def imag():
    x = sines(2)
    x.imag = 1
    return x

# transposes
with_warnings(lambda: sines(2, 3).T)
sines(1, 2, 3).T
sines(2, 3).mT
sines(2).mT
complex_sines(2, 2).H
[len(with_warnings(lambda: torch.polygamma(n, sines(2)))[0]) for n in (1, 2)]
torch.polygamma(1, sines(2) + 2)
(sines(2) + 2).polygamma(2)
(sines(2) + 2).polygamma_(1)
torch.tensor([2.0, 4.0]).__rdiv__(8)

# range and what was removed
[with_warnings(torch.range, 1, 3)]
torch.range(1, 1)
metadata(torch.range(1, 3, requires_grad=True))
sines(2, 2).symeig()
sines(2, 2).solve(sines(2, 2))
with_warnings(lambda: sines(2, 3).resize(3, 2))
with_warnings(lambda: sines(2, 3).resize_as(sines(6)))
sines(2, 3).resize(4)
sines(2, 3).t().resize(2, 3)
sines(2, 3).resize_as(sines(5))

# numbers before tensors
iota(2).addmv(2, 3, torch.ones(2, 2), torch.ones(2))
torch.addbmm(2, iota(2, 2), 3, torch.ones(1, 2, 2), torch.ones(1, 2, 2))
torch.baddbmm(2, iota(1, 2, 2), 3, torch.ones(1, 2, 2), torch.ones(1, 2, 2))

def empty_addmm():
    o = torch.empty(0)
    r = torch.addmm(2, iota(2, 2), 3, torch.ones(2, 2), torch.ones(2, 2), out=o)
    return r is o, o

# a number that is scaled is another number
torch.add(iota(2), "a", torch.ones(2))
iota(2).mul(2, torch.ones(2))
torch.addmm(2, 3, torch.ones(2, 2), torch.ones(2, 2))
torch.addcmul(iota(2), 2, torch.ones(2))
torch.addcmul(iota(2), 2, torch.ones(2), "a")

# loops over elements
iota(2).requires_grad_().apply_(lambda x: x)
iota(3).map_(iota(3), lambda a, b: 10 * a + b)
iota(2, 2).map_(iota(2), lambda a, b: 10 * a + b)
iota(2).map_(3, lambda a, b: a)
iota(2).map_(sines(2), lambda a, b: a)
iota(2).map_(iota(2).requires_grad_(), lambda a, b: a)
iota(2).map_(iota(3), lambda a, b: a)

# unique
torch.unique(torch.tensor([3, 1, 3]), return_inverse=True)
torch.unique(torch.tensor([3, 1, 3]), True, True, True)
torch.unique(torch.tensor([[3, 1], [3, 1]]), dim=0)
[y.contiguous() for y in torch.unique(torch.tensor([[3, 1], [3, 1]]), dim=1, return_counts=True)]
torch.unique(torch.tensor(3), dim=0)
torch.unique_consecutive(torch.tensor([[3, 3], [3, 3]]), dim=0)
torch.unique_consecutive(torch.tensor(3), dim=0)

# hooks of tensors
sines(2).register_hook(print)

def register_hook_remove():
    x = sines(2).requires_grad_()
    seen = []
    h = x.register_hook(lambda g: seen.append(1) or g * 2)
    x.sum().backward()
    h.remove()
    x.sum().backward()
    return x.grad, seen, h.remove()

def backward_register_hook():
    x = sines(2).requires_grad_()
    with x.register_hook(lambda g: g * 2):
        x.sum().backward()
    x.sum().backward()
    return x.grad

def register_hook_len():
    x = sines(2).requires_grad_()
    h, k = x.register_hook(lambda g: g * 2), x.register_hook(lambda g: g + 1)
    x.sum().backward()
    return x.grad, k.id - h.id, x._backward_hooks is None, len(x._backward_hooks)

def register_post_accumulate_grad_hook_tolist():
    x = sines(2).requires_grad_()
    seen = []
    h = x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    x.sum().backward()
    return seen

(sines(2).requires_grad_() * 2).register_post_accumulate_grad_hook(print)
sines(2).register_post_accumulate_grad_hook(print)

def grad_list():
    x = sines(2).requires_grad_()
    x._backward_hooks = {7: lambda g: g * 3}
    x.sum().backward()
    return x.grad, list(x._backward_hooks)

def grad_register_hook():
    x = sines(2).requires_grad_()
    h = x.register_hook(lambda g: g * 3)
    x._backward_hooks = None
    x.sum().backward()
    return x.grad

def requires_grad():
    x = sines(2).requires_grad_() * 2
    del x._grad_fn
    return x

def backward_hooks_sines():
    x = sines(2)
    del x._backward_hooks
    return x

# rarer ways
def register_hook_len_2():
    x = sines(2).requires_grad_()
    h = x.register_hook(lambda g: g * 3)
    x._backward_hooks = {h.id + 50: lambda g: g * 5}
    x.sum().backward()
    return x.grad, len(x._backward_hooks)

def apply_complex64():
    class Half:
        def __float__(self):
            return 0.5
    class Two:
        def __index__(self):
            return 2
    return iota(2).apply_(lambda x: Half()), iota(2,
        dtype=torch.int64).apply_(lambda x: Two()), iota(2,
        dtype=torch.complex64).apply_(lambda x: 1 + 2j), iota(2).apply_(lambda x: True)

@differs("The words are ours.")
def set_warn_always_warnings():
    torch.set_warn_always(True)
    def says(x):
        import warnings
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            x.T
        return len(found)
    found = says(sines(2)), says(sines(2)), says(sines(2, 2))
    torch.set_warn_always(False)
    return found
