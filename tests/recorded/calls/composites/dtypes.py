"""Dtypes: calls of the composites (`ext/composites`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import error_name, sines

F.max_pool1d_with_indices(torch.tensor([[1, 5, 2, 3]]), 2)
F.max_pool1d_with_indices(torch.tensor([[1, 5, 2]], dtype=torch.uint8), 2, 1, 1)
error_name(F.max_pool1d, torch.tensor([[True, False]]), 2)
torch.rnn_relu_cell(sines(2, 3).long(), sines(2, 2).long(), sines(2, 3).long() + 2,
    sines(2, 2).long(), torch.tensor([1, -1]), torch.tensor([0, 2]))
error_name(torch.gru_cell, torch.ones(1, 1).long(), torch.ones(1, 1).long(),
    torch.ones(3, 1).long(), torch.ones(3, 1).long()) in ("RuntimeError", "NotImplementedError")
[F.soft_margin_loss(torch.tensor([1 + 2j, -0.5 + 0.1j]), torch.tensor([1.0, -1.0]), reduction=r)
    for r in ("mean", "sum", "none")]
[F.soft_margin_loss(torch.tensor([1 + 2j, -0.5 + 0.1j]), torch.tensor([1 - 1j, 0.5j]), reduction=r)
    for r in ("mean", "sum", "none")]
F.silu(torch.tensor([1 + 2j, -0.5 + 0.1j, 30j - 3, 0j]))
F.silu(torch.tensor([1 + 2j, -0.5 + 0.1j], dtype=torch.complex128), inplace=True)
[torch.histc(torch.tensor([0.5, -1.5, 2.0, 0.25], dtype=d), 4)
    for d in (torch.float16, torch.bfloat16)]

def align_corners_long():
    def f(*size, **how):
        x = (torch.arange(84).reshape(1, 2, 6, 7) * 37 % 256).to(torch.uint8)
        return (F.interpolate(x, size, **how).long() * torch.arange(1,
            2 * size[0] * size[1] + 1).reshape(1, 2, *size) ** 2).sum() % 99991
    return [f(*s, mode=mode, align_corners=a) for s in ((4, 9), (13, 3), (6, 7), (1, 2), (6, 8),
        (3, 7)) for mode in ("bilinear", "bicubic") for a in (False, True)]

def long_antialias():
    def f(*size, **how):
        x = (torch.arange(84).reshape(1, 2, 6, 7) * 37 % 256).to(torch.uint8)
        return (F.interpolate(x, size, antialias=True, **how).long() * torch.arange(1,
            2 * size[0] * size[1] + 1).reshape(1, 2, *size) ** 2).sum() % 99991
    return [f(*s, mode=mode) for s in ((4, 9), (13, 3), (6, 7), (2, 2), (6, 8), (3, 7))
        for mode in ("bilinear", "bicubic", "lanczos")]

def long_scale_factor():
    x = (torch.arange(84).reshape(1, 2, 6, 7) * 37 % 256).to(torch.uint8)
    return [F.interpolate(x, scale_factor=s, mode=mode, antialias=a).long().sum((2, 3))
        for s in ((0.7, 1.5), (1.0, 1.0), 2, (1, 0.9)) for mode in ("bilinear", "bicubic")
        for a in (False, True)]

def contiguous_uint8():
    x = (torch.arange(84).reshape(1, 2, 6, 7) * 37 % 256).to(torch.uint8).contiguous(
        memory_format=torch.channels_last)
    return [F.interpolate(y, (3, 4), mode=mode, antialias=a).stride()
        for y in (x, x.double(), x.transpose(2, 3), x.contiguous())
        for mode in ("bilinear", "bicubic") for a in (False, True) if a or y.dtype == torch.uint8]

[error_name(F.interpolate, sines(1, 1, 2, 2), size) for size in (True, (True, 2))]
F.interpolate(sines(0, 3, 4, 4).to(torch.uint8), (2, 3), mode="bilinear")
error_name(lambda: F.interpolate(sines(1, 0, 4, 4).to(torch.uint8), (2, 3), mode="bilinear"))

# What keeps its size stays as it is, whatever the factor is, and so does an infinite element.
def long_scale_factor_2():
    x = (torch.arange(84).reshape(1, 2, 6, 7) * 37 % 256).to(torch.uint8)
    return [F.interpolate(x, scale_factor=(1.1, 0.5), mode=m, antialias=a).long().sum((2, 3))
        for m in ("bilinear", "bicubic") for a in (False, True)]

def antialias_square():
    z = sines(1, 1, 2, 3).requires_grad_()
    return [F.interpolate(z, (2, 3), mode="bicubic", antialias=True) is z,
        torch.autograd.grad(F.interpolate(z, (2, 3), mode="bicubic",
        antialias=True).square().sum() / 2, z)[0].equal(z)]

# Sizes and factors that nothing can have.
[F.interpolate(sines(1, 1, 2, 2), (np.int64(3), torch.tensor(1)), mode=m).shape
    for m in ("nearest", "bilinear")]
