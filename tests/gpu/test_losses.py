"""Losses of pairs of elements on a GPU, against float64 and the CPU."""

import numpy as np
import pytest
from emulator import control
from reducing import FLOATS, HALVES, bits, close, numbers, same, wide

import autograd_cy as torch
from autograd_cy.nn import functional as F

REDUCTIONS = ("none", "mean", "sum")

# name: (function of input and target, range of the input, of the target, NumPy's formula)
LOSSES = {
    "mse": (F.mse_loss, (-2, 2), (-2, 2), lambda x, t: (x - t) ** 2),
    "l1": (F.l1_loss, (-2, 2), (-2, 2), lambda x, t: np.abs(x - t)),
    "smooth_l1": (
        lambda x, t, **r: F.smooth_l1_loss(x, t, beta=0.75, **r),
        (-2, 2), (-2, 2),
        lambda x, t: np.where(np.abs(x - t) < 0.75, (x - t) ** 2 / 1.5, np.abs(x - t) - 0.375),
    ),
    "huber": (
        lambda x, t, **r: F.huber_loss(x, t, delta=0.75, **r),
        (-2, 2), (-2, 2),
        lambda x, t: np.where(
            np.abs(x - t) <= 0.75, (x - t) ** 2 / 2, 0.75 * (np.abs(x - t) - 0.375)
        ),
    ),
    "cross_entropy": (
        F.binary_cross_entropy, (0.05, 0.95), (0, 1),
        lambda x, t: -t * np.log(x) - (1 - t) * np.log1p(-x),
    ),
    "logits": (
        F.binary_cross_entropy_with_logits, (-4, 4), (0, 1),
        lambda x, t: x * (1 - t) + np.logaddexp(0, -x),
    ),
    "kl_div": (F.kl_div, (-3, 0), (0.1, 1), lambda x, t: t * (np.log(t) - x)),
    "kl_div_log": (
        lambda x, t, **r: F.kl_div(x, t, log_target=True, **r), (-3, 0), (-3, 0),
        lambda x, t: np.exp(t) * (t - x),
    ),
    "soft_margin": (
        F.soft_margin_loss, (-2, 2), (-1, 1), lambda x, t: np.logaddexp(0, -x * t),
    ),
}  # fmt: skip

LAYOUTS = {
    "dense": ((7, 33), lambda x, t: (x, t)),
    "transposed": ((20, 30), lambda x, t: (x.t(), t.t())),
    "one transposed": ((24, 24), lambda x, t: (x, t.t())),
    "parts": ((9, 41), lambda x, t: (x[1:, 3:], t[:-1, 3:])),
    "gaps": ((9, 40), lambda x, t: (x[:, ::2], t[:, 1::2])),
    "off by one": ((1001,), lambda x, t: (x[1:], t[1:])),
    "expanded": ((1, 30), lambda x, t: (x.expand(8, 30), t.expand(8, 30))),
    "one element": ((), lambda x, t: (x, t)),
    "long": ((70_001,), lambda x, t: (x, t)),
}
REDUCED = {"none": lambda x: x, "mean": np.mean, "sum": np.sum}


def dtypes(*names):
    return pytest.mark.parametrize("dtype", names)


def operands(name, layout, dtype):
    """Input and target on the CPU and on the GPU."""
    _, inputs, targets, _ = LOSSES[name]
    shape, view = LAYOUTS[layout]
    x = numbers(shape, dtype, seed=1, low=inputs[0], high=inputs[1])
    t = numbers(shape, dtype, seed=2, low=targets[0], high=targets[1])
    return view(x, t), view(x.to("cuda"), t.to("cuda"))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@dtypes(*FLOATS)
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
def test_losses(name, layout, reduction, dtype):
    (x, t), (a, b) = operands(name, layout, dtype)
    function, _, _, formula = LOSSES[name]
    result, expected = (function(*pair, reduction=reduction) for pair in ((a, b), (x, t)))
    assert result.dtype == expected.dtype and result.device.type == "cuda"
    assert result.stride() == expected.stride()
    each = formula(wide(x), wide(t))
    scale, exact = 1 + REDUCED[reduction](np.abs(each)), REDUCED[reduction](each)
    if dtype == "float16" and reduction == "sum" and abs(exact) > 65504:
        exact = np.copysign(np.inf, exact)
    close(result, exact, scale, dtype, error=4)


@pytest.mark.parametrize("function", [F.binary_cross_entropy, F.binary_cross_entropy_with_logits])
@pytest.mark.parametrize("shape", [(6, 10), (10,), (6, 1), ()])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@dtypes("float16", "float32", "float64")
def test_weights(function, shape, reduction, dtype):
    x, t = numbers((6, 10), dtype, 1, 0.1, 0.9), numbers((6, 10), dtype, 2, 0, 1)
    weight, positive = numbers(shape, dtype, 3, 0.5, 2), numbers(shape, dtype, 4, 0.5, 2)
    options = {"weight": weight, "reduction": reduction}
    if function is F.binary_cross_entropy_with_logits:
        options["pos_weight"] = positive
    there = {k: v.to("cuda") if isinstance(v, torch.Tensor) else v for k, v in options.items()}
    result, expected = function(x.to("cuda"), t.to("cuda"), **there), function(x, t, **options)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    exact = {k: v.double() if isinstance(v, torch.Tensor) else v for k, v in options.items()}
    exact = wide(function(x.double(), t.double(), **exact))
    close(result, exact, 1 + np.abs(exact), dtype, error=4)
    if shape == ():  # a number of the CPU goes with any device
        mixed = function(x.to("cuda"), t.to("cuda"), **options)
        assert bits(mixed) == bits(result)


def test_operands_of_two_dtypes_are_promoted():
    x, t = numbers((5, 6), "float16", 1), numbers((5, 6), "float32", 2)
    for reduction in REDUCTIONS:
        result = F.l1_loss(x.to("cuda"), t.to("cuda"), reduction=reduction)
        expected = F.l1_loss(x, t, reduction=reduction)
        assert result.dtype == torch.float32
        close(result, wide(expected), np.abs(wide(expected)), "float32")


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_mse_broadcasts(reduction):
    x, t = numbers((4, 1, 6), "float32", 1), numbers((5, 1), "float32", 2)
    for a, b in ((x, t), (t, x)):
        result = F.mse_loss(a.to("cuda"), b.to("cuda"), reduction=reduction)
        expected = F.mse_loss(a, b, reduction=reduction)
        close(result, wide(expected), np.abs(wide(expected)), "float32")


@dtypes("float16", "float32")
def test_losses_of_nothing(dtype):
    x = torch.empty(0, 3, dtype=getattr(torch, dtype))
    for function in (F.mse_loss, F.l1_loss, F.binary_cross_entropy):
        for reduction in REDUCTIONS:
            same(
                function(x.to("cuda"), x.to("cuda"), reduction=reduction),
                function(x, x, reduction=reduction),
            )


@dtypes(*HALVES)
def test_sums_of_halves_are_rounded_once(dtype):
    x = torch.full((30_000,), 3.0, dtype=getattr(torch, dtype), device="cuda")
    assert F.mse_loss(x, x * 0).item() == 9.0  # the sum is beyond the range of float16
    assert F.l1_loss(x, x * 0).item() == 3.0


def test_nan_passes_through():
    x = torch.tensor([1.0, float("nan"), 3.0], device="cuda")
    for name, (function, *_) in LOSSES.items():
        if name != "cross_entropy":
            assert function(x, torch.ones(3, device="cuda"), reduction="sum").isnan().item(), name


def test_more_dimensions_than_a_kernel_has():
    x = numbers((2,) * 12, "float32", 1)
    t = numbers((2,) * 12, "float32", 2).permute(*range(11, -1, -1))
    for reduction in REDUCTIONS:
        result = F.l1_loss(x.to("cuda"), t.to("cuda"), reduction=reduction)
        expected = F.l1_loss(x, t.contiguous(), reduction=reduction)
        close(result, wide(expected), 1 + np.abs(wide(expected)), "float32")


# --- values that are refused -------------------------------------------------------------------


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("layout", ["dense", "parts"])
@dtypes("float16", "float32", "float64")
def test_probabilities_are_checked_at_the_next_synchronisation(layout, reduction, dtype):
    (x, t), (a, b) = operands("cross_entropy", layout, dtype)
    for bad in (1.5, -0.25, float("nan")):
        for first in (True, False):
            p, q = a.clone(), b.clone()
            (p if first else q)[3, 4] = bad
            result = F.binary_cross_entropy(p, q, reduction=reduction)
            what = "input" if first else "target"
            with pytest.raises(
                RuntimeError, match=f"all elements of {what} should be between 0 and 1"
            ):
                torch.cuda.synchronize()
            if reduction == "none":  # the others were computed
                good = np.ones(result.shape, bool)
                good[3, 4] = False
                expected = wide(F.binary_cross_entropy(x, t, reduction="none"))
                np.testing.assert_allclose(wide(result)[good], expected[good], rtol=4e-3, atol=1e-3)
    assert F.binary_cross_entropy(a, b).isfinite().item()


# --- the same bits, few launches ---------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
@dtypes("float32", "bfloat16")
def test_the_same_bits_in_any_order_and_layout(name, dtype):
    (x, t), (a, b) = operands(name, "long", dtype)
    function = LOSSES[name][0]
    first = bits(function(a, b, reduction="sum"))
    for seed in range(2):
        with control.ordered("random", seed):
            assert bits(function(a, b, reduction="sum")) == first
    gaps = [torch.stack([s, s], 1).to("cuda")[:, 1] for s in (x, t)]
    assert bits(function(*gaps, reduction="sum")) == first


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("name", LOSSES)
def test_one_launch_or_two(name):
    function = LOSSES[name][0]
    for layout, launches in (("dense", 1), ("transposed", 1), ("long", 2)):
        for reduction in REDUCTIONS:
            _, pair = operands(name, layout, "float32")
            function(*pair, reduction=reduction)
            before = control.counts()
            function(*pair, reduction=reduction)
            spent = control.spent(before)
            assert spent["launches"] == (1 if reduction == "none" else launches)
            assert not spent.get("synchronizations") and not spent.get("copies_out")


def test_gradients_of_losses():
    for name, (function, *_) in LOSSES.items():
        (x, t), (a, b) = operands(name, "dense", "float64")
        a, x = a.detach().requires_grad_(), x.clone().requires_grad_()
        function(a, b, reduction="sum").backward()
        function(x, t, reduction="sum").backward()
        np.testing.assert_allclose(wide(a.grad), wide(x.grad), rtol=1e-9, atol=1e-9, err_msg=name)
