"""Interpolation on a GPU, with its gradients, beside the CPU."""

import pytest
from emulator import control
from reducing import FLOATS, bits, close, numbers, same, wide
from test_pooling import agree, moved, views

import autograd_cy as torch
from autograd_cy.nn import functional as F

SIZES = {1: (7,), 2: (5, 6), 3: (3, 4, 5)}
MODES = {
    1: ("nearest", "nearest-exact", "linear", "area"),
    2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area"),
    3: ("nearest", "nearest-exact", "trilinear", "area"),
}
CASES = [(rank, mode) for rank in MODES for mode in MODES[rank]]
TO = {"up": 2.6, "down": 0.6, "same": 1.0, "to one": 0.3, "far up": 9.0}


@pytest.mark.parametrize(("rank", "mode"), CASES)
@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("dtype", FLOATS)
def test_sizes(rank, mode, to, dtype):
    size = [max(int(n * TO[to]), 1) for n in SIZES[rank]]
    aligned = [None] if "nearest" in mode or mode == "area" else [False, True]
    for align in aligned:
        for x in views((2, 3, *SIZES[rank]), dtype).values():
            if rank == 3 and TO[to] > 3:
                x = x[:1]
            agree(
                lambda x, align=align: F.interpolate(x, size, mode=mode, align_corners=align),
                x.detach(), dtype, error=8 if dtype in ("float32", "float64") else 4,
            )  # fmt: skip


@pytest.mark.parametrize(("rank", "mode"), CASES)
@pytest.mark.parametrize("recompute", [True, False])
def test_factors(rank, mode, recompute):
    x = numbers((1, 2, *SIZES[rank]), "float32", 1)
    for factor in (1.7, 0.4, 2.0):
        agree(
            lambda x, factor=factor: F.interpolate(
                x, scale_factor=factor, mode=mode, recompute_scale_factor=recompute
            ),
            x, "float32", error=8,
        )  # fmt: skip


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_bits_of_float64_are_those_of_the_cpu(mode):
    x = numbers((2, 3, 9, 11), "float64", 1)
    same(F.interpolate(x.to("cuda"), (17, 5), mode=mode), F.interpolate(x, (17, 5), mode=mode))


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_bytes(mode):
    x = torch.arange(2 * 3 * 6 * 7, dtype=torch.uint8).reshape(2, 3, 6, 7)
    same(F.interpolate(x.to("cuda"), (9, 4), mode=mode), F.interpolate(x, (9, 4), mode=mode))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(4, 5), (13, 3), (2, 20)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_filters(mode, size, dtype):
    for x in views((2, 3, 9, 10), dtype).values():
        agree(
            lambda x: F.interpolate(x, size, mode=mode, antialias=True), x.detach(), dtype, error=8
        )
    x = (numbers((2, 3, 9, 10), "float64", 1) * 60 + 128).to(torch.uint8)
    options = {"size": size, "mode": mode, "antialias": True}
    same(F.interpolate(x.to("cuda"), **options), F.interpolate(x, **options))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_infinite_elements_stay_alone_where_sizes_are_the_same(mode):
    x = numbers((1, 1, 4, 5), "float32", 1)
    x[0, 0, 1, 2] = float("inf")
    same(F.interpolate(x.to("cuda"), (4, 5), mode=mode), F.interpolate(x, (4, 5), mode=mode))


def test_batches_of_batches():
    x = numbers((2, 3, 2, 4, 5), "float32", 1).transpose(0, 1)

    def call(t):
        return torch.func.vmap(lambda t: F.interpolate(t, (7, 3), mode="bilinear"))(t)

    close(call(moved(x)), wide(call(x)), 4, "float32")


def test_second_derivatives():
    x = numbers((1, 2, 3, 4), "float64", 1).to("cuda").requires_grad_()
    for mode in ("bilinear", "bicubic"):

        def call(t, mode=mode):
            return F.interpolate(t, (5, 3), mode=mode)

        assert torch.autograd.gradcheck(call, (x,)) and torch.autograd.gradgradcheck(call, (x,))


def test_of_no_images():
    x = torch.empty(0, 2, 4, 5, device="cuda", requires_grad=True)
    F.interpolate(x, (3, 3), mode="bilinear").sum().backward()
    assert x.grad.shape == x.shape


def test_the_same_bits_in_any_order_of_threads():
    x = numbers((3, 8, 21, 23), "float32", 1).to("cuda")

    def step():
        leaf = x.clone().requires_grad_()
        result = F.interpolate(leaf, scale_factor=2.3, mode="bicubic")
        result.square().sum().backward()
        return bits(result.detach()), bits(leaf.grad)

    first = step()
    for seed in range(2):
        with control.ordered("random", seed):
            assert step() == first


@pytest.mark.emulated
@pytest.mark.parametrize("together", [False, True])
def test_one_launch_each(together):
    x = numbers((2, 4, 8, 8), "float32", 1).to("cuda")
    x = (x.to(memory_format=torch.channels_last) if together else x).requires_grad_()

    def call():
        return F.interpolate(x, scale_factor=2, mode="bilinear")

    grad = torch.zeros_like(call())
    call().backward(grad)
    x.grad = None
    torch.cuda.synchronize()
    with control.traced() as ran:
        call().backward(grad)
        torch.cuda.synchronize()
    assert ran == ["linear_f32", "linear_backward_f32"]
