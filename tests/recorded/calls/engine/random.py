"""Random: calls of the graph and its engine (`ext/engine`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, event_names, iota, metadata, sines

# functions: where, of which dtype, within which bounds
torch.randn(2, dtype=torch.int64)
torch.rand_like(iota(2, dtype=torch.int64))
torch.randn_like(iota(2, dtype=torch.int64))
torch.randint(3, (2,), dtype=torch.complex64)
torch.rand_like(sines(2, 3).t()).stride()
torch.rand_like(sines(2, 3).t(), memory_format=torch.contiguous_format).stride()
[torch.randn_like(sines(2, 3).t()).stride(), torch.randint_like(sines(2, 3).t(), 9).stride()]
torch.rand_like([1.0, 2.0])
torch.randn_like(3)
torch.randint_like(3, 4)
torch.rand_like(torch.zeros(2, device="meta")).device.type
torch.rand_like(torch.zeros(2, device="meta"), device="cpu").device.type
[f(torch.zeros(2), requires_grad=True).requires_grad for f in (torch.rand_like, torch.randn_like)]

# the same seed, the same numbers, by all generators
torch.normal(torch.zeros(2), 1.0, generator=3)

# destinations
def randint_out():
    o = torch.zeros(4, dtype=torch.float64)
    return [torch.randint(7, 8, (4,), out=o), o._version]

def randperm_sort():
    o = torch.zeros(3, dtype=torch.int32)
    return [torch.randperm(3, out=o) is o, o.sort()[0], o._version]

def randperm_sort_2():
    o = torch.zeros(3, dtype=torch.int32)
    return [torch.randperm(5, out=o) is o, o.sort()[0]]

def normal_out():
    o = torch.zeros(2)
    return [torch.normal(3.0, 0.0, (2,), out=o) is o, o, o._version]

def normal_out_2():
    o = torch.zeros(4)[::2]
    return [torch.normal(3.0, 0.0, (2,), out=o) is o, o]

torch.rand(2, out=torch.zeros(2, dtype=torch.int64))
torch.rand(2, out=torch.zeros(2), device="meta")
torch.randperm(2, out=torch.zeros(2, dtype=torch.int64), device="meta")
torch.rand(2, out=torch.zeros(2), requires_grad=True).requires_grad
torch.rand(2, out=sines(2).requires_grad_()).requires_grad
torch.bernoulli(torch.zeros(2), out=sines(2).requires_grad_()).requires_grad
torch.normal(torch.zeros(2), 0.0, out=sines(2).requires_grad_()).requires_grad
torch.rand(3, out=torch.zeros(1).expand(3))
with differs("Torch leaves its last number in all places."):
    torch.randperm(3, out=torch.zeros(1, dtype=torch.int64).expand(3))

# whole numbers
torch.randint(1, 2, 3, (2,))
torch.randint(3)
torch.randint((2,))
torch.randint(3.0, (2,))
torch.randint(True, (2,))
torch.randint("a", (2,))
torch.randperm("a")
torch.randint_like(iota(3), 1)
torch.randint_like(iota(3), low=1)
torch.randint_like(iota(3), 1.5)
torch.randint_like(iota(3), 3, dtype=torch.complex64)

# permutations
[torch.randperm(0), torch.randperm(1), torch.randperm(5).sort()[0]]
torch.randperm(3.0)
torch.randperm(True)
torch.randperm(256, dtype=torch.uint8).sort()[0].sum()
torch.randperm(2050, dtype=torch.float16)
torch.randperm(2**63 - 1, device="cpu", dtype=torch.uint8)
torch.randperm(2**63, device="cpu", dtype=torch.uint8)

# normal
torch.normal(torch.tensor([1.0, 2.0])).shape
torch.normal(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0]))
torch.normal(torch.tensor([1.0, 2.0]), torch.zeros(3, 1))
torch.normal(torch.tensor([1.0, 2.0]), torch.zeros(3))
torch.normal(torch.tensor([1, 2]), 1.0)
torch.normal(0.0, 1.0)
torch.normal(torch.tensor([1.0]), 1.0, (2,))
torch.normal(torch.tensor([1.0]), torch.tensor([1.0]), size=(2,))
torch.normal(torch.tensor([1.0]), -1.0)
torch.normal(torch.tensor([1.0]), torch.tensor([math.nan]))
torch.normal(0.0, torch.tensor([1j]))
torch.normal(torch.tensor([1.0]), "a")
torch.normal(torch.tensor([1.0 + 2j]), 0.0)

# what is recorded of them
metadata(torch.normal(torch.tensor([1.0]).requires_grad_(), 0.0))
metadata(torch.normal(1.0, torch.tensor([1.0]).requires_grad_()))
metadata(torch.normal(torch.tensor([1.0]), torch.tensor([1.0]).requires_grad_()))

def next_functions_variable():
    a, b = sines(3).requires_grad_(), sines(3).abs().requires_grad_()
    y = torch.normal(a, b)
    return [torch.autograd.grad(y.sum(), (a, b)),
        [len(y.grad_fn.next_functions), y.grad_fn.next_functions[0][0].variable is a,
        y.grad_fn.next_functions[1][0].variable is b]]

def normal_abs():
    a = sines(2, 3).requires_grad_()
    return [torch.autograd.grad(torch.normal(a, 1.0).sum(), a),
        torch.autograd.grad(torch.normal(torch.zeros(2, 2, 3, dtype=torch.float64), a.abs()).sum(),
        a)]

def bernoulli_detach():
    a = sines(3).abs().requires_grad_()
    return [torch.autograd.grad(torch.bernoulli(a).sum(), a), metadata(torch.bernoulli(a)),
        metadata(torch.bernoulli(a.detach()))]

def bernoulli_normal():
    a = sines(3).abs().requires_grad_()
    with torch.no_grad():
        y, z = torch.bernoulli(a), torch.normal(a, a)
    return [metadata(y), metadata(z)]

def bernoulli_abs():
    a = sines(2, 3).requires_grad_()
    b = sines(3).abs().requires_grad_()
    y = (a * 2).bernoulli_(b)
    return torch.autograd.grad(y.sum(), (a, b))

sines(3).requires_grad_().uniform_()
sines(3).requires_grad_().normal_()
sines(3).requires_grad_().random_()
sines(3).requires_grad_().exponential_()
sines(3).requires_grad_().bernoulli_()
sines(1).expand(3).uniform_()
sines(1).expand(3).normal_()
sines(1).expand(3).random_()
sines(1).expand(3).bernoulli_(0.5)

# methods
torch.zeros(2).uniform_(to=1.0, **{"from": 1.0})
torch.zeros(2).uniform_(1, 2, 3)
torch.zeros(2).uniform_("a")
torch.zeros(3).normal_("a")
torch.zeros(3).random_(2, to=3)
torch.zeros(3).random_(to=1)
torch.zeros(3).random_(1, 2, 3)
torch.zeros(3).random_(True)
torch.zeros(3).random_(0, 1.5)
torch.zeros(3).random_(1, to=1)
torch.zeros(3, dtype=torch.complex64).random_()
torch.zeros(3).exponential_("a")
torch.zeros(3).bernoulli_("a")
torch.zeros(3).bernoulli_(None)
torch.bernoulli(torch.tensor([0.3, 0.3]), 1.0)
torch.bernoulli(torch.tensor([0.3, 0.3]), p=0)
torch.bernoulli(torch.tensor([0.5, 0.5]), 1.5)
torch.bernoulli(3)

# in vmaps
vmap(lambda x: torch.randperm(3))(torch.zeros(2))

# categories of each example
vmap(lambda p: torch.multinomial(p, 1), randomness="different")(torch.zeros(0, 3))
vmap(lambda p: torch.multinomial(p, 4, True), randomness="different")(torch.zeros(0, 3))
torch.multinomial(torch.zeros(0, 3), 2)
torch.multinomial(torch.zeros(0, 0), 2, True)
with differs("Torch loses the rows of no examples."):
    vmap(lambda p: torch.multinomial(p, 1), randomness="different")(torch.zeros(0, 2, 3))
vmap(lambda p: torch.multinomial(p, 1), randomness="same")(torch.zeros(0, 3))
vmap(lambda p: torch.multinomial(p, 1), randomness="different")(torch.zeros(3))
vmap(lambda p: torch.multinomial(p, 4), randomness="different")(torch.zeros(2, 3) + 1)
vmap(lambda p: torch.multinomial(p, 1), randomness="different")(torch.zeros(2, 3))

# forward mode: what is drawn does not move
torch.func.jvp(lambda x: (x * 2).uniform_(1, 1), (sines(3),), (sines(3),))
torch.func.jvp(lambda x: (x * 2).bernoulli_(1.0), (sines(3),), (sines(3),))

def jvp_normal():
    def f(x):
        y = x * 2
        y[1:].normal_(1, 0)
        return y
    return torch.func.jvp(f, (sines(3),), (sines(3),))

# events
def rand_like_randn_like():
    x = torch.zeros(2)
    return [event_names(f)[0] for f in (lambda: torch.rand(2), lambda: torch.randn(2),
        lambda: torch.rand_like(x), lambda: torch.randn_like(x), lambda: torch.randint(3, (2,)),
        lambda: torch.normal(0.0, 1.0, (2,)))]

[event_names(f)[1:][:1] for f in (lambda: torch.rand(2), lambda: torch.randn(2),
    lambda: torch.randint(2, (2,)), lambda: torch.normal(0.0, 1.0, (2,)))][:3]

def random_randint_like():
    x = torch.zeros(2)
    return [event_names(f)[0] for f in (x.uniform_, x.normal_, x.random_, x.exponential_,
        x.bernoulli_, lambda: torch.randint_like(x, 3), lambda: torch.randperm(2),
        lambda: torch.normal(x, 1.0), lambda: torch.bernoulli(x))]
