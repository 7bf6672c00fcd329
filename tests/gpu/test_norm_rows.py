"""Layer norm and RMS norm on a GPU, with their gradients, against float64 and the CPU."""

import numpy as np
import pytest
from emulator import control
from reducing import FLOATS, bits, close, numbers, wide

import autograd_cy as torch
from autograd_cy.nn import functional as F

# name: (shape of the memory, view of it, normalised dimensions)
LAYOUTS = {
    "rows": ((7, 33), lambda x: x, 1),
    "rows of packs": ((5, 64), lambda x: x, 1),
    "long rows": ((3, 5003), lambda x: x, 1),
    "short rows": ((300, 3), lambda x: x, 1),
    "many rows": ((5000, 16), lambda x: x, 1),
    "off by one": ((4, 41), lambda x: x[:, 1:], 1),
    "two dimensions": ((4, 5, 6), lambda x: x, 2),
    "transposed": ((20, 30), lambda x: x.t(), 1),
    "one row": ((40,), lambda x: x, 1),
}
dtypes = pytest.mark.parametrize("dtype", FLOATS)
names = pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])


def call(name, x, shape, weight, bias):
    if name == "layer_norm":
        return F.layer_norm(x, shape, weight, bias, 1e-3)
    return F.rms_norm(x, shape, weight, 1e-3)


@names
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [True, False])
@dtypes
def test_values_and_gradients(name, layout, affine, dtype):
    memory, view, dims = LAYOUTS[layout]
    x = numbers(memory, dtype, 1) + 1
    shape = tuple(view(x).shape[-dims:])
    g = numbers(view(x).shape, dtype, 2)
    weight, bias = (numbers(shape, dtype, seed, 0.5, 2) if affine else None for seed in (3, 4))
    found = []
    for device, to in (("cuda", x.dtype), ("cpu", torch.float64)):
        leaf = view(x.to(device)).to(to).detach().requires_grad_()
        own = [t if t is None else t.to(device).to(to).requires_grad_() for t in (weight, bias)]
        result = call(name, leaf, shape, *own)
        result.backward(g.to(device).to(to))
        gradients = [leaf.grad] + [t.grad for t in own if t is not None and t.grad is not None]
        found.append([result, *gradients])
    rows = x.numel() // int(np.prod(shape))
    for k, (mine, exact) in enumerate(zip(*found, strict=True)):
        assert mine.dtype == x.dtype and mine.device.type == "cuda"
        # Gradients of weights are sums over rows of numbers of size 1.
        scale = 4 if k < 2 else 4 * rows
        if layout == "short rows":  # some of three nearly equal numbers, of which little is left
            scale *= 30
        close(mine, wide(exact), scale, dtype, error=3)


@names
def test_weights_of_float32_beside_halves(name):
    x = numbers((9, 40), "bfloat16", 1)
    weight, bias = numbers((40,), "float32", 2), numbers((40,), "float32", 3)
    mine = call(name, x.to("cuda"), (40,), weight.to("cuda"), bias.to("cuda"))
    assert mine.dtype == torch.bfloat16
    close(mine, wide(call(name, x, (40,), weight, bias)), 4, "bfloat16")


def test_rows_far_from_zero():
    x = numbers((4, 1000), "float64") + 1e9
    exact = (wide(x) - wide(x).mean(1, keepdims=True)) / wide(x).std(1, keepdims=True)
    np.testing.assert_allclose(
        wide(F.layer_norm(x.to("cuda"), (1000,), eps=0.0)), exact, rtol=0, atol=1e-6
    )


@names
def test_of_nothing(name):
    x = torch.empty(0, 4, device="cuda", requires_grad=True)
    weight = torch.ones(4, device="cuda", requires_grad=True)
    call(name, x, (4,), weight, None).sum().backward()
    assert x.grad.shape == (0, 4) and weight.grad.tolist() == [0.0] * 4


@names
def test_the_same_bits_in_any_order_of_threads(name):
    x, g = (
        numbers((6000, 20), "float32", 1).to("cuda"),
        numbers((6000, 20), "float32", 2).to("cuda"),
    )

    def step():
        leaf, weight = x.clone().requires_grad_(), torch.ones(20, device="cuda", requires_grad=True)
        result = call(name, leaf, (20,), weight, None)
        result.backward(g)
        return bits(result.detach()), bits(leaf.grad), bits(weight.grad)

    first = step()
    for seed in range(2):
        with control.ordered("random", seed):
            assert step() == first


def test_launches():
    x = numbers((30, 50), "float32", 1).to("cuda").requires_grad_()
    weight, bias = (torch.ones(50, device="cuda", requires_grad=True) for _ in range(2))
    g = numbers((30, 50), "float32", 2).to("cuda")
    call("layer_norm", x, (50,), weight, bias).backward(g)
    x.grad = weight.grad = bias.grad = None
    torch.cuda.synchronize()
    with control.traced() as ran:
        call("layer_norm", x, (50,), weight, bias).backward(g)
        torch.cuda.synchronize()
    assert ran == ["norm_rows_f32", "norm_rows_backward_f32", "norm_columns_f32"]
