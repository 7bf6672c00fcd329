"""Random numbers on a GPU: those of the CPU for the same seed, and nothing that waits."""

import numpy as np
import pytest
from emulator import control
from reducing import COMPLEX, FLOATS, INTS

import autograd_cy as torch

SIZES = (1, 15, 16, 33, 64, 65, 200, 4097)
WAITS = {"copies_in", "copies_out", "synchronizations"}
inf, nan = float("inf"), float("nan")


@pytest.fixture(autouse=True, scope="module")
def default_generator():
    """It stays, with its memory on the device."""
    torch.rand(1, device="cuda")


def raw(x):
    """The bits of a tensor, from any device."""
    x = x.detach().cpu().contiguous()
    return x.flatten().view(torch.uint8).numpy() if x.dtype is not torch.bool else x.numpy()


def same(draw, device="cuda", seed=5):
    """Let `draw(device)` give the same bits on both, and leave both generators where they are."""
    found, after = [], []
    for place in ("cpu", device):
        generator = torch.Generator(place).manual_seed(seed)
        found.append([raw(x) for x in draw(place, generator)])
        after.append(generator.get_state().tolist())
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)
    assert after[0] == after[1]


FILLS = {
    "uniform": (lambda x, g: x.uniform_(-1.5, 2.25, generator=g), (*FLOATS, *COMPLEX)),
    "uniform of nothing": (lambda x, g: x.uniform_(2.0, 2.0, generator=g), FLOATS),
    "normal": (lambda x, g: x.normal_(0.3, 1.7, generator=g), (*FLOATS, *COMPLEX)),
    "exponential": (lambda x, g: x.exponential_(2.5, generator=g), FLOATS),
    "bernoulli": (lambda x, g: x.bernoulli_(0.3, generator=g), ("bool", *INTS, *FLOATS)),
    "bernoulli, always": (lambda x, g: x.bernoulli_(1.0, generator=g), FLOATS),
    "random": (lambda x, g: x.random_(generator=g), ("bool", *INTS, *FLOATS)),
    "random, bounds": (lambda x, g: x.random_(3, 101, generator=g), (*INTS, *FLOATS)),
    "random, wide": (lambda x, g: x.random_(-(2**62), 2**61, generator=g), ("int64",)),
}


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in FILLS for d in FILLS[n][1]])
def test_fills(name, dtype):
    def draw(device, generator):
        for n in SIZES:
            x = torch.zeros(n, dtype=getattr(torch, dtype), device=device)
            yield FILLS[name][0](x, generator)

    same(draw)


@pytest.mark.parametrize("dtype", FLOATS)
def test_fills_of_parts(dtype):
    def draw(device, generator):
        x = torch.zeros(7, 40, dtype=getattr(torch, dtype), device=device)
        x[1:, ::3].normal_(generator=generator)
        x.t()[2:5].uniform_(generator=generator)
        x[:0].normal_(generator=generator)
        yield x

    same(draw)


@pytest.mark.parametrize("dtype", FLOATS)
def test_around_tensors(dtype):
    dt = getattr(torch, dtype)

    def draw(device, generator):
        mean = torch.linspace(-2, 2, 85, dtype=dt).to(device)
        std = torch.linspace(0, 2, 85, dtype=dt).to(device)
        yield torch.normal(mean, 1.5, generator=generator)
        yield torch.normal(0.25, std, generator=generator)
        yield torch.normal(mean, std, generator=generator)
        p = torch.linspace(0, 1, 85, dtype=dt).to(device)
        yield torch.bernoulli(p, generator=generator)
        yield torch.zeros(3, 85, dtype=torch.int16, device=device).bernoulli_(
            p, generator=generator
        )
        yield torch.bernoulli(p, 0.6, generator=generator)

    same(draw)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4096, 4097, 9001])
def test_permutations(n):
    def draw(device, generator):
        yield torch.randperm(n, device=device, generator=generator)
        yield torch.randperm(n, device=device, generator=generator)

    same(draw)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "layer",
    [
        lambda x: torch.nn.functional.dropout(x, 0.3),
        lambda x: torch.nn.functional.dropout(x, 1.0),
        lambda x: torch.nn.functional.dropout2d(x, 0.4),
        lambda x: torch.nn.functional.alpha_dropout(x, 0.4, True),
        lambda x: torch.nn.functional.feature_alpha_dropout(x, 0.4, True),
        lambda x: torch.nn.functional.rrelu(x, training=True),
    ],
    ids=["dropout", "of all", "of channels", "alpha", "alpha of channels", "rrelu"],
)
def test_layers(layer, dtype):
    found = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(3)
        x = torch.linspace(-2, 2, 6 * 5 * 4 * 3, dtype=torch.float64).to(getattr(torch, dtype))
        x = x.reshape(6, 5, 4, 3).to(device).requires_grad_()
        y = layer(x)
        y.backward(torch.ones_like(y))
        found.append((raw(y), raw(x.grad), raw(torch.rand(3, device=device))))
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)


def test_the_same_numbers_in_any_order_of_threads():
    def draw(device, generator):
        yield torch.rand(70_000, device=device, generator=generator)
        yield torch.randn(5000, device=device, dtype=torch.float64, generator=generator)
        yield torch.randperm(700, device=device, generator=generator)

    for seed in range(3):
        with control.ordered("random", seed):
            same(draw)


@pytest.mark.emulated
def test_nothing_waits_and_each_is_one_launch():
    x = torch.zeros(100_000, device="cuda")
    torch.rand(3, device="cuda")
    for draw in (x.uniform_, x.normal_, x.exponential_, x.bernoulli_, x.random_):
        before = control.counts()
        draw()
        assert control.spent(before).pop("launches") == 1
    torch.randperm(10, device="cuda")
    before = control.counts()
    torch.randperm(10, device="cuda")
    spent = control.spent(before)
    assert spent["launches"] == 1 and not WAITS & set(spent)


@pytest.mark.emulated
@pytest.mark.cached
def test_dropout_is_two_launches_and_one():
    x = torch.ones(300, 40, device="cuda", requires_grad=True)
    g = torch.ones(300, 40, device="cuda")
    for _ in range(3):
        before = control.counts()
        y = torch.nn.functional.dropout(x, 0.5)
        forward = control.spent(before)
        y.backward(g)
        both = control.spent(before)
        x.grad = y = None
    assert forward["launches"] == 2 and both["launches"] == 3
    assert not {*WAITS, "allocations"} & set(both)


def test_streams_that_share_a_generator():
    generator = torch.Generator().manual_seed(8)
    expected = [raw(torch.rand(200, generator=generator)) for _ in range(4)]
    generator = torch.Generator("cuda").manual_seed(8)
    streams = [torch.cuda.Stream() for _ in range(2)]
    found = []
    for k in range(4):
        with torch.cuda.stream(streams[k % 2]):
            found.append(torch.rand(200, device="cuda", generator=generator))
    torch.cuda.synchronize()
    for a, b in zip(expected, found):
        np.testing.assert_array_equal(a, raw(b))


def drawn_and_there(draw, x):
    draw(x)
    torch.cuda.synchronize()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda x: torch.bernoulli(x), "but element 2 is 1.5"),
        (lambda x: x.clone().bernoulli_(x), "but element 2 is 1.5"),
        (lambda x: torch.normal(0.0, -x), "expects all elements of std >= 0.0"),
        (lambda x: torch.normal(x, -x), "expects all elements of std >= 0.0"),
        (lambda x: torch.multinomial(-x, 1), "either `inf`, `nan` or element < 0"),
        (lambda x: torch.multinomial(x * inf, 1), "either `inf`, `nan` or element < 0"),
        (lambda x: torch.multinomial(x * nan, 1), "either `inf`, `nan` or element < 0"),
        (lambda x: torch.multinomial((x * 0).expand(3, 4), 1), "sum of probabilities <= 0"),
    ],
)
def test_bad_parameters_raise_the_error_of_the_cpu(draw, message):
    x = torch.tensor([0.5, 1.0, 1.5, 0.25])
    for y in (x, x.to("cuda")):
        with pytest.raises(RuntimeError, match=message):
            drawn_and_there(draw, y)
    torch.bernoulli(torch.tensor([0.5], device="cuda"))
    torch.cuda.synchronize()


@pytest.mark.parametrize("shape", [(7,), (3, 300)])
def test_multinomial(shape):
    def draw(device, generator):
        weights = torch.linspace(0, 3, int(np.prod(shape))).reshape(shape).to(device)
        yield torch.multinomial(weights, 4, generator=generator)
        yield torch.multinomial(weights, 9, replacement=True, generator=generator)

    same(draw)
