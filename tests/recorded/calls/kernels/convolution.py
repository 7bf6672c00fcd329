"""Convolution: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksums, differs, exact_checksums, small_integers

# of channels and of tiles about those of a strip, a block, a batch.
[exact_checksums(lambda x, k, b: F.conv2d(x, k, b, padding=p), small_integers(n, c, h, v),
    small_integers(o, c, 3, 3, phase=0.8), small_integers(o))
    for n, c, h, v, o, p in [(2, 16, 6, 6, 16, 1), (1, 16, 8, 8, 16, 0), (2, 17, 6, 7, 18, 1),
    (3, 19, 5, 5, 17, 1), (2, 16, 4, 6, 23, 2), (4, 16, 5, 6, 16, (0, 1)),
    (3, 24, 6, 5, 25, (1, 0)), (2, 16, 7, 4, 16, (1, 2))]]
[exact_checksums(lambda x, k, b: F.conv2d(x, k, b, padding=1), small_integers(n, c, h, v),
    small_integers(o, c, 3, 3, phase=0.8), small_integers(o))
    for n, c, h, v, o in [(2, 40, 6, 6, 49), (2, 257, 6, 6, 17), (2, 17, 6, 6, 257),
    (15, 16, 6, 6, 16), (29, 191, 5, 6, 16), (30, 16, 6, 5, 192), (58, 16, 6, 6, 20)]]
[exact_checksums(lambda x, k, b: F.conv2d(x, k, b, padding=1), small_integers(n, c, h, v),
    small_integers(o, c, 3, 3, phase=0.8), small_integers(o))
    for n, c, h, v, o in [(6, 16, 12, 12, 16), (11, 17, 12, 12, 20), (13, 16, 11, 12, 65),
    (1, 128, 8, 8, 129), (1, 129, 8, 8, 128), (2, 160, 8, 8, 131), (25, 130, 7, 8, 66),
    (33, 66, 8, 8, 130)]]
[exact_checksums(lambda x, k, b: F.conv2d(x, k, b, padding=1), small_integers(n, c, h, v),
    small_integers(o, c, 3, 3, phase=0.8), small_integers(o))
    for n, c, h, v, o in [(1, 16, 4, 132, 16), (1, 16, 5, 129, 17), (1, 16, 130, 4, 16),
    (1, 16, 64, 36, 16), (2, 16, 3, 128, 16), (1, 16, 40, 64, 17), (1, 16, 2, 140, 16)]]

# Steps between elements: of the image, the weights, the bias, the result's gradient.
exact_checksums(lambda x, k: F.conv2d(x, k, padding=1)[..., ::2], small_integers(2, 16, 6, 6),
    small_integers(17, 16, 3, 3))
exact_checksums(lambda x, k: F.conv2d(x, k, padding=1).transpose(2, 3), small_integers(2, 16, 8, 8),
    small_integers(17, 16, 3, 3))
exact_checksums(lambda x, k: F.conv2d(x, k, padding=1),
    small_integers(2, 16, 6, 6) + 1j * small_integers(2, 16, 6, 6, phase=2),
    small_integers(17, 16, 3, 3) - 1j * small_integers(17, 16, 3, 3, phase=2))

# What is infinite or not a number stays where it belongs, and a tap of zeros keeps large ones away.
def spoilt(s, p, x_at, k_at, y_at, value):
    x, k = small_integers(2, 16, s, s), small_integers(17, 16, 3, 3)
    for to, at in (x, x_at), (k, k_at):
        if at is not None:
            to[at] = value
    x.requires_grad_(), k.requires_grad_()
    y = F.conv2d(x, k, padding=p)
    g = small_integers(*y.shape)
    if y_at is not None:
        g[y_at] = value
    found = [y, *torch.autograd.grad(y, [x, k], g)]
    return [checksums(*[z.nan_to_num(0, 0, 0).round() for z in found]),
        torch.tensor([[int(f(z).sum()) for f in (torch.isnan, torch.isinf)] for z in found])]

[spoilt(s, 1, at, None, None, v) for s in (6, 8) for v in (math.inf, math.nan)
    for at in [(0, 0, 0, 0), (1, 15, s - 1, s - 1), (0, 3, 2, 4)]]
with differs("Margins are multiplied, too; torch leaves them out."):
    [spoilt(s, 1, None, k_at, y_at, v) for s in (6, 8) for v in (math.inf, math.nan)
        for k_at, y_at in [((0, 0, 0, 0), None), ((16, 3, 1, 1), None), ((2, 15, 2, 2), None),
        (None, (0, 0, 0, 0)), (None, (1, 16, s - 1, s - 1)), (None, (1, 4, 2, 3))]]

def padding_round():
    def masked(s, *taps):
        x, k = small_integers(2, 16, s, s), small_integers(17, 16, 3, 3)
        x[0, 5, 3, 3] = 1e12
        for o, i, j in taps:
            k[o, :, i, j] = 0
        y = F.conv2d(x, k, padding=1)
        z = F.conv_transpose2d(x, k.transpose(0, 1), padding=1)
        return float(y[y.abs() < 1e6].round().sum()), float(z[z.abs() < 1e6].round().sum()), int(
            (y.abs() > 1e6).sum())
    return [masked(s, *taps) for s in (6, 8) for taps in [[(o, i, j) for o in range(17)]
        for i in range(3) for j in range(3)]], [masked(s,
        *[(o, i, j) for i in range(3) for j in range(3) if (i, j) != (2, 2)]) for s in (6, 8)
        for o in (0, 16)]

def padding_conv_transpose2d():
    def without(s, o):
        x, k = small_integers(2, 16, s, s), small_integers(17, 16, 3, 3)
        x[0, 5, 3, 3], k[o] = 1e12, 0
        found = F.conv2d(x, k, padding=1), F.conv_transpose2d(x, k.transpose(0, 1), padding=1)
        return [float(y[:, o].abs().max()) for y in found]
    return [without(s, o) for s in (6, 8) for o in (0, 16)]

# widths about those of a vector, one image or many.
[exact_checksums(lambda x, k, b: F.conv2d(x, k, b, stride=s, padding=p), small_integers(n, c, h, v),
    small_integers(o, c, i, j, phase=0.8), small_integers(o))
    for n, c, h, v, o, i, j, s, p in [(1, 1, 1, 1, 1, 1, 1, 1, 0), (2, 3, 5, 7, 4, 2, 3, 1, 0),
    (1, 2, 6, 9, 5, 3, 2, 2, 1), (3, 2, 4, 4, 7, 3, 3, 1, 1), (2, 5, 9, 3, 8, 3, 1, 3, 0),
    (4, 1, 7, 8, 9, 4, 4, 2, 2), (2, 4, 3, 17, 13, 1, 5, 1, 2), (7, 3, 2, 2, 6, 2, 2, 1, 1),
    (9, 2, 3, 3, 12, 3, 3, 3, 1), (1, 1, 20, 20, 1, 5, 5, 1, 2), (2, 1, 13, 15, 2, 7, 7, 2, 3),
    (1, 6, 4, 33, 17, 3, 4, 4, 0)]]
[exact_checksums(lambda x, k: F.conv1d(x, k, stride=s, padding=p, dilation=d),
    small_integers(2, 3, n), small_integers(o, 3, j)) for n in (8, 9, 15, 16, 17, 31, 34)
    for o, j, s, p, d in [(1, 2, 1, 0, 1), (4, 3, 2, 1, 1), (5, 3, 3, 2, 2), (9, 8, 1, 3, 1),
    (3, 2, 4, 0, 3), (2, 4, 2, 4, 2)]]
[exact_checksums(lambda x, k, b: F.conv2d(x, k, b, stride=s, padding=p, dilation=d, groups=g),
    small_integers(3, c * g, 7, 8, dtype=torch.float64),
    small_integers(o * g, c, i, j, dtype=torch.float64),
    small_integers(o * g, dtype=torch.float64))
    for c, o, g, i, j, s, p, d in [(1, 1, 6, 3, 3, 1, 1, 1), (2, 3, 4, 2, 3, 2, 1, 1),
    (3, 2, 2, 3, 2, (1, 2), (2, 0), (2, 1)), (1, 5, 3, 1, 3, (2, 1), (0, 3), (1, 3)),
    (4, 7, 2, 4, 4, 3, 2, 1), (9, 1, 2, 1, 1, 2, 0, 1), (1, 2, 17, 3, 3, 1, (1, 0), 2)]]

# Two grids in turn only where one channel of results has neighbours in memory, in float32.
exact_checksums(lambda x, k: F.conv_transpose2d(x, k, stride=2, padding=1),
    small_integers(2, 2, 5, 4, dtype=torch.float64),
    small_integers(2, 1, 4, 4, dtype=torch.float64))
exact_checksums(lambda x, k: F.conv_transpose2d(x, k, stride=2, padding=1),
    small_integers(2, 2, 5, 4) * 1j, small_integers(2, 1, 4, 4) + 1j)
exact_checksums(lambda x, k: F.conv2d(x.transpose(2, 3), k, stride=2), small_integers(2, 1, 8, 9),
    small_integers(1, 1, 3, 3))

# Taps that meet nothing but margins, and kernels of nothing else.
exact_checksums(lambda x, k: F.conv1d(x, k, padding=4, dilation=3), small_integers(2, 3, 1),
    small_integers(4, 3, 3))
exact_checksums(lambda x, k: F.conv2d(x, k.transpose(2, 3), padding=(2, 1)),
    small_integers(2, 3, 1, 1), small_integers(4, 3, 3, 5))
exact_checksums(lambda x, k: F.conv2d(x, k.transpose(0, 1), padding=1), small_integers(2, 3, 1, 1),
    small_integers(3, 4, 3, 3))
exact_checksums(lambda x, k: F.conv3d(x, k, padding=(0, 1, 1)), small_integers(2, 3, 2, 1, 1),
    small_integers(4, 3, 2, 3, 3))
exact_checksums(lambda x, k: F.conv2d(x, k, padding=1), small_integers(2, 3, 1, 1) + 1j,
    small_integers(4, 3, 3, 3) - 1j)
exact_checksums(lambda x, k: F.conv2d(x, k, padding=1, groups=3), small_integers(2, 6, 1, 1),
    small_integers(9, 2, 3, 3))

# Strides of the operands.
[exact_checksums(lambda x, k: f(F.conv3d(x, k)), small_integers(2, 3, 4, 5, 6),
    small_integers(4, 3, 2, 1, 3)) for f in (lambda y: y[:, :, ::2], lambda y: y[:, :, :, ::2],
    lambda y: y.transpose(2, 3), lambda y: y.transpose(3, 4))]
exact_checksums(lambda x, k, b: F.conv2d(x, k, b[::2]), small_integers(2, 3, 5, 6) * 1j,
    small_integers(4, 3, 2, 3) + 1j, small_integers(8) - 2j)

# Channels last, and windows of one element, which are products.
[exact_checksums(lambda x, k, b: F.conv2d(x.contiguous(memory_format=torch.channels_last), k, b,
    stride=s, padding=p), small_integers(2, 3, 5, 6), small_integers(4, 3, i, j),
    small_integers(4)) for i, j, s, p in [(1, 1, 1, 0), (1, 1, 2, 0), (1, 1, 1, 1), (1, 2, 1, 0),
    (2, 1, 1, 0), (3, 3, 2, 1), (1, 1, (1, 2), 0), (1, 1, 1, (0, 1))]]
exact_checksums(lambda x, k, b: F.conv_transpose2d(x.contiguous(memory_format=torch.channels_last),
    k, b), small_integers(2, 3, 5, 6), small_integers(3, 4, 1, 1), small_integers(4))
exact_checksums(lambda x, k, b: F.conv2d(x.contiguous(memory_format=torch.channels_last), k[::2],
    b), small_integers(2, 3, 5, 6), small_integers(8, 3, 1, 1), small_integers(4))
exact_checksums(lambda x, k: F.conv2d(x.contiguous(memory_format=torch.channels_last)[:, :, 1:],
    k.transpose(0, 1)), small_integers(2, 3, 5, 6, dtype=torch.float64),
    small_integers(3, 4, 1, 1, dtype=torch.float64))
exact_checksums(lambda x, k: F.conv3d(x.contiguous(memory_format=torch.channels_last_3d), k),
    small_integers(2, 3, 2, 5, 6), small_integers(4, 3, 1, 1, 1))
exact_checksums(lambda x, k: F.conv2d(x.contiguous(memory_format=torch.channels_last), k) * 1,
    small_integers(2, 3, 5, 6) + 1j, small_integers(4, 3, 1, 1) - 1j)
exact_checksums(lambda x, k: F.conv2d(x, k).contiguous(memory_format=torch.channels_last),
    small_integers(2, 3, 5, 6), small_integers(4, 3, 1, 1))
