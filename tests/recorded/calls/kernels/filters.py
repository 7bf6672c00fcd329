"""Filters: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, iota, operator, sines


# Filters of images: sums of neighbours, each with weights of its own, by a plain formula in float64.
@differs("This package alone has it.")
def reshape_narrow():
    def by_hand(x, bounds, weight, behind):
        out = []
        for (a, b), w in zip(bounds, weight):
            out.append(sum((x.narrow(-1 - behind, i, 1) * w[i - a] for i in range(a, b)),
                x.narrow(-1 - behind, 0, 1) * 0))
        return torch.cat(out, -1 - behind)
    def close(d, shape, behind, bounds, taps):
        x, by = torch.arange(prod(shape), dtype=d).reshape(shape).sin(), torch.arange(len(bounds)
            * taps, dtype=d).reshape(-1, taps).cos()
        x.requires_grad_()
        r, s = operator("_filter")(x, torch.tensor(bounds), by, behind), by_hand(x, bounds,
            by.tolist(), behind)
        g = torch.arange(r.numel(), dtype=d).reshape(r.shape).cos()
        (a,), (b,) = torch.autograd.grad(r, x, g), torch.autograd.grad(s, x, g)
        return r.shape == s.shape and (r - s).abs().max().item() < 1e-5 and (a
            - b).abs().max().item() < 1e-5
    from math import prod
    bounds = [[0, 1], [0, 3], [2, 2], [1, 5], [4, 5]]
    return [(d, s, b) for d in (torch.float32, torch.float64)
        for s, b in (((5,), 0), ((3, 5), 0), ((70, 5), 0), ((5, 3), 1), ((2, 5, 33), 1),
        ((30, 5, 3), 1), ((2, 5, 2, 3), 2), ((2, 3, 5, 1), 1)) if not close(d, s, b, bounds, 4)]

@differs("This package alone has it.")
def narrow_clamp():
    from math import prod
    bounds = [[0, 1], [0, 3], [2, 2], [1, 5], [4, 5]]
    def by_hand(x, bounds, weight, behind):
        out = []
        for (a, b), w in zip(bounds, weight):
            out.append(sum((x.narrow(-1 - behind, i, 1) * w[i - a] for i in range(a, b)),
                x.narrow(-1 - behind, 0, 1) * 0))
        return torch.cat(out, -1 - behind)
    def whole(shape, behind, bounds, by, bits):
        x = (torch.arange(prod(shape)) * 37 % 256).reshape(shape)
        s = by_hand(x, bounds, by, behind)
        return (operator("_filter_bytes")(x.to(torch.uint8), torch.tensor(bounds),
            torch.tensor(by, dtype=torch.int16), behind,
            bits) == ((s + 2**bits // 2) // 2**bits).clamp(0, 255)).all().item()
    by = [[5, 0, 0, 0], [1, 2, 5, 9], [1, 1, 1, 1], [-4, 3, 3, 7], [-9, 0, 0, 0]]
    return [(s, b, n) for s, b in (((5,), 0), ((3, 5), 0), ((70, 5), 0), ((5, 3), 1),
        ((2, 5, 33), 1), ((30, 5, 3), 1), ((2, 5, 2, 3), 2), ((35, 5), 0), ((16, 5, 3), 1),
        ((17, 5, 15), 1), ((2, 5, 16), 1), ((18, 5, 4), 1))
        for n in (0, 1, 3, 4) if not whole(s, b, bounds, by, n)]

with differs("This package alone has it."):
    operator("_filter")(sines(2, 3), torch.zeros(0, 2, dtype=torch.int64), sines(0, 4), 0).shape
    operator("_filter_backward")(sines(2, 0), torch.zeros(0, 2, dtype=torch.int64), sines(0, 4), 0,
        3)
    operator("_filter")(sines(2, 5).t(), torch.tensor([[0, 1], [0, 3], [2, 2], [1, 5], [4, 5]]),
        sines(4, 5).t(), 1)
    operator("_filter")(sines(2, 5), torch.tensor([[0, 5]])[:, :, None].squeeze(2), sines(1, 5), 0)
    operator("_filter")(sines(2, 5), torch.tensor([[-1, 2]]), sines(1, 6), 0)
    operator("_filter")(sines(2, 5), torch.tensor([[0, 2]]), sines(1, 2), 2)
    operator("_filter")(sines(2, 5), torch.tensor([[0, 2]]), sines(1, 2), -1)
    operator("_filter")(sines(2, 5), torch.tensor([[0, 2]], dtype=torch.int32), sines(1, 2), 0)
    operator("_filter")(sines(2, 5), torch.tensor([[0, 2, 3]]), sines(1, 2), 0)
    operator("_filter")(sines(2, 5), torch.tensor([[0, 2]]), iota(1, 2), 0)
    operator("_filter")(sines(2, 5), torch.tensor([[0, 2]]), sines(2), 0)
    operator("_filter_bytes")(torch.ones(2, 5, dtype=torch.uint8), torch.tensor([[0, 2]]),
        torch.ones(1, 2, dtype=torch.uint8), 0, 1)
    operator("_filter_backward")(sines(2, 5), torch.tensor([[0, 2]]), sines(1, 2), 0, 5)
    operator("_filter_backward")(sines(2, 1), torch.tensor([[0, 2]]), sines(1, 2), 0, -1)
    operator("_filter_backward")(sines(2, 1), torch.tensor([[0, 2]]), sines(1, 2), 0, 1)
    vmap(lambda x: operator("_filter")(x, torch.tensor([[0, 2], [1, 3]]), sines(2, 2), 0))(sines(2,
        3))
    vmap(lambda x, b, y: operator("_filter")(x, b, y, 0), (0, 0, None))(sines(2, 3),
        torch.tensor([[[0, 2]], [[1, 3]]]), sines(1, 2))
    vmap(lambda x: operator("_filter_bytes")(x, torch.tensor([[0, 2], [1, 3]]),
        torch.ones(2, 2, dtype=torch.int16), 0, 1), 1)((iota(3, 2) * 9).to(torch.uint8))
    torch.func.jvp(lambda x: operator("_filter")(x, torch.tensor([[0, 2], [1, 3]]), sines(2, 2), 0),
        (sines(3),), (sines(3),))

# Infinite neighbours reach only what is made of them; channels may lie last.
F.interpolate(torch.tensor([[[[1.0, math.inf, 2.0, 3.0, 4.0, 5.0]]]]), (1, 3), mode="bilinear",
    antialias=True)

def interpolate_antialias():
    x = (sines(2, 3, 8, 6) * 9).contiguous(memory_format=torch.channels_last)
    return [F.interpolate(x, (5, 4), mode=k, antialias=True) for k in ("bilinear", "bicubic")]

vmap(lambda x: F.interpolate(x, (3, 2), mode="bilinear", antialias=True))(sines(2, 1, 2, 4, 5))

# Rows of several vectors.
@differs("This package alone has it.")
def narrow_clamp_2():
    from math import prod
    bounds = [[0, 1], [0, 3], [2, 2], [1, 5], [4, 5]]
    def by_hand(x, bounds, weight, behind):
        out = []
        for (a, b), w in zip(bounds, weight):
            out.append(sum((x.narrow(-1 - behind, i, 1) * w[i - a] for i in range(a, b)),
                x.narrow(-1 - behind, 0, 1) * 0))
        return torch.cat(out, -1 - behind)
    def whole(shape, behind, bounds, by, bits):
        x = (torch.arange(prod(shape)) * 37 % 256).reshape(shape)
        s = by_hand(x, bounds, by, behind)
        return (operator("_filter_bytes")(x.to(torch.uint8), torch.tensor(bounds),
            torch.tensor(by, dtype=torch.int16), behind,
            bits) == ((s + 2**bits // 2) // 2**bits).clamp(0, 255)).all().item()
    bounds = [[i, i + 3] for i in range(37)]
    by = [[i - 9, 5, 7 - i] for i in range(37)]
    return [(s, b) for s, b in (((16, 39), 0), ((33, 39), 0), ((16, 39, 2), 1), ((3, 39, 17), 1),
        ((2, 39, 5, 7), 2)) if not whole(s, b, bounds, by, 3)]

with differs("This package alone has it."):
    operator("_filter_backward")(sines(2, 1), torch.tensor([[0, 2]], dtype=torch.int32),
        sines(1, 2), 0, 3)
    operator("_filter_backward")(sines(2, 1), torch.tensor([[0, 2]]), sines(1, 2), 2, 3)
