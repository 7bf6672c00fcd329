"""Attention on a GPU, tile by tile: against float64, in all layouts, and what it costs."""

import numpy as np
import pytest
from emulator import control
from reducing import FLOATS, HALVES, bits

import autograd_cy as torch

attention = torch.nn.functional.scaled_dot_product_attention
ERRORS = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "float64": 1e-13}
inf, nan = float("inf"), float("nan")

# Shapes of query, key and value. Tiles are 64 x 64 or 32 x 32 scores, results 64 or 128 columns.
SHAPES = {
    "one": ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
    "small": ((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 6)),
    "a tile": ((1, 1, 64, 16), (1, 1, 64, 16), (1, 1, 64, 64)),
    "more than a tile": ((1, 2, 65, 17), (1, 2, 67, 17), (1, 2, 67, 65)),
    "less than two": ((1, 1, 31, 33), (1, 1, 127, 33), (1, 1, 127, 15)),
    "groups": ((2, 6, 7, 4), (2, 2, 9, 4), (2, 2, 9, 3)),
    "long": ((1, 1, 3, 5), (1, 1, 300, 5), (1, 1, 300, 5)),
    "tall": ((1, 1, 300, 5), (1, 1, 3, 5), (1, 1, 3, 5)),
    "heads of 128": ((1, 1, 20, 128), (1, 1, 18, 128), (1, 1, 18, 128)),
    "heads of 256": ((1, 1, 9, 256), (1, 1, 10, 256), (1, 1, 10, 256)),
    "wide": ((1, 1, 5, 300), (1, 1, 4, 300), (1, 1, 4, 20)),
    "deep": ((1, 1, 5, 20), (1, 1, 4, 20), (1, 1, 4, 300)),
    "three": ((3, 4, 8), (3, 5, 8), (3, 5, 6)),
}
shapes = pytest.mark.parametrize("name", SHAPES)
dtypes = pytest.mark.parametrize("dtype", FLOATS)


@pytest.fixture(autouse=True, scope="module")
def default_generator():
    """It stays, with its memory on the device."""
    torch.rand(1, device="cuda")


def numbers(name, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return [torch.tensor(rng.normal(size=s)).to(getattr(torch, dtype)) for s in SHAPES[name]]


def masks(name, dtype, seed=1):
    """Options by name."""
    rng = np.random.default_rng(seed)
    q, k, _ = SHAPES[name]
    rows, columns, batch = q[-2], k[-2], q[:-2]
    seen = rng.random((rows, columns)) < 0.6
    seen[0] = False  # a row that sees nothing
    added = torch.tensor(rng.normal(size=(*batch, rows, columns))).to(getattr(torch, dtype))
    return {
        "all": {},
        "causal": {"is_causal": True},
        "scaled": {"scale": -0.7},
        "seen": {"attn_mask": torch.tensor(seen)},
        "added": {"attn_mask": added},
        "by columns": {"attn_mask": added.flatten()[:columns].float().to(added.dtype)},
        "by rows": {"attn_mask": torch.tensor(seen[:, :1])},
        "turned": {"attn_mask": torch.tensor(np.ascontiguousarray(seen.T)).t()},
    }


WAYS = tuple(masks("one", "float32"))


def there(options, device, to=None):
    mask = options.get("attn_mask")
    if mask is None:
        return options
    if to is not None and mask.is_floating_point():
        mask = mask.to(to)
    moved = mask.to(device)
    if device != "cpu":  # with the strides that it has
        moved = torch.empty_strided(mask.shape, mask.stride(), dtype=mask.dtype, device=device)
        moved.copy_(mask)
    return options | {"attn_mask": moved}


def ran(tensors, g, options, device, to):
    leaves = [x.to(device).to(to).detach().requires_grad_() for x in tensors]
    gqa = len(tensors[0].shape) > 3 and tensors[0].shape[1] != tensors[1].shape[1]
    y = attention(*leaves, **there(options, device, to), enable_gqa=gqa)
    y.backward(g.to(device).to(to))
    return [y, *(x.grad for x in leaves)]


def close(found, expected, dtype):
    for a, b in zip(found, expected):
        assert a.shape == b.shape and a.dtype == getattr(torch, dtype)
        a, b = a.detach().cpu().double().numpy(), b.detach().numpy()
        size = max(1.0, np.abs(b).max(initial=0))
        np.testing.assert_allclose(a, b, rtol=ERRORS[dtype], atol=ERRORS[dtype] * size)


def compare(name, dtype, options):
    tensors = numbers(name, dtype)
    g = torch.tensor(
        np.random.default_rng(3).normal(size=(*SHAPES[name][0][:-1], SHAPES[name][2][-1]))
    ).to(getattr(torch, dtype))
    expected = ran(tensors, g, options, "cpu", torch.float64)
    close(ran(tensors, g, options, "cuda", getattr(torch, dtype)), expected, dtype)


@shapes
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients(name, way, dtype):
    compare(name, dtype, masks(name, dtype)[way])


@pytest.mark.parametrize("name", ["small", "more than a tile", "groups", "heads of 128"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", HALVES)
def test_half_types(name, way, dtype):
    compare(name, dtype, masks(name, dtype)[way])


@dtypes
@pytest.mark.parametrize("causal", [False, True])
def test_operands_as_they_lie(dtype, causal):
    """Heads inside of places, columns apart, and expanded ones."""
    dt = getattr(torch, dtype)
    x = torch.tensor(np.random.default_rng(0).normal(size=(2, 9, 3, 3, 16))).to(dt)
    found = []
    for device, to in (("cpu", torch.float64), ("cuda", dt)):
        leaf = x.to(device).to(to).detach().requires_grad_()
        q, k, v = (leaf[:, :, i].transpose(1, 2) for i in range(3))
        y = attention(q, k[..., ::1], v[..., ::2], is_causal=causal)
        z = attention(q[:, :, :, ::2], k[:, :, :, 1::2], v[:, :1].expand(2, 3, 9, 16))
        (y.sin().sum() + z.sin().sum()).backward()
        found.append((y, z, leaf.grad))
    close(found[1], found[0], dtype)
    for a, b in zip(found[0], found[1]):
        assert a.stride() == b.stride()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinite_and_nan(dtype):
    found = []
    for device in ("cpu", "cuda"):
        q, k, v = (x.to(device) for x in numbers("small", dtype))
        mask = torch.zeros(4, 5, dtype=q.dtype)
        mask[0], mask[1, 2], mask[2, 1], mask[3, 0] = -inf, inf, nan, -inf
        y = attention(q, k, v, attn_mask=mask.to(device))
        k[0, 0, 1] = nan
        found.append((y, attention(q, k, v, is_causal=True)))
    for a, b in zip(*found):
        np.testing.assert_allclose(
            b.cpu().double().numpy(), a.double().numpy(), rtol=ERRORS[dtype], atol=ERRORS[dtype]
        )


@pytest.mark.parametrize("where", [0, 1])
def test_of_nothing(where):
    sizes = [(2, 3, 4, 5), (2, 3, 6, 5)]
    sizes[where] = (2, 3, 0, 5)
    q, k = (torch.ones(s, device="cuda", requires_grad=True) for s in sizes)
    y = attention(q, k, k)
    y.sum().backward()
    assert y.shape == sizes[0] and not y.cpu().any()
    assert not q.grad.cpu().any() and not k.grad.cpu().any()


def test_second_gradients():
    found = []
    for device in ("cpu", "cuda"):
        leaves = [x.to(device).requires_grad_() for x in numbers("small", "float64")]
        y = attention(*leaves, is_causal=True)
        grads = torch.autograd.grad((y**2).sum(), leaves, create_graph=True)
        sum((g**2).sum() for g in grads).backward()
        found.append((*grads, *(x.grad for x in leaves)))
    close(found[1], found[0], "float64")


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("size", ["small", "more than a tile"])
def test_dropout_draws_the_masks_of_the_cpu(size, dtype, causal):
    """Weights are dropped within tiles, forward and backward."""
    found = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(4)
        leaves = [x.to(device).detach().requires_grad_() for x in numbers(size, dtype)]
        y = attention(*leaves, dropout_p=0.4, is_causal=causal)
        y.backward(torch.ones(y.shape, dtype=y.dtype, device=device))
        found.append((y, *(x.grad for x in leaves)))
    close(found[1], found[0], dtype)


@pytest.mark.emulated
def test_dropout_takes_one_launch_more():
    leaves = [x.to("cuda").detach().requires_grad_() for x in numbers("small", "float32")]
    before = control.counts()
    y = attention(*leaves, dropout_p=0.4)
    assert control.spent(before)["launches"] == 2
    grad = torch.ones_like(y)
    before = control.counts()
    y.backward(grad)
    assert control.spent(before)["launches"] == 2


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_same_bits_in_any_order_of_threads(dtype):
    tensors, dt = numbers("more than a tile", dtype), getattr(torch, dtype)
    g = torch.ones(1, 2, 65, 65)

    def made():
        return [bits(x) for x in ran(tensors, g, {"is_causal": True}, "cuda", dt)]

    first = made()
    for seed in range(2):
        with control.ordered("random", seed):
            assert made() == first


@pytest.mark.emulated
@pytest.mark.cached
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_one_launch_and_two(dtype):
    leaves = [x.to("cuda").requires_grad_() for x in numbers("more than a tile", dtype)]
    g = torch.ones(1, 2, 65, 65, device="cuda", dtype=getattr(torch, dtype))
    for _ in range(2):
        before = control.counts()
        y = attention(*leaves, is_causal=True)
        forward = control.spent(before)
        torch.autograd.grad(y, leaves, g)
        both = control.spent(before)
        y = None
    assert forward["launches"] == 1 and both["launches"] == 3
    assert not {"copies_in", "copies_out", "synchronizations", "allocations"} & set(both)
