"""Losses: calls of the loops below the operators (`ext/kernels`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import checksum, gradients, iota, sines

# Negative log-likelihoods: tiles, places of samples, weights, what is ignored, half types.
[checksum(F.nll_loss(sines(n, 3), iota(n, dtype=torch.int64) % 3, reduction=r))
    for n in (1, 4095, 4096, 4097, 8193, 65536, 65537, 70000) for r in ("sum", "mean")]
[checksum(F.nll_loss(sines(n, 3), iota(n, dtype=torch.int64) % 3, reduction="none"))
    for n in (1, 4097)]
[checksum(F.nll_loss(sines(2, 3, 5, 4), iota(2, 5, 4, dtype=torch.int64) * 7 % 3, v, reduction=r,
    ignore_index=i)) for v in (None, torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64))
    for r in ("none", "sum", "mean") for i in (-100, 1)]
[checksum(gradients(lambda x: F.nll_loss(x, iota(2, 5, 4, dtype=torch.int64) * 7 % 3, v,
    reduction=r, ignore_index=i), sines(2, 3, 5, 4))[0])
    for v in (None, torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64))
    for r in ("none", "sum", "mean") for i in (-100, 1)]
[checksum(gradients(lambda x: F.nll_loss(x, iota(n, dtype=torch.int64) % 3, v, reduction=r,
    ignore_index=i), sines(n, 3))[0]) for n in (1, 5, 1366, 1367, 2733)
    for v in (None, torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64))
    for r in ("none", "sum", "mean") for i in (-100, 1)]
[checksum(gradients(lambda x: F.nll_loss(x, iota(n, dtype=torch.int64) % 5000), sines(n, 5000))[0])
    for n in (1, 2, 3)]
[F.nll_loss(sines(3).to(d), torch.tensor(1), reduction=r)
    for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for r in ("none", "sum", "mean")] + [F.nll_loss(sines(2, 3).to(d), torch.tensor([2, 0]),
    torch.tensor([0.5, 2.0, 3.0]).to(d), reduction=r)
    for d in (torch.float16, torch.bfloat16, torch.float32) for r in ("none", "sum", "mean")]
[gradients(lambda x: F.nll_loss(x, torch.tensor([2, 0]), torch.tensor([0.5, 2.0, 3.0]).to(d),
    reduction=r), sines(2, 3).to(d))[0] for d in (torch.float16, torch.float32)
    for r in ("none", "sum", "mean")]
F.nll_loss(sines(2, 3), torch.tensor([1, 1]), ignore_index=1)
F.nll_loss(sines(2, 3), torch.tensor([1, 1]), ignore_index=1, reduction="sum")
F.nll_loss(sines(0, 3), torch.tensor([], dtype=torch.int64))
F.nll_loss(sines(0, 3), torch.tensor([], dtype=torch.int64), reduction="sum")
F.nll_loss(sines(2, 3), torch.tensor([-100, 2]))
F.nll_loss(sines(2, 3), torch.tensor([-1, 2]), ignore_index=-1)
F.nll_loss(sines(2, 3), torch.tensor([7, 2]), ignore_index=7)
F.nll_loss(sines(3, 2).t(), torch.tensor([0, 2]))
F.nll_loss(sines(4, 3)[::2], torch.tensor([0, 5, 2, 5])[::2])
F.nll_loss(sines(2, 3), torch.tensor([0, 2]), sines(6)[::2])
gradients(lambda x: F.nll_loss(x.t(), torch.tensor([0, 2]), reduction="none"), sines(3, 2))
F.nll_loss(sines(2, 3), torch.tensor([0, 3]))
F.nll_loss(sines(2, 3), torch.tensor([-1, 0]))
F.nll_loss(sines(5000, 3), torch.where(iota(5000) == 4500, 9, 0).to(torch.int64))
F.nll_loss(sines(5000, 3), torch.where(iota(5000) == 4500, 3, 0).to(torch.int64), reduction="none")
F.nll_loss(sines(70000, 2), torch.where(iota(70000) == 69999, -3, 0).to(torch.int64))
F.nll_loss(sines(2, 3, 2), torch.tensor([[0, 1], [2, 3]]))

# Mean squared errors.
[checksum(F.mse_loss(sines(n, dtype=d), sines(n, dtype=d, phase=2.0), reduction=r))
    for n in (0, 1, 1023, 1024, 1025, 32768, 32769, 65537, 524288 + 5) for d in (torch.float64,)
    for r in ("sum", "mean")]
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
def losses_pos_weight():
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

def losses_reduction():
    def losses(x, y, p, r):
        return [F.l1_loss(x, y, reduction=r), F.smooth_l1_loss(x, y, reduction=r),
            F.huber_loss(x, y, reduction=r), F.kl_div(x, p, reduction=r),
            F.soft_margin_loss(x, y.sign(), reduction=r),
            F.binary_cross_entropy(p, p.flip(0), p + 1, reduction=r),
            F.binary_cross_entropy_with_logits(x, p, p + 1, pos_weight=p + 2, reduction=r)]
    return [losses(sines(7).to(d), sines(7, phase=2.0).to(d),
        (sines(7, phase=3.0) / 2.1 + 0.5).to(d), r) for d in (torch.float16, torch.float32)
        for r in ("none", "sum", "mean")]

[f(sines(140000), sines(140000, phase=2.0), reduction=r) for f in (F.l1_loss, F.smooth_l1_loss)
    for r in ("sum", "mean")] + [F.binary_cross_entropy((sines(140000) / 2.1 + 0.5),
    (sines(140000, phase=2.0) / 2.1 + 0.5))]
[F.l1_loss(x, y, reduction=r) for x, y in ((sines(3, 2).t(), sines(2, 3, phase=2.0)),
    (sines(2, 3), sines(3, phase=2.0)), (sines(2, 3).float(), sines(2, 3, phase=2.0)),
    (sines(), sines(phase=2.0))) for r in ("none", "sum", "mean")]
[F.smooth_l1_loss(sines(5), sines(5, phase=2.0), beta=b, reduction=r) for b in (0, 1e-3, 1, 2.5)
    for r in ("none", "sum", "mean")] + [F.huber_loss(sines(5), sines(5, phase=2.0), delta=b,
    reduction=r) for b in (1e-3, 1, 2.5) for r in ("none", "sum", "mean")]
[F.binary_cross_entropy(torch.tensor([0.0, 1.0, 0.5]), torch.tensor([0.0, 1.0, 1.0]), reduction=r)
    for r in ("none", "sum", "mean")] + [F.binary_cross_entropy(torch.tensor([[0.2, 0.4],
    [0.1, 0.9]]), torch.tensor([[0.0, 1.0], [1.0, 0.5]]), torch.tensor([2.0, 3.0]))]
F.binary_cross_entropy(torch.tensor([0.5, 1.5]), torch.tensor([0.0, 1.0]))
F.binary_cross_entropy(torch.tensor([0.5, -0.5]), torch.tensor([0.0, 1.0]), reduction="none")
F.binary_cross_entropy(torch.tensor([0.5, math.nan]), torch.tensor([0.0, 1.0]), reduction="sum")
F.binary_cross_entropy(torch.where(iota(20000) == 19000, 2.0, 0.5), torch.zeros(20000))
F.binary_cross_entropy(torch.where(iota(3000) == 1500, -1.0, 0.5), torch.zeros(3000),
    reduction="none")
F.binary_cross_entropy(torch.where(iota(140000) == 1, -1.0, 0.5), torch.zeros(140000))
[F.binary_cross_entropy(torch.tensor([0.5, 0.25]), torch.tensor([1.0, 0.5]), reduction=r)
    for r in ("none", "sum")] + [F.binary_cross_entropy(torch.tensor([0.5, 0.25]).to(d),
    torch.tensor([1.0, 0.0]).to(d)) for d in (torch.float16, torch.bfloat16)]

# what is no probability
F.binary_cross_entropy(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 2.0]))
F.binary_cross_entropy(torch.tensor([0.5, 0.5]), torch.tensor([-0.5, 1.0]), reduction="none")
F.binary_cross_entropy(torch.tensor([0.5, 0.5]), torch.tensor([math.nan, 1.0]), reduction="sum")
F.binary_cross_entropy(torch.tensor([0.5, math.nan]), torch.tensor([0.5, 1.0]))
F.binary_cross_entropy(torch.tensor([1.5, 0.5]), torch.tensor([0.5, 2.0]))
F.binary_cross_entropy(sines(5000).abs(), sines(5000).abs() + (iota(5000) == 4999) * 2)
F.binary_cross_entropy(sines(5000).abs().to(torch.float16),
    (sines(5000).abs() - (iota(5000) == 4000) * 2).to(torch.float16))
F.binary_cross_entropy(torch.zeros(3), torch.tensor([0.0, 1.0, 0.5]), reduction="none")
F.binary_cross_entropy(torch.ones(3), torch.tensor([0.0, 1.0, 0.5]), reduction="none")
