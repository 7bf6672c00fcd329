"""Gaps in leaves: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs


# A leaf whose elements leave gaps: a window may reach elements that aren't its own.
def tolist_as_strided():
    b = torch.arange(6.0).as_strided((2, 2), (3, 2)).detach().requires_grad_()
    w = torch.tensor([1.0, 10.0, 100.0, 1000.0, 1e4, 1e5])
    return torch.autograd.grad((b.as_strided((6,), (1,)) * w).sum(), b)[0].tolist()

def tolist_as_strided_2():
    b = torch.arange(6.0).as_strided((2, 2), (3, 2)).detach().requires_grad_()
    w = torch.tensor([1.0, 10.0, 100.0, 1000.0, 1e4])
    return torch.autograd.grad((b.as_strided((5,), (1,), 1) * w).sum(), b)[0].tolist()

# A window onto the gaps of a base is written; so is one that reaches only its elements.
@differs("What went into a gap has no gradient; torch gives what its memory held there.")
def tolist_empty_strided():
    c = torch.empty_strided((2, 2), (3, 2)).copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    x = torch.arange(1.0, 7.0, requires_grad=True)
    _ = c.as_strided((6,), (1,)).copy_(x * 2)
    return [c.tolist(), torch.autograd.grad((c * torch.tensor([[1.0, 10.0],
        [100.0, 1000.0]])).sum(), x)[0].tolist()]

def tolist_empty_strided_2():
    x = torch.arange(1.0, 5.0).reshape(2, 2).requires_grad_()
    c = torch.empty_strided((2, 2), (3, 2)).copy_(x)
    _ = c.as_strided((2,), (1,), 2).copy_(torch.tensor([7.0, 8.0]))
    return [c.tolist(), torch.autograd.grad((c * torch.tensor([[1.0, 10.0],
        [100.0, 1000.0]])).sum(), x)[0].tolist()]

# What was left out is None in the saved attributes.
torch.nn.functional.layer_norm(torch.rand(2, 3, requires_grad=True), (3,)).grad_fn._saved_weight
torch.nn.functional.batch_norm(torch.rand(4, 3, requires_grad=True), None, None,
    training=True).grad_fn._saved_weight

# Reflections in a tensor whose last dimension isn't the fastest.
def reshape_numel():
    x = torch.arange(60.0).reshape(3, 4, 5).transpose(0, 2).detach().requires_grad_()
    y = torch.nn.functional.pad(x, (1, 1, 2, 1), mode="reflect")
    return torch.autograd.grad((y * torch.arange(float(y.numel())).reshape(y.shape)).sum(),
        x)[0].tolist()

def reshape_numel_2():
    x = torch.arange(48.0).reshape(2, 2, 3, 4).to(
        memory_format=torch.channels_last).requires_grad_()
    y = torch.nn.functional.pad(x, (1, 2, 1, 2), mode="replicate")
    return torch.autograd.grad((y * torch.arange(float(y.numel())).reshape(y.shape)).sum(),
        x)[0].tolist()

def reshape_numel_3():
    x = torch.arange(48.0).reshape(2, 2, 3, 4).transpose(2, 3).detach().requires_grad_()
    y = torch.nn.functional.pad(x, (1, 2, 1, 1), mode="circular")
    return torch.autograd.grad((y * torch.arange(float(y.numel())).reshape(y.shape)).sum(),
        x)[0].tolist()

# Booleans have no products.
torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3, dtype=torch.bool),
    torch.ones(1, 1, 2, 2, dtype=torch.bool))
torch.nn.functional.conv1d(torch.ones(1, 1, 3, dtype=torch.bool),
    torch.ones(1, 1, 2, dtype=torch.bool))

# No block at all, or fewer than none, in one direction or both.
torch.nn.functional.fold(torch.zeros(1, 4, 1), (1, 1), (2, 2))
torch.nn.functional.fold(torch.zeros(1, 9, 1), (1, 1), (3, 3))
torch.nn.functional.fold(torch.zeros(1, 4, 2), (1, 3), (2, 2))

# Each row's gradient is the same for any number of threads.
def sums_set_num_threads():
    def sums(n):
        torch.set_num_threads(n)
        t = torch.arange(4000.0).reshape(50, 80).requires_grad_()
        i = torch.arange(3000) * 7 % 50
        torch.nn.functional.embedding(i, t).mul(torch.arange(80.0)).sum().backward()
        torch.set_num_threads(2)
        return t.grad
    return torch.equal(sums(1), sums(4))
