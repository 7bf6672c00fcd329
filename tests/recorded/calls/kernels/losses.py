"""Losses: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksum, gradients, iota, sines

# Negative log-likelihoods: tiles, places of samples, weights, what is ignored, half types.
[F.nll_loss(sines(3).to(d), torch.tensor(1), reduction=r)
    for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for r in ("none", "sum", "mean")] + [F.nll_loss(sines(2, 3).to(d), torch.tensor([2, 0]),
    torch.tensor([0.5, 2.0, 3.0]).to(d), reduction=r)
    for d in (torch.float16, torch.bfloat16, torch.float32) for r in ("none", "sum", "mean")]

# Mean squared errors.
[checksum(F.mse_loss(sines(n, dtype=d), sines(n, dtype=d, phase=2.0), reduction=r))
    for n in (1, 1025, 32769) for d in (torch.float32,) for r in ("none", "sum", "mean")]
[F.mse_loss(sines(2, 3).to(d), sines(2, 3, phase=2.0).to(e), reduction=r)
    for d, e in ((torch.float16, torch.float16), (torch.bfloat16, torch.bfloat16),
    (torch.float32, torch.float64), (torch.float64, torch.float32))
    for r in ("none", "sum", "mean")]
[F.mse_loss(x, y, reduction=r) for x, y in ((sines(3, 2).t(), sines(2, 3, phase=2.0)),
    (sines(2, 3), sines(2, 6, phase=2.0)[:, ::2]), (sines(2, 3), sines(3, phase=2.0)),
    (sines(2, 1), sines(3, phase=2.0)), (sines(), sines(phase=2.0)), (sines(0), sines(0)),
    (sines(3, 2).t(), sines(3, 2, phase=2.0).t())) for r in ("none", "sum", "mean")]
[gradients(lambda x, y: F.mse_loss(x, y, reduction=r), sines(2, 3), sines(2, 3, phase=2.0))
    for r in ("none", "sum", "mean")] + [checksum(gradients(lambda x, y: F.mse_loss(x, y),
    sines(40000), sines(40000, phase=2.0))[1])]
[checksum(F.mse_loss(sines(40000, dtype=d), sines(40000, dtype=d, phase=2.0), reduction="none"))
    for d in (torch.float32, torch.float64)]

# Losses that are a sum of one number for each element: blocks, tiles, weights, half types.
def pos_weight_flip():
    def losses(x, y, p, r):
        made = [F.l1_loss(x, y, reduction=r), F.smooth_l1_loss(x, y, reduction=r, beta=0.5),
            F.huber_loss(x, y, reduction=r, delta=0.3), F.kl_div(x, p, reduction=r),
            F.kl_div(x, y, reduction=r, log_target=True),
            F.soft_margin_loss(x, y.sign(), reduction=r)]
        made += [F.binary_cross_entropy(p, p.flip(0), reduction=r),
            F.binary_cross_entropy(p, p.flip(0), p + 1, reduction=r),
            F.binary_cross_entropy_with_logits(x, p, reduction=r),
            F.binary_cross_entropy_with_logits(x, p, p + 1, reduction=r),
            F.binary_cross_entropy_with_logits(x, p, pos_weight=p + 2, reduction=r),
            F.binary_cross_entropy_with_logits(x, p, p + 1, pos_weight=p + 2, reduction=r)]
        return made
    return [[checksum(f) for f in losses(sines(n), sines(n, phase=2.0),
        sines(n, phase=3.0) / 2.1 + 0.5, r)] for n in (0, 1, 1023, 1024, 1025, 16384, 16385)
        for r in ("none", "sum", "mean")]

def reduction_pos_weight():
    def losses(x, y, p, r):
        return [F.l1_loss(x, y, reduction=r), F.smooth_l1_loss(x, y, reduction=r),
            F.huber_loss(x, y, reduction=r), F.kl_div(x, p, reduction=r),
            F.soft_margin_loss(x, y.sign(), reduction=r),
            F.binary_cross_entropy(p, p.flip(0), p + 1, reduction=r),
            F.binary_cross_entropy_with_logits(x, p, p + 1, pos_weight=p + 2, reduction=r)]
    return [losses(sines(7).to(d), sines(7, phase=2.0).to(d),
        (sines(7, phase=3.0) / 2.1 + 0.5).to(d), r) for d in (torch.float16, torch.float32)
        for r in ("none", "sum", "mean")]

[F.l1_loss(x, y, reduction=r) for x, y in ((sines(3, 2).t(), sines(2, 3, phase=2.0)),
    (sines(2, 3), sines(3, phase=2.0)), (sines(2, 3).float(), sines(2, 3, phase=2.0)),
    (sines(), sines(phase=2.0))) for r in ("none", "sum", "mean")]
F.binary_cross_entropy(torch.where(iota(140000) == 1, -1.0, 0.5), torch.zeros(140000))
[F.binary_cross_entropy(torch.tensor([0.5, 0.25]), torch.tensor([1.0, 0.5]), reduction=r)
    for r in ("none", "sum")] + [F.binary_cross_entropy(torch.tensor([0.5, 0.25]).to(d),
    torch.tensor([1.0, 0.0]).to(d)) for d in (torch.float16, torch.bfloat16)]

# what is no probability
F.binary_cross_entropy(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 2.0]))
F.binary_cross_entropy(torch.tensor([0.5, 0.5]), torch.tensor([math.nan, 1.0]), reduction="sum")
F.binary_cross_entropy(sines(5000).abs(), sines(5000).abs() + (iota(5000) == 4999) * 2)
F.binary_cross_entropy(sines(5000).abs().to(torch.float16),
    (sines(5000).abs() - (iota(5000) == 4000) * 2).to(torch.float16))
