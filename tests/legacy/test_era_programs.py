"""Longer stories, as programs of 2017 told them: several rules at once."""

import gc
import math

import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Function, Variable
from autograd_cy.legacy.autograd.function import InplaceFunction


def same(a, b):
    return a.size() == b.size() and a.sub(b).abs().max() < 1e-5


def test_in_place_operations_among_others():
    x = Variable(torch.ones(5, 5), requires_grad=True)
    y = Variable(torch.ones(5, 5) * 4, requires_grad=True)
    ones = torch.ones(5, 5)

    z = x * y
    q = z + y
    w = z * y
    z.add_(2)
    q.backward(ones, retain_variables=True)
    with pytest.raises(RuntimeError):
        w.backward(ones)

    z = x * y
    q = z * y
    r = z + y
    w = z.add_(y)
    w.backward(ones, retain_variables=True)
    r.backward(ones, retain_variables=True)
    with pytest.raises(RuntimeError):
        q.backward(ones)

    x.grad.data.zero_()
    z = x / 2 + y / 8
    q = z * y
    r = z + y
    before = z._version
    w = z.exp_()
    assert z._version != before
    r.backward(ones, retain_variables=True)
    assert same(x.grad.data, ones / 2)
    w.backward(ones, retain_variables=True)
    assert same(x.grad.data, torch.Tensor(5, 5).fill_((1 + math.e) / 2))
    with pytest.raises(RuntimeError):
        q.backward(ones)

    leaf = Variable(torch.ones(5, 5), requires_grad=True)
    x = leaf.clone()
    x.add_(10)
    assert same(x.data, ones * 11)
    y = x + 2
    y.backward(ones)
    assert same(leaf.grad.data, ones)
    z = x * y
    x.add_(2)
    with pytest.raises(RuntimeError):
        z.backward(ones)


def test_an_input_that_is_returned_has_a_gradient_of_its_own():
    class Identity(Function):
        def forward(self, a, b):
            return a, a + b

        def backward(self, grad_a, grad_b):
            return grad_a + grad_b, grad_b

    x = Variable(torch.randn(5, 5), requires_grad=True)
    y = Variable(torch.randn(5, 5), requires_grad=True)
    q, p = Identity()(x, y)
    seen = []
    q.register_hook(lambda grad: seen.append(grad.data))
    (q + p + x).sum().backward()
    assert same(seen[0], torch.ones(5, 5))
    assert same(x.grad.data, torch.ones(5, 5) * 3) and same(y.grad.data, torch.ones(5, 5))


def test_a_leaf_that_is_changed_and_returned():
    class Inplace(InplaceFunction):
        def forward(self, a, b):
            self.mark_dirty(a)
            return a.add_(b), b + 2

        def backward(self, grad_a, grad_b):
            return grad_a, grad_a + grad_b

    x = Variable(torch.randn(5, 5))
    y = Variable(torch.randn(5, 5), requires_grad=True)
    fn = Inplace(True)
    q, p = fn(x, y)
    assert q is x and q.creator is fn and q.requires_grad and p.requires_grad
    q.sum().backward()
    assert same(y.grad.data, torch.ones(5, 5))


def test_parts_of_a_leaf_from_several_places():
    x = Variable(torch.randn(5, 5))
    y, z = (Variable(torch.randn(5), requires_grad=True) for _ in range(2))
    x[0] = y
    x[1] = 2 * z
    assert x.requires_grad and x.creator is not None
    x.sum().backward()
    assert same(y.grad.data, torch.ones(5)) and same(z.grad.data, torch.ones(5) * 2)


def test_outputs_without_derivative_among_others():
    class First(Function):
        def forward(self, x):
            out = torch.randn(x.size())
            self.mark_non_differentiable(out)
            return x, out

        def backward(self, grad, ignored):
            return grad

    class Second(Function):
        def forward(self, x, ignored):
            return x

        def backward(self, grad):
            return grad, None

    x = Variable(torch.randn(5), requires_grad=True)
    a, b = First()(x)
    b = b + 1
    assert a.requires_grad and not b.requires_grad
    c = Second()(a, b)
    c.backward(torch.ones(c.size()))
    assert same(x.grad.data, torch.ones(5))


def test_a_hook_of_a_function_that_is_registered_before_its_call():
    class NoGradient(Function):
        def forward(self, x, y):
            assert self.needs_input_grad == (True, False)
            return x, y

        def backward(self, grad_x, grad_y):
            return grad_x, None

    fn, seen = NoGradient(), []
    fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    x, y = Variable(torch.randn(5, 5), requires_grad=True), Variable(torch.randn(5, 5))
    sum(fn(x, y)).sum().backward()
    ((inputs, outputs),) = seen
    assert inputs[0] is not None and inputs[1] is None
    assert outputs[0] is not None and outputs[1] is not None


def test_samples_of_all_kinds_in_one_graph():
    x = Variable(torch.rand(2, 10), requires_grad=True)
    stddevs = Variable(torch.rand(2, 10) * 5 + 0.1, requires_grad=True)
    y = (x * 2).clamp(0, 1)
    y = y / y.sum(1).expand_as(y)
    multi, flat = y.multinomial(5), y[0].multinomial(5)
    bernoulli, norm, norm_std = y.bernoulli(), torch.normal(y), torch.normal(y, stddevs)
    z = multi * 2 + 4
    z = z + flat.unsqueeze(0).expand_as(multi)
    z = torch.cat([z, z], 1).float()
    z = z + bernoulli + norm + norm_std
    last = torch.normal(z, 4)
    z = last + 2
    assert not z.requires_grad
    rewards = [(multi, 2, 5), (flat, 5), (bernoulli, 2, 10), (norm, 2, 10), (norm_std, 2, 10)]
    for sample, *size in rewards:
        with pytest.raises(RuntimeError, match="reward"):
            z.backward(retain_variables=True)
        sample.reinforce(torch.randn(*size))
    last.reinforce(torch.randn(2, 10))
    for _ in range(5):
        z.backward(retain_variables=True)
    assert x.grad.data.abs().sum() > 0 and stddevs.grad.data.abs().sum() > 0


def test_samples_of_samples():
    x = Variable(torch.rand(10).clamp_(0.1, 0.9), requires_grad=True)
    b = x.bernoulli()
    n1 = torch.normal(b, x)
    n2 = torch.normal(n1, 2)
    for sample in (b, n1, n2):
        sample.reinforce(torch.randn(10))
    n2.backward()
    assert x.grad.data.abs().sum() > 0


def test_collecting_while_graphs_are_destroyed():
    class CollectOnDelete(Function):
        def __del__(self):
            gc.collect()

    for _ in range(10):
        Variable(torch.randn(10, 10), creator=CollectOnDelete())


def test_a_loop_of_training_steps():
    torch.manual_seed(1)
    data, target = torch.randn(64, 3), torch.Tensor(64, 1)
    torch.mm(data, torch.Tensor([[1], [-2], [3]]), out=target)
    w, b = (Variable(torch.zeros(*s), requires_grad=True) for s in ((3, 1), (1, 1)))
    for _ in range(200):
        out = Variable(data).mm(w) + b.expand(64, 1)
        loss = ((out - Variable(target)) ** 2).mean()
        for p in (w, b):
            if p.grad is not None:
                p.grad.data.zero_()
        loss.backward()
        for p in (w, b):
            p.data.add_(-0.1, p.grad.data)
    assert loss.data[0] < 1e-4
    assert w.data.sub(torch.Tensor([[1], [-2], [3]])).abs().max() < 0.05
    volatile = Variable(data, volatile=True).mm(w)
    assert volatile.volatile and volatile.creator is None
