"""Interpreted edges: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import gradients, iota, metadata, sines

# histograms, infinities, choices: what is refused, and limits
torch.histc(iota(4), 0)
torch.histc(iota(4), -1)
torch.histc(torch.tensor([1.0, float("nan")]), 3)
torch.isposinf(torch.zeros(2, dtype=torch.complex64))
torch.isneginf(torch.zeros(2, dtype=torch.complex64))
torch.isposinf(torch.tensor([float("inf"), -float("inf"), 0]), out=torch.empty(3, dtype=torch.bool))
torch.isneginf(torch.tensor([float("inf"), -float("inf"), 0]), out=torch.empty(3, dtype=torch.bool))
torch.isneginf(torch.tensor([float("inf"), -float("inf"), 0]), out=torch.empty(3))

def empty_isposinf():
    x = torch.empty(3, dtype=torch.bool)
    return torch.isposinf(iota(3), out=x) is x

torch.nansum(torch.tensor([1.0, float("nan"), 2]))
torch.nansum(iota(2, 2, dtype=torch.int64), 0)
torch.nansum(torch.tensor([[1.0, float("nan")]]), 1, True)
torch.nansum(torch.tensor([float("nan")]))
torch.nansum(torch.tensor([1.0, float("nan")]), dtype=torch.float64)
torch.nansum(torch.zeros(2, dtype=torch.complex64))
torch.nanmean(iota(2, dtype=torch.int64))
torch.nanmean(torch.tensor([[1.0, float("nan")], [3, 4]]), 1)
torch.nanmean(torch.tensor([[1.0, float("nan")], [3, 4]]), 0, True)
torch.nanmean(torch.tensor([float("nan")]))
torch.aminmax(torch.zeros(2, 0), dim=1)
torch.aminmax(torch.zeros(2, 0), dim=0)
torch.dot(iota(2), iota(2).double())
torch.dot(iota(2), iota(3))
torch.polar(iota(2, dtype=torch.int64), iota(2))
torch.polar(iota(2), iota(2).double())
torch.polar(iota(2).bfloat16(), iota(2).bfloat16())
torch.linalg.eigh(torch.eye(2), UPLO="X")
torch.linalg.eigvalsh(sines(2, 2), UPLO="u"), torch.linalg.eigvalsh(sines(2, 2), UPLO="l")
torch.linalg.eigvalsh(sines(2, 3))
torch.fft.fftfreq(0), torch.fft.fftfreq(0, 2.0, dtype=torch.float64)
torch.fft.rfftfreq(4, dtype=torch.int64)
torch.inner(iota(2, 3), iota(2, 3), out=torch.zeros(2, 2))
torch.inner(iota(2, 3), iota(4, 3), out=torch.zeros(0))
metadata(torch.inner(iota(2, 3), iota(4, 3), out=torch.zeros(4, 2).t()))
torch.inner(iota(2, 3), iota(3), out=torch.zeros(2))
torch.inner(iota(3), iota(3), out=torch.zeros(()))
torch.inner(iota(3), iota(2, 3))

def cdist_float():
    a, b = sines(3, 2), sines(4, 2)
    return [torch.cdist(a.float(), b.float(), p) for p in (1e39, 1e300)], [torch.cdist(a, b, p)
        for p in (300, 1e300)]

[gradients(lambda x: torch.cdist(x, torch.zeros(2, 2, dtype=torch.float64), p),
    torch.zeros(2, 2, dtype=torch.float64)) for p in (0, 1, 1.5, 2, 3, float("inf"))]
[gradients(lambda x: torch.cdist(x, torch.zeros(1, 2, dtype=torch.float64), p),
    torch.tensor([[0.0, 2.0], [1.0, 1.0]], dtype=torch.float64)) for p in (1, 2, 3, float("inf"))]
[[round(float((torch.cdist(sines(n, 3), sines(k, 3))
    - (sines(n, 3)[:, None] - sines(k, 3)).pow(2).sum(-1).sqrt()).abs().max()), 6)
    for n, k in ((25, 2), (26, 2), (2, 26), (25, 25), (30, 30))]]
torch.cdist(sines(2, 2), sines(2, 2), compute_mode="other")
torch.pdist(iota(2, 2, dtype=torch.int64))
torch.pdist(iota(2, 2).half())
torch.pdist(iota(2, 2, dtype=torch.complex64))
[torch.pdist(sines(3, 2), p) for p in (0, 1, 2, 3, float("inf"))]
torch.pdist(sines(1, 2))
torch.pdist(sines(0, 2))
torch.dist(sines(2), sines(2) + 1, 1j)

# special functions near the change of their formula
[gradients(f, torch.tensor([0.0, 0.5, 0.999, 1.0, 1.001, 2.0, -1.5, 30.0, 1e5],
    dtype=torch.float64)) for f in (torch.special.i1, torch.special.i1e, torch.special.i0e)]
torch.logdet(-torch.eye(2))
torch.logdet(-torch.eye(3))
torch.logdet(torch.zeros(2, 2))
torch.logdet(torch.eye(2, dtype=torch.complex128) * 1j)
torch.logdet(0.5 * torch.eye(2))
torch.logdet(torch.tensor([[-2.0]]))
torch.logdet(sines(3, 2, 2))
torch.fill(sines(2), iota(1, dtype=torch.int64)[0])
torch.fill(sines(2), 2)
torch.fill(iota(2, dtype=torch.int64), torch.tensor(2.7))
torch.fill(torch.zeros(2, dtype=torch.complex64), torch.tensor(1j))
torch.multinomial(torch.zeros(2, 0), 1, True)
torch.multinomial(torch.tensor([0.0, 0.0]), 1)

# CTC: short, empty and impossible
def ctc_loss_reduction():
    lp = torch.log_softmax(sines(4, 2, 3), -1)
    return [torch.nn.functional.ctc_loss(lp, torch.tensor([[1, 2], [1, 1]]), torch.tensor([4, 3]),
        torch.tensor([2, 2]), reduction=r) for r in ("none", "mean", "sum")]

gradients(lambda x: torch.nn.functional.ctc_loss(torch.log_softmax(x, -1),
    torch.tensor([[1, 2], [1, 1]]), torch.tensor([4, 3]), torch.tensor([2, 2])), sines(4, 2, 3))
gradients(lambda x: torch.nn.functional.ctc_loss(torch.log_softmax(x, -1),
    torch.tensor([[1, 2], [1, 1]]), torch.tensor([4, 2]), torch.tensor([2, 2]), zero_infinity=True),
    sines(4, 2, 3))

def ctc_loss_blank():
    lp = torch.log_softmax(sines(4, 2, 3), -1)
    return torch.nn.functional.ctc_loss(lp, torch.tensor([1, 2, 1]), torch.tensor([4, 4]),
        torch.tensor([2, 1]), blank=0, reduction="none"), torch.nn.functional.ctc_loss(lp,
        torch.tensor([[0, 1], [1, 0]]), torch.tensor([4, 4]), torch.tensor([2, 2]), blank=2,
        reduction="none")

def ctc_loss_reduction_2():
    lp = torch.log_softmax(sines(4, 2, 3), -1)
    return torch.nn.functional.ctc_loss(lp[:, 0], torch.tensor([1, 2]), torch.tensor(4),
        torch.tensor(2), reduction="none")
