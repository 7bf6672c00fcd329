"""Losses: calls of the composites (`ext/composites`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    forward_over_reverse,
    gradients,
    iota,
    operator,
    second_gradients,
    sines,
    tangents,
)

# Classes.
F.nll_loss(sines(), torch.tensor(0))
F.nll_loss(sines(3), torch.tensor(1))
F.nll_loss(sines(2, 3), torch.tensor([0, 2]).to(torch.int32))
F.nll_loss(sines(2, 3), torch.tensor([0, 2]), sines(2))
F.nll_loss(sines(2, 3), torch.tensor([0, 2]), sines(3).float())
F.nll_loss(sines(2, 3, 2), torch.tensor([[0], [2]]))
F.nll_loss(sines(2, 3, 2, 1), torch.tensor([[[0], [1]], [[2], [0]]]), sines(3))
F.nll_loss(sines(2, 3), torch.tensor([0, 2]), reduction="other")
with differs("Torch takes such a target forward, and refuses it backward."):
    gradients(lambda x: F.nll_loss(x, torch.tensor([1])), sines(3))
tangents(lambda x: F.nll_loss(x, torch.tensor([0, 2])), sines(2, 3))
F.cross_entropy(sines(3), torch.tensor(1), label_smoothing=0.25)
F.cross_entropy(sines(2, 3), torch.tensor([0, -100]), reduction="none", label_smoothing=0.25)
F.cross_entropy(sines(2, 3, 2), torch.tensor([[0, 1], [2, 0]]), sines(3) + 2, label_smoothing=0.25)
F.cross_entropy(sines(2, 3, 2), sines(2, 3, 2), sines(3) + 2)
F.cross_entropy(sines(2, 3), torch.tensor([0, 2]), reduction="other")
F.cross_entropy(sines(2, 0), sines(2, 0))
F.cross_entropy(sines(0, 3), sines(0, 3))
gradients(lambda x: F.cross_entropy(x, torch.tensor([0, 2]), sines(3) + 2, label_smoothing=0.25),
    sines(2, 3))
gradients(lambda x: F.cross_entropy(x, torch.tensor([0, 2]), reduction="none"), sines(2, 3))
second_gradients(lambda x: F.cross_entropy(x, torch.tensor([0, 2])), sines(2, 3))
vmap(lambda x, y: F.cross_entropy(x, y, label_smoothing=0.25))(sines(2, 2, 3),
    torch.tensor([[0, 1], [2, 1]]))

# Squares and what is like them.
F.mse_loss(sines(2, 3), sines(2, 3, phase=1))
F.mse_loss(sines(2, 1), sines(3), reduction="sum")
second_gradients(lambda x, y: F.mse_loss(x, y), sines(2, 1), sines(3))
tangents(lambda x, y: F.mse_loss(x, y), sines(2, 1), sines(3))
vmap(torch.func.grad(lambda x, y: F.mse_loss(x, y)), (0, None))(sines(2), sines(3))
F.mse_loss(sines(2, 3), iota(2, 3), reduction="none")
F.mse_loss(sines(2, 3), sines(2, 3), reduction="other")
gradients(lambda x, y: F.mse_loss(x, y, reduction="none"), sines(2, 1), sines(3))
second_gradients(lambda x, y: F.mse_loss(x, y), sines(2, 3), sines(3))
tangents(lambda x, y: F.mse_loss(x, y), sines(2, 3), sines(2, 3, phase=1))
tangents(lambda x, y: F.mse_loss(x, y, reduction="none"), sines(2, 3), sines(3))
vmap(lambda x, y: F.mse_loss(x, y))(sines(2, 3), sines(2, 3, phase=1))
vmap(lambda x, y: F.mse_loss(x, y))(sines(0, 3), sines(0, 3))
F.l1_loss(sines(2, 3), sines(3), reduction="none")
F.smooth_l1_loss(sines(2, 3), sines(2, 3, phase=1), beta=-1.0)
F.smooth_l1_loss(sines(2, 3), sines(2, 3, phase=1), beta=0.0)
with differs("This package alone has it."):
    [error_name(operator(f), sines(3), sines(3), b, 1) for f in ("_smooth_l1_loss", "_huber_loss")
        for b in (0.0, -0.0, 1e-300, -1e-300, math.nan, math.inf, -math.inf)]
F.huber_loss(sines(2, 3), sines(2, 3, phase=1), delta=0.0)
F.huber_loss(sines(2, 3), sines(2, 3, phase=1), delta=0.5, reduction="sum")
F.soft_margin_loss(sines(2, 3), sines(2, 3, phase=1))

# Probabilities and their logarithms.
F.binary_cross_entropy(sines(2, 3).abs(), sines(3).abs())
F.binary_cross_entropy(sines(2, 3).abs(), sines(2, 3, phase=1).abs(), sines(3))
F.binary_cross_entropy(sines(2, 3).abs(), sines(2, 3, phase=1).abs(), sines(2))
F.binary_cross_entropy(sines(3).abs(), sines(3, phase=1).abs(), sines(2, 3))
F.binary_cross_entropy(sines(2, 3).abs(), sines(2, 3, phase=1).abs().float())
F.binary_cross_entropy(sines(2, 3).abs(), sines(2, 3).abs(), sines(3).requires_grad_())
with differs("Torch refuses the gradient of a weight, and takes its tangent for zero."):
    tangents(lambda x, y: F.binary_cross_entropy(sines(3).abs(), sines(3).abs(), x), sines(3),
        sines(3))
second_gradients(lambda x, y: F.binary_cross_entropy(x, y, sines(3)), sines(2, 3).abs(),
    sines(2, 3, phase=1).abs())
vmap(lambda x, y, k: F.binary_cross_entropy(x, y, k, reduction="sum"))(sines(2, 2, 3).abs(),
    sines(2, 2, 3, phase=1).abs(), sines(2, 3))
F.binary_cross_entropy_with_logits(sines(2, 3), sines(3))
F.binary_cross_entropy_with_logits(sines(2, 3), sines(2, 3, phase=1), sines(3),
    pos_weight=sines(3, phase=2))
F.binary_cross_entropy_with_logits(sines(2, 3), iota(2, 3, dtype=torch.int64))
F.binary_cross_entropy_with_logits(iota(3, dtype=torch.int64), iota(3, dtype=torch.int64))
F.binary_cross_entropy_with_logits(sines(3), sines(3), sines(3).requires_grad_())
F.binary_cross_entropy_with_logits(sines(3), sines(3), pos_weight=sines(3).requires_grad_())
tangents(lambda x: vmap(lambda z: F.binary_cross_entropy_with_logits(sines(3), sines(3),
    pos_weight=z))(x), sines(2, 3))
[torch.set_grad_enabled(False), x := sines(3).requires_grad_(),
    F.binary_cross_entropy_with_logits(sines(3), sines(3), x, pos_weight=x),
    torch.set_grad_enabled(True)][2]
gradients(lambda x, y: F.binary_cross_entropy_with_logits(x, y, sines(3), pos_weight=sines(2, 1)),
    sines(2, 3), sines(2, 3, phase=1))
second_gradients(lambda x, y: F.binary_cross_entropy_with_logits(x, y, sines(3),
    pos_weight=sines(2, 1)), sines(2, 3), sines(2, 3, phase=1))
tangents(lambda x, y: F.binary_cross_entropy_with_logits(x, y, sines(3), pos_weight=sines(2, 1)),
    sines(2, 3), sines(2, 3, phase=1))
vmap(lambda x, y, k: F.binary_cross_entropy_with_logits(x, y, pos_weight=k,
    reduction="sum"))(sines(2, 2, 3), sines(2, 2, 3, phase=1), sines(2, 3))
vmap(lambda x, y: F.binary_cross_entropy_with_logits(x, y, sines(3), pos_weight=sines(3)))(sines(2,
    2, 3), sines(2, 2, 3, phase=1))
F.kl_div(complex_sines(3), sines(3))
F.kl_div(sines(2, dtype=torch.float32), sines(phase=1), 0)
F.kl_div(sines(dtype=torch.float32), sines(2, dtype=torch.float16), 0)
F.kl_div(iota(3, dtype=torch.int64), sines(3))
gradients(lambda x, y: F.kl_div(x, y, log_target=True, reduction="sum"), sines(2, 3),
    sines(2, 3, phase=1))
tangents(lambda x, y: F.kl_div(x, y), sines(2, 3), sines(2, 3).abs())
vmap(lambda x, y: F.kl_div(x, y, reduction="sum"))(sines(2, 3), sines(2, 3).abs())
F.poisson_nll_loss(sines(2, 3).abs(), torch.ones(2, 3, dtype=torch.float64), full=True,
    reduction="sum")
F.gaussian_nll_loss(sines(2, 3), sines(2, 3, phase=1), sines(2, 3).abs() + 0.1)

# Margins and angles.
F.cosine_similarity(sines(2, 3), sines(2, 3), -1, -1.0)
F.cosine_similarity(torch.zeros(2), torch.zeros(2), 0, 0.5)
F.cosine_similarity(sines(3), sines(3), 0, math.nan)
F.cosine_similarity(iota(3, dtype=torch.int64), iota(3, dtype=torch.int64), 0)
F.cosine_similarity(sines(3), iota(3), 0)
F.cosine_similarity(iota(3), sines(3), 0)
F.pairwise_distance(sines(2, 3), sines(3, phase=1), 1.0, 0.5, True)
F.pairwise_distance(iota(3, dtype=torch.bool), iota(3, dtype=torch.bool))
F.pairwise_distance(sines(3), iota(3, dtype=torch.bool))
F.bilinear(sines(2, 3), sines(2), sines(4, 3, 2))
with differs(
    "A RuntimeError, as of all shapes that don't fit; torch's IndexError is that of a step inside."):
    F.bilinear(sines(), sines(), sines(4, 3, 2))
F.bilinear(sines(2, 3), sines(2, 2), sines(4, 3, 2), sines(4).float())
F.bilinear(sines(2, 3), sines(2, 2), sines(4, 3, 2), sines(4))
F.bilinear(sines(3), sines(2), sines(4, 3, 2))
F.bilinear(sines(2, 1, 3), sines(2, 1, 2), sines(4, 3, 2), sines(4))
F.margin_ranking_loss(sines(3), sines(3, phase=1), torch.tensor([1, -1, 1]))
F.margin_ranking_loss(sines(3), sines(3, phase=1), torch.tensor([1, -1, 1]), 0.5, reduction="none")
F.margin_ranking_loss(sines(3), sines(3, phase=1), torch.tensor([1, -1, 1]), -0.5, reduction="sum")
F.margin_ranking_loss(sines(3), sines(3, phase=1), torch.tensor([True, False, True]))
F.hinge_embedding_loss(sines(4), torch.tensor([1, -1, 0, -1]))
F.cosine_embedding_loss(sines(3), sines(3, phase=1), torch.tensor(1))
F.cosine_embedding_loss(sines(3), sines(3, phase=0.5), torch.tensor(-1), 0.5)
F.cosine_embedding_loss(torch.zeros(2, 3), torch.zeros(2, 3), torch.tensor([1, -1]),
    reduction="none")
F.triplet_margin_loss(sines(2, 3), sines(2, 3, phase=1), sines(2, 3, phase=2))
F.triplet_margin_loss(sines(2, 3), sines(2, 3, phase=1), sines(2, 3, phase=2), 0.5, 1.0, 0.1, True,
    reduction="none")
F.triplet_margin_loss(sines(3), sines(3, phase=1), sines(3, phase=2), swap=True)
F.multi_margin_loss(sines(2, 3), torch.tensor([0, 2]), 2, 0.5, sines(3).abs())
F.multilabel_margin_loss(sines(2, 3), torch.tensor([[0, 2, -1], [1, -1, 0]]))
F.multilabel_soft_margin_loss(sines(2, 3), sines(2, 3).abs())
gradients(lambda x, y: F.multilabel_soft_margin_loss(x, y), sines(3), sines(2, 3).abs())
gradients(lambda x, y: F.cosine_similarity(x, y), sines(2, 3), sines(2, 3, phase=1))
gradients(lambda x, y: F.cosine_embedding_loss(x, y, torch.tensor([1, -1])), sines(2, 3),
    sines(2, 3, phase=1))
gradients(lambda x, y, z: F.triplet_margin_loss(x, y, z, swap=True), sines(2, 3),
    sines(2, 3, phase=1), sines(2, 3, phase=2))
gradients(lambda x: F.hinge_embedding_loss(x, torch.tensor([1, -1, 0])), sines(3))
gradients(lambda x, y, k, b: F.bilinear(x, y, k, b), sines(2, 3), sines(2, 2), sines(4, 3, 2),
    sines(4))
tangents(lambda x, y: F.cosine_similarity(x, y), sines(2, 3), sines(2, 3, phase=1))

# Gates, slopes and others.
F.prelu(sines(2, 3), sines(3).float())
F.prelu(sines(), sines(2))
F.prelu(sines(2, 3), sines(3, 1))
F.prelu(sines(2, 3), sines(3))
F.prelu(sines(2, 3), sines())
F.prelu(sines(2, 3, 2), sines(3))
gradients(lambda x, a: F.prelu(x, a), sines(4), sines())
tangents(lambda x: F.glu(x, 1), sines(2, 4))
gradients(lambda x: F.glu(x), sines(2, 4))
second_gradients(lambda x: F.glu(x), sines(2, 4))
forward_over_reverse(lambda x: F.glu(x, 0), sines(2, 4))
gradients(lambda x: torch.logit(x, 0.25), torch.tensor([0.25, 0.75, 0.2, 0.8]))
torch.polygamma(-1, sines(3))
torch.polygamma(1, iota(3, dtype=torch.int64) + 1)
with differs("This package alone has it."):
    operator("_huber_loss")(sines(2, 3), sines(3), 0.5, 1)
    operator("_smooth_l1_loss")(sines(2, 3), sines(3), 0.5, 1)
    operator("_logit_cross_entropy")(sines(2, 3), sines(3), None, None, 0)
    operator("_binary_cross_entropy")(sines(2, 3), sines(3), None, 0)
    operator("nll_loss_backward")(sines(2), torch.tensor([0, 2]), None,
        torch.tensor(2.0, dtype=torch.float64), (2, 3), 1, -100)
    operator("nll_loss_backward")(sines(), torch.tensor([0, 2]), sines(2),
        torch.tensor(2.0, dtype=torch.float64), (2, 3), 1, -100)
    operator("nll_loss_forward")(sines(2, 3), torch.tensor([0, 2]), None, -1, -100)
tangents(lambda x: F.binary_cross_entropy(x, sines(2).abs()), sines(2).abs())
gradients(lambda x: F.binary_cross_entropy_with_logits(x, sines(2).abs()), sines(2))
F.mse_loss(iota(2, 3), sines(2, 3), reduction="none")

# Shares of none, of one and of two.
def mse_loss_huber_loss():
    def shares(f, n):
        s, x = torch.tensor(1.5, dtype=torch.float64,
            requires_grad=True), (iota(n, dtype=torch.float64) / 4 + 0.25).requires_grad_()
        (g,) = torch.autograd.grad(f(x, x.detach() / 2), x, s, create_graph=True)
        return g, *torch.autograd.grad(g.sum(), (s, x))
    return [shares(f, n) for n in (0, 1, 2) for f in (F.mse_loss, F.smooth_l1_loss, F.huber_loss,
        F.soft_margin_loss, F.binary_cross_entropy, F.binary_cross_entropy_with_logits)]
