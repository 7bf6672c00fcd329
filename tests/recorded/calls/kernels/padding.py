"""Padding: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksums_with_gradients, exact_checksums, sines, small_integers

# All modes, by rows and by places, with pads that take away, more than a tile.
[checksums_with_gradients(lambda x: F.pad(x.contiguous(memory_format=torch.channels_last), p,
    mode=k), sines(2, 3, 4, 5, dtype=dt)) for dt in (torch.float32, torch.float64)
    for p in [(1, 2, 3, 1), (0, 0, 1, 2), (2, 1, 0, 0), (-1, 2, 1, -1), (4, 4, 3, 3)]
    for k in ("reflect", "replicate", "circular", "constant")]
[checksums_with_gradients(lambda x: F.pad(x.contiguous(memory_format=torch.channels_last_3d),
    (1, 0, 2, 1, 1, 2), mode=k), sines(2, 3, 3, 4, 5))
    for k in ("reflect", "replicate", "circular", "constant")]
[F.pad(sines(2, 3, 4, 5).contiguous(memory_format=torch.channels_last), (1, 1, 1, 1),
    mode=k).stride() for k in ("reflect", "replicate", "constant")]
[torch.autograd.grad(y, x, sines(*y.shape).contiguous(memory_format=torch.channels_last))[
    0].stride() for k in ("reflect", "replicate")
    for x in [sines(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).requires_grad_()]
    for y in [F.pad(x, (1, 2, 1, 0), mode=k)]]
[checksums_with_gradients(lambda x: f(F.pad(g(x), (1, 2, 1, 0), mode=k)), sines(2, 3, 6, 8))
    for k in ("reflect", "replicate", "circular", "constant")
    for f, g in [(lambda y: y.contiguous(memory_format=torch.channels_last), lambda x: x),
    (lambda y: y.transpose(2, 3).contiguous(), lambda x: x.contiguous(
    memory_format=torch.channels_last)), (lambda y: y, lambda x: x.transpose(2, 3)),
    (lambda y: y[..., ::2], lambda x: x[..., ::2])]]
[exact_checksums(lambda x: F.pad(x.contiguous(memory_format=torch.channels_last), (2, 1, 1, 2),
    mode=k), (small_integers(2, 3, 4, 5) + 1j * small_integers(2, 3, 4, 5, phase=0.8)).to(dt))
    for dt in (torch.complex64, torch.complex128) for k in ("reflect", "replicate")]
[F.pad(x.contiguous(memory_format=torch.channels_last), (1, 1), value=3)
    for x in [small_integers(1, 2, 2, 3, dtype=torch.float16)]] + [F.pad(sines(1, 2, 2,
    2).contiguous(memory_format=torch.channels_last), (1, 0, 0, 1), value=3)]
[checksums_with_gradients(lambda x: F.pad(x, p, mode=k), sines(n, 3, h, v, dtype=torch.float32))
    for n, h, v, p in [(3, 90, 91, (1, 2, 3, 4)), (400, 5, 3, (1, 1, 1, 1))]
    for k in ("reflect", "replicate")]
