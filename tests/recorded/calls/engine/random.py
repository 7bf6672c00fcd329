"""Random: calls of the graph and its engine (`ext/engine`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, error_name, event_names, iota, metadata, sines

# functions: where, of which dtype, within which bounds
torch.rand(2, 3).shape
torch.rand((2, 3)).shape
torch.rand(size=(4,)).shape
torch.rand(()).shape
torch.rand()
[x := torch.rand(1000), bool(x.min() < 0.1), bool(x.min() >= 0), bool(x.max() > 0.9),
    bool(x.max() < 1)][1:]
[x := torch.randn(4000), bool(x.mean().abs() < 0.1), bool((x.std() - 1).abs() < 0.1)][1:]
[x := torch.rand_like(torch.zeros(1000)), bool(x.min() < 0.1), bool(x.min() >= 0),
    bool(x.max() > 0.9), bool(x.max() < 1)][1:]
[x := torch.randn_like(torch.zeros(4000)), bool(x.mean().abs() < 0.1),
    bool((x.std() - 1).abs() < 0.1)][1:]
torch.rand(2, dtype=torch.float64).dtype
torch.randn(2, dtype=torch.float16).dtype
torch.randn(2, dtype=torch.complex64).dtype
torch.rand(2, dtype=torch.int64)
torch.randn(2, dtype=torch.int64)
torch.rand_like(iota(2, dtype=torch.int64))
torch.randn_like(iota(2, dtype=torch.int64))
torch.randint(3, (2,), dtype=torch.complex64)
torch.rand_like(sines(2, 3)).dtype
torch.rand_like(sines(2, 3), dtype=torch.float32).dtype
torch.randn_like(iota(2, dtype=torch.int64), dtype=torch.float32).dtype
torch.rand_like(sines(2, 3).t()).stride()
torch.rand_like(sines(2, 3).t(), memory_format=torch.contiguous_format).stride()
[torch.randn_like(sines(2, 3).t()).stride(), torch.randint_like(sines(2, 3).t(), 9).stride()]
torch.rand_like([1.0, 2.0])
torch.randn_like(3)
torch.randint_like(3, 4)
torch.rand(2, device="meta").device.type
torch.randn_like(torch.zeros(2), device="meta").device.type
torch.rand_like(torch.zeros(2, device="meta")).device.type
torch.rand_like(torch.zeros(2, device="meta"), device="cpu").device.type
[torch.randint(5, (2,), device="meta").device.type, torch.randperm(4, device="meta").device.type]
[f(2, requires_grad=True).requires_grad for f in (torch.rand, torch.randn)]
[f(torch.zeros(2), requires_grad=True).requires_grad for f in (torch.rand_like, torch.randn_like)]
[f(2).requires_grad for f in (torch.rand, torch.randn)]
torch.randint(3, (2,), requires_grad=True)
torch.randint_like(iota(2, dtype=torch.int64), 3, requires_grad=True)
torch.randint(3, (2,), dtype=torch.float32, requires_grad=True).requires_grad
torch.randint_like(iota(2), 3, requires_grad=True).requires_grad
torch.randperm(3, requires_grad=True)
torch.randperm(3, dtype=torch.float32, requires_grad=True).requires_grad
torch.normal(0.0, 1.0, (2,), requires_grad=True).requires_grad

# the same seed, the same numbers, by all generators
def twice_randn():
    def twice(f):
        torch.manual_seed(3)
        a = f()
        torch.manual_seed(3)
        b, c = f(), f()
        return [bool((a == b).all()), bool((a == c).all())]
    return [twice(f) for f in (lambda: torch.rand(9), lambda: torch.randn(9),
        lambda: torch.randint(2**40, (9,)), lambda: torch.randperm(99),
        lambda: torch.normal(0.0, 1.0, (9,)), lambda: torch.bernoulli(torch.zeros(99) + 0.5))]

def twice(f):
    a = f(torch.Generator().manual_seed(5))
    torch.manual_seed(4)
    b = f(torch.Generator().manual_seed(5))
    return bool((a == b).all())

[twice(f) for f in (lambda g: torch.rand(9, generator=g), lambda g: torch.randn(9, generator=g),
    lambda g: torch.randint(2**40, (9,), generator=g), lambda g: torch.randperm(99, generator=g),
    lambda g: torch.normal(0.0, 1.0, (9,), generator=g),
    lambda g: torch.normal(torch.zeros(9), 1.0, generator=g),
    lambda g: torch.normal(torch.zeros(9), torch.ones(9), generator=g),
    lambda g: torch.bernoulli(torch.zeros(99) + 0.5, generator=g),
    lambda g: torch.bernoulli(torch.zeros(99), 0.5, generator=g),)]
[twice(f) for f in (lambda g: torch.zeros(9).uniform_(generator=g),
    lambda g: torch.zeros(9).normal_(generator=g), lambda g: torch.zeros(9).random_(generator=g),
    lambda g: torch.zeros(9).exponential_(generator=g),
    lambda g: torch.zeros(99).bernoulli_(generator=g),
    lambda g: torch.zeros(99).bernoulli_(torch.zeros(99) + 0.5, generator=g))]
torch.rand(2, generator=3)
torch.randperm(2, generator=3)
torch.bernoulli(torch.zeros(2), generator=3)
torch.normal(torch.zeros(2), 1.0, generator=3)
torch.normal(0.0, 1.0, (2,), generator=3)

# destinations
def rand_bool():
    o = torch.empty(0)
    r = torch.rand(2, 3, out=o)
    return [r is o, o.shape, o._version, bool(o.min() >= 0), bool(o.max() <= 1)]

def randn_bool():
    o = torch.zeros(4, dtype=torch.float64)
    r = torch.randn(4, out=o)
    return [r is o, r.dtype, o._version, bool((r != 0).all())]

def version_randint():
    o = torch.zeros(4, dtype=torch.float64)
    return [torch.randint(7, 8, (4,), out=o), o._version]

def randperm_sort():
    o = torch.zeros(3, dtype=torch.int32)
    return [torch.randperm(3, out=o) is o, o.sort()[0], o._version]

def randperm_sort_2():
    o = torch.zeros(3, dtype=torch.int32)
    return [torch.randperm(5, out=o) is o, o.sort()[0]]

def version_normal():
    o = torch.zeros(2)
    return [torch.normal(3.0, 0.0, (2,), out=o) is o, o, o._version]

def version_normal_2():
    o = torch.zeros(2, dtype=torch.float64)
    return [torch.normal(torch.tensor([3.0, 4.0]), 0.0, out=o) is o, o, o._version]

def version_normal_3():
    o = torch.zeros(2, 2)
    return [torch.normal(torch.tensor([3.0, 4.0]), torch.zeros(2, 1), out=o) is o, o, o._version]

def version_bernoulli():
    o = torch.zeros(2, dtype=torch.float64)
    return [torch.bernoulli(torch.tensor([1.0, 0.0]), out=o) is o, o, o._version]

def int32_bernoulli():
    o = torch.zeros(2, dtype=torch.int32)
    return [torch.bernoulli(torch.tensor([1.0, 0.0]), out=o) is o, o, o._version]

def normal_out():
    o = torch.zeros(4)[::2]
    return [torch.normal(3.0, 0.0, (2,), out=o) is o, o]

torch.rand(2, out=torch.zeros(2), dtype=torch.float64)
torch.randn(2, out=torch.zeros(2), dtype=torch.float64)
torch.randint(3, (2,), out=torch.zeros(2), dtype=torch.int64)
torch.randperm(3, out=torch.zeros(3), dtype=torch.int64)
torch.normal(0.0, 1.0, (2,), out=torch.zeros(2), dtype=torch.float64)
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
torch.randint(5, 6, (3,))
torch.randint(1, (3,))
torch.randint(4, high=5, size=(3,))
torch.randint(high=5, low=4, size=(3,))
torch.randint(high=1, size=(3,))
torch.randint(low=0, high=1, size=[2])
torch.randint(-3, -2, (2,))
torch.randint(5, 6, size=(3,))
torch.randint(3, size=(2,), low=2)
torch.randint(1, 2, (2,), low=0)
torch.randint(1, 2, (2,), high=3)
torch.randint(1, 2, 3, (2,))
torch.randint(1, (2,), low=0, high=3)
torch.randint(3)
torch.randint(3, 4)
torch.randint(3, 4, 5)
torch.randint(size=(2,))
torch.randint((2,))
torch.randint(low=1, size=(2,))
torch.randint(3.0, (2,))
torch.randint(True, (2,))
torch.randint(1.5, 3, (2,))
torch.randint("a", (2,))
torch.randperm("a")
torch.randint(3, 3, (2,))
torch.randint(4, 3, (2,))
torch.randint(0, (2,))
torch.randint(2**63, (0,)).shape
torch.randint(2**63 + 1, (2,))
torch.randint(2**63, 2**63, (2,))
torch.randint(-(2**63) - 1, 3, (2,))
torch.randint(-(2**63), 1 - 2**63, (2,))
torch.randint(2**63 - 1, 2**63, (2,))
torch.randint(255, 256, (2,), dtype=torch.uint8)
torch.randint(255, 257, (2,), dtype=torch.uint8)
torch.randint(-1, 3, (2,), dtype=torch.uint8)
torch.randint(1, 2, (2,), dtype=torch.bool)
torch.randint(0, 3, (2,), dtype=torch.bool)
torch.randint(2, 3, (2,), dtype=torch.float16)
[torch.randint(9, (2,)).dtype, torch.randint(9, (2,), dtype=torch.float64).dtype]
torch.randint_like(iota(3), 7, 8)
torch.randint_like(iota(3), 1)
torch.randint_like(iota(3), high=1)
torch.randint_like(iota(3), 7, high=8)
torch.randint_like(iota(3), low=7, high=8)
torch.randint_like(iota(3), 8, low=7)
torch.randint_like(iota(3, dtype=torch.int64), 7, 8)
torch.randint_like(iota(3), 7, 8, dtype=torch.int32)
torch.randint_like(iota(3), 7, 8, high=9)
torch.randint_like(iota(3), 7, 8, low=7)
torch.randint_like(iota(3), 7, low=7, high=9)
torch.randint_like(iota(3), 7, 8, 9)
torch.randint_like(iota(3))
torch.randint_like(iota(3), low=1)
torch.randint_like(iota(3), 1.5)
torch.randint_like(iota(3), 3, dtype=torch.complex64)
torch.randint_like(iota(3), 2, 4, 3)
torch.randint(2, 4, (3,), low=1)

# permutations
[torch.randperm(0), torch.randperm(1), torch.randperm(5).sort()[0]]
torch.randperm(3).dtype
torch.randperm(3, dtype=torch.float32).dtype
torch.randperm(3, dtype=torch.uint8).dtype
torch.randperm(-1)
torch.randperm(3.0)
torch.randperm(True)
torch.randperm(2**64)
torch.randperm(256, dtype=torch.uint8).sort()[0].sum()
torch.randperm(257, dtype=torch.uint8)
torch.randperm(2049, dtype=torch.float16).shape
torch.randperm(2050, dtype=torch.float16)
torch.randperm(3, dtype=torch.complex64)
torch.randperm(3, dtype=torch.bool)
torch.randperm(1, dtype=torch.complex64)
torch.randperm(2**63 - 1, device="cpu", dtype=torch.uint8)
torch.randperm(2**63, device="cpu", dtype=torch.uint8)

# normal
torch.normal(2.0, 0.0, (3,))
torch.normal(2, 0, (3,))
torch.normal(mean=2.0, std=0.0, size=(3,))
torch.normal(torch.tensor([1.0, 2.0]), 0.0)
torch.normal(torch.tensor([1.0, 2.0])).shape
torch.normal(5.0, torch.tensor([0.0, 0.0]))
torch.normal(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0]))
torch.normal(torch.tensor([1.0, 2.0]), torch.zeros(3, 1))
torch.normal(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0], dtype=torch.float64))
torch.normal(torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([0.0, 0.0]))
torch.normal(torch.tensor([1.0, 2.0]), torch.zeros(3))
torch.normal(torch.tensor([1, 2]), 1.0)
torch.normal(0.0, torch.tensor([1, 2]))
torch.normal(0.0, 1.0)
torch.normal(torch.tensor([1.0]), 1.0, (2,))
torch.normal(torch.tensor([1.0]), torch.tensor([1.0]), size=(2,))
torch.normal(torch.tensor([1.0]), -1.0)
torch.normal(torch.tensor([1.0]), torch.tensor([0.5, -1.0]))
torch.normal(torch.tensor([1.0]), torch.tensor([math.nan]))
torch.normal(0.0, -1.0, (2,))
torch.normal(torch.tensor([1.0]), torch.tensor([1j]))
torch.normal(0.0, torch.tensor([1j]))
torch.normal("a", 1.0, (2,))
torch.normal("a", torch.tensor([1.0]))
torch.normal(torch.tensor([1.0]), "a")
[x := torch.normal(3.0, 2.0, (4000,)), bool((x.mean() - 3).abs() < 0.2),
    bool((x.std() - 2).abs() < 0.2)][1:]
[x := torch.normal(torch.zeros(4000) + 3, 2.0), bool((x.mean() - 3).abs() < 0.2),
    bool((x.std() - 2).abs() < 0.2)][1:]
[x := torch.normal(3.0, torch.zeros(4000) + 2), bool((x.mean() - 3).abs() < 0.2),
    bool((x.std() - 2).abs() < 0.2)][1:]
[x := torch.normal(torch.zeros(4000) + 3, torch.zeros(4000) + 2), bool((x.mean() - 3).abs() < 0.2),
    bool((x.std() - 2).abs() < 0.2)][1:]
torch.normal(torch.zeros(2, device="meta"), 1.0).device.type
torch.normal(torch.zeros(2, device="meta"), torch.zeros(2, device="meta")).device.type
torch.normal(1.0, torch.zeros(2, device="meta")).device.type
torch.normal(0.0, 1.0, (2,), dtype=torch.float64).dtype
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

def next_functions_variable_2():
    a = sines(3).abs().requires_grad_()
    y = torch.normal(a.detach(), a)
    return [y.grad_fn.next_functions[0], y.grad_fn.next_functions[1][0].variable is a]

def next_functions_variable_3():
    a = sines(3).abs().requires_grad_()
    b = sines(3).abs().requires_grad_()
    y = (b * 2).bernoulli_(a)
    return [metadata(y), torch.autograd.grad(y.sum(), (a, b)),
        [len(y.grad_fn.next_functions), y.grad_fn.next_functions[0][0] is not None,
        y.grad_fn.next_functions[1][0].variable is a]]

def bernoulli_next_functions():
    a = sines(3).abs().requires_grad_()
    y = torch.zeros(3, dtype=torch.float64).bernoulli_(a)
    return [metadata(y), torch.autograd.grad(y.sum(), a), y.grad_fn.next_functions[0]]

def bernoulli_abs():
    a = sines(2, 3).requires_grad_()
    b = sines(3).abs().requires_grad_()
    y = (a * 2).bernoulli_(b)
    return torch.autograd.grad(y.sum(), (a, b))

def filled_bernoulli():
    b = sines(3).requires_grad_()
    def filled(f):
        y = b * 2
        r = f(y)
        return metadata(y), r is y, torch.autograd.grad(y.sum(), b)
    return [filled(f) for f in (lambda y: y.uniform_(), lambda y: y.normal_(),
        lambda y: y.random_(), lambda y: y.exponential_(), lambda y: y.bernoulli_(0.5),
        lambda y: y.bernoulli_(torch.zeros(3)))]

def no_grad_uniform():
    b = sines(3).requires_grad_()
    with torch.no_grad():
        b.uniform_(0.0, 0.0)
    return [metadata(b), b]

def uniform_metadata():
    y = sines(3)
    y.uniform_(2.0, 2.0)
    return [metadata(y), y]

def uniform_metadata_2():
    y = sines(4).requires_grad_() * 2
    z = y[1:3]
    z.uniform_(2.0, 2.0)
    return [metadata(z), metadata(y), z.sum()]

sines(3).requires_grad_().uniform_()
sines(3).requires_grad_().normal_()
sines(3).requires_grad_().random_()
sines(3).requires_grad_().exponential_()
sines(3).requires_grad_().bernoulli_()
sines(1).expand(3).uniform_()
sines(1).expand(3).normal_()
sines(1).expand(3).random_()
sines(1).expand(3).bernoulli_(0.5)

def get_state_exponential():
    y = sines(1).expand(3)
    g = torch.Generator().manual_seed(1)
    state = g.get_state()
    return [error_name(lambda: y.uniform_(generator=g)),
        error_name(lambda: y.exponential_(generator=g)), y._version,
        bool((g.get_state() == state).all())]

# methods
torch.zeros(2).uniform_(2, 2)
torch.zeros(2).uniform_(to=1.0, **{"from": 1.0})
[x := torch.zeros(1000).uniform_(-3, -1), bool(x.min() < -2.9), bool(x.min() >= -3),
    bool(x.max() > -1.1), bool(x.max() <= -1)][1:]
[x := torch.zeros(1000).uniform_(), bool(x.min() < 0.1), bool(x.min() >= 0), bool(x.max() > 0.9),
    bool(x.max() <= 1)][1:]
[x := torch.zeros(1000).uniform_(to=2), bool(x.min() < 0.2), bool(x.min() >= 0),
    bool(x.max() > 1.8), bool(x.max() <= 2)][1:]
[x := torch.zeros(1000).uniform_(0.5), bool(x.min() < 0.6), bool(x.min() >= 0.5),
    bool(x.max() > 0.9), bool(x.max() <= 1)][1:]
[x := torch.zeros(1000).uniform_(**{"from": 0.5}), bool(x.min() < 0.6), bool(x.min() >= 0.5)][1:]
torch.zeros(2).uniform_(2, 1)
torch.zeros(2).uniform_(1, 2, 3)
torch.zeros(2).uniform_(1, 2, to=3)
torch.zeros(2).uniform_(1, **{"from": 2})
torch.zeros(2).uniform_(high=3)
torch.zeros(2).uniform_("a")
torch.zeros(2).uniform_(0, "a")
torch.zeros(2, dtype=torch.int64).uniform_()

def uniform_bernoulli():
    x = torch.zeros(2)
    return [error_name(lambda: x.uniform_(2, 1)), error_name(lambda: x.bernoulli_(2.0)), x._version]

torch.zeros(3).normal_(2, 0)
torch.zeros(3).normal_(mean=2, std=0)
torch.zeros(3).normal_(std=0)
torch.zeros(3).normal_(0, -1)
torch.zeros(3).normal_("a")
torch.zeros(3).normal_(0, "a")
torch.zeros(3, dtype=torch.int64).normal_()
[x := torch.zeros(4000).normal_(), bool(x.mean().abs() < 0.1), bool((x.std() - 1).abs() < 0.1)][1:]
torch.zeros(3).random_(1)
torch.zeros(3).random_(2, 3)
torch.zeros(3).random_(2, to=3)
torch.zeros(3).random_(to=1)
torch.zeros(3).random_(to=6, **{"from": 5})
torch.zeros(3).random_(5, 5)
torch.zeros(3).random_(1, 2, 3)
torch.zeros(3).random_(1.5)
torch.zeros(3).random_(True)
torch.zeros(3).random_(0, 1.5)
torch.zeros(3).random_(1, to=1)
torch.zeros(3, dtype=torch.complex64).random_()
torch.zeros(3, dtype=torch.uint8).random_(255, 256)
torch.zeros(3, dtype=torch.uint8).random_(255, 257)
[x := torch.zeros(2000, dtype=torch.uint8).random_(), bool(x.min() < 8), bool(x.max() > 247)][1:]
[x := torch.zeros(2000, dtype=torch.int8).random_(), bool(x.min() < 8), bool(x.min() >= 0),
    bool(x.max() > 119)][1:]
[x := torch.zeros(500, dtype=torch.bool).random_(), bool(x.any()), bool(x.all())][1:]
[x := torch.zeros(2000, dtype=torch.float16).random_(), bool(x.min() >= 0), bool(x.max() > 2000),
    bool(x.max() <= 2048)][1:]
[x := torch.zeros(1000).random_(7), bool(x.min() == 0), bool(x.max() == 6)][1:]
[x := torch.zeros(2000, dtype=torch.uint8).random_(250, None), bool(x.min() == 250),
    bool(x.max() == 255)][1:]
[x := torch.zeros(1000).exponential_(), bool(x.min() > 0), bool((x.mean() - 1).abs() < 0.2)][1:]
[x := torch.zeros(1000).exponential_(4.0), bool(x.min() > 0),
    bool((x.mean() - 0.25).abs() < 0.05)][1:]
[x := torch.zeros(1000).exponential_(lambd=4.0), bool((x.mean() - 0.25).abs() < 0.05)][1:]
torch.zeros(3).exponential_(0.0)
torch.zeros(3).exponential_(-1.0)
torch.zeros(3).exponential_("a")
torch.zeros(3, dtype=torch.int64).exponential_()
[x := torch.zeros(1000).bernoulli_(), bool((x.mean() - 0.5).abs() < 0.1)][1:]
[x := torch.zeros(1000).bernoulli_(p=0.9), bool((x.mean() - 0.9).abs() < 0.1)][1:]
torch.zeros(3).bernoulli_(1)
torch.zeros(3).bernoulli_(torch.tensor([0.0, 1.0, 0.0]))
torch.zeros(2, 3).bernoulli_(torch.tensor([0.0, 1.0, 0.0]))
torch.zeros(3, dtype=torch.int64).bernoulli_(1.0)
torch.zeros(3).bernoulli_(1.5)
torch.zeros(3).bernoulli_(-0.5)
torch.zeros(3).bernoulli_(torch.tensor([0.0, 1.5, 0.0]))
torch.zeros(3).bernoulli_(torch.tensor([1, 0, 1]))
torch.zeros(3).bernoulli_("a")
torch.zeros(3).bernoulli_(None)
torch.bernoulli(torch.tensor([0.0, 1.0]))
torch.bernoulli(torch.tensor([0.3, 0.3]), 1.0)
torch.bernoulli(torch.tensor([0.3, 0.3]), p=0)
torch.tensor([0.3, 0.3]).bernoulli(1.0)
torch.tensor([0.0, 1.0]).bernoulli()
torch.tensor([5, 6]).bernoulli(1.0)
torch.bernoulli(torch.tensor([0, 1]))
torch.bernoulli(torch.tensor([0.5, 1.5]))
torch.bernoulli(torch.tensor([0.5, 0.5]), 1.5)
torch.bernoulli(sines(2, 3).abs().t()).stride()
torch.bernoulli(sines(2, 3).t(), 0.5).stride()
sines(2, 3).t().bernoulli(0.5).stride()
torch.zeros(3).random_(1, **{"from": 1})
torch.zeros(3).random_(2, None).shape
torch.bernoulli(3)

# in vmaps
vmap(lambda x: torch.rand(3))(torch.zeros(2))
vmap(lambda x: torch.zeros(3).uniform_())(torch.zeros(2))
vmap(lambda x: torch.randperm(3))(torch.zeros(2))
vmap(lambda x: torch.normal(0.0, 1.0, (2,)))(torch.zeros(2))

def rows_randn():
    def rows(f, randomness):
        y = vmap(f, randomness=randomness)(torch.zeros(2))
        return y.shape, y.dtype, bool((y[0] == y[1]).all())
    return [[rows(f, r) for r in ("same", "different")]
        for f in (lambda x: torch.rand(9), lambda x: torch.rand(size=(9,), dtype=torch.float64),
        lambda x: torch.randn(9), lambda x: torch.randn(9, dtype=torch.float64),
        lambda x: torch.randint(2**40, (9,)), lambda x: torch.randint(low=1, high=2**40, size=(9,)),
        lambda x: torch.randperm(99), lambda x: torch.randperm(99, dtype=torch.float32),
        lambda x: torch.normal(0.0, 1.0, (9,)), lambda x: torch.normal(torch.zeros(9), 1.0),
        lambda x: torch.bernoulli(torch.zeros(99) + 0.5),)]

def rows_randint_like():
    def rows(f, randomness):
        y = vmap(f, randomness=randomness)(torch.zeros(2, 99))
        return y.shape, y.dtype, bool((y[0] == y[1]).all())
    return [[error_name(rows, f, r) or rows(f, r) for r in ("same", "different")]
        for f in (torch.rand_like, torch.randn_like,
        lambda x: torch.rand_like(x, dtype=torch.float64), lambda x: torch.randint_like(x, 2**20),
        lambda x: torch.randint_like(x, 1, 2**20), lambda x: torch.bernoulli(x + 0.5),
        lambda x: x.clone().bernoulli_(), lambda x: x.clone().uniform_(),
        lambda x: x.clone().normal_(), lambda x: x.clone().random_(),
        lambda x: x.clone().exponential_(), lambda x: x.clone().uniform_(1, 2),
        lambda x: x.clone().random_(5, 2**20))]

vmap(lambda x: torch.randint_like(x, low=7, high=8), randomness="different")(torch.zeros(2, 3))
vmap(lambda x: torch.randint(low=7, high=8, size=(2,)), randomness="different")(torch.zeros(2))
vmap(lambda x: x.clone().uniform_(2, 2), randomness="different")(torch.zeros(2, 2))
vmap(lambda x: x.clone().uniform_(to=2, **{"from": 2}), randomness="same")(torch.zeros(2, 2))
vmap(lambda x: x.clone().normal_(2, 0), randomness="different")(torch.zeros(2, 2))
vmap(lambda x: torch.normal(3.0, 0.0, (2,)), randomness="different")(torch.zeros(2, 2))
vmap(lambda x: x.clone().bernoulli_(1.0), randomness="different")(torch.zeros(2, 2))
vmap(lambda x: x.clone().random_(to=6, **{"from": 5}), randomness="same")(torch.zeros(2, 2))

# categories of each example
def chosen_randomness():
    chosen = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    return [vmap(lambda p: torch.multinomial(p, 1), randomness="different")(chosen),
        vmap(lambda p: p.multinomial(3, replacement=True), in_dims=1,
        randomness="different")(chosen.t()), vmap(lambda p: torch.multinomial(p, 1),
        randomness="different")(chosen.reshape(2, 1, 3)),
        vmap(vmap(lambda p: torch.multinomial(p, 1), randomness="different"),
        randomness="different")(chosen.reshape(1, 2, 3))]

def chosen_randomness_2():
    chosen = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    return [vmap(lambda x: torch.multinomial(chosen, 1), randomness="different")(torch.zeros(2)),
        vmap(lambda x: torch.multinomial(chosen, 1), randomness="same")(torch.zeros(2)).shape]

vmap(lambda p: torch.multinomial(p, 1), randomness="different")(torch.zeros(0, 3))
vmap(lambda p: torch.multinomial(p, 4, True), randomness="different")(torch.zeros(0, 3))
torch.multinomial(torch.zeros(0, 3), 2)
torch.multinomial(torch.zeros(0, 0), 2, True)
with differs("Torch loses the rows of no examples."):
    vmap(lambda p: torch.multinomial(p, 1), randomness="different")(torch.zeros(0, 2, 3))
vmap(lambda p: torch.multinomial(p, 1))(torch.zeros(0, 3))
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

# what random_ records
def grad_fn_random():
    b = sines(3).requires_grad_()
    return [(b * 1).random_(*x).grad_fn.name() for x in ((), (3,), (3, 5))]

# events
def event_names_randn_like():
    x = torch.zeros(2)
    return [event_names(f)[0] for f in (lambda: torch.rand(2), lambda: torch.randn(2),
        lambda: torch.rand_like(x), lambda: torch.randn_like(x), lambda: torch.randint(3, (2,)),
        lambda: torch.normal(0.0, 1.0, (2,)))]

[event_names(f)[1:][:1] for f in (lambda: torch.rand(2), lambda: torch.randn(2),
    lambda: torch.randint(2, (2,)), lambda: torch.normal(0.0, 1.0, (2,)))][:3]

def event_names_randint_like():
    x = torch.zeros(2)
    return [event_names(f)[0] for f in (x.uniform_, x.normal_, x.random_, x.exponential_,
        x.bernoulli_, lambda: torch.randint_like(x, 3), lambda: torch.randperm(2),
        lambda: torch.normal(x, 1.0), lambda: torch.bernoulli(x))]
