"""Random: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksum, differs, error_name, iota, sines

# generators; numbers of ours are not torch's, so that only what doesn't depend on them is told
torch.Generator().manual_seed(5).initial_seed()
torch.Generator().manual_seed(-1).initial_seed()
torch.Generator().manual_seed((1 << 64) - 1).initial_seed()
torch.Generator().manual_seed(-(1 << 63)).initial_seed()
torch.Generator().manual_seed(1 << 64)
torch.Generator().manual_seed(-(1 << 63) - 1)
with differs("a TypeError, as of all that is of a wrong type"):
    torch.Generator().manual_seed(1.5)
    torch.Generator().manual_seed("x")
str(torch.Generator().device)
str(torch.Generator("cpu").device)
torch.Generator("meta")
torch.Generator().initial_seed()
[g := torch.Generator(), g.manual_seed(3) is g][1]

def rand_equal():
    g = torch.Generator().manual_seed(3)
    a = torch.rand(5, generator=g)
    b = torch.rand(5, generator=g)
    g.manual_seed(3)
    return [torch.equal(a, torch.rand(5, generator=g)), torch.equal(b, torch.rand(5, generator=g)),
        torch.equal(a, b)]

def rand_generator():
    g = torch.Generator().manual_seed(3)
    torch.rand(7, generator=g)
    s = g.get_state()
    a = torch.rand(5, generator=g)
    h = torch.Generator()
    h.set_state(s)
    return [torch.equal(a, torch.rand(5, generator=h)), h.initial_seed(), str(s.dtype)[-5:],
        s.dim()]

def rand_set_state():
    g = torch.Generator().manual_seed(3)
    s = g.get_state()
    a = torch.rand(5, generator=g)
    g.set_state(s)
    return [torch.equal(a, torch.rand(5, generator=g))]

def rand_set_rng_state():
    torch.manual_seed(4)
    s = torch.get_rng_state()
    a = torch.rand(5)
    torch.set_rng_state(s)
    return [torch.equal(a, torch.rand(5)), torch.initial_seed(), torch.equal(a, torch.rand(5))]

def default_generator_initial_seed():
    g = torch.manual_seed(4)
    a = torch.rand(5)
    torch.manual_seed(4)
    return [g is torch.default_generator, torch.equal(a, torch.rand(5)),
        torch.default_generator.initial_seed()]

def torch_initial_seed():
    n = torch.seed()
    return [torch.initial_seed() == n, torch.seed() != n, torch.initial_seed() != n]

def rand_generator_2():
    g = torch.Generator().manual_seed(3)
    torch.rand(3, generator=g)
    n = g.seed()
    a = torch.rand(4, generator=g)
    g.manual_seed(n)
    return [torch.equal(a, torch.rand(4, generator=g)), g.initial_seed() == n]

torch.Generator().set_state(3)
torch.Generator().set_state(iota(3))
torch.Generator().set_state(torch.zeros(3, dtype=torch.uint8))
error_name(torch.Generator().set_state, torch.zeros(24, dtype=torch.uint8))
torch.Generator().set_state(torch.zeros(24, dtype=torch.uint8))
with differs("The numbers are of a generator of our own."):
    repr(torch.Generator().manual_seed(7))
    torch.Generator().get_state().shape[0]
    torch.Generator().manual_seed(7).get_state()[8:]

@differs("The numbers are of a generator of our own.")
def rand_get_state():
    g = torch.Generator().manual_seed(7)
    torch.rand(1, generator=g)
    return [g.get_state()[16:], torch.rand(64, generator=g).shape, g.get_state()[16:],
        torch.rand(65, generator=g).shape, g.get_state()[16:]]

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

@differs("The numbers are of a generator of our own.")
def randperm_get_state():
    g = torch.Generator().manual_seed(7)
    return [torch.randperm(k, generator=g) is None or g.get_state()[16].item()
        for k in (0, 1, 31, 32, 33, 64, 65)]

def rand_generator_3():
    import copy
    import pickle
    g = torch.Generator().manual_seed(7)
    torch.rand(1, generator=g)
    h = pickle.loads(pickle.dumps(g))
    k = copy.deepcopy(g)
    return [torch.equal(a := torch.rand(3, generator=g), torch.rand(3, generator=h)),
        torch.equal(a, torch.rand(3, generator=k)), h.initial_seed()]

torch.rand(2, generator=3)
torch.randn(2, generator="x")
torch.rand(2, generator=None).shape
torch.zeros(3).uniform_(generator=torch.Generator()).shape
torch.zeros(3).normal_(generator=3)
torch.manual_seed(1.5).initial_seed()
torch.manual_seed("x")

# the same numbers for the same seed, whatever they are written to
def drawn_uniform():
    def drawn(make, seed=3):
        return make(torch.Generator().manual_seed(seed))
    return [torch.equal(drawn(lambda g: torch.zeros(6).uniform_(generator=g)),
        drawn(lambda g: torch.zeros(2, 3).t().uniform_(generator=g).t().reshape(6))),
        torch.equal(drawn(lambda g: torch.zeros(6).uniform_(generator=g)),
        drawn(lambda g: torch.zeros(12)[::2].uniform_(generator=g)))][1]

def drawn_generator():
    def drawn(make, seed=3):
        return make(torch.Generator().manual_seed(seed))
    return [torch.equal(drawn(lambda g: torch.zeros(600).uniform_(generator=g)),
        drawn(lambda g: torch.rand(600, generator=g))),
        torch.equal(drawn(lambda g: torch.zeros(600).normal_(generator=g)),
        drawn(lambda g: torch.randn(600, generator=g)))]

def drawn_normal():
    def drawn(make, seed=3):
        return make(torch.Generator().manual_seed(seed))
    return [torch.equal(drawn(lambda g: torch.zeros(600).normal_(2, 3, generator=g)),
        drawn(lambda g: torch.normal(2.0, 3.0, (600,), generator=g)))]

@differs("The numbers are of a generator of our own.")
def drawn_uniform_2():
    def drawn(make, seed=3):
        return make(torch.Generator().manual_seed(seed))
    return [torch.equal(drawn(lambda g: torch.zeros(4).uniform_(generator=g)),
        drawn(lambda g: torch.zeros(70).uniform_(generator=g))[:4]),
        torch.equal(drawn(lambda g: torch.zeros(2,
        dtype=torch.complex64).uniform_(generator=g)).real,
        drawn(lambda g: torch.zeros(4).uniform_(generator=g))[::2])]

@differs("The numbers are of a generator of our own.")
def drawn_exponential():
    def drawn(make, seed=3):
        return make(torch.Generator().manual_seed(seed))
    return [(drawn(lambda g: torch.zeros(4).uniform_(2, 4, generator=g))
        - (2 * drawn(lambda g: torch.zeros(4).uniform_(generator=g)) + 2)).abs().max() < 1e-6,
        (drawn(lambda g: torch.zeros(4, dtype=torch.float64).normal_(2, 4, generator=g))
        - (4 * drawn(lambda g: torch.zeros(4, dtype=torch.float64).normal_(generator=g))
        + 2)).abs().max() < 1e-12, (drawn(lambda g: torch.zeros(4,
        dtype=torch.float64).exponential_(2, generator=g)) * 2
        - drawn(lambda g: torch.zeros(4, dtype=torch.float64).exponential_(
        generator=g))).abs().max() < 1e-12]

@differs("The numbers are of a generator of our own.")
def drawn_normal_2():
    def drawn(make, seed=3):
        return make(torch.Generator().manual_seed(seed))
    return [(drawn(lambda g: torch.zeros(4, dtype=torch.complex128).normal_(0, 2, generator=g)) - 2
        * drawn(lambda g: torch.zeros(4, dtype=torch.complex128).normal_(
        generator=g))).abs().max() < 1e-12, (drawn(lambda g: torch.zeros(4,
        dtype=torch.complex128).normal_(5, 2, generator=g)) - 2
        * drawn(lambda g: torch.zeros(4, dtype=torch.complex128).normal_(generator=g))
        - 5).abs().max() < 1e-12, (drawn(lambda g: torch.view_as_real(torch.zeros(4,
        dtype=torch.complex128).normal_(generator=g))).reshape(8) * 2**0.5
        - drawn(lambda g: torch.zeros(8, dtype=torch.float64).normal_(
        generator=g))).abs().max() < 1e-12]

def bool_stride():
    x = torch.zeros(2, 3)
    y = x.t()
    y.uniform_(1, 2)
    return [bool((x >= 1).all()), y.stride(), y._version]

def uniform_bool():
    x = torch.zeros(8)
    x[::2].uniform_(1, 2)
    return [bool((x[::2] >= 1).all()), x[1::2]]

def real_imag():
    x = torch.zeros(4, dtype=torch.complex64)
    x.conj().uniform_(1, 2)
    return bool(((x.real >= 1) & (x.imag <= -1)).all())

# uniform
torch.zeros(3).uniform_(2, 2)
torch.zeros(3).uniform_(2, 1)
torch.zeros(3).uniform_(math.nan, 1)
torch.zeros(3).uniform_(0, math.inf)
torch.zeros(3).uniform_(-math.inf, 0)
torch.zeros(3).uniform_(-3e38, 3e38)
torch.zeros(3).uniform_(0, 3.4e38).isfinite()
torch.zeros(3).uniform_(-3.5e38, 0)
torch.zeros(3, dtype=torch.float16).uniform_(0, 65504).isfinite()
torch.zeros(3, dtype=torch.float16).uniform_(0, 65505)
torch.zeros(3, dtype=torch.float16).uniform_(-65505, 0)
torch.zeros(3, dtype=torch.float16).uniform_(-40000, 40000)
torch.zeros(3, dtype=torch.bfloat16).uniform_(0, 3.3e38).isfinite()
torch.zeros(3, dtype=torch.bfloat16).uniform_(0, 3.4e38)
torch.zeros(3, dtype=torch.float64).uniform_(0, 1e308).isfinite()
torch.zeros(3, dtype=torch.float64).uniform_(-1e308, 1e308)
torch.zeros(3, dtype=torch.int64).uniform_()
torch.zeros(3, dtype=torch.bool).uniform_()
[bool(((x := torch.zeros(500, dtype=k).uniform_(1, 1.0 + e)) < 1.0 + e).all() and (x >= 1).all())
    for k, e in ((torch.float16, 2**-9), (torch.bfloat16, 2**-6), (torch.float32, 2**-22),
    (torch.float64, 2**-51))]
[bool(((x := torch.zeros(500, dtype=k).uniform_(-1.0 - e, -1.0)) < -1).all()
    and (x >= -1 - e).all()) for k, e in ((torch.float16, 2**-9), (torch.bfloat16, 2**-6),
    (torch.float32, 2**-22), (torch.float64, 2**-51))]
[bool(((x := torch.zeros(500, dtype=k).uniform_(-1, 0)) < 0).all() and (x >= -1).all())
    for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64)]
with differs("PyTorch rounds up to the end"):
    [bool(((x := torch.zeros(500, dtype=k).uniform_(0.999, 1.0)) < 1).all())
        for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64)]
[bool(((x := torch.zeros(500, dtype=k).uniform_(0, 1 + 1e-5)) <= 1 + 1e-5).all())
    for k in (torch.float16, torch.bfloat16, torch.float32, torch.float64)]

def uniform_bool_2():
    x = torch.zeros(9).uniform_(3, 5)
    return bool(((x >= 3) & (x < 5)).all())

def imag_real():
    x = torch.zeros(500, dtype=torch.complex64).uniform_(3, 5)
    return bool(((x.real >= 3) & (x.real < 5) & (x.imag >= 3) & (x.imag < 5)).all())

# normal, exponential
torch.zeros(3).normal_(5, 0)
torch.zeros(3).normal_(5, -1)
torch.zeros(3).normal_(0, math.nan)
torch.zeros(3, dtype=torch.int64).normal_()
with differs("PyTorch gives the mean to both parts"):
    torch.zeros(3, dtype=torch.complex64).normal_(5, 0)
torch.zeros(0).normal_()
torch.zeros(3).exponential_(0)
torch.zeros(3).exponential_(-1)
torch.zeros(3).exponential_(math.inf)
torch.zeros(3, dtype=torch.int64).exponential_()
torch.zeros(3, dtype=torch.complex64).exponential_()
(torch.zeros(300).exponential_() > 0).all()

# truth values
torch.zeros(4).bernoulli_(0)
torch.zeros(4).bernoulli_(1)
torch.zeros(4).bernoulli_(1.5)
torch.zeros(4).bernoulli_(-0.5)
torch.zeros(4).bernoulli_(math.nan)
torch.zeros(4, dtype=torch.int64).bernoulli_(1)
torch.zeros(4, dtype=torch.bool).bernoulli_(1)
torch.zeros(4, dtype=torch.complex64).bernoulli_(1)
torch.zeros(4).bernoulli_(torch.tensor([0.0, 1.0, 0.0, 1.0]))
torch.zeros(2, 2).bernoulli_(torch.tensor([0.0, 1.0]))
torch.zeros(4).bernoulli_(torch.tensor([0.0, 1.0, 0.0]))
torch.zeros(4).bernoulli_(torch.tensor([0, 1, 0, 1]))
torch.zeros(4).bernoulli_(torch.tensor([0.0, 1.5, 0.0, 1.0]))
torch.zeros(4).bernoulli_(torch.tensor([0.0, math.nan, 0.0, 1.0]))
torch.zeros(4).bernoulli_(torch.tensor([0.0, 1.0, 0.0, -0.1]))
torch.zeros(4, dtype=torch.complex64).bernoulli_(torch.tensor([0.0, 1.0, 0.0, 1.0]))
torch.zeros(4, dtype=torch.int64).bernoulli_(torch.tensor([0.0, 1.0, 0.0, 1.0],
    dtype=torch.float64))
torch.bernoulli(torch.tensor([0.0, 1.0]))
torch.bernoulli(torch.tensor([0, 1]))
torch.bernoulli(torch.tensor([0.0, 2.0]))
torch.bernoulli(torch.zeros(4), 1.0)
torch.bernoulli(torch.zeros(2, device="meta")).shape
torch.zeros(2, device="meta").uniform_().shape
torch.zeros(2, device="meta").bernoulli_(torch.zeros(2, device="meta")).shape

# whole numbers
torch.randint(3, 4, (3,))
torch.randint(-3, -2, (3,))
torch.randint(1, (3,))
torch.randint(3, 3, (3,))
torch.randint(3, 2, (3,))
torch.randint(0, (3,))
torch.randint(255, 256, (3,), dtype=torch.uint8)
torch.randint(255, 257, (3,), dtype=torch.uint8)
torch.randint(-1, 1, (3,), dtype=torch.uint8)
torch.randint(-128, -127, (3,), dtype=torch.int8)
torch.randint(-129, -127, (3,), dtype=torch.int8)
torch.randint(127, 128, (3,), dtype=torch.int8)
torch.randint(127, 129, (3,), dtype=torch.int8)
torch.randint(32767, 32768, (3,), dtype=torch.int16)
torch.randint(32767, 32769, (3,), dtype=torch.int16)
torch.randint(-32768, -32767, (3,), dtype=torch.int16)
torch.randint(2**31 - 1, 2**31, (3,), dtype=torch.int32)
torch.randint(2**31 - 1, 2**31 + 1, (3,), dtype=torch.int32)
torch.randint(-(2**31), 1 - 2**31, (3,), dtype=torch.int32)
torch.randint(2**63 - 2, 2**63 - 1, (3,))
torch.randint(-(2**63), 1 - 2**63, (3,))
torch.randint(0, 2**64, (3,))
torch.randint(1, 2, (3,), dtype=torch.bool)
torch.randint(1, 3, (3,), dtype=torch.bool)
torch.randint(1, 2, (3,), dtype=torch.float32)
torch.randint(1, 2, (3,), dtype=torch.complex64)
torch.randint(2**24, 2**24 + 1, (3,), dtype=torch.float32)
torch.randint(2**24, 2**24 + 2, (3,), dtype=torch.float32)
torch.randint(-(2**24), 1 - 2**24, (3,), dtype=torch.float32)
torch.randint(-(2**24) - 1, 1 - 2**24, (3,), dtype=torch.float32)
torch.randint(2**11, 2**11 + 1, (3,), dtype=torch.float16)
torch.randint(2**11, 2**11 + 2, (3,), dtype=torch.float16)
torch.randint(2**8, 2**8 + 1, (3,), dtype=torch.bfloat16)
torch.randint(2**8, 2**8 + 2, (3,), dtype=torch.bfloat16)
torch.randint(2**53, 2**53 + 1, (3,), dtype=torch.float64)
torch.randint(2**53, 2**53 + 2, (3,), dtype=torch.float64)
torch.randint(3, (2,), generator=3)
sorted(set(torch.randint(-2, 3, (400,)).tolist()))
sorted(set(torch.randint(-2, 3, (400,), dtype=torch.float16).tolist()))
torch.zeros(3).random_(1)
torch.zeros(3).random_(5, 6)
torch.zeros(3).random_(6, 5)
torch.zeros(3, dtype=torch.uint8).random_(255, 256)
torch.randint_like(torch.zeros(3), 4, 5)

# permutations
[sorted(torch.randperm(n).tolist()) == list(range(n)) for n in (0, 1, 2, 31, 32, 33, 64, 65, 100)]
torch.randperm(0).shape
torch.randperm(1)
torch.randperm(-1)
torch.randperm(5, dtype=torch.float32).sum()
torch.randperm(5, generator=3)

def randperm_equal():
    g = torch.Generator().manual_seed(3)
    a = torch.randperm(100, generator=g)
    g.manual_seed(3)
    return [torch.equal(a, torch.randperm(100, generator=g)),
        torch.equal(a, torch.randperm(100, generator=g)), torch.equal(a, torch.arange(100))]

def generator_randperm():
    g = torch.Generator().manual_seed(3)
    found = {tuple(torch.randperm(3, generator=g).tolist()) for _ in range(200)}
    return len(found)

def generator_randperm_2():
    g = torch.Generator().manual_seed(3)
    n = [0] * 4
    for _ in range(400):
        n[torch.randperm(4, generator=g)[0]] += 1
    return [60 < k < 140 for k in n]

@differs("the numbers of this package, which are to stay")
def rand_generator_4():
    g = torch.Generator().manual_seed(5)
    return torch.rand(5, generator=g)

@differs("the numbers of this package, which are to stay")
def rand_generator_5():
    g = torch.Generator().manual_seed(5)
    return torch.rand(5, dtype=torch.float64, generator=g)

@differs("the numbers of this package, which are to stay")
def randn_generator():
    g = torch.Generator().manual_seed(5)
    return torch.randn(5, dtype=torch.float64, generator=g)

@differs("the numbers of this package, which are to stay")
def randint_generator():
    g = torch.Generator().manual_seed(5)
    return torch.randint(0, 1000, (5,), generator=g)

@differs("the numbers of this package, which are to stay")
def randint_generator_2():
    g = torch.Generator().manual_seed(5)
    return torch.randint(-(2**63), 2**63 - 1, (3,), generator=g)

@differs("the numbers of this package, which are to stay")
def bernoulli_generator():
    g = torch.Generator().manual_seed(5)
    return torch.zeros(8).bernoulli_(0.3, generator=g)

@differs("the numbers of this package, which are to stay")
def bernoulli_linspace():
    g = torch.Generator().manual_seed(5)
    return torch.zeros(8).bernoulli_(torch.linspace(0, 1, 8), generator=g)

@differs("the numbers of this package, which are to stay")
def exponential_generator():
    g = torch.Generator().manual_seed(5)
    return torch.zeros(4, dtype=torch.float64).exponential_(2, generator=g)

@differs("the numbers of this package, which are to stay")
def randperm_generator():
    g = torch.Generator().manual_seed(5)
    return torch.randperm(40, generator=g)

@differs("the numbers of this package, which are to stay")
def rand_generator_6():
    g = torch.Generator().manual_seed(1 << 40)
    return [torch.rand(3, generator=g), torch.rand(100, generator=g).sum(),
        torch.rand(3, dtype=torch.float16, generator=g),
        torch.rand(3, dtype=torch.complex64, generator=g)]

# which arguments go together
torch.randint(1, (2,), high=5)
torch.randint(None, 4, (2,))
torch.randint_like(torch.zeros(2), None, 5)
torch.randint(1 << 63, (2,))
torch.randint(0, 1 << 63, (2,))
torch.randint_like(torch.zeros(2), 1 << 63)
torch.randint((1 << 63) - 1, (2,)).shape
torch.randint(1, high=2, size=(2,))
torch.zeros(2).random_(**{"from": 1})
torch.zeros(2).random_(None)
torch.zeros(2).random_(1 << 63)
torch.zeros(2, dtype=torch.int64).random_(0, 1 << 63)
torch.zeros(2, dtype=torch.int64).random_(**{"from": 5, "to": 6})
torch.zeros(2).random_(1, None).shape
torch.randperm(3, dtype=torch.bool)
torch.randperm(3, dtype=torch.complex64)

@differs("Orders of more than the 32 numbers that are drawn at once, of our own stream")
def checksum_randperm():
    g = torch.Generator().manual_seed(11)
    return [checksum(torch.randperm(n, generator=g).double()) for n in (2, 31, 33, 64, 65, 100)]

# random numbers whose values are known
with differs("a mean is a real number here"):
    torch.zeros(3).normal_(2, 0)
    torch.zeros(2, dtype=torch.complex64).normal_(3, 0)
    torch.zeros(3).bernoulli_(1.0)
    torch.zeros(3).bernoulli_(0.0)
torch.zeros(3).random_(4, 5)
torch.zeros(3, dtype=torch.int64).random_(-3, -2)
torch.zeros(2, dtype=torch.bool).random_(1, 2)
torch.zeros(3).bernoulli_(torch.tensor([0.0, 1.0, 0.0]))
torch.bernoulli(torch.tensor([1.0, 0.0]))
torch.zeros(2, 3).t().bernoulli_(1.0).stride()
torch.zeros(3, dtype=torch.float16).uniform_(0, 65504.0).isfinite().all()
torch.zeros(3, dtype=torch.float16).uniform_(0, 70000.0)
torch.zeros(3, dtype=torch.float16).uniform_(-65504.0, 65504.0)
torch.zeros(3).normal_(0, -1)
torch.zeros(3).bernoulli_(1.5)
torch.zeros(3).bernoulli_(-0.5)
torch.zeros(3, dtype=torch.complex64).bernoulli_(0.5)
torch.zeros(3).bernoulli_(torch.tensor([0.5, 2.0, 0.5]))
torch.zeros(3).bernoulli_(torch.tensor([1, 0, 1]))
torch.zeros(3).random_(3, 3)
torch.zeros(3).random_(3, 2)
torch.zeros(3, dtype=torch.uint8).random_(0, 257)
torch.zeros(3, dtype=torch.uint8).random_(-1, 2)
torch.zeros(3, dtype=torch.bool).random_(0, 3)
bool((torch.zeros(999, dtype=torch.uint8).random_() <= 255).all())
bool((torch.zeros(999, dtype=torch.int8).random_() >= 0).all())
bool((torch.zeros(999).random_(-5, 5) < 5).all())
[sorted(torch.randperm(n).tolist()) == list(range(n))
    for n in (0, 1, 2, 31, 32, 33, 63, 64, 65, 100)]
[bool(((x := torch.rand(5000)) < 1).all() and (x >= 0).all()),
    abs(torch.rand(20000).mean().item() - 0.5) < 0.05,
    abs(torch.randn(20000).std().item() - 1) < 0.05,
    abs(torch.randn(20000, dtype=torch.complex64).abs().square().mean().item() - 1) < 0.1]
[x := torch.zeros(2, 3).t(), x.uniform_(), bool((x != 0).all()), x._version > 0][2:]

def rand_initial_seed():
    g = torch.Generator().manual_seed(7)
    s = g.get_state()
    a = torch.rand(3, generator=g)
    g.set_state(s)
    return [torch.equal(a, torch.rand(3, generator=g)), g.initial_seed(), g.device, s.dtype]

def equal_randn():
    g = torch.Generator().manual_seed(7)
    h = torch.Generator().manual_seed(7)
    return [torch.equal(torch.randn(100, generator=g), torch.randn(100, generator=h)),
        torch.equal(torch.rand(70, generator=g), torch.rand(70, generator=h)),
        torch.equal(torch.randn(9, generator=g), torch.rand(9, generator=g))]

torch.Generator().manual_seed(2**64 - 1).initial_seed()
torch.Generator().manual_seed(-(2**63)).initial_seed()
with differs("a float is of the wrong type"):
    error_name(torch.Generator().manual_seed, 2**64)
    error_name(torch.Generator().manual_seed, -(2**63) - 1)
    error_name(torch.Generator().manual_seed, 1.5)
torch.Generator().set_state(iota(3, dtype=torch.uint8))
torch.Generator().set_state(torch.zeros_like(torch.Generator().get_state()))
torch.Generator("nothing")
torch.rand(2, device="meta").device

def sizes_strides():
    f = lambda sizes, strides: (lambda x: [x.as_strided(sizes, strides).add_(1),
        x])(torch.zeros(40))
    return [f(*g) for g in (((2, 3), (3, 2)), ((3, 2), (2, 3)), ((4, 3), (3, 4)),
        ((2, 2, 2), (3, 5, 6)), ((5, 2), (2, 9)), ((3, 3), (5, 3)))]

@differs("Torch looks at windows that reach an element twice no closer, and writes.")
def sizes_strides_2():
    f = lambda sizes, strides: torch.zeros(40).as_strided(sizes, strides).add_(1)
    return [error_name(f, *g) for g in (((4, 3), (3, 2)), ((3, 4), (2, 3)), ((2, 2, 2), (3, 5, 8)),
        ((5, 2), (2, 8)), ((4, 6), (5, 3)), ((2, 2), (1, 1)), ((2, 2, 2, 2), (1, 2, 4, 7)))]

def sizes_strides_3():
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
