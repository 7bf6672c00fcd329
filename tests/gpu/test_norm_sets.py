"""Batch norm, group norm and instance norm on a GPU, with their gradients, against float64."""

import numpy as np
import pytest
from emulator import control
from reducing import FLOATS, bits, close, numbers, wide

import autograd_cy as torch
from autograd_cy.nn import functional as F

LAST = torch.channels_last
# name: (sizes, view or format)
SHAPES = {
    "images": ((3, 6, 5, 7), lambda x: x),
    "channels last": ((3, 6, 5, 7), lambda x: x.to(memory_format=LAST)),
    "rows": ((37, 6), lambda x: x),
    "sequences": ((5, 6, 40), lambda x: x),
    "volumes": ((2, 6, 3, 4, 5), lambda x: x),
    "one place": ((9, 6, 1, 1), lambda x: x),
    "long channels": ((4, 6, 70, 71), lambda x: x),
    "long channels last": ((4, 6, 70, 71), lambda x: x.to(memory_format=LAST)),
    "many channels": ((3, 600, 2, 2), lambda x: x),
    "many channels last": ((3, 600, 2, 2), lambda x: x.to(memory_format=LAST)),
    "transposed": ((3, 6, 7, 5), lambda x: x.transpose(2, 3)),
    "gaps": ((3, 6, 5, 14), lambda x: x[..., ::2]),
}
shapes = pytest.mark.parametrize("shape", SHAPES)
dtypes = pytest.mark.parametrize("dtype", FLOATS)


def batch(training, statistics):
    def call(x, weight, bias):
        mean, var = statistics
        return F.batch_norm(x, mean, var, weight, bias, training, 0.3, 1e-3)

    return call


def both(made, x, view, weights, dtype, error=3):
    """Values and gradients of x, weight and bias, beside those of float64."""
    found = []
    grad = numbers(view(x).shape, dtype, 2)
    for device, to in (("cuda", x.dtype), ("cpu", torch.float64)):
        leaf = x.to(device).to(to).requires_grad_()
        own = [t if t is None else t.to(device).to(to).requires_grad_() for t in weights]
        result = made(device, to)(view(leaf), *own)
        given = grad.to(device).to(to)
        result.backward(given)
        found.append([result, leaf.grad] + [t.grad for t in own if t is not None])
    for k, (mine, exact) in enumerate(zip(*found, strict=True)):
        assert mine.dtype == x.dtype and mine.device.type == "cuda"
        # Gradients of weights are sums over numbers of size 1.
        scale = 6 if k < 2 else 4 * (x.numel() / exact.numel()) ** 0.5
        close(mine, wide(exact), scale, dtype, error=error)
    return found[0]


@shapes
@dtypes
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm(shape, dtype, training, affine):
    sizes, view = SHAPES[shape]
    x = numbers(sizes, dtype, 1) + 1
    channels = sizes[1]
    weights = [numbers((channels,), dtype, s, 0.5, 2) if affine else None for s in (3, 4)]
    running = [numbers((channels,), dtype, s, 0.5, 2) for s in (5, 6)]
    kept = {}

    def made(device, to):
        kept[device] = [t.to(device).to(to) for t in running]
        return batch(training, kept[device])

    result = both(made, x, view, weights, dtype)[0]
    assert result.stride() == F.batch_norm(view(x), None, None, training=True).stride()
    for mine, exact in zip(kept["cuda"], kept["cpu"], strict=True):
        close(mine, wide(exact), 2, dtype, error=3)


@shapes
@dtypes
@pytest.mark.parametrize("groups", [1, 3, 6])
@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(shape, dtype, groups, affine):
    sizes, view = SHAPES[shape]
    x = numbers(sizes, dtype, 1) + 1
    if sizes[1] // groups * int(np.prod(sizes[2:])) < 6:
        pytest.skip("some of few nearly equal numbers, of which little is left")
    weights = [numbers((sizes[1],), dtype, s, 0.5, 2) if affine else None for s in (3, 4)]

    def made(device, to):
        return lambda x, weight, bias: F.group_norm(x, groups, weight, bias, 1e-3)

    both(made, x, view, weights, dtype, error=8)


@dtypes
@pytest.mark.parametrize("statistics", [True, False])
def test_instance_norm(dtype, statistics):
    x = numbers((3, 4, 6, 5), dtype, 1)
    weights = [numbers((4,), dtype, s, 0.5, 2) for s in (3, 4)]

    def made(device, to):
        own = [torch.full((4,), 0.5, device=device, dtype=to) for _ in range(2)]
        own = own if statistics else [None, None]
        return lambda x, weight, bias: F.instance_norm(x, *own, weight, bias)

    both(made, x, lambda x: x, weights, dtype, error=6)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_local_response_norm(size):
    x = numbers((2, 7, 3, 3), "float32", 1)
    mine, exact = F.local_response_norm(x.to("cuda"), size), F.local_response_norm(x, size)
    close(mine, wide(exact), 2, "float32")


def test_weights_of_float32_beside_halves():
    x, weight = numbers((3, 4, 5, 5), "bfloat16", 1), numbers((4,), "float32", 2)
    for name, more in (("group_norm", (2, weight)), ("batch_norm", (weight, weight.abs()))):
        mine, exact = (
            getattr(F, name)(x.to(d), *(t.to(d) if t is weight else t for t in more))
            if name == "group_norm"
            else F.batch_norm(x.to(d), *(t.to(d).clone() for t in more), training=True)
            for d in ("cuda", "cpu")
        )
        close(mine, wide(exact), 4, "bfloat16")


@pytest.mark.parametrize("format", ["C order", "channels last"])
def test_infinite_and_nan_stay_in_their_channel(format):
    x = numbers((2, 4, 3, 3), "float32", 1)
    x[0, 1, 0, 0], x[1, 2, 1, 1] = float("inf"), float("nan")
    if format == "channels last":
        x = x.to(memory_format=LAST)
    found = []
    for device in ("cuda", "cpu"):
        mean, var = torch.zeros(4, device=device), torch.ones(4, device=device)
        found.append([F.batch_norm(x.to(device), mean, var, training=True), mean, var])
    for mine, exact in zip(*found, strict=True):
        close(mine, wide(exact), 4, "float32")


def test_far_from_zero():
    x = numbers((4, 2, 10, 10), "float64") + 1e9
    exact = wide(x) - wide(x).mean((0, 2, 3), keepdims=True)
    exact /= exact.std((0, 2, 3), keepdims=True)
    mine = F.batch_norm(x.to("cuda"), None, None, training=True, eps=1e-30)
    np.testing.assert_allclose(wide(mine), exact, rtol=0, atol=1e-6)


def test_gradients_that_are_not_wanted():
    x = numbers((3, 4, 5, 5), "float32", 1)
    for wanted in ((True, False), (False, True)):
        for training in (True, False):
            found = []
            for device in ("cuda", "cpu"):
                leaf = x.to(device).clone().requires_grad_(wanted[0])
                weight = torch.full((4,), 2.0, device=device, requires_grad=wanted[1])
                stats = [torch.zeros(4, device=device), torch.ones(4, device=device)]
                F.batch_norm(leaf, *stats, weight, training=training).square().sum().backward()
                F.group_norm(leaf, 2, weight).square().sum().backward()
                found.append(leaf.grad if wanted[0] else weight.grad)
            close(found[0], wide(found[1]), 40, "float32", error=3)


def test_of_nothing():
    x = torch.empty(0, 4, 3, 3, device="cuda", requires_grad=True)
    weight = torch.ones(4, device="cuda", requires_grad=True)
    F.group_norm(x, 2, weight).sum().backward()
    assert x.grad.shape == x.shape and weight.grad.tolist() == [0.0] * 4


@pytest.mark.parametrize("format", ["C order", "channels last"])
def test_the_same_bits_in_any_order_of_threads(format):
    x = numbers((4, 6, 60, 61), "float32", 1).to("cuda")
    if format == "channels last":
        x = x.to(memory_format=LAST)

    def step():
        found = []
        for name in ("batch", "group"):
            leaf, weight = x.clone().requires_grad_(), torch.ones(6, device="cuda")
            weight.requires_grad_()
            mean, var = torch.zeros(6, device="cuda"), torch.ones(6, device="cuda")
            if name == "batch":
                result = F.batch_norm(leaf, mean, var, weight, training=True)
            else:
                result = F.group_norm(leaf, 2, weight)
            (result * result).sum().backward()
            found += [result.detach(), leaf.grad, weight.grad, mean, var]
        return [bits(t) for t in found]

    first = step()
    for seed in range(2):
        with control.ordered("random", seed):
            assert step() == first


def launches(call):
    call()
    torch.cuda.synchronize()
    with control.traced() as ran:
        call()
        torch.cuda.synchronize()
    return ran


@pytest.mark.emulated
def test_launches():
    x = numbers((2, 4, 6, 6), "float32", 1).to("cuda").requires_grad_()
    large = numbers((2, 4, 160, 160), "float32", 1).to("cuda").requires_grad_()
    weight, bias = (torch.ones(4, device="cuda", requires_grad=True) for _ in range(2))
    mean, var = torch.zeros(4, device="cuda"), torch.ones(4, device="cuda")

    def step(x, training=True):
        x.grad = weight.grad = bias.grad = None
        result = F.batch_norm(x, mean, var, weight, bias, training)
        result.backward(x.detach())

    assert launches(lambda: step(x)) == ["norm_sets_f32", "norm_sets_backward_f32"]
    assert launches(lambda: step(large)) == ["norm_sets_f32"] * 2 + ["norm_sets_backward_f32"] * 2
    with torch.no_grad():
        evaluated = launches(lambda: F.batch_norm(large, mean, var, weight, bias))
    assert evaluated == ["norm_sets_f32"]


@pytest.mark.emulated
@pytest.mark.cached
@pytest.mark.parametrize("format", ["C order", "channels last"])
def test_a_step_neither_copies_nor_waits_nor_allocates(format):
    net = torch.nn.Sequential(torch.nn.BatchNorm2d(4), torch.nn.GroupNorm(2, 4)).to("cuda")
    x = numbers((2, 4, 60, 60), "float32", 1).to("cuda")
    if format == "channels last":
        x = x.to(memory_format=LAST)

    def step():
        net(x).square().sum().backward()
        net.zero_grad()

    step()
    step()
    before = control.counts()
    step()
    spent = control.spent(before)
    for what in ("allocations", "synchronizations", "copies_in", "copies_out"):
        assert not spent.get(what), spent
