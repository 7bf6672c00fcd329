"""Values at which functions and modules have no number: refused, or a gradient that says so."""

import math

import pytest

import autograd_cy as torch

F = torch.nn.functional
NAN, INF = math.nan, math.inf


def test_a_tensor_without_dimensions_has_no_size_of_one():
    x = torch.tensor(2.0)
    for call in (x.size, x.stride):
        for dim in (0, -1, 3):
            with pytest.raises(IndexError, match=f"Dimension specified as {dim} but tensor has no"):
                call(dim)
        assert call() == ()
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.ones(2).size(1)
    assert torch.flatten(x, 0, -1).shape == (1,)
    for start, end in ((1, -1), (0, 1), (0, -2)):
        with pytest.raises(IndexError, match="Dimension out of range"):
            torch.flatten(x, start, end)


@pytest.mark.parametrize("name", ["dropout", "dropout_", "alpha_dropout", "feature_dropout"])
@pytest.mark.parametrize("p", [2.0, -0.5, NAN])
def test_probabilities_of_operators_and_of_functions(name, p):
    with pytest.raises(RuntimeError, match="between 0 and 1, but got"):
        getattr(torch, name)(torch.ones(3, 3), p, True)
    if name != "dropout_" and not math.isnan(p) and hasattr(F, name):
        with pytest.raises(ValueError, match="between 0 and 1, but got"):
            getattr(F, name)(torch.ones(3, 3), p, True)


def test_bounds_that_are_no_numbers():
    for bounds in ((NAN, 1.0), (0.0, NAN), (NAN, NAN)):
        assert torch.nn.Hardtanh(*bounds)(torch.tensor([-1.0, 2.0])).isnan().all()
    for bounds in ((1.0, 1.0), (2.0, 1.0)):
        with pytest.raises(AssertionError, match="must be greater than"):
            torch.nn.Hardtanh(*bounds)


BOOL = torch.ones(2, 3, dtype=torch.bool)
LOSSES = {
    "pairwise_distance": F.pairwise_distance,
    "triplet_margin_loss": lambda x, y: F.triplet_margin_loss(x, y, x),
    "margin_ranking_loss": lambda x, y: F.margin_ranking_loss(x, y, torch.ones(2, 3)),
    "l1_loss": F.l1_loss,
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("other", ["uint8", "float32", "bool"])
def test_truth_values_are_not_subtracted(name, other):
    x = torch.ones(2, 3, dtype=getattr(torch, other))
    for pair in ((x, BOOL), (BOOL, x)):
        with pytest.raises(RuntimeError, match=r"Subtraction, the `-` operator"):
            LOSSES[name](*pair)


def test_targets_and_margins_of_truth_values():
    with pytest.raises(RuntimeError, match="Negation"):
        F.margin_ranking_loss(torch.ones(3), torch.ones(3), torch.ones(3, dtype=torch.bool))
    with pytest.raises(RuntimeError, match="Subtraction"):
        F.multilabel_soft_margin_loss(torch.ones(2, 3), BOOL)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("p", [1e18, 1e38, 1e300])
def test_norms_of_huge_orders_are_maxima(dtype, p):
    x = torch.tensor([[0.5, 2.0, -1.0]], dtype=getattr(torch, dtype), requires_grad=True)
    for order, index in ((p, 1), (-p, 0)):
        norm = torch.norm(x, order)
        assert norm.item() == x.detach().abs()[0, index].item()
        (grad,) = torch.autograd.grad(norm, x)
        assert grad.tolist() == [[float(k == index) for k in range(3)]]
    (grad,) = torch.autograd.grad(F.normalize(x, p=p, dim=1).sum(), x)
    assert torch.isfinite(grad).all()
    distance = F.pairwise_distance(x, torch.zeros_like(x), p=p)
    assert distance.item() == pytest.approx(2.0, rel=1e-3)
    (grad,) = torch.autograd.grad(distance.sum(), x)
    assert grad.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_gradients_of_losses_that_cannot_be(reduction):
    """Two equal classes in two steps: without `zero_infinity` their row has no gradient."""
    scores = torch.arange(32.0, dtype=torch.float64).sin().reshape(4, 2, 4).log_softmax(2)
    for low in (False, True):
        x = scores.clone()
        x[0, 0, 3] = -INF if low else x[0, 0, 3]
        x.requires_grad_()
        call = (x, torch.tensor([[1, 1, 2], [1, 2, 3]]), torch.tensor([2, 4]), torch.tensor([3, 2]))
        loss = F.ctc_loss(*call, reduction=reduction)
        assert loss.flatten()[0].item() == INF
        (grad,) = torch.autograd.grad(loss.sum(), x)
        kept = F.ctc_loss(*call, reduction=reduction, zero_infinity=True)
        (finite,) = torch.autograd.grad(kept.sum(), x)
        assert grad[:, 0].isnan().sum() == 16 - low
        assert torch.equal(grad[:, 1], finite[:, 1])
        assert (finite[:, 0] == 0).all() and torch.isfinite(kept).all()


def test_lengths_are_integers():
    scores = torch.zeros(4, 1, 3).log_softmax(2)
    target, one = torch.ones(1, 2, dtype=torch.int64), torch.tensor([2])
    for wrong in (one.float(), one.bool(), one.to(torch.complex64)):
        with pytest.raises(RuntimeError, match="input_lengths must be integral"):
            F.ctc_loss(scores, target, wrong, one)
        with pytest.raises(RuntimeError, match="target_lengths must be integral"):
            F.ctc_loss(scores, target, one, wrong)
    with pytest.raises(TypeError, match="must be tuple of ints"):
        F.ctc_loss(scores, target, 4, one)
    with pytest.raises(RuntimeError, match="must not be empty"):
        F.ctc_loss(scores[:0], target, one, one)
