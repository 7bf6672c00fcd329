"""Interpreted: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    gradients,
    iota,
    sines,
    tangents,
)

# matrices: powers, systems, factors
[torch.linalg.matrix_power(sines(2, 2), n) for n in (0, 1, 2, 3, 5, -2)]
torch.linalg.matrix_power(sines(2, 2), -1).contiguous()
torch.linalg.matrix_power(iota(2, 2, dtype=torch.int64), 3)
torch.linalg.matrix_power(iota(2, 2, dtype=torch.int64), 0)
torch.linalg.matrix_power(iota(2, 2, dtype=torch.int64), -1)
torch.linalg.matrix_power(sines(2), 2)
[x.contiguous() for x in (torch.linalg.solve(sines(2, 2), sines(2)),
    torch.linalg.solve(sines(2, 2), sines(2, 3)), torch.linalg.solve(sines(3, 2, 2), sines(3, 2)),
    torch.linalg.solve(sines(2, 2), sines(3, 2), left=False))]
torch.linalg.solve(sines(2, 2), sines(2), left=False)
torch.linalg.solve(sines(2, 3, 3), sines(3, 3, 1))
torch.linalg.solve(sines(4, 1, 3, 3), sines(3, 3, 1)).shape
[error_name(torch.linalg.solve, sines(0, 2, 2), sines(3, 2, 1)),
    error_name(lambda: torch.linalg.solve(sines(), sines(3, 2), left=False)),
    error_name(torch.linalg.solve, sines(), sines(3, 2))]
gradients(lambda a, b: torch.linalg.solve(a, b), sines(2, 2), sines(2, 3))
gradients(lambda a: torch.linalg.solve(a, sines(2, 3)), sines(2, 2))
gradients(lambda b: torch.linalg.solve(sines(2, 2), b), sines(2))
tangents(lambda a, b: torch.linalg.solve(a, b), sines(2, 2), sines(2, 3))

def cholesky_upper():
    a = sines(3, 3) @ sines(3, 3).mT + 2 * torch.eye(3, dtype=torch.float64)
    return (torch.linalg.cholesky(a).contiguous(),
        torch.linalg.cholesky(a, upper=True).contiguous(),
        gradients(lambda x: torch.linalg.cholesky(x), a),
        gradients(lambda x: torch.linalg.cholesky(x, upper=True), a),
        tangents(lambda x: torch.linalg.cholesky(x + x.mT), a),
        tangents(lambda x: torch.linalg.cholesky(x + x.mT, upper=True), a))

error_name(torch.linalg.cholesky, -torch.eye(2)) in ("LinAlgError", "_LinAlgError")

def eigvalsh_uplo():
    a = sines(3, 3) + sines(3, 3).mT
    return torch.linalg.eigvalsh(a), torch.linalg.eigvalsh(sines(3, 3),
        UPLO="U"), torch.linalg.eigvalsh(sines(3, 3)), gradients(lambda x: torch.linalg.eigvalsh(x),
        a), gradients(lambda x: torch.linalg.eigh(x)[1] ** 2,
        a), tangents(lambda x: torch.linalg.eigvalsh(x), a)

torch.linalg.svdvals(sines(2, 3))
torch.linalg.svdvals(sines(2, 3, 2))
gradients(torch.linalg.svdvals, sines(2, 3))
tangents(torch.linalg.svdvals, sines(2, 3))
[x.shape for x in torch.linalg.svd(sines(2, 3))]
[x.shape for x in torch.linalg.svd(sines(2, 3), full_matrices=False)]
[x.shape for x in torch.linalg.svd(sines(4, 3, 2), False)]

def full_matrices_linalg():
    def back(which, x, full=False):
        return gradients(lambda a: sum(torch.linalg.svd(a, full_matrices=full)[k] ** 2 if k != 1
            else torch.linalg.svd(a, full_matrices=full)[k].sum() for k in which)
            if len(which) == 1 else sum((torch.linalg.svd(a,
            full_matrices=full)[k] ** 2 * seeds(torch.linalg.svd(a, full_matrices=full)[k])).sum()
            for k in which), x)
    def seeds(x):
        return sines(*x.shape, phase=0.7).to(x.dtype)
    return [back(which, sines(*shape)) for which in ((0,), (1,), (2,), (0, 2), (0, 1, 2))
        for shape in ((2, 3), (3, 2), (2, 2))]

def full_matrices_linalg_2():
    def moved(which, x):
        return tangents(lambda a: torch.linalg.svd(a, full_matrices=False)[which] ** 2, x)
    return [moved(which, sines(*shape)) for which in (0, 1, 2)
        for shape in ((2, 3), (3, 2), (2, 2))]

def svd_linalg():
    x = sines(2, 3).requires_grad_()
    return torch.linalg.svd(x)[1].sum().backward(), x.grad.shape, error_name(
        lambda: torch.linalg.svd(x)[2].sum().backward()), error_name(
        lambda: torch.linalg.svd(x)[0].sum().backward()), error_name(
        lambda: torch.linalg.svd(x.mT)[0].sum().backward())

def svdvals_full_matrices():
    x = complex_sines(2, 3)
    return (gradients(lambda a: torch.linalg.svd(a, full_matrices=False)[0].abs(), x),
        gradients(lambda a: torch.linalg.svd(a, full_matrices=False)[2].abs(), x),
        gradients(lambda a: torch.linalg.svdvals(a), x),
        tangents(lambda a: torch.linalg.svd(a, full_matrices=False)[0].abs(), x),
        tangents(lambda a: torch.linalg.svd(a, full_matrices=False)[2].abs(), x))

torch.linalg.inv(sines(2, 2)).contiguous()
gradients(torch.linalg.inv, sines(2, 2))
tangents(torch.linalg.inv, sines(2, 2))

# products and distances
torch.inner(sines(2, 3), sines(4, 3))
torch.inner(sines(3), sines(3))
torch.inner(sines(), sines(3))
torch.inner(sines(2, 3), sines())
torch.inner(sines(2, 2, 3), sines(3))
torch.inner(sines(3), sines(2, 3))
torch.inner(sines(3), iota(3))

def empty_inner():
    o = [torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.float64)]
    return torch.inner(sines(3), sines(3), out=o[0]), torch.inner(sines(), sines(3), out=o[1]), o

[torch.dist(sines(3), sines(3, phase=1.0), p) for p in (2, 1, 0, math.inf, 3)]
torch.dist(sines(2, 1), sines(3))
[torch.cdist(sines(30, 3), sines(28, 3, phase=1.0), compute_mode=k)
    for k in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist")]
torch.cdist(sines(2, 3), sines(4, 3), compute_mode="no")
torch.cdist(iota(2, 3, dtype=torch.int64), sines(4, 3))
torch.cdist(sines(2, 3), iota(4, 3, dtype=torch.int64))
torch.cdist(sines(2, 3), iota(4, 3))
torch.cdist(sines(2, 3).float(), sines(4, 3).float(), 1e300)
torch.cdist(sines(2, 3), sines(4, 3), 1e6).shape
torch.cdist(sines(2, 0), sines(4, 0))
torch.cdist(sines(0, 3), sines(4, 3)).shape
[torch.pdist(sines(4, 3), p) for p in (2, 1, 0, math.inf, 3)]
torch.pdist(sines(1, 3))
torch.pdist(sines(0, 3))
gradients(lambda a: torch.pdist(a), sines(4, 3))
torch.pdist(sines(3, 3).float(), 1e300)

# counting, choosing
torch.bincount(torch.tensor([0, 2, 2]))
torch.bincount(torch.tensor([0, 2, 2]), minlength=5)
torch.bincount(torch.tensor([0, 2, 2]), minlength=3)
torch.bincount(torch.tensor([0, 2, 2]), sines(3))
torch.bincount(torch.tensor([0, 2, 2]), iota(3))
torch.bincount(torch.tensor([0, 2, 2]), iota(3, dtype=torch.int64))
torch.bincount(torch.tensor([], dtype=torch.int64))
torch.bincount(torch.tensor([], dtype=torch.int64), minlength=2)
torch.bincount(torch.tensor([1], dtype=torch.uint8))
torch.bincount(torch.tensor([0, -1]))
torch.bincount(torch.tensor([[0, 1]]))
torch.bincount(torch.tensor([0.5]))
torch.bincount(torch.tensor([True]))
torch.bincount(torch.tensor([0, 1]), minlength=-1)
torch.bincount(torch.tensor([0, 1]), sines(3))
with differs("the number of bins would differ between examples"):
    vmap(torch.bincount)(torch.tensor([[0, 1]]))
    vmap(lambda v: torch.bincount(torch.tensor([0, 1]), v))(sines(2, 2))
F.one_hot(torch.tensor([0, 2]))
F.one_hot(torch.tensor([0, 2]), 4)
F.one_hot(torch.tensor([[1]]), 2)
F.one_hot(torch.tensor(1))
F.one_hot(torch.tensor([], dtype=torch.int64), 3)
vmap(lambda x: F.one_hot(x, 3))(torch.tensor([[0], [2]]))
F.one_hot(torch.tensor([0, -1]))
F.one_hot(torch.tensor([0, 3]), 3)
F.one_hot(torch.tensor([0, 2]), 3)
F.one_hot(torch.tensor([], dtype=torch.int64))
F.one_hot(torch.tensor([0.5]))
F.one_hot(torch.tensor([1], dtype=torch.int32))
vmap(F.one_hot)(torch.tensor([[0], [2]]))
torch.take_along_dim(sines(2, 3), torch.tensor([[0]], dtype=torch.int32), 1)
torch.take_along_dim(sines(2, 3), torch.tensor([[0.0]]), 1)
torch.take_along_dim(sines(2, 3), torch.tensor([[3]]), 1)

def empty_take_along_dim():
    o = torch.empty(0, dtype=torch.float64)
    return torch.take_along_dim(sines(2, 3), torch.tensor([[0], [2]]), 1,
        out=o) is o, o, error_name(lambda: torch.take_along_dim(sines(2, 3),
        torch.tensor([[0], [2]]), 1, out=torch.empty(0))), torch.take_along_dim(sines(2, 3),
        torch.tensor([0, 5]), out=torch.empty(0, dtype=torch.float64))

gradients(lambda x: torch.take_along_dim(x, torch.tensor([[0, 0], [2, 1]]), 1), sines(2, 3))

# sequences without alignment
def ctc_loss_reduction():
    p = sines(5, 2, 4).log_softmax(2)
    return (F.ctc_loss(p, torch.tensor([[1, 2], [3, 3]]), (5, 5), (2, 2)),
        F.ctc_loss(p, torch.tensor([[1, 2], [3, 3]]), (5, 4), (2, 1), reduction="none"),
        F.ctc_loss(p, torch.tensor([1, 2, 3]), (5, 4), (2, 1), reduction="sum"),
        F.ctc_loss(p, torch.tensor([[1, 2], [3, 0]]), torch.tensor([5, 4]), torch.tensor([2, 1])),
        F.ctc_loss(p, torch.tensor([[0, 2], [3, 2]]), (5, 5), (2, 2), blank=1),
        F.ctc_loss(p, torch.tensor([[1, 2], [3, 3]]), (5, 5), (0, 0), reduction="none"),
        F.ctc_loss(p[:, 0], torch.tensor([1, 2]), torch.tensor(5), torch.tensor(2),
        reduction="none"), F.ctc_loss(p, torch.tensor([[1, 1], [3, 3]]), (2, 3), (2, 2),
        reduction="none"), F.ctc_loss(p, torch.tensor([[1, 1], [3, 3]]), (2, 3), (2, 2),
        zero_infinity=True, reduction="none"), F.ctc_loss(p, torch.tensor([[1, 2], [3, 3]]), (1, 5),
        (1, 2), reduction="none"))

def ctc_loss_log_softmax():
    p = sines(5, 2, 4)
    return (gradients(lambda x: F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2], [3, 3]]), (5, 4),
        (2, 1)), p), gradients(lambda x: F.ctc_loss(x.log_softmax(2),
        torch.tensor([[1, 1], [3, 3]]), (2, 5), (2, 2), zero_infinity=True), p),
        gradients(lambda x: F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2], [3, 3]]), (5, 3),
        (0, 2), reduction="sum"), p))

def ctc_loss_tensor():
    p = sines(5, 2, 4)
    return F.ctc_loss(p[:, 0], torch.tensor([1, 2, 3]), torch.tensor(5), torch.tensor(2))

def zero_infinity_log_softmax():
    p = sines(5, 2, 4)
    return gradients(lambda x: F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2], [3, 3]]), (0, 0),
        (2, 2), zero_infinity=True), p)

F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2], [3, 3]]), 5, (2, 2))
F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2], [3, 3]]), (5, 6), (2, 2))
F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2], [3, 3]]), (5,), (2, 2))
F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2], [3, 3]]), (5, 5), (2,))
F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2]]), (5, 5), (2, 2))
F.ctc_loss(sines(5, 2, 4), torch.tensor([1, 2, 3]), (5, 5), (2, 2))
F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2], [3, 3]]), (5, 5), (2, 2), blank=4)
with differs("each of the two may be of either kind"):
    F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2], [3, 3]]), torch.tensor([5.0, 5.0]), (2, 2))
    F.ctc_loss(sines(5, 2, 4), torch.tensor([[1, 2], [3, 3]]), (5, 5), torch.tensor([True, True]))
F.ctc_loss(sines(0, 2, 4), torch.tensor([[1, 2], [3, 3]]), (0, 0), (2, 2))
F.ctc_loss(sines(5, 2, 4).to(torch.float16), torch.tensor([[1, 2], [3, 3]]), (5, 5), (2, 2))
F.ctc_loss(sines(1, 5, 2, 4), torch.tensor([[1, 2], [3, 3]]), (5, 5), (2, 2))
with differs("tangents of distances, which torch has not"):
    [tangents(lambda a, b: torch.cdist(a, b, p), sines(2, 3), sines(3, 3, phase=1.0))
        for p in (2, 1, 0, math.inf, 3)]
    [(torch.cdist(sines(2, 3) + 1e-6 * sines(2, 3, phase=0.9),
        sines(3, 3, phase=1.0) + 1e-6 * sines(3, 3, phase=0.9),
        p) - torch.cdist(sines(2, 3) - 1e-6 * sines(2, 3, phase=0.9),
        sines(3, 3, phase=1.0) - 1e-6 * sines(3, 3, phase=0.9),
        p)) .div(2e-6) .sub(tangents(lambda a, b: torch.cdist(a, b, p), sines(2, 3),
        sines(3, 3, phase=1.0))[0]) .abs() .max() .item() < 1e-7 for p in (2, 1, math.inf, 3)]

# transforms
[getattr(torch.fft, k)(complex_sines(4)) for k in ("fft", "ifft")]
torch.fft.rfft(sines(5))
torch.fft.irfft(complex_sines(3))
torch.fft.irfft(complex_sines(3), n=5)
torch.fft.fft(sines(4), n=6)
torch.fft.fft(sines(4), n=2)
torch.fft.fft(sines(2, 3), dim=0).contiguous()
[torch.fft.fft(sines(4), norm=k) for k in ("forward", "backward", "ortho")]
[torch.fft.irfft(complex_sines(3), norm=k) for k in ("forward", "backward", "ortho")]
torch.fft.fft(sines(4), norm="no")
gradients(lambda x: torch.fft.rfft(x).abs(), sines(5))
gradients(lambda x: torch.fft.rfft(x).abs(), sines(4))
gradients(lambda x: torch.fft.irfft(x), complex_sines(3))
gradients(lambda x: torch.fft.irfft(x, n=5), complex_sines(3))
gradients(lambda x: torch.fft.fft(x, norm="ortho").abs(), sines(4))
tangents(lambda x: torch.fft.irfft(x), complex_sines(3))
tangents(lambda x: torch.fft.rfft(x, n=3), sines(5))

# refusals of shapes
[error_name(f, x) for x in (sines(2), sines(2, 3), sines())
    for f in (torch.linalg.cholesky, torch.linalg.inv, torch.linalg.eigvalsh, torch.linalg.eigh,
    torch.linalg.svdvals, torch.linalg.svd)]
torch.linalg.cholesky(sines(2))
torch.linalg.eigh(sines(2, 3))
torch.linalg.svdvals(sines(2))
torch.fft.rfft(sines(4), norm="no")
torch.cdist(torch.tensor([[0.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 0.0]]))
gradients(lambda a, b: torch.cdist(a, b), sines(2, 3), sines(2, 3))
gradients(lambda a, b: torch.cdist(a, b, 3), sines(2, 3), sines(2, 3))
gradients(lambda a: torch.cdist(a, torch.zeros(1, 2, dtype=torch.float64), 1),
    torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64))
gradients(lambda a: torch.cdist(a, torch.zeros(1, 2, dtype=torch.float64), 0.5),
    torch.tensor([[0.0, 1.0], [4.0, 1.0]], dtype=torch.float64))
