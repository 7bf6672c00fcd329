"""Convolution sums: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksums, differs, exact_checksums, small_integers

# Many weights: sums by stretches, of gathered places and others, in float64, and as a product.
exact_checksums(lambda x, k, b: F.conv2d(x, k, b),
    small_integers(2, 168, 4, 5, dtype=torch.float64),
    small_integers(261, 168, 3, 3, dtype=torch.float64), small_integers(261, dtype=torch.float64))
checksums(F.conv1d(small_integers(1, 761, 18, dtype=torch.float64),
    small_integers(263, 761, 2, dtype=torch.float64), small_integers(263, dtype=torch.float64)),
    F.conv1d(small_integers(3, 761, 5, dtype=torch.float64),
    small_integers(263, 761, 2, dtype=torch.float64)))
exact_checksums(lambda x, k, b: F.conv2d(x, k, b, stride=2), small_integers(3, 90, 7, 5),
    small_integers(261, 90, 3, 3), small_integers(261))
exact_checksums(lambda x, k: F.conv2d(x, k.transpose(2, 3), stride=2), small_integers(1, 90, 7, 5),
    small_integers(261, 90, 3, 3))
exact_checksums(lambda x, k: F.conv2d(x, k[:, ::2], stride=2), small_integers(1, 90, 7, 5),
    small_integers(261, 180, 3, 3))
exact_checksums(lambda x, k: F.conv2d(x, k, groups=2), small_integers(2, 100, 6, 5),
    small_integers(270, 50, 4, 4))
exact_checksums(lambda x, k: F.conv2d(x, k), small_integers(2, 16, 25, 25) * 1j,
    small_integers(24, 16, 16, 16) + 1j)

# More than is packed at once, and more sums than are at work.
exact_checksums(lambda x, k, b: F.conv2d(x, k, b),
    small_integers(2, 170, 4, 3, dtype=torch.float64),
    small_integers(606, 170, 3, 3, dtype=torch.float64), small_integers(606, dtype=torch.float64))

# Images that are worked on in turn.
exact_checksums(lambda x, k: F.conv2d(x, k, stride=3),
    small_integers(9, 9, 40, 41, dtype=torch.float64),
    small_integers(7, 9, 3, 3, dtype=torch.float64))
exact_checksums(lambda x, k: F.conv2d(x, k, stride=2, groups=16), small_integers(21, 16, 31, 30),
    small_integers(16, 1, 3, 3))
exact_checksums(lambda x, k: F.conv_transpose2d(x, k, stride=2), small_integers(21, 16, 15, 15),
    small_integers(16, 5, 3, 3))

# Each place's products put where they belong.
exact_checksums(lambda x, k, b: F.conv_transpose2d(x, k, b, stride=2),
    small_integers(17, 260, 4, 4), small_integers(260, 40, 5, 4), small_integers(40))
[exact_checksums(lambda x, k, b: F.conv_transpose2d(x, k, b, stride=s, padding=p, dilation=d),
    small_integers(n, 340, h, v), small_integers(340, 70, 3, 3), small_integers(70))
    for n, h, v, s, p, d in [(1, 4, 4, 2, 1, 1), (1, 3, 5, (1, 2), (0, 1), (2, 1)),
    (2, 3, 3, (3, 1), 0, (1, 2)), (1, 2, 2, 2, 0, 1), (1, 4, 3, 1, 0, 1), (16, 1, 1, 2, 0, 1)]]
[exact_checksums(lambda x, k: F.conv_transpose2d(f(x), g(k), stride=2),
    small_integers(1, 340, 4, 8), small_integers(340, 140, 3, 3))
    for f, g in [(lambda x: x[..., ::2], lambda k: k[:, :70]),
    (lambda x: x[:, :, ::2, :5], lambda k: k[:, ::2]),
    (lambda x: x[:, :, :, :4], lambda k: k.transpose(2, 3)[:, 70:]),
    (lambda x: x[..., 1:5], lambda k: k[:, :70].contiguous(memory_format=torch.channels_last))]]
[exact_checksums(lambda x, k, b: F.conv_transpose2d(x, k, b[::2], stride=2),
    small_integers(1, c, 4, 4), small_integers(c, o, i, j), small_integers(2 * o))
    for c, o, i, j in [(16, 250, 7, 8), (17, 180, 8, 9), (450, 440, 1, 1)]]
exact_checksums(lambda x, k, b: F.conv_transpose3d(x, k, b, stride=(2, 1, 2)),
    small_integers(1, 340, 2, 3, 4), small_integers(340, 40, 2, 3, 3), small_integers(40))
exact_checksums(lambda x, k: F.conv_transpose1d(x, k, stride=2), small_integers(1, 340, 17),
    small_integers(340, 145, 4))
exact_checksums(lambda x, k: F.conv_transpose2d(x, k, stride=2), small_integers(1, 160, 4, 4) + 1j,
    small_integers(160, 140, 3, 3) - 1j)

# Other numbers.
[exact_checksums(lambda x, k, b: F.conv2d(x, k, b, stride=s, padding=p),
    small_integers(2, 3, 6, 7, dtype=d), small_integers(4, 3, 2, 3, dtype=d),
    small_integers(4, dtype=d)) for d in (torch.float16, torch.bfloat16)
    for s, p in [(1, 0), (2, 1), (3, 2)]]
[exact_checksums(lambda x, k: F.conv_transpose2d(x, k, stride=s),
    small_integers(2, 3, 5, 6, dtype=d), small_integers(3, o, 3, 2, dtype=d))
    for d in (torch.float16, torch.bfloat16) for o, s in [(1, 2), (9, 1), (2, 3)]]
[exact_checksums(lambda x, k, b: F.conv2d(f(x), g(k), b[::2]), small_integers(2, 3, 6, 8, dtype=d),
    small_integers(4, 6, 2, 2, dtype=d), small_integers(8, dtype=d))
    for d in (torch.float16, torch.bfloat16) for f,
    g in [(lambda x: x[..., ::2], lambda k: k[:, :3]),
    (lambda x: x.transpose(2, 3), lambda k: k[:, ::2]),
    (lambda x: x[:, :, 1:], lambda k: k.transpose(2, 3)[:, 3:])]]
[exact_checksums(lambda x, k: F.conv2d(x, k, groups=3), small_integers(2, 6, 5, 5, dtype=d),
    small_integers(12, 2, 3, 2, dtype=d)) for d in (torch.float16, torch.bfloat16, torch.complex64,
    torch.complex128)]
[F.conv2d(small_integers(1, 2, 4, 5, dtype=d) * 50, small_integers(3, 2, 2, 3, dtype=d) * 7,
    small_integers(3, dtype=d), stride=s) for d in (torch.int32, torch.int64) for s in (1, 2)]
[F.conv2d((small_integers(1, 2, 4, 5) * 9).to(d), small_integers(3, 2, 2, 3).to(d), stride=(2, 1),
    padding=1) for d in (torch.int32, torch.int64)]
F.conv2d(torch.tensor([[[2**62, 3], [2**61, -1]]]), torch.tensor([[[[4, 1], [8, -(2**62)]]]]))
[F.conv2d(small_integers(1, 2, 4, 5, dtype=d) * 50, small_integers(3, 2, 2, 3, dtype=d) * 7,
    small_integers(3, dtype=d), stride=s) for d in (torch.uint8, torch.int8, torch.int16)
    for s in (1, 2)]

# By two threads.
def groups_conv_transpose2d():
    def shared(n, f):
        before = torch.get_num_threads()
        torch.set_num_threads(n)
        try:
            return f()
        finally:
            torch.set_num_threads(before)
    return [shared(n, lambda: exact_checksums(lambda x,
        k: F.conv2d(x, k, stride=s, padding=p, groups=g), small_integers(*x), small_integers(*k)))
        for n in (1, 2) for x, k, s, p, g in [((2, 32, 20, 20), (32, 32, 3, 3), 1, 1, 1),
        ((2, 32, 18, 18), (64, 32, 3, 3), 1, 1, 1), ((4, 40, 14, 14), (70, 40, 3, 3), 1, 1, 1),
        ((2, 32, 20, 20), (40, 16, 3, 3), 1, 1, 2), ((2, 24, 21, 20), (24, 24, 4, 4), 2, 1, 1),
        ((1, 3, 64, 64), (17, 3, 5, 5), 1, 2, 1), ((40, 20, 6, 6), (33, 20, 3, 3), 1, 1,
        1)]], [shared(n, lambda: exact_checksums(lambda x,
        k: F.conv_transpose2d(x, k, stride=2, groups=g), small_integers(*x), small_integers(*k)))
        for n in (1, 2) for x, k, g in [((2, 32, 16, 16), (32, 20, 3, 3), 1),
        ((2, 32, 16, 16), (32, 20, 3, 3), 2), ((3, 2, 40, 40), (2, 1, 4, 4), 1)]]

@differs(
    "Sums by tiles round otherwise: the shapes of which they are (torch has tiles of its own, or none).")
def conv2d_padding():
    def rounded(*shapes):
        found = []
        for n, c, h, v, o, p in shapes:
            x, k = (small_integers(n, c, h, v) * 331).requires_grad_(), (small_integers(o, c, 3, 3,
                phase=0.8) * 101).requires_grad_()
            y = F.conv2d(x, k, padding=p)
            g = small_integers(*y.shape) * 101
            z = F.conv2d(x.double(), k.double(), padding=p)
            pairs = zip([y, *torch.autograd.grad(y, [x, k], g)],
                [z, *torch.autograd.grad(z, [x, k], g.double())])
            found.append([bool((a.double() == b).all()) for a, b in pairs])
        return found
    return rounded((2, 16, 8, 8, 16, 1), (2, 15, 8, 8, 16, 1), (2, 16, 8, 8, 15, 1),
        (1, 16, 16, 16, 16, 1), (1, 16, 4, 4, 16, 1), (4, 16, 4, 4, 16, 1), (3, 16, 4, 4, 16, 1),
        (5, 16, 4, 4, 16, 1), (2, 16, 12, 12, 16, 0), (2, 16, 7, 7, 16, 1), (16, 16, 3, 3, 16, 1),
        (2, 16, 8, 3, 16, 1), (2, 16, 6, 6, 16, 1), (2, 16, 6, 6, 16, 0), (4, 16, 5, 5, 16, 2),
        (2, 40, 7, 5, 33, 1), (16, 16, 3, 4, 16, 1), (16, 16, 1, 2, 16, 1), (16, 16, 2, 2, 16, 1),
        (64, 16, 6, 6, 16, 1), (9, 20, 12, 13, 130, 1))
