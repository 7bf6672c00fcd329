"""Gaps in leaves: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch


# Reflections in a tensor whose last dimension isn't the fastest.
def reshape_numel():
    x = torch.arange(48.0).reshape(2, 2, 3, 4).to(
        memory_format=torch.channels_last).requires_grad_()
    y = torch.nn.functional.pad(x, (1, 2, 1, 2), mode="replicate")
    return torch.autograd.grad((y * torch.arange(float(y.numel())).reshape(y.shape)).sum(),
        x)[0].tolist()

def reshape_numel_2():
    x = torch.arange(48.0).reshape(2, 2, 3, 4).transpose(2, 3).detach().requires_grad_()
    y = torch.nn.functional.pad(x, (1, 2, 1, 1), mode="circular")
    return torch.autograd.grad((y * torch.arange(float(y.numel())).reshape(y.shape)).sum(),
        x)[0].tolist()

# Booleans have no products.
torch.nn.functional.conv1d(torch.ones(1, 1, 3, dtype=torch.bool),
    torch.ones(1, 1, 2, dtype=torch.bool))

# Each row's gradient is the same for any number of threads.
def set_num_threads_embedding():
    def sums(n):
        torch.set_num_threads(n)
        t = torch.arange(4000.0).reshape(50, 80).requires_grad_()
        i = torch.arange(3000) * 7 % 50
        torch.nn.functional.embedding(i, t).mul(torch.arange(80.0)).sum().backward()
        torch.set_num_threads(2)
        return t.grad
    return torch.equal(sums(1), sums(4))
