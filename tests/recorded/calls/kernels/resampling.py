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
[checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=s, mode=m), sines(2, 3, 5, 4))
    for m in ("nearest-exact", "bicubic") for s in [(1.1, 1.3),
    (1.3, 1.2)]] + [checksums(F.interpolate(sines(2, 3, 5, 4), scale_factor=(1.1, 1.2), mode=m))
    for m in ("nearest-exact", "bicubic")]
with differs("Torch has another gradient here, as if the image were as it was."):
    [checksums_with_gradients(lambda x: F.interpolate(x, scale_factor=(1.1, 1.2), mode=m),
        sines(2, 3, 5, 4)) for m in ("nearest-exact", "bicubic")]

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
[exact_checksums(lambda x: F.interpolate(x, scale_factor=2), small_integers(2, 3, 4, 7, dtype=d))
    for d in (torch.float16, torch.bfloat16)]
[checksums_with_gradients(lambda x: F.interpolate(x, (9, 8), mode=m), sines(5, 13, 7, 6))
    for m in ("nearest", "bilinear", "bicubic")]
[F.interpolate(torch.tensor([[[[math.nan, 1.0], [math.inf, 3.0]]]]), size=s, mode="bicubic")
    for s in ((2, 2), (3, 2))]
F.upsample(sines(1, 1, 2, 2), scale_factor=2, mode="bilinear", align_corners=True)

# Windows as columns, and columns added up.
[exact_checksums(lambda x: F.unfold(x, k, d, p, s), small_integers(2, 3, 6, 7, dtype=dt))
    for dt in (torch.float16, torch.bfloat16, torch.float32)
    for k, d, p, s in [(2, 1, 0, 1), (3, 1, 1, 2), ((2, 3), (2, 1), (1, 2), (1, 3))]]
[exact_checksums(lambda x: F.unfold(x, k, d, p, s),
    (small_integers(2, 3, 6, 7) + 1j * small_integers(2, 3, 6, 7, phase=0.8)).to(dt))
    for dt in (torch.complex64, torch.complex128)
    for k, d, p, s in [(2, 1, 0, 1), (3, 1, 1, 2), ((2, 3), (2, 1), (1, 2), (1, 3))]]
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
F.fold(small_integers(2, 4, 4, dtype=torch.float16) * 700, (3, 3), 2)

# Infinities and NaN reach what is made of them, with weights of zero, too, and nothing else.
def align_corners_math():
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
