"""Functions: calls of the Python layer (`autograd_cy`)."""

import math

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    iota,
    metadata,
    sines,
    with_warnings,
)

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
torch.is_conj(complex_sines(2)), torch.is_conj(complex_sines(2).conj())
torch.is_neg(3)
torch.is_neg(sines(2)), torch.is_neg(complex_sines(2).conj().imag)
torch.numel(3)
torch.numel(sines(2, 3))
str(torch.result_type(iota(2, dtype=torch.int64), 2.5)).rpartition(".")[2]
str(torch.result_type(3, iota(2, dtype=torch.uint8))).rpartition(".")[2]
str(torch.result_type(iota(2), sines())).rpartition(".")[2]
torch.zero_(3)
torch.zero_(sines(2))

# isclose
torch.isclose(3, sines(1))
torch.isclose(sines(1), 3)
torch.isclose(sines(1), iota(1))
torch.isclose(sines(1), sines(1), rtol=-1e-9)
torch.isclose(sines(1), sines(1), atol=-1e-9)
torch.isclose(sines(1), sines(1), rtol=0, atol=0)
torch.isclose(sines(1), sines(1), "a")
torch.isclose(sines(1), sines(1), equal_nan=1)
torch.isclose(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.5, 3.0]), rtol=0.0, atol=0.5)
torch.isclose(torch.tensor([10.0]), torch.tensor([12.5]), rtol=0.2, atol=0.0)
torch.isclose(torch.tensor([12.5]), torch.tensor([10.0]), rtol=0.2, atol=0.0)
torch.isclose(torch.tensor([math.nan, math.nan, 1.0]), torch.tensor([math.nan, 1.0, math.nan]),
    equal_nan=True)
torch.isclose(torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0]))
torch.isclose(torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0]), rtol=0, atol=0,
    equal_nan=True)
torch.isclose(torch.tensor([math.inf, -math.inf, math.inf, 1.0]),
    torch.tensor([math.inf, math.inf, 1.0, math.inf]), rtol=1.0)
torch.isclose(torch.tensor([1, 2, 300]), torch.tensor([1, 3, 301]), rtol=0.01, atol=0)
torch.isclose(torch.tensor([1, 2]), torch.tensor([1, 3]), rtol=0, atol=1)
torch.isclose(torch.tensor([1, 2]), torch.tensor([1, 2]), equal_nan=True)
torch.isclose(torch.tensor([1 + 1j, complex(math.nan, 1)]),
    torch.tensor([1 + 1.5j, complex(math.nan, 1)]), atol=0.5, rtol=0, equal_nan=True)
torch.isclose(torch.tensor([True, False]), torch.tensor([True, True]))
torch.isclose(torch.tensor([True, False]), torch.tensor([True, True]), equal_nan=True)
torch.isclose(sines(2, 1), sines(3))
torch.isclose(torch.tensor([1.0]), torch.tensor([-1.0]), rtol=2.0)
torch.isclose(torch.tensor([1.0]), torch.tensor([-0.9]), rtol=1.0)
torch.allclose(sines(2), sines(2) + 1e-9)
torch.allclose(sines(2), sines(2) + 1e-3)
torch.allclose(torch.tensor([math.nan]), torch.tensor([math.nan]))
torch.allclose(torch.tensor([math.nan]), torch.tensor([math.nan]), equal_nan=True)
torch.allclose(sines(2), 3)
torch.allclose(3, sines(2))
torch.allclose(sines(2), sines(2) + 0.25, atol=0.5)
torch.allclose(sines(2), sines(2) + 0.25, rtol=0.01)
torch.equal(sines(2), sines(2))
torch.equal(sines(2), sines(3))
torch.equal(sines(2), -sines(2))
torch.equal(sines(0), sines(0))
torch.equal(sines(0), sines(0, 2))
torch.equal(torch.tensor([math.nan]), torch.tensor([math.nan]))
torch.equal(sines(1), sines())
torch.equal(3, sines(2))
torch.equal(sines(2), 3)

# to
iota(2).to()
iota(2).to(torch.float64)
iota(2).to(float)
iota(2).to(int)
iota(2).to(bool)
iota(2).to(complex)
iota(2).to("cpu")
iota(2).to("cpu", torch.float64)
iota(2).to("cpu", torch.float64, False)
iota(2).to("cpu", torch.float64, False, True)
with differs("what is meant is clear"):
    iota(2).to("cpu", False)
iota(2).to(None, torch.float64)
iota(2).to(sines(1))
iota(2).to(sines(1), False, True)
iota(2).to(other=sines(1))
iota(2).to(sines(1), dtype=torch.float64)
iota(2).to(sines(1), device="cpu")
iota(2).to(torch.float64, dtype=torch.float64)
iota(2).to("cpu", device="cpu")
iota(2).to("cpu", torch.float64, dtype=torch.float64)
iota(2).to("cpu", dtype=torch.float64)
with differs("What is meant is clear."):
    iota(2).to(torch.float64, device="cpu")
iota(2).to(torch.float64, False, False, False)
iota(2).to(torch.float64, 1)
iota(2).to(torch.float64, "cpu")
with differs("a float is no dtype"):
    iota(2).to(3.5)
iota(2).to([])
iota(2).to(torch.float64, copy=1)
iota(2).to(torch.float64, non_blocking=1)
iota(2).to(copy=None)

def float32_copy():
    x = iota(2)
    return x.to(torch.float32) is x, x.to(torch.float32, copy=True) is x, x.to(torch.float32, False,
        True) is x, x.to("cpu") is x, x.to(x) is x, x.to(torch.float32, True) is x

def memory_format_contiguous_format():
    x = iota(1, 2, 2, 2)
    y = x.to(memory_format=torch.channels_last)
    return y, y is x, x.to(memory_format=torch.contiguous_format) is x, y.to(
        memory_format=torch.channels_last) is y, y.to(torch.float64)

def memory_format_contiguous_format_2():
    x = iota(1, 2, 2, 2).to(memory_format=torch.channels_last)
    return x.to(torch.float64, memory_format=torch.contiguous_format), x.to(copy=True), x.to(
        copy=True, memory_format=torch.contiguous_format)

iota(2).to(memory_format=3)
iota(2).to(memory_format=torch.channels_last)
[str(getattr(iota(2), k)().dtype).rpartition(".")[2]
    for k in "float double half bfloat16 int long short char byte bool cfloat cdouble".split()]

def float_double():
    x = iota(2)
    return x.float() is x, x.double() is x, x.float.__name__

iota(1, 2, 2, 2).double(memory_format=torch.channels_last)
iota(2).type_as(sines(1))
iota(2).type_as(3)
iota(2).type(torch.float64)
iota(2).type("torch.DoubleTensor")
iota(2).type("torch.LongTensor")
iota(2).type("torch.Tensor")
iota(2).type("torch.NoTensor")
iota(2).type("nothing.FloatTensor")
iota(2).type(torch.DoubleTensor)
iota(2).type(torch.Tensor)
iota(2).type(dict)
iota(2).type(3)
iota(2).type(None).rpartition(".")[2], sines(1).type().rpartition(".")[2]

def contiguous_type_as():
    x = iota(2)
    return x.cpu() is x, x.contiguous() is x, x.type(torch.float32) is x, x.type_as(x) is x

iota(2, 3).t().contiguous()
iota(1, 2, 2, 2).contiguous(memory_format=torch.channels_last)
iota(1, 2, 2, 2).to(memory_format=torch.channels_last).contiguous()
iota(1, 2, 2, 2).contiguous(memory_format=3)

def memory_format_contiguous_format_3():
    x = iota(1, 2, 2, 2).to(memory_format=torch.channels_last)
    return x.contiguous(memory_format=torch.channels_last) is x, x.contiguous(
        memory_format=torch.contiguous_format) is x

def real_imag():
    x = complex_sines(2)
    x.real = 1
    x.imag = torch.tensor([2.0, 3.0])
    return x, metadata(x.real), metadata(x.imag)

def real_tensor():
    x = sines(2)
    x.real = torch.tensor(3)
    return x

sines(2).imag

def imag_sines():
    x = sines(2)
    x.imag = 1
    return x

# transposes
with_warnings(lambda: sines(2, 3).T)
sines(2).T
sines(1, 2, 3).T
sines().T
sines(2, 3).mT
sines(1, 2, 3).mT
sines(2).mT
sines().mT
complex_sines(1, 2, 3).mH
complex_sines(2).mH
complex_sines(2, 2).H
complex_sines().H
complex_sines(2).H
complex_sines(1, 2, 2).H
sines(2, 2).H
[len(with_warnings(lambda: torch.polygamma(n, sines(2)))[0]) for n in (1, 2)]
torch.polygamma(0, sines(2) + 2)
torch.polygamma(1, sines(2) + 2)
torch.polygamma(-1, sines(2))
(sines(2) + 2).polygamma(2)
(sines(2) + 2).polygamma_(1)
sines(2).where(torch.tensor([True, False]), 5.0)
sines(2).where(torch.tensor([True, False]), sines(1))
torch.tensor([2.0, 4.0]).__rdiv__(8)

# range and what was removed
[with_warnings(torch.range, 1, 3)]
torch.range(1, 3)
torch.range(0, 1, 0.25)
torch.range(3, 1, -1)
torch.range(3, 1)
torch.range(1, 3, -1)
torch.range(1, 3, 0)
torch.range(1, 1)
torch.range(1, 1, -1)
torch.range(0, math.inf)
torch.range(-math.inf, 0)
torch.range(0, 2.9)
torch.range(1, 3, dtype=torch.int64)
metadata(torch.range(1, 3, requires_grad=True))
torch.symeig(sines(2, 2))
torch.solve(sines(2, 2), sines(2, 2))
sines(2).reinforce(1)
sines(2, 2).symeig()
sines(2, 2).solve(sines(2, 2))
with_warnings(lambda: sines(2, 3).resize(3, 2))
with differs("torch takes the tuple for one size"):
    with_warnings(lambda: sines(2, 3).resize((3, 2)))
with_warnings(lambda: sines(2, 3).resize_as(sines(6)))
sines(2, 3).resize(4)
sines(2, 3).t().resize(2, 3)
sines(2, 3).resize_as(sines(5))

# numbers before tensors
@differs("torch warns once in a process")
def with_warnings_sub():
    x = iota(2, 2)
    y = torch.ones(2, 2)
    return with_warnings(lambda: torch.add(x, 2, y)), with_warnings(lambda: x.add(2,
        y)), with_warnings(lambda: x.sub(2, y)), with_warnings(lambda: torch.sub(x, 2, y))

def add_sub():
    x = iota(2, 2)
    return x.add_(2, torch.ones(2, 2)), x.sub_(3, torch.ones(2, 2))

torch.addcmul(iota(2), 2, torch.ones(2), iota(2))
iota(2).addcmul(2, torch.ones(2), iota(2))
iota(2).addcmul_(2, torch.ones(2), iota(2))
torch.addcdiv(iota(2), 2, torch.ones(2), torch.ones(2))
iota(2).addcdiv(2, torch.ones(2), torch.ones(2))
torch.addmm(2, iota(2, 2), 3, torch.ones(2, 2), torch.ones(2, 2))
torch.addmm(2, iota(2, 2), torch.ones(2, 2), torch.ones(2, 2))
iota(2, 2).addmm(2, 3, torch.ones(2, 2), torch.ones(2, 2))
iota(2, 2).addmm(2, torch.ones(2, 2), torch.ones(2, 2))
iota(2, 2).addmm_(2, 3, torch.ones(2, 2), torch.ones(2, 2))
iota(2).addmv(2, 3, torch.ones(2, 2), torch.ones(2))
torch.addmv(2, iota(2), 3, torch.ones(2, 2), torch.ones(2))
torch.addr(2, iota(2, 2), 3, torch.ones(2), torch.ones(2))
iota(2, 2).addr(2, 3, torch.ones(2), torch.ones(2))
torch.addbmm(2, iota(2, 2), 3, torch.ones(1, 2, 2), torch.ones(1, 2, 2))
torch.baddbmm(2, iota(1, 2, 2), 3, torch.ones(1, 2, 2), torch.ones(1, 2, 2))

def empty_add():
    o = torch.empty(0)
    r = torch.add(iota(2), 2, torch.ones(2), out=o)
    return r is o, o

def empty_addmm():
    o = torch.empty(0)
    r = torch.addmm(2, iota(2, 2), 3, torch.ones(2, 2), torch.ones(2, 2), out=o)
    return r is o, o

torch.add(iota(2), torch.tensor(2.0), torch.ones(2))
torch.add(iota(2), np.float32(2), torch.ones(2))
torch.add(iota(2), torch.ones(1), torch.ones(2))
torch.add(iota(2), torch.tensor(2.0, requires_grad=True), torch.ones(2))

# a number that is scaled is another number
torch.add(iota(2), 2, 3)
torch.add(iota(2), "a", torch.ones(2))
torch.add(iota(2), 2, other=torch.ones(2))
torch.add(iota(2), alpha=2, other=torch.ones(2))
iota(2).mul(2, torch.ones(2))
torch.addmm(2, 3, torch.ones(2, 2), torch.ones(2, 2))
torch.addcmul(iota(2), 2, torch.ones(2))
torch.addcmul(iota(2), 2, torch.ones(2), "a")

# loops over elements
iota(3).apply_(lambda x: x * 2 + 1)
iota(2, 2).t().apply_(lambda x: x + 1)
iota(2, dtype=torch.int64).apply_(lambda x: x + 1)
iota(2).apply_(lambda x: "a")
iota(0).apply_(lambda x: 1)
iota().apply_(lambda x: 5)
iota(2).requires_grad_().apply_(lambda x: x)

def iota_apply():
    x = iota(3)
    r = error_name(x.apply_, lambda v: v + 1 if v < 2 else "a")
    return r

iota(3).map_(iota(3), lambda a, b: 10 * a + b)
iota(2, 2).map_(iota(2), lambda a, b: 10 * a + b)
iota(2).map_(3, lambda a, b: a)
iota(2).map_(sines(2), lambda a, b: a)
iota(2).map_(iota(2).requires_grad_(), lambda a, b: a)
iota(2).requires_grad_().map_(iota(2), lambda a, b: a)
iota(2).map_(iota(3), lambda a, b: a)

# unique
torch.unique(torch.tensor([3, 1, 3]))
torch.unique(torch.tensor([3, 1, 3]), return_inverse=True)
torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
torch.unique(torch.tensor([3, 1, 3]), True, True, True)
torch.unique(torch.tensor([[3, 1], [3, 1]]), dim=0)
[y.contiguous() for y in torch.unique(torch.tensor([[3, 1], [3, 1]]), dim=1, return_counts=True)]
torch.unique(torch.tensor(3), dim=0)
torch.tensor(3).unique()
torch.unique_consecutive(torch.tensor([3, 3, 1, 3]))
with differs("torch looks at keywords only, and gives nothing for what it was asked"):
    torch.unique_consecutive(torch.tensor([3, 3, 1, 3]), True)
    torch.unique_consecutive(torch.tensor([3, 3, 1, 3]), False, True)
torch.unique_consecutive(torch.tensor([3, 3, 1, 3]), return_counts=True, return_inverse=True)
torch.unique_consecutive(torch.tensor([[3, 3], [3, 3]]), dim=0)
torch.unique_consecutive(torch.tensor(3), dim=0)

# hooks of tensors
sines(2).register_hook(print)

def seen_remove():
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

def register_hook_backward_hooks():
    x = sines(2).requires_grad_()
    h, k = x.register_hook(lambda g: g * 2), x.register_hook(lambda g: g + 1)
    x.sum().backward()
    return x.grad, k.id - h.id, x._backward_hooks is None, len(x._backward_hooks)

def seen_tolist():
    x = sines(2).requires_grad_()
    seen = []
    h = x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    x.sum().backward()
    return seen

(sines(2).requires_grad_() * 2).register_post_accumulate_grad_hook(print)
sines(2).register_post_accumulate_grad_hook(print)

def backward_hooks_list():
    x = sines(2).requires_grad_()
    x._backward_hooks = {7: lambda g: g * 3}
    x.sum().backward()
    return x.grad, list(x._backward_hooks)

def backward_hooks_register_hook():
    x = sines(2).requires_grad_()
    h = x.register_hook(lambda g: g * 3)
    x._backward_hooks = None
    x.sum().backward()
    return x.grad

def backward_hooks_sines():
    x = sines(2)
    x._backward_hooks = None
    return x._backward_hooks

def grad_fn_requires_grad():
    x = sines(2).requires_grad_() * 2
    del x._grad_fn
    return x

def backward_hooks_sines_2():
    x = sines(2)
    del x._backward_hooks
    return x

(sines(2).requires_grad_() * 2)._grad_fn.name()

# rarer ways
torch.isclose(torch.tensor([1, 2]), torch.tensor([1, 3]), equal_nan=True)
torch.isclose(torch.tensor([True]), torch.tensor([True]), equal_nan=True)
iota(2).to("cpu", torch.float64, True), iota(2).to("cpu", None), iota(2).to("cpu", None, True)
iota(2).to("cpu", torch.float64, True, True, True)

def device_preserve_format():
    x = iota(1, 2, 2, 2)
    return x.to(memory_format=torch.preserve_format) is x, x.to(device="cpu") is x, x.to(
        dtype=torch.float32) is x, x.to(device="meta").device.type, x.to("meta").cpu is None

def backward_hooks_register_hook_2():
    x = sines(2).requires_grad_()
    h = x.register_hook(lambda g: g * 3)
    x._backward_hooks = {h.id + 50: lambda g: g * 5}
    x.sum().backward()
    return x.grad, len(x._backward_hooks)

def half_apply():
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
def says_addcdiv():
    def says(f, *args, **named):
        import warnings
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            f(*args, **named)
        return [str(x.message) for x in found]
    return (says(torch.add, iota(2), 2, torch.ones(2)), says(iota(2).add_, 2, torch.ones(2)),
        says(torch.add, iota(2), 2, torch.ones(2), out=torch.empty(2)),
        says(torch.addmm, 2, iota(2, 2), 3, torch.ones(2, 2), torch.ones(2, 2)),
        says(iota(2, 2).addmm, 2, torch.ones(2, 2), torch.ones(2, 2)),
        says(torch.addcdiv, iota(2), 2, torch.ones(2), torch.ones(2)))

@differs("The words are ours.")
def says_always():
    def says(x):
        import warnings
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            x.T
        return [str(w.message)[:40] for w in found]
    torch.set_warn_always(True)
    always = says(sines(2)), says(sines())
    torch.set_warn_always(False)
    found = (*always, says(sines(2)), says(sines()), says(sines(2, 2)), says(sines(1, 1, 1)))
    return found

@differs("The words are ours.")
def says_warnings():
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
