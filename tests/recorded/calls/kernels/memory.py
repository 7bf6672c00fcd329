"""Memory: calls of the loops below the operators (`ext/kernels`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksums_with_gradients, complex_sines, iota, sines


# Complex products of few rows, either side narrow, conjugated, with what is there before.
def contiguous_resolve_conj():
    def few(m_, n, k, d, f, g):
        x, y, c = complex_sines(m_, k, dtype=d), complex_sines(k, n, dtype=d,
            phase=2.0), complex_sines(m_, n, dtype=d, phase=1.0)
        found = torch.addmm(c, f(x), g(y), beta=0.5 - 1j, alpha=2 + 0.5j)
        return found.real.sum() + 2 * found.imag.sum(), found[-1, -1].real
    return [few(m_, n, k, d, f, g) for d in (torch.complex128,)
        for m_, n, k in ((1, 4, 3), (2, 5, 40), (5, 2, 40), (4, 1, 7), (2, 2, 300), (1, 1, 1))
        for f in (lambda x: x, lambda x: x.t().contiguous().t(), lambda x: x.conj(),
        lambda x: x.t().conj().resolve_conj().t())
        for g in (lambda y: y, lambda y: y.t().contiguous().t(), lambda y: y.conj())]

# Empty sums, which only scale what is there.
[torch.addmm(iota(3, 5, dtype=d), torch.ones(3, 0, dtype=d), torch.ones(0, 5, dtype=d), beta=b)
    for d in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.float16,
    torch.bfloat16, torch.float32, torch.float64) for b in (0, 1, 3)]

# Gradients of windows that overlap, into each kind of memory.
[checksums_with_gradients(lambda x: F.max_pool2d(x.contiguous(memory_format=f), 3, s, 1),
    sines(2, 3, 6, 7, dtype=d)) for d in (torch.float32, torch.float64)
    for f in (torch.channels_last, torch.contiguous_format) for s in (1, 2, 3)]
[checksums_with_gradients(lambda x: F.avg_pool2d(x.contiguous(memory_format=f), 3, s, 1),
    sines(2, 3, 6, 7, dtype=d)) for d in (torch.float32, torch.float64)
    for f in (torch.channels_last, torch.contiguous_format) for s in (1, 2, 3)]
