"""Resampling: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    checksums,
    checksums_with_gradients,
    differs,
    exact_checksums,
    sines,
    small_integers,
)

# All modes and dimensions, larger, smaller and as large; given sizes and given factors.
[checksums_with_gradients(lambda x: F.interpolate(x, size=s, mode=m, align_corners=a),
    sines(2, 3, n, dtype=dt)) for dt in (torch.float64,)
    for m, a in [("nearest", None), ("nearest-exact", None), ("linear", False), ("linear", True)]
    for n, s in [(4, 7), (7, 4), (5, 5), (1, 3), (3, 1), (6, 3), (3, 6), (2, 300)]]
[checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=s, mode=m, align_corners=a,
    recompute_scale_factor=r), sines(2, 3, n)) for r in (None, True)
    for m, a in [("nearest", None), ("nearest-exact", None), ("linear", False), ("linear", True)]
    for n, s in [(4, 1.75), (7, 0.6), (5, 1.0), (3, 2.0), (9, 1 / 3)]]
[checksums_with_gradients(lambda x: F.interpolate(x, size=s, mode=m, align_corners=a),
    sines(2, 3, h, v)) for m, a in [("nearest", None), ("nearest-exact", None), ("bilinear", False),
    ("bilinear", True), ("bicubic", False), ("bicubic", True)]
    for h, v, s in [(4, 5, (7, 3)), (4, 5, (4, 9)), (6, 3, (3, 3)), (1, 1, (3, 2)), (5, 4, (1, 1)),
    (4, 5, (4, 5)), (3, 2, (6, 4)), (2, 3, (20, 31))]]
[checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=s, mode=m, align_corners=a),
    sines(2, 3, 5, 4)) for m, a in [("nearest", None), ("nearest-exact", None), ("bilinear", False),
    ("bilinear", True), ("bicubic", False), ("bicubic", True)]
    for s in [(1.5, 0.6), (1.0, 2.0), 1.0, (0.4, 1.3)]]
[checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=s, mode=m, align_corners=a),
    sines(2, 3, 5, 4)) for m, a in [("nearest", None), ("bilinear", False), ("bilinear", True)]
    for s in [(1.1, 1.2), (1.1, 1.3), (1.3, 1.2)]]
[checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=s, mode=m), sines(2, 3, 5, 4))
    for m in ("nearest-exact", "bicubic") for s in [(1.1, 1.3),
    (1.3, 1.2)]] + [checksums(F.interpolate(sines(2, 3, 5, 4), scale_factor=(1.1, 1.2), mode=m))
    for m in ("nearest-exact", "bicubic")]
with differs("Torch has another gradient here, as if the image were as it was."):
    [checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=(1.1, 1.2), mode=m),
        sines(2, 3, 5, 4)) for m in ("nearest-exact", "bicubic")]
[checksums_with_gradients(lambda x: F.interpolate(x, size=s, mode=m, align_corners=a),
    sines(2, 3, 3, 4, 5)) for m, a in [("nearest", None), ("nearest-exact", None),
    ("trilinear", False), ("trilinear", True)] for s in [(5, 7, 3), (3, 4, 9), (2, 2, 2), (1, 4, 1),
    (3, 4, 5), (6, 8, 10)]]
[checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=s, mode=m, align_corners=a),
    sines(1, 2, 3, 4, 5)) for m, a in [("nearest", None), ("nearest-exact", None),
    ("trilinear", False), ("trilinear", True)] for s in [(1.5, 0.6, 1.0), (1.0, 1.0, 1.0)]]

# Channels last, one channel or more, and gradients that lie otherwise.
[checksums_with_gradients(lambda x: F.interpolate(x.contiguous(memory_format=torch.channels_last),
    size=s, mode=m, align_corners=a), sines(2, c, h, v)) for c in (1, 3, 17)
    for m, a in [("nearest", None), ("nearest-exact", None), ("bilinear", False),
    ("bilinear", True), ("bicubic", False), ("bicubic", True)]
    for h, v, s in [(4, 5, (7, 3)), (1, 3, (3, 6)), (4, 5, (4, 5))]]
[checksums_with_gradients(lambda x: F.interpolate(
    x.contiguous(memory_format=torch.channels_last_3d), size=(5, 7, 3), mode=m, align_corners=a),
    sines(2, 3, 3, 4, 5)) for m, a in [("nearest", None), ("nearest-exact", None),
    ("trilinear", False), ("trilinear", True)]]
[F.interpolate(sines(2, 3, 4, 5, dtype=d).contiguous(memory_format=torch.channels_last), (3, 7),
    mode=m).stride() for d in (torch.float32, torch.float64, torch.float16)
    for m in ("nearest", "bilinear", "bicubic")]
[torch.autograd.grad(y, x, sines(*y.shape).contiguous(memory_format=torch.channels_last))[
    0].stride() for m in ("nearest", "bilinear")
    for x in [sines(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).requires_grad_()]
    for y in [F.interpolate(x, (3, 7), mode=m)]]
[checksums_with_gradients(lambda x: f(F.interpolate(g(x), (5, 3), mode=m)), sines(2, 3, 6, 8))
    for m in ("nearest", "bilinear", "bicubic")
    for f, g in [(lambda y: y.contiguous(memory_format=torch.channels_last), lambda x: x),
    (lambda y: y.transpose(2, 3).contiguous(), lambda x: x.contiguous(
    memory_format=torch.channels_last)), (lambda y: y, lambda x: x.transpose(2, 3)),
    (lambda y: y[..., ::2], lambda x: x[..., ::2])]]

# In float32, as halves and of bytes; more rows than tiles.
[checksums_with_gradients(lambda x: F.interpolate(x, (5, 9), mode=m),
    sines(2, 3, 4, 7, dtype=torch.float32)) for m in ("nearest", "bilinear", "bicubic")]
[checksums(F.interpolate(small_integers(2, 3, 4, 7, dtype=d), (5, 9),
    mode=m).float().mul(8).round()) for d in (torch.float16, torch.bfloat16)
    for m in ("nearest", "bilinear")]
[exact_checksums(lambda x: F.interpolate(x, scale_factor=2), small_integers(2, 3, 4, 7, dtype=d))
    for d in (torch.float16, torch.bfloat16)]
[F.interpolate((small_integers(1, 1, 3, 4) * 9 + 100).to(torch.uint8), s, mode="nearest")
    for s in [(5, 2), (6, 8)]]
[checksums_with_gradients(lambda x: F.interpolate(x, (9, 8), mode=m), sines(5, 13, 7, 6))
    for m in ("nearest", "bilinear", "bicubic")]
[F.interpolate(torch.zeros(0, 3, 4, 4), 2).shape] + [g.shape
    for x in [torch.zeros(0, 3, 4, 4, requires_grad=True)]
    for g in torch.autograd.grad(F.interpolate(x, (2, 3), mode="bilinear").sum(), x)]
[F.interpolate(torch.tensor([[[math.nan, 1.0, math.inf, 3.0]]]), size=s, mode=m) for s in (7, 2)
    for m in ("nearest", "linear")]
[F.interpolate(torch.tensor([[[[math.nan, 1.0], [math.inf, 3.0]]]]), size=s, mode="bicubic")
    for s in ((2, 2), (3, 2))]
F.upsample(sines(1, 1, 2, 2), scale_factor=2, mode="bilinear", align_corners=True)

# Windows as columns, and columns added up.
[checksums_with_gradients(lambda x: F.unfold(x, k, d, p, s), sines(2, 3, 6, 7, dtype=dt))
    for dt in (torch.float64,) for k, d, p, s in [(2, 1, 0, 1), (3, 1, 1, 2),
    ((2, 3), (2, 1), (1, 2), (1, 3)), (1, 5, 0, 2), (3, (1, 3), (0, 3), 1), ((6, 7), 1, 0, 9),
    (2, 4, 3, 2), (4, 1, 4, 3), ((1, 7), 1, (0, 6), (1, 4))]]
[exact_checksums(lambda x: F.unfold(x, k, d, p, s), small_integers(2, 3, 6, 7, dtype=dt))
    for dt in (torch.float16, torch.bfloat16, torch.float32)
    for k, d, p, s in [(2, 1, 0, 1), (3, 1, 1, 2), ((2, 3), (2, 1), (1, 2), (1, 3))]]
[exact_checksums(lambda x: F.unfold(x, k, d, p, s),
    (small_integers(2, 3, 6, 7) + 1j * small_integers(2, 3, 6, 7, phase=0.8)).to(dt))
    for dt in (torch.complex64, torch.complex128)
    for k, d, p, s in [(2, 1, 0, 1), (3, 1, 1, 2), ((2, 3), (2, 1), (1, 2), (1, 3))]]
[checksums_with_gradients(lambda x: F.fold(x, (6, 7), k, d, p, s), sines(2, n, m))
    for n, m, k, d, p, s in [(12, 30, 2, 1, 0, 1), (18, 12, 3, 1, 1, 2),
    (6, 18, (2, 3), (2, 1), (1, 2), (1, 3)), (42, 1, (6, 7), 1, 0, 9)]]
[F.unfold(small_integers(1, 2, 3, 4, dtype=dt), 2, stride=(1, 2))
    for dt in (torch.bool, torch.float16)]
F.fold((small_integers(8, 6) > 0), (3, 4), 2)
F.fold(small_integers(8, 6, dtype=torch.float16), (3, 4), 2)
F.fold(small_integers(8, 6, dtype=torch.bfloat16), (3, 4), 2)
F.fold(small_integers(2, 8, 2), (3, 4), 2, stride=2, dilation=(2, 1))
[checksums_with_gradients(lambda x: F.unfold(f(x), 2), sines(2, 4, 6, 8))
    for f in (lambda x: x.transpose(2, 3), lambda x: x[:, ::2],
    lambda x: x.contiguous(memory_format=torch.channels_last), lambda x: x[0])]
[checksums_with_gradients(lambda x: F.fold(f(x), (3, 4), 2), sines(2, 8, 6))
    for f in (lambda x: x[0], lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    lambda x: x.flip(2))]
[F.unfold(torch.zeros(0, 2, 3, 3), 2).shape, F.fold(torch.zeros(0, 8, 4), (3, 3), 2).shape]
F.fold(small_integers(2, 4, 4, dtype=torch.float16) * 700, (3, 3), 2)
F.fold(sines(1, 1, 1), (1, 1), 1)
F.fold(sines(1, 1, 1), (1, 1), (1, 1), stride=3)
F.unfold(sines(1, 1, 1, 1), 1)
F.fold(sines(4, 1), (1, 1), 2, padding=1, stride=2)
F.fold(sines(4, 4), (1, 1), 2, padding=1)
[checksums_with_gradients(lambda x: F.unfold(x, k, d, p, s), sines(2, 3, 1, 5))
    for k, d, p, s in [((1, 2), (4, 1), 0, 1), ((1, 2), 1, 0, (3, 2)), ((1, 1), 3, (0, 2), (1, 4)),
    ((2, 2), (2, 1), (1, 0), 1)]]

# Infinities and NaN reach what is made of them, with weights of zero, too, and nothing else.
def kinds_math():
    def kinds(m, shape, size, back, value, **how):
        found = []
        for at in range(prod(shape) if not back else prod(shape[:2] + tuple(size))):
            x = torch.arange(prod(shape), dtype=torch.float64).reshape(shape) + 1
            if not back:
                x.view(-1)[at] = value
            x.requires_grad_()
            y = F.interpolate(x, size=size, mode=m, **how)
            if back:
                g = torch.ones(y.shape, dtype=torch.float64)
                g.view(-1)[at] = value
                y.backward(g)
                y = x.grad
            found.append("".join("n" if v != v else "i" if abs(v) == math.inf else "."
                for v in y.detach().flatten().tolist()))
        return " ".join(found)
    from math import prod
    return [kinds("linear", (1, 1, 4), (n,), b, v, align_corners=a) for n in (4, 8, 2, 7)
        for b in (False, True) for v in (math.inf, math.nan) for a in (False, True)]

def kinds_math_2():
    def kinds(m, shape, size, back, value, **how):
        found = []
        for at in range(prod(shape) if not back else prod(shape[:2] + tuple(size))):
            x = torch.arange(prod(shape), dtype=torch.float64).reshape(shape) + 1
            if not back:
                x.view(-1)[at] = value
            x.requires_grad_()
            y = F.interpolate(x, size=size, mode=m, **how)
            if back:
                g = torch.ones(y.shape, dtype=torch.float64)
                g.view(-1)[at] = value
                y.backward(g)
                y = x.grad
            found.append("".join("n" if v != v else "i" if abs(v) == math.inf else "."
                for v in y.detach().flatten().tolist()))
        return " ".join(found)
    from math import prod
    return [kinds("bilinear", (1, 1, 3, 4), n, b, v, align_corners=a)
        for n in [(3, 4), (3, 8), (6, 4), (2, 2)] for b in (False, True)
        for v in (math.inf, math.nan) for a in (False, True)]

def kinds_math_3():
    def kinds(m, shape, size, back, value, **how):
        found = []
        for at in range(prod(shape) if not back else prod(shape[:2] + tuple(size))):
            x = torch.arange(prod(shape), dtype=torch.float64).reshape(shape) + 1
            if not back:
                x.view(-1)[at] = value
            x.requires_grad_()
            y = F.interpolate(x, size=size, mode=m, **how)
            if back:
                g = torch.ones(y.shape, dtype=torch.float64)
                g.view(-1)[at] = value
                y.backward(g)
                y = x.grad
            found.append("".join("n" if v != v else "i" if abs(v) == math.inf else "."
                for v in y.detach().flatten().tolist()))
        return " ".join(found)
    from math import prod
    return [kinds("bicubic", (1, 1, 2, 3), n, b, v, align_corners=a) for n in [(2, 3), (2, 6)]
        for b in (False, True) for v in (math.inf, math.nan) for a in (False, True)]

def kinds_math_4():
    def kinds(m, shape, size, back, value, **how):
        found = []
        for at in range(prod(shape) if not back else prod(shape[:2] + tuple(size))):
            x = torch.arange(prod(shape), dtype=torch.float64).reshape(shape) + 1
            if not back:
                x.view(-1)[at] = value
            x.requires_grad_()
            y = F.interpolate(x, size=size, mode=m, **how)
            if back:
                g = torch.ones(y.shape, dtype=torch.float64)
                g.view(-1)[at] = value
                y.backward(g)
                y = x.grad
            found.append("".join("n" if v != v else "i" if abs(v) == math.inf else "."
                for v in y.detach().flatten().tolist()))
        return " ".join(found)
    from math import prod
    return [kinds("trilinear", (1, 1, 2, 2, 3), n, b, v, align_corners=a)
        for n in [(2, 2, 3), (2, 4, 3)] for b in (False, True) for v in (math.inf, math.nan)
        for a in (False, True)]
