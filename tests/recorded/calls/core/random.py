"""Random: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, iota, sines

# generators; numbers of ours are not torch's, so that only what doesn't depend on them is told
torch.Generator().manual_seed(1 << 64)
torch.Generator().manual_seed(-(1 << 63) - 1)
with differs("a TypeError, as of all that is of a wrong type"):
    torch.Generator().manual_seed(1.5)
    torch.Generator().manual_seed("x")
str(torch.Generator("cpu").device)
torch.Generator("meta")
torch.Generator().initial_seed()
torch.Generator().set_state(3)
torch.Generator().set_state(iota(3))
with differs("The numbers are of a generator of our own."):
    repr(torch.Generator().manual_seed(7))

@differs("The numbers are of a generator of our own.")
def complex128_get_state():
    g = torch.Generator().manual_seed(7)
    return [torch.rand(16, dtype=k, generator=g) is None or g.get_state()[16].item()
        for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
        torch.complex128)]

@differs("The numbers are of a generator of our own.")
def complex128_get_state_2():
    g = torch.Generator().manual_seed(7)
    return [torch.rand(33, dtype=k, generator=g) is None or g.get_state()[16].item()
        for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
        torch.complex128)]

torch.randn(2, generator="x")
torch.manual_seed("x")

# the same numbers for the same seed, whatever they are written to
def real_imag():
    x = torch.zeros(4, dtype=torch.complex64)
    x.conj().uniform_(1, 2)
    return bool(((x.real >= 1) & (x.imag <= -1)).all())

# uniform
torch.zeros(3).uniform_(2, 1)
torch.zeros(3).uniform_(math.nan, 1)
torch.zeros(3).uniform_(0, math.inf)
torch.zeros(3).uniform_(-math.inf, 0)
torch.zeros(3).uniform_(-3e38, 3e38)
torch.zeros(3).uniform_(-3.5e38, 0)
torch.zeros(3, dtype=torch.float16).uniform_(0, 65504).isfinite()
torch.zeros(3, dtype=torch.float16).uniform_(0, 65505)
torch.zeros(3, dtype=torch.float16).uniform_(-65505, 0)
torch.zeros(3, dtype=torch.bfloat16).uniform_(0, 3.4e38)
torch.zeros(3, dtype=torch.float64).uniform_(-1e308, 1e308)
torch.zeros(3, dtype=torch.int64).uniform_()
torch.zeros(3, dtype=torch.bool).uniform_()
[bool(((x := torch.zeros(500, dtype=k).uniform_(-1.0 - e, -1.0)) < -1).all()
    and (x >= -1 - e).all()) for k, e in ((torch.float16, 2**-9), (torch.bfloat16, 2**-6),
    (torch.float32, 2**-22), (torch.float64, 2**-51))]
[bool(((x := torch.zeros(500, dtype=k).uniform_(-1, 0)) < 0).all() and (x >= -1).all())
    for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64)]
with differs("PyTorch rounds up to the end"):
    [bool(((x := torch.zeros(500, dtype=k).uniform_(0.999, 1.0)) < 1).all())
        for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64)]

# normal, exponential
torch.zeros(3).normal_(5, -1)
torch.zeros(3).normal_(0, math.nan)
torch.zeros(3, dtype=torch.int64).normal_()
with differs("PyTorch gives the mean to both parts"):
    torch.zeros(3, dtype=torch.complex64).normal_(5, 0)
torch.zeros(3).exponential_(0)
torch.zeros(3).exponential_(-1)
torch.zeros(3).exponential_(math.inf)
torch.zeros(3, dtype=torch.int64).exponential_()
torch.zeros(3, dtype=torch.complex64).exponential_()

# truth values
torch.zeros(4).bernoulli_(1.5)
torch.zeros(4).bernoulli_(-0.5)
torch.zeros(4).bernoulli_(math.nan)
torch.zeros(4, dtype=torch.bool).bernoulli_(1)
torch.zeros(4).bernoulli_(torch.tensor([0.0, 1.0, 0.0]))
torch.zeros(4).bernoulli_(torch.tensor([0.0, math.nan, 0.0, 1.0]))
torch.zeros(4).bernoulli_(torch.tensor([0.0, 1.0, 0.0, -0.1]))
torch.zeros(4, dtype=torch.complex64).bernoulli_(torch.tensor([0.0, 1.0, 0.0, 1.0]))
torch.bernoulli(torch.tensor([0, 1]))
torch.bernoulli(torch.tensor([0.0, 2.0]))
torch.bernoulli(torch.zeros(4), 1.0)

# whole numbers
torch.randint(0, (3,))
torch.randint(255, 257, (3,), dtype=torch.uint8)
torch.randint(-1, 1, (3,), dtype=torch.uint8)
torch.randint(-129, -127, (3,), dtype=torch.int8)
torch.randint(127, 129, (3,), dtype=torch.int8)
torch.randint(32767, 32769, (3,), dtype=torch.int16)
torch.randint(2**31 - 1, 2**31 + 1, (3,), dtype=torch.int32)
torch.randint(1, 3, (3,), dtype=torch.bool)
torch.randint(1, 2, (3,), dtype=torch.float32)
sorted(set(torch.randint(-2, 3, (400,), dtype=torch.float16).tolist()))

# permutations
torch.randperm(-1)

@differs("the numbers of this package, which are to stay")
def randperm_generator():
    g = torch.Generator().manual_seed(5)
    return torch.randperm(40, generator=g)

@differs("the numbers of this package, which are to stay")
def rand_generator():
    g = torch.Generator().manual_seed(1 << 40)
    return [torch.rand(3, generator=g), torch.rand(100, generator=g).sum(),
        torch.rand(3, dtype=torch.float16, generator=g),
        torch.rand(3, dtype=torch.complex64, generator=g)]

# which arguments go together
torch.randint(1, (2,), high=5)
torch.randint(None, 4, (2,))
torch.randint_like(torch.zeros(2), None, 5)
torch.randint(1 << 63, (2,))
torch.randint_like(torch.zeros(2), 1 << 63)
torch.zeros(2).random_(**{"from": 1})
torch.zeros(2).random_(None)
torch.zeros(2).random_(1 << 63)
torch.randperm(3, dtype=torch.bool)
torch.randperm(3, dtype=torch.complex64)

# random numbers whose values are known
torch.zeros(3, dtype=torch.float16).uniform_(0, 65504.0).isfinite().all()
torch.zeros(3).bernoulli_(1.5)
torch.zeros(3).bernoulli_(torch.tensor([0.5, 2.0, 0.5]))
torch.zeros(3).bernoulli_(torch.tensor([1, 0, 1]))
torch.zeros(3, dtype=torch.uint8).random_(0, 257)
torch.zeros(3, dtype=torch.uint8).random_(-1, 2)
torch.zeros(3, dtype=torch.bool).random_(0, 3)

def rand_initial_seed():
    g = torch.Generator().manual_seed(7)
    s = g.get_state()
    a = torch.rand(3, generator=g)
    g.set_state(s)
    return [torch.equal(a, torch.rand(3, generator=g)), g.initial_seed(), g.device, s.dtype]

with differs("a float is of the wrong type"):
    error_name(torch.Generator().manual_seed, 2**64)
    error_name(torch.Generator().manual_seed, -(2**63) - 1)
    error_name(torch.Generator().manual_seed, 1.5)
torch.Generator().set_state(iota(3, dtype=torch.uint8))
torch.Generator("nothing")

def arange_as_strided():
    def g(sizes, strides):
        x = (torch.arange(40.0) / 8).requires_grad_()
        (x.as_strided(sizes, strides) ** 2).sum().backward()
        return x.grad
    return [g((2, 3), (3, 2)), g((4, 3), (3, 2)), g((3, 4), (2, 3)), g((2, 2, 2), (3, 5, 8)),
        g((2, 2, 2), (3, 5, 6)), g((4, 6), (5, 3))]

# slopes that are drawn
[torch.rrelu(x, 0.25, 0.5, False, torch.Generator()) for x in (sines(3),)]
torch.rrelu(sines(3), generator=None)
error_name(lambda: torch.rrelu(sines(3), 0.1, 0.3, True, 3))
error_name(lambda: torch.rrelu(sines(3), 0.1, 0.3, True, generator="a"))
error_name(lambda: F.rrelu(sines(3), generator=None))

def rrelu_item():
    g = torch.Generator().manual_seed(5)
    x, y = [torch.rrelu(-torch.ones(4), 0.1, 0.3, True, g) for _ in range(2)]
    z = torch.rrelu_(-torch.ones(4), 0.1, 0.3, True, generator=g.manual_seed(5))
    return (x == y).all().item(), (x == z).all().item(), x.min() >= -0.3, x.max() <= -0.1
